/* launch_pass.h - a pass of a plan on a queue: its kernels, their arguments and the grid
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAUNCH_PASS_H
#define LAUNCH_PASS_H

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
    struct config config;
    struct rows rows;                /* that its work-groups own */
    struct pool pool;
    int items;                      /* of a work-group */
    int n_buffers, buffers[PARAMS]; /* that its kernel takes */
};

/* How a call waits and what tells that it is done, as OpenCL's own enqueue calls. `first`, unless it is NULL, receives
 * the event of the call's first kernel, NULL where there is none but the last one: a call begins with that. */
struct waits {
    cl_uint n;
    const cl_event *list;
    cl_event *event, *first;
};

struct launch; /* the plan's passes, one of which each function is for */

struct target launch_pass_target(const struct launch *l, const struct launch_pass *pass);
cl_int launch_pass_init(struct launch *l, int id, cl_program program, const struct config *config, struct why *why);
void launch_pass_clear(struct launch_pass *pass);

/* A kernel of the pool, locked until it is given back: a free one when there is one. Returns its place. */
unsigned launch_pass_take(struct launch_pass *pass);
void launch_pass_give_back(struct launch_pass *pass, unsigned at);
cl_int launch_pass_set_args(const struct launch *l, const struct launch_pass *pass, unsigned at, const struct call *c,
                            struct why *why);

/* Work-groups of a call; 0: nothing to do, or the plan lacks the pass. */
size_t launch_pass_groups(const struct launch *l, const struct launch_pass *pass, const struct call *c);

/* The grid is a rectangle of at least `groups`. It never gets GRID_WIDTH wide, nor has an offset: PoCL compiles a
 * kernel once more for each of these, at its first use, and calls never compile. */
struct grid {
    size_t wide, high; /* in groups */
};
struct grid launch_pass_grid(size_t groups, size_t items);
cl_int launch_pass_enqueue(const struct launch_pass *pass, unsigned at, cl_command_queue queue, size_t groups,
                           const struct waits *w, struct why *why);

#endif
