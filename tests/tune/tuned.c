/* tuned.c - which configuration a plan gets: the table's, measured, recorded, set, or asked for
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/fake_measure.h"
#include "tests/lib/unsaved.h"

#include <pthread.h>

/* All that is measured is measured on one small class. */
static const char problem[] = "f32 b1 h1 q9 k20 d8 causal lse", same_class[] = "f32 b1 h2 q13 k41 d8 causal lse",
                  capped[] = "f32 b1 h1 q9 k20 d8 causal softcap30 lse",
                  captures[] = "f32 b1 h1 q9 k20 d8 causal mod:tanh_gate lse",
                  gradients[] = "f32 b1 h1 q9 k20 d8 causal bwd", same_gradients[] = "f32 b3 h1 q13 k41 d8 causal bwd";
enum { THREADS = 4, HANDLES = 4, SECONDS = 30 };

static clattn_handle open_handle(const struct device *d, int tune, const char *dir)
{
    clattn_options o = cache_fixture_options(tune, dir);
    o.tune_seconds = SECONDS; /* time shall not decide */
    return each_handle(d, &o);
}

/* The index-th configuration of the table; "" when there are not so many. */
static void table(char config[128], const struct device *d, const char *text, size_t index)
{
    const clattn_problem p = each_case(text).problem;
    *config = '\0';
    clattn_config_at(d->handle, &p, index, config, 128);
}

/* A plan of `h` for a problem string is right, and made so; config NULL: of any. */
static void expect(const struct device *d, clattn_handle h, const char *text, int source, const char *config,
                  const char *what)
{
    const struct device n = cache_fixture_of(d, h);
    struct cache_fixture_plan how;
    char why[512];
    const int good = cache_fixture_run(&n, text, NULL, &how, why, sizeof why) == 1;
    if (!ok(good && how.source == source && (!config || !strcmp(how.config, config)), "%s", what))
        diag("source %d, want %d; configuration %s, want %s; %s", how.source, source, how.config,
             config ? config : "any", why);
}

/* ---- Measured once ---- */

static void *make_plan(void *arg)
{
    clattn_handle h = arg;
    const clattn_problem p = each_case(problem).problem;
    clattn_plan plan = NULL;
    const cl_int e = clattn_plan_create(&plan, h, &p, NULL);
    clattn_plan_release(plan);
    return e ? arg : NULL;
}

/* Several threads at once. Returns how many failed. */
static int make_plans(clattn_handle h)
{
    pthread_t threads[THREADS];
    int bad = 0;
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&threads[i], NULL, make_plan, h))
            bail("no thread");
    for (int i = 0; i < THREADS; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        bad += failed != NULL;
    }
    return bad;
}

/* Should a build have been so slow that the search was put off, the next handle makes up for it. */
static void test_first(const struct device *d, const char *dir, char config[128])
{
    int source = CLATTN_ORIGIN_DEFAULT;
    for (int i = 0; i < HANDLES && source == CLATTN_ORIGIN_DEFAULT; i++) {
        clattn_handle h = open_handle(d, CLATTN_TUNE_AUTO, dir);
        const struct device n = cache_fixture_of(d, h);
        struct cache_fixture_plan how;
        char why[512] = "";
        is_int(make_plans(h), 0, "auto: %d threads make plans of a class at once", THREADS);
        ok(cache_fixture_run(&n, problem, NULL, &how, why, sizeof why) == 1, "auto: they are right (%s)", why);
        source = how.source;
        snprintf(config, 128, "%s", how.config);
        const clattn_counters c = cache_fixture_counters(h);
        if (source == CLATTN_ORIGIN_TUNED) {
            expect(d, h, same_class, CLATTN_ORIGIN_TUNED, config, "auto: the class has it in this handle");
            ok(c.searches == 1 && c.trials >= 2 && c.record_saves == 1,
               "auto: one search of %d configurations, one record", (int)c.trials);
            ok(c.record_misses >= 1 && c.record_misses <= THREADS, "auto: each looked it up once: %d misses",
               (int)c.record_misses);
        }
        clattn_release(h);
    }
    is_int(source, CLATTN_ORIGIN_TUNED, "auto: measured");
}

static void test_auto(const struct device *d, const char *dir)
{
    char config[128];
    test_first(d, dir, config);
    clattn_handle h = open_handle(d, CLATTN_TUNE_AUTO, dir);
    expect(d, h, problem, CLATTN_ORIGIN_CACHED, config, "auto: the next one knows the record");
    expect(d, h, same_class, CLATTN_ORIGIN_CACHED, config, "auto: it is the class's");
    const clattn_counters c = cache_fixture_counters(h);
    ok(!c.searches && !c.trials && c.record_hits >= 2 && !c.record_rejects && !c.record_saves,
       "auto: nothing is measured then");
    clattn_release(h);
}

/* ---- Modes ---- */

/* A record that names another configuration than the table. */
static void make_record(const struct device *d, const char *dir, const char *text, const char *config)
{
    clattn_handle h = open_handle(d, CLATTN_TUNE_OFF, dir);
    const clattn_problem p = each_case(text).problem;
    is_int(pretend_tune(h, &p, CLATTN_TUNE_QUICK, config), CL_SUCCESS, "a record that says %s", config);
    ok(cache_fixture_counters(h).record_saves == 1 && cache_fixture_each(dir, "tune", NULL, NULL) >= 1, "is written");
    clattn_release(h);
}

static int touched_records(const clattn_counters *c)
{
    return c->record_hits || c->record_misses || c->record_rejects || c->record_saves || c->searches || c->trials;
}

static void test_off(const struct device *d, const char *dir, const char *first)
{
    const uint64_t before = cache_fixture_each(dir, "tune", NULL, NULL) ? cache_fixture_state(dir) : 0;
    clattn_handle h = open_handle(d, CLATTN_TUNE_OFF, dir);
    expect(d, h, problem, CLATTN_ORIGIN_DEFAULT, first,
           before ? "off, with a record: the table's" : "off: the table's");
    const clattn_counters c = cache_fixture_counters(h);
    ok(!touched_records(&c) && (before || !cache_fixture_each(dir, "tune", NULL, NULL)),
       "off: no record is read or written");
    clattn_release(h);
}

static void test_readonly(const struct device *d, const char *dir, int source, const char *config)
{
    clattn_handle h = open_handle(d, CLATTN_TUNE_READONLY, dir);
    const uint64_t before = cache_fixture_state(dir);
    expect(d, h, problem, source, config, source ? "readonly: the record's" : "readonly without one: the table's");
    ok(cache_fixture_state(dir) == before && !cache_fixture_counters(h).searches,
       "readonly: nothing is written or measured");
    clattn_release(h);
}

/* Options win over the environment. */
static void test_environment(const struct device *d, const char *dir, const char *first, const char *second)
{
    static const struct {
        const char *value;
        int tune, source;
    } cases[] = { { "off", 0, CLATTN_ORIGIN_DEFAULT },      { "readonly", 0, CLATTN_ORIGIN_CACHED },
                  { "record", 0, CLATTN_ORIGIN_DEFAULT },   { "auto", 0, CLATTN_ORIGIN_CACHED },
                  { "", 0, CLATTN_ORIGIN_CACHED },          { "nonsense", 0, CLATTN_ORIGIN_CACHED },
                  { "OFF", 0, CLATTN_ORIGIN_CACHED },       { "off", CLATTN_TUNE_READONLY, CLATTN_ORIGIN_CACHED },
                  { "off", CLATTN_TUNE_AUTO, CLATTN_ORIGIN_CACHED },
                  { "readonly", CLATTN_TUNE_OFF, CLATTN_ORIGIN_DEFAULT } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char what[128];
        setenv("CLATTN_TUNE", cases[i].value, 1);
        snprintf(what, sizeof what, "CLATTN_TUNE=%s, tune %d: source %d", cases[i].value, cases[i].tune,
                 cases[i].source);
        clattn_handle h = open_handle(d, cases[i].tune, dir);
        expect(d, h, problem, cases[i].source, cases[i].source ? second : first, what);
        clattn_release(h);
    }
    setenv("CLATTN_TUNE", "off", 1);
}

static void test_refused_options(const struct device *d)
{
    static const int tunes[] = { -1, 7, 8, 1000 };
    const double inf = 1e308 * 10, seconds[] = { -1, inf, -inf, inf - inf };
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_handle h;
    for (size_t i = 0; i < sizeof tunes / sizeof *tunes; i++) {
        o.tune = tunes[i];
        is_int(clattn_create(&h, d->cl.context, d->cl.device, &o), CLATTN_ERROR_INVALID_ARGUMENT,
               "options.tune %d is refused", tunes[i]);
    }
    o.tune = 0;
    for (size_t i = 0; i < sizeof seconds / sizeof *seconds; i++) {
        o.tune_seconds = seconds[i];
        is_int(clattn_create(&h, d->cl.context, d->cl.device, &o), CLATTN_ERROR_INVALID_ARGUMENT,
               "options.tune_seconds %g is refused", seconds[i]);
    }
    o.tune_seconds = 0;
    o.reserved = 1;
    is_int(clattn_create(&h, d->cl.context, d->cl.device, &o), CLATTN_ERROR_INVALID_ARGUMENT,
           "options.reserved 1 is refused");
}

static void test_record(const struct device *d, const char *first, const char *second)
{
    clattn_handle h;
    const clattn_problem p = each_case(problem).problem;
    char dir[NEST_PATH], class[192] = "", noted[192] = "";
    cache_fixture_make(dir);
    h = open_handle(d, CLATTN_TUNE_RECORD, dir);
    is_int(clattn_class_recorded(h, 0, noted, sizeof noted), CL_INVALID_VALUE, "record: no class is noted yet");
    for (int i = 0; i < 2; i++)
        expect(d, h, i ? same_class : problem, CLATTN_ORIGIN_DEFAULT, i ? NULL : first, "record: the table's");
    ok(!clattn_class_of(h, &p, class, sizeof class, NULL) && !clattn_class_recorded(h, 0, noted, sizeof noted) &&
           !strcmp(class, noted),
       "record: the class is noted: %s", noted);
    is_int(clattn_class_recorded(h, 1, noted, sizeof noted), CL_INVALID_VALUE, "record: once");
    is_int((long long)cache_fixture_counters(h).searches, 0, "record: nothing is measured");
    clattn_release(h);
    h = open_handle(d, CLATTN_TUNE_OFF, dir);
    ok(!clattn_class_recorded(h, 0, noted, sizeof noted) && !strcmp(class, noted), "record: other handles know it");
    is_int(pretend_tune(h, &p, CLATTN_TUNE_QUICK, NULL), CL_SUCCESS, "record: the class is tuned");
    is_int(clattn_class_recorded(h, 0, noted, sizeof noted), CL_INVALID_VALUE, "record: and no longer noted");
    clattn_release(h);
    h = open_handle(d, CLATTN_TUNE_RECORD, dir);
    is_int(pretend_tune(h, &p, CLATTN_TUNE_QUICK, second), CL_SUCCESS, "record: tuned again, by a handle that notes");
    expect(d, h, problem, CLATTN_ORIGIN_DEFAULT, first,
           "record: whose plans are the table's nevertheless, as with off");
    clattn_release(h);
    cache_fixture_remove(dir);
}

/* What a search found stays with the handle, also in modes that read no records. */
static void test_quick(const struct device *d, const char *dir)
{
    clattn_handle h = open_handle(d, CLATTN_TUNE_QUICK, dir);
    expect(d, h, problem, CLATTN_ORIGIN_TUNED, NULL, "quick: measured, whatever records say");
    expect(d, h, same_class, CLATTN_ORIGIN_TUNED, NULL, "quick: once for each class");
    is_int((long long)cache_fixture_counters(h).searches, 1, "quick: in one search");
    clattn_release(h);
}

/* ---- Set ---- */

static const char *const nonsense[] = { "nonsense", "cpu nonsense", " ", "simt -1", "cpu w16,w16", "%s%n",
                                        "naive wg999999999999,bk8", "simt tx64,ty64,tm16,tn16,ch64,cv64,qres1" };

static void test_set(const struct device *d, const char *dir, const char *first, const char *second, const char *third)
{
    clattn_handle h = open_handle(d, CLATTN_TUNE_READONLY, dir);
    const clattn_problem p = each_case(problem).problem;
    char words[512];
    for (size_t i = 0; i < sizeof nonsense / sizeof *nonsense; i++) {
        words[0] = '\0';
        const cl_int e = clattn_set_config(h, &p, nonsense[i]);
        clattn_error_detail(h, words, sizeof words, NULL);
        ok(e < 0 && *words, "set_config: '%s' is refused: %s", nonsense[i], words);
    }
    is_int(clattn_set_config(h, &p, NULL), CL_SUCCESS, "set_config: nothing to take back is fine");
    expect(d, h, problem, CLATTN_ORIGIN_CACHED, second, "set_config: what was refused counts for nothing");
    is_int(clattn_set_config(h, &p, third), CL_SUCCESS, "set_config: %s", third);
    expect(d, h, problem, CLATTN_ORIGIN_SET, third, "set_config: is used, not the record's");
    expect(d, h, same_class, CLATTN_ORIGIN_SET, third, "set_config: for the whole class");
    const struct device n = cache_fixture_of(d, h);
    struct cache_fixture_plan how;
    ok(cache_fixture_run(&n, problem, first, &how, words, sizeof words) == 1 && !strcmp(how.config, first) &&
           how.source == CLATTN_ORIGIN_DEFAULT,
       "a plan's own configuration wins over all (%s; %s)", how.config, words);
    clattn_handle other = open_handle(d, CLATTN_TUNE_READONLY, dir);
    expect(d, other, problem, CLATTN_ORIGIN_CACHED, second, "set_config: other handles know nothing of it");
    clattn_release(other);
    is_int(pretend_tune(h, &p, CLATTN_TUNE_QUICK, second), CL_SUCCESS, "set_config: a search finds something else");
    expect(d, h, problem, CLATTN_ORIGIN_SET, third, "set_config: wins over that too");
    is_int(clattn_set_config(h, &p, NULL), CL_SUCCESS, "set_config: is taken back");
    is_int(clattn_wisdom_forget(h, &p), CL_SUCCESS, "set_config: what was measured is forgotten");
    expect(d, h, problem, CLATTN_ORIGIN_CACHED, second, "set_config: and the record's is used again");
    clattn_release(h);
    h = open_handle(d, CLATTN_TUNE_OFF, dir);
    is_int(clattn_set_config(h, &p, second), CL_SUCCESS, "set_config: %s, with tune off", second);
    expect(d, h, problem, CLATTN_ORIGIN_SET, second, "set_config: is used as well");
    clattn_release(h);
}

/* ---- Forgotten ---- */

static void test_forget(const struct device *d, const char *first, const char *second, const char *third)
{
    const clattn_problem p = each_case(problem).problem;
    char dir[NEST_PATH];
    cache_fixture_make(dir);
    clattn_handle h = open_handle(d, CLATTN_TUNE_READONLY, dir);
    for (int all = 0; all < 2; all++) {
        is_int(pretend_tune(h, &p, CLATTN_TUNE_QUICK, second), CL_SUCCESS, "forget: a search that may record nothing");
        expect(d, h, problem, CLATTN_ORIGIN_TUNED, second, "forget: is known to its handle all the same");
        is_int(clattn_wisdom_forget(h, all ? NULL : &p), CL_SUCCESS, "forget: %s", all ? "all" : "its class");
        expect(d, h, problem, CLATTN_ORIGIN_DEFAULT, first, "forget: and no longer then");
    }
    is_int(clattn_set_config(h, &p, third), CL_SUCCESS, "forget: %s is set", third);
    for (int all = 0; all < 2; all++) {
        is_int(clattn_wisdom_forget(h, all ? NULL : &p), CL_SUCCESS, "forget: %s", all ? "all" : "its class");
        expect(d, h, problem, CLATTN_ORIGIN_SET, third, "forget: what was set was not measured, and stays");
    }
    ok(!cache_fixture_each(dir, "", NULL, NULL), "forget: nothing was written");
    clattn_release(h);
    cache_fixture_remove(dir);
}

/* ---- What cannot be measured ---- */

static void test_captures(const struct device *d, const char *second)
{
    char dir[NEST_PATH];
    cache_fixture_make(dir);
    clattn_handle h = open_handle(d, CLATTN_TUNE_AUTO, dir);
    expect(d, h, captures, CLATTN_ORIGIN_DEFAULT, NULL, "captured buffers: the table's");
    ok(!cache_fixture_counters(h).searches && !cache_fixture_counters(h).trials,
       "captured buffers: nothing is measured");
    clattn_release(h);
    make_record(d, dir, capped, second);
    h = open_handle(d, CLATTN_TUNE_AUTO, dir);
    expect(d, h, captures, CLATTN_ORIGIN_CACHED, second, "captured buffers: the record of the class without its texts");
    is_int((long long)cache_fixture_counters(h).searches, 0, "captured buffers: nothing is measured");
    clattn_release(h);
    cache_fixture_remove(dir);
}

/* ---- Gradients: classes of their own ---- */

/* Where the configuration of a plan comes from, and which it is; what it computes, other tests look at. */
static void expect_plan(clattn_handle h, const char *text, int source, const char *config, const char *what)
{
    const clattn_problem p = each_case(text).problem;
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    clattn_plan plan = NULL;
    char got[128] = "";
    const cl_int e = clattn_plan_create(&plan, h, &p, NULL);
    if (!e && (clattn_plan_config(plan, got, sizeof got, NULL) || clattn_plan_get_info(plan, &info)))
        bail("a plan says nothing of itself");
    if (!ok(!e && info.origin == source && !strcmp(got, config), "gradients: %s", what))
        diag("%s; source %d, want %d; configuration %s, want %s", clattn_status_string(e), (int)info.origin, source,
             got, config);
    clattn_plan_release(plan);
}

static void test_gradients(const struct device *d, const char *first)
{
    char dir[NEST_PATH], config[128];
    table(config, d, gradients, 1);
    if (!*config) {
        skip("one configuration computes gradients on %s", d->name);
        return;
    }
    cache_fixture_make(dir);
    make_record(d, dir, gradients, config);
    clattn_handle h = open_handle(d, CLATTN_TUNE_READONLY, dir);
    expect_plan(h, gradients, CLATTN_ORIGIN_CACHED, config, "the record of their class");
    expect_plan(h, same_gradients, CLATTN_ORIGIN_CACHED, config, "which others of it have");
    expect_plan(h, problem, CLATTN_ORIGIN_DEFAULT, first, "it is nothing to a forward pass");
    clattn_release(h);
    cache_fixture_remove(dir);
}

/* ---- The caller's buffers ---- */

/* A call of the caller's waits for an event of his while a plan is made and measured beside it. */
static void test_bystander(const struct device *d)
{
    char dir[NEST_PATH], why[512] = "";
    struct fixture f;
    cl_int e;
    cache_fixture_make(dir);
    each_open(&f, d, same_class, PADDED);
    cl_command_queue other = clCreateCommandQueue(d->cl.context, d->cl.device, 0, &e);
    const cl_event begin = each_gate(d->cl.context);
    if (e)
        bail("no queue");
    e = clattn_enqueue_forward(f.plan, other, &f.t.args, 1, &begin, NULL);
    e = e ? e : clFlush(other);
    clattn_handle h = open_handle(d, CLATTN_TUNE_QUICK, dir);
    expect(d, h, problem, CLATTN_ORIGIN_TUNED, NULL, "a search beside a call under way");
    int same = 1;
    for (int i = 0; i < 5; i++)
        same = same && image_unchanged(&f.t.image[i], d->queue);
    ok(same, "no buffer of the caller's has changed a bit");
    e = e ? e : clSetUserEventStatus(begin, CL_COMPLETE);
    e = e ? e : clFinish(other);
    ok(!e && trial_verify(&f.t, d->queue, why, sizeof why), "and the call ends as it should (%s%s)",
       e ? clattn_status_string(e) : "", why);
    for (int i = 0; i < 3; i++)
        same = same && image_unchanged(&f.t.image[i], d->queue);
    ok(same, "without a change to what it reads");
    clReleaseEvent(begin);
    clReleaseCommandQueue(other);
    clattn_release(h);
    fixture_close(&f);
    cache_fixture_remove(dir);
}

static void test_device(const struct device *d)
{
    char dir[NEST_PATH], first[128], second[128], third[128];
    table(first, d, problem, 0);
    table(second, d, problem, 1);
    table(third, d, problem, 2);
    if (!*third) {
        skip("there is nothing to choose from on %s", d->name);
        return;
    }
    cache_fixture_make(dir);
    test_off(d, dir, first);
    test_readonly(d, dir, CLATTN_ORIGIN_DEFAULT, first);
    make_record(d, dir, problem, second);
    test_off(d, dir, first);
    test_readonly(d, dir, CLATTN_ORIGIN_CACHED, second);
    test_environment(d, dir, first, second);
    test_set(d, dir, first, second, third);
    test_record(d, first, second);
    test_forget(d, first, second, third);
    test_captures(d, second);
    test_gradients(d, first);
    test_refused_options(d);
    cache_fixture_remove(dir);
    cache_fixture_make(dir);
    test_auto(d, dir);
    test_quick(d, dir);
    cache_fixture_remove(dir);
    test_bystander(d);
}

int main(void)
{
    return each_device(test_device);
}
