/* stored.c - K and V as a cache holds them: quantised, in pages
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/stored.h"

#include "tools/oracle/inputs.h"
#include "tools/oracle/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 3, PAGES = 64 }; /* pages that nobody uses; stream of a seed for their order */

/* Room for n elements, at least one; NULL when that overflows or there is no memory. */
static void *room(int64_t n, size_t size)
{
    return n < 0 || (uint64_t)n > SIZE_MAX / 2 / size ? NULL : calloc(n ? (size_t)n : 1, size);
}

/* ---- Quantised rows ---- */

/* Blocks hold their scales themselves. */
static int64_t groups_of(const struct stored *s)
{
    return s->group ? (s->width + s->group - 1) / s->group : 0;
}

/* Where the scales of a row begin in an array of `shape`. */
static int64_t cell(const int64_t shape[4], int64_t b, int64_t h, int64_t n)
{
    const int64_t at[3] = { b, h, n };
    int64_t index = 0;
    for (int axis = 0; axis < 3; axis++)
        index = index * shape[axis] + (shape[axis] == 1 ? 0 : at[axis]);
    return index * shape[3];
}

static struct quantise_row row_of(const struct stored *s, int64_t row)
{
    const int64_t n = row % s->n, h = row / s->n % s->h, b = row / s->n / s->h;
    const struct quantise_row none = { NULL, NULL, 1, 0, 0 };
    if (!s->scale)
        return none;
    return (struct quantise_row) { s->scale + cell(s->scale_shape, b, h, n),
                                   s->zero ? s->zero + cell(s->zero_shape, b, h, n) : NULL, s->group,
                                   s->scale_shape[3] != 1, s->zero_shape[3] != 1 };
}

static int has_nan(const double *x, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        if (isnan(x[i]))
            return 1;
    return 0;
}

/* Scales of row `row`, whose groups have cells of their own. */
static void fit_row(struct stored *s, int64_t row, const double *x)
{
    const int64_t groups = groups_of(s);
    for (int64_t g = 0; g < groups; g++) {
        const int64_t end = (g + 1) * s->group < s->width ? (g + 1) * s->group : s->width;
        double least = 0, most = 0;
        for (int64_t c = g * s->group; c < end; c++) {
            least = fmin(least, x[c]);
            most = fmax(most, x[c]);
        }
        quantise_fit(s->type, least, most, &s->scale[row * groups + g], s->zero ? &s->zero[row * groups + g] : NULL);
    }
}

static void poison_row(struct stored *s, int64_t row, unsigned char *to)
{
    const int64_t groups = groups_of(s);
    quantise_poison(s->type, to, (size_t)s->width);
    for (int64_t g = 0; g < groups && s->scale; g++)
        s->scale[row * groups + g] = NAN;
}

int stored_quantise(struct stored *s, int has_zero, const double *x)
{
    const size_t bytes = quantise_bytes(s->type, (size_t)s->width);
    const int64_t rows = s->b * s->h * s->n, shape[4] = { s->b, s->h, s->n, groups_of(s) };
    s->bytes = room(rows, bytes);
    if (!s->bytes)
        return -1;
    if (quantise_is_scaled(s->type)) {
        s->scale = room(rows * shape[3], sizeof *s->scale);
        s->zero = has_zero ? room(rows * shape[3], sizeof *s->zero) : NULL;
        if (!s->scale || (has_zero && !s->zero))
            return -1;
    }
    memcpy(s->scale_shape, shape, sizeof shape);
    memcpy(s->zero_shape, shape, sizeof shape);
    for (int64_t row = 0; row < rows; row++, x += s->width) {
        unsigned char *const to = s->bytes + (size_t)row * bytes;
        if (has_nan(x, s->width)) {
            poison_row(s, row, to);
            continue;
        }
        if (s->scale)
            fit_row(s, row, x);
        const struct quantise_row scales = row_of(s, row);
        quantise_store(s->type, &scales, x, to, (size_t)s->width);
    }
    return 0;
}

void stored_values(const struct stored *s, double *x)
{
    const size_t bytes = quantise_bytes(s->type, (size_t)s->width);
    const int64_t rows = s->b * s->h * s->n;
    if (s->value)
        memcpy(x, s->value, (size_t)(rows * s->width) * sizeof *x);
    for (int64_t row = 0; row < rows && s->bytes; row++) {
        const struct quantise_row scales = row_of(s, row);
        quantise_load(s->type, &scales, s->bytes + (size_t)row * bytes, x + row * s->width, (size_t)s->width);
    }
}

void stored_free(struct stored *s)
{
    free(s->value);
    free(s->bytes);
    free(s->scale);
    free(s->zero);
    memset(s, 0, sizeof *s);
}

/* ---- Pages ---- */

int pages_make(struct pages *p, int64_t b, int64_t nk, int64_t page, const int32_t *kv_len, uint64_t seed)
{
    static const int32_t nowhere[4] = { -1, INT32_MAX, INT32_MIN, -2 };
    uint64_t state = inputs_stream(seed, PAGES);
    p->b = b;
    p->page = page;
    p->slots = (nk + page - 1) / page;
    p->n = b * p->slots + SPARE;
    p->table = room(b * p->slots, sizeof *p->table);
    int32_t *const order = p->table ? room(p->n, sizeof *order) : NULL;
    if (!order)
        return -1;
    for (int64_t i = 0; i < p->n; i++) { /* any order is as likely */
        const int64_t j = (int64_t)(inputs_bits(&state) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = (int32_t)i;
    }
    for (int64_t i = 0; i < b * p->slots; i++) {
        const int64_t entry = i / p->slots, first = i % p->slots * page;
        p->table[i] = first < (kv_len ? kv_len[entry] : nk) ? order[i] : nowhere[inputs_bits(&state) % 4];
    }
    free(order);
    return 0;
}

/* The row of the pool that key k of entry b and head h is, in rows; -1 where there is none. */
static int64_t pool_row(const struct pages *p, int64_t h_count, int64_t b, int64_t h, int64_t k)
{
    const int64_t page = p->table[b * p->slots + k / p->page];
    return page < 0 || page >= p->n ? -1 : (page * h_count + h) * p->page + k % p->page;
}

void pages_scatter(const struct pages *p, int64_t h, int64_t nk, int64_t width, const double *x, double *pool)
{
    for (int64_t i = 0; i < p->n * h * p->page * width; i++)
        pool[i] = NAN;
    for (int64_t row = 0; row < p->b * h * nk; row++) {
        const int64_t to = pool_row(p, h, row / nk / h, row / nk % h, row % nk);
        if (to >= 0)
            memcpy(pool + to * width, x + row * width, (size_t)width * sizeof *x);
    }
}

void pages_gather(const struct pages *p, int64_t h, int64_t nk, int64_t width, const double *pool, double *x)
{
    for (int64_t row = 0; row < p->b * h * nk; row++) {
        const int64_t from = pool_row(p, h, row / nk / h, row / nk % h, row % nk);
        if (from >= 0)
            memcpy(x + row * width, pool + from * width, (size_t)width * sizeof *x);
        else
            memset(x + row * width, 0, (size_t)width * sizeof *x);
    }
}

/* ---- Caches of a problem string ---- */

/* What is behind the length of each entry. */
static void drop_rest(const clattn_problem *p, const int32_t *kv_len, int64_t width, double *x)
{
    const clattn_sizes *z = &p->sizes;
    for (int64_t row = 0; row < z->b * z->hk * z->nk && p->flags & CLATTN_KV_LEN; row++)
        for (int64_t c = 0; c < width && row % z->nk >= kv_len[row / z->nk / z->hk]; c++)
            x[row * width + c] = NAN;
}

/* One of K and V: x as it is stored, and what that is. */
static int store(struct stored *s, const struct pages *pages, const clattn_sizes *z, int has_zero, double *x)
{
    s->b = pages->table ? pages->n : z->b;
    s->h = z->hk;
    s->n = pages->table ? pages->page : z->nk;
    double *pool = x;
    int status = 0;
    if (pages->table) {
        pool = room(s->b * s->h * s->n * s->width, sizeof *pool);
        if (!pool)
            return -1;
        pages_scatter(pages, s->h, z->nk, s->width, x, pool);
    }
    if (quantise_is(s->type)) {
        status = stored_quantise(s, has_zero, pool);
        if (status == 0)
            stored_values(s, pool);
    }
    if (pages->table && status == 0)
        pages_gather(pages, s->h, z->nk, s->width, pool, x);
    if (pages->table && !s->bytes)
        s->value = pool;
    else if (pages->table)
        free(pool);
    return status;
}

int stored_kv_make(struct stored_kv *c, const clattn_workload *w, double *k, double *v)
{
    const clattn_problem p = inputs_defaults(&w->problem);
    clattn_sizes z = p.sizes;
    if (p.flags & CLATTN_CU_K) { /* one entry of all rows */
        z.b = 1;
        z.nk = z.total_k;
    } else {
        drop_rest(&p, w->kv_len, p.d, k);
        drop_rest(&p, w->kv_len, p.dv, v);
    }
    if (p.page && pages_make(&c->pages, z.b, z.nk, p.page, p.flags & CLATTN_KV_LEN ? w->kv_len : NULL, w->seed) != 0)
        return -1;
    c->k.type = p.k_type;
    c->k.width = p.d;
    c->k.group = p.k_group;
    c->v.type = p.v_type;
    c->v.width = p.dv;
    c->v.group = p.v_group;
    return store(&c->k, &c->pages, &z, (p.flags & CLATTN_K_ZERO) != 0, k) != 0 ||
                   store(&c->v, &c->pages, &z, (p.flags & CLATTN_V_ZERO) != 0, v) != 0
               ? -1
               : 0;
}

void stored_kv_free(struct stored_kv *c)
{
    stored_free(&c->k);
    stored_free(&c->v);
    free(c->pages.table);
    memset(c, 0, sizeof *c);
}
