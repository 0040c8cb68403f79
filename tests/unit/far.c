/* far.c - buffers and offsets that size_t does not hold where it has 32 bits: refused, never cut off
 * SPDX-License-Identifier: Apache-2.0
 *
 * Works by ld --wrap: OpenCL answers from here, and no device is needed. What is right with 64 bits may be wrong with
 * 32, so offline/cross.sh runs this on i386. */
#include "config.h"

#include "src/judge/device_sample.h"
#include "src/run/readers.h"
#include "tests/lib/tap.h"

#include <stdlib.h>

enum { BYTES = 4096 }; /* of every buffer */

/* Handles of nothing; only their addresses count. */
static char context_is, mem_is, queue_is;
static cl_context const context = (cl_context)(void *)&context_is;
static cl_mem const buffer = (cl_mem)(void *)&mem_is;

/* ---- OpenCL ---- */

static uint64_t made; /* bytes of the largest buffer that was asked for */

cl_int __wrap_clGetMemObjectInfo(cl_mem mem, cl_mem_info what, size_t size, void *to, size_t *needed);
cl_int __wrap_clGetMemObjectInfo(cl_mem mem, cl_mem_info what, size_t size, void *to, size_t *needed)
{
    (void)mem, (void)size, (void)needed;
    switch (what) {
    case CL_MEM_CONTEXT: *(cl_context *)to = context; break;
    case CL_MEM_TYPE: *(cl_mem_object_type *)to = CL_MEM_OBJECT_BUFFER; break;
    case CL_MEM_FLAGS: *(cl_mem_flags *)to = CL_MEM_READ_WRITE; break;
    default: *(size_t *)to = BYTES;
    }
    return CL_SUCCESS;
}

cl_command_queue __wrap_clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e);
cl_command_queue __wrap_clCreateCommandQueue(cl_context c, cl_device_id d, cl_command_queue_properties p, cl_int *e)
{
    (void)c, (void)d, (void)p;
    *e = CL_SUCCESS;
    return (cl_command_queue)(void *)&queue_is;
}

/* Of a device with little memory. */
cl_mem __wrap_clCreateBuffer(cl_context c, cl_mem_flags flags, size_t size, void *from, cl_int *e);
cl_mem __wrap_clCreateBuffer(cl_context c, cl_mem_flags flags, size_t size, void *from, cl_int *e)
{
    (void)c, (void)flags, (void)from;
    made = size > made ? size : made;
    *e = size > 1 << 20 ? CL_MEM_OBJECT_ALLOCATION_FAILURE : CL_SUCCESS;
    return *e ? NULL : buffer;
}

cl_int __wrap_clEnqueueFillBuffer(cl_command_queue q, cl_mem mem, const void *pattern, size_t n, size_t at, size_t size,
                                  cl_uint n_wait, const cl_event *wait, cl_event *event);
cl_int __wrap_clEnqueueFillBuffer(cl_command_queue q, cl_mem mem, const void *pattern, size_t n, size_t at, size_t size,
                                  cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    (void)q, (void)mem, (void)pattern, (void)n, (void)at, (void)size, (void)n_wait, (void)wait, (void)event;
    return CL_SUCCESS;
}

cl_int __wrap_clEnqueueWriteBuffer(cl_command_queue q, cl_mem mem, cl_bool blocks, size_t at, size_t size,
                                   const void *from, cl_uint n_wait, const cl_event *wait, cl_event *event);
cl_int __wrap_clEnqueueWriteBuffer(cl_command_queue q, cl_mem mem, cl_bool blocks, size_t at, size_t size,
                                   const void *from, cl_uint n_wait, const cl_event *wait, cl_event *event)
{
    (void)q, (void)mem, (void)blocks, (void)at, (void)size, (void)from, (void)n_wait, (void)wait, (void)event;
    return CL_SUCCESS;
}

cl_int __wrap_clFinish(cl_command_queue q);
cl_int __wrap_clFinish(cl_command_queue q)
{
    (void)q;
    return CL_SUCCESS;
}
cl_int __wrap_clReleaseMemObject(cl_mem mem);
cl_int __wrap_clReleaseMemObject(cl_mem mem)
{
    (void)mem;
    return CL_SUCCESS;
}
cl_int __wrap_clReleaseCommandQueue(cl_command_queue q);
cl_int __wrap_clReleaseCommandQueue(cl_command_queue q)
{
    (void)q;
    return CL_SUCCESS;
}

/* ---- Tests ---- */

static clattn_problem problem_of(const char *text)
{
    clattn_workload w = CLATTN_WORKLOAD_INIT;
    clattn_problem p = CLATTN_PROBLEM_INIT;
    struct why why;
    char words[256] = "";
    memset(&why, 0, sizeof why);
    if (clattn_workload_parse(text, &w, words, sizeof words) || problem_read(&p, &w.problem, &why))
        bail("%s: %s%s", text, words, why.text);
    return p;
}

/* The last part begins (parts - 1) * stride elements behind the first. */
static void test_parts(void)
{
    static const struct {
        int64_t parts, o_stride, lse_stride;
        cl_int want;
    } rows[] = {
        { 3, 64, 8, CL_SUCCESS },
        { 3, (int64_t)1 << 31, 8, CLATTN_ERROR_BUFFER_TOO_SMALL }, /* both times 2^32 in all, */
        { 3, 64, (int64_t)1 << 31, CLATTN_ERROR_BUFFER_TOO_SMALL },
        { 2, ((int64_t)1 << 32) + 64, 8, CLATTN_ERROR_BUFFER_TOO_SMALL }, /* or a little more */
        { 2, 64, (int64_t)1 << 62, CLATTN_ERROR_INVALID_ARGUMENT }, /* 2^64 bytes */
        { 3, INT64_MAX, 8, CLATTN_ERROR_INVALID_ARGUMENT },
    };
    const clattn_problem p = problem_of("f32 b1 h1 q8 k8 d8 o:f32 lse");
    const struct call_plan plan = { .p = &p, .context = context };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_merge_args a = CLATTN_MERGE_ARGS_INIT;
        struct call c;
        struct why why;
        memset(&c, 0, sizeof c);
        c.sizes = &p.sizes;
        memset(&why, 0, sizeof why);
        a.parts = rows[i].parts;
        a.o_parts = (clattn_tensor){ .mem = buffer, .offset = 16, .stride = { 64, 64, 8 } };
        a.lse_parts = (clattn_tensor){ .mem = buffer, .offset = 32, .stride = { 8, 8, 1 } };
        a.o.mem = a.lse.mem = buffer;
        a.o_parts_stride = rows[i].o_stride;
        a.lse_parts_stride = rows[i].lse_stride;
        is_int(merge_read(&c, &plan, &a, &why), rows[i].want, "%lld parts, %lld and %lld elements apart: %s",
               (long long)rows[i].parts, (long long)rows[i].o_stride, (long long)rows[i].lse_stride, why.text);
        if (!rows[i].want)
            ok(c.args.o_parts.offset == 16 && c.args.lse_parts.offset == 32 && c.args.o_parts_stride == 64 &&
                   c.args.lse_parts_stride == 8,
               "which begin where the first does");
    }
}

/* 2^32 bytes, and offsets that are the largest there are. */
static void test_tensors(void)
{
    struct tensor_use use = { "x", { 1, 1 << 12, 1 << 12 }, 64, 4, false, false, 0 };
    clattn_tensor t = { .mem = buffer };
    cla_rows_at at;
    cl_mem mem;
    struct why why;
    memset(&why, 0, sizeof why);
    is_int(tensor_check(&t, &use, context, &mem, &at, &why), CLATTN_ERROR_BUFFER_TOO_SMALL, "a tensor of 2^32 bytes");
    ok(strstr(why.text, "byte 4294967296 of a buffer of 4096") != NULL, "and the words say how many: %s", why.text);
    use.extent[1] = use.extent[2] = 1;
    t.offset = SIZE_MAX;
    is_int(tensor_check(&t, &use, context, &mem, &at, &why),
           SIZE_MAX > UINT32_MAX ? CLATTN_ERROR_INVALID_ARGUMENT : CLATTN_ERROR_BUFFER_TOO_SMALL,
           "the largest offset: %s", why.text);
    t.offset = (SIZE_MAX >> 2) + 1; /* times 4 bytes it is 0 in a size_t */
    ok(tensor_check(&t, &use, context, &mem, &at, &why) != CL_SUCCESS, "an offset of SIZE_MAX + 1 bytes: %s", why.text);
    t.offset = (BYTES / 4) - 64;
    is_int(tensor_check(&t, &use, context, &mem, &at, &why), CL_SUCCESS, "the last place in the buffer");
    is_int(at.offset, BYTES / 4 - 64, "which is where it is");
    t.offset++;
    is_int(tensor_check(&t, &use, context, &mem, &at, &why), CLATTN_ERROR_BUFFER_TOO_SMALL, "one element further");

    const clattn_array list = { .mem = buffer, .offset = (SIZE_MAX >> 2) + 1 };
    const struct array_use of_list = { "list", true, 1, 4, false };
    int64_t offset;
    ok(tensor_check_array(&list, &of_list, context, &mem, &offset, &why) != CL_SUCCESS, "a list that far behind: %s",
       why.text);
    const clattn_tensor4 bias = { .mem = buffer, .offset = (SIZE_MAX >> 2) + 1 };
    const struct tensor4_use of_bias = { "bias", true, { 1, 1, 1, 1 }, 4, false, NULL, false, false, false };
    struct tensor4 out;
    ok(tensor4_check(&bias, &of_bias, context, &out, &why) != CL_SUCCESS, "a bias that far behind: %s", why.text);
}

/* A sample's tensor is made whole, or not at all. */
static void test_samples(void)
{
    static const struct {
        const char *problem;
        uint64_t bytes;
        int64_t copies;
    } rows[] = {
        { "f32 b1 h1 q1 k16777216 d64", (uint64_t)1 << 32, 1 },
        { "f32 b1 h1 q1 k16777217 d64", ((uint64_t)1 << 32) + 256, 1 },
        { "f32 b1 h1 q1 k8388608 d64", (uint64_t)1 << 32, 2 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct sample s;
        struct device_sample *const b = calloc(1, sizeof *b);
        struct why why;
        memset(&s, 0, sizeof s);
        memset(&why, 0, sizeof why);
        s.p = problem_of(rows[i].problem);
        made = 0;
        if (!b)
            bail("no memory");
        const cl_int status = device_sample_open(b, context, NULL, &s, false, rows[i].copies, &why);
        device_sample_close(b);
        free(b);
        ok(status && made <= SIZE_MAX && (made == rows[i].bytes || made <= 1 << 20),
           "a sample of %s, %d times: %s; %llu bytes were asked for", rows[i].problem, (int)rows[i].copies, why.text,
           (unsigned long long)made);
    }
}

int main(void)
{
    test_parts();
    test_tensors();
    test_samples();
    return done_testing();
}
