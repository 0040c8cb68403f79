/* probe.c - what a device can do at best
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "probe.h"

#include "clock.h"

#include <stdio.h>
#include <string.h>

/* CHAINS independent chains hide the latency of a multiply-add; they tend to 2, so that no number gets denormal or
 * infinite, and are written out, so that no compiler may drop them. */
static const char source[] =
    "#if TWICE\n"
    "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"
    "typedef double scalar;\n"
    "#define V_(w) double##w\n"
    "#else\n"
    "typedef float scalar;\n"
    "#define V_(w) float##w\n"
    "#endif\n"
    "#define V(w) V_(w)\n"
    "#if W == 1\n"
    "typedef scalar vec;\n"
    "#else\n"
    "typedef V(W) vec;\n"
    "#endif\n"
    "#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11)\n"
    "#define MAKE(i) vec x##i = (vec)((scalar)(get_local_id(0) + i));\n"
    "#define STEP(i) x##i = x##i * m + c;\n"
    "#define ADD(i) sum += x##i;\n"
    "__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))\n"
    "void multiply_add(__global vec *out, float half_, int n) {\n"
    "    const vec m = (vec)((scalar)half_), c = (vec)((scalar)(half_ + half_));\n"
    "    EACH(MAKE)\n"
    "    for (int i = 0; i < n; i++) { EACH(STEP) EACH(STEP) EACH(STEP) EACH(STEP) }\n"
    "    vec sum = (vec)(0);\n"
    "    EACH(ADD)\n"
    "    out[get_global_id(0)] = sum;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))\n"
    "void copy(__global const vec *from, __global vec *to, int each) {\n"
    "#if LOCAL == 1\n"
    "    const size_t first = get_global_id(0) * (size_t)each, step = 1;\n"
    "#else\n"
    "    const size_t first = get_global_id(0), step = get_global_size(0);\n"
    "#endif\n"
    "    for (int i = 0; i < each; i++) to[first + i * step] = from[first + i * step];\n"
    "}\n"
    /* Four chains of sums; `each` is a multiple of 4. */
    "__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))\n"
    "void read(__global const vec *from, __global vec *to, int each) {\n"
    "#if LOCAL == 1\n"
    "    const size_t first = get_global_id(0) * (size_t)each, step = 1;\n"
    "#else\n"
    "    const size_t first = get_global_id(0), step = get_global_size(0);\n"
    "#endif\n"
    "    vec a = (vec)(0), b = a, c = a, d = a;\n"
    "    for (int i = 0; i < each; i += 4) {\n"
    "        a += from[first + i * step];\n"
    "        b += from[first + (i + 1) * step];\n"
    "        c += from[first + (i + 2) * step];\n"
    "        d += from[first + (i + 3) * step];\n"
    "    }\n"
    "    to[get_global_id(0)] = a + b + c + d;\n"
    "}\n";
enum { CHAINS = 12, STEPS = 4, GROUPS_PER_UNIT = 16, TRIES = 5 };

/* Vectors in one item for CPUs, many items for all else. */
enum { FORMS = 4 };
struct form {
    int width, local;
};
static const struct form cpu_forms[FORMS] = { { 16, 1 }, { 8, 1 }, { 4, 1 }, { 2, 1 } },
                         gpu_forms[FORMS] = { { 1, 64 }, { 1, 256 }, { 2, 256 }, { 4, 128 } };

static cl_int build(struct probe *p, const struct form *f, int twice)
{
    const char *text = source;
    char options[128];
    cl_int status;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -cl-mad-enable -DW=%d -DLOCAL=%d -DTWICE=%d", f->width, f->local,
             twice);
    p->program = clCreateProgramWithSource(p->context, 1, &text, NULL, &status);
    return status ? status : clBuildProgram(p->program, 1, &p->device, options, NULL, NULL);
}

static void drop(struct probe *p)
{
    if (p->kernel)
        (void)clReleaseKernel(p->kernel);
    if (p->program)
        (void)clReleaseProgram(p->program);
    if (p->out)
        (void)clReleaseMemObject(p->out);
    p->kernel = NULL;
    p->program = NULL;
    p->out = NULL;
}

static cl_int run(struct probe *p, double *ms)
{
    const double t = clock_ms();
    cl_int status = clEnqueueNDRangeKernel(p->queue, p->kernel, 1, NULL, &p->items, &p->local, 0, NULL, NULL);
    if (!status)
        status = clFinish(p->queue);
    *ms = clock_ms() - t;
    return status;
}

/* ---- Multiply-adds ---- */

static cl_int set_steps(struct probe *p, const struct form *f, cl_int n)
{
    p->flops = 2.0 * CHAINS * STEPS * f->width * (double)n * (double)p->items;
    return clSetKernelArg(p->kernel, 2, sizeof n, &n);
}

/* As many steps as take about 10 ms. */
static cl_int find_steps(struct probe *p, const struct form *f)
{
    double ms = 0;
    cl_int status = set_steps(p, f, 1), n = 64;
    if (!status)
        status = run(p, &ms); /* drivers compile at the first */
    for (; !status && n < 1 << 24; n *= 2)
        if ((status = set_steps(p, f, n)) || (status = run(p, &ms)) || ms > 5)
            break;
    return status ? status : set_steps(p, f, ms > 5 ? (cl_int)(n * 10.0 / ms) + 1 : n);
}

static cl_int open_form(struct probe *p, const struct form *f, int twice, size_t units)
{
    const cl_float half = 0.5f;
    cl_int status;
    p->local = (size_t)f->local;
    p->items = p->local * units * GROUPS_PER_UNIT;
    if ((status = build(p, f, twice)))
        return status;
    p->kernel = clCreateKernel(p->program, "multiply_add", &status);
    if (!status)
        p->out = clCreateBuffer(p->context, CL_MEM_WRITE_ONLY, p->items * (size_t)f->width * 8, NULL, &status);
    if (!status)
        status = clSetKernelArg(p->kernel, 0, sizeof p->out, &p->out);
    if (!status)
        status = clSetKernelArg(p->kernel, 1, sizeof half, &half);
    return status ? status : find_steps(p, f);
}

cl_int probe_run(struct probe *p, double *rate)
{
    double ms;
    const cl_int status = run(p, &ms);
    *rate = p->flops / ms * 1e-6;
    return status;
}

/* What cannot be built or run here is no form of this device. */
static cl_int find_form(struct probe *p, int twice, size_t units)
{
    double most = 0;
    int best = -1;
    for (int i = 0; i < FORMS; i++) {
        double rate;
        if (!open_form(p, &p->forms[i], twice, units))
            for (int n = 0; n < TRIES && !probe_run(p, &rate); n++)
                if (rate > most) {
                    most = rate;
                    best = i;
                }
        drop(p);
    }
    return best < 0 ? CL_BUILD_PROGRAM_FAILURE : open_form(p, &p->forms[best], twice, units);
}

/* ---- Copying and reading ---- */

/* bytes: all that were moved. */
static void take(double *best, double ms, size_t bytes)
{
    const double rate = (double)bytes / ms * 1e-6;
    *best = rate > *best ? rate : *best;
}

/* times: how often each byte is moved. */
static void move_by_kernel(struct probe *p, const char *name, size_t times, double *best, const struct form *f,
                           cl_mem from, cl_mem to, size_t bytes, size_t units)
{
    struct probe c = { .context = p->context, .device = p->device, .queue = p->queue, .local = (size_t)f->local };
    double ms;
    c.items = c.local * units * GROUPS_PER_UNIT;
    const cl_int each = (cl_int)(bytes / (4 * (size_t)f->width) / c.items / 4 * 4);
    cl_int status = build(&c, f, 0);
    if (!status)
        c.kernel = clCreateKernel(c.program, name, &status);
    if (!status && !(status = clSetKernelArg(c.kernel, 0, sizeof from, &from)) &&
        !(status = clSetKernelArg(c.kernel, 1, sizeof to, &to)) &&
        !(status = clSetKernelArg(c.kernel, 2, sizeof each, &each)) && !(status = run(&c, &ms)))
        for (int n = 0; n < TRIES && !run(&c, &ms); n++)
            take(best, ms, times * (size_t)each * c.items * 4 * (size_t)f->width);
    drop(&c);
}

static void copy_by_command(struct probe *p, cl_mem from, cl_mem to, size_t bytes)
{
    for (int n = 0; n < TRIES; n++) {
        const double t = clock_ms();
        if (clEnqueueCopyBuffer(p->queue, from, to, 0, 0, bytes, 0, NULL, NULL) || clFinish(p->queue))
            return;
        take(&p->copied, clock_ms() - t, 2 * bytes);
    }
}

/* Buffers that no cache holds. */
static cl_int find_rates(struct probe *p, size_t units)
{
    const cl_float zero = 0;
    cl_ulong most = 0;
    cl_mem from = NULL, to = NULL;
    cl_int status = clGetDeviceInfo(p->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    const size_t bytes = (most / 2 < (cl_ulong)256 << 20 ? (size_t)most / 2 : (size_t)256 << 20) / 4096 * 4096;
    if (!status)
        from = clCreateBuffer(p->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (!status)
        to = clCreateBuffer(p->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (!status)
        status = clEnqueueFillBuffer(p->queue, from, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
    if (!status)
        status = clEnqueueFillBuffer(p->queue, to, &zero, sizeof zero, 0, bytes, 0, NULL, NULL);
    if (!status) {
        copy_by_command(p, from, to, bytes);
        for (int i = 0; i < FORMS; i++) {
            move_by_kernel(p, "copy", 2, &p->copied, &p->forms[i], from, to, bytes, units);
            move_by_kernel(p, "read", 1, &p->read, &p->forms[i], from, to, bytes, units);
        }
    }
    if (from)
        (void)clReleaseMemObject(from);
    if (to)
        (void)clReleaseMemObject(to);
    return status ? status : p->copied > 0 ? CL_SUCCESS : CL_OUT_OF_RESOURCES;
}

cl_int probe_open(struct probe *p, const struct opencl *where, int twice)
{
    cl_device_type type = 0;
    cl_uint units = 0;
    cl_int status;
    memset(p, 0, sizeof *p);
    p->context = where->context;
    p->device = where->device;
    if ((status = clGetDeviceInfo(p->device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL)) ||
        (status = clGetDeviceInfo(p->device, CL_DEVICE_TYPE, sizeof type, &type, NULL)))
        return status;
    p->forms = type & CL_DEVICE_TYPE_CPU ? cpu_forms : gpu_forms;
    p->queue = clCreateCommandQueue(p->context, p->device, 0, &status);
    if (!status)
        status = find_rates(p, units);
    return status ? status : find_form(p, twice, units);
}

void probe_close(struct probe *p)
{
    drop(p);
    if (p->queue)
        (void)clReleaseCommandQueue(p->queue);
    memset(p, 0, sizeof *p);
}
