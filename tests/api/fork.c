/* fork.c - a child of fork() may only release; its parent notices nothing
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/process.h"
#include "tests/lib/wrap.h"

static const char text[] = "f32 b1 h2/1 q5 k7 d8 causal lse seed3";

/* In the child: the number of the first call that did not say CLATTN_ERROR_FORKED, 0 when all did. */
static int first_wrong(struct fixture *f)
{
    clattn_handle h = f->d->handle;
    const clattn_problem *p = &f->t.c.problem;
    clattn_plan plan = (clattn_plan)1;
    cl_event event = NULL;
    char words[64];
    size_t size;
    const cl_int forked = CLATTN_ERROR_FORKED;
    if (clattn_supports(h, p, words, sizeof words) != forked)
        return 1;
    if (clattn_plan_create(&plan, h, p, NULL) != forked || plan)
        return 2;
    if (clattn_config_at(h, p, 0, words, sizeof words) != forked)
        return 3;
    if (clattn_emit_source(h, p, NULL, NULL, 0, &size) != forked)
        return 4;
    if (clattn_workspace_size(f->plan, &f->t.args, &size) != forked)
        return 5;
    if (clattn_enqueue_forward(f->plan, f->d->queue, &f->t.args, 0, NULL, &event) != forked || event)
        return 6;
    if (clattn_plan_config(f->plan, words, sizeof words, NULL) != forked)
        return 7;
    if (clattn_retain(h) != forked || clattn_plan_retain(f->plan) != forked)
        return 8;
    if (clattn_forward(h, f->d->queue, p, &f->t.args, 0, NULL, &event) != forked || event)
        return 9;
    if (clattn_backward(h, f->d->queue, p, NULL, 0, NULL, &event) != forked || event)
        return 10;
    return 0;
}

/* What needs no object works in a child as anywhere. */
static int plain_calls_work(void)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    return !clattn_workload_parse(text, &c, NULL, 0) && *clattn_version() && *clattn_status_string(CLATTN_ERROR_FORKED);
}

static int child(void *user)
{
    struct fixture *const f = user;
    int wrong = first_wrong(f);
    if (wrong)
        return wrong;
    if (!plain_calls_work())
        return 20;
    if (clattn_plan_release(f->plan) || clattn_release(f->d->handle))
        return 21;
    return 0;
}

/* ---- What a child gives back ---- */

/* A handle with a directory that keeps a plan for calls without one, and a plan of it, each held once. */
struct own {
    clattn_handle handle;
    clattn_plan plan;
};

/* In the child: its memory is its own, but the driver's threads are gone. So the handle, the path of its store and the
 * plan are freed, and nothing is asked of OpenCL. Returns 0, or the number of what is wrong. */
static int child_gives_back(void *user)
{
    const struct own *const own = user;
    enum { PLAN = 1, HANDLE = 3 }; /* blocks */
    wrap.memory = wrap.objects = 0;
    wrap_arm(0, 0);
    if (clattn_plan_release(own->plan))
        return 1;
    if (wrap.memory != -PLAN)
        return 2;
    if (clattn_release(own->handle))
        return 3;
    if (wrap.memory != -PLAN - HANDLE)
        return 4;
    return wrap.objects || wrap.calls ? 5 : 0;
}

static void test_gives_back(struct fixture *f)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    struct own own = { NULL, NULL };
    o.cache_dir = "/proc/none"; /* a path is kept, and no file */
    if (clattn_create(&own.handle, f->d->cl.context, f->d->cl.device, &o) ||
        clattn_plan_create(&own.plan, own.handle, &f->t.c.problem, NULL) ||
        clattn_forward(own.handle, f->d->queue, &f->t.c.problem, &f->t.args, 0, NULL, NULL) || clFinish(f->d->queue))
        bail("no plan");
    is_int(in_child(child_gives_back, &own), 0, "a child frees what is its own, and calls nothing of OpenCL");
    ok(!clattn_plan_release(own.plan) && !clattn_release(own.handle), "the parent releases what it holds");
}

static int verified(struct fixture *f, char *why, size_t len)
{
    return !trial_reset(&f->t, f->d->queue) && harness_run(f->d, &f->t, f->plan, why, len);
}

static void test_fork(struct fixture *f)
{
    char why[512] = "";
    int good = 1;
    ok(verified(f, why, sizeof why), "before: %s", text);
    const int status = in_child(child, f);
    ok(status >= 0, "the child ends by itself (wait status 0x%x)", (unsigned)status);
    is_int(status, 0, "every call of the child says CLATTN_ERROR_FORKED, releases work");
    for (int i = 0; i < 5 && good; i++)
        good = verified(f, why, sizeof why);
    ok(good, "the parent works on (%s): %s", why, text);
}

static void test_device(const struct device *d)
{
    struct fixture f;
    each_open(&f, d, text, PADDED);
    test_gives_back(&f);
    test_fork(&f);
    fixture_close(&f);
}

int main(void)
{
    return each_device(test_device);
}
