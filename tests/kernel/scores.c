/* scores.c - scores and weights at every stage, against float64
 * SPDX-License-Identifier: Apache-2.0
 *
 * scores.t: every feature on one engine each, and a part of cases.h. CLATTN_PART=1: features on all engines, all cases
 * with types and engines by turns, and more random problems. CLATTN_QUICK=1: a few small ones.
 * scores.t PROBLEM [CONFIG [LAYOUT]]: one case. */
#include "config.h"

#include "tests/lib/cases.h"
#include "tests/lib/each.h"
#include "tests/lib/emulations.h"
#include "tests/lib/scored.h"
#include "tests/lib/sweep.h"

#include <math.h>

enum { STRETCH = 10, ONE_IN = 16, RANDOM_FEW = 12, RANDOM_SOME = 40, RANDOM_KEYS = 300 };

/* ---- One problem ---- */

/* 1 right, 0 wrong, -1 not supported here; as harness_check(). */
static int check(const struct device *d, const char *text, const char *config, enum layout layout, char *why,
                 size_t len)
{
    const clattn_workload c = each_case(text);
    struct scored s;
    clattn_plan plan = NULL;
    int verdict = 0;
    cl_int e = scored_make(&s, d->cl.context, &c, layout);
    snprintf(why, len, "cannot set the inputs up: %s", s.t.why ? s.t.why : clattn_status_string(e));
    e = e ? e : harness_plan(d, &s.t.c.problem, config, &plan, why, len);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &s.t.c.problem, config))
        verdict = -1;
    else if (!e)
        verdict = scored_check(&s, plan, d->queue, why, len);
    scored_free(&s);
    return verdict;
}

static void report(const struct device *d, const char *text, const char *config, enum layout layout)
{
    char why[1024] = "";
    const int verdict = check(d, text, config, layout, why, sizeof why);
    if (verdict < 0)
        skip("%s: %s", text, why);
    else if (!ok(verdict, "%s, %s, %s: %s", d->name, config ? config : "default", layout_name(layout), text))
        diag("%s\nagain: tests/kernel/scores.t '%s' '%s' %s", why, text, config ? config : "", layout_name(layout));
}

static void report_row(const struct device *d, const char *type, const char *row, unsigned seed, const char *config,
                       enum layout layout)
{
    char text[512];
    snprintf(text, sizeof text, "%s %s seed%u", type, row, seed);
    if (each_is_sensible(type, row))
        report(d, text, config, layout);
}

/* ---- Tables ---- */

/* Each feature that is a step or a stage, with what else has a say in where a score lies. */
static const char *const rows[] = {
    "b2 h4/2 q37 k83 d41/26 window30,20 softcap4 alibi bias:b1qk mask:11qk sink dropout0.3 mod:relative",
    "b3 h8/2 q5 k83 d41/26 causal softcap4 sink qlen:5,1,0 kvlen:83,0,64 kvstart:3,0,30 splits3",
    "b3 h4/2 q37 k83 d41/26 varlen causal alibi mask:bhqk mod:document,relative dropout0.5",
    "b1 h4/2 q130 k283 d41/26 causal mask:1hqk blocks:32,16 bias:1h1k:f16",
    "b2 h4/2 q37 k283 d40/26 blocks:33,17 page16 kvlen:283,70 kvstart:5,0 k:int4 v:int8 o:f32",
    "b2 h4/2 q37 k83 d64/32 k:q4_0 v:q8_0 bias:bhq1 mask:b11k window-1,9 invariant",
    "b2 h6/2 q7 k70 d40/24 window9,3 bias:1111 k:int8:16z mod:causal,softcap scale10 kvstart:60,0 bthd",
    "b2 h4/2 q9 k2 d576/8 scale-1.5 softcap0.3 causal-tl page1 k:q8_0 invariant sink",
    "b4 h6/3 q37 k83 d32/26 causal softcap4 bias:23qk slopes mask:13qk k:q5_1 sink"
};
enum { N_ROWS = sizeof rows / sizeof *rows };
/* In 16 bits, which matrix units take. */
static const char *const unit_rows[] = {
    "b2 h4/2 q37 k83 d41/26 window30,20 softcap4 alibi bias:b1qk mask:11qk sink dropout0.3 mod:relative",
    "b3 h8/2 q5 k83 d40/24 causal sink qlen:5,1,0 kvlen:83,0,64 kvstart:3,0,30",
    "b3 h4/2 q37 k83 d64/40 varlen scale3 o:f32", "b2 h2 q70 k150 d128/64 page7 kvlen:150,9 invariant causal",
    "b1 h2/1 q37 k83 d64/160 causal" /* two waves may share rows */
};
enum { N_UNIT_ROWS = sizeof unit_rows / sizeof *unit_rows };
static const char *const by[] = { "row", "naive", "cpu", "simt tx8,ty8,tm4,tn4,ch8,cv8,qres0", "cpu", "simt", "row" };
enum { N_BY = sizeof by / sizeof *by };

/* Each row by one engine and in one type; with CLATTN_PART by all, and types by turns. */
static void run_rows(const struct device *d)
{
    for (unsigned i = 0; i < N_ROWS; i++)
        for (unsigned e = 0; e < N_BY; e++)
            if (harness_turn(i * N_BY + e, e == i % N_BY))
                report_row(d, case_types[(i + e / 2) % N_CASE_TYPES], rows[i], 100 * i + e, by[e],
                           (enum layout)((i + e) % LAYOUTS));
}

static void run_units(const struct device *d)
{
    const char *emulated;
    for (unsigned i = 0; i < N_UNIT_ROWS; i++)
        for (unsigned e = 0; (emulated = emulation(e, "nw2,rt1,bk16,qreg0")) != NULL; e++)
            if (harness_turn(i + e, (i + e) % 2 == 0)) /* the last one is plain */
                report_row(d, i % 2 ? "bf16" : "f16", unit_rows[i], i, emulated,
                           (enum layout)((i + 1) % N_UNIT_ROWS));
}

static void run_cases(const struct device *d)
{
    for (unsigned i = 0; i < N_CASES; i++) {
        const unsigned stretch = i / STRETCH;
        const int wide = strstr(cases[i], "h2999") != NULL;
        if (harness_turn(stretch, stretch % ONE_IN == 5 || wide))
            report_row(d, harness_more() ? case_types[stretch % N_CASE_TYPES] : "f32", cases[i], i,
                       harness_more() ? by[stretch % N_BY] : NULL, (enum layout)(i % LAYOUTS));
    }
}

/* ---- Random problems ---- */

static void draw(struct sweep_class *k)
{
    static const char *const mods[] = { "mod:document", "mod:relative", "mod:tanh_gate,alibi", "mod:causal" };
    static const char *const stored[] = { "", "", "k:f16", "k:int8", "k:int4:1z", "k:bf16 o:f32", "v:int8 o:bf16" };
    memset(k, 0, sizeof *k);
    k->small = 1;
    k->engine = (int)sweep_below(4);
    k->type = (int)sweep_below(SWEEP_TYPES - 1);
    sweep_draw_width(k);
    sweep_draw_scores(k, mods, sizeof mods / sizeof *mods);
    const char *const word = SWEEP_ONE_OF(stored);
    sweep_add(k, 1, k->width[0] % 2 && strstr(word, "int4") ? "" : word);
    k->paged = !k->varlen && sweep_below(3) == 0;
}

/* 1 unless a problem of the class is wrong. */
static int run_random(const struct device *d, struct sweep_class *k, int at)
{
    char text[900], why[1024] = "";
    size_t n = sweep_draw_sizes(k, RANDOM_KEYS, text, sizeof text);
    if (k->paged)
        n += (size_t)snprintf(text + n, sizeof text - n, " page%lld", (long long)(1 + sweep_below(40)));
    snprintf(text + n, sizeof text - n, " seed%lld", (long long)sweep_below(1000000));
    if (!at && !sweep_draw_config(d, k, text))
        return 1;
    const enum layout layout = (enum layout)sweep_below(LAYOUTS);
    const int verdict = check(d, text, k->config, layout, why, sizeof why);
    if (!verdict)
        diag("%s\nagain: tests/kernel/scores.t '%s' '%s' %s", why, text, k->config, layout_name(layout));
    return verdict != 0;
}

static void test_random(const struct device *d)
{
    enum { EACH = 6 };
    const int classes = harness_more() ? RANDOM_SOME : RANDOM_FEW;
    for (int i = 0; i < classes; i++) {
        struct sweep_class k;
        int bad = 0;
        draw(&k);
        for (int at = 0; at < EACH; at++)
            bad += !run_random(d, &k, at);
        ok(!bad, "%s: %d random problems, the first of class %d", d->name, EACH, i);
    }
}

/* ---- Numbers that are none ---- */

/* NaN and inf in Q and K stay with the scores that they belong to, in all stages. */
static void test_not_numbers(const struct device *d, const char *config)
{
    static const char text[] = "f32 b1 h2 q21 k45 d16 causal sink dropout0.3";
    const clattn_workload c = each_case(text);
    char why[1024] = "";
    struct scored s;
    clattn_plan plan = NULL;
    cl_int e = scored_make(&s, d->cl.context, &c, PADDED);
    e = e ? e : scored_show(&s, d->queue);
    if (!e) {
        tensor_row(&s.t.k, 0, 1, 3)[5] = NAN;
        tensor_row(&s.t.k, 0, 0, 30)[2] = INFINITY;
        tensor_row(&s.t.q, 0, 0, 7)[0] = NAN;
        tensor_row(&s.t.q, 0, 1, 9)[1] = -INFINITY;
        e = trial_upload_inputs(&s.t, d->queue);
    }
    e = e ? e : harness_plan(d, &s.t.c.problem, config, &plan, why, sizeof why);
    if (!ok(!e && scored_check(&s, plan, d->queue, why, sizeof why), "%s, %s: NaN and inf in Q and K", d->name, config))
        diag("%s %s", clattn_status_string(e), why);
    scored_free(&s);
}

/* ---- Weights and values ---- */

/* O = weights V: what a call wrote as weights makes what it wrote as O, of each row. */
static void test_products(const struct device *d, const char *config)
{
    static const char text[] = "f32 b2 h4/2 q19 k90 d32 causal alibi sink dropout0.4 mask:b1qk";
    const clattn_workload c = each_case(text);
    char why[1024] = "";
    struct scored s;
    clattn_plan plan = NULL;
    double most = 0;
    cl_int e = scored_make(&s, d->cl.context, &c, PADDED);
    e = e ? e : harness_plan(d, &s.t.c.problem, config, &plan, why, sizeof why);
    const int ran = !e && scored_forward(&s, plan, d->queue, why, sizeof why) &&
                    scored_run(&s, CLATTN_SCORES_WEIGHTS, plan, d->queue, why, sizeof why);
    for (int64_t i = 0; i < 2 * 4 * 19 && ran; i++)
        for (int64_t column = 0; column < s.t.dv; column++) {
            const int64_t b = i / 19 / 4, h = i / 19 % 4;
            double sum = 0;
            for (int64_t k = 0; k < 90; k++)
                sum += s.value[i * 90 + k] * tensor_row(&s.t.v, b, h / 2, k)[column];
            most = fmax(most, fabs(sum - tensor_row(&s.t.o, b, h, i % 19)[column]));
        }
    if (!ok(ran && most < 1e-5, "%s, %s: O is weights times V, to %.2g", d->name, config, most))
        diag("%s %s", clattn_status_string(e), why);
    scored_free(&s);
}

/* ---- Bits ---- */

/* The rows of entry 1 alone, with fewer keys and another place: the same bits where they are promised. */
static void test_same_bits(const struct device *d, const char *config)
{
    static const char text[] = "f32 b3 h4/2 q19 k150 d32 causal kvlen:150,77,3 kvstart:0,21,0 invariant";
    const clattn_workload c = each_case(text);
    const int64_t entry = 4 * 19 * 150;
    char why[1024] = "";
    struct scored s;
    clattn_plan plan = NULL;
    double *whole = NULL;
    cl_int e = scored_make(&s, d->cl.context, &c, PADDED);
    e = e ? e : harness_plan(d, &s.t.c.problem, config, &plan, why, sizeof why);
    int ran = !e && scored_forward(&s, plan, d->queue, why, sizeof why);
    e = e ? e : scored_show(&s, d->queue);
    for (int stage = 0; stage < SCORED_STAGES && ran && !e; stage++) {
        ran = scored_run(&s, stage, plan, d->queue, why, sizeof why);
        if (!ran || !(whole = malloc((size_t)entry * 3 * sizeof *whole)))
            break;
        memcpy(whole, s.value, (size_t)entry * 3 * sizeof *whole);
        /* entry 1 becomes the first of one: only offsets and sizes change */
        clattn_sizes one = s.t.sizes;
        clattn_array *const lists[] = { &s.t.args.kv_len, &s.t.args.kv_start };
        clattn_tensor *const rows_of[] = { &s.t.args.q, &s.t.args.k, &s.t.args.lse };
        const clattn_forward_args before = s.t.args;
        one.b = 1;
        s.t.args.sizes = &one;
        for (int i = 0; i < 2; i++)
            lists[i]->offset++;
        for (int i = 0; i < 3; i++)
            rows_of[i]->offset += (size_t)rows_of[i]->stride[0];
        ran = scored_run(&s, stage, plan, d->queue, why, sizeof why);
        s.t.args = before;
        ok(ran && !memcmp(s.value, whole + entry, (size_t)entry * sizeof *whole),
           "%s, %s: %s of an entry alone have the same bits", d->name, config, scored_stages[stage]);
        free(whole);
        whole = NULL;
    }
    if (!ran || e)
        ok(0, "%s, %s: bits: %s %s", d->name, config, clattn_status_string(e), why);
    free(whole);
    scored_free(&s);
}

/* ---- All ---- */

static char **arguments;

static void run_one(const struct device *d)
{
    const char *config = arguments[2] && *arguments[2] ? arguments[2] : NULL;
    enum layout layout = arguments[2] && arguments[3] ? layout_find(arguments[3]) : PADDED;
    if (layout == LAYOUTS)
        bail("no layout '%s'", arguments[3]);
    report(d, arguments[1], config, layout);
}

/* Several tiles of keys in local memory are what may race. */
static void run_quick(const struct device *d)
{
    const char *emulated = emulation(0, "nw2,rt1,bk16,qreg0");
    report_row(d, "f32", "b1 h1 q5 k40 d8", 0, "simt tx8,ty8,tm4,tn4,ch8,cv8,qres0", PLAIN);
    if (emulated)
        report_row(d, "f16", "b1 h1 q40 k40 d16 causal", 0, emulated, PLAIN);
    for (unsigned i = 0; i < N_QUICK_FEATURES; i++)
        report_row(d, "f32", quick_features[i], i, by[i % N_BY], (enum layout)(i % LAYOUTS));
}

static void run_usual(const struct device *d)
{
    const char *engine;
    run_rows(d);
    run_units(d);
    run_cases(d);
    test_random(d);
    for (size_t i = 0; (engine = harness_engine(i)) != NULL; i++) {
        test_not_numbers(d, engine);
        test_products(d, engine);
        test_same_bits(d, engine);
    }
}

int main(int argc, char **argv)
{
    arguments = argv;
    harness_unoptimised();
    if (argc > 1)
        return each_device(run_one);
    return each_device(harness_flag("CLATTN_QUICK") ? run_quick : run_usual);
}
