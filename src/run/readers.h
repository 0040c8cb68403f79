/* readers.h - what callers say of each operation, checked: a file for each, NAME.c
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef READERS_H
#define READERS_H

#include "run/call.h"

/* Each reads the arguments that clattn.h has for its operation. */
call_reader append_read, block_map_read, merge_read, rotary_read, scores_read;

/* All of a backward call but where its workspace lies; the same with the mods off (problem/mods.h); and what decides
 * about the workspace: sizes, and what is wanted. */
call_reader backward_read, backward_read_mods_off, backward_read_sizes;

/* The arguments alone, and those of the forward call that they point to. */
cl_int backward_read_args(clattn_backward_args *a, clattn_forward_args *forward, const void *in, struct why *why);

/* Whether block_q and block_k are given as the problem says, and make sense; how a call uses its map. */
cl_int block_map_check(const clattn_problem *p, const clattn_forward_args *a, struct why *why);
struct tensor4_use block_map_use(const clattn_problem *p, const clattn_forward_args *a, const clattn_sizes *s,
                                 bool written);

/* The states that a forward call leaves in its workspace, whose place is known. */
void merge_take_states(struct call *c, const clattn_problem *p);

/* Checks a rotation of [b,heads,nq] rows of `width` elements, and fills in its arguments; a width of 0 is none. */
cl_int rotary_check(struct call *c, const struct call_plan *plan, const clattn_rotary *r, const clattn_sizes *s,
                    int32_t width, struct why *why);

#endif
