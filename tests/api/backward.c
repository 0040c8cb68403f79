/* backward.c - what a backward call refuses, and in which words; the workspace that it takes
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"

static const char text[] = "f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink lse bwd";
enum { ALL = 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | GRADED_OTHERS };

static struct {
    const struct device *d;
    clattn_plan plan;
    struct graded g;
} on;

/* The call with its arguments as they are now. */
static void refused(cl_int want, const char *words, const char *what)
{
    cl_event event = NULL;
    const cl_int e = clattn_enqueue_backward(on.plan, on.d->queue, &on.g.args, 0, NULL, &event);
    each_refused(on.d, e, event, want, words, what);
}

static cl_mem read_only(size_t bytes)
{
    cl_int e;
    cl_mem mem = clCreateBuffer(on.d->cl.context, CL_MEM_READ_ONLY, bytes, NULL, &e);
    if (e)
        bail("no buffer");
    return mem;
}

static void test_tensors(void)
{
    clattn_backward_args *const a = &on.g.args;
    const clattn_backward_args good = *a;
    clattn_forward_args *const f = &on.g.t.args;
    const clattn_forward_args forward = *f;
    const cl_mem constant = read_only(1 << 16);
    a->forward = NULL;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "forward is NULL", "no forward call");
    *a = good;
    f->lse.mem = NULL;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "lse.mem is NULL", "no LSE");
    *f = forward;
    f->o.mem = NULL;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "o.mem is NULL", "no O");
    *f = forward;
    a->dout.mem = NULL;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dout.mem is NULL", "no dO");
    *a = good;
    a->dq.mem = constant;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dq is written, but its buffer is CL_MEM_READ_ONLY", "a constant dQ");
    *a = good;
    a->dk.offset = 1 << 20;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "dk reaches to byte", "a dK beyond its buffer");
    *a = good;
    a->dv.stride[2] = 1;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dv: its strides make elements overlap", "a dV whose rows overlap");
    *a = good;
    a->dk.stride[0] = 0;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dk.stride[b] is 0, that of dv is not", "dK without an axis b beside dV");
    a->dv.stride[0] = 0;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dk.stride[b] is 0, that of k is not", "both, where K has that axis");
    *a = good;
    a->dbias.shape[1] = 3;
    a->dbias.stride[1] = 100;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dbias.shape[h] is 3", "a dBias of another shape");
    *a = good;
    a->dsinks.offset = 1 << 20;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "dsinks reaches to byte", "a dSink beyond its buffer");
    *a = good;
    clReleaseMemObject(constant);
}

static void test_workspace(void)
{
    clattn_backward_args *const a = &on.g.args;
    const clattn_backward_args good = *a;
    size_t need = 0, less = 0;
    ok(!clattn_backward_workspace_size(on.plan, a, &need) && need == a->workspace_size, "the size is the same again");
    a->workspace_size--;
    refused(CLATTN_ERROR_WORKSPACE, "the call needs a workspace of", "a workspace that is a byte too small");
    *a = good;
    a->workspace = NULL;
    refused(CLATTN_ERROR_WORKSPACE, "the call needs a workspace of", "no workspace");
    *a = good;
    a->dq.mem = NULL;
    ok(!clattn_backward_workspace_size(on.plan, a, &less) && less < need, "without dQ it is smaller: %zu, %zu", less,
       need);
    *a = good;
    ok(clattn_backward_workspace_size(on.plan, a, NULL) == CLATTN_ERROR_INVALID_ARGUMENT, "size NULL is refused");
}

/* Room for fewer stripes: slower, and right. */
static void test_bound(void)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    struct graded g;
    char why[1024] = "";
    double most;
    const clattn_workload c = each_case("f32 b1 h1 q20 k700 d16 lse bwd");
    cl_int e = graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, ALL);
    o.max_workspace = 20 * (2 + 16) * sizeof(float) + 32;
    e = e ? e : clattn_plan_create(&plan, on.d->handle, &c.problem, &o);
    e = e ? e : graded_run(&g, plan, on.d->queue);
    ok(!e && g.args.workspace_size <= o.max_workspace && graded_verify(&g, on.d->queue, &most, why, sizeof why),
       "one stripe, where there is no room for more: %s", why);
    clattn_plan_release(plan);
    o.max_workspace = 64;
    plan = NULL;
    e = clattn_plan_create(&plan, on.d->handle, &c.problem, &o);
    size_t need;
    ok(!e && clattn_backward_workspace_size(plan, &g.args, &need) == CLATTN_ERROR_NOT_SUPPORTED,
       "too little for one is refused");
    clattn_plan_release(plan);
    graded_free(&g);
}

/* Plans for gradients have that call alone, and others do not. */
static void test_plans(void)
{
    clattn_problem p = on.g.t.c.problem;
    clattn_plan forward = NULL;
    cl_event event = NULL;
    size_t need;
    p.flags &= ~(uint32_t)CLATTN_BACKWARD;
    if (clattn_plan_create(&forward, on.d->handle, &p, NULL))
        bail("no plan");
    cl_int e = clattn_enqueue_forward(on.plan, on.d->queue, &on.g.t.args, 0, NULL, &event);
    each_refused(on.d, e, event, CLATTN_ERROR_INVALID_ARGUMENT, "the problem has CLATTN_BACKWARD", "a forward call");
    e = clattn_workspace_size(on.plan, &on.g.t.args, &need);
    each_refused(on.d, e, NULL, CLATTN_ERROR_INVALID_ARGUMENT, "the problem has CLATTN_BACKWARD", "its workspace");
    e = clattn_enqueue_backward(forward, on.d->queue, &on.g.args, 0, NULL, &event);
    each_refused(on.d, e, event, CLATTN_ERROR_INVALID_ARGUMENT, "the problem lacks CLATTN_BACKWARD", "another plan");
    clattn_plan_release(forward);
}

static void test(const struct device *d)
{
    const clattn_workload c = each_case(text);
    char why[1024] = "";
    double most;
    on.d = d;
    if (graded_make(&on.g, d->cl.context, d->queue, &c, PADDED, ALL) ||
        clattn_plan_create(&on.plan, d->handle, &on.g.t.c.problem, NULL) || graded_run(&on.g, on.plan, d->queue))
        bail("no gradients");
    test_tensors();
    test_workspace();
    test_plans();
    test_bound();
    ok(graded_verify(&on.g, d->queue, &most, why, sizeof why), "all that was refused wrote nothing: %s", why);
    clattn_plan_release(on.plan);
    graded_free(&on.g);
}

int main(void)
{
    return each_device(test);
}
