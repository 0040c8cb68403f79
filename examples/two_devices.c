/* two_devices.c - one attention whose keys lie on two devices
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each device attends to its own half of the keys, both at the same time, and hands out O and LSE in f32. The second
 * one's go to the first, which merges them. The devices are the first two that there are, or one of them twice. The
 * result is compared with plain loops in double.
 *
 *     cc two_devices.c $(pkg-config --cflags --libs clattn) -lm
 *
 * Exit status: 0 right, 1 something failed, 77 there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { DEVICES = 2, PLATFORMS = 16, H = 2, NQ = 5, NK = 400, HALF = NK / DEVICES, D = 32 };
static float q[H][NQ][D], k[DEVICES][H][HALF][D], v[DEVICES][H][HALF][D], o[H][NQ][D];
static float o_parts[DEVICES][H][NQ][D], lse_parts[DEVICES][H][NQ];

/* A device, and its part of the keys. */
struct worker {
    cl_device_id device;
    cl_context context;
    cl_command_queue queue;
    clattn_handle handle;
    cl_mem q, k, v, o, lse;
};
static struct worker workers[DEVICES];

static void check(const struct worker *w, cl_int status, const char *what)
{
    char words[512] = "";
    if (!status)
        return;
    if (w->handle)
        clattn_error_detail(w->handle, words, sizeof words, NULL);
    fprintf(stderr, "%s: %s %s\n", what, clattn_status_string(status), words);
    exit(1);
}

static void fill(float *x, size_t n, unsigned seed)
{
    for (size_t i = 0; i < n; i++) {
        seed = seed * 1664525u + 1013904223u;
        x[i] = (float)(seed >> 8) / (1 << 23) - 1;
    }
}

/* The largest difference of O from plain loops over all keys. */
static double error(void)
{
    double most = 0;
    for (int h = 0; h < H; h++)
        for (int i = 0; i < NQ; i++) {
            double sum = 0, want[D] = { 0 };
            for (int j = 0; j < NK; j++) {
                double s = 0;
                for (int c = 0; c < D; c++)
                    s += (double)q[h][i][c] * k[j / HALF][h][j % HALF][c];
                const double p = exp(s / sqrt(D));
                sum += p;
                for (int c = 0; c < D; c++)
                    want[c] += p * v[j / HALF][h][j % HALF][c];
            }
            for (int c = 0; c < D; c++) {
                const double off = fabs(o[h][i][c] - want[c] / sum);
                if (most == most && !(off <= most)) /* the largest, or a NaN */
                    most = off;
            }
        }
    return most;
}

/* The devices of all platforms, in their order. */
static int find_devices(void)
{
    cl_platform_id platforms[PLATFORMS];
    cl_uint n_platforms = 0, n = 0;
    int found = 0;
    if (clGetPlatformIDs(PLATFORMS, platforms, &n_platforms))
        return 0;
    for (cl_uint p = 0; p < n_platforms && p < PLATFORMS && found < DEVICES; p++) {
        cl_device_id list[DEVICES];
        if (clGetDeviceIDs(platforms[p], CL_DEVICE_TYPE_ALL, DEVICES, list, &n))
            continue;
        for (cl_uint i = 0; i < n && i < DEVICES && found < DEVICES; i++)
            workers[found++].device = list[i];
    }
    if (found == 1)
        workers[1].device = workers[0].device;
    return found;
}

static cl_mem buffer(const struct worker *w, size_t bytes, void *from)
{
    cl_int status;
    const cl_mem mem = clCreateBuffer(w->context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, from,
                                      &status);
    check(w, status, "clCreateBuffer");
    return mem;
}

static void open_worker(struct worker *w, int part)
{
    cl_int status;
    w->context = clCreateContext(NULL, 1, &w->device, NULL, NULL, &status);
    check(w, status, "clCreateContext");
    w->queue = clCreateCommandQueue(w->context, w->device, 0, &status);
    check(w, status, "clCreateCommandQueue");
    check(w, clattn_create(&w->handle, w->context, w->device, NULL), "clattn_create");
    w->q = buffer(w, sizeof q, q);
    w->k = buffer(w, sizeof k[part], k[part]);
    w->v = buffer(w, sizeof v[part], v[part]);
    w->o = buffer(w, sizeof o_parts[part], NULL);
    w->lse = buffer(w, sizeof lse_parts[part], NULL);
}

static void close_worker(struct worker *w)
{
    clReleaseMemObject(w->q);
    clReleaseMemObject(w->k);
    clReleaseMemObject(w->v);
    clReleaseMemObject(w->o);
    clReleaseMemObject(w->lse);
    clattn_release(w->handle);
    clReleaseCommandQueue(w->queue);
    clReleaseContext(w->context);
}

static void start(const struct worker *w, const clattn_problem *problem)
{
    clattn_forward_args args = CLATTN_FORWARD_ARGS_INIT;
    args.q.mem = w->q;
    args.k.mem = w->k;
    args.v.mem = w->v;
    args.o.mem = w->o;
    args.lse.mem = w->lse;
    check(w, clattn_forward(w->handle, w->queue, problem, &args, 0, NULL, NULL), "clattn_forward");
    check(w, clFlush(w->queue), "clFlush");
}

static void read_part(const struct worker *w, int part)
{
    check(w, clEnqueueReadBuffer(w->queue, w->o, CL_FALSE, 0, sizeof o_parts[part], o_parts[part], 0, NULL, NULL),
          "clEnqueueReadBuffer");
    check(w, clEnqueueReadBuffer(w->queue, w->lse, CL_FALSE, 0, sizeof lse_parts[part], lse_parts[part], 0, NULL,
                                 NULL), "clEnqueueReadBuffer");
    check(w, clFinish(w->queue), "clFinish");
}

static void merge(const struct worker *w, const clattn_problem *problem)
{
    clattn_plan plan;
    clattn_merge_args args = CLATTN_MERGE_ARGS_INIT;
    args.parts = DEVICES;
    args.o_parts.mem = buffer(w, sizeof o_parts, o_parts);
    args.lse_parts.mem = buffer(w, sizeof lse_parts, lse_parts);
    args.o.mem = w->o;
    check(w, clattn_plan_create(&plan, w->handle, problem, NULL), "clattn_plan_create");
    check(w, clattn_enqueue_merge(plan, w->queue, &args, 0, NULL, NULL), "clattn_enqueue_merge");
    check(w, clEnqueueReadBuffer(w->queue, w->o, CL_TRUE, 0, sizeof o, o, 0, NULL, NULL), "clEnqueueReadBuffer");
    clattn_plan_release(plan);
    clReleaseMemObject(args.o_parts.mem);
    clReleaseMemObject(args.lse_parts.mem);
}

int main(void)
{
    fill(&q[0][0][0], sizeof q / sizeof(float), 1);
    fill(&k[0][0][0][0], sizeof k / sizeof(float), 2);
    fill(&v[0][0][0][0], sizeof v / sizeof(float), 3);
    const int found = find_devices();
    if (!found) {
        fprintf(stderr, "no OpenCL device: install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)\n");
        return 77;
    }
    clattn_problem problem = CLATTN_PROBLEM_INIT; /* of each half of the keys */
    problem.d = D;
    problem.sizes.b = 1;
    problem.sizes.h = H;
    problem.sizes.nq = NQ;
    problem.sizes.nk = HALF;
    problem.o_type = CLATTN_F32; /* also where Q, K and V are in 16 bits, nothing is lost between the parts */
    for (int i = 0; i < DEVICES; i++)
        open_worker(&workers[i], i);
    for (int i = 0; i < DEVICES; i++)
        start(&workers[i], &problem);
    for (int i = 0; i < DEVICES; i++)
        read_part(&workers[i], i);
    merge(&workers[0], &problem);
    const double most = error();
    printf("%d keys on %s: largest error %.1e\n", NK, found > 1 ? "two devices" : "one device, twice", most);
    for (int i = 0; i < DEVICES; i++)
        close_worker(&workers[i]);
    return !(most < 1e-5);
}
