/* reference.c - attention in float64 on the host, and how far off a result may be, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two passes over the keys for a few query rows at a time, and a third for the bound, which needs O first. K is
 * transposed per head so that the inner loops are y += a * x over contiguous memory, in blocks that stay in the
 * first-level cache: any C compiler vectorises them. */
#include "config.h"

#include "reference.h"

#include "reference_rules.h"

#include <clattn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    ROWS = 4,    /* query rows that share what is read of K and V */
    SHORT = 16,  /* keys that are added up in double */
    BLOCK = 256, /* keys whose scores stay in the first-level cache meanwhile */
    LANES = 8    /* constant inner loops of this length vectorise even under gcc's cautious -O2 cost model */
};

enum { DOUBT = 32 }; /* units that a weight may be off, times 1 + a_k */

/* Scratch of one call. ld: nk rounded up to whole LANES, wide: dv likewise; what is beyond is zero and unused. */
struct scratch {
    int64_t ld, wide;
    double *kt, *vp;      /* [d,ld], [nk,wide]: K transposed and V padded, of one key/value head */
    double *s, *a;        /* [ROWS,ld]: scores, then weights; what a score went through (a_k of reference.h) */
    double *o, *t1, *t2;  /* [ROWS,wide]; T1 and T2 of reference.h */
    long double *whole;   /* [ROWS,wide]: sums of o, of SHORT keys each: a result in double is held to few ulp */
    unsigned char *keep;  /* [ROWS,ld] */
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
    free(w->a);
    free(w->o);
    free(w->whole);
    free(w->t1);
    free(w->t2);
    free(w->keep);
}

static int scratch_make(struct scratch *w, const struct reference *r)
{
    w->ld = (r->nk + LANES - 1) / LANES * LANES;
    w->wide = (r->dv + LANES - 1) / LANES * LANES;
    w->kt = grid(r->d, w->ld);
    w->vp = grid(r->nk, w->wide);
    w->s = grid(ROWS, w->ld);
    w->a = grid(ROWS, w->ld);
    w->o = grid(ROWS, w->wide);
    w->whole = calloc((size_t)(ROWS * w->wide) + 1, sizeof *w->whole);
    w->t1 = grid(ROWS, w->wide);
    w->t2 = grid(ROWS, w->wide);
    w->keep = calloc(ROWS, (size_t)w->ld + 1);
    return w->kt && w->vp && w->s && w->a && w->o && w->whole && w->t1 && w->t2 && w->keep ? 0 : -1;
}

static void load_head(struct scratch *w, const struct reference *r, const double *k, const double *v)
{
    for (int64_t row = 0; row < r->nk; row++) {
        for (int64_t c = 0; c < r->d; c++)
            w->kt[c * w->ld + row] = k[row * r->d + c];
        memcpy(w->vp + row * w->wide, v + row * r->dv, (size_t)r->dv * sizeof *v);
    }
}

/* y += a * x, and size += |a * x|: what a sum could lose to rounding. n is whole LANES. */
static void axpy(double *restrict y, double *restrict size, double a, const double *restrict x, int64_t n)
{
    for (int64_t at = 0; at < n; at += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double product = a * x[at + lane];
            y[at + lane] += product;
            size[at + lane] += fabs(product);
        }
}

/* y += a * |x - from|, likewise. */
static void add_distance(double *restrict y, double a, const double *restrict x, const double *restrict from, int64_t n)
{
    for (int64_t at = 0; at < n; at += LANES)
        for (int lane = 0; lane < LANES; lane++)
            y[at + lane] += a * fabs(x[at + lane] - from[at + lane]);
}

/* Rows of one head, the keys that lengths, causality and windows leave to each, and the union of these. */
struct group {
    int64_t h, rows, first, last;
    struct reference_line at[ROWS];
};

static struct group group_of(const struct reference *r, int64_t b, int64_t h, int64_t q0)
{
    struct group g;
    memset(&g, 0, sizeof g);
    g.h = h;
    g.rows = r->nq - q0 < ROWS ? r->nq - q0 : ROWS;
    g.first = r->nk;
    for (int64_t row = 0; row < g.rows; row++) {
        const struct reference_line at = reference_line_of(r, b, h, q0 + row);
        g.at[row] = at;
        if (at.hi == 0)
            continue;
        g.first = at.lo < g.first ? at.lo : g.first;
        g.last = at.hi > g.last ? at.hi : g.last;
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
            memset(w->a + row * w->ld + from, 0, (size_t)n * sizeof(double));
        }
        for (int64_t c = 0; c < r->d; c++)
            for (int64_t row = 0; row < g->rows; row++)
                axpy(w->s + row * w->ld + from, w->a + row * w->ld + from, q[row * r->d + c],
                     w->kt + c * w->ld + from, n);
    }
}

/* Turns the scores [lo,hi) of one row into weights; their sum with that of the sink is *sum. Returns the maximum. */
static double weights(double *s, const unsigned char *keep, double sink, int64_t lo, int64_t hi, double *sum)
{
    double most = sink;
    for (int64_t k = lo; k < hi; k++)
        if (keep[k] && s[k] > most)
            most = s[k];
    long double all = sink == -INFINITY ? 0 : exp(sink - most);
    for (int64_t k = lo; k < hi; k++) {
        s[k] = !keep[k] || s[k] == -INFINITY ? 0 : exp(s[k] - most); /* NaN stays, and so does +inf - +inf */
        all += s[k];
    }
    *sum = (double)all;
    return most;
}

/* ---- The bound ---- */

/* What the type of O, and of what is computed with it, may lose. */
struct precision {
    double unit;   /* of sums, products and scores: u of reference.h */
    double eps;    /* of storing O: half a unit in the last place */
    double tiny;   /* the smallest normal number of that type */
    double lost;   /* a weight below this part of its row's largest counts as 0 */
};

static struct precision precision_of(int type)
{
    const double single = ldexp(1, -24), dbl = ldexp(1, -53), least = ldexp(1, -126);
    switch (type) {
    case CLATTN_F16: return (struct precision) { single, ldexp(1, -11), ldexp(1, -14), least };
    case CLATTN_BF16: return (struct precision) { single, ldexp(1, -8), least, least };
    case CLATTN_F64: return (struct precision) { dbl, dbl, ldexp(1, -1022), ldexp(1, -1022) };
    default: return (struct precision) { single, single, least, least };
    }
}

double reference_rounding(int type, double o)
{
    const struct precision p = precision_of(type);
    return p.eps * fabs(o) + p.tiny;
}

/* Makes w->a p_k (1 + a_k), and 0 for what is not kept: what a wrong weight of this key may do. Returns their sum,
 * and in *n the keys. A weight that may be lost as a whole counts as such. */
static double doubts(const struct scratch *w, const struct group *g, int64_t row, double sum, struct precision p,
                     double *n)
{
    const double *s = w->s + row * w->ld;
    const unsigned char *keep = w->keep + row * w->ld;
    double *a = w->a + row * w->ld, all = 0;
    for (int64_t k = g->at[row].lo; k < g->at[row].hi; k++) {
        const double factor = s[k] < p.lost ? 1 / (DOUBT * p.unit) : 1 + a[k];
        a[k] = keep[k] ? s[k] / sum * factor : 0;
        all += a[k];
        *n += keep[k];
    }
    return all;
}

double reference_lse_unit(const struct reference *r)
{
    return ldexp(1, r->p.flags & CLATTN_LSE_F64 ? -53 : -24);
}

/* How far off the rows of a group may be: w->s has weights, `sum` what they add up to, w->o and lse the result. */
static void bounds(struct scratch *w, const struct reference *r, const struct group *g, const double *sum,
                   const double *lse, double *o_bound, double *lse_bound)
{
    const struct precision p = precision_of(r->type), of_p = precision_of(r->p.type ? r->p.type : r->type);
    const double sink = r->sinks ? r->sinks[g->h] : -INFINITY, share = r->share > 0 ? r->share : 1;
    double chain[ROWS];
    int some[ROWS]; /* keys */
    for (int64_t row = 0; row < g->rows; row++) { /* a sink is a key whose V is 0 */
        const int sinks = sink != -INFINITY;
        const double of_sink = sinks ? exp(sink - lse[row]) * (1 + fabs(sink)) : 0;
        double n = 0;
        const double all = of_sink + doubts(w, g, row, sum[row], p, &n);
        some[row] = n > 0 && sum[row] != 0;
        chain[row] = 16 + 2 * log2(1 + n + sinks);
        lse_bound[row] =
            isfinite(lse[row]) ? share * reference_lse_unit(r) * (DOUBT * all + chain[row] + 2 * fabs(lse[row])) : 0;
        for (int64_t c = 0; c < w->wide; c++)
            w->t1[row * w->wide + c] = of_sink * fabs(w->o[row * w->wide + c]);
    }
    for (int64_t k = g->first; k < g->last; k++)
        for (int64_t row = 0; row < g->rows; row++)
            if (w->keep[row * w->ld + k] && w->a[row * w->ld + k] != 0)
                add_distance(w->t1 + row * w->wide, w->a[row * w->ld + k], w->vp + k * w->wide, w->o + row * w->wide,
                             w->wide);
    for (int64_t row = 0; row < g->rows; row++)
        for (int64_t c = 0; c < r->dv; c++) {
            const double o = w->o[row * w->wide + c], t2 = w->t2[row * w->wide + c] / sum[row];
            const double narrowed = r->narrow_p ? of_p.eps * t2 : 0; /* half of what P may do: its rounding */
            const double weights = p.unit * DOUBT * w->t1[row * w->wide + c] + narrowed;
            const double adding = p.unit * chain[row] * t2 + narrowed;
            o_bound[row * r->dv + c] =
                some[row] && isfinite(o) ? share * weights + adding + reference_rounding(r->type, o) : 0;
        }
}

/* Adds what SHORT keys came to to the whole, and lets the next begin. */
static void add_short(struct scratch *w)
{
    for (int64_t at = 0; at < ROWS * w->wide; at++) {
        w->whole[at] += w->o[at];
        w->o[at] = 0;
    }
}

/* o, lse and their bounds (NULL: not wanted): of the first row of the group. seen: of its key/value head, or NULL. */
static int attend(struct scratch *w, const struct reference *r, const struct group *g, const double *q, double *o,
                  double *lse, double *o_bound, double *lse_bound, unsigned char *seen)
{
    const double sink = r->sinks ? r->sinks[g->h] : -INFINITY;
    double sum[ROWS];
    scores(w, r, g, q);
    memset(w->o, 0, (size_t)(ROWS * w->wide) * sizeof(double));
    memset(w->t2, 0, (size_t)(ROWS * w->wide) * sizeof(double));
    for (int64_t row = 0; row < g->rows; row++) {
        unsigned char *keep = w->keep + row * w->ld;
        reference_keep(r, &g->at[row], keep);
        if (reference_change(r, &g->at[row], w->s + row * w->ld, w->a + row * w->ld, keep) != 0)
            return -1;
        const double most = weights(w->s + row * w->ld, keep, sink, g->at[row].lo, g->at[row].hi, &sum[row]);
        lse[row] = sum[row] == 0 ? -INFINITY : most + log(sum[row]);
        for (int64_t k = g->at[row].lo; k < g->at[row].hi && seen; k++)
            seen[k] |= keep[k];
    }
    memset(w->whole, 0, (size_t)(ROWS * w->wide) * sizeof *w->whole);
    for (int64_t k = g->first; k < g->last; k++) {
        for (int64_t row = 0; row < g->rows; row++)
            if (w->keep[row * w->ld + k]) /* not by a weight of 0: 0 * NaN */
                axpy(w->o + row * w->wide, w->t2 + row * w->wide, w->s[row * w->ld + k], w->vp + k * w->wide, w->wide);
        if ((k - g->first) % SHORT == SHORT - 1 || k + 1 == g->last)
            add_short(w);
    }
    for (int64_t row = 0; row < g->rows; row++) {
        for (int64_t c = 0; c < w->wide; c++)
            w->o[row * w->wide + c] = (double)(sum[row] != 0 ? w->whole[row * w->wide + c] / sum[row] : 0);
        memcpy(o + row * r->dv, w->o + row * w->wide, (size_t)r->dv * sizeof *o);
    }
    if (o_bound)
        bounds(w, r, g, sum, lse, o_bound, lse_bound);
    return 0;
}

int reference_forward(const struct reference *r, const double *q, const double *k, const double *v, double *o,
                      double *lse, double *o_bound, double *lse_bound, unsigned char *seen)
{
    const int64_t q_pitch = r->q_pitch ? r->q_pitch : r->nq, k_pitch = r->k_pitch ? r->k_pitch : r->nk;
    struct scratch w;
    int status = -1;
    memset(&w, 0, sizeof w);
    if (r->nq == 0)
        return 0; /* the other axes may still be huge */
    if (scratch_make(&w, r) != 0)
        goto out;
    for (int64_t b = 0; b < r->b; b++)
        for (int64_t h = 0; h < r->h; h++) {
            const int64_t share = r->h / r->hk, key_head = b * r->hk + h / share, rows = (b * r->h + h) * q_pitch;
            if (h % share == 0)
                load_head(&w, r, k + key_head * k_pitch * r->d, v + key_head * k_pitch * r->dv);
            for (int64_t q0 = 0; q0 < r->nq; q0 += ROWS) {
                const struct group g = group_of(r, b, h, q0);
                const int64_t at = rows + q0;
                if (attend(&w, r, &g, q + at * r->d, o + at * r->dv, lse + at, o_bound ? o_bound + at * r->dv : NULL,
                           lse_bound ? lse_bound + at : NULL, seen ? seen + key_head * r->nk : NULL) != 0)
                    goto out;
            }
        }
    status = 0;
out:
    scratch_free(&w);
    return status;
}
