/* part_kernels.c - what the driver's compiler makes of the kernels that do most of the work
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/parts.h"

#include "tools/report/compiled.h"
#include "tools/system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef CL_KERNEL_SPILL_MEM_SIZE_INTEL
#define CL_KERNEL_SPILL_MEM_SIZE_INTEL 0x4109
#endif

static const struct { const char *problem, *kernel; } kernels[] = {
    { "f16 b1 h16 q4096 k4096 d128 causal", "cla_forward" },
    { "f32 b1 h8 q2048 k2048 d64", "cla_forward" },
    { "f16 b1 h32/8 q1 k4096 d128", "cla_forward" },
    { "f16 b1 h16 q2048 k2048 d64 causal bwd", "cla_backward_keys" },
    { "f16 b1 h16 q2048 k2048 d64 causal bwd", "cla_backward_queries" },
    { "f16 b1 h32/8 q1 k4096 d128 page16 k:q8_0 v:q4_0", "cla_forward" },
    { "bf16 b1 h16 q4096 k4096 d128 causal", "cla_forward" },
};

struct build {
    cl_program program;
    cl_kernel kernel;
    double seconds, binary_bytes;
    struct compiled made;
    char words[FACT_WORDS];
};

/* The program's text, which the caller frees; NULL: see b->words, which are "" where plans have no such kernel. */
static char *emit(struct visit *v, const clattn_problem *p, const char *config, const char *kernel, struct build *b)
{
    size_t need = 0;
    cl_int e = clattn_emit_kernel(v->handle, p, config, kernel, NULL, 0, &need);
    char *const text = need ? calloc(1, need) : NULL;
    if (text)
        e = clattn_emit_kernel(v->handle, p, config, kernel, text, need, &need);
    if (text && e == CL_SUCCESS)
        return text;
    if (e != CLATTN_ERROR_INVALID_ARGUMENT)
        snprintf(b->words, sizeof b->words, "%s: %s", clattn_status_string(e), text ? text : "");
    free(text);
    return NULL;
}

/* The options are those of the first line, behind "// ENGINE TILE"; and for NVIDIA's compiler that it says more. */
static char *options_of(const char *text, int verbose)
{
    static const char more[] = " -cl-nv-verbose";
    const size_t line = strcspn(text, "\n");
    const char *const at = strstr(text, " -");
    const size_t n = at && at < text + line ? (size_t)(text + line - at) : 0;
    char *const options = calloc(1, n + sizeof more);
    if (options) {
        memcpy(options, at ? at : "", n);
        strcat(options, verbose ? more : "");
    }
    return options;
}

static void read_log(struct visit *v, struct build *b, int failed)
{
    size_t n = 0;
    if (clGetProgramBuildInfo(b->program, v->where.device, CL_PROGRAM_BUILD_LOG, 0, NULL, &n) != CL_SUCCESS)
        return;
    char *const log = calloc(1, n + 1);
    if (log && clGetProgramBuildInfo(b->program, v->where.device, CL_PROGRAM_BUILD_LOG, n, log, NULL) == CL_SUCCESS) {
        compiled_read_log(&b->made, log);
        if (failed)
            snprintf(b->words, sizeof b->words, "%s", log + strspn(log, " \r\n\t"));
    }
    free(log);
}

static void read_binary(struct build *b)
{
    size_t n = 0;
    if (clGetProgramInfo(b->program, CL_PROGRAM_BINARY_SIZES, sizeof n, &n, NULL) != CL_SUCCESS || !n)
        return;
    unsigned char *bytes = malloc(n);
    b->binary_bytes = (double)n;
    if (bytes && clGetProgramInfo(b->program, CL_PROGRAM_BINARIES, sizeof bytes, &bytes, NULL) == CL_SUCCESS)
        compiled_read_binary(&b->made, bytes, n);
    free(bytes);
}

static cl_int build(struct visit *v, const char *text, const char *kernel, struct build *b)
{
    cl_int e;
    const int verbose = strstr(v->where.platform_name, "NVIDIA") != NULL;
    char *const options = options_of(text, verbose);
    b->program = clCreateProgramWithSource(v->where.context, 1, &text, NULL, &e);
    const double start = clock_ms();
    if (e == CL_SUCCESS)
        e = options ? clBuildProgram(b->program, 1, &v->where.device, options, NULL, NULL) : CL_OUT_OF_HOST_MEMORY;
    b->seconds = (clock_ms() - start) * 1e-3;
    if (b->program)
        read_log(v, b, e != CL_SUCCESS);
    if (e == CL_SUCCESS)
        read_binary(b);
    if (e == CL_SUCCESS)
        b->kernel = clCreateKernel(b->program, kernel, &e);
    if (e != CL_SUCCESS && !*b->words)
        snprintf(b->words, sizeof b->words, "%s", clattn_status_string(e));
    free(options);
    return e;
}

static double asked(const struct visit *v, const struct build *b, cl_kernel_work_group_info what)
{
    cl_ulong x = 0;
    size_t bytes = 0;
    if (!b->kernel || clGetKernelWorkGroupInfo(b->kernel, v->where.device, what, sizeof x, &x, &bytes) != CL_SUCCESS)
        return NAN;
    return bytes == sizeof x || bytes == 4 ? (double)(bytes == 4 ? (cl_ulong)(cl_uint)x : x) : NAN;
}

static void tell(struct visit *v, const char *problem, const char *config, const char *kernel, struct build *b)
{
    struct fact_line l;
    if (isnan(b->made.spill_bytes) && strstr(v->where.platform_name, "Intel"))
        b->made.spill_bytes = asked(v, b, CL_KERNEL_SPILL_MEM_SIZE_INTEL);
    fact_begin(&l, "kernel");
    fact_add(&l, problem);
    fact_add(&l, config);
    fact_add(&l, kernel);
    fact_add_number(&l, b->seconds, 3);
    fact_add_number(&l, b->binary_bytes, 17);
    fact_add_number(&l, b->made.registers, 9);
    fact_add_number(&l, b->made.spill_bytes, 9);
    fact_add_number(&l, asked(v, b, CL_KERNEL_PRIVATE_MEM_SIZE), 17);
    fact_add_number(&l, asked(v, b, CL_KERNEL_LOCAL_MEM_SIZE), 17);
    fact_add_number(&l, asked(v, b, CL_KERNEL_WORK_GROUP_SIZE), 17);
    fact_add_number(&l, asked(v, b, CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE), 17);
    fact_add(&l, b->words);
    parts_send(v, &l);
}

static void look_at(struct visit *v, const char *problem, const char *kernel)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct build b;
    char doing[256], config[256] = "";
    snprintf(doing, sizeof doing, "compiling %s: %s", problem, kernel);
    if (!parts_step(v, doing))
        return;
    parts_settle(v);
    memset(&b, 0, sizeof b);
    b.seconds = b.binary_bytes = b.made.registers = b.made.spill_bytes = NAN;
    cl_int e = clattn_workload_parse(problem, &c, b.words, sizeof b.words);
    if (e == CL_SUCCESS && (e = clattn_config_at(v->handle, &c.problem, 0, config, sizeof config)) != CL_SUCCESS)
        parts_failure(v, e, b.words, sizeof b.words);
    char *const text = e == CL_SUCCESS ? emit(v, &c.problem, config, kernel, &b) : NULL;
    if (text)
        (void)build(v, text, kernel, &b);
    if (text || *b.words)
        tell(v, problem, config, kernel, &b);
    free(text);
    if (b.kernel)
        (void)clReleaseKernel(b.kernel);
    if (b.program)
        (void)clReleaseProgram(b.program);
}

void part_kernels(struct visit *v)
{
    for (size_t i = 0; i < sizeof kernels / sizeof *kernels; i++)
        look_at(v, kernels[i].problem, kernels[i].kernel);
}
