/* reference_backward.h - gradients of attention in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0
 *
 * From the formulas of SEMANTICS, like reference.h, whose struct says what is computed. */
#ifndef REFERENCE_BACKWARD_H
#define REFERENCE_BACKWARD_H

#include "tools/oracle/reference.h"

/* A row of ds behind the score_mods, which a caller leads back through them: ds, how far off each may be, and 0 where a
 * key is dropped. s: scores before the first mod. a: as in reference.h. Of what computing may lose, u: of a product or
 * a function, more: of sums over all rows, in parts of what is added up. */
struct reference_mod_row {
    int64_t b, h, q, nk;
    const double *s, *a;
    double *ds, *off, u, more;
};
typedef int (*reference_mod_grad)(void *user, const struct reference_mod_row *row); /* 0, or -1, which ends the whole */

/* What is given, and what is wanted: arrays in the order of their tensors, the pitches of struct reference included.
 * Sums over heads that share keys are in dk and dv; those over batch entries are up to the caller, who gives `entries`
 * then, adds all up and ends.
 *
 * Bounds say how far off each element may be, by the law of doc/semantics, "The bound of gradients", or by what is
 * usual (`share` of struct reference), where, with L(m) = 16 + 2 log2(1 + m) for a sum of m terms,
 *     p    is off by p (e^F - 1)         F = u (32 (1 + a) + L(n)) + B_LSE, and p more where it may count as 0
 *     dp   by u L(dv) sum |dO V|
 *     D    by u L(dv) sum |dO O| + B_O + 2^-24 |dLSE|
 * and sums lose u L(m); softcap's factor is off by u (8 + 4 a / c). Score_mods are off as mod_grad says.
 *
 * O and LSE that are right but for their storage are off by eps_O |O| and 2^-24 (1 + 2 |lse|), O by what subnormal
 * numbers are coarser, too; those that a device computed by o_bound and lse_bound, if these are given.
 */
struct reference_gradients {
    const double *dout, *dlse;             /* [b,h,nq,dv], [b,h,nq]; dlse NULL: none */
    const double *o_bound, *lse_bound;     /* as dout and dlse; both or none */
    int64_t entries;                       /* that b is a part of, or that share keys; 0: b, which share none */
    double *dq, *dk, *dv;                  /* as q, k and v */
    double *dq_bound, *dk_bound, *dv_bound;
    /* NULL: not wanted, or what it is the gradient of is not there. [bias_shape], [slopes_b,h], [h]; stored in float,
     * in f64 dbias in double. dBias is ds before softcap's factor, off as that is and by u L(b h nq nk) of its size,
     * and so are the others: dSlope is -ds |q + offset - k|, dSink -p D of the sink. */
    double *dbias, *dslopes, *dsinks, *dbias_bound, *dslopes_bound, *dsinks_bound;
    reference_mod_grad mod_grad; /* of a problem with score_mods */
    void *mod_user;
};

/* Adds what one or some batch entries give to gradients and bounds, before any of it is stored. Returns 0, or -1
 * without memory or when a score_mod failed. */
int reference_backward_add(const struct reference *r, const double *q, const double *k, const double *v,
                           const struct reference_gradients *g);
/* Behind all entries: adds to the bounds of n sums what storing these as `type` may do; 0 where one is NaN or infinite,
 * and must be. */
void reference_backward_store(int type, const double *x, double *bound, int64_t n);

#endif
