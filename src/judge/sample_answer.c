/* sample_answer.c - what made-up attention gives, in double, and how far off it may be. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/sample.h"

#include "judge/sample_feature.h"

#include <math.h>
#include <string.h>

int64_t sample_answer_key_row(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h, int64_t k)
{
    const clattn_sizes *z = &s->p.sizes;
    const int64_t hk = h / (z->h / z->hk);
    return s->p.flags & CLATTN_CU_K ? (e->k_first + k) * z->hk + hk : (b * z->hk + hk) * z->nk + k;
}

/* An element of the scores. */
struct place {
    const struct sample *s;
    int64_t b, h, q, k, offset;
};

static struct feature_at at_place(const struct feature *f, const struct place *x)
{
    return (struct feature_at){ &x->s->p, x->q, x->k, x->offset,
                                sample_feature_read(x->s, f->reads, x->b, x->h, x->q, x->k) };
}

/* The features of a sample that drop keys, that change scores, in the order in which they do it, and its sink. */
struct rules {
    int n_masks, n_changes;
    const struct feature *masks[FEATURES_MOST], *changes[FEATURES_MOST], *sink; /* NULL: none */
};

static struct rules rules_of(const clattn_problem *p)
{
    struct rules r = { .n_masks = 0 };
    FEATURE_EACH(f) {
        if (!feature_applies(f, p))
            continue;
        if (f->keeps && r.n_masks < FEATURES_MOST)
            r.masks[r.n_masks++] = f;
        if (f->kind == FEATURE_SINK)
            r.sink = f;
        else if (f->change && r.n_changes < FEATURES_MOST)
            r.changes[r.n_changes++] = f;
    }
    return r;
}

static bool keeps(const struct rules *r, const struct sample_entry *e, const struct place *x)
{
    const struct sample_range range = sample_range_of(e, x->q);
    bool kept = x->k >= range.begin && x->k < range.end;
    for (int i = 0; i < r->n_masks && kept; i++) {
        const struct feature_at at = at_place(r->masks[i], x);
        kept = r->masks[i]->keeps(&at);
    }
    return kept;
}

/* Sums of several terms at a time, so that one does not wait for the other: of products, of their sizes, and of the
 * sizes of what is multiplied. */
enum { SUMS = 4 };
struct dot {
    double sum[SUMS], size[SUMS], sizes[SUMS];
};

static void add_products(struct dot *to, const double *x, const double *y, int64_t n)
{
    for (int64_t i = 0; i < n; i++) {
        const double term = x[i] * y[i];
        to->sum[i % SUMS] += term;
        to->size[i % SUMS] += fabs(term);
        to->sizes[i % SUMS] += fabs(x[i]) + fabs(y[i]);
    }
}

static double total(const double sums[SUMS])
{
    return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

static struct sample_score score_of(const struct rules *r, const struct place *at, int64_t q_at, int64_t k_at)
{
    const struct sample *s = at->s;
    const clattn_problem *p = &s->p;
    struct dot of = { { 0 }, { 0 }, { 0 } };
    double q_room[SAMPLE_PIECE], k_room[SAMPLE_PIECE];
    for (int64_t c = 0; c < p->d; c += SAMPLE_PIECE) {
        const int64_t n = p->d - c < SAMPLE_PIECE ? p->d - c : SAMPLE_PIECE;
        add_products(&of, sample_value_piece(s, SAMPLE_Q, q_at * p->d + c, n, q_room),
                     sample_value_piece(s, SAMPLE_K, k_at * p->d + c, n, k_room), n);
    }
    const double size = total(of.size), sizes = total(of.sizes);
    double x = total(of.sum) * p->scale;
    struct sample_score score = { .kept = true, .products = fabs(p->scale) * size, .slope = 1, .sizes = sizes };
    for (int i = 0; i < r->n_changes; i++) {
        const struct feature *const f = r->changes[i];
        const struct feature_at of_feature = at_place(f, at);
        score.slope *= f->slope ? f->slope(&of_feature, x) : 1;
        x = f->change(&of_feature, x);
        score.later += fabs(x);
    }
    score.logit = x;
    return score;
}

struct sample_score sample_answer_score(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h,
                                        int64_t q, int64_t k)
{
    const struct rules rules = rules_of(&s->p);
    const struct place at = { s, b, h, q, k, e->offset };
    return keeps(&rules, e, &at) ? score_of(&rules, &at, sample_row(s, b, h, q), sample_answer_key_row(s, e, b, h, k))
                                 : (struct sample_score){ .kept = false };
}

struct sample_score sample_answer_stage(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h,
                                        int64_t q, int64_t k, int stage)
{
    const struct rules all = rules_of(&s->p);
    const struct place at = { s, b, h, q, k, e->offset };
    struct rules some = { .n_masks = stage < CLATTN_SCORES_MASKED ? 0 : all.n_masks };
    for (int i = 0; i < all.n_masks; i++)
        some.masks[i] = all.masks[i];
    for (int i = 0; i < all.n_changes; i++)
        if (stage >= (all.changes[i]->kind == FEATURE_SCORE ? CLATTN_SCORES_CHANGED : CLATTN_SCORES_MASKED))
            some.changes[some.n_changes++] = all.changes[i];
    return keeps(&some, e, &at) ? score_of(&some, &at, sample_row(s, b, h, q), sample_answer_key_row(s, e, b, h, k))
                                : (struct sample_score){ .kept = false };
}

int64_t sample_answer_kept(const struct sample *s, const struct sample_entry *e, int64_t b, int64_t h, int64_t q,
                           int64_t most)
{
    const struct rules rules = rules_of(&s->p);
    const struct sample_range range = sample_range_of(e, q);
    struct place at = { s, b, h, q, range.begin, e->offset };
    int64_t n = 0;
    for (; at.k < range.end && n < most; at.k++)
        n += keeps(&rules, e, &at);
    return n;
}

double sample_answer_epsilon(int type)
{
    return problem_type_at(type)->epsilon;
}

double sample_answer_rounding(int o_type, double o)
{
    return problem_type_at(o_type)->epsilon * fabs(o) + problem_type_at(o_type)->least;
}

/* The softmax of row (b, h, q), over the keys of `range`. off[k]: below 0 where key k is not kept; else first the
 * logarithm of the factor that its weight may be off, `most` being the largest of these, and then how much heavier it
 * may be, in parts of the row. times[k]: what dropout multiplies its weight with. sink: its weight, if any, its logit,
 * -inf for none, and how much heavier it may be. */
struct softmax {
    int64_t b, h, q;
    double *weight, *off, *times;
    struct sample_range range;
    double top, sum, sink, sink_logit, sink_off, most, least; /* least: what all weights are at least, likewise */
    int64_t keys;
};

/* E of doc/semantics for a score of these sizes. A sample is not made to be bad: what is asked of it is much less than
 * what is promised. */
static double doubt_of(const clattn_problem *p, double sizes)
{
    return 32 * (p->type == CLATTN_F64 ? 0x1p-53 : 0x1p-24) * (1 + sizes);
}

/* Takes up a weight that is off by up to e^doubt; returns how much heavier it may be, in parts of the row. One that may
 * count as 0 may be wrong as a whole. */
static double take_doubt(const struct sample *s, struct softmax *m, double weight, double doubt)
{
    const clattn_problem *const p = &s->p;
    const bool narrow_bf16 = s->narrow_p && p->type == CLATTN_BF16;
    const double least = p->type == CLATTN_F64 ? 0x1p-1022 : narrow_bf16 ? 0x1p-118 : 0x1p-126;
    const double part = weight / m->sum;
    const bool lost = part < least * exp(2 * m->most);
    m->least += lost ? 0 : part * exp(-doubt);
    return part * expm1(lost ? fmax(doubt, log(2)) : doubt);
}

struct dropout sample_answer_dropout(const struct sample *s)
{
    return (struct dropout){ s->p.dropout_p, UINT64_C(0x9E3779B97F4A7C15) * (s->seed + 1), s->seed % 1000 };
}

double sample_answer_factor(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const struct dropout d = sample_answer_dropout(s);
    return d.p > 0 ? dropout_factor(&d, b * s->p.sizes.h + h, q, k) : 1;
}

static double sink_of(const struct feature *f, const struct place *x)
{
    const struct feature_at at = at_place(f, x);
    return f->change(&at, 0);
}

static void weigh(const struct sample *s, const struct sample_entry *e, struct softmax *m)
{
    const int64_t b = m->b, h = m->h, q = m->q;
    const struct rules rules = rules_of(&s->p);
    struct place at = { s, b, h, q, 0, e->offset };
    const double none = -(double)INFINITY, sink = rules.sink ? sink_of(rules.sink, &at) : none;
    const int64_t q_at = sample_row(s, b, h, q);
    m->top = m->sink_logit = sink;
    m->keys = 0;
    m->most = sink > none ? doubt_of(&s->p, fabs(sink)) : 0;
    m->range = sample_range_of(e, q);
    for (int64_t k = m->range.begin; k < m->range.end; k++) {
        at.k = k;
        const bool kept = keeps(&rules, e, &at);
        const struct sample_score x = kept ? score_of(&rules, &at, q_at, sample_answer_key_row(s, e, b, h, k))
                                           : (struct sample_score){ .logit = none };
        m->weight[k] = x.logit;
        m->off[k] = kept ? doubt_of(&s->p, x.products + x.later) : -1;
        m->top = fmax(m->top, x.logit);
        m->keys += kept;
        m->most = fmax(m->most, m->off[k]);
    }
    m->sum = m->sink = sink > none ? exp(sink - m->top) : 0;
    for (int64_t k = m->range.begin; k < m->range.end; k++) {
        m->weight[k] = m->weight[k] > none ? exp(m->weight[k] - m->top) : 0;
        m->sum += m->weight[k];
    }
}

/* Makes m->off what weights may do to sums of them; returns how much more all may be. */
static double take_doubts(const struct sample *s, struct softmax *m)
{
    double all = 0;
    for (int64_t k = m->range.begin; k < m->range.end; k++)
        if (m->off[k] >= 0)
            all += m->off[k] = take_doubt(s, m, m->weight[k], m->off[k]);
    if (m->sink_logit > -(double)INFINITY)
        all += m->sink_off = take_doubt(s, m, m->sink, doubt_of(&s->p, fabs(m->sink_logit)));
    return all;
}

/* n columns of a row of V, from c on, as its weight is multiplied with them. */
static const double *values(const struct sample *s, const struct sample_entry *e, const struct softmax *m, int64_t k,
                            int64_t c, int64_t n, double room[SAMPLE_PIECE])
{
    const int64_t at = sample_answer_key_row(s, e, m->b, m->h, k) * s->p.dv + c;
    const double *const v = sample_value_piece(s, SAMPLE_V, at, n, room);
    if (m->times[k] == 1)
        return v;
    for (int64_t i = 0; i < n; i++)
        room[i] = m->times[k] * v[i];
    return room;
}

/* Some columns of the row's O, from c on, and how far off they may be. */
static void columns(const struct sample *s, const struct sample_entry *e, int64_t c, int64_t n, const struct softmax *m,
                    double *o, double *bound)
{
    const clattn_problem *p = &s->p;
    const bool sinks = m->sink_logit > -(double)INFINITY;
    const double unit = p->type == CLATTN_F64 ? 0x1p-53 : 0x1p-24;
    const double narrow = s->narrow_p ? 2 * sample_answer_epsilon(p->type) : 0;
    const double adding = unit * (16 + 2 * log2(1 + (double)(m->keys + sinks))) + narrow;
    double room[SAMPLE_PIECE], far[SAMPLE_PIECE], wrong[SAMPLE_PIECE];
    double size[SAMPLE_PIECE] = { 0 }, top[SAMPLE_PIECE] = { 0 };
    for (int64_t k = m->range.begin; k < m->range.end; k++) {
        const double part = m->weight[k] / m->sum;
        if (!(part > 0))
            continue;
        const double *const v = values(s, e, m, k, c, n, room);
        for (int64_t i = 0; i < n; i++)
            o[i] += part * v[i];
    }
    for (int64_t i = 0; i < n; i++) {
        far[i] = sinks ? fabs(o[i]) : 0;
        wrong[i] = m->sink_off * fabs(o[i]);
    }
    for (int64_t k = m->range.begin; k < m->range.end; k++) {
        const double off = m->off[k], all = m->weight[k] / m->sum + off;
        if (!(off >= 0))
            continue;
        const double *const v = values(s, e, m, k, c, n, room);
        for (int64_t i = 0; i < n; i++) {
            const double from_o = fabs(v[i] - o[i]);
            wrong[i] += off * from_o;
            size[i] += all * fabs(v[i]);
            far[i] = from_o > far[i] ? from_o : far[i];
            top[i] = fabs(v[i]) > top[i] ? fabs(v[i]) : top[i];
        }
    }
    for (int64_t i = 0; i < n; i++) {
        if (m->least > 0) {
            far[i] = fmin(far[i], wrong[i] / m->least);
            top[i] = fmin(top[i], size[i] / m->least);
        }
        bound[i] = far[i] + adding * top[i] + sample_answer_rounding(p->o_type, o[i]);
    }
}

/* Of row (b, h, q), with room in scratch. */
static struct softmax softmax_of(const struct sample *s, int64_t b, int64_t h, int64_t q, double *scratch)
{
    const int64_t nk = s->p.sizes.nk;
    return (struct softmax){
        .b = b, .h = h, .q = q, .weight = scratch, .off = scratch + nk, .times = scratch + 2 * nk
    };
}

double sample_answer_lse(const struct sample *s, int64_t b, int64_t h, int64_t q, double *scratch)
{
    const struct sample_entry e = sample_entry_of(s, b);
    struct softmax m = softmax_of(s, b, h, q, scratch);
    weigh(s, &e, &m);
    return m.sum > 0 ? m.top + log(m.sum) : -(double)INFINITY;
}

struct answer sample_answer(const struct sample *s, int64_t b, int64_t h, int64_t q, double *o, double *o_bound,
                            double *scratch)
{
    const clattn_problem *p = &s->p;
    const struct sample_entry e = sample_entry_of(s, b);
    struct softmax m = softmax_of(s, b, h, q, scratch);
    memset(o, 0, (size_t)p->dv * sizeof *o);
    memset(o_bound, 0, (size_t)p->dv * sizeof *o);
    weigh(s, &e, &m);
    if (!(m.sum > 0))
        return (struct answer){ -(double)INFINITY, 0 };
    const double more = take_doubts(s, &m);
    for (int64_t k = m.range.begin; k < m.range.end; k++)
        m.times[k] = sample_answer_factor(s, b, h, q, k);
    for (int64_t c = 0; c < p->dv && m.keys; c += SAMPLE_PIECE)
        columns(s, &e, c, p->dv - c < SAMPLE_PIECE ? p->dv - c : SAMPLE_PIECE, &m, o + c, o_bound + c);
    const bool sinks = m.sink_logit > -(double)INFINITY, wide = problem_lse_type(p) == CLATTN_F64;
    const double lse = m.top + log(m.sum), unit = wide ? 0x1p-53 : 0x1p-24;
    const double storing = p->type == CLATTN_F64 && !wide ? 0x1p-24 * fabs(lse) : 0;
    return (struct answer){ lse, log1p(more) + storing +
                                     unit * (16 + 2 * log2(1 + (double)(m.keys + sinks)) + 2 * fabs(lse)) };
}
