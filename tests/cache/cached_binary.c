/* cached_binary.c - binaries: compiled once, loaded by every later handle, and as right as what was compiled
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has three of the problems, and few threads; CLATTN_PART=1: all. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/cache_fixture.h"

#include <pthread.h>
#include <stdlib.h>

/* Every kind of fragment; no two share a program. */
static const char *const problems[] = { "f32 b1 h2/1 q17 k37 d16 causal lse",
                                        "f16 b2 h2 q9 k21 d32/16 lse",
                                        "bf16 b1 h2 q17 k37 d8 window5,3 lse",
                                        "f32 b2 h2 q9 k20 d8 k:f16 v:bf16 kvlen:20,3 lse",
                                        "f32 b2 h2 q17 k37 d16 softcap5 bias:1hqk lse",
                                        "f32 b3 h2 q9 k20 d8 causal varlen lse",
                                        "f32 b1 h2 q9 k40 d8 mod:relative lse",
                                        "f32 b1 h1 q33 k70 d8 mask:11qk blocks:16,16 lse",
                                        "f64 b1 h1 q9 k20 d8 causal sink lse",
                                        "f32 b2 h2 q9 k20 d8 alibi sink qlen:9,3 kvstart:1,0 lse" };
enum { PROBLEMS = sizeof problems / sizeof *problems, THREADS = 8, FEWER_THREADS = 4, FEW = 2 };

static struct device open_nest(const struct device *d, const char *dir)
{
    const clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, dir);
    return cache_fixture_open(d, &o);
}

/* ---- Made, found in memory, loaded ---- */

static void say(const struct cache_fixture_plan *how, const clattn_counters *c, const char *why)
{
    diag("source %d, binary %d, %llu compiles, %llu hits, %llu misses, %llu rejects, %llu saves; %s", how->source,
         how->binary, (unsigned long long)c->compiles, (unsigned long long)c->binary_hits,
         (unsigned long long)c->binary_misses, (unsigned long long)c->binary_rejects,
         (unsigned long long)c->binary_saves, why);
}

static void test_made(const struct device *n, const char *problem)
{
    const clattn_counters before = cache_fixture_counters(n->handle);
    struct cache_fixture_plan how;
    char why[512];
    const int verdict = cache_fixture_run(n, problem, NULL, &how, why, sizeof why);
    clattn_counters now = cache_fixture_counters(n->handle);
    if (verdict < 0) {
        skip("%s", why);
        return;
    }
    if (!ok(verdict && how.source == CLATTN_ORIGIN_DEFAULT && how.binary == CLATTN_BINARY_MISS &&
                now.compiles > before.compiles && now.binary_misses > before.binary_misses &&
                now.binary_saves > before.binary_saves && !now.binary_hits && !now.binary_rejects,
            "compiled, saved and right: %s", problem))
        say(&how, &now, why);
    const uint64_t compiles = now.compiles;
    const int again = cache_fixture_run(n, problem, NULL, &how, why, sizeof why);
    now = cache_fixture_counters(n->handle);
    if (!ok(again == 1 && how.binary == CLATTN_BINARY_HIT && now.compiles == compiles,
            "in the same handle it is there already: %s", problem))
        say(&how, &now, why);
}

static void test_loaded(const struct device *n, const char *problem)
{
    const clattn_counters before = cache_fixture_counters(n->handle);
    struct cache_fixture_plan how;
    char why[512];
    const int verdict = cache_fixture_run(n, problem, NULL, &how, why, sizeof why);
    const clattn_counters now = cache_fixture_counters(n->handle);
    if (verdict < 0)
        skip("%s", why);
    else if (!ok(verdict && how.source == CLATTN_ORIGIN_DEFAULT && how.binary == CLATTN_BINARY_HIT && !now.compiles &&
                     !now.binary_rejects && now.binary_hits > before.binary_hits && !now.binary_saves,
                 "loaded in another context and right: %s", problem))
        say(&how, &now, why);
}

/* make check has some of them; those of the threads are there in any case. */
static int is_due(int i)
{
    return i < FEW || harness_deals((unsigned)i, 5);
}

static void test_handles(const struct device *d, const char *dir)
{
    struct device n = open_nest(d, dir);
    for (int i = 0; i < PROBLEMS; i++)
        if (is_due(i))
            test_made(&n, problems[i]);
    is_int((long long)cache_fixture_counters(n.handle).store_faults, 0, "and the disk gave no trouble");
    cache_fixture_close(&n);
    n = open_nest(d, dir);
    for (int i = 0; i < PROBLEMS; i++)
        if (is_due(i))
            test_loaded(&n, problems[i]);
    is_int((long long)cache_fixture_counters(n.handle).store_faults, 0, "and the disk gave no trouble");
    cache_fixture_close(&n);
}

/* What a driver compiles under another environment is another binary. */
static void test_environment(const struct device *d, const char *dir)
{
    static const char name[] = "IGC_NothingThatIs";
    for (int i = 0; i < 4; i++) {
        struct device n = open_nest(d, dir);
        struct cache_fixture_plan how = { 0, -1, "" };
        char why[512];
        if (i == 1 || i == 2)
            setenv(name, "1", 1);
        const int verdict = cache_fixture_run(&n, problems[0], NULL, &how, why, sizeof why);
        unsetenv(name);
        ok(verdict == 1 && how.binary == (i == 1 ? CLATTN_BINARY_MISS : CLATTN_BINARY_HIT), "%s: %d, %s",
           i == 1   ? "under another environment it is compiled anew"
           : i == 2 ? "and found there the next time"
                    : "without it the old one is there",
           how.binary, why);
        cache_fixture_close(&n);
    }
}

/* A program of any length is kept: the text of a score_mod has most of it. */
static void test_long(const struct device *d, const char *dir)
{
    enum { LONG = 200000 };
    static const char code[] = "\ns = s * 0.5f;";
    clattn_workload c = each_case("f32 b1 h1 q5 k7 d8");
    char *const text = malloc(LONG + sizeof code);
    clattn_score_mod mod = { text, "long.cl", 0 };
    if (!text)
        bail("no memory");
    memset(text, '/', LONG);
    memcpy(text + LONG, code, sizeof code);
    c.problem.n_mods = 1;
    c.problem.mods = &mod;
    for (int i = 0; i < 3; i++) {
        struct device n = open_nest(d, dir);
        clattn_plan plan = NULL;
        clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
        text[LONG - 1] = i < 2 ? '/' : '.';
        ok(!clattn_plan_create(&plan, n.handle, &c.problem, NULL) && !clattn_plan_get_info(plan, &info) &&
               info.binary == (i == 1 ? CLATTN_BINARY_HIT : CLATTN_BINARY_MISS),
           "a program of %d bytes: %s", LONG, i == 0 ? "compiled" : i == 1 ? "found" : "another one far behind is not");
        clattn_plan_release(plan);
        cache_fixture_close(&n);
    }
    free(text);
}

/* Both there before either makes anything. */
static void test_two(const struct device *d)
{
    struct device n[2];
    struct cache_fixture_plan how[2];
    char dir[NEST_PATH], why[2][512];
    cache_fixture_make(dir);
    for (int i = 0; i < 2; i++)
        n[i] = open_nest(d, dir);
    for (int i = 0; i < 2; i++)
        if (!ok(cache_fixture_run(&n[i], problems[0], NULL, &how[i], why[i], sizeof why[i]) == 1 &&
                    how[i].binary == (i ? CLATTN_BINARY_HIT : CLATTN_BINARY_MISS),
                "two handles at once, the %s: %s", i ? "second loads what the first saved" : "first", problems[0]))
            diag("binary %d; %s", how[i].binary, why[i]);
    for (int i = 0; i < 2; i++)
        cache_fixture_close(&n[i]);
    cache_fixture_remove(dir);
}

/* ---- Threads ---- */

struct worker {
    struct device n;
    int number, good;
    char why[512];
};

static void *work(void *arg)
{
    struct worker *w = arg;
    w->good = 1;
    for (int i = 0; i < FEW && w->good; i++)
        w->good = cache_fixture_run(&w->n, problems[(i + w->number) % FEW], NULL, NULL, w->why, sizeof w->why) != 0;
    return NULL;
}

/* So many threads on two handles, each with a queue of its own. Returns how many were wrong. */
static int run_threads(struct device handles[2], int most)
{
    struct worker w[THREADS];
    pthread_t threads[THREADS];
    int bad = 0;
    memset(w, 0, sizeof w);
    for (int i = 0; i < most; i++) {
        cl_int e;
        w[i].number = i;
        w[i].n = handles[i % 2];
        w[i].n.queue = clCreateCommandQueue(w[i].n.cl.context, w[i].n.cl.device, 0, &e);
        if (e || pthread_create(&threads[i], NULL, work, &w[i]))
            bail("no queue or thread");
    }
    for (int i = 0; i < most; i++) {
        pthread_join(threads[i], NULL);
        clReleaseCommandQueue(w[i].n.queue);
        bad += !w[i].good;
        if (!w[i].good)
            diag("thread %d: %s", i, w[i].why);
    }
    return bad;
}

static void test_threads(const struct device *d)
{
    struct device n[2];
    struct cache_fixture_plan how;
    char dir[NEST_PATH], why[512];
    cache_fixture_make(dir);
    for (int i = 0; i < 2; i++)
        n[i] = open_nest(d, dir);
    const int most = harness_more() ? THREADS : FEWER_THREADS;
    is_int(run_threads(n, most), 0, "%d threads on two handles and an empty cache", most);
    const clattn_counters a = cache_fixture_counters(n[0].handle), b = cache_fixture_counters(n[1].handle);
    ok(a.binary_saves + b.binary_saves >= FEW && !(a.binary_rejects + b.binary_rejects) &&
           !(a.store_faults + b.store_faults),
       "they saved what they compiled: %llu", (unsigned long long)(a.binary_saves + b.binary_saves));
    for (int i = 0; i < 2; i++)
        cache_fixture_close(&n[i]);
    n[0] = open_nest(d, dir);
    for (int i = 0; i < FEW; i++)
        ok(cache_fixture_run(&n[0], problems[i], NULL, &how, why, sizeof why) == 1 && how.binary == CLATTN_BINARY_HIT,
           "a handle that comes after them loads it (%s): %s", why, problems[i]);
    cache_fixture_close(&n[0]);
    cache_fixture_remove(dir);
}

/* ---- What was loaded serves every length and queue ---- */

static const char *const lengths[] = { "f32 b1 h2/1 q17 k37 d16 causal lse", "f32 b1 h2/1 q1 k300 d16 causal lse",
                                       "f32 b2 h4/2 q130 k7 d16 causal lse", "f32 b1 h1 q300 k301 d16 causal lse",
                                       "f32 b2 h2 q5 k0 d16 causal lse",     "f32 b0 h2 q5 k7 d16 causal lse" };

static void run_lengths(const struct device *n, clattn_plan plan, cl_command_queue queue, const char *what)
{
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const clattn_workload c = each_case(lengths[i]);
        struct trial t;
        char why[512] = "";
        if (trial_make(&t, n->cl.context, &c, PADDED))
            bail("cannot set up: %s", lengths[i]);
        const cl_int e = trial_run(&t, plan, queue);
        ok(!e && trial_verify(&t, n->queue, why, sizeof why), "loaded, on %s (%s%s): %s", what, e ? "failed" : "", why,
           lengths[i]);
        trial_free(&t);
    }
}

static void test_lengths(const struct device *d, const char *dir)
{
    struct device n = open_nest(d, dir);
    const clattn_workload c = each_case(lengths[0]);
    const clattn_plan plan = each_own_plan(n.handle, &c.problem, NULL);
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    if (clattn_plan_get_info(plan, &info))
        bail("no plan");
    is_int(info.binary, CLATTN_BINARY_HIT, "a plan from a binary");
    run_lengths(&n, plan, n.queue, "an in-order queue");
    const cl_command_queue queue = each_unordered(d, n.cl.context);
    if (queue) {
        run_lengths(&n, plan, queue, "an out-of-order queue");
        clReleaseCommandQueue(queue);
    }
    is_int((long long)cache_fixture_counters(n.handle).compiles, 0, "no length compiled anything");
    clattn_plan_release(plan);
    cache_fixture_close(&n);
}

static void test_device(const struct device *d)
{
    char dir[NEST_PATH];
    cache_fixture_make(dir);
    test_handles(d, dir);
    test_lengths(d, dir);
    test_environment(d, dir);
    test_long(d, dir);
    cache_fixture_remove(dir);
    test_two(d);
    test_threads(d);
}

/* PoCL has a cache of its own, which must not be what makes things quick here. */
int main(void)
{
    cache_fixture_for_process("POCL_CACHE_DIR");
    return each_device(test_device);
}
