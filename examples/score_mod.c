/* score_mod.c - scores changed by OpenCL C of one's own, with a table that it captures
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each head has a learnt bias for every distance between query and key, up to REACH in either direction, as T5 and Swin
 * have. The text becomes part of the fused kernel. The result is compared with plain loops in double.
 *
 *     cc score_mod.c $(pkg-config --cflags --libs clattn) -lm
 *
 * Exit status: 0 right, 1 something failed, 77 there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { H = 4, N = 90, D = 32, REACH = 8, ENTRIES = 2 * REACH + 1 };
static float q[H][N][D], k[H][N][D], v[H][N][D], o[H][N][D], table[H][ENTRIES];

/* In scope are s, b, h, q, k and the captured buffers by their names. */
static const char text[] = "s += table[h * 17 + clamp(k - q, -8, 8) + 8];";

static clattn_handle handle;

static void check(cl_int status, const char *what)
{
    char words[512] = "";
    if (!status)
        return;
    if (handle)
        clattn_error_detail(handle, words, sizeof words, NULL); /* here also what the compiler says of the text */
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

/* The largest difference of O from plain loops. */
static double error(void)
{
    double most = 0;
    for (int h = 0; h < H; h++)
        for (int i = 0; i < N; i++) {
            double sum = 0, want[D] = { 0 };
            for (int j = 0; j < N; j++) {
                const int distance = j - i < -REACH ? -REACH : j - i > REACH ? REACH : j - i;
                double s = 0;
                for (int c = 0; c < D; c++)
                    s += (double)q[h][i][c] * k[h][j][c];
                const double p = exp(s / sqrt(D) + table[h][distance + REACH]);
                sum += p;
                for (int c = 0; c < D; c++)
                    want[c] += p * v[h][j][c];
            }
            for (int c = 0; c < D; c++) {
                const double off = fabs(o[h][i][c] - want[c] / sum);
                if (most == most && !(off <= most)) /* the largest, or a NaN */
                    most = off;
            }
        }
    return most;
}

static cl_mem buffer(cl_context context, size_t bytes, void *from)
{
    cl_int status;
    const cl_mem mem = clCreateBuffer(context, CL_MEM_READ_WRITE | (from ? CL_MEM_COPY_HOST_PTR : 0), bytes, from,
                                      &status);
    check(status, "clCreateBuffer");
    return mem;
}

int main(void)
{
    cl_device_id device;
    cl_int status;
    if (clattn_default_device(NULL, &device)) {
        fprintf(stderr, "no OpenCL device: install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)\n");
        return 77;
    }
    const cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &status);
    check(status, "clCreateContext");
    const cl_command_queue queue = clCreateCommandQueue(context, device, 0, &status);
    check(status, "clCreateCommandQueue");
    check(clattn_create(&handle, context, device, NULL), "clattn_create");

    fill(&q[0][0][0], sizeof q / sizeof(float), 1);
    fill(&k[0][0][0], sizeof k / sizeof(float), 2);
    fill(&v[0][0][0], sizeof v / sizeof(float), 3);
    fill(&table[0][0], sizeof table / sizeof(float), 4);

    const clattn_score_mod mod = { text, "relative bias", 0 };
    const clattn_aux captured = { "table", CLATTN_F32 };
    clattn_problem problem = CLATTN_PROBLEM_INIT;
    problem.d = D;
    problem.sizes.b = 1;
    problem.sizes.h = H;
    problem.sizes.nq = problem.sizes.nk = N;
    problem.n_mods = problem.n_aux = 1;
    problem.mods = &mod;
    problem.aux = &captured;

    const clattn_array tables = { buffer(context, sizeof table, table), 0 };
    clattn_forward_args args = CLATTN_FORWARD_ARGS_INIT;
    args.q.mem = buffer(context, sizeof q, q);
    args.k.mem = buffer(context, sizeof k, k);
    args.v.mem = buffer(context, sizeof v, v);
    args.o.mem = buffer(context, sizeof o, NULL);
    args.aux = &tables;

    check(clattn_forward(handle, queue, &problem, &args, 0, NULL, NULL), "clattn_forward");
    check(clEnqueueReadBuffer(queue, args.o.mem, CL_TRUE, 0, sizeof o, o, 0, NULL, NULL), "clEnqueueReadBuffer");
    const double most = error();
    printf("%d heads, %d rows, a bias for %d distances: largest error %.1e\n", H, N, ENTRIES, most);

    clReleaseMemObject(args.q.mem);
    clReleaseMemObject(args.k.mem);
    clReleaseMemObject(args.v.mem);
    clReleaseMemObject(args.o.mem);
    clReleaseMemObject(tables.mem);
    clattn_release(handle);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return !(most < 1e-5);
}
