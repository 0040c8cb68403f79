/* call.h - a caller's arguments, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_H
#define CALL_H

#include "engine/params.h"
#include "problem/gqa.h"

/* What a plan's calls are read for. */
struct call_plan {
    const clattn_problem *p;
    struct rows rows;
    cl_context context;
};

/* Everything that the kernels of a call are given. mem: NULL for what has no elements or is not given. */
struct call {
    clattn_forward_args given; /* the caller's, of this version's size */
    struct arguments args;
    cl_mem mem[PARAMS];
};

/* Reads a call into *c, which begins as zeros: of a forward pass all but its workspace. */
cl_int call_read_forward(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

/* What only sizes tell: `groups`, `heads`, `packed_heads`, `per_packed_head` and `nk` of the arguments, which decide
 * about the workspace. */
cl_int call_read_sizes(struct call *c, const struct call_plan *plan, const clattn_forward_args *in, struct why *why);

/* The sizes of a call whose struct has been read. */
cl_int call_sizes(clattn_sizes *s, const clattn_problem *p, const clattn_forward_args *a, struct why *why);

#endif
