/* splits.c - keys in parts: every engine, every number of parts, everything that can be asked of a problem
 * SPDX-License-Identifier: Apache-2.0
 *
 * A part is whole tiles, so engines have short ones here. make check runs a few pairs of an engine and a problem where
 * it compiles fast, and inputs that are bad on purpose on engine simt;
 * CLATTN_PART=1: all. */
#include "config.h"

#include "tests/lib/bad.h"
#include "tests/lib/each.h"
#include "tools/oracle/verify.h"

static const char *const engines[] = { "row w4,nr2,rk2,rd2,bk16", "cpu w4,nv2,rk2,rd2,bk16",
                                       "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "naive wg8,bk8",
                                       "mma_emu nw1,rt1,bk16,qreg0" };
static const struct {
    const char *text;
    int all; /* numbers of parts up to this one, and some more */
} problems[] = {
    { "f32 b2 h4/2 q5 k300 d41/26 causal lse", 64 },
    { "f16 b2 h4/2 q5 k300 d41/26 causal lse", 64 },
    { "f32 b1 h8/1 q3 k170 d16 sink lse", 8 }, /* heads are packed */
    { "f16 b1 h8/1 q3 k170 d16 sink lse", 8 },
    { "f16 b1 h2 q20 k100 d32/64 causal lse", 4 }, /* rows of O are written 8 elements at a time */
    { "bf16 b2 h2 q17 k90 d24/40 o:f32 lse", 8 },
    { "f16 b1 h2 q20 k100 d24/64 o:bf16 lse", 4 },
    { "f64 b2 h4/2 q7 k170 d33/19 causal sink lse", 8 },
    { "f32 b1 h4/2 q33 k170 d24 window30,20 softcap4 bias:bhqk alibi sink lse", 4 },
    { "f16 b1 h4/2 q33 k170 d24 window30,20 softcap4 bias:bhqk alibi sink lse", 4 },
    { "f32 b1 h4/2 q40 k283 d16 mask:1hqk blocks:16,32 lse", 4 },
    { "bf16 b1 h4/2 q40 k283 d16 mask:1hqk blocks:16,32 lse", 4 },
    { "f32 b4 h4/2 q33 k170 d16 varlen causal sink lse", 4 },
    { "f16 b4 h4/2 q33 k170 d16 varlen causal sink lse", 4 },
    { "f32 b4 h8/2 q3 k170 d16 kvlen:170,0,33,100 qlen:3,1,2,0 kvstart:0,0,9,99 sink lse", 4 },
    { "f16 b4 h8/2 q3 k170 d16 kvlen:170,0,33,100 qlen:3,1,2,0 kvstart:0,0,9,99 lse", 4 },
    { "f32 b2 h2 q9 k130 d16 mod:document,relative lse", 4 },
    { "f32 b2 h2 q9 k130 d16 bthd", 4 }, /* no LSE */
    { "f32 b2 h4/2 q3 k170 d32 page16 kvlen:170,70 sink lse", 4 },
    { "f16 b2 h4/2 q3 k170 d32 page7 kvlen:170,70 lse", 4 },
    { "bf16 b2 h4/2 q3 k170 d32 page7 k:int8 v:q8_0 kvlen:170,70 lse", 4 },
    { "f32 b2 h2 q5 k0 d16 sink lse", 2 },
    { "f32 b2 h2 q0 k9 d16 sink lse", 2 },
    { "f32 b2 h2 q0 k9 d16 lse", 2 },
};
static const int more[] = { 5, 7, 13, 63, 64, 300, 1024 };
enum { ENGINES = sizeof engines / sizeof *engines, PROBLEMS = sizeof problems / sizeof *problems,
       MORE = sizeof more / sizeof *more };

/* Runs a trial in so many parts, and judges it. */
static int is_right(const struct device *d, struct trial *t, clattn_plan plan, int splits, const struct truth *x,
                    char *why, size_t len)
{
    t->args.splits = splits;
    return harness_fetch(d, t, plan, why, len) && trial_agrees(t, x, why, len);
}

/* The first number of parts that is wrong; 0: none is. */
static int find_wrong(const struct device *d, struct trial *t, clattn_plan plan, int all, char *why, size_t len)
{
    struct truth x;
    int wrong = 0;
    clattn_plan_config(plan, why, len, NULL);
    t->narrow_p = verify_narrow_p(why); /* before the truth is asked for */
    if (trial_truth(t, NULL, &x, NULL))
        bail("no truth");
    for (int n = 1; n <= all && !wrong; n++)
        wrong = is_right(d, t, plan, n, &x, why, len) ? 0 : n;
    for (int i = 0; i < MORE && !wrong; i++)
        wrong = is_right(d, t, plan, more[i], &x, why, len) ? 0 : more[i];
    truth_free(&x);
    return wrong;
}

static void check(const struct device *d, const char *text, const char *engine, int all, enum layout layout)
{
    const clattn_workload c = each_case(text);
    char why[1024] = "";
    struct trial t;
    clattn_plan plan = NULL;
    cl_int e = trial_make(&t, d->cl.context, &c, layout);
    if (e)
        bail("%s: %s", text, t.why ? t.why : clattn_status_string(e));
    e = harness_plan(d, &t.c.problem, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &c.problem, engine)) {
        skip("%s, %s: %s", text, engine, why);
    } else {
        const int wrong = e ? -1 : find_wrong(d, &t, plan, all, why, sizeof why);
        if (!ok(!wrong, "%s, %s, %s: 1 to %d parts and more: %s", d->name, engine, layout_name(layout), all, text))
            diag("%d parts: %s", wrong, why);
    }
    trial_free(&t);
}

/* make check: engine row with many parts and with a sink in varlen sequences, cpu with blocks, and no keys, no queries
 * on naive. The last problems are empty, of which two share a kernel; the last is for shares. */
static void test_problems(const struct device *d)
{
    for (unsigned i = 0; i < PROBLEMS; i++)
        for (unsigned e = 0; e < ENGINES; e++) {
            const int often = (e == 0 && i % 12 == 0) || (e == 1 && i == 11) || (e == 3 && (i == 21 || i == 22));
            if (harness_turn(i + e, often) && harness_flag("CLATTN_QUICK") <= (i < 2))
                check(d, problems[i].text, engines[e], problems[i].all, (enum layout)(i % 2));
        }
}

/* Of two sequences the last has no queries: what would be written for it is a row of nobody. */
static void test_empty_sequence(const struct device *d)
{
    check(d, "f32 b2 h4/2 q9 k170 d16 varlen causal sink lse", engines[0], 4, UNEVEN);
    if (harness_shares(0))
        check(d, "f32 b2 h4/2 q9 k170 d16 varlen causal lse", engines[0], 4, UNEVEN);
}

/* As many rows as a step of generation has, of heads that are packed; keys more than one work-group should go over. */
static void test_few_rows(const struct device *d)
{
    char text[128];
    for (unsigned q = 1; q <= 16; q++)
        for (unsigned e = 0; e < ENGINES; e++)
            if (harness_turn(q + e, e == 1 && q == 9)) {
                snprintf(text, sizeof text, "%s b1 h8/2 q%u k%u d16 causal lse", e == ENGINES - 1 ? "f16" : "f32", q,
                         200 + q);
                check(d, text, engines[e], 3, PADDED);
            }
}

/* The same of matrix units, which see packed rows, parts and pages by ways of their own: every number of queries with
 * one, four and eight heads that share keys, half of them on pages. Shares have these: they take long to compile. */
static void test_few_rows_by_matrix(const struct device *d)
{
    static const char *const heads[] = { "h2", "h4/1", "h8/1" };
    char text[128];
    for (int q = 1; q <= 16; q++)
        for (int i = 0; i < 3; i++)
            if (harness_shares((unsigned)(3 * (q - 1) + i))) {
                snprintf(text, sizeof text, "f16 b2 %s q%d k%d d16/32 causal kvlen:%d,70%s lse", heads[i], q, 90 + q,
                         90 + q, (q + i) % 2 ? " page7" : "");
                check(d, text, engines[ENGINES - 1], 2, PADDED);
            }
}

/* ---- The bound ---- */

static void check_bad(const struct device *d, const struct bad *bad, const char *engine, const char *type, int64_t q,
                      int64_t keys, int width, int dv)
{
    char text[128], why[1024] = "";
    snprintf(text, sizeof text, "%s b1 h1 q%d k%lld d%d/%d %s", type, (int)q, (long long)keys,
             bad->d ? bad->d : width, dv, bad->words);
    const clattn_workload c = each_case(text);
    struct trial t;
    clattn_plan plan = NULL;
    struct truth x = { NULL, NULL, NULL, NULL };
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    e = e ? e : bad_fill(bad, &t, d->queue);
    e = e ? e : harness_plan(d, &t.c.problem, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED) {
        skip("%s, %s: %s", engine, type, why);
        trial_free(&t);
        return;
    }
    t.narrow_p = verify_narrow_p(engine);
    static const int splits[] = { 1, 2, 3, 17, 64 };
    int wrong = e || trial_truth(&t, NULL, &x, NULL) ? -1 : 0;
    for (size_t i = 0; i < sizeof splits / sizeof *splits && !wrong; i++)
        wrong = is_right(d, &t, plan, splits[i], &x, why, sizeof why) ? 0 : splits[i];
    if (!ok(!wrong, "%s, %s: %s, in parts: %s", d->name, engine, bad->name, text))
        diag("%d parts: %s", wrong, why);
    truth_free(&x);
    trial_free(&t);
}

static int shares_kernels(const struct bad *bad)
{
    return bad->d <= 64 && !strcmp(bad->words, bads[0].words);
}

/* Parts are merged by their LSE, which is rounded: that must cost no more than scores are promised to.
 * make check leaves widths out that are asked for, sinks and scales, which need kernels of their own, and has few
 * columns of V. */
static void test_bad(const struct device *d)
{
    static const char *const types[] = { "f32", "f32", "f32", "f64", "f16" };
    for (size_t e = 0; e < ENGINES; e++)
        if (harness_deals((unsigned)e + 3, 5))
            for (const struct bad *bad = bads; bad->name; bad++)
                if (bad_suits(bad, types[e], "") && (harness_more() || shares_kernels(bad)))
                    check_bad(d, bad, engines[e], types[e], 2, 1000, 64, harness_more() ? 40 : 8);
}

/* Keys of one sign, so many that a single chain of sums would lose far more than is promised; of few rows and of whole
 * blocks of them, as a long prefill has. make check has the first of them on engine row. */
static void test_long(const struct device *d)
{
    enum { LONG = 1 << 16 };
    static const char *const long_engines[] = { "simt tx8,ty8,tm4,tn4,ch8,cv8,qres0", "row", "cpu", "naive" };
    for (size_t e = 0; e < sizeof long_engines / sizeof *long_engines; e++) {
        const int all = harness_shares((unsigned)e);
        for (int i = 0; i < 3; i++) { /* sums of one sign */
            if (all || (i == 0 && e == 1 && !harness_rest()))
                check_bad(d, &bads[i], long_engines[e], "f32", 2, LONG, 8, 8);
            if (all && i == 1)
                check_bad(d, &bads[i], long_engines[e], "f32", 70, LONG, 8, 8);
        }
    }
}

/* ---- How many ---- */

static size_t ask(const struct device *d, clattn_plan plan, const clattn_forward_args *args, cl_int want,
                  const char *what)
{
    size_t size = 77;
    char why[512] = "";
    const cl_int e = clattn_workspace_size(plan, args, &size);
    clattn_error_detail(d->handle, why, sizeof why, NULL);
    ok(e == want, "%s: %s %s", what, clattn_status_string(e), e ? why : "");
    return e ? 0 : size;
}

/* States of parts of two heads of 3 rows with 20 columns: floats, up to a multiple of 32 bytes. */
static size_t states(int parts)
{
    return parts > 1 ? ((size_t)parts * 2 * 3 * 21 * 4 + 31) / 32 * 32 : 0;
}

/* As programs of the first release call: no workspace, and so no parts. One that is too small is refused. */
static void test_without(const struct device *d, struct fixture *f)
{
    char why[512] = "";
    size_t size = 0;
    clattn_forward_args a = f->t.args;
    cl_int e = trial_reset(&f->t, d->queue);
    e = e ? e : clattn_workspace_size(f->plan, &a, &size);
    a.workspace = NULL;
    a.workspace_size = 0;
    e = e ? e : clattn_enqueue_forward(f->plan, d->queue, &a, 0, NULL, NULL);
    e = e ? e : clFinish(d->queue);
    ok(!e && size && trial_verify(&f->t, d->queue, why, sizeof why), "a call without a workspace is right: %s %s",
       clattn_status_string(e), why);
    a.splits = 2;
    is_int(clattn_enqueue_forward(f->plan, d->queue, &a, 0, NULL, NULL), CLATTN_ERROR_WORKSPACE,
           "unless it asks for parts");
    a = f->t.args;
    a.workspace_size = size - 1;
    is_int(clattn_enqueue_forward(f->plan, d->queue, &a, 0, NULL, NULL), CLATTN_ERROR_WORKSPACE,
           "and one byte too few is refused");
}

static void test_workspace(const struct device *d)
{
    static const char text[] = "f32 b1 h2 q3 k4096 d16/20 lse";
    struct fixture f;
    char why[512] = "";
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan small = NULL;
    each_open_by(&f, d, text, "row", PADDED);
    clattn_forward_args a = f.t.args;
    for (int n = 1; n <= 64; n += 21) {
        a.splits = n;
        is_int((long long)ask(d, f.plan, &a, CL_SUCCESS, "a workspace can be asked for"), (long long)states(n),
               "%d parts have their states there, and nothing else", n);
    }
    a.splits = -1;
    ask(d, f.plan, &a, CLATTN_ERROR_INVALID_ARGUMENT, "-1 parts are refused");
    a.splits = 1025;
    ask(d, f.plan, &a, CLATTN_ERROR_INVALID_ARGUMENT, "1025 parts are refused");
    options.config = "row";
    options.max_workspace = states(2);
    cl_int e = clattn_plan_create(&small, d->handle, &f.t.c.problem, &options);
    if (!ok(!e, "a plan that allows states of two parts: %s", clattn_status_string(e)))
        return;
    a.splits = 3;
    ask(d, small, &a, CLATTN_ERROR_NOT_SUPPORTED, "three parts that are asked for are refused then");
    f.t.args.splits = a.splits = 0;
    const size_t rule = ask(d, f.plan, &a, CL_SUCCESS, "as many as the rule says");
    is_int((long long)ask(d, small, &a, CL_SUCCESS, "and fewer where they do not fit"),
           (long long)(rule ? states(2) : 0), "as many as fit");
    ok(harness_run(d, &f.t, small, why, sizeof why), "which are right: %s", why);
    clattn_plan_release(small);
    test_without(d, &f);
    fixture_close(&f);
}

/* A problem says how many, and a call may say otherwise. */
static void test_who_says(const struct device *d)
{
    static const char text[] = "f32 b1 h2 q3 k400 d16/20 splits5 lse";
    struct fixture f;
    char why[512] = "";
    each_open_by(&f, d, text, "row", PADDED);
    is_int((long long)ask(d, f.plan, &f.t.args, CL_SUCCESS, "the problem's number"), (long long)states(5), "is taken");
    f.t.args.splits = 3;
    is_int((long long)ask(d, f.plan, &f.t.args, CL_SUCCESS, "the call's number"), (long long)states(3), "goes first");
    ok(harness_run(d, &f.t, f.plan, why, sizeof why), "and is right: %s", why);
    fixture_close(&f);
}

static void test_device(const struct device *d)
{
    harness_unoptimised();
    test_problems(d);
    if (harness_flag("CLATTN_QUICK"))
        return;
    test_empty_sequence(d);
    test_few_rows(d);
    test_few_rows_by_matrix(d);
    test_bad(d);
    test_long(d);
    test_workspace(d);
    test_who_says(d);
}

int main(void)
{
    return each_device(test_device);
}
