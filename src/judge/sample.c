/* sample.c - made-up attention: its tensors, and where their rows lie. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/sample.h"

#include "judge/sample_cache.h"
#include "judge/sample_feature.h"
#include "problem/workload.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- Numbers ---- */

uint32_t sample_hash(uint32_t seed, int64_t at)
{
    uint32_t x = seed * 0x9e3779b9u + (uint32_t)at * 0x85ebca6bu + (uint32_t)((uint64_t)at >> 32);
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ x >> 16;
}

double sample_number(uint32_t seed, int64_t at)
{
    const int n = (int)(sample_hash(seed, at) % 64) - 32;
    return (n >= 0 ? n + 1 : n) / 16.0;
}

void sample_store(int type, double x, void *to)
{
    problem_type_at(type)->store(x, to);
}

double sample_load(int type, const void *from)
{
    return problem_type_at(type)->load(from);
}

/* ---- Lengths ---- */

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

struct sample_entry sample_entry_of(const struct sample *s, int64_t b)
{
    const clattn_problem *p = &s->p;
    const clattn_sizes *z = &p->sizes;
    struct sample_entry e = { z->nq, z->nk, 0, 0, 0, 0, 0, 0 };
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

struct sample_range sample_range_of(const struct sample_entry *e, int64_t q)
{
    return q < e->q_len ? (struct sample_range){ e->k_begin, e->k_end } : (struct sample_range){ 0, 0 };
}

/* ---- Shapes ---- */

/* Those of a bias are all four ways to sum up tiles, and all four to share cells among heads and entries. */
const struct sample_shape sample_shapes[SAMPLE_SHAPES] = {
    { .bias = { 0, SAMPLE_HALF, 1, 1 } },
    { .bias = { 1, 0, 1, 0 }, .slopes = true, .dlse = true },
    { .bias = { 0, 1, 0, 1 } },
    { .bias = { 1, 1, 0, 0 } },
};

int sample_shapes_of(const clattn_problem *p)
{
    return !(p->flags & CLATTN_BACKWARD) ? 1 : p->bias_type ? SAMPLE_SHAPES : 2;
}

void sample_bias_shape(const struct sample *s, int64_t shape[4])
{
    const clattn_sizes *const z = &s->p.sizes;
    const int64_t extent[4] = { z->b, z->h, z->nq, z->nk };
    for (int i = 0; i < 4; i++) {
        const int has = sample_shapes[s->shape].bias[i];
        const bool half = has == SAMPLE_HALF && extent[i] % 2 == 0 && s->p.flags & CLATTN_REPEAT;
        shape[i] = half && extent[i] ? extent[i] / 2 : has == SAMPLE_WHOLE ? extent[i] : 1;
    }
}

int64_t sample_bias_cell(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const int64_t at[4] = { b, h, q, k };
    int64_t shape[4], cell = 0;
    sample_bias_shape(s, shape);
    for (int i = 0; i < 4; i++)
        cell = cell * shape[i] + at[i] % shape[i];
    return cell;
}

/* ---- Tensors ---- */

static int64_t product(int64_t a, int64_t b, int64_t c, int64_t d)
{
    int64_t x;
    return checked_mul(a, b, &x) && checked_mul(x, c, &x) && checked_mul(x, d, &x) ? x : 0;
}

int64_t sample_count(const struct sample *s, enum sample_what what)
{
    const clattn_problem *p = &s->p;
    const clattn_sizes *z = &p->sizes;
    const uint32_t f = p->flags;
    if (sample_cache_has(what))
        return sample_cache_count(s, what);
    if (sample_feature_has(what))
        return sample_feature_count(s, what);
    switch (what) {
    case SAMPLE_Q: return product(f & CLATTN_CU_Q ? z->total_q : product(z->b, z->nq, 1, 1), z->h, p->d, 1);
    case SAMPLE_O:
    case SAMPLE_DOUT:
    case SAMPLE_DLSE:
        return f & CLATTN_BACKWARD && (what != SAMPLE_DLSE || sample_shapes[s->shape].dlse)
                   ? product(f & CLATTN_CU_Q ? z->total_q : product(z->b, z->nq, 1, 1), z->h,
                             what == SAMPLE_DLSE ? 1 : p->dv, 1)
                   : 0;
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
    if (sample_feature_has(what))
        return sample_feature_type(s, what);
    switch (what) {
    case SAMPLE_Q:
    case SAMPLE_DOUT: return s->p.type;
    case SAMPLE_K: return s->p.k_type;
    case SAMPLE_V: return s->p.v_type;
    case SAMPLE_O: return s->p.o_type;
    case SAMPLE_K_SCALE:
    case SAMPLE_K_ZERO:
    case SAMPLE_V_SCALE:
    case SAMPLE_V_ZERO: return CLATTN_F32;
    case SAMPLE_DLSE: return problem_lse_type(&s->p);
    default: return CLATTN_I32;
    }
}

int64_t sample_block(const struct sample *s, enum sample_what what)
{
    return problem_type_at(sample_type(s, what))->elements;
}

size_t sample_bytes(const struct sample *s, enum sample_what what, int64_t n)
{
    const struct problem_type *const t = problem_type_at(sample_type(s, what));
    return (size_t)(n / t->elements) * (size_t)t->bytes;
}

static double value_of(const struct sample *s, enum sample_what what, int64_t at)
{
    const clattn_sizes *z = &s->p.sizes;
    switch (what) {
    case SAMPLE_Q_LEN: return (double)given_q_len(s, at);
    case SAMPLE_KV_LEN: return (double)given_kv_len(s, at);
    case SAMPLE_KV_START: return (double)given_kv_start(s, at);
    case SAMPLE_OFFSETS: return (double)given_offset(s, at);
    case SAMPLE_CU_Q: return (double)first_row(z->nq, at, z->b);
    case SAMPLE_CU_K: return (double)first_row(z->nk, at, z->b);
    case SAMPLE_DLSE: return sample_value_dlse(s, at);
    default: return sample_value(s, what, at);
    }
}

int sample_map_of_mask(const struct sample *s, int64_t at)
{
    const clattn_sizes *z = &s->p.sizes;
    const int64_t across = (z->nk + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK;
    const int64_t q0 = at / across * SAMPLE_BLOCK, k0 = at % across * SAMPLE_BLOCK;
    bool some = false, all = true;
    for (int64_t q = q0; q < q0 + SAMPLE_BLOCK && q < z->nq; q++)
        for (int64_t k = k0; k < k0 + SAMPLE_BLOCK && k < z->nk; k++) {
            const bool keeps = sample_feature_value(s, SAMPLE_MASK, q * z->nk + k) != 0;
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
    const struct problem_type *const type = problem_type_at(sample_type(s, what));
    const bool of_feature = sample_feature_has(what);
    unsigned char *out = to;
    if (sample_cache_has(what)) {
        sample_cache_fill(s, what, from, n, to);
        return;
    }
    for (int64_t at = from; at < from + n; at++, out += type->bytes)
        type->store(of_feature ? sample_feature_value(s, what, at) : value_of(s, what, at), out);
}

/* ---- Where rows lie ---- */

int64_t sample_row(const struct sample *s, int64_t b, int64_t h, int64_t q)
{
    const clattn_sizes *z = &s->p.sizes;
    const struct sample_entry e = sample_entry_of(s, b);
    if (q >= e.nq)
        return -1;
    return s->p.flags & CLATTN_CU_Q ? (e.q_first + q) * z->h + h : (b * z->h + h) * z->nq + q;
}

int64_t sample_lse(const struct sample *s, int64_t b, int64_t h, int64_t q)
{
    const clattn_sizes *z = &s->p.sizes;
    const struct sample_entry e = sample_entry_of(s, b);
    if (q >= e.nq)
        return -1;
    return s->p.flags & CLATTN_CU_Q ? h * z->total_q + e.q_first + q : (b * z->h + h) * z->nq + q;
}
