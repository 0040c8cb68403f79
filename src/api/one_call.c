/* one_call.c - attention and its gradients in one call each
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/handle.h"
#include "base/caller_struct.h"
#include "device/device.h"

/* ---- What both have in common ---- */

struct one_call {
    const struct operation *what;
    void *args; /* of its type; what the caller gave, to be completed */
    cl_mem *workspace; /* members of args */
    size_t *workspace_offset, *workspace_size;
    struct kept_plan *plan; /* to be given back */
};

/* The plan of a problem that serves forward and backward calls: each leaves out what only the other's plans have. */
static cl_int take_plan(struct one_call *c, clattn_problem *checked, clattn_handle h, const clattn_problem *problem,
                        struct why *why)
{
    const bool backward = c->what == &launch_backward;
    clattn_problem given;
    cl_int status = caller_struct_read(&given, sizeof given, problem, "clattn_problem", why);
    given.struct_size = sizeof given;
    if (backward) {
        given.flags = (given.flags | CLATTN_BACKWARD) &
                      ~(uint32_t)(CLATTN_APPEND | CLATTN_ROTARY | CLATTN_BATCH_INVARIANT);
        given.splits = 0;
    } else {
        given.flags &= ~(uint32_t)CLATTN_BACKWARD;
    }
    status = status ? status : problem_read(checked, &given, why);
    return status ? status : plan_table_take(&c->plan, &h->plans, &h->maker, checked, why);
}

/* A buffer where the caller brings none and the call needs one. A forward call may do without: its keys are not split
 * then, and where that will not do it is refused when it runs. */
static cl_int make_workspace(const struct one_call *c, struct why *why)
{
    const struct launch *const l = &c->plan->plan.launch;
    cl_int status = launch_workspace(l, c->what, c->args, c->workspace_size, why);
    *c->workspace_offset = 0;
    if (status || !*c->workspace_size)
        return status;
    *c->workspace = clCreateBuffer(l->context, CL_MEM_READ_WRITE, *c->workspace_size, NULL, &status);
    if (!status)
        return CL_SUCCESS;
    const size_t size = *c->workspace_size;
    *c->workspace = NULL;
    *c->workspace_size = 0;
    return c->what == &launch_forward ? CL_SUCCESS : device_no_buffer(why, status, l->device, "a workspace", size);
}

/* Behind it the queue alone keeps a buffer that was made. */
static cl_int run(struct one_call *c, cl_command_queue queue, const struct waits *waits, struct why *why)
{
    const bool brings = *c->workspace;
    cl_int status = brings ? CL_SUCCESS : make_workspace(c, why);
    status = status ? status : launch_run(&c->plan->plan.launch, c->what, queue, c->args, waits, why);
    if (!brings && *c->workspace)
        clReleaseMemObject(*c->workspace);
    return status;
}

/* ---- The calls ---- */

cl_int clattn_forward(clattn_handle h, cl_command_queue queue, const clattn_problem *problem,
                      const clattn_forward_args *args, cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    clattn_forward_args own;
    struct one_call c = { &launch_forward, &own, &own.workspace, &own.workspace_offset, &own.workspace_size, NULL };
    const struct waits waits = { n_wait, wait_list, event, NULL };
    struct why why = { "" };
    clattn_problem p;
    cl_int status = handle_check(h);
    if (event)
        *event = NULL;
    if (status)
        return status;
    if (!(status = caller_struct_read(&own, sizeof own, args, "clattn_forward_args", &why)) &&
        !(status = take_plan(&c, &p, h, problem, &why))) {
        own.struct_size = sizeof own;
        own.sizes = own.sizes ? own.sizes : &p.sizes;
        status = run(&c, queue, &waits, &why);
    }
    plan_table_give_back(c.plan);
    return handle_done(h, status, &why);
}

cl_int clattn_backward(clattn_handle h, cl_command_queue queue, const clattn_problem *problem,
                       const clattn_backward_args *args, cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    clattn_backward_args own;
    clattn_forward_args forward;
    struct one_call c = { &launch_backward, &own, &own.workspace, &own.workspace_offset, &own.workspace_size, NULL };
    const struct waits waits = { n_wait, wait_list, event, NULL };
    struct why why = { "" };
    clattn_problem p;
    cl_int status = handle_check(h);
    if (event)
        *event = NULL;
    if (status)
        return status;
    if (!(status = caller_struct_read(&own, sizeof own, args, "clattn_backward_args", &why)) && !own.forward)
        status = why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "forward is NULL");
    if (!status &&
        !(status = caller_struct_read(&forward, sizeof forward, own.forward, "clattn_forward_args", &why)) &&
        !(status = take_plan(&c, &p, h, problem, &why))) {
        own.struct_size = sizeof own;
        forward.struct_size = sizeof forward;
        forward.sizes = forward.sizes ? forward.sizes : &p.sizes;
        own.forward = &forward;
        status = run(&c, queue, &waits, &why);
    }
    plan_table_give_back(c.plan);
    return handle_done(h, status, &why);
}
