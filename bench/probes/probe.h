/* probe.h - what a device can do at best: multiply-adds in registers, copying and reading
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBE_H
#define PROBE_H

#include "bench/figures/ceilings.h"
#include "bench/probes/probe_form.h"
#include "tools/system/opencl.h"

/* Multiply-adds, of one round. */
struct probe {
    cl_command_queue queue;
    struct form_kernel kernel; /* the form that was the fastest here */
    cl_mem out;
    double flops;
    double best;               /* GFLOP/s, of any form */
};

/* Tries several forms, which takes a second or two. twice: double instead of float. probe_close() must be called in any
 * case. */
cl_int probe_open(struct probe *p, const struct opencl *where, int twice);

/* One round of multiply-adds, about 10 ms: GFLOP/s into *rate, NaN where no clock can tell. */
cl_int probe_run(struct probe *p, double *rate);
void probe_close(struct probe *p);

/* GB/s, the best of several tries of several forms; 0 where it could not be measured. */
struct moves {
    double copied;             /* bytes read and bytes written of the largest buffers, by kernels or by a command */
    double read;               /* the largest buffer, only read */
    double of[CEILINGS_SIZES]; /* working sets of those sizes: the larger one of reading and copying */
};

/* Takes two or three seconds, and two buffers of at most `room` bytes each. */
cl_int probe_moves(const struct opencl *where, uint64_t room, struct moves *m);

#endif
