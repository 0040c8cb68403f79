/* proven.c - what a search says of the best so far on a device on paper, and what is left of it when it is cancelled
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has half of the clocks, in half of the runs; CLATTN_PART=1: all. */
#include "config.h"

#include "bench/search/virtual.h"
#include "src/base/text.h"
#include "src/problem/workload.h"
#include "tests/lib/deals.h"
#include "tests/lib/tap.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct caps caps;
static clattn_problem problem;
static struct space space;
static struct config control;

/* A device on paper, what was told, and what is to go wrong. */
struct watch {
    struct device d;
    struct search_ops real, ops;
    char best[128], first[128];  /* the one that is said to be proven; the first that was */
    double ratio;
    int told, n_best, refused;   /* steps; of a new best; of one that is refused although it runs */
    char why[160];               /* what was told wrongly, or "" */
    int cancel_at;               /* the n-th step; 0: none */
    long cancel_run, runs;       /* the n-th call says that it was cancelled */
    int cancel_open, opens;      /* the n-th open does */
    bool fail_best, cancel_then; /* the first proven one fails at its next call; and then the search is cancelled */
};

static void print(char *to, size_t room, const struct config *c)
{
    struct text t = { to, room, 0 };
    tile_config_print(c, &t);
}

static double truth(const struct config *c)
{
    const struct entry *e = space_find(&space, c);
    return e && e->seconds > 0 ? e->seconds : (double)INFINITY;
}

static double truth_of(const char *text)
{
    struct config c;
    struct why why;
    return tile_config_read(&c, text, &caps, &problem, &why) ? (double)INFINITY : truth(&c);
}

static cl_int on_open(void *user, const struct config *c, struct why *why)
{
    struct watch *w = user;
    const cl_int e = w->real.open(&w->d, c, why);
    return ++w->opens == w->cancel_open ? why_set(why, CLATTN_ERROR_CANCELLED, "cancelled") : e;
}

static cl_int on_run(void *user, const struct config *c, double *seconds)
{
    struct watch *w = user;
    char text[128];
    const cl_int e = w->real.run(&w->d, c, seconds);
    print(text, sizeof text, c);
    if (++w->runs == w->cancel_run)
        return CLATTN_ERROR_CANCELLED;
    return w->fail_best && !strcmp(text, w->first) ? CL_OUT_OF_RESOURCES : e;
}

static void on_close(void *user, const struct config *c)
{
    struct watch *w = user;
    w->real.close(&w->d, c);
}

static double on_now(void *user)
{
    return ((struct watch *)user)->d.now;
}

static void blame(struct watch *w, const char *words)
{
    if (!w->why[0])
        snprintf(w->why, sizeof w->why, "step %d: %s", w->told, words);
}

static bool on_told(void *user, const clattn_progress *p)
{
    struct watch *w = user;
    char of_control[128];
    w->told++;
    print(of_control, sizeof of_control, &control);
    if (p->step == CLATTN_STEP_REFUSED ? *p->best && strcmp(p->best, w->best)
                                       : (p->step == CLATTN_STEP_BEST) != (strcmp(p->best, w->best) != 0))
        blame(w, "a new best without its step, or the step without one");
    if (p->step == CLATTN_STEP_BEST && strcmp(p->config, *p->best ? p->best : of_control))
        blame(w, "the step is about something else");
    if (*p->best ? !(p->best_ratio > 0 && p->best_ratio <= 0.97) : p->best_ratio < 0 || p->best_ratio > 0)
        blame(w, "its ratio");
    if (!strcmp(p->best, of_control))
        blame(w, "the control");
    w->refused += p->step == CLATTN_STEP_REFUSED && isfinite(truth_of(p->config));
    if (w->fail_best && w->refused && *p->best && !strcmp(p->best, w->first))
        blame(w, "one that has failed");
    w->n_best += p->step == CLATTN_STEP_BEST;
    snprintf(w->best, sizeof w->best, "%s", p->best);
    if (*w->best && !*w->first)
        snprintf(w->first, sizeof w->first, "%s", w->best);
    w->ratio = p->best_ratio;
    return w->told != w->cancel_at && !(w->cancel_then && w->refused);
}

static void watch_init(struct watch *w, enum clock clock, uint64_t seed)
{
    memset(w, 0, sizeof *w);
    device_init(&w->d, &w->real, &space, clock, 300, seed);
    w->ops = (struct search_ops){ w, on_open, on_run, on_close, on_now, on_told, NULL };
}

static struct search_result run(struct watch *w, int effort, bool keep)
{
    const struct search_options options = { effort, 60, "class", control, NULL, 0, 0, keep };
    struct search_result r;
    search_run(&r, &w->ops, &options, &caps, &problem);
    return r;
}

/* ---- What is told ---- */

static void test_clock(enum clock clock, int most_slower)
{
    const int runs = harness_more() ? 24 : 12;
    int told = 0, slower = 0, wrong = 0, other = 0;
    char why[160] = "";
    for (int i = 0; i < runs; i++) {
        struct watch w;
        char text[128];
        watch_init(&w, clock, (uint64_t)i * 7919 + clock);
        const struct search_result r = run(&w, CLATTN_TUNE_FULL, i % 2);
        print(text, sizeof text, &r.best);
        told += w.n_best;
        slower += *w.first && truth_of(w.first) > 1.01 * truth(&control);
        other += strcmp(*w.best ? w.best : "", tile_is_same(&r.best, &control) ? "" : text) != 0;
        wrong += *w.why || r.kept || w.d.opens != w.d.closes;
        if (*w.why)
            snprintf(why, sizeof why, "%s", w.why);
    }
    ok(!wrong && !other, "%s: %d told, %d runs told wrongly, %d end with something else (%s)", clock_name(clock), told,
       wrong, other, why);
    ok(told > 0 && slower <= most_slower, "%s: the first that is told is slower than the control in %d of %d",
       clock_name(clock), slower, runs);
}

/* On an exact clock one that is told is 3 % faster than the one before. */
static void test_steps(void)
{
    struct watch w;
    watch_init(&w, CLOCK_EXACT, 1);
    const struct search_result r = run(&w, CLATTN_TUNE_FULL, false);
    ok(w.n_best > 0 && w.n_best <= (int)(log(truth(&r.best) / truth(&control)) / log(0.97)) + 1,
       "%d are told on the way to %.3g of the control's time", w.n_best, truth(&r.best) / truth(&control));
    ok(fabs(w.ratio - truth(&r.best) / truth(&control)) < 1e-9, "and the last ratio is that");
}

/* ---- What is kept ---- */

static void test_cancelled(enum clock clock)
{
    int n = 0, kept = 0, bad = 0;
    for (int at = 1; at < 260; at += 3, n++) {
        struct watch w;
        char text[128], of_control[128];
        watch_init(&w, clock, 11);
        w.cancel_at = at;
        const struct search_result r = run(&w, CLATTN_TUNE_FULL, true);
        print(text, sizeof text, &r.best);
        print(of_control, sizeof of_control, &control);
        if (w.told < at) /* it was over before */
            continue;
        kept += r.kept;
        bad += r.kept != (*w.best != '\0') || r.kept == r.cancelled || w.d.opens != w.d.closes || *w.why;
        bad += r.kept && (strcmp(text, w.best) || !r.measured || r.noisy || r.rounds < 5 ||
                          !(r.seconds < r.control_seconds) || fabs(r.seconds / r.control_seconds - w.ratio) > 1e-9 ||
                          r.mad > 0.2 * r.seconds);
        watch_init(&w, clock, 11);
        w.cancel_at = at;
        const struct search_result none = run(&w, CLATTN_TUNE_FULL, false);
        bad += !none.cancelled || none.kept;
    }
    ok(!bad && kept > n / 4 && kept < n, "%s: cancelled at the n-th step: %d of %d are kept as told, %d are wrong",
       clock_name(clock), kept, n, bad);
}

/* The first one that is proven fails afterwards: it is neither told any more nor kept. */
static void test_failed(void)
{
    struct watch w;
    char text[128];
    watch_init(&w, CLOCK_EXACT, 1);
    w.fail_best = true;
    struct search_result r = run(&w, CLATTN_TUNE_FULL, true);
    print(text, sizeof text, &r.best);
    ok(*w.first && w.refused == 1 && strcmp(text, w.first) && strcmp(w.best, w.first) && !*w.why,
       "%s was proven and fails: it does not win (%s)", w.first, w.why);
    watch_init(&w, CLOCK_EXACT, 1);
    w.fail_best = w.cancel_then = true;
    r = run(&w, CLATTN_TUNE_FULL, true);
    print(text, sizeof text, &r.best);
    ok(w.refused == 1 && (!r.kept || strcmp(text, w.first)), "nor is it kept when the search is cancelled then");
}

/* Who measures says that it was cancelled: nobody is refused for that, the control neither. */
static void test_said(void)
{
    int bad = 0, kept = 0, n = 0;
    for (int at = 1; at < 500; at += 7, n++) {
        struct watch w;
        watch_init(&w, CLOCK_EXACT, 3);
        w.cancel_run = at;
        const struct search_result r = run(&w, CLATTN_TUNE_FULL, true);
        if (w.runs < at)
            break;
        kept += r.kept;
        bad += w.runs > at || w.refused || r.kept != (*w.best != '\0') || r.kept == r.cancelled ||
               r.all_refused || w.d.opens != w.d.closes;
    }
    ok(!bad && n > 20 && kept > n / 4, "a call says that it was cancelled: %d of %d keep something, %d are wrong", kept,
       n, bad);
    bad = n = 0;
    for (int at = 1; at < 40; at += 3, n++) {
        struct watch w;
        watch_init(&w, CLOCK_EXACT, 3);
        w.cancel_open = at;
        const struct search_result r = run(&w, CLATTN_TUNE_FULL, true);
        bad += w.opens > at || w.refused || r.kept != (*w.best != '\0') || r.kept == r.cancelled ||
               w.d.opens != w.d.closes;
    }
    ok(!bad, "so does an open: %d of %d are wrong", bad, n);
}

int main(void)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    caps_generic(&caps);
    caps.kind = CAPS_CPU;
    caps.float_width = 16;
    if (workload_parse(&c, "f32 b1 h8 q1024 k1024 d64", &why) || problem_read(&problem, &c.problem, &why) ||
        !space_make(&space, &caps, &problem, 5) || !tile_config_at(&control, &caps, &problem, NULL, 0))
        bail("no space");
    static const struct {
        enum clock clock;
        int most_slower;
    } clocks[] = { { CLOCK_EXACT, 0 },   { CLOCK_OUTLIER, 0 }, { CLOCK_NOISE, 0 },
                   { CLOCK_FLICKER, 1 }, { CLOCK_LOAD, 1 },    { CLOCK_BIMODAL, 1 } };
    for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++)
        if (harness_deals(i, 2))
            test_clock(clocks[i].clock, clocks[i].most_slower);
    test_steps();
    test_cancelled(CLOCK_EXACT);
    if (harness_turn(6, 0))
        test_cancelled(CLOCK_NOISE);
    test_failed();
    test_said();
    free(space.at);
    return done_testing();
}
