/* one_call.c - clattn_forward() and clattn_backward(): right, with plans that are found again, in any number
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has a call of each kind: plain, of parts of keys, of varlen sequences, of gradients; CLATTN_PART=1: all.
 * What does not matter is as in other tests, whose programs are built then: the least time goes into these. */
#include "config.h"

#include "src/api/handle.h"
#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"
#include "tests/lib/graded.h"

#include <pthread.h>


/* One call on inputs of its own; 1: right. */
static int forward(const struct device *d, clattn_handle h, const char *text, char *why, size_t len)
{
    const clattn_workload c = each_case(text);
    struct trial t;
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    e = e ? e : clattn_forward(h, d->queue, &t.c.problem, &t.args, 0, NULL, NULL);
    e = e ? e : clFinish(d->queue);
    if (e) {
        clattn_error_detail(h, why, len, NULL);
        diag("%s: %s", clattn_status_string(e), text);
    }
    const int good = !e && trial_verify(&t, d->queue, why, len);
    trial_free(&t);
    return good;
}

static int backward(const struct device *d, clattn_handle h, const char *text, char *why, size_t len)
{
    const clattn_workload c = each_case(text);
    struct graded g;
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, PADDED, GRADED_ALL);
    g.t.c.problem.flags &= ~(uint32_t)CLATTN_BACKWARD; /* that of the forward call will do */
    e = e ? e : clattn_backward(h, d->queue, &g.t.c.problem, &g.args, 0, NULL, NULL);
    e = e ? e : clFinish(d->queue);
    if (e) {
        clattn_error_detail(h, why, len, NULL);
        diag("%s: %s", clattn_status_string(e), text);
    }
    const int good = !e && graded_verify(&g, d->queue, why, len);
    graded_free(&g);
    return good;
}

static void test_rows(const struct device *d)
{
    static const struct {
        int (*call)(const struct device *, clattn_handle, const char *, char *, size_t);
        const char *text;
        int soon;
    } rows[] = {
        { forward, "f32 b2 h4/2 q5 k7 d8 causal lse", 1 },
        { forward, "f32 b1 h2 q5 k300 d8 splits3 lse", 1 },
        { forward, "f32 b3 h2 q20 k33 d8 varlen causal lse", 1 },
        { forward, "f32 b2 h4/2 q37 k70 d24 causal lse", 0 },
        { forward, "f32 b1 h1 q1 k8200 d64 lse", 0 }, /* split, where that fills the device: in a workspace */
        { forward, "f16 b2 h2 q20 k33 d16 bias:11qk mask:b1qk sink lse", 0 },
        { forward, "bf16 b2 h2/1 q3 k50 d32 k:int8 v:q8_0 kvlen:7,50 page16 lse", 0 },
        { backward, "f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink lse bwd", 1 },
        { backward, "f32 b2 h4/2 q37 k70 d24 causal alibi lse bwd", 0 },
        { backward, "f16 b1 h2 q37 k70 d24 bias:1h1k sink lse bwd", 0 },
    };
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        char why[1024] = "";
        if (!harness_turn((unsigned)i, rows[i].soon))
            continue;
        int good = rows[i].call(d, h, rows[i].text, why, sizeof why);
        const uint64_t compiles = cache_fixture_counters(h).compiles;
        good = good && rows[i].call(d, h, rows[i].text, why, sizeof why);
        ok(good, "%s: %s %s", d->name, rows[i].text, why);
        is_int(compiles ? (int64_t)(cache_fixture_counters(h).compiles - compiles) : -1, 0,
               "%s: the second time nothing is compiled: %s", d->name, rows[i].text);
    }
    clattn_release(h);
}

/* ---- Which plan ---- */

/* The plan that was used last. */
static const struct kept_plan *last(clattn_handle h)
{
    const struct plan_table_row *row = &h->plans.rows[0];
    for (int i = 1; i < PLAN_TABLE_ROWS; i++)
        if (h->plans.rows[i].kept && h->plans.rows[i].used > row->used)
            row = &h->plans.rows[i];
    return row->kept;
}
static int is_kept(clattn_handle h, const struct kept_plan *k)
{
    for (int i = 0; i < PLAN_TABLE_ROWS; i++)
        if (h->plans.rows[i].kept == k)
            return 1;
    return 0;
}
static int n_kept(clattn_handle h)
{
    int n = 0;
    for (int i = 0; i < PLAN_TABLE_ROWS; i++)
        n += h->plans.rows[i].kept != NULL;
    return n;
}

static const struct kept_plan *plan_of(const struct device *d, clattn_handle h, const char *text)
{
    char why[1024] = "";
    if (!forward(d, h, text, why, sizeof why)) {
        diag("%s: %s", text, why);
        return NULL;
    }
    return last(h);
}

static void test_sizes(const struct device *d)
{
    static const struct {
        const char *text;
        int same; /* as the row before */
    } rows[] = {
        { "f32 b3 h2 q3 k33 d8", 0 }, { "f32 b2 h2 q4 k64 d8", 1 }, { "f32 b2 h2 q4 k65 d8", 0 },
        { "f32 b2 h2 q5 k65 d8", 0 }, { "f32 b4 h2 q5 k65 d8", 0 }, { "f32 b4 h1 q5 k65 d8", 0 },
        { "f32 b4 h1 q0 k65 d8", 0 }, { "f32 b4 h1 q5 k65 d9", 0 }, { "f32 b4 h1 q5 k65 d9 scale0.5", 0 },
    };
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    const struct kept_plan *before = NULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct kept_plan *const now = plan_of(d, h, rows[i].text);
        ok(now && (now == before) == rows[i].same, "%s: %s has %s", d->name, rows[i].text,
           rows[i].same ? "the plan of the row before" : "a plan of its own");
        before = now;
    }
    clattn_release(h);
}

static void test_bound(const struct device *d)
{
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    const struct kept_plan *first = NULL, *second = NULL;
    int good = 1;
    for (int i = 0; i < PLAN_TABLE_ROWS + 1; i++) {
        char text[64];
        snprintf(text, sizeof text, "f32 b1 h1 q5 k7 d8 scale0.%d", 101 + (i < PLAN_TABLE_ROWS ? i : 0));
        const struct kept_plan *const now = plan_of(d, h, text);
        good = good && now && (i < PLAN_TABLE_ROWS || now == first);
        first = i ? first : now;
        second = i == 1 ? now : second;
    }
    ok(good && n_kept(h) == PLAN_TABLE_ROWS, "%s: %d plans are kept", d->name, PLAN_TABLE_ROWS);
    ok(plan_of(d, h, "f32 b1 h1 q5 k7 d8 scale0.5") && n_kept(h) == PLAN_TABLE_ROWS && is_kept(h, first) &&
           !is_kept(h, second),
       "%s: one more, and that which was unused for longest is gone", d->name);
    clattn_release(h);
}

/* ---- What changes plans ---- */

static const char *engine_of(const struct kept_plan *k)
{
    return k ? k->plan.config.engine->name : "none";
}

static void test_changes(const struct device *d)
{
    static const char text[] = "f32 b2 h4/2 q5 k7 d8 causal lse";
    const clattn_workload c = each_case(text);
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    char usual[32];
    snprintf(usual, sizeof usual, "%s", engine_of(plan_of(d, h, text)));
    ok(!clattn_set_config(h, &c.problem, "naive"), "a configuration is set");
    is_str(engine_of(plan_of(d, h, text)), "naive", "%s: the next call takes it", d->name);
    ok(!clattn_set_config(h, &c.problem, NULL), "and taken back");
    is_str(engine_of(plan_of(d, h, text)), usual, "%s: the next call has the usual one", d->name);
    const clattn_tune_options options = { sizeof options, CLATTN_TUNE_QUICK, 0, 0.001, NULL, NULL, NULL, 0 };
    ok(!clattn_tune(h, &c.problem, &options, NULL, 0) && !n_kept(h), "a search leaves no plan");
    plan_of(d, h, text);
    ok(!clattn_wisdom_forget(h, NULL) && !n_kept(h), "nor does forgetting records");
    plan_of(d, h, text);
    ok(!clattn_wisdom_import(h, "", 0, NULL) && !n_kept(h), "nor does importing some");
    clattn_release(h);
}

/* A configuration is set while a plan is made: the store asks for a record then, and calls back. */
struct changer {
    clattn_handle h;
    const clattn_problem *p;
    int changes;
};

static int change_once(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    struct changer *const c = user;
    (void)name;
    (void)bytes;
    (void)room;
    (void)size;
    if (c->h && !c->changes++ && clattn_set_config(c->h, c->p, "naive"))
        bail("no configuration is set");
    return 1; /* there is no such blob */
}

static int keep_nothing(void *user, const char *name, const void *bytes, size_t size)
{
    (void)user;
    (void)name;
    (void)bytes;
    (void)size;
    return 1;
}

static void test_change_under_way(const struct device *d)
{
    static const char text[] = "f32 b2 h4/2 q5 k7 d8 causal lse";
    const clattn_workload c = each_case(text);
    struct changer changer = { NULL, &c.problem, 0 };
    const clattn_store store = { sizeof store, change_once, keep_nothing, &changer };
    clattn_options options = CLATTN_OPTIONS_INIT;
    options.store = &store;
    options.tune = CLATTN_TUNE_OFF;
    const clattn_handle h = each_handle(d, &options);
    changer.h = h;
    char why[1024] = "";
    const int good = forward(d, h, text, why, sizeof why);
    ok(good && changer.changes, "%s: a configuration is set while the plan is made %s", d->name, why);
    is_str(engine_of(plan_of(d, h, text)), "naive", "%s: the next call takes it", d->name);
    clattn_release(h);
}

/* ---- Arguments ---- */

static void test_arguments(const struct device *d)
{
    const clattn_workload c = each_case("f32 b1 h2 q5 k300 d8 splits3 lse");
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    clattn_problem p;
    struct trial t;
    char why[1024] = "";
    cl_event done = NULL;
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED), e2;
    if (e)
        bail("no trial: %s", clattn_status_string(e));
    /* The sizes of the call, not of the problem; and a flag that goes with gradients. */
    p = t.c.problem;
    p.flags |= CLATTN_BACKWARD;
    p.sizes.nq = 8;
    p.sizes.nk = 400;
    t.args.sizes = &t.sizes;
    const cl_event gate = each_gate(d->cl.context);
    e = clattn_forward(h, d->queue, &p, &t.args, 1, &gate, &done);
    e2 = clSetUserEventStatus(gate, CL_COMPLETE);
    e = e ? e : e2 ? e2 : clWaitForEvents(1, &done);
    ok(!e && trial_verify(&t, d->queue, why, sizeof why),
       "%s: sizes of the call, an event to wait for and one back %s %s", d->name, clattn_status_string(e), why);
    clReleaseEvent(gate);
    if (done)
        clReleaseEvent(done);
    /* A workspace of the caller's is taken as it is. */
    const struct device own = cache_fixture_of(d, h);
    done = NULL;
    t.args.workspace = t.image[0].mem;
    t.args.workspace_offset = 0;
    t.args.workspace_size = 32;
    each_refused(&own, clattn_forward(h, d->queue, &p, &t.args, 0, NULL, &done), done, CLATTN_ERROR_WORKSPACE,
                 "workspace", "a workspace that is too small");
    trial_free(&t);
    clattn_release(h);
}

/* One problem for both calls, with what only forward plans have. */
static void test_both(const struct device *d)
{
    const clattn_workload c = each_case("f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink lse bwd");
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    struct graded g;
    char why[1024] = "";
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, PADDED, GRADED_ALL);
    clattn_problem p = g.t.c.problem;
    p.flags |= CLATTN_APPEND | CLATTN_ROTARY | CLATTN_SCORES;
    p.splits = 2;
    e = e ? e : clattn_backward(h, d->queue, &p, &g.args, 0, NULL, NULL);
    e = e ? e : clFinish(d->queue);
    ok(!e && graded_verify(&g, d->queue, why, sizeof why),
       "%s: gradients leave out parts of keys, and caches %s %s", d->name, clattn_status_string(e), why);
    graded_free(&g);
    clattn_release(h);
}

/* ---- Threads ---- */

struct caller {
    pthread_t thread;
    const struct device *d;
    clattn_handle h;
    int number, good;
};

static void *call_all(void *arg)
{
    static const char *const texts[] = { "f32 b1 h2 q5 k33 d8 lse", "f32 b1 h2 q5 k33 d8 causal lse",
                                         "f32 b1 h2 q5 k33 d8 causal scale0.5 lse" };
    struct caller *const w = arg;
    char why[1024];
    w->good = 1;
    for (int i = 0; i < 12 && w->good; i++) {
        if (!w->number)
            plan_table_forget(&w->h->plans); /* while others use what is in it */
        w->good = forward(w->d, w->h, texts[(w->number + i) % 3], why, sizeof why);
    }
    return NULL;
}

static void test_threads(const struct device *d)
{
    struct caller w[6];
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    int good = 1;
    for (int i = 0; i < 6; i++) {
        w[i] = (struct caller){ .d = d, .h = h, .number = i };
        if (pthread_create(&w[i].thread, NULL, call_all, &w[i]))
            bail("no thread %d", i);
    }
    for (int i = 0; i < 6; i++) {
        pthread_join(w[i].thread, NULL);
        good = good && w[i].good;
    }
    ok(good && n_kept(h) <= 3, "%s: threads share plans, which one of them forgets all the time", d->name);
    clattn_release(h);
}

/* More problems than the table has room for, on one program; each thread with words of its own. The first one of all
 * makes gradients, and one more looks on. The last one to end frees the handle. */
enum { CROWD = 4, OWN_PROBLEMS = PLAN_TABLE_ROWS / 2, AGAIN = 3 };

static int own_words(clattn_handle h, int d)
{
    clattn_problem none = CLATTN_PROBLEM_INIT;
    char words[256] = "", want[16];
    none.d = none.dv = d;
    snprintf(want, sizeof want, "%d", d);
    return clattn_supports(h, &none, NULL, 0) && !clattn_error_detail(h, words, sizeof words, NULL) &&
           strstr(words, want);
}

static void *call_many(void *arg)
{
    struct caller *const w = arg;
    char why[1024] = "", text[64];
    w->good = 1;
    for (int i = 0; i < OWN_PROBLEMS + AGAIN && w->good; i++) {
        const int scale = 101 + w->number * OWN_PROBLEMS + i % OWN_PROBLEMS;
        snprintf(text, sizeof text, "f32 b1 h1 q5 k7 d8 scale0.%d lse%s", scale, w->number ? "" : " bwd");
        w->good = (w->number ? forward : backward)(w->d, w->h, text, why, sizeof why) &&
                  own_words(w->h, 1000 + w->number);
    }
    if (!w->good)
        diag("thread %d: %s: %s", w->number, text, why);
    clattn_release(w->h);
    return NULL;
}

static void *look_on(void *arg)
{
    struct caller *const w = arg;
    uint64_t before = 0;
    w->good = 1;
    for (int i = 0; i < 40 * OWN_PROBLEMS && w->good; i++) {
        const uint64_t compiles = cache_fixture_counters(w->h).compiles;
        w->good = compiles >= before && own_words(w->h, 1000 + w->number);
        before = compiles;
        if (i % OWN_PROBLEMS == 0)
            plan_table_forget(&w->h->plans);
    }
    clattn_release(w->h);
    return NULL;
}

static void test_crowd(const struct device *d)
{
    struct caller w[CROWD + 1];
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    int good = 1;
    for (int i = 0; i <= CROWD; i++) {
        w[i] = (struct caller){ .d = d, .h = h, .number = i };
        if (clattn_retain(h) || pthread_create(&w[i].thread, NULL, i < CROWD ? call_many : look_on, &w[i]))
            bail("no thread %d", i);
    }
    clattn_release(h);
    for (int i = 0; i <= CROWD; i++) {
        pthread_join(w[i].thread, NULL);
        good = good && w[i].good;
    }
    ok(good, "%s: %d threads call for %d problems, more than are kept, and the last one frees the handle", d->name,
       CROWD, CROWD * OWN_PROBLEMS);
}

/* ---- Refusals ---- */

static void test_refused(const struct device *d)
{
    const clattn_workload c = each_case("f32 b1 h1 q5 k7 d8"), bad = each_case("f32 b1 h1 q5 k7 d8");
    clattn_backward_args gradients = CLATTN_BACKWARD_ARGS_INIT;
    clattn_problem none = bad.problem;
    const clattn_handle h = cache_fixture_handle(d, CLATTN_TUNE_OFF, "");
    struct trial t;
    cl_event event = NULL;
    none.d = 0;
    if (trial_make(&t, d->cl.context, &c, PLAIN))
        bail("no trial");
    const struct device own = cache_fixture_of(d, h);
    is_int(clattn_forward(NULL, d->queue, &c.problem, &t.args, 0, NULL, NULL), CLATTN_ERROR_INVALID_ARGUMENT,
           "no handle");
    is_int(clattn_backward(NULL, d->queue, &c.problem, &gradients, 0, NULL, NULL), CLATTN_ERROR_INVALID_ARGUMENT,
           "no handle for gradients");
    each_refused(&own, clattn_forward(h, d->queue, NULL, &t.args, 0, NULL, &event), event,
                 CLATTN_ERROR_INVALID_ARGUMENT, "clattn_problem is NULL", "no problem");
    each_refused(&own, clattn_forward(h, d->queue, &c.problem, NULL, 0, NULL, &event), event,
                 CLATTN_ERROR_INVALID_ARGUMENT, "clattn_forward_args is NULL", "no arguments");
    each_refused(&own, clattn_forward(h, d->queue, &none, &t.args, 0, NULL, &event), event,
                 CLATTN_ERROR_INVALID_ARGUMENT, "d is 0", "a problem that is none");
    each_refused(&own, clattn_forward(h, NULL, &c.problem, &t.args, 0, NULL, &event), event, CL_INVALID_COMMAND_QUEUE,
                 "queue is NULL", "no queue");
    each_refused(&own, clattn_backward(h, d->queue, &c.problem, NULL, 0, NULL, &event), event,
                 CLATTN_ERROR_INVALID_ARGUMENT, "clattn_backward_args is NULL", "no arguments of gradients");
    each_refused(&own, clattn_backward(h, d->queue, &c.problem, &gradients, 0, NULL, &event), event,
                 CLATTN_ERROR_INVALID_ARGUMENT, "forward is NULL", "gradients without the forward call's arguments");
    t.args.k.mem = NULL;
    each_refused(&own, clattn_forward(h, d->queue, &c.problem, &t.args, 0, NULL, &event), event,
                 CLATTN_ERROR_INVALID_ARGUMENT, "k", "a call without K");
    trial_free(&t);
    clattn_release(h);
}

static void test_device(const struct device *d)
{
    test_rows(d);
    test_sizes(d);
    test_bound(d);
    test_changes(d);
    test_change_under_way(d);
    test_arguments(d);
    test_both(d);
    test_threads(d);
    test_crowd(d);
    test_refused(d);
}

int main(void)
{
    return each_device(test_device);
}
