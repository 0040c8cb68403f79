/* sample_cache.c - how a sample stores K and V: in pages, quantised. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/sample_cache.h"

#include "problem/workload.h"
#include "base/checked.h"

#include <math.h>
#include <string.h>

/* ---- Pages ---- */

enum { SPARE_PAGES = 3 };

static int64_t ceil_div(int64_t a, int64_t b)
{
    return a / b + (a % b != 0);
}

struct sample_pages sample_cache_pages(const struct sample *s)
{
    const clattn_sizes *z = &s->p.sizes;
    struct sample_pages x = { 0, 0, 0 };
    const int64_t most = s->ragged ? z->nk / 3 + 1 : z->nk;
    int64_t used;
    if (!s->p.page || z->nk < 1 || z->b < 1)
        return x;
    x.page = s->p.page < most ? s->p.page : most;
    x.stride = ceil_div(z->nk, x.page);
    x.count = checked_mul(z->b, x.stride, &used) && used <= ROWS_MAX - SPARE_PAGES ? used + SPARE_PAGES : 0;
    x.stride += s->ragged;
    return x;
}

/* The n-th page of all sequences lies at (n by + 1) % count, and at page n lies the (n + count - 1) back % count-th. */
struct disorder {
    int64_t count, by, back;
};

static int64_t common_divisor(int64_t a, int64_t b)
{
    while (b) {
        const int64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

/* x with a x % n = 1 % n, where a and n have no common divisor. */
static int64_t inverse(int64_t a, int64_t n)
{
    int64_t r = n, next = a % n, x = 0, next_x = 1;
    while (next) {
        const int64_t times = r / next, rest = r - times * next, y = x - times * next_x;
        r = next;
        next = rest;
        x = next_x;
        next_x = y;
    }
    return (x % n + n) % n;
}

static struct disorder disorder_of(int64_t count)
{
    struct disorder d = { count, count * 5 / 8 + 1, 0 };
    while (count && common_divisor(d.by, count) != 1)
        d.by++;
    d.back = count ? inverse(d.by, count) : 0;
    return d;
}

/* Entry `at` of the block table. */
static int32_t table_entry(const struct sample *s, const struct sample_pages *x, const struct disorder *d, int64_t at)
{
    const int64_t b = at / x->stride, i = at % x->stride, of_sequence = ceil_div(s->p.sizes.nk, x->page);
    const int32_t nowhere[] = { -1, (int32_t)x->count, INT32_MAX, INT32_MIN };
    if (i * x->page >= sample_entry_of(s, b).k_end)
        return nowhere[at % 4];
    return (int32_t)(((b * of_sequence + i) * d->by + 1) % d->count);
}

/* ---- Rows ---- */

/* Where rows of K and V lie. */
struct layout {
    const struct sample *s;
    struct sample_pages pages;
    struct disorder disorder;
};

static struct layout layout_of(const struct sample *s)
{
    struct layout l = { s, sample_cache_pages(s), { 0, 0, 0 } };
    l.disorder = disorder_of(l.pages.count);
    return l;
}

/* The key that row `row` of a varlen tensor is: its sequence, and its place there. */
static int64_t varlen_key(const struct sample *s, int64_t row, int64_t *b)
{
    const clattn_sizes *z = &s->p.sizes;
    int64_t k = row / z->hk;
    for (*b = 0; k >= workload_varlen(z->nk, *b, z->b); ++*b)
        k -= workload_varlen(z->nk, *b, z->b);
    return k;
}

/* The same of a row of a paged tensor, and its head; false where it is in a page of nobody. */
static bool paged_key(const struct layout *l, int64_t row, int64_t *b, int64_t *hk, int64_t *k)
{
    const clattn_sizes *z = &l->s->p.sizes;
    const int64_t page = row / z->hk / l->pages.page, of_sequence = ceil_div(z->nk, l->pages.page);
    const int64_t n = (page + l->pages.count - 1) % l->pages.count * l->disorder.back % l->pages.count;
    *hk = row % z->hk;
    *b = n / of_sequence;
    *k = n % of_sequence * l->pages.page + row / z->hk % l->pages.page;
    return *b < z->b && *k < z->nk;
}

/* The row of values that a stored row is; -1 where nothing may ever look at it. */
static int64_t value_row(const struct layout *l, int64_t row)
{
    const clattn_sizes *z = &l->s->p.sizes;
    const bool varlen = l->s->p.flags & CLATTN_CU_K;
    int64_t b, hk, k;
    if (l->pages.page) {
        if (!paged_key(l, row, &b, &hk, &k))
            return -1;
        row = (b * z->hk + hk) * z->nk + k;
    }
    if (!l->s->ragged || !(l->s->p.flags & (CLATTN_KV_LEN | CLATTN_KV_START)))
        return row;
    if (varlen) {
        k = varlen_key(l->s, row, &b);
    } else {
        b = row / z->nk / z->hk;
        k = row % z->nk;
    }
    const struct sample_entry e = sample_entry_of(l->s, b);
    return k < e.k_begin || k >= e.k_end ? -1 : row;
}

/* ---- Values ---- */

/* What tells K and V apart. */
struct stored {
    int type;
    int32_t width, group;
    bool has_zero;
    uint32_t seed;
    const double *values;
};

static struct stored stored_of(const struct sample *s, enum sample_what k_or_v)
{
    enum { GGUF_GROUP = 32 };
    const clattn_problem *p = &s->p;
    struct stored x = { p->k_type, p->d, p->k_group, p->flags & CLATTN_K_ZERO, s->seed + 1, s->values[SAMPLE_K] };
    if (k_or_v == SAMPLE_V)
        x = (struct stored){ p->v_type, p->dv, p->v_group, p->flags & CLATTN_V_ZERO, s->seed + 2, s->values[SAMPLE_V] };
    if (!problem_type_is(x.type, PROBLEM_SCALED)) {
        x.group = GGUF_GROUP;
        x.has_zero = problem_type_at(x.type)->has_least;
    }
    return x;
}

/* Codes are from -half_range(type) to half_range(type) - 1. */
static int half_range(int type)
{
    return 1 << (problem_type_at(type)->bits - 1);
}

enum { STEPS = 3, SCALE_SEED = 16, ZERO_SEED = 32, CODE_SEED = 48 };

/* The scale of group n of all rows: 1/16, 1/32 or 1/64; of 4 and 5 bits 1/4, 1/8 or 1/16. As a power of two. */
static int scale_of(const struct stored *x, int64_t n)
{
    return (half_range(x->type) > 16 ? -4 : -2) - (int)(sample_hash(x->seed + SCALE_SEED, n) % STEPS);
}

/* Its zero point: from -90 to 90; of 4 bits from -3 to 3, of 5 from -6 to 6. A least element stands for one, too. */
static int zero_of(const struct stored *x, int64_t n)
{
    const int most = half_range(x->type) > 16 ? 90 : half_range(x->type) * 3 / 8;
    return x->has_zero ? (int)(sample_hash(x->seed + ZERO_SEED, n) % (uint32_t)(2 * most + 1)) - most : 0;
}

/* A group of elements: what they are scaled by, and what they may be, less the zero point. */
struct group {
    int64_t n;
    int scale, zero, low, high;
};

/* The group of value `at`, which `last` may be already. */
static void find_group(struct group *last, const struct stored *x, int64_t row, int32_t column)
{
    const int range = half_range(x->type);
    const int64_t n = row * problem_groups(x->width, x->group) + column / x->group;
    if (n == last->n)
        return;
    struct group g = { n, scale_of(x, n), zero_of(x, n), 0, 0 };
    const int most = 2 << -g.scale;
    g.low = -range - g.zero > -most ? -range - g.zero : -most;
    g.high = range - 1 - g.zero < most ? range - 1 - g.zero : most;
    *last = g;
}

/* Element `at` of the group, as it is stored: whatever the type holds that is at most 2 in size, but for 0. */
static int code_of(const struct group *g, const struct stored *x, int64_t at)
{
    const int n = g->low + (int)(sample_hash(x->seed + CODE_SEED, at) % (uint32_t)(g->high - g->low));
    return (n >= 0 ? n + 1 : n) + g->zero;
}

/* What a type of K and V alone makes of it, whose elements may have fewer digits. */
static double plain_value(const struct stored *x, int64_t at)
{
    const double number = sample_number(x->seed, at);
    unsigned char element[sizeof number];
    if (!problem_type_is_quantised(x->type))
        return number;
    sample_store(x->type, number, element);
    return sample_load(x->type, element);
}

static double value_of(const struct stored *x, int64_t at)
{
    struct group g = { .n = -1 };
    if (x->values)
        return x->values[at];
    if (problem_type_is(x->type, PROBLEM_PLAIN))
        return plain_value(x, at);
    find_group(&g, x, at / x->width, (int32_t)(at % x->width));
    return ldexp(code_of(&g, x, at) - g.zero, g.scale);
}

double sample_cache_value(const struct sample *s, enum sample_what k_or_v, int64_t at)
{
    const struct stored x = stored_of(s, k_or_v);
    return value_of(&x, at);
}

/* ---- Stored ---- */

/* Puts a code at element i of a block of GGUF's, from its codes on and, of five bits, ahead of them. */
static void put_code(const struct problem_type *t, int i, int code, unsigned char *codes)
{
    const int half = t->elements / 2, raw = code + (1 << (t->bits - 1));
    if (t->bits == 8)
        codes[i] = (unsigned char)code;
    else
        codes[i % half] |= (unsigned char)((raw & 15) << (i >= half ? 4 : 0));
    if (t->bits == 5)
        (codes - t->elements / 8)[i / 8] |= (unsigned char)((raw >> 4) << i % 8);
}

/* Where the codes of such a block begin: behind the scale, the least element and the fifth bits. */
static int head_of(const struct problem_type *t)
{
    enum { HALF = 2 };
    return HALF + (t->has_least ? HALF : 0) + (t->bits == 5 ? t->elements / 8 : 0);
}

/* Stores the block of a row of values that begins at a column, *g being the group of the one before. */
static void store_block(const struct stored *x, struct group *g, int64_t row, int32_t column, unsigned char *to)
{
    const struct problem_type *const t = problem_type_at(x->type);
    memset(to, 0, (size_t)t->bytes);
    for (int i = 0; i < t->elements; i++) {
        find_group(g, x, row, column + i);
        const int code = code_of(g, x, row * x->width + column + i);
        if (t->storage == PROBLEM_BLOCKS)
            put_code(t, i, code, to + head_of(t));
        else if (t->elements == 1)
            to[i] = (unsigned char)code;
        else
            to[i / 2] |= (unsigned char)((code & 15) << (i % 2 ? 4 : 0));
    }
    if (t->storage != PROBLEM_BLOCKS)
        return;
    sample_store(CLATTN_F16, ldexp(1, g->scale), to);
    if (t->has_least)
        sample_store(CLATTN_F16, ldexp(-half_range(x->type) - g->zero, g->scale), to + 2);
}

/* What spoils an output where it is read: a type without NaN has its scales, which are NaN, and large elements. */
static void spoil_block(int type, unsigned char *to)
{
    const struct problem_type *const t = problem_type_at(type);
    if (t->storage == PROBLEM_PLAIN)
        t->store((double)NAN, to);
    else
        memset(to, t->storage == PROBLEM_SCALED ? 0x88 : 0xff, (size_t)t->bytes);
}

static void fill_rows(const struct layout *l, const struct stored *x, int64_t from, int64_t n, unsigned char *to)
{
    const struct problem_type *const t = problem_type_at(x->type);
    int64_t row = from / x->width, values = value_row(l, row);
    int32_t column = (int32_t)(from % x->width);
    struct group g = { .n = -1 };
    for (int64_t at = from; at < from + n; at += t->elements, to += t->bytes, column += t->elements) {
        if (column >= x->width) {
            column = 0;
            values = value_row(l, ++row);
        }
        if (values < 0)
            spoil_block(x->type, to);
        else if (t->storage == PROBLEM_PLAIN)
            t->store(value_of(x, values * x->width + column), to);
        else
            store_block(x, &g, values, column, to);
    }
}

/* Scales, or zero points. */
static void fill_groups(const struct layout *l, const struct stored *x, bool zeros, int64_t from, int64_t n,
                        unsigned char *to)
{
    const int64_t of_row = problem_groups(x->width, x->group);
    for (int64_t at = from; at < from + n; at++, to += sizeof(float)) {
        const int64_t row = value_row(l, at / of_row), group = row * of_row + at % of_row;
        const double good = zeros ? zero_of(x, group) : ldexp(1, scale_of(x, group));
        sample_store(CLATTN_F32, row < 0 ? (double)NAN : good, to);
    }
}

static void fill_table(const struct layout *l, int64_t from, int64_t n, unsigned char *to)
{
    for (int64_t at = from; at < from + n; at++, to += sizeof(int32_t)) {
        const int32_t entry = table_entry(l->s, &l->pages, &l->disorder, at);
        memcpy(to, &entry, sizeof entry);
    }
}

static enum sample_what k_or_v(enum sample_what what)
{
    return what == SAMPLE_V || what == SAMPLE_V_SCALE || what == SAMPLE_V_ZERO ? SAMPLE_V : SAMPLE_K;
}

void sample_cache_fill(const struct sample *s, enum sample_what what, int64_t from, int64_t n, void *to)
{
    const struct layout l = layout_of(s);
    const struct stored x = stored_of(s, k_or_v(what));
    if (n < 1)
        return;
    if (what == SAMPLE_TABLE)
        fill_table(&l, from, n, to);
    else if (what == SAMPLE_K || what == SAMPLE_V)
        fill_rows(&l, &x, from, n, to);
    else
        fill_groups(&l, &x, what == SAMPLE_K_ZERO || what == SAMPLE_V_ZERO, from, n, to);
}

/* ---- Counts ---- */

static int64_t product(int64_t a, int64_t b, int64_t c)
{
    int64_t x;
    return checked_mul(a, b, &x) && checked_mul(x, c, &x) ? x : 0;
}

bool sample_cache_has(enum sample_what what)
{
    return what == SAMPLE_K || what == SAMPLE_V || what == SAMPLE_TABLE ||
           (what >= SAMPLE_K_SCALE && what <= SAMPLE_V_ZERO);
}

static int64_t rows_of_values(const struct sample *s)
{
    const clattn_sizes *z = &s->p.sizes;
    return s->p.flags & CLATTN_CU_K ? product(z->total_k, z->hk, 1) : product(z->b, z->nk, z->hk);
}

int64_t sample_cache_count(const struct sample *s, enum sample_what what)
{
    const struct sample_pages pages = sample_cache_pages(s);
    const struct stored x = stored_of(s, k_or_v(what));
    const bool scaled = problem_type_is(x.type, PROBLEM_SCALED);
    const int64_t rows = s->p.page ? product(pages.count, pages.page, s->p.sizes.hk) : rows_of_values(s);
    const int64_t groups = scaled ? problem_groups(x.width, x.group) : 0;
    switch (what) {
    case SAMPLE_TABLE: return pages.count ? product(s->p.sizes.b, pages.stride, 1) : 0;
    case SAMPLE_K_SCALE:
    case SAMPLE_V_SCALE: return product(rows, groups, 1);
    case SAMPLE_K_ZERO:
    case SAMPLE_V_ZERO: return x.has_zero ? product(rows, groups, 1) : 0;
    default: return product(rows, x.width, 1);
    }
}

int64_t sample_cache_values(const struct sample *s, enum sample_what what)
{
    return product(rows_of_values(s), what == SAMPLE_K ? s->p.d : s->p.dv, 1);
}
