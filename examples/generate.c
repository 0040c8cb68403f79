/* generate.c - generating tokens with clattn: prefill, then one token at a time over a paged int8 cache
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two sequences with prompts of different lengths go through one layer of grouped-query attention. Every step rotates
 * the queries, appends the new keys and values to the cache, and attends to all of it; nothing is read back in between.
 * In the place of a model made-up numbers are queries, keys and values. In the end one forward pass over the whole
 * cache has to give, for every token, what its step gave.
 *
 *     cc generate.c $(pkg-config --cflags --libs clattn) -lm
 *     ./a.out [STEPS]     1 to 64, which is the default
 *
 * Exit status: 0 all steps agree, 1 something failed, 77 there is no device. */
#define _POSIX_C_SOURCE 200112L
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { B = 2, H = 8, HK = 2, D = 64, STEPS = 64, PAGE = 16, LONGEST = 100, ROOM = 176, PAGES = B * ROOM / PAGE };
static const cl_int prompt[B] = { LONGEST, 37 };

static cl_context context;
static cl_command_queue queue;
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

static void *need(void *p)
{
    if (!p)
        check(CL_OUT_OF_HOST_MEMORY, "malloc");
    return p;
}

/* ---- Buffers ---- */

static cl_mem buffer(size_t bytes, const void *from)
{
    cl_int status;
    const cl_mem_flags flags = CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0);
    const cl_mem mem = clCreateBuffer(context, flags, bytes, (void *)(uintptr_t)from, &status);
    check(status, "clCreateBuffer");
    return mem;
}

static clattn_tensor tensor(size_t elements)
{
    const clattn_tensor t = { buffer(elements * sizeof(float), NULL), 0, { 0, 0, 0 } };
    return t;
}

static cl_mem same_for_all(cl_int x)
{
    cl_int list[B];
    for (int b = 0; b < B; b++)
        list[b] = x;
    return buffer(sizeof list, list);
}

/* The pages of the sequences, taken in turns: they need not lie behind one another. */
static cl_mem page_table(void)
{
    cl_int table[B][ROOM / PAGE];
    for (int b = 0; b < B; b++)
        for (int i = 0; i < ROOM / PAGE; i++)
            table[b][i] = i * B + b;
    return buffer(sizeof table, table);
}

/* Angle i of position p is p 10000^(-2 i / D). */
static clattn_rotary rotary_tables(void)
{
    static float cosine[ROOM][D / 2], sine[ROOM][D / 2];
    for (int p = 0; p < ROOM; p++)
        for (int i = 0; i < D / 2; i++) {
            const double angle = p * pow(10000, -2.0 * i / D);
            cosine[p][i] = (float)cos(angle);
            sine[p][i] = (float)sin(angle);
        }
    clattn_rotary rotary = CLATTN_ROTARY_INIT;
    rotary.cos.mem = buffer(sizeof cosine, cosine);
    rotary.sin.mem = buffer(sizeof sine, sine);
    rotary.positions = ROOM;
    rotary.width = D;
    return rotary;
}

/* ---- The model's part: rows of queries, keys and values ---- */

static float number(void)
{
    static unsigned x = 1;
    x = x * 1664525u + 1013904223u;
    return (float)(x >> 8) / (1 << 23) - 1;
}

static float *numbers(size_t n)
{
    float *x = need(malloc(n * sizeof *x));
    for (size_t i = 0; i < n; i++)
        x[i] = number();
    return x;
}

/* Hands over rows as a model would: a copy that the queue carries out in its turn. */
static void hand_over(clattn_tensor to, const float *from, size_t n)
{
    check(clEnqueueWriteBuffer(queue, to.mem, CL_FALSE, 0, n * sizeof *from, from, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
}

/* ---- One step ---- */

static clattn_plan plan;
static clattn_forward_args forward = CLATTN_FORWARD_ARGS_INIT;
static clattn_append_args append = CLATTN_APPEND_ARGS_INIT;
static clattn_rotary_args rotate = CLATTN_ROTARY_ARGS_INIT;

/* nq new rows of each sequence, q_len[b] of which are there. O goes to row block `at` of its buffer. */
static void step(int64_t nq, cl_mem q_len, size_t at)
{
    const clattn_sizes sizes = { B, H, HK, nq, ROOM, 0, 0, 0 };
    forward.sizes = append.sizes = rotate.sizes = &sizes;
    forward.q_len.mem = append.new_len.mem = q_len;
    forward.o.offset = at;
    check(clattn_enqueue_rotary(plan, queue, &rotate, 0, NULL, NULL), "rotary"); /* before append moves kv_len */
    check(clattn_enqueue_append(plan, queue, &append, 0, NULL, NULL), "append");
    check(clattn_enqueue_forward(plan, queue, &forward, 0, NULL, NULL), "forward");
}

static double seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Setting up ---- */

static void open_device(void)
{
    cl_platform_id platform;
    cl_device_id device;
    cl_int status;
    if (clGetPlatformIDs(1, &platform, NULL) || clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL)) {
        fprintf(stderr, "no OpenCL device: install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)\n");
        exit(77);
    }
    context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    check(clattn_create(&handle, context, device, NULL), "clattn_create");
}

static void make_plan(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.d = D;
    p.causal = 1;
    p.k_type = p.v_type = CLATTN_INT8; /* with a scale for each token and head */
    p.page = PAGE;
    p.flags = CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_APPEND | CLATTN_ROTARY;
    p.sizes = (clattn_sizes){ B, H, HK, 1, ROOM, 0, 0, 0 }; /* most calls are of this kind */
    check(clattn_plan_create(&plan, handle, &p, NULL), "clattn_plan_create");
}

static clattn_tensor4 scales(void)
{
    clattn_tensor4 t = CLATTN_TENSOR4_INIT; /* [pages,page,hk,1] */
    t.mem = buffer((size_t)PAGES * PAGE * HK * sizeof(float), NULL);
    return t;
}

/* As much as any of the calls needs, each of which has the queue to itself. */
static void make_workspace(int64_t longest)
{
    const int64_t rows[] = { 1, LONGEST, longest };
    for (int i = 0; i < 3; i++) {
        const clattn_sizes sizes = { B, H, HK, rows[i], ROOM, 0, 0, 0 };
        size_t size;
        forward.sizes = &sizes;
        check(clattn_workspace_size(plan, &forward, &size), "clattn_workspace_size");
        forward.workspace_size = size > forward.workspace_size ? size : forward.workspace_size;
    }
    forward.workspace = forward.workspace_size ? buffer(forward.workspace_size, NULL) : NULL;
}

static void make_arguments(void)
{
    const cl_int none[B] = { 0 };
    clattn_tensor cache = { NULL, 0, { 0, 0, 0 } };
    forward.q = rotate.in = rotate.out = tensor((size_t)B * H * LONGEST * D);
    append.new_k = tensor((size_t)B * HK * LONGEST * D);
    append.new_v = tensor((size_t)B * HK * LONGEST * D);
    cache.mem = buffer((size_t)PAGES * PAGE * HK * D, NULL); /* [pages,page,hk,d] */
    forward.k = append.k = cache;
    cache.mem = buffer((size_t)PAGES * PAGE * HK * D, NULL);
    forward.v = append.v = cache;
    forward.k_scale = append.k_scale = scales();
    forward.v_scale = append.v_scale = scales();
    forward.block_table.mem = append.block_table.mem = page_table();
    forward.pages = append.pages = PAGES;
    forward.kv_len.mem = append.kv_len.mem = rotate.kv_len.mem = buffer(sizeof none, none);
    rotate.rotary = append.rotary = rotary_tables();
    forward.o = tensor((size_t)B * H * D * (LONGEST + STEPS));
}

/* ---- The check ---- */

/* Where row t of (b, h) lies in O of the steps: those of the prompt are a block [b,h,LONGEST,d], each step is one more
 * block [b,h,1,d]. */
static size_t row_of_step(int b, int h, int t)
{
    const size_t head = (size_t)(b * H + h), block = (size_t)B * H * D;
    return t < prompt[b] ? (head * LONGEST + (size_t)t) * D : block * (size_t)(LONGEST + t - prompt[b]) + head * D;
}

/* One forward pass of all queries of each sequence; returns how far any element is from that of its step. */
static double compare(const float *q_all, const float *stepwise, int steps)
{
    enum { T = LONGEST + STEPS };
    const clattn_sizes sizes = { B, H, HK, T, ROOM, 0, 0, 0 };
    const size_t n = (size_t)B * H * T * D;
    float *o = need(malloc(n * sizeof *o));
    double most = 0;
    forward.sizes = rotate.sizes = &sizes;
    forward.q = rotate.in = rotate.out = tensor(n);
    forward.o = tensor(n);
    forward.q_len = forward.kv_len;
    rotate.kv_len.mem = NULL; /* positions from 0 on */
    hand_over(rotate.in, q_all, n);
    check(clattn_enqueue_rotary(plan, queue, &rotate, 0, NULL, NULL), "rotary");
    check(clattn_enqueue_forward(plan, queue, &forward, 0, NULL, NULL), "forward");
    check(clEnqueueReadBuffer(queue, forward.o.mem, CL_TRUE, 0, n * sizeof *o, o, 0, NULL, NULL), "reading O");
    for (int b = 0; b < B; b++)
        for (int h = 0; h < H; h++)
            for (int t = 0; t < prompt[b] + steps; t++)
                for (int d = 0; d < D; d++) {
                    const double x = o[(((size_t)b * H + (size_t)h) * T + (size_t)t) * D + (size_t)d];
                    const double off = fabs(x - stepwise[row_of_step(b, h, t) + (size_t)d]);
                    if (most == most && !(off <= most)) /* the largest, or a NaN */
                        most = off;
                }
    free(o);
    return most;
}

/* Puts rows from .. to - 1 of sequence b, which are the first of the `rows` that q has, in their places. */
static void keep(float *q_all, const float *q, int rows, int b, int from, int to)
{
    enum { T = LONGEST + STEPS };
    for (int h = 0; h < H; h++)
        for (int i = from; i < to; i++)
            for (int d = 0; d < D; d++)
                q_all[(((size_t)b * H + (size_t)h) * T + (size_t)i) * D + (size_t)d] =
                    q[(((size_t)b * H + (size_t)h) * (size_t)rows + (size_t)(i - from)) * D + (size_t)d];
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : STEPS;
    if (argc > 2 || steps < 1 || steps > STEPS) {
        fprintf(stderr, "usage: generate [STEPS], 1 to %d\n", STEPS);
        return 1;
    }
    const size_t q_rows = (size_t)B * H * D, kv_rows = (size_t)B * HK * D, all = q_rows * (LONGEST + STEPS);
    open_device();
    make_plan();
    make_arguments();
    make_workspace(LONGEST + STEPS);
    float *const q_all = numbers(all), *const stepwise = need(malloc(all * sizeof *stepwise));
    float *const q = numbers(q_rows * LONGEST);
    float *const k = numbers(kv_rows * LONGEST), *const v = numbers(kv_rows * LONGEST);

    hand_over(forward.q, q, q_rows * LONGEST);
    hand_over(append.new_k, k, kv_rows * LONGEST);
    hand_over(append.new_v, v, kv_rows * LONGEST);
    step(LONGEST, buffer(sizeof prompt, prompt), 0);
    check(clFinish(queue), "clFinish");
    for (int b = 0; b < B; b++)
        keep(q_all, q, LONGEST, b, 0, prompt[b]);

    float *const qs = numbers(q_rows * STEPS);
    float *const ks = numbers(kv_rows * STEPS), *const vs = numbers(kv_rows * STEPS);
    const cl_mem one = same_for_all(1);
    const double start = seconds();
    for (int i = 0; i < steps; i++) {
        hand_over(forward.q, qs + q_rows * (size_t)i, q_rows);
        hand_over(append.new_k, ks + kv_rows * (size_t)i, kv_rows);
        hand_over(append.new_v, vs + kv_rows * (size_t)i, kv_rows);
        step(1, one, q_rows * (size_t)(LONGEST + i));
    }
    check(clFinish(queue), "clFinish");
    const double rate = B * steps / (seconds() - start);
    for (int i = 0; i < steps; i++)
        for (int b = 0; b < B; b++)
            keep(q_all, qs + q_rows * (size_t)i, 1, b, prompt[b] + i, prompt[b] + i + 1);

    check(clEnqueueReadBuffer(queue, forward.o.mem, CL_TRUE, 0, all * sizeof *stepwise, stepwise, 0, NULL, NULL),
          "reading O");
    const double off = compare(q_all, stepwise, steps);
    printf("%d tokens after prompts of %d and %d: %.0f tokens per second, all within %.1e of one forward pass\n",
           B * steps, (int)prompt[0], (int)prompt[1], rate, off);
    clattn_plan_release(plan);
    clattn_release(handle);
    return !(off < 1e-5);
}
