/* small_stack.c - how much of a thread's stack the library itself takes: little enough for stacks of 64 KiB
 * SPDX-License-Identifier: Apache-2.0
 *
 * Up to its calls of OpenCL: what drivers take behind them, for a compiler mostly, is theirs. */
#include "config.h"

#include "tests/lib/each.h"

#include <clattn_tune.h>

#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
#define INSTRUMENTED 1 /* whose frames are larger */
#else
#define INSTRUMENTED 0
#endif

/* Of the call that is looked at: where its caller's frame is, and how far below that OpenCL was called. */
static volatile char *base;
static size_t deepest;
static const char *where;

static void note(const char *name)
{
    volatile char here = 0;
    const size_t depth = base > &here ? (size_t)(base - &here) : 0;
    if (!base || depth <= deepest)
        return;
    deepest = depth;
    where = name;
}

#define NOTED(name, parameters, arguments) \
    cl_int __real_##name parameters; \
    cl_int __wrap_##name parameters; \
    cl_int __wrap_##name parameters \
    { \
        note(#name); \
        return __real_##name arguments; \
    }
NOTED(clBuildProgram,
      (cl_program p, cl_uint n, const cl_device_id *d, const char *o, void(CL_CALLBACK *f)(cl_program, void *),
       void *u),
      (p, n, d, o, f, u))
NOTED(clEnqueueNDRangeKernel,
      (cl_command_queue q, cl_kernel k, cl_uint n, const size_t *o, const size_t *g, const size_t *l, cl_uint w,
       const cl_event *list, cl_event *e),
      (q, k, n, o, g, l, w, list, e))
NOTED(clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *x), (k, i, n, x))
NOTED(clFinish, (cl_command_queue q), (q))
NOTED(clGetDeviceInfo, (cl_device_id d, cl_device_info w, size_t n, void *x, size_t *got), (d, w, n, x, got))
NOTED(clGetMemObjectInfo, (cl_mem m, cl_mem_info w, size_t n, void *x, size_t *got), (m, w, n, x, got))

#define LOOKED_AT(call, what) \
    do { \
        volatile char here = 0; \
        base = &here; \
        deepest = 0; \
        const cl_int e = call; \
        base = NULL; \
        const int small = deepest && deepest <= MOST; \
        if (INSTRUMENTED) \
            skip("%s: sanitizers make frames larger", what); \
        else \
            ok(!e && small, "%s takes %zu bytes of the stack up to %s (%s)", what, deepest, where, \
               clattn_status_string(e)); \
    } while (0)

static void test(const struct device *d)
{
    enum { MOST = 24 << 10, N = 4096 };
    clattn_handle handle = NULL;
    clattn_options options = CLATTN_OPTIONS_INIT;
    clattn_tune_options tune = CLATTN_TUNE_OPTIONS_INIT;
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    clattn_plan plan = NULL;
    options.tune = CLATTN_TUNE_OFF;
    options.cache_dir = "";
    tune.effort = CLATTN_TUNE_QUICK;
    tune.seconds = 0.01;
    p.d = 8;
    p.sizes = (clattn_sizes){ 1, 2, 2, 5, 9, 0, 0, 0 };
    a.q.mem = a.k.mem = a.v.mem = each_buffer(d->cl.context, CL_MEM_READ_ONLY, N, NULL);
    a.o.mem = each_buffer(d->cl.context, CL_MEM_READ_WRITE, N, NULL);
    LOOKED_AT(clattn_create(&handle, d->cl.context, d->cl.device, &options), "a handle");
    LOOKED_AT(clattn_plan_create(&plan, handle, &p, NULL), "a plan");
    LOOKED_AT(clattn_enqueue_forward(plan, d->queue, &a, 0, NULL, NULL), "a call");
    LOOKED_AT(clattn_forward(handle, d->queue, &p, &a, 0, NULL, NULL), "a call without a plan");
    LOOKED_AT(clattn_set_config(handle, &p, "naive"), "a configuration that is set");
    LOOKED_AT(clattn_tune(handle, &p, &tune, NULL, 0), "a search");
    clFinish(d->queue);
    clattn_plan_release(plan);
    clattn_release(handle);
    clReleaseMemObject(a.q.mem);
    clReleaseMemObject(a.o.mem);
}

int main(void)
{
    return each_device(test);
}
