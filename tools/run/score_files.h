/* score_files.h - scores and weights of the forward call of a setup, written to files
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SCORE_FILES_H
#define SCORE_FILES_H

#include "tools/oracle/verify.h"
#include "tools/run/arrays.h"

/* By stage, CLATTN_SCORES_*; NULL: not wanted. at: [b,h,nq,nk], packed [h,total_q,nk]. */
struct score_files {
    const char *path[VERIFY_SCORES];
    double *at[VERIFY_SCORES];
    size_t n;
};

/* Reads what --scores asks for, and makes room for it. Returns 0, or -1 with `f` set; score_files_free() is due in both
 * cases. */
int score_files_read(const struct options *o, const struct arrays *a, struct score_files *s, struct fault *f);
void score_files_free(struct score_files *s);

/* Whether --scores asks for weights, for which a call has to write LSE. */
int score_files_need_lse(const struct options *o);

/* Computes them behind setup_run(), of a plan with CLATTN_SCORES, and waits. Returns CL_SUCCESS or what failed. */
cl_int score_files_run(struct score_files *s, struct setup *setup, clattn_plan plan);

#endif
