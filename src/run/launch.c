/* launch.c - a plan's passes on a queue: checked arguments to kernels
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/launch.h"

#include "base/checked.h"
#include "run/append.h"
#include "run/block_map.h"
#include "run/merge.h"
#include "run/rotary.h"
#include "run/tensor.h"

#include <stdlib.h>
#include <string.h>

#define INVALID(...) return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* ---- Making ---- */

static void pool_clear(struct pool *pool)
{
    for (int i = 0; i < POOL_SIZE && pool->of[i].kernel; i++) {
        clReleaseKernel(pool->of[i].kernel);
        pthread_mutex_destroy(&pool->of[i].lock);
    }
    memset(pool, 0, sizeof *pool);
}

/* Kernels do not use a buffer that is not there, but compilers may load from it ahead of the test, and NULL has no
 * first element (rusticl 26 dies of it). Whatever is loaded so lies at index 0, or in row 0: no more than that is
 * needed. */
static cl_int make_absent(struct launch *l, struct why *why)
{
    static const cl_double zeros[D_MAX];
    cl_int status;
    l->absent = clCreateBuffer(l->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                               (void *)(uintptr_t)zeros, &status);
    if (l->absent && !status)
        return CL_SUCCESS;
    l->absent = NULL;
    return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
}

static cl_int pool_init(struct pool *pool, cl_program program, const char *name, struct why *why)
{
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < POOL_SIZE && !status; i++) {
        cl_kernel kernel = clCreateKernel(program, name, &status);
        if (!kernel || status) {
            status = why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateKernel");
        } else if (pthread_mutex_init(&pool->of[i].lock, NULL)) {
            clReleaseKernel(kernel);
            status = why_set(why, CL_OUT_OF_HOST_MEMORY, "no mutex");
        } else {
            pool->of[i].kernel = kernel;
        }
    }
    return status;
}

/* A kernel may need more registers than a group of this size has. */
static cl_int check_kernel(const struct launch *l, const struct launch_pass *pass, struct why *why)
{
    size_t group;
    const cl_int status = clGetKernelWorkGroupInfo(pass->pool.of[0].kernel, l->device, CL_KERNEL_WORK_GROUP_SIZE,
                                                   sizeof group, &group, NULL);
    if (status)
        return why_cl(why, status, "CL_KERNEL_WORK_GROUP_SIZE");
    if (!l->caps->quirk->kernel_group_is_wrong && group < (size_t)pass->items)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED,
                       "the kernel runs in groups of %zu items here, this tile needs %d", group, pass->items);
    return CL_SUCCESS;
}

static struct target target_of(const struct launch *l, const struct launch_pass *pass)
{
    const int id = (int)(pass - l->passes);
    return (struct target){ .pass = id, .p = &l->problem, .caps = l->caps, .config = &pass->config };
}

static cl_int init_pass(struct launch *l, int id, cl_program program, const struct config *config,
                        struct why *why)
{
    struct launch_pass *const pass = &l->passes[id];
    const struct target target = target_of(l, pass);
    pass->pass = pass_at(id);
    pass->config = *config;
    pass->items = pass->pass->items(&target);
    pass->n_buffers = params_buffers(pass->buffers, &target);
    const cl_int status = pool_init(&pass->pool, program, pass->pass->kernel, why);
    return status ? status : check_kernel(l, pass, why);
}

cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, const cl_program programs[PASSES],
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why)
{
    memset(l, 0, sizeof *l);
    l->context = context;
    l->device = device;
    l->caps = caps;
    l->problem = *p;
    l->problem.mods = NULL;
    l->problem.aux = l->aux;
    for (int i = 0; i < p->n_aux; i++)
        l->aux[i].type = p->aux[i].type;
    for (int i = 0; i < PASSES; i++) /* of a pass that the plan lacks, too: its calls are read, to be refused */
        l->passes[i].rows = gqa_rows(p, config->engine->rows_per_group(&config->tile));
    cl_int status = make_absent(l, why);
    for (int i = 0; i < PASSES && !status; i++)
        if (programs[i])
            status = init_pass(l, i, programs[i], config, why);
    if (status)
        launch_clear(l);
    return status;
}

void launch_clear(struct launch *l)
{
    for (int i = 0; i < PASSES; i++)
        pool_clear(&l->passes[i].pool);
    if (l->absent)
        clReleaseMemObject(l->absent);
    memset(l, 0, sizeof *l);
}

/* ---- Checking ---- */

static cl_int check_queue(const struct launch *l, cl_command_queue queue, struct why *why)
{
    cl_context context;
    cl_device_id device;
    cl_int status;
    if (!queue)
        return why_set(why, CL_INVALID_COMMAND_QUEUE, "queue is NULL");
    if ((status = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL)) ||
        (status = clGetCommandQueueInfo(queue, CL_QUEUE_DEVICE, sizeof device, &device, NULL)))
        return why_cl(why, status, "clGetCommandQueueInfo");
    if (context != l->context || device != l->device)
        return why_set(why, CLATTN_ERROR_CONTEXT, "the queue belongs to another %s",
                       context != l->context ? "context" : "device");
    return CL_SUCCESS;
}

static cl_int check_waits(const struct launch *l, cl_uint n, const cl_event *list, struct why *why)
{
    if (!n != !list)
        return why_set(why, CL_INVALID_EVENT_WAIT_LIST, "%u events to wait for, list %s", (unsigned)n,
                       list ? "given" : "NULL");
    for (cl_uint i = 0; i < n; i++) {
        cl_context context;
        cl_int status =
            list[i] ? clGetEventInfo(list[i], CL_EVENT_CONTEXT, sizeof context, &context, NULL) : CL_INVALID_EVENT;
        if (status)
            return why_set(why, CL_INVALID_EVENT_WAIT_LIST, "event %u of the wait list is none", (unsigned)i);
        if (context != l->context)
            return why_set(why, CLATTN_ERROR_CONTEXT, "event %u of the wait list belongs to another context",
                           (unsigned)i);
    }
    return CL_SUCCESS;
}

/* ---- One pass ---- */

static cl_int set_args(cl_kernel kernel, const struct launch *l, const struct launch_pass *pass, const struct call *c,
                       struct why *why)
{
    const struct target target = target_of(l, pass);
    cl_ulong args[PARAMS_WORDS];
    const size_t bytes = params_pack(args, &c->args, &target);
    cl_int status = clSetKernelArg(kernel, 0, bytes, args);
    for (int i = 0; i < pass->n_buffers && !status; i++) {
        const cl_mem *const mem = &c->mem[pass->buffers[i]];
        status = clSetKernelArg(kernel, (cl_uint)i + 1, sizeof *mem, *mem ? mem : &l->absent);
    }
    return status ? why_cl(why, status, "clSetKernelArg") : CL_SUCCESS;
}

/* One of the pool, locked: a free one when there is one. */
static unsigned pool_take(struct pool *pool)
{
    const unsigned from = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < POOL_SIZE; i++)
        if (!pthread_mutex_trylock(&pool->of[(from + i) % POOL_SIZE].lock))
            return (from + i) % POOL_SIZE;
    pthread_mutex_lock(&pool->of[from % POOL_SIZE].lock);
    return from % POOL_SIZE;
}

/* The grid is a rectangle of at least `groups`. It never gets GRID_WIDTH wide, nor has an offset: PoCL compiles a
 * kernel once more for each of these, at its first use, and calls never compile. */
struct grid {
    size_t wide, high; /* in groups */
};
static struct grid grid_of(size_t groups, size_t items)
{
    enum { GRID_WIDTH = 65536 };
    const size_t most = (GRID_WIDTH - 1) / items, high = (groups - 1) / most + 1;
    return (struct grid){ (groups - 1) / high + 1, high };
}

static cl_int enqueue(cl_kernel kernel, cl_command_queue queue, size_t groups, size_t items, const struct waits *w,
                      struct why *why)
{
    const struct grid grid = grid_of(groups, items);
    const size_t global[] = { grid.wide * items, grid.high }, local[] = { items, 1 };
    const cl_int status = clEnqueueNDRangeKernel(queue, kernel, 2, NULL, global, local, w->n, w->list, w->event);
    return status ? why_cl(why, status, "clEnqueueNDRangeKernel") : CL_SUCCESS;
}

/* 0 where the plan lacks the pass, too. */
static size_t groups_of(const struct launch *l, const struct launch_pass *pass, const struct call *c)
{
    const struct target target = target_of(l, pass);
    return pass->pass ? (size_t)pass->pass->groups(&target, &c->args) : 0;
}

/* ---- Workspaces ---- */

/* What all groups share comes first, and what each has begins behind it as aligned as the workspace itself. */
static bool shared_bytes(const struct target *target, const struct pass *pass, const struct call *c, int64_t *bytes)
{
    *bytes = 0;
    if (!pass->call_bytes)
        return true;
    if (!pass->call_bytes(target, &c->args, bytes) || !checked_add(*bytes, WORKSPACE_ALIGNMENT - 1, bytes))
        return false;
    *bytes -= *bytes % WORKSPACE_ALIGNMENT;
    return true;
}

/* Spare groups of the grid have some as well. */
static cl_int pass_workspace(size_t *size, const struct launch *l, const struct launch_pass *pass, const struct call *c,
                             struct why *why)
{
    const struct target target = target_of(l, pass);
    const size_t groups = groups_of(l, pass, c);
    const int64_t of_group = groups && pass->pass->group_bytes ? pass->pass->group_bytes(&target, &c->args) : 0;
    int64_t shared, bytes;
    *size = 0;
    if (!groups)
        return CL_SUCCESS;
    const struct grid grid = grid_of(groups, (size_t)pass->items);
    if (!shared_bytes(&target, pass->pass, c, &shared) ||
        !checked_mul((int64_t)(grid.wide * grid.high), of_group, &bytes) || !checked_add(bytes, shared, &bytes) ||
        (uint64_t)bytes > SIZE_MAX / 2)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "%zu work-groups need too much workspace", groups);
    if (l->max_workspace && (uint64_t)bytes > l->max_workspace)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "the call needs a workspace of %lld bytes, the plan allows %zu",
                       (long long)bytes, l->max_workspace);
    *size = (size_t)bytes;
    return CL_SUCCESS;
}

static cl_int count_workspace(size_t *size, const struct launch *l, const struct operation *what, const struct call *c,
                              struct why *why)
{
    cl_int status = CL_SUCCESS;
    *size = 0;
    for (int i = 0; i < what->n && !status; i++) {
        size_t bytes;
        if (!(status = pass_workspace(&bytes, l, &l->passes[what->passes[i]], c, why)) && bytes > *size)
            *size = bytes;
    }
    return status;
}

/* Where the plan has no room for as many parts as would be fastest, they are fewer. */
static cl_int settle_workspace(size_t *size, const struct launch *l, const struct operation *what, struct call *c,
                               struct why *why)
{
    cl_int status;
    while ((status = count_workspace(size, l, what, c, why)) && c->parts_may_be_fewer && c->args.parts > 1)
        call_set_parts(c, c->args.parts - 1);
    return status;
}

/* Where in the workspace the states of parts are, and what each group has. */
static cl_int take_workspace(const struct launch *l, struct call *c, size_t bytes, struct why *why)
{
    const struct launch_pass *const forward = &l->passes[PASS_FORWARD];
    const struct target target = target_of(l, forward);
    int64_t shared, at;
    const cl_int status =
        tensor_check_workspace(&c->workspace, bytes, l->context, &c->mem[PARAM_WORKSPACE], &at, why);
    if (status)
        return status;
    shared_bytes(&target, forward->pass, c, &shared);
    c->args.states_offset = at;
    c->args.workspace_offset = at + shared / (int64_t)sizeof(cl_uint);
    if (c->args.parts > 1)
        merge_take_states(c, &l->problem);
    return CL_SUCCESS;
}

/* Programs of the first release bring no workspace where there was no need for one. */
static void spare_workspace(struct call *c)
{
    if (c->parts_may_be_fewer && !c->workspace.mem)
        call_set_parts(c, 1);
}

/* What the operation's calls are read for; rows are those of its first pass. */
static struct call_plan plan_of(const struct launch *l, const struct operation *what)
{
    return (struct call_plan){ .p = &l->problem,
                               .rows = l->passes[what->passes[0]].rows,
                               .context = l->context,
                               .caps = l->caps,
                               .config = &l->passes[PASS_FORWARD].config };
}

cl_int launch_workspace(const struct launch *l, const clattn_forward_args *args, size_t *size, struct why *why)
{
    const struct call_plan plan = plan_of(l, &launch_forward);
    struct call c;
    memset(&c, 0, sizeof c);
    if (!size)
        INVALID("size is NULL");
    const cl_int status = call_read_sizes(&c, &plan, args, why);
    return status ? status : settle_workspace(size, l, &launch_forward, &c, why);
}

/* ---- Operations ---- */

const struct operation launch_forward = { call_read_forward, 2, { PASS_FORWARD, PASS_MERGE } };
const struct operation launch_merge = { merge_read, 1, { PASS_MERGE } };
const struct operation launch_block_map = { block_map_read, 1, { PASS_BLOCK_MAP } };
const struct operation launch_append = { append_read, 2, { PASS_APPEND, PASS_ADVANCE } };
const struct operation launch_rotary = { rotary_read, 1, { PASS_ROTARY } };

/* A call with nothing to compute still waits and still has an event. */
static cl_int enqueue_nothing(cl_command_queue queue, const struct waits *w, struct why *why)
{
    if (!w->n && !w->event)
        return CL_SUCCESS;
    const cl_int status = clEnqueueMarkerWithWaitList(queue, w->n, w->list, w->event);
    return status ? why_cl(why, status, "clEnqueueMarkerWithWaitList") : CL_SUCCESS;
}

/* A pass of a call that has something to do, with a kernel of the pool. */
struct step {
    struct launch_pass *pass;
    unsigned at; /* the kernel's place in the pool */
    size_t groups;
};

static cl_kernel kernel_of(const struct step *step)
{
    return step->pass->pool.of[step->at].kernel;
}

/* Takes kernels, and gives them their arguments; returns how many: all are to be given back. */
static int take_steps(struct step steps[OPERATION_PASSES], struct launch *l, const struct operation *what,
                      const struct call *c, cl_int *status, struct why *why)
{
    int n = 0;
    *status = CL_SUCCESS;
    for (int i = 0; i < what->n && !*status; i++) {
        struct launch_pass *const pass = &l->passes[what->passes[i]];
        const size_t groups = groups_of(l, pass, c);
        if (!groups)
            continue;
        steps[n] = (struct step){ pass, pool_take(&pass->pool), groups };
        *status = set_args(kernel_of(&steps[n++]), l, pass, c, why);
    }
    return n;
}

static void give_back(struct step *steps, int n)
{
    while (n--)
        pthread_mutex_unlock(&steps[n].pass->pool.of[steps[n].at].lock);
}

/* Each waits for the one before: a queue may be out of order. */
static cl_int enqueue_steps(const struct step *steps, int n, cl_command_queue queue, const struct waits *waits,
                            struct why *why)
{
    cl_event before = NULL;
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < n && !status; i++) {
        cl_event event = NULL;
        const struct waits own = { i ? 1 : waits->n, i ? &before : waits->list, i + 1 < n ? &event : waits->event,
                                   NULL };
        status = enqueue(kernel_of(&steps[i]), queue, steps[i].groups, (size_t)steps[i].pass->items, &own, why);
        if (before)
            clReleaseEvent(before);
        before = event;
        if (!i && event && waits->first && !clRetainEvent(event))
            *waits->first = event;
    }
    if (before)
        clReleaseEvent(before);
    return status;
}

/* Everything that can be refused is before the first kernel is enqueued. */
static cl_int run_steps(struct launch *l, const struct operation *what, cl_command_queue queue, const struct call *c,
                        const struct waits *waits, struct why *why)
{
    struct step steps[OPERATION_PASSES];
    cl_int status;
    const int n = take_steps(steps, l, what, c, &status, why);
    if (!status)
        status = n ? enqueue_steps(steps, n, queue, waits, why) : enqueue_nothing(queue, waits, why);
    give_back(steps, n);
    return status;
}

cl_int launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                  const struct waits *waits, struct why *why)
{
    const struct call_plan plan = plan_of(l, what);
    struct call c;
    size_t bytes;
    cl_int status;
    memset(&c, 0, sizeof c);
    if (waits->first)
        *waits->first = NULL;
    if ((status = check_queue(l, queue, why)) || (status = check_waits(l, waits->n, waits->list, why)) ||
        (status = what->read(&c, &plan, args, why)))
        return status;
    spare_workspace(&c);
    if ((status = settle_workspace(&bytes, l, what, &c, why)) ||
        (bytes && (status = take_workspace(l, &c, bytes, why))))
        return status;
    return run_steps(l, what, queue, &c, waits, why);
}

/* ---- Idling ---- */

static cl_int idle_pass(struct launch *l, struct launch_pass *pass, cl_command_queue queue, struct why *why)
{
    const struct target target = target_of(l, pass);
    const struct waits none = { 0, NULL, NULL, NULL };
    struct call c;
    cl_int status = CL_SUCCESS;
    memset(&c, 0, sizeof c);
    if (pass->pass->idle)
        pass->pass->idle(&c.args);
    const int64_t bytes = pass->pass->group_bytes ? pass->pass->group_bytes(&target, &c.args) : 0;
    if (bytes) {
        c.mem[PARAM_WORKSPACE] = clCreateBuffer(l->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &status);
        if (!c.mem[PARAM_WORKSPACE] || status)
            return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
    }
    if (!(status = set_args(pass->pool.of[0].kernel, l, pass, &c, why)))
        status = enqueue(pass->pool.of[0].kernel, queue, 1, (size_t)pass->items, &none, why);
    const cl_int finished = clFinish(queue);
    if (!status && finished)
        status = why_cl(why, finished, "clFinish");
    if (bytes)
        clReleaseMemObject(c.mem[PARAM_WORKSPACE]);
    return status;
}

cl_int launch_idle(struct launch *l, struct why *why)
{
    cl_int status;
    cl_command_queue queue = clCreateCommandQueue(l->context, l->device, 0, &status);
    if (!queue || status)
        return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateCommandQueue");
    for (int i = 0; i < PASSES && !status; i++)
        if (l->passes[i].pass)
            status = idle_pass(l, &l->passes[i], queue, why);
    clReleaseCommandQueue(queue);
    return status;
}
