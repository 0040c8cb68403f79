/* bad_gradients.c - gradients within the promised bound where sums are long and all terms have one sign
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each row has so many terms that it fails without segments of them. make check leaves those of engine simt, of
 * slopes and of captured buffers to CLATTN_PART=1. bad_gradients.t PROBLEM CONFIG LAYOUT FILL WANTED: one row, where
 * WANTED is the number that a line prints. And kinds of inputs that a term of the bound is for
 * (tests/lib/bad_gradients.h), which are beyond it without that term, or that have a scale above 1; sweep_backward.t
 * has all kinds. bad_gradients.t KIND CONFIG PROBLEM: one, its problem up to the widths. */
#include "config.h"

#include "tests/lib/bad_gradients.h"
#include "tests/lib/each.h"
#include "tests/lib/graded.h"

#include <math.h>

/* In each column another constant, so that the rounding of one of them goes to the same side nearly always. */
static double constant(int64_t column)
{
    return (double)(float)(0.5 + 0.4999 * fmod((double)(column + 1) * 0.6180339887498949, 1));
}
static double in_turns(int64_t row, int64_t column)
{
    return row % 2 ? -constant(column) : constant(column);
}

/* All keys weigh alike, and dS is of one sign for each: dK and dV. */
static double for_keys(int which, int64_t row, int64_t column)
{
    return which == GRADED_K || which == GRADED_DLSE ? 0
           : which == GRADED_V                       ? in_turns(row, 0)
                                                     : constant(column);
}
/* As before, and K has the sign of dS: dQ. */
static double for_queries(int which, int64_t row, int64_t column)
{
    return which == GRADED_Q || which == GRADED_DLSE ? 0
           : which == GRADED_K                       ? in_turns(row, column)
           : which == GRADED_V                       ? in_turns(row, 0)
                                                     : constant(column);
}
/* dS is dLSE times the weight: bias, sinks and captured buffers. */
static double for_scores(int which, int64_t row, int64_t column)
{
    (void)row;
    (void)column;
    return which == GRADED_DLSE ? (double)0.7390851f : which == GRADED_V ? 1 : 0;
}

static const struct {
    const char *name;
    graded_value *value;
} fills[] = { { "keys", for_keys }, { "queries", for_queries }, { "scores", for_scores } };

static graded_value *fill_of(const char *name)
{
    for (size_t i = 0; i < sizeof fills / sizeof *fills; i++)
        if (!strcmp(fills[i].name, name))
            return fills[i].value;
    bail("no fill '%s'", name);
    return NULL;
}

static void check(const struct device *d, const char *text, const char *config, enum layout layout, const char *fill,
                  unsigned wanted)
{
    const clattn_workload c = each_case(text);
    struct graded g;
    char why[1024] = "";
    cl_int e = graded_make_bad(&g, d->cl.context, d->queue, &c, layout, wanted, fill_of(fill));
    const clattn_plan plan = each_plan(d, config, &g.t.c.problem, text);
    if (plan) {
        e = e ? e : graded_run(&g, plan, d->queue);
        const int good = !e && graded_verify(&g, d->queue, why, sizeof why);
        if (!ok(good, "%s, %s, %s, %s, %u: %s (%.3f of the bound)", d->name, config ? config : "default",
                layout_name(layout), fill, wanted, text, g.most))
            diag("%s %s", clattn_status_string(e), why);
    }
    graded_free(&g);
}

enum {
    DQ = 1 << GRADED_DQ,
    DK = 1 << GRADED_DK,
    DV = 1 << GRADED_DV,
    OTHERS = 1 << GRADED_DLSE | GRADED_OTHERS,
    CAPTURED = 1 << GRADED_DLSE | GRADED_CAPTURED
};
/* Short tiles and vectors: the longest chains. */
static const char short_cpu[] = "cpu w4,nv1,rk4,rd4,bk2", short_simt[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";
static const struct {
    const char *config, *row;
    enum layout layout;
    const char *fill;
    unsigned wanted;
} rows[] = {
    /* tiles of queries, heads that share keys, entries that do */
    { short_cpu, "b1 h1 q65536 k4 d8", PADDED, "keys", DK | DV },
    { short_cpu, "b1 h64/1 q1024 k4 d8", PLAIN, "keys", DK | DV },
    { short_cpu, "b64 h2/1 q512 k4 d8", SHARED, "keys", DK | DV },
    { short_simt, "b1 h1 q65536 k16 d8", PADDED, "keys", DK | DV },
    { short_simt, "b16 h16/2 q512 k16 d8", SHARED, "keys", DK | DV },
    /* tiles of keys */
    { short_cpu, "b1 h1 q4 k65536 d8", PADDED, "queries", DQ },
    { short_simt, "b1 h1 q16 k65536 d8", PADDED, "queries", DQ },
    /* cells of a bias: by tiles of queries and of keys, by heads and entries */
    { short_cpu, "b1 h1 q4096 k64 d8 bias:1111", PADDED, "scores", OTHERS },
    { short_cpu, "b1 h1 q2 k65536 d8 bias:11q1", PADDED, "scores", OTHERS },
    { short_cpu, "b1 h1 q16384 k4 d8 bias:111k", PADDED, "scores", OTHERS },
    { short_cpu, "b64 h64/8 q5 k6 d8 bias:11qk", PADDED, "scores", OTHERS },
    { short_cpu, "b64 h2 q300 k6 d8 bias:1h1k", PADDED, "scores", OTHERS },
    { short_simt, "b1 h1 q65536 k16 d8 bias:1111", PADDED, "scores", OTHERS },
    { short_simt, "b1 h1 q65536 k16 d8 bias:111k", PADDED, "scores", OTHERS },
    { short_simt, "b64 h64/8 q5 k6 d8 bias:11qk", PADDED, "scores", OTHERS },
    { NULL, "b1 h4 q65536 k2 d8 sink", PADDED, "scores", OTHERS },
    /* segments of slopes: these are within the bound as one chain, too */
    { short_cpu, "b1 h2 q4096 k4 d8 alibi", PADDED, "scores", OTHERS },
    { short_simt, "b1 h2 q4096 k16 d8 alibi", PADDED, "scores", OTHERS },
    /* cells of a captured buffer */
    { short_cpu, "b1 h2 q2048 k256 d8 mod:relative_bias", PADDED, "scores", CAPTURED },
    { short_simt, "b1 h1 q8192 k256 d8 mod:relative_bias", PADDED, "scores", CAPTURED },
};

static int is_due(size_t i)
{
    const int often = rows[i].config == short_cpu && rows[i].wanted != CAPTURED;
    return harness_turn((unsigned)i, often && !strstr(rows[i].row, "alibi"));
}

/* ---- Kinds ---- */

static const struct bad_gradient *kind_of(const char *name)
{
    for (const struct bad_gradient *bad = bad_gradients; bad->name; bad++)
        if (!strcmp(bad->name, name))
            return bad;
    bail("no kind '%s'", name);
    return NULL;
}

static void check_kind(const struct device *d, const char *name, const char *config, const char *problem)
{
    const struct bad_gradient *const bad = kind_of(name);
    char text[256], why[1024] = "";
    struct graded g;
    snprintf(text, sizeof text, "%s %s seed1 bwd", problem, bad->words);
    const clattn_workload c = each_case(text);
    cl_int e = bad_gradient_make(bad, &g, d->cl.context, d->queue, &c, PADDED, GRADED_ALL | 1u << GRADED_DLSE);
    const clattn_plan plan = each_plan(d, config, &g.t.c.problem, text);
    if (plan) {
        e = e ? e : graded_run(&g, plan, d->queue);
        g.t.demand = bad->demand;
        e = e ? e : graded_truth(&g, d->queue); /* of the engine that ran */
        const int good = !e && graded_verify(&g, d->queue, why, sizeof why);
        if (!ok(good, "%s, %s, %s: %s (%.3f of the bound)", d->name, config, name, problem, g.most))
            diag("%s %s", clattn_status_string(e), why);
    }
    graded_free(&g);
}

static const char cpu[] = "cpu", emulated[] = "mma_emu nw1,rt1,bk16,qreg0";
static const struct {
    const char *name, *config, *problem;
} kinds[] = {
    { "softcap 1 behind a scale of 8", cpu, "f32 b1 h2/1 q5 k70 d8/8" },
    { "softcap 1 behind a scale of 8", "simt", "f32 b1 h2/1 q5 k70 d8/8" },
    { "dS that underflows", cpu, "f32 b1 h2/1 q5 k70 d8/8" },
    { "dS that underflows", "simt", "bf16 b1 h2/1 q5 k70 d8/8" },
    { "dS that underflows, f64", cpu, "f64 b1 h2/1 q5 k70 d8/8" },
    { "dP that underflows", cpu, "f32 b1 h2/1 q5 k70 d8/8" },
    { "dP that underflows", "simt", "bf16 b1 h2/1 q5 k70 d8/8" },
    { "dP that underflows", emulated, "bf16 b1 h2/1 q5 k70 d8/8" },
    { "dP that underflows, f64", cpu, "f64 b1 h2/1 q5 k2 d8/256" },
    { "elements that underflow", cpu, "f32 b1 h1 q1 k1 d128/8" },
    { "elements that underflow", "simt", "f32 b1 h1 q1 k1 d128/8" },
    { "weights below 2^-100", cpu, "f32 b1 h2/1 q5 k70 d8/8" },
    { "weights below 2^-100", "simt", "f32 b1 h2/1 q5 k70 d8/8" },
    { "weights below 2^-100", emulated, "bf16 b1 h2/1 q5 k70 d8/8" },
    { "weights below 2^-900", cpu, "f64 b1 h2/1 q5 k70 d8/8" },
    { "weights below 2^-32", emulated, "f16 b1 h2/1 q200 k1 d8/8" },
    { "dS below 2^-32", emulated, "f16 b1 h2/1 q20 k3 d8/8" },
    { "equal weights", emulated, "bf16 b1 h1 q3 k255 d8/8" },
};

/* make check has those of engine cpu, but for one in f64, by the tile that rows have; rooms.t has matrix units. */
static int is_kind_due(size_t i)
{
    return harness_turn((unsigned)i, kinds[i].config == cpu && !strstr(kinds[i].problem, "/256"));
}

static char **arguments;
static void test(const struct device *d)
{
    if (arguments[1] && !arguments[4]) {
        check_kind(d, arguments[1], arguments[2], arguments[3]);
        return;
    }
    if (arguments[1]) {
        check(d, arguments[1], *arguments[2] ? arguments[2] : NULL, layout_find(arguments[3]), arguments[4],
              (unsigned)atoi(arguments[5]));
        return;
    }
    harness_never_optimised(); /* its optimiser takes minutes for some */
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char text[128];
        if (!is_due(i))
            continue;
        snprintf(text, sizeof text, "f32 %s seed1 bwd", rows[i].row);
        check(d, text, rows[i].config, rows[i].layout, rows[i].fill, rows[i].wanted);
    }
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (is_kind_due(i))
            check_kind(d, kinds[i].name, kinds[i].config == cpu && !harness_more() ? short_cpu : kinds[i].config,
                       kinds[i].problem);
}

int main(int argc, char **argv)
{
    (void)argc;
    arguments = argv;
    return each_device(test);
}
