/* run.c - the waves of a group, one after another up to a barrier, their end or the end of their turn
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "inside.h"

enum { SLICE = 100000 };

/* In a random schedule others may come in between at any access. */
static int torn(struct wave *w, const struct op *o)
{
    struct worker *worker = w->worker;
    return o->width && worker->launch->asked->schedule == SCHEDULE_RANDOM && dice_throw(&worker->random) % 16 == 0;
}

static void count_op(struct wave *w, const struct op *o)
{
    struct worker *worker = w->worker;
    const unsigned halves = o->pair ? 2 : 1;
    worker->executed++;
    worker->stats.instructions += halves;
    worker->stats.lane_instructions += o->is_vector ? halves * count_lanes(exec_of(w)) : 1;
    worker->stats.matrix_instructions += (o->flags & FORM_MATRIX) != 0;
    if (worker->per_op)
        worker->per_op[o->index]++;
}

static void run_wave(struct wave *w)
{
    struct worker *worker = w->worker;
    const struct op *ops = worker->launch->kernel->module->ops;
    const int checked = worker->launch->checked;
    const uint64_t slice = worker->executed + SLICE;
    while (!w->ended && !worker->stop && worker->executed < slice) {
        if (w->waits && barrier_waits(w))
            return;
        const struct op *o = &ops[w->pc++];
        count_op(w, o);
        if (checked)
            wait_check(w, o);
        o->run(w, o);
        if (torn(w, o))
            return;
    }
}

/* ---- a group ---- */

static void begin_group(struct worker *worker)
{
    struct launch *launch = worker->launch;
    worker->executed = 0;
    memory_poison(worker->shared.data, launch->shared_bytes);
    barrier_begin(worker);
    for (uint32_t i = 0; i < launch->n_waves; i++) {
        struct wave *w = &worker->waves[i];
        begin_wave(w);
        memory_poison(w->scratch, w->n * launch->scratch_bytes);
        if (w->scratch_written)
            memset(w->scratch_written, 0, w->n * launch->scratch_bytes);
    }
}

/* Where a round of all waves begins, and its direction. */
static uint32_t wave_of_round(const struct worker *worker, uint32_t k, uint32_t first)
{
    const uint32_t n = worker->launch->n_waves;
    return worker->launch->asked->schedule == SCHEDULE_HIGHEST ? n - 1 - k : (k + first) % n;
}

/* Some live and all of them wait at a barrier that others never reach. */
static void end_stuck(struct worker *worker)
{
    const struct op *ops = worker->launch->kernel->module->ops;
    for (uint32_t i = 0; i < worker->launch->n_waves && !worker->stop; i++) {
        struct wave *w = &worker->waves[i];
        if (!w->ended)
            check_end(w, &ops[w->pc - 1], FOUND_DIVERGED, exec_of(w));
    }
}

static int can_go(struct wave *w)
{
    return !w->ended && !(w->waits && w->ticket == w->worker->meeting.tickets);
}

void worker_group(struct worker *worker)
{
    const uint32_t n = worker->launch->n_waves;
    const int random = worker->launch->asked->schedule == SCHEDULE_RANDOM;
    int living = 1;
    begin_group(worker);
    while (living && !worker->stop) {
        const uint32_t first = random ? (uint32_t)(dice_throw(&worker->random) % n) : 0;
        int moved = 0;
        living = 0;
        for (uint32_t k = 0; k < n && !worker->stop; k++) {
            struct wave *w = &worker->waves[wave_of_round(worker, k, first)];
            if (can_go(w)) {
                run_wave(w);
                moved = 1;
            }
            living |= !w->ended;
        }
        if (living && !moved)
            end_stuck(worker);
    }
    for (uint32_t i = 0; i < n; i++)
        if (worker->waves[i].order.epoch > worker->last_epoch)
            worker->last_epoch = worker->waves[i].order.epoch;
}
