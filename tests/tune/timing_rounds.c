/* timing_rounds.c - the half of the search that measures: noise, what is better, who stays, how long it takes
 * SPDX-License-Identifier: Apache-2.0
 *
 * The rules are those of timing_rounds.h and of clattn-tune(1); times are made up, and no clock is read. */
#include "config.h"

#include "src/tune/timing_rounds.h"
#include "tests/lib/tap.h"

#include <math.h>

/* ---- A race on paper ---- */

/* What a configuration's calls take, one after another; the last one for ever. `bad`: its n-th call fails, from 1. */
struct runner {
    double times[64];
    int n_times, bad, runs, opens, closes;
    cl_int open_status;
};

enum { RUNNERS = 16 };
static struct paper {
    struct runner runners[RUNNERS];
    int order[4096], n_order; /* who ran */
    double now;
    clattn_progress last;
    int told, cancel_at;
} paper;

static struct search_options options;
static struct search_result result;
static struct entrant entrants[RUNNERS];
static struct timing_rounds race;

static struct runner *runner_of(const struct config *c)
{
    return &paper.runners[c->tile.n[0]];
}

static cl_int on_open(void *user, const struct config *c, struct why *why)
{
    struct runner *const r = runner_of(c);
    (void)user;
    r->opens++;
    return r->open_status ? why_set(why, r->open_status, "no") : CL_SUCCESS;
}

static cl_int on_run(void *user, const struct config *c, double *seconds)
{
    struct runner *const r = runner_of(c);
    (void)user;
    *seconds = r->times[r->runs < r->n_times ? r->runs : r->n_times - 1];
    r->runs++;
    if (paper.n_order < (int)(sizeof paper.order / sizeof *paper.order))
        paper.order[paper.n_order++] = c->tile.n[0];
    if (isfinite(*seconds) && *seconds > 0)
        paper.now += *seconds;
    return r->runs == r->bad ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
}

static void on_close(void *user, const struct config *c)
{
    (void)user;
    runner_of(c)->closes++;
}

static double on_now(void *user)
{
    (void)user;
    return paper.now;
}

static bool on_told(void *user, const clattn_progress *p)
{
    (void)user;
    paper.last = *p;
    return ++paper.told != paper.cancel_at;
}

static const struct search_ops ops = { NULL, on_open, on_run, on_close, on_now, on_told, NULL };

/* A race of n that take 1 s each, the first being the control; nothing is open yet. */
static void fresh(int n)
{
    memset(&paper, 0, sizeof paper);
    memset(entrants, 0, sizeof entrants);
    memset(&result, 0, sizeof result);
    options = (struct search_options){ .seconds = 0 };
    race = (struct timing_rounds){ .ops = &ops, .o = &options, .out = &result, .at = entrants, .count = n };
    for (int i = 0; i < n; i++) {
        entrants[i].config.engine = engine_find("naive", 5);
        entrants[i].config.tile.n[0] = i;
        paper.runners[i].times[0] = 1;
        paper.runners[i].n_times = 1;
    }
}

static void start(int n)
{
    fresh(n);
    for (int i = 0; i < n; i++)
        timing_rounds_open(&race, &entrants[i]);
}

/* A control whose calls took so long. */
static struct entrant timed(const double *seconds, int n)
{
    struct entrant e = { .state = ENTRANT_OPEN, .ran = true, .n = n };
    for (int i = 0; i < n; i++)
        e.seconds[i] = seconds[i];
    return e;
}

/* ---- What is noise ---- */

/* Of `n` calls every other one is off by `part` of the time, up and down in turn, so that the deviations' median is
 * that. */
static struct entrant shaken(int n, double part)
{
    double seconds[SAMPLES];
    for (int i = 0; i < n; i++)
        seconds[i] = 1 + (i % 4 == 1 ? part : i % 4 == 3 ? -part : i % 4 == 0 ? part / 2 : 0);
    return timed(seconds, n);
}

static void test_scatter(void)
{
    struct entrant e;
    double alternating[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        alternating[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 1.049 : 0.951;
    e = timed(alternating, SAMPLES);
    ok(!timing_rounds_is_noisy(&e), "a median deviation of 4.9 %% is quiet");
    for (int i = 0; i < SAMPLES; i++)
        alternating[i] = i % 3 == 0 ? 1 : i % 3 == 1 ? 1.051 : 0.949;
    e = timed(alternating, SAMPLES);
    ok(timing_rounds_is_noisy(&e), "5.1 %% is noisy");
    e = shaken(SAMPLES, 0.09);
    ok(!timing_rounds_is_noisy(&e), "less than half of the calls that are further off do not count");
    for (int i = 0; i < SAMPLES; i++) /* the same in hours, so that it is a part and no time */
        alternating[i] *= 3600;
    e = timed(alternating, SAMPLES);
    ok(timing_rounds_is_noisy(&e), "in any unit");
}

/* A speed that changes half-way: nothing scatters, and the first half is no guide to the second. */
static void test_change(double factor, int n, int noisy)
{
    double seconds[SAMPLES];
    for (int i = 0; i < n; i++)
        seconds[i] = i < n / 2 ? 1 : factor;
    struct entrant e = timed(seconds, n);
    is_int(timing_rounds_is_noisy(&e), noisy, "%d calls, from the middle on in %g of the time", n, factor);
}

/* The two ends of what was timed are compared without their extremes. */
static void test_outliers(void)
{
    double seconds[SAMPLES];
    for (int i = 0; i < SAMPLES; i++)
        seconds[i] = 1;
    seconds[40] = 100;
    struct entrant e = timed(seconds, SAMPLES);
    ok(!timing_rounds_is_noisy(&e), "one call of a hundred times the time is lost, and no noise");
    seconds[41] = 100;
    e = timed(seconds, SAMPLES);
    ok(timing_rounds_is_noisy(&e), "two in one half are");
    seconds[40] = 0.01;
    e = timed(seconds, SAMPLES);
    ok(!timing_rounds_is_noisy(&e), "the shortest of each half is left out as well");
    for (int i = 0; i < SAMPLES; i++)
        seconds[i] = i == SAMPLES / 2 || i == 50 ? 100 : 1;
    e = timed(seconds, SAMPLES);
    ok(!timing_rounds_is_noisy(&e), "of an odd number the middle one is in neither half");
    seconds[0] = seconds[1] = seconds[2] = seconds[3] = seconds[4] = 1;
    seconds[5] = 100;
    e = timed(seconds, 6);
    ok(!timing_rounds_is_noisy(&e), "extremes are left out of halves of three as well");
}

/* ---- What is better ---- */

/* `won` of `rounds` are won by far, the others lost by far; each round's median is what its passes say. */
static int beats(int rounds, int passes, int won, double score)
{
    struct entrant e = { .n = rounds * passes, .score = score };
    for (int i = 0; i < rounds; i++)
        for (int k = 0; k < passes; k++)
            e.ratio[i * passes + k] = (i < won) == (k <= passes / 2) ? 0.5 : 2;
    return timing_rounds_beats(&e, passes);
}

static void test_beats(void)
{
    static const struct {
        int rounds, most_lost;
    } rows[] = { { 1, -1 }, { 4, -1 }, { 5, 0 }, { 8, 0 }, { 9, 1 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int passes = 1; passes <= PASSES_MAX; passes += 2)
            for (int lost = 0; lost <= rows[i].rounds && lost < 4; lost++)
                is_int(beats(rows[i].rounds, passes, rows[i].rounds - lost, 0.9), lost <= rows[i].most_lost,
                       "%d rounds of %d, %d of them lost", rows[i].rounds, passes, lost);
    ok(beats(9, 3, 9, 0.97) && !beats(9, 3, 9, 0.9701), "by 3 %% at least");
    struct entrant even = { .n = 9, .score = 0.9 };
    for (int i = 0; i < 9; i++)
        even.ratio[i] = i < 8 ? 0.5 : 1;
    ok(timing_rounds_beats(&even, 1), "a round that is even is a lost one: one may be");
    even.ratio[0] = 1;
    ok(!timing_rounds_beats(&even, 1), "two may not");
}

static void test_decided(void)
{
    struct entrant e = { .n = 0 };
    for (int passes = 1; passes <= PASSES_MAX; passes += 2) {
        e.n = 5 * passes - 1;
        const int before = timing_rounds_is_decided(&e, passes);
        e.n = 5 * passes;
        ok(!before && timing_rounds_is_decided(&e, passes), "five rounds of %d decide", passes);
    }
}

static void test_median(void)
{
    static const double odd[] = { 5, 1, 3 }, even[] = { 4, 1, 3, 2 }, one[] = { 7 };
    ok(timing_rounds_median(odd, 3) == 3 && timing_rounds_median(even, 4) == 2 && timing_rounds_median(one, 1) == 7 &&
           timing_rounds_median(even, 2) == 1,
       "medians, the lower one of two");
}

/* ---- First calls ---- */

static void set_times(int i, int n, ...)
{
    va_list ap;
    va_start(ap, n);
    for (int k = 0; k < n; k++)
        paper.runners[i].times[k] = va_arg(ap, double);
    va_end(ap);
    paper.runners[i].n_times = n;
}

static void test_first_calls(void)
{
    start(3);
    set_times(1, 2, 50.0, 0.5);
    set_times(2, 4, 0.1, 2.0, 3.0, 4.0);
    timing_rounds_round(&race);
    ok(!entrants[0].n && !entrants[1].n && !entrants[2].n && !entrants[1].score && !race.compared && race.rounds == 1,
       "the first call of each counts for nothing");
    ok(entrants[1].first == 50 && entrants[2].first == 0.1, "but is known");
    is_int(entrants[1].state, ENTRANT_OPEN, "a slow first call does not put it out");
    timing_rounds_round(&race);
    ok(entrants[0].n == 1 && entrants[1].n == 1 && entrants[1].score == 0.5 && entrants[2].score == 2 && race.compared,
       "the second one does");
    timing_rounds_round(&race);
    ok(entrants[1].n == 2 && entrants[2].score == 2, "of two the lower one");
    timing_rounds_round(&race);
    ok(entrants[2].n == 3 && entrants[2].score == 3, "then the middle");
    ok(timing_rounds_best(&race) == &entrants[1] && timing_rounds_round_seconds(&race) == 1 + 0.5 + 3,
       "a round takes their medians");
    ok(paper.last.step == CLATTN_STEP_ROUND && paper.last.round == 4 && paper.last.ratio == 0.5 &&
           paper.last.opened == 3,
       "of which somebody is told");
    start(2);
    timing_rounds_round(&race);
    ok(!race.compared && (timing_rounds_round(&race), race.compared),
       "a race with its control alone at first compares nothing");
    start(1);
    timing_rounds_round(&race);
    timing_rounds_round(&race);
    ok(entrants[0].n == 1 && !race.compared, "and a control alone never does");
}

static void test_hopeless(void)
{
    static const struct {
        double first, later;
        int out;
    } rows[] = { { 4.1, 4.1, 1 }, { 4.0, 4.1, 0 }, { 4.1, 4.0, 0 }, { 3.9, 100, 0 }, { 100, 3.9, 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start(2);
        set_times(0, 1, 0.5);
        set_times(1, 2, rows[i].first / 2, rows[i].later / 2);
        timing_rounds_round(&race);
        const int open = entrants[1].state == ENTRANT_OPEN;
        timing_rounds_round(&race);
        ok(open && (entrants[1].state == ENTRANT_CLOSED) == rows[i].out && paper.runners[1].closes == rows[i].out,
           "%g and then %g times the control's time: %s", rows[i].first, rows[i].later, rows[i].out ? "out" : "stays");
    }
}

/* More calls than are kept: the last ones are. */
static void test_kept_samples(void)
{
    start(2);
    set_times(1, 3, 9.0, 2.0, 0.5);
    for (int i = 0; i < 2 + SAMPLES; i++)
        timing_rounds_round(&race);
    int twos = 0;
    for (int i = 0; i < SAMPLES; i++)
        twos += entrants[1].ratio[i] == 2 || entrants[1].seconds[i] == 2;
    ok(timing_rounds_samples(&entrants[1]) == SAMPLES && entrants[1].n == SAMPLES + 1 && !twos,
       "the last %d calls are kept", (int)SAMPLES);
}

/* ---- Order ---- */

static void test_turns(void)
{
    int first[3] = { 0, 0, 0 }, each[3] = { 0, 0, 0 };
    start(3);
    for (int i = 0; i < 3; i++)
        timing_rounds_round(&race);
    for (int i = 0; i < paper.n_order; i++)
        each[paper.order[i]]++;
    for (int i = 0; i < 9; i += 3)
        first[paper.order[i]]++;
    ok(paper.n_order == 9 && each[0] == 3 && each[1] == 3 && each[2] == 3, "everything open runs once a round");
    ok(first[0] == 1 && first[1] == 1 && first[2] == 1, "and another one first each time");
}

/* The control's time of the same round is what a ratio is of, wherever it ran. */
static void test_base(void)
{
    start(2);
    set_times(0, 4, 1.0, 2.0, 4.0, 8.0);
    set_times(1, 4, 1.0, 1.0, 1.0, 1.0);
    for (int i = 0; i < 4; i++)
        timing_rounds_round(&race);
    ok(entrants[1].ratio[0] == 0.5 && entrants[1].ratio[1] == 0.25 && entrants[1].ratio[2] == 0.125,
       "ratios are to the control in the same round");
    fresh(2);
    timing_rounds_open(&race, &entrants[1]);
    timing_rounds_open(&race, &entrants[0]);
    set_times(0, 1, 3.0);
    set_times(1, 1, 2.0);
    for (int i = 0; i < 3; i++)
        timing_rounds_round(&race);
    ok(race.control == &entrants[1] && entrants[0].ratio[0] == 1.5 && entrants[0].ratio[1] == 1.5 &&
           entrants[1].ratio[0] == 1,
       "whichever that is");
}

/* ---- Who stays ---- */

static int keep(const double *scores, int n, int most, char *left)
{
    int count = 0;
    start(n);
    for (int i = 1; i < n; i++)
        entrants[i].score = scores[i];
    timing_rounds_keep(&race, most);
    for (int i = 0; i < n; i++)
        if (entrants[i].state == ENTRANT_OPEN)
            left[count++] = (char)('0' + i);
    left[count] = '\0';
    return count;
}

static void test_keep(void)
{
    static const double scores[] = { 0, 0.9, 0.5, 0.7, 0, 0.5, 1.2 };
    static const char *const want[] = { "0", "02", "025", "0235", "01235", "012356", "012356" };
    char left[RUNNERS];
    for (int n = 0; n < 7; n++) {
        keep(scores, 7, n, left);
        is_str(left, want[n], "the best %d and the control", n);
    }
    start(4);
    for (int i = 0; i < 4; i++)
        entrants[i].score = 1 - 0.1 * i;
    entrants[0].score = 0.1; /* the control takes nobody's place */
    timing_rounds_keep(&race, 1);
    ok(entrants[0].state == ENTRANT_OPEN && entrants[3].state == ENTRANT_OPEN && entrants[2].state == ENTRANT_CLOSED &&
           paper.runners[2].closes == 1,
       "the control is not counted");
}

static void test_list(void)
{
    struct entrant *list[OPEN_MAX];
    start(RUNNERS);
    is_int(timing_rounds_list(&race, list), OPEN_MAX, "as many as may be open");
    entrants[1].state = ENTRANT_CLOSED;
    ok(timing_rounds_list(&race, list) == OPEN_MAX && list[1] == &entrants[2], "without what is closed");
}

static void test_best(void)
{
    start(4);
    ok(timing_rounds_best(&race) == &entrants[0], "the control, where nothing is known");
    entrants[2].score = 0.8;
    entrants[3].score = 0.8;
    ok(timing_rounds_best(&race) == &entrants[0], "and where its own score is not");
    entrants[0].score = 1;
    ok(timing_rounds_best(&race) == &entrants[2], "the first one of the best");
    entrants[2].score = 0;
    ok(timing_rounds_best(&race) == &entrants[3], "what has no score is not");
    race.control = NULL;
    ok(!timing_rounds_best(&race), "nothing runs: none");
}

/* ---- Failures ---- */

static void test_failures(void)
{
    start(3);
    set_times(1, 4, 1.0, 0.5, 0.5, 0.5);
    paper.runners[0].bad = 3;
    timing_rounds_round(&race);
    timing_rounds_round(&race);
    ok(entrants[1].score == 0.5, "before");
    timing_rounds_round(&race);
    ok(race.control == &entrants[1] && entrants[0].state == ENTRANT_OUT && paper.runners[0].closes == 1 &&
           result.refused == 1,
       "a control that fails gives its place to the first that is open");
    ok(!entrants[1].n && !entrants[1].score && !entrants[2].n && !entrants[2].score && race.rounds == 2,
       "and what was compared with it is void");
    timing_rounds_round(&race);
    ok(entrants[1].n == 1 && entrants[1].score == 1 && race.rounds == 3, "the race goes on");

    start(3);
    paper.runners[1].bad = 2;
    timing_rounds_round(&race);
    timing_rounds_round(&race);
    ok(race.control == &entrants[0] && entrants[1].state == ENTRANT_OUT && entrants[2].n == 1 && race.rounds == 2,
       "one that fails is out, the others' round counts");
    start(2);
    set_times(1, 1, 0.5);
    paper.runners[1].bad = 3;
    for (int i = 0; i < 3; i++)
        timing_rounds_round(&race);
    ok(entrants[1].n == 1 && !entrants[1].score && timing_rounds_best(&race) == &entrants[0],
       "and has no score any more");

    start(1);
    paper.runners[0].bad = 1;
    timing_rounds_round(&race);
    ok(!race.control && timing_rounds_is_over(&race) && !timing_rounds_best(&race) && !race.ran,
       "nothing left: it is over");
    start(1);
    timing_rounds_round(&race);
    ok(race.ran, "a call that came to its end is known");

    start(2);
    set_times(0, 1, NAN);
    timing_rounds_round(&race);
    ok(race.untimed && race.control == &entrants[0] && timing_rounds_is_over(&race) && result.refused == 1 && !race.ran,
       "a control whose times cannot be told stays what is used");
    fresh(2);
    paper.runners[0].open_status = CLATTN_ERROR_BUILD;
    timing_rounds_open(&race, &entrants[0]);
    ok(!race.control && entrants[0].state == ENTRANT_OUT && result.trials == 1 && result.refused == 1 &&
           paper.runners[0].closes == 1 && paper.last.step == CLATTN_STEP_REFUSED,
       "one that does not open is closed and out");
    timing_rounds_open(&race, &entrants[1]);
    ok(race.control == &entrants[1] && tile_is_same(&result.best, &entrants[1].config),
       "the first that opens is the control");
}

static void test_cancel(void)
{
    fresh(2);
    paper.cancel_at = 1;
    timing_rounds_open(&race, &entrants[0]);
    ok(result.cancelled && !paper.runners[0].opens && !result.trials && timing_rounds_is_over(&race),
       "cancelled before it opens");
    timing_rounds_tell(&race, CLATTN_STEP_DONE, &entrants[0].config, "");
    is_int(paper.told, 1, "nobody is told anything after that");
}

/* ---- Time ---- */

static void test_limit(void)
{
    start(1);
    ok(!timing_rounds_used(&race, 0) && !timing_rounds_used(&race, 1), "no limit is never reached");
    options.seconds = 8;
    paper.now = 3.9;
    ok(!timing_rounds_used(&race, 0.5) && !timing_rounds_is_over(&race), "less than half of it");
    paper.now = 4;
    ok(timing_rounds_used(&race, 0.5) && !timing_rounds_used(&race, 0.75), "half of it");
    paper.now = 8;
    ok(timing_rounds_used(&race, 1) && timing_rounds_is_over(&race), "all of it");
    race.began = -3;
    paper.now = 5;
    ok(timing_rounds_used(&race, 1) && timing_rounds_elapsed(&race) == 8, "since it began");
    paper.now = NAN;
    ok(timing_rounds_is_over(&race), "a clock that tells nothing ends it");
    /* it is looked at before each call */
    start(3);
    options.seconds = 1.5;
    timing_rounds_round(&race);
    ok(paper.n_order == 2 && !race.rounds && !entrants[0].ran, "a round that time ends counts for nothing");
}

/* Calls of the control until three in a row differ by 3 % at most, or 150 ms are over, or 32 of them. */
static void test_warm_up(void)
{
    static const struct {
        double times[6];
        int n, calls;
        const char *what;
    } rows[] = { { { 1e-3 }, 1, 3, "three that agree" },
                 { { 1e-3, 1e-3, 1.02e-3 }, 3, 3, "within 3 %" },
                 { { 1e-3, 1e-3, 1.04e-3, 1.04e-3 }, 4, 5, "not within" },
                 { { 9e-3, 1e-3, 1e-3 }, 3, 4, "a cold first one" },
                 { { 1e-3, 1.04e-3, 1e-3 }, 3, 5, "the middle one of three" },
                 { { 1e-3, 2e-3, 4e-3, 8e-3, 16e-3, 16e-3 }, 6, 7, "ever slower" },
                 { { 0.149, 2e-3 }, 2, 2, "150 ms" },
                 { { 0.140, 2e-3, 1e-3, 1e-3 }, 4, 5, "not 150 ms" },
                 { { 0.2 }, 1, 1, "one call of 200 ms" } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        start(2);
        memcpy(paper.runners[0].times, rows[i].times, sizeof rows[i].times);
        paper.runners[0].n_times = rows[i].n;
        timing_rounds_warm_up(&race);
        is_int(paper.runners[0].runs, rows[i].calls, "%s: warm", rows[i].what);
        ok(!paper.runners[1].runs && !entrants[0].n && !entrants[0].ran, "nothing of it counts");
    }
    start(1);
    for (int i = 0; i < 64; i++)
        paper.runners[0].times[i] = i % 2 ? 1e-3 : 2e-3;
    paper.runners[0].n_times = 64;
    timing_rounds_warm_up(&race);
    is_int(paper.runners[0].runs, 32, "times that never agree end it");
    start(2);
    paper.runners[0].bad = 1;
    timing_rounds_warm_up(&race);
    ok(paper.runners[0].runs == 1 && !paper.runners[1].runs && race.control == &entrants[1], "a call that fails too");
    start(1);
    options.seconds = 1;
    paper.now = 2;
    timing_rounds_warm_up(&race);
    is_int(paper.runners[0].runs, 0, "and so does a limit that is over");
}

int main(void)
{
    test_scatter();
    test_change(1.11, SAMPLES, 0); /* of 1.11, which is the median */
    test_change(1.12, SAMPLES, 1);
    test_change(0.91, SAMPLES, 0);
    test_change(0.89, SAMPLES, 1);
    test_change(1.09, 18, 0);
    test_change(1.11, 18, 1);
    test_outliers();
    test_beats();
    test_decided();
    test_median();
    test_first_calls();
    test_hopeless();
    test_kept_samples();
    test_turns();
    test_base();
    test_keep();
    test_list();
    test_best();
    test_failures();
    test_cancel();
    test_limit();
    test_warm_up();
    return done_testing();
}
