/* rounding.c - what reaches O through a single key: values rounded to nearest even, NaN and inf; and through two: 2^x
 * SPDX-License-Identifier: Apache-2.0
 *
 * With one key its weight is exactly 1, so O is V, rounded to the type of O. Engines take turns with types; make check
 * leaves engine simt and the matrix units out, which take long to optimise, and 2^x on engine row. CLATTN_PART=1: all.
 */
#include "config.h"

#include "tests/lib/each.h"

#include "tools/oracle/convert.h"

#include <math.h>

/* f32 patterns: halfway cases below and above even, their neighbours, subnormals and overflow of half, payloads. */
static const uint32_t patterns[] = { 0x3f808000, 0x3f818000, 0x3f808001, 0x3f817fff, 0x3f801000, 0x3f803000, 0x3f801001,
                                     0x3f802fff, 0x00000000, 0x80000000, 0x3effffff, 0xbf7fffff, 0x477fe000, 0x477ff000,
                                     0x477fefff, 0x7f7fffff, 0xff7f8000, 0x33800000, 0x33000000, 0x33000001, 0x33c00000,
                                     0x38800000, 0x387fc000, 0x387fe000, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fffffff,
                                     0xffffffff, 0x7f800001, 0x7f80ffff };
enum { N = sizeof patterns / sizeof *patterns };

static double value(uint32_t bits)
{
    float x;
    memcpy(&x, &bits, sizeof x);
    return (double)x;
}

/* 1 when O is every pattern rounded; a NaN may have any payload. */
static int right(const struct trial *t, int type, char *why, size_t len)
{
    for (int i = 0; i < N; i++) {
        unsigned char stored[8];
        double x = value(patterns[i]), want;
        const double got = t->o.value[i];
        convert_store(type, &x, stored, 1);
        convert_load(type, stored, &want, 1);
        if (isnan(want) ? !isnan(got) : got != want) {
            snprintf(why, len, "0x%08x gave %g, want %g", (unsigned)patterns[i], got, want);
            return 0;
        }
    }
    return 1;
}

static const char emulated[] = "mma_emu nw1,rt1,bk16,qreg0";

/* V in f32; for the matrix units, which take no such V, in the type of O: it shows NaN and inf then, and no
 * rounding. */
static void check(const struct device *d, const char *name, int type, const char *engine)
{
    char text[128], why[1024] = "";
    struct trial t;
    clattn_plan plan = NULL;
    snprintf(text, sizeof text, "%s b1 h1 q1 k1 d4/%d%s", name, N, strcmp(engine, emulated) ? " v:f32" : "");
    const clattn_workload c = each_case(text);
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    for (int i = 0; i < N && !e; i++)
        t.v.value[i] = value(patterns[i]);
    if (!e)
        e = trial_upload(&t, d->queue, &t.v);
    if (!e)
        e = harness_plan(d, &c.problem, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &c.problem, engine)) {
        skip("%s, %s: %s", d->name, engine, why);
    } else {
        if (!e)
            e = trial_run(&t, plan, d->queue);
        if (!ok(!e && trial_fetch(&t, d->queue, why, sizeof why) && right(&t, type, why, sizeof why), "%s, %s: %s",
                d->name, engine, text))
            diag("%s %s", clattn_status_string(e), why);
    }
    trial_free(&t);
}

/* ---- Two keys ---- */

enum { GAPS = 4000 };

/* Keys 0 and -1, values 1 and -1, queries are the gaps between their scores: O is what 2^x makes of each. An eighth of
 * what the promise allows wrong weights, and a sixth of what it allows sums: 2^x to about 2 ulp. */
static int gaps_are_right(const struct trial *t, char *why, size_t len)
{
    double worst = 0;
    for (int i = 0; i < GAPS; i++) {
        const double gap = t->q.value[i], p = 1 / (1 + exp(gap)), want = 1 - 2 * p;
        const double t1 = (1 - p) * (1 - want) + p * (1 + want) * (1 + gap);
        const double ratio = fabs(t->o.value[i] - want) / (0x1p-24 * (4 * t1 + 3));
        if (!(ratio <= worst)) {
            worst = isnan(ratio) ? (double)INFINITY : ratio;
            snprintf(why, len, "a gap of %.9g gave %.9g, want %.9g: %.3g times what is allowed", gap, t->o.value[i],
                     want, worst);
        }
    }
    return worst <= 1;
}

static void check_gaps(const struct device *d, const char *engine)
{
    char text[64], why[1024] = "";
    struct trial t;
    clattn_plan plan = NULL;
    snprintf(text, sizeof text, "f32 b1 h1 q%d k2 d1", GAPS);
    const clattn_workload c = each_case(text);
    cl_int e = trial_make(&t, d->cl.context, &c, PLAIN);
    for (int i = 0; i < GAPS && !e; i++)
        t.q.value[i] = (double)((float)(i < GAPS / 2 ? i + 1 : (i - GAPS / 2) * 8 + 1) / 1000);
    for (int i = 0; i < 2 && !e; i++) {
        t.k.value[i] = -i;
        t.v.value[i] = 1 - 2 * i;
    }
    e = e ? e : trial_upload_inputs(&t, d->queue);
    e = e ? e : harness_plan(d, &c.problem, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED) {
        skip("%s, %s: %s", d->name, engine, why);
    } else {
        e = e ? e : trial_run(&t, plan, d->queue);
        const int good = !e && trial_fetch(&t, d->queue, why, sizeof why) && gaps_are_right(&t, why, sizeof why);
        ok(good, "%s, %s: %d gaps between two scores", d->name, engine, GAPS);
        diag("%s %s", clattn_status_string(e), why);
    }
    trial_free(&t);
}

static int is_due(int is_long, size_t i, unsigned n)
{
    return harness_turn((unsigned)i, !is_long && i % n == 0);
}

static void test_device(const struct device *d)
{
    char engine[128];
    for (size_t e = 0; each_engine(d, "f32", "b1 h1 q1 k1 d4", e, engine, sizeof engine); e++) {
        if (!each_is_chosen(engine))
            continue;
        const int is_long = !strcmp(engine, "simt");
        if (harness_turn((unsigned)e, !is_long && strcmp(engine, "row") != 0))
            check_gaps(d, engine);
        if (is_due(is_long, e, 2))
            check(d, "f32", CLATTN_F32, engine);
        if (is_due(is_long, e + 3, 4))
            check(d, "f16", CLATTN_F16, engine);
        if (is_due(is_long, e + 1, 4))
            check(d, "bf16", CLATTN_BF16, engine);
    }
    if (is_due(1, 0, 1))
        check(d, "f16", CLATTN_F16, emulated);
    if (is_due(1, 1, 1))
        check(d, "bf16", CLATTN_BF16, emulated);
}

int main(void)
{
    return each_device(test_device);
}
