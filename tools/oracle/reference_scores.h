/* reference_scores.h - scores and weights in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REFERENCE_SCORES_H
#define REFERENCE_SCORES_H

#include "tools/oracle/reference.h"

/* The scores of a problem at a stage (CLATTN_SCORES_*), and how far off each may be: doc/semantics, "Scores and
 * weights", or what is usual (share), u 32 (x_k + y) in place of S, and u 32 (1 + x_k + y + |s_k - lse|) in place of
 * E_k, of which the share is taken. q and k as reference_forward() takes them. lse [b,h,nq] and lse_off, what that is
 * off where the device reads it, as reference_forward() says: for weights only. Writes to and bound, [b,h,nq,keys] with
 * q_pitch; keys is at least nk, and what lies behind nk is as where a row has no score. bound is 0 where the result
 * must be as it is: where there is no score, and where it is NaN or infinite. Returns 0, or -1. */
int reference_scores(const struct reference *r, int stage, int64_t keys, const double *q, const double *k,
                     const double *lse, const double *lse_off, double *to, double *bound);

/* Whether `got` is within `bound` of `want`, which a device stores in `type`: what lies beyond the largest number of
 * that may be infinite. */
int reference_scores_agree(int type, double got, double want, double bound);

#endif
