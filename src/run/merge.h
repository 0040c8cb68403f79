/* merge.h - partial results to be merged: a caller's, and the states of a call's own parts
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MERGE_H
#define MERGE_H

#include "run/call.h"

/* Reads a clattn_merge_args into *c, which begins as zeros. */
cl_int merge_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

/* The states that a forward call leaves in its workspace, whose place is known. */
void merge_take_states(struct call *c, const clattn_problem *p);

#endif
