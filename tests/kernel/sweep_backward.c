/* sweep_backward.c - gradients of random problems and of bad inputs: how much of the promise is used
 * SPDX-License-Identifier: Apache-2.0
 *
 * As sweep.c does for O and LSE, in each engine that has gradients. Of random problems a quarter of what is usual is
 * asked, as elsewhere, of bad inputs all of it. */
#include "config.h"

#include "tests/lib/bad_gradients.h"
#include "tests/lib/each.h"
#include "tests/lib/sweep.h"

#include <math.h>

enum { FEW = 8, SOME = 24, SOME_KEYS = 600, BAD_KEYS = 200, MATRIX_WIDTH = 128, TEXT = 800 };

/* A class, and whether LSE is stored in f64, for which problem strings have no word. */
struct class {
    struct sweep_class of;
    int wide_lse;
};

static void draw_engine(struct class *k)
{
    static const int engines[] = { SWEEP_CPU, SWEEP_CPU, SWEEP_SIMT, SWEEP_SIMT, SWEEP_SIMT, SWEEP_EMULATED };
    k->of.engine = engines[sweep_below(sizeof engines / sizeof *engines)];
    k->of.type = k->of.engine == SWEEP_EMULATED ? SWEEP_F16 + (int)sweep_below(2) : (int)sweep_below(SWEEP_TYPES);
    k->wide_lse = k->of.type == SWEEP_F64 && sweep_below(2);
}

/* Any tile. On CPUs the library lists those of engine cpu alone; the others take these. */
static int draw_config(const struct device *d, struct sweep_class *k, const char *text)
{
    static const char *const simt[] = { "simt", "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0",
                                        "simt tx8,ty4,tm8,tn8,ch4,cv16,qres0", "simt tx16,ty2,tm4,tn8,ch8,cv4,qres0" };
    static const char *const emulated[] = { "mma_emu nw1,rt1,bk16,qreg0", "mma_emu nw2,rt1,bk16,qreg0",
                                            "mma_emu nw1,rt2,bk32,qreg1", "mma_emu nw1,rt1,bk32,qreg0" };
    if (k->engine == SWEEP_CPU)
        return sweep_draw_config(d, k, text);
    const char *const config = k->engine == SWEEP_SIMT ? SWEEP_ONE_OF(simt) : SWEEP_ONE_OF(emulated);
    snprintf(k->config, sizeof k->config, "%s", config);
    return 1;
}

static int is_narrow(const struct class *k)
{
    return k->of.type == SWEEP_F16 || k->of.type == SWEEP_BF16;
}

static void draw_class(struct class *k, int small)
{
    static const char *const mods[] = { "mod:document", "mod:strided", "mod:relative", "mod:relative,softcap",
                                        "mod:tanh_gate", "mod:head_scale", "mod:relative_bias" };
    enum { ALL = sizeof mods / sizeof *mods, CAPTURE_NO_FLOATS = 4 }; /* mma_emu has no gradients of the others' */
    memset(k, 0, sizeof *k);
    k->of.small = small;
    draw_engine(k);
    do {
        *k->of.words = '\0';
        sweep_draw_width(&k->of);
    } while (k->of.engine == SWEEP_EMULATED && (k->of.width[0] > MATRIX_WIDTH || k->of.width[1] > MATRIX_WIDTH));
    sweep_draw_scores(&k->of, mods, k->of.engine == SWEEP_EMULATED ? CAPTURE_NO_FLOATS : ALL);
    sweep_add(&k->of, 4, is_narrow(k) ? "o:f32" : "");
}

static void draw_problem(const struct class *k, char *text, size_t len)
{
    const size_t n = sweep_draw_sizes(&k->of, SOME_KEYS, text, len);
    snprintf(text + n, len - n, " seed%lld bwd", (long long)sweep_below(1000000));
}

/* ---- Running ---- */

static double part(struct graded *g, cl_command_queue queue, enum demand demand, char *why, size_t len)
{
    g->t.demand = demand;
    if (graded_truth(g, queue))
        return INFINITY;
    const int good = graded_verify(g, queue, why, len);
    return good || g->most > 1 ? g->most : INFINITY; /* bytes beside a gradient, or NaN */
}

/* Runs a problem, notes how much of its bounds it uses, and tells what is over. */
static void run(const struct device *d, const struct class *k, const char *text, const struct bad_gradient *bad,
                enum layout layout)
{
    const unsigned wanted = GRADED_ALL | GRADED_CAPTURED | (bad || sweep_below(2) ? 1u << GRADED_DLSE : 0);
    const enum demand usual = bad ? WHOLE : USUAL;
    struct sweep_share share = { INFINITY, INFINITY };
    clattn_workload c = each_case(text);
    struct graded g;
    clattn_plan plan = NULL;
    char why[1024] = "";
    c.problem.flags |= k->wide_lse ? CLATTN_LSE_F64 : 0;
    cl_int e = bad ? bad_gradient_make(bad, &g, d->cl.context, d->queue, &c, layout, wanted)
                   : graded_make(&g, d->cl.context, d->queue, &c, layout, wanted);
    e = e ? e : harness_plan(d, &g.t.c.problem, k->of.config, &plan, why, sizeof why);
    const int unsupported = e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &g.t.c.problem, k->of.config);
    e = e ? e : graded_run(&g, plan, d->queue);
    if (!e) {
        share.usual = part(&g, d->queue, usual, why, sizeof why);
        share.promised = part(&g, d->queue, PROMISED, why, sizeof why);
    }
    graded_free(&g);
    if (unsupported || sweep_note(&k->of, bad ? bad->name : NULL, bad ? bad->demand : usual, share))
        return;
    diag("%.3g of what is usual, %.3g of the promise: %s: %s %s", share.usual, share.promised, d->name,
         clattn_status_string(e), why);
    diag("%s%s%s", bad ? bad->name : "random", k->wide_lse ? ", LSE in f64" : "", bad && bad->sink ? ", its sink" : "");
    diag("again: tests/kernel/backward.t '%s' '%s' %s %#x", text, k->of.config, layout_name(layout), wanted);
}

/* n problems of one class: what is built serves them all. */
static void run_class(const struct device *d, int small, long n)
{
    struct class k;
    char text[TEXT];
    draw_class(&k, small);
    draw_problem(&k, text, sizeof text);
    if (!draw_config(d, &k.of, text))
        return;
    for (long i = 0; i < n; i++) {
        run(d, &k, text, NULL, (enum layout)sweep_below(LAYOUTS));
        draw_problem(&k, text, sizeof text);
    }
    harness_forget();
}

/* ---- Bad inputs ---- */

static int suits(const struct bad_gradient *bad, const struct class *k, const char *words)
{
    static const unsigned types[SWEEP_TYPES] = { 1u << CLATTN_F32, 1u << CLATTN_F16, 1u << CLATTN_BF16,
                                                 1u << CLATTN_F64 };
    const int only_f64 = bad->types == 1u << CLATTN_F64; /* LSE in f32 would say nothing of such scores */
    return (!bad->d || bad->d == k->of.width[0]) && !strcmp(bad->words, words) && bad->types & types[k->of.type] &&
           (!only_f64 || k->wide_lse);
}

/* One that a class can have; NULL: there is none. */
static const struct bad_gradient *draw_bad(const struct class *k, const char *words)
{
    const struct bad_gradient *suitable[128];
    size_t n = 0;
    for (const struct bad_gradient *bad = bad_gradients; bad->name && n < sizeof suitable / sizeof *suitable; bad++)
        if (suits(bad, k, words))
            suitable[n++] = bad;
    return n ? suitable[sweep_below((int64_t)n)] : NULL;
}

/* Sums over rows and over keys are as long as each other. */
static void draw_bad_problem(const struct class *k, const char *words, char *text, size_t len)
{
    const int slow = k->of.engine == SWEEP_EMULATED || (k->of.small && sweep_below(20));
    const int64_t most = slow ? BAD_KEYS / 4 : BAD_KEYS;
    snprintf(text, len, "%s b%lld h2/1 q%lld k%lld%s %s seed%lld bwd", sweep_types[k->of.type],
             (long long)(1 + sweep_below(2)), (long long)(1 + sweep_below(1 + sweep_below(most))),
             (long long)(1 + sweep_below(1 + sweep_below(most))), k->of.words, words, (long long)sweep_below(1000000));
}

/* Of a class as well: its width and words are those of a kind. */
static void run_bad(const struct device *d, int small, long n)
{
    static const enum layout layouts[] = { PLAIN, PADDED, SHARED };
    struct class k = { .of = { .small = small } };
    char text[TEXT], width[32];
    int64_t kinds = 0;
    while (bad_gradients[kinds].name)
        kinds++;
    const struct bad_gradient *bad = &bad_gradients[sweep_below(kinds)];
    const char *const words = bad->words;
    k.of.width[0] = bad->d ? bad->d : 8 << sweep_below(4);
    k.of.width[1] = 8 << sweep_below(4);
    snprintf(width, sizeof width, "d%d/%d", k.of.width[0], k.of.width[1]);
    sweep_add(&k.of, 1, width);
    draw_engine(&k);
    sweep_add(&k.of, 4, is_narrow(&k) ? "o:f32" : "");
    draw_bad_problem(&k, words, text, sizeof text);
    if ((k.of.engine == SWEEP_EMULATED && k.of.width[0] > MATRIX_WIDTH) || !draw_config(d, &k.of, text))
        return;
    for (long i = 0; i < n && (bad = draw_bad(&k, words)); i++) {
        run(d, &k, text, bad, layouts[sweep_below(sizeof layouts / sizeof *layouts)]);
        draw_bad_problem(&k, words, text, sizeof text);
    }
    harness_forget();
}

static void test_device(const struct device *d)
{
    static const struct sweep all = { FEW, SOME, run_class, run_bad };
    long random, bad;
    harness_unoptimised(); /* PoCL's optimiser takes minutes for some */
    const int over = sweep_run(d, &all, &random, &bad);
    is_int(over, 0, "%s: of gradients of %ld random problems and %ld bad ones none is off by more than it may be",
           d->name, random, bad);
}

int main(void)
{
    return each_device(test_device);
}
