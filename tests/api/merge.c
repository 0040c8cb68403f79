/* merge.c - clattn_enqueue_merge() as callers see it: what it refuses, without a trace, and its events
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/states.h"

#include <stddef.h>
#include <stdint.h>

static const char text[] = "f32 b2 h2 q3 k5 d8/12 lse";
static const int64_t sizes[3] = { 2, 2, 3 };
enum { PARTS = 6, BAD = CLATTN_ERROR_INVALID_ARGUMENT, SMALL = CLATTN_ERROR_BUFFER_TOO_SMALL };

struct place {
    const struct device *d;
    clattn_plan plan;
    struct states s;
};

/* The call fails with `want`, in words, without an event, and nothing is written. */
static void refused(struct place *x, const clattn_merge_args *a, cl_int want, const char *what)
{
    cl_event event = NULL;
    char detail[512] = "";
    const cl_int e = clattn_enqueue_merge(x->plan, x->d->queue, a, 0, NULL, &event);
    clattn_error_detail(x->d->handle, detail, sizeof detail, NULL);
    clFinish(x->d->queue);
    ok(e == want && !event && *detail && states_are_blank(&x->s, x->d->queue), "%s is refused (%s): %s", what,
       clattn_status_string(e), detail);
}

/* `change` alters a copy `a` of the arguments, or of their sizes `z`. */
#define REFUSED(want, change) \
    do { \
        clattn_merge_args a = x->s.args; \
        clattn_sizes z = x->s.sizes; \
        a.sizes = &z; \
        change; \
        refused(x, &a, want, #change); \
    } while (0)

static void test_numbers(struct place *x)
{
    refused(x, NULL, BAD, "no arguments");
    REFUSED(BAD, a.struct_size = 0);
    REFUSED(BAD, a.struct_size = sizeof a - 8);
    REFUSED(BAD, a.parts = -1);
    REFUSED(BAD, a.parts = (1 << 30) + 1);
    REFUSED(BAD, a.flags = 16);
    REFUSED(BAD, a.flags = 1u << 31);
    REFUSED(BAD, a.reserved = 1);
    REFUSED(BAD, z.b = -1);
    REFUSED(BAD, z.h = 0);
    REFUSED(BAD, z.nq = (1 << 30) + 1);
    REFUSED(BAD, z.hk = 3);
}

static void test_tensors(struct place *x)
{
    const size_t last = x->s.image[0].size / sizeof(float) - 12;
    REFUSED(BAD, a.o_parts.mem = NULL);
    REFUSED(BAD, a.lse_parts.mem = NULL);
    REFUSED(BAD, a.o.mem = NULL);
    REFUSED(BAD, a.o_parts.stride[1] = -1);
    REFUSED(BAD, a.o_parts_stride = -1);
    REFUSED(BAD, a.lse_parts_stride = -1);
    REFUSED(BAD, a.o_parts_stride = INT64_MAX);
    REFUSED(BAD, a.o_parts_stride = INT64_MAX / (PARTS - 1); a.parts = PARTS);
    REFUSED(BAD, a.o_parts.offset = SIZE_MAX);
    REFUSED(BAD, a.lse_parts.offset = SIZE_MAX / 4);
    REFUSED(BAD, a.o.stride[2] = 1);
    REFUSED(BAD, a.o.stride[0] = 0);
    REFUSED(BAD, a.lse.stride[1] = 0);
    REFUSED(SMALL, a.parts = PARTS + 1000);
    REFUSED(SMALL, a.parts = 1 << 30);
    REFUSED(SMALL, a.o_parts.offset = last);
    REFUSED(SMALL, a.lse_parts_stride = 1000000);
    REFUSED(SMALL, a.o.offset = 1000000);
    REFUSED(SMALL, a.lse.offset = 1000000);
    REFUSED(SMALL, z.nq = 1 << 20);
    REFUSED(BAD, a.o.mem = a.o_parts.mem); /* one that is only read */
    REFUSED(BAD, a.lse.mem = a.lse_parts.mem);
}

static void test_queue(struct place *x)
{
    cl_event event = NULL, none = NULL;
    cl_int e = clattn_enqueue_merge(x->plan, NULL, &x->s.args, 0, NULL, &event);
    ok(e == CL_INVALID_COMMAND_QUEUE && !event, "no queue: %s", clattn_status_string(e));
    e = clattn_enqueue_merge(x->plan, x->d->queue, &x->s.args, 1, NULL, &event);
    ok(e == CL_INVALID_EVENT_WAIT_LIST && !event, "no wait list: %s", clattn_status_string(e));
    e = clattn_enqueue_merge(x->plan, x->d->queue, &x->s.args, 1, &none, &event);
    ok(e == CL_INVALID_EVENT_WAIT_LIST && !event, "an event that is none: %s", clattn_status_string(e));
    e = clattn_enqueue_merge(NULL, x->d->queue, &x->s.args, 0, NULL, &event);
    ok(e == CLATTN_ERROR_INVALID_ARGUMENT && !event, "no plan: %s", clattn_status_string(e));
    ok(states_are_blank(&x->s, x->d->queue), "and nothing is written");
}

/* It waits for what it is told to, and its event tells the end; also where there is nothing to do. */
static void test_events(struct place *x, int64_t nq, const char *what)
{
    cl_int e, done = -1;
    cl_event gate = clCreateUserEvent(x->d->cl.context, &e), event = NULL;
    char why[512] = "";
    x->s.sizes.nq = nq;
    e = e ? e : clattn_enqueue_merge(x->plan, x->d->queue, &x->s.args, 1, &gate, &event);
    e = e ? e : clFlush(x->d->queue);
    if (!e)
        clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof done, &done, NULL);
    ok(!e && event && done > CL_COMPLETE, "%s: it waits: %s", what, clattn_status_string(e));
    if (gate)
        clSetUserEventStatus(gate, CL_COMPLETE);
    e = e ? e : clWaitForEvents(1, &event);
    ok(!e && (nq ? states_verify(&x->s, x->d->queue, 0.25, why, sizeof why) : states_are_blank(&x->s, x->d->queue)),
       "%s: its event tells the end: %s %s", what, clattn_status_string(e), why);
    if (event)
        clReleaseEvent(event);
    if (gate)
        clReleaseEvent(gate);
    x->s.sizes.nq = sizes[2];
}

/* A plan's own sizes are those of a call that brings none. */
static void test_own_sizes(struct place *x)
{
    char why[512] = "";
    cl_int e = states_store(&x->s, x->d->queue);
    x->s.args.sizes = NULL;
    e = e ? e : states_run(&x->s, x->plan, x->d->queue);
    ok(!e && states_verify(&x->s, x->d->queue, 0.25, why, sizeof why), "the plan's sizes: %s %s",
       clattn_status_string(e), why);
    x->s.args.sizes = &x->s.sizes;
}

static void test_device(const struct device *d)
{
    const clattn_workload c = each_case(text);
    struct place x = { .d = d };
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    options.max_workspace = 1; /* merging takes none */
    cl_int e = clattn_plan_create(&x.plan, d->handle, &c.problem, &options);
    e = e ? e : states_make(&x.s, d->cl.context, &c.problem, sizes, PARTS, STATES_INSIDE, 0, 1);
    if (e)
        bail("no states: %s", clattn_status_string(e));
    test_numbers(&x);
    test_tensors(&x);
    test_queue(&x);
    test_events(&x, 0, "no rows");
    test_events(&x, sizes[2], "some rows");
    test_own_sizes(&x);
    states_free(&x.s);
    clattn_plan_release(x.plan);
}

int main(void)
{
    return each_device(test_device);
}
