/* launch.h - a call's arguments, checked, to one kernel on a queue
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAUNCH_H
#define LAUNCH_H

#include "tile.h"

#include <pthread.h>

/* A kernel ready to run. clSetKernelArg is not thread-safe on one kernel: calls take one of a few, under its lock. */
enum { LAUNCH_POOL = 4 };
struct launch {
    cl_context context; /* borrowed from the handle */
    cl_device_id device;
    clattn_problem problem;
    int rows_per_group, items_per_group;
    unsigned next;
    struct {
        pthread_mutex_t lock;
        cl_kernel kernel;
    } pool[LAUNCH_POOL];
};

cl_int launch_init(struct launch *l, cl_context context, cl_device_id device, cl_program program,
                   const clattn_problem *p, const struct caps *caps, const struct config *config, struct why *why);
void launch_clear(struct launch *l);

cl_int launch_workspace(const struct launch *l, const clattn_forward_args *args, size_t *size, struct why *why);
cl_int launch_forward(struct launch *l, cl_command_queue queue, const clattn_forward_args *args, cl_uint n_wait,
                      const cl_event *wait_list, cl_event *event, struct why *why);

#endif
