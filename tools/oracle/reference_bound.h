/* reference_bound.h - how far off what a device computed may be: the law of doc/semantics, and what tests ask
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REFERENCE_BOUND_H
#define REFERENCE_BOUND_H

#include "tools/oracle/reference.h"

/* What the type of O, and of what is computed with it, may lose. */
struct reference_precision {
    double unit; /* of sums, products and scores: u of doc/semantics */
    double eps;  /* of storing a number: half a unit in the last place */
    double tiny; /* the smallest normal number of that type */
    double lost; /* a weight below this counts as 0 */
    double flow; /* what underflow may lose of a sum, for each of its terms */
};
struct reference_precision reference_precision_of(int type);

/* What a score went through on its way: x, the size of its products; y, that of the score after each later step; away,
 * how far it is from the LSE of its row; sizes: of all elements of Q and K that it is made of. */
struct reference_score {
    double x, y, away, sizes;
};

/* Everything below is the law where r->share is 0, else that share of what right kernels lose at most on data that is
 * not made to be bad. */

/* E: the logarithm of the factor that a weight may be off, in a row of n keys. */
double reference_doubt(const struct reference *r, double n, struct reference_score s);
/* What O may lose of a sum of `terms` terms, which no share is asked of: 64 additions beside a key that has nearly all
 * of the weight are off by half of that now and then. A gradient, likewise; and a dot product of `width`. All in parts
 * of the sizes of what is added up. */
double reference_adding(const struct reference *r, double terms);
double reference_sum(const struct reference *r, double terms);
double reference_dot(const struct reference *r, double width);
/* What underflow may take of a score whose rows of Q and K have elements of these sizes in all: 2^-124 f. */
double reference_score_flow(const struct reference *r, double sizes);
/* What a sum of weights, or of what they are multiplied with, may lose where they are stored in 16 bits. */
double reference_narrowed(const struct reference *r);
/* A weight below `lost` of its row counts as 0, and what underflow may lose of a sum; matrix units have larger ones. */
double reference_lost(const struct reference *r);
double reference_flow(const struct reference *r);
/* 1 where they have P and dS in f16, in which what is below 2^-32 of the largest counts as 0. */
int reference_narrow_f16(const struct reference *r);
/* Of an LSE, beside what its weights do: the rounding of its sum and of itself. */
double reference_lse_rounding(const struct reference *r, double n, double lse);

/* sum + |x|, at most the largest double; what is not finite does not count. */
double reference_size(double sum, double x);

/* A weight of e^log_p that is off by a factor of up to e^doubt: how much more it may be than e^log_p. */
double reference_excess(double log_p, double doubt);

#endif
