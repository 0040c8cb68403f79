/* kernel.c - pretended GPUs: kernels, executed where PoCL executes functions of the host
 * SPDX-License-Identifier: Apache-2.0
 *
 * PoCL calls such a function as it runs a kernel: when what it waits for is over, and with an event that can be
 * profiled. */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct arg {
    bool is_set;
    cl_mem mem; /* of a pointer to global memory */
    size_t size;
    void *value; /* of others; NULL: of __local memory */
};
struct kernel {
    const cl_icd_dispatch *dispatch; /* where loaders look for it */
    int references;
    struct program *program;
    const void *code; /* the machine's */
    struct kernel_facts facts;
    struct arg args[PRETENDED_ARGS_MAX];
};

/* ---- Objects ---- */

cl_kernel pretended_clCreateKernel(cl_program program, const char *name, cl_int *status)
{
    struct program *const p = (struct program *)program;
    const void *const code = p->module ? machine.kernel(p->module, name) : NULL;
    cl_int e = !p->module ? CL_INVALID_PROGRAM_EXECUTABLE : !code ? CL_INVALID_KERNEL_NAME : CL_SUCCESS;
    struct kernel *k = NULL;
    struct kernel_facts facts;
    if (!e)
        machine.facts(p, code, &facts);
    if (!e && (facts.n_params > PRETENDED_ARGS_MAX || !(k = calloc(1, sizeof *k))))
        e = CL_OUT_OF_HOST_MEMORY;
    if (!e) {
        k->dispatch = pretended_below;
        k->references = 1;
        k->program = p;
        k->code = code;
        k->facts = facts;
        pretended_retain(p);
    }
    if (status)
        *status = e;
    return (cl_kernel)k;
}

cl_int pretended_clRetainKernel(cl_kernel kernel)
{
    __atomic_add_fetch(&((struct kernel *)kernel)->references, 1, __ATOMIC_RELAXED);
    return CL_SUCCESS;
}

cl_int pretended_clReleaseKernel(cl_kernel kernel)
{
    struct kernel *const k = (struct kernel *)kernel;
    if (__atomic_sub_fetch(&k->references, 1, __ATOMIC_ACQ_REL))
        return CL_SUCCESS;
    for (size_t i = 0; i < PRETENDED_ARGS_MAX; i++)
        free(k->args[i].value);
    pretended_release(k->program);
    free(k);
    return CL_SUCCESS;
}

cl_int pretended_clSetKernelArg(cl_kernel kernel, cl_uint i, size_t size, const void *value)
{
    struct kernel *const k = (struct kernel *)kernel;
    struct arg a = { true, NULL, size, NULL };
    enum param_kind kind;
    size_t takes;
    if (i >= k->facts.n_params)
        return CL_INVALID_ARG_INDEX;
    machine.param(k->code, i, &kind, &takes);
    switch (kind) {
    case PARAM_GLOBAL:
        if (size != sizeof a.mem)
            return CL_INVALID_ARG_SIZE;
        if (value)
            memcpy(&a.mem, value, sizeof a.mem);
        break;
    case PARAM_SHARED:
        if (value || !size)
            return value ? CL_INVALID_ARG_VALUE : CL_INVALID_ARG_SIZE;
        break;
    default:
        if (size != takes)
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

cl_int pretended_clGetKernelInfo(cl_kernel kernel, cl_kernel_info what, size_t room, void *to, size_t *got)
{
    const struct kernel *const k = (const struct kernel *)kernel;
    const cl_uint references = (cl_uint)k->references, n = (cl_uint)k->facts.n_params;
    switch (what) {
    case CL_KERNEL_FUNCTION_NAME: return layer_give(k->facts.name, strlen(k->facts.name) + 1, room, to, got);
    case CL_KERNEL_NUM_ARGS: return layer_give(&n, sizeof n, room, to, got);
    case CL_KERNEL_REFERENCE_COUNT: return layer_give(&references, sizeof references, room, to, got);
    case CL_KERNEL_CONTEXT: return layer_give(&k->program->context, sizeof(cl_context), room, to, got);
    case CL_KERNEL_PROGRAM: return layer_give(&k->program, sizeof(cl_program), room, to, got);
    default: return CL_INVALID_VALUE;
    }
}

cl_int pretended_clGetKernelWorkGroupInfo(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what,
                                       size_t room, void *to, size_t *got)
{
    const struct kernel *const k = (const struct kernel *)kernel;
    const struct kernel_facts *const f = &k->facts;
    const size_t asked[3] = { f->required[0], f->required[1], f->required[2] };
    (void)device;
    switch (what) {
    case CL_KERNEL_WORK_GROUP_SIZE: return layer_give(&f->most_items, sizeof f->most_items, room, to, got);
    case CL_KERNEL_COMPILE_WORK_GROUP_SIZE: return layer_give(asked, sizeof asked, room, to, got);
    case CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE: return layer_give(&f->wave, sizeof f->wave, room, to, got);
    case CL_KERNEL_LOCAL_MEM_SIZE: return layer_give(&f->local, sizeof f->local, room, to, got);
    case CL_KERNEL_PRIVATE_MEM_SIZE: return layer_give(&f->own, sizeof f->own, room, to, got);
    default: return CL_INVALID_VALUE;
    }
}

/* ---- Launches ---- */

/* What an enqueued kernel needs until it has run: arguments are copied, what they point at is PoCL's to keep. */
struct shot {
    struct kernel *kernel;
    struct launch launch;
    void *values[PRETENDED_ARGS_MAX];
    cl_mem mem[PRETENDED_ARGS_MAX]; /* whole buffers, each once: retained */
};

static void free_shot(struct shot *s)
{
    if (!s)
        return;
    for (size_t i = 0; i < PRETENDED_ARGS_MAX; i++)
        free(s->values[i]);
    for (size_t i = 0; i < s->launch.n_buffers; i++)
        pretended_below->clReleaseMemObject(s->mem[i]);
    pretended_clReleaseKernel((cl_kernel)s->kernel);
    free(s);
}

static int tell(const struct finding *finding, void *context)
{
    char line[1024];
    (void)context;
    finding_print(finding, line, sizeof line);
    pretended_tell(line);
    return 0;
}

/* Word counts=FILE: a line for each launch, of its speed. */
static void count(const char *kernel, unsigned long long instructions, const struct timespec *begin)
{
    char name[PRETENDED_VALUE_MAX];
    struct timespec end;
    FILE *const file = *pretended_word("counts", name) ? fopen(name, "a") : NULL;
    if (!file)
        return;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &end);
    const double seconds = (double)(end.tv_sec - begin->tv_sec) + 1e-9 * (double)(end.tv_nsec - begin->tv_nsec);
    fprintf(file, "%s %llu instructions of items, %.3f s, %.0f million a second\n", kernel, instructions, seconds,
            1e-6 * (double)instructions / seconds);
    fclose(file);
}

static void CL_CALLBACK execute(void *blob)
{
    struct shot *s;
    char why[512] = "";
    unsigned long long instructions = 0;
    struct timespec begin;
    memcpy(&s, blob, sizeof s); /* PoCL copies what it is handed: the pointer */
    pretended_count_lines(s->kernel->program, s->kernel->code, &s->launch);
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &begin);
    if (!machine.run(s->kernel->code, &s->launch, &instructions, why, sizeof why))
        pretended_tell(*why ? why : "a launch did not end");
    count(s->kernel->facts.name, instructions, &begin);
    pretended_tell_lines(&s->launch, s->kernel->facts.name);
    free_shot(s);
}

/* Adds the buffer that an argument is, or is a part of, unless it is there. */
static cl_int add_buffer(struct shot *s, struct launch_arg *to, cl_mem mem)
{
    cl_mem whole = NULL;
    size_t size = 0, i = 0;
    void *data;
    cl_int e = pretended_below->clGetMemObjectInfo(mem, CL_MEM_ASSOCIATED_MEMOBJECT, sizeof whole, &whole, NULL);
    if (!e && whole)
        e = pretended_below->clGetMemObjectInfo(mem, CL_MEM_OFFSET, sizeof to->offset, &to->offset, NULL);
    whole = whole ? whole : mem;
    e = e ? e : pretended_below->clGetMemObjectInfo(whole, CL_MEM_SIZE, sizeof size, &size, NULL);
    while (i < s->launch.n_buffers && s->mem[i] != whole)
        i++;
    if (!e && i == s->launch.n_buffers &&
        !(e = pretended_find(s->kernel->program->context, s->kernel->program->device, whole, &data)) &&
        !(e = pretended_below->clRetainMemObject(whole))) {
        s->mem[i] = whole;
        s->launch.buffers[i] = (struct launch_buffer){ data, size, pretended_written(whole) };
        s->launch.n_buffers++;
    }
    to->kind = ARG_BUFFER;
    to->buffer = (uint32_t)i;
    return e;
}

static cl_int copy_args(struct shot *s, const struct kernel *k, size_t *shared)
{
    for (size_t i = 0; i < k->facts.n_params; i++) {
        const struct arg *const a = &k->args[i];
        struct launch_arg *const to = &s->launch.args[i];
        enum param_kind kind;
        size_t takes;
        machine.param(k->code, i, &kind, &takes);
        cl_int e = a->is_set ? CL_SUCCESS : CL_INVALID_KERNEL_ARGS;
        to->size = a->size;
        if (!e && kind == PARAM_GLOBAL) {
            to->kind = ARG_NULL;
            e = a->mem ? add_buffer(s, to, a->mem) : CL_SUCCESS;
        } else if (!e && kind == PARAM_SHARED) {
            to->kind = ARG_SHARED;
            *shared += a->size;
        } else if (!e) {
            to->kind = ARG_VALUE;
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

static cl_int set_grid(struct launch *l, const struct kernel *k, cl_uint dim, const size_t *offset,
                       const size_t *global, const size_t *local)
{
    const uint32_t *const required = k->facts.required;
    size_t items = 1;
    if (!dim || dim > 3)
        return CL_INVALID_WORK_DIMENSION;
    l->work_dim = dim;
    for (cl_uint i = 0; i < dim; i++) {
        const size_t own = local ? local[i] : required[i] ? required[i] : 1;
        if (!own || own > machine.most_items || global[i] % own || (required[0] && own != required[i]))
            return CL_INVALID_WORK_GROUP_SIZE;
        if (global[i] / own > UINT32_MAX)
            return CL_INVALID_GLOBAL_WORK_SIZE;
        l->block[i] = (uint32_t)own;
        l->grid[i] = (uint32_t)(global[i] / own);
        l->global_offset[i] = offset ? (uint32_t)offset[i] : 0;
        items *= own;
    }
    return items > k->facts.most_items ? CL_INVALID_WORK_GROUP_SIZE : CL_SUCCESS;
}

static void set_options(struct launch *l)
{
    char word[PRETENDED_VALUE_MAX];
    pretended_word("schedule", word);
    l->schedule = !strcmp(word, "random") ? SCHEDULE_RANDOM :
                  !strcmp(word, "highest") ? SCHEDULE_HIGHEST : SCHEDULE_LOWEST;
    l->seed = (uint64_t)pretended_number("seed", 0);
    l->approximate = (int)pretended_number("approximate", 0);
    l->unchecked = pretended_number("unchecked", 0) != 0;
    l->report = tell;
}

cl_int pretended_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dim, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n_wait, const cl_event *wait,
                                     cl_event *event)
{
    struct kernel *const k = (struct kernel *)kernel;
    size_t shared = (size_t)k->facts.local;
    struct shot *const s = calloc(1, sizeof *s);
    if (!s)
        return CL_OUT_OF_HOST_MEMORY;
    pretended_clRetainKernel(kernel);
    s->kernel = k;
    for (int i = 0; i < 3; i++)
        s->launch.grid[i] = s->launch.block[i] = 1;
    cl_int e = set_grid(&s->launch, k, dim, offset, global, local);
    e = e ? e : copy_args(s, k, &shared);
    e = e ? e : shared > machine.local_bytes ? CL_OUT_OF_RESOURCES : CL_SUCCESS;
    if (!e) {
        set_options(&s->launch);
        s->launch.n_args = k->facts.n_params;
        e = pretended_below->clEnqueueNativeKernel(queue, execute, (void *)&s, sizeof s, 0, NULL, NULL, n_wait, wait,
                                                event);
    }
    if (e)
        free_shot(s);
    return e;
}

#else
typedef int pretended_kernel_nothing_here;
#endif
