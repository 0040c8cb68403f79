/* problem.h - what is asked for: checked problems. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBLEM_H
#define PROBLEM_H

#include "base/why.h"
#include "problem/problem_type.h"

enum { D_MAX = 576, ROWS_MAX = 1 << 30, SPLITS_MAX = 1024 };

/* Reads and checks a caller's problem; defaults (types, dv, hk, scale) are filled in, so nobody else needs to know
 * them. */
cl_int problem_read(struct clattn_problem *out, const clattn_problem *in, struct why *why);

/* The same for sizes on their own. */
cl_int problem_check_sizes(clattn_sizes *sizes, struct why *why);
/* Whether a caller's problem is one, its sizes included. */
cl_int problem_check(const clattn_problem *p, struct why *why);

/* Whether Q or K are varlen; and whether that, or lists, say how many rows of each batch entry there are, or count. */
bool problem_is_varlen(const clattn_problem *p);
bool problem_has_lists(const clattn_problem *p);

/* Flags with which calls give slopes. */
enum { PROBLEM_SLOPES = CLATTN_ALIBI | CLATTN_BIAS_SLOPES };

/* Whether keys may be dropped elsewhere than at the ends of what the queries of a tile see. */
bool problem_has_holes(const clattn_problem *p);

/* Whether anything is done to scores but dropping, and scaling by what is well above 0 and at most ln 2. */
bool problem_changes_scores(const clattn_problem *p);

int problem_lse_type(const clattn_problem *p); /* of LSE, dLSE and LSE of parts */

/* Scales of a row of `width` elements of which `group` share one. */
int32_t problem_groups(int32_t width, int32_t group);

/* Bytes of a row of K and of V, with what scales it. */
double problem_k_row_bytes(const clattn_problem *p);
double problem_v_row_bytes(const clattn_problem *p);

#endif
