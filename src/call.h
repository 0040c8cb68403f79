/* call.h - a caller's arguments, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_H
#define CALL_H

#include "args.h"
#include "pack.h"
#include "params.h"

/* Everything that a forward kernel is given. mem: NULL for what has no elements or is not given. */
struct call {
    cla_args args;
    cl_mem mem[PARAMS];
    size_t groups; /* each owns rows of one (b, h), or of one b and all heads that share keys */
};
cl_int call_read(struct call *c, const clattn_problem *p, cl_context context, const clattn_forward_args *in,
                 const struct rows *rows, struct why *why);

/* Most work-groups, which a size_t of 32 bits may not even count. */
#define GROUPS_MAX ((int64_t)(SIZE_MAX >> 1 < (uint64_t)1 << 40 ? SIZE_MAX >> 1 : (uint64_t)1 << 40))

/* Work-groups of a call, and the heads that each packs; pack may be NULL. */
cl_int call_groups(size_t *groups, cla_i32 *pack, const clattn_sizes *s, const struct rows *rows, struct why *why);

/* Adds the workspace to a call that was read, and needs `need` bytes of it: not 0. */
cl_int call_workspace(struct call *c, cl_context context, const clattn_forward_args *in, size_t need, struct why *why);

/* The sizes of a call alone, of a struct already read and of the caller's. */
cl_int call_sizes(clattn_sizes *s, const clattn_problem *p, const clattn_forward_args *a, struct why *why);
cl_int call_read_sizes(clattn_sizes *s, const clattn_problem *p, const clattn_forward_args *in, struct why *why);

#endif
