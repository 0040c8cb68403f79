/* ggml.c - ggml's node GGML_OP_FLASH_ATTN_EXT, computed by clattn on any OpenCL device
 * SPDX-License-Identifier: Apache-2.0
 *
 * enqueue_node() is what a backend of ggml needs; doc/ggml says what becomes of what. main() makes nodes of several
 * types by hand, and compares what the device computes with plain loops in double. Of ggml only its header is used.
 *
 *     cc ggml.c -I GGML/include $(pkg-config --cflags --libs clattn) -lm
 *
 * Exit status: 0 right, 1 something failed, 77 there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <ggml.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- The node ---- */

/* What a type is called, and the elements and bytes of one of its blocks. */
static const struct type {
    enum ggml_type of;
    int type, elements;
    size_t bytes;
} types[] = {
    { GGML_TYPE_F32, CLATTN_F32, 1, 4 },    { GGML_TYPE_F16, CLATTN_F16, 1, 2 },
    { GGML_TYPE_BF16, CLATTN_BF16, 1, 2 },  { GGML_TYPE_Q8_0, CLATTN_Q8_0, 32, 34 },
    { GGML_TYPE_Q4_0, CLATTN_Q4_0, 32, 18 }, { GGML_TYPE_Q4_1, CLATTN_Q4_1, 32, 20 },
    { GGML_TYPE_Q5_0, CLATTN_Q5_0, 32, 22 }, { GGML_TYPE_Q5_1, CLATTN_Q5_1, 32, 24 },
};

static const struct type *type_of(const struct ggml_tensor *t)
{
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (types[i].of == t->type)
            return &types[i];
    return NULL;
}

/* The sources of a node, and behind them its result. */
enum { Q, K, V, MASK, SINKS, RESULT, TENSORS };

static const struct ggml_tensor *tensor_at(const struct ggml_tensor *node, int i)
{
    return i == RESULT ? node : node->src[i];
}

static float op_param(const struct ggml_tensor *node, int i) /* scale, max_bias, logit_softcap */
{
    float x;
    memcpy(&x, &node->op_params[i], sizeof x);
    return x;
}

/* The slope of each head, which multiplies the mask. */
static void fill_slopes(const struct ggml_tensor *node, float *slopes)
{
    const int64_t heads = node->src[Q]->ne[2];
    int64_t whole = 1;
    while (whole * 2 <= heads)
        whole *= 2;
    const float max_bias = op_param(node, 1);
    for (int64_t h = 0; h < heads; h++)
        slopes[h] = h < whole ? powf(powf(2, -max_bias / (float)whole), (float)(h + 1))
                              : powf(powf(2, -max_bias / 2 / (float)whole), (float)(2 * (h - whole) + 1));
}

/* CLATTN_ERROR_NOT_SUPPORTED: there is no such problem. What else may be wrong the library says. */
static cl_int describe(const struct ggml_tensor *node, clattn_problem *p)
{
    const struct ggml_tensor *const q = node->src[Q], *const k = node->src[K], *const v = node->src[V];
    for (int i = 0; i < TENSORS; i++) {
        const struct ggml_tensor *const t = tensor_at(node, i);
        if (t && (!type_of(t) || t->nb[0] != type_of(t)->bytes))
            return CLATTN_ERROR_NOT_SUPPORTED;
    }
    if (node->src[SINKS] && node->src[SINKS]->type != GGML_TYPE_F32)
        return CLATTN_ERROR_NOT_SUPPORTED;
    if ((k->ne[3] != 1 && k->ne[3] != q->ne[3]) || (v->ne[3] != 1 && v->ne[3] != q->ne[3]) || v->ne[2] != k->ne[2])
        return CLATTN_ERROR_NOT_SUPPORTED;
    *p = (clattn_problem)CLATTN_PROBLEM_INIT;
    p->type = type_of(q)->type;
    p->k_type = type_of(k)->type;
    p->v_type = type_of(v)->type;
    p->o_type = type_of(node)->type;
    p->d = (int32_t)q->ne[0];
    p->dv = (int32_t)v->ne[0];
    p->scale = (double)op_param(node, 0);
    p->softcap = (double)op_param(node, 2);
    p->flags = CLATTN_SCALE;
    if (node->src[MASK]) {
        p->bias_type = type_of(node->src[MASK])->type;
        p->flags |= CLATTN_REPEAT | (op_param(node, 1) > 0 ? CLATTN_BIAS_SLOPES : 0);
    }
    if (node->src[SINKS])
        p->flags |= CLATTN_SINKS;
    p->sizes.b = q->ne[3];
    p->sizes.h = q->ne[2];
    p->sizes.hk = k->ne[2];
    p->sizes.nq = q->ne[1];
    p->sizes.nk = k->ne[1];
    return CL_SUCCESS;
}

/* Where a tensor lies: a buffer, and bytes. */
struct place {
    cl_mem mem;
    size_t offset;
};

static int64_t elements(const struct ggml_tensor *t, size_t bytes)
{
    return (int64_t)(bytes / type_of(t)->bytes) * type_of(t)->elements;
}

/* Axis `heads` has heads, and the other of 1 and 2 has rows. One entry serves all. */
static clattn_tensor rows_of(const struct ggml_tensor *t, struct place at, int heads)
{
    return (clattn_tensor){ at.mem, (size_t)elements(t, at.offset),
                            { t->ne[3] == 1 ? 0 : elements(t, t->nb[3]), elements(t, t->nb[heads]),
                              elements(t, t->nb[3 - heads]) } };
}

static clattn_tensor4 scores_of(const struct ggml_tensor *t, struct place at)
{
    return (clattn_tensor4){ at.mem, (size_t)elements(t, at.offset), { t->ne[3], t->ne[2], 0, 0 },
                             { elements(t, t->nb[3]), elements(t, t->nb[2]), elements(t, t->nb[1]), 1 } };
}

/* Computes a node. slopes: a buffer of what fill_slopes() makes, where there is a mask and
 * max_bias is above 0. */
static cl_int enqueue_node(clattn_handle handle, cl_command_queue queue, const struct ggml_tensor *node,
                           const struct place at[TENSORS], cl_mem slopes, cl_event *event)
{
    clattn_problem p;
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    const cl_int status = describe(node, &p);
    if (status)
        return status;
    a.q = rows_of(node->src[Q], at[Q], 2);
    a.k = rows_of(node->src[K], at[K], 2);
    a.v = rows_of(node->src[V], at[V], 2);
    a.o = rows_of(node, at[RESULT], 1);
    if (node->src[MASK])
        a.bias = scores_of(node->src[MASK], at[MASK]);
    if (p.flags & CLATTN_BIAS_SLOPES)
        a.slopes.mem = slopes;
    if (node->src[SINKS])
        a.sinks = (clattn_array){ at[SINKS].mem, at[SINKS].offset / sizeof(float) };
    return clattn_forward(handle, queue, &p, &a, 0, NULL, event);
}

/* ---- Nodes made by hand ---- */

static uint64_t state = 1;
static unsigned draw(void)
{
    state = state * 6364136223846793005u + 1442695040888963407u;
    return (unsigned)(state >> 40);
}

static double of_half(const unsigned char *from)
{
    const int x = from[0] | from[1] << 8, e = x >> 10 & 31, m = x & 1023;
    const double size = e == 31 ? (m ? NAN : INFINITY) : ldexp(e ? m + 1024 : m, (e ? e : 1) - 25);
    return x & 0x8000 ? -size : size;
}

static double of_bfloat(const unsigned char *from)
{
    const int m = 128 + (from[0] & 127), e = (from[1] & 127) << 1 | from[0] >> 7; /* of a normal number */
    return ldexp(from[1] & 128 ? -m : m, e - 134);
}

static void put_half(unsigned half, unsigned char *to)
{
    to[0] = (unsigned char)half;
    to[1] = (unsigned char)(half >> 8);
}

/* A tensor whose axes follow one another in memory as `order` says. */
static struct ggml_tensor *make(enum ggml_type type, int64_t n0, int64_t n1, int64_t n2, int64_t n3, const int order[4])
{
    struct ggml_tensor *const t = calloc(1, sizeof *t);
    if (!t)
        exit(1);
    t->type = type;
    memcpy(t->ne, (int64_t[4]){ n0, n1, n2, n3 }, sizeof t->ne);
    size_t step = type_of(t)->bytes;
    for (int i = 0; i < 4; i++) {
        t->nb[order[i]] = step;
        step *= (size_t)(order[i] ? t->ne[order[i]] : t->ne[0] / type_of(t)->elements);
    }
    t->data = calloc(step, 1);
    if (!t->data)
        exit(1);
    return t;
}

static size_t bytes_of(const struct ggml_tensor *t)
{
    size_t bytes = t->nb[0] * (size_t)(t->ne[0] / type_of(t)->elements);
    for (int i = 1; i < 4; i++)
        bytes += t->nb[i] * (size_t)(t->ne[i] - 1);
    return bytes;
}

/* Numbers of about 1; of blocks any codes, a scale of about 1/16 and a minimum of about -1/2. */
static void fill(struct ggml_tensor *t)
{
    const size_t bytes = bytes_of(t), block = type_of(t)->bytes;
    unsigned char *const to = t->data;
    for (size_t at = 0; at < bytes; at += block) {
        const float x = (float)(int)(draw() % 2001 - 1000) / 500;
        if (t->type == GGML_TYPE_F32) {
            memcpy(to + at, &x, sizeof x);
            continue;
        }
        for (size_t i = 0; i < block; i++)
            to[at + i] = (unsigned char)draw();
        const unsigned one = t->type == GGML_TYPE_BF16 ? 0x3f00 | draw() % 128 : 0x3800 | draw() % 1024; /* 1/2 to 1 */
        put_half(block > 2 ? 0x2800 | draw() % 1024 : one | draw() % 2 << 15, to + at);
        if (t->type == GGML_TYPE_Q4_1 || t->type == GGML_TYPE_Q5_1)
            put_half(0xb800 | draw() % 1024, to + at + 2);
    }
}

static double element(const struct ggml_tensor *t, int64_t i0, int64_t i1, int64_t i2, int64_t i3)
{
    const struct type *const of = type_of(t);
    const unsigned char *const at = (const unsigned char *)t->data + (size_t)(i0 / of->elements) * t->nb[0] +
                                    (size_t)i1 * t->nb[1] + (size_t)i2 * t->nb[2] + (size_t)i3 * t->nb[3];
    const int c = (int)(i0 % of->elements);
    const int low = of->elements > 1 ? at[of->bytes - 16 + (size_t)(c % 16)] >> (c < 16 ? 0 : 4) & 15 : 0;
    float x;
    switch (t->type) {
    case GGML_TYPE_F32: memcpy(&x, at, sizeof x); return (double)x;
    case GGML_TYPE_F16: return of_half(at);
    case GGML_TYPE_BF16: return of_bfloat(at);
    case GGML_TYPE_Q8_0: return of_half(at) * (signed char)at[2 + c];
    case GGML_TYPE_Q4_0: return of_half(at) * (low - 8);
    case GGML_TYPE_Q4_1: return of_half(at) * low + of_half(at + 2);
    case GGML_TYPE_Q5_0: return of_half(at) * (low + (at[2 + c / 8] >> c % 8 & 1) * 16 - 16);
    case GGML_TYPE_Q5_1: return of_half(at) * (low + (at[4 + c / 8] >> c % 8 & 1) * 16) + of_half(at + 2);
    default: return NAN;
    }
}

/* ---- By plain loops ---- */

/* The largest difference of the result from what ggml defines. */
static double error_of(const struct ggml_tensor *node)
{
    const struct ggml_tensor *const q = node->src[Q], *const k = node->src[K], *const v = node->src[V];
    const struct ggml_tensor *const mask = node->src[MASK], *const sinks = node->src[SINKS];
    const double cap = (double)op_param(node, 2), scale = (double)op_param(node, 0);
    float *const slopes = calloc((size_t)q->ne[2], sizeof *slopes);
    double most = 0, *const want = calloc((size_t)v->ne[0], sizeof *want);
    if (!slopes || !want)
        exit(1);
    fill_slopes(node, slopes);
    for (int64_t i = 0; i < q->ne[3] * q->ne[2] * q->ne[1]; i++) {
        const int64_t row = i % q->ne[1], h = i / q->ne[1] % q->ne[2], b = i / q->ne[1] / q->ne[2];
        const int64_t hk = h / (q->ne[2] / k->ne[2]);
        double sum = sinks ? exp(element(sinks, h, 0, 0, 0)) : 0;
        memset(want, 0, (size_t)v->ne[0] * sizeof *want);
        for (int64_t j = 0; j < k->ne[1]; j++) {
            double s = 0;
            for (int64_t c = 0; c < q->ne[0]; c++)
                s += element(q, c, row, h, b) * element(k, c, j, hk, b % k->ne[3]);
            s = cap > 0 ? cap * tanh(s * scale / cap) : s * scale;
            if (mask)
                s += (op_param(node, 1) > 0 ? (double)slopes[h] : 1) *
                     element(mask, j, row, h % mask->ne[2], b % mask->ne[3]);
            sum += exp(s);
            for (int64_t c = 0; c < v->ne[0]; c++)
                want[c] += exp(s) * element(v, c, j, hk, b % v->ne[3]);
        }
        for (int64_t c = 0; c < v->ne[0]; c++) {
            const double off = fabs(element(node, c, h, row, b) - (sum > 0 ? want[c] / sum : 0));
            if (most == most && !(off <= most)) /* the largest, or a NaN */
                most = off;
        }
    }
    free(slopes);
    free(want);
    return most;
}

/* ---- On a device ---- */

static clattn_handle handle;

static void check(cl_int status, const char *what)
{
    char words[512] = "";
    if (!status)
        return;
    if (handle)
        clattn_error_detail(handle, words, sizeof words, NULL);
    fprintf(stderr, "%s: %s %s\n", what, clattn_status_string(status), words);
    exit(1);
}

static void compute(cl_context context, cl_command_queue queue, struct ggml_tensor *node)
{
    struct place at[TENSORS] = { { NULL, 0 } };
    const size_t heads = (size_t)node->src[Q]->ne[2];
    float *const numbers = calloc(heads, sizeof *numbers);
    cl_int status;
    if (!numbers)
        exit(1);
    fill_slopes(node, numbers);
    const cl_mem slopes = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, heads * sizeof *numbers,
                                         numbers, &status);
    check(status, "clCreateBuffer");
    free(numbers);
    for (int i = 0; i < TENSORS; i++) {
        const struct ggml_tensor *const t = tensor_at(node, i);
        if (!t)
            continue;
        at[i].mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes_of(t), t->data, &status);
        check(status, "clCreateBuffer");
    }
    check(enqueue_node(handle, queue, node, at, slopes, NULL), "clattn_forward");
    check(clEnqueueReadBuffer(queue, at[RESULT].mem, CL_TRUE, 0, bytes_of(node), node->data, 0, NULL, NULL),
          "clEnqueueReadBuffer");
    for (int i = 0; i < TENSORS; i++)
        if (at[i].mem)
            clReleaseMemObject(at[i].mem);
    clReleaseMemObject(slopes);
}

int main(void)
{
    static const int usual[4] = { 0, 1, 2, 3 }, cache[4] = { 0, 2, 1, 3 }; /* of a cache rows have all heads */
    static const struct {
        enum ggml_type k, v;
        int64_t b, h, hk, rows, keys, mask_h, mask_b; /* mask_h 0: there is no mask */
        float max_bias, softcap;
        int sinks;
    } rows[] = {
        { GGML_TYPE_F16, GGML_TYPE_F16, 1, 4, 4, 7, 40, 1, 1, 0, 0, 0 },
        { GGML_TYPE_F16, GGML_TYPE_F16, 2, 8, 2, 33, 70, 1, 2, 0, 0, 1 },
        { GGML_TYPE_F32, GGML_TYPE_BF16, 4, 6, 3, 1, 96, 3, 2, 8, 0, 0 },
        { GGML_TYPE_Q8_0, GGML_TYPE_Q4_0, 1, 8, 2, 4, 100, 4, 1, 8, 10, 1 },
        { GGML_TYPE_Q5_1, GGML_TYPE_Q4_1, 2, 4, 2, 9, 64, 0, 0, 0, 30, 0 },
        { GGML_TYPE_Q5_0, GGML_TYPE_Q5_0, 1, 12, 4, 3, 65, 12, 1, 4, 0, 0 },
    };
    cl_device_id device;
    cl_int status;
    double most = 0;
    if (clattn_default_device(NULL, &device)) {
        fprintf(stderr, "no OpenCL device: install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)\n");
        return 77;
    }
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    check(clattn_create(&handle, context, device, NULL), "clattn_create");
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int64_t d = 64, dv = 96, b = rows[i].b;
        const float params[3] = { 0.125f, rows[i].max_bias, rows[i].softcap };
        struct ggml_tensor *const node = make(GGML_TYPE_F32, dv, rows[i].h, rows[i].rows, b, usual);
        memcpy(node->op_params, params, sizeof params);
        node->src[Q] = make(GGML_TYPE_F32, d, rows[i].rows, rows[i].h, b, cache);
        node->src[K] = make(rows[i].k, d, rows[i].keys, rows[i].hk, i % 2 ? 1 : b, cache);
        node->src[V] = make(rows[i].v, dv, rows[i].keys, rows[i].hk, b, cache);
        if (rows[i].mask_h)
            node->src[MASK] =
                make(GGML_TYPE_F16, rows[i].keys, rows[i].rows + 5, rows[i].mask_h, rows[i].mask_b, usual);
        if (rows[i].sinks)
            node->src[SINKS] = make(GGML_TYPE_F32, rows[i].h, 1, 1, 1, usual);
        for (int t = 0; t < RESULT; t++)
            if (node->src[t])
                fill(node->src[t]);
        for (int64_t j = 0; rows[i].mask_h && j < rows[i].keys; j += 3)
            put_half(0xfc00, (unsigned char *)node->src[MASK]->data + 2 * j); /* -inf */
        for (int64_t j = 0; i == 0 && j < rows[i].keys; j++) /* row 1 sees nothing */
            put_half(0xfc00, (unsigned char *)node->src[MASK]->data + node->src[MASK]->nb[1] + 2 * (size_t)j);
        compute(context, queue, node);
        const double off = error_of(node);
        printf("node %d: off by at most %.2g\n", (int)i, off);
        if (most == most && !(off <= most))
            most = off;
        for (int t = 0; t < TENSORS; t++) {
            const struct ggml_tensor *const of = t == RESULT ? node : node->src[t];
            if (of)
                free(of->data);
            free((void *)(uintptr_t)of);
        }
    }
    clattn_release(handle);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    puts(most < 1e-5 ? "all nodes are right" : "wrong");
    return most < 1e-5 ? 0 : 1;
}
