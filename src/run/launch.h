/* launch.h - a plan's passes on a queue: a call's arguments, checked, to kernels that are enqueued
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "run/call.h"

#include <pthread.h>

/* A kernel ready to run. clSetKernelArg is not thread-safe on one kernel: calls take one of a few, under its lock. */
enum { POOL_SIZE = 4 };
struct pool {
    unsigned next;
    struct {
        pthread_mutex_t lock;
        cl_kernel kernel;
    } of[POOL_SIZE];
};

/* A pass made runnable; pass NULL: the plan lacks it. */
struct launch_pass {
    const struct pass *pass;
    struct target target; /* of its program */
    struct params params; /* that its kernel takes */
    struct pool pool;
    int items;            /* of a work-group */
};

/* Does not move once it is made: targets and calls point into it. */
struct launch {
    cl_device_id device;            /* borrowed from the handle, as are plan.context and the caps of targets */
    clattn_problem problem;         /* without the caller's texts and names: they are in the program */
    clattn_aux aux[CLATTN_AUX_MAX]; /* what problem.aux points to, for the types */
    struct config config;
    struct call_plan plan;
    size_t max_workspace; /* of a call, as the plan's maker says; 0: no bound */
    cl_mem absent;        /* stands for every buffer that a call lacks: the first row of anything, all zeros */
    struct launch_pass passes[PASSES];
};

/* programs: what was built for each pass that applies to the problem, else NULL. */
cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, const cl_program programs[PASSES],
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why);
void launch_clear(struct launch *l);

/* Calls compute with another scale of the same kind from now on. */
void launch_set_scale(struct launch *l, double scale);

/* Runs every kernel once on nothing: a driver that compiles at the first enqueue does it now. */
cl_int launch_idle(struct launch *l, struct why *why);

/* What a caller can ask of a plan: how its arguments, of a type of its own, are read, and what calls it is: they go
 * through the passes that name one of these, one after another. */
struct operation {
    bool backward; /* of plans with CLATTN_BACKWARD, which have no other; else of the others */
    call_reader *read;
    unsigned calls; /* PASS_CALL_* */
    /* Of the workspace. Reads what decides about it; NULL: calls need none. */
    call_reader *read_sizes;
    bool (*call_bytes)(const struct target *, const struct arguments *, int64_t *bytes); /* that its passes share */
    void (*take_parts)(struct call *, const clattn_problem *); /* tells where states of parts are; NULL: none are */
};
extern const struct operation launch_forward, launch_merge, launch_scores, launch_block_map, launch_append,
    launch_rotary, launch_backward, launch_mods_off;

/* How a call waits and what tells that it is done, as OpenCL's own enqueue calls. `first`, unless it is NULL, receives
 * the event of the call's first kernel, NULL where there is none but the last one: a call begins with that. */
struct waits {
    cl_uint n;
    const cl_event *list;
    cl_event *event, *first;
};

/* Bytes of workspace that a call needs: as much as that of its passes which needs most, since they share it. */
cl_int launch_workspace(const struct launch *l, const struct operation *what, const void *args, size_t *size,
                        struct why *why);

/* args: of the type that the operation reads. */
cl_int launch_run(struct launch *l, const struct operation *what, cl_command_queue queue, const void *args,
                  const struct waits *waits, struct why *why);

/* The same without a plan of the caller's own: arguments without sizes have these, and where no workspace is brought
 * the call has one of its own. */
cl_int launch_run_alone(struct launch *l, const struct operation *what, const clattn_sizes *sizes,
                        cl_command_queue queue, const void *args, const struct waits *waits, struct why *why);

#endif
