/* reference.h - attention in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0
 *
 * Knows nothing of the library: written from the formulas, so that it can judge it. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdint.h>

/* One problem. Arrays of lengths are [b] or NULL; align and offset mean what clattn.h says. */
struct reference {
    int64_t b, h, hk, nq, nk, d, dv;
    double scale;
    int causal;
    int align; /* CLATTN_ALIGN_* */
    int64_t offset;
    const int32_t *q_len, *kv_len, *kv_start, *offsets;
};

/* q [b,h,nq,d], k [b,hk,nk,d], v [b,hk,nk,dv], contiguous, the values as stored. Writes o [b,h,nq,dv], lse [b,h,nq],
 * and *conditioning = the largest finite |scale| sum_d |q k| over the kept (q,k). Returns 0, or -1 when memory ran out.
 */
int reference_forward(const struct reference *r, const double *q, const double *k, const double *v, double *o,
                      double *lse, double *conditioning);

/* Largest error allowed in O and in LSE. type: CLATTN_F32.. of the storage; max_v: largest |v|. */
double reference_bound_o(int type, double conditioning, double max_v);
double reference_bound_lse(int type, double conditioning);

#endif
