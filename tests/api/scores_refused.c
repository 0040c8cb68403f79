/* scores_refused.c - calls that write scores: what is refused, what is ignored, waiting
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/refuse.h"
#include "tests/lib/scored.h"

#include <stddef.h>

static const char text[] = "f32 b2 h4/2 q5 k7 d8 causal bias:bhqk sink lse";

/* A plan, and a call that is right. */
struct looking {
    const struct device *d;
    clattn_plan plan;
    struct scored s;
};

static void open_looking(struct looking *x, const struct device *d, const char *words)
{
    const clattn_workload c = each_case(words);
    char why[512] = "";
    x->d = d;
    if (scored_make(&x->s, d->cl.context, &c, PADDED))
        bail("no scores: %s", words);
    x->plan = each_own_plan(d->handle, &x->s.t.c.problem, NULL);
    if (!scored_forward(&x->s, x->plan, d->queue, why, sizeof why) ||
        !scored_run(&x->s, CLATTN_SCORES_WEIGHTS, x->plan, d->queue, why, sizeof why) ||
        !scored_verify(&x->s, why, sizeof why))
        bail("%s: %s", words, why);
}

static void close_looking(struct looking *x)
{
    clattn_plan_release(x->plan);
    scored_free(&x->s);
}

/* The call is refused by `plan` with these words, and writes nothing: what the call before wrote is still there. */
static void refused_by(struct looking *x, clattn_plan plan, const clattn_scores_args *a, cl_int want,
                       const char *words, const char *what)
{
    cl_event event = NULL;
    const cl_int e = clattn_enqueue_scores(plan, x->d->queue, a, 0, NULL, &event);
    each_refused(x->d, e, event, want, words, what);
    if (!image_unchanged(&x->s.at.image, x->d->queue))
        ok(0, "and nothing was written");
}

/* `change` alters copies of the arguments: `a`, those of the forward call `f`, and its sizes `s`. */
#undef REFUSED
#define REFUSED(want, words, change) \
    do { \
        clattn_forward_args f = x->s.forward; \
        clattn_sizes s = x->s.t.sizes; \
        clattn_scores_args a = x->s.args; \
        f.sizes = &s; \
        a.forward = &f; \
        change; \
        refused_by(x, x->plan, &a, want, words, #change); \
    } while (0)

static void test_own(struct looking *x)
{
    const cl_context context = x->d->cl.context;
    const cl_mem fixed = each_buffer(context, CL_MEM_READ_ONLY, 1 << 16, NULL);
    const cl_mem small = each_buffer(context, CL_MEM_READ_WRITE, 16, NULL);
    REFUSED(BAD, "forward is NULL", a.forward = NULL);
    REFUSED(BAD, "struct_size", a.struct_size = sizeof a - 8);
    REFUSED(BAD, "stage 4 is none of CLATTN_SCORES_*", a.stage = 4);
    REFUSED(BAD, "stage -1 is none", a.stage = -1);
    REFUSED(BAD, "stage 2147483647 is none", a.stage = INT32_MAX);
    REFUSED(BAD, "reserved is 1", a.reserved = 1);
    REFUSED(BAD, "scores.mem is NULL", a.scores.mem = NULL);
    REFUSED(BAD, "scores is written, but its buffer is CL_MEM_READ_ONLY", a.scores.mem = fixed);
    REFUSED(SMALL, "scores reaches", a.scores.mem = small);
    REFUSED(SMALL, "scores reaches", a.scores.offset += 1 << 20);
    REFUSED(BAD, "overflow", a.scores.offset = SIZE_MAX);
    REFUSED(BAD, "overflow", a.scores.stride[0] = INT64_MAX);
    REFUSED(BAD, "must not be negative", a.scores.stride[1] = -1);
    for (int i = 0; i < 4; i++) {
        REFUSED(BAD, "must be", a.scores.shape[i] = 1);
        REFUSED(BAD, "must be", a.scores.shape[i] = 9);
        REFUSED(BAD, "overlap", a.scores.stride[i] = 0);
    }
    REFUSED(BAD, "overlap", a.scores.stride[2] = 6);
    clReleaseMemObject(fixed);
    clReleaseMemObject(small);
}

/* What is wrong with the forward call's arguments is wrong here. */
static void test_forward(struct looking *x)
{
    const cl_context context = x->d->cl.context, other = each_context(x->d);
    const cl_mem foreign = each_buffer(other, CL_MEM_READ_WRITE, 1 << 16, NULL);
    const cl_mem blind = each_buffer(context, CL_MEM_WRITE_ONLY, 1 << 16, NULL);
    REFUSED(BAD, "lse.mem is NULL", f.lse.mem = NULL);
    REFUSED(BAD, "lse is read, but its buffer is CL_MEM_WRITE_ONLY", f.lse.mem = blind);
    REFUSED(SMALL, "lse reaches", f.lse.offset += 1 << 20);
    REFUSED(CLATTN_ERROR_CONTEXT, "another context", f.lse.mem = foreign);
    REFUSED(CLATTN_ERROR_CONTEXT, "another context", a.scores.mem = foreign);
    REFUSED(BAD, "q.mem is NULL", f.q.mem = NULL);
    REFUSED(BAD, "k.mem is NULL", f.k.mem = NULL);
    REFUSED(BAD, "bias.mem is NULL", f.bias.mem = NULL);
    REFUSED(BAD, "sinks.mem is NULL", f.sinks.mem = NULL);
    REFUSED(BAD, "mask is given", f.mask = f.bias);
    REFUSED(BAD, "nq is -1", s.nq = -1);
    REFUSED(BAD, "hk", s.hk = 3);
    REFUSED(CLATTN_ERROR_NOT_SUPPORTED, "too many work-groups",
            s.b = s.nq = 1 << 30; s.nk = 0; a.stage = 0; f.bias.shape[0] = f.bias.shape[2] = 1; f.bias.shape[3] = 0;
            f.q.stride[0] = f.q.stride[2] = 0);
    REFUSED(BAD, "struct_size", f.struct_size = sizeof f - 4);
    clReleaseMemObject(foreign);
    clReleaseMemObject(blind);
    clReleaseContext(other);
}

static void test_pointers(struct looking *x)
{
    cl_event event = NULL;
    ok(clattn_enqueue_scores(NULL, x->d->queue, &x->s.args, 0, NULL, &event) < 0 && !event, "plan NULL is refused");
    ok(clattn_enqueue_scores(x->plan, NULL, &x->s.args, 0, NULL, &event) < 0 && !event, "queue NULL is refused");
    ok(clattn_enqueue_scores(x->plan, x->d->queue, NULL, 0, NULL, &event) < 0 && !event, "args NULL is refused");
}

/* Plans of other problems. */
static void test_plans(struct looking *x)
{
    clattn_problem p = x->s.t.c.problem;
    p.flags &= ~(uint32_t)CLATTN_SCORES;
    const clattn_plan without = each_own_plan(x->d->handle, &p, NULL);
    p.flags |= CLATTN_BACKWARD;
    const clattn_plan backward = each_own_plan(x->d->handle, &p, NULL);
    refused_by(x, without, &x->s.args, BAD, "the problem lacks CLATTN_SCORES", "a plan without the flag");
    refused_by(x, backward, &x->s.args, BAD, "CLATTN_BACKWARD", "a plan for gradients");
    clattn_plan_release(without);
    clattn_plan_release(backward);
    p.flags |= CLATTN_SCORES;
    char why[256] = "";
    ok(clattn_supports(x->d->handle, &p, why, sizeof why) == BAD && strstr(why, "CLATTN_SCORES"),
       "a problem with both is none: %s", why);
}

/* V, O and what goes with them may be anything, LSE too before weights; a call without elements takes no buffer. */
static void test_ignored(struct looking *x)
{
    clattn_forward_args f = x->s.forward;
    clattn_scores_args a = x->s.args;
    const clattn_tensor nonsense = { f.q.mem, SIZE_MAX, { -1, INT64_MAX, -5 } };
    const clattn_sizes before = x->s.t.sizes;
    clattn_sizes s = before;
    f.v = f.o = nonsense;
    f.splits = -3;
    a.forward = &f;
    is_int(clattn_enqueue_scores(x->plan, x->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "V, O and splits are ignored");
    f.lse = nonsense;
    a.stage = CLATTN_SCORES_MASKED;
    is_int(clattn_enqueue_scores(x->plan, x->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "so is LSE of scores");
    f.sizes = &s;
    a.scores.mem = NULL;
    memset(&f.bias, 0, sizeof f.bias);
    s.nk = 0;
    is_int(clattn_enqueue_scores(x->plan, x->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "no keys, no scores");
    s = before;
    s.nq = 0;
    is_int(clattn_enqueue_scores(x->plan, x->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "no queries, no scores");
    clFinish(x->d->queue);
}

/* It waits for what it is told to, and its event is that of what it writes. */
static void test_waits(struct looking *x)
{
    const cl_event gate = each_gate(x->d->cl.context);
    const cl_command_queue queue = each_other_queue(x->d);
    cl_event event = NULL;
    cl_int status = -1;
    char why[512] = "";
    scored_run(&x->s, CLATTN_SCORES_WEIGHTS, x->plan, x->d->queue, why, sizeof why);
    cl_int e = clattn_enqueue_scores(x->plan, queue, &x->s.args, 1, &gate, &event);
    clFlush(queue);
    e = e ? e : clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    ok(!e && status > CL_COMPLETE, "it waits (%s)", clattn_status_string(e));
    clSetUserEventStatus(gate, CL_COMPLETE);
    ok(!e && !clWaitForEvents(1, &event) && image_unchanged(&x->s.at.image, x->d->queue), "and writes the same then");
    if (event)
        clReleaseEvent(event);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
}

static void test_device(const struct device *d)
{
    struct looking one, *const x = &one;
    open_looking(x, d, text);
    test_pointers(x);
    test_own(x);
    test_forward(x);
    test_plans(x);
    test_waits(x);
    test_ignored(x);
    close_looking(x);
    open_looking(x, d, "f32 b3 h4/2 q5 k7 d8 varlen lse");
    REFUSED(BAD, "must be", a.scores.shape[0] = 3);
    REFUSED(BAD, "must be", a.scores.shape[2] = 5);
    REFUSED(BAD, "total_q is 0", s.total_q = 0);
    close_looking(x);
}

int main(void)
{
    return each_device(test_device);
}
