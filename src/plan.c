/* plan.c - a problem made runnable: configuration, program, kernels
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "plan.h"

cl_int plan_check(const struct caps *caps, const clattn_problem *problem, clattn_problem *checked, struct why *why)
{
    struct config config;
    cl_int status = problem_read(checked, problem, why);
    if (status)
        return status;
    if (checked->type == CLATTN_F64 && !caps->fp64)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "f64 needs cl_khr_fp64, which %s lacks", caps->device);
    return tile_config_read(&config, NULL, caps, checked, why);
}

cl_int plan_init(struct plan *plan, struct maker *maker, const clattn_problem *problem, const char *config,
                 struct why *why)
{
    struct source source = { NULL, NULL };
    cl_program program = NULL;
    clattn_problem p;
    cl_int status;
    if ((status = plan_check(&maker->caps, problem, &p, why)) ||
        (status = tile_config_read(&plan->config, config, &maker->caps, &p, why)) ||
        (status = source_compose(&source, &p, &maker->caps, &plan->config, why)) ||
        (status = program_get(&program, &maker->programs, maker->context, maker->device, &source, why)))
        goto out;
    struct why fault; /* why may hold the compiler's warnings */
    status =
        launch_init(&plan->launch, maker->context, maker->device, program, &p, &maker->caps, &plan->config, &fault);
    if (status)
        *why = fault;
out:
    if (program)
        clReleaseProgram(program);
    source_free(&source);
    return status;
}

void plan_clear(struct plan *plan)
{
    launch_clear(&plan->launch);
}
