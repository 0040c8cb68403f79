/* judge_backward.h - whether the gradients of a sample are right
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef JUDGE_BACKWARD_H
#define JUDGE_BACKWARD_H

#include "judge/device_sample.h"

/* After a call from poison: the guards, and every `step`-th row of dQ, dK and dV, and all of others. */
cl_int judge_backward_check(struct device_sample *b, int64_t step, struct why *why);

/* A digest of all gradients, so that two calls can be compared. */
cl_int judge_backward_digest(struct device_sample *b, unsigned char to[32], struct why *why);

#endif
