/* tune_call.c - clattn_tune(): what it searches, tells, keeps and refuses, mostly on made-up times
 * SPDX-License-Identifier: Apache-2.0
 *
 * CLATTN_PART: the searches and crashes that make check has some of, and every call that may cancel a search. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/fake_measure.h"
#include "tests/lib/unsaved.h"

#include <math.h>
#include <stddef.h>

static const char text[] = "f32 b1 h1 q9 k20 d8 causal lse";
enum { QUICK = CLATTN_TUNE_QUICK, FULL = CLATTN_TUNE_FULL, SEEDS = 6, CANCELS = 200 };

/* A handle with a directory of its own. */
struct place {
    const struct device *d;
    clattn_problem p;
    char dir[NEST_PATH];
    clattn_handle h;
};

static void reopen(struct place *x)
{
    clattn_release(x->h);
    x->h = cache_fixture_handle(x->d, CLATTN_TUNE_OFF, x->dir);
}

static struct place open_place(const struct device *d)
{
    struct place x = { .d = d, .p = each_case(text).problem };
    cache_fixture_make(x.dir);
    reopen(&x);
    return x;
}

static void close_place(struct place *x)
{
    clattn_release(x->h);
    cache_fixture_remove(x->dir);
}

static int records(const struct place *x)
{
    return cache_fixture_each(x->dir, "tune", NULL, NULL);
}

static cl_int tune(struct place *x, struct pretend *p, int effort, char config[128])
{
    const clattn_measure measure = pretend_measure(p);
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    o.effort = effort;
    o.seconds = 60; /* made-up times take none: time shall not decide */
    o.measure = &measure;
    snprintf(config, 128, "untouched");
    return clattn_tune(x->h, &x->p, &o, config, 128);
}

/* ---- What wins ---- */

static const struct pretend_config *fastest(const struct pretend *p)
{
    const struct pretend_config *best = &p->seen[0];
    for (int i = 1; i < p->n; i++)
        if (pretend_seconds(p, p->seen[i].name) < pretend_seconds(p, best->name))
            best = &p->seen[i];
    return best;
}

/* Where times never vary, the fastest of all that were tried, if it is 3 % better than the table's choice. */
static void test_winner(struct place *x, int effort, unsigned seed)
{
    struct pretend p = { .seed = seed };
    char config[128], first[128];
    clattn_config_at(x->h, &x->p, 0, first, sizeof first);
    const cl_int e = tune(x, &p, effort, config);
    if (!ok(!e && p.n >= 2, "effort %d, times %u: %d configurations (%s)", effort, seed, p.n, clattn_status_string(e)))
        return;
    const char *want = fastest(&p)->name;
    if (pretend_seconds(&p, want) > 0.97 * pretend_seconds(&p, first))
        want = first;
    is_str(config, want, "effort %d, times %u: the fastest wins", effort, seed);
    ok(pretend_is_over(&p) && pretend_find(&p, first), "effort %d, times %u: every open has its close, and the table's "
                                                       "choice takes part (%s)", effort, seed, p.why);
    pretend_forget(&p);
}

/* A record that is as good as the table's choice is not worth a change. */
static void test_close_race(struct place *x)
{
    struct pretend p = { .odd_seconds = 0.985e-3 };
    char first[128], second[128], config[128];
    clattn_config_at(x->h, &x->p, 0, first, sizeof first);
    clattn_config_at(x->h, &x->p, 1, second, sizeof second);
    for (unsigned seed = 1; seed < 100000 && !(pretend_seconds(&p, first) < 1.001e-3); seed++)
        p.seed = seed;
    p.odd = second;
    p.odd_seconds = 0.985 * pretend_seconds(&p, first);
    is_int(tune(x, &p, QUICK, config), CL_SUCCESS, "%s is 1.5 %% faster", second);
    is_str(config, first, "that is not enough");
    pretend_forget(&p);
}

static void test_winners(const struct device *d)
{
    struct place x = open_place(d);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        if (!harness_deals(seed, 3))
            continue;
        reopen(&x);
        clattn_wisdom_forget(x.h, NULL);
        test_winner(&x, seed % 2 ? FULL : QUICK, seed);
        is_int(records(&x), 1, "and is recorded");
    }
    clattn_wisdom_forget(x.h, NULL);
    reopen(&x);
    test_close_race(&x);
    close_place(&x);
}

/* As many as there are; the favourite is the table's second, so that nothing unusual is built in the end. */
static void test_exhaustive(const struct device *d)
{
    struct place x = open_place(d);
    char second[128], config[128];
    clattn_config_at(x.h, &x.p, 1, second, sizeof second);
    struct pretend full = { .favourite = second }, all = { .favourite = second };
    const cl_int e = tune(&x, &full, FULL, config);
    const cl_int again = tune(&x, &all, CLATTN_TUNE_EXHAUSTIVE, config);
    ok(!e && !again && all.n > full.n && !strcmp(config, second), "exhaustive: %d configurations, full: %d", all.n,
       full.n);
    ok(pretend_is_over(&full) && pretend_is_over(&all), "every open has its close (%s%s)", full.why, all.why);
    pretend_forget(&full);
    pretend_forget(&all);
    close_place(&x);
}

/* ---- What does not ---- */

/* The table's index-th configuration is odd, and would be the fastest by far. */
static void test_odd(const struct device *d, size_t index, const struct pretend *how, const char *what)
{
    struct place x = open_place(d);
    struct pretend p = *how;
    char odd[128], config[128];
    clattn_config_at(x.h, &x.p, index, odd, sizeof odd);
    p.odd = odd;
    p.favourite = odd;
    const cl_int e = tune(&x, &p, QUICK, config);
    ok(!e && strcmp(config, odd), "%s of %s: it does not win, %s does (%s)", what,
       index ? "another one" : "the table's choice", config, clattn_status_string(e));
    const struct pretend_config *seen = pretend_find(&p, odd);
    ok(seen && seen->opens == 1 && pretend_is_over(&p), "%s: it was tried once, every open has its close (%s)", what,
       p.why);
    if (how->open_status)
        ok(seen && !seen->runs, "%s: it was not run", what);
    pretend_forget(&p);
    close_place(&x);
}

static void test_odd_times(const struct device *d)
{
    const double times[] = { (double)NAN, 0, -1e-9, -(double)INFINITY };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        const struct pretend p = { .odd_seconds = times[i], .odd_time = 1 };
        char what[64];
        snprintf(what, sizeof what, "times of %g s", times[i]);
        test_odd(d, 1, &p, what);
    }
}

/* Nothing can be measured: an answer there may be, a record not. */
static void test_no_times(const struct device *d)
{
    const double times[] = { (double)NAN, 0, -1, (double)INFINITY };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        struct place x = open_place(d);
        struct pretend p = { .odd = "*", .odd_seconds = times[i], .odd_time = 1 };
        char config[128];
        const cl_int e = tune(&x, &p, QUICK, config);
        ok(e <= 0 && pretend_is_over(&p) && !records(&x), "all times are %g s: no record (%s; %s)", times[i],
           clattn_status_string(e), p.why);
        pretend_forget(&p);
        close_place(&x);
    }
}

static void test_all_refused(const struct device *d)
{
    static const cl_int statuses[] = { CLATTN_ERROR_BUILD, CLATTN_ERROR_WRONG_RESULT, CLATTN_ERROR_NOT_SUPPORTED,
                                       CL_OUT_OF_RESOURCES, 77 };
    for (size_t i = 0; i < 2 * sizeof statuses / sizeof *statuses; i++) {
        struct place x = open_place(d);
        struct pretend p = { .odd = "*" };
        char config[128], words[256] = "";
        *(i % 2 ? &p.open_status : &p.run_status) = statuses[i / 2];
        const cl_int e = tune(&x, &p, QUICK, config);
        clattn_error_detail(x.h, words, sizeof words, NULL);
        is_int(e, CLATTN_ERROR_NOT_SUPPORTED, "every %s says %s", i % 2 ? "open" : "run",
               clattn_status_string(statuses[i / 2]));
        ok(*words && !records(&x) && pretend_is_over(&p) && !strcmp(config, "untouched"), "no record: %s (%s)", words,
           p.why);
        pretend_forget(&p);
        close_place(&x);
    }
}

/* What crashed is left alone, also by other handles; what is told of others is not. */
static void test_crashed(const struct device *d, size_t index, int at_run)
{
    struct place x = open_place(d);
    struct pretend p = { .seed = 3 }, later = { .seed = 3 };
    clattn_options o = cache_fixture_options(0, x.dir);
    clattn_cache_info info = { sizeof info, 0, 0, 0, 0, 0, 0, "" };
    char odd[128], config[128];
    clattn_config_at(x.h, &x.p, index, odd, sizeof odd);
    p.odd = p.favourite = later.favourite = odd;
    *(at_run ? &p.run_status : &p.open_status) = CLATTN_ERROR_CRASHED;
    const cl_int e = tune(&x, &p, QUICK, config);
    ok(!e && strcmp(config, odd) && pretend_is_over(&p), "%s crashes in %s: another one wins (%s; %s)", odd,
       at_run ? "run" : "open", clattn_status_string(e), p.why);
    is_int(clattn_cache_stat(&o, &info), CL_SUCCESS, "the cache can be looked at");
    is_int((long long)info.skipped, 1, "one is known to crash");
    reopen(&x);
    const cl_int again = tune(&x, &later, FULL, config);
    ok(!again && strcmp(config, odd) && !pretend_find(&later, odd) && pretend_is_over(&later),
       "and is not tried any more (%s; %s)", clattn_status_string(again), later.why);
    pretend_forget(&p);
    pretend_forget(&later);
    is_int(clattn_cache_clear(&o), CL_SUCCESS, "until the cache is cleared");
    reopen(&x);
    later.favourite = odd;
    ok(!tune(&x, &later, QUICK, config) && !strcmp(config, odd), "then it is, and wins");
    pretend_forget(&later);
    close_place(&x);
}

/* ---- What is told ---- */

struct listener {
    const char *class_text;
    int calls, cancel_at, wrong, done, opened, round, build; /* build: one has been told and not its end */
    double seconds, limit;
    char config[128], best[128], why[256];
};

static void blame(struct listener *l, const char *what)
{
    if (!l->wrong++)
        snprintf(l->why, sizeof l->why, "call %d: %s", l->calls, what);
}

static void check_step(struct listener *l, const clattn_progress *p)
{
    const int ends = p->step == CLATTN_STEP_REFUSED || p->step == CLATTN_STEP_READY;
    if (p->step < CLATTN_STEP_BUILD || p->step > CLATTN_STEP_BEST)
        blame(l, "an unknown step");
    if (l->calls == 1 && p->step != CLATTN_STEP_BUILD)
        blame(l, "it does not begin with a build");
    if (l->done)
        blame(l, "something comes after the end");
    if (l->build && (!ends || strcmp(l->config, p->config)))
        blame(l, "a build that does not end");
    if (!l->build && p->step == CLATTN_STEP_READY)
        blame(l, "ready, and not built");
    if ((p->step == CLATTN_STEP_REFUSED) != (*p->words != '\0'))
        blame(l, "words, or none, for a refusal");
    l->build = p->step == CLATTN_STEP_BUILD;
    l->done = p->step == CLATTN_STEP_DONE;
    snprintf(l->config, sizeof l->config, "%s", p->config);
}

static void check_numbers(struct listener *l, const clattn_progress *p)
{
    if (p->struct_size != sizeof *p)
        blame(l, "struct_size");
    if (p->opened < l->opened || p->opened > l->opened + 1 || p->round < l->round || p->round > l->round + 1)
        blame(l, "configurations or rounds that are not counted up");
    if (p->seconds < l->seconds || !isfinite(p->seconds) || p->limit < l->limit || p->limit > l->limit)
        blame(l, "seconds or limit");
    if (!(p->ratio >= 0) || !isfinite(p->ratio) || (p->ratio > 0 && !p->round))
        blame(l, "ratio");
    l->opened = p->opened;
    l->round = p->round;
    l->seconds = p->seconds;
}

static int on_progress(void *user, const clattn_progress *p)
{
    struct listener *l = user;
    l->calls++;
    snprintf(l->best, sizeof l->best, "%s", p->best ? p->best : "none at all");
    if (!p->class_text || !p->config || !p->words || strcmp(p->class_text, l->class_text) || !*p->config)
        blame(l, "a text is missing or wrong");
    else
        check_step(l, p);
    check_numbers(l, p);
    return l->cancel_at == l->calls;
}

/* measure NULL: on the device. */
static cl_int listen_and_keep(struct place *x, struct listener *l, const clattn_measure *measure, int effort,
                              double limit, int keep, char config[128])
{
    static char class_text[192];
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    if (clattn_class_of(x->h, &x->p, class_text, sizeof class_text, NULL))
        bail("no class");
    l->class_text = class_text;
    l->limit = limit;
    o.effort = effort;
    o.seconds = limit;
    o.measure = measure;
    o.progress = on_progress;
    o.progress_user = l;
    o.keep = keep;
    return clattn_tune(x->h, &x->p, &o, config, 128);
}

static cl_int listen(struct place *x, struct listener *l, const clattn_measure *measure, int effort, double limit)
{
    char config[128];
    return listen_and_keep(x, l, measure, effort, limit, 0, config);
}

static int test_told(const struct device *d, const struct pretend *how, const char *what)
{
    struct place x = open_place(d);
    struct pretend p = *how;
    struct listener l = { .calls = 0 };
    const clattn_measure measure = pretend_measure(&p);
    const cl_int e = listen(&x, &l, &measure, QUICK, 32.5);
    int opens = 0;
    for (int i = 0; i < p.n; i++)
        opens += p.seen[i].opens;
    ok(!e && !l.wrong && l.opened == opens && l.round >= 5,
       "%s: all is told: %d calls, %d configurations, %d rounds (%s; %s)", what, l.calls, l.opened, l.round,
       clattn_status_string(e), l.why);
    ok(l.done, "%s: the end too", what);
    pretend_forget(&p);
    close_place(&x);
    return l.calls;
}

/* Nothing was kept, and all was closed, whichever call says that it is enough. The clock is the real one, so a search
 * may have fewer rounds than the one before, and end by itself. */
static void test_cancelled(const struct device *d, int calls)
{
    struct place x = open_place(d);
    int bad = 0, at = 0, ended = 0;
    for (int k = 1; k <= calls && k <= CANCELS; k += harness_more() ? 1 : 3) {
        struct pretend p = { .seed = 5 };
        struct listener l = { .cancel_at = k };
        const clattn_measure measure = pretend_measure(&p);
        const cl_int e = listen(&x, &l, &measure, QUICK, 30 + k);
        if (!e && l.calls < k) {
            ended++;
            (void)clattn_wisdom_forget(x.h, NULL);
        } else if (e != CLATTN_ERROR_CANCELLED || l.calls != k || !pretend_is_over(&p) || records(&x)) {
            at = bad++ ? at : k;
            diag("call %d of %d: %s, %d calls, %d records; %s", k, calls, clattn_status_string(e), l.calls, records(&x),
                 p.why);
        }
        pretend_forget(&p);
    }
    is_int(bad, 0, "cancelled at %s of %d calls: nothing is kept, all is closed", harness_more() ? "each" : "some",
           calls);
    char words[256] = "";
    clattn_error_detail(x.h, words, sizeof words, NULL);
    ok(*words, "in words: %s", words);
    is_int((long long)cache_fixture_counters(x.h).record_saves, ended, "no record was written");
    close_place(&x);
}

/* Takes the text of the only record. */
static cl_int take_record(void *user, const char *record, size_t n)
{
    snprintf(user, 2048, "%.*s", (int)n, record);
    return CL_SUCCESS;
}

/* With `keep` a search that is cancelled leaves what was proven until then, and is not done with that. */
static void test_kept(const struct device *d, int calls, const char *favourite, int effort)
{
    struct place x = open_place(d);
    int bad = 0, kept = 0, none = 0;
    for (int k = 1; k <= calls && k <= CANCELS; k += harness_more() ? 2 : 7) {
        struct pretend p = { .seed = 5, .favourite = favourite };
        struct listener l = { .cancel_at = k };
        const clattn_measure measure = pretend_measure(&p);
        char config[128] = "", record[2048] = "", line[192];
        const cl_int e = listen_and_keep(&x, &l, &measure, effort, 30 + k, 1, config);
        if (clattn_wisdom_export(x.h, take_record, record))
            bail("no export");
        snprintf(line, sizeof line, "\nconfig %s\n", l.best);
        if (l.calls < k) { /* it had fewer steps than the one before */
            bad += e != CL_SUCCESS;
        } else if (*l.best) {
            kept++;
            bad += e || strcmp(config, l.best) || records(&x) != 1 || !strstr(record, "\neffort quick\n") ||
                   !strstr(record, "\ntries 1\n") || !strstr(record, line);
        } else {
            none++;
            bad += e != CLATTN_ERROR_CANCELLED || records(&x);
        }
        bad += l.wrong || !pretend_is_over(&p);
        if (bad == 1)
            diag("call %d: %s, %s, best '%s', %d records; %s; %s", k, clattn_status_string(e), config, l.best,
                 records(&x), l.why, record);
        (void)clattn_wisdom_forget(x.h, NULL);
        pretend_forget(&p);
        reopen(&x);
    }
    ok(!bad && kept && none, "effort %d, cancelled and kept: %d times what is proven, %d times nothing, %d wrong",
       effort, kept, none, bad);
    close_place(&x);
}

/* On the device itself. */
static void test_cancelled_here(const struct device *d)
{
    static const int at[] = { 1, 2, 4 };
    struct place x = open_place(d);
    for (size_t i = 0; i < sizeof at / sizeof *at; i++) {
        struct listener l = { .cancel_at = at[i] };
        const cl_int e = listen(&x, &l, NULL, QUICK, 30);
        ok(e == CLATTN_ERROR_CANCELLED && l.calls == at[i] && !l.wrong && !records(&x),
           "cancelled at call %d on the device (%s; %s)", at[i], clattn_status_string(e), l.why);
    }
    struct listener l = { .cancel_at = 0 };
    const cl_int e = listen(&x, &l, NULL, QUICK, 1e-3);
    ok(!e && !l.wrong, "a limit of 1 ms is one: %d configurations (%s; %s)", l.opened, clattn_status_string(e), l.why);
    close_place(&x);
}

/* ---- What is refused ---- */

static void test_refused(const struct device *d)
{
    static const int efforts[] = { CLATTN_TUNE_AUTO, CLATTN_TUNE_OFF, CLATTN_TUNE_READONLY, CLATTN_TUNE_RECORD, 8, -1 };
    const double seconds[] = { -1, -1e-300, (double)NAN, (double)INFINITY, -(double)INFINITY };
    struct place x = open_place(d);
    struct pretend p = { .seed = 1 };
    clattn_measure measure = pretend_measure(&p);
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    o.measure = &measure;
    for (size_t i = 0; i < sizeof efforts / sizeof *efforts; i++) {
        o.effort = efforts[i];
        is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CLATTN_ERROR_INVALID_ARGUMENT, "effort %d is refused", efforts[i]);
    }
    o.effort = QUICK;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        o.seconds = seconds[i];
        is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CLATTN_ERROR_INVALID_ARGUMENT, "%g seconds are refused",
               seconds[i]);
    }
    o.seconds = 0;
    o.reserved = 1;
    is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CLATTN_ERROR_INVALID_ARGUMENT, "reserved 1 is refused");
    o.reserved = 0;
    o.struct_size = 0;
    is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CLATTN_ERROR_INVALID_ARGUMENT, "struct_size 0 is refused");
    o.struct_size = sizeof o;
    measure.struct_size = 0;
    is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CLATTN_ERROR_INVALID_ARGUMENT, "a measure of size 0 is refused");
    measure = pretend_measure(&p);
    measure.open = NULL;
    is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CLATTN_ERROR_INVALID_ARGUMENT, "a measure without open is refused");
    measure = pretend_measure(&p);
    measure.run = NULL;
    is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CLATTN_ERROR_INVALID_ARGUMENT, "a measure without run is refused");
    ok(!p.n && !cache_fixture_counters(x.h).searches && !records(&x), "and nothing was searched");
    measure = pretend_measure(&p);
    measure.close = NULL;
    is_int(clattn_tune(x.h, &x.p, &o, NULL, 0), CL_SUCCESS, "a measure without close is fine");
    pretend_forget(&p);
    close_place(&x);
}

static void test_device(const struct device *d)
{
    const struct pretend plain = { .seed = 2 }, refusing = { .open_status = CLATTN_ERROR_BUILD },
                         failing = { .run_status = CL_OUT_OF_RESOURCES };
    struct place x = open_place(d);
    char second[128] = "";
    clattn_config_at(x.h, &x.p, 1, second, sizeof second);
    close_place(&x);
    if (!*second) {
        skip("there is nothing to choose from on %s", d->name);
        return;
    }
    test_winners(d);
    for (unsigned i = 0; i < 4; i++)
        if (harness_deals(i, 4))
            test_crashed(d, i / 2, (int)(i % 2));
    if (harness_turn(4, 1)) {
        const int calls = test_told(d, &plain, "a search");
        test_cancelled(d, calls);
        test_kept(d, calls, second, QUICK);
        test_kept(d, calls, second, FULL);
    }
    if (harness_rest() && !harness_flag("CLATTN_FULL"))
        return;
    test_exhaustive(d);
    for (size_t i = 0; i < 2; i++) {
        test_odd(d, i, &refusing, "a failed open");
        test_odd(d, i, &failing, "a failed run");
    }
    test_odd_times(d);
    test_no_times(d);
    test_all_refused(d);
    struct pretend odd = { .odd = second, .open_status = CLATTN_ERROR_WRONG_RESULT };
    test_told(d, &odd, "one with a refusal");
    odd = (struct pretend){ .odd = second, .run_status = CL_OUT_OF_RESOURCES };
    test_told(d, &odd, "one with a failure");
    test_cancelled_here(d);
    test_refused(d);
}

int main(void)
{
    return each_device(test_device);
}
