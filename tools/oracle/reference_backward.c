/* reference_backward.c - gradients of attention in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/reference_backward.h"

#include "tools/oracle/reference_bound.h"
#include "tools/oracle/reference_dropout.h"
#include "tools/oracle/reference_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One row of scores and what becomes of it. [nk] but for o, [dv]. x, y: of doc/semantics, and a their sum; z: scores
 * behind the last change; sizes: of all elements of the two rows; p_off: how far off p may be; times: what dropout
 * multiplies p with; top: ds behind the last change; raw: scores before the first. */
struct row {
    double *s, *x, *y, *a, *z, *sizes, *p, *p_off, *times, *top, *top_off, *ds, *ds_off, *raw, *o;
    unsigned char *keep;
};

static void row_free(struct row *w)
{
    free(w->s);
    free(w->keep);
}

static int row_make(struct row *w, const struct reference *r)
{
    double **const arrays[] = { &w->s,   &w->x,       &w->y,  &w->a,      &w->z,   &w->sizes, &w->p,
                                &w->p_off, &w->times, &w->top, &w->top_off, &w->ds, &w->ds_off, &w->raw, &w->o };
    enum { N = sizeof arrays / sizeof *arrays };
    const size_t nk = (size_t)r->nk + 1;
    double *const all = calloc((N - 1) * nk + (size_t)r->dv, sizeof *all);
    w->s = all;
    w->keep = calloc(nk, 1);
    if (!all || !w->keep)
        return -1;
    for (size_t i = 0; i < N; i++)
        *arrays[i] = all + i * nk;
    return 0;
}

/* f64 is held to few units of its own: in long double. */
static double dot(const struct reference *r, const double *x, const double *y, int64_t n, double *size)
{
    long double exact = 0;
    double sum = 0;
    *size = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += x[i] * y[i];
        *size += fabs(x[i] * y[i]);
    }
    for (int64_t i = 0; i < n && r->type == CLATTN_F64; i++)
        exact += (long double)x[i] * y[i];
    return r->type == CLATTN_F64 ? (double)exact : sum;
}

static double sizes_of(const double *x, const double *y, int64_t n)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++)
        sum = reference_size(reference_size(sum, x[i]), y[i]);
    return sum;
}

/* What a product or a function may lose, of which tests ask a part; what is stored in few bits is as it is. */
static double computing(const struct reference *r)
{
    return (r->share > 0 ? r->share : 1) * reference_precision_of(r->type).unit;
}

/* O of a row. Where keys repeat, each of many additions may round the same way: f64 has none to spare for that. */
static void mean_of_values(const struct reference *r, struct row *w, const struct reference_line *at, const double *v)
{
    memset(w->o, 0, (size_t)r->dv * sizeof *w->o);
    if (r->type == CLATTN_F64)
        for (int64_t c = 0; c < r->dv; c++) {
            long double sum = 0;
            for (int64_t i = at->lo; i < at->hi; i++)
                sum += w->p[i] != 0 ? (long double)w->p[i] * w->times[i] * v[i * r->dv + c] : 0;
            w->o[c] = (double)sum;
        }
    else
        for (int64_t i = at->lo; i < at->hi; i++)
            for (int64_t c = 0; c < r->dv && w->p[i] != 0; c++)
                w->o[c] += w->p[i] * w->times[i] * v[i * r->dv + c];
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
    for (int64_t i = at->lo; i < at->hi; i++) {
        w->s[i] = w->x[i] = w->sizes[i] = 0;
        if (w->keep[i]) {
            w->s[i] = dot(r, q, k + i * r->d, r->d, &w->x[i]);
            w->sizes[i] = sizes_of(q, k + i * r->d, r->d);
        }
        w->raw[i] = r->scale * w->s[i];
    }
    if (reference_change(r, at, w->s, w->x, w->y, w->keep) != 0)
        return -1;
    for (int64_t i = at->lo; i < at->hi; i++) {
        w->z[i] = w->s[i];
        w->a[i] = w->x[i] + w->y[i];
    }
    for (int64_t i = at->lo; i < at->hi; i++)
        if (w->keep[i] && w->s[i] != -INFINITY) {
            most = fmax(most, w->s[i]);
            n++;
        }
    long double all = sink > -INFINITY ? exp(sink - most) : 0;
    for (int64_t i = at->lo; i < at->hi; i++)
        all += w->p[i] = w->keep[i] && w->s[i] != -INFINITY ? exp(w->s[i] - most) : 0;
    const double sum = (double)all;
    *lse = most + log(sum);
    for (int64_t i = at->lo; i < at->hi && n; i++)
        w->p[i] = w->keep[i] ? w->p[i] / sum : 0; /* also where the sum is NaN */
    for (int64_t i = at->lo; i < at->hi; i++)
        w->times[i] = reference_factor(r, at, i);
    mean_of_values(r, w, at, v);
    return n;
}

/* How far off the LSE of a row may be, and O in a sum with dO. */
struct given {
    double lse, o;
};

/* How far off O is that is right but for its storage; subnormal numbers are coarser, or 0 (doc/semantics). */
static double storage_of(int type, double o)
{
    const struct reference_precision p = reference_precision_of(type);
    const int may_vanish = fabs(o) < p.tiny && type != CLATTN_F16 && type != CLATTN_F64;
    return p.eps * fmax(fabs(o), p.tiny) + (may_vanish ? fabs(o) : 0);
}

static struct given given_of(const struct reference *r, const struct reference_gradients *g, const double *o,
                             int64_t row, double lse)
{
    struct given off = { g->lse_bound ? g->lse_bound[row] : reference_lse_unit(r) * (1 + 2 * fabs(lse)), 0 };
    for (int64_t c = row * r->dv, i = 0; i < r->dv; c++, i++)
        off.o += fabs(g->dout[c]) * (g->o_bound ? g->o_bound[c] : storage_of(r->type, o[i]));
    return off;
}

/* How far off softcap's factor may be. */
static double factor_off(const struct reference *r, double x, double a, double sizes)
{
    const double u = computing(r), c = r->p.softcap;
    if (r->share > 0)
        return u * (8 + 4 * a / c);
    return fmin(1, 32 * u + (reference_dot(r, (double)r->d) * x + reference_score_flow(r, sizes)) / c);
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
        const double size = fabs(w->ds[i]) + (r->share > 0 ? 0 : w->ds_off[i]);
        w->ds_off[i] = w->ds_off[i] * factor + size * factor_off(r, w->x[i], w->a[i], w->sizes[i]);
        w->ds[i] *= factor;
    }
    return 0;
}

/* What D may lose, whose sum is one chain in each lane. */
static double delta_sum(const struct reference *r)
{
    return r->share > 0 ? reference_sum(r, (double)r->dv) : computing(r) * (96 + (double)r->dv);
}

/* How far off a weight of e^log_p may be, whose logarithm is off by doubt: all of it where it may count as 0. */
static double weight_off(const struct reference *r, double log_p, double doubt)
{
    const double lost = log(2) * (r->type == CLATTN_F64 ? -899 : -99), excess = reference_excess(log_p, doubt);
    return log_p - doubt < lost ? exp(log_p) + excess : excess;
}

/* ds behind the last change of scores, and how far off it may be. */
static void differentiate(const struct reference *r, struct row *w, const struct reference_line *at, const double *v,
                          const double *dout, double lse, double dlse, struct given given, int64_t n, double *d,
                          double *d_off)
{
    const int sinks = r->sinks && r->sinks[at->h] != -INFINITY;
    const double of_row = given.lse + (r->share > 0 ? reference_sum(r, (double)n) : 0);
    const double u = computing(r), over_d = (double)r->dv;
    const double flow = r->share > 0 ? 0 : reference_precision_of(r->type).flow;
    double size;
    const double delta = dot(r, dout, w->o, r->dv, &size) - dlse;
    const double delta_off = delta_sum(r) * size + given.o + reference_lse_unit(r) * fabs(dlse) +
                             flow * (1 + over_d + sizes_of(dout, w->o, r->dv));
    *d = delta;
    *d_off = delta_off;
    for (int64_t i = at->lo; i < at->hi; i++) {
        w->top[i] = w->top_off[i] = 0;
        if (w->p[i] == 0)
            continue;
        const struct reference_score score = { w->x[i], w->y[i], fabs(w->z[i] - lse), w->sizes[i] };
        const double p_off = weight_off(r, log(w->p[i]), reference_doubt(r, (double)n + sinks, score) + of_row);
        const double dp = w->times[i] * dot(r, dout, v + i * r->dv, r->dv, &size);
        const double dp_off = w->times[i] * (reference_dot(r, over_d) * size +
                                             flow * (1 + over_d + sizes_of(dout, v + i * r->dv, r->dv)));
        const double p = w->p[i] + (r->share > 0 ? 0 : p_off);
        w->p_off[i] = p_off;
        w->top[i] = w->p[i] * (dp - delta);
        w->top_off[i] = p * (dp_off + delta_off) + (p_off + 8 * u * p) * fabs(dp - delta) + flow;
    }
}

/* What a sum may lose. */
struct summing {
    double more, of_off; /* of the size of each term, and of what that may be off itself */
    double flow;         /* for each term, whatever its size */
};

/* The same for terms of which a factor of this size is multiplied with what a device may take for 0. */
static struct summing beside(struct summing sum, double size)
{
    sum.flow *= 1 + size;
    return sum;
}

/* to += x y, and how far off the sum may be: each term by x_off |y|, and by what adding it up loses. x may be less than
 * a double holds. */
static void add(double *to, double *off, long double x, double x_off, struct summing sum, const double *y, int64_t n)
{
    const double all = x_off + sum.more * fabs((double)x) + sum.of_off * x_off;
    for (int64_t c = 0; c < n; c++) {
        to[c] += (double)(x * y[c]);
        off[c] += all * fabs(y[c]) + sum.flow;
    }
}

static struct summing summing_of(const struct reference *r, double terms, double narrow)
{
    const double more = reference_sum(r, terms) + narrow;
    if (r->share > 0)
        return (struct summing) { more, 0, 0 };
    return (struct summing) { more, more, reference_precision_of(r->type).flow };
}

/* What a row adds to gradients of bias, slopes and sinks. */
static void add_others(const struct reference *r, const struct row *w, const struct reference_line *at,
                       const struct reference_gradients *g, struct summing sum)
{
    int64_t step = 0;
    const int64_t cells = r->bias ? reference_cells(r->bias_shape, at->b, at->h, at->q, &step) : 0;
    const bool sloped = r->p.flags & CLATTN_BIAS_SLOPES; /* slopes are the bias's, else ALiBi's */
    const int64_t to_slope = (r->slopes_b == 1 ? 0 : at->b) * r->h + at->h;
    const double slope = sloped ? r->slopes[to_slope] : 1;
    for (int64_t k = at->lo; k < at->hi; k++) {
        const int64_t to_bias = cells + k * step;
        const double by = sloped && g->dslopes ? r->bias[to_bias] : -fabs((double)(at->diagonal - k));
        if (g->dbias)
            add(g->dbias + to_bias, g->dbias_bound + to_bias, w->top[k], w->top_off[k], sum, &slope, 1);
        if (g->dslopes && (w->top[k] != 0 || w->top_off[k] != 0))
            add(g->dslopes + to_slope, g->dslopes_bound + to_slope, w->top[k], w->top_off[k], sum, &by, 1);
    }
}

static void add_sink(const struct reference *r, const struct reference_gradients *g, int64_t h, int64_t n, double lse,
                     double lse_off, double d, double d_off, struct summing sum)
{
    const double p = r->sinks && lse != -INFINITY ? exp(r->sinks[h] - lse) : 0; /* NaN stays */
    const double logit = r->sinks ? fabs(r->sinks[h]) : 0, one = 1;
    if (!g->dsinks || p == 0)
        return;
    const struct reference_score score = { 0, logit, fabs(r->sinks[h] - lse), 0 };
    const double p_off = weight_off(r, log(p), reference_doubt(r, (double)n + 1, score) + lse_off);
    const double off = (p + (r->share > 0 ? 0 : p_off)) * d_off + p_off * fabs(d);
    add(g->dsinks + h, g->dsinks_bound + h, -p * d, off, sum, &one, 1);
}

/* What storing a number may do that is x but for `off`. */
static double storing(int type, double x, double off)
{
    return reference_rounding(type, x) + reference_precision_of(type).eps * off;
}

void reference_backward_store(int type, const double *x, double *bound, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        bound[i] = !isfinite(x[i]) ? 0 : bound[i] + (bound[i] > 0 || x[i] != 0 ? storing(type, x[i], bound[i]) : 0);
}

/* Where row i of all is, and what it reads. */
struct place {
    struct reference_line at;
    int64_t h, row, keys; /* keys: the first row of its K and V */
};
static struct place place_of(const struct reference *r, int64_t i)
{
    const int64_t q_pitch = r->q_pitch ? r->q_pitch : r->nq, k_pitch = r->k_pitch ? r->k_pitch : r->nk;
    const int64_t b = i / r->nq / r->h, h = i / r->nq % r->h;
    return (struct place) { reference_line_of(r, b, h, i % r->nq), h, (b * r->h + h) * q_pitch + i % r->nq,
                            (b * r->hk + h / (r->h / r->hk)) * k_pitch };
}

/* D of a row, its LSE, and how far off both may be. */
struct row_of_stats {
    double lse, lse_off, d, d_off;
};

/* Makes a row's weights and ds, before and behind the changes of scores; returns how many keys it keeps, or -1. */
static int64_t compute_row(const struct reference *r, struct row *w, const struct place *x, const double *q,
                           const double *k, const double *v, const struct reference_gradients *g, double more,
                           struct row_of_stats *of)
{
    const double dlse = g->dlse ? g->dlse[x->row] : 0;
    const int64_t n =
        weigh(r, w, &x->at, q + x->row * r->d, k + x->keys * r->d, v + x->keys * r->dv, &of->lse);
    const struct given given = given_of(r, g, w->o, x->row, of->lse);
    of->lse_off = given.lse;
    of->d = -dlse;
    of->d_off = reference_lse_unit(r) * fabs(dlse);
    if (n > 0)
        differentiate(r, w, &x->at, v + x->keys * r->dv, g->dout + x->row * r->dv, of->lse, dlse, given, n, &of->d,
                      &of->d_off);
    return n > 0 && go_back(r, w, &x->at, g, more) != 0 ? -1 : n;
}

/* What dS may be off where matrix units have it in f16, whose rows are scaled by their largest: a part of the largest
 * of all. -1 when a score_mod failed. */
static double vanishing(const struct reference *r, struct row *w, const double *q, const double *k, const double *v,
                        const struct reference_gradients *g, double more)
{
    double most = 0;
    if (r->share > 0 || !reference_narrow_f16(r))
        return 0;
    for (int64_t i = 0; i < r->b * r->h * r->nq; i++) {
        const struct place x = place_of(r, i);
        struct row_of_stats of;
        const int64_t n = compute_row(r, w, &x, q, k, v, g, more, &of);
        for (int64_t key = x.at.lo; key < x.at.hi && n > 0; key++)
            most = fmax(most, fabs(w->ds[key]) + w->ds_off[key]);
        if (n < 0)
            return -1;
    }
    return ldexp(most, -32);
}

int reference_backward_add(const struct reference *r, const double *q, const double *k, const double *v,
                           const struct reference_gradients *g)
{
    const int64_t share = r->hk ? r->h / r->hk : 1;
    const double entries = (double)(g->entries ? g->entries : 1); /* which may share K and V */
    const double narrow = reference_narrowed(r), terms = (double)(r->nq * share) * entries;
    const double rows = (double)(g->entries ? g->entries : r->b) * (double)(r->h * r->nq);
    const struct summing over_k = summing_of(r, (double)r->nk, narrow), over_q = summing_of(r, terms, narrow);
    const struct summing over_all = summing_of(r, rows * fmax((double)r->nk, 1), 0);
    const double p_vanishes = r->share == 0 && reference_narrow_f16(r) ? ldexp(1, -32) / (1 - r->p.dropout_p) : 0;
    struct row w;
    int status = -1;
    memset(&w, 0, sizeof w);
    if (row_make(&w, r) != 0)
        goto out;
    const double ds_vanishes = vanishing(r, &w, q, k, v, g, over_all.more);
    if (ds_vanishes < 0)
        goto out;
    const double flow = fabs(r->scale) * ds_vanishes + (r->share > 0 ? 0 : reference_precision_of(r->type).flow);
    for (int64_t i = 0; i < r->b * r->h * r->nq; i++) {
        const struct place x = place_of(r, i);
        const double *const dout = g->dout + x.row * r->dv;
        struct row_of_stats of;
        const int64_t n = compute_row(r, &w, &x, q, k, v, g, over_all.more, &of);
        if (n < 0)
            goto out;
        add_sink(r, g, x.h, n, of.lse, of.lse_off, of.d, of.d_off, over_all);
        if (!n)
            continue;
        add_others(r, &w, &x.at, g, over_all);
        for (int64_t key = x.at.lo; key < x.at.hi; key++) {
            const long double ds = (long double)w.ds[key] * r->scale;
            const double p = w.p[key], ds_off = w.ds_off[key] * fabs(r->scale) + flow;
            if (p == 0)
                continue;
            const int64_t to_k = (x.keys + key) * r->d, to_v = (x.keys + key) * r->dv;
            add(g->dv + to_v, g->dv_bound + to_v, w.times[key] * p, w.times[key] * w.p_off[key] + p_vanishes, over_q,
                dout, r->dv);
            const double size = fabs((double)ds) + w.ds_off[key] * fabs(r->scale);
            add(g->dk + to_k, g->dk_bound + to_k, ds, ds_off, beside(over_q, size), q + x.row * r->d, r->d);
            add(g->dq + x.row * r->d, g->dq_bound + x.row * r->d, ds, ds_off, beside(over_k, size), k + to_k, r->d);
        }
    }
    status = 0;
out:
    row_free(&w);
    return status;
}
