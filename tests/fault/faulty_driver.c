/* faulty_driver.c - a driver that fails, lies, crashes and hangs on demand: the calls (see faulty_driver.h)
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/fault/faulty_driver.h"

#ifdef CL_LAYER_API_VERSION

#include <string.h>

const cl_icd_dispatch *evil_real;
/* ---- Calls that may only fail ---- */

#define STATUS(name, parameters, arguments, kind, by)                                                                  \
    CL_API_ENTRY cl_int CL_API_CALL my_##name parameters                                                               \
    {                                                                                                                  \
        RETURN_IF_FAILS(name);                                                                                         \
        const cl_int status = evil_real->name arguments;                                                               \
        evil_objects(kind, status ? 0 : (by));                                                                         \
        return status;                                                                                                 \
    }
#define INFO(name, type, what)                                                                                         \
    STATUS(name, (type o, what w, size_t n, void *to, size_t *got), (o, w, n, to, got), EVIL_EVENT, 0)
#define RETAIN(name, type, kind) STATUS(name, (type o), (o), kind, 1)
#define RELEASE(name, type, kind)                                                                                      \
    static cl_int CL_API_CALL my_##name(type o)                                                                        \
    {                                                                                                                  \
        const cl_int status = evil_real->name(o);                                                                      \
        evil_objects(kind, status ? 0 : -1);                                                                           \
        return status;                                                                                                 \
    }
#define CREATE(type, name, parameters, arguments, kind)                                                                \
    CL_API_ENTRY type CL_API_CALL my_##name parameters                                                                 \
    {                                                                                                                  \
        NULL_IF_FAILS(name)                                                                                            \
        type const made = evil_real->name arguments;                                                                   \
        evil_objects(kind, made != NULL);                                                                              \
        return made;                                                                                                   \
    }
#define ENQUEUE(name, parameters, arguments) STATUS(name, parameters, arguments, EVIL_EVENT, event != NULL)

STATUS(clGetPlatformIDs, (cl_uint n, cl_platform_id *p, cl_uint *got), (n, p, got), EVIL_EVENT, 0)
STATUS(clGetDeviceIDs, (cl_platform_id p, cl_device_type t, cl_uint n, cl_device_id *d, cl_uint *got),
       (p, t, n, d, got), EVIL_EVENT, 0)
INFO(clGetPlatformInfo, cl_platform_id, cl_platform_info)
INFO(clGetDeviceInfo, cl_device_id, cl_device_info)
INFO(clGetContextInfo, cl_context, cl_context_info)
INFO(clGetCommandQueueInfo, cl_command_queue, cl_command_queue_info)
INFO(clGetMemObjectInfo, cl_mem, cl_mem_info)
INFO(clGetKernelInfo, cl_kernel, cl_kernel_info)
INFO(clGetEventInfo, cl_event, cl_event_info)
RETAIN(clRetainContext, cl_context, EVIL_CONTEXT)
RETAIN(clRetainCommandQueue, cl_command_queue, EVIL_QUEUE)
RETAIN(clRetainMemObject, cl_mem, EVIL_MEMORY)
RETAIN(clRetainProgram, cl_program, EVIL_PROGRAM)
RETAIN(clRetainKernel, cl_kernel, EVIL_KERNEL)
RETAIN(clRetainEvent, cl_event, EVIL_EVENT)
RELEASE(clReleaseContext, cl_context, EVIL_CONTEXT)
RELEASE(clReleaseCommandQueue, cl_command_queue, EVIL_QUEUE)
RELEASE(clReleaseMemObject, cl_mem, EVIL_MEMORY)
RELEASE(clReleaseProgram, cl_program, EVIL_PROGRAM)
RELEASE(clReleaseKernel, cl_kernel, EVIL_KERNEL)
RELEASE(clReleaseEvent, cl_event, EVIL_EVENT)
STATUS(clFlush, (cl_command_queue q), (q), EVIL_EVENT, 0)
STATUS(clFinish, (cl_command_queue q), (q), EVIL_EVENT, 0)
STATUS(clWaitForEvents, (cl_uint n, const cl_event *list), (n, list), EVIL_EVENT, 0)
CREATE(cl_context, clCreateContext,
       (const cl_context_properties *p, cl_uint n, const cl_device_id *d,
        void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *), void *user, cl_int *e),
       (p, n, d, notify, user, e), EVIL_CONTEXT)
CREATE(cl_command_queue, clCreateCommandQueue, (cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e),
       (c, d, p, e), EVIL_QUEUE)
CREATE(cl_mem, clCreateBuffer, (cl_context c, cl_mem_flags f, size_t n, void *host, cl_int *e), (c, f, n, host, e),
       EVIL_MEMORY)
CREATE(cl_mem, clCreateSubBuffer, (cl_mem m, cl_mem_flags f, cl_buffer_create_type t, const void *info, cl_int *e),
       (m, f, t, info, e), EVIL_MEMORY)
CREATE(cl_event, clCreateUserEvent, (cl_context c, cl_int *e), (c, e), EVIL_EVENT)
ENQUEUE(clEnqueueWriteBuffer,
        (cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t n, const void *from, WAITS),
        (q, m, block, at, n, from, n_wait, list, event))
ENQUEUE(clEnqueueFillBuffer,
        (cl_command_queue q, cl_mem m, const void *pattern, size_t length, size_t at, size_t n, WAITS),
        (q, m, pattern, length, at, n, n_wait, list, event))
ENQUEUE(clEnqueueCopyBuffer, (cl_command_queue q, cl_mem m, cl_mem to, size_t at, size_t to_at, size_t n, WAITS),
        (q, m, to, at, to_at, n, n_wait, list, event))
ENQUEUE(clEnqueueUnmapMemObject, (cl_command_queue q, cl_mem m, void *p, WAITS), (q, m, p, n_wait, list, event))
ENQUEUE(clEnqueueMarkerWithWaitList, (cl_command_queue q, WAITS), (q, n_wait, list, event))
ENQUEUE(clEnqueueBarrierWithWaitList, (cl_command_queue q, WAITS), (q, n_wait, list, event))

CL_API_ENTRY cl_int CL_API_CALL my_clEnqueueReadBuffer(cl_command_queue q, cl_mem m, cl_bool block, size_t at, size_t n,
                                                       void *to, WAITS)
{
    RETURN_IF_FAILS(clEnqueueReadBuffer);
    const cl_int status = evil_real->clEnqueueReadBuffer(q, m, block, at, n, to, n_wait, list, event);
    evil_objects(EVIL_EVENT, !status && event);
    if (!status && block && n == (size_t)evil_number("read-nan"))
        memset(to, 0xff, sizeof(cl_float));
    return status;
}

CL_API_ENTRY void *CL_API_CALL my_clEnqueueMapBuffer(cl_command_queue q, cl_mem m, cl_bool block, cl_map_flags f,
                                                     size_t at, size_t n, WAITS, cl_int *e)
{
    NULL_IF_FAILS(clEnqueueMapBuffer)
    void *const p = evil_real->clEnqueueMapBuffer(q, m, block, f, at, n, n_wait, list, event, e);
    evil_objects(EVIL_EVENT, p && event);
    return p;
}

/* ---- For the others ---- */

cl_int evil_transfer(cl_command_queue queue, cl_mem mem, size_t offset, size_t size, void *to, const void *from)
{
    if (!size)
        return CL_SUCCESS;
    return to ? evil_real->clEnqueueReadBuffer(queue, mem, CL_TRUE, offset, size, to, 0, NULL, NULL)
              : evil_real->clEnqueueWriteBuffer(queue, mem, CL_TRUE, offset, size, from, 0, NULL, NULL);
}

size_t evil_size(cl_mem mem)
{
    size_t size = 0;
    return evil_real->clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL) ? 0 : size;
}

/* ---- The layer ---- */

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info w, size_t n, void *to, size_t *got)
{
    return layer_info("evil", w, n, to, got);
}

CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *target, cl_uint *got,
                                            const cl_icd_dispatch **out)
{
    static cl_icd_dispatch mine;
    evil_real = target;
    layer_begin(&mine, n, target, got);
#define TAKE(name) mine.name = my_##name;
    EVIL_CALLS(TAKE)
    TAKE(clReleaseContext)
    TAKE(clReleaseCommandQueue)
    TAKE(clReleaseMemObject)
    TAKE(clReleaseProgram)
    TAKE(clReleaseKernel)
    TAKE(clReleaseEvent)
    *out = &mine;
    return CL_SUCCESS;
}

#else
typedef int evil_nothing_here; /* headers without layers: faulty_driver.t skips */
#endif
