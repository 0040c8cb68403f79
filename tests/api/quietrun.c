/* quietrun.c - for quiet.t: makes plans, then enqueues between two marks that a trace of system calls shows
 * SPDX-License-Identifier: Apache-2.0
 *
 * quietrun list: the devices there are, one per line. quietrun DEVICE CACHE: two plans, of forward passes and of block
 * maps, in that cache directory, by kernels that compile soon or, with CLATTN_PART or CLATTN_FULL, the table's;
 * binary= how each was made; then 20 calls of several lengths on each of two queues; verdict=right or wrong, compiles=
 * during the calls. A mark is an attempt to open a file in / that is not there. */
#include "config.h"

#include "tests/lib/cache_fixture.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Of one plan: every length, and more groups than a grid is wide. */
static const char *const plain[] = { "f32 b1 h2 q1 k20 d8 causal lse", "f32 b2 h4/2 q7 k70 d8 causal lse",
                                     "f32 b1 h2 q64 k64 d8 causal lse", "f32 b1 h2 q300 k301 d8 causal lse",
                                     "f32 b23 h2999 q1 k2 d8 causal lse" };
static const char *const mapped[] = { "f32 b1 h1 q1 k20 d8 mask:11qk blocks:16,16 lse",
                                      "f32 b1 h2 q7 k70 d8 mask:1hqk blocks:16,16 lse",
                                      "f32 b1 h2 q64 k64 d8 mask:11qk blocks:1,1 lse",
                                      "f32 b1 h2 q300 k301 d8 mask:11qk blocks:32,16 lse",
                                      "f32 b25 h3000 q1 k2 d8 mask:b11k blocks:1,1 lse" };
enum { LENGTHS = 5, TIMES = 4 };

struct run {
    const char *const *texts;
    struct trial t[LENGTHS];
    clattn_plan plan;
};

static void fail(const char *what, cl_int e)
{
    printf("%s: %s\n", what, clattn_status_string(e));
    exit(3);
}

static void mark(const char *name)
{
    const int fd = open(name, O_RDONLY);
    if (fd >= 0)
        close(fd);
}

static void set_up(struct run *r, const struct device *n, const char *const *texts)
{
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    o.config = harness_more() ? NULL : CACHE_FIXTURE_SOONEST;
    r->texts = texts;
    for (int i = 0; i < LENGTHS; i++) {
        clattn_workload c = CLATTN_WORKLOAD_INIT;
        if (clattn_workload_parse(texts[i], &c, NULL, 0))
            fail(texts[i], CLATTN_ERROR_SYNTAX);
        const cl_int e = trial_make(&r->t[i], n->cl.context, &c, PADDED);
        if (e)
            fail(texts[i], e);
    }
    cl_int e = clattn_plan_create(&r->plan, n->handle, &r->t[0].c.problem, &o);
    e = e ? e : clattn_plan_get_info(r->plan, &info);
    if (e)
        fail("plan", e);
    printf("binary=%d\n", info.binary);
    if (clFinish(n->queue))
        fail("clFinish", CL_OUT_OF_RESOURCES);
}

static void tear_down(struct run *r)
{
    for (int i = 0; i < LENGTHS; i++)
        trial_free(&r->t[i]);
    clattn_plan_release(r->plan);
}

static void call_all(struct run *r, cl_command_queue queue)
{
    for (int i = 0; i < TIMES * LENGTHS; i++) {
        const cl_int e = trial_run(&r->t[i % LENGTHS], r->plan, queue);
        if (e)
            fail(r->texts[i % LENGTHS], e);
    }
}

static int verdict(struct run *r, cl_command_queue queue)
{
    char why[512];
    int good = 1;
    for (int i = 0; i < LENGTHS; i++)
        if (!trial_verify(&r->t[i], queue, why, sizeof why)) {
            printf("wrong: %s: %s\n", r->texts[i], why);
            good = 0;
        }
    return good;
}

static int list(void)
{
    char name[520];
    for (unsigned i = 0; !opencl_name(i, name, sizeof name); i++)
        printf("%s\n", name);
    return 0;
}

int main(int argc, char **argv)
{
    const clattn_options o = cache_fixture_options(CLATTN_TUNE_OFF, argc > 2 ? argv[2] : "");
    struct device d;
    struct device n;
    struct run run[2];
    cl_int e;
    if (argc == 2 && !strcmp(argv[1], "list"))
        return list();
    memset(&d, 0, sizeof d);
    if (argc != 3 || opencl_open(argv[1], &d.cl))
        return 2;
    n = cache_fixture_open(&d, &o);
    set_up(&run[0], &n, plain);
    set_up(&run[1], &n, mapped);
    cl_command_queue other =
        clCreateCommandQueue(n.cl.context, d.cl.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &e);
    const uint64_t before = cache_fixture_counters(n.handle).compiles;
    mark("/clattn-mark-begin");
    for (int i = 0; i < 2; i++) {
        call_all(&run[i], n.queue);
        if (!e)
            call_all(&run[i], other);
    }
    mark("/clattn-mark-end");
    printf("compiles=%d\n", (int)(cache_fixture_counters(n.handle).compiles - before));
    printf("verdict=%s\n", verdict(&run[0], n.queue) & verdict(&run[1], n.queue) ? "right" : "wrong");
    for (int i = 0; i < 2; i++)
        tear_down(&run[i]);
    if (!e)
        clReleaseCommandQueue(other);
    cache_fixture_close(&n);
    opencl_close(&d.cl);
    return 0;
}
