/* judge_merge.h - whether a plan merges partial results right
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef JUDGE_MERGE_H
#define JUDGE_MERGE_H

#include "run/launch.h"

/* Merges states of made-up numbers, some of which saw nothing, and compares all of the result with that in double.
 * CLATTN_ERROR_WRONG_RESULT. */
cl_int judge_merge_states(struct launch *l, cl_command_queue queue, struct why *why);

#endif
