/* call.h - a caller's arguments, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALL_H
#define CALL_H

#include "engine/params.h"
#include "engine/split.h"
#include "run/tensor.h"

/* What a plan's calls are read for; pointers are borrowed. */
struct call_plan {
    const clattn_problem *p;
    cl_context context;
    const struct target *target; /* of the main pass */
    struct split_rule split;
    struct arguments known; /* numbers that the problem alone tells */
};

/* Fills in the numbers that the problem alone tells. */
void call_known(struct arguments *known, const clattn_problem *p);

/* Where a caller has room for what kernels keep meanwhile: bytes. */
struct workspace {
    cl_mem mem;
    size_t offset, size;
};

/* Everything that the kernels of a call are given. mem: NULL for what has no elements or is not given. */
struct call {
    const clattn_sizes *sizes; /* where arguments give none; set before they are read */
    struct arguments args;
    cl_mem mem[PARAMS];
    struct workspace workspace;
    int64_t part_groups;     /* work-groups of a part of the keys, or of a stripe of them */
    bool parts_may_be_fewer; /* a rule said how many, not the caller */
    int64_t short_parts;     /* of so many parts, or more, none has totals of long sums, which take workspace */
};

/* Reads a caller's arguments, of a struct of its own, into *c, which begins as zeros. */
typedef cl_int call_reader(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

/* A clattn_forward_args: all of a forward pass but where its workspace lies; and what only sizes tell, `groups`,
 * `parts`, `heads`, `packed_heads`, `nq`, `nk` and the like of the arguments, which decide about the workspace. */
call_reader call_read_forward, call_read_sizes;

/* What a call does with O and LSE. Those that write no O do without V, too. */
enum call_use { CALL_WRITES, CALL_READS, CALL_READS_LSE, CALL_NEEDS_NEITHER };

/* Everything but how the work is parted: the sizes of the call as well. */
cl_int call_read_inputs(struct call *c, const struct call_plan *plan, const clattn_forward_args *given,
                        enum call_use use, clattn_sizes *s, struct why *why);

/* How the work is parted where keys are not. */
cl_int call_set_groups(struct call *c, const struct call_plan *plan, const clattn_sizes *s, struct why *why);

/* Whether heads share what is read of bias and mask. */
bool call_heads_share(const struct call *c, const clattn_problem *p);

/* What a call's bias and its mask have to be. */
struct tensor4_use call_use_of_bias(const clattn_problem *p, const clattn_sizes *s);
struct tensor4_use call_use_of_mask(const clattn_problem *p, const clattn_sizes *s);

/* An array that a call's kernels read: the buffer that it becomes, and where its first element lies. */
struct call_array {
    int param;
    const clattn_array *array;
    struct array_use use;
    cla_i64 *offset;
};
/* Checks n of them, in their order. */
cl_int call_check_arrays(struct call *c, const struct call_array *arrays, size_t n, cl_context context,
                         struct why *why);

/* Parts of n tiles of keys that have no more than a chain of sums (cl/passes/args.h) each: the fewest. */
int64_t call_short_parts(int64_t tiles);

/* Splits the keys into another number of parts; false: that makes too many work-groups. */
bool call_set_parts(struct call *c, int parts);

/* The sizes of a call that gives these, or NULL. */
cl_int call_sizes(clattn_sizes *s, const struct call *c, const clattn_sizes *given, struct why *why);

#endif
