/* sample_gradient.c - gradients of made-up attention, in double, and how far off they may be. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * O, dO and LSE are made up as well: the formulas hold for any. */
#include "config.h"

#include "problem/sample.h"

#include <math.h>
#include <string.h>

/* What computing may lose, in parts of what is added up: several times what a right kernel does. */
static double doubt(const struct sample *s, double size)
{
    return (s->p.type == CLATTN_F64 ? 0x1p-53 : 0x1p-24) * (64 + 32 * size);
}

/* The same of a weight: one that may count as 0 may be wrong as a whole. */
static double doubt_of(const struct sample *s, double weight, double size)
{
    return doubt(s, size) + (weight < (s->p.type == CLATTN_F64 ? 0x1p-899 : 0x1p-99));
}

/* Scores of a row of Q are nearly normal, for a value of K is 1.18 large in the mean square: none is six deviations
 * off. A bias adds 4 at most, and all other changes of scores make them smaller. */
double sample_gradient_lse(const struct sample *s, int64_t b, int64_t h, int64_t q)
{
    const int64_t row = sample_row(s, b, h, q) * s->p.d;
    double squares = 0;
    for (int64_t c = 0; c < s->p.d; c++)
        squares += sample_value_q(s, row + c) * sample_value_q(s, row + c);
    const double deviation = 1.18 * fabs(s->p.scale) * sqrt(squares);
    return fmax(6 * deviation + (s->p.bias_type ? 4 : 0), deviation * deviation / 2 + log(1 + (double)s->p.sizes.nk));
}

/* ---- Shapes ---- */

struct sample_gradient_shape sample_gradient_shape(const struct sample *s, int which)
{
    const clattn_problem *const p = &s->p;
    const clattn_sizes *const z = &p->sizes;
    const bool other = s->other_shapes, sloped = p->flags & CLATTN_ALIBI, sinks = p->flags & CLATTN_SINKS;
    const struct sample_gradient_shape shapes[SAMPLE_GRADIENTS] = {
        [SAMPLE_DQ] = { z->b, z->h, z->nq, p->d, p->type },
        [SAMPLE_DK] = { z->b, z->hk, z->nk, p->d, p->k_type },
        [SAMPLE_DV] = { z->b, z->hk, z->nk, p->dv, p->v_type },
        [SAMPLE_DBIAS] = { 1, 1, p->bias_type ? z->nq : 0, other ? 1 : z->nk,
                           p->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32 },
        [SAMPLE_DSLOPES] = { other ? z->b : 1, z->h, sloped, 1, CLATTN_F32 },
        [SAMPLE_DSINKS] = { 1, z->h, sinks, 1, CLATTN_F32 },
    };
    return shapes[which];
}

/* ---- Elements ---- */

/* dO times a row of values - O, and - dLSE in O's place: dp - D, at once, and the size of what is added up. */
static double against_o(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t value, double *size)
{
    const int64_t dv = s->p.dv, row = sample_row(s, b, h, q) * dv;
    double sum = sample_value_dlse(s, sample_lse(s, b, h, q));
    *size = fabs(sum);
    for (int64_t c = 0; c < dv; c++) {
        const double dout = sample_value_dout(s, row + c), o = sample_value_o(s, row + c);
        const double v = value < 0 ? 0 : sample_value_v(s, value * dv + c);
        sum += dout * (v - o);
        *size += fabs(dout) * (fabs(v) + fabs(o));
    }
    return sum;
}

/* Of an element: its weight; ds, behind all changes of the score, and with respect to the product of Q and K; how far
 * off each may be. */
struct element {
    double p, p_off, top, top_off, ds, ds_off;
};

static struct element element_of(const struct sample *s, const struct sample_entry *e, const float *lse, int64_t b,
                                 int64_t h, int64_t q, int64_t k)
{
    const struct sample_score x = sample_answer_score(s, e, b, h, q, k);
    double size;
    if (!x.kept)
        return (struct element){ .p = 0 };
    const double of_row = (double)lse[sample_lse(s, b, h, q)];
    const double sum = against_o(s, b, h, q, sample_answer_key_row(s, e, b, h, k), &size);
    const double p = exp(x.logit - of_row), off = doubt_of(s, p, x.size + fabs(of_row));
    return (struct element){ p, p * off, p * sum, p * off * size, p * sum * x.slope * s->p.scale,
                             p * off * size * fabs(s->p.scale) };
}

/* ---- Sums ---- */

/* Adds w times a row of values. Matrix units have w in 16 bits. */
static void add(const struct sample *s, double *row, double *bound, double w, double off, int64_t at, int64_t width,
                double (*value)(const struct sample *, int64_t))
{
    const double narrow = s->narrow_p ? 2 * sample_answer_epsilon(s->p.type) : 0;
    for (int64_t c = 0; c < width; c++) {
        const double x = value(s, at * width + c);
        row[c] += w * x;
        bound[c] += (off + (doubt(s, 0) + narrow) * fabs(w)) * fabs(x);
    }
}

static void add_queries(const struct sample *s, int which, const float *lse, int64_t b, int64_t hk, int64_t k,
                        double *row, double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    const int64_t share = s->p.sizes.h / s->p.sizes.hk;
    for (int64_t h = hk * share; h < (hk + 1) * share; h++)
        for (int64_t q = 0; q < e.nq; q++) {
            const struct element x = element_of(s, &e, lse, b, h, q, k);
            const int64_t at = sample_row(s, b, h, q);
            if (x.p == 0)
                continue;
            if (which == SAMPLE_DK)
                add(s, row, bound, x.ds, x.ds_off, at, s->p.d, sample_value_q);
            else
                add(s, row, bound, x.p, x.p_off, at, s->p.dv, sample_value_dout);
        }
}

static void add_keys(const struct sample *s, const float *lse, int64_t b, int64_t h, int64_t q, double *row,
                     double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    const struct sample_range range = sample_range_of(&e, q);
    for (int64_t k = range.begin; k < range.end; k++) {
        const struct element x = element_of(s, &e, lse, b, h, q, k);
        if (x.p != 0)
            add(s, row, bound, x.ds, x.ds_off, sample_answer_key_row(s, &e, b, h, k), s->p.d, sample_value_k);
    }
}

/* A cell of a bias, or a row of them, of query q: over all that it is broadcast over. */
static void add_bias(const struct sample *s, const float *lse, int64_t q, double *row, double *bound)
{
    for (int64_t i = 0; i < s->p.sizes.b * s->p.sizes.h; i++) {
        const int64_t b = i / s->p.sizes.h, h = i % s->p.sizes.h;
        const struct sample_entry e = sample_entry_of(s, b);
        const struct sample_range range = sample_range_of(&e, q);
        for (int64_t k = range.begin; k < range.end; k++) {
            const struct element x = element_of(s, &e, lse, b, h, q, k);
            const int64_t c = s->other_shapes ? 0 : k;
            row[c] += x.top;
            bound[c] += x.top_off + doubt(s, 0) * fabs(x.top);
        }
    }
}

/* A head's slope: of one entry. */
static void add_slope(const struct sample *s, const float *lse, int64_t b, int64_t h, double *row, double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    for (int64_t q = 0; q < e.nq; q++) {
        const struct sample_range range = sample_range_of(&e, q);
        for (int64_t k = range.begin; k < range.end; k++) {
            const struct element x = element_of(s, &e, lse, b, h, q, k);
            const double away = fabs((double)(q + e.offset - k));
            *row -= x.top * away;
            *bound += (x.top_off + doubt(s, 0) * fabs(x.top)) * away;
        }
    }
}

/* A head's sink: of one entry. Of rows that do not count O is 0, whatever is stored there. */
static void add_sink(const struct sample *s, const float *lse, int64_t b, int64_t h, double *row, double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    float sink;
    sample_fill(s, SAMPLE_SINKS, h, 1, &sink);
    for (int64_t q = 0; q < e.nq; q++) {
        const double of_row = (double)lse[sample_lse(s, b, h, q)];
        const double p = of_row > -(double)INFINITY ? exp(sink - of_row) : 0;
        double size, sum = sample_value_dlse(s, sample_lse(s, b, h, q));
        size = fabs(sum);
        if (q < e.q_len)
            sum = against_o(s, b, h, q, -1, &size);
        *row += p * sum;
        *bound += p * doubt_of(s, p, fabs(sink) + fabs(of_row)) * size;
    }
}

/* Slopes and sinks: of the entry that has its own, or of all. */
static void add_entries(const struct sample *s, int which, const float *lse, int64_t b, int64_t h, double *row,
                        double *bound)
{
    const bool own = sample_gradient_shape(s, which).entries > 1;
    for (int64_t i = own ? b : 0; i < (own ? b + 1 : s->p.sizes.b); i++)
        (which == SAMPLE_DSLOPES ? add_slope : add_sink)(s, lse, i, h, row, bound);
}

void sample_gradient(const struct sample *s, int which, const float *lse, int64_t b, int64_t h, int64_t n, double *row,
                     double *bound)
{
    const struct sample_gradient_shape x = sample_gradient_shape(s, which);
    memset(row, 0, (size_t)x.width * sizeof *row);
    memset(bound, 0, (size_t)x.width * sizeof *bound);
    switch (which) {
    case SAMPLE_DQ: add_keys(s, lse, b, h, n, row, bound); break;
    case SAMPLE_DK:
    case SAMPLE_DV: add_queries(s, which, lse, b, h, n, row, bound); break;
    case SAMPLE_DBIAS: add_bias(s, lse, n, row, bound); break;
    default: add_entries(s, which, lse, b, h, row, bound); break;
    }
    for (int64_t c = 0; c < x.width; c++)
        bound[c] += bound[c] > 0 ? sample_answer_rounding(x.type, row[c]) : 0;
}
