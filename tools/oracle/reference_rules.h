/* reference_rules.h - what masks and changes of scores do to a row of scores, in float64: a rule for each
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REFERENCE_RULES_H
#define REFERENCE_RULES_H

#include "tools/oracle/reference.h"

#include <stdbool.h>

/* One row of the scores: its keys [lo,hi), and the key on its diagonal. */
struct reference_line {
    int64_t b, h, q, diagonal, lo, hi;
};

/* Where the cells of row (b, h, q) begin in an array of `shape`, whose axes of 1 are broadcast and whose entries and
 * heads may repeat; *step: from key to key. */
int64_t reference_cells(const int64_t shape[4], int64_t b, int64_t h, int64_t q, int64_t *step);

/* Whether anything in the problem asks where the diagonal lies. */
bool reference_needs_diagonal(const clattn_problem *p);

/* Row q of head h of entry b, with the keys that lengths, causality and windows leave; [0,0) where these are none. */
struct reference_line reference_line_of(const struct reference *r, int64_t b, int64_t h, int64_t q);

/* keep[nk]: what is decided key by key, before any score. */
void reference_keep(const struct reference *r, const struct reference_line *at, unsigned char *keep);

/* Makes dots scores: every step behind the first, in the order of doc/semantics; and x_k of sizes of products, and y_k
 * on the way, without |s_k - lse|. What is not kept is computed too and never looked at. Returns 0, or -1 when a
 * score_mod failed. */
int reference_change(const struct reference *r, const struct reference_line *at, double *s, double *x, double *y,
                     unsigned char *keep);

#endif
