/* memory.c - pretended GPUs: where their buffers lie, and which bytes of them anybody has written
 * SPDX-License-Identifier: Apache-2.0
 *
 * The latter is kept as long as the buffer lives, so that a kernel is found out which reads what neither the host nor
 * an earlier kernel has written. The host's writes count from when they are asked for: whether they are waited for is
 * not seen here. */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

struct memory {
    struct memory *next;
    cl_mem mem;
    void *data;             /* where PoCL has it, the same for life; NULL: not asked yet */
    unsigned char *written; /* a byte for each of the buffer's; NULL: all are */
};
static struct memory *list;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct memory **find(cl_mem mem)
{
    struct memory **at = &list;
    while (*at && (*at)->mem != mem)
        at = &(*at)->next;
    return at;
}

unsigned char *pretended_written(cl_mem mem)
{
    pthread_mutex_lock(&lock);
    struct memory *const m = *find(mem);
    unsigned char *const written = m ? m->written : NULL;
    pthread_mutex_unlock(&lock);
    return written;
}

/* By a queue of its own, so that nothing is waited for that the caller has enqueued. PoCL also tells functions of the
 * host where buffers lie, but in another order than it was asked. */
static cl_int look(cl_context context, cl_device_id device, cl_mem mem, void **data)
{
    cl_int e;
    const cl_command_queue queue = pretended_below->clCreateCommandQueue(context, device, 0, &e);
    if (e)
        return e;
    *data = pretended_below->clEnqueueMapBuffer(queue, mem, CL_TRUE, CL_MAP_READ, 0, 1, 0, NULL, NULL, &e);
    if (!e)
        e = pretended_below->clEnqueueUnmapMemObject(queue, mem, *data, 0, NULL, NULL);
    e = e ? e : pretended_below->clFinish(queue);
    pretended_below->clReleaseCommandQueue(queue);
    return e;
}

cl_int pretended_find(cl_context context, cl_device_id device, cl_mem mem, void **data)
{
    pthread_mutex_lock(&lock);
    struct memory *const m = *find(mem);
    *data = m ? m->data : NULL;
    pthread_mutex_unlock(&lock);
    if (*data)
        return CL_SUCCESS;
    const cl_int e = look(context, device, mem, data);
    if (m && !e)
        __atomic_store_n(&m->data, *data, __ATOMIC_RELAXED);
    return e;
}

static void CL_CALLBACK forget(cl_mem mem, void *user)
{
    (void)user;
    pthread_mutex_lock(&lock);
    struct memory **const at = find(mem), *const m = *at;
    if (m)
        *at = m->next;
    pthread_mutex_unlock(&lock);
    if (m)
        free(m->written);
    free(m);
}

/* Where a part of a buffer, or of the one that it is a part of, is known to be written. */
static void mark(cl_mem mem, size_t offset, size_t size)
{
    cl_mem whole = NULL;
    size_t origin = 0;
    if (!pretended_below->clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL) && whole &&
        !pretended_below->clGetMemObjectInfo(mem, CL_MEM_OFFSET, sizeof origin, &origin, NULL))
        mem = whole;
    unsigned char *const written = pretended_written(mem);
    if (written)
        memset(written + origin + offset, 1, size);
}

cl_mem pretended_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *status)
{
    const cl_mem mem = pretended_below->clCreateBuffer(context, flags, size, host, status);
    struct memory *const m = mem ? calloc(1, sizeof *m) : NULL;
    if (!m)
        return mem;
    m->mem = mem;
    m->written = host ? NULL : calloc(1, size); /* what is not known is not judged */
    pthread_mutex_lock(&lock);
    m->next = list;
    list = m;
    pthread_mutex_unlock(&lock);
    if (pretended_below->clSetMemObjectDestructorCallback(mem, forget, NULL))
        forget(mem, NULL);
    return mem;
}

cl_int pretended_clEnqueueWriteBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, size_t offset, size_t size,
                                      const void *from, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const cl_int status =
        pretended_below->clEnqueueWriteBuffer(queue, mem, blocking, offset, size, from, n_wait, wait, event);
    if (!status)
        mark(mem, offset, size);
    return status;
}

cl_int pretended_clEnqueueFillBuffer(cl_command_queue queue, cl_mem mem, const void *pattern, size_t pattern_size,
                                     size_t offset, size_t size, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    const cl_int status =
        pretended_below->clEnqueueFillBuffer(queue, mem, pattern, pattern_size, offset, size, n_wait, wait, event);
    if (!status)
        mark(mem, offset, size);
    return status;
}

cl_int pretended_clEnqueueCopyBuffer(cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,
                                     size_t to_offset, size_t size, cl_uint n_wait, const cl_event *wait,
                                     cl_event *event)
{
    const cl_int status =
        pretended_below->clEnqueueCopyBuffer(queue, from, to, from_offset, to_offset, size, n_wait, wait, event);
    if (!status)
        mark(to, to_offset, size);
    return status;
}

void *pretended_clEnqueueMapBuffer(cl_command_queue queue, cl_mem mem, cl_bool blocking, cl_map_flags flags,
                                   size_t offset, size_t size, cl_uint n_wait, const cl_event *wait, cl_event *event,
                                   cl_int *status)
{
    void *const at =
        pretended_below->clEnqueueMapBuffer(queue, mem, blocking, flags, offset, size, n_wait, wait, event, status);
    if (at && flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION))
        mark(mem, offset, size);
    return at;
}

#else
typedef int pretended_memory_nothing_here;
#endif
