/* varlen.c - a batch of sequences of different lengths, one behind the other, without padding
 * SPDX-License-Identifier: Apache-2.0
 *
 * Q, K, V and O are [total,h,d], and cu_seqlens says where each sequence begins. Query heads share key heads, and masks
 * are causal within each sequence. The result is compared with plain loops in double.
 *
 *     cc varlen.c $(pkg-config --cflags --libs clattn) -lm
 *
 * Exit status: 0 right, 1 something failed, 77 there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { B = 3, H = 4, HK = 2, D = 32, LONGEST = 100, TOTAL = 158 };
static const cl_int cu_seqlens[B + 1] = { 0, 57, 58, TOTAL }; /* 57, 1 and 100 rows */
static float q[TOTAL][H][D], k[TOTAL][HK][D], v[TOTAL][HK][D], o[TOTAL][H][D];

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
    for (int b = 0; b < B; b++)
        for (int i = cu_seqlens[b]; i < cu_seqlens[b + 1]; i++)
            for (int h = 0; h < H; h++) {
                double sum = 0, want[D] = { 0 };
                for (int j = cu_seqlens[b]; j <= i; j++) {
                    const int hk = h / (H / HK);
                    double s = 0;
                    for (int c = 0; c < D; c++)
                        s += (double)q[i][h][c] * k[j][hk][c];
                    const double p = exp(s / sqrt(D));
                    sum += p;
                    for (int c = 0; c < D; c++)
                        want[c] += p * v[j][hk][c];
                }
                for (int c = 0; c < D; c++) {
                    const double off = fabs(o[i][h][c] - want[c] / sum);
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
    cl_int starts[B + 1];
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
    for (int b = 0; b <= B; b++)
        starts[b] = cu_seqlens[b];

    clattn_problem problem = CLATTN_PROBLEM_INIT;
    problem.d = D;
    problem.causal = 1;
    problem.flags = CLATTN_CU_Q | CLATTN_CU_K;
    problem.sizes.b = B;
    problem.sizes.h = H;
    problem.sizes.hk = HK;
    problem.sizes.nq = problem.sizes.nk = LONGEST;
    problem.sizes.total_q = problem.sizes.total_k = TOTAL;

    clattn_forward_args args = CLATTN_FORWARD_ARGS_INIT;
    args.q.mem = buffer(context, sizeof q, q);
    args.k.mem = buffer(context, sizeof k, k);
    args.v.mem = buffer(context, sizeof v, v);
    args.o.mem = buffer(context, sizeof o, NULL);
    args.cu_q.mem = args.cu_k.mem = buffer(context, sizeof starts, starts);

    check(clattn_forward(handle, queue, &problem, &args, 0, NULL, NULL), "clattn_forward");
    check(clEnqueueReadBuffer(queue, args.o.mem, CL_TRUE, 0, sizeof o, o, 0, NULL, NULL), "clEnqueueReadBuffer");
    const double most = error();
    printf("%d sequences, %d rows: largest error %.1e\n", B, TOTAL, most);

    clReleaseMemObject(args.q.mem);
    clReleaseMemObject(args.k.mem);
    clReleaseMemObject(args.v.mem);
    clReleaseMemObject(args.o.mem);
    clReleaseMemObject(args.cu_q.mem);
    clattn_release(handle);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
    return !(most < 1e-5);
}
