/* events.c - a forward call among other commands: waiting, failing, out of order
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"

#include <time.h>

static const char text[] = "f32 b2 h4/2 q5 k7 d8 causal lse", empty[] = "f32 b2 h4/2 q0 k7 d8 causal lse";

static cl_int status_of(cl_event event)
{
    cl_int status = 1234;
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status;
}

static void test_wait_lists(struct fixture *f, const struct device *d)
{
    cl_event event = NULL, none[2] = { NULL, NULL }, first = each_gate(d->cl.context);
    const clattn_forward_args *a = &f->t.args;
    is_int(clattn_enqueue_forward(f->plan, d->queue, a, 1, NULL, &event), CL_INVALID_EVENT_WAIT_LIST,
           "a count without a list is refused");
    is_int(clattn_enqueue_forward(f->plan, d->queue, a, 0, &first, &event), CL_INVALID_EVENT_WAIT_LIST,
           "a list without a count is refused");
    is_int(clattn_enqueue_forward(f->plan, d->queue, a, 2, none, &event), CL_INVALID_EVENT_WAIT_LIST,
           "a list of NULL is refused");
    ok(!event, "without an event");
    clSetUserEventStatus(first, CL_COMPLETE);
    is_int(clattn_enqueue_forward(f->plan, d->queue, a, 1, &first, NULL), CL_SUCCESS,
           "an event that is over, and event NULL");
    ok(each_verified(&f->t, d->queue), "run right: %s", f->text);
    clReleaseEvent(first);
}

/* Nothing starts before the list is complete, whether or not there is work. `last` is the event that alone holds it. */
static void test_order(struct fixture *f, cl_command_queue queue, const char *what, int last)
{
    const struct timespec time_to_run = { 0, 30000000 };
    cl_event event = NULL, before[2];
    cl_int e = trial_reset(&f->t, queue);
    before[0] = each_gate(f->d->cl.context);
    before[1] = each_gate(f->d->cl.context);
    e = e ? e : clattn_enqueue_forward(f->plan, queue, &f->t.args, 2, before, &event);
    if (!ok(!e && event, "%s: waits for two events (%s): %s", what, clattn_status_string(e), f->text))
        return;
    clFlush(queue);
    clSetUserEventStatus(before[!last], CL_COMPLETE);
    nanosleep(&time_to_run, NULL);
    ok(status_of(event) > CL_COMPLETE, "%s: event %d alone holds it back: %s", what, last, f->text);
    clSetUserEventStatus(before[last], CL_COMPLETE);
    is_int(clWaitForEvents(1, &event), CL_SUCCESS, "%s: both are: %s", what, f->text);
    is_int(status_of(event), CL_COMPLETE, "%s: complete: %s", what, f->text);
    ok(each_verified(&f->t, queue), "%s: right: %s", what, f->text);
    clReleaseEvent(event);
    clReleaseEvent(before[0]);
    clReleaseEvent(before[1]);
}

static void test_gate(struct fixture *f, cl_command_queue queue, const char *what)
{
    test_order(f, queue, what, 0);
    test_order(f, queue, what, 1);
}

/* A wait list that fails: the call or its event says so, and O stays as it was. */
static void test_failure(struct fixture *f, const struct device *d)
{
    cl_int e, status = CL_SUCCESS;
    cl_command_queue queue = clCreateCommandQueue(d->cl.context, d->cl.device, 0, &e);
    cl_event event = NULL, before = each_gate(d->cl.context);
    if (e || trial_reset(&f->t, d->queue))
        bail("no queue");
    e = clattn_enqueue_forward(f->plan, queue, &f->t.args, 1, &before, &event);
    clFlush(queue);
    clSetUserEventStatus(before, -5);
    if (!e) {
        status = clWaitForEvents(1, &event);
        /* One of the two suffices: Intel's runtime fails the wait but leaves the event complete. */
        ok(status < 0 || status_of(event) < 0, "a failed event fails the call (%s, %d)", clattn_status_string(status),
           (int)status_of(event));
        clReleaseEvent(event);
    } else {
        ok(!event, "a call that fails has no event (%s)", clattn_status_string(e));
    }
    char why[256] = "";
    ok(trial_fetch(&f->t, d->queue, why, sizeof why) && trial_is_blank(&f->t), "and nothing ran %s", why);
    clReleaseEvent(before);
    clReleaseCommandQueue(queue);
    e = trial_run(&f->t, f->plan, d->queue);
    ok(!e && each_verified(&f->t, d->queue), "the plan works on");
}

/* A call with nothing to compute: of an event and a wait list, it may have either, both or none. */
static void test_nothing(struct fixture *none, const struct device *d)
{
    cl_event before = each_gate(d->cl.context);
    clSetUserEventStatus(before, CL_COMPLETE);
    for (int i = 0; i < 4; i++) {
        cl_event event = NULL;
        const cl_int e = clattn_enqueue_forward(none->plan, d->queue, &none->t.args, (cl_uint)(i & 1),
                                                i & 1 ? &before : NULL, i & 2 ? &event : NULL);
        ok(!e && !event == !(i & 2), "nothing to compute, %d events to wait for, %s (%s)", i & 1,
           i & 2 ? "an event" : "no event", clattn_status_string(e));
        if (!event)
            continue;
        is_int(clWaitForEvents(1, &event), CL_SUCCESS, "it can be waited for");
        is_int(status_of(event), CL_COMPLETE, "and is complete");
        clReleaseEvent(event);
    }
    clFinish(d->queue);
    clReleaseEvent(before);
}

/* Without an event: what comes after it on a queue must wait for its list all the same. */
static void test_nothing_waits(struct fixture *none, const struct device *d)
{
    const struct timespec time_to_run = { 0, 30000000 };
    cl_event before = each_gate(d->cl.context), after = NULL;
    cl_int e = clattn_enqueue_forward(none->plan, d->queue, &none->t.args, 1, &before, NULL);
    e = e ? e : clEnqueueMarkerWithWaitList(d->queue, 0, NULL, &after);
    clFlush(d->queue);
    nanosleep(&time_to_run, NULL);
    ok(!e && status_of(after) > CL_COMPLETE, "nothing to compute and no event: the queue waits for the list (%s)",
       clattn_status_string(e));
    clSetUserEventStatus(before, CL_COMPLETE);
    clFinish(d->queue);
    if (after)
        clReleaseEvent(after);
    clReleaseEvent(before);
}

/* Ten calls in a chain of events on a queue that keeps no order of its own. */
static void test_out_of_order(struct fixture *f, const struct device *d)
{
    cl_event event = NULL, next = NULL;
    const cl_command_queue queue = each_unordered(d, d->cl.context);
    if (!queue)
        return;
    test_gate(f, queue, "out of order");
    cl_int e = trial_reset(&f->t, queue);
    for (int i = 0; i < 10 && !e; i++, event = next) {
        e = clattn_enqueue_forward(f->plan, queue, &f->t.args, event != NULL, event ? &event : NULL, &next);
        if (event)
            clReleaseEvent(event);
    }
    e = e ? e : clWaitForEvents(1, &event);
    ok(!e && each_verified(&f->t, queue), "out of order: a chain of ten (%s)", clattn_status_string(e));
    if (event)
        clReleaseEvent(event);
    clReleaseCommandQueue(queue);
}

static void test_profiling(struct fixture *f, const struct device *d)
{
    cl_ulong start = 0, end = 0;
    cl_event event = NULL;
    cl_int e;
    cl_command_queue queue = clCreateCommandQueue(d->cl.context, d->cl.device, CL_QUEUE_PROFILING_ENABLE, &e);
    e = e ? e : clattn_enqueue_forward(f->plan, queue, &f->t.args, 0, NULL, &event);
    if (!is_int(e, CL_SUCCESS, "a profiling queue works"))
        return;
    clWaitForEvents(1, &event);
    e = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL);
    e = e ? e : clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL);
    ok(!e && start <= end, "and the event knows its times");
    clReleaseEvent(event);
    clReleaseCommandQueue(queue);
}

static void test_foreign_event(struct fixture *f, const struct device *d)
{
    const cl_context other = each_context(d);
    cl_event event = NULL, foreign = each_gate(other);
    const cl_int e = clattn_enqueue_forward(f->plan, d->queue, &f->t.args, 1, &foreign, &event);
    ok((e == CL_INVALID_CONTEXT || e == CLATTN_ERROR_CONTEXT) && !event, "an event of another context is refused (%s)",
       clattn_status_string(e));
    clSetUserEventStatus(foreign, CL_COMPLETE);
    clReleaseEvent(foreign);
    clReleaseContext(other);
}

static void test_device(const struct device *d)
{
    struct fixture f, none;
    each_open(&f, d, text, PADDED);
    each_open(&none, d, empty, PADDED);
    test_wait_lists(&f, d);
    test_gate(&f, d->queue, "in order");
    test_gate(&none, d->queue, "no rows");
    test_nothing(&none, d);
    test_nothing_waits(&none, d);
    test_out_of_order(&f, d);
    test_profiling(&f, d);
    test_foreign_event(&f, d);
    test_failure(&f, d);
    fixture_close(&f);
    fixture_close(&none);
}

int main(void)
{
    return each_device(test_device);
}
