/* threads.c - many threads on one plan and one handle
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"

#include <pthread.h>

enum { MOST = 64, TIMES = 6, MAKERS = 8, ROUNDS = 4 };
static const char problem[] = "f32 b1 h2/1 q17 k37 d64 causal lse seed%u";
static const char half[] = "f16 b1 h2/1 q17 k37 d64 causal lse seed%u";

struct worker {
    const struct device *d;
    clattn_plan plan;
    cl_command_queue queue;
    pthread_barrier_t *start;
    struct trial t;
    int number, good;
    char why[512];
};

static clattn_workload numbered(const char *format, unsigned seed)
{
    char text[128];
    snprintf(text, sizeof text, format, seed);
    return each_case(text);
}

/* Starts n threads with `run`, waits for them, and counts those that are not good. */
static int run_all(struct worker *w, int n, void *(*run)(void *))
{
    pthread_t thread[MOST];
    pthread_barrier_t start;
    int i, bad = 0;
    if (pthread_barrier_init(&start, NULL, (unsigned)n))
        bail("no barrier");
    for (i = 0; i < n; i++) {
        w[i].start = &start;
        w[i].number = i;
        if (pthread_create(&thread[i], NULL, run, &w[i]))
            bail("no thread %d", i); /* the others wait at the barrier: there is no way on */
    }
    for (i = 0; i < n; i++) {
        pthread_join(thread[i], NULL);
        bad += !w[i].good;
        if (!w[i].good)
            diag("thread %d: %s", i, w[i].why);
    }
    pthread_barrier_destroy(&start);
    return bad;
}

/* ---- One plan ---- */

static void *run_plan(void *arg)
{
    struct worker *w = arg;
    int i;
    pthread_barrier_wait(w->start);
    w->good = 1;
    for (i = 0; i < TIMES && w->good; i++) {
        cl_int e = trial_reset(&w->t, w->queue);
        e = e ? e : trial_run(&w->t, w->plan, w->queue);
        if (e)
            snprintf(w->why, sizeof w->why, "%s", clattn_status_string(e));
        w->good = !e && trial_verify(&w->t, w->queue, w->why, sizeof w->why);
    }
    return NULL;
}

static void test_one_plan(const struct device *d, int n, int own_queues)
{
    struct worker *w = calloc((size_t)n, sizeof *w);
    const clattn_workload first = numbered(problem, 0);
    clattn_plan plan;
    char why[512] = "";
    cl_int e = CL_SUCCESS;
    int i;
    if (!w || harness_plan(d, &first.problem, NULL, &plan, why, sizeof why))
        bail("no plan: %s", why);
    for (i = 0; i < n && !e; i++) {
        const clattn_workload c = numbered(problem, (unsigned)i);
        w[i].d = d;
        w[i].plan = plan;
        e = trial_make(&w[i].t, d->cl.context, &c, PADDED);
        w[i].queue = own_queues && !e ? clCreateCommandQueue(d->cl.context, d->cl.device, 0, &e) : d->queue;
    }
    if (e)
        bail("cannot set up: %s", clattn_status_string(e));
    is_int(run_all(w, n, run_plan), 0, "%d threads share a plan, %s: %s", n,
           own_queues ? "a queue each" : "and a queue", "f32 b1 h2/1 q17 k37 d64 causal lse");
    for (i = 0; i < n; i++) {
        trial_free(&w[i].t);
        if (own_queues)
            clReleaseCommandQueue(w[i].queue);
    }
    free(w);
}

/* ---- Making and releasing ---- */

static int make_and_run(struct worker *w, const clattn_workload *c)
{
    clattn_plan plan = NULL;
    struct trial t;
    int good = 0;
    cl_int e = clattn_retain(w->d->handle);
    e = e ? e : clattn_plan_create(&plan, w->d->handle, &c->problem, NULL);
    e = e ? e : clattn_plan_retain(plan);
    if (!e && !(e = trial_make(&t, w->d->cl.context, c, PADDED))) {
        e = trial_run(&t, plan, w->queue);
        good = !e && trial_verify(&t, w->queue, w->why, sizeof w->why);
        trial_free(&t);
    }
    if (e)
        snprintf(w->why, sizeof w->why, "%s", clattn_status_string(e));
    clattn_plan_release(plan);
    clattn_plan_release(plan);
    clattn_release(w->d->handle);
    return good;
}

static void *make_plans(void *arg)
{
    struct worker *w = arg;
    int i;
    pthread_barrier_wait(w->start);
    w->good = 1;
    for (i = 0; i < ROUNDS && w->good; i++) {
        const clattn_workload c = numbered((w->number + i) % 2 ? half : problem, (unsigned)(w->number * 100 + i));
        w->good = make_and_run(w, &c);
    }
    return NULL;
}

static void test_making(const struct device *d)
{
    struct worker w[MAKERS];
    int i;
    memset(w, 0, sizeof w);
    for (i = 0; i < MAKERS; i++) {
        w[i].d = d;
        w[i].queue = d->queue;
    }
    is_int(run_all(w, MAKERS, make_plans), 0, "%d threads make, use and release plans", MAKERS);
}

/* ---- Words ---- */

/* Each thread fails in its own way and finds its own words after all have failed. */
static void *fail(void *arg)
{
    struct worker *w = arg;
    clattn_workload c = numbered(problem, 0);
    char want[16];
    c.problem.d = 1000 + w->number;
    snprintf(want, sizeof want, "%d", (int)c.problem.d);
    pthread_barrier_wait(w->start);
    w->good = clattn_supports(w->d->handle, &c.problem, NULL, 0) < 0;
    pthread_barrier_wait(w->start);
    clattn_error_detail(w->d->handle, w->why, sizeof w->why, NULL);
    w->good = w->good && strstr(w->why, want);
    return NULL;
}

static void *have_no_words(void *arg)
{
    struct worker *w = arg;
    clattn_error_detail(w->d->handle, w->why, sizeof w->why, NULL);
    w->good = !*w->why;
    return NULL;
}

static void test_words(const struct device *d, int n)
{
    struct worker *w = calloc((size_t)n, sizeof *w);
    int i;
    if (!w)
        bail("no memory");
    for (i = 0; i < n; i++)
        w[i].d = d;
    is_int(run_all(w, n, fail), 0, "%d threads fail, each finds its own words", n);
    memset(w, 0, (size_t)n * sizeof *w);
    for (i = 0; i < n; i++)
        w[i].d = d;
    is_int(run_all(w, n, have_no_words), 0, "%d threads that come after them find none", n);
    free(w);
}

static void test_device(const struct device *d)
{
    test_one_plan(d, 32, 1);
    test_one_plan(d, 32, 0);
    test_one_plan(d, 64, 1);
    test_one_plan(d, 64, 0);
    test_making(d);
    test_words(d, 4);
    test_words(d, MOST);
}

int main(void)
{
    return each_device(test_device);
}
