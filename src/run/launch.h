/* launch.h - a call's arguments, checked, to one kernel on a queue
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "problem/gqa.h"
#include "engine/tile.h"

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

struct launch {
    cl_context context; /* borrowed from the handle */
    cl_device_id device;
    clattn_problem problem;          /* without the caller's texts and names: they are in the program */
    clattn_aux aux[CLATTN_AUX_MAX];  /* what problem.aux points to, for the types */
    struct rows rows;
    int items_per_group;
    bool narrow_p;                   /* its engine stores P in 16 bits */
    size_t own_bytes, total_bytes;   /* of a work-group's workspace: always, and where keys are more than a segment */
    int64_t segment_keys;
    size_t max_workspace;            /* of a call, as the plan's maker says; 0: no bound */
    size_t map_items;
    cl_mem absent;                   /* stands for every buffer that a call lacks: the first row of anything, all zeros */
    struct pool forward, block_map;  /* block_map: empty without mask and map */
};

/* p, config: what the program was composed of. map: the program that makes block maps, or NULL. */
cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, cl_program program, cl_program map,
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why);
void launch_clear(struct launch *l);

/* Runs every kernel once on nothing: a driver that compiles at the first enqueue does it now. */
cl_int launch_idle(struct launch *l, struct why *why);

/* How a call waits and what tells that it is done, as OpenCL's own enqueue calls. */
struct waits {
    cl_uint n;
    const cl_event *list;
    cl_event *event;
};

cl_int launch_workspace(const struct launch *l, const clattn_forward_args *args, size_t *size, struct why *why);
cl_int launch_forward(struct launch *l, cl_command_queue queue, const clattn_forward_args *args,
                      const struct waits *waits, struct why *why);
cl_int launch_block_map(struct launch *l, cl_command_queue queue, const clattn_forward_args *args,
                        const struct waits *waits, struct why *why);

#endif
