/* launch_init.c - a plan's passes: their kernels, what these take, and what calls are read for
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/launch.h"

#include <string.h>

/* Kernels do not use a buffer that is not there, but compilers may load from it ahead of the test, and NULL has no
 * first element (rusticl 26 dies of it). Whatever is loaded so lies at index 0, or in row 0: no more than that is
 * needed. */
static cl_int make_absent(struct launch *l, struct why *why)
{
    static const cl_double zeros[D_MAX];
    cl_int status;
    l->absent = clCreateBuffer(l->plan.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof zeros,
                               (void *)(uintptr_t)zeros, &status);
    if (l->absent && !status)
        return CL_SUCCESS;
    l->absent = NULL;
    return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
}

static cl_int make_pool(struct pool *pool, cl_program program, const char *name, struct why *why)
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
    if (!pass->target.caps->quirk->kernel_group_is_wrong && group < (size_t)pass->items)
        REFUSE("the kernel runs in groups of %zu items here, this tile needs %d", group, pass->items);
    return CL_SUCCESS;
}

static cl_int make_pass(struct launch *l, int id, cl_program program, struct why *why)
{
    struct launch_pass *const pass = &l->passes[id];
    pass->pass = pass_at(id);
    pass->items = pass->pass->items(&pass->target);
    params_find(&pass->params, &pass->target);
    const cl_int status = make_pool(&pass->pool, program, pass->pass->kernel, why);
    return status ? status : check_kernel(l, pass, why);
}

static void set_problem(struct launch *l, const clattn_problem *p)
{
    l->problem = *p;
    l->problem.mods = NULL;
    l->problem.mod_grads = NULL;
    l->problem.aux = l->aux;
    for (int i = 0; i < p->n_aux; i++)
        l->aux[i].type = p->aux[i].type;
}

cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, const cl_program programs[PASSES],
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why)
{
    memset(l, 0, sizeof *l);
    l->device = device;
    l->config = *config;
    set_problem(l, p);
    for (int i = 0; i < PASSES; i++)
        l->passes[i].target = target_make(i, &l->problem, caps, &l->config);
    l->plan = (struct call_plan){ .p = &l->problem,
                                  .context = context,
                                  .target = &l->passes[pass_main(p)].target,
                                  .split = split_rule(&l->problem, caps, &l->config) };
    call_known(&l->plan.known, &l->problem);
    cl_int status = make_absent(l, why);
    for (int i = 0; i < PASSES && !status; i++)
        if (programs[i])
            status = make_pass(l, i, programs[i], why);
    if (status)
        launch_clear(l);
    return status;
}
