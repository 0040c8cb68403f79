/* block_map.h - block maps: which a call may use, and the arguments of making one
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BLOCK_MAP_H
#define BLOCK_MAP_H

#include "run/call.h"
#include "run/tensor.h"

/* Whether block_q and block_k are given as the problem says, and make sense. */
cl_int block_map_check(const clattn_problem *p, const clattn_forward_args *a, struct why *why);

/* How a call uses its map. */
struct tensor4_use block_map_use(const clattn_problem *p, const clattn_forward_args *a, const clattn_sizes *s,
                                 bool written);

/* Reads a call that makes a map into *c, which begins as zeros. */
cl_int block_map_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

#endif
