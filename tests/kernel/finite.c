/* finite.c - gradients against differences of the library's own forward pass, in f64
 * SPDX-License-Identifier: Apache-2.0
 *
 * What backward passes compute, and what the reference says that all other tests compare them with: each of the two
 * apart, so that neither is right because the other is. Rows cross what gradients know pair by pair. Of each gradient
 * that there is a random direction, in which all elements count, and one element by itself; and what nothing depends
 * on is exactly 0.
 *
 * finite.t: a few rows with as many different words as these can have; CLATTN_PART=1: every row on engine cpu, and
 * every fifth on engine simt; CLATTN_FULL=1: every row on both.
 * finite.t N [CONFIG]: row N alone. finite.t --list: the problems of all rows, which needs no device. */
#include "config.h"

#include "tests/lib/differences.h"
#include "tests/lib/each.h"
#include "tests/lib/pair_words.h"
#include "tests/lib/pairwise.h"

#include <float.h>
#include <math.h>

/* ---- Rows ---- */

enum { MASK, BIAS, SCORE, SINK, DROPOUT, WINDOW, PLACE, DIAGONAL, WIDTH, DLSE, FACTORS };

static const char *const words[FACTORS][PAIRWISE_CHOICES] = {
    [MASK] = { PAIR_MASKS, NULL },
    [BIAS] = { "", "bias:1111", "bias:111k", "bias:11q1", "bias:11qk", "bias:1h11", "bias:1h1k", "bias:1hq1",
               "bias:1hqk", "bias:b111", "bias:b11k", "bias:b1q1", "bias:b1qk", "bias:bh11", "bias:bh1k", "bias:bhq1",
               "bias:bhqk", "bias:12q1", "bias:1hqk slopes", "bias:11q1 slopes", NULL },
    [SCORE] = { PAIR_SCORES, "mod:softcap,tanh_gate", "mod:head_scale,strided alibi",
                "softcap7 mod:tanh_gate,relative_bias", NULL },
    [SINK] = { PAIR_SINKS, NULL },
    [DROPOUT] = { PAIR_DROPOUTS, NULL },
    [WINDOW] = { PAIR_WINDOWS, NULL },
    [PLACE] = { PAIR_PLACES, NULL },
    [DIAGONAL] = { PAIR_DIAGONALS, NULL },
    [WIDTH] = { "d40/24", "d72/80", "d33/49", "d3/5 scale1.25", NULL },
    [DLSE] = { "", "with dLSE", NULL },
};

static int forbidden(int f, int x, int g, int y);
static struct pairwise pairs = { .words = words, .factors = FACTORS, .forbidden = forbidden };

/* Two offsets that contradict each other, and slopes for two. */
static int forbidden(int f, int x, int g, int y)
{
    return (f == MASK && g == DIAGONAL && pairwise_has(&pairs, f, x, "causal-tl") && y) ||
           (f == BIAS && g == SCORE && pairwise_has(&pairs, f, x, "slopes") && pairwise_has(&pairs, g, y, "alibi")) ||
           (f == PLACE && g == DIAGONAL && pair_layouts[x] == OFFSETS && y);
}

static void write_problem(unsigned index, char *text, size_t len)
{
    static const int order[] = { PLACE, WIDTH, MASK, WINDOW, SCORE, BIAS, SINK, DROPOUT, DIAGONAL };
    size_t n = (size_t)snprintf(text, len, "f64");
    n += pairwise_write(&pairs, &pairs.rows[index], order, sizeof order / sizeof *order, text + n, len - n);
    snprintf(text + n, len - n, " seed%u lse bwd", 5000 + index);
}

/* ---- Directions ---- */

/* Numbers of few bits, so that float inputs move exactly. */
static double at_random(const void *seed, size_t where)
{
    return (double)(trial_hash(*(const unsigned *)seed, 60, where) % 257) / 64 - 2;
}

static double by_itself(const void *place, size_t where)
{
    return where == *(const size_t *)place;
}

/* How far off a gradient may be along a direction: what differences leave out, and what rounding makes of them, as
 * part of all that is added up; and what storing it in float does. */
static int agrees(const struct differences_leaf *l, differences_direction along, const void *user,
                  const struct differences_sum *sum, double *most, char *why, size_t len)
{
    const double part = 1e-9, stored = l->type == CLATTN_F32 ? 0x1p-24 : 0;
    const int in_float = !strcmp(l->name, "dSlope") || !strcmp(l->name, "dSink");
    double got = 0, want = 0, size = 0;
    for (int64_t i = 0; i < l->n; i++) {
        const double r = l->where[i] == NOWHERE ? 0 : along(user, l->where[i]);
        got += r != 0 ? r * l->got[i] : 0;
        want += r != 0 ? r * l->want[i] : 0;
        size += r != 0 ? fabs(r * l->got[i]) : 0;
    }
    const double bound = part * sum->size + 8 * sum->noise, of_call = bound + (in_float ? stored * size : 0);
    const double error = fabs(want - sum->exact), error_of_call = fabs(got - sum->stored);
    *most = fmax(*most, fmax(error / (bound + DBL_MIN), error_of_call / (of_call + DBL_MIN)));
    if (error <= bound && error_of_call <= of_call)
        return 1;
    snprintf(why, len, "%s: differences say %.12g, the reference %.12g; %.12g with LSE as stored, the call %.12g; "
             "%.3g may be off", l->name, sum->exact, want, sum->stored, got, of_call);
    return 0;
}

/* What no call reads, and dropped cells of a bias. */
static int is_zero_elsewhere(const struct differences_leaf *l, char *why, size_t len)
{
    for (int64_t i = 0; i < l->n; i++)
        if (l->where[i] == NOWHERE && !(l->got[i] == 0 && l->want[i] == 0)) {
            snprintf(why, len, "%s[%lld] is %g, and %g in the reference, where nothing depends on it", l->name,
                     (long long)i, l->got[i], l->want[i]);
            return 0;
        }
    return 1;
}

/* An element that the loss depends on; NOWHERE: there is none. */
static size_t choose(const struct differences_leaf *l, unsigned seed)
{
    const int64_t from = l->n ? (int64_t)(trial_hash(seed, 61, 0) % (uint64_t)l->n) : 0;
    for (int64_t i = 0; i < l->n; i++) {
        const int64_t at = (from + i) % l->n;
        if (l->where[at] != NOWHERE && l->want[at] != 0)
            return l->where[at];
    }
    return NOWHERE;
}

static int check_leaf(struct differences *x, int i, unsigned seed, double *most, char *why, size_t len)
{
    const struct differences_leaf *const l = &x->leaf[i];
    const size_t place = choose(l, seed);
    struct differences_sum sum;
    cl_int e = differences_along(x, i, at_random, &seed, &sum);
    if (!e && !agrees(l, at_random, &seed, &sum, most, why, len))
        return 0;
    if (!e && place != NOWHERE && !(e = differences_along(x, i, by_itself, &place, &sum)) &&
        !agrees(l, by_itself, &place, &sum, most, why, len))
        return 0;
    if (e)
        harness_words(x->d->handle, e, why, len);
    return !e && is_zero_elsewhere(l, why, len);
}

/* ---- Running ---- */

static unsigned wanted_of(unsigned index)
{
    return 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | GRADED_OTHERS | GRADED_CAPTURED |
           (*pairwise_word(&pairs, &pairs.rows[index], DLSE) ? 1 << GRADED_DLSE : 0);
}

static void check(const struct device *d, unsigned index, const char *config)
{
    const enum layout layout = pair_layouts[pairs.rows[index].choice[PLACE]];
    const unsigned wanted = wanted_of(index);
    char text[512], why[1024] = "";
    struct differences x;
    double most = 0;
    write_problem(index, text, sizeof text);
    const clattn_workload c = each_case(text);
    if (harness_may_refuse(d, &c.problem, NULL)) {
        skip("%s lacks f64: %s", d->name, text);
        return;
    }
    cl_int e = differences_make(&x, d, &c, layout, wanted, why, sizeof why);
    const clattn_plan plan = e ? NULL : each_plan(d, config, &x.g.t.c.problem, text);
    if (e || plan) {
        int good = !e && differences_run(&x, plan, why, sizeof why);
        for (int i = 0; i < x.n && good; i++)
            good = check_leaf(&x, i, index * 16 + (unsigned)i, &most, why, sizeof why);
        if (!ok(good, "%s, row %u, %s, %s: %s%s (%.3f of what may be off)", d->name, index, config, layout_name(layout),
                text, wanted >> GRADED_DLSE & 1 ? ", dLSE" : "", most))
            diag("%s %s\nagain: tests/kernel/finite.t %u '%s'", e ? clattn_status_string(e) : "", why, index, config);
    }
    differences_free(&x);
}

/* How many words of a row are not yet seen; marks them as seen where `take` is set. */
static unsigned count_new(unsigned char seen[FACTORS][PAIRWISE_CHOICES], unsigned row, int take)
{
    unsigned n = 0;
    for (int f = 0; f < FACTORS; f++) {
        unsigned char *const word = &seen[f][pairs.rows[row].choice[f]];
        n += !*word;
        *word = *word || take;
    }
    return n;
}

/* Few items, which PoCL compiles sooner. */
static const char simt[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";

/* Rows with as many different words as so few can have. */
static void run_some(const struct device *d)
{
    enum { SOME = 2 };
    unsigned char seen[FACTORS][PAIRWISE_CHOICES] = { { 0 } };
    for (unsigned n = 0; n < SOME; n++) {
        unsigned best = 0;
        for (unsigned i = 0; i < pairs.n_rows; i++)
            if (count_new(seen, i, 0) > count_new(seen, best, 0))
                best = i;
        (void)count_new(seen, best, 1);
        check(d, best, "cpu");
    }
}

static void run(const struct device *d)
{
    for (unsigned i = 0; i < pairs.n_rows; i++) {
        if (harness_shares(i))
            check(d, i, "cpu");
        if (harness_shares(i) && (i % 5 == 0 || harness_flag("CLATTN_FULL")))
            check(d, i, simt);
    }
}

static char **arguments;
static void test(const struct device *d)
{
    if (arguments[1])
        check(d, (unsigned)(strtoul(arguments[1], NULL, 10) % pairs.n_rows), arguments[2] ? arguments[2] : "cpu");
    else if (harness_more())
        run(d);
    else
        run_some(d);
}

int main(int argc, char **argv)
{
    pairwise_make(&pairs);
    if (argc > 1 && !strcmp(argv[1], "--list"))
        return pairwise_list(&pairs, write_problem);
    /* PoCL's optimiser takes minutes for some of these kernels, whose formulas are what counts here. */
    harness_never_optimised();
    arguments = argv;
    diag("%u rows cover %u of %u pairs", pairs.n_rows, pairs.n_covered, pairs.n_pairs);
    ok(pairs.n_covered == pairs.n_pairs, "every pair that goes together is in some row");
    return each_device(test);
}
