/* work.h - what a problem has a device do, and the memory that it takes; needs no device
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WORK_H
#define WORK_H

#include "bench/figures/memory.h"

#include <clattn.h>

/* The work of one call: as clattn_workload_cost(), but without the rows of K and V that lengths, causality and windows
 * hide from every query, which need not be read. Of packed sequences all rows count. */
struct work {
    double flops, bytes;
    int at_most; /* it may be less: a block map's empty blocks are skipped, and nobody counts them */
};
cl_int work_of(const clattn_workload *c, struct work *w);

/* What clattn-bench needs for it: inputs on the host, where they are double, and all buffers but workspaces and those
 * of captured arrays. Sizes whose product overflows need UINT64_MAX. */
void work_need(const clattn_workload *c, struct memory_need *n);

/* The bytes of a matrix of scores in float, [b,h,nq,nk]. */
uint64_t work_scores(const clattn_workload *c);

#endif
