/* faults.c - every allocation and every OpenCL call fails once, and from then on
 * SPDX-License-Identifier: Apache-2.0
 *
 * The N-th call fails, for N = 1, 2, ... until a run has no N-th call. Whatever fails: an error in words, nothing
 * leaks, nothing of the caller's is touched, and what was made before works on. Where kernels are built, make check
 * fails few of them; CLATTN_PART=1: all of them. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/wrap.h"

#include <clattn_tune.h>
#include <pthread.h>
#include <stdlib.h>

static const char text[] = "f32 b1 h2/1 q5 k7 d8 causal lse seed3", empty[] = "f32 b1 h2/1 q0 k7 d8 causal lse";
enum { MOST = 400, SOME = 3, DEALT = 48 };

/* One thing to try: returns the status; *made is what it holds afterwards. */
struct attempt {
    const char *name;
    cl_int (*run)(struct fixture *f, void **made);
    void (*undo)(void *made);
    int own_handle;
    int may_succeed; /* a failing call need not fail it: logs and caches may be done without */
    int fresh;       /* on a handle of its own: ON_BARE, or with a folder of binaries and records, ON_EMPTY or not */
    int step;        /* every so many calls only */
};
enum { ON_COMMON, ON_BARE, ON_EMPTY, ON_STORED };

/* A failure without words counts as something that was left behind. */
static cl_int try_create(struct fixture *f, void **made)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_handle h = NULL;
    char words[256] = "";
    o.why = words;
    o.why_len = sizeof words;
    cl_int e = clattn_create(&h, f->d->cl.context, f->d->cl.device, &o);
    *made = e && !*words ? f : (void *)h;
    return e;
}

static char folder[] = "/tmp/clattn-faults.XXXXXX";

/* With a store, which is made first and so is to be cleared when anything else fails. */
static cl_int try_create_stored(struct fixture *f, void **made)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_handle h = NULL;
    o.cache_dir = folder;
    cl_int e = clattn_create(&h, f->d->cl.context, f->d->cl.device, &o);
    *made = h;
    return e;
}

static void undo_create(void *made)
{
    clattn_release(made);
}

static cl_int try_supports(struct fixture *f, void **made)
{
    char why[64];
    *made = NULL;
    return clattn_supports(f->d->handle, &f->t.c.problem, why, sizeof why);
}

static cl_int try_source(struct fixture *f, void **made)
{
    static char source[1 << 20];
    *made = NULL;
    return clattn_emit_source(f->d->handle, &f->t.c.problem, NULL, source, sizeof source, NULL);
}

static clattn_handle fresh; /* a handle that has built nothing yet */

/* On a handle of its own, so that every try compiles: in make check what does that soonest. */
static cl_int try_plan(struct fixture *f, void **made)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan p = NULL;
    o.config = harness_more() ? NULL : "naive wg1,bk8";
    cl_int e = clattn_plan_create(&p, fresh, &f->t.c.problem, &o);
    *made = p;
    return e;
}

/* Failing runs throw the binary away or save it again, so that loading, compiling and saving all have their turn. */
static cl_int try_search(struct fixture *f, void **made)
{
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    o.effort = CLATTN_TUNE_QUICK;
    o.seconds = harness_more() ? 0.1 : 0.02;
    *made = NULL;
    return clattn_tune(fresh, &f->t.c.problem, &o, NULL, 0);
}

static void undo_plan(void *made)
{
    clattn_plan_release(made);
}

static cl_int try_enqueue(struct fixture *f, void **made)
{
    *made = NULL;
    return clattn_enqueue_forward(f->plan, f->d->queue, &f->t.args, 0, NULL, NULL);
}

static cl_int try_enqueue_event(struct fixture *f, void **made)
{
    cl_event event = NULL;
    cl_int e = clattn_enqueue_forward(f->plan, f->d->queue, &f->t.args, 0, NULL, &event);
    *made = event;
    return e;
}

static void undo_event(void *made)
{
    if (made)
        clReleaseEvent(made);
}

static void undo_nothing(void *made)
{
    (void)made;
}

static const struct attempt attempts[] = {
    { "create", try_create, undo_create, 1, 0, ON_COMMON, 1 },
    { "create with a directory", try_create_stored, undo_create, 1, 1, ON_COMMON, 1 },
    { "supports", try_supports, undo_nothing, 0, 0, ON_COMMON, 1 },
    { "emit_source", try_source, undo_nothing, 0, 0, ON_COMMON, 1 },
    { "plan_create", try_plan, undo_plan, 1, 1, ON_BARE, 1 },
    { "plan_create that saves", try_plan, undo_plan, 1, 1, ON_EMPTY, 1 },
    { "plan_create with binaries", try_plan, undo_plan, 1, 1, ON_STORED, 1 },
    { "tune", try_search, undo_nothing, 1, 1, ON_STORED, 61 },
    { "enqueue", try_enqueue, undo_nothing, 0, 0, ON_COMMON, 1 },
    { "enqueue with event", try_enqueue_event, undo_event, 0, 0, ON_COMMON, 1 },
};
enum { ATTEMPTS = sizeof attempts / sizeof *attempts };

static int empty_folder(void)
{
    char command[64];
    snprintf(command, sizeof command, "rm -rf %s/*", folder);
    return system(command);
}

static int make_fresh(const struct attempt *a, struct fixture *f)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.cache_dir = a->fresh >= ON_EMPTY ? folder : "";
    if (a->fresh == ON_EMPTY && empty_folder())
        return 1;
    return a->fresh && clattn_create(&fresh, f->d->cl.context, f->d->cl.device, &o);
}

/* Nothing of the caller's changed; after an error O is still the NaN that it was before. */
static int untouched(struct fixture *f, cl_int e, char *why, size_t len)
{
    return trial_fetch(&f->t, f->d->queue, why, len) && (!e || trial_is_blank(&f->t));
}

/* Leaves words of a failure in the long-lived handle. The next failure's take their place: no block more, or one less
 * where there was no memory for new ones. */
static void leave_words(const struct device *d)
{
    const clattn_problem none = CLATTN_PROBLEM_INIT;
    if (!clattn_supports(d->handle, &none, NULL, 0))
        bail("a problem of nothing is supported");
}

/* Runs an attempt whose n-th call fails. 1: as it should be; 0: not, and it is reported; -1: there was no n-th call. */
static int try_nth(const struct attempt *a, struct fixture *f, long n, int sticky)
{
    void *made = NULL;
    char why[256] = "";
    long failed, memory, objects;
    cl_int e;
    leave_words(f->d);
    wrap.memory = wrap.objects = 0;
    wrap_arm(0, 0);
    if (trial_reset(&f->t, f->d->queue) || make_fresh(a, f))
        bail("cannot set up");
    wrap_arm(n, sticky);
    e = a->run(f, &made);
    failed = wrap.failed;
    wrap.fail_at = 0; /* undoing is not what is tried */
    if (!e)
        a->undo(made);
    if (a->fresh)
        clattn_release(fresh);
    wrap_disarm();
    memory = wrap.memory;
    objects = wrap.objects;
    clFinish(f->d->queue);
    if (!failed)
        return -1;
    if ((e || a->may_succeed || wrap.optional) && memory <= 0 && memory >= (a->own_handle ? 0 : -1) && objects == 0 &&
        (!e || !made) && untouched(f, e, why, sizeof why))
        return 1;
    diag("%s: %s, the %ld-th of the calls, fails: status %s, %ld blocks and %ld objects left, %s %s", a->name,
         wrap.last, n, clattn_status_string(e), memory, objects, made ? "something is returned" : "", why);
    return 0;
}

/* What make check tries where something is built, which takes long: the first call of each function alone, of plans
 * that save and of those that load; with all behind it every DEALT-th, of the others and of those that load. */
static int is_soon(const struct attempt *a, long n, const char *const *names, int sticky)
{
    int before = 0;
    if (sticky)
        return a->fresh != ON_EMPTY && n % DEALT == 0;
    for (long i = 0; i < n - 1; i++)
        before += !strcmp(names[i], names[n - 1]);
    return a->fresh != ON_BARE && !before;
}

/* The n-th call's turn, in a run of as many calls as `names` has. The shares have every DEALT-th, and the end, too. */
static int is_due(const struct attempt *a, long n, const char *const *names, long calls, int sticky)
{
    if (a->fresh == ON_COMMON || n > calls)
        return 1;
    return harness_more() ? harness_deals((unsigned)n, DEALT) : is_soon(a, n, names, sticky);
}

static void test_attempt(const struct attempt *a, struct fixture *f, int sticky)
{
    const int rare = a->step > 1;
    const long most = rare ? (harness_more() ? 7 : 1) * SOME * a->step : MOST;
    const char *names[WRAP_NAMES];
    long bad = 0, tries = 0;
    int verdict = a->fresh == ON_STORED ? try_nth(a, f, MOST * 1000L, sticky) : -1; /* it fills the directory */
    if (verdict < 0)
        verdict = try_nth(a, f, MOST * 1000L, sticky);
    const long calls = wrap.calls < WRAP_NAMES ? wrap.calls : WRAP_NAMES;
    memcpy(names, wrap.name, sizeof names);
    if (verdict >= 0)
        bail("%s: a call fails that should not", a->name);
    verdict = 0;
    for (long n = 1; n < most && verdict >= 0; n += a->step) {
        if (!rare && !is_due(a, n, names, calls, sticky))
            continue;
        verdict = try_nth(a, f, n, sticky);
        tries += verdict >= 0;
        bad += !verdict;
    }
    ok(!bad && (verdict < 0 || rare), "%s: one of its calls fails%s, %ld times, %ld badly: %s", a->name,
       sticky ? " and all after it" : "", tries, bad, f->text);
}

/* After all that, the same handle and plan still compute. */
static void test_after(struct fixture *f)
{
    char why[512] = "";
    int good = !trial_reset(&f->t, f->d->queue) && !trial_run(&f->t, f->plan, f->d->queue) &&
               trial_verify(&f->t, f->d->queue, why, sizeof why);
    ok(good, "and then it works (%s): %s", why, f->text);
}

/* A failure that a caller will meet: what it says. */
static void test_words(struct fixture *f)
{
    clattn_handle h = NULL;
    clattn_plan p = NULL;
    char words[512] = "";
    cl_int e;
    wrap.no_compiler = 1;
    wrap_arm(0, 0);
    e = clattn_create(&h, f->d->cl.context, f->d->cl.device, NULL);
    if (!e) {
        e = clattn_plan_create(&p, h, &f->t.c.problem, NULL);
        clattn_error_detail(h, words, sizeof words, NULL);
    }
    wrap_disarm();
    wrap.no_compiler = 0;
    ok(e == CL_COMPILER_NOT_AVAILABLE || (e == CLATTN_ERROR_NOT_SUPPORTED && strstr(words, "compiler")),
       "a device without a compiler is refused for that (%s: %s)", clattn_status_string(e), words);
    clattn_plan_release(p);
    clattn_release(h);
}

static void *own_words(void *handle)
{
    static char words[512];
    clattn_error_detail(handle, words, sizeof words, NULL);
    return words;
}

/* Fails for want of memory for words, then shows them. */
static void *lose_words(void *handle)
{
    const clattn_problem none = CLATTN_PROBLEM_INIT;
    wrap_arm(1, 1);
    (void)clattn_supports(handle, &none, NULL, 0);
    wrap_disarm();
    return own_words(handle);
}

static const char *in_thread(void *(*run)(void *), void *user)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, run, user) || pthread_join(thread, &result))
        bail("no thread");
    return result;
}

/* Without memory for words it is said so, to the thread that failed, for as long as that is its last failure. */
static void test_lost_words(const struct device *d)
{
    static const char lost[] = "no memory to keep the words";
    leave_words(d);
    ok(!strstr(own_words(d->handle), lost), "words before: %s", (const char *)own_words(d->handle));
    ok(strstr(lose_words(d->handle), lost) != NULL, "without memory: %s", (const char *)own_words(d->handle));
    is_str(in_thread(own_words, d->handle), "", "another thread did not fail");
    for (int i = 0; i < 100; i++)
        if (!strstr(in_thread(lose_words, d->handle), lost)) {
            ok(0, "thread %d fails likewise", i);
            break;
        }
    ok(strstr(own_words(d->handle), lost) != NULL, "the first one still knows");
    leave_words(d);
    ok(!strstr(own_words(d->handle), lost) && *(const char *)own_words(d->handle), "until it has other words: %s",
       (const char *)own_words(d->handle));
    is_str(in_thread(own_words, d->handle), "", "another thread still did not fail");
}

/* Whatever fails without harm on the way, a configuration that cannot be kept is not set: the last of the calls. */
static void test_set(struct fixture *f)
{
    char config[128] = "";
    cl_int e = CL_SUCCESS;
    long n = 0;
    if (clattn_config_at(f->d->handle, &f->t.c.problem, 0, config, sizeof config))
        bail("no configuration");
    for (int i = 0; i < 2; i++) {
        clattn_options o = CLATTN_OPTIONS_INIT;
        o.cache_dir = "";
        const clattn_handle h = each_handle(f->d, &o);
        wrap_arm(n, 0);
        e = clattn_set_config(h, &f->t.c.problem, config);
        n = wrap.calls;
        wrap_disarm();
        is_int(e, i ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS, "set_config: %s: %s",
               i ? "the last of its calls fails" : "nothing fails", wrap.last);
        clattn_release(h);
    }
}

/* ---- A driver that rejects kernels ---- */

struct heard {
    int passed_over;
    char first[600];
};

static void listen(void *user, const char *line)
{
    struct heard *h = user;
    if (strstr(line, "cannot use ") && !h->passed_over++)
        snprintf(h->first, sizeof h->first, "%s", line);
}

/* Makes a plan on a handle of its own while `builds` builds fail with `status`. words: 512 bytes. */
static cl_int plan_while(struct fixture *f, const char *config, int builds, cl_int status, struct heard *heard,
                         clattn_plan *plan, char *words)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_plan_options po = CLATTN_PLAN_OPTIONS_INIT;
    memset(heard, 0, sizeof *heard);
    o.log = listen;
    o.log_user = heard;
    po.config = config;
    *plan = NULL;
    const clattn_handle h = each_handle(f->d, &o);
    wrap_arm(0, 0);
    wrap.builds = builds;
    wrap.build_status = status;
    const cl_int e = clattn_plan_create(plan, h, &f->t.c.problem, &po);
    wrap.builds = 0;
    wrap.build_status = 0;
    wrap_disarm();
    clattn_error_detail(h, words, 512, NULL);
    clattn_release(h); /* the plan holds it */
    return e;
}

/* One kernel is rejected: another configuration takes over, of the same engine where one is named. */
static void test_next(struct fixture *f, const char *first, const char *engine)
{
    const size_t name = strcspn(first, " ");
    struct heard heard;
    clattn_plan plan;
    char words[512] = "", used[128] = "", why[512] = "", start[160];
    cl_int e = plan_while(f, engine, 1, 0, &heard, &plan, words);
    snprintf(start, sizeof start, "cannot use %s: clBuildProgram", first);
    if (plan)
        clattn_plan_config(plan, used, sizeof used, NULL);
    ok(!e && strcmp(used, first) && (!engine || !strncmp(used, first, name + 1)), "%s: '%s' takes over from '%s' (%s)",
       engine ? engine : "any", used, first, clattn_status_string(e));
    ok(heard.passed_over == 1 && !strncmp(heard.first, start, strlen(start)), "and the log is told: %.80s",
       heard.first);
    ok(!e && !trial_reset(&f->t, f->d->queue) && !trial_run(&f->t, plan, f->d->queue) &&
           trial_verify(&f->t, f->d->queue, why, sizeof why),
       "and it is right (%s): %s", why, f->text);
    clattn_plan_release(plan);
}

static void test_rejected(struct fixture *f)
{
    struct heard heard;
    clattn_plan plan;
    char first[128] = "", second[128] = "", engine[128], pinned[512] = "", words[512] = "";
    int n = 1;
    cl_int e;
    if (clattn_config_at(f->d->handle, &f->t.c.problem, 0, first, sizeof first))
        bail("no configuration");
    e = plan_while(f, first, 1, 0, &heard, &plan, pinned);
    ok(e == CLATTN_ERROR_BUILD && !plan && !heard.passed_over && strstr(pinned, "clBuildProgram"),
       "a pinned configuration that is rejected is CLATTN_ERROR_BUILD (%s: %.60s)", clattn_status_string(e), pinned);
    e = plan_while(f, NULL, 1, CL_INVALID_BUILD_OPTIONS, &heard, &plan, words);
    ok(e == CL_INVALID_BUILD_OPTIONS && !plan && !heard.passed_over && strstr(words, "clBuildProgram"),
       "another status of clBuildProgram stays what it is (%s: %.60s)", clattn_status_string(e), words);
    while (!clattn_config_at(f->d->handle, &f->t.c.problem, (size_t)n, second, sizeof second))
        n++;
    e = plan_while(f, NULL, 10000, 0, &heard, &plan, words);
    ok(e == CLATTN_ERROR_BUILD && !plan, "all of them rejected: %s", clattn_status_string(e));
    is_str(words, pinned, "in the words of the first");
    is_int(heard.passed_over, n, "each configuration that cannot be used is told of");
    if (n == 1 || clattn_config_at(f->d->handle, &f->t.c.problem, 1, second, sizeof second)) {
        skip("%s: one configuration only", f->d->name);
        return;
    }
    test_next(f, first, NULL);
    snprintf(engine, sizeof engine, "%.*s", (int)strcspn(first, " "), first);
    if (strncmp(first, second, strlen(engine) + 1))
        skip("%s: engine %s has one configuration", f->d->name, engine);
    else
        test_next(f, first, engine);
}

int main(void)
{
    const struct device *devices;
    const char *why;
    unsigned n = harness_open(&devices, &why), i, j;
    if (!n)
        return skip_all("%s", why);
    if (!mkdtemp(folder))
        bail("no folder");
    for (i = 0; i < n; i++) {
        struct fixture f, none;
        each_open(&f, &devices[i], text, PADDED);
        each_open(&none, &devices[i], empty, PADDED);
        diag("%s", devices[i].name);
        for (j = 0; j < 2 * ATTEMPTS; j++)
            test_attempt(&attempts[j / 2], &f, j % 2);
        test_attempt(&attempts[ATTEMPTS - 1], &none, 0); /* nothing to compute: another call enqueues */
        test_words(&f);
        test_lost_words(&devices[i]);
        test_set(&f);
        test_rejected(&f);
        test_after(&f);
        fixture_close(&f);
        fixture_close(&none);
    }
    clattn_options o = CLATTN_OPTIONS_INIT;
    char remove[64];
    o.cache_dir = folder;
    ok(!clattn_cache_clear(&o), "the store is cleared");
    snprintf(remove, sizeof remove, "rm -rf %s", folder);
    if (system(remove))
        diag("%s is left", folder);
    harness_close();
    return done_testing();
}
