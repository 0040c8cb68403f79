/* caches.c - K and V as caches keep them: on pages, quantised, with scales; built byte by byte, run and judged
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/caches.h"

#include "tools/convert.h"
#include "tools/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MARGIN = 32 };

static const clattn_problem *problem_of(const struct cached *x)
{
    return &x->c.problem;
}

static int is_scaled(int type)
{
    return type == CLATTN_INT8 || type == CLATTN_INT4;
}
static int is_quantised(int type)
{
    return type >= CLATTN_INT8 && type <= CLATTN_Q4_0;
}
/* Elements that strides are multiples of, and their bytes. */
static int64_t unit_of(int type)
{
    return type == CLATTN_INT4 ? 2 : type == CLATTN_Q8_0 || type == CLATTN_Q4_0 ? 32 : 1;
}
static size_t unit_bytes(int type)
{
    return type == CLATTN_Q8_0 ? 34 : type == CLATTN_Q4_0 ? 18 : is_quantised(type) ? 1 : convert_size(type);
}
static size_t bytes_of(int type, int64_t elements)
{
    return (size_t)(elements / unit_of(type)) * unit_bytes(type);
}

static int64_t page_of(const struct cached_case *c)
{
    return c->page ? c->page : c->problem.page;
}
static int64_t entries_of(const struct cached_case *c)
{
    return (c->problem.sizes.nk + page_of(c) - 1) / page_of(c);
}
/* Pages: those of each sequence, and some that none uses. */
static int64_t pages_of(const struct cached_case *c)
{
    return c->problem.sizes.b * entries_of(c) + 3;
}

static int32_t clamped(int32_t n, int64_t most)
{
    return n < 0 ? 0 : n > most ? (int32_t)most : n;
}
static int32_t keys_of(const struct cached *x, int64_t b)
{
    const uint32_t lists = CLATTN_KV_LEN | CLATTN_CU_K;
    return problem_of(x)->flags & lists ? clamped(x->c.kv_len[b], x->sizes.nk) : (int32_t)x->sizes.nk;
}
static int32_t queries_of(const struct cached *x, int64_t b)
{
    const uint32_t lists = CLATTN_Q_LEN | CLATTN_CU_Q;
    return problem_of(x)->flags & lists ? clamped(x->c.q_len[b], x->sizes.nq) : (int32_t)x->sizes.nq;
}
/* Rows of all sequences before b. */
static int64_t rows_before(const struct cached *x, int64_t b, int keys)
{
    int64_t n = 0;
    for (int64_t i = 0; i < b; i++)
        n += keys ? keys_of(x, i) : queries_of(x, i);
    return n;
}

void cached_shorten(struct cached_case *c)
{
    clattn_sizes *const s = &c->problem.sizes;
    s->b = s->b > 2 ? 2 : s->b;
    s->nq = s->nq > 2 ? 2 : s->nq;
    s->nk = s->nk > 19 ? 19 : s->nk;
}

/* ---- Pages ---- */

/* The page that entry i of a sequence names. A permutation: 7 has no divisor in common with the count, or 11. */
static int32_t entry_of(const struct cached *x, int64_t b, int64_t i)
{
    static const int32_t none[] = { -1, INT32_MIN, INT32_MAX, 0 };
    const int64_t pages = pages_of(&x->c), step = pages % 7 ? 7 : pages % 11 ? 11 : 1;
    const int64_t n = (x->c.shared ? 0 : b) * entries_of(&x->c) + i;
    if (x->c.bad && (n + 1) % 3 == 0)
        return n % 4 == 3 ? (int32_t)pages : none[n % 4];
    return (int32_t)((n * step + 5) % pages);
}

static cl_int make_table(struct cached *x, cl_context context)
{
    const int64_t entries = entries_of(&x->c), stride = x->c.padded ? entries + 3 : entries, b = x->sizes.b;
    const int64_t offset = x->c.padded ? 5 : 0;
    if (image_alloc(&x->table, (size_t)(offset + b * stride), CLATTN_I32))
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < x->table.size; i++)
        x->table.byte[i] = i % 4 < 2 ? 1 : 0; /* past the lengths: far outside */
    for (int64_t i = 0; i < b; i++)
        for (int64_t at = 0; at * page_of(&x->c) < keys_of(x, i); at++) {
            const int32_t entry = entry_of(x, i, at);
            memcpy(x->table.byte + (size_t)(offset + i * stride + at) * sizeof entry, &entry, sizeof entry);
        }
    /* The last entry that counts ends the buffer. */
    x->table.size = b ? (size_t)(offset + (b - 1) * stride + entries) * sizeof(int32_t) : 0;
    x->args.block_table.offset = (size_t)offset;
    x->args.block_table_stride = x->c.padded ? stride : 0;
    x->args.pages = pages_of(&x->c);
    x->args.page = x->c.page;
    const cl_int e = image_buffer(&x->table, context, CL_MEM_READ_ONLY);
    x->args.block_table.mem = x->table.mem;
    return e;
}

/* Where key k of a sequence lies: entry of the first axis and row. 0: nowhere. */
static int find(const struct cached *x, int64_t b, int64_t k, int64_t *first, int64_t *row)
{
    *first = b;
    *row = k;
    if (problem_of(x)->flags & CLATTN_CU_K) {
        *first = 0;
        *row = rows_before(x, b, 1) + k;
    }
    if (!problem_of(x)->page)
        return 1;
    *first = entry_of(x, b, k / page_of(&x->c));
    *row = k % page_of(&x->c);
    return *first >= 0 && *first < pages_of(&x->c);
}

/* ---- K and V ---- */

/* What one of them is made by. */
struct plan_of {
    struct cached_tensor *to;
    int type, what; /* what: 1 for K, 2 for V */
    int64_t width, group, groups;
    int has_zero;
    int64_t extent[3]; /* b or pages, hk, rows */
    int rows_first;
};

static struct plan_of plan_k_or_v(struct cached *x, int is_v)
{
    const clattn_problem *const p = problem_of(x);
    const int given = is_v ? p->v_type : p->k_type;
    const int64_t group = is_v ? p->v_group : p->k_group;
    struct plan_of m = { is_v ? &x->v : &x->k,
                         given ? given : p->type,
                         is_v ? 2 : 1,
                         is_v ? (p->dv ? p->dv : p->d) : p->d,
                         group,
                         1,
                         (p->flags & (is_v ? CLATTN_V_ZERO : CLATTN_K_ZERO)) != 0,
                         { x->sizes.b, x->sizes.hk, x->sizes.nk },
                         0 };
    if (!m.group || m.group > m.width)
        m.group = m.width;
    m.groups = (m.width + m.group - 1) / m.group;
    if (p->page) {
        m.extent[0] = pages_of(&x->c);
        m.extent[2] = page_of(&x->c);
        m.rows_first = 1;
    }
    if (p->flags & CLATTN_CU_K) {
        m.extent[0] = 1;
        m.extent[2] = x->sizes.total_k;
        m.rows_first = 1;
    }
    return m;
}

/* Strides of axes outside of `width`, each with a gap of some units where the case has such; returns all elements. */
static int64_t lay_out(const struct cached *x, const struct plan_of *m, int64_t width, int64_t unit, int64_t stride[3])
{
    const int order[3] = { m->rows_first ? 1 : 2, m->rows_first ? 2 : 1, 0 };
    int64_t step = width;
    for (int i = 0; i < 3; i++) {
        step += x->c.padded ? (i + 1) * unit : 0;
        stride[order[i]] = step;
        step *= m->extent[order[i]];
    }
    return step;
}

/* Numbers that are the same for the same place. */
static uint64_t drawn(const struct cached *x, const struct plan_of *m, int64_t at, int64_t column)
{
    return trial_hash(x->c.seed + (uint64_t)m->what, (uint64_t)at, (uint64_t)column);
}

/* Codes of a row, and their values before scale and zero point; q8_0 and q4_0 have them behind those. */
static void fill_block(const struct cached *x, const struct plan_of *m, unsigned char *to, int64_t at, int64_t block,
                       double *value)
{
    const double wanted = (0.5 + (double)(drawn(x, m, at, -1 - block) % 1000) / 1000) *
                          (x->c.subnormal ? 0x1p-16 : m->type == CLATTN_Q8_0 ? 0x1p-6 : 0x1p-2);
    unsigned char *const codes = to + 2;
    double scale;
    convert_store(CLATTN_F16, &wanted, to, 1);
    convert_load(CLATTN_F16, to, &scale, 1);
    if (m->type == CLATTN_Q4_0)
        memset(codes, 0, 16);
    for (int i = 0; i < 32; i++) {
        const int code = (int)(drawn(x, m, at, block * 32 + i) & (m->type == CLATTN_Q8_0 ? 255 : 15));
        if (m->type == CLATTN_Q8_0)
            codes[i] = (unsigned char)code;
        else
            codes[i % 16] |= (unsigned char)(i < 16 ? code : code << 4);
        value[i] = (double)(float)((float)scale * (float)(m->type == CLATTN_Q8_0 ? (code ^ 128) - 128 : code - 8));
    }
}

static void fill_codes(const struct cached *x, const struct plan_of *m, unsigned char *to, int64_t at, double *value)
{
    for (int64_t c = 0; c < m->width; c++) {
        const int code = (int)(drawn(x, m, at, c) & (m->type == CLATTN_INT8 ? 255 : 15));
        if (m->type == CLATTN_INT8)
            to[c] = (unsigned char)code;
        else
            to[c / 2] = (unsigned char)(c % 2 ? (to[c / 2] & 15) | code << 4 : code);
        value[c] = m->type == CLATTN_INT8 ? (code ^ 128) - 128 : (code ^ 8) - 8;
    }
}

/* Element of a tensor of scales: of an axis that is 1 the only entry. */
static size_t scale_at(const clattn_tensor4 *t, const int64_t index[4])
{
    size_t at = t->offset;
    for (int i = 0; i < 4; i++)
        at += (size_t)(t->shape[i] == 1 ? 0 : index[i] * t->stride[i]);
    return at;
}

static float put_float(struct image *im, size_t at, float value)
{
    memcpy(im->byte + at * sizeof value, &value, sizeof value);
    return value;
}

/* Scale and zero point of a group, the same whenever it is asked for. */
static void scale_values(const struct cached *x, const struct plan_of *m, const int64_t index[4], double *value)
{
    const size_t s_at = scale_at(&m->to->scale_at, index), z_at = m->has_zero ? scale_at(&m->to->zero_at, index) : 0;
    const float s = (0.5f + (float)(drawn(x, m, -2, (int64_t)s_at) % 1000) / 1000) *
                    (x->c.subnormal ? 0x1p-128f : m->type == CLATTN_INT8 ? 0x1p-6f : 0x1p-2f);
    const int spread = m->type == CLATTN_INT8 ? 41 : 7;
    const float z = (float)(int)(drawn(x, m, -3, (int64_t)z_at) % (uint64_t)spread) - (float)(spread / 2) + 0.25f;
    put_float(&m->to->scale, s_at, s);
    if (m->has_zero)
        put_float(&m->to->zero, z_at, z);
    for (int64_t c = index[3] * m->group; c < m->width && c < (index[3] + 1) * m->group; c++) {
        const float less = (float)value[c] - (m->has_zero ? z : 0);
        value[c] = (double)(less * s);
    }
}

static void fill_row(const struct cached *x, const struct plan_of *m, int64_t first, int64_t h, int64_t row,
                     double *value)
{
    const clattn_tensor *const t = &m->to->at;
    const int64_t at = (int64_t)t->offset + first * t->stride[0] + h * t->stride[1] + row * t->stride[2];
    unsigned char *const to = m->to->image.byte + bytes_of(m->type, at);
    if (is_scaled(m->type)) {
        fill_codes(x, m, to, at, value);
        for (int64_t g = 0; g < m->groups; g++)
            scale_values(x, m, (const int64_t[4]){ first, h, row, g }, value);
    } else if (is_quantised(m->type)) {
        for (int64_t n = 0; n < m->width / 32; n++)
            fill_block(x, m, to + (size_t)n * unit_bytes(m->type), at, n, value + 32 * n);
    } else {
        for (int64_t c = 0; c < m->width; c++)
            value[c] = trial_normal(x->c.seed + (uint64_t)m->what, (uint64_t)at, (uint64_t)c);
        convert_store(m->type, value, to, (size_t)m->width);
        convert_load(m->type, to, value, (size_t)m->width);
    }
}

/* Poison: NaN wherever the type has one. */
static void poison(struct image *im, int type)
{
    const double nan = NAN;
    memset(im->byte, 0x5a, im->size);
    if (type == CLATTN_Q8_0 || type == CLATTN_Q4_0)
        for (size_t i = 0; i + 2 <= im->size; i += unit_bytes(type))
            convert_store(CLATTN_F16, &nan, im->byte + i, 1);
    else if (!is_quantised(type))
        image_poison(im, type);
}

static cl_int make_scales(const struct cached *x, const struct plan_of *m, int once, struct image *im,
                          clattn_tensor4 *t)
{
    struct plan_of shape = *m;
    const int64_t width = once & 8 ? 1 : m->groups, step = x->c.padded ? 2 : 1; /* from group to group */
    for (int i = 0; i < 3; i++)
        shape.extent[i] = once >> i & 1 ? 1 : m->extent[i];
    int64_t stride[3];
    const int64_t n = lay_out(x, &shape, width * step, 1, stride);
    for (int i = 0; i < 3; i++) {
        t->shape[i] = once >> i & 1 ? 1 : 0;
        t->stride[i] = stride[i];
    }
    t->shape[3] = once & 8 ? 1 : 0;
    t->stride[3] = step;
    t->offset = x->c.padded ? 3 : 0;
    if (image_alloc(im, t->offset + (size_t)n, CLATTN_F32))
        return CL_OUT_OF_HOST_MEMORY;
    image_poison(im, CLATTN_F32);
    return CL_SUCCESS;
}

/* Contiguous strides are left to the library. */
static void forget_strides(const struct cached *x, struct cached_tensor *to)
{
    if (x->c.padded)
        return;
    memset(to->at.stride, 0, sizeof to->at.stride);
    memset(to->scale_at.stride, 0, sizeof to->scale_at.stride);
    memset(to->zero_at.stride, 0, sizeof to->zero_at.stride);
}

static cl_int make_buffers(struct cached_tensor *to, cl_context context)
{
    cl_int e = image_buffer(&to->image, context, CL_MEM_READ_ONLY);
    if (!e)
        e = image_buffer(&to->scale, context, CL_MEM_READ_ONLY);
    if (!e)
        e = image_buffer(&to->zero, context, CL_MEM_READ_ONLY);
    to->at.mem = to->image.mem;
    to->scale_at.mem = to->scale.mem;
    to->zero_at.mem = to->zero.mem;
    return e;
}

/* Zero points are broadcast over other axes than scales, so that strides of the one do not do for the other. */
static cl_int make_k_or_v(struct cached *x, cl_context context, int is_v)
{
    struct plan_of m = plan_k_or_v(x, is_v);
    const clattn_sizes *const s = &x->sizes;
    const int64_t unit = unit_of(m.type);
    m.to->at.offset = (size_t)(x->c.padded ? 3 * unit : 0);
    const int64_t elements = lay_out(x, &m, m.width, unit, m.to->at.stride);
    const size_t bytes = bytes_of(m.type, (int64_t)m.to->at.offset + elements);
    m.to->value = calloc((size_t)(s->b * s->hk * s->nk * m.width) + 1, sizeof(double));
    if (!m.to->value || image_alloc(&m.to->image, bytes, CLATTN_U8))
        return CL_OUT_OF_HOST_MEMORY;
    poison(&m.to->image, m.type);
    if (is_scaled(m.type) && make_scales(x, &m, x->c.once, &m.to->scale, &m.to->scale_at))
        return CL_OUT_OF_HOST_MEMORY;
    if (m.has_zero && make_scales(x, &m, x->c.once ^ 5, &m.to->zero, &m.to->zero_at))
        return CL_OUT_OF_HOST_MEMORY;
    for (int64_t b = 0; b < s->b; b++)
        for (int64_t h = 0; h < s->hk; h++)
            for (int64_t k = 0; k < keys_of(x, b); k++) {
                int64_t first, row;
                if (find(x, b, k, &first, &row))
                    fill_row(x, &m, first, h, row, m.to->value + ((b * s->hk + h) * s->nk + k) * m.width);
            }
    forget_strides(x, m.to);
    return make_buffers(m.to, context);
}

/* ---- The rest of a call ---- */

static cl_int make_list(struct cached *x, cl_context context, int which, clattn_array *to)
{
    struct image *const im = &x->lengths[which];
    const int cu = which >= 2;
    if (image_alloc(im, (size_t)x->sizes.b + (size_t)cu, CLATTN_I32))
        return CL_OUT_OF_HOST_MEMORY;
    for (int64_t i = 0; i < x->sizes.b + cu; i++) {
        const int32_t n = cu           ? (int32_t)rows_before(x, i, which == 3)
                          : which == 0 ? x->c.q_len[i]
                                       : x->c.kv_len[i];
        memcpy(im->byte + (size_t)i * sizeof n, &n, sizeof n);
    }
    const cl_int e = image_buffer(im, context, CL_MEM_READ_ONLY);
    to->mem = im->mem;
    return e;
}

static cl_int make_lists(struct cached *x, cl_context context)
{
    static const uint32_t flags[4] = { CLATTN_Q_LEN, CLATTN_KV_LEN, CLATTN_CU_Q, CLATTN_CU_K };
    clattn_array *const to[4] = { &x->args.q_len, &x->args.kv_len, &x->args.cu_q, &x->args.cu_k };
    cl_int e = CL_SUCCESS;
    for (int i = 0; i < 4 && !e; i++)
        if (problem_of(x)->flags & flags[i])
            e = make_list(x, context, i, to[i]);
    return e;
}

/* Where row q of a head begins in Q, O and LSE without their margin, in rows. */
static int64_t q_row(const struct cached *x, int64_t b, int64_t h, int64_t q, int heads_last)
{
    const clattn_sizes *const s = &x->sizes;
    if (!(problem_of(x)->flags & CLATTN_CU_Q))
        return (b * s->h + h) * s->nq + q;
    const int64_t row = rows_before(x, b, 0) + q;
    return heads_last ? row * s->h + h : h * s->total_q + row;
}
static int64_t q_rows(const struct cached *x)
{
    const clattn_sizes *const s = &x->sizes;
    return problem_of(x)->flags & CLATTN_CU_Q ? s->total_q * s->h : s->b * s->h * s->nq;
}

static cl_int make_q(struct cached *x, cl_context context)
{
    const clattn_problem *const p = problem_of(x);
    const clattn_sizes *const s = &x->sizes;
    const size_t size = convert_size(p->type);
    x->q_value = calloc((size_t)(s->b * s->h * s->nq * p->d) + 1, sizeof *x->q_value);
    if (!x->q_value || image_alloc(&x->q, (size_t)(q_rows(x) * p->d), p->type))
        return CL_OUT_OF_HOST_MEMORY;
    image_poison(&x->q, p->type);
    for (int64_t i = 0; i < s->b * s->h * s->nq; i++) {
        const int64_t b = i / s->nq / s->h, q = i % s->nq;
        double *const value = x->q_value + i * p->d;
        if (q >= queries_of(x, b))
            continue;
        unsigned char *const to =
            x->q.byte + (size_t)(q_row(x, b, i / s->nq % s->h, q, 1) * p->d) * size;
        for (int32_t c = 0; c < p->d; c++)
            value[c] = trial_normal(x->c.seed, (uint64_t)i, (uint64_t)c);
        convert_store(p->type, value, to, (size_t)p->d);
        convert_load(p->type, to, value, (size_t)p->d);
    }
    const cl_int e = image_buffer(&x->q, context, CL_MEM_READ_ONLY);
    x->args.q.mem = x->q.mem;
    return e;
}

/* Canaries before and behind, and in the rows themselves. */
static cl_int make_output(struct image *im, cl_context context, int type, int64_t rows, int64_t width,
                          clattn_tensor *to)
{
    if (image_alloc(im, (size_t)(rows * width) + 2 * MARGIN, type))
        return CL_OUT_OF_HOST_MEMORY;
    image_canaries(im);
    to->offset = MARGIN;
    const cl_int e = image_buffer(im, context, CL_MEM_READ_WRITE);
    to->mem = im->mem;
    return e;
}

static void take_sizes(struct cached *x)
{
    const clattn_problem *const p = &x->c.problem;
    x->sizes = p->sizes;
    x->sizes.hk = x->sizes.hk ? x->sizes.hk : x->sizes.h;
    if (p->flags & CLATTN_CU_Q)
        x->sizes.total_q = rows_before(x, x->sizes.b, 0);
    if (p->flags & CLATTN_CU_K)
        x->sizes.total_k = rows_before(x, x->sizes.b, 1);
}

cl_int cached_make(struct cached *x, cl_context context, const struct cached_case *c)
{
    memset(x, 0, sizeof *x);
    x->c = *c;
    x->c.problem.type = c->problem.type ? c->problem.type : CLATTN_F32;
    take_sizes(x);
    x->args.struct_size = sizeof x->args;
    x->args.sizes = &x->sizes;
    const int32_t dv = c->problem.dv ? c->problem.dv : c->problem.d;
    cl_int e = c->problem.page ? make_table(x, context) : CL_SUCCESS;
    e = e ? e : make_lists(x, context);
    e = e ? e : make_q(x, context);
    e = e ? e : make_k_or_v(x, context, 0);
    e = e ? e : make_k_or_v(x, context, 1);
    e = e ? e : make_output(&x->o, context, x->c.problem.type, q_rows(x), dv, &x->args.o);
    e = e ? e : make_output(&x->lse, context, CLATTN_F32, q_rows(x), 1, &x->args.lse);
    x->args.k = x->k.at;
    x->args.v = x->v.at;
    x->args.k_scale = x->k.scale_at;
    x->args.k_zero = x->k.zero_at;
    x->args.v_scale = x->v.scale_at;
    x->args.v_zero = x->v.zero_at;
    return e;
}

void cached_free(struct cached *x)
{
    struct image *const images[] = { &x->k.image, &x->k.scale, &x->k.zero, &x->v.image,    &x->v.scale,
                                     &x->v.zero,  &x->q,       &x->o,      &x->lse,        &x->table,
                                     &x->lengths[0], &x->lengths[1], &x->lengths[2], &x->lengths[3], &x->workspace };
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        image_free(images[i]);
    free(x->k.value);
    free(x->v.value);
    free(x->q_value);
    x->k.value = x->v.value = x->q_value = NULL;
}

/* ---- Running and judging ---- */

static cl_int run(struct cached *x, const struct device *d, clattn_plan plan)
{
    size_t need = 0;
    cl_int e = clattn_workspace_size(plan, &x->args, &need);
    if (!e && need) {
        image_free(&x->workspace);
        memset(&x->workspace, 0, sizeof x->workspace);
        e = image_alloc(&x->workspace, need, CLATTN_U8);
        if (!e) {
            memset(x->workspace.byte, 0xff, need);
            e = image_buffer(&x->workspace, d->cl.context, CL_MEM_READ_WRITE);
        }
        x->args.workspace = x->workspace.mem;
        x->args.workspace_size = need;
    }
    e = e ? e : clattn_enqueue_forward(plan, d->queue, &x->args, 0, NULL, NULL);
    return e ? e : clFinish(d->queue);
}

static struct reference problem_in_double(const struct cached *x, int narrow_p, const int32_t *q_len,
                                          const int32_t *kv_len)
{
    const clattn_problem *const p = problem_of(x);
    struct reference r = { 0 };
    r.p = *p;
    r.b = x->sizes.b;
    r.h = x->sizes.h;
    r.hk = x->sizes.hk;
    r.nq = x->sizes.nq;
    r.nk = x->sizes.nk;
    r.d = p->d;
    r.dv = p->dv ? p->dv : p->d;
    r.type = p->type;
    r.narrow_p = narrow_p;
    r.share = 0.25;
    r.scale = p->scale != 0 ? p->scale : 1 / sqrt((double)p->d);
    r.q_len = q_len;
    r.kv_len = kv_len;
    return r;
}

struct expected {
    double *o, *lse, *o_bound, *lse_bound;
};

/* One row of results, and takes it out of the canaries; 1, or 0 and words. */
static int judge_row(const struct cached *x, struct image *im, int type, unsigned char *now, int64_t at, int64_t width,
                     const double *want, const double *bound, char *why, size_t len)
{
    const size_t size = convert_size(type), from = (MARGIN + (size_t)(at * width)) * size;
    for (int64_t c = 0; c < width; c++) {
        double got;
        convert_load(type, now + from + (size_t)c * size, &got, 1);
        if (!(got == want[c] || fabs(got - want[c]) <= bound[c])) {
            snprintf(why, len, "row %lld, column %lld of %s is %.9g, want %.9g: error %.3g, bound %.3g", (long long)at,
                     (long long)c, im == &x->lse ? "LSE" : "O", got, want[c], fabs(got - want[c]), bound[c]);
            return 0;
        }
    }
    memcpy(im->byte + from, now + from, (size_t)width * size);
    return 1;
}

static int judge_rows(struct cached *x, unsigned char *o, unsigned char *lse, const struct expected *e, char *why,
                      size_t len)
{
    const clattn_sizes *const s = &x->sizes;
    const clattn_problem *const p = problem_of(x);
    const int64_t dv = p->dv ? p->dv : p->d;
    int good = 1;
    for (int64_t i = 0; i < s->b * s->h * s->nq && good; i++) {
        const int64_t b = i / s->nq / s->h, h = i / s->nq % s->h, q = i % s->nq;
        if (p->flags & CLATTN_CU_Q && q >= queries_of(x, b))
            continue;
        good = judge_row(x, &x->o, p->type, o, q_row(x, b, h, q, 1), dv, e->o + i * dv, e->o_bound + i * dv, why,
                         len) &&
               judge_row(x, &x->lse, CLATTN_F32, lse, q_row(x, b, h, q, 0), 1, e->lse + i, e->lse_bound + i, why, len);
    }
    return good;
}

static int inputs_are_kept(const struct cached *x, cl_command_queue queue)
{
    const struct image *const images[] = { &x->k.image, &x->k.scale, &x->k.zero, &x->v.image,    &x->v.scale,
                                           &x->v.zero,  &x->q,       &x->table,  &x->lengths[0], &x->lengths[1],
                                           &x->lengths[2], &x->lengths[3] };
    int same = 1;
    for (size_t i = 0; i < sizeof images / sizeof *images; i++)
        same = same && image_unchanged(images[i], queue);
    return same;
}

static int judge(struct cached *x, const struct device *d, const struct expected *e, char *why, size_t len)
{
    unsigned char *o = image_read(&x->o, d->queue), *lse = image_read(&x->lse, d->queue);
    int good = o && lse && judge_rows(x, o, lse, e, why, len);
    if (good && (memcmp(o, x->o.byte, x->o.size) || memcmp(lse, x->lse.byte, x->lse.size))) {
        snprintf(why, len, "bytes outside the rows of O or LSE changed");
        good = 0;
    }
    if (good && !inputs_are_kept(x, d->queue)) {
        snprintf(why, len, "an input changed");
        good = 0;
    }
    free(o);
    free(lse);
    return good;
}

int cached_check(struct cached *x, const struct device *d, clattn_plan plan, int narrow_p, char *why, size_t len)
{
    const clattn_problem *const p = problem_of(x);
    const size_t rows = (size_t)(x->sizes.b * x->sizes.h * x->sizes.nq), n = rows * (size_t)(p->dv ? p->dv : p->d);
    int32_t q_len[CACHED_B_MAX], kv_len[CACHED_B_MAX];
    struct expected e = { calloc(n + 1, sizeof(double)), calloc(rows + 1, sizeof(double)),
                          calloc(n + 1, sizeof(double)), calloc(rows + 1, sizeof(double)) };
    for (int64_t b = 0; b < x->sizes.b; b++) {
        q_len[b] = queries_of(x, b);
        kv_len[b] = keys_of(x, b);
    }
    const struct reference r = problem_in_double(x, narrow_p, q_len, kv_len);
    const cl_int status = run(x, d, plan);
    int good = 0;
    if (status)
        harness_words(d->handle, status, why, len);
    else if (!e.o || !e.lse || !e.o_bound || !e.lse_bound ||
             reference_forward(&r, x->q_value, x->k.value, x->v.value, e.o, e.lse, e.o_bound, e.lse_bound, NULL))
        snprintf(why, len, "the reference failed");
    else
        good = judge(x, d, &e, why, len);
    free(e.o);
    free(e.lse);
    free(e.o_bound);
    free(e.lse_bound);
    return good;
}
