/* device_sample.c - runs a plan on buffers of the library's own, and checks what it did to them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/device_sample.h"

#include "base/checked.h"
#include "base/digest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* Bytes before and behind what is written, and what they hold; what is to be written holds NaN in every type. */
enum { GUARD = 4096, GUARD_BYTE = 0xa5, POISON = 0xff, CHUNK = 1 << 20 };

double device_sample_now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static size_t element_bytes(int type)
{
    return type == CLATTN_U8 ? 1 : type == CLATTN_I32 ? 4 : problem_type_size(type);
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
    const size_t size = element_bytes(sample_type(&b->sample, what));
    unsigned char *chunk = malloc(CHUNK);
    cl_int status = CL_SUCCESS;
    if (!chunk)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (int64_t from = 0, n; from < count && !status; from += n) {
        n = count - from < (int64_t)(CHUNK / size) ? count - from : (int64_t)(CHUNK / size);
        sample_fill(&b->sample, what, from, n, chunk);
        for (int64_t c = 0; c < copies && !status; c++)
            status = write_part(b, b->mem[what], (size_t)(c * count + from) * size, (size_t)n * size, chunk, why);
    }
    free(chunk);
    return status;
}

static cl_int make_input(struct device_sample *b, cl_context context, int what, struct why *why)
{
    const int64_t count = sample_count(&b->sample, what);
    const int64_t copies = what == SAMPLE_K || what == SAMPLE_V ? b->copies : 1;
    int64_t bytes;
    cl_int status;
    if (!count)
        return CL_SUCCESS;
    if (!checked_mul(count, copies, &bytes) ||
        !checked_mul(bytes, (int64_t)element_bytes(sample_type(&b->sample, what)), &bytes))
        return why_set(why, CL_OUT_OF_RESOURCES, "the sample is too large");
    if ((status = new_buffer(&b->mem[what], context, (size_t)bytes, why)))
        return status;
    return write_elements(b, what, count, copies, why);
}

static cl_int fill(struct device_sample *b, cl_mem mem, unsigned char byte, size_t at, size_t n, struct why *why)
{
    const cl_int status = n ? clEnqueueFillBuffer(b->queue, mem, &byte, 1, at, n, 0, NULL, NULL) : CL_SUCCESS;
    return status ? why_cl(why, status, "clEnqueueFillBuffer") : CL_SUCCESS;
}

static cl_int make_output(struct device_sample *b, cl_context context, cl_mem *mem, size_t bytes, struct why *why)
{
    cl_int status = new_buffer(mem, context, bytes + 2 * GUARD, why);
    if (!status)
        status = fill(b, *mem, GUARD_BYTE, 0, GUARD, why);
    if (!status)
        status = fill(b, *mem, GUARD_BYTE, GUARD + bytes, GUARD, why);
    return status;
}

static cl_int poison(struct device_sample *b, struct why *why)
{
    const cl_int status = fill(b, b->o, POISON, GUARD, b->o_bytes, why);
    return status ? status : fill(b, b->lse, POISON, GUARD, b->lse_bytes, why);
}

/* ---- Opening ---- */

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
    a->o.offset = GUARD / problem_type_size(s->p.type);
    a->lse.offset = GUARD / sizeof(float);
    /* Said in full, so that a call on fewer rows finds the others where they lie. */
    const int64_t n = varlen_q ? 0 : z->nq, m = varlen_k ? 0 : z->nk;
    const clattn_tensor *const of[] = { &a->q, &a->o, &a->k, &a->v };
    for (int i = 0; i < 4; i++) {
        clattn_tensor *t = (clattn_tensor *)(uintptr_t)of[i];
        const int64_t width = i == 0 || i == 2 ? s->p.d : s->p.dv, heads = i < 2 ? z->h : z->hk, rows = i < 2 ? n : m;
        t->stride[0] = rows ? heads * rows * width : 0;
        t->stride[1] = rows ? rows * width : width;
        t->stride[2] = rows ? width : heads * width;
    }
    a->lse.stride[0] = n ? z->h * n : 0;
    a->lse.stride[1] = n ? n : z->total_q;
    a->lse.stride[2] = 1;
    a->bias.mem = b->mem[SAMPLE_BIAS];
    a->mask.mem = b->mem[SAMPLE_MASK];
    a->block_map.mem = b->mem[SAMPLE_MAP];
    a->bias.shape[0] = a->bias.shape[1] = a->mask.shape[0] = a->mask.shape[1] = 1;
    a->block_map.shape[0] = a->block_map.shape[1] = 1;
    a->bias.stride[2] = a->mask.stride[2] = z->nk;
    a->bias.stride[3] = a->mask.stride[3] = a->block_map.stride[3] = 1;
    a->block_map.stride[2] = (z->nk + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK;
    if (a->block_map.mem)
        a->block_q = a->block_k = SAMPLE_BLOCK;
    a->slopes.mem = b->mem[SAMPLE_SLOPES];
    a->sinks.mem = b->mem[SAMPLE_SINKS];
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
    if (!checked_mul(rows, z->h, &rows) || !checked_mul(rows, p->dv * (int64_t)problem_type_size(p->type), &o) ||
        !checked_mul(rows, sizeof(float), &lse) || (uint64_t)o > SIZE_MAX / 2 || (uint64_t)lse > SIZE_MAX / 2)
        return why_set(why, CL_OUT_OF_RESOURCES, "the sample is too large");
    b->o_bytes = (size_t)o;
    b->lse_bytes = (size_t)lse;
    return CL_SUCCESS;
}

static cl_int read_part(struct device_sample *b, cl_mem mem, size_t at, size_t n, void *to, struct why *why)
{
    const cl_int status = clEnqueueReadBuffer(b->queue, mem, CL_TRUE, at, n, to, 0, NULL, NULL);
    return status ? why_cl(why, status, "clEnqueueReadBuffer") : CL_SUCCESS;
}

/* What an input holds now. */
static cl_int digest_input(struct device_sample *b, int what, unsigned char to[32], struct why *why)
{
    const int64_t count = sample_count(&b->sample, what);
    const size_t bytes = (size_t)count * element_bytes(sample_type(&b->sample, what));
    unsigned char *all = malloc(bytes ? bytes : 1);
    cl_int status = all ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    if (!status)
        status = read_part(b, b->mem[what], 0, bytes, all, why);
    if (!status)
        digest_of(to, all, bytes);
    free(all);
    return status;
}

/* Without memory for them, values are computed where they are needed. */
static void compute(struct device_sample *b)
{
    const size_t n = sample_values(&b->sample);
    if (n && (b->values = malloc(n * sizeof *b->values)))
        sample_compute(&b->sample, b->values);
}

cl_int device_sample_open(struct device_sample *b, cl_context context, cl_device_id device, const struct sample *sample,
                          bool guarded, int64_t copies, struct why *why)
{
    cl_int status;
    memset(b, 0, sizeof *b);
    b->sample = *sample;
    b->copies = copies;
    b->guarded = guarded;
    b->queue = clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, &status);
    if (!b->queue || status) {
        b->queue = NULL;
        return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateCommandQueue");
    }
    if ((status = output_bytes(b, why)) || (status = make_output(b, context, &b->o, b->o_bytes, why)) ||
        (status = make_output(b, context, &b->lse, b->lse_bytes, why)) || (status = poison(b, why)))
        return status;
    compute(b);
    for (int what = 0; what < SAMPLES && !status; what++) {
        status = make_input(b, context, what, why);
        if (!status && guarded && b->mem[what])
            status = digest_input(b, what, b->digest[what], why);
    }
    b->seen = malloc(b->o_bytes + 2 * GUARD);
    b->seen_lse = malloc(b->lse_bytes + 2 * GUARD);
    if (!status && !(b->seen && b->seen_lse))
        status = why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    fill_args(b);
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

/* ---- Running ---- */

static double event_seconds(cl_event event)
{
    cl_ulong start = 0, end = 0;
    if (clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) ||
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) || end <= start)
        return 0;
    return (double)(end - start) * 1e-9;
}

/* The next copy of K and V. */
static void turn(struct device_sample *b)
{
    b->at = (b->at + 1) % b->copies;
    b->args.k.offset = (size_t)(b->at * sample_count(&b->sample, SAMPLE_K));
    b->args.v.offset = (size_t)(b->at * sample_count(&b->sample, SAMPLE_V));
}

static cl_int make_workspace(struct device_sample *b, const struct launch *l, struct why *why)
{
    clattn_forward_args *const a = &b->args;
    size_t need;
    cl_int status = launch_workspace(l, &launch_forward, a, &need, why);
    if (status || need <= a->workspace_size)
        return status;
    if (a->workspace)
        clReleaseMemObject(a->workspace);
    a->workspace = NULL;
    a->workspace_size = 0;
    if (!(status = new_buffer(&a->workspace, l->context, need, why)))
        a->workspace_size = need;
    return status;
}

cl_int device_sample_run(struct device_sample *b, struct launch *l, int64_t rows, double *seconds, double *device,
                         struct why *why)
{
    clattn_sizes sizes = b->sample.p.sizes;
    cl_event event = NULL;
    const struct waits waits = { 0, NULL, &event };
    if (rows > 0 && rows < sizes.nq)
        sizes.nq = rows;
    b->args.sizes = &sizes;
    b->sample.narrow_p = l->config.engine->narrow_p;
    turn(b);
    cl_int status = make_workspace(b, l, why);
    if (status)
        return status;
    const double from = device_sample_now();
    status = launch_run(l, &launch_forward, b->queue, &b->args, &waits, why);
    if (status)
        return status;
    if ((status = clFinish(b->queue)))
        why_cl(why, status, "clFinish");
    *seconds = device_sample_now() - from;
    *device = status ? 0 : event_seconds(event);
    clReleaseEvent(event);
    return status;
}

/* ---- Looking ---- */

static cl_int wrong(struct why *why, const int64_t at[3])
{
    return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it computes something else: row %lld of head %lld, entry %lld",
                   (long long)at[2], (long long)at[1], (long long)at[0]);
}

/* Reads are few and whole: each waits for the device, and that takes long where the machine is busy. */
static cl_int see(struct device_sample *b, struct why *why)
{
    const cl_int status = read_part(b, b->o, 0, b->o_bytes + 2 * GUARD, b->seen, why);
    return status ? status : read_part(b, b->lse, 0, b->lse_bytes + 2 * GUARD, b->seen_lse, why);
}

static cl_int check_guards(const unsigned char *seen, size_t bytes, struct why *why)
{
    for (int behind = 0; behind < 2; behind++)
        for (size_t i = 0; i < GUARD; i++)
            if (seen[(behind ? GUARD + bytes : 0) + i] != GUARD_BYTE)
                return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it writes %s its output", behind ? "behind" : "before");
    return CL_SUCCESS;
}

static bool is_close(double got, double want, double bound)
{
    return got == want || fabs(got - want) <= bound;
}

/* One row of O and LSE. */
static cl_int check_row(struct device_sample *b, const int64_t at[3], double *room, struct why *why)
{
    const struct sample *s = &b->sample;
    const int64_t row = sample_row(s, at[0], at[1], at[2]), lse_row = sample_lse(s, at[0], at[1], at[2]);
    const size_t size = problem_type_size(s->p.type), width = (size_t)s->p.dv;
    double *const want = room, *const bound = room + width, *const scratch = bound + width;
    float lse;
    if (row < 0)
        return CL_SUCCESS;
    const unsigned char *const got = b->seen + GUARD + (size_t)row * width * size;
    memcpy(&lse, b->seen_lse + GUARD + (size_t)lse_row * sizeof lse, sizeof lse);
    const struct answer a = sample_answer(s, at[0], at[1], at[2], want, bound, scratch);
    bool good = is_close(lse, a.lse, a.lse_bound);
    for (size_t c = 0; c < width && good; c++)
        good = is_close(sample_load(s->p.type, got + c * size), want[c], bound[c]);
    return good ? CL_SUCCESS : wrong(why, at);
}

/* One row of what a caller's text made: no element, nor LSE, has every bit of the poison. A NaN that is computed has
 * not. */
static cl_int check_written(struct device_sample *b, const int64_t at[3], double *room, struct why *why)
{
    const struct sample *s = &b->sample;
    const int64_t row = sample_row(s, at[0], at[1], at[2]), lse_row = sample_lse(s, at[0], at[1], at[2]);
    const size_t size = problem_type_size(s->p.type), width = (size_t)s->p.dv;
    static const unsigned char poisoned[] = { POISON, POISON, POISON, POISON, POISON, POISON, POISON, POISON };
    (void)room;
    if (row < 0)
        return CL_SUCCESS;
    const unsigned char *const got = b->seen + GUARD + (size_t)row * width * size;
    bool good = memcmp(b->seen_lse + GUARD + (size_t)lse_row * sizeof(float), poisoned, sizeof(float)) != 0;
    for (size_t c = 0; c < width && good; c++)
        good = memcmp(got + c * size, poisoned, size) != 0;
    return good ? CL_SUCCESS : wrong(why, at);
}

static cl_int check_rows(struct device_sample *b, int64_t step, struct why *why)
{
    const clattn_sizes *z = &b->sample.p.sizes;
    double *room = malloc(2 * ((size_t)b->sample.p.dv + (size_t)z->nk) * sizeof *room);
    cl_int status = room ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (int64_t i = 0; i < z->b * z->h * z->nq && !status; i += step) {
        const int64_t at[3] = { i / z->nq / z->h, i / z->nq % z->h, i % z->nq };
        status = b->sample.p.n_mods ? check_written(b, at, room, why) : check_row(b, at, room, why);
    }
    free(room);
    return status;
}

static cl_int check_inputs(struct device_sample *b, struct why *why)
{
    for (int what = 0; what < SAMPLES; what++) {
        unsigned char now[32];
        if (!b->mem[what])
            continue;
        const cl_int status = digest_input(b, what, now, why);
        if (status)
            return status;
        if (memcmp(now, b->digest[what], sizeof now))
            return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it changes its inputs");
    }
    return CL_SUCCESS;
}

static cl_int check(struct device_sample *b, int64_t step, struct why *why)
{
    cl_int status;
    if ((status = see(b, why)) || (status = check_guards(b->seen, b->o_bytes, why)) ||
        (status = check_guards(b->seen_lse, b->lse_bytes, why)) || (status = check_rows(b, step, why)))
        return status;
    return b->guarded ? check_inputs(b, why) : CL_SUCCESS;
}

/* ---- Both ---- */

static cl_int run_poisoned(struct device_sample *b, struct launch *l, struct why *why)
{
    double seconds, device;
    const cl_int status = poison(b, why);
    return status ? status : device_sample_run(b, l, 0, &seconds, &device, why);
}

/* Once more: the same bits as check() saw. */
static cl_int repeat(struct device_sample *b, struct launch *l, struct why *why)
{
    unsigned char *again = malloc(b->o_bytes + 1);
    cl_int status = again ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    if (!status && !(status = run_poisoned(b, l, why)) &&
        !(status = read_part(b, b->o, GUARD, b->o_bytes, again, why)) && memcmp(again, b->seen + GUARD, b->o_bytes))
        status = why_set(why, CLATTN_ERROR_WRONG_RESULT, "a second run gives other bits");
    free(again);
    return status;
}

cl_int device_sample_judge(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    cl_int status;
    if ((status = run_poisoned(b, l, why)) || (status = check(b, step, why)))
        return status;
    return twice ? repeat(b, l, why) : CL_SUCCESS;
}

/* ---- Block maps ---- */

static cl_int check_map(struct device_sample *b, struct why *why)
{
    const size_t n = (size_t)sample_count(&b->sample, SAMPLE_MAP);
    unsigned char *map = malloc(n + 1);
    cl_int status =
        map ? read_part(b, b->mem[SAMPLE_MAP], 0, n, map, why) : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (size_t i = 0; i < n && !status; i++)
        if (map[i] != sample_map_of_mask(&b->sample, (int64_t)i))
            status = why_set(why, CLATTN_ERROR_WRONG_RESULT, "block maps are made wrong: block %zu", i);
    free(map);
    return status;
}

/* The block map that is made of the sample's mask. */
static cl_int judge_map(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    const struct waits none = { 0, NULL, NULL };
    (void)step, (void)twice;
    cl_int status = fill(b, b->mem[SAMPLE_MAP], POISON, 0, (size_t)sample_count(&b->sample, SAMPLE_MAP), why);
    b->args.sizes = &b->sample.p.sizes;
    if (!status && !(status = launch_run(l, &launch_block_map, b->queue, &b->args, &none, why)))
        status = check_map(b, why);
    return status;
}

/* ---- Any pass ---- */

static cl_int (*const judges[PASSES])(struct device_sample *, struct launch *, int64_t step, bool twice,
                                      struct why *) = {
    [PASS_FORWARD] = device_sample_judge,
    [PASS_BLOCK_MAP] = judge_map,
};

cl_int device_sample_try(int pass, const struct sample *sample, struct launch *l, int64_t step, bool twice,
                         struct why *why)
{
    struct device_sample b;
    cl_int status = device_sample_open(&b, l->context, l->device, sample, twice, 1, why);
    if (!status)
        status = judges[pass](&b, l, step, twice, why);
    device_sample_close(&b);
    return status;
}
