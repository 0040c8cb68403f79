/* run.c - the threads of a group, one after another up to a barrier, their end or the end of their turn
 * SPDX-License-Identifier: Apache-2.0 */
#include "inside.h"

enum { SLICE = 100000 };

/* In a random schedule others may come in between at any access. */
static int torn(struct thread *t, const struct op *o)
{
    struct worker *worker = t->worker;
    return o->message && worker->launch->asked->schedule == SCHEDULE_RANDOM && dice_throw(&worker->random) % 16 == 0;
}

static void count_op(struct thread *t, const struct op *o)
{
    struct worker *worker = t->worker;
    const uint32_t lanes = (o->no_mask ? ~0u : t->active >> o->first) & lanes_below(o->width);
    worker->executed++;
    worker->stats.instructions++;
    worker->stats.lane_instructions += count_lanes(lanes);
    worker->stats.matrix_instructions += o->is_matrix;
    if (worker->per_op)
        worker->per_op[o->index]++;
}

static void run_thread(struct thread *t)
{
    struct worker *worker = t->worker;
    const struct op *ops = worker->launch->kernel->ops;
    const uint64_t slice = worker->executed + SLICE;
    while (!t->ended && !worker->stop && worker->executed < slice) {
        if (t->waits && barrier_waits(t))
            return;
        const struct op *o = &ops[t->ip++];
        if (worker->executed >= worker->launch->limit) {
            check_end(t, o, FOUND_NO_PROGRESS, t->active);
            return;
        }
        count_op(t, o);
        if (o->run)
            o->run(t, o);
        if (torn(t, o))
            return;
    }
}

/* ---- a group ---- */

static void begin_group(struct worker *worker)
{
    const struct launch *launch = worker->launch;
    worker->executed = 0;
    memset(worker->shared.data, 0xa5, launch->shared_bytes);
    if (worker->private_memory.written)
        memset(worker->private_memory.written, 0, (size_t)worker->private_memory.size);
    barrier_begin(worker);
    for (uint32_t i = 0; i < launch->n_threads; i++)
        begin_thread(&worker->threads[i]);
}

/* Where a round of all threads begins, and its direction. */
static uint32_t thread_of_round(const struct worker *worker, uint32_t k, uint32_t first)
{
    const uint32_t n = worker->launch->n_threads;
    return worker->launch->asked->schedule == SCHEDULE_HIGHEST ? n - 1 - k : (k + first) % n;
}

/* Some live and all of them wait at a barrier that others never reach. */
static void end_stuck(struct worker *worker)
{
    const struct op *ops = worker->launch->kernel->ops;
    for (uint32_t i = 0; i < worker->launch->n_threads && !worker->stop; i++) {
        struct thread *t = &worker->threads[i];
        if (!t->ended)
            check_end(t, &ops[t->ip - 1], FOUND_DIVERGED, t->active);
    }
}

static int can_go(const struct thread *t)
{
    return !t->ended && !(t->waits && t->ticket == t->worker->meeting.tickets);
}

void run_group(struct worker *worker)
{
    const uint32_t n = worker->launch->n_threads;
    const int random = worker->launch->asked->schedule == SCHEDULE_RANDOM;
    int living = 1;
    begin_group(worker);
    while (living && !worker->stop) {
        const uint32_t first = random ? (uint32_t)(dice_throw(&worker->random) % n) : 0;
        int moved = 0;
        living = 0;
        for (uint32_t k = 0; k < n && !worker->stop; k++) {
            struct thread *t = &worker->threads[thread_of_round(worker, k, first)];
            if (can_go(t)) {
                run_thread(t);
                moved = 1;
            }
            living |= !t->ended;
        }
        if (living && !moved)
            end_stuck(worker);
    }
    for (uint32_t i = 0; i < n; i++)
        if (worker->threads[i].order.epoch > worker->last_epoch)
            worker->last_epoch = worker->threads[i].order.epoch;
}
