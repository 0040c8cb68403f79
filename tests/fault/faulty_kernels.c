/* faulty_kernels.c - kernels that fail, are slow, hang or compute something else; clocks that lie
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/fault/faulty_driver.h"

#ifdef CL_LAYER_API_VERSION

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct evil_kernel *kernels;
EVIL_FINDER(kernel, kernels)

/* ---- Kernels ---- */

CL_API_ENTRY cl_kernel CL_API_CALL my_clCreateKernel(cl_program program, const char *name, cl_int *e)
{
    struct evil_program *const p = evil_find_program(program);
    if (p->from_binary && evil_says("binary-crash", "kernel"))
        evil_crash();
    NULL_IF_FAILS(clCreateKernel)
    if (p->from_binary && evil_has("binary-kernel-missing")) {
        if (e)
            *e = CL_INVALID_KERNEL_NAME;
        return NULL;
    }
    const cl_kernel kernel = evil_real->clCreateKernel(program, name, e);
    if (kernel) {
        struct evil_kernel *const k = evil_find_kernel(kernel);
        *k = (struct evil_kernel){ .next = k->next, .kernel = kernel, .program = p };
        snprintf(k->name, sizeof k->name, "%s", name);
        evil_objects(EVIL_KERNEL, 1);
    }
    return kernel;
}

static uint64_t hash_of(const unsigned char *from, size_t n)
{
    uint64_t h = 14695981039346656037u;
    while (n--)
        h = (h ^ *from++) * 1099511628211u;
    return h;
}

CL_API_ENTRY cl_int CL_API_CALL my_clSetKernelArg(cl_kernel kernel, cl_uint i, size_t n, const void *from)
{
    RETURN_IF_FAILS(clSetKernelArg);
    struct evil_kernel *const k = evil_find_kernel(kernel);
    if (i < EVIL_ARGS) {
        k->is_mem[i] = n == sizeof(cl_mem);
        k->mem[i] = k->is_mem[i] && from ? *(const cl_mem *)from : NULL;
        k->hash[i] = k->is_mem[i] || !from ? 0 : hash_of(from, n);
    }
    return evil_real->clSetKernelArg(kernel, i, n, from);
}

CL_API_ENTRY cl_int CL_API_CALL my_clGetKernelWorkGroupInfo(cl_kernel o, cl_device_id d, cl_kernel_work_group_info w,
                                                            size_t n, void *to, size_t *got)
{
    RETURN_IF_FAILS(clGetKernelWorkGroupInfo);
    const cl_int status = evil_real->clGetKernelWorkGroupInfo(o, d, w, n, to, got);
    const struct evil_program *const p = evil_find_kernel(o)->program;
    if (!status && to && w == CL_KERNEL_WORK_GROUP_SIZE && p && p->from_binary && evil_has("binary-group-shrinks"))
        *(size_t *)to = 1;
    return status;
}

/* Kernels that were slow: for how many nanoseconds before the event says that they began. */
enum { SLOW_EVENTS = 256 };
static struct {
    cl_event event;
    cl_ulong time;
} slow[SLOW_EVENTS];
static unsigned n_slow;

static cl_ulong now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (cl_ulong)t.tv_sec * 1000000000 + (cl_ulong)t.tv_nsec;
}

static cl_ulong lag(void)
{
    const struct timespec t = { 0, 100000000 }; /* more than a busy machine takes a thread away for, mostly */
    const cl_ulong from = now();
    nanosleep(&t, NULL);
    return now() - from;
}

static void remember_slow(cl_event event, cl_ulong time)
{
    pthread_mutex_lock(&lock);
    slow[n_slow % SLOW_EVENTS].event = event;
    slow[n_slow++ % SLOW_EVENTS].time = time;
    pthread_mutex_unlock(&lock);
}

/* A handle may be that of an event which is gone: the last one counts. */
static cl_ulong slow_time(cl_event event)
{
    cl_ulong time = 0;
    pthread_mutex_lock(&lock);
    unsigned i = n_slow;
    while (i > 0 && n_slow - i < SLOW_EVENTS && slow[(i - 1) % SLOW_EVENTS].event != event)
        i--;
    if (i > 0 && n_slow - i < SLOW_EVENTS)
        time = slow[(i - 1) % SLOW_EVENTS].time;
    pthread_mutex_unlock(&lock);
    return time;
}

#define GRID cl_uint dims, const size_t *from, const size_t *global, const size_t *local
static cl_int enqueue_damaged(const struct evil_kernel *k, cl_command_queue q, GRID, WAITS)
{
    struct evil_shot shot;
    cl_event own = NULL;
    if (n_wait)
        evil_real->clWaitForEvents(n_wait, list);
    if (!evil_aim(&shot, k, q)) {
        evil_lower(&shot);
        return evil_real->clEnqueueNDRangeKernel(q, k->kernel, dims, from, global, local, n_wait, list, event);
    }
    const cl_int status =
        evil_real->clEnqueueNDRangeKernel(q, k->kernel, dims, from, global, local, n_wait, list, event ? event : &own);
    if (status) {
        evil_lower(&shot);
        return status;
    }
    evil_real->clWaitForEvents(1, event ? event : &own);
    if (own)
        evil_real->clReleaseEvent(own);
    evil_damage(&shot, q);
    return CL_SUCCESS;
}

static cl_int enqueue_somehow(const struct evil_kernel *k, cl_command_queue q, GRID, WAITS)
{
    const char *const options = k->program->options;
    while (evil_any("hang", options))
        pause();
    if (evil_any("crash", options) || (k->program->from_binary && evil_says("binary-crash", "enqueue")))
        evil_crash();
    if (k->program->from_binary && evil_has("binary-wrong"))
        return evil_real->clEnqueueMarkerWithWaitList(q, n_wait, list, event);
    if (evil_has("result"))
        return enqueue_damaged(k, q, dims, from, global, local, n_wait, list, event);
    return evil_real->clEnqueueNDRangeKernel(q, k->kernel, dims, from, global, local, n_wait, list, event);
}

CL_API_ENTRY cl_int CL_API_CALL my_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel kernel, GRID, WAITS)
{
    const struct evil_kernel *const k = evil_find_kernel(kernel);
    evil_log("clEnqueueNDRangeKernel %zu,%zu %zu %s\n", global[0], dims > 1 ? global[1] : 1, local ? local[0] : 0,
             k->program && k->program->options ? k->program->options : "");
    RETURN_IF_FAILS(clEnqueueNDRangeKernel);
    const cl_ulong time = k->program && evil_any("slow", k->program->options) ? lag() : 0;
    const cl_int status =
        k->program ? enqueue_somehow(k, q, dims, from, global, local, n_wait, list, event)
                   : evil_real->clEnqueueNDRangeKernel(q, kernel, dims, from, global, local, n_wait, list, event);
    if (!status && event) {
        evil_objects(EVIL_EVENT, 1);
        remember_slow(*event, time);
    }
    return status;
}

/* ---- Time ---- */

CL_API_ENTRY cl_int CL_API_CALL my_clGetEventProfilingInfo(cl_event o, cl_profiling_info w, size_t n, void *to,
                                                           size_t *got)
{
    RETURN_IF_FAILS(clGetEventProfilingInfo);
    cl_ulong t[2] = { 0, 0 };
    if (evil_says("time", "none"))
        return CL_PROFILING_INFO_NOT_AVAILABLE;
    const cl_int status = evil_real->clGetEventProfilingInfo(o, w, n, to, got);
    if (status || !to || evil_real->clGetEventProfilingInfo(o, CL_PROFILING_COMMAND_START, sizeof t[0], &t[0], NULL) ||
        evil_real->clGetEventProfilingInfo(o, CL_PROFILING_COMMAND_END, sizeof t[1], &t[1], NULL))
        return status;
    cl_ulong *const x = to;
    t[0] -= slow_time(o);
    const bool end = w == CL_PROFILING_COMMAND_END;
    if (w == CL_PROFILING_COMMAND_START)
        *x = t[0];
    if (evil_says("time", "zero"))
        *x = 0;
    else if (evil_says("time", "equal"))
        *x = t[0];
    else if (evil_says("time", "backwards"))
        *x = end ? t[0] : t[1];
    else if (evil_says("time", "constant"))
        *x = end ? 2000000 : 1000000;
    else if (evil_says("time", "10x") && end)
        *x = t[0] + 10 * (t[1] - t[0]);
    return status;
}

#else
typedef int evil_no_kernels;
#endif
