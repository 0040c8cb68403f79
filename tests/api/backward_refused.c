/* backward_refused.c - backward calls that are refused, before anything is written
 * SPDX-License-Identifier: Apache-2.0
 *
 * CLATTN_PART=1: what make check has, and what a captured buffer of doubles needs. */
#include "config.h"

#include "tests/lib/graded_call.h"

static struct graded_call on;

static void refused(cl_int want, const char *words, const char *what)
{
    graded_call_refused(&on, want, words, what);
}

static void test_tensors(void)
{
    clattn_backward_args *const a = &on.g.args;
    const clattn_backward_args good = *a;
    clattn_forward_args *const f = &on.g.t.args;
    const clattn_forward_args forward = *f;
    const cl_mem constant = graded_call_read_only(&on, 1 << 16);
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
    static const char *const written[] = { "dq", "dk", "dv", "dbias", "dslopes", "dsinks" };
    cl_mem *const to[] = { &a->dq.mem, &a->dk.mem, &a->dv.mem, &a->dbias.mem, &a->dslopes.mem, &a->dsinks.mem };
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        char words[64];
        snprintf(words, sizeof words, "%s is written, but its buffer is CL_MEM_READ_ONLY", written[i]);
        *to[i] = constant;
        refused(CLATTN_ERROR_INVALID_ARGUMENT, words, "a constant one");
        *a = good;
    }
    a->dk.offset = 1 << 20;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "dk reaches to byte", "a dK beyond its buffer");
    *a = good;
    a->dv.stride[2] = 1;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dv: its strides make elements overlap", "a dV whose rows overlap");
    *a = good;
    static const char *const words[] = { "dk.stride[b] is 0, that of k is not", "dv.stride[b] is 0, that of v is not" };
    clattn_tensor *const sums[] = { &a->dk, &a->dv }, *const from[] = { &f->k, &f->v };
    for (int i = 0; i < 2; i++) {
        sums[i]->stride[0] = 0;
        refused(CLATTN_ERROR_INVALID_ARGUMENT, words[i], "a sum over entries that have keys of their own");
        from[!i]->stride[0] = 0;
        refused(CLATTN_ERROR_INVALID_ARGUMENT, words[i], "likewise, where the other one is shared");
        *f = forward;
        *a = good;
    }
    a->dbias.shape[1] = 3;
    a->dbias.stride[1] = 100;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dbias.shape[h] is 3", "a dBias of another shape");
    *a = good;
    a->dsinks.offset = 1 << 20;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "dsinks reaches to byte", "a dSink beyond its buffer");
    *a = good;
    for (size_t i = 0; i < sizeof to / sizeof *to; i++) {
        *to[i] = NULL;
        const cl_int e = clattn_enqueue_backward(on.plan, on.d->queue, a, 0, NULL, NULL);
        is_int(e, CL_SUCCESS, "%s need not be wanted", written[i]);
        *a = good;
    }
    clFinish(on.d->queue);
    clReleaseMemObject(constant);
}

/* Plans for gradients have that call alone, and others do not. */
static void test_plans(void)
{
    clattn_problem p = on.g.t.c.problem;
    cl_event event = NULL;
    size_t need;
    p.flags &= ~(uint32_t)CLATTN_BACKWARD;
    const clattn_plan forward = each_own_plan(on.d->handle, &p, NULL);
    cl_int e = clattn_enqueue_forward(on.plan, on.d->queue, &on.g.t.args, 0, NULL, &event);
    each_refused(on.d, e, event, CLATTN_ERROR_INVALID_ARGUMENT, "the problem has CLATTN_BACKWARD", "a forward call");
    e = clattn_workspace_size(on.plan, &on.g.t.args, &need);
    each_refused(on.d, e, NULL, CLATTN_ERROR_INVALID_ARGUMENT, "the problem has CLATTN_BACKWARD", "its workspace");
    e = clattn_enqueue_backward(forward, on.d->queue, &on.g.args, 0, NULL, &event);
    each_refused(on.d, e, event, CLATTN_ERROR_INVALID_ARGUMENT, "the problem lacks CLATTN_BACKWARD", "another plan");
    clattn_plan_release(forward);
}

/* Shapes of a bias that repeats, which no call takes: nor has one a workspace. */
static void test_sizes(const struct device *d)
{
    static const int64_t bad[][2] = { { 3, 2 }, { -1, 1 }, { -4, -4 }, { 1, INT64_C(1) << 32 },
                                      { (INT64_C(1) << 32) + 2, 2 }, { INT64_MIN, 2 } };
    const clattn_workload c = each_case("f32 b4 h4/2 q9 k9 d8 bias:22qk lse bwd");
    clattn_backward_args a = CLATTN_BACKWARD_ARGS_INIT;
    clattn_forward_args f = CLATTN_FORWARD_ARGS_INIT;
    const clattn_plan plan = each_own_plan(d->handle, &c.problem, NULL);
    size_t need;
    a.forward = &f;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        f.bias = (clattn_tensor4){ .shape = { bad[i][0], bad[i][1], 0, 1 } };
        each_refused(d, clattn_backward_workspace_size(plan, &a, &need), NULL, CLATTN_ERROR_INVALID_ARGUMENT,
                     "bias.shape[", "a workspace for a shape that divides nothing");
    }
    f.bias = (clattn_tensor4){ .shape = { 2, 4, 0, 1 } };
    is_int(clattn_backward_workspace_size(plan, &a, &need), CL_SUCCESS, "and for one that divides");
    clattn_plan_release(plan);
}

static cl_mem half; /* what a change made */
/* A call with other arguments, of a problem of its own. */
static void refused_of(const char *problem, unsigned wanted, void (*change)(clattn_backward_args *), cl_int want,
                       const char *words)
{
    struct graded g;
    clattn_plan plan = NULL;
    cl_event event = NULL;
    const clattn_workload c = each_case(problem);
    if (harness_may_refuse(on.d, &c.problem, NULL)) {
        skip("%s has no f64: %s", on.d->name, words);
        return;
    }
    if (graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, wanted) ||
        clattn_plan_create(&plan, on.d->handle, &g.t.c.problem, NULL) || graded_run(&g, plan, on.d->queue))
        bail("no gradients: %s", problem);
    half = NULL;
    change(&g.args);
    const cl_int e = clattn_enqueue_backward(plan, on.d->queue, &g.args, 0, NULL, &event);
    each_refused(on.d, e, event, want, words, problem);
    if (half)
        clReleaseMemObject(half);
    clattn_plan_release(plan);
    graded_free(&g);
}

static void give_dbias(clattn_backward_args *a)
{
    a->dbias = on.g.args.dbias;
}
static void give_dslopes(clattn_backward_args *a)
{
    a->dslopes = on.g.args.dslopes;
}
static void give_dsinks(clattn_backward_args *a)
{
    a->dsinks = on.g.args.dsinks;
}
/* A buffer half as long: enough for numbers of 4 bytes. */
static cl_mem half_of(cl_mem mem)
{
    size_t size;
    if (clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL))
        bail("no size");
    return each_buffer(on.d->cl.context, CL_MEM_READ_WRITE, size / 2, NULL);
}
static void halve_dbias(clattn_backward_args *a)
{
    a->dbias.mem = half = half_of(a->dbias.mem);
}
static void halve_dslopes(clattn_backward_args *a)
{
    a->dslopes.mem = half = half_of(a->dslopes.mem);
}
static void halve_dsinks(clattn_backward_args *a)
{
    a->dsinks.mem = half = half_of(a->dsinks.mem);
}
static clattn_aux_gradient halved[CLATTN_AUX_MAX];
static void halve_daux(clattn_backward_args *a)
{
    memcpy(halved, a->daux, sizeof halved);
    halved[0].to.mem = half = half_of(halved[0].to.mem);
    a->daux = halved;
}

/* Gradients of what the problem does not have, and those in f64 where f32 would suffice; of heads that share keys, and
 * of batch entries that have slopes of their own, more than one. */
static void test_problems(void)
{
    static const char none[] = "f32 b2 h2/1 q5 k9 d8 lse bwd";
    refused_of(none, 1 << GRADED_DQ, give_dbias, CLATTN_ERROR_INVALID_ARGUMENT, "dbias is given, but the problem");
    refused_of(none, 1 << GRADED_DQ, give_dslopes, CLATTN_ERROR_INVALID_ARGUMENT, "dslopes is given, but the problem");
    refused_of(none, 1 << GRADED_DQ, give_dsinks, CLATTN_ERROR_INVALID_ARGUMENT, "dsinks is given, but the problem");
    refused_of("f64 b1 h1 q9 k40 d8 bias:11qk lse bwd", GRADED_OTHERS, halve_dbias, CLATTN_ERROR_BUFFER_TOO_SMALL,
               "dbias reaches to byte");
    if (harness_turn(0, 0))
        refused_of("f64 b1 h1 q9 k40 d8 mod:relative_bias lse bwd", GRADED_CAPTURED, halve_daux,
                   CLATTN_ERROR_BUFFER_TOO_SMALL, "daux[0] reaches to byte");
    refused_of(graded_call_text, GRADED_OTHERS, halve_dsinks, CLATTN_ERROR_BUFFER_TOO_SMALL, "dsinks reaches to byte");
    refused_of("f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink seed1 lse bwd", GRADED_OTHERS, halve_dslopes,
               CLATTN_ERROR_BUFFER_TOO_SMALL, "dslopes reaches to byte");
}

/* A workspace that no device has: the words tell its size, and what is allowed. */
static void test_beyond(const struct device *d)
{
    enum { HEADS = 8, KEYS = 64, D = 8 };
    const cl_mem rows = each_buffer(d->cl.context, CL_MEM_READ_WRITE, sizeof(float[2][HEADS][KEYS][D]), NULL);
    const clattn_tensor same = { .mem = rows, .stride = { 1, 0, 0 } }; /* all queries of all heads have one row */
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_forward_args forward = CLATTN_FORWARD_ARGS_INIT;
    clattn_backward_args a = CLATTN_BACKWARD_ARGS_INIT;
    cl_event event = NULL;
    char detail[512] = "";
    p.d = p.dv = D;
    p.sizes = (clattn_sizes){ 1, HEADS, HEADS, 1 << 30, KEYS, 0, 0, 0 };
    forward.q = forward.o = forward.lse = a.dout = same;
    forward.k.mem = forward.v.mem = a.dv.mem = rows;
    a.dv.offset = HEADS * KEYS * D;
    a.forward = &forward;
    const cl_int e = clattn_backward(d->handle, d->queue, &p, &a, 0, NULL, &event);
    clattn_error_detail(d->handle, detail, sizeof detail, NULL);
    ok(e < 0 && !event && strstr(detail, "a workspace of ") && strstr(detail, " allows "),
       "gradients of 2^33 rows are refused (%s): %s", clattn_status_string(e), detail);
    clReleaseMemObject(rows);
}

static void test(const struct device *d)
{
    graded_call_open(&on, d, graded_call_text, GRADED_ALL);
    test_tensors();
    test_plans();
    test_sizes(d);
    test_problems();
    test_beyond(d);
    graded_call_close(&on);
}

int main(void)
{
    return each_device(test);
}
