/* reference.h - attention in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0
 *
 * Knows nothing of the library: written from the formulas, so that it can judge it. */
#ifndef REFERENCE_H
#define REFERENCE_H

#include <stdint.h>

/* Changes the scores s[0 .. nk - 1] of row q, where keep[k]; behind softcap. Returns 0, or -1, which ends the whole. */
typedef int (*reference_mod)(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q,
                             int64_t nk);

/* One problem. Arrays of lengths are [b] or NULL; align and offset mean what clattn.h says. Zero is none everywhere. */
struct reference {
    int64_t b, h, hk, nq, nk, d, dv;
    int64_t q_pitch, k_pitch;  /* rows from head to head in Q, O and LSE, in K and V; 0: nq and nk. For packed
                                  sequences, which are computed one by one */
    double scale;
    int causal;
    int align; /* CLATTN_ALIGN_* */
    int64_t offset;
    const int32_t *q_len, *kv_len, *kv_start, *offsets;
    double softcap;
    int window;                /* window_left and window_right count; -1: unbounded */
    int64_t window_left, window_right;
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

/* q [b,h,nq,d], k [b,hk,nk,d], v [b,hk,nk,dv], the values as stored. Writes o [b,h,nq,dv], lse [b,h,nq], and into
 * *conditioning the largest finite of, over the kept (q,k): |scale| sum_d |q k|, and |s| after softcap, after mods,
 * after ALiBi and after bias. seen, unless NULL, [b,hk,nk] whatever k_pitch is: becomes 1 for keys that some query
 * keeps (never reset to 0). Returns 0, or -1 when memory ran out or mod failed. */
int reference_forward(const struct reference *r, const double *q, const double *k, const double *v, double *o,
                      double *lse, double *conditioning, unsigned char *seen);

/* Largest error allowed in O and in LSE. type: CLATTN_F32.. of the storage; max_v: largest |v|. */
double reference_bound_o(int type, double conditioning, double max_v);
double reference_bound_lse(int type, double conditioning);

#endif
