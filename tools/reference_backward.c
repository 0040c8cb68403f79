/* reference_backward.c - gradients of attention in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "reference_backward.h"

#include "reference_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One row of scores and what becomes of it. [nk] but for o, [dv]. */
struct row {
    double *s, *a, *p, *p_off, *top, *top_off, *ds, *ds_off, *raw, *o; /* top: ds behind the last change; p_off: w */
    unsigned char *keep;
};

static void row_free(struct row *w)
{
    free(w->s);
    free(w->keep);
}

static int row_make(struct row *w, const struct reference *r)
{
    const size_t nk = (size_t)r->nk + 1;
    w->s = calloc(9 * nk + (size_t)r->dv, sizeof *w->s);
    w->keep = calloc(nk, 1);
    if (!w->s || !w->keep)
        return -1;
    w->a = w->s + nk;
    w->p = w->a + nk;
    w->p_off = w->p + nk;
    w->top = w->p_off + nk;
    w->top_off = w->top + nk;
    w->ds = w->top_off + nk;
    w->ds_off = w->ds + nk;
    w->raw = w->ds_off + nk;
    w->o = w->raw + nk;
    return 0;
}

static double dot(const double *x, const double *y, int64_t n, double *size)
{
    double sum = 0;
    *size = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
        *size += fabs(x[i] * y[i]);
    }
    return sum;
}

static double unit_of(const struct reference *r)
{
    return r->type == CLATTN_F64 ? ldexp(1, -53) : ldexp(1, -24);
}
/* What computing may lose, of which tests ask a part; what is stored in few bits is as it is. */
static double computing(const struct reference *r)
{
    return (r->share > 0 ? r->share : 1) * unit_of(r);
}
static double length(double terms)
{
    return 16 + 2 * log2(1 + terms);
}

/* Weights of the row, its O, and LSE; returns how many keys it keeps, -1 when a score_mod failed. */
static int64_t weigh(const struct reference *r, struct row *w, const struct reference_line *at, const double *q,
                     const double *k, const double *v, double *lse)
{
    const double sink = r->sinks ? r->sinks[at->h] : -INFINITY;
    double most = sink;
    int64_t n = 0;
    *lse = -INFINITY;
    reference_keep(r, at, w->keep);
    for (int64_t i = at->lo; i < at->hi; i++)
        if (w->keep[i])
            w->s[i] = dot(q, k + i * r->d, r->d, &w->a[i]);
        else
            w->s[i] = w->a[i] = 0;
    for (int64_t i = at->lo; i < at->hi; i++)
        w->raw[i] = r->scale * w->s[i];
    if (reference_change(r, at, w->s, w->a, w->keep) != 0)
        return -1;
    for (int64_t i = at->lo; i < at->hi; i++)
        if (w->keep[i] && w->s[i] != -INFINITY) {
            most = fmax(most, w->s[i]);
            n++;
        }
    double sum = sink > -INFINITY ? exp(sink - most) : 0;
    for (int64_t i = at->lo; i < at->hi; i++)
        sum += w->p[i] = w->keep[i] && w->s[i] != -INFINITY ? exp(w->s[i] - most) : 0;
    memset(w->o, 0, (size_t)r->dv * sizeof *w->o);
    *lse = most + log(sum);
    for (int64_t i = at->lo; i < at->hi && n; i++) {
        w->p[i] = w->keep[i] ? w->p[i] / sum : 0; /* also where the sum is NaN */
        for (int64_t c = 0; c < r->dv && w->p[i] != 0; c++)
            w->o[c] += w->p[i] * v[i * r->dv + c];
    }
    return n;
}

/* How far off the LSE of a row may be, and O in a sum with dO. */
struct given {
    double lse, o;
};

static double epsilon(int type, double other)
{
    return type == CLATTN_F16 ? ldexp(1, -11) : type == CLATTN_BF16 ? ldexp(1, -8) : other;
}
/* What storing weights and ds in 16 bits does to a sum of them, half of which tests ask a part of. */
static double narrowing(const struct reference *r)
{
    const double share = r->share > 0 ? r->share : 1;
    return r->narrow_p ? (1 + share) * epsilon(r->p.type ? r->p.type : r->type, 0) : 0;
}

static struct given given_of(const struct reference *r, const struct reference_gradients *g, const double *o,
                             int64_t row, double lse)
{
    const double eps = epsilon(r->type, unit_of(r));
    struct given off = { g->lse_bound ? g->lse_bound[row] : reference_lse_unit(r) * (1 + 2 * fabs(lse)), 0 };
    for (int64_t c = row * r->dv, i = 0; i < r->dv; c++, i++)
        off.o += fabs(g->dout[c]) * (g->o_bound ? g->o_bound[c] : eps * fabs(o[i]));
    return off;
}

/* Back through the changes of scores: softcap's factor last, on what the score was before it. */
static int go_back(const struct reference *r, struct row *w, const struct reference_line *at,
                   const struct reference_gradients *g, double more)
{
    const double u = computing(r), c = r->p.softcap;
    const struct reference_mod_row row = { at->b, at->h, at->q, r->nk, w->s, w->a, w->ds, w->ds_off, u, more };
    for (int64_t i = 0; i < r->nk; i++) {
        const int seen = i >= at->lo && i < at->hi;
        w->s[i] = seen && c > 0 ? c * tanh(w->raw[i] / c) : w->raw[i];
        w->ds[i] = seen ? w->top[i] : 0;
        w->ds_off[i] = seen ? w->top_off[i] : 0;
    }
    if (r->mod && g->mod_grad(g->mod_user, &row) != 0)
        return -1;
    for (int64_t i = at->lo; i < at->hi && c > 0; i++) {
        const double t = tanh(w->raw[i] / c), factor = 1 - t * t;
        w->ds_off[i] = w->ds_off[i] * factor + fabs(w->ds[i]) * u * (8 + 4 * w->a[i] / c);
        w->ds[i] *= factor;
    }
    return 0;
}

/* ds behind the last change of scores, and how far off it may be. */
static void differentiate(const struct reference *r, struct row *w, const struct reference_line *at, const double *v,
                          const double *dout, double dlse, struct given given, int64_t n, double *d, double *d_off)
{
    const double u = computing(r), lost = ldexp(1, r->type == CLATTN_F64 ? -899 : -99);
    double size;
    const double delta = dot(dout, w->o, r->dv, &size) - dlse;
    const double delta_off = u * length((double)r->dv) * size + given.o + reference_lse_unit(r) * fabs(dlse);
    *d = delta;
    *d_off = delta_off;
    for (int64_t i = at->lo; i < at->hi; i++) {
        w->top[i] = w->top_off[i] = 0;
        if (w->p[i] == 0)
            continue;
        const double a = w->a[i];
        const double off = (w->p[i] < lost ? 1 : 0) + u * (32 * (1 + a) + length((double)n)) + given.lse;
        const double dp = dot(dout, v + i * r->dv, r->dv, &size);
        w->p_off[i] = off;
        w->top[i] = w->p[i] * (dp - delta);
        w->top_off[i] = w->p[i] * (u * length((double)r->dv) * size + delta_off) + (off + 8 * u) * fabs(w->top[i]);
    }
}

/* to += x y, and how far off the sum may be: each term by x_off |y|, and by `more` of its size. */
static void add(double *to, double *off, double x, double x_off, double more, const double *y, int64_t n)
{
    for (int64_t c = 0; c < n; c++) {
        to[c] += x * y[c];
        off[c] += (x_off + more * fabs(x)) * fabs(y[c]);
    }
}

/* What a row adds to gradients of bias, slopes and sinks; more: of sums. */
static void add_others(const struct reference *r, const struct row *w, const struct reference_line *at,
                       const struct reference_gradients *g, double more)
{
    const int64_t *const shape = r->bias_shape, index[3] = { at->b, at->h, at->q };
    int64_t cell = 0;
    for (int axis = 0; axis < 3 && g->dbias; axis++)
        cell = cell * shape[axis] + (shape[axis] == 1 ? 0 : index[axis]);
    for (int64_t k = at->lo; k < at->hi; k++) {
        const double away = fabs((double)(at->diagonal - k)), ds = w->top[k], off = w->top_off[k] + more * fabs(ds);
        if (g->dbias) {
            g->dbias[cell * shape[3] + (shape[3] == 1 ? 0 : k)] += ds;
            g->dbias_bound[cell * shape[3] + (shape[3] == 1 ? 0 : k)] += off;
        }
        if (g->dslopes) {
            const int64_t to = (r->slopes_b == 1 ? 0 : at->b) * r->h + at->h;
            g->dslopes[to] -= ds * away;
            g->dslopes_bound[to] += off * away;
        }
    }
}

static void add_sink(const struct reference *r, const struct reference_gradients *g, int64_t h, double lse,
                     double lse_off, double d, double d_off, double more)
{
    const double p = r->sinks && lse != -INFINITY ? exp(r->sinks[h] - lse) : 0; /* NaN stays */
    const double logit = r->sinks ? r->sinks[h] : 0;
    const double off = computing(r) * 32 * (1 + fabs(logit)) + lse_off;
    if (!g->dsinks || p == 0)
        return;
    g->dsinks[h] -= p * d;
    g->dsinks_bound[h] += p * d_off + (off + more) * p * fabs(d);
}

void reference_backward_store(int type, const double *x, double *bound, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        bound[i] = !isfinite(x[i]) ? 0 : bound[i] + (bound[i] > 0 || x[i] != 0 ? reference_rounding(type, x[i]) : 0);
}

int reference_backward_add(const struct reference *r, const double *q, const double *k, const double *v,
                           const struct reference_gradients *g)
{
    const int64_t q_pitch = r->q_pitch ? r->q_pitch : r->nq, k_pitch = r->k_pitch ? r->k_pitch : r->nk;
    const int64_t share = r->hk ? r->h / r->hk : 1;
    const double entries = (double)(g->entries ? g->entries : 1); /* which may share K and V */
    const double u = computing(r), narrow = narrowing(r), over_k = u * length((double)r->nk) + narrow;
    const double over_q = u * length((double)(r->nq * share) * entries) + narrow;
    const double terms = (double)(g->entries ? g->entries : r->b) * (double)(r->h * r->nq) * (double)r->nk;
    struct row w;
    memset(&w, 0, sizeof w);
    if (row_make(&w, r) != 0) {
        row_free(&w);
        return -1;
    }
    for (int64_t i = 0; i < r->b * r->h * r->nq; i++) {
        const int64_t b = i / r->nq / r->h, h = i / r->nq % r->h, row = (b * r->h + h) * q_pitch + i % r->nq;
        const int64_t keys = (b * r->hk + h / share) * k_pitch;
        const struct reference_line at = reference_line_of(r, b, h, i % r->nq);
        const double *const dout = g->dout + row * r->dv;
        double lse;
        const double dlse = g->dlse ? g->dlse[row] : 0;
        const double over_all = u * length(terms);
        double d = -dlse, d_off = reference_lse_unit(r) * fabs(dlse);
        const int64_t n = weigh(r, &w, &at, q + row * r->d, k + keys * r->d, v + keys * r->dv, &lse);
        const struct given given = given_of(r, g, w.o, row, lse);
        if (n > 0)
            differentiate(r, &w, &at, v + keys * r->dv, dout, dlse, given, n, &d, &d_off);
        add_sink(r, g, h, lse, given.lse, d, d_off, over_all);
        if (!n)
            continue;
        if (n < 0 || go_back(r, &w, &at, g, over_all) != 0) {
            row_free(&w);
            return -1;
        }
        add_others(r, &w, &at, g, over_all);
        for (int64_t key = at.lo; key < at.hi; key++) {
            const double p = w.p[key], ds = w.ds[key] * r->scale, ds_off = w.ds_off[key] * fabs(r->scale);
            if (p == 0)
                continue;
            const int64_t to_k = (keys + key) * r->d, to_v = (keys + key) * r->dv;
            add(g->dv + to_v, g->dv_bound + to_v, p, w.p_off[key] * p, over_q, dout, r->dv);
            add(g->dk + to_k, g->dk_bound + to_k, ds, ds_off, over_q, q + row * r->d, r->d);
            add(g->dq + row * r->d, g->dq_bound + row * r->d, ds, ds_off, over_k, k + to_k, r->d);
        }
    }
    row_free(&w);
    return 0;
}

int reference_backward(const struct reference *r, const double *q, const double *k, const double *v,
                       const struct reference_gradients *g)
{
    const int64_t q_pitch = r->q_pitch ? r->q_pitch : r->nq, k_pitch = r->k_pitch ? r->k_pitch : r->nk;
    if (reference_backward_add(r, q, k, v, g) != 0)
        return -1;
    reference_backward_store(g->q_type, g->dq, g->dq_bound, r->b * r->h * q_pitch * r->d);
    reference_backward_store(g->k_type, g->dk, g->dk_bound, r->b * r->hk * k_pitch * r->d);
    reference_backward_store(g->v_type, g->dv, g->dv_bound, r->b * r->hk * k_pitch * r->dv);
    if (g->dbias)
        reference_backward_store(r->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32, g->dbias, g->dbias_bound,
                                 r->bias_shape[0] * r->bias_shape[1] * r->bias_shape[2] * r->bias_shape[3]);
    if (g->dslopes)
        reference_backward_store(CLATTN_F32, g->dslopes, g->dslopes_bound, r->slopes_b * r->h);
    if (g->dsinks)
        reference_backward_store(CLATTN_F32, g->dsinks, g->dsinks_bound, r->h);
    return 0;
}
