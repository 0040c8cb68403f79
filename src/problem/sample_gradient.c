/* sample_gradient.c - gradients of made-up attention, in double, and how far off they may be. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * O, dO and LSE are made up as well: the formulas hold for any. */
#include "config.h"

#include "problem/sample.h"

#include "base/checked.h"
#include "problem/mod_grads.h"

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
    const bool own = sample_shapes[s->shape].slopes, sloped = p->flags & CLATTN_ALIBI;
    const int scalar = p->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32, j = which - SAMPLE_DAUX;
    int64_t bias[4];
    if (j >= 0)
        return (struct sample_gradient_shape){ 1, 1, j < p->n_aux && p->aux_grads >> j & 1, MOD_GRADS_N, scalar };
    sample_bias_shape(s, bias);
    const struct sample_gradient_shape shapes[SAMPLE_DAUX] = {
        [SAMPLE_DQ] = { z->b, z->h, z->nq, p->d, p->type },
        [SAMPLE_DK] = { z->b, z->hk, z->nk, p->d, p->k_type },
        [SAMPLE_DV] = { z->b, z->hk, z->nk, p->dv, p->v_type },
        [SAMPLE_DBIAS] = { bias[0], bias[1], p->bias_type ? bias[2] : 0, bias[3], scalar },
        [SAMPLE_DSLOPES] = { own ? z->b : 1, z->h, sloped, 1, CLATTN_F32 },
        [SAMPLE_DSINKS] = { 1, z->h, p->flags & CLATTN_SINKS ? 1 : 0, 1, CLATTN_F32 },
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

static struct sample_element compute_element(const struct sample *s, const struct sample_entry *e, const float *lse,
                                             int64_t b, int64_t h, int64_t q, int64_t k)
{
    const struct sample_score x = sample_answer_score(s, e, b, h, q, k);
    double size;
    if (!x.kept)
        return (struct sample_element){ .p = 0 };
    const double of_row = (double)lse[sample_lse(s, b, h, q)];
    const double sum = against_o(s, b, h, q, sample_answer_key_row(s, e, b, h, k), &size);
    const double p = exp(x.logit - of_row), off = doubt_of(s, p, x.size + fabs(of_row));
    return (struct sample_element){ p, p * off, p * sum, p * off * size, p * sum * x.slope * s->p.scale,
                                    p * off * size * fabs(s->p.scale) };
}

static int64_t place_of(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const clattn_sizes *const z = &s->p.sizes;
    return ((b * z->h + h) * z->nq + q) * z->nk + k;
}

static struct sample_element element_of(const struct sample *s, const struct sample_entry *e, const float *lse,
                                        int64_t b, int64_t h, int64_t q, int64_t k)
{
    return s->elements ? s->elements[place_of(s, b, h, q, k)] : compute_element(s, e, lse, b, h, q, k);
}

size_t sample_gradient_elements(const struct sample *s)
{
    enum { MOST = 1 << 18 };
    const clattn_problem *const p = &s->p;
    const clattn_sizes *const z = &p->sizes;
    int64_t n;
    const bool all = p->bias_type || p->flags & CLATTN_ALIBI || p->aux_grads;
    return all && checked_mul(z->b, z->h, &n) && checked_mul(n, z->nq, &n) && checked_mul(n, z->nk, &n) && n <= MOST
               ? (size_t)n
               : 0;
}

void sample_gradient_compute(struct sample *s, const float *lse, struct sample_element *room)
{
    const clattn_sizes *const z = &s->p.sizes;
    s->elements = NULL;
    memset(room, 0, sample_gradient_elements(s) * sizeof *room);
    for (int64_t i = 0; i < z->b * z->h * z->nq; i++) {
        const int64_t b = i / z->nq / z->h, h = i / z->nq % z->h, q = i % z->nq;
        const struct sample_entry e = sample_entry_of(s, b);
        const struct sample_range range = q < e.nq ? sample_range_of(&e, q) : (struct sample_range){ 0, 0 };
        for (int64_t k = range.begin; k < range.end; k++)
            room[place_of(s, b, h, q, k)] = compute_element(s, &e, lse, b, h, q, k);
    }
    s->elements = room;
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
            const struct sample_element x = element_of(s, &e, lse, b, h, q, k);
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
        const struct sample_element x = element_of(s, &e, lse, b, h, q, k);
        if (x.p != 0)
            add(s, row, bound, x.ds, x.ds_off, sample_answer_key_row(s, &e, b, h, k), s->p.d, sample_value_k);
    }
}

/* How many times dS of an element is added to which cell of a row: of a bias, a head's slope, or a captured buffer. */
struct share {
    int64_t cell;
    double times;
};

static struct share share_of(const struct sample *s, int which, const struct sample_entry *e, int64_t b, int64_t h,
                             int64_t q, int64_t k)
{
    if (which == SAMPLE_DBIAS)
        return (struct share){ sample_shapes[s->shape].bias[3] ? k : 0, 1 };
    if (which == SAMPLE_DSLOPES)
        return (struct share){ 0, -fabs((double)(q + e->offset - k)) };
    const int64_t cell = mod_grads_cell(which - SAMPLE_DAUX, b, h, q, k);
    return (struct share){ cell, cell >= 0 && cell < MOD_GRADS_N };
}

static void add_shares(const struct sample *s, int which, const float *lse, int64_t b, int64_t h, int64_t q,
                       double *row, double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    const struct sample_range range = q < e.nq ? sample_range_of(&e, q) : (struct sample_range){ 0, 0 };
    for (int64_t k = range.begin; k < range.end; k++) {
        const struct sample_element x = element_of(s, &e, lse, b, h, q, k);
        const struct share to = share_of(s, which, &e, b, h, q, k);
        if (to.times == 0)
            continue;
        row[to.cell] += x.top * to.times;
        bound[to.cell] += (x.top_off + doubt(s, 0) * fabs(x.top)) * fabs(to.times);
    }
}

/* Over all entries, heads and queries that share row n of (b, h). */
static void add_all_shares(const struct sample *s, int which, const float *lse, int64_t b, int64_t h, int64_t n,
                           double *row, double *bound)
{
    const clattn_sizes *const z = &s->p.sizes;
    const struct sample_gradient_shape x = sample_gradient_shape(s, which);
    const double times = which < SAMPLE_DAUX ? 1 : 2 * mod_grads_look_ups(&s->p, which - SAMPLE_DAUX);
    for (int64_t i = 0; i < z->b * z->h * z->nq; i++) {
        const int64_t at[3] = { i / z->nq / z->h, i / z->nq % z->h, i % z->nq };
        if ((x.entries == 1 || at[0] == b) && (x.heads == 1 || at[1] == h) && (x.rows == 1 || at[2] == n))
            add_shares(s, which, lse, at[0], at[1], at[2], row, bound);
    }
    for (int64_t c = 0; c < x.width; c++) {
        row[c] *= times;
        bound[c] *= times;
    }
}

/* A head's sink, of one entry. Of rows that do not count O is 0, whatever is stored there. */
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
    case SAMPLE_DSINKS:
        for (int64_t i = 0; i < s->p.sizes.b; i++)
            add_sink(s, lse, i, h, row, bound);
        break;
    default: add_all_shares(s, which, lse, b, h, n, row, bound); break;
    }
    for (int64_t c = 0; c < x.width; c++)
        bound[c] += bound[c] > 0 ? sample_answer_rounding(x.type, row[c]) : 0;
}
