/* wrap.c - the library's calls of malloc, for mutexes and of OpenCL, counted and made to fail
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/wrap.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct wrap wrap;

void wrap_arm(long fail_at, int sticky)
{
    wrap.armed = 1;
    wrap.calls = wrap.failed = 0;
    wrap.optional = 0;
    wrap.fail_at = fail_at;
    wrap.sticky = sticky;
    wrap.last[0] = 0;
}

void wrap_disarm(void)
{
    wrap.armed = 0;
}

/* Whether this call is to fail. */
static int fails(const char *name)
{
    if (!wrap.armed)
        return 0;
    if (wrap.calls < WRAP_NAMES)
        wrap.name[wrap.calls] = name;
    wrap.calls++;
    if (wrap.builds && !strcmp(name, "clBuildProgram"))
        wrap.builds--;
    else if (!wrap.fail_at || (wrap.sticky ? wrap.calls < wrap.fail_at : wrap.calls != wrap.fail_at))
        return 0;
    wrap.failed++;
    strncpy(wrap.last, name, sizeof wrap.last - 1);
    return 1;
}

/* ---- Memory ---- */

#define COUNTS wrap
#include "tests/lib/wrap_memory.h"

/* ---- Mutexes ---- */

int __real_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a);
int __wrap_pthread_mutex_init(pthread_mutex_t *m, const pthread_mutexattr_t *a)
{
    if (fails("pthread_mutex_init"))
        return ENOMEM;
    const int status = __real_pthread_mutex_init(m, a);
    wrap.objects += wrap.armed && !status;
    return status;
}

int __real_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m);
int __wrap_pthread_mutex_destroy(pthread_mutex_t *m)
{
    wrap.objects -= wrap.armed;
    return __real_pthread_mutex_destroy(m);
}

/* ---- OpenCL: calls that only return a status ---- */

#define STATUS(name, parameters, arguments, error, count)                                                              \
    cl_int __real_##name parameters;                                                                                   \
    cl_int __wrap_##name parameters;                                                                                   \
    cl_int __wrap_##name parameters                                                                                    \
    {                                                                                                                  \
        cl_int status;                                                                                                 \
        if (fails(#name))                                                                                              \
            return error;                                                                                              \
        status = __real_##name arguments;                                                                              \
        if (wrap.armed && !status)                                                                                     \
            wrap.objects += count;                                                                                     \
        return status;                                                                                                 \
    }

STATUS(clGetPlatformInfo, (cl_platform_id o, cl_platform_info w, size_t n, void *to, size_t *got), (o, w, n, to, got),
       CL_OUT_OF_HOST_MEMORY, 0)
STATUS(clGetContextInfo, (cl_context o, cl_context_info w, size_t n, void *to, size_t *got), (o, w, n, to, got),
       CL_OUT_OF_HOST_MEMORY, 0)
STATUS(clGetCommandQueueInfo, (cl_command_queue o, cl_command_queue_info w, size_t n, void *to, size_t *got),
       (o, w, n, to, got), CL_INVALID_COMMAND_QUEUE, 0)
STATUS(clGetMemObjectInfo, (cl_mem o, cl_mem_info w, size_t n, void *to, size_t *got), (o, w, n, to, got),
       CL_INVALID_MEM_OBJECT, 0)
STATUS(clGetEventInfo, (cl_event o, cl_event_info w, size_t n, void *to, size_t *got), (o, w, n, to, got),
       CL_INVALID_EVENT, 0)
STATUS(clGetKernelWorkGroupInfo,
       (cl_kernel k, cl_device_id d, cl_kernel_work_group_info w, size_t n, void *to, size_t *got),
       (k, d, w, n, to, got), CL_OUT_OF_RESOURCES, 0)
STATUS(clGetProgramBuildInfo, (cl_program p, cl_device_id d, cl_program_build_info w, size_t n, void *to, size_t *got),
       (p, d, w, n, to, got), CL_OUT_OF_RESOURCES, 0)
STATUS(clBuildProgram,
       (cl_program p, cl_uint n, const cl_device_id *d, const char *options,
        void(CL_CALLBACK *notify)(cl_program, void *), void *user),
       (p, n, d, options, notify, user), wrap.build_status ? wrap.build_status : CL_BUILD_PROGRAM_FAILURE, 0)
STATUS(clSetKernelArg, (cl_kernel k, cl_uint i, size_t n, const void *from), (k, i, n, from), CL_OUT_OF_RESOURCES, 0)
STATUS(clGetProgramInfo, (cl_program o, cl_program_info w, size_t n, void *to, size_t *got), (o, w, n, to, got),
       CL_OUT_OF_RESOURCES, 0)
STATUS(clGetEventProfilingInfo, (cl_event o, cl_profiling_info w, size_t n, void *to, size_t *got), (o, w, n, to, got),
       CL_PROFILING_INFO_NOT_AVAILABLE, 0)
STATUS(clFinish, (cl_command_queue o), (o), CL_OUT_OF_RESOURCES, 0)
STATUS(clRetainContext, (cl_context o), (o), CL_OUT_OF_RESOURCES, 1)
STATUS(clRetainProgram, (cl_program o), (o), CL_OUT_OF_RESOURCES, 1)
STATUS(clRetainKernel, (cl_kernel o), (o), CL_OUT_OF_RESOURCES, 1)
STATUS(clRetainMemObject, (cl_mem o), (o), CL_OUT_OF_RESOURCES, 1)
STATUS(clRetainCommandQueue, (cl_command_queue o), (o), CL_OUT_OF_RESOURCES, 1)
STATUS(clRetainEvent, (cl_event o), (o), CL_OUT_OF_RESOURCES, 1)

/* ---- Releases: they succeed, but may say that they did not ---- */

#define RELEASE(name, type)                                                                                            \
    cl_int __real_##name(type o);                                                                                      \
    cl_int __wrap_##name(type o);                                                                                      \
    cl_int __wrap_##name(type o)                                                                                       \
    {                                                                                                                  \
        const int failing = fails(#name);                                                                              \
        const cl_int status = __real_##name(o);                                                                        \
        if (wrap.armed && !status)                                                                                     \
            wrap.objects--;                                                                                            \
        return failing ? CL_OUT_OF_RESOURCES : status;                                                                 \
    }

RELEASE(clReleaseContext, cl_context)
RELEASE(clReleaseProgram, cl_program)
RELEASE(clReleaseKernel, cl_kernel)
RELEASE(clReleaseMemObject, cl_mem)
RELEASE(clReleaseCommandQueue, cl_command_queue)
RELEASE(clReleaseEvent, cl_event)

/* ---- Creation ---- */

typedef void(CL_CALLBACK *notify)(const char *, const void *, size_t, void *);
cl_context __real_clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *d, notify notify,
                                  void *user, cl_int *e);
cl_context __wrap_clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *d, notify notify,
                                  void *user, cl_int *e);
cl_context __wrap_clCreateContext(const cl_context_properties *p, cl_uint n, const cl_device_id *d, notify notify,
                                  void *user, cl_int *e)
{
    cl_context c = NULL;
    if (!fails("clCreateContext"))
        c = __real_clCreateContext(p, n, d, notify, user, e);
    else if (e)
        *e = CL_OUT_OF_RESOURCES;
    wrap.objects += wrap.armed && c;
    return c;
}

cl_program __real_clCreateProgramWithSource(cl_context c, cl_uint n, const char **text, const size_t *len, cl_int *e);
cl_program __wrap_clCreateProgramWithSource(cl_context c, cl_uint n, const char **text, const size_t *len, cl_int *e);
cl_program __wrap_clCreateProgramWithSource(cl_context c, cl_uint n, const char **text, const size_t *len, cl_int *e)
{
    cl_program p = NULL;
    if (!fails("clCreateProgramWithSource"))
        p = __real_clCreateProgramWithSource(c, n, text, len, e);
    else if (e)
        *e = CL_OUT_OF_HOST_MEMORY;
    wrap.objects += wrap.armed && p;
    return p;
}

cl_kernel __real_clCreateKernel(cl_program p, const char *name, cl_int *e);
cl_kernel __wrap_clCreateKernel(cl_program p, const char *name, cl_int *e);
cl_kernel __wrap_clCreateKernel(cl_program p, const char *name, cl_int *e)
{
    cl_kernel k = NULL;
    if (!fails("clCreateKernel"))
        k = __real_clCreateKernel(p, name, e);
    else if (e)
        *e = CL_INVALID_KERNEL_NAME;
    wrap.objects += wrap.armed && k;
    return k;
}

cl_int __real_clGetDeviceInfo(cl_device_id d, cl_device_info w, size_t n, void *to, size_t *got);
cl_int __wrap_clGetDeviceInfo(cl_device_id d, cl_device_info w, size_t n, void *to, size_t *got);
cl_int __wrap_clGetDeviceInfo(cl_device_id d, cl_device_info w, size_t n, void *to, size_t *got)
{
    cl_int status;
    if (fails("clGetDeviceInfo")) {
        wrap.optional = w == CL_DEVICE_DOUBLE_FP_CONFIG || w == CL_DEVICE_EXTENSIONS;
        return CL_INVALID_DEVICE;
    }
    status = __real_clGetDeviceInfo(d, w, n, to, got);
    if (wrap.armed && wrap.no_compiler && w == CL_DEVICE_COMPILER_AVAILABLE && to && !status)
        *(cl_bool *)to = CL_FALSE;
    return status;
}

cl_program __real_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *d, const size_t *len,
                                            const unsigned char **binary, cl_int *taken, cl_int *e);
cl_program __wrap_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *d, const size_t *len,
                                            const unsigned char **binary, cl_int *taken, cl_int *e);
cl_program __wrap_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *d, const size_t *len,
                                            const unsigned char **binary, cl_int *taken, cl_int *e)
{
    cl_program p = NULL;
    if (!fails("clCreateProgramWithBinary"))
        p = __real_clCreateProgramWithBinary(c, n, d, len, binary, taken, e);
    else if (e)
        *e = CL_INVALID_BINARY;
    wrap.objects += wrap.armed && p;
    return p;
}

cl_mem __real_clCreateBuffer(cl_context c, cl_mem_flags flags, size_t n, void *from, cl_int *e);
cl_mem __wrap_clCreateBuffer(cl_context c, cl_mem_flags flags, size_t n, void *from, cl_int *e);
cl_mem __wrap_clCreateBuffer(cl_context c, cl_mem_flags flags, size_t n, void *from, cl_int *e)
{
    cl_mem m = NULL;
    if (!fails("clCreateBuffer"))
        m = __real_clCreateBuffer(c, flags, n, from, e);
    else if (e)
        *e = CL_MEM_OBJECT_ALLOCATION_FAILURE;
    wrap.objects += wrap.armed && m;
    return m;
}

cl_command_queue __real_clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e);
cl_command_queue __wrap_clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e);
cl_command_queue __wrap_clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e)
{
    cl_command_queue q = NULL;
    if (!fails("clCreateCommandQueue"))
        q = __real_clCreateCommandQueue(c, d, p, e);
    else if (e)
        *e = CL_OUT_OF_HOST_MEMORY;
    wrap.objects += wrap.armed && q;
    return q;
}

/* ---- Enqueueing ---- */

STATUS(clEnqueueReadBuffer,
       (cl_command_queue q, cl_mem m, cl_bool wait, size_t at, size_t n, void *to, cl_uint n_wait, const cl_event *list,
        cl_event *event),
       (q, m, wait, at, n, to, n_wait, list, event), CL_OUT_OF_RESOURCES, event != NULL)
STATUS(clEnqueueFillBuffer,
       (cl_command_queue q, cl_mem m, const void *pattern, size_t size, size_t at, size_t n, cl_uint n_wait,
        const cl_event *list, cl_event *event),
       (q, m, pattern, size, at, n, n_wait, list, event), CL_OUT_OF_RESOURCES, event != NULL)
STATUS(clEnqueueWriteBuffer,
       (cl_command_queue q, cl_mem m, cl_bool wait, size_t at, size_t n, const void *from, cl_uint n_wait,
        const cl_event *list, cl_event *event),
       (q, m, wait, at, n, from, n_wait, list, event), CL_OUT_OF_RESOURCES, event != NULL)

STATUS(clEnqueueNDRangeKernel,
       (cl_command_queue q, cl_kernel k, cl_uint n, const size_t *from, const size_t *global, const size_t *local,
        cl_uint n_wait, const cl_event *list, cl_event *event),
       (q, k, n, from, global, local, n_wait, list, event), CL_OUT_OF_RESOURCES, event != NULL)
STATUS(clEnqueueMarkerWithWaitList, (cl_command_queue q, cl_uint n_wait, const cl_event *list, cl_event *event),
       (q, n_wait, list, event), CL_OUT_OF_RESOURCES, event != NULL)
