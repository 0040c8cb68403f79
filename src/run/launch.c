/* launch.c - a plan's passes on a queue: checked arguments to kernels
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/launch.h"

#include "run/append.h"
#include "run/backward.h"
#include "run/block_map.h"
#include "run/launch_workspace.h"
#include "run/merge.h"
#include "run/rotary.h"

#include <string.h>

/* ---- Making ---- */

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

cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, const cl_program programs[PASSES],
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why)
{
    memset(l, 0, sizeof *l);
    l->context = context;
    l->device = device;
    l->caps = caps;
    l->problem = *p;
    l->problem.mods = NULL;
    l->problem.mod_grads = NULL;
    l->problem.aux = l->aux;
    for (int i = 0; i < p->n_aux; i++)
        l->aux[i].type = p->aux[i].type;
    for (int i = 0; i < PASSES; i++) /* of a pass that the plan lacks, too: its calls are read, to be refused */
        l->passes[i] = (struct launch_pass){ .config = *config,
                                             .rows = gqa_rows(p, config->engine->rows_per_group(&config->tile)) };
    cl_int status = make_absent(l, why);
    for (int i = 0; i < PASSES && !status; i++)
        if (programs[i])
            status = launch_pass_init(l, i, programs[i], config, why);
    if (status)
        launch_clear(l);
    return status;
}

void launch_clear(struct launch *l)
{
    for (int i = 0; i < PASSES; i++)
        launch_pass_clear(&l->passes[i]);
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

/* ---- Operations ---- */

const struct operation launch_forward = { call_read_forward, 2, { PASS_FORWARD, PASS_MERGE }, call_read_sizes };
const struct operation launch_merge = { merge_read, 1, { PASS_MERGE }, NULL };
const struct operation launch_block_map = { block_map_read, 1, { PASS_BLOCK_MAP }, NULL };
const struct operation launch_append = { append_read, 2, { PASS_APPEND, PASS_ADVANCE }, NULL };
const struct operation launch_rotary = { rotary_read, 1, { PASS_ROTARY }, NULL };
#define BACKWARD_PASSES \
    8, { PASS_DELTA, PASS_BACKWARD_KEYS, PASS_BACKWARD_QUERIES, PASS_SUM_DQ, PASS_SUM_DBIAS, PASS_SUM_DSLOPES, \
         PASS_SUM_DSINKS, PASS_SUM_DAUX }
const struct operation launch_backward = { backward_read, BACKWARD_PASSES, backward_read_sizes };
const struct operation launch_textless = { backward_read_textless, BACKWARD_PASSES, backward_read_sizes };

cl_int launch_check(const struct launch *l, const struct operation *what, struct why *why)
{
    const bool backward = l->problem.flags & CLATTN_BACKWARD;
    if (backward == (what->read_sizes == backward_read_sizes))
        return CL_SUCCESS;
    return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT,
                   backward ? "the problem has CLATTN_BACKWARD: its plans have clattn_enqueue_backward() only"
                            : "the problem lacks CLATTN_BACKWARD");
}

struct call_plan launch_call_plan(const struct launch *l, const struct operation *what)
{
    return (struct call_plan){ .p = &l->problem,
                               .rows = l->passes[what->passes[0]].rows,
                               .context = l->context,
                               .caps = l->caps,
                               .config = &l->passes[what->passes[0]].config };
}

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

/* Takes kernels, and gives them their arguments; returns how many: all are to be given back. */
static int take_steps(struct step steps[OPERATION_PASSES], struct launch *l, const struct operation *what,
                      const struct call *c, cl_int *status, struct why *why)
{
    int n = 0;
    *status = CL_SUCCESS;
    for (int i = 0; i < what->n && !*status; i++) {
        struct launch_pass *const pass = &l->passes[what->passes[i]];
        const size_t groups = launch_pass_groups(l, pass, c);
        if (!groups)
            continue;
        steps[n] = (struct step){ pass, launch_pass_take(pass), groups };
        *status = launch_pass_set_args(l, pass, steps[n++].at, c, why);
    }
    return n;
}

static void give_back(struct step *steps, int n)
{
    while (n--)
        launch_pass_give_back(steps[n].pass, steps[n].at);
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
        status = launch_pass_enqueue(steps[i].pass, steps[i].at, queue, steps[i].groups, &own, why);
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
    const struct call_plan plan = launch_call_plan(l, what);
    struct call c;
    size_t bytes;
    cl_int status;
    memset(&c, 0, sizeof c);
    if (waits->first)
        *waits->first = NULL;
    if ((status = launch_check(l, what, why)) || (status = check_queue(l, queue, why)) ||
        (status = check_waits(l, waits->n, waits->list, why)) ||
        (status = what->read(&c, &plan, args, why)))
        return status;
    launch_workspace_spare(&c);
    if ((status = launch_workspace_settle(&bytes, l, what, &c, why)) ||
        (bytes && (status = launch_workspace_take(l, what, &c, bytes, why))))
        return status;
    return run_steps(l, what, queue, &c, waits, why);
}

/* ---- Idling ---- */

static cl_int idle_pass(struct launch *l, struct launch_pass *pass, cl_command_queue queue, struct why *why)
{
    const struct target target = launch_pass_target(l, pass);
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
    if (!(status = launch_pass_set_args(l, pass, 0, &c, why)))
        status = launch_pass_enqueue(pass, 0, queue, 1, &none, why);
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
