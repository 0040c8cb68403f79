/* barrier.c - barriers of a group, and what they bring in order
 * SPDX-License-Identifier: Apache-2.0
 *
 * A wave signals and waits, in one instruction or, from generation 12 on, in two. What it did before it signals is in
 * order before what others do after they waited. A wave is in step: what its own lanes do is in order always. */
#include "reader.h"

void barrier_begin(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->launch->n_waves; i++)
        meeting_enter(&worker->waves[i].order, worker->last_epoch + 1);
    meeting_begin(&worker->meeting, worker->last_epoch);
}

static void signal_barrier(struct wave *w, const struct op *o)
{
    struct worker *worker = w->worker;
    if (w->signalled) {
        check_end(w, o, FOUND_DIVERGED, exec_of(w));
        return;
    }
    if (worker->launch->checked) {
        wait_barrier(w, o);
        if (w->existing & ~exec_of(w))
            check_lanes(w, o, FOUND_LANES_OFF, w->existing & ~exec_of(w));
    }
    w->signalled = 1;
    w->ticket = meeting_join(&worker->meeting, &w->order, worker->launch->n_waves);
}

/* Does the wave still wait? When it does not any more, it knows what the others did. */
int barrier_waits(struct wave *w)
{
    if (!meeting_leave(&w->worker->meeting, &w->order, w->ticket))
        return 1;
    w->signalled = w->waits = 0;
    return 0;
}

static void wait_at_barrier(struct wave *w, const struct op *o)
{
    if (!w->signalled)
        check_end(w, o, FOUND_DIVERGED, exec_of(w));
    w->waits = 1;
}

static void barrier(struct wave *w, const struct op *o)
{
    signal_barrier(w, o);
    w->waits = 1;
}

static void read_number(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    int64_t n;
    (void)o;
    if (s->n_operands != 1 || !word_number(s->operands[0], &n) || (n != -1 && n != 0xffff))
        fail(r, "%s of another barrier than the group's", f->name);
}

static const struct form forms[] = {
    { "s_barrier", "", NULL, NULL, barrier, 0, 0, DEFINE_ALL, NULL, 0, 0, 0, 0, 0 },
    { "s_barrier_signal", "", NULL, NULL, signal_barrier, 0, 0, DEFINE_ALL, read_number, 0, 0, 0, 0, 0 },
    { "s_barrier_wait", "", NULL, NULL, wait_at_barrier, 0, 0, DEFINE_ALL, read_number, 0, 0, 0, 0, 0 },
};

struct forms amdgpu_barrier_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
