/* launch.c - checked arguments to kernels on a queue
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/launch.h"

#include "run/block_map.h"
#include "base/checked.h"

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

/* Kernels do not use a buffer that is not there, but compilers may load from it ahead of the test, and NULL has no first
 * element (rusticl 26 dies of it). Whatever is loaded so lies at index 0, or in row 0: no more than that is needed. */
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
static cl_int check_kernel(const struct launch *l, cl_kernel kernel, const struct caps *caps, struct why *why)
{
    size_t group;
    cl_int status = clGetKernelWorkGroupInfo(kernel, l->device, CL_KERNEL_WORK_GROUP_SIZE, sizeof group, &group, NULL);
    if (status)
        return why_cl(why, status, "CL_KERNEL_WORK_GROUP_SIZE");
    if (!caps->quirk->kernel_group_is_wrong && group < (size_t)l->items_per_group)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED,
                       "the kernel runs in groups of %zu items here, this tile needs %d", group, l->items_per_group);
    return CL_SUCCESS;
}

/* What a group needs of the workspace, for total.cl where a call has more keys than a segment. */
static void take_workspace(struct launch *l, const clattn_problem *p, const struct config *config)
{
    const struct engine *e = config->engine;
    const size_t items = (size_t)l->items_per_group, scalar = p->type == CLATTN_F64 ? sizeof(cl_double) : sizeof(cl_float);
    l->own_bytes = items * (size_t)e->own_words * sizeof(cl_uint);
    l->total_bytes = e->total_scalars ? items * (size_t)e->total_scalars(&config->tile, p) * scalar : 0;
    l->segment_keys = (int64_t)CLA_CHAIN * e->keys_per_tile(&config->tile);
}

cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, cl_program program, cl_program map,
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why)
{
    cl_int status;
    memset(l, 0, sizeof *l);
    l->context = context;
    l->device = device;
    l->problem = *p;
    l->problem.mods = NULL;
    l->problem.aux = l->aux;
    for (int i = 0; i < p->n_aux; i++)
        l->aux[i].type = p->aux[i].type;
    l->rows = gqa_rows(p, config->engine->rows_per_group(&config->tile));
    l->items_per_group = config->engine->items_per_group(&config->tile);
    l->narrow_p = config->engine->narrow_p;
    take_workspace(l, p, config);
    l->map_items = caps->max_group < 64 ? caps->max_group : 64;
    status = make_absent(l, why);
    if (!status)
        status = pool_init(&l->forward, program, "cla_forward", why);
    if (!status && map)
        status = pool_init(&l->block_map, map, "cla_block_map", why);
    if (!status)
        status = check_kernel(l, l->forward.of[0].kernel, caps, why);
    if (status)
        launch_clear(l);
    return status;
}

void launch_clear(struct launch *l)
{
    pool_clear(&l->forward);
    pool_clear(&l->block_map);
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

/* ---- Running ---- */

static cl_int set_arg(cl_kernel kernel, cl_uint *at, size_t size, const void *value, struct why *why)
{
    const cl_int status = clSetKernelArg(kernel, (*at)++, size, value);
    return status ? why_cl(why, status, "clSetKernelArg") : CL_SUCCESS;
}

static cl_int set_mem(cl_kernel kernel, const struct launch *l, cl_uint *at, const cl_mem *mem, struct why *why)
{
    return set_arg(kernel, at, sizeof *mem, *mem ? mem : &l->absent, why);
}

static cl_int set_forward(cl_kernel kernel, const struct launch *l, const struct call *c, struct why *why)
{
    cl_uint at = 0;
    cl_int status = set_arg(kernel, &at, sizeof c->args, &c->args, why);
    for (int i = 0; i < PARAMS && !status; i++)
        if (params_is_taken(&l->problem, i))
            status = set_mem(kernel, l, &at, &c->mem[i], why);
    return status;
}

static cl_int set_block_map(cl_kernel kernel, const struct launch *l, const struct map_call *c, struct why *why)
{
    cl_uint at = 0;
    cl_int status;
    if ((status = set_arg(kernel, &at, sizeof c->args, &c->args, why)) ||
        (status = set_mem(kernel, l, &at, &c->mask, why)))
        return status;
    return set_mem(kernel, l, &at, &c->map, why);
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

/* The grid is a rectangle of at least `groups`. It never gets GRID_WIDTH wide, nor has an offset: PoCL compiles a kernel once
 * more for each of these, at its first use, and calls never compile. */
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

/* A call with nothing to compute still waits and still has an event. */
static cl_int enqueue_nothing(cl_command_queue queue, const struct waits *w, struct why *why)
{
    if (!w->n && !w->event)
        return CL_SUCCESS;
    const cl_int status = clEnqueueMarkerWithWaitList(queue, w->n, w->list, w->event);
    return status ? why_cl(why, status, "clEnqueueMarkerWithWaitList") : CL_SUCCESS;
}

/* A grid of one spare group: it reads a length here and there, and writes nothing but its workspace. */
static cl_int idle_forward(struct launch *l, cl_command_queue queue, cl_mem workspace, struct why *why)
{
    const struct waits none = { 0, NULL, NULL };
    struct call c;
    memset(&c, 0, sizeof c);
    c.args.h = c.args.group = c.args.nq = c.args.nk = c.args.pack = c.args.heads = 1;
    c.args.per_pack = 1;
    c.args.block_q = c.args.block_k = 1;
    c.mem[PARAM_WORKSPACE] = workspace;
    cl_kernel kernel = l->forward.of[0].kernel;
    const cl_int status = set_forward(kernel, l, &c, why);
    return status ? status : enqueue(kernel, queue, 1, (size_t)l->items_per_group, &none, why);
}

static cl_int idle_block_map(struct launch *l, cl_command_queue queue, struct why *why)
{
    const struct waits none = { 0, NULL, NULL };
    struct map_call c;
    if (!l->block_map.of[0].kernel)
        return CL_SUCCESS;
    memset(&c, 0, sizeof c);
    const cl_int status = set_block_map(l->block_map.of[0].kernel, l, &c, why);
    return status ? status : enqueue(l->block_map.of[0].kernel, queue, 1, l->map_items, &none, why);
}

cl_int launch_idle(struct launch *l, struct why *why)
{
    cl_mem workspace = NULL;
    cl_int status = CL_SUCCESS;
    if (l->own_bytes) {
        workspace = clCreateBuffer(l->context, CL_MEM_READ_WRITE, l->own_bytes, NULL, &status);
        if (!workspace || status)
            return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
    }
    cl_command_queue queue = clCreateCommandQueue(l->context, l->device, 0, &status);
    if (!queue || status) {
        queue = NULL;
        status = why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateCommandQueue");
        goto out;
    }
    if (!(status = idle_forward(l, queue, workspace, why)))
        status = idle_block_map(l, queue, why);
    const cl_int finished = clFinish(queue);
    if (!status && finished)
        status = why_cl(why, finished, "clFinish");
out:
    if (queue)
        clReleaseCommandQueue(queue);
    if (workspace)
        clReleaseMemObject(workspace);
    return status;
}

/* Spare groups of the grid have some as well. nk: of the longest sequence. */
static cl_int count_workspace(size_t *size, const struct launch *l, cla_i32 groups, int64_t nk, struct why *why)
{
    const size_t of_group = l->own_bytes + (nk > l->segment_keys ? l->total_bytes : 0);
    *size = 0;
    if (!groups || !of_group)
        return CL_SUCCESS;
    const struct grid grid = grid_of((size_t)groups, (size_t)l->items_per_group);
    int64_t bytes;
    if (!checked_mul((int64_t)(grid.wide * grid.high), (int64_t)of_group, &bytes) ||
        (uint64_t)bytes > SIZE_MAX / 2)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "%d work-groups need too much workspace", groups);
    if (l->max_workspace && (uint64_t)bytes > l->max_workspace)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "the call needs a workspace of %lld bytes, the plan allows %zu",
                       (long long)bytes, l->max_workspace);
    *size = (size_t)bytes;
    return CL_SUCCESS;
}

cl_int launch_workspace(const struct launch *l, const clattn_forward_args *args, size_t *size, struct why *why)
{
    clattn_sizes s;
    cla_args told;
    cl_int status;
    if (!size)
        INVALID("size is NULL");
    if ((status = call_read_sizes(&s, &l->problem, args, why)) ||
        (status = call_groups(&told, &s, &l->rows, why)))
        return status;
    return count_workspace(size, l, told.groups, s.nk, why);
}

cl_int launch_forward(struct launch *l, cl_command_queue queue, const clattn_forward_args *args,
                      const struct waits *waits, struct why *why)
{
    struct call c;
    size_t bytes;
    cl_int status;
    if ((status = check_queue(l, queue, why)) || (status = check_waits(l, waits->n, waits->list, why)) ||
        (status = call_read(&c, &l->problem, l->context, args, &l->rows, why)))
        return status;
    if (!c.args.groups)
        return enqueue_nothing(queue, waits, why);
    if ((status = count_workspace(&bytes, l, c.args.groups, c.args.nk, why)) ||
        (bytes && (status = call_workspace(&c, l->context, args, bytes, why))))
        return status;
    const unsigned i = pool_take(&l->forward);
    cl_kernel kernel = l->forward.of[i].kernel;
    if (!(status = set_forward(kernel, l, &c, why)))
        status = enqueue(kernel, queue, (size_t)c.args.groups, (size_t)l->items_per_group, waits, why);
    pthread_mutex_unlock(&l->forward.of[i].lock);
    return status;
}

cl_int launch_block_map(struct launch *l, cl_command_queue queue, const clattn_forward_args *args,
                        const struct waits *waits, struct why *why)
{
    struct map_call c;
    cl_int status;
    if ((status = check_queue(l, queue, why)) || (status = check_waits(l, waits->n, waits->list, why)) ||
        (status = block_map_read(&c, &l->problem, l->context, args, why)))
        return status;
    if (!c.count)
        return enqueue_nothing(queue, waits, why);
    const unsigned i = pool_take(&l->block_map);
    cl_kernel kernel = l->block_map.of[i].kernel;
    if (!(status = set_block_map(kernel, l, &c, why)))
        status = enqueue(kernel, queue, (c.count - 1) / l->map_items + 1, l->map_items, waits, why);
    pthread_mutex_unlock(&l->block_map.of[i].lock);
    return status;
}
