/* one_call.c - attention and its gradients in one call each
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/handle.h"
#include "base/caller_struct.h"
#include "run/readers.h"

/* The plan of a problem that serves forward and backward calls: each leaves out what only the other's plans have. */
static cl_int take_plan(struct kept_plan **out, clattn_problem *checked, clattn_handle h,
                        const clattn_problem *problem, bool backward, struct why *why)
{
    clattn_problem given;
    cl_int status = caller_struct_read(&given, sizeof given, problem, "clattn_problem", why);
    given.struct_size = sizeof given;
    if (backward) {
        given.flags = (given.flags | CLATTN_BACKWARD) &
                      ~(uint32_t)(CLATTN_APPEND | CLATTN_ROTARY | CLATTN_BATCH_INVARIANT | CLATTN_SCORES);
        given.splits = 0;
    } else {
        given.flags &= ~(uint32_t)(CLATTN_BACKWARD | CLATTN_SCORES);
    }
    status = status ? status : problem_read(checked, &given, why);
    return status ? status : plan_table_take(out, &h->plans, &h->maker, checked, why);
}

/* What can be refused before a plan is made. */
static cl_int check_args(const void *args, bool backward, struct why *why)
{
    clattn_backward_args gradients;
    clattn_forward_args forward;
    return backward ? backward_read_args(&gradients, &forward, args, why)
                    : caller_struct_read(&forward, sizeof forward, args, "clattn_forward_args", why);
}

static cl_int run(clattn_handle h, const struct operation *what, cl_command_queue queue, const clattn_problem *problem,
                  const void *args, const struct waits *waits)
{
    struct kept_plan *plan = NULL;
    struct why why = { "" };
    clattn_problem p;
    cl_int status = handle_check(h);
    if (waits->event)
        *waits->event = NULL;
    if (status)
        return status;
    if (!(status = check_args(args, what->backward, &why)) &&
        !(status = take_plan(&plan, &p, h, problem, what->backward, &why)))
        status = launch_run_alone(&plan->plan.launch, what, &p.sizes, queue, args, waits, &why);
    plan_table_give_back(plan);
    return handle_done(h, status, &why);
}

cl_int clattn_forward(clattn_handle h, cl_command_queue queue, const clattn_problem *problem,
                      const clattn_forward_args *args, cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    return run(h, &launch_forward, queue, problem, args, &(struct waits){ n_wait, wait_list, event, NULL });
}

cl_int clattn_backward(clattn_handle h, cl_command_queue queue, const clattn_problem *problem,
                       const clattn_backward_args *args, cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    return run(h, &launch_backward, queue, problem, args, &(struct waits){ n_wait, wait_list, event, NULL });
}
