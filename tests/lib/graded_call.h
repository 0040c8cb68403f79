/* graded_call.h - a backward call that is right, for tests that change its arguments and see it refused
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADED_CALL_H
#define GRADED_CALL_H

#include "tests/lib/each.h"
#include "tests/lib/graded.h"

/* A problem with a gradient of each kind. */
static const char graded_call_text[] = "f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink lse bwd";

struct graded_call {
    const struct device *d;
    clattn_plan plan; /* of the call's own problem, by the default configuration */
    struct graded g;
};

/* Makes all gradients of the problem once. graded_call_close() is due. */
static inline void graded_call_open(struct graded_call *c, const struct device *d, const char *text, unsigned wanted)
{
    const clattn_workload w = each_case(text);
    c->d = d;
    if (graded_make(&c->g, d->cl.context, d->queue, &w, PADDED, wanted))
        bail("no gradients: %s", text);
    c->plan = each_own_plan(d->handle, &c->g.t.c.problem, NULL);
    if (graded_run(&c->g, c->plan, d->queue))
        bail("no gradients: %s", text);
}

/* The call with its arguments as they are now. */
static inline void graded_call_refused(struct graded_call *c, cl_int want, const char *words, const char *what)
{
    cl_event event = NULL;
    const cl_int e = clattn_enqueue_backward(c->plan, c->d->queue, &c->g.args, 0, NULL, &event);
    each_refused(c->d, e, event, want, words, what);
}

/* A buffer that nothing may be written to. */
static inline cl_mem graded_call_read_only(const struct graded_call *c, size_t bytes)
{
    return each_buffer(c->d->cl.context, CL_MEM_READ_ONLY, bytes, NULL);
}

/* The gradients are still those that graded_call_open() made. */
static inline void graded_call_close(struct graded_call *c)
{
    char why[1024] = "";
    ok(graded_verify(&c->g, c->d->queue, why, sizeof why), "all that was refused wrote nothing: %s", why);
    clattn_plan_release(c->plan);
    graded_free(&c->g);
}

#endif
