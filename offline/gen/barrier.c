/* barrier.c - barriers of a group, and what they bring in order
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread signals (a message to the gateway) and waits (sync.bar); other instructions may stand between. What it did
 * before it signals is in order before what others do after they waited. A thread's lanes are in step: what its own
 * lanes do is in order always. */
#include "inside.h"

void barrier_begin(struct worker *worker)
{
    for (uint32_t i = 0; i < worker->launch->n_threads; i++)
        meeting_enter(&worker->threads[i].order, worker->last_epoch + 1);
    meeting_begin(&worker->meeting, worker->last_epoch);
}

void barrier_signal(struct thread *t, const struct op *o)
{
    struct worker *worker = t->worker;
    if (t->signalled) {
        check_end(t, o, FOUND_DIVERGED, t->active);
        return;
    }
    if (worker->launch->checked && t->existing & ~t->active)
        check_lanes(t, o, FOUND_LANES_OFF, t->existing & ~t->active);
    t->signalled = 1;
    t->ticket = meeting_join(&worker->meeting, &t->order, worker->launch->n_threads);
}

/* Does the thread still wait? When it does not any more, it knows what the others did. */
int barrier_waits(struct thread *t)
{
    if (!meeting_leave(&t->worker->meeting, &t->order, t->ticket))
        return 1;
    t->signalled = t->waits = 0;
    return 0;
}

void barrier_wait(struct thread *t, const struct op *o)
{
    if (!t->signalled)
        check_end(t, o, FOUND_DIVERGED, t->active);
    t->waits = 1;
}
