/* killed_plans.c - processes that make plans are killed at any moment, and what they kept serves the next ones
 * SPDX-License-Identifier: Apache-2.0
 *
 * This program starts itself again, several times at once, on one directory: plans, each made on a new handle, run
 * and judged. make check kills two processes, which make forward plans that build soon; CLATTN_PART=1: a hundred, which
 * make forward, backward and append plans by the table's configurations; CLATTN_FULL: hundreds. */
#include "config.h"

#include "tests/lib/appended.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"
#include "tests/lib/graded.h"
#include "tests/lib/process.h"

#include <sys/stat.h>
#include <unistd.h>

enum { TOGETHER = 2, KILLED = 120, MOST_KILLED = 360, DEALT = 60, PLANS = 4, WRONG = 7 };
enum { LATEST_MS = 700, PATIENCE_MS = 120000 };

/* ---- What a process does ---- */

struct maker {
    const struct device *d;
    clattn_handle h;
    char why[1024];
};

static int forward(struct maker *m)
{
    const struct device n = cache_fixture_of(m->d, m->h);
    const char *const config = harness_more() ? NULL : CACHE_FIXTURE_SOONEST;
    return cache_fixture_run(&n, "f32 b1 h2/1 q5 k300 d8 splits3 causal lse", config, NULL, m->why,
                             sizeof m->why) == 1;
}

static int backward(struct maker *m)
{
    const clattn_workload c = each_case("f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink lse bwd");
    struct graded g;
    clattn_plan plan = NULL;
    cl_int e = graded_make(&g, m->d->cl.context, m->d->queue, &c, PADDED, GRADED_ALL);
    e = e ? e : clattn_plan_create(&plan, m->h, &g.t.c.problem, NULL);
    e = e ? e : graded_run(&g, plan, m->d->queue);
    if (e)
        harness_words(m->h, e, m->why, sizeof m->why);
    const int good = !e && graded_verify(&g, m->d->queue, m->why, sizeof m->why);
    clattn_plan_release(plan);
    graded_free(&g);
    return good;
}

static int append(struct maker *m)
{
    clattn_workload c = each_case("f32 b2 h2 q3 k9 d32/20 k:q8_0 v:int8:16z page4");
    struct appended a;
    clattn_plan plan = NULL;
    uint64_t state = 4000;
    c.problem.flags |= CLATTN_APPEND | CLATTN_ROTARY | CLATTN_KV_LEN;
    appended_make(&a, &c.problem, &state, m->d->cl.context);
    cl_int e = clattn_plan_create(&plan, m->h, &c.problem, NULL);
    e = e ? e : clattn_enqueue_append(plan, m->d->queue, &a.args, 0, NULL, NULL);
    e = e ? e : clFinish(m->d->queue);
    if (e)
        harness_words(m->h, e, m->why, sizeof m->why);
    appended_expect(&a);
    const int good = !e && appended_agrees(&a, m->d->queue, m->why, sizeof m->why);
    clattn_plan_release(plan);
    appended_free(&a);
    return good;
}

static const struct {
    const char *name;
    int (*make)(struct maker *m);
} kinds[] = { { "forward", forward }, { "backward", backward }, { "append", append } };
static int kinds_now(void)
{
    return harness_more() ? (int)(sizeof kinds / sizeof *kinds) : 1;
}

static char own[NEST_PATH], root[NEST_PATH + 8]; /* a directory of the test's, and in it the library's */

/* One plan on a handle of its own. */
static int make(const struct device *d, int kind, char *why, size_t len)
{
    struct maker m = { .d = d, .h = cache_fixture_handle(d, CLATTN_TUNE_OFF, root) };
    const int good = kinds[kind].make(&m);
    snprintf(why, len, "%s", m.why);
    clattn_release(m.h);
    return good;
}

/* Where process i says how many plans it has made: so many bytes. */
static const char *progress(int i)
{
    static char path[NEST_PATH + 32];
    snprintf(path, sizeof path, "%s/made-%d", own, i);
    return path;
}

/* Until it is killed, or the test is, which it must not outlive. */
static int make_for_ever(int number)
{
    static const char bytes[PLANS + 1];
    const pid_t parent = getppid();
    const struct device *devices;
    const char *none;
    char why[1024];
    if (!harness_open(&devices, &none))
        return 1;
    for (int i = 0; getppid() == parent; i++) {
        const int kind = (number + i) % kinds_now();
        if (cache_fixture_write(progress(number), bytes, (size_t)(i < PLANS ? i : PLANS)))
            return 2;
        if (!make(&devices[0], kind, why, sizeof why)) {
            fprintf(stderr, "%s: %s\n", kinds[kind].name, why);
            _exit(WRONG);
        }
    }
    return 3;
}

/* ---- Killing ---- */

static intptr_t start(const char *self, int i)
{
    char number[16];
    char *argv[] = { (char *)(uintptr_t)self, (char *)"--make", own, number, NULL };
    snprintf(number, sizeof number, "%d", i);
    return process_start(argv);
}

static void wait_for(int i, int plans)
{
    struct stat now;
    for (int ms = 0; (stat(progress(i), &now) || now.st_size < plans) && ms < PATIENCE_MS; ms += 5)
        process_sleep(5);
}

/* At moments between a process's first plan and some later one, in an order that looks random. */
static void check_killed(const char *self)
{
    intptr_t running[TOGETHER];
    const int most = harness_flag("CLATTN_FULL") ? MOST_KILLED : KILLED;
    int killed = 0, good = 0, next = 0;
    for (int i = 0; i < most; i++) {
        if (!harness_deals((unsigned)i, DEALT))
            continue;
        while (next < killed + TOGETHER) {
            running[next % TOGETHER] = start(self, next);
            next++;
        }
        wait_for(killed, (int)(trial_hash(1, 1, (uint64_t)i) % (PLANS + 1)));
        process_sleep((int)(trial_hash(1, 2, (uint64_t)i) % LATEST_MS));
        good += process_kill(running[killed++ % TOGETHER]);
    }
    for (int i = killed; i < next; i++)
        good += process_kill(running[i % TOGETHER]) - 1;
    is_int(good, killed, "processes are killed, and none has ended by itself");
}

static void check_afterwards(void)
{
    const struct device *devices;
    const char *none;
    if (!harness_open(&devices, &none))
        bail("%s", none);
    const int files = cache_fixture_each(root, "", NULL, NULL);
    for (int i = 0; i < kinds_now(); i++) {
        char why[1024] = "";
        int good = make(&devices[0], i, why, sizeof why);
        ok(good, "%s: a plan is made behind them, and is right %s", kinds[i].name, why);
    }
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, root);
    clattn_cache_info info = { .struct_size = sizeof info };
    const cl_int e = clattn_cache_stat(&o, &info);
    ok(!e && info.binaries, "%d files were left: now %llu binaries, %llu things that are skipped", files,
       (unsigned long long)info.binaries, (unsigned long long)info.skipped);
    harness_close();
}

/* The driver has a directory of its own as well: killing may damage what it keeps. */
static void use(const char *directory)
{
    char pocl[NEST_PATH + 8];
    snprintf(own, sizeof own, "%s", directory);
    snprintf(root, sizeof root, "%s/cache", own);
    snprintf(pocl, sizeof pocl, "%s/pocl", own);
    mkdir(pocl, 0700); /* without it PoCL has no binaries */
    setenv("POCL_CACHE_DIR", pocl, 1);
}

int main(int argc, char **argv)
{
    char directory[NEST_PATH];
    harness_never_optimised();
    if (argc == 4 && !strcmp(argv[1], "--make")) {
        use(argv[2]);
        return make_for_ever(atoi(argv[3]));
    }
    cache_fixture_make(directory);
    use(directory);
    check_killed(argv[0]);
    check_afterwards();
    cache_fixture_remove(own);
    return done_testing();
}
