/* rowmods.c - score_mods on the device, a row of scores at a time: for a reference that cannot know what a text does
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/rowmods.h"

#include "tools/oracle/convert.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The program ---- */

/* A text that grows; text NULL: no memory. */
struct growing {
    char *text;
    size_t length, room;
};

PRINTF_LIKE(2, 3) static void add(struct growing *g, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    const int n = g->text ? vsnprintf(NULL, 0, format, list) : -1;
    va_end(list);
    if (n < 0)
        return;
    if (g->length + (size_t)n + 1 > g->room) {
        char *wider = realloc(g->text, g->room = 2 * (g->length + (size_t)n + 1));
        if (!wider)
            free(g->text);
        g->text = wider;
        if (!wider)
            return;
    }
    va_start(list, format);
    vsnprintf(g->text + g->length, g->room - g->length, format, list);
    va_end(list);
    g->length += (size_t)n;
}

static const char *type_name(int32_t type)
{
    return type == CLATTN_I32 ? "int" : type == CLATTN_U8 ? "uchar" : "float";
}

static void add_parameters(struct growing *g, const struct extras *x)
{
    for (size_t i = 0; i < x->n_aux; i++)
        add(g, ", const __global %s *%s", type_name(x->aux[i].type), x->aux[i].name);
    add(g, ")\n{\n");
}

/* One text as a function. Width-generic ones get their three words. */
static void add_mod(struct growing *g, const struct extras *x, size_t i, const char *real)
{
    const clattn_score_mod *mod = &x->mods[i];
    const int vector = (mod->flags & CLATTN_MOD_VECTOR) != 0;
    if (vector)
        add(g, "#define real %s\n#define integer int\n#define real_(x) ((%s)(x))\n", real, real);
    add(g, "%s cla_mod_%zu(%s s, int b, int h, int q, int k", real, i, real);
    add_parameters(g, x);
    add(g, "#line 1 \"");
    for (const char *c = mod->name ? mod->name : "score_mod"; *c; c++)
        add(g, "%c", *c == '"' || *c == '\\' || (unsigned char)*c < 0x20 ? '?' : *c);
    add(g, "\"\n%s\nreturn s;\n}\n", mod->text);
    if (vector)
        add(g, "#undef real\n#undef integer\n#undef real_\n");
}

static char *compose(const struct extras *x, int wide)
{
    const char *real = wide ? "double" : "float";
    struct growing g = { malloc(1), 0, 1 };
    if (wide)
        add(&g, "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n");
    for (size_t i = 0; i < x->n_mods; i++)
        add_mod(&g, x, i, real);
    add(&g, "#line 1 \"rowmods\"\n__kernel void rowmods(__global %s *cla_s, const __global uchar *cla_keep, int b, "
            "int h, int q", real);
    add_parameters(&g, x);
    add(&g, "const int k = get_global_id(0);\n%s s = cla_s[k];\n", real);
    for (size_t i = 0; i < x->n_mods; i++) {
        /* A score that one text drops stays dropped. */
        add(&g, "if (cla_keep[k]%s)\n    s = cla_mod_%zu(s, b, h, q, k", i ? " && s != -INFINITY" : "", i);
        for (size_t n = 0; n < x->n_aux; n++)
            add(&g, ", %s", x->aux[n].name);
        add(&g, ");\n");
    }
    add(&g, "cla_s[k] = s;\n}\n");
    return g.text;
}

static cl_int build(struct rowmods *m, cl_device_id device, const struct extras *x, char *why, size_t len)
{
    cl_int e = CL_OUT_OF_HOST_MEMORY;
    char *text = compose(x, m->wide);
    const char *source = text;
    if (!text)
        return e;
    m->program = clCreateProgramWithSource(m->context, 1, &source, NULL, &e);
    if (e == CL_SUCCESS) {
        e = clBuildProgram(m->program, 1, &device, "-cl-std=CL1.2", NULL, NULL);
        if (e != CL_SUCCESS)
            (void)clGetProgramBuildInfo(m->program, device, CL_PROGRAM_BUILD_LOG, len, why, NULL);
        if (e == CL_SUCCESS)
            m->kernel = clCreateKernel(m->program, "rowmods", &e);
    }
    free(text);
    return e;
}

cl_int rowmods_open(struct rowmods *m, const struct opencl *where, const struct extras *x, int wide, char *why,
                    size_t len)
{
    cl_int e;
    memset(m, 0, sizeof *m);
    *why = '\0';
    m->context = where->context;
    m->wide = wide;
    m->queue = clCreateCommandQueue(where->context, where->device, 0, &e);
    if (e == CL_SUCCESS)
        e = build(m, where->device, x, why, len);
    for (size_t i = 0; i < x->n_aux && e == CL_SUCCESS; i++) {
        const size_t bytes = x->aux[i].count * (x->aux[i].type == CLATTN_U8 ? 1 : 4);
        if (bytes > 0)
            m->aux[i] = clCreateBuffer(m->context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, bytes, x->aux[i].data, &e);
        if (e == CL_SUCCESS)
            e = clSetKernelArg(m->kernel, (cl_uint)(5 + i), sizeof m->aux[i], &m->aux[i]);
    }
    if (why[0] == '\0')
        snprintf(why, len, "%s", clattn_status_string(e));
    return e;
}

void rowmods_close(struct rowmods *m)
{
    for (size_t i = 0; i < CLATTN_AUX_MAX; i++)
        if (m->aux[i])
            (void)clReleaseMemObject(m->aux[i]);
    if (m->s)
        (void)clReleaseMemObject(m->s);
    if (m->keep)
        (void)clReleaseMemObject(m->keep);
    if (m->kernel)
        (void)clReleaseKernel(m->kernel);
    if (m->program)
        (void)clReleaseProgram(m->program);
    if (m->queue)
        (void)clReleaseCommandQueue(m->queue);
    free(m->scores);
    memset(m, 0, sizeof *m);
}

/* ---- Rows ---- */

static cl_int widen(struct rowmods *m, size_t n, size_t size)
{
    cl_int e = CL_SUCCESS;
    if (n <= m->room)
        return e;
    if (m->s)
        (void)clReleaseMemObject(m->s);
    if (m->keep)
        (void)clReleaseMemObject(m->keep);
    free(m->scores);
    m->room = 0;
    m->s = m->keep = NULL;
    m->scores = malloc(n * size);
    if (!m->scores)
        return CL_OUT_OF_HOST_MEMORY;
    m->s = clCreateBuffer(m->context, CL_MEM_READ_WRITE, n * size, NULL, &e);
    if (e == CL_SUCCESS)
        m->keep = clCreateBuffer(m->context, CL_MEM_READ_ONLY, n, NULL, &e);
    if (e == CL_SUCCESS)
        m->room = n;
    return e;
}

static cl_int set_arguments(struct rowmods *m, int64_t b, int64_t h, int64_t q)
{
    const cl_int at[3] = { (cl_int)b, (cl_int)h, (cl_int)q };
    cl_int e = clSetKernelArg(m->kernel, 0, sizeof m->s, &m->s);
    if (e == CL_SUCCESS)
        e = clSetKernelArg(m->kernel, 1, sizeof m->keep, &m->keep);
    for (cl_uint i = 0; i < 3 && e == CL_SUCCESS; i++)
        e = clSetKernelArg(m->kernel, 2 + i, sizeof at[i], &at[i]);
    return e;
}

int rowmods_change(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk)
{
    struct rowmods *m = user;
    const int type = m->wide ? CLATTN_F64 : CLATTN_F32;
    const size_t n = (size_t)nk, size = convert_size(type);
    if (n == 0)
        return 0;
    cl_int e = widen(m, n, size);
    if (e == CL_SUCCESS) {
        convert_store(type, s, m->scores, n);
        e = clEnqueueWriteBuffer(m->queue, m->s, CL_TRUE, 0, n * size, m->scores, 0, NULL, NULL);
    }
    if (e == CL_SUCCESS)
        e = clEnqueueWriteBuffer(m->queue, m->keep, CL_TRUE, 0, n, keep, 0, NULL, NULL);
    if (e == CL_SUCCESS)
        e = set_arguments(m, b, h, q);
    if (e == CL_SUCCESS)
        e = clEnqueueNDRangeKernel(m->queue, m->kernel, 1, NULL, &n, NULL, 0, NULL, NULL);
    if (e == CL_SUCCESS)
        e = clEnqueueReadBuffer(m->queue, m->s, CL_TRUE, 0, n * size, m->scores, 0, NULL, NULL);
    if (e == CL_SUCCESS)
        convert_load(type, m->scores, s, n);
    return e == CL_SUCCESS ? 0 : -1;
}
