/* tuned_caches.c - plans of paged and quantised K and V: tuned, recorded, and refused where they are read wrong
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has three faults in engine naive, which builds soonest, and a record that is not measured;
 * CLATTN_PART=1: all faults in all engines, and searches. CLATTN_FULL=1: wider heads. Linked with
 * --wrap=clCreateProgramWithSource, so that a program can have a fault. */
#include "config.h"

#include "src/api/handle.h"
#include "src/judge/build.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"
#include "tests/lib/fake_measure.h"
#include "tests/lib/unsaved.h"

/* ---- Programs with a fault ---- */

static const char *broken, *broken_to; /* what a program's text has instead, wherever it is; NULL: nothing */
static int n_broken;

static char *replaced(const char *text)
{
    const size_t from = strlen(broken), to = strlen(broken_to);
    size_t n = 0;
    for (const char *at = text; (at = strstr(at, broken)); at += from)
        n++;
    char *const out = malloc(strlen(text) + n * to + 1);
    char *end = out;
    if (!out)
        bail("no memory");
    for (const char *next; (next = strstr(text, broken)); text = next + from, n_broken++)
        end += sprintf(end, "%.*s%s", (int)(next - text), text, broken_to);
    strcpy(end, text);
    return out;
}

cl_program __real_clCreateProgramWithSource(cl_context, cl_uint, const char **, const size_t *, cl_int *);
cl_program __wrap_clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *status)
{
    if (!broken)
        return __real_clCreateProgramWithSource(context, n, texts, lengths, status);
    char *text = replaced(texts[0]);
    const cl_program program = __real_clCreateProgramWithSource(context, 1, (const char **)&text, NULL, status);
    free(text);
    return program;
}

/* What becomes of a program of the engine, made by a handle that knows nothing. */
static cl_int build(const struct device *d, const clattn_problem *p, const char *engine, struct why *why)
{
    clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    struct launch launch;
    struct config config;
    int binary;
    cl_int status = tile_config_read(&config, engine, &h->maker.caps, p, why);
    if (status)
        bail("%s: %s", engine, why->text);
    if (!(status = build_launch(&launch, &h->maker, p, &config, true, &binary, why)))
        launch_clear(&launch);
    clattn_release(h);
    return status;
}

static const char *const engines[] = { CACHE_FIXTURE_SOONEST, "row", "simt" };
enum { ENGINES = sizeof engines / sizeof *engines };

static const char *const problems[] = { "f32 b2 h4/2 q3 k70 d64 page16 k:int4:16z v:q4_0",
                                        "f16 b2 h4/2 q3 k70 d64 page16 k:q8_0 v:int8:16z",
                                        "f32 b2 h4/2 q3 k70 d64 page16 k:q5_1 v:q4_1" };
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* Some faults show in every engine, others where it reads elements in that way. */
static const struct wrong_text {
    const char *from, *to, *what;
    int problem;
    bool in_all, soon;
} faults[] = {
    { "+ e->b * a->table_stride + i]", "+ e->b * a->table_stride]", "which page", 1, true, false },
    { "+ e->b * a->table_stride + i]", "+ i]", "whose pages", 0, true, true },
    { "k - i * a->page", "i", "the row of a page", 0, true, false },
    { "(long)(e)->hk * (e)->a->name[1]", "0", "whose scales", 1, true, true },
    { "((code) - load(", "((code) + load(", "zero points", 0, false, false },
    { "(long)(g) * CLA_STEP_OF", "0 * CLA_STEP_OF", "the scale of which group", 1, false, false },
    { "^ 8) - 8", "^ 8) - 7", "an element of int4", 0, false, true },
    { "- (char##n)(8)", "- (char##n)(7)", "some elements of int4 and q4_0", 0, false, false },
    { "/ 32 * 18", "/ 32 * 18 * 0", "which block of q4_0", 0, true, false },
    { "/ 16 % 2 * 4", "/ 16 % 1 * 4", "the upper half of q4_0", 0, true, false },
    { "/ 32 * 34", "/ 32 * 34 * 0", "which block of q8_0", 1, true, false },
    { "<< 4)\n", "<< 3)\n", "the fifth bits of some elements of q5_1", 2, false, false },
    { "& 0x01010101", "& 0x01010001", "the fifth bits of others", 2, false, false },
    { "(p, c)).s1", "(p, c)).s0", "the minimums of q4_1 and q5_1", 2, true, true },
};

static clattn_problem problem_of(int i)
{
    const clattn_workload c = each_case(problems[i]);
    clattn_problem p;
    struct why why;
    if (problem_read(&p, &c.problem, &why))
        bail("%s", why.text);
    return p;
}

/* In make check by the first engine alone. */
static bool is_due(const struct wrong_text *f, int engine)
{
    const unsigned i = (unsigned)(f - faults);
    return f->in_all ? harness_turn(i * ENGINES + (unsigned)engine, f->soon && !engine)
                     : harness_turn(i * ENGINES, f->soon && !engine);
}

static void test_fault(const struct device *d, const struct wrong_text *f)
{
    const clattn_problem p = problem_of(f->problem);
    int met = 0, seen = 0, other = 0, tried = 0;
    struct why why = { "" };
    for (int i = 0; i < ENGINES; i++) {
        if (!is_due(f, i))
            continue;
        tried++;
        n_broken = 0;
        broken = f->from;
        broken_to = f->to;
        const cl_int status = build(d, &p, engines[i], &why);
        broken = NULL;
        met += n_broken > 0;
        seen += status == CLATTN_ERROR_WRONG_RESULT;
        if (status && status != CLATTN_ERROR_WRONG_RESULT && !other++)
            diag("%s", why.text);
    }
    if (tried)
        ok(met == tried && !other && (f->in_all ? seen == met : seen > 0),
           "%s: of %d programs that read %s wrong %d are refused", d->name, met, f->what, seen);
}

static void test_faults(const struct device *d)
{
    struct why why = { "" };
    for (int i = 0; i < PROBLEMS * ENGINES; i++) {
        if (!harness_turn((unsigned)i, i == 0))
            continue;
        const clattn_problem p = problem_of(i / ENGINES);
        is_int(build(d, &p, engines[i % ENGINES], &why), CL_SUCCESS, "%s, %s: %s", engines[i % ENGINES],
               problems[i / ENGINES], why.text);
    }
    for (size_t i = 0; i < sizeof faults / sizeof *faults; i++)
        test_fault(d, &faults[i]);
}

/* ---- Tuned ---- */

/* A problem, another one of its class, and one that is near. */
static const char *const full[] = { "f32 b1 h8/2 q1 k4096 d128 page16 k:int8 v:q4_0",
                                    "f32 b2 h4/1 q1 k3000 d97/128 page7 k:int8 v:q4_0",
                                    "f32 b1 h8/2 q1 k3000 d128 k:int8 v:q4_0" };
static const char *const quick[] = { "f32 b1 h8/2 q1 k4096 d32 page16 k:int8 v:q4_0",
                                     "f32 b2 h4/1 q1 k3000 d17/32 page7 k:int8 v:q4_0",
                                     "f32 b1 h8/2 q1 k3000 d32 k:int8 v:q4_0" };
static const char plain[] = "f16 b1 h8/2 q1 k300 d32",
                  like_plain[] = "f16 b1 h8/2 q1 k300 d32 page5 k:int8:16z v:q8_0 o:f32";

/* A configuration for a record: one of engine naive, which builds soonest, in make check; else the table's second. */
static void choose(char config[128], clattn_handle h, const clattn_problem *p)
{
    for (size_t i = 1; !clattn_config_at(h, p, i, config, 128) && !harness_more() && strncmp(config, "naive ", 6); i++)
        continue;
}

static clattn_handle open_handle(const struct device *d, int tune, const char *dir)
{
    clattn_options o = cache_fixture_options(tune, dir);
    o.tune_seconds = 100; /* time shall not decide */
    return each_handle(d, &o);
}

/* A plan of `h` for a problem string is right, and made so; *config: of which configuration. */
static void expect(const struct device *d, clattn_handle h, const char *text, int source, char config[128],
                   const char *what)
{
    const struct device n = cache_fixture_of(d, h);
    struct cache_fixture_plan how;
    char why[512] = "";
    const int good = cache_fixture_run(&n, text, NULL, &how, why, sizeof why) == 1;
    if (!ok(good && how.source == source && (!*config || !strcmp(config, how.config)), "%s", what))
        diag("source %d, want %d; configuration %s, want %s; %s", how.source, source, how.config, config, why);
    snprintf(config, 128, "%s", how.config);
}

/* Of all configurations that a search tries none computes wrong, and what it finds is there the next time. */
static void test_search(const struct device *d, const char *problem, const char *same_class)
{
    char dir[NEST_PATH], config[128] = "";
    cache_fixture_make(dir);
    clattn_handle h = open_handle(d, CLATTN_TUNE_QUICK, dir);
    if (harness_more()) {
        expect(d, h, problem, CLATTN_ORIGIN_TUNED, config, "a plan of a paged int8 cache is tuned");
        const clattn_counters c = cache_fixture_counters(h);
        ok(c.searches == 1 && c.trials >= 2 && !c.trials_refused && c.record_saves == 1,
           "of %d configurations %d are refused", (int)c.trials, (int)c.trials_refused);
    } else {
        const clattn_problem p = each_case(problem).problem;
        choose(config, h, &p);
        is_int(pretend_tune(h, &p, CLATTN_TUNE_FULL, config), CL_SUCCESS, "a record of a paged int8 cache");
    }
    clattn_release(h);
    h = open_handle(d, CLATTN_TUNE_AUTO, dir);
    expect(d, h, problem, CLATTN_ORIGIN_CACHED, config, "the next one knows its record");
    expect(d, h, same_class, CLATTN_ORIGIN_CACHED, config, "it is the class's, whatever the page");
    is_int((long long)cache_fixture_counters(h).searches, 0, "without another search");
    clattn_release(h);
    cache_fixture_remove(dir);
}

/* The record of a class that has no pages, or no quantised K and V, serves one that has. */
static void test_near(const struct device *d, const char *problem, const char *unpaged)
{
    const char *const pairs[][2] = { { unpaged, problem }, { plain, like_plain } };
    for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++) {
        const clattn_workload c = each_case(pairs[i][0]);
        char dir[NEST_PATH], config[128] = "";
        cache_fixture_make(dir);
        clattn_handle h = open_handle(d, CLATTN_TUNE_OFF, dir);
        choose(config, h, &c.problem);
        is_int(pretend_tune(h, &c.problem, CLATTN_TUNE_FULL, config), CL_SUCCESS, "a record of %s", pairs[i][0]);
        clattn_release(h);
        h = open_handle(d, CLATTN_TUNE_READONLY, dir);
        expect(d, h, pairs[i][1], CLATTN_ORIGIN_CACHED, config, "serves a plan of a class that is near");
        clattn_release(h);
        cache_fixture_remove(dir);
    }
}

static void test_device(const struct device *d)
{
    const char *const *const text = harness_flag("CLATTN_FULL") ? full : quick;
    test_faults(d);
    if (harness_turn(0, 1))
        test_search(d, text[0], text[1]);
    if (harness_turn(12, 1))
        test_near(d, text[0], text[2]);
}

int main(void)
{
    return each_device(test_device);
}
