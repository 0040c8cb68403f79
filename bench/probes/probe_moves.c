/* probe_moves.c - how many bytes a device reads and copies at best, in working sets of several sizes
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/probes/probe.h"
#include "tools/system/clock.h"

#include <string.h>

enum { TRIES = 3, TIMES_MOST = 1 << 20 };
#define LEAST_MS 2 /* of a launch, so that starting it does not count */

struct mover {
    const struct opencl *where;
    cl_command_queue queue;
    cl_mem from, to;
    size_t bytes, units; /* of each buffer; of the device */
};

/* What of a working set each item has. */
struct parts {
    cl_int each, times;
    cl_uint n;
};

static struct parts parts_of(size_t bytes, const struct form *f, size_t items)
{
    const size_t vectors = bytes / (4 * (size_t)f->width), n = vectors / 4 < items ? vectors / 4 : items;
    struct parts p = { 0, 1, (cl_uint)n };
    if (n > 0)
        p.each = (cl_int)(vectors / n / 4 * 4);
    return p;
}

static cl_int set_times(struct form_kernel *k, struct parts *p, cl_int times)
{
    p->times = times;
    return clSetKernelArg(k->kernel, 4, sizeof p->times, &p->times);
}

static cl_int set_parts(struct form_kernel *k, const struct mover *m, struct parts *p)
{
    cl_int status = clSetKernelArg(k->kernel, 0, sizeof m->from, &m->from);
    if (!status)
        status = clSetKernelArg(k->kernel, 1, sizeof m->to, &m->to);
    if (!status)
        status = clSetKernelArg(k->kernel, 2, sizeof p->each, &p->each);
    if (!status)
        status = clSetKernelArg(k->kernel, 3, sizeof p->n, &p->n);
    return status ? status : set_times(k, p, 1);
}

/* The rate of the best try. moved: how often each byte is, reading 1 and copying 2. */
static double try_size(struct form_kernel *k, const struct mover *m, const struct form *f, size_t bytes, int moved)
{
    struct parts p = parts_of(bytes, f, k->items);
    double best = 0, ms = 0;
    if (k->items * 4 * (size_t)f->width > m->bytes) /* of which each writes a sum */
        return 0;
    if (!p.n || !p.each || set_parts(k, m, &p))
        return 0;
    while (!form_run(k, m->queue, &ms) && ms < LEAST_MS && p.times < TIMES_MOST)
        if (set_times(k, &p, ms * 2 < LEAST_MS ? p.times * 2 : p.times + p.times / 2 + 1))
            return 0;
    const double all = 4.0 * moved * p.times * p.each * f->width * (double)k->items;
    for (int n = 0; n < TRIES && !form_run(k, m->queue, &ms); n++) /* drivers compiled at the first of those before */
        ceilings_raise(&best, ceilings_rate(all, ms));
    return best;
}

/* Sizes from the largest buffer downwards; copying has two of half the size. */
static void move_by_kernel(const struct mover *m, const struct form *f, int moved, struct moves *out)
{
    struct form_kernel k;
    memset(&k, 0, sizeof k);
    if (!form_open(&k, m->where, f, 0, moved == 1 ? "read" : "copy")) {
        k.items = k.local * m->units * GROUPS_PER_UNIT;
        ceilings_raise(moved == 1 ? &out->read : &out->copied, try_size(&k, m, f, m->bytes, moved));
        for (int i = 0; i < CEILINGS_SIZES; i++)
            if (ceilings_bytes[i] < m->bytes)
                ceilings_raise(&out->of[i], try_size(&k, m, f, (size_t)ceilings_bytes[i] / (size_t)moved, moved));
    }
    form_close(&k);
}

static void copy_by_command(const struct mover *m, struct moves *out)
{
    for (int n = 0; n < TRIES; n++) {
        const double t = clock_ms();
        if (clEnqueueCopyBuffer(m->queue, m->from, m->to, 0, 0, m->bytes, 0, NULL, NULL) || clFinish(m->queue))
            return;
        ceilings_raise(&out->copied, ceilings_rate(2.0 * (double)m->bytes, clock_ms() - t));
    }
}

static cl_int open_buffers(struct mover *m, uint64_t room)
{
    const cl_float zero = 0;
    cl_ulong most = 0;
    cl_int status = clGetDeviceInfo(m->where->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    uint64_t bytes = ceilings_bytes[CEILINGS_SIZES - 1];
    bytes = most / 2 < bytes ? most / 2 : bytes;
    m->bytes = (size_t)(room < bytes ? room : bytes) / 4096 * 4096;
    if (!status && !m->bytes)
        status = CL_OUT_OF_RESOURCES;
    if (!status)
        m->queue = clCreateCommandQueue(m->where->context, m->where->device, 0, &status);
    if (!status)
        m->from = clCreateBuffer(m->where->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status);
    if (!status)
        m->to = clCreateBuffer(m->where->context, CL_MEM_READ_WRITE, m->bytes, NULL, &status);
    if (!status)
        status = clEnqueueFillBuffer(m->queue, m->from, &zero, sizeof zero, 0, m->bytes, 0, NULL, NULL);
    if (!status)
        status = clEnqueueFillBuffer(m->queue, m->to, &zero, sizeof zero, 0, m->bytes, 0, NULL, NULL);
    return status;
}

cl_int probe_moves(const struct opencl *where, uint64_t room, struct moves *out)
{
    struct mover m = { .where = where };
    const struct form *forms = NULL;
    memset(out, 0, sizeof *out);
    cl_int status = form_find(where->device, &forms, &m.units);
    if (!status)
        status = open_buffers(&m, room);
    if (!status) {
        copy_by_command(&m, out);
        for (int i = 0; i < FORMS; i++) {
            move_by_kernel(&m, &forms[i], 1, out);
            move_by_kernel(&m, &forms[i], 2, out);
        }
        ceilings_raise(&out->of[ceilings_class((double)m.bytes)], out->read > out->copied ? out->read : out->copied);
    }
    if (m.from)
        (void)clReleaseMemObject(m.from);
    if (m.to)
        (void)clReleaseMemObject(m.to);
    if (m.queue)
        (void)clReleaseCommandQueue(m.queue);
    return status ? status : out->copied > 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}
