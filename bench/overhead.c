/* overhead.c - clattn-overhead: what a call of the library costs beyond the OpenCL calls that nobody could save
 * SPDX-License-Identifier: Apache-2.0
 *
 * Linked with --wrap for the calls that set arguments and enqueue: what they take is subtracted from what
 * clattn_enqueue_forward() takes, and clattn_forward(), in turn. The rest is checking: sizes, strides, contexts, reach
 * and overlap of the buffers; and in the second case finding the plan. */
#include "config.h"

#include "tools/oracle/inputs.h"
#include "tools/run/setup.h"
#include "tools/system/clock.h"
#include "tools/system/fault.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

cl_int __real_clSetKernelArg(cl_kernel kernel, cl_uint at, size_t size, const void *value);
cl_int __wrap_clSetKernelArg(cl_kernel kernel, cl_uint at, size_t size, const void *value);
cl_int __real_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *event);

static double raw; /* ms within the wrapped calls */

cl_int __wrap_clSetKernelArg(cl_kernel kernel, cl_uint at, size_t size, const void *value)
{
    const double t = clock_ms();
    const cl_int status = __real_clSetKernelArg(kernel, at, size, value);
    raw += clock_ms() - t;
    return status;
}

cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue queue, cl_kernel kernel, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *event)
{
    const double t = clock_ms();
    const cl_int status = __real_clEnqueueNDRangeKernel(queue, kernel, dims, offset, global, local, n, list, event);
    raw += clock_ms() - t;
    return status;
}

enum { ROUNDS = 2001 };

/* The library's own ms of a call, and those of what is below it: with a plan, or else in one call. */
static cl_int time_call(double *own, double *below, clattn_handle handle, clattn_plan plan, struct setup *s,
                        const clattn_problem *problem)
{
    raw = 0;
    const double t = clock_ms();
    const cl_int status = plan ? clattn_enqueue_forward(plan, s->queue, &s->args, 0, NULL, NULL)
                               : clattn_forward(handle, s->queue, problem, &s->args, 0, NULL, NULL);
    *own = clock_ms() - t - raw;
    *below = raw;
    return status ? status : clFinish(s->queue);
}

static cl_int measure(clattn_handle handle, clattn_plan plan, struct setup *s, const clattn_workload *c,
                      const char *problem)
{
    static double own[2][ROUNDS], below[2][ROUNDS];
    cl_int status = CL_SUCCESS;
    for (int i = -1; i < 2 * ROUNDS && !status; i++) { /* the first call of the one without a plan makes it */
        const int at = i < 0 ? 0 : i / 2, one = i < 0 || i % 2;
        status = time_call(&own[one][at], &below[one][at], handle, one ? NULL : plan, s, &c->problem);
    }
    if (status)
        return status;
    printf("%s: the library %.2f us a call, arguments and enqueue %.2f us; without a plan of one's own %.2f us\n",
           problem, 1e3 * clock_median(own[0], ROUNDS), 1e3 * clock_median(below[0], ROUNDS),
           1e3 * clock_median(own[1], ROUNDS));
    return CL_SUCCESS;
}

static cl_int run(const char *device, const char *problem, struct fault *f)
{
    struct opencl where;
    struct setup setup;
    struct extras extras;
    struct counts n;
    clattn_handle handle = NULL;
    clattn_plan plan = NULL;
    clattn_workload c;
    const char *words = NULL;
    double *zeros = NULL;
    memset(&setup, 0, sizeof setup);
    memset(&extras, 0, sizeof extras);
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    cl_int status = opencl_open(device, &where);
    if (status == CL_DEVICE_NOT_FOUND)
        opencl_missing(device, f);
    if (status)
        return status;
    if ((status = clattn_workload_parse(problem, &c, NULL, 0)))
        goto out;
    if (inputs_count(&c, &n) || extras_fill(&c, &extras, &words)) {
        status = CLATTN_ERROR_INVALID_ARGUMENT;
        goto out;
    }
    if (!(zeros = calloc(n.q + n.k + n.v + 1, sizeof *zeros))) {
        status = CL_OUT_OF_HOST_MEMORY;
        goto out;
    }
    const struct setup_inputs in = { .q = zeros, .k = zeros, .v = zeros, .lse = c.lse, .x = &extras };
    if ((status = clattn_create(&handle, where.context, where.device, NULL)) ||
        (status = clattn_plan_create(&plan, handle, &c.problem, NULL)) ||
        (status = setup_open(&setup, &where, &c, &in)) || (status = setup_prepare(&setup, plan)))
        goto out;
    status = measure(handle, plan, &setup, &c, problem);
out:
    if (words)
        fprintf(stderr, "clattn-overhead: %s\n", words);
    setup_close(&setup);
    extras_free(&extras);
    (void)clattn_plan_release(plan);
    (void)clattn_release(handle);
    opencl_close(&where);
    free(zeros);
    return status;
}

int main(int argc, char **argv)
{
    if (argc < 2 || argc > 3) {
        fputs("usage: clattn-overhead [DEVICE] 'PROBLEM'\n", stderr);
        return EXIT_USAGE;
    }
    struct fault f = { 0, "" };
    const cl_int status = run(argc == 3 ? argv[1] : NULL, argv[argc - 1], &f);
    if (status && !f.status)
        fault_set(&f, EXIT_USAGE, "%s", clattn_status_string(status));
    if (f.status)
        fault_print(&f, "clattn-overhead");
    return f.status;
}
