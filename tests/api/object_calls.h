/* object_calls.h - a call of every function that takes a handle, a plan or a trial
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef OBJECT_CALLS_H
#define OBJECT_CALLS_H

#include "tests/lib/harness.h"

#include <clattn_tune.h>

/* What a parent has made, what calls are given, and where they leave what they make. */
struct world {
    clattn_handle handle;
    clattn_plan plan, gradients, cache, looking;
    clattn_trial trial;
    cl_command_queue queue;
    const clattn_problem *problem;
    const clattn_forward_args *forward;
    const clattn_backward_args *backward;
    const clattn_append_args *append;
    const clattn_scores_args *scores;
    const clattn_rotary_args *rotary;
    const clattn_merge_args *merge;
    void *nothing; /* NULL */
    clattn_plan made;
    clattn_trial tried;
    cl_event event;
    char words[512];
    size_t size;
    double seconds;
    clattn_plan_info info;
    clattn_counters counters;
    clattn_import_count count;
};

/* Calls it; *left: something is left where it leaves what it makes. */
struct object_call {
    const char *name;
    cl_int (*call)(struct world *w, int *left);
};

/* All but those that release. */
extern const struct object_call object_calls[];
extern const int object_calls_count;

#endif
