/* sample.c - made-up attention, and what it gives, in double. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/sample.h"

#include "problem/workload.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- Numbers ---- */

static uint32_t hash(uint32_t seed, int64_t at)
{
    uint32_t x = seed * 0x9e3779b9u + (uint32_t)at * 0x85ebca6bu + (uint32_t)((uint64_t)at >> 32);
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

/* A multiple of 1/16 in [-2, 2], never 0. */
static double number(uint32_t seed, int64_t at)
{
    const int n = (int)(hash(seed, at) % 64) - 32;
    return (n >= 0 ? n + 1 : n) / 16.0;
}

/* x is a float of at most 8 bits, and neither large nor small. */
static void store(int type, double x, unsigned char *to)
{
    const float f = (float)x;
    uint32_t bits;
    uint16_t half;
    memcpy(&bits, &f, sizeof bits);
    switch (type) {
    case CLATTN_F64: memcpy(to, &x, sizeof x); return;
    case CLATTN_BF16: half = (uint16_t)(bits >> 16); break;
    case CLATTN_F16:
        half = (uint16_t)(bits >> 16 & 0x8000);
        if (isnan(x))
            half = 0xffff;
        else if (isinf(x))
            half |= 0x7c00;
        else if (x != 0)
            half |= (uint16_t)(((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023));
        break;
    default: memcpy(to, &f, sizeof f); return;
    }
    memcpy(to, &half, sizeof half);
}

static double load_half(uint16_t x)
{
    const int e = x >> 10 & 31, m = x & 1023;
    const double size = e == 31 ? (m ? (double)NAN : (double)INFINITY) : ldexp(e ? m + 1024 : m, (e ? e : 1) - 25);
    return x & 0x8000 ? -size : size;
}

double sample_load(int type, const void *from)
{
    uint16_t half;
    uint32_t bits;
    float f;
    double x;
    switch (type) {
    case CLATTN_F64: memcpy(&x, from, sizeof x); return x;
    case CLATTN_F16: memcpy(&half, from, sizeof half); return load_half(half);
    case CLATTN_BF16:
        memcpy(&half, from, sizeof half);
        bits = (uint32_t)half << 16;
        memcpy(&f, &bits, sizeof f);
        return f;
    default: memcpy(&f, from, sizeof f); return f;
    }
}

/* ---- Lengths ---- */

/* The rows of Q (or K) that entry b has, where they begin in a packed tensor, and those that count. */
struct entry {
    int64_t nq, nk, q_first, k_first, q_len, k_begin, k_end, offset;
};

static int64_t first_row(int64_t n, int64_t b, int64_t of)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < b; i++)
        sum += workload_varlen(n, i, of);
    return sum;
}

static int64_t within(int64_t x, int64_t least, int64_t most)
{
    return x < least ? least : x > most ? most : x;
}

static int64_t bounded(int64_t x, int64_t most)
{
    return within(x, 0, most);
}

/* As the caller's arrays say; the kernel clamps what they say to the rows there are. */
static int64_t given_q_len(const struct sample *s, int64_t b) { return s->p.sizes.nq - (s->ragged ? 1 + b : 0); }
static int64_t given_kv_len(const struct sample *s, int64_t b) { return s->p.sizes.nk - (s->ragged ? 3 + 2 * b : 0); }
static int64_t given_kv_start(const struct sample *s, int64_t b) { return s->ragged ? 1 + b : 0; }
static int64_t given_offset(const struct sample *s, int64_t b)
{
    return s->p.sizes.nk - s->p.sizes.nq - (s->ragged ? 2 * b + 1 : 0);
}

static struct entry entry_of(const struct sample *s, int64_t b)
{
    const clattn_problem *p = &s->p;
    const clattn_sizes *z = &p->sizes;
    struct entry e = { z->nq, z->nk, 0, 0, 0, 0, 0, 0 };
    if (p->flags & CLATTN_CU_Q) {
        e.nq = workload_varlen(z->nq, b, z->b);
        e.q_first = first_row(z->nq, b, z->b);
    }
    if (p->flags & CLATTN_CU_K) {
        e.nk = workload_varlen(z->nk, b, z->b);
        e.k_first = first_row(z->nk, b, z->b);
    }
    e.q_len = p->flags & CLATTN_Q_LEN ? bounded(given_q_len(s, b), e.nq) : e.nq;
    e.k_end = p->flags & CLATTN_KV_LEN ? bounded(given_kv_len(s, b), e.nk) : e.nk;
    e.k_begin = p->flags & CLATTN_KV_START ? bounded(given_kv_start(s, b), e.nk) : 0;
    e.offset = p->align == CLATTN_ALIGN_BOTTOM_RIGHT ? e.k_end - e.q_len
               : p->align == CLATTN_ALIGN_OFFSETS    ? given_offset(s, b)
               : p->align == CLATTN_ALIGN_OFFSET     ? within(z->offset, -ROWS_MAX, ROWS_MAX)
                                                     : 0;
    return e;
}

/* ---- Tensors ---- */

static int64_t product(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t x;
    return checked_mul(a, b, &x) && checked_mul(x, c, &x) && checked_mul(x, d, &x) ? x : 0;
}

static int64_t blocks(int64_t n)
{
    return (n + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK;
}

int64_t sample_count(const struct sample *s, enum sample_what what)
{
    const clattn_problem *p = &s->p;
    const clattn_sizes *z = &p->sizes;
    const uint32_t f = p->flags;
    const int64_t rows_k = f & CLATTN_CU_K ? z->total_k : product(z->b, z->nk, 1, 1);
    switch (what) {
    case SAMPLE_Q: return product(f & CLATTN_CU_Q ? z->total_q : product(z->b, z->nq, 1, 1), z->h, p->d, 1);
    case SAMPLE_K: return product(rows_k, z->hk, p->d, 1);
    case SAMPLE_V: return product(rows_k, z->hk, p->dv, 1);
    case SAMPLE_BIAS: return p->bias_type ? product(z->nq, z->nk, 1, 1) : 0;
    case SAMPLE_MASK: return f & CLATTN_MASK ? product(z->nq, z->nk, 1, 1) : 0;
    case SAMPLE_MAP: return f & CLATTN_BLOCK_MAP ? blocks(z->nq) * blocks(z->nk) : 0;
    case SAMPLE_SLOPES: return f & CLATTN_ALIBI ? z->h : 0;
    case SAMPLE_SINKS: return f & CLATTN_SINKS ? z->h : 0;
    case SAMPLE_Q_LEN: return f & CLATTN_Q_LEN ? z->b : 0;
    case SAMPLE_KV_LEN: return f & CLATTN_KV_LEN ? z->b : 0;
    case SAMPLE_KV_START: return f & CLATTN_KV_START ? z->b : 0;
    case SAMPLE_OFFSETS: return p->align == CLATTN_ALIGN_OFFSETS ? z->b : 0;
    case SAMPLE_CU_Q: return f & CLATTN_CU_Q ? z->b + 1 : 0;
    case SAMPLE_CU_K: return f & CLATTN_CU_K ? z->b + 1 : 0;
    default: return 0;
    }
}

int sample_type(const struct sample *s, enum sample_what what)
{
    switch (what) {
    case SAMPLE_Q: return s->p.type;
    case SAMPLE_K: return s->p.k_type;
    case SAMPLE_V: return s->p.v_type;
    case SAMPLE_BIAS: return s->p.bias_type;
    case SAMPLE_MASK:
    case SAMPLE_MAP: return CLATTN_U8;
    case SAMPLE_SLOPES:
    case SAMPLE_SINKS: return CLATTN_F32;
    default: return CLATTN_I32;
    }
}

/* The row of K or V that element `at` is in: its entry, and its place there. */
static int64_t key_of(const struct sample *s, int64_t at, int64_t width, int64_t *b)
{
    const clattn_sizes *z = &s->p.sizes;
    if (!(s->p.flags & CLATTN_CU_K)) {
        *b = at / width / z->nk / z->hk;
        return at / width % z->nk;
    }
    int64_t row = at / width / z->hk;
    for (*b = 0; row >= workload_varlen(z->nk, *b, z->b); ++*b)
        row -= workload_varlen(z->nk, *b, z->b);
    return row;
}

static bool is_hidden(const struct sample *s, int64_t at, int64_t width)
{
    int64_t b;
    if (!s->ragged || !(s->p.flags & (CLATTN_KV_LEN | CLATTN_KV_START)))
        return false;
    const int64_t k = key_of(s, at, width, &b);
    const struct entry e = entry_of(s, b);
    return k < e.k_begin || k >= e.k_end;
}

/* Rows of Q are of three sizes, so that some softmaxes are sharp. */
static double value_q(const struct sample *s, int64_t at)
{
    return s->q ? s->q[at] : number(s->seed, at) * (1 << (at / s->p.d % 3));
}
static double value_k(const struct sample *s, int64_t at)
{
    return s->k ? s->k[at] : number(s->seed + 1, at);
}
static double value_v(const struct sample *s, int64_t at)
{
    return s->v ? s->v[at] : number(s->seed + 2, at);
}
static double value_bias(const struct sample *s, int64_t at) { return number(s->seed + 3, at) * 2; }
static int value_mask(const struct sample *s, int64_t at) { return hash(s->seed + 4, at) % 8 != 0; }
static int value_map(const struct sample *s, int64_t at) { return hash(s->seed + 5, at) % 4 != 0; }
static double value_slope(int64_t h) { return 1.0 / (double)(2 << h % 8); }
static double value_sink(const struct sample *s, int64_t h) { return number(s->seed + 6, h); }

static double real_value(const struct sample *s, enum sample_what what, int64_t at)
{
    switch (what) {
    case SAMPLE_Q: return value_q(s, at);
    case SAMPLE_K: return is_hidden(s, at, s->p.d) ? (double)NAN : value_k(s, at);
    case SAMPLE_V: return is_hidden(s, at, s->p.dv) ? (double)NAN : value_v(s, at);
    case SAMPLE_BIAS: return value_bias(s, at);
    case SAMPLE_SLOPES: return value_slope(at);
    default: return value_sink(s, at);
    }
}

static int32_t whole_value(const struct sample *s, enum sample_what what, int64_t at)
{
    const clattn_sizes *z = &s->p.sizes;
    switch (what) {
    case SAMPLE_Q_LEN: return (int32_t)given_q_len(s, at);
    case SAMPLE_KV_LEN: return (int32_t)given_kv_len(s, at);
    case SAMPLE_KV_START: return (int32_t)given_kv_start(s, at);
    case SAMPLE_OFFSETS: return (int32_t)given_offset(s, at);
    case SAMPLE_CU_Q: return (int32_t)first_row(z->nq, at, z->b);
    default: return (int32_t)first_row(z->nk, at, z->b);
    }
}

size_t sample_values(const struct sample *s)
{
    enum { MOST = 1 << 20 };
    const int64_t n[] = { sample_count(s, SAMPLE_Q), sample_count(s, SAMPLE_K), sample_count(s, SAMPLE_V) };
    int64_t all = 0;
    for (int i = 0; i < 3; i++)
        all += within(n[i], 0, MOST + 1);
    return all > MOST ? 0 : (size_t)all;
}

void sample_compute(struct sample *s, double *room)
{
    const int64_t nq = sample_count(s, SAMPLE_Q), nk = sample_count(s, SAMPLE_K), nv = sample_count(s, SAMPLE_V);
    s->q = s->k = s->v = NULL;
    for (int64_t at = 0; at < nq; at++)
        room[at] = value_q(s, at);
    for (int64_t at = 0; at < nk; at++)
        room[nq + at] = value_k(s, at);
    for (int64_t at = 0; at < nv; at++)
        room[nq + nk + at] = value_v(s, at);
    s->q = room;
    s->k = room + nq;
    s->v = room + nq + nk;
}

int sample_map_of_mask(const struct sample *s, int64_t at)
{
    const clattn_sizes *z = &s->p.sizes;
    const int64_t q0 = at / blocks(z->nk) * SAMPLE_BLOCK, k0 = at % blocks(z->nk) * SAMPLE_BLOCK;
    bool some = false, all = true;
    for (int64_t q = q0; q < q0 + SAMPLE_BLOCK && q < z->nq; q++)
        for (int64_t k = k0; k < k0 + SAMPLE_BLOCK && k < z->nk; k++) {
            const bool keeps = value_mask(s, q * z->nk + k);
            some = some || keeps;
            all = all && keeps;
        }
    return some ? 1 + all : 0;
}

void sample_set_totals(clattn_problem *p)
{
    clattn_sizes *z = &p->sizes;
    z->total_q = z->total_k = 0;
    for (int64_t i = 0; i < z->b; i++) {
        z->total_q += p->flags & CLATTN_CU_Q ? workload_varlen(z->nq, i, z->b) : 0;
        z->total_k += p->flags & CLATTN_CU_K ? workload_varlen(z->nk, i, z->b) : 0;
    }
}

void sample_fill(const struct sample *s, enum sample_what what, int64_t from, int64_t n, void *to)
{
    const int type = sample_type(s, what);
    unsigned char *out = to;
    for (int64_t at = from; at < from + n; at++) {
        if (type == CLATTN_U8) {
            *out++ = (unsigned char)(what == SAMPLE_MASK ? value_mask(s, at) : value_map(s, at));
        } else if (type == CLATTN_I32) {
            const int32_t x = whole_value(s, what, at);
            memcpy(out, &x, sizeof x);
            out += sizeof x;
        } else {
            store(type, real_value(s, what, at), out);
            out += problem_type_size(type);
        }
    }
}

/* ---- The answer ---- */

int64_t sample_row(const struct sample *s, int64_t b, int64_t h, int64_t q)
{
    const clattn_sizes *z = &s->p.sizes;
    const struct entry e = entry_of(s, b);
    if (q >= e.nq)
        return -1;
    return s->p.flags & CLATTN_CU_Q ? (e.q_first + q) * z->h + h : (b * z->h + h) * z->nq + q;
}

int64_t sample_lse(const struct sample *s, int64_t b, int64_t h, int64_t q)
{
    const clattn_sizes *z = &s->p.sizes;
    const struct entry e = entry_of(s, b);
    if (q >= e.nq)
        return -1;
    return s->p.flags & CLATTN_CU_Q ? h * z->total_q + e.q_first + q : (b * z->h + h) * z->nq + q;
}

/* Row k of K or V of (b, h): where it begins. */
static int64_t key_row(const struct sample *s, const struct entry *e, int64_t b, int64_t h, int64_t k)
{
    const clattn_sizes *z = &s->p.sizes;
    const int64_t hk = h / (z->h / z->hk);
    return s->p.flags & CLATTN_CU_K ? (e->k_first + k) * z->hk + hk : (b * z->hk + hk) * z->nk + k;
}

static bool keeps(const struct sample *s, const struct entry *e, int64_t q, int64_t k)
{
    const clattn_problem *p = &s->p;
    const int64_t from = k - q - e->offset; /* the diagonal */
    const bool window = p->flags & CLATTN_WINDOW;
    return q < e->q_len && k >= e->k_begin && k < e->k_end && !(p->causal && from > 0) &&
           !(window && p->window_right >= 0 && from > p->window_right) &&
           !(window && p->window_left >= 0 && -from > p->window_left) &&
           !(p->flags & CLATTN_MASK && !value_mask(s, q * p->sizes.nk + k)) &&
           !(p->flags & CLATTN_BLOCK_MAP &&
             !value_map(s, q / SAMPLE_BLOCK * blocks(p->sizes.nk) + k / SAMPLE_BLOCK));
}

/* The logit of (q, k), and in *a the sizes that it had step by step, added up: what rounding may take a part of. */
static double logit(const struct sample *s, const struct entry *e, int64_t h, int64_t q, int64_t k, int64_t q_at,
                    int64_t k_at, double *a)
{
    const clattn_problem *p = &s->p;
    double x = 0, size = 0, more = 0, more_size = 0; /* two sums, so that one does not wait for the other */
    for (int64_t c = 0; c < p->d; c++) {
        const double term = value_q(s, q_at * p->d + c) * value_k(s, k_at * p->d + c);
        if (c % 2) {
            more += term;
            more_size += fabs(term);
        } else {
            x += term;
            size += fabs(term);
        }
    }
    x += more;
    size += more_size;
    x *= p->scale;
    *a = fabs(p->scale) * size;
    if (p->softcap) {
        x = p->softcap * tanh(x / p->softcap);
        *a += fabs(x);
    }
    if (p->flags & CLATTN_ALIBI) {
        x -= value_slope(h) * fabs((double)(q + e->offset - k));
        *a += fabs(x);
    }
    if (p->bias_type) {
        x += value_bias(s, q * p->sizes.nk + k);
        *a += fabs(x);
    }
    return x;
}

static double epsilon(int type)
{
    return type == CLATTN_F64 ? 0x1p-53 : type == CLATTN_BF16 ? 0x1p-8 : type == CLATTN_F16 ? 0x1p-11 : 0x1p-24;
}

static double smallest_normal(int type)
{
    return type == CLATTN_F64 ? 0x1p-1022 : type == CLATTN_F16 ? 0x1p-14 : 0x1p-126;
}

/* One row's softmax. weight[k]: 0 where key k is not kept; a[k]: what clattn.h calls a; sink: its weight, if any. */
struct softmax {
    double *weight, *a;
    double top, sum, sink;
    int64_t keys;
};

static void weigh(const struct sample *s, const struct entry *e, int64_t b, int64_t h, int64_t q, struct softmax *m)
{
    const double none = -(double)INFINITY, sink = s->p.flags & CLATTN_SINKS ? value_sink(s, h) : none;
    const int64_t q_at = sample_row(s, b, h, q);
    m->top = sink;
    m->keys = 0;
    for (int64_t k = e->k_begin; k < e->k_end; k++) {
        const bool kept = keeps(s, e, q, k);
        m->weight[k] = kept ? logit(s, e, h, q, k, q_at, key_row(s, e, b, h, k), &m->a[k]) : none;
        m->top = fmax(m->top, m->weight[k]);
        m->keys += kept;
    }
    m->sum = m->sink = sink > none ? exp(sink - m->top) : 0;
    for (int64_t k = e->k_begin; k < e->k_end; k++) {
        m->weight[k] = m->weight[k] > none ? exp(m->weight[k] - m->top) : 0;
        m->sum += m->weight[k];
    }
}

/* The row's O, and how far off it may be, as clattn.h promises it: the sums T2 on the way, T1 when O is there. */
static void average(const struct sample *s, const struct entry *e, int64_t b, int64_t h, const struct softmax *m,
                    double *o, double *o_bound)
{
    const clattn_problem *p = &s->p;
    const bool sinks = p->flags & CLATTN_SINKS;
    const double unit = p->type == CLATTN_F64 ? 0x1p-53 : 0x1p-24, eps = epsilon(p->type);
    const double chain = unit * (16 + 2 * log2(1 + (double)(m->keys + sinks))) + (s->narrow_p ? 2 * eps : 0);
    const double sink = sinks ? 32 * unit * m->sink / m->sum * (1 + fabs(value_sink(s, h))) : 0;
    for (int64_t k = e->k_begin; k < e->k_end; k++)
        for (int64_t c = 0, at = key_row(s, e, b, h, k) * p->dv; c < p->dv && m->weight[k] > 0; c++) {
            const double v = value_v(s, at + c);
            o[c] += m->weight[k] / m->sum * v;
            o_bound[c] += m->weight[k] / m->sum * fabs(v);
        }
    for (int64_t c = 0; c < p->dv; c++)
        o_bound[c] = chain * o_bound[c] + (sink + eps) * fabs(o[c]) + smallest_normal(p->type);
    for (int64_t k = e->k_begin; k < e->k_end; k++)
        for (int64_t c = 0, at = key_row(s, e, b, h, k) * p->dv; c < p->dv && m->weight[k] > 0; c++)
            o_bound[c] += 32 * unit * m->weight[k] / m->sum * (1 + m->a[k]) * fabs(value_v(s, at + c) - o[c]);
}

struct answer sample_answer(const struct sample *s, int64_t b, int64_t h, int64_t q, double *o, double *o_bound,
                            double *scratch)
{
    const clattn_problem *p = &s->p;
    const struct entry e = entry_of(s, b);
    const bool sinks = p->flags & CLATTN_SINKS;
    struct softmax m = { scratch, scratch + p->sizes.nk, 0, 0, 0, 0 };
    memset(o, 0, (size_t)p->dv * sizeof *o);
    memset(o_bound, 0, (size_t)p->dv * sizeof *o);
    weigh(s, &e, b, h, q, &m);
    if (!(m.sum > 0))
        return (struct answer){ -(double)INFINITY, 0 };
    if (m.keys)
        average(s, &e, b, h, &m, o, o_bound);
    const double lse = m.top + log(m.sum);
    double doubt = sinks ? m.sink / m.sum * (1 + fabs(value_sink(s, h))) : 0;
    for (int64_t k = e.k_begin; k < e.k_end; k++)
        doubt += m.weight[k] > 0 ? m.weight[k] / m.sum * (1 + m.a[k]) : 0;
    return (struct answer){ lse, 0x1p-24 * (32 * doubt + 16 + 2 * log2(1 + (double)(m.keys + sinks)) + 2 * fabs(lse)) };
}
