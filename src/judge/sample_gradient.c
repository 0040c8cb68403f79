/* sample_gradient.c - gradients of made-up attention, in double, and how far off they may be. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * O, dO and LSE are made up as well: the formulas hold for any. */
#include "config.h"

#include "judge/sample.h"
#include "judge/sample_feature.h"

#include "base/checked.h"
#include "problem/mod_grads.h"

#include <math.h>
#include <string.h>

/* ---- What the law of doc/semantics, "The bound of gradients", says; its names ---- */

static double unit_of(const struct sample *s)
{
    return s->p.type == CLATTN_F64 ? 0x1p-53 : 0x1p-24;
}
/* What underflow may lose of a sum, for each of its terms: tiny'. */
static double flow_of(const struct sample *s)
{
    return s->p.type == CLATTN_F64 ? 0x1p-1020 : 0x1p-124;
}
/* What counts as 0 beside the largest where matrix units have P and dS in f16. The law says the largest of all dS; what
 * is added up to one row has its own. */
static double vanishing(const struct sample *s)
{
    return s->narrow_p && s->p.type == CLATTN_F16 ? 0x1p-32 : 0;
}

/* C of a sum, with what matrix units do more: of any number of terms, and of P and dS that they multiply in 16 bits. */
enum { CHAIN = 64 };
static double chains(double terms)
{
    return 32 + 8 * fmin(terms, CHAIN);
}
static double adding(const struct sample *s, double terms, bool multiplied)
{
    const double narrow = multiplied && s->narrow_p ? 2 * sample_answer_epsilon(s->p.type) : 0;
    return unit_of(s) * (chains(terms) + (s->narrow_p ? terms : 0)) + narrow;
}
/* Of a dot product, in parts of what is added up. */
static double dot_off(const struct sample *s, int64_t width)
{
    return unit_of(s) * (96 + (s->narrow_p ? 2 * (double)width : 0));
}

/* How far off a weight may be of a row of n keys: log_p is s - LSE, and LSE exact. One that may count as 0 may be wrong
 * as a whole. */
static double weight_off(const struct sample *s, int64_t n, double log_p, const struct sample_score *x)
{
    const double flow = flow_of(s);
    const double f = flow * fmax(1, fabs(s->p.scale)) * ((double)s->p.d + x->sizes) + flow * s->p.softcap;
    const double e = unit_of(s) * (chains((double)n) + 16 * (x->later + fabs(log_p))) +
                     dot_off(s, s->p.d) * x->products + (x->sizes > 0 ? f : 0);
    const bool lost = log_p - e < (s->p.type == CLATTN_F64 ? -899 : -99) * log(2);
    return exp(log_p) * (expm1(e) + lost);
}

/* Scores of a row of Q are nearly normal, for a value of K is 1.18 large in the mean square: none is six deviations
 * off. A bias adds 4 at most, and all other changes of scores make them smaller. */
double sample_gradient_lse(const struct sample *s, int64_t b, int64_t h, int64_t q)
{
    const int64_t row = sample_row(s, b, h, q) * s->p.d;
    double squares = 0;
    for (int64_t c = 0; c < s->p.d; c++)
        squares += sample_value(s, SAMPLE_Q, row + c) * sample_value(s, SAMPLE_Q, row + c);
    const double deviation = 1.18 * fabs(s->p.scale) * sqrt(squares);
    return fmax(6 * deviation + (s->p.bias_type ? 4 : 0), deviation * deviation / 2 + log(1 + (double)s->p.sizes.nk));
}

/* ---- Shapes ---- */

struct sample_gradient_shape sample_gradient_shape(const struct sample *s, int which)
{
    const clattn_problem *const p = &s->p;
    const clattn_sizes *const z = &p->sizes;
    const bool own = sample_shapes[s->shape].slopes, sloped = p->flags & PROBLEM_SLOPES;
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

/* dp and D, and how far off they may be. */
struct products {
    double dp, dp_off, delta, delta_off;
};

/* Of a row of values, none for -1. counts: of a row of Q that counts; O of others is 0, whatever is stored there. */
static struct products products_of(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t value, bool counts)
{
    const int64_t dv = s->p.dv, row = sample_row(s, b, h, q) * dv;
    const double dlse = sample_value_dlse(s, sample_lse(s, b, h, q));
    const double lse_unit = problem_lse_type(&s->p) == CLATTN_F64 ? 0x1p-53 : 0x1p-24;
    double dp = 0, dp_size = 0, delta = 0, delta_size = 0, dout_room[SAMPLE_PIECE], room[SAMPLE_PIECE];
    for (int64_t c = 0; c < dv && counts; c += SAMPLE_PIECE) {
        const int64_t n = dv - c < SAMPLE_PIECE ? dv - c : SAMPLE_PIECE;
        const double *const dout = sample_value_piece(s, SAMPLE_DOUT, row + c, n, dout_room);
        const double *x = sample_value_piece(s, SAMPLE_O, row + c, n, room);
        for (int64_t i = 0; i < n; i++) {
            delta += dout[i] * x[i];
            delta_size += fabs(dout[i] * x[i]);
        }
        if (value < 0)
            continue;
        x = sample_value_piece(s, SAMPLE_V, value * dv + c, n, room);
        for (int64_t i = 0; i < n; i++) {
            dp += dout[i] * x[i];
            dp_size += fabs(dout[i] * x[i]);
        }
    }
    const double flow = (1 + (double)dv) * flow_of(s);
    return (struct products){ dp, dot_off(s, dv) * dp_size + flow, delta - dlse,
                              unit_of(s) * (96 + (double)dv) * delta_size + lse_unit * fabs(dlse) + flow };
}

/* Keys of a row, its sink being one of them; as many as make a difference. They are counted once where there is room:
 * 0 stands for a row that was not. */
static int64_t keys_of(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h, int64_t q)
{
    unsigned char *const counted = s->keys ? &s->keys[(b * s->p.sizes.h + h) * s->p.sizes.nq + q] : NULL;
    if (counted && *counted)
        return *counted - 1;
    const int64_t n = sample_answer_kept(s, e, b, h, q, CHAIN) + (s->p.flags & CLATTN_SINKS ? 1 : 0);
    if (counted)
        *counted = (unsigned char)(n + 1);
    return n;
}

static struct sample_element compute_element(const struct sample *s, const struct sample_entry *e, const float *lse,
                                             int64_t b, int64_t h, int64_t q, int64_t k)
{
    const struct sample_score x = sample_answer_score(s, e, b, h, q, k);
    if (!x.kept)
        return (struct sample_element){ .p = 0 };
    const struct products of = products_of(s, b, h, q, sample_answer_key_row(s, e, b, h, k), true);
    const double times = sample_answer_factor(s, b, h, q, k), dp = times * of.dp;
    const double log_p = x.logit - (double)lse[sample_lse(s, b, h, q)], p = exp(log_p), ds = dp - of.delta;
    const double u = unit_of(s), p_off = weight_off(s, keys_of(s, e, b, h, q), log_p, &x), all = p + p_off;
    const double top = p * ds;
    const double top_off =
        all * (times * of.dp_off + of.delta_off) + (p_off + 8 * u * all) * fabs(ds) + flow_of(s);
    const double factor = s->p.softcap > 0 ? fmin(1, 32 * u + dot_off(s, s->p.d) * x.products / s->p.softcap) : 0;
    return (struct sample_element){ times * p, times * p_off, top, top_off, top * x.slope * s->p.scale,
                                    (top_off * fabs(x.slope) + (fabs(top) + top_off) * factor) * fabs(s->p.scale) +
                                        flow_of(s) };
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
    const bool all = p->bias_type || p->flags & PROBLEM_SLOPES || p->aux_grads;
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

/* Adds w times a row of values; more: what adding all of them up loses. */
static void add(double *row, double *bound, double w, double off, double more, const struct sample *s,
                enum sample_what what, int64_t at, int64_t width)
{
    const double all = off + more * (fabs(w) + off), flow = flow_of(s);
    double room[SAMPLE_PIECE];
    for (int64_t c = 0; c < width; c += SAMPLE_PIECE) {
        const int64_t n = width - c < SAMPLE_PIECE ? width - c : SAMPLE_PIECE;
        const double *const x = sample_value_piece(s, what, at * width + c, n, room);
        for (int64_t i = 0; i < n; i++) {
            row[c + i] += w * x[i];
            bound[c + i] += all * fabs(x[i]) + flow;
        }
    }
}

/* The largest dS, as it is multiplied, of (b, h, q, k) with q and k from there to their ends. */
struct block {
    int64_t h, h_end, q, q_end, k, k_end;
};
static double largest_of(const struct sample *s, const struct sample_entry *e, const float *lse, int64_t b,
                         struct block at)
{
    double most = 0;
    for (int64_t h = at.h; h < at.h_end; h++)
        for (int64_t q = at.q; q < at.q_end; q++)
            for (int64_t k = at.k; k < at.k_end; k++) {
                const struct sample_element x = element_of(s, e, lse, b, h, q, k);
                most = fmax(most, fabs(x.ds) + x.ds_off);
            }
    return most;
}

static void add_queries(const struct sample *s, int which, const float *lse, int64_t b, int64_t hk, int64_t k,
                        double *row, double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    const int64_t share = s->p.sizes.h / s->p.sizes.hk;
    const double more = adding(s, (double)(share * s->p.sizes.nq), true), least = vanishing(s);
    const struct block all = { hk * share, (hk + 1) * share, 0, e.nq, k, k + 1 };
    const double gone = which == SAMPLE_DK && least > 0 ? least * largest_of(s, &e, lse, b, all)
                                                         : least / (1 - s->p.dropout_p);
    for (int64_t h = hk * share; h < (hk + 1) * share; h++)
        for (int64_t q = 0; q < e.nq; q++) {
            const struct sample_element x = element_of(s, &e, lse, b, h, q, k);
            const int64_t at = sample_row(s, b, h, q);
            if (x.ds_off == 0)
                continue;
            if (which == SAMPLE_DK)
                add(row, bound, x.ds, x.ds_off + gone, more, s, SAMPLE_Q, at, s->p.d);
            else
                add(row, bound, x.p, x.p_off + gone, more, s, SAMPLE_DOUT, at, s->p.dv);
        }
}

static void add_keys(const struct sample *s, const float *lse, int64_t b, int64_t h, int64_t q, double *row,
                     double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    const struct sample_range range = sample_range_of(&e, q);
    const double more = adding(s, (double)s->p.sizes.nk, true), least = vanishing(s);
    const struct block all = { h, h + 1, q, q + 1, range.begin, range.end };
    const double gone = least > 0 ? least * largest_of(s, &e, lse, b, all) : 0;
    for (int64_t k = range.begin; k < range.end; k++) {
        const struct sample_element x = element_of(s, &e, lse, b, h, q, k);
        if (x.ds_off != 0)
            add(row, bound, x.ds, x.ds_off + gone, more, s, SAMPLE_K, sample_answer_key_row(s, &e, b, h, k), s->p.d);
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
        return (struct share){ sample_shapes[s->shape].bias[3] ? k : 0, sample_feature_slope(s, h) };
    if (which == SAMPLE_DSLOPES && s->p.flags & CLATTN_BIAS_SLOPES)
        return (struct share){ 0, sample_feature_value(s, SAMPLE_BIAS, sample_bias_cell(s, b, h, q, k)) };
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
    const clattn_sizes *const z = &s->p.sizes;
    const double more = adding(s, (double)z->b * (double)z->h * (double)z->nq * (double)z->nk, false);
    for (int64_t k = range.begin; k < range.end; k++) {
        const struct sample_element x = element_of(s, &e, lse, b, h, q, k);
        const struct share to = share_of(s, which, &e, b, h, q, k);
        if (to.times == 0)
            continue;
        row[to.cell] += x.top * to.times;
        bound[to.cell] += (x.top_off + more * (fabs(x.top) + x.top_off)) * fabs(to.times) + flow_of(s);
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
        if (at[0] % x.entries == b && at[1] % x.heads == h && (x.rows == 1 || at[2] == n))
            add_shares(s, which, lse, at[0], at[1], at[2], row, bound);
    }
    for (int64_t c = 0; c < x.width; c++) {
        row[c] *= times;
        bound[c] *= times;
    }
}

/* A head's sink, of one entry. */
static void add_sink(const struct sample *s, const float *lse, int64_t b, int64_t h, double *row, double *bound)
{
    const struct sample_entry e = sample_entry_of(s, b);
    const clattn_sizes *const z = &s->p.sizes;
    const double more = adding(s, (double)z->b * (double)z->h * (double)z->nq * (double)z->nk, false);
    float sink;
    sample_fill(s, SAMPLE_SINKS, h, 1, &sink);
    const struct sample_score of_sink = { .later = fabs(sink) };
    for (int64_t q = 0; q < e.nq; q++) {
        const double of_row = (double)lse[sample_lse(s, b, h, q)];
        if (of_row == -(double)INFINITY)
            continue;
        const struct products of = products_of(s, b, h, q, -1, q < e.q_len);
        const double p = exp(sink - of_row), p_off = weight_off(s, keys_of(s, &e, b, h, q), sink - of_row, &of_sink);
        const double off = (p + p_off) * of.delta_off + p_off * fabs(of.delta);
        *row -= p * of.delta;
        *bound += off + more * (p * fabs(of.delta) + off) + flow_of(s);
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
        if (bound[c] > 0)
            bound[c] += sample_answer_rounding(x.type, row[c]) + sample_answer_epsilon(x.type) * bound[c];
}
