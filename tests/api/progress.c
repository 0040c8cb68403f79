/* progress.c - what clattn_options.progress is told while a plan is made, and what comes of its asking to stop
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/cache_fixture.h"
#include "tests/lib/each.h"

/* A class that is small and one that has several kernels. */
static const char forward[] = "f32 b1 h1 q9 k20 d8 causal", gradients[] = "f32 b1 h1 q9 k20 d8 bwd";

enum { STEPS = 16 };

/* Which steps came how often, and whether what they told was of the problem. */
struct told {
    int steps[STEPS], last, foreign;
    const char *class_text;
    int stop; /* answers this step, and all behind it, with a wish to stop; 0: never */
    int stopped;
    char kernels[512];
};

static int listen(void *user, const clattn_progress *p)
{
    struct told *const t = user;
    t->steps[p->step > 0 && p->step < STEPS ? p->step : 0]++;
    t->last = p->step;
    t->foreign += p->struct_size != sizeof *p || strcmp(p->class_text, t->class_text) || !*p->config || !p->best;
    if (p->step == CLATTN_STEP_COMPILE && strlen(t->kernels) + strlen(p->words) + 2 < sizeof t->kernels) {
        strcat(t->kernels, p->words);
        strcat(t->kernels, " ");
    }
    t->stopped = t->stopped || p->step == t->stop;
    return t->stopped;
}

/* A handle that tells t, and keeps nothing on disk. */
static clattn_handle open_handle(const struct device *d, struct told *t, int tune)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.tune = tune;
    o.tune_seconds = 30; /* time shall not decide */
    o.cache_dir = "";
    o.progress = listen;
    o.progress_user = t;
    return each_handle(d, &o);
}

static cl_int make(clattn_plan *plan, clattn_handle h, struct told *t, const char *problem, const char *config)
{
    static char class_text[256]; /* a problem's that was asked for last */
    const clattn_problem p = each_case(problem).problem;
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    o.config = config;
    if (clattn_class_of(h, &p, class_text, sizeof class_text, NULL))
        bail("%s has no class", problem);
    const int stop = t->stop;
    *t = (struct told){ .class_text = class_text, .stop = stop };
    return clattn_plan_create(plan, h, &p, &o);
}

static void test_compiling(const struct device *d)
{
    struct told t = { .class_text = "" };
    const clattn_handle h = open_handle(d, &t, CLATTN_TUNE_OFF);
    clattn_plan plan = NULL, again = NULL;
    cl_int e = make(&plan, h, &t, forward, CACHE_FIXTURE_SOONEST);
    ok(!e && !strncmp(t.kernels, "cla_forward ", 12) && t.steps[CLATTN_STEP_PLAN] == 1 && !t.foreign,
       "a plan tells of its kernel and of its end: %s", t.kernels);
    is_int(t.last, CLATTN_STEP_PLAN, "the end comes last");
    e = make(&again, h, &t, forward, CACHE_FIXTURE_SOONEST);
    ok(!e && !t.steps[CLATTN_STEP_COMPILE] && t.steps[CLATTN_STEP_PLAN] == 1,
       "a second one compiles nothing, and tells of its end alone");
    clattn_plan_release(plan);
    clattn_plan_release(again);
    plan = NULL;
    e = make(&plan, h, &t, gradients, NULL);
    ok(!e && t.steps[CLATTN_STEP_COMPILE] > 2 && strstr(t.kernels, "cla_delta cla_backward_keys ") && !t.foreign,
       "gradients tell of each of their kernels: %s", t.kernels);
    clattn_plan_release(plan);
    clattn_release(h);
}

static void test_stopping(const struct device *d)
{
    struct told t = { .class_text = "", .stop = CLATTN_STEP_COMPILE };
    const clattn_handle h = open_handle(d, &t, CLATTN_TUNE_OFF);
    clattn_plan plan = (clattn_plan)1;
    clattn_counters n = CLATTN_COUNTERS_INIT;
    char why[256] = "";
    is_int(make(&plan, h, &t, gradients, NULL), CLATTN_ERROR_CANCELLED, "a plan ends where it is asked to");
    clattn_error_detail(h, why, sizeof why, NULL);
    ok(!plan && !strcmp(why, "cancelled") && t.steps[CLATTN_STEP_COMPILE] == 1 && t.last == CLATTN_STEP_PLAN,
       "there is none then, in words, and its end is told: %s", why);
    clattn_stats(h, &n);
    is_int((long)n.searches, 0, "nothing was searched");
    t.stop = 0;
    is_int(make(&plan, h, &t, gradients, NULL), CL_SUCCESS, "the next one is made");
    clattn_plan_release(plan);
    clattn_release(h);
}

static void test_searching(const struct device *d)
{
    struct told t = { .class_text = "" };
    clattn_handle h = open_handle(d, &t, CLATTN_TUNE_QUICK);
    clattn_plan plan = NULL;
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    cl_int e = make(&plan, h, &t, forward, NULL);
    ok(!e && t.steps[CLATTN_STEP_BUILD] > 0 && t.steps[CLATTN_STEP_DONE] == 1 && t.last == CLATTN_STEP_PLAN &&
           !t.foreign,
       "a search inside a plan's making tells its steps: %d builds", t.steps[CLATTN_STEP_BUILD]);
    clattn_plan_release(plan);
    clattn_release(h);

    t.stop = CLATTN_STEP_READY;
    h = open_handle(d, &t, CLATTN_TUNE_QUICK);
    plan = NULL;
    e = make(&plan, h, &t, forward, NULL);
    ok(e ? e == CLATTN_ERROR_CANCELLED && !plan
         : !clattn_plan_get_info(plan, &info) && info.origin == CLATTN_ORIGIN_DEFAULT,
       "one that is asked to stop leaves the default, or nothing where that is yet to be compiled: %s",
       clattn_status_string(e));
    is_int(t.steps[CLATTN_STEP_BUILD], 1, "it tries nothing more");
    clattn_plan_release(plan);
    clattn_release(h);
}

static void test(const struct device *d)
{
    test_compiling(d);
    test_stopping(d);
    test_searching(d);
}

int main(void)
{
    return each_device(test);
}
