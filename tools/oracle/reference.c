/* reference.c - attention in float64 on the host, and how far off a result may be, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0
 *
 * Two passes over the keys for a few query rows at a time, and a third for the bound, which needs O first. K is
 * transposed per head so that the inner loops are y += a * x over contiguous memory, in blocks that stay in the
 * first-level cache: any C compiler vectorises them. */
#include "config.h"

#include "tools/oracle/reference.h"

#include "tools/oracle/reference_bound.h"
#include "tools/oracle/reference_dropout.h"
#include "tools/oracle/reference_rules.h"

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

/* Scratch of one call. ld: nk rounded up to whole LANES, wide: dv likewise; what is beyond is zero and unused. */
struct scratch {
    int64_t ld, wide;
    double *kt, *vp;      /* [d,ld], [nk,wide]: K transposed and V padded, of one key/value head */
    double *sizes;        /* [ld]: of all elements of a row of K */
    double *s, *x, *y, *z; /* [ROWS,ld]: scores, then weights; x_k and y_k of doc/semantics; scores that stay */
    double *more;         /* [ROWS,ld]: how much heavier a key may be than it is */
    double *o, *t2;       /* [ROWS,wide]; sum of w |v| */
    double *off, *out;    /* [ROWS,wide]: what wrong weights do to a sum of v - o, and of |v|, if they are not capped */
    double *far, *top;    /* [ROWS,wide]: the largest |v - o|, and |v| */
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
    free(w->sizes);
    free(w->s);
    free(w->x);
    free(w->y);
    free(w->z);
    free(w->more);
    free(w->o);
    free(w->whole);
    free(w->t2);
    free(w->off);
    free(w->out);
    free(w->far);
    free(w->top);
    free(w->keep);
}

static int scratch_make(struct scratch *w, const struct reference *r)
{
    w->ld = (r->nk + LANES - 1) / LANES * LANES;
    w->wide = (r->dv + LANES - 1) / LANES * LANES;
    w->kt = grid(r->d, w->ld);
    w->vp = grid(r->nk, w->wide);
    w->sizes = grid(1, w->ld);
    w->s = grid(ROWS, w->ld);
    w->x = grid(ROWS, w->ld);
    w->y = grid(ROWS, w->ld);
    w->z = grid(ROWS, w->ld);
    w->more = grid(ROWS, w->ld);
    w->o = grid(ROWS, w->wide);
    w->whole = calloc((size_t)(ROWS * w->wide) + 1, sizeof *w->whole);
    w->t2 = grid(ROWS, w->wide);
    w->off = grid(ROWS, w->wide);
    w->out = grid(ROWS, w->wide);
    w->far = grid(ROWS, w->wide);
    w->top = grid(ROWS, w->wide);
    w->keep = calloc(ROWS, (size_t)w->ld + 1);
    const int sums = w->o && w->whole && w->t2 && w->off && w->out && w->far && w->top;
    return w->kt && w->vp && w->sizes && w->s && w->x && w->y && w->z && w->more && sums && w->keep ? 0 : -1;
}

static void load_head(struct scratch *w, const struct reference *r, const double *k, const double *v)
{
    for (int64_t row = 0; row < r->nk; row++) {
        w->sizes[row] = 0;
        for (int64_t c = 0; c < r->d; c++) {
            w->kt[c * w->ld + row] = k[row * r->d + c];
            w->sizes[row] = reference_size(w->sizes[row], k[row * r->d + c]);
        }
        memcpy(w->vp + row * w->wide, v + row * r->dv, (size_t)r->dv * sizeof *v);
    }
}

/* y += a * x, and size += |a * x|: what a sum could lose a part of to rounding. n is whole LANES. */
static void axpy(double *restrict y, double *restrict size, double a, const double *restrict x, int64_t n)
{
    for (int64_t at = 0; at < n; at += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double product = a * x[at + lane];
            y[at + lane] += product;
            size[at + lane] += fabs(product);
        }
}

/* What a key that may be heavier by `more` does to a row, whose value counts `times`: off += more |v - o|, out +=
 * more |v|; and the largest of both in far and top. */
static void mislead(double *restrict off, double *restrict out, double *restrict far, double *restrict top, double more,
                    double times, const double *restrict v, const double *restrict o, int64_t n)
{
    for (int64_t at = 0; at < n; at += LANES)
        for (int lane = 0; lane < LANES; lane++) {
            const double value = times * v[at + lane], away = fabs(value - o[at + lane]), size = fabs(value);
            off[at + lane] += more * away;
            out[at + lane] += more * size;
            far[at + lane] = far[at + lane] < away ? away : far[at + lane];
            top[at + lane] = top[at + lane] < size ? size : top[at + lane];
        }
}

/* Rows of one head, the keys that lengths, causality and windows leave to each, and the union of these. */
struct group {
    int64_t h, rows, first, last;
    struct reference_line at[ROWS];
    double sizes[ROWS]; /* of all elements of a row of Q */
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

/* f64 is held to few units of its own: each dot in long double. */
static void exact_dots(struct scratch *w, const struct reference *r, const struct group *g, const double *q)
{
    for (int64_t row = 0; row < g->rows; row++)
        for (int64_t k = g->at[row].lo; k < g->at[row].hi; k++) {
            long double sum = 0;
            for (int64_t c = 0; c < r->d; c++)
                sum += (long double)q[row * r->d + c] * w->kt[c * w->ld + k];
            w->s[row * w->ld + k] = (double)sum;
        }
}

/* Scores of a group, unscaled. Keys outside a row's own range are computed too and never looked at. */
static void scores(struct scratch *w, const struct reference *r, struct group *g, const double *q)
{
    const int64_t first = g->first / LANES * LANES;
    for (int64_t from = first; from < g->last; from += BLOCK) {
        const int64_t left = (g->last - from + LANES - 1) / LANES * LANES, n = left < BLOCK ? left : BLOCK;
        for (int64_t row = 0; row < g->rows; row++) {
            memset(w->s + row * w->ld + from, 0, (size_t)n * sizeof(double));
            memset(w->x + row * w->ld + from, 0, (size_t)n * sizeof(double));
        }
        for (int64_t c = 0; c < r->d; c++)
            for (int64_t row = 0; row < g->rows; row++)
                axpy(w->s + row * w->ld + from, w->x + row * w->ld + from, q[row * r->d + c],
                     w->kt + c * w->ld + from, n);
    }
    for (int64_t row = 0; row < g->rows; row++) {
        g->sizes[row] = 0;
        for (int64_t c = 0; c < r->d; c++)
            g->sizes[row] = reference_size(g->sizes[row], q[row * r->d + c]);
    }
    if (r->type == CLATTN_F64)
        exact_dots(w, r, g, q);
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

/* What the keys of a row may do to it: how many there are, and sums over all of how heavy they may be at least, and how
 * much heavier at most than they are. */
struct doubts {
    double n, least, more, of_sink; /* of_sink: the sink's part of `more` */
    double highest, above; /* the largest log(p e^E), and the sum of p e^E in parts of that: `more` may be infinite */
};

/* Takes up a key of the row, whose weight is e^log_p; returns how much heavier it may be. One that may be lost as a
 * whole counts as such, where no key is off by more than e^most. */
static double take_doubt(const struct reference *r, struct doubts *row, double log_p, double doubt, double most)
{
    const int lost = log_p - 2 * most < log(reference_lost(r));
    const double more = reference_excess(log_p, lost ? fmax(doubt, log(2)) : doubt);
    row->least += lost ? 0 : exp(log_p - doubt);
    row->more += more;
    if (log_p + doubt > row->highest) {
        row->above *= exp(row->highest - log_p - doubt);
        row->highest = log_p + doubt;
    }
    row->above += exp(log_p + doubt - row->highest);
    return more;
}

/* ln(sum p e^E): what weights may do to LSE. */
static double lse_doubt(const struct doubts *row)
{
    return isfinite(row->more) ? log1p(row->more) : row->highest + log(row->above);
}

/* Makes w->more of a row. w->z has its scores. */
static struct doubts doubts_of(const struct scratch *w, const struct reference *r, const struct group *g, int64_t row,
                               double lse)
{
    const double sink = r->sinks ? r->sinks[g->h] : -INFINITY;
    const unsigned char *keep = w->keep + row * w->ld;
    const double *x = w->x + row * w->ld, *y = w->y + row * w->ld, *z = w->z + row * w->ld;
    double *more = w->more + row * w->ld, most = 0, of_sink = 0;
    struct doubts all = { sink != -INFINITY, 0, 0, 0, -INFINITY, 0 };
    for (int64_t k = g->at[row].lo; k < g->at[row].hi; k++)
        all.n += keep[k] && z[k] != -INFINITY;
    for (int64_t k = g->at[row].lo; k < g->at[row].hi; k++)
        if (keep[k] && z[k] != -INFINITY) {
            const double sizes = reference_size(g->sizes[row], w->sizes[k]);
            more[k] = reference_doubt(r, all.n, (struct reference_score) { x[k], y[k], fabs(z[k] - lse), sizes });
            most = fmax(most, more[k]);
        }
    if (sink != -INFINITY) {
        of_sink = reference_doubt(r, all.n, (struct reference_score) { 0, fabs(sink), fabs(sink - lse), 0 });
        most = fmax(most, of_sink);
    }
    for (int64_t k = g->at[row].lo; k < g->at[row].hi; k++)
        more[k] = keep[k] && z[k] != -INFINITY ? take_doubt(r, &all, z[k] - lse, more[k], most) : 0;
    if (sink != -INFINITY)
        all.of_sink = take_doubt(r, &all, sink - lse, of_sink, most);
    return all;
}

/* How far off an element may be: o what it is, t2 its sum of p |v|; off, out, far, top as in scratch. */
static double bound_of(const struct reference *r, const struct doubts *row, double o, double t2, double off, double out,
                       double far, double top)
{
    const struct reference_precision p = reference_precision_of(r->type);
    const double wrong = row->least > 0 ? fmin(off / row->least, far) : far;
    const double size = row->least > 0 ? fmin((t2 + out) / row->least, top) : top;
    const double adding = (reference_adding(r, row->n) + reference_narrowed(r)) * size;
    if (r->share > 0)
        return wrong + adding + reference_rounding(r->type, o);
    return wrong + adding + p.eps * wrong + reference_rounding(r->type, o) + reference_flow(r) * row->n +
           (reference_narrow_f16(r) ? ldexp(row->n * top, -32) : 0);
}

/* How far off the rows of a group may be: w->z has scores, `sum` what the weights w->s add up to, w->o and lse the
 * result. */
static void bounds(struct scratch *w, const struct reference *r, const struct group *g, const double *sum,
                   const double *lse, double *o_bound, double *lse_bound)
{
    struct doubts of[ROWS];
    const size_t bytes = (size_t)(ROWS * w->wide) * sizeof(double);
    memset(w->off, 0, bytes);
    memset(w->out, 0, bytes);
    memset(w->far, 0, bytes);
    memset(w->top, 0, bytes);
    for (int64_t row = 0; row < g->rows; row++) { /* a sink is a key whose V is 0 */
        of[row] = doubts_of(w, r, g, row, lse[row]);
        lse_bound[row] = isfinite(lse[row]) ? lse_doubt(&of[row]) + reference_lse_rounding(r, of[row].n, lse[row]) : 0;
        for (int64_t c = 0; c < w->wide && r->sinks && r->sinks[g->h] != -INFINITY; c++) {
            w->far[row * w->wide + c] = fabs(w->o[row * w->wide + c]);
            w->off[row * w->wide + c] = of[row].of_sink * fabs(w->o[row * w->wide + c]);
        }
    }
    for (int64_t k = g->first; k < g->last; k++)
        for (int64_t row = 0; row < g->rows; row++)
            if (w->keep[row * w->ld + k] && w->z[row * w->ld + k] != -INFINITY)
                mislead(w->off + row * w->wide, w->out + row * w->wide, w->far + row * w->wide, w->top + row * w->wide,
                        w->more[row * w->ld + k], reference_factor(r, &g->at[row], k), w->vp + k * w->wide,
                        w->o + row * w->wide, w->wide);
    for (int64_t row = 0; row < g->rows; row++)
        for (int64_t c = 0; c < r->dv; c++) {
            const int64_t at = row * w->wide + c;
            const int some = of[row].n > (r->sinks && r->sinks[g->h] != -INFINITY) && sum[row] != 0;
            o_bound[row * r->dv + c] =
                some && isfinite(w->o[at])
                    ? bound_of(r, &of[row], w->o[at], w->t2[at] / sum[row], w->off[at], w->out[at], w->far[at],
                               w->top[at])
                    : 0;
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
static int attend(struct scratch *w, const struct reference *r, struct group *g, const double *q, double *o,
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
        double *const s = w->s + row * w->ld;
        if (reference_change(r, &g->at[row], s, w->x + row * w->ld, w->y + row * w->ld, keep) != 0)
            return -1;
        memcpy(w->z + row * w->ld, s, (size_t)w->ld * sizeof *s);
        const double most = weights(s, keep, sink, g->at[row].lo, g->at[row].hi, &sum[row]);
        lse[row] = sum[row] == 0 ? -INFINITY : most + log(sum[row]);
        for (int64_t k = g->at[row].lo; k < g->at[row].hi && seen; k++)
            seen[k] |= keep[k];
    }
    memset(w->whole, 0, (size_t)(ROWS * w->wide) * sizeof *w->whole);
    for (int64_t k = g->first; k < g->last; k++) {
        for (int64_t row = 0; row < g->rows; row++)
            if (w->keep[row * w->ld + k]) /* not by a weight of 0: 0 * NaN */
                axpy(w->o + row * w->wide, w->t2 + row * w->wide,
                     w->s[row * w->ld + k] * reference_factor(r, &g->at[row], k), w->vp + k * w->wide, w->wide);
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
                struct group g = group_of(r, b, h, q0);
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
