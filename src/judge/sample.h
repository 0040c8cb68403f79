/* sample.h - made-up inputs by a formula, and rows of their answer in double. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every value is exact in its storage type, so that what a kernel reads is what the answer is computed from, and a
 * value is computed where it is needed, so that nothing large is kept. */
#ifndef SAMPLE_H
#define SAMPLE_H

#include "problem/dropout.h"
#include "problem/problem.h"

/* The tensors of a call. */
enum sample_what { SAMPLE_Q, SAMPLE_K, SAMPLE_V, SAMPLE_BIAS, SAMPLE_MASK, SAMPLE_MAP, SAMPLE_SLOPES, SAMPLE_SINKS,
                   SAMPLE_K_SCALE, SAMPLE_K_ZERO, SAMPLE_V_SCALE, SAMPLE_V_ZERO, SAMPLE_Q_LEN, SAMPLE_KV_LEN,
                   SAMPLE_KV_START, SAMPLE_OFFSETS, SAMPLE_CU_Q, SAMPLE_CU_K, SAMPLE_TABLE,
                   SAMPLE_O, SAMPLE_DOUT, SAMPLE_DLSE, SAMPLES }; /* the last three: of a backward call */

struct sample {
    clattn_problem p;         /* checked; its sizes are the call's */
    uint32_t seed;
    bool ragged; /* lengths, starts and offsets are odd, and what is not seen holds NaN; else all rows count */
    int shape; /* of a backward call: which of sample_shapes[] */
    bool narrow_p;            /* what runs on it stores P in 16 bits, as matrix units do, and may be farther off */
    const double *values[SAMPLES]; /* as sample_value_compute() left them; NULL: computed where they are needed */
    const struct sample_element *elements; /* likewise, of sample_gradient_compute() */
    unsigned char *keys; /* for sample_gradient(): room for b h nq that begin as zeros, or NULL */
};

/* The axes that a bias has, of b, h, q and k, one with half as many where SAMPLE_HALF says so, they are even and
 * may repeat; whether each entry has slopes of its own; and whether dLSE is given. */
enum { SAMPLE_WHOLE = 1, SAMPLE_HALF };
struct sample_shape {
    int bias[4];
    bool slopes, dlse;
};
enum { SAMPLE_SHAPES = 4 };
extern const struct sample_shape sample_shapes[SAMPLE_SHAPES];

/* So many of them make a difference to the problem. */
int sample_shapes_of(const clattn_problem *p);

/* The extents of the sample's bias, and where its element for (b, h, q, k) lies. */
void sample_bias_shape(const struct sample *s, int64_t shape[4]);
int64_t sample_bias_cell(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k);

/* The totals of a packed sample's sequences, which fill their places in its sizes. */
void sample_set_totals(clattn_problem *p);

enum { SAMPLE_BLOCK = 32 }; /* of a block map, both ways */

/* Elements of one, 0 where the problem has none or they are too many; and the type that they are stored in. */
int64_t sample_count(const struct sample *s, enum sample_what what);
int sample_type(const struct sample *s, enum sample_what what);

/* Bytes of n elements as they are stored, where n is a multiple of sample_block(): 1 unless they are quantised. */
size_t sample_bytes(const struct sample *s, enum sample_what what, int64_t n);
int64_t sample_block(const struct sample *s, enum sample_what what);

/* Elements from..from + n - 1 of one, as they are stored, in whole blocks. Contiguous: [b,h,n,width], packed
 * [total,h,width], bias of the sample's shape, mask [1,1,nq,nk], paged K and V [pages,page,hk,width]
 * (sample_cache.h); scales and zero points have the axes of their K or V, but groups for the width. */
void sample_fill(const struct sample *s, enum sample_what what, int64_t from, int64_t n, void *to);

/* Computes all values of Q, K and V, and of O and dO, once, into room for sample_value_count() of them, so that answers
 * take a tenth of the time. sample_value_count(): 0 where they are too many to keep. */
size_t sample_value_count(const struct sample *s);
void sample_value_compute(struct sample *s, double *room);

/* Element `at` of a block map that is made of the sample's mask: 0 where the block keeps nothing, 2 where all, else
 * 1. */
int sample_map_of_mask(const struct sample *s, int64_t at);

/* Where row q of (b, h) lies in O, and in LSE; -1 where that sequence has no such row. */
int64_t sample_row(const struct sample *s, int64_t b, int64_t h, int64_t q);
int64_t sample_lse(const struct sample *s, int64_t b, int64_t h, int64_t q);

/* The rows of Q (or K) that entry b has, where they begin in a varlen tensor, those that count, and its diagonal. */
struct sample_entry {
    int64_t nq, nk, q_first, k_first, q_len, k_begin, k_end, offset;
};
struct sample_entry sample_entry_of(const struct sample *s, int64_t b);

/* The keys that lengths leave to query q of it: [begin,end), none where q does not count. */
struct sample_range {
    int64_t begin, end;
};
struct sample_range sample_range_of(const struct sample_entry *e, int64_t q);

/* What tensors are made of. sample_number(): a multiple of 1/16 in [-2, 2], never 0. */
uint32_t sample_hash(uint32_t seed, int64_t at);
double sample_number(uint32_t seed, int64_t at);

/* An element of Q, K or V by its place among the values (sample_cache.h), also of rows that are stored as NaN; or of
 * what a backward call reads of O and dO, which need not be the answer of anything. */
double sample_value(const struct sample *s, enum sample_what what, int64_t at);

/* n of them, at most SAMPLE_PIECE, from element `at` on: where they are kept, else computed into `room`. */
enum { SAMPLE_PIECE = 64 };
const double *sample_value_piece(const struct sample *s, enum sample_what what, int64_t at, int64_t n,
                           double room[SAMPLE_PIECE]);

/* What the row is: o[dv] and lse, and how far off each of them may be: o_bound[dv], and lse_bound. `scratch` has
 * SAMPLE_SCRATCH nk doubles. */
enum { SAMPLE_SCRATCH = 3 };
struct answer {
    double lse, lse_bound;
};
struct answer sample_answer(const struct sample *s, int64_t b, int64_t h, int64_t q, double *o, double *o_bound,
                            double *scratch); /* in sample_answer.c */

/* Its LSE alone. */
double sample_answer_lse(const struct sample *s, int64_t b, int64_t h, int64_t q, double *scratch);

/* What storing as `type` may do, in parts of what is stored; of a result o, whose rest may be denormal. */
double sample_answer_epsilon(int type);
double sample_answer_rounding(int o_type, double o);

/* What a backward call reads of dLSE, likewise; 0 where it is not given. */
double sample_value_dlse(const struct sample *s, int64_t at);

/* A score: whether it is kept, what it is after all changes, the size of its products, those that it had after each
 * change, added up, and its derivative by what it was before them. */
struct sample_score {
    bool kept;
    double logit, products, later, slope, sizes; /* sizes: of all elements of the two rows */
};
struct sample_score sample_answer_score(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h,
                                        int64_t q, int64_t k); /* in sample_answer.c */
/* The same at a stage of it, CLATTN_SCORES_*: `kept` is what lengths say before masks. */
struct sample_score sample_answer_stage(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h,
                                        int64_t q, int64_t k, int stage); /* likewise */
/* How many keys query q of it keeps; stops counting at `most`. */
int64_t sample_answer_kept(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h, int64_t q,
                           int64_t most); /* likewise */
/* What dropout multiplies a weight with: 1 where there is none; and the seed and the offset of the call. */
double sample_answer_factor(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k); /* likewise */
struct dropout sample_answer_dropout(const struct sample *s);
/* Row k of K or V that head h of entry b reads, among the values. */
int64_t sample_answer_key_row(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h, int64_t k);

/* Gradients as they are stored: [entries,heads,rows,width], packed as the tensors that they are of; rows 0 where the
 * problem has no such tensor. dBias has the shape of the sample's bias. From SAMPLE_DAUX on: of captured buffers, which
 * mod_grads.h says what texts look up in. In sample_gradient.c. */
enum { SAMPLE_DQ, SAMPLE_DK, SAMPLE_DV, SAMPLE_DBIAS, SAMPLE_DSLOPES, SAMPLE_DSINKS, SAMPLE_DAUX,
       SAMPLE_GRADIENTS = SAMPLE_DAUX + CLATTN_AUX_MAX };
struct sample_gradient_shape {
    int64_t entries, heads, rows, width;
    int type;
};
struct sample_gradient_shape sample_gradient_shape(const struct sample *s, int which);

/* Row n of head h of entry b of a gradient, `width` elements, and how far off each may be, where LSE is
 * lse[sample_lse()]. */
void sample_gradient(const struct sample *s, int which, const float *lse, int64_t b, int64_t h, int64_t n, double *row,
                     double *bound);

/* An element of the scores: its weight, as dV has it; ds, behind all changes of the score, and with respect to the
 * product of Q and K; how far off each may be. */
struct sample_element {
    double p, p_off, top, top_off, ds, ds_off;
};

/* Computes all of them once, into room for sample_gradient_elements(): 0 where there are too many to keep, or nothing
 * is a sum over all of them. */
size_t sample_gradient_elements(const struct sample *s);
void sample_gradient_compute(struct sample *s, const float *lse, struct sample_element *room);

/* An LSE for a row where nobody computed it: no weight is above 1, which kernels rely on, and most rows' are about as
 * large as with their own. */
double sample_gradient_lse(const struct sample *s, int64_t b, int64_t h, int64_t q);

/* Stored bytes to a number, and a number to bytes: a float of at most 8 bits, neither large nor small, or NaN. A type
 * that holds fewer bits loses the others. */
double sample_load(int type, const void *from);
void sample_store(int type, double x, void *to);

#endif
