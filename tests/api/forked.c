/* forked.c - every function that takes a handle, a plan or a trial: in a child of fork(), and where there is none
 * SPDX-License-Identifier: Apache-2.0
 *
 * object_calls.c has them: the header is read, and what is missing there is a failure. fork.c has what a child gives
 * back. */
#include "config.h"

#include "tests/api/object_calls.h"
#include "tests/lib/each.h"
#include "tests/lib/process.h"

#include <pthread.h>

static const char text[] = "f32 b1 h2/1 q5 k7 d8 causal lse seed3";

/* These free what there is, and take NULL; these need no handle. */
static const char *const others[] = { "clattn_release", "clattn_plan_release", "clattn_trial_release" };
static const char *const handleless[] = { "clattn_emit_source", "clattn_emit_kernel" };

static int is_among(const char *const *list, size_t n, const char *name)
{
    for (size_t i = 0; i < n; i++)
        if (!strcmp(list[i], name))
            return 1;
    return 0;
}
#define IS_AMONG(list, name) is_among(list, sizeof(list) / sizeof *(list), name)

static int is_row(const char *name)
{
    for (int i = 0; i < object_calls_count; i++)
        if (!strcmp(object_calls[i].name, name))
            return 1;
    return 0;
}

/* ---- In a child ---- */

/* The number of the first call, from 1 on, that does not say CLATTN_ERROR_FORKED or leaves something; 0: none. */
static int first_wrong(struct world *w)
{
    for (int i = 0; i < object_calls_count; i++) {
        int left;
        if (object_calls[i].call(w, &left) != CLATTN_ERROR_FORKED || left)
            return i + 1;
    }
    return 0;
}

enum { NOT_RELEASED = 200, GRANDCHILD }; /* behind the numbers of calls */

/* In either order. */
static int release(struct world *w, int handle_first)
{
    const int bad = (handle_first && clattn_release(w->handle)) || clattn_plan_release(w->plan) ||
                    clattn_trial_release(w->trial) || clattn_plan_release(w->gradients) ||
                    clattn_plan_release(w->cache) || (!handle_first && clattn_release(w->handle));
    return bad ? NOT_RELEASED : 0;
}

/* A child, and what it releases first. */
struct order {
    struct world *w;
    int handle_first;
};

static int child(void *order)
{
    const struct order *const o = order;
    const int wrong = first_wrong(o->w);
    return wrong ? wrong : release(o->w, o->handle_first);
}

static int child_of_child(void *order)
{
    return in_child(child, order) ? GRANDCHILD : child(order);
}

static void test_children(struct world *w)
{
    static const struct {
        const char *what;
        int (*body)(void *);
    } kinds[] = { { "a child", child }, { "a child of a child", child_of_child } };
    for (int i = 0; i < 4; i++) {
        const int wrong = in_child(kinds[i / 2].body, &(struct order){ w, i % 2 });
        ok(!wrong, "%s, %s first: %d functions say CLATTN_ERROR_FORKED: %s", kinds[i / 2].what,
           i % 2 ? "the handle" : "plans", object_calls_count,
           !wrong                                     ? "all"
           : wrong > 0 && wrong <= object_calls_count ? object_calls[wrong - 1].name
                                                      : "it does not end, or release");
    }
}

/* ---- Forked while others call ---- */

struct caller {
    pthread_t thread;
    struct world w;
    struct trial t;
    int stop, good;
};

/* Takes every lock there is for calls: those of words, of the table of plans, of kernels and programs. */
static void *call_on(void *arg)
{
    struct caller *const c = arg;
    const clattn_problem none = CLATTN_PROBLEM_INIT;
    while (!__atomic_load_n(&c->stop, __ATOMIC_ACQUIRE) && c->good)
        c->good = clattn_supports(c->w.handle, &none, NULL, 0) &&
                  !clattn_forward(c->w.handle, c->w.queue, c->w.problem, &c->t.args, 0, NULL, NULL) &&
                  !clFinish(c->w.queue);
    return NULL;
}

static void test_amid_calls(struct world *w, const struct device *d)
{
    enum { CALLERS = 3, FORKS = 20 };
    static struct caller callers[CALLERS];
    const clattn_workload c = each_case(text);
    char why[512] = "";
    int wrong = 0, good = 1;
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = (struct caller){ .w = *w, .good = 1 };
        if (trial_make(&callers[i].t, d->cl.context, &c, PADDED) ||
            pthread_create(&callers[i].thread, NULL, call_on, &callers[i]))
            bail("no thread");
    }
    for (int i = 0; i < FORKS && !wrong; i++)
        wrong = in_child(child, &(struct order){ w, i % 2 });
    for (int i = 0; i < CALLERS; i++) {
        __atomic_store_n(&callers[i].stop, 1, __ATOMIC_RELEASE);
        pthread_join(callers[i].thread, NULL);
        good = good && callers[i].good && trial_verify(&callers[i].t, w->queue, why, sizeof why);
        trial_free(&callers[i].t);
    }
    is_int(wrong, 0, "%d children of a process whose threads call", FORKS);
    ok(good, "and those threads call on, and are right %s", why);
}

/* ---- Where there is none ---- */

static void test_null(const struct world *of)
{
    for (int i = 0; i < object_calls_count; i++) {
        struct world w = *of;
        int left;
        w.handle = NULL;
        w.plan = w.gradients = w.cache = NULL;
        w.trial = NULL;
        const cl_int e = object_calls[i].call(&w, &left);
        if (IS_AMONG(handleless, object_calls[i].name))
            is_int(e, CL_SUCCESS, "%s() without a handle", object_calls[i].name);
        else
            ok(e == CLATTN_ERROR_INVALID_ARGUMENT && !left, "%s() of NULL is refused (%s)", object_calls[i].name,
               clattn_status_string(e));
    }
    ok(!clattn_release(NULL) && !clattn_plan_release(NULL) && !clattn_trial_release(NULL),
       "releasing nothing does nothing");
}

/* ---- Whether that is all ---- */

/* Of the declaration that begins here: its name, when it takes an object. */
static int takes_object(const char *declaration, char name[64])
{
    const char *const end = strchr(declaration, ';'), *const open = strchr(declaration, '(');
    char all[1024];
    if (!end || !open || open > end || end - declaration >= (long)sizeof all)
        return 0;
    snprintf(all, sizeof all, "%.*s", (int)(end - declaration), declaration);
    const char *start = open;
    while (start > declaration && (start[-1] == '_' || (start[-1] >= 'a' && start[-1] <= 'z')))
        start--;
    snprintf(name, 64, "%.*s", (int)(open - start), start);
    return strstr(all, "clattn_handle handle") || strstr(all, "clattn_plan plan") || strstr(all, "clattn_trial trial");
}

/* Both headers, one behind the other; false: there is none. */
static int read_headers(char *to, size_t room)
{
    static const char *const names[] = { "clattn.h", "clattn_tune.h" };
    const char *const top = getenv("top_srcdir");
    size_t n = 0;
    for (int i = 0; i < 2; i++) {
        char path[1024];
        snprintf(path, sizeof path, "%s/include/%s", top ? top : ".", names[i]);
        FILE *const f = fopen(path, "r");
        if (!f) {
            skip("there is no %s", path);
            return 0;
        }
        n += fread(to + n, 1, room - 1 - n, f);
        fclose(f);
    }
    to[n] = '\0';
    return 1;
}

static void test_complete(void)
{
    static char header[1 << 20];
    char name[64];
    int n = 0, missing = 0;
    if (!read_headers(header, sizeof header))
        return;
    for (const char *at = header; (at = strstr(at, "\nCLATTN_API ")) != NULL; at++) {
        if (!takes_object(at, name))
            continue;
        n++;
        if (is_row(name) || IS_AMONG(others, name))
            continue;
        missing++;
        diag("%s() is not in the table", name);
    }
    ok(!missing && n == object_calls_count + 3,
       "the table has all of the header's functions that take a handle, plan or trial: %d", n);
}

/* ---- */

static clattn_plan make_plan(const struct world *w, const char *problem, uint32_t flags)
{
    clattn_workload c = each_case(problem);
    c.problem.flags |= flags;
    return each_own_plan(w->handle, &c.problem, NULL);
}

static void test_device(const struct device *d)
{
    const clattn_backward_args backward = CLATTN_BACKWARD_ARGS_INIT;
    const clattn_append_args append = CLATTN_APPEND_ARGS_INIT;
    const clattn_rotary_args rotary = CLATTN_ROTARY_ARGS_INIT;
    const clattn_scores_args scores = CLATTN_SCORES_ARGS_INIT;
    const clattn_merge_args merge = CLATTN_MERGE_ARGS_INIT;
    struct fixture f;
    char why[512] = "";
    each_open(&f, d, text, PADDED);
    struct world w = { .queue = d->queue,
                       .problem = &f.t.c.problem,
                       .forward = &f.t.args,
                       .backward = &backward,
                       .append = &append,
                       .rotary = &rotary,
                       .scores = &scores,
                       .merge = &merge,
                       .info = CLATTN_PLAN_INFO_INIT,
                       .counters = CLATTN_COUNTERS_INIT,
                       .count = { .struct_size = sizeof w.count } };
    w.handle = each_handle(d, NULL);
    if (clattn_trial_create(&w.trial, w.handle, w.problem, "naive"))
        bail("no trial");
    w.plan = make_plan(&w, text, 0);
    w.gradients = make_plan(&w, "f32 b1 h2/1 q5 k7 d8 causal lse bwd", 0);
    w.cache = make_plan(&w, "f32 b1 h2/1 q5 k7 d8 kvlen:3", CLATTN_APPEND | CLATTN_ROTARY);
    w.looking = make_plan(&w, text, CLATTN_SCORES);
    test_complete();
    test_null(&w);
    test_children(&w);
    test_amid_calls(&w, d);
    ok(!trial_reset(&f.t, d->queue) && harness_run(d, &f.t, w.plan, why, sizeof why),
       "the parent works on %s: %s", why, text);
    ok(!release(&w, 1), "and releases");
    fixture_close(&f);
}

int main(void)
{
    return each_device(test_device);
}
