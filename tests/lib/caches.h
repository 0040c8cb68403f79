/* caches.h - K and V as caches keep them: on pages, quantised, with scales; built byte by byte, run and judged
 * SPDX-License-Identifier: Apache-2.0
 *
 * What no query may see is poison: unused pages, rows past the length, entries of the table past it, scales of such
 * rows. Whatever is written beside O and LSE is found out. */
#ifndef CACHES_H
#define CACHES_H

#include "tests/lib/harness.h"

enum { CACHED_B_MAX = 8 };

/* How a call is made. The problem's sizes count, and of its flags those of lengths. */
struct cached_case {
    clattn_problem problem;
    int32_t page;                                      /* rows of a page, where there are pages; 0: the problem's */
    int32_t kv_len[CACHED_B_MAX], q_len[CACHED_B_MAX]; /* where flags say so, and with CLATTN_CU_Q and CLATTN_CU_K */
    int padded;    /* gaps between rows, heads and pages, and odd offsets; else contiguous */
    int shared;    /* sequences share the pages of the first */
    int bad;       /* some entries in use are no page */
    int subnormal; /* scales are so small, in their type, that they have lost digits */
    int once;      /* a bit for each axis of scales and zero points that is 1: b or page, hk, row, group */
    uint64_t seed;
};

struct cached_tensor {
    struct image image, scale, zero;
    clattn_tensor at;
    clattn_tensor4 scale_at, zero_at;
    double *value;                   /* [b,hk,nk,width], as they are read; zeros where no page is */
};

struct cached {
    struct cached_case c;
    clattn_sizes sizes;
    struct cached_tensor k, v;
    struct image q, o, lse, table, lengths[4]; /* q_len, kv_len, cu_q, cu_k */
    double *q_value;                           /* [b,h,nq,d] */
    struct image workspace;
    clattn_forward_args args;
};

/* Makes its sizes small: two sequences of a few rows. */
void cached_shorten(struct cached_case *c);

/* Builds everything. cached_free() is due whatever it returns. */
cl_int cached_make(struct cached *x, cl_context context, const struct cached_case *c);
/* Runs it by the plan and judges: 1, or 0 and words. narrow_p: of matrix units. */
int cached_check(struct cached *x, const struct device *d, clattn_plan plan, int narrow_p, char *why, size_t len);
void cached_free(struct cached *x);

#endif
