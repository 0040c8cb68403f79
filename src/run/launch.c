/* launch.c - a plan's passes on a queue: checked arguments to kernels
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/launch.h"

#include "device/device.h"
#include "run/readers.h"
#include "run/workspace.h"

#include <string.h>

/* ---- Operations ---- */

#define BACKWARD \
    .backward = true, .calls = PASS_CALL_BACKWARD, .read_sizes = backward_read_sizes, .call_bytes = pass_backward_bytes
const struct operation launch_backward = { .read = backward_read, BACKWARD };
const struct operation launch_mods_off = { .read = backward_read_mods_off, BACKWARD };
const struct operation launch_forward = { .read = call_read_forward,
                                          .calls = PASS_CALL_FORWARD,
                                          .read_sizes = call_read_sizes,
                                          .call_bytes = pass_forward_bytes,
                                          .take_parts = merge_take_states };
const struct operation launch_merge = { .read = merge_read, .calls = PASS_CALL_MERGE };
const struct operation launch_scores = { .read = scores_read, .calls = PASS_CALL_SCORES };
const struct operation launch_block_map = { .read = block_map_read, .calls = PASS_CALL_BLOCK_MAP };
const struct operation launch_append = { .read = append_read, .calls = PASS_CALL_APPEND };
const struct operation launch_rotary = { .read = rotary_read, .calls = PASS_CALL_ROTARY };

/* ---- A plan ---- */

void launch_set_scale(struct launch *l, double scale)
{
    l->problem.scale = scale;
    call_known(&l->plan.known, &l->problem);
}

static void clear_pool(struct pool *pool)
{
    for (int i = 0; i < POOL_SIZE && pool->of[i].kernel; i++) {
        clReleaseKernel(pool->of[i].kernel);
        pthread_mutex_destroy(&pool->of[i].lock);
    }
    memset(pool, 0, sizeof *pool);
}

void launch_clear(struct launch *l)
{
    for (int i = 0; i < PASSES; i++)
        clear_pool(&l->passes[i].pool);
    if (l->absent)
        clReleaseMemObject(l->absent);
    memset(l, 0, sizeof *l);
}

/* ---- Kernels of a pool ---- */

/* Locked until it is given back: a free one when there is one. Returns its place. */
static unsigned take(struct pool *pool)
{
    const unsigned from = __atomic_fetch_add(&pool->next, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < POOL_SIZE; i++)
        if (!pthread_mutex_trylock(&pool->of[(from + i) % POOL_SIZE].lock))
            return (from + i) % POOL_SIZE;
    pthread_mutex_lock(&pool->of[from % POOL_SIZE].lock);
    return from % POOL_SIZE;
}

/* A pass of a call that has something to do, with a kernel of its pool. */
struct step {
    struct launch_pass *pass;
    unsigned at; /* the kernel's place in the pool */
    size_t groups;
};

static cl_int set_args(const struct launch *l, const struct step *step, const struct call *c, struct why *why)
{
    const struct params *const params = &step->pass->params;
    const cl_kernel kernel = step->pass->pool.of[step->at].kernel;
    cl_ulong numbers[PARAMS_WORDS];
    params_pack(numbers, &c->args, params);
    cl_int status = clSetKernelArg(kernel, 0, params->bytes, numbers);
    for (int i = 0; i < params->n_buffers && !status; i++) {
        const cl_mem *const mem = &c->mem[params->buffers[i]];
        status = clSetKernelArg(kernel, (cl_uint)i + 1, sizeof *mem, *mem ? mem : &l->absent);
    }
    return status ? why_cl(why, status, "clSetKernelArg") : CL_SUCCESS;
}

static cl_int enqueue(const struct step *step, cl_command_queue queue, const struct waits *w, struct why *why)
{
    const size_t items = (size_t)step->pass->items;
    const struct grid grid = workspace_grid(step->groups, items);
    const size_t global[] = { grid.wide * items, grid.high }, local[] = { items, 1 };
    const cl_int status = clEnqueueNDRangeKernel(queue, step->pass->pool.of[step->at].kernel, 2, NULL, global, local,
                                                 w->n, w->list, w->event);
    return status ? why_cl(why, status, "clEnqueueNDRangeKernel") : CL_SUCCESS;
}

/* ---- Steps of a call ---- */

/* Takes kernels, and gives them their arguments; returns how many: all are to be given back. */
static int take_steps(struct step steps[PASSES], struct launch *l, const struct operation *what, const struct call *c,
                      cl_int *status, struct why *why)
{
    int n = 0;
    *status = CL_SUCCESS;
    for (int i = 0; i < PASSES && !*status; i++) {
        struct launch_pass *const pass = &l->passes[i];
        const size_t groups = workspace_groups(pass, what, c);
        if (!groups)
            continue;
        steps[n] = (struct step){ pass, take(&pass->pool), groups };
        *status = set_args(l, &steps[n++], c, why);
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
        status = enqueue(&steps[i], queue, &own, why);
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

/* A call with nothing to compute still waits and still has an event. */
static cl_int enqueue_nothing(cl_command_queue queue, const struct waits *w, struct why *why)
{
    if (!w->n && !w->event)
        return CL_SUCCESS;
    const cl_int status = clEnqueueMarkerWithWaitList(queue, w->n, w->list, w->event);
    return status ? why_cl(why, status, "clEnqueueMarkerWithWaitList") : CL_SUCCESS;
}

/* Everything that can be refused is before the first kernel is enqueued. */
static cl_int run_steps(struct launch *l, const struct operation *what, cl_command_queue queue, const struct call *c,
                        const struct waits *waits, struct why *why)
{
    struct step steps[PASSES];
    cl_int status;
    const int n = take_steps(steps, l, what, c, &status, why);
    if (!status)
        status = n ? enqueue_steps(steps, n, queue, waits, why) : enqueue_nothing(queue, waits, why);
    give_back(steps, n);
    return status;
}

/* ---- Calls ---- */

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
    if (context != l->plan.context || device != l->device)
        return why_set(why, CLATTN_ERROR_CONTEXT, "the queue belongs to another %s",
                       context != l->plan.context ? "context" : "device");
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
            return why_set(why, CL_INVALID_EVENT_WAIT_LIST, "wait_list[%u] is no valid event", (unsigned)i);
        if (context != l->plan.context)
            return why_set(why, CLATTN_ERROR_CONTEXT, "wait_list[%u] belongs to another context", (unsigned)i);
    }
    return CL_SUCCESS;
}

/* Whether the plan has the operation: gradients have plans of their own. */
static cl_int check_operation(const struct launch *l, const struct operation *what, struct why *why)
{
    const bool backward = l->problem.flags & CLATTN_BACKWARD;
    if (backward == what->backward)
        return CL_SUCCESS;
    INVALID("%s", backward ? "the problem has CLATTN_BACKWARD: its plans have clattn_enqueue_backward() only"
                           : "the problem lacks CLATTN_BACKWARD");
}

cl_int launch_workspace(const struct launch *l, const struct operation *what, const void *args, size_t *size,
                        struct why *why)
{
    struct call c;
    cl_int status;
    memset(&c, 0, sizeof c);
    c.sizes = &l->problem.sizes;
    if (!size)
        INVALID("size is NULL");
    if ((status = check_operation(l, what, why)) || (status = what->read_sizes(&c, &l->plan, args, why)))
        return status;
    return workspace_fit(size, l, what, &c, why);
}

/* Checks a call and reads it into *c. */
static cl_int read(struct call *c, const struct launch *l, const struct operation *what, const clattn_sizes *sizes,
                   cl_command_queue queue, const void *args, const struct waits *waits, struct why *why)
{
    cl_int status;
    memset(c, 0, sizeof *c);
    c->sizes = sizes;
    if (waits->first)
        *waits->first = NULL;
    if ((status = check_operation(l, what, why)) || (status = check_queue(l, queue, why)) ||
        (status = check_waits(l, waits->n, waits->list, why)))
        return status;
    return what->read(c, &l->plan, args, why);
}

cl_int launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                  const struct waits *waits, struct why *why)
{
    struct call c;
    size_t bytes;
    cl_int status = read(&c, l, what, &l->problem.sizes, queue, args, waits, why);
    if (status)
        return status;
    workspace_spare(&c);
    if ((status = workspace_fit(&bytes, l, what, &c, why)) ||
        (bytes && (status = workspace_take(l, what, &c, bytes, why))))
        return status;
    return run_steps(l, what, queue, &c, waits, why);
}

/* A forward call may do without: its keys are not split then, and where that will not do it is refused. */
static cl_int make_workspace(struct call *c, const struct launch *l, const struct operation *what, size_t *bytes,
                             struct why *why)
{
    cl_int status;
    const cl_mem mem = clCreateBuffer(l->plan.context, CL_MEM_READ_WRITE, *bytes, NULL, &status);
    if (mem && !status) {
        c->workspace = (struct workspace){ mem, 0, *bytes };
        return CL_SUCCESS;
    }
    if (what->backward)
        return device_no_buffer(why, status ? status : CL_OUT_OF_RESOURCES, l->device, "a workspace", *bytes);
    workspace_spare(c);
    return workspace_fit(bytes, l, what, c, why);
}

/* Behind it the queue alone keeps a buffer that was made. */
cl_int launch_run_alone(struct launch *l, const struct operation *what, const clattn_sizes *sizes,
                        cl_command_queue queue, const void *args, const struct waits *waits, struct why *why)
{
    struct call c;
    size_t bytes;
    cl_int status = read(&c, l, what, sizes, queue, args, waits, why);
    if (status || (status = workspace_fit(&bytes, l, what, &c, why)))
        return status;
    const bool brings = c.workspace.mem;
    if (bytes && !brings)
        status = make_workspace(&c, l, what, &bytes, why);
    if (!status && bytes)
        status = workspace_take(l, what, &c, bytes, why);
    if (!status)
        status = run_steps(l, what, queue, &c, waits, why);
    if (!brings && c.workspace.mem)
        clReleaseMemObject(c.workspace.mem);
    return status;
}

/* ---- Idling ---- */

static cl_int idle_pass(struct launch *l, struct launch_pass *pass, cl_command_queue queue, struct why *why)
{
    const struct step step = { pass, 0, 1 };
    const struct waits none = { 0, NULL, NULL, NULL };
    struct call c;
    cl_int status = CL_SUCCESS;
    memset(&c, 0, sizeof c);
    if (pass->pass->idle)
        pass->pass->idle(&c.args);
    const int64_t bytes = pass->pass->group_bytes ? pass->pass->group_bytes(&pass->target, &c.args) : 0;
    if (bytes) {
        c.mem[PARAM_WORKSPACE] = clCreateBuffer(l->plan.context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &status);
        if (!c.mem[PARAM_WORKSPACE] || status)
            return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
    }
    if (!(status = set_args(l, &step, &c, why)))
        status = enqueue(&step, queue, &none, why);
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
    cl_command_queue queue = clCreateCommandQueue(l->plan.context, l->device, 0, &status);
    if (!queue || status)
        return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateCommandQueue");
    for (int i = 0; i < PASSES && !status; i++)
        if (l->passes[i].pass)
            status = idle_pass(l, &l->passes[i], queue, why);
    clReleaseCommandQueue(queue);
    return status;
}
