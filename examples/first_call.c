/* first_call.c - causal attention of one head over 256 rows of width 64
 * SPDX-License-Identifier: Apache-2.0
 *
 *     cc first_call.c $(pkg-config --cflags --libs clattn)
 *
 * Exit status: 0 right, 1 something failed, 77 there is no device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <stdio.h>

enum { N = 256, D = 64 };
static float q[N * D], k[N * D], v[N * D], o[N * D];

int main(void)
{
    cl_device_id device;
    if (clattn_default_device(NULL, &device)) {
        puts("no OpenCL device: install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)");
        return 77;
    }
    cl_int e;
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, &e);
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, &e);

    for (int i = 0; i < N * D; i++)
        q[i] = (float)(i % 7), k[i] = (float)(i % 5), v[i] = (float)(1 + i / D);
    const cl_mem_flags copy = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
    clattn_forward_args args = CLATTN_FORWARD_ARGS_INIT; /* zero means default: contiguous [b,h,n,d] */
    args.q.mem = clCreateBuffer(context, copy, sizeof q, q, &e);
    args.k.mem = clCreateBuffer(context, copy, sizeof k, k, &e);
    args.v.mem = clCreateBuffer(context, copy, sizeof v, v, &e);
    args.o.mem = clCreateBuffer(context, CL_MEM_WRITE_ONLY, sizeof o, NULL, &e);

    clattn_problem problem = CLATTN_PROBLEM_INIT; /* f32, scale 1/sqrt(d), no mask */
    problem.d = D;
    problem.causal = 1;
    problem.sizes.b = problem.sizes.h = 1;
    problem.sizes.nq = problem.sizes.nk = N;

    clattn_handle handle = NULL;
    char words[512] = "";
    e = clattn_create(&handle, context, device, NULL);
    if (!e)
        e = clattn_forward(handle, queue, &problem, &args, 0, NULL, NULL); /* the first call compiles */
    if (!e)
        e = clEnqueueReadBuffer(queue, args.o.mem, CL_TRUE, 0, sizeof o, o, 0, NULL, NULL);
    if (e && handle)
        clattn_error_detail(handle, words, sizeof words, NULL);
    printf("%s %s: row 0 is %g, row %d is %g\n", clattn_status_string(e), words, o[0], N - 1, o[(N - 1) * D]);
    clattn_release(handle);
    return e || o[0] != 1; /* row 0 sees key 0 only, whose value is 1 */
}
