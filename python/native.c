/* native.c - calls of Python: operands become buffers, one function of clattn runs, results come back
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compiled into clattn/_native by build_native.py. No function here touches Python: cffi lets other threads run
 * meanwhile. */
#include "native.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

/* ---- Words ---- */

static cl_int fail(char *words, size_t room, cl_int status, const char *what)
{
    snprintf(words, room, "%s", what);
    return status;
}

static cl_int fail_in(char *words, size_t room, cl_int status, const char *function)
{
    snprintf(words, room, "%s: %s", function, clattn_status_string(status));
    return status;
}

/* ---- The end of the interpreter ---- */

/* Drivers are taken down when the process ends: a call of a daemon's thread must be over by then. */
static int calls_under_way, is_exiting;

static bool enter(void)
{
    __atomic_add_fetch(&calls_under_way, 1, __ATOMIC_SEQ_CST);
    if (!__atomic_load_n(&is_exiting, __ATOMIC_SEQ_CST))
        return true;
    __atomic_sub_fetch(&calls_under_way, 1, __ATOMIC_SEQ_CST);
    return false;
}

static void leave(void)
{
    __atomic_sub_fetch(&calls_under_way, 1, __ATOMIC_SEQ_CST);
}

void clattn_py_exit(void)
{
    const struct timespec a_while = { 0, 1000000 };
    __atomic_store_n(&is_exiting, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(&calls_under_way, __ATOMIC_SEQ_CST))
        nanosleep(&a_while, NULL);
}

void clattn_py_forked(void)
{
    __atomic_store_n(&calls_under_way, 0, __ATOMIC_SEQ_CST);
}

static cl_int refuse(char *words, size_t room)
{
    return fail(words, room, CL_INVALID_OPERATION, "the interpreter is about to exit");
}

static cl_int may_call(const clattn_py_session *s, char *words, size_t room)
{
    if (!s)
        return fail(words, room, CLATTN_ERROR_INVALID_ARGUMENT, "the handle is closed");
    if (s->pid != (int64_t)getpid())
        return fail(words, room, CLATTN_ERROR_FORKED,
                    "the handle was made before fork(): a child needs an interpreter of its own (spawn)");
    return enter() ? CL_SUCCESS : refuse(words, room);
}

/* ---- Sessions ---- */

static cl_int find_device(cl_device_id *out, cl_device_type kind, char *words, size_t room)
{
    enum { MOST = 16 };
    cl_platform_id platforms[MOST];
    cl_uint n = 0;
    if (clGetPlatformIDs(MOST, platforms, &n) || !n)
        return fail(words, room, CL_DEVICE_NOT_FOUND,
                    "there is no OpenCL driver: install that of the device, or PoCL, which runs on CPUs");
    if (!kind) {
        const cl_int status = clattn_default_device(NULL, out);
        return status ? fail(words, room, status, "the OpenCL driver has no device") : CL_SUCCESS;
    }
    for (cl_uint i = 0; i < n && i < MOST; i++)
        if (!clGetDeviceIDs(platforms[i], kind, 1, out, NULL))
            return CL_SUCCESS;
    return fail(words, room, CL_DEVICE_NOT_FOUND, "no OpenCL driver has a device of that kind");
}

void clattn_py_show(void)
{
    cl_device_id ignored;
    if (!enter())
        return;
    (void)!clattn_default_device(NULL, &ignored);
    leave();
}

/* The library knows whether this process was forked from one that used OpenCL. It is asked before the driver is. */
static cl_int ask_whether_forked(char *words, size_t room)
{
    cl_device_id ignored;
    if (clattn_default_device(NULL, &ignored) != CLATTN_ERROR_FORKED)
        return CL_SUCCESS;
    return fail(words, room, CLATTN_ERROR_FORKED,
                "this process was forked from one that used OpenCL, which a driver does not survive: start it by the "
                "method spawn or forkserver of multiprocessing");
}

static cl_int open_queue(clattn_py_session *s, uintptr_t context, uintptr_t device, cl_device_type kind, char *words,
                         size_t room)
{
    cl_int status = CL_SUCCESS;
    cl_bool unified = CL_FALSE;
    cl_device_type type = 0;
    cl_ulong limit = 0;
    if ((status = ask_whether_forked(words, room)))
        return status;
    if (device)
        s->device = (cl_device_id)device;
    else if ((status = find_device(&s->device, kind, words, room)))
        return status;
    if (context) {
        s->context = (cl_context)context;
        if ((status = clRetainContext(s->context))) {
            s->context = NULL;
            return fail_in(words, room, status, "clRetainContext");
        }
    } else {
        s->context = clCreateContext(NULL, 1, &s->device, NULL, NULL, &status);
    }
    if (!s->context || status)
        return fail_in(words, room, status, "clCreateContext");
    s->queue = clCreateCommandQueue(s->context, s->device, 0, &status);
    if (!s->queue || status)
        return fail_in(words, room, status, "clCreateCommandQueue");
    (void)clGetDeviceInfo(s->device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    (void)clGetDeviceInfo(s->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    (void)clGetDeviceInfo(s->device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof limit, &limit, NULL);
    s->buffer_max = limit;
    s->unified = unified || type & CL_DEVICE_TYPE_CPU;
    return CL_SUCCESS;
}

cl_int clattn_py_open(clattn_py_session **out, uintptr_t context, uintptr_t device, uint64_t kind,
                      const clattn_options *options, char *words, size_t room)
{
    clattn_py_session *s;
    clattn_options o = *options;
    cl_int status;
    *out = NULL;
    if (!enter())
        return refuse(words, room);
    if (!(s = calloc(1, sizeof *s))) {
        leave();
        return fail(words, room, CL_OUT_OF_HOST_MEMORY, "no memory");
    }
    s->pid = (int64_t)getpid();
    status = open_queue(s, context, device, kind, words, room);
    if (!status) {
        o.why = words;
        o.why_len = room;
        status = clattn_create(&s->handle, s->context, s->device, &o);
    }
    if (status)
        clattn_py_close(s);
    else
        *out = s;
    leave();
    return status;
}

/* In a child of fork() the driver is left alone. */
void clattn_py_close(clattn_py_session *s)
{
    if (!s)
        return;
    (void)clattn_release(s->handle);
    if (s->pid == (int64_t)getpid()) {
        if (s->queue)
            clReleaseCommandQueue(s->queue);
        if (s->context)
            clReleaseContext(s->context);
    }
    free(s);
}

cl_int clattn_py_plan(clattn_plan *out, clattn_py_session *s, const clattn_problem *problem, const char *config,
                      size_t max_workspace, char *words, size_t room)
{
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    cl_int status = may_call(s, words, room);
    *out = NULL;
    if (status)
        return status;
    options.config = config;
    options.max_workspace = max_workspace;
    if ((status = clattn_plan_create(out, s->handle, problem, &options)))
        (void)clattn_error_detail(s->handle, words, room, NULL);
    leave();
    return status;
}

/* ---- Operands ---- */

enum { OPERANDS = 64 };

/* One call: its arguments, and the buffers that were made for it. */
struct run {
    clattn_py_session *s;
    cl_command_queue queue;
    clattn_py_call call;
    const clattn_py_slot *slots;
    const clattn_py_place *places;
    int n;
    cl_mem made[OPERANDS];
    cl_mem workspace;
    char *words;
    size_t room;
};

static bool is_host(const clattn_py_slot *slot)
{
    return !(slot->mode & CLATTN_PY_DEVICE);
}

/* Whether an earlier buffer has some of this operand's memory, as with q, k and v of one array. OpenCL does not say
 * what comes of two buffers over the same memory of the host. */
static bool is_shared(const struct run *r, int i)
{
    const uint64_t from = (uint64_t)r->places[i].where, to = from + r->slots[i].bytes;
    for (int j = 0; j < i; j++) {
        const uint64_t other = (uint64_t)r->places[j].where;
        if (r->made[j] && from < other + r->slots[j].bytes && other < to)
            return true;
    }
    return false;
}

/* A device that reads the memory of the host is given that memory; another gets a copy. */
static cl_int make_buffer(struct run *r, int i)
{
    const clattn_py_slot *const slot = &r->slots[i];
    const bool copied = slot->mode & CLATTN_PY_COPY || (!(slot->mode & CLATTN_PY_WRITE) && is_shared(r, i));
    const bool in_place = r->s->unified && !copied;
    const cl_mem_flags access = slot->mode & CLATTN_PY_WRITE ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY;
    cl_int status = CL_SUCCESS;
    r->made[i] = clCreateBuffer(r->s->context, access | (in_place ? CL_MEM_USE_HOST_PTR : CL_MEM_COPY_HOST_PTR),
                                slot->bytes, (void *)(uintptr_t)r->places[i].where, &status);
    if (r->made[i] && !status)
        return CL_SUCCESS;
    r->made[i] = NULL;
    return fail_in(r->words, r->room, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
}

static cl_int place_operands(struct run *r)
{
    for (int i = 0; i < r->n; i++) {
        const clattn_py_slot *const slot = &r->slots[i];
        unsigned char *const to = (unsigned char *)&r->call + slot->at;
        const size_t offset = (size_t)r->places[i].offset;
        cl_mem mem = (cl_mem)(uintptr_t)r->places[i].where;
        if (is_host(slot)) {
            const cl_int status = slot->bytes ? make_buffer(r, i) : CL_SUCCESS;
            if (status)
                return status;
            mem = r->made[i];
        }
        memcpy(to, &mem, sizeof mem);
        memcpy(to + sizeof mem, &offset, sizeof offset);
    }
    return CL_SUCCESS;
}

/* What was written, where the host has it. */
static cl_int bring_back(struct run *r)
{
    cl_event last = NULL;
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < r->n && !status; i++) {
        void *const host = (void *)(uintptr_t)r->places[i].where;
        if (!r->made[i] || !(r->slots[i].mode & CLATTN_PY_WRITE))
            continue;
        if (!r->s->unified) {
            status = clEnqueueReadBuffer(r->queue, r->made[i], CL_TRUE, 0, r->slots[i].bytes, host, 0, NULL, NULL);
            continue;
        }
        void *const at = clEnqueueMapBuffer(r->queue, r->made[i], CL_TRUE, CL_MAP_READ, 0, r->slots[i].bytes, 0, NULL,
                                            NULL, &status);
        if (last)
            clReleaseEvent(last);
        last = NULL;
        if (!status)
            status = clEnqueueUnmapMemObject(r->queue, r->made[i], at, 0, NULL, &last);
    }
    if (last) {
        const cl_int end = clWaitForEvents(1, &last);
        status = status ? status : end;
        clReleaseEvent(last);
    }
    return status ? fail_in(r->words, r->room, status, "reading results") : CL_SUCCESS;
}

/* ---- Calls ---- */

/* What the library says of the call that failed. */
static cl_int detail(struct run *r, cl_int status)
{
    if (status)
        (void)clattn_error_detail(r->s->handle, r->words, r->room, NULL);
    return status;
}

/* A call of a plan gets the workspace that it needs, and the driver frees that when the call is over. */
static cl_int make_workspace(struct run *r, size_t bytes)
{
    cl_int status = CL_SUCCESS;
    if (!bytes)
        return CL_SUCCESS;
    r->workspace = clCreateBuffer(r->s->context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (r->workspace && !status)
        return CL_SUCCESS;
    r->workspace = NULL;
    status = status ? status : CL_OUT_OF_RESOURCES;
    snprintf(r->words, r->room, "a workspace of %zu bytes, where a buffer of this device has at most %llu: %s", bytes,
             (unsigned long long)r->s->buffer_max, clattn_status_string(status));
    return status;
}

static cl_int forward(struct run *r, clattn_plan plan, cl_uint n, const cl_event *waits, cl_event *event)
{
    clattn_forward_args *const a = &r->call.forward;
    cl_int status;
    if (!plan)
        return detail(r, clattn_forward(r->s->handle, r->queue, &r->call.problem, a, n, waits, event));
    if ((status = detail(r, clattn_workspace_size(plan, a, &a->workspace_size))) ||
        (status = make_workspace(r, a->workspace_size)))
        return status;
    a->workspace = r->workspace;
    return detail(r, clattn_enqueue_forward(plan, r->queue, a, n, waits, event));
}

/* A forward call, and behind it its scores; both of the plan. */
static cl_int scores(struct run *r, clattn_plan plan, cl_uint n, const cl_event *waits, cl_event *event)
{
    cl_event written = NULL;
    cl_int status = forward(r, plan, n, waits, &written);
    if (status)
        return status;
    status = detail(r, clattn_enqueue_scores(plan, r->queue, &r->call.scores, 1, &written, event));
    clReleaseEvent(written);
    return status;
}

static cl_int backward(struct run *r, clattn_plan plan, cl_uint n, const cl_event *waits, cl_event *event)
{
    clattn_backward_args *const a = &r->call.backward;
    cl_int status;
    if (!plan)
        return detail(r, clattn_backward(r->s->handle, r->queue, &r->call.problem, a, n, waits, event));
    if ((status = detail(r, clattn_backward_workspace_size(plan, a, &a->workspace_size))) ||
        (status = make_workspace(r, a->workspace_size)))
        return status;
    a->workspace = r->workspace;
    return detail(r, clattn_enqueue_backward(plan, r->queue, a, n, waits, event));
}

static cl_int dispatch(struct run *r, clattn_plan plan, int op, cl_uint n, const cl_event *waits, cl_event *event)
{
    switch (op) {
    case CLATTN_PY_FORWARD: return forward(r, plan, n, waits, event);
    case CLATTN_PY_SCORES: return scores(r, plan, n, waits, event);
    case CLATTN_PY_BACKWARD: return backward(r, plan, n, waits, event);
    case CLATTN_PY_APPEND: return detail(r, clattn_enqueue_append(plan, r->queue, &r->call.append, n, waits, event));
    case CLATTN_PY_ROTARY: return detail(r, clattn_enqueue_rotary(plan, r->queue, &r->call.rotary, n, waits, event));
    case CLATTN_PY_MERGE: return detail(r, clattn_enqueue_merge(plan, r->queue, &r->call.merge, n, waits, event));
    default: return detail(r, clattn_enqueue_block_map(plan, r->queue, &r->call.forward, n, waits, event));
    }
}

/* Structs of the call point to each other. */
static void link_structs(clattn_py_call *c)
{
    c->forward.sizes = c->append.sizes = c->rotary.sizes = c->merge.sizes = &c->sizes;
    c->problem.sizes = c->sizes;
    c->forward.aux = c->problem.n_aux ? c->aux : NULL;
    c->backward.forward = c->scores.forward = &c->forward;
    c->backward.daux = c->problem.aux_grads ? c->daux : NULL;
}

static cl_int run_all(struct run *r, clattn_plan plan, int op, const clattn_py_caller *caller)
{
    cl_event event = NULL;
    cl_int status = place_operands(r);
    if (status)
        return status;
    status = dispatch(r, plan, op, caller->n_waits, (const cl_event *)caller->waits, caller->event ? &event : NULL);
    if (status)
        return status;
    if (!caller->event)
        return bring_back(r);
    *caller->event = (uintptr_t)event;
    status = clFlush(r->queue);
    return status ? fail_in(r->words, r->room, status, "clFlush") : CL_SUCCESS;
}

/* Where a call failed midway, the device must be done with the caller's memory before it is given back. */
static void release_buffers(struct run *r, bool failed)
{
    if (failed)
        (void)clFinish(r->queue);
    for (int i = 0; i < r->n; i++)
        if (r->made[i])
            clReleaseMemObject(r->made[i]);
    if (r->workspace)
        clReleaseMemObject(r->workspace);
}

cl_int clattn_py_run(clattn_py_session *s, clattn_plan plan, int op, const clattn_py_call *call,
                     const clattn_py_slot *slots, const char *places, int n, const clattn_py_caller *caller,
                     char *words, size_t room)
{
    struct run r;
    cl_int status = may_call(s, words, room);
    if (status)
        return status;
    if (n > OPERANDS) {
        leave();
        return fail(words, room, CLATTN_ERROR_INVALID_ARGUMENT, "too many operands");
    }
    r.s = s;
    r.queue = caller->queue ? (cl_command_queue)caller->queue : s->queue;
    r.call = *call;
    r.slots = slots;
    r.places = (const clattn_py_place *)(uintptr_t)places;
    r.n = n;
    memset(r.made, 0, (size_t)n * sizeof *r.made);
    r.workspace = NULL;
    r.words = words;
    r.room = room;
    link_structs(&r.call);
    r.call.forward.dropout_seed = caller->dropout_seed;
    r.call.forward.dropout_offset = caller->dropout_offset;
    status = run_all(&r, plan, op, caller);
    release_buffers(&r, status != CL_SUCCESS);
    leave();
    return status;
}
