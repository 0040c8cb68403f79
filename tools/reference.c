/* reference.c - attention in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two passes over the keys for a few query rows at a time. K is transposed per head so that both inner loops are
 * y += a * x over contiguous memory, in blocks that stay in the first-level cache: any C compiler vectorises them. */
#include "config.h"

#include "reference.h"

#include <clattn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 4,    /* query rows that share what is read of K and V */
    BLOCK = 256, /* keys whose scores stay in the first-level cache meanwhile */
    LANES = 8    /* constant inner loops of this length vectorise even under gcc's cautious -O2 cost model */
};

/* Scratch of one call. ld: nk rounded up to whole LANES, wide: dv likewise; what is beyond is zero and unused. */
struct scratch {
    int64_t ld, wide;
    double *kt, *vp;      /* [d,ld], [nk,wide]: K transposed and V padded, of one key/value head */
    double *s, *size, *o; /* [ROWS,ld] scores, [ROWS,ld] sum_d |q k|, [ROWS,wide] */
};

/* The rows q0.. of a group and the keys [lo,hi) that each keeps. */
struct group {
    int64_t rows, first, last; /* first, last: union of the ranges */
    int64_t lo[ROWS], hi[ROWS];
};

/* malloc of rows * columns doubles, zero, or NULL when that overflows or there is no memory. */
static double *grid(int64_t rows, int64_t columns)
{
    if (rows < 1)
        rows = 1;
    if (columns < 1)
        columns = 1;
    if ((uint64_t)rows > SIZE_MAX / sizeof(double) / (uint64_t)columns)
        return NULL;
    return calloc((size_t)rows * (size_t)columns, sizeof(double));
}

static void scratch_free(struct scratch *w)
{
    free(w->kt);
    free(w->vp);
    free(w->s);
    free(w->size);
    free(w->o);
}

static int scratch_make(struct scratch *w, const struct reference *r)
{
    w->ld = (r->nk + LANES - 1) / LANES * LANES;
    w->wide = (r->dv + LANES - 1) / LANES * LANES;
    w->kt = grid(r->d, w->ld);
    w->vp = grid(r->nk, w->wide);
    w->s = grid(ROWS, w->ld);
    w->size = grid(ROWS, w->ld);
    w->o = grid(ROWS, w->wide);
    return w->kt && w->vp && w->s && w->size && w->o ? 0 : -1;
}

static void load_head(struct scratch *w, const struct reference *r, const double *k, const double *v)
{
    for (int64_t row = 0; row < r->nk; row++) {
        for (int64_t c = 0; c < r->d; c++)
            w->kt[c * w->ld + row] = k[row * r->d + c];
        memcpy(w->vp + row * w->wide, v + row * r->dv, (size_t)r->dv * sizeof *v);
    }
}

/* y += a * x; n is whole LANES. */
static void axpy(double *restrict y, double a, const double *restrict x, int64_t n)
{
    for (int64_t at = 0; at < n; at += LANES)
        for (int lane = 0; lane < LANES; lane++)
            y[at + lane] += a * x[at + lane];
}

/* The same, and size += |a * x|: what a score could lose to rounding. */
static void axpy_size(double *restrict y, double *restrict size, double a, const double *restrict x, int64_t n)
{
    for (int64_t at = 0; at < n; at += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double product = a * x[at + lane];
            y[at + lane] += product;
            size[at + lane] += fabs(product);
        }
}

static int64_t clamp(int64_t x, int64_t most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

/* The keys that the rows q0.. of batch entry b keep. Every mask of a forward problem keeps one range. */
static struct group keys_kept(const struct reference *r, int64_t b, int64_t q0)
{
    const int64_t q_len = r->q_len ? clamp(r->q_len[b], r->nq) : r->nq;
    const int64_t kv_len = r->kv_len ? clamp(r->kv_len[b], r->nk) : r->nk;
    const int64_t kv_start = r->kv_start ? clamp(r->kv_start[b], r->nk) : 0;
    const int64_t asked = r->align == CLATTN_ALIGN_BOTTOM_RIGHT ? kv_len - q_len
                          : r->align == CLATTN_ALIGN_OFFSET     ? r->offset
                          : r->align == CLATTN_ALIGN_OFFSETS    ? r->offsets[b]
                                                                : 0;
    /* Beyond these nothing, or everything, is kept: the sum below cannot overflow. */
    const int64_t offset = asked < -r->nq ? -r->nq : asked > r->nk ? r->nk : asked;
    struct group g;
    memset(&g, 0, sizeof g);
    g.rows = r->nq - q0 < ROWS ? r->nq - q0 : ROWS;
    g.first = r->nk;
    for (int64_t row = 0; row < g.rows; row++) {
        const int64_t q = q0 + row;
        int64_t hi = kv_len;
        if (r->causal && q + offset + 1 < hi)
            hi = q + offset + 1;
        if (q >= q_len || hi < kv_start)
            hi = kv_start; /* an empty range */
        g.lo[row] = kv_start;
        g.hi[row] = hi;
        if (hi > kv_start) {
            g.first = kv_start;
            g.last = hi > g.last ? hi : g.last;
        }
    }
    return g;
}

/* Scores of a group, unscaled. Keys outside a row's own range are computed too and never looked at. */
static void scores(struct scratch *w, const struct reference *r, const struct group *g, const double *q)
{
    const int64_t first = g->first / LANES * LANES;
    for (int64_t from = first; from < g->last; from += BLOCK) {
        const int64_t left = (g->last - from + LANES - 1) / LANES * LANES, n = left < BLOCK ? left : BLOCK;
        for (int64_t row = 0; row < g->rows; row++) {
            memset(w->s + row * w->ld + from, 0, (size_t)n * sizeof(double));
            memset(w->size + row * w->ld + from, 0, (size_t)n * sizeof(double));
        }
        for (int64_t c = 0; c < r->d; c++)
            for (int64_t row = 0; row < g->rows; row++)
                axpy_size(w->s + row * w->ld + from, w->size + row * w->ld + from, q[row * r->d + c],
                          w->kt + c * w->ld + from, n);
    }
}

/* Turns the scores [lo,hi) of one row into weights that sum to *sum, and returns their maximum. */
static double weights(double *s, const double *size, double scale, int64_t lo, int64_t hi, double *sum, double *worst)
{
    double most = -INFINITY;
    for (int64_t k = lo; k < hi; k++) {
        s[k] *= scale;
        if (s[k] > most)
            most = s[k];
        const double a = fabs(scale) * size[k];
        if (a > *worst && !isinf(a)) /* inf in Q or K must not excuse errors elsewhere */
            *worst = a;
    }
    *sum = 0;
    for (int64_t k = lo; k < hi; k++) {
        s[k] = s[k] == -INFINITY ? 0 : exp(s[k] - most); /* NaN stays, and so does +inf - +inf */
        *sum += s[k];
    }
    return most;
}

static void attend(struct scratch *w, const struct reference *r, const struct group *g, const double *q, double *o,
                   double *lse, double *worst)
{
    double sum[ROWS];
    scores(w, r, g, q);
    memset(w->o, 0, (size_t)(ROWS * w->wide) * sizeof(double));
    for (int64_t row = 0; row < g->rows; row++) {
        const double most =
            weights(w->s + row * w->ld, w->size + row * w->ld, r->scale, g->lo[row], g->hi[row], &sum[row], worst);
        lse[row] = sum[row] == 0 ? -INFINITY : most + log(sum[row]);
    }
    for (int64_t k = g->first; k < g->last; k++)
        for (int64_t row = 0; row < g->rows; row++)
            if (k >= g->lo[row] && k < g->hi[row]) /* not by a weight of 0: 0 * NaN */
                axpy(w->o + row * w->wide, w->s[row * w->ld + k], w->vp + k * w->wide, w->wide);
    for (int64_t row = 0; row < g->rows; row++)
        for (int64_t c = 0; c < r->dv; c++)
            o[row * r->dv + c] = sum[row] == 0 ? 0 : w->o[row * w->wide + c] / sum[row];
}

int reference_forward(const struct reference *r, const double *q, const double *k, const double *v, double *o,
                      double *lse, double *conditioning)
{
    struct scratch w = { 0, 0, NULL, NULL, NULL, NULL, NULL };
    int status = -1;
    *conditioning = 0;
    if (r->nq == 0)
        return 0; /* the other axes may still be huge */
    if (scratch_make(&w, r) != 0)
        goto out;
    for (int64_t b = 0; b < r->b; b++)
        for (int64_t h = 0; h < r->h; h++) {
            const int64_t share = r->h / r->hk, key_head = b * r->hk + h / share, rows = (b * r->h + h) * r->nq;
            if (h % share == 0)
                load_head(&w, r, k + key_head * r->nk * r->d, v + key_head * r->nk * r->dv);
            for (int64_t q0 = 0; q0 < r->nq; q0 += ROWS) {
                const struct group g = keys_kept(r, b, q0);
                attend(&w, r, &g, q + (rows + q0) * r->d, o + (rows + q0) * r->dv, lse + rows + q0, conditioning);
            }
        }
    status = 0;
out:
    scratch_free(&w);
    return status;
}

double reference_bound_o(int type, double conditioning, double max_v)
{
    const double single = ldexp(1, -24), dbl = ldexp(1, -53);
    const double eps = type == CLATTN_F16    ? ldexp(1, -11)
                       : type == CLATTN_BF16 ? ldexp(1, -8)
                       : type == CLATTN_F64  ? dbl
                                             : single;
    return 4 * (eps + (type == CLATTN_F64 ? dbl : single) * conditioning) * max_v;
}

double reference_bound_lse(int type, double conditioning)
{
    (void)type; /* LSE is float32 whatever the storage */
    return 1e-5 + 16 * ldexp(1, -24) * conditioning;
}
