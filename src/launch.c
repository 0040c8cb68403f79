/* launch.c - a call's arguments, checked, to one kernel on a queue
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "launch.h"

#include "args.h"
#include "tensor.h"

#include <string.h>

#define INVALID(...) return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* ---- Making ---- */

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

cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, cl_program program,
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why)
{
    cl_int status = CL_SUCCESS;
    memset(l, 0, sizeof *l);
    l->context = context;
    l->device = device;
    l->problem = *p;
    l->rows_per_group = config->engine->rows_per_group(&config->tile);
    l->items_per_group = config->engine->items_per_group(&config->tile);
    for (int i = 0; i < LAUNCH_POOL && !status; i++) {
        cl_kernel kernel = clCreateKernel(program, "cla_forward", &status);
        if (!kernel || status) {
            status = why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateKernel");
        } else if (pthread_mutex_init(&l->pool[i].lock, NULL)) {
            clReleaseKernel(kernel);
            status = why_set(why, CL_OUT_OF_HOST_MEMORY, "no mutex");
        } else {
            l->pool[i].kernel = kernel;
        }
    }
    if (!status)
        status = check_kernel(l, l->pool[0].kernel, caps, why);
    if (status)
        launch_clear(l);
    return status;
}

void launch_clear(struct launch *l)
{
    for (int i = 0; i < LAUNCH_POOL && l->pool[i].kernel; i++) {
        clReleaseKernel(l->pool[i].kernel);
        pthread_mutex_destroy(&l->pool[i].lock);
    }
    memset(l, 0, sizeof *l);
}

/* ---- Checking ---- */

/* Everything a kernel is given. */
struct call {
    cla_args args;
    cl_mem q, k, v, o, lse, q_len, kv_len, kv_start, offsets; /* NULL for what has no elements or is not given */
    size_t groups;
};

static cl_int read_sizes(clattn_sizes *s, const struct launch *l, const clattn_forward_args *a, struct why *why)
{
    *s = a->sizes ? *a->sizes : l->problem.sizes;
    return problem_check_sizes(s, why);
}

static cl_int check_tensors(struct call *c, const struct launch *l, const clattn_forward_args *a, const clattn_sizes *s,
                            struct why *why)
{
    const clattn_problem *p = &l->problem;
    cla_args *to = &c->args;
    const struct {
        const clattn_tensor *tensor;
        struct tensor_use use;
        cl_mem *mem;
        cla_i64 *stride, *offset;
    } rows[] = {
        { &a->q,
          { "q", { s->b, s->h, s->nq }, p->d, problem_type_size(p->type), false },
          &c->q,
          to->q_stride,
          &to->q_offset },
        { &a->k,
          { "k", { s->b, s->hk, s->nk }, p->d, problem_type_size(p->k_type), false },
          &c->k,
          to->k_stride,
          &to->k_offset },
        { &a->v,
          { "v", { s->b, s->hk, s->nk }, p->dv, problem_type_size(p->v_type), false },
          &c->v,
          to->v_stride,
          &to->v_offset },
        { &a->o,
          { "o", { s->b, s->h, s->nq }, p->dv, problem_type_size(p->type), true },
          &c->o,
          to->o_stride,
          &to->o_offset },
        { &a->lse,
          { "lse", { s->b, s->h, s->nq }, 1, sizeof(cl_float), true },
          &c->lse,
          to->lse_stride,
          &to->lse_offset },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].tensor == &a->lse && !a->lse.mem)
            continue; /* not wanted */
        cl_int status =
            tensor_check(rows[i].tensor, &rows[i].use, l->context, rows[i].mem, rows[i].stride, rows[i].offset, why);
        if (status)
            return status;
    }
    return CL_SUCCESS;
}

static cl_int check_lists(struct call *c, const struct launch *l, const clattn_forward_args *a, int64_t b,
                          struct why *why)
{
    const clattn_problem *p = &l->problem;
    cl_int status;
    if ((status = ints_check(&a->q_len, "q_len", p->flags & CLATTN_Q_LEN, b, l->context, &c->args.q_len_offset, why)) ||
        (status =
             ints_check(&a->kv_len, "kv_len", p->flags & CLATTN_KV_LEN, b, l->context, &c->args.kv_len_offset, why)) ||
        (status = ints_check(&a->kv_start, "kv_start", p->flags & CLATTN_KV_START, b, l->context,
                             &c->args.kv_start_offset, why)) ||
        (status = ints_check(&a->offsets, "offsets", p->align == CLATTN_ALIGN_OFFSETS, b, l->context,
                             &c->args.offsets_offset, why)))
        return status;
    c->q_len = a->q_len.mem;
    c->kv_len = a->kv_len.mem;
    c->kv_start = a->kv_start.mem;
    c->offsets = a->offsets.mem;
    return CL_SUCCESS;
}

static cl_int count_groups(size_t *groups, const clattn_sizes *s, int rows_per_group, struct why *why)
{
    const int64_t blocks = (s->nq + rows_per_group - 1) / rows_per_group;
    int64_t heads, total;
    if (!mul_i64(s->b, s->h, &heads) || heads > INT32_MAX || !mul_i64(heads, blocks, &total) ||
        total > (int64_t)1 << 40)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "b %lld, h %lld and nq %lld make too many work-groups",
                       (long long)s->b, (long long)s->h, (long long)s->nq);
    *groups = (size_t)total;
    return CL_SUCCESS;
}

static int32_t clamp_offset(int64_t x)
{
    return (int32_t)(x < -ROWS_MAX ? -ROWS_MAX : x > ROWS_MAX ? ROWS_MAX : x);
}

static cl_int read_call(struct call *c, const struct launch *l, const clattn_forward_args *in, struct why *why)
{
    clattn_forward_args a;
    clattn_sizes s;
    cl_int status;
    memset(c, 0, sizeof *c);
    if ((status = struct_read(&a, sizeof a, in, "clattn_forward_args", why)) || (status = read_sizes(&s, l, &a, why)) ||
        (status = check_tensors(c, l, &a, &s, why)) || (status = check_lists(c, l, &a, s.b, why)) ||
        (status = count_groups(&c->groups, &s, l->rows_per_group, why)))
        return status;
    cla_args *to = &c->args;
    memcpy(&to->scale_bits, &l->problem.scale, sizeof to->scale_bits);
    to->scale = (cla_f32)l->problem.scale;
    to->h = (cla_i32)s.h;
    to->group = (cla_i32)(s.h / s.hk);
    to->nq = (cla_i32)s.nq;
    to->nk = (cla_i32)s.nk;
    to->align = l->problem.align;
    to->offset = clamp_offset(s.offset);
    to->lengths = (cla_i32)l->problem.flags;
    to->write_lse = c->lse != NULL;
    return CL_SUCCESS;
}

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

static cl_int set_args(cl_kernel kernel, const struct call *c, struct why *why)
{
    const cl_mem mems[] = { c->q, c->k, c->v, c->o, c->lse, c->q_len, c->kv_len, c->kv_start, c->offsets };
    cl_int status = clSetKernelArg(kernel, 0, sizeof c->args, &c->args);
    for (cl_uint i = 0; i < sizeof mems / sizeof *mems && !status; i++)
        status = clSetKernelArg(kernel, i + 1, sizeof mems[i], mems[i] ? &mems[i] : NULL);
    return status ? why_cl(why, status, "clSetKernelArg") : CL_SUCCESS;
}

/* One of the pool, locked: a free one when there is one. */
static unsigned take_kernel(struct launch *l)
{
    const unsigned from = __atomic_fetch_add(&l->next, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < LAUNCH_POOL; i++)
        if (!pthread_mutex_trylock(&l->pool[(from + i) % LAUNCH_POOL].lock))
            return (from + i) % LAUNCH_POOL;
    pthread_mutex_lock(&l->pool[from % LAUNCH_POOL].lock);
    return from % LAUNCH_POOL;
}

static cl_int enqueue(struct launch *l, cl_command_queue queue, const struct call *c, cl_uint n_wait,
                      const cl_event *wait_list, cl_event *event, struct why *why)
{
    const size_t local = (size_t)l->items_per_group, global = c->groups * local;
    const unsigned i = take_kernel(l);
    cl_int status = set_args(l->pool[i].kernel, c, why);
    if (!status &&
        (status = clEnqueueNDRangeKernel(queue, l->pool[i].kernel, 1, NULL, &global, &local, n_wait, wait_list, event)))
        why_cl(why, status, "clEnqueueNDRangeKernel");
    pthread_mutex_unlock(&l->pool[i].lock);
    return status;
}

/* A call with nothing to compute still waits and still has an event. */
static cl_int enqueue_nothing(cl_command_queue queue, cl_uint n_wait, const cl_event *wait_list, cl_event *event,
                              struct why *why)
{
    if (!n_wait && !event)
        return CL_SUCCESS;
    cl_int status = clEnqueueMarkerWithWaitList(queue, n_wait, wait_list, event);
    return status ? why_cl(why, status, "clEnqueueMarkerWithWaitList") : CL_SUCCESS;
}

cl_int launch_workspace(const struct launch *l, const clattn_forward_args *args, size_t *size, struct why *why)
{
    clattn_forward_args a;
    clattn_sizes s;
    cl_int status;
    if (!size)
        INVALID("size is NULL");
    if ((status = struct_read(&a, sizeof a, args, "clattn_forward_args", why)) || (status = read_sizes(&s, l, &a, why)))
        return status;
    *size = 0;
    return CL_SUCCESS;
}

cl_int launch_forward(struct launch *l, cl_command_queue queue, const clattn_forward_args *args, cl_uint n_wait,
                      const cl_event *wait_list, cl_event *event, struct why *why)
{
    struct call c;
    cl_int status;
    if ((status = check_queue(l, queue, why)) || (status = check_waits(l, n_wait, wait_list, why)) ||
        (status = read_call(&c, l, args, why)))
        return status;
    return c.groups ? enqueue(l, queue, &c, n_wait, wait_list, event, why)
                    : enqueue_nothing(queue, n_wait, wait_list, event, why);
}
