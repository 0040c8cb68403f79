/* plan.c - a problem made runnable: configuration, program, kernels
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/plan.h"

#include "base/text.h"
#include "tune/selftest.h"

/* For a problem that is checked. */
static cl_int choose(struct config *out, const clattn_problem *p, const struct caps *caps, const char *text,
                     struct why *why)
{
    if (p->type == CLATTN_F64 && !caps->fp64)
        REFUSE("f64 needs cl_khr_fp64, which %s lacks", caps->device);
    return tile_config_read(out, text, caps, p, why);
}

cl_int plan_choose(struct config *out, clattn_problem *checked, const struct caps *caps, const clattn_problem *problem,
                   const char *text, struct why *why)
{
    const cl_int status = problem_read(checked, problem, why);
    return status ? status : choose(out, checked, caps, text, why);
}

cl_int plan_class(clattn_problem *checked, struct class *class, const struct caps *caps, const clattn_problem *problem,
                  struct why *why)
{
    struct config config;
    const cl_int status = plan_choose(&config, checked, caps, problem, NULL, why);
    if (!status)
        config_lookup_class(class, checked);
    return status;
}

/* Whether another tile may do what this one could not: a driver may refuse a kernel or its group, or compile it wrong.
 * Where the caller's own text is in the program, it is likely to be why it does not build, in all tiles. */
static bool worth_another(cl_int status, const clattn_problem *p)
{
    return status == CLATTN_ERROR_NOT_SUPPORTED || status == CLATTN_ERROR_WRONG_RESULT ||
           (status == CLATTN_ERROR_BUILD && !p->n_mods);
}

static void tell_unusable(struct maker *maker, const struct config *config, const struct why *why)
{
    char name[CONFIG_MAX];
    struct text to = { name, sizeof name, 0 };
    tile_config_print(config, &to);
    maker_log(maker, "cannot use %s: %s", name, why->text);
}

static cl_int make(struct plan *plan, struct maker *maker, const clattn_problem *p, struct why *why)
{
    return build_launch(&plan->launch, maker, p, &plan->config, false, &plan->binary, why);
}

/* What was measured or set, in place of the table's choice; that is the choice again where it cannot be built, unless
 * the caller set what computes wrong: *status. */
static bool make_chosen(struct plan *plan, struct maker *maker, const clattn_problem *p, cl_int *status,
                        struct why *why)
{
    const struct config table = plan->config;
    plan->origin = tune_choose(&plan->config, maker, p);
    if (plan->origin == CLATTN_ORIGIN_DEFAULT)
        return false;
    *status = make(plan, maker, p, why);
    if (!*status || *status == CLATTN_ERROR_CANCELLED ||
        (plan->origin == CLATTN_ORIGIN_SET && *status == CLATTN_ERROR_WRONG_RESULT))
        return true;
    tell_unusable(maker, &plan->config, why);
    plan->config = table;
    plan->origin = CLATTN_ORIGIN_DEFAULT;
    return false;
}

/* Configurations that compute wrong: a line of the log for all of them. */
struct wrong {
    int n;
    struct config first;
    struct why words;
};

static void pass_over(struct wrong *wrong, struct maker *maker, const struct config *config, cl_int status,
                      const struct why *why)
{
    if (status != CLATTN_ERROR_WRONG_RESULT) {
        tell_unusable(maker, config, why);
    } else if (!wrong->n++) {
        wrong->first = *config;
        wrong->words = *why;
    }
}

static void tell_wrong(const struct wrong *wrong, struct maker *maker, const struct config *taken)
{
    char name[CONFIG_MAX], other[CONFIG_MAX], more[32] = "";
    struct text to = { name, sizeof name, 0 }, to_other = { other, sizeof other, 0 };
    struct text to_more = { more, sizeof more, 0 };
    if (!wrong->n)
        return;
    tile_config_print(&wrong->first, &to);
    if (wrong->n > 1)
        text_add(&to_more, " (and %d others)", wrong->n - 1);
    if (taken)
        tile_config_print(taken, &to_other);
    if (taken)
        maker_log(maker, "using %s instead of %s%s: %s", other, name, more, wrong->words.text);
    else
        maker_log(maker, "no configuration computes right, %s first%s: %s", name, more, wrong->words.text);
}

/* What `config` asks for, or else the table's choice, or the next of its rows. */
static cl_int make_given(struct plan *plan, struct maker *maker, const clattn_problem *p, const char *config,
                         struct why *why)
{
    const struct engine *only;
    struct tile_cursor at = { 0 };
    struct config first;
    struct wrong wrong = { .n = 0 };
    struct why other;
    cl_int status = make(plan, maker, p, why), again = status;
    if (!status || tile_config_is_pinned(config))
        return status;
    only = config && *config ? plan->config.engine : NULL;
    other = *why; /* the words of the best one stand when none can be had */
    tile_config_next(&first, &maker->caps, p, only, &at); /* that is what was tried */
    while (again && worth_another(again, p)) {
        pass_over(&wrong, maker, &plan->config, again, &other);
        if (!tile_config_next(&plan->config, &maker->caps, p, only, &at))
            break;
        again = make(plan, maker, p, &other);
    }
    tell_wrong(&wrong, maker, again ? NULL : &plan->config);
    if (!again || !worth_another(again, p)) {
        *why = other;
        return again;
    }
    if (!wrong.n)
        return status;
    *why = wrong.words;
    return CLATTN_ERROR_WRONG_RESULT;
}

cl_int plan_init(struct plan *plan, struct maker *maker, const clattn_problem *problem, const char *config,
                 struct why *why)
{
    clattn_problem p;
    cl_int status = problem_read(&p, problem, why);
    if (status)
        return status;
    selftest_engines(maker, &p);
    plan->origin = CLATTN_ORIGIN_DEFAULT;
    if ((status = choose(&plan->config, &p, &maker->caps, config, why)))
        return status;
    if ((config && *config) || !make_chosen(plan, maker, &p, &status, why))
        status = make_given(plan, maker, &p, config, why);
    programs_drop_brief(&maker->programs); /* what a search has left */
    (void)maker_tell(maker, CLATTN_STEP_PLAN, &p, &plan->config, "");
    if (!status && *why->text) /* a compiler's warnings, say */
        maker_log(maker, "%s", why->text);
    return status;
}

void plan_clear(struct plan *plan)
{
    launch_clear(&plan->launch);
}
