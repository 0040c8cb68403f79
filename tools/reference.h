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
    double share; /* the part that is asked for (0: all) of what wrong weights may do, to O and to LSE: tests ask
                     more than is promised. What rounding alone may do stays: 64 additions beside a key that
                     has nearly all the weight are off by half of that now and then */
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
    reference_mod mod;         /* NULL: none; b counts from b0 here too */
    void *user;
};

/* q [b,h,nq,d], k [b,hk,nk,d], v [b,hk,nk,dv], the values as stored. Writes o [b,h,nq,dv] and lse [b,h,nq], and
 * unless NULL o_bound and lse_bound of the same shapes: how far off each element may be. With the weights p_k of a row,
 * its n keys and its o_j, u = 2^-24 (f64: 2^-53), and a_k = |scale| sum_d |q k| plus |s| after each that there is of
 * softcap, mod, ALiBi and bias:
 *     o_bound   = u (32 T1 + (16 + 2 log2(1 + n)) T2) + 2 eps_p T2 (narrow_p) + eps |o_j| + tiny
 *                 T1 = sum_k p_k |v_kj - o_j| (1 + a_k), T2 = sum_k p_k |v_kj|; eps is half a unit in the last place of
 *                 O's type, tiny its smallest normal number; eps_p that of p.type
 *     lse_bound = 2^-24 (32 sum_k p_k (1 + a_k) + 16 + 2 log2(1 + n) + 2 |lse|): LSE is float in every type,
 *                 but with CLATTN_LSE_F64, where it is 2^-53
 * A sink is a key whose value is 0, with its own size for a_k. What is infinite in a_k does not count. A weight below
 * 2^-126 (f64: 2^-1022) of the largest may be 0. Both bounds are 0 where the result must be as it is: in O of rows that
 * keep no key, and where it is NaN or infinite.
 * seen, unless NULL, [b,hk,nk] whatever k_pitch is: becomes 1 for keys that some query keeps (never reset to 0).
 * Returns 0, or -1 when memory ran out or mod failed. */
int reference_forward(const struct reference *r, const double *q, const double *k, const double *v, double *o,
                      double *lse, double *o_bound, double *lse_bound, unsigned char *seen);

/* Half a unit in the last place of LSE and dLSE: those of a float, or with CLATTN_LSE_F64 of a double. */
double reference_lse_unit(const struct reference *r);

/* Of o_bound, what storing o alone may do: eps |o| + tiny. */
double reference_rounding(int type, double o);

#endif
