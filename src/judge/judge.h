/* judge.h - whether what a plan did to a sample's buffers is right
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef JUDGE_H
#define JUDGE_H

#include "judge/device_sample.h"

/* One call on all of it, from poison, and a look: rows of O and LSE, every `step`-th of all, against the sample's
 * answer, the guards around them, and, where guarded, the inputs; twice: a second call gives the same bits. What a
 * caller's text makes of scores nobody here knows: then rows need only have been written; but of a plan for gradients
 * with captured buffers the mods are off (problem/mods.h), and all is known. CLATTN_ERROR_WRONG_RESULT. */
cl_int judge_sample(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why);

/* The same of a sample that is needed once, guarded where `twice`, and of any pass: PASS_*. */
cl_int judge_pass(int pass, const struct sample *sample, struct launch *l, int64_t step, bool twice, struct why *why);

#endif
