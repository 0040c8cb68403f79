/* plan.c - a problem made runnable: configuration, program, kernels
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "plan.h"

cl_int plan_choose(struct config *out, clattn_problem *checked, const struct caps *caps, const clattn_problem *problem,
                   const char *text, struct why *why)
{
    cl_int status = problem_read(checked, problem, why);
    if (status)
        return status;
    if (checked->type == CLATTN_F64 && !caps->fp64)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "f64 needs cl_khr_fp64, which %s lacks", caps->device);
    return tile_config_read(out, text, caps, checked, why);
}

static cl_int build(cl_program *out, struct maker *maker, struct source *source, struct why *why)
{
    const cl_int status = program_get(out, &maker->programs, maker->context, maker->device, source, why);
    source_free(source);
    return status;
}

/* The program that makes block maps, where a problem has both mask and map; else none. */
static cl_int build_map(cl_program *out, struct maker *maker, const clattn_problem *p, struct why *why)
{
    enum { BOTH = CLATTN_MASK | CLATTN_BLOCK_MAP };
    struct source source = { NULL, NULL };
    *out = NULL;
    if ((p->flags & BOTH) != BOTH)
        return CL_SUCCESS;
    const cl_int status = source_compose_map(&source, &maker->caps, why);
    return status ? status : build(out, maker, &source, why);
}

/* Builds what plan->config says. On success why holds the compiler's words, if any. */
static cl_int make(struct plan *plan, struct maker *maker, const clattn_problem *p, struct why *why)
{
    struct source source = { NULL, NULL };
    cl_program program = NULL, map = NULL;
    struct why fault;
    cl_int status;
    if ((status = source_compose(&source, p, &maker->caps, &plan->config, why)) ||
        (status = build(&program, maker, &source, why)))
        return status;
    if ((status = build_map(&map, maker, p, &fault)) ||
        (status = launch_init(&plan->launch, maker->context, maker->device, program, map, p, &maker->caps,
                              &plan->config, &fault)))
        *why = fault;
    if (map)
        clReleaseProgram(map);
    clReleaseProgram(program);
    return status;
}

/* Whether another tile may do what this one could not: a driver may refuse a kernel or its group. Where the caller's
 * own text is in the program, it is likely to be the reason, in all tiles. */
static bool worth_another(cl_int status, const clattn_problem *p)
{
    return status == CLATTN_ERROR_NOT_SUPPORTED || (status == CLATTN_ERROR_BUILD && !p->n_mods);
}

static void tell_passed_over(struct maker *maker, const struct config *config, const struct why *why)
{
    struct why line;
    struct text to = { line.text, sizeof line.text, 0 };
    if (!maker->log)
        return;
    tile_config_print(config, &to);
    text_add(&to, " is passed over: %s", why->text);
    maker->log(maker->log_user, line.text);
}

cl_int plan_init(struct plan *plan, struct maker *maker, const clattn_problem *problem, const char *config,
                 struct why *why)
{
    const struct engine *only;
    struct why other;
    clattn_problem p;
    cl_int status;
    if ((status = plan_choose(&plan->config, &p, &maker->caps, problem, config, why)) ||
        !(status = make(plan, maker, &p, why)) || tile_config_is_pinned(config))
        return status;
    only = config && *config ? plan->config.engine : NULL;
    other = *why; /* the words of the best one stand when none can be had */
    for (size_t n = 1; worth_another(status, &p); n++) {
        tell_passed_over(maker, &plan->config, &other);
        if (!tile_config_at(&plan->config, &maker->caps, &p, only, n))
            return status;
        const cl_int again = make(plan, maker, &p, &other);
        if (!again)
            *why = other;
        if (!again || !worth_another(again, &p))
            return again;
    }
    return status;
}

void plan_clear(struct plan *plan)
{
    launch_clear(&plan->launch);
}
