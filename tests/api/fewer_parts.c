/* fewer_parts.c - keys in fewer parts where the plan bounds the workspace: as many as there is room for, soon found
 * SPDX-License-Identifier: Apache-2.0
 *
 * CLATTN_PART=1 adds a pass of which there are never fewer parts, and millions of them. */
#include "config.h"

#include "src/api/handle.h"
#include "src/run/workspace.h"
#include "tests/lib/each.h"

/* How often the workspace of a pass was computed. */
static unsigned counted;
struct grid __real_workspace_grid(size_t groups, size_t items);
struct grid __wrap_workspace_grid(size_t groups, size_t items);
struct grid __wrap_workspace_grid(size_t groups, size_t items)
{
    counted++;
    return __real_workspace_grid(groups, items);
}

/* A call of which sizes alone are read, and which gradients are wanted. */
struct asked {
    clattn_plan plan;
    const struct operation *what;
    clattn_sizes sizes;
    clattn_forward_args forward;
    clattn_backward_args backward;
    struct call c; /* as it is read */
};

static void ask(struct asked *x, const struct device *d, const char *text, const char *config, cl_mem any)
{
    const clattn_workload w = each_case(text);
    const int backward = (w.problem.flags & CLATTN_BACKWARD) != 0;
    memset(x, 0, sizeof *x);
    x->plan = each_plan(d, config, &w.problem, text);
    x->what = backward ? &launch_backward : &launch_forward;
    x->sizes = w.problem.sizes;
    x->forward = (clattn_forward_args)CLATTN_FORWARD_ARGS_INIT;
    x->forward.sizes = &x->sizes;
    x->backward = (clattn_backward_args)CLATTN_BACKWARD_ARGS_INIT;
    x->backward.forward = &x->forward;
    x->backward.dq.mem = x->backward.dk.mem = any;
}

static void read_sizes(struct asked *x)
{
    struct why why;
    memset(&x->c, 0, sizeof x->c);
    x->c.sizes = &x->sizes;
    const void *const args = x->what->backward ? (const void *)&x->backward : &x->forward;
    if (x->what->read_sizes(&x->c, &x->plan->plan.launch.plan, args, &why))
        bail("%s", why.text);
}

/* What a call in so many parts needs, and no fewer. */
static int64_t need_of(struct asked *x, int parts)
{
    struct call c = x->c;
    struct why why;
    size_t size = 0;
    c.parts_may_be_fewer = false;
    if (!call_set_parts(&c, parts) || workspace_fit(&size, &x->plan->plan.launch, x->what, &c, &why))
        bail("%d parts: %s", parts, why.text);
    return (int64_t)size;
}

/* The most parts that there is room for, one by one; 0: for none. */
static int most_of(const int64_t *need, int n, int64_t room)
{
    while (n && need[n] > room)
        n--;
    return n;
}

/* Every bound that makes a difference. falls: with more parts a call may need less. */
static void test_all(const struct device *d, const char *text, const char *config, bool falls, cl_mem any)
{
    enum { PARTS = 128 }; /* on every device, however many a rule would say there */
    int64_t need[PARTS + 1], room;
    struct asked x;
    int wrong = 0, fell = 0;
    ask(&x, d, text, config, any);
    struct launch *const l = &x.plan->plan.launch;
    read_sizes(&x);
    if (!x.c.parts_may_be_fewer)
        bail("%s: %d parts", text, (int)x.c.args.parts);
    call_set_parts(&x.c, PARTS);
    for (int i = 1; i <= PARTS; i++) {
        need[i] = need_of(&x, i);
        fell += i > 1 && need[i] < need[i - 1];
    }
    for (int i = 2 * PARTS; i-- > 2;) {
        struct call c = x.c;
        struct why why;
        size_t size;
        if ((room = need[i / 2] - i % 2) < 1)
            continue;
        const int want = most_of(need, PARTS, room);
        l->max_workspace = (size_t)room;
        const cl_int e = workspace_fit(&size, l, x.what, &c, &why);
        wrong += want ? e || c.args.parts != want || (int64_t)size != need[want] : e != CLATTN_ERROR_NOT_SUPPORTED;
    }
    l->max_workspace = 0;
    ok(!wrong && (fell > 0) == falls, "%s, %s: %d of %d bounds give another number of parts; falls %d times", text,
       config, wrong, 2 * PARTS, fell);
}

/* Millions of parts: a bound for none of them, and one for half. */
static void test_many(const struct device *d, const char *text, const char *config, cl_mem any)
{
    struct asked x;
    if (sizeof(size_t) < sizeof(int64_t)) {
        skip("sizes of 32 bits hold no such workspace");
        return;
    }
    ask(&x, d, text, config, any);
    struct launch *const l = &x.plan->plan.launch;
    x.sizes.nk = 1 << 30;
    read_sizes(&x);
    const int64_t whole = need_of(&x, x.c.args.parts);
    for (int i = 0; i < 2; i++) {
        struct call c = x.c;
        struct why why;
        size_t size = 0;
        l->max_workspace = i ? (size_t)whole / 2 : 1;
        counted = 0;
        const cl_int e = workspace_fit(&size, l, x.what, &c, &why);
        ok(e == (i ? CL_SUCCESS : CLATTN_ERROR_NOT_SUPPORTED) && size <= (size_t)whole / 2 && counted < 500,
           "%s with 2^30 keys in %d parts, room for %zu bytes: %zu in %d, computed %u times (%s)", text,
           (int)x.c.args.parts, l->max_workspace, size, (int)c.args.parts, counted, clattn_status_string(e));
    }
    l->max_workspace = 0;
}

static void test(const struct device *d)
{
    static const char cpu[] = "cpu w4,nv1,rk4,rd4,bk2", simt[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";
    const cl_mem any = each_buffer(d->cl.context, CL_MEM_READ_WRITE, 64, NULL);
    test_all(d, "f32 b1 h1 q3 k9000 d9/6 bwd", cpu, true, any);
    test_all(d, "f32 b1 h1 q3 k9000 d9/6", simt, true, any);
    if (harness_turn(0, 0)) { /* its kernels build for long */
        test_all(d, "f32 b1 h1 q1100 k90 d9/6 bwd", simt, false, any);
        test_many(d, "f32 b1 h1 q1100 k64 d9/6 bwd", simt, any);
    }
    clReleaseMemObject(any);
}

int main(void)
{
    return each_device(test);
}
