/* together.c - threads that need the same program at the same time: one compiles it, and the others wait
 * SPDX-License-Identifier: Apache-2.0
 *
 * The wrapped clBuildProgram returns only once no thread can reach it any more before it does: each of them is in it
 * too, waits for another one, or is done. Who was woken does not wait, even if it has not gone on yet. So what is
 * counted does not depend on how fast anything is. make check has no parts of keys and no quantised ones, and fewer
 * searches; CLATTN_PART=1: all. */
#include "config.h"

#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"

#include <pthread.h>
#include <unistd.h>

enum { THREADS = 8 };

/* ---- What threads do ---- */

static struct gate {
    pthread_mutex_t lock;
    pthread_cond_t moved;
    int threads;                 /* that are under way; 0: nothing is held up */
    int building, waiting, done; /* of them */
    int builds, failing;         /* clBuildProgram so far; of which the next ones fail */
    unsigned woken;              /* how often all that waited were */
} gate = { .lock = PTHREAD_MUTEX_INITIALIZER, .moved = PTHREAD_COND_INITIALIZER };

int __real_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m);
int __real_pthread_cond_broadcast(pthread_cond_t *c);
int __wrap_pthread_cond_broadcast(pthread_cond_t *c);

static void move(int *count, int by)
{
    pthread_mutex_lock(&gate.lock);
    *count += by;
    __real_pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.lock);
}

/* Called by the library: its thread waits for another one. It has one condition variable, and wakes all. */
int __wrap_pthread_cond_wait(pthread_cond_t *c, pthread_mutex_t *m)
{
    pthread_mutex_lock(&gate.lock);
    const unsigned before = gate.woken;
    gate.waiting++;
    __real_pthread_cond_broadcast(&gate.moved);
    pthread_mutex_unlock(&gate.lock);
    const int status = __real_pthread_cond_wait(c, m);
    pthread_mutex_lock(&gate.lock);
    gate.waiting -= gate.woken == before; /* it woke by itself */
    pthread_mutex_unlock(&gate.lock);
    return status;
}
int __wrap_pthread_cond_broadcast(pthread_cond_t *c)
{
    pthread_mutex_lock(&gate.lock);
    gate.woken++;
    gate.waiting = 0;
    pthread_mutex_unlock(&gate.lock);
    return __real_pthread_cond_broadcast(c);
}

/* Whether the build is to fail. */
static int pass_gate(void)
{
    pthread_mutex_lock(&gate.lock);
    gate.builds++;
    gate.building++;
    __real_pthread_cond_broadcast(&gate.moved);
    while (gate.building + gate.waiting + gate.done < gate.threads)
        __real_pthread_cond_wait(&gate.moved, &gate.lock);
    const int fails = gate.failing > 0;
    gate.failing -= fails;
    pthread_mutex_unlock(&gate.lock);
    return fails;
}

typedef void(CL_CALLBACK *notify)(cl_program, void *);
cl_int __real_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *options, notify call,
                             void *user);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *options, notify call,
                             void *user);
cl_int __wrap_clBuildProgram(cl_program p, cl_uint n, const cl_device_id *d, const char *options, notify call,
                             void *user)
{
    const int fails = pass_gate();
    const cl_int status = fails ? CL_OUT_OF_RESOURCES : __real_clBuildProgram(p, n, d, options, call, user);
    move(&gate.building, -1);
    return status;
}

/* ---- Calls ---- */

struct caller {
    pthread_t thread;
    const struct device *d;
    clattn_handle h;
    clattn_workload c;
    const char *how; /* NULL: clattn_forward(); else a plan by this configuration */
    cl_int status;
    char why[1024];
};

static cl_int call(struct caller *w)
{
    clattn_plan plan = NULL;
    struct trial t;
    cl_int e = trial_make(&t, w->d->cl.context, &w->c, PADDED);
    if (e)
        return e;
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    options.config = w->how;
    if (w->how)
        e = clattn_plan_create(&plan, w->h, &t.c.problem, &options);
    else
        e = clattn_forward(w->h, w->d->queue, &t.c.problem, &t.args, 0, NULL, NULL);
    if (e)
        clattn_error_detail(w->h, w->why, sizeof w->why, NULL);
    else if (plan)
        e = trial_run(&t, plan, w->d->queue);
    e = e ? e : clFinish(w->d->queue);
    if (!e && !trial_verify(&t, w->d->queue, w->why, sizeof w->why))
        e = CLATTN_ERROR_WRONG_RESULT;
    clattn_plan_release(plan);
    trial_free(&t);
    return e;
}

static void *run_caller(void *arg)
{
    struct caller *const w = arg;
    w->status = call(w);
    move(&gate.done, 1);
    return NULL;
}

/* So many threads call at once, on a new handle. Returns how often the driver built; *failed: calls that failed. */
static int together(struct caller *w, int n, const struct device *d, const char *const *texts, int n_texts,
                    const char *how, int failing, int *failed)
{
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    *failed = 0;
    gate.threads = n;
    gate.done = gate.builds = 0;
    gate.failing = failing;
    for (int i = 0; i < n; i++) {
        w[i] = (struct caller){ .d = d, .h = h, .c = each_case(texts[i % n_texts]), .how = how };
        if (pthread_create(&w[i].thread, NULL, run_caller, &w[i]))
            bail("no thread %d", i);
    }
    for (int i = 0; i < n; i++) {
        pthread_join(w[i].thread, NULL);
        *failed += w[i].status != CL_SUCCESS;
        if (w[i].status && !failing)
            diag("thread %d: %s %s", i, clattn_status_string(w[i].status), w[i].why);
    }
    gate.threads = gate.failing = 0;
    clattn_release(h);
    return gate.builds;
}

/* ---- Tests ---- */

static void test_once(const struct device *d)
{
    static const struct {
        const char *text, *how;
        int soon;
    } rows[] = {
        { "f32 b1 h2/1 q5 k7 d8 causal lse", "", 1 },
        { "f32 b1 h2/1 q5 k7 d8 causal lse", NULL, 1 },
        /* asks which 2^x is accurate */
        { "f32 b1 h2/1 q5 k7 d8 causal lse", "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", 1 },
        { "f16 b2 h2 q5 k300 d32 splits3 kvlen:40,300 lse", "", 0 },
        { "f16 b2 h2 q5 k300 d32 splits3 kvlen:40,300 lse", NULL, 0 },
        { "f32 b1 h2/1 q1 k37 d32 k:int8 v:q4_0 lse", NULL, 0 },
    };
    struct caller w[THREADS];
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        int failed, also;
        if (!harness_turn((unsigned)i, rows[i].soon))
            continue;
        const int alone = together(w, 1, d, &rows[i].text, 1, rows[i].how, 0, &failed);
        const int builds = together(w, THREADS, d, &rows[i].text, 1, rows[i].how, 0, &also);
        ok(!failed && !also, "%s: right, by one thread and by %d: %s", d->name, THREADS, rows[i].text);
        is_int(builds, alone, "%d threads build what one does, %s: %s", THREADS,
               !rows[i].how ? "in one call" : *rows[i].how ? rows[i].how : "as plans", rows[i].text);
    }
}

/* Plans for other sizes have the same programs. */
static void test_sizes(const struct device *d)
{
    static const char *const texts[] = { "f32 b1 h2 q5 k37 d8 lse", "f32 b1 h2 q5 k80 d8 lse",
                                         "f32 b2 h2 q5 k37 d8 lse", "f32 b1 h2 q5 k150 d8 lse" };
    struct caller w[THREADS];
    int failed, also;
    const int alone = together(w, 1, d, texts, 1, NULL, 0, &failed);
    const int builds = together(w, 4, d, texts, 4, NULL, 0, &also);
    ok(!failed && !also && builds == alone, "%s: 4 problems with one program: %d builds, alone %d", d->name, builds,
       alone);
}

/* The build that all wait for fails. In f64, which has no 2^x to ask for: that is the first build otherwise, and its
 * failure only chooses another 2^x. A driver without resources says nothing of other configurations, so none is tried.
 */
static void test_failure(const struct device *d)
{
    static const char *const text = "f64 b1 h2/1 q5 k7 d8 causal lse";
    struct caller w[THREADS];
    int failed;
    if (harness_may_refuse_text(d, text, NULL)) {
        skip("%s has no f64", d->name);
        return;
    }
    const int alone = together(w, 1, d, &text, 1, "", 0, &failed);
    const int builds = together(w, THREADS, d, &text, 1, "", 1, &failed);
    is_int(failed, 1, "%s: the build that all wait for fails: so does the call whose it was, and no other", d->name);
    is_int(builds, alone + THREADS - 1, "each of the others builds by itself");
}

/* ---- Callbacks that call back ---- */

static struct nested {
    const struct device *d;
    clattn_handle h;
    clattn_problem problem;
    int depth, calls, failed, skipped; /* skipped: so many of the first calls make none */
} nested;

static void make_a_plan(void)
{
    clattn_plan plan = NULL;
    if (!nested.h || nested.depth || nested.calls++ < nested.skipped)
        return;
    nested.depth++;
    nested.failed += clattn_plan_create(&plan, nested.h, &nested.problem, NULL) != CL_SUCCESS;
    clattn_plan_release(plan);
    nested.depth--;
}

static void on_log(void *user, const char *text)
{
    (void)user, (void)text;
    make_a_plan();
}

static int on_get(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    (void)user, (void)name, (void)bytes, (void)room, (void)size;
    make_a_plan();
    return 1; /* there is no such blob */
}

static int on_put(void *user, const char *name, const void *bytes, size_t size)
{
    (void)user, (void)name, (void)bytes, (void)size;
    make_a_plan();
    return 0;
}

/* The application's functions make the plan that is being made, from the skipped-th of their calls on. Returns how many
 * calls there were, -1 when a plan could not be made. */
static int nest(const struct device *d, const char *text, int tune, int skipped)
{
    const clattn_store store = { sizeof store, on_get, on_put, NULL };
    const clattn_workload c = each_case(text);
    clattn_options options = CLATTN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    options.store = &store;
    options.log = on_log;
    options.tune = tune;
    options.tune_seconds = 0.001;
    nested = (struct nested){ .d = d, .skipped = skipped };
    const clattn_handle h = each_handle(d, &options);
    nested.problem = c.problem;
    nested.h = h;
    const cl_int e = clattn_plan_create(&plan, h, &c.problem, NULL);
    clattn_plan_release(plan);
    nested.h = NULL;
    clattn_release(h);
    return e || nested.failed ? -1 : nested.calls;
}

static void test_nested(const struct device *d, const char *text, int tune, int most)
{
    int calls, skipped = 0;
    while ((calls = nest(d, text, tune, skipped)) > skipped && skipped < most)
        skipped++;
    ok(calls > 0 && skipped > 1, "%s: store and log make the same plan, from each of %d calls on, %s: %s", d->name,
       skipped, tune == CLATTN_TUNE_QUICK ? "in a search as well" : "without a search", text);
}

static void test_device(const struct device *d)
{
    test_once(d);
    test_sizes(d);
    test_failure(d);
    test_nested(d, "f32 b1 h2/1 q5 k7 d8 causal lse", CLATTN_TUNE_OFF, 100);
    if (harness_turn(6, 0))
        test_nested(d, "f32 b1 h2 q5 k300 d16 splits3 lse", CLATTN_TUNE_OFF, 100);
    test_nested(d, "f32 b1 h2/1 q5 k7 d8 causal lse", CLATTN_TUNE_QUICK, harness_turn(7, 0) ? 12 : 4);
}

int main(void)
{
    enum { SECONDS = 1200 };
    harness_unoptimised();
    alarm(SECONDS); /* threads that wait for each other must not hang the test */
    return each_device(test_device);
}
