/* probe_form.c - kernels that do nothing but one thing, in several forms
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/probes/probe_form.h"

#include "tools/system/clock.h"

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
    /* An item has `each` vectors: on a CPU in one piece, elsewhere interleaved with those of `parts` items. Items
     * beyond these begin anew. */
    "#if LOCAL == 1\n"
    "#define PLACE const size_t first = get_global_id(0) % parts * (size_t)each, step = 1\n"
    "#else\n"
    "#define PLACE const size_t first = get_global_id(0) % parts, step = parts\n"
    "#endif\n"
    "__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))\n"
    "void copy(__global const vec *from, __global vec *to, int each, uint parts, int times) {\n"
    "    PLACE;\n"
    "    for (int t = 0; t < times; t++)\n"
    "        for (int i = 0; i < each; i++) to[first + i * step] = from[first + i * step];\n"
    "}\n"
    /* Four chains of sums; `each` is a multiple of 4. */
    "__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1)))\n"
    "void read(__global const vec *from, __global vec *to, int each, uint parts, int times) {\n"
    "    PLACE;\n"
    "    vec a = (vec)(0), b = a, c = a, d = a;\n"
    "    for (int t = 0; t < times; t++)\n"
    "        for (int i = 0; i < each; i += 4) {\n"
    "            a += from[first + i * step];\n"
    "            b += from[first + (i + 1) * step];\n"
    "            c += from[first + (i + 2) * step];\n"
    "            d += from[first + (i + 3) * step];\n"
    "        }\n"
    "    to[get_global_id(0)] = a + b + c + d;\n"
    "}\n";

static const struct form cpu_forms[FORMS] = { { 16, 1 }, { 8, 1 }, { 4, 1 }, { 2, 1 } },
                         gpu_forms[FORMS] = { { 1, 64 }, { 1, 256 }, { 2, 256 }, { 4, 128 } };

cl_int form_find(cl_device_id device, const struct form **forms, size_t *units)
{
    cl_device_type type = 0;
    cl_uint n = 0;
    cl_int status = clGetDeviceInfo(device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof n, &n, NULL);
    if (!status)
        status = clGetDeviceInfo(device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    *forms = type & CL_DEVICE_TYPE_CPU ? cpu_forms : gpu_forms;
    *units = n;
    return status;
}

cl_int form_open(struct form_kernel *k, const struct opencl *where, const struct form *f, int twice, const char *name)
{
    const char *text = source;
    char options[128];
    cl_int status;
    k->local = (size_t)f->local;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -cl-mad-enable -DW=%d -DLOCAL=%d -DTWICE=%d", f->width, f->local,
             twice);
    k->program = clCreateProgramWithSource(where->context, 1, &text, NULL, &status);
    if (!status)
        status = clBuildProgram(k->program, 1, &where->device, options, NULL, NULL);
    if (!status)
        k->kernel = clCreateKernel(k->program, name, &status);
    return status;
}

cl_int form_run(const struct form_kernel *k, cl_command_queue queue, double *ms)
{
    const double t = clock_ms();
    cl_int status = clEnqueueNDRangeKernel(queue, k->kernel, 1, NULL, &k->items, &k->local, 0, NULL, NULL);
    if (!status)
        status = clFinish(queue);
    *ms = clock_ms() - t;
    return status;
}

void form_close(struct form_kernel *k)
{
    if (k->kernel)
        (void)clReleaseKernel(k->kernel);
    if (k->program)
        (void)clReleaseProgram(k->program);
    memset(k, 0, sizeof *k);
}
