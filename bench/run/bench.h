/* bench.h - what clattn-bench has open
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BENCH_H
#define BENCH_H

#include "bench/figures/ceilings.h"
#include "bench/figures/memory.h"
#include "bench/probes/probe.h"
#include "bench/run/bench_options.h"
#include "bench/run/progress.h"
#include "tools/system/opencl.h"

#include <clattn.h>
#include <stdio.h>

struct bench {
    struct bench_options o;
    struct opencl where;
    char driver[256];
    clattn_handle handle;
    struct memory_limits limits;
    struct probe probes[2]; /* of float and of double */
    int probed[2], moved;   /* whether they were tried, which happens at the first problem that wants them */
    struct moves moves;
    struct ceilings ceilings;
    struct progress progress;
    FILE *json;             /* --json-file, or NULL */
    struct figures *all;    /* where they are to be plotted */
    size_t n_all;
    int measured;           /* problems */
};

/* Sets the fault that a call failed, with the library's words where `h` is not NULL. Returns -1. */
int bench_fault(struct fault *f, clattn_handle h, cl_int status, const char *problem);

/* Finds how much memory there is, or takes what --memory says. */
cl_int bench_limits(struct bench *b);

#endif
