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
    a->dk.stride[0] = 0;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dk.stride[b] is 0, that of dv is not", "dK without an axis b beside dV");
    a->dv.stride[0] = 0;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dk.stride[b] is 0, that of k is not", "both, where K has that axis");
    f->k.stride[0] = 0;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dk.stride[b] is 0, that of v is not", "both, where V has that axis");
    *f = forward;
    f->v.stride[0] = 0;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dk.stride[b] is 0, that of k is not", "both, where K alone has it");
    *f = forward;
    *a = good;
    a->dv.stride[0] = 0;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "dv.stride[b] is 0, that of dk is not", "dV without an axis b beside dK");
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

/* Strides that say nothing: of axes of one, and of what is not asked for. */
static void test_strides(void)
{
    static const struct {
        const char *text;
        enum layout layout;
        unsigned wanted;
        int dk, dv; /* the axis that does not step; 3: none */
    } rows[] = {
        { "f32 b2 h2/1 q5 k9 d8 lse bwd", SHARED, ALL, 1, 1 },
        { "f32 b2 h2 q5 k1 d8 lse bwd", SHARED, ALL, 2, 2 },
        { "f32 b1 h2 q5 k9 d8 lse bwd", PADDED, ALL, 0, 0 },
        { "f32 b2 h2 q5 k9 d8 lse bwd", PADDED, 1 << GRADED_DV, 0, 3 },
        { "f32 b2 h2 q5 k9 d8 lse bwd", PADDED, 1 << GRADED_DK, 3, 0 },
        { "f32 b3 h2 q9 k5 d8/6 varlen lse bwd", PLAIN, ALL | 1 << GRADED_DLSE, 3, 3 }, /* more rows of Q than of K */
        { "f32 b3 h2 q5 k9 d8/6 varlen lse bwd", PLAIN, ALL | 1 << GRADED_DLSE, 3, 3 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graded g;
        char why[1024] = "";
        double most;
        const clattn_workload c = each_case(rows[i].text);
        clattn_plan plan = NULL;
        cl_int e = graded_make(&g, on.d->cl.context, on.d->queue, &c, rows[i].layout, rows[i].wanted);
        for (int axis = 0; axis < 3; axis++) {
            g.args.dk.stride[axis] = axis == rows[i].dk ? 0 : g.x[GRADED_DK].stride[axis];
            g.args.dv.stride[axis] = axis == rows[i].dv ? 0 : g.x[GRADED_DV].stride[axis];
        }
        e = e ? e : clattn_plan_create(&plan, on.d->handle, &c.problem, NULL);
        e = e ? e : graded_run(&g, plan, on.d->queue);
        ok(!e && graded_verify(&g, on.d->queue, &most, why, sizeof why),
           "axes %d of dK and %d of dV do not step (%s %s): %s", rows[i].dk, rows[i].dv, clattn_status_string(e), why,
           rows[i].text);
        clattn_plan_release(plan);
        graded_free(&g);
    }
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
    cl_int e = clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    const cl_mem half = e ? NULL : clCreateBuffer(on.d->cl.context, CL_MEM_READ_WRITE, size / 2, NULL, &e);
    if (e)
        bail("no buffer");
    return half;
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
    static const char none[] = "f32 b2 h4/2 q9 k40 d8/6 lse bwd";
    refused_of(none, 1 << GRADED_DQ, give_dbias, CLATTN_ERROR_INVALID_ARGUMENT, "dbias is given, but the problem");
    refused_of(none, 1 << GRADED_DQ, give_dslopes, CLATTN_ERROR_INVALID_ARGUMENT, "dslopes is given, but the problem");
    refused_of(none, 1 << GRADED_DQ, give_dsinks, CLATTN_ERROR_INVALID_ARGUMENT, "dsinks is given, but the problem");
    refused_of("f64 b1 h1 q9 k40 d8 bias:11qk lse bwd", GRADED_OTHERS, halve_dbias, CLATTN_ERROR_BUFFER_TOO_SMALL,
               "dbias reaches to byte");
    refused_of("f64 b1 h1 q9 k40 d8 mod:relative_bias lse bwd", GRADED_CAPTURED, halve_daux,
               CLATTN_ERROR_BUFFER_TOO_SMALL, "daux[0] reaches to byte");
    refused_of(text, GRADED_OTHERS, halve_dsinks, CLATTN_ERROR_BUFFER_TOO_SMALL, "dsinks reaches to byte");
    refused_of("f32 b2 h4/2 q9 k40 d8/6 alibi seed1 lse bwd", GRADED_OTHERS, halve_dslopes,
               CLATTN_ERROR_BUFFER_TOO_SMALL, "dslopes reaches to byte");
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

/* The same of what stripes of a bias add up, which engines with a pass for dQ have as well; and calls that have more
 * work-groups than an int counts. */
static void test_limits(void)
{
    static const char few_items[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";
    static const char *const vast[] = { "f32 b65536 h65536 q1 k1 d8 lse bwd", "f32 b65536 h65536 q0 k1 d8 lse bwd",
                                        "f32 b32768 h32768 q1024 k1 d8 lse bwd" };
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_forward_args forward = CLATTN_FORWARD_ARGS_INIT;
    clattn_backward_args a = CLATTN_BACKWARD_ARGS_INIT;
    clattn_plan plan = NULL;
    struct graded g;
    char why[1024] = "";
    double most;
    const clattn_workload c = each_case("f32 b1 h1 q20 k700 d16 bias:11q1 lse bwd");
    cl_int e = graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, ALL);
    o.config = few_items;
    o.max_workspace = 20 * (2 + 2) * sizeof(float) + 32;
    e = e ? e : clattn_plan_create(&plan, on.d->handle, &c.problem, &o);
    e = e ? e : graded_run(&g, plan, on.d->queue);
    ok(!e && graded_verify(&g, on.d->queue, &most, why, sizeof why), "one stripe of a bias (%s): %s",
       clattn_status_string(e), why);
    clattn_plan_release(plan);
    graded_free(&g);
    a.forward = &forward;
    for (size_t i = 0; i < sizeof vast / sizeof *vast; i++) {
        const clattn_workload v = each_case(vast[i]);
        size_t need;
        plan = NULL;
        e = clattn_plan_create(&plan, on.d->handle, &v.problem, NULL);
        ok(!e && clattn_backward_workspace_size(plan, &a, &need) == CLATTN_ERROR_NOT_SUPPORTED,
           "too many work-groups are refused (%s): %s", clattn_status_string(e), vast[i]);
        clattn_plan_release(plan);
    }
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

/* ---- Score_mods ---- */

/* A problem with two mods and two captured buffers that nothing is wrong with. */
struct modded {
    clattn_problem p;
    clattn_score_mod mods[2];
    clattn_aux aux[2];
    const char *grads[2];
};

static void make_modded(struct modded *m, const char *problem)
{
    const clattn_workload c = each_case(problem);
    m->p = c.problem;
    m->mods[0] = (clattn_score_mod){ "s += table[h];", "first.cl", 0 };
    m->mods[1] = (clattn_score_mod){ "s = 2 * s;", NULL, CLATTN_MOD_VECTOR };
    m->grads[0] = "table_index = h; table_grad = ds;";
    m->grads[1] = "ds = 2 * ds;";
    m->aux[0] = (clattn_aux){ "kind", CLATTN_I32 };
    m->aux[1] = (clattn_aux){ "table", CLATTN_F32 };
    m->p.mods = m->mods;
    m->p.mod_grads = m->grads;
    m->p.aux = m->aux;
    m->p.n_mods = m->p.n_aux = 2;
    m->p.aux_grads = 2;
}

/* No plan, in these words. */
static void no_plan(const clattn_problem *p, cl_int want, const char *words, const char *what)
{
    char why[512] = "";
    clattn_plan plan = NULL;
    const cl_int s = clattn_supports(on.d->handle, p, why, sizeof why);
    const cl_int e = clattn_plan_create(&plan, on.d->handle, p, NULL);
    each_refused(on.d, e, NULL, want, words, what);
    ok(!plan && (s == want || want == CLATTN_ERROR_BUILD), "no plan, and supports() says so (%s): %s",
       clattn_status_string(s), why);
}

#define NO_PLAN(want, words, change) \
    do { \
        struct modded m; \
        make_modded(&m, "f32 b1 h2 q9 k40 d8 lse bwd"); \
        change; \
        no_plan(&m.p, want, words, #change); \
    } while (0)

static void test_derivatives(void)
{
    static char endless[(1 << 20) + 2];
    memset(endless, ' ', sizeof endless - 1);
    NO_PLAN(CLATTN_ERROR_NOT_SUPPORTED, "score_mod 0, first.cl has no derivative", m.p.mod_grads = NULL);
    NO_PLAN(CLATTN_ERROR_NOT_SUPPORTED, "score_mod 1 has no derivative: mod_grads[1] is NULL", m.grads[1] = NULL);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "mod_grads[1] is longer than", m.grads[1] = endless);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "aux_grads is 0x6, but n_aux is 2", m.p.aux_grads = 6);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "aux_grads is 0x80000000", m.p.aux_grads = 1u << 31);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "marks aux[0], \"kind\", whose type 5", m.p.aux_grads = 1);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "marks aux[1], \"table\", whose type 2", m.aux[1].type = CLATTN_F16);
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "\"table_index\" means something else", m.aux[0].name = "table_index");
    NO_PLAN(CLATTN_ERROR_INVALID_ARGUMENT, "\"table_grad\" means something else", m.aux[0].name = "table_grad");
    NO_PLAN(CLATTN_ERROR_BUILD, "derivative of first.cl:2:", m.grads[0] = "ds = ds;\nds = nowhere;");
    NO_PLAN(CLATTN_ERROR_BUILD, "derivative of score_mod:1:", m.grads[1] = "ds = nowhere;");
}

/* What only gradients need is nothing to the others. */
static void test_ignored(void)
{
    struct modded m;
    static const char *const none[2] = { NULL, NULL };
    clattn_plan plan = NULL;
    char class[256] = "", again[256] = "", kept[256] = "", unmarked[256] = "", other[256] = "";
    make_modded(&m, "f32 b1 h2 q9 k40 d8 lse bwd");
    clattn_class_of(on.d->handle, &m.p, kept, sizeof kept, NULL);
    m.p.aux_grads = 0;
    clattn_class_of(on.d->handle, &m.p, unmarked, sizeof unmarked, NULL);
    m.grads[1] = "ds = 3 * ds;";
    clattn_class_of(on.d->handle, &m.p, other, sizeof other, NULL);
    ok(*kept && strcmp(kept, unmarked) && strcmp(unmarked, other),
       "marks and derivatives make other classes: %s, %s, %s", kept, unmarked, other);
    m.aux[0].type = CLATTN_F32;
    m.p.aux_grads = 1;
    clattn_class_of(on.d->handle, &m.p, class, sizeof class, NULL);
    m.p.aux_grads = 2;
    clattn_class_of(on.d->handle, &m.p, again, sizeof again, NULL);
    ok(*class && strcmp(class, again), "and so do other marks: %s, %s", class, again);
    m.p.flags &= ~(uint32_t)CLATTN_BACKWARD;
    clattn_class_of(on.d->handle, &m.p, class, sizeof class, NULL);
    m.p.mod_grads = none;
    m.p.aux_grads = UINT32_MAX;
    clattn_class_of(on.d->handle, &m.p, again, sizeof again, NULL);
    is_str(again, class, "a forward problem is the same class whatever they are");
    is_int(clattn_plan_create(&plan, on.d->handle, &m.p, NULL), CL_SUCCESS, "and has a plan");
    clattn_plan_release(plan);
}

/* A plan that may be asked for the gradient of `table`, and calls that ask in wrong ways. */
static void test_captured(void)
{
    struct modded m;
    clattn_backward_args *const a = &on.g.args;
    const clattn_backward_args good = *a;
    const clattn_plan plain = on.plan;
    cl_int e;
    cl_mem mem = clCreateBuffer(on.d->cl.context, CL_MEM_READ_WRITE, 64, NULL, &e), constant = read_only(64);
    clattn_array aux[2] = { { mem, 0 }, { mem, 0 } };
    clattn_aux_gradient daux[2] = { { { NULL, 0 }, 0 }, { { mem, 0 }, 16 } };
    size_t without = 0, with = 0;
    make_modded(&m, text);
    a->daux = daux;
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "the problem has no captured buffers", "a gradient of none");
    on.plan = NULL;
    if (e || clattn_plan_create(&on.plan, on.d->handle, &m.p, NULL))
        bail("no plan");
    on.g.t.args.aux = aux;
    daux[0] = daux[1];
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "aux_grads of the problem does not mark aux[0]", "one that is not marked");
    daux[0].to.mem = NULL;
    daux[0].n = -1;
    static const int64_t counts[] = { 0, -1, INT64_MIN, (1 << 30) + 1, INT64_MAX };
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        daux[1].n = counts[i];
        refused(CLATTN_ERROR_INVALID_ARGUMENT, "daux[1].n is", "a wrong number of elements");
        ok(clattn_backward_workspace_size(on.plan, a, &with) == CLATTN_ERROR_INVALID_ARGUMENT, "its workspace, too");
    }
    daux[1].n = 17;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "daux[1] reaches to byte", "more than the buffer has");
    daux[1].n = 16;
    daux[1].to.offset = 1;
    refused(CLATTN_ERROR_BUFFER_TOO_SMALL, "daux[1] reaches to byte", "an offset too far");
    daux[1].to = (clattn_array){ constant, 0 };
    refused(CLATTN_ERROR_INVALID_ARGUMENT, "daux[1] is written, but its buffer is CL_MEM_READ_ONLY", "a constant one");
    daux[1].to.mem = mem;
    e = clattn_backward_workspace_size(on.plan, a, &with);
    a->daux = NULL;
    ok(!e && !clattn_backward_workspace_size(on.plan, a, &without) && with > without, "workspace: %zu bytes, and %zu",
       without, with);
    on.g.t.args.aux = NULL;
    *a = good;
    clattn_plan_release(on.plan);
    on.plan = plain;
    clReleaseMemObject(mem);
    clReleaseMemObject(constant);
}

/* What each stripe of keys adds up apart does not grow with the keys: there are as many stripes as work-groups take. */
static size_t workspace_of(const char *row, int nk, const char *config)
{
    char problem[128], why[512] = "";
    size_t size = 0;
    clattn_plan plan;
    struct graded g;
    snprintf(problem, sizeof problem, "f32 b1 h2/1 q5 k%d d8 %s bwd", nk, row);
    const clattn_workload c = each_case(problem);
    if (graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, ALL | GRADED_CAPTURED) ||
        harness_plan(on.d, &g.t.c.problem, config, &plan, why, sizeof why) ||
        clattn_backward_workspace_size(plan, &g.args, &size))
        bail("%s: %s", problem, why);
    graded_free(&g);
    return size;
}
static void test_stripes(void)
{
    static const char few_items[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";
    static const struct {
        const char *row, *config;
    } rows[] = { { "lse", "cpu" }, { "bias:11q1 lse", few_items }, { "mod:head_scale lse", few_items } };
    setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0); /* its optimiser takes minutes for such kernels */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const size_t size = workspace_of(rows[i].row, 16384, rows[i].config);
        const size_t twice = workspace_of(rows[i].row, 32768, rows[i].config);
        ok(size == twice, "twice the keys take no larger workspace (%zu bytes, %zu): %s, %s", size, twice,
           rows[i].config, rows[i].row);
    }
}

/* Each work-group's own elements and what additions to them lose, or where these are more than dQ has those of one
 * for all heads. Query heads that share keys have their dQ beside one table. */
static void test_tables_of(int heads)
{
    struct modded m;
    enum { ENTRIES = 16 };
    char problem[64];
    const size_t plain = (size_t)(2 * ENTRIES * heads) * 2 * sizeof(float);
    clattn_forward_args forward = CLATTN_FORWARD_ARGS_INIT;
    clattn_backward_args a = CLATTN_BACKWARD_ARGS_INIT;
    clattn_aux_gradient daux[2] = { { { NULL, 0 }, 0 }, { { on.g.args.dsinks.mem, 0 }, 0 } };
    const int64_t most = 16 * heads, counts[] = { 1, most, most + heads, 1000 };
    clattn_plan plan = NULL;
    snprintf(problem, sizeof problem, "f32 b16 h%d/1 q2 k1 d8 lse bwd", heads);
    make_modded(&m, problem);
    if (clattn_plan_create(&plan, on.d->handle, &m.p, NULL))
        bail("no plan");
    a.forward = &forward;
    a.daux = daux;
    for (size_t i = 0; i < sizeof counts / sizeof *counts; i++) {
        size_t size = 0;
        daux[1].n = counts[i];
        const size_t groups = counts[i] > most ? 1 : ENTRIES;
        const size_t want = (plain + (size_t)counts[i] * groups * 2 * sizeof(float) + 31) / 32 * 32;
        const cl_int e = clattn_backward_workspace_size(plan, &a, &size);
        ok(!e && size == want, "%lld elements, %d heads: %zu bytes, expected %zu", (long long)counts[i], heads, size,
           want);
    }
    clattn_plan_release(plan);
}
static void test_tables(void)
{
    test_tables_of(1);
    test_tables_of(2);
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
    test_strides();
    test_problems();
    test_bound();
    test_limits();
    test_derivatives();
    test_ignored();
    test_captured();
    test_tables();
    test_stripes(); /* last, as it says */
    ok(graded_verify(&on.g, d->queue, &most, why, sizeof why), "all that was refused wrote nothing: %s", why);
    clattn_plan_release(on.plan);
    graded_free(&on.g);
}

int main(void)
{
    return each_device(test);
}
