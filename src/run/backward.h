/* backward.h - the arguments of a backward call, checked
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKWARD_H
#define BACKWARD_H

#include "run/call.h"

/* Reads a clattn_backward_args, and the forward call's arguments that it points to. */
cl_int backward_read_args(clattn_backward_args *a, clattn_forward_args *forward, const void *in, struct why *why);

/* Reads a clattn_backward_args into *c, which begins as zeros: all but where its workspace lies. */
cl_int backward_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

/* The same of a call with the mods off (problem/mods.h). */
cl_int backward_read_mods_off(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

/* What decides about the workspace: sizes, and what is wanted. */
cl_int backward_read_sizes(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

#endif
