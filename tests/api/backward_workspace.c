/* backward_workspace.c - the workspace of backward calls: how large, bounded, and what too small a one does
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has each kind of bytes, in few kernels, but those of captured buffers, which backward_captured.t has, and
 * of engines whose items share tiles a few; CLATTN_PART=1: all. */
#include "config.h"

#include "tests/lib/graded_call.h"

static const char text[] = "f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink lse bwd";
static const char few_items[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";
static struct graded_call on;

static void refused(cl_int want, const char *words, const char *what)
{
    graded_call_refused(&on, want, words, what);
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

/* ---- The bytes, as clattn_backward_workspace_size() describes them ---- */

/* Elements of all captured buffers whose gradients are wanted. */
static int64_t cells_of(const struct graded *g)
{
    int64_t n = 0;
    for (int i = GRADED_DAUX; i < GRADED_CELLS; i++)
        n += graded_cells_wanted(g, i);
    return n;
}

#define SHORT_CPU "cpu w4,nv1,rk4,rd4,bk2"         /* tiles of 4 keys, and of 2 queries */
#define FEW "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0"   /* 16 work-items, tiles of 16 keys and of 16 queries */
#define MANY "simt tx16,ty4,tm4,tn4,ch4,cv4,qres0" /* 64 work-items, tiles of 16 keys and of 64 queries */
#define MATRIX "mma_emu nw1,rt1,bk16,qreg0"        /* 32 work-items, of which the emulation has 6 words each */
#define ALL_OTHERS "f32 b3 h4/2 q9 k90 d8/6 causal bias:11q1 alibi sink"
enum { DQ = 1 << GRADED_DQ, DK = 1 << GRADED_DK, DV = 1 << GRADED_DV, CAPTURED = GRADED_CAPTURED };
static const struct room {
    const char *text; /* without lse and bwd; %d: keys for each compute unit of the device */
    const char *config;
    unsigned wanted;
    /* Tiles of keys, or more; numbers that each row of Q has in each stripe of keys, beside L and D; that each stripe
     * has, once and for each element of captured buffers; that the call has. And those of work-groups, which come
     * behind them: of all that a stripe has, of all that a call has. */
    int keys, tiles, of_row, of_stripe, of_element, once, group_of_stripe, groups;
    enum layout layout;
    uint32_t padded; /* varlen, but these are not packed */
    int soon;        /* make check has it: kernels of few rows, each for several of them */
} rooms[] = {
    /* nothing, and what takes L and D alone */
    { "f32 b2 h2 q9 k9 d9/6", SHORT_CPU, 0, 0, 3, 0, 0, 0, 0, 0, 0, PADDED, 0, 1 },
    { "f32 b2 h2 q9 k9 d9/6", SHORT_CPU, DK | DV, 0, 3, 0, 0, 0, 0, 0, 0, PADDED, 0, 1 },
    { "f32 b2 h4/2 q9 k9 d9/6 sink", SHORT_CPU, GRADED_OTHERS, 0, 3, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    /* dQ of stripes: whole vectors, and twice as much of more than 64 tiles */
    { "f32 b1 h1 q9 k4 d9/6", SHORT_CPU, DQ, 0, 1, 12, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h2/1 q9 k%d d9/6", SHORT_CPU, DQ | DK, 256, 1 << 20, 12, 0, 0, 0, 0, 0, PADDED, 0, 1 },
    { "f32 b1 h2/1 q9 k%d d9/6", SHORT_CPU, DQ | DV, 257, 1 << 20, 24, 0, 0, 0, 0, 0, PADDED, 0, 1 },
    { "f32 b1 h1 q9 k900 d9/6", FEW, DQ | DK | DV, 0, 57, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    /* varlen: rows of all sequences, whichever side is packed */
    { "f32 b3 h2/1 q9 k4 d9/6 varlen", SHORT_CPU, DQ | DK, 0, 1, 12, 0, 0, 0, 0, 0, PADDED, 0, 1 },
    { "f32 b3 h2/1 q9 k4 d9/6 varlen", SHORT_CPU, DQ | DK, 0, 1, 12, 0, 0, 0, 0, 0, PADDED, CLATTN_CU_K, 1 },
    { "f32 b3 h2/1 q9 k4 d9/6 varlen", SHORT_CPU, DQ | DK, 0, 1, 12, 0, 0, 0, 0, 0, PADDED, CLATTN_CU_Q, 1 },
    { "f32 b3 h2/1 q129 k4 d9/6 varlen", SHORT_CPU, DK, 0, 1, 0, 0, 0, 0, 3 * 60, 0, PADDED, 0, 0 },
    { "f32 b3 h2/1 q129 k4 d9/6 varlen", SHORT_CPU, DK, 0, 1, 0, 0, 0, 0, 3 * 60, 0, PADDED, CLATTN_CU_K, 0 },
    { "f32 b3 h2/1 q129 k4 d9/6 varlen", SHORT_CPU, DK, 0, 1, 0, 0, 0, 0, 3 * 60, 0, PADDED, CLATTN_CU_Q, 0 },
    { "f16 b3 h2/1 q129 k16 d9/6 varlen", MATRIX, DQ, 0, 1, 0, 0, 0, 0, 0, 3 * 2 * 9 * 192, PADDED, 0, 0 },
    /* slopes: heads, tiles of keys, work-items */
    { "f32 b3 h4/2 q9 k4 d8 alibi", SHORT_CPU, GRADED_OTHERS, 0, 1, 0, 0, 0, 12, 0, 0, PADDED, 0, 0 },
    { "f32 b3 h4/2 q9 k33 d8 alibi", FEW, GRADED_OTHERS, 0, 3, 0, 0, 0, 12 * 3 * 16, 0, 0, PADDED, 0, 0 },
    { "f32 b3 h4/2 q9 k33 d8 alibi", FEW, DQ | DK | DV, 0, 3, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    /* a bias: without an axis of keys cells of stripes and their losses; else losses where more than 64 are added */
    { "f32 b3 h4/2 q9 k90 d8 bias:11q1", SHORT_CPU, GRADED_OTHERS, 0, 23, 0, 18, 0, 0, 0, 0, PADDED, 0, 0 },
    { ALL_OTHERS, SHORT_CPU, GRADED_OTHERS, 0, 23, 0, 18, 0, 12 * 23, 0, 0, PADDED, 0, 1 },
    { "f32 b1 h2/1 q9 k90 d8 bias:bhq1", FEW, GRADED_OTHERS, 0, 6, 0, 36, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h64/1 q2 k5 d8 bias:11qk", SHORT_CPU, GRADED_OTHERS, 0, 2, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h65/1 q2 k5 d8 bias:11qk", SHORT_CPU, GRADED_OTHERS, 0, 2, 0, 0, 0, 10, 64, 0, PADDED, 0, 0 },
    /* captured buffers: a table for 32 work-items, and what each of its elements loses */
    { "f32 b1 h2/1 q150 k90 d64 mod:relative_bias", SHORT_CPU, CAPTURED, 0, 23, 0, 0, 2, 0, 512, 0, PADDED, 0, 0 },
    { "f32 b1 h2/1 q150 k90 d64 mod:relative_bias", FEW, CAPTURED, 0, 6, 0, 0, 2, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h2/1 q150 k90 d8 mod:relative_bias", MANY, CAPTURED, 0, 6, 0, 0, 4, 0, 0, 0, PADDED, 0, 0 },
    { "f64 b1 h2/1 q9 k90 d9/6 bias:bhq1", SHORT_CPU, DQ | GRADED_OTHERS, 0, 23, 12, 36, 0, 0, 0, 0, PADDED, 0, 0 },
    /* totals of dK and dV: more than 64 tiles of queries, of all heads and entries that share keys */
    { "f32 b1 h1 q128 k4 d9/6", SHORT_CPU, DK | DV, 0, 1, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h1 q129 k4 d9/6", SHORT_CPU, DK, 0, 1, 0, 0, 0, 0, 60, 0, PADDED, 0, 0 },
    { "f64 b1 h1 q129 k4 d9/6", SHORT_CPU, DK, 0, 1, 0, 0, 0, 0, 60, 0, PADDED, 0, 0 },
    { "f32 b1 h1 q4 k300 d9/6", SHORT_CPU, DK, 0, 75, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h2/1 q64 k4 d9/6", SHORT_CPU, DK, 0, 1, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h2/1 q65 k4 d9/6", SHORT_CPU, DK, 0, 1, 0, 0, 0, 0, 60, 0, PADDED, 0, 0 },
    { "f32 b2 h1 q65 k4 d9/6", SHORT_CPU, DK | DV, 0, 1, 0, 0, 0, 0, 60, 0, SHARED, 0, 0 },
    { "f32 b2 h1 q65 k4 d9/6", SHORT_CPU, DK | DV, 0, 1, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b2 h1 q65 k4 d9/6 bias:11qk", SHORT_CPU, GRADED_OTHERS, 0, 1, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h1 q1025 k40 d17/9", FEW, DK, 0, 3, 0, 0, 0, 0, 0, 3 * 16 * (32 + 16), PADDED, 0, 0 },
    /* .. of dQ: more than 64 tiles of keys */
    { "f32 b1 h2 q40 k1024 d17/9", FEW, DQ | DV, 0, 64, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    { "f32 b1 h2 q40 k1025 d17/9", FEW, DQ | DV, 0, 65, 0, 0, 0, 0, 0, 2 * 3 * 16 * 32, PADDED, 0, 0 },
    { "f32 b1 h2 q48 k1025 d17/9", FEW, DQ | DV, 0, 65, 0, 0, 0, 0, 0, 2 * 3 * 16 * 32, PADDED, 0, 0 },
    { "f64 b1 h2 q40 k1025 d17/9", FEW, DQ, 0, 65, 0, 0, 0, 0, 0, 2 * 3 * 16 * 32, PADDED, 0, 0 },
    { "f32 b1 h2 q40 k1025 d17/9", FEW, DV, 0, 65, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
    /* words of an engine: of work-groups that have keys, or queries; none where nothing of theirs is wanted */
    { "f16 b2 h3 q40 k9 d8", MATRIX, DQ | DK, 0, 1, 0, 0, 0, 0, 0, 2 * 3 * 3 * 192, PADDED, 0, 0 },
    { "f16 b2 h3 q48 k9 d8", MATRIX, DQ | DK, 0, 1, 0, 0, 0, 0, 0, 2 * 3 * 3 * 192, PADDED, 0, 0 },
    { "f16 b2 h3 q40 k9 d8", MATRIX, DK, 0, 1, 0, 0, 0, 0, 0, 2 * 3 * 192, PADDED, 0, 0 },
    { "f16 b2 h3 q4 k40 d8", MATRIX, DQ, 0, 3, 0, 0, 0, 0, 0, 2 * 3 * 192, PADDED, 0, 0 },
    { "f16 b2 h3 q4 k40 d8", MATRIX, DQ | DV, 0, 3, 0, 0, 0, 0, 0, 2 * 3 * 3 * 192, PADDED, 0, 0 },
    { "f16 b2 h3 q40 k9 d8 sink", MATRIX, GRADED_OTHERS, 0, 1, 0, 0, 0, 0, 0, 0, PADDED, 0, 0 },
};

static int64_t bytes_of(const struct room *r, const struct graded *g, int64_t units)
{
    const clattn_problem *const p = &g->t.c.problem;
    const clattn_sizes *const s = &g->t.sizes;
    const int64_t rows = s->h * (p->flags & CLATTN_CU_Q ? s->total_q : s->b * s->nq), of_all = 2 * rows;
    const int64_t stripes = r->tiles < units ? r->tiles : units, size = p->type == CLATTN_F64 ? 8 : 4;
    const int64_t of_stripe = rows * r->of_row + r->of_stripe + r->of_element * cells_of(g);
    const int64_t shared = size * (of_all + stripes * of_stripe + r->once);
    return !r->wanted ? 0 : (shared + 31) / 32 * 32 + size * (stripes * r->group_of_stripe + r->groups);
}

/* To the byte; and a call that gets no more writes nothing behind it. */
static void test_room(const struct room *r, int units)
{
    char problem[160], row[128], why[1024] = "";
    struct graded g;
    size_t size = 0;
    snprintf(row, sizeof row, r->text, r->keys * units);
    snprintf(problem, sizeof problem, "%s lse bwd", row);
    clattn_workload c = each_case(problem);
    if (harness_may_refuse(on.d, &c.problem, NULL)) {
        skip("%s has no f64: %s", on.d->name, problem);
        return;
    }
    c.problem.flags &= ~r->padded;
    c.problem.sizes.total_q = r->padded & CLATTN_CU_Q ? 0 : c.problem.sizes.total_q;
    c.problem.sizes.total_k = r->padded & CLATTN_CU_K ? 0 : c.problem.sizes.total_k;
    cl_int e = graded_make(&g, on.d->cl.context, on.d->queue, &c, r->layout, r->wanted);
    const clattn_plan plan = each_plan(on.d, r->config, &g.t.c.problem, problem);
    e = e ? e : clattn_backward_workspace_size(plan, &g.args, &size);
    const int64_t want = bytes_of(r, &g, units);
    ok(!e && (int64_t)size == want, "%zu bytes of workspace, expected %lld (%s): %s, %s, 0x%x", size, (long long)want,
       clattn_status_string(e), problem, r->config, r->wanted);
    e = e ? e : graded_run(&g, plan, on.d->queue);
    ok(!e && graded_verify(&g, on.d->queue, why, sizeof why), "and it is enough (%s %s)",
       clattn_status_string(e), why);
    graded_free(&g);
}

static void test_rooms(void)
{
    cl_uint units = 0;
    if (clGetDeviceInfo(on.d->cl.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL))
        bail("no number of compute units");
    for (size_t i = 0; i < sizeof rooms / sizeof *rooms; i++)
        if (harness_turn((unsigned)i, rooms[i].soon))
            test_room(&rooms[i], (int)units);
}

/* As many stripes as the call says, on a device of any number of compute units: 23 tiles of 4 keys. */
static void test_given_stripes(void)
{
    static const struct {
        int call, stripes;
    } rows[] = { { 1, 1 }, { 3, 3 }, { 7, 7 }, { 23, 23 }, { 1024, 23 } };
    enum { OF_ALL = 2 * 18, OF_STRIPE = 12 * 18 };
    const clattn_workload c = each_case("f32 b1 h2/1 q9 k90 d9/6 lse bwd");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct graded g;
        char why[1024] = "";
        size_t size = 0;
        cl_int e = graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, DQ | DK);
        const clattn_plan plan = each_plan(on.d, SHORT_CPU, &c.problem, "of given stripes");
        g.t.args.splits = rows[i].call;
        e = e ? e : clattn_backward_workspace_size(plan, &g.args, &size);
        const size_t want = (sizeof(float) * (size_t)(OF_ALL + rows[i].stripes * OF_STRIPE) + 31) / 32 * 32;
        e = e ? e : graded_run(&g, plan, on.d->queue);
        ok(!e && size == want && graded_verify(&g, on.d->queue, why, sizeof why),
           "%d stripes of %d (%s): %zu bytes, expected %zu %s", rows[i].stripes, rows[i].call, clattn_status_string(e),
           size, want, why);
        g.t.args.splits = -1;
        ok(clattn_backward_workspace_size(plan, &g.args, &size) == CLATTN_ERROR_INVALID_ARGUMENT, "-1 is refused");
        graded_free(&g);
    }
}

/* ---- Bounds ---- */

/* Room for fewer stripes: slower, and right. */
static void test_bound(void)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    struct graded g;
    char why[1024] = "";
    const clattn_workload c = each_case("f32 b1 h1 q20 k700 d8 lse bwd");
    cl_int e = graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, GRADED_ALL);
    o.max_workspace = 20 * (2 + 16) * sizeof(float) + 32;
    e = e ? e : clattn_plan_create(&plan, on.d->handle, &c.problem, &o);
    e = e ? e : graded_run(&g, plan, on.d->queue);
    ok(!e && g.args.workspace_size <= o.max_workspace && graded_verify(&g, on.d->queue, why, sizeof why),
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

/* The same of what stripes of a bias or of captured buffers add up, which engines with a pass for dQ have as well. */
static void test_bound_of_cells(const char *row, unsigned wanted)
{
    const int64_t nq = 20, cells = 20;
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    struct graded g;
    char problem[128], why[1024] = "";
    snprintf(problem, sizeof problem, "f32 b1 h1 q20 k700 d16 %s lse bwd", row);
    const clattn_workload c = each_case(problem);
    cl_int e = graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, wanted);
    const int64_t elements = cells_of(&g);
    o.config = few_items;
    o.max_workspace = (size_t)(2 * nq + 2 * (elements ? elements : cells)) * sizeof(float) + 31;
    e = e ? e : clattn_plan_create(&plan, on.d->handle, &g.t.c.problem, &o);
    e = e ? e : graded_run(&g, plan, on.d->queue);
    ok(!e && g.args.workspace_size <= o.max_workspace && graded_verify(&g, on.d->queue, why, sizeof why),
       "one stripe, where there is no room for more (%s): %s %s", clattn_status_string(e), row, why);
    clattn_plan_release(plan);
    graded_free(&g);
}

/* Calls that have more work-groups than an int counts. */
static void test_limits(void)
{
    static const char *const vast[] = { "f32 b65536 h65536 q1 k1 d8 lse bwd", "f32 b65536 h65536 q0 k1 d8 lse bwd",
                                        "f32 b32768 h32768 q1024 k1 d8 lse bwd" };
    clattn_forward_args forward = CLATTN_FORWARD_ARGS_INIT;
    clattn_backward_args a = CLATTN_BACKWARD_ARGS_INIT;
    a.forward = &forward;
    for (size_t i = 0; i < sizeof vast / sizeof *vast; i++) {
        const clattn_workload v = each_case(vast[i]);
        size_t need;
        clattn_plan plan = NULL;
        const cl_int e = clattn_plan_create(&plan, on.d->handle, &v.problem, NULL);
        ok(!e && clattn_backward_workspace_size(plan, &a, &need) == CLATTN_ERROR_NOT_SUPPORTED,
           "too many work-groups are refused (%s): %s", clattn_status_string(e), vast[i]);
        clattn_plan_release(plan);
    }
}

/* What each stripe of keys adds up apart does not grow with the keys: there are as many stripes as work-groups take. */
static size_t workspace_of(const char *row, int nk, const char *config)
{
    char problem[128];
    size_t size = 0;
    struct graded g;
    snprintf(problem, sizeof problem, "f32 b1 h2/1 q5 k%d d8 %s bwd", nk, row);
    const clattn_workload c = each_case(problem);
    if (graded_make(&g, on.d->cl.context, on.d->queue, &c, PADDED, GRADED_ALL | GRADED_CAPTURED) ||
        clattn_backward_workspace_size(each_plan(on.d, config, &g.t.c.problem, problem), &g.args, &size))
        bail("no workspace: %s", problem);
    graded_free(&g);
    return size;
}
static void test_stripes(void)
{
    static const struct {
        const char *row, *config;
    } rows[] = { { "lse", "cpu" }, { "bias:11q1 lse", few_items }, { "mod:relative_bias lse", few_items } };
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!harness_turn(i, !i))
            continue;
        const size_t size = workspace_of(rows[i].row, 16384, rows[i].config);
        const size_t twice = workspace_of(rows[i].row, 32768, rows[i].config);
        ok(size == twice, "twice the keys take no larger workspace (%zu bytes, %zu): %s, %s", size, twice,
           rows[i].config, rows[i].row);
    }
}

static void test(const struct device *d)
{
    graded_call_open(&on, d, text, GRADED_ALL);
    test_workspace();
    if (harness_turn(0, 1)) {
        test_bound();
        test_limits();
    }
    harness_never_optimised(); /* its optimiser takes minutes for kernels that follow */
    if (harness_shares(1))
        test_bound_of_cells("bias:11q1", GRADED_ALL);
    if (harness_shares(2))
        test_bound_of_cells("mod:relative_bias", GRADED_ALL | GRADED_CAPTURED);
    test_stripes();
    test_rooms();
    if (harness_turn(3, 1))
        test_given_stripes();
    graded_call_close(&on);
}

int main(void)
{
    return each_device(test);
}
