/* verify_gradients.h - gradients of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_GRADIENTS_H
#define VERIFY_GRADIENTS_H

#include "tools/oracle/reference.h"
#include "tools/run/setup.h"
#include "tools/oracle/verify.h"

/* What gradients should be, all of them as one, and how far off each element may be. */
struct expected {
    const struct verify_gradients *given;
    double *want[VERIFY_GRADIENTS], *bound[VERIFY_GRADIENTS];
    unsigned char *taint[VERIFY_GRADIENTS]; /* what NaN and inf do there (verify_taint.h) */
    int64_t n[VERIFY_GRADIENTS];
    int64_t entries;
};

/* Makes room for the gradients of a call. Returns 0, or -1 without memory; expected_free() is due in both cases. */
int expected_make(struct expected *x, const struct verify_gradients *given, const clattn_workload *c,
                  const struct extras *extras);
void expected_free(struct expected *x);

/* One batch entry, whose first rows are `q` of Q and `k` of K: r, and from[5] its parts of Q, K, V, and of the O and
 * LSE that a device has computed, which may be as far off as o_bound and lse_bound of the entry. Returns 0, or -1
 * without memory. */
int expected_add(struct expected *x, const struct reference *r, const double *const from[5], int64_t q, int64_t k,
                 const double *o_bound, const double *lse_bound);

/* Behind all entries: how far off what is stored in the types of `p` may be. */
void expected_store(struct expected *x, const clattn_problem *p);

/* Looks at the rows of an entry, then at what entries share. */
void expected_look_at_rows(const struct expected *x, const struct reference *r, int64_t q, int64_t k,
                           struct farthest worst[VERIFY_GRADIENTS]);
void expected_look_at_others(const struct expected *x, struct farthest worst[VERIFY_GRADIENTS]);

#endif
