/* backward.c - gradients against float64, case by case
 * SPDX-License-Identifier: Apache-2.0
 *
 * backward.t: each gradient by itself, a row with blocks, and one on engine simt; finite.t and captured.t have the
 * other features. CLATTN_PART=1: all features in all types, and the cases of cases.h that gradients know, in a type and
 * layout by turns; CLATTN_FULL=1: every case in every type.
 * CLATTN_QUICK=1: a few small cases, for simulators.
 * backward.t PROBLEM [CONFIG [LAYOUT [WANTED]]]: one case; CONFIG "" is the default, WANTED is as graded.h says. */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tests/lib/cases.h"
#include "tests/lib/each.h"
#include "tests/lib/graded.h"

#include <math.h>

enum {
    OTHERS = GRADED_OTHERS | GRADED_CAPTURED,
    ALL = 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | OTHERS,
    WITH_DLSE = ALL | 1 << GRADED_DLSE
};

/* Words of problems that have no gradients. */
static int is_differentiable(const char *row)
{
    char text[512];
    snprintf(text, sizeof text, "f32 %s", row);
    const clattn_problem p = each_case(text).problem;
    const struct convert_type *const k = convert_type(p.k_type), *const v = convert_type(p.v_type);
    return !p.page && !p.splits && !(k && k->keys_only) && !(v && v->keys_only);
}

/* Twice: right, and the same bits. */
static void check(const struct device *d, const char *text, const char *config, enum layout layout, unsigned wanted)
{
    const clattn_workload c = each_case(text);
    struct graded g, again;
    char why[1024] = "";
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, layout, wanted);
    cl_int e2 = e ? e : graded_make(&again, d->cl.context, d->queue, &c, layout, wanted);
    const clattn_plan plan = each_plan(d, config, &g.t.c.problem, text); /* of the layout: it may have offsets */
    if (!plan)
        goto out;
    if (!e2 && !(e2 = graded_run(&g, plan, d->queue)))
        e2 = graded_run(&again, plan, d->queue);
    const int good = !e2 && graded_verify(&g, d->queue, why, sizeof why);
    if (!ok(good, "%s, %s, %s: %s (%.3f of the bound)", d->name, config ? config : "default", layout_name(layout), text,
            g.most))
        diag("%s %s\nagain: tests/kernel/backward.t '%s' '%s' %s", clattn_status_string(e2), why, text,
             config ? config : "", layout_name(layout));
    else if (!graded_verify(&again, d->queue, why, sizeof why) || !graded_is_same(&g, &again))
        ok(0, "a second run gives the same bits: %s", text);
out:
    if (!e)
        graded_free(&again);
    graded_free(&g);
}

static void check_row(const struct device *d, const char *type, const char *row, unsigned seed, const char *config,
                      enum layout layout, unsigned wanted)
{
    char text[512];
    snprintf(text, sizeof text, "%s %s seed%u bwd", type, row, seed);
    if (harness_may_refuse_text(d, text, NULL)) /* all tiles here are small */
        skip("%s: no configuration here", text);
    else
        check(d, text, config, layout, wanted);
}

static void test_cases(const struct device *d)
{
    const int full = harness_flag("CLATTN_FULL");
    for (unsigned i = 0; i < N_CASES; i++)
        for (unsigned t = 0; t < N_CASE_TYPES; t++) {
            const int turn = t == (i / 5 + i / 40) % N_CASE_TYPES;
            if (is_differentiable(cases[i]) && each_is_sensible(case_types[t], cases[i]) &&
                (full || (turn && harness_shares(i / 5))))
                check_row(d, case_types[t], cases[i], 3000 + i, NULL, (enum layout)((i + i / 5) % LAYOUTS),
                          i % 3 ? WITH_DLSE : ALL);
        }
}

/* Each gradient by itself, and none; and all sets of them. */
static void test_wanted(const struct device *d)
{
    static const char text[] = "f32 b2 h4/2 q37 k83 d41/26 causal bias:1h11 alibi sink lse seed5 bwd";
    for (unsigned wanted = 0; wanted < 16; wanted++)
        if (harness_turn(wanted, !(wanted & (wanted - 1))))
            check(d, text, NULL, PADDED, wanted << GRADED_DQ);
}

/* Makes a case, lets `change` change its inputs, calls once and judges; 0 and `why` where something is wrong. */
static int is_right_changed(struct graded *g, const struct device *d, const char *text, const char *config,
                            unsigned wanted, cl_int (*change)(struct graded *, cl_command_queue), char *why, size_t len)
{
    const clattn_workload c = each_case(text);
    cl_int e = graded_make(g, d->cl.context, d->queue, &c, PADDED, wanted);
    const clattn_plan plan = e ? NULL : each_plan(d, config, &g->t.c.problem, text);
    if (!e)
        e = plan ? change(g, d->queue) : CLATTN_ERROR_NOT_SUPPORTED;
    e = e ? e : graded_truth(g, d->queue);
    e = e ? e : graded_run(g, plan, d->queue);
    snprintf(why, len, "%s", e ? clattn_status_string(e) : "");
    return !e && graded_verify(g, d->queue, why, len);
}

static cl_int drop_sink(struct graded *g, cl_command_queue queue)
{
    static const float none = -INFINITY;
    struct image *const list = &g->t.list[SINKS];
    g->t.x.sinks[1] = (double)none;
    memcpy(list->byte + (g->t.args.sinks.offset + 1) * sizeof none, &none, sizeof none);
    return image_write(list, queue);
}

/* A sink that weighs nothing, and rows that see nothing beside it; by kernels of test_wanted(). */
static void test_no_sink(const struct device *d)
{
    static const char text[] = "f32 b2 h4/2 q37 k20 d41/26 causal bias:1h11 alibi sink lse bwd";
    struct graded g;
    char why[1024];
    const int good = is_right_changed(&g, d, text, "", WITH_DLSE, drop_sink, why, sizeof why);
    ok(good && g.cells[GRADED_DSINKS].got[1] == 0, "%s: the sink of a head is -inf (%s): %s", d->name, why, text);
    graded_free(&g);
}

static cl_int taint_first_bias(struct graded *g, cl_command_queue queue)
{
    struct array4 *const bias = &g->t.bias;
    const int type = g->t.c.problem.bias_type;
    int64_t index[4];
    g->tainted = 1;
    g->t.x.bias[0] = NAN;
    convert_store(type, g->t.x.bias, bias->image.byte + array4_at(bias, 0, index) * convert_size(type), 1);
    return image_write(&bias->image, queue);
}

/* NaN in the one bias that query 0 keeps: no gradient of the keys that it drops shows that. */
static void test_nan(const struct device *d, const char *type, const char *config)
{
    struct graded g;
    char text[128], why[1024];
    snprintf(text, sizeof text, "%s b1 h1 q9 k9 d8 causal bias:11qk lse seed7 bwd", type);
    if (harness_may_refuse_text(d, text, NULL)) {
        skip("%s: no configuration here", text);
        return;
    }
    const int good = is_right_changed(&g, d, text, config, ALL, taint_first_bias, why, sizeof why);
    ok(good && isnan(g.x[GRADED_DQ].value[0]), "%s, %s: NaN in a bias (%s): %s", d->name,
       *config ? config : "first choice", why, text);
    graded_free(&g);
}

/* Each feature, several tiles of keys and queries, no rows. */
static const char *const features[] = {
    "b2 h4/2 q70 k150 d41/26 window30,20 softcap4 bias:b1qk sink lse",
    "b2 h4/2 q70 k150 d41/26 causal alibi mask:11qk bias:1hq1:f16 lse",
    "b2 h6/3 q70 k150 d41/26 causal alibi mask:11qk bias:11qk lse",
    "b3 h4/2 q70 k150 d40/24 varlen softcap4 bias:1h1k sink lse",
    "b2 h4/2 q70 k150 d41/26 causal dropout0.4 bias:1hqk sink lse",
    "b3 h4/2 q70 k150 d40/24 varlen dropout0.9 alibi lse",
    "b2 h4/2 q70 k150 d41/26 causal softcap9 alibi bias:11qk mod:softcap,tanh_gate,relative lse",
    "b4 h6/3 q70 k150 d41/26 causal alibi bias:23qk mask:1311 lse", "b6 h4/2 q33 k90 d40 bias:321k sink lse",
    "b2 h4/2 q70 k150 d41/26 causal softcap9 bias:11qk slopes sink lse",
    "b4 h4/2 q33 k90 d40/24 varlen bias:b2q1 slopes lse",
    "b4 h4/2 q33 k90 d40/24 varlen bias:b2q1 lse", "b4 h4/1 q70 k37 d24 bias:22q1:f16 lse",
    "b3 h4/2 q33 k90 d40/24 varlen mod:document,head_scale,strided sink lse",
    "b1 h4/2 q130 k283 d41/26 causal mask:1hqk blocks:32,16 bias:1111 lse",
    "b4 h2 q33 k70 d64 causal alibi sink qlen:33,1,0,20 kvlen:70,5,33,64 kvstart:3,0,30,64 lse",
    "b2 h2 q5 k0 d64 sink alibi bias:11q1 lse",
    "b0 h2 q3 k5 d64 alibi bias:1hqk sink lse",
    "b0 h2 q3 k5 d64 alibi bias:11q1 lse",
    "b2 h2 q0 k5 d64 bias:bhqk lse", "b1 h2 q0 k70 d8 alibi bias:1111 lse",
};
enum { N_FEATURE_ROWS = sizeof features / sizeof *features };

static void test_features(const struct device *d)
{
    for (unsigned i = 0; i < N_FEATURE_ROWS; i++)
        for (unsigned n = 0; n < (harness_rest() ? N_CASE_TYPES : 1); n++)
            if (harness_turn(i + n, i >= 6 && i <= 9))
                check_row(d, case_types[(i + n) % N_CASE_TYPES], features[i], 40 + i, NULL,
                          (enum layout)((i + 3 * n) % LAYOUTS), WITH_DLSE);
}

/* The same on an engine whose work-items share a tile: few items, which PoCL compiles sooner; and tiles that users
 * have, with chains and chunks of more than one kind. */
static const char few_items[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";
static void test_simt(const struct device *d)
{
    static const struct {
        const char *config, *row;
    } more[] = {
        { "simt", "b1 h2/1 q70 k150 d64 causal lse" },
        { "simt", "b1 h4/2 q70 k90 d96/72 window40,9 bias:1hqk lse" },
        { "simt", "b2 h1 q40 k70 d72/200 softcap4 alibi lse" },
        { few_items, "b2 h4/2 q70 k150 d41/26 causal softcap9 alibi bias:11qk mod:softcap,relative lse" },
        { "simt tx8,ty4,tm8,tn8,ch4,cv16,qres0", "b1 h2/1 q70 k150 d40 mask:b1qk bias:1h1k alibi lse" },
        { "simt tx16,ty2,tm4,tn8,ch8,cv4,qres0", "b1 h2/1 q140 k70 d130 causal bias:11q1 lse" },
        { few_items, "b2 h4/2 q33 k70 d41/26 o:f32 causal bias:1h11 sink lse" },
    };
    /* PoCL's optimiser takes minutes for some of these kernels, so from now on it has none to do. */
    harness_unoptimised();
    for (unsigned i = 0; i < N_FEATURE_ROWS; i++)
        if (harness_shares(i))
            check_row(d, case_types[(i + 2) % N_CASE_TYPES], features[i], 60 + i, few_items,
                      (enum layout)((i + 1) % LAYOUTS), WITH_DLSE);
    for (unsigned i = 0; i < sizeof more / sizeof *more; i++)
        if (harness_shares(i))
            check_row(d, case_types[i % N_CASE_TYPES], more[i].row, 80 + i, more[i].config, (enum layout)(i % LAYOUTS),
                      WITH_DLSE);
}

/* Matrix units, emulated: the features, and logits so far apart that weights of a row leave what f16 holds, a row's
 * first ones being the smaller ones or the larger ones. */
static void test_mma(const struct device *d)
{
    static const char *const tiles[] = { "mma_emu nw2,rt1,bk16,qreg0", "mma_emu nw1,rt2,bk32,qreg1",
                                         "mma_emu nw1,rt1,bk32,qreg0" };
    static const struct {
        const char *type, *config, *row;
    } more[] = {
        { "f16", "mma_emu nw1,rt1,bk16,qreg0", "b1 h2/1 q70 k150 d64 scale1 lse" },
        { "f16", "mma_emu nw1,rt1,bk16,qreg1", "b1 h1 q40 k90 d32/128 scale2 causal lse" },
        { "bf16", "mma_emu nw2,rt1,bk32,qreg0", "b1 h2/1 q70 k150 d72/40 scale1 window40,9 bias:1hqk lse" },
        { "f16", "mma_emu", "b1 h2/1 q70 k90 d128/96 causal alibi lse" },
        { "bf16", "mma_emu nw1,rt1,bk32,qreg1", "b1 h2/1 q40 k70 d24 causal mod:softcap lse" },
        { "f16", "mma_emu nw1,rt1,bk16,qreg1", "b1 h2/1 q40 k70 d40/72 o:f32 causal sink lse" },
    };
    for (unsigned i = 0; i < N_FEATURE_ROWS; i++)
        if (harness_shares(i) && !strstr(features[i], " mod:"))
            check_row(d, i % 2 ? "bf16" : "f16", features[i], 90 + i, tiles[i % 3], (enum layout)((i + 2) % LAYOUTS),
                      WITH_DLSE);
    for (unsigned i = 0; i < sizeof more / sizeof *more; i++)
        if (harness_shares(i))
            check_row(d, more[i].type, more[i].row, 110 + i, more[i].config, (enum layout)(i % LAYOUTS), WITH_DLSE);
}

/* K that all entries share beside a V of each, and the other way round: one of dK and dV is summed over them. In chains
 * of one segment and of more, where keys end within a tile, and with what else entries share; make check: one of these
 * on each engine. */
static void test_shared(const struct device *d)
{
    static const char *const tiles[][2] = { { "cpu w4,nv1,rk4,rd4,bk2", "bf16" },
                                            { few_items, "f32" },
                                            { "mma_emu nw1,rt1,bk16,qreg0", "f16" } };
    static const char *const shared[] = { "b3 h4/2 q9 k37 d9/6 causal lse", "b5 h2/1 q211 k21 d9/6 alibi lse",
                                          "b3 h2/2 q9 k37 d9/6 kvlen:37,0,21 qlen:9,9,4 bias:11qk sink lse" };
    for (unsigned i = 0; i < sizeof tiles / sizeof *tiles; i++)
        for (unsigned n = 0; n < sizeof shared / sizeof *shared; n++)
            for (unsigned v = 0; v < 2; v++)
                if (harness_turn(3 * n + i, n == (i + 1) % 3 && i < 2))
                    check_row(d, tiles[i][1], shared[n], 130 + n, tiles[i][0], v ? SHARED_V : SHARED_K,
                              n ? WITH_DLSE : v ? 1 << GRADED_DV : 1 << GRADED_DK);
}

/* More work-groups than a grid is wide: some of its last ones are spare, which slopes show. */
static void test_grid(const struct device *d)
{
    if (harness_shares(0))
        check(d, "f32 b1 h70001 q1 k2 d8 alibi sink lse seed7 bwd", "cpu", PADDED, WITH_DLSE);
}

/* What derivatives look up there, several at a time, in every type; make check has those of captured.t. */
static void test_look_ups(const struct device *d)
{
    static const char *const looking[][2] = {
        { few_items, "b2 h4/2 q37 k70 d9/26 scale1.5 window30,9 bias:11qk mod:tanh_gate,pair_bias,relative_bias lse" },
        { "simt", "b2 h4/2 q70 k90 d64 causal alibi mod:head_scale,document,relative_bias lse" },
    };
    for (unsigned i = 0; i < 2; i++)
        for (unsigned n = 0; n < N_CASE_TYPES; n++)
            if (harness_shares(i + n))
                check_row(d, case_types[(i + n) % N_CASE_TYPES], looking[i][1], 90 + i, looking[i][0],
                          (enum layout)((i + 3 * n) % LAYOUTS), WITH_DLSE);
}

static char **arguments;
static void test_one(const struct device *d)
{
    const char *const config = arguments[2] && *arguments[2] ? arguments[2] : NULL;
    const enum layout layout = arguments[2] && arguments[3] ? layout_find(arguments[3]) : PADDED;
    if (layout == LAYOUTS)
        bail("no layout '%s'", arguments[3]);
    const int some = arguments[2] && arguments[3] && arguments[4];
    check(d, arguments[1], config, layout, some ? (unsigned)strtoul(arguments[4], NULL, 0) : WITH_DLSE);
}

static void test_quick(const struct device *d)
{
    static const char *const more[] = { "b1 h2/1 q5 k9 d8 window3,1 softcap4 sink lse",
                                        "b1 h2/1 q5 k9 d8 causal dropout0.4 lse",
                                        "b2 h2/1 q6 k9 d8 causal alibi bias:1h1k:bf16 mask:b1qk lse",
                                        "b3 h2/1 q6 k9 d8 varlen bias:11qk lse",
                                        "b2 h2/1 q6 k9 d8 causal mod:tanh_gate,head_scale,relative_bias lse",
                                        "b1 h1 q9 k20 d8 mask:11qk blocks:4,8 lse" };
    /* Of queries, keys and chunks more than one tile, for those who look for races. */
    static const char *const tiles[] = { "b1 h2/1 q20 k37 d9/3 causal alibi mask:11qk bias:11q1 lse",
                                         "b1 h1 q20 k18 d70 bias:11qk lse",
                                         "b1 h2/1 q20 k18 d9/3 mod:tanh_gate,relative_bias lse" };
    for (unsigned i = 0; i < sizeof quick_cases / sizeof *quick_cases; i++)
        check_row(d, "f32", quick_cases[i], i, NULL, PADDED, WITH_DLSE);
    for (unsigned i = 0; i < sizeof more / sizeof *more; i++)
        check_row(d, i % 2 ? "bf16" : "f32", more[i], i, NULL, i % 2 ? SHARED : PADDED, WITH_DLSE);
    check_row(d, "f32", more[1], 1, NULL, SHARED_K, WITH_DLSE);
    check_row(d, "f32", more[1], 1, NULL, SHARED_V, WITH_DLSE);
    /* Where nothing shares dS, and nothing is summed: one barrier alone stands between L and D of two tiles. */
    static const char unshared[] = "b1 h2/1 q20 k5 d9/3 alibi lse", on_matrix_units[] = "mma_emu nw2,rt1,bk16,qreg0";
    for (unsigned i = 0; i < sizeof tiles / sizeof *tiles; i++)
        for (unsigned wanted = 0; wanted < 2; wanted++)
            check_row(d, "f32", tiles[i], i, few_items, PADDED, wanted ? WITH_DLSE : OTHERS);
    for (unsigned wanted = 0; wanted < 2; wanted++)
        check_row(d, "f16", "b1 h2/1 q40 k37 d40/9 causal alibi mask:11qk bias:11q1 lse", wanted, on_matrix_units,
                  PADDED, wanted ? WITH_DLSE : OTHERS);
    check_row(d, "f32", unshared, 0, few_items, PADDED, OTHERS);
    /* Items of which some share one table of what they look up, and others another. */
    check_row(d, "f32", "b1 h1 q5 k18 d3 mod:relative_bias lse", 0, "simt tx16,ty4,tm4,tn4,ch4,cv4,qres0", PADDED,
              OTHERS);
    check_row(d, "f16", unshared, 0, on_matrix_units, PADDED, OTHERS);
}

static void test(const struct device *d)
{
    if (arguments[1]) {
        test_one(d);
    } else if (harness_flag("CLATTN_QUICK")) {
        test_quick(d);
    } else {
        test_features(d);
        test_wanted(d);
        if (harness_turn(16, 1))
            test_no_sink(d);
        test_nan(d, "f32", "");
        if (harness_rest()) {
            test_nan(d, "f64", "");
            test_nan(d, "f32", few_items);
        }
        test_cases(d);
        test_mma(d);
        test_simt(d); /* behind those, as it says */
        test_shared(d);
        test_grid(d);
        test_look_ups(d);
    }
}

int main(int argc, char **argv)
{
    (void)argc;
    arguments = argv;
    return each_device(test);
}
