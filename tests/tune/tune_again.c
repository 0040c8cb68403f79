/* tune_again.c - a search that is begun inside another one on the same handle: by its callbacks, and by a second thread
 * SPDX-License-Identifier: Apache-2.0
 *
 * One thread may search again from the log or from what it is told of a search; others wait until it has done. Times
 * are made up, and each search has a favourite of its own, which it finds. */
#include "config.h"

#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"
#include "tests/lib/fake_measure.h"
#include "tests/lib/unsaved.h"

#include <pthread.h>
#include <unistd.h>

static const char text[] = "f32 b1 h1 q9 k20 d8 causal lse", other_text[] = "f32 b1 h1 q9 k20 d64 lse";
enum { PATIENCE = 120, PAUSE_US = 50000 };

/* ---- A search ---- */

struct search {
    clattn_handle handle;
    clattn_problem problem;
    struct pretend times;
    char favourite[128], config[128];
    cl_int status;
    int told, at;                     /* calls of its progress so far; `inside` comes in this one, 0: in none */
    void (*inside)(struct search *s); /* called once; NULL: not, or it was */
    struct search *other;             /* for that */
    pthread_t thread;
};

/* Whose times were asked for last, and how often that changed. */
static struct {
    struct search *who;
    int changes;
} measuring;

static void look_inside(struct search *s)
{
    void (*const inside)(struct search *) = s->inside;
    s->inside = NULL;
    if (inside)
        inside(s);
}

static void on_log(void *user, const char *line)
{
    struct search **const s = user;
    if (*s && !(*s)->at && !strncmp(line, "measuring ", 10))
        look_inside(*s);
}

static int on_progress(void *user, const clattn_progress *p)
{
    struct search *const s = user;
    (void)p;
    if (++s->told == s->at)
        look_inside(s);
    return 0;
}

static clattn_measure measure_of(const struct search *s)
{
    return pretend_measure((struct pretend *)(uintptr_t)&s->times);
}
static cl_int on_open(void *user, const char *config)
{
    const clattn_measure m = measure_of(user);
    return m.open(m.user, config);
}
static cl_int on_run(void *user, const char *config, double *seconds)
{
    const clattn_measure m = measure_of(user);
    if (__atomic_exchange_n(&measuring.who, user, __ATOMIC_ACQ_REL) != user)
        __atomic_add_fetch(&measuring.changes, 1, __ATOMIC_RELAXED);
    usleep(100); /* so that another thread's search would come between */
    return m.run(m.user, config, seconds);
}
static void on_close(void *user, const char *config)
{
    const clattn_measure m = measure_of(user);
    m.close(m.user, config);
}

static void run(struct search *s)
{
    const clattn_measure measure = { sizeof measure, on_open, on_run, on_close, s };
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    o.effort = CLATTN_TUNE_QUICK;
    o.seconds = 60; /* more than it takes: time shall not decide */
    o.measure = &measure;
    o.progress = on_progress;
    o.progress_user = s;
    s->status = clattn_tune(s->handle, &s->problem, &o, s->config, sizeof s->config);
}

static void *run_in_thread(void *s)
{
    run(s);
    return NULL;
}

/* ---- Two of them ---- */

struct pair {
    char dir[NEST_PATH];
    struct search *listener; /* whose callbacks the handle's log is for */
    struct search outer, inner;
};

/* favourite: the index of the configuration that is to win. */
static void fill(struct search *s, clattn_handle h, const char *problem, size_t favourite)
{
    *s = (struct search){ .handle = h, .problem = each_case(problem).problem };
    if (clattn_config_at(h, &s->problem, favourite, s->favourite, sizeof s->favourite))
        bail("%s has too few configurations", problem);
    s->times.favourite = s->favourite;
}

static void open_pair(struct pair *x, const struct device *d, const char *inner, void (*inside)(struct search *s))
{
    memset(x, 0, sizeof *x);
    cache_fixture_make(x->dir);
    clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, x->dir);
    o.log = on_log;
    o.log_user = &x->listener;
    const clattn_handle h = each_handle(d, &o);
    fill(&x->outer, h, text, 1);
    fill(&x->inner, h, inner, 2);
    x->outer.inside = inside;
    x->outer.other = &x->inner;
    x->listener = &x->outer;
    measuring.who = NULL;
    measuring.changes = 0;
}

static void close_pair(struct pair *x)
{
    pretend_forget(&x->outer.times);
    pretend_forget(&x->inner.times);
    clattn_release(x->outer.handle);
    cache_fixture_remove(x->dir);
}

/* It was run, and found its own favourite by calls in order. */
static int is_found(struct search *s)
{
    const int good = !s->status && !strcmp(s->config, s->favourite) && pretend_is_over(&s->times) && s->times.n > 2;
    if (!good)
        diag("%s: found '%s', not '%s', of %d; %s", clattn_status_string(s->status), s->config, s->favourite,
             s->times.n, s->times.why);
    return good;
}

static int records(const struct pair *x)
{
    return cache_fixture_each(x->dir, "tune", NULL, NULL);
}

/* ---- By callbacks ---- */

static void search_again(struct search *s)
{
    run(s->other);
}

static void test_nested(const struct device *d, const char *inner, int at)
{
    struct pair x;
    open_pair(&x, d, inner, search_again);
    x.outer.at = at;
    run(&x.outer);
    const int both = is_found(&x.inner) & is_found(&x.outer), kept = records(&x);
    ok(both && kept == (inner == text ? 1 : 2), "inside a search, by %s %d, of %s: both end, %d kept",
       at ? "its progress" : "the log", at, inner, kept);
    close_pair(&x);
}

/* ---- By another thread ---- */

static void *make_plan(void *arg)
{
    struct search *const s = arg;
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    o.config = "naive";
    s->status = clattn_plan_create(&plan, s->handle, &s->problem, &o);
    clattn_plan_release(plan);
    return NULL;
}

static void start(struct search *s, void *(*body)(void *))
{
    if (pthread_create(&s->thread, NULL, body, s))
        bail("no thread");
}

static void search_beside(struct search *s)
{
    start(s->other, run_in_thread);
    usleep(PAUSE_US); /* so that it gets as far as it can */
}

static void plan_beside(struct search *s)
{
    start(s->other, make_plan);
    pthread_join(s->other->thread, NULL);
}

static void test_beside(const struct device *d, const char *inner)
{
    struct pair x;
    open_pair(&x, d, inner, search_beside);
    run(&x.outer);
    pthread_join(x.inner.thread, NULL);
    const int both = is_found(&x.inner) & is_found(&x.outer), kept = records(&x);
    ok(both && kept == (inner == text ? 1 : 2), "a second thread searches, of %s: both end, %d kept", inner, kept);
    is_int(measuring.changes, 2, "and neither measures while the other does");
    close_pair(&x);
}

static void test_plan(const struct device *d)
{
    struct pair x;
    open_pair(&x, d, other_text, plan_beside);
    run(&x.outer);
    ok(is_found(&x.outer) && !x.inner.status, "the log waits for another thread that makes a plan (%s)",
       clattn_status_string(x.inner.status));
    close_pair(&x);
}

static void test_device(const struct device *d)
{
    test_nested(d, text, 0);
    test_nested(d, other_text, 0);
    test_nested(d, text, 1);
    test_nested(d, other_text, 20);
    test_beside(d, text);
    test_plan(d);
}

int main(void)
{
    alarm(PATIENCE); /* rather than hang */
    return each_device(test_device);
}
