/* probe.c - how many multiply-adds a device does at best
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/probes/probe.h"

#include <math.h>
#include <string.h>

enum { TRIES = 5 };

static cl_int set_steps(struct probe *p, const struct form *f, cl_int n)
{
    p->flops = 2.0 * CHAINS * STEPS * f->width * (double)n * (double)p->kernel.items;
    return clSetKernelArg(p->kernel.kernel, 2, sizeof n, &n);
}

/* As many steps as take about 10 ms. */
static cl_int find_steps(struct probe *p, const struct form *f)
{
    double ms = 0;
    cl_int status = set_steps(p, f, 1), n = 64;
    if (!status)
        status = form_run(&p->kernel, p->queue, &ms); /* drivers compile at the first */
    for (; !status && n < 1 << 24; n *= 2)
        if ((status = set_steps(p, f, n)) || (status = form_run(&p->kernel, p->queue, &ms)) || ms > 5)
            break;
    return status ? status : set_steps(p, f, ms > 5 ? (cl_int)(n * 10.0 / ms) + 1 : n);
}

static void drop(struct probe *p)
{
    form_close(&p->kernel);
    if (p->out)
        (void)clReleaseMemObject(p->out);
    p->out = NULL;
}

static cl_int open_form(struct probe *p, const struct opencl *where, const struct form *f, int twice, size_t units)
{
    const cl_float half = 0.5f;
    cl_int status = form_open(&p->kernel, where, f, twice, "multiply_add");
    p->kernel.items = p->kernel.local * units * GROUPS_PER_UNIT;
    if (!status)
        p->out = clCreateBuffer(where->context, CL_MEM_WRITE_ONLY, p->kernel.items * (size_t)f->width * 8, NULL,
                                &status);
    if (!status)
        status = clSetKernelArg(p->kernel.kernel, 0, sizeof p->out, &p->out);
    if (!status)
        status = clSetKernelArg(p->kernel.kernel, 1, sizeof half, &half);
    return status ? status : find_steps(p, f);
}

cl_int probe_run(struct probe *p, double *rate)
{
    double ms = NAN;
    const cl_int status = form_run(&p->kernel, p->queue, &ms);
    *rate = ceilings_rate(p->flops, ms);
    return status;
}

cl_int probe_open(struct probe *p, const struct opencl *where, int twice)
{
    const struct form *forms = NULL;
    size_t units = 0;
    int best = -1;
    memset(p, 0, sizeof *p);
    cl_int status = form_find(where->device, &forms, &units);
    if (status)
        return status;
    p->queue = clCreateCommandQueue(where->context, where->device, 0, &status);
    if (status)
        return status;
    for (int i = 0; i < FORMS; i++) { /* what cannot be built or run here is no form of this device */
        double rate;
        if (!open_form(p, where, &forms[i], twice, units))
            for (int n = 0; n < TRIES && !probe_run(p, &rate); n++)
                if (rate > p->best) {
                    p->best = rate;
                    best = i;
                }
        drop(p);
    }
    return best < 0 ? CL_BUILD_PROGRAM_FAILURE : open_form(p, where, &forms[best], twice, units);
}

void probe_close(struct probe *p)
{
    drop(p);
    if (p->queue)
        (void)clReleaseCommandQueue(p->queue);
    memset(p, 0, sizeof *p);
}
