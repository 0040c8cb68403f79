/* launch.h - a plan's passes on a queue: a call's arguments, checked, to kernels that are enqueued
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "run/launch_pass.h"

struct launch {
    cl_context context; /* borrowed from the handle, as is caps */
    cl_device_id device;
    const struct caps *caps;
    clattn_problem problem;         /* without the caller's texts and names: they are in the program */
    clattn_aux aux[CLATTN_AUX_MAX]; /* what problem.aux points to, for the types */
    size_t max_workspace; /* of a call, as the plan's maker says; 0: no bound */
    cl_mem absent;        /* stands for every buffer that a call lacks: the first row of anything, all zeros */
    struct launch_pass passes[PASSES];
};

/* programs: what was built for each pass that applies to the problem, else NULL. */
cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, const cl_program programs[PASSES],
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why);
void launch_clear(struct launch *l);

/* Runs every kernel once on nothing: a driver that compiles at the first enqueue does it now. */
cl_int launch_idle(struct launch *l, struct why *why);

/* What a caller can ask of a plan: how its arguments are read, and the passes that they go through, one after another.
 */
enum { OPERATION_PASSES = 8 };
struct operation {
    cl_int (*read)(struct call *, const struct call_plan *, const void *args, struct why *); /* of its own type */
    int n, passes[OPERATION_PASSES];
    cl_int (*read_sizes)(struct call *, const struct call_plan *, const void *args, struct why *); /* of that, what
                                                        decides about the workspace; NULL: it needs none */
};
extern const struct operation launch_forward, launch_merge, launch_block_map, launch_append, launch_rotary,
    launch_backward, launch_textless;

/* What the operation's calls are read for; rows are those of its first pass. */
struct call_plan launch_call_plan(const struct launch *l, const struct operation *what);

/* Whether the plan has the operation: gradients have plans of their own. */
cl_int launch_check(const struct launch *l, const struct operation *what, struct why *why);

/* Bytes of workspace that a call needs: as much as that of its passes which needs most, since they share it. */
cl_int launch_workspace(const struct launch *l, const struct operation *what, const void *args, size_t *size,
                        struct why *why);

/* args: of the type that the operation reads. */
cl_int launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                  const struct waits *waits, struct why *why);

#endif
