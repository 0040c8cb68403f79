/* nvidia_kernel.c - a pretended NVIDIA device: kernels, executed where PoCL executes functions of the host
 * SPDX-License-Identifier: Apache-2.0
 *
 * PoCL calls such a function as it runs a kernel: when what it waits for is over, and with an event that can be
 * profiled. */
#include "config.h"

#include "tests/nvidia/nvidia_device.h"

#ifdef CL_LAYER_API_VERSION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { ARGS_MAX = 64 };

struct arg {
    bool is_set;
    cl_mem mem; /* of a pointer to global memory */
    size_t size;
    void *value; /* of others; NULL: of __local memory */
};
struct nvidia_kernel {
    const cl_icd_dispatch *dispatch; /* where loaders look for it */
    int references;
    struct nvidia_program *program;
    const struct ptx_kernel *code;
    struct arg args[ARGS_MAX];
};

/* ---- Objects ---- */

cl_kernel nvidia_clCreateKernel(cl_program program, const char *name, cl_int *status)
{
    struct nvidia_program *const p = (struct nvidia_program *)program;
    const struct ptx_kernel *const code = p->module ? ptx_kernel_named(p->module, name) : NULL;
    cl_int e = !p->module ? CL_INVALID_PROGRAM_EXECUTABLE : !code ? CL_INVALID_KERNEL_NAME : CL_SUCCESS;
    struct nvidia_kernel *k = NULL;
    if (!e && (ptx_kernel_info(code)->n_params > ARGS_MAX || !(k = calloc(1, sizeof *k))))
        e = CL_OUT_OF_HOST_MEMORY;
    if (!e) {
        k->dispatch = nvidia_below;
        k->references = 1;
        k->program = p;
        k->code = code;
        nvidia_retain(p);
    }
    if (status)
        *status = e;
    return (cl_kernel)k;
}

cl_int nvidia_clRetainKernel(cl_kernel kernel)
{
    __atomic_add_fetch(&((struct nvidia_kernel *)kernel)->references, 1, __ATOMIC_RELAXED);
    return CL_SUCCESS;
}

cl_int nvidia_clReleaseKernel(cl_kernel kernel)
{
    struct nvidia_kernel *const k = (struct nvidia_kernel *)kernel;
    if (__atomic_sub_fetch(&k->references, 1, __ATOMIC_ACQ_REL))
        return CL_SUCCESS;
    for (size_t i = 0; i < ARGS_MAX; i++)
        free(k->args[i].value);
    nvidia_release(k->program);
    free(k);
    return CL_SUCCESS;
}

cl_int nvidia_clSetKernelArg(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
    struct nvidia_kernel *const k = (struct nvidia_kernel *)kernel;
    const struct ptx_info *const info = ptx_kernel_info(k->code);
    struct arg a = { true, NULL, size, NULL };
    if (i >= info->n_params)
        return CL_INVALID_ARG_INDEX;
    switch (info->params[i].kind) {
    case PTX_PARAM_GLOBAL:
        if (size != sizeof a.mem)
            return CL_INVALID_ARG_SIZE;
        if (value)
            memcpy(&a.mem, value, sizeof a.mem);
        break;
    case PTX_PARAM_SHARED:
        if (value || !size)
            return value ? CL_INVALID_ARG_VALUE : CL_INVALID_ARG_SIZE;
        break;
    default:
        if (size != info->params[i].size)
            return CL_INVALID_ARG_SIZE;
        if (!value)
            return CL_INVALID_ARG_VALUE;
        if (!(a.value = malloc(size)))
            return CL_OUT_OF_HOST_MEMORY;
        memcpy(a.value, value, size);
    }
    free(k->args[i].value);
    k->args[i] = a;
    return CL_SUCCESS;
}

/* ---- Questions ---- */

/* Threads that a group may have: all of their registers have to be there, of each warp's a multiple of 256. */
static size_t largest_group(const struct nvidia_kernel *k)
{
    const struct ptx_info *const info = ptx_kernel_info(k->code);
    const int registers = nvidia_registers(k->program, ptx_kernel_name(k->code));
    size_t most = 1024;
    if (info->reqntid[0])
        most = (size_t)info->reqntid[0] * info->reqntid[1] * info->reqntid[2];
    if (registers) {
        const size_t of_warp = ((size_t)registers * 32 + 255) / 256 * 256,
                     all = (size_t)nvidia_number("registers", NVIDIA_REGISTERS), fit = all / of_warp * 32;
        most = most < fit ? most : fit;
    }
    return most;
}

cl_int nvidia_clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t room, void *to, size_t *got)
{
    const struct nvidia_kernel *const k = (const struct nvidia_kernel *)kernel;
    const char *const name = ptx_kernel_name(k->code);
    const cl_uint references = (cl_uint)k->references, n = (cl_uint)ptx_kernel_info(k->code)->n_params;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return layer_give(name, strlen(name) + 1, room, to, got);
    case CL_KERNEL_NUM_ARGS: return layer_give(&n, sizeof n, room, to, got);
    case CL_KERNEL_REFERENCE_COUNT: return layer_give(&references, sizeof references, room, to, got);
    case CL_KERNEL_CONTEXT: return layer_give(&k->program->context, sizeof(cl_context), room, to, got);
    case CL_KERNEL_PROGRAM: return layer_give(&k->program, sizeof(cl_program), room, to, got);
    default: return CL_INVALID_VALUE;
    }
}

cl_int nvidia_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t room, void *to, size_t *got)
{
    const struct nvidia_kernel *const k = (const struct nvidia_kernel *)kernel;
    const struct ptx_info *const info = ptx_kernel_info(k->code);
    const size_t most = largest_group(k), warp = 32,
                 asked[3] = { info->reqntid[0], info->reqntid[1], info->reqntid[2] };
    const cl_ulong shared = info->shared, own = info->local;
    (void)device;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE: return layer_give(&most, sizeof most, room, to, got);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return layer_give(asked, sizeof asked, room, to, got);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return layer_give(&warp, sizeof warp, room, to, got);
    case CL_KERNEL_LOCAL_MEM_SIZE: return layer_give(&shared, sizeof shared, room, to, got);
    case CL_KERNEL_PRIVATE_MEM_SIZE: return layer_give(&own, sizeof own, room, to, got);
    default: return CL_INVALID_VALUE;
    }
}

/* ---- Launches ---- */

/* What an enqueued kernel needs until it has run: arguments are copied, what they point at is PoCL's to keep. */
struct shot {
    struct nvidia_kernel *kernel;
    struct ptx_launch launch;
    struct ptx_arg args[ARGS_MAX];
    void *values[ARGS_MAX];
    struct ptx_buffer buffers[ARGS_MAX];
    cl_mem mem[ARGS_MAX]; /* whole buffers, each once: retained */
};

static void free_shot(struct shot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < ARGS_MAX; i++)
        free(s->values[i]);
    for (size_t i = 0; i < s->launch.n_buffers; i++)
        nvidia_below->clReleaseMemObject(s->mem[i]);
    nvidia_clReleaseKernel((cl_kernel)s->kernel);
    free(s);
}

static int tell(const struct finding *finding, void *context)
{
    char line[1024];
    (void)context;
    finding_print(finding, line, sizeof line);
    nvidia_tell(line);
    return 0;
}

/* Word counts=FILE: a line for each launch, of its speed. */
static void count(const struct ptx_kernel *code, const struct ptx_stats *stats, const struct timespec *begin)
{
    char name[NVIDIA_VALUE_MAX];
    struct timespec end;
    FILE *const file = *nvidia_word("counts", name) ? fopen(name, "a") : NULL;
    if (!file)
        return;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double seconds = (double)(end.tv_sec - begin->tv_sec) + 1e-9 * (double)(end.tv_nsec - begin->tv_nsec);
    fprintf(file, "%s %llu instructions of threads, %.3f s, %.0f million a second\n", ptx_kernel_name(code),
            (unsigned long long)stats->thread_instructions, seconds,
            1e-6 * (double)stats->thread_instructions / seconds);
    fclose(file);
}

/* The driver may execute a launch in pieces: here along its first dimension that is long enough. */
static void run_pieces(const struct ptx_kernel *code, struct ptx_launch l)
{
    const long asked = nvidia_number("pieces", 1);
    const uint32_t pieces = asked > 1 ? (uint32_t)asked : 1;
    const int dim = l.grid[0] >= pieces || l.grid[1] < pieces ? 0 : 1;
    const uint32_t whole = l.grid[dim], long_one = (whole + pieces - 1) / pieces;
    struct ptx_stats stats = { 0 };
    struct timespec begin;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    l.stats = &stats;
    for (int i = 0; i < 3; i++)
        l.total_grid[i] = l.grid[i];
    for (uint32_t at = 0; at < whole; at += long_one) {
        char why[512] = "";
        l.group_offset[dim] = at;
        l.grid[dim] = whole - at < long_one ? whole - at : long_one;
        const enum ptx_status status = ptx_run(code, &l, why, sizeof why);
        if (status != PTX_OK)
            nvidia_tell(*why ? why : "a launch did not end");
    }
    count(code, &stats, &begin);
}

static void CL_CALLBACK execute(void *blob)
{
    struct shot *s;
    memcpy(&s, blob, sizeof s); /* PoCL copies what it is handed: the pointer */
    run_pieces(s->kernel->code, s->launch);
    free_shot(s);
}

/* Adds the buffer that an argument is, or is a part of, unless it is there. */
static cl_int add_buffer(struct shot *s, struct ptx_arg *to, cl_mem mem)
{
    cl_mem whole = NULL;
    size_t size = 0, i = 0;
    void *data;
    cl_int e = nvidia_below->clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    if (!e && whole)
        e = nvidia_below->clGetMemObjectInfo(mem, CL_MEM_OFFSET, sizeof to->offset, &to->offset, NULL);
    whole = whole ? whole : mem;
    e = e ? e : nvidia_below->clGetMemObjectInfo(whole, CL_MEM_SIZE, sizeof size, &size, NULL);
    while (i < s->launch.n_buffers && s->mem[i] != whole)
        i++;
    if (!e && i == s->launch.n_buffers &&
        !(e = nvidia_find(s->kernel->program->context, s->kernel->program->device, whole, &data)) &&
        !(e = nvidia_below->clRetainMemObject(whole))) {
        s->mem[i] = whole;
        s->buffers[i] = (struct ptx_buffer){ data, size, nvidia_written(whole) };
        s->launch.n_buffers++;
    }
    to->kind = PTX_ARG_BUFFER;
    to->buffer = (uint32_t)i;
    return e;
}

static cl_int copy_args(struct shot *s, const struct nvidia_kernel *k, size_t *shared)
{
    const struct ptx_info *const info = ptx_kernel_info(k->code);
    for (size_t i = 0; i < info->n_params; i++) {
        const struct arg *const a = &k->args[i];
        struct ptx_arg *const to = &s->args[i];
        cl_int e = a->is_set ? CL_SUCCESS : CL_INVALID_KERNEL_ARGS;
        to->size = a->size;
        if (!e && info->params[i].kind == PTX_PARAM_GLOBAL) {
            to->kind = PTX_ARG_NULL;
            e = a->mem ? add_buffer(s, to, a->mem) : CL_SUCCESS;
        } else if (!e && info->params[i].kind == PTX_PARAM_SHARED) {
            to->kind = PTX_ARG_SHARED;
            *shared += a->size;
        } else if (!e) {
            to->kind = PTX_ARG_VALUE;
            to->value = s->values[i] = malloc(a->size);
            e = to->value ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
            if (!e)
                memcpy(s->values[i], a->value, a->size);
        }
        if (e)
            return e;
    }
    return CL_SUCCESS;
}

static cl_int set_grid(struct ptx_launch *l, const struct nvidia_kernel *k, cl_uint dim, const size_t *offset,
                       const size_t *global, const size_t *local)
{
    const struct ptx_info *const info = ptx_kernel_info(k->code);
    size_t threads = 1;
    if (!dim || dim > 3)
        return CL_INVALID_WORK_DIMENSION;
    l->work_dim = dim;
    for (cl_uint i = 0; i < dim; i++) {
        const size_t own = local ? local[i] : info->reqntid[i] ? info->reqntid[i] : 1;
        if (!own || own > 1024 || global[i] % own || (info->reqntid[0] && own != info->reqntid[i]))
            return CL_INVALID_WORK_GROUP_SIZE;
        if (global[i] / own > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        l->block[i] = (uint32_t)own;
        l->grid[i] = (uint32_t)(global[i] / own);
        l->global_offset[i] = offset ? (uint32_t)offset[i] : 0;
        threads *= own;
    }
    return threads > largest_group(k) ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

static void set_options(struct ptx_launch *l)
{
    char word[NVIDIA_VALUE_MAX];
    nvidia_word("schedule", word);
    l->schedule = !strcmp(word, "random") ? SCHEDULE_RANDOM :
                  !strcmp(word, "highest") ? SCHEDULE_HIGHEST : SCHEDULE_LOWEST;
    l->seed = (uint64_t)nvidia_number("seed", 0);
    l->approximate = (int)nvidia_number("approximate", 0);
    l->unchecked = nvidia_number("unchecked", 0) != 0;
    l->report = tell;
}

cl_int nvidia_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n_wait, const cl_event *wait,
                                     cl_event *event)
{
    struct nvidia_kernel *const k = (struct nvidia_kernel *)kernel;
    size_t shared = ptx_kernel_info(k->code)->shared;
    struct shot *const s = calloc(1, sizeof *s);
    if (!s)
        return CL_OUT_OF_HOST_MEMORY;
    nvidia_clRetainKernel(kernel);
    s->kernel = k;
    s->launch = (struct ptx_launch)PTX_LAUNCH_INIT;
    cl_int e = set_grid(&s->launch, k, dim, offset, global, local);
    e = e ? e : copy_args(s, k, &shared);
    e = e ? e : shared > NVIDIA_LOCAL_BYTES ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (!e) {
        set_options(&s->launch);
        s->launch.args = s->args;
        s->launch.n_args = ptx_kernel_info(k->code)->n_params;
        s->launch.buffers = s->buffers;
        e = nvidia_below->clEnqueueNativeKernel(queue, execute, (void *)&s, sizeof s, 0, NULL, NULL, n_wait, wait,
                                                event);
    }
    if (e)
        free_shot(s);
    return e;
}

#else
typedef int nvidiakernel_nothing_here;
#endif
