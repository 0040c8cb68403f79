/* barrier.c - barriers of a group, and what they bring in order
 * SPDX-License-Identifier: Apache-2.0
 *
 * A thread signals (a message to the gateway) and waits (sync.bar); other instructions may stand between. What it did
 * before it signals is in order before what others do after they waited. A thread's lanes are in step: what its own
 * lanes do is in order always. */
#include "inside.h"

void barrier_begin(struct worker *worker)
{
    const uint32_t n = worker->launch->n_threads;
    worker->arrived = 0;
    for (uint32_t i = 0; i < n; i++) {
        struct warp_order *o = &worker->threads[i].order;
        order_begin(o, worker->last_epoch + 1);
        o->epoch = worker->last_epoch + 1;
        o->clock[o->warp] = o->epoch;
    }
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        worker->joined[i] = worker->last_epoch;
}

static void release(struct worker *worker)
{
    worker->arrived = 0;
    worker->tickets++;
    for (uint32_t i = 0; i < MAX_WARPS; i++) {
        worker->released[i] = worker->joined[i];
        worker->joined[i] = 0;
    }
}

void barrier_signal(struct thread *t, const struct op *o)
{
    struct worker *worker = t->worker;
    struct warp_order *mine = &t->order;
    if (t->signalled) {
        check_end(t, o, FOUND_DIVERGED, t->active);
        return;
    }
    if (worker->launch->checked && t->existing & ~t->active)
        check_lanes(t, o, FOUND_LANES_OFF, t->existing & ~t->active);
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        if (mine->clock[i] > worker->joined[i])
            worker->joined[i] = mine->clock[i];
    mine->clock[mine->warp] = ++mine->epoch;
    t->signalled = 1;
    t->ticket = worker->tickets;
    if (++worker->arrived == worker->launch->n_threads)
        release(worker);
}

/* Does the thread still wait? When it does not any more, it knows what the others did. */
int barrier_waits(struct thread *t)
{
    const struct worker *worker = t->worker;
    if (t->ticket == worker->tickets)
        return 1;
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        if (i != t->order.warp && worker->released[i] > t->order.clock[i])
            t->order.clock[i] = worker->released[i];
    t->signalled = t->waits = 0;
    return 0;
}

void barrier_wait(struct thread *t, const struct op *o)
{
    if (!t->signalled)
        check_end(t, o, FOUND_DIVERGED, t->active);
    t->waits = 1;
}
