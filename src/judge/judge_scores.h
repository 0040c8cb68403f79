/* judge_scores.h - whether a plan writes the right scores and weights
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef JUDGE_SCORES_H
#define JUDGE_SCORES_H

#include "judge/device_sample.h"

/* The scores of a sample whose forward call has run, at each stage, every `step`-th row against the sample's answer and
 * the guards around them; b->seen_lse has the LSE that weights are of. twice: a second call gives the same bits. Behind
 * a caller's text elements need only have been written. CLATTN_ERROR_WRONG_RESULT. */
cl_int judge_scores_check(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why);

#endif
