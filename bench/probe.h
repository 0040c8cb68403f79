/* probe.h - what a device can do at best: multiply-adds in registers, copying and reading in memory
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBE_H
#define PROBE_H

#include "opencl.h"

struct probe {
    cl_context context;
    cl_device_id device;
    cl_command_queue queue;
    const struct form *forms;
    cl_program program;  /* the form of the multiply-adds that was the fastest here */
    cl_kernel kernel;
    cl_mem out;
    size_t items, local;
    double flops;        /* of one round */
    double copied;       /* GB/s, bytes read and bytes written */
    double read;         /* GB/s, where bytes are only read */
};

/* Tries several forms of each, which takes a second or two. twice: double instead of float. probe_close() must be
 * called in any case. */
cl_int probe_open(struct probe *p, const struct opencl *where, int twice);

/* One round of multiply-adds, about 10 ms: GFLOP/s into *rate. */
cl_int probe_run(struct probe *p, double *rate);
void probe_close(struct probe *p);

#endif
