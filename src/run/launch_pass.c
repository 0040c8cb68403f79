/* launch_pass.c - a pass of a plan on a queue: its kernels, their arguments and the grid
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/launch.h"

#include <string.h>

/* ---- Making ---- */

struct target launch_pass_target(const struct launch *l, const struct launch_pass *pass)
{
    const int id = (int)(pass - l->passes);
    return (struct target){ .pass = id, .p = &l->problem, .caps = l->caps, .config = &pass->config };
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

cl_int launch_pass_init(struct launch *l, int id, cl_program program, const struct config *config, struct why *why)
{
    struct launch_pass *const pass = &l->passes[id];
    const struct target target = launch_pass_target(l, pass);
    pass->pass = pass_at(id);
    pass->config = *config;
    pass->items = pass->pass->items(&target);
    pass->n_buffers = params_buffers(pass->buffers, &target);
    const cl_int status = pool_init(&pass->pool, program, pass->pass->kernel, why);
    return status ? status : check_kernel(l, pass, why);
}

void launch_pass_clear(struct launch_pass *pass)
{
    struct pool *const pool = &pass->pool;
    for (int i = 0; i < POOL_SIZE && pool->of[i].kernel; i++) {
        clReleaseKernel(pool->of[i].kernel);
        pthread_mutex_destroy(&pool->of[i].lock);
    }
    memset(pool, 0, sizeof *pool);
}

/* ---- Kernels of the pool ---- */

unsigned launch_pass_take(struct launch_pass *pass)
{
    struct pool *const pool = &pass->pool;
    const unsigned from = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < POOL_SIZE; i++)
        if (!pthread_mutex_trylock(&pool->of[(from + i) % POOL_SIZE].lock))
            return (from + i) % POOL_SIZE;
    pthread_mutex_lock(&pool->of[from % POOL_SIZE].lock);
    return from % POOL_SIZE;
}

void launch_pass_give_back(struct launch_pass *pass, unsigned at)
{
    pthread_mutex_unlock(&pass->pool.of[at].lock);
}

cl_int launch_pass_set_args(const struct launch *l, const struct launch_pass *pass, unsigned at, const struct call *c,
                            struct why *why)
{
    const cl_kernel kernel = pass->pool.of[at].kernel;
    const struct target target = launch_pass_target(l, pass);
    cl_ulong args[PARAMS_WORDS];
    const size_t bytes = params_pack(args, &c->args, &target);
    cl_int status = clSetKernelArg(kernel, 0, bytes, args);
    for (int i = 0; i < pass->n_buffers && !status; i++) {
        const cl_mem *const mem = &c->mem[pass->buffers[i]];
        status = clSetKernelArg(kernel, (cl_uint)i + 1, sizeof *mem, *mem ? mem : &l->absent);
    }
    return status ? why_cl(why, status, "clSetKernelArg") : CL_SUCCESS;
}

/* ---- Work-groups ---- */

size_t launch_pass_groups(const struct launch *l, const struct launch_pass *pass, const struct call *c)
{
    const struct target target = launch_pass_target(l, pass);
    return pass->pass ? (size_t)pass->pass->groups(&target, &c->args) : 0;
}

struct grid launch_pass_grid(size_t groups, size_t items)
{
    enum { GRID_WIDTH = 65536 };
    const size_t most = (GRID_WIDTH - 1) / items, high = (groups - 1) / most + 1;
    return (struct grid){ (groups - 1) / high + 1, high };
}

cl_int launch_pass_enqueue(const struct launch_pass *pass, unsigned at, cl_command_queue queue, size_t groups,
                           const struct waits *w, struct why *why)
{
    const size_t items = (size_t)pass->items;
    const struct grid grid = launch_pass_grid(groups, items);
    const size_t global[] = { grid.wide * items, grid.high }, local[] = { items, 1 };
    const cl_int status = clEnqueueNDRangeKernel(queue, pass->pool.of[at].kernel, 2, NULL, global, local,
                                                 w->n, w->list, w->event);
    return status ? why_cl(why, status, "clEnqueueNDRangeKernel") : CL_SUCCESS;
}
