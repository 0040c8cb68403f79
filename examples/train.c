/* train.c - training with clattn: an attention layer fitted by gradient descent
 * SPDX-License-Identifier: Apache-2.0
 *
 * A layer of causal grouped-query attention over fixed made-up rows X has weights that make Q, K and V of them, and a
 * bias that all sequences share. Head i is to give what X has i tokens earlier. A step is one forward call, the mean
 * squared error of O, whose derivative is dO, one backward call, and weights and bias moved against their gradients.
 *
 * Before the first step the backward call runs twice and has to give the same bits, and elements of dQ, dK, dV and
 * dBias have to be what the loss of two more forward calls says, a small step to either side.
 *
 *     cc train.c $(pkg-config --cflags --libs clattn) -lm
 *     ./a.out [STEPS]     1 to 1000; 100 is the default
 *
 * Exit status: 0 gradients are right and the loss falls, 1 something failed, 77 there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { B = 4, H = 4, HK = 2, N = 48, D = 16, ROWS = B * N, E = HK * D, STEPS = 100, LINES = 10, SAMPLES = 12 };
static const float rate = 8, rate_bias = 1000;

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

static void fail(const char *name, const char *words)
{
    fprintf(stderr, "%s %s\n", name, words);
    exit(1);
}

/* ---- Numbers on the host and on the device ---- */

static cl_mem buffer(size_t bytes)
{
    cl_int status;
    const cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, NULL, &status);
    check(status, "clCreateBuffer");
    return mem;
}

/* What goes into the attention, and its gradient. */
static struct input {
    const char *name;
    size_t n;
    float *x, *dx;
    cl_mem mem, gradient;
} inputs[] = { { "dQ", (size_t)ROWS * H * D, 0, 0, 0, 0 },
               { "dK", (size_t)ROWS * HK * D, 0, 0, 0, 0 },
               { "dV", (size_t)ROWS * HK * D, 0, 0, 0, 0 },
               { "dBias", (size_t)H * N * N, 0, 0, 0, 0 } };
enum { Q, K, V, BIAS, INPUTS };

static float rows[ROWS][E], target[ROWS][H * D], o[ROWS][H * D], d_o[ROWS][H * D];
static float *weights[BIAS]; /* of Q, K and V: [E, columns] */

static size_t columns(int i)
{
    return inputs[i].n / ROWS;
}

static float *numbers(size_t n)
{
    float *const x = calloc(n, sizeof *x);
    if (!x)
        check(CL_OUT_OF_HOST_MEMORY, "calloc");
    return x;
}

/* Writes elements `at` to at + n - 1 once the queue gets there; `from` has to stay until something waits for that. */
static void hand_over(cl_mem to, size_t at, const float *from, size_t n)
{
    check(clEnqueueWriteBuffer(queue, to, CL_FALSE, at * sizeof *from, n * sizeof *from, from, 0, NULL, NULL),
          "clEnqueueWriteBuffer");
}

static void fetch(float *to, cl_mem from, size_t n)
{
    check(clEnqueueReadBuffer(queue, from, CL_TRUE, 0, n * sizeof *to, to, 0, NULL, NULL), "clEnqueueReadBuffer");
}

/* ---- Setting up ---- */

static clattn_plan plan, plan_backward;
static clattn_forward_args forward = CLATTN_FORWARD_ARGS_INIT;
static clattn_backward_args backward = CLATTN_BACKWARD_ARGS_INIT;

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

/* Two plans of one problem, because a plan for gradients has no other call. */
static void make_plans(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.d = D;
    p.causal = 1;
    p.bias_type = CLATTN_F32;
    p.sizes = (clattn_sizes){ B, H, HK, N, N, 0, 0, 0 };
    check(clattn_plan_create(&plan, handle, &p, NULL), "clattn_plan_create");
    p.flags |= CLATTN_BACKWARD;
    check(clattn_plan_create(&plan_backward, handle, &p, NULL), "clattn_plan_create, for gradients");
}

/* [b,n,heads,d], which is how a product of rows and weights lies. */
static clattn_tensor tensor(cl_mem mem, int64_t heads)
{
    const clattn_tensor t = { mem, 0, { N * heads * D, D, heads * D } };
    return t;
}

static void make_arguments(void)
{
    const size_t of_o = sizeof o;
    for (int i = 0; i < INPUTS; i++) {
        inputs[i].mem = buffer(inputs[i].n * sizeof(float));
        inputs[i].gradient = buffer(inputs[i].n * sizeof(float));
        inputs[i].x = numbers(inputs[i].n);
        inputs[i].dx = numbers(inputs[i].n);
    }
    forward.q = tensor(inputs[Q].mem, H);
    forward.k = tensor(inputs[K].mem, HK);
    forward.v = tensor(inputs[V].mem, HK);
    forward.bias.mem = inputs[BIAS].mem;
    forward.bias.shape[0] = 1; /* [1,h,n,n] */
    forward.o = tensor(buffer(of_o), H);
    forward.lse.mem = buffer((size_t)ROWS * H * sizeof(float)); /* the backward call reads it */
    check(clattn_workspace_size(plan, &forward, &forward.workspace_size), "clattn_workspace_size");
    forward.workspace = forward.workspace_size ? buffer(forward.workspace_size) : NULL;

    backward.forward = &forward;
    backward.dout = tensor(buffer(of_o), H);
    backward.dq = tensor(inputs[Q].gradient, H);
    backward.dk = tensor(inputs[K].gradient, HK);
    backward.dv = tensor(inputs[V].gradient, HK);
    backward.dbias.mem = inputs[BIAS].gradient;
    backward.dbias.shape[0] = 1;
    check(clattn_backward_workspace_size(plan_backward, &backward, &backward.workspace_size),
          "clattn_backward_workspace_size");
    backward.workspace = buffer(backward.workspace_size);
}

/* Evenly distributed, with variance 1. */
static float number(void)
{
    static unsigned x = 1;
    x = x * 1664525u + 1013904223u;
    return 1.7320508f * ((float)(x >> 8) / (1 << 23) - 1);
}

/* Columns of K head g of X, i tokens earlier, are the target of head i. The bias begins with zeros. */
static void make_up_numbers(void)
{
    for (int r = 0; r < ROWS; r++)
        for (int e = 0; e < E; e++)
            rows[r][e] = number();
    for (int r = 0; r < ROWS; r++)
        for (int h = 0; h < H; h++) {
            const int earlier = r % N < h ? r - r % N : r - h, g = h / (H / HK);
            for (int d = 0; d < D; d++)
                target[r][h * D + d] = rows[earlier][g * D + d];
        }
    for (int i = Q; i <= V; i++) {
        weights[i] = numbers(E * columns(i));
        for (size_t j = 0; j < E * columns(i); j++)
            weights[i][j] = number() / sqrtf(E);
    }
}

/* ---- One step ---- */

static void project(void)
{
    for (int i = Q; i <= V; i++) {
        memset(inputs[i].x, 0, inputs[i].n * sizeof *inputs[i].x);
        for (size_t r = 0; r < ROWS; r++)
            for (size_t e = 0; e < E; e++)
                for (size_t c = 0; c < columns(i); c++)
                    inputs[i].x[r * columns(i) + c] += rows[r][e] * weights[i][e * columns(i) + c];
    }
    for (int i = 0; i < INPUTS; i++)
        hand_over(inputs[i].mem, 0, inputs[i].x, inputs[i].n);
}

/* The loss of what the device has as Q, K, V and bias, and its derivative. */
static double forward_call(void)
{
    const double n = (double)ROWS * H * D;
    double sum = 0;
    check(clattn_enqueue_forward(plan, queue, &forward, 0, NULL, NULL), "clattn_enqueue_forward");
    fetch(o[0], forward.o.mem, (size_t)ROWS * H * D);
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < H * D; c++) {
            const double off = (double)o[r][c] - target[r][c];
            d_o[r][c] = (float)(2 / n * off);
            sum += off * off;
        }
    return sum / n;
}

static void backward_call(void)
{
    hand_over(backward.dout.mem, 0, d_o[0], (size_t)ROWS * H * D);
    check(clattn_enqueue_backward(plan_backward, queue, &backward, 0, NULL, NULL), "clattn_enqueue_backward");
    for (int i = 0; i < INPUTS; i++)
        fetch(inputs[i].dx, inputs[i].gradient, inputs[i].n);
}

/* x = rows weights, so the gradient of the weights is rows^T dx. */
static void descend(void)
{
    for (int i = Q; i <= V; i++)
        for (size_t r = 0; r < ROWS; r++)
            for (size_t e = 0; e < E; e++)
                for (size_t c = 0; c < columns(i); c++)
                    weights[i][e * columns(i) + c] -= rate * rows[r][e] * inputs[i].dx[r * columns(i) + c];
    for (size_t j = 0; j < inputs[BIAS].n; j++)
        inputs[BIAS].x[j] -= rate_bias * inputs[BIAS].dx[j];
}

/* ---- The checks ---- */

/* The backward call once more, over what it has to overwrite. */
static void check_bits(void)
{
    float *first[INPUTS];
    for (int i = 0; i < INPUTS; i++) {
        first[i] = inputs[i].dx;
        inputs[i].dx = numbers(inputs[i].n);
        for (size_t j = 0; j < inputs[i].n; j++)
            inputs[i].dx[j] = NAN;
        hand_over(inputs[i].gradient, 0, inputs[i].dx, inputs[i].n);
    }
    backward_call();
    for (int i = 0; i < INPUTS; i++) {
        if (memcmp(first[i], inputs[i].dx, inputs[i].n * sizeof *first[i]))
            fail(inputs[i].name, "differs when it is computed again");
        free(first[i]);
    }
}

static double loss_at(const struct input *in, size_t j, float x)
{
    hand_over(in->mem, j, &x, 1);
    return forward_call();
}

/* How far element j of a gradient is from what the loss says a step to either side. With u = 2^-24 of f32 a step h adds
 * an error of about h^2, of the third derivative, and one of u / h, of rounding in O: 2^-16 both where h is 2^-8. The
 * loss is summed in double, and rows that do not see the element are the same to the bit, so that nothing else adds. */
static double difference(const struct input *in, size_t j)
{
    const float above = in->x[j] + 1.0f / 256, below = in->x[j] - 1.0f / 256;
    const double rise = loss_at(in, j, above) - loss_at(in, j, below);
    hand_over(in->mem, j, &in->x[j], 1);
    return fabs(rise / ((double)above - below) - in->dx[j]);
}

static size_t largest(const struct input *in)
{
    size_t j = 0;
    for (size_t i = 1; i < in->n; i++)
        j = fabsf(in->dx[i]) > fabsf(in->dx[j]) ? i : j;
    return j;
}

/* The element that is largest in magnitude, by which errors are measured, and others all over the tensor. Elements have
 * errors of 2^-16 of their own kind, which may be a few times that: 2^-12 leaves room, and a gradient that is wrong is
 * off by much more. */
static double check_gradients(void)
{
    double most = 0;
    for (int i = 0; i < INPUTS; i++) {
        const struct input *in = &inputs[i];
        const size_t top = largest(in);
        for (size_t s = 0; s < SAMPLES; s++) {
            const double off = difference(in, s ? s * 2654435761u % in->n : top) / fabs(in->dx[top]);
            if (!(off < 1.0 / 4096)) /* or a NaN */
                fail(in->name, "is not what finite differences of the loss say");
            most = off > most ? off : most;
        }
    }
    return most;
}

static void train(int steps)
{
    double last = INFINITY;
    for (int i = 0;; i++) {
        project();
        const double loss = forward_call();
        if (i % ((steps + LINES - 1) / LINES) == 0 || i == steps) {
            printf("step %4d: loss %.6f\n", i, loss);
            if (!(loss < last)) /* or a NaN */
                fail("the loss", "has not fallen");
            last = loss;
        }
        if (i == steps)
            return;
        backward_call();
        descend();
    }
}

int main(int argc, char **argv)
{
    const int steps = argc > 1 ? atoi(argv[1]) : STEPS;
    if (argc > 2 || steps < 1 || steps > 1000) {
        fprintf(stderr, "usage: train [STEPS], 1 to 1000\n");
        return 1;
    }
    open_device();
    make_plans();
    make_arguments();
    make_up_numbers();
    project();
    forward_call();
    backward_call();
    check_bits();
    printf("gradients: the same bits twice, and within %.1e of finite differences\n", check_gradients());
    train(steps);
    clattn_plan_release(plan_backward);
    clattn_plan_release(plan);
    clattn_release(handle);
    return 0;
}
