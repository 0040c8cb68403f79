/* objects.c - what is made is released: OpenCL objects, memory, and the process as a whole
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/wrap.h"

#ifdef __GLIBC__
#include <malloc.h>
#endif
#include <time.h>
#include <unistd.h>

static const char text[] = "f32 b1 h2/1 q5 k7 d8 causal lse seed3";
enum { CHEAP = 100000, CYCLES = 200, FEW_CYCLES = 100, RUNS = 2000 };

/* Resident memory in KiB, without what malloc keeps of freed memory: the compiler of a driver leaves up to 2 MiB of
 * that, now more and now less. 0 where the system does not tell, or where a sanitizer keeps what was freed. */
static long resident(void)
{
#ifdef __SANITIZE_ADDRESS__
    return 0;
#else
    long pages = 0, size = 0;
#ifdef __GLIBC__
    malloc_trim(0);
#endif
    FILE *f = fopen("/proc/self/statm", "r");
    if (f && fscanf(f, "%ld %ld", &size, &pages) != 2)
        pages = 0;
    if (f)
        fclose(f);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
#endif
}

/* References of the caller's context, which a handle and its objects hold. */
static cl_uint references(cl_context context)
{
    cl_uint n = 0;
    clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof n, &n, NULL);
    return n;
}

/* The same, as soon as it is `wanted`: a driver's thread may let go of a finished command, and of the context with it,
 * a moment after clFinish (PoCL). What is kept for seconds is kept. */
static cl_uint references_settled(cl_context context, cl_uint wanted)
{
    const struct timespec moment = { 0, 10000000 };
    for (int i = 0; i < 1000 && references(context) != wanted; i++)
        nanosleep(&moment, NULL);
    return references(context);
}

/* Handle, plan, two calls, and everything back. */
static cl_int cycle(struct fixture *f)
{
    clattn_handle h = NULL;
    clattn_plan p = NULL;
    cl_event event = NULL;
    cl_int e = clattn_create(&h, f->d->cl.context, f->d->cl.device, NULL);
    e = e ? e : clattn_plan_create(&p, h, &f->t.c.problem, NULL);
    clattn_release(h); /* the plan keeps it */
    e = e ? e : clattn_enqueue_forward(p, f->d->queue, &f->t.args, 0, NULL, NULL);
    e = e ? e : clattn_enqueue_forward(p, f->d->queue, &f->t.args, 0, NULL, &event);
    clattn_plan_release(p); /* under way: the queue keeps what it needs */
    e = e ? e : clWaitForEvents(1, &event);
    if (event)
        clReleaseEvent(event);
    return e;
}

static void test_cycles(struct fixture *f)
{
    const int cycles = harness_more() ? CYCLES : FEW_CYCLES;
    cl_uint before = references(f->d->cl.context);
    cl_int e = CL_SUCCESS;
    long start = 0, grown;
    int i;
    wrap.memory = wrap.objects = 0;
    wrap_arm(0, 0);
    for (i = 0; i < cycles && !e; i++) {
        e = cycle(f);
        if (i == cycles / 4)
            start = resident(); /* drivers keep pools: they have them by now */
    }
    wrap_disarm();
    clFinish(f->d->queue);
    grown = resident() - start;
    is_int(e, CL_SUCCESS, "%d cycles of create, plan, enqueue, release: %s", cycles, text);
    is_int(wrap.objects, 0, "leave no OpenCL object");
    is_int(wrap.memory, 0, "and no memory");
    is_int(references_settled(f->d->cl.context, before), before, "the context has as many references as before");
    diag("%ld KiB more at the end than after a quarter", grown);
    if (!start)
        skip("resident memory is not known here");
    else
        ok(grown < 20 * cycles, "resident memory does not grow by more than the driver's programs could");
}

/* References alone cost nothing and keep nothing. */
static void test_references(struct fixture *f)
{
    long start, grown;
    cl_int e = CL_SUCCESS;
    int i;
    wrap.memory = wrap.objects = 0;
    wrap_arm(0, 0);
    start = resident();
    for (i = 0; i < CHEAP && !e; i++)
        if (!(e = clattn_retain(f->d->handle)) && !(e = clattn_plan_retain(f->plan)))
            e = clattn_release(f->d->handle) ? 1 : clattn_plan_release(f->plan);
    grown = resident() - start;
    wrap_disarm();
    is_int(e, CL_SUCCESS, "%d retains and releases", CHEAP);
    ok(!wrap.objects && !wrap.memory && !wrap.calls, "call nothing of OpenCL and allocate nothing");
    ok(grown < 1024, "resident memory is flat (%ld KiB)", grown);
}

/* A call of forward keeps nothing. */
static void test_runs(struct fixture *f)
{
    cl_int e = CL_SUCCESS;
    long start = 0, grown;
    int i;
    wrap.memory = wrap.objects = 0;
    wrap_arm(0, 0);
    for (i = 0; i < RUNS && !e; i++) {
        e = clattn_enqueue_forward(f->plan, f->d->queue, &f->t.args, 0, NULL, NULL);
        if (i % 50 == 49)
            clFinish(f->d->queue);
        if (i == RUNS / 2)
            start = resident();
    }
    grown = resident() - start;
    wrap_disarm();
    clFinish(f->d->queue);
    is_int(e, CL_SUCCESS, "%d calls", RUNS);
    ok(!wrap.objects && !wrap.memory, "keep no object and no memory");
    ok(grown < 2048, "resident memory is flat (%ld KiB)", grown);
}

/* Failing calls give back what they took. */
static void test_failures(struct fixture *f)
{
    clattn_problem bad = f->t.c.problem;
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan p = NULL;
    char why[64];
    int i, failed = 0;
    bad.d = 9999;
    o.config = "nonsense 1";
    failed += clattn_supports(f->d->handle, &bad, why, sizeof why) < 0; /* the handle keeps the last words, no more */
    wrap.memory = wrap.objects = 0;
    wrap_arm(0, 0);
    for (i = 0; i < 1000; i++) {
        failed += clattn_plan_create(&p, f->d->handle, &bad, NULL) < 0;
        failed += clattn_plan_create(&p, f->d->handle, &f->t.c.problem, &o) < 0;
        failed += clattn_supports(f->d->handle, &bad, why, sizeof why) < 0;
    }
    wrap_disarm();
    ok(failed == 3001 && !wrap.objects && !wrap.memory, "3000 failures leave nothing");
}

static void test_device(const struct device *d)
{
    struct fixture f;
    each_open(&f, d, text, PADDED);
    test_references(&f);
    test_runs(&f);
    test_failures(&f);
    test_cycles(&f);
    fixture_close(&f);
}

int main(int argc, char **argv)
{
    (void)argc;
    /* Memory is looked at: without the longer cache of malloc's that the Makefile asks for. */
    if (getenv("GLIBC_TUNABLES") && !unsetenv("GLIBC_TUNABLES"))
        execv("/proc/self/exe", argv);
    return each_device(test_device);
}
