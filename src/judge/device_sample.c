/* device_sample.c - a sample on a device: buffers of the library's own, and calls on them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/device_sample.h"

#include "base/checked.h"
#include "base/digest.h"
#include "judge/sample_cache.h"
#include "judge/device_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CHUNK = 1 << 20 };

double device_sample_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* ---- Buffers ---- */

static cl_int new_buffer(cl_mem *out, cl_context context, size_t bytes, struct why *why)
{
    cl_int status;
    *out = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    if (*out && !status)
        return CL_SUCCESS;
    *out = NULL;
    return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
}

static cl_int write_part(struct device_sample *b, cl_mem mem, size_t at, size_t n, const void *from, struct why *why)
{
    const cl_int status = clEnqueueWriteBuffer(b->queue, mem, CL_TRUE, at, n, from, 0, NULL, NULL);
    return status ? why_cl(why, status, "clEnqueueWriteBuffer") : CL_SUCCESS;
}

static cl_int write_elements(struct device_sample *b, int what, int64_t count, int64_t copies, struct why *why)
{
    const struct sample *const s = &b->sample;
    const int64_t block = sample_block(s, what), most = CHUNK / (int64_t)sample_bytes(s, what, block) * block;
    unsigned char *chunk = malloc(CHUNK);
    cl_int status = CL_SUCCESS;
    if (!chunk)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (int64_t from = 0, n; from < count && !status; from += n) {
        n = count - from < most ? count - from : most;
        sample_fill(s, what, from, n, chunk);
        for (int64_t c = 0; c < copies && !status; c++)
            status = write_part(b, b->mem[what], sample_bytes(s, what, c * count + from), sample_bytes(s, what, n),
                                chunk, why);
    }
    free(chunk);
    return status;
}

/* K and V with what scales them. */
static bool has_copies(int what)
{
    return sample_cache_has((enum sample_what)what) && what != SAMPLE_TABLE;
}

static cl_int make_input(struct device_sample *b, cl_context context, int what, struct why *why)
{
    const int64_t count = sample_count(&b->sample, what);
    const int64_t copies = has_copies(what) ? b->copies : 1;
    int64_t all, bytes;
    cl_int status;
    if (!count)
        return CL_SUCCESS;
    if (!checked_mul(count, copies, &all) || !checked_mul(all, sizeof(double), &bytes) || /* no element has more */
        (uint64_t)bytes > SIZE_MAX / 2)
        return why_set(why, CL_OUT_OF_RESOURCES, "the sample is too large");
    if ((status = new_buffer(&b->mem[what], context, sample_bytes(&b->sample, what, all), why)))
        return status;
    return write_elements(b, what, count, copies, why);
}

cl_int device_sample_fill(struct device_sample *b, cl_mem mem, unsigned char byte, size_t at, size_t n, struct why *why)
{
    const cl_int status = n ? clEnqueueFillBuffer(b->queue, mem, &byte, 1, at, n, 0, NULL, NULL) : CL_SUCCESS;
    return status ? why_cl(why, status, "clEnqueueFillBuffer") : CL_SUCCESS;
}

cl_int device_sample_output(struct device_sample *b, cl_context context, cl_mem *mem, size_t bytes, struct why *why)
{
    cl_int status = new_buffer(mem, context, bytes + 2 * DEVICE_SAMPLE_GUARD, why);
    if (!status)
        status = device_sample_fill(b, *mem, DEVICE_SAMPLE_GUARD_BYTE, 0, DEVICE_SAMPLE_GUARD, why);
    if (!status)
        status = device_sample_fill(b, *mem, DEVICE_SAMPLE_GUARD_BYTE, DEVICE_SAMPLE_GUARD + bytes, DEVICE_SAMPLE_GUARD,
                                    why);
    return status;
}

static bool is_backward(const struct device_sample *b)
{
    return b->sample.p.flags & CLATTN_BACKWARD;
}

cl_int device_sample_poison(struct device_sample *b, struct why *why)
{
    if (is_backward(b))
        return device_gradients_poison(b, why);
    cl_int status = device_sample_fill(b, b->o, DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_GUARD, b->o_bytes, why);
    if (!status)
        status = device_sample_fill(b, b->lse, DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_GUARD, b->lse_bytes, why);
    return status || !b->args.workspace
               ? status
               : device_sample_fill(b, b->args.workspace, DEVICE_SAMPLE_POISON, 0, b->args.workspace_size, why);
}

/* ---- Opening ---- */

/* Where rows of one of Q, O, K and V lie. */
static void fill_strides(clattn_tensor *t, int64_t heads, int64_t rows, int64_t width)
{
    t->stride[0] = rows ? heads * rows * width : 0;
    t->stride[1] = rows ? rows * width : width;
    t->stride[2] = rows ? width : heads * width;
}

/* Paged K and V, and the block table. */
static void fill_pages(struct device_sample *b)
{
    const struct sample_pages pages = sample_cache_pages(&b->sample);
    const clattn_problem *p = &b->sample.p;
    clattn_forward_args *const a = &b->args;
    for (int v = 0; v < 2; v++) {
        const int64_t width = v ? p->dv : p->d, row = p->sizes.hk * width;
        int64_t *const stride = v ? a->v.stride : a->k.stride;
        stride[0] = pages.page * row;
        stride[1] = width;
        stride[2] = row;
    }
    a->block_table.mem = b->mem[SAMPLE_TABLE];
    a->block_table_stride = pages.stride;
    a->pages = pages.count;
    a->page = (int32_t)pages.page;
}

/* Along an axis that it has as a whole, a shape of 0 is as much as the call has. */
static void fill_bias(clattn_tensor4 *t, const struct sample *s)
{
    int64_t shape[4], step = 1;
    sample_bias_shape(s, shape);
    for (int i = 4; i--; step *= shape[i]) {
        const int has = sample_shapes[s->shape].bias[i];
        t->shape[i] = has == SAMPLE_HALF ? shape[i] : !has;
        t->stride[i] = shape[i] > 1 || has == SAMPLE_WHOLE ? step : 0;
    }
}

static void fill_args(struct device_sample *b)
{
    const struct sample *s = &b->sample;
    const clattn_sizes *z = &s->p.sizes;
    const bool varlen_q = s->p.flags & CLATTN_CU_Q, varlen_k = s->p.flags & CLATTN_CU_K;
    clattn_forward_args *a = &b->args;
    a->struct_size = sizeof *a;
    a->q.mem = b->mem[SAMPLE_Q];
    a->k.mem = b->mem[SAMPLE_K];
    a->v.mem = b->mem[SAMPLE_V];
    a->o.mem = b->o;
    a->lse.mem = b->lse;
    a->o.offset = DEVICE_SAMPLE_GUARD / problem_type_size(s->p.o_type);
    a->lse.offset = DEVICE_SAMPLE_GUARD / problem_type_size(problem_lse_type(&s->p));
    /* Said in full, so that a call on fewer rows finds the others where they lie. */
    const int64_t n = varlen_q ? 0 : z->nq, m = varlen_k ? 0 : z->nk;
    fill_strides(&a->q, z->h, n, s->p.d);
    fill_strides(&a->o, z->h, n, s->p.dv);
    fill_strides(&a->k, z->hk, m, s->p.d);
    fill_strides(&a->v, z->hk, m, s->p.dv);
    if (s->p.page)
        fill_pages(b);
    a->k_scale.mem = b->mem[SAMPLE_K_SCALE]; /* contiguous, as their K and V are */
    a->k_zero.mem = b->mem[SAMPLE_K_ZERO];
    a->v_scale.mem = b->mem[SAMPLE_V_SCALE];
    a->v_zero.mem = b->mem[SAMPLE_V_ZERO];
    a->lse.stride[0] = n ? z->h * n : 0;
    a->lse.stride[1] = n ? n : z->total_q;
    a->lse.stride[2] = 1;
    a->bias.mem = b->mem[SAMPLE_BIAS];
    a->mask.mem = b->mem[SAMPLE_MASK];
    a->block_map.mem = b->mem[SAMPLE_MAP];
    a->mask.shape[0] = a->mask.shape[1] = 1;
    a->block_map.shape[0] = a->block_map.shape[1] = 1;
    a->mask.stride[2] = z->nk;
    a->mask.stride[3] = a->block_map.stride[3] = 1;
    a->block_map.stride[2] = (z->nk + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK;
    if (a->block_map.mem)
        a->block_q = a->block_k = SAMPLE_BLOCK;
    fill_bias(&a->bias, s);
    a->slopes_stride = b->mem[SAMPLE_SLOPES] && sample_shapes[s->shape].slopes ? z->h : 0;
    a->slopes.mem = b->mem[SAMPLE_SLOPES];
    a->sinks.mem = b->mem[SAMPLE_SINKS];
    const struct dropout dropout = sample_answer_dropout(s);
    a->dropout_seed = dropout.seed;
    a->dropout_offset = dropout.offset;
    a->q_len.mem = b->mem[SAMPLE_Q_LEN];
    a->kv_len.mem = b->mem[SAMPLE_KV_LEN];
    a->kv_start.mem = b->mem[SAMPLE_KV_START];
    a->offsets.mem = b->mem[SAMPLE_OFFSETS];
    a->cu_q.mem = b->mem[SAMPLE_CU_Q];
    a->cu_k.mem = b->mem[SAMPLE_CU_K];
}

static cl_int output_bytes(struct device_sample *b, struct why *why)
{
    const clattn_problem *p = &b->sample.p;
    const clattn_sizes *z = &p->sizes;
    int64_t rows = p->flags & CLATTN_CU_Q ? z->total_q : z->b * z->nq, o, lse;
    if (!checked_mul(rows, z->h, &rows) || !checked_mul(rows, p->dv * (int64_t)problem_type_size(p->o_type), &o) ||
        !checked_mul(rows, (int64_t)problem_type_size(problem_lse_type(p)), &lse) || (uint64_t)o > SIZE_MAX / 2 ||
        (uint64_t)lse > SIZE_MAX / 2)
        return why_set(why, CL_OUT_OF_RESOURCES, "the sample is too large");
    b->o_bytes = (size_t)o;
    b->lse_bytes = (size_t)lse;
    return CL_SUCCESS;
}

cl_int device_sample_read(struct device_sample *b, cl_mem mem, size_t at, size_t n, void *to, struct why *why)
{
    const cl_int status = clEnqueueReadBuffer(b->queue, mem, CL_TRUE, at, n, to, 0, NULL, NULL);
    return status ? why_cl(why, status, "clEnqueueReadBuffer") : CL_SUCCESS;
}

/* What an input holds now. */
cl_int device_sample_digest(struct device_sample *b, int what, unsigned char to[32], struct why *why)
{
    const int64_t count = sample_count(&b->sample, what);
    const size_t bytes = sample_bytes(&b->sample, what, count);
    unsigned char *all = malloc(bytes ? bytes : 1);
    cl_int status = all ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    if (!status)
        status = device_sample_read(b, b->mem[what], 0, bytes, all, why);
    if (!status)
        digest_of(to, all, bytes);
    free(all);
    return status;
}

/* Without memory for them, values are computed where they are needed. */
static void compute(struct device_sample *b)
{
    const size_t n = sample_value_count(&b->sample);
    if (n && (b->values = malloc(n * sizeof *b->values)))
        sample_value_compute(&b->sample, b->values);
}

cl_int device_sample_open(struct device_sample *b, cl_context context, cl_device_id device, const struct sample *sample,
                          bool guarded, int64_t copies, struct why *why)
{
    cl_int status;
    memset(b, 0, sizeof *b);
    b->sample = *sample;
    memset(b->sample.values, 0, sizeof b->sample.values); /* it may be of one that was closed */
    b->sample.elements = NULL;
    b->sample.keys = NULL;
    b->copies = copies;
    b->guarded = guarded;
    b->queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    if (!b->queue || status) {
        b->queue = NULL;
        return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateCommandQueue");
    }
    if ((status = output_bytes(b, why)) || (status = device_sample_output(b, context, &b->o, b->o_bytes, why)) ||
        (status = device_sample_output(b, context, &b->lse, b->lse_bytes, why)))
        return status;
    compute(b);
    for (int what = 0; what < SAMPLES && !status; what++) {
        status = make_input(b, context, what, why);
        if (!status && guarded && b->mem[what])
            status = device_sample_digest(b, what, b->digest[what], why);
    }
    b->seen = malloc(b->o_bytes + 2 * DEVICE_SAMPLE_GUARD);
    b->seen_lse = malloc(b->lse_bytes + 2 * DEVICE_SAMPLE_GUARD);
    if (!status && !(b->seen && b->seen_lse))
        status = why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    fill_args(b);
    if (!status)
        status = is_backward(b) ? device_gradients_open(b, context, why) : device_sample_poison(b, why);
    return status;
}

void device_sample_close(struct device_sample *b)
{
    if (b->queue) {
        (void)clFinish(b->queue);
        clReleaseCommandQueue(b->queue);
    }
    for (int what = 0; what < SAMPLES; what++)
        if (b->mem[what])
            clReleaseMemObject(b->mem[what]);
    device_gradients_close(b);
    if (b->o)
        clReleaseMemObject(b->o);
    if (b->lse)
        clReleaseMemObject(b->lse);
    if (b->args.workspace)
        clReleaseMemObject(b->args.workspace);
    free(b->seen);
    free(b->seen_lse);
    free(b->values);
    memset(b, 0, sizeof *b);
}

int64_t device_sample_step(const struct sample *s)
{
    enum { FEW = 8 };
    const clattn_sizes *const z = &s->p.sizes;
    return z->b * z->h * z->nq / FEW + 1;
}

/* ---- Running ---- */

static double event_seconds(cl_event first, cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (clGetEventProfilingInfo(first ? first : event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ||
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) || end <= start)
        return 0;
    return (double)(end - start) * 1e-9;
}

/* The next copy of K and V, and of what scales them. */
static void turn(struct device_sample *b)
{
    b->at = (b->at + 1) % b->copies;
    size_t *const offset[SAMPLES] = {
        [SAMPLE_K] = &b->args.k.offset,
        [SAMPLE_V] = &b->args.v.offset,
        [SAMPLE_K_SCALE] = &b->args.k_scale.offset,
        [SAMPLE_K_ZERO] = &b->args.k_zero.offset,
        [SAMPLE_V_SCALE] = &b->args.v_scale.offset,
        [SAMPLE_V_ZERO] = &b->args.v_zero.offset,
    };
    for (int what = 0; what < SAMPLES; what++)
        if (offset[what])
            *offset[what] = (size_t)(b->at * sample_count(&b->sample, what));
}

static cl_int make_workspace(struct device_sample *b, const struct launch *l, struct why *why)
{
    if (is_backward(b))
        return device_gradients_args(b, l, why);
    clattn_forward_args *const a = &b->args;
    size_t need;
    cl_int status = launch_workspace(l, &launch_forward, a, &need, why);
    if (status || need <= a->workspace_size)
        return status;
    if (a->workspace)
        clReleaseMemObject(a->workspace);
    a->workspace = NULL;
    a->workspace_size = 0;
    if ((status = new_buffer(&a->workspace, l->plan.context, need, why)))
        return status;
    a->workspace_size = need;
    return device_sample_fill(b, a->workspace, DEVICE_SAMPLE_POISON, 0, need, why);
}

cl_int device_sample_run(struct device_sample *b, struct launch *l, int64_t rows, double *seconds, double *device,
                         struct why *why)
{
    clattn_sizes sizes = b->sample.p.sizes;
    cl_event event = NULL, first = NULL;
    const struct waits waits = { 0, NULL, &event, &first };
    if (rows > 0 && rows < sizes.nq)
        sizes.nq = rows;
    b->args.sizes = &sizes;
    b->sample.narrow_p = l->config.engine->narrow_p;
    turn(b);
    cl_int status = make_workspace(b, l, why);
    if (status)
        return status;
    const double from = device_sample_now();
    status = is_backward(b) ? launch_run(l, &launch_mods_off, b->queue, &b->gradients.args, &waits, why)
                            : launch_run(l, &launch_forward, b->queue, &b->args, &waits, why);
    if (!status && (status = clFinish(b->queue)))
        why_cl(why, status, "clFinish");
    *seconds = device_sample_now() - from;
    *device = status ? 0 : event_seconds(first, event);
    if (first)
        clReleaseEvent(first);
    if (event)
        clReleaseEvent(event);
    return status;
}
