/* wide_lse.c - CLATTN_LSE_F64: LSE in double, of forward calls, parts and merges, and gradients that are as accurate
 * SPDX-License-Identifier: Apache-2.0
 *
 * The judges allow the errors of a float without the flag and those of a double with it, so a kernel, or a pass between
 * kernels, that rounds LSE to float on the way fails by a factor of 10^7. make check has one forward call on cpu, row
 * and naive each, merges on row and naive, and gradients of one problem; CLATTN_PART=1: all. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"
#include "tests/lib/states.h"

#include <math.h>

static const char *const engines[] = { "cpu w4,nv2,rk2,rd2,bk16", "row", "simt", "naive" };
enum { SIMT = 2, ENGINES = sizeof engines / sizeof *engines };

static clattn_workload wide(const char *text)
{
    clattn_workload c = each_case(text);
    c.problem.flags |= CLATTN_LSE_F64;
    return c;
}

static void test_forward(const struct device *d, size_t e)
{
    const char *const engine = engines[e];
    static const char *const rows[] = {
        "f64 b2 h4/2 q7 k37 d24/20 causal sink alibi lse",
        "f64 b1 h2 q3 k301 d16 splits5 lse",                  /* parts, and the library's own merge */
        "f64 b2 h2 q9 k21 d8 varlen causal lse",
        "f64 b2 h1 q5 k40 d33 softcap30 bias:bhqk page16 kvlen:7,40 lse",
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!harness_turn((unsigned)(4 * e + i), e == i && e != SIMT))
            continue;
        const clattn_workload c = wide(rows[i]);
        char why[1024] = "";
        const int verdict = harness_check(d, &c, engine, (enum layout)(i % 2 ? PADDED : PLAIN), why, sizeof why);
        if (verdict < 0)
            skip("%s, %s: %s", engine, rows[i], why);
        else
            ok(verdict, "%s, %s: %s %s", d->name, engine, rows[i], why);
    }
}

static void test_merge(const struct device *d, const char *engine)
{
    static const int64_t n[3] = { 2, 3, 5 };
    const clattn_workload c = wide("f64 b1 h1 q1 k1 d8/12");
    char why[1024] = "";
    clattn_plan plan = NULL;
    cl_int e = harness_plan(d, &c.problem, engine, &plan, why, sizeof why);
    for (uint32_t flags = 0; flags < 16 && plan; flags += 5) {
        struct states s;
        const enum states_layout layout = (enum states_layout)(flags % STATES_LAYOUTS);
        e = states_make(&s, d->cl.context, &c.problem, n, 7, layout, flags, flags);
        e = e ? e : states_run(&s, plan, d->queue);
        ok(!e && states_verify(&s, d->queue, 0.25, why, sizeof why), "%s, %s: a merge with flags %u: %s %s", d->name,
           engine, (unsigned)flags, clattn_status_string(e), why);
        states_free(&s);
    }
    if (!plan)
        skip("%s: %s", engine, why);
}

static void test_backward(const struct device *d, size_t e)
{
    const char *const engine = engines[e];
    static const char *const rows[] = {
        "f64 b2 h4/2 q7 k37 d24/20 causal sink bwd",
        "f64 b2 h2 q9 k21 d8 varlen alibi bias:1hqk bwd",
        "f64 b2 h3 q3 k212 d8/8 mask:11qk sink scale-0.25 seed57924 bwd", /* additions that all round one way */
    };
    static const enum layout layouts[] = { PLAIN, PADDED, REPEAT };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!harness_turn((unsigned)(4 * e + i), !e && i == 2))
            continue;
        const clattn_workload c = wide(rows[i]);
        struct graded g;
        char why[1024] = "";
        clattn_plan plan = NULL;
        cl_int status =
            graded_make(&g, d->cl.context, d->queue, &c, layouts[i],
                        GRADED_OTHERS | 1 << GRADED_DLSE | 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV);
        status = status ? status : harness_plan(d, &g.t.c.problem, engine, &plan, why, sizeof why);
        status = status ? status : graded_run(&g, plan, d->queue);
        const int good = !status && graded_verify(&g, d->queue, why, sizeof why);
        ok(good, "%s, %s: %s (%.3f of the bound) %s %s", d->name, engine, rows[i], g.most,
           clattn_status_string(status), why);
        graded_free(&g);
    }
}

/* Only with f64; and a buffer that a float would fit is too small. */
static void test_refused(const struct device *d)
{
    char why[512] = "";
    clattn_workload c = wide("f32 b1 h1 q3 k5 d8 lse");
    const cl_int e = clattn_supports(d->handle, &c.problem, why, sizeof why);
    ok(e == CLATTN_ERROR_INVALID_ARGUMENT && strstr(why, "CLATTN_LSE_F64"), "%s: f32 is refused: %s", d->name, why);
}

static void test_size(const struct device *d)
{
    const clattn_workload c = wide("f64 b1 h1 q6 k5 d16 splits5 lse");
    struct trial t;
    clattn_plan plan = NULL;
    char why[512] = "", detail[512] = "";
    cl_int e = trial_make(&t, d->cl.context, &c, PLAIN), made;
    e = e ? e : harness_plan(d, &t.c.problem, "row", &plan, why, sizeof why);
    cl_mem small = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, 6 * sizeof(cl_float), NULL, &made);
    t.args.lse.mem = small;
    e = e ? e : clattn_enqueue_forward(plan, d->queue, &t.args, 0, NULL, NULL);
    clattn_error_detail(d->handle, detail, sizeof detail, NULL);
    ok(e == CLATTN_ERROR_BUFFER_TOO_SMALL, "%s: LSE of floats is too small (%s %s)", d->name, clattn_status_string(e),
       detail);
    if (small)
        clReleaseMemObject(small);
    trial_free(&t);
}

static void test_device(const struct device *d)
{
    const clattn_workload c = wide("f64 b1 h1 q1 k1 d8");
    test_refused(d);
    if (harness_may_refuse(d, &c.problem, NULL)) {
        skip("%s lacks f64", d->name);
        return;
    }
    test_size(d);
    for (size_t i = 0; i < ENGINES; i++) {
        test_forward(d, i);
        if (harness_turn((unsigned)i, i % 2))
            test_merge(d, engines[i]);
    }
    test_backward(d, 0);
    test_backward(d, SIMT);
}

int main(void)
{
    return each_device(test_device);
}
