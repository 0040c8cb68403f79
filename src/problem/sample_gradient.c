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

/* Of an element: its weight, and its ds with respect to the product of Q and K; how far off each may be. */
struct element {
    double p, p_off, ds, ds_off;
};

static struct element element_of(const struct sample *s, const struct sample_entry *e, const float *lse, int64_t b,
                                 int64_t h, int64_t q, int64_t k)
{
    const struct sample_score x = sample_answer_score(s, e, b, h, q, k);
    const int64_t dv = s->p.dv, row = sample_row(s, b, h, q) * dv, key = sample_answer_key_row(s, e, b, h, k) * dv;
    const double of_row = x.kept ? (double)lse[sample_lse(s, b, h, q)] : 0;
    double sum = 0, size = 0;
    if (!x.kept)
        return (struct element){ 0, 0, 0, 0 };
    for (int64_t c = 0; c < dv; c++) { /* dp - D, at once */
        const double dout = sample_value_dout(s, row + c), o = sample_value_o(s, row + c);
        const double v = sample_value_v(s, key + c);
        sum += dout * (v - o);
        size += fabs(dout) * (fabs(v) + fabs(o));
    }
    const double p = exp(x.logit - of_row), off = doubt(s, x.size + fabs(of_row));
    const double slope = x.slope * s->p.scale;
    return (struct element){ p, p * off, p * sum * slope,
                             p * off * size * fabs(s->p.scale) };
}

/* Adds w times a row of values. */
static void add(const struct sample *s, double *row, double *bound, double w, double off, int64_t at, int64_t width,
                double (*value)(const struct sample *, int64_t))
{
    for (int64_t c = 0; c < width; c++) {
        const double x = value(s, at * width + c);
        row[c] += w * x;
        bound[c] += (off + doubt(s, 0) * fabs(w)) * fabs(x);
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

void sample_gradient(const struct sample *s, int which, const float *lse, int64_t b, int64_t h, int64_t n, double *row,
                     double *bound)
{
    const int type = which == SAMPLE_DQ ? s->p.type : which == SAMPLE_DK ? s->p.k_type : s->p.v_type;
    const int64_t width = which == SAMPLE_DV ? s->p.dv : s->p.d;
    memset(row, 0, (size_t)width * sizeof *row);
    memset(bound, 0, (size_t)width * sizeof *bound);
    if (which == SAMPLE_DQ)
        add_keys(s, lse, b, h, n, row, bound);
    else
        add_queries(s, which, lse, b, h, n, row, bound);
    for (int64_t c = 0; c < width; c++)
        bound[c] += bound[c] > 0 ? sample_answer_rounding(type, row[c]) : 0;
}
