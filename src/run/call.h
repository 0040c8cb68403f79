/* call.h - a caller's arguments, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_H
#define CALL_H

#include "cl/args.h"
#include "problem/gqa.h"
#include "engine/params.h"

/* Everything that a forward kernel is given. mem: NULL for what has no elements or is not given. */
struct call {
    cla_args args;
    cl_mem mem[PARAMS];
};
cl_int call_read(struct call *c, const clattn_problem *p, cl_context context, const clattn_forward_args *in,
                 const struct rows *rows, struct why *why);

/* What arguments tell of the work-groups of a call: `groups`, `heads`, `pack` and `per_pack`. */
cl_int call_groups(cla_args *to, const clattn_sizes *s, const struct rows *rows, struct why *why);

/* Adds the workspace to a call that was read, and needs `need` bytes of it: not 0. */
cl_int call_workspace(struct call *c, cl_context context, const clattn_forward_args *in, size_t need, struct why *why);

/* The sizes of a call alone, of a struct already read and of the caller's. */
cl_int call_sizes(clattn_sizes *s, const clattn_problem *p, const clattn_forward_args *a, struct why *why);
cl_int call_read_sizes(clattn_sizes *s, const clattn_problem *p, const clattn_forward_args *in, struct why *why);

#endif
