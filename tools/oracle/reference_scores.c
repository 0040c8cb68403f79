/* reference_scores.c - scores and weights in float64 on the host, for --verify and the tests
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/reference_scores.h"

#include "tools/oracle/reference_bound.h"
#include "tools/oracle/reference_dropout.h"
#include "tools/oracle/reference_rules.h"

#include <math.h>
#include <stdlib.h>

/* The problem without the steps behind a stage. Masks belong to a line, and to what is kept of it; the diagonal stays
 * where it is. */
static struct reference up_to(const struct reference *r, int stage)
{
    struct reference it = *r;
    if (stage < CLATTN_SCORES_MASKED) {
        it.p.causal = 0;
        it.p.flags &= ~(uint32_t)CLATTN_WINDOW;
        it.mask = it.block_map = NULL;
        it.bias = NULL;
    }
    if (stage < CLATTN_SCORES_CHANGED) {
        it.p.softcap = 0;
        it.mod = NULL;
        it.slopes = NULL;
    }
    return it;
}

/* One row: scores, x_k, y_k, and which keys are kept, in order [nk]. */
struct row {
    double *s, *x, *y;
    unsigned char *keep;
};

static void products(const struct reference *r, const struct row *w, const struct reference_line *at, const double *q,
                     const double *k)
{
    for (int64_t key = 0; key < r->nk; key++) {
        long double sum = 0;
        double size = 0;
        const int wanted = key >= at->lo && key < at->hi; /* others may be anything */
        for (int64_t c = 0; c < r->d && wanted; c++) {
            sum += (long double)q[c] * k[key * r->d + c];
            size += fabs(q[c] * k[key * r->d + c]);
        }
        w->s[key] = (double)sum;
        w->x[key] = size;
    }
}

/* Of all elements of a row. */
static double sizes_of(const double *x, int64_t n)
{
    double sizes = 0;
    for (int64_t i = 0; i < n; i++)
        sizes = reference_size(sizes, x[i]);
    return sizes;
}

static double score_off(const struct reference *r, double x, double y, double sizes)
{
    const double unit = reference_precision_of(r->type).unit;
    if (r->share > 0)
        return r->share * unit * 32 * (x + y) + reference_score_flow(r, sizes);
    return reference_dot(r, (double)r->d) * x + unit * 16 * y + reference_score_flow(r, sizes);
}

/* P of doc/semantics: how much a weight of e^log_p may be off whose logarithm is off by doubt. */
static double weight_off(const struct reference *r, double log_p, double doubt)
{
    const double lost = log(2) * (r->type == CLATTN_F64 ? -899 : -99), excess = reference_excess(log_p, doubt);
    return log_p - doubt < lost ? exp(log_p) + excess : excess;
}

/* What the LSE of a row does to its weights. */
struct against {
    double lse, off, n; /* n: keys that are kept, a sink among them */
};

static void weigh(const struct reference *r, const struct reference_line *at, const struct against *row, int64_t k,
                  struct reference_score score, double s, double *to, double *bound)
{
    const double unit = reference_precision_of(r->type).unit, eps = reference_precision_of(r->type).eps;
    const double z = reference_factor(r, at, k), log_p = s - row->lse, p = exp(log_p);
    score.away = fabs(log_p);
    const double doubt = r->share > 0 ? r->share * unit * 32 * (1 + score.x + score.y + score.away)
                                      : reference_doubt(r, row->n, score);
    const double off = weight_off(r, log_p, doubt + row->off);
    *to = z > 0 ? z * p : 0; /* also where that is NaN */
    *bound = z > 0 && isfinite(p) ? z * off + (eps + 2 * unit) * z * (p + off) + reference_rounding(r->type, 0) : 0;
}

/* A row of the result; line: what of it the stage has. */
static int fill_row(const struct reference *r, int stage, const struct reference_line *line, const struct row *w,
                    const double *q, const double *k, struct against row, double *to, double *bound)
{
    const int kept_only = stage >= CLATTN_SCORES_MASKED;
    const double sizes = sizes_of(q, r->d);
    products(r, w, line, q, k);
    reference_keep(r, line, w->keep);
    if (reference_change(r, line, w->s, w->x, w->y, w->keep) != 0)
        return -1;
    row.n = r->sinks && r->sinks[line->h] != -INFINITY;
    for (int64_t key = line->lo; key < line->hi; key++)
        row.n += w->keep[key] && w->s[key] != -INFINITY;
    for (int64_t key = line->lo; key < line->hi; key++) {
        const struct reference_score score = { w->x[key], w->y[key], 0,
                                               reference_size(sizes, sizes_of(k + key * r->d, r->d)) };
        const double s = w->s[key];
        if (kept_only && (!w->keep[key] || s == -INFINITY))
            continue;
        if (stage == CLATTN_SCORES_WEIGHTS) {
            weigh(r, line, &row, key, score, s, &to[key], &bound[key]);
            continue;
        }
        const double off = score_off(r, score.x, score.y, score.sizes);
        to[key] = s;
        bound[key] = isfinite(s) ? off + reference_rounding(r->type, fabs(s) + off) : 0;
    }
    return 0;
}

int reference_scores(const struct reference *r, int stage, int64_t keys, const double *q, const double *k,
                     const double *lse, const double *lse_off, double *to, double *bound)
{
    const struct reference it = up_to(r, stage);
    const int64_t q_pitch = r->q_pitch ? r->q_pitch : r->nq, k_pitch = r->k_pitch ? r->k_pitch : r->nk;
    const size_t n = (size_t)r->nk + 1;
    const struct row w = { calloc(n, sizeof(double)), calloc(n, sizeof(double)), calloc(n, sizeof(double)),
                           calloc(n, 1) };
    int status = w.s && w.x && w.y && w.keep ? 0 : -1;
    for (int64_t i = 0; i < r->b * r->h * r->nq && !status; i++) {
        const int64_t b = i / r->nq / r->h, h = i / r->nq % r->h, row = (b * r->h + h) * q_pitch + i % r->nq;
        const int64_t key_head = b * r->hk + h / (r->h / r->hk);
        const struct reference_line line = reference_line_of(&it, b, h, i % r->nq);
        const struct against against = { lse ? lse[row] : 0, lse_off ? lse_off[row] : 0, 0 };
        for (int64_t key = 0; key < keys; key++) {
            to[row * keys + key] = stage == CLATTN_SCORES_WEIGHTS ? 0 : -INFINITY;
            bound[row * keys + key] = 0;
        }
        status = fill_row(&it, stage, &line, &w, q + row * r->d, k + key_head * k_pitch * r->d, against,
                          to + row * keys, bound + row * keys);
    }
    free(w.s);
    free(w.x);
    free(w.y);
    free(w.keep);
    return status;
}

int reference_scores_agree(int type, double got, double want, double bound)
{
    const double most = type == CLATTN_F16 ? 65504 : INFINITY; /* others hold the whole domain */
    if (got == want || (isnan(got) && isnan(want)))
        return 1;
    if (isinf(got) && isfinite(want))
        return (got > 0) == (want > 0) && fabs(want) + bound > most;
    return isfinite(got) && fabs(got - want) <= bound;
}
