/* same_bits.c - gradients are the same bits in any queue, beside other calls, and on a busy machine
 * SPDX-License-Identifier: Apache-2.0
 *
 * One call alone is judged by float64, and its bits are those of all others: of calls that threads enqueue at once, to
 * queues of their own or one that is out of order, so that kernels of different calls share the device. The second
 * round of calls writes over what the first one left. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"

#include <pthread.h>

enum { CALLERS = 6, ROUNDS = 2 };
enum { ALL = GRADED_ALL | GRADED_CAPTURED };

struct caller {
    clattn_plan plan;
    cl_command_queue queue;
    pthread_barrier_t *start;
    struct graded g;
    cl_int e;
};

static void *call(void *arg)
{
    struct caller *const w = arg;
    pthread_barrier_wait(w->start);
    for (int i = 0; i < ROUNDS && !w->e; i++)
        w->e = graded_run(&w->g, w->plan, w->queue);
    return NULL;
}

/* All of them at once. */
static void call_all(struct caller *w)
{
    pthread_t thread[CALLERS];
    pthread_barrier_t start;
    if (pthread_barrier_init(&start, NULL, CALLERS))
        bail("no barrier");
    for (int i = 0; i < CALLERS; i++) {
        w[i].start = &start;
        if (pthread_create(&thread[i], NULL, call, &w[i]))
            bail("no thread %d", i); /* the others wait at the barrier: there is no way on */
    }
    for (int i = 0; i < CALLERS; i++)
        pthread_join(thread[i], NULL);
    pthread_barrier_destroy(&start);
}

/* shared: the queue of all of them; NULL: a queue for each. */
static void check(const struct device *d, const struct graded *alone, clattn_plan plan, const char *text,
                  cl_command_queue shared)
{
    const clattn_workload c = each_case(text);
    struct caller w[CALLERS];
    int good = 1;
    memset(w, 0, sizeof w);
    for (int i = 0; i < CALLERS; i++) {
        cl_int e = graded_make(&w[i].g, d->cl.context, d->queue, &c, PADDED, ALL);
        w[i].plan = plan;
        w[i].queue = shared || e ? shared : clCreateCommandQueue(d->cl.context, d->cl.device, 0, &e);
        if (e)
            bail("%s: %s", text, clattn_status_string(e));
    }
    call_all(w);
    for (int i = 0; i < CALLERS; i++) {
        char why[1024] = "";
        const int same = !w[i].e && graded_verify(&w[i].g, w[i].queue, why, sizeof why) &&
                         graded_is_same(alone, &w[i].g);
        if (!same)
            diag("caller %d: %s %s", i, w[i].e ? clattn_status_string(w[i].e) : "other bits", why);
        good = good && same;
        graded_free(&w[i].g);
        if (!shared)
            clReleaseCommandQueue(w[i].queue);
    }
    ok(good, "%s: %d callers at once get the bits of one alone, %s: %s", d->name, CALLERS,
       shared ? "a queue out of order" : "a queue each", text);
}

/* With keys that heads and entries share, and whatever passes sum up at the end. make check has the
 * first, whose programs other tests have as well. */
static const struct {
    const char *config, *text;
} rows[] = {
    { "", "f32 b2 h4/2 q70 k150 d8/6 causal bias:11q1 alibi sink lse bwd" },
    { "", "f32 b2 h4/2 q70 k150 d20 causal alibi sink bias:11qk softcap3 lse bwd" },
    { "", "f16 b2 h2/1 q70 k150 d20 bias:1h1k mask:b1qk lse bwd" },
    { "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "f32 b2 h4/2 q37 k70 d12 causal alibi bias:11qk lse bwd" },
    { "mma_emu nw2,rt1,bk16,qreg0", "f16 b2 h4/2 q37 k70 d16 bias:1h1k mask:b1qk lse bwd" },
};

static void test_device(const struct device *d)
{
    cl_int none;
    const cl_command_queue queue =
        clCreateCommandQueue(d->cl.context, d->cl.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &none);
    harness_never_optimised(); /* its optimiser takes minutes for some */
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (!harness_turn(i, !i || harness_flag("CLATTN_QUICK")))
            continue;
        const clattn_workload c = each_case(rows[i].text);
        struct graded alone;
        char why[1024] = "";
        cl_int e = graded_make(&alone, d->cl.context, d->queue, &c, PADDED, ALL);
        const clattn_plan plan = each_plan(d, rows[i].config, &alone.t.c.problem, rows[i].text);
        if (plan) {
            e = e ? e : graded_run(&alone, plan, d->queue);
            ok(!e && graded_verify(&alone, d->queue, why, sizeof why), "%s: alone: %s", d->name, rows[i].text);
            check(d, &alone, plan, rows[i].text, NULL);
            if (none)
                skip("no out-of-order queue on %s: %s", d->name, clattn_status_string(none));
            else
                check(d, &alone, plan, rows[i].text, queue);
        }
        graded_free(&alone);
    }
    if (!none)
        clReleaseCommandQueue(queue);
}

int main(void)
{
    return each_device(test_device);
}
