/* reference.h - attention in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0
 *
 * Knows nothing of the library but the structs of its interface: written from the formulas, so that it can judge it. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <clattn.h>

#include <stdint.h>

/* Changes the scores s[0 .. nk - 1] of row q, where keep[k]; behind softcap. Returns 0, or -1, which ends the whole. */
typedef int (*reference_mod)(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q,
                             int64_t nk);

/* One problem. Arrays of lengths are [b] or NULL. Zero is none everywhere. */
struct reference {
    clattn_problem p;          /* of it only what has no member of its own here: causal, align, sizes.offset, softcap,
                                  the flags of what needs no array, and their numbers */
    int64_t b, h, hk, nq, nk, d, dv;
    int type, narrow_p;        /* for the bound: CLATTN_F32.. of O; weights are stored in p.type (0: in that of O), as
                                  matrix units want */
    double share; /* 0: bounds are what is promised. Else this part of what right kernels lose at most on data that is
                     not made to be bad, which is less and what tests ask; of reference_bound.h */
    int64_t q_pitch, k_pitch;  /* rows from head to head in Q, O and LSE, in K and V; 0: nq and nk. For packed
                                  sequences, which are computed one by one */
    double scale;
    const int32_t *q_len, *kv_len, *kv_start, *offsets;
    /* Of axes b, h, q, k; an axis of shape 1 is broadcast. b counts from b0, which is 0 but for one entry of many. */
    const double *bias;
    const unsigned char *mask, *block_map; /* block_map: 0 drops the whole block */
    int64_t bias_shape[4], mask_shape[4], block_shape[4], block_q, block_k, b0;
    const double *slopes;      /* [slopes_b, h], slopes_b 1 or all batch entries */
    int64_t slopes_b;
    const double *sinks;       /* [h] */
    uint64_t dropout_seed, dropout_offset; /* of a call */
    reference_mod mod;         /* NULL: none; b counts from b0 here too */
    void *user;
};

/* q [b,h,nq,d], k [b,hk,nk,d], v [b,hk,nk,dv], the values as stored. Writes o [b,h,nq,dv] and lse [b,h,nq], and
 * unless NULL o_bound and lse_bound of the same shapes: how far off each element may be, by the law of doc/semantics,
 * "The bound", or by what is usual (share): E_k = u 32 (1 + a_k), a_k being x_k, and |s| after each step, 16 +
 * 2 log2(1 + n) in place of C, and of LSE u (32 sum_k p_k (1 + a_k) + 16 + 2 log2(1 + n) + 2 |lse|), of which the share
 * is taken, but not of C.
 * A sink is a key whose value is 0. What is infinite in x_k and y_k does not count. Both bounds are 0 where the result
 * must be as it is: in O of rows that keep no key, and where it is NaN or infinite.
 * seen, unless NULL, [b,hk,nk] whatever k_pitch is: becomes 1 for keys that some query keeps (never reset to 0).
 * Returns 0, or -1 when memory ran out or mod failed. */
int reference_forward(const struct reference *r, const double *q, const double *k, const double *v, double *o,
                      double *lse, double *o_bound, double *lse_bound, unsigned char *seen);

/* Half a unit in the last place of LSE and dLSE: those of a float, or with CLATTN_LSE_F64 of a double. */
double reference_lse_unit(const struct reference *r);

/* Of a bound, what storing x alone may do: eps |x| + tiny. */
double reference_rounding(int type, double x);

#endif
