/* keys.c - a trial's K and V in caches: quantised, with scales of any shape, and in pages
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/trial.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SPARE = 3 }; /* pages that nobody uses */

/* Random codes, whose scales are about so large that values are about 1. */
static void draw(const struct trial *t, struct tensor *x, uint64_t which)
{
    const int wide = x->type == CLATTN_INT8 || x->type == CLATTN_Q8_0;
    x->drawn = trial_hash(t->c.seed, 88, which) | 1;
    x->scale_size = !t->caching->subnormal ? (wide ? 0x1p-6 : 0x1p-2)
                    : quantise_is_scaled(x->type) ? 0x1p-128 : 0x1p-16;
}

void keys_shape(struct trial *t)
{
    const clattn_problem *p = &t->c.problem;
    struct paging *const g = &t->paging;
    if (t->caching && quantise_is(t->k.type))
        draw(t, &t->k, 1);
    if (t->caching && quantise_is(t->v.type))
        draw(t, &t->v, 2);
    t->k.group = p->k_group && p->k_group < t->d ? p->k_group : t->d;
    t->v.group = p->v_group && p->v_group < t->dv ? p->v_group : t->dv;
    if (!p->page)
        return;
    g->page = t->caching && t->caching->page ? t->caching->page : p->page;
    g->slots = (t->sizes.nk + g->page - 1) / g->page;
    g->n = t->sizes.b * g->slots + SPARE;
    t->k.paging = t->v.paging = g;
}

/* ---- The block table ---- */

/* What a slot behind the length holds. */
static int32_t nowhere(const struct trial *t, int64_t i)
{
    const int32_t bad[4] = { -1, INT32_MAX, INT32_MIN, (int32_t)t->paging.n };
    return bad[trial_hash(t->c.seed, 91, (uint64_t)i) % 4];
}

/* Pages in an order by the seed. Some entries, where nobody says how and but in layout PLAIN, lead to no page where a
 * page is read, and some to one that the sequence has already. */
static void fill_row(const struct trial *t, int64_t b, const int32_t *order, int32_t *row)
{
    const int any = !t->caching && t->layout != PLAIN, shared = t->caching && t->caching->shared;
    for (int64_t i = 0; i < t->paging.slots; i++) {
        const int64_t n = b * t->paging.slots + i;
        const uint64_t kind = trial_hash(t->c.seed, 92, (uint64_t)n) % 16;
        const int is_read = i * t->paging.page < t->kv_len[b];
        const int is_bad = any ? kind == 0 : t->caching && t->caching->bad && ((shared ? i : n) + 1) % 3 == 0;
        row[i] = order[i];
        if (!is_read || is_bad)
            row[i] = nowhere(t, n);
        else if (any && kind == 1 && i > 0)
            row[i] = row[i / 2];
    }
}

cl_int keys_fill_table(struct trial *t)
{
    const int shared = t->layout == SHARED || (t->caching && t->caching->shared);
    struct paging *const g = &t->paging;
    int32_t *order;
    if (!g->page)
        return CL_SUCCESS;
    g->table = calloc((size_t)(t->sizes.b * g->slots) + 1, sizeof *g->table);
    order = calloc((size_t)g->n, sizeof *order);
    if (!g->table || !order) {
        free(order);
        return CL_OUT_OF_HOST_MEMORY;
    }
    for (int64_t i = 0; i < g->n; i++) {
        const int64_t j = (int64_t)(trial_hash(t->c.seed, 90, (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = (int32_t)i;
    }
    for (int64_t b = 0; b < t->sizes.b; b++)
        fill_row(t, b, order + (shared ? 0 : b * g->slots), g->table + b * g->slots);
    free(order);
    return CL_SUCCESS;
}

/* ---- Scales ---- */

/* Axes of a tensor that rows step along, and of its groups. */
static void axes_of(const struct tensor *x, int64_t to[4])
{
    to[0] = x->paging ? x->paging->n : x->cu ? 1 : x->n[0];
    to[1] = x->n[1];
    to[2] = x->paging ? x->paging->page : x->cu ? x->total : x->n[2];
    to[3] = (x->width + x->group - 1) / x->group;
}

/* Which axes scales have, a bit for each: all, or some by the seed; and none that the memory of the rows repeats. */
static void scales_shape(const struct trial *t, const struct tensor *x, uint64_t which, int64_t shape[4])
{
    static const unsigned kinds[] = { 15, 7, 8, 10, 2, 0, 13, 5, 11, 4 };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const unsigned once = which % 2 ? 5 : 0; /* zero points have other axes than scales */
    const unsigned axes = t->caching          ? 15 & ~((unsigned)t->caching->once ^ once)
                          : t->layout == PLAIN ? 15
                                               : kinds[trial_hash(t->c.seed, 93, which) % KINDS];
    axes_of(x, shape);
    for (int axis = 0; axis < 4; axis++)
        if (!(axes >> axis & 1) || (axis < 3 && x->stride[axis] == 0))
            shape[axis] = 1;
}

/* Where the cells of row (b, h, n), which lies somewhere, begin. */
static int64_t cell(const struct tensor *x, const int64_t shape[4], int64_t b, int64_t h, int64_t n)
{
    const struct paging *const p = x->paging;
    const int64_t at[3] = { p ? p->table[b * p->slots + n / p->page] : b, h,
                            p ? n % p->page : x->cu ? x->cu[b] + n : n };
    int64_t index = 0;
    for (int axis = 0; axis < 3; axis++)
        index = index * shape[axis] + (shape[axis] == 1 ? 0 : at[axis]);
    return index * shape[3];
}

static struct quantise_row row_of(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    const int64_t *const scale = x->scale.at.shape, *const zero = x->zero.at.shape;
    const struct quantise_row none = { NULL, NULL, 1, 0, 0 };
    if (!x->scale.value)
        return none;
    return (struct quantise_row) { x->scale.value + cell(x, scale, b, h, n),
                                   x->zero.value ? x->zero.value + cell(x, zero, b, h, n) : NULL, x->group,
                                   scale[3] != 1, zero[3] != 1 };
}

/* Whether row (b, n) lies somewhere: a varlen sequence may have fewer than the longest one. */
static int has_place(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    return x->cu ? n < x->cu[b + 1] - x->cu[b] : tensor_at(x, b, h, n) != NOWHERE;
}

/* Calls `use` for each row that lies somewhere. */
static void each_row_of(struct tensor *x, void (*use)(struct tensor *x, int64_t b, int64_t h, int64_t n))
{
    for (int64_t b = 0; b < x->n[0]; b++)
        for (int64_t h = 0; h < x->n[1]; h++)
            for (int64_t n = 0; n < x->n[2]; n++)
                if (has_place(x, b, h, n))
                    use(x, b, h, n);
}

/* Makes cells of scales that hold what all their elements need: the largest size of these, in place of the scale. */
static void widen_scale(struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    const double *const row = tensor_row(x, b, h, n);
    double *const cells = x->scale.value + cell(x, x->scale.at.shape, b, h, n);
    for (int64_t c = 0; c < x->width; c++) {
        double *const most = cells + (x->scale.at.shape[3] == 1 ? 0 : c / x->group);
        *most = fmax(*most, fabs(row[c]));
    }
}

/* What the strides are by default where K and V are paged or varlen: rows before heads. */
static void place_rows_first(struct array4 *x)
{
    x->stride[3] = 1;
    x->stride[1] = x->shape[3];
    x->stride[2] = x->shape[1] * x->stride[1];
    x->stride[0] = x->shape[2] * x->stride[2];
}

static cl_int make_scales(struct trial *t, struct tensor *x, struct scales *s, uint64_t which)
{
    int64_t shape[4];
    cl_int e;
    scales_shape(t, x, which, shape);
    e = trial_array4(&s->at, shape, CLATTN_F32, t->layout);
    if (t->layout == PLAIN && (x->paging || x->cu))
        place_rows_first(&s->at);
    s->value = calloc((size_t)array4_count(&s->at) + 1, sizeof *s->value);
    return e ? e : s->value ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* Any, whole or not, by the seed: the scales leave no more room for them. */
static void fill_zeros(const struct trial *t, struct tensor *x, uint64_t which)
{
    const double most = x->type == CLATTN_INT8 ? 64 : 4;
    for (int64_t i = 0; i < array4_count(&x->zero.at); i++) {
        const double any = (double)(trial_hash(t->c.seed, 94 + which, (uint64_t)i) >> 11) * 0x1p-53;
        x->zero.value[i] = (i % 2 ? floor(most * (2 * any - 1)) : (double)(float)(most * (2 * any - 1)));
    }
}

static void round_row(struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    unsigned char stored[2 * 576];
    double *const row = tensor_row(x, b, h, n);
    const struct quantise_row scales = row_of(x, b, h, n);
    quantise_store(x->type, &scales, row, stored, (size_t)x->width);
    quantise_load(x->type, &scales, stored, row, (size_t)x->width);
}

/* Any scale that a tensor has: the same whenever it is asked for. */
static double drawn_scale(const struct tensor *x, uint64_t at)
{
    return (0.5 + (double)(trial_hash(x->drawn, 83, at) % 1000) / 1000) * x->scale_size;
}

static void put_half(double x, unsigned char *to)
{
    uint16_t half;
    convert_store(CLATTN_F16, &x, &half, 1);
    to[0] = (unsigned char)half;
    to[1] = (unsigned char)(half >> 8);
}

/* Likewise the bytes of a row: codes, and before them in GGUF's blocks their scales, low byte first, and where codes
 * have no sign their minimums, which put 0 somewhere in the middle. */
static void draw_row(const struct tensor *x, int64_t b, int64_t h, int64_t n, unsigned char *to)
{
    const size_t size = quantise_bytes(x->type, (size_t)x->width), at = tensor_at(x, b, h, n);
    const size_t block = quantise_bytes(x->type, (size_t)quantise_block(x->type));
    const double middle = convert_type(x->type)->most / 2.0;
    for (size_t i = 0; i < size; i++)
        to[i] = (unsigned char)trial_hash(x->drawn, 82, at + i);
    for (size_t i = 0; i < size && !quantise_is_scaled(x->type); i += block) {
        const double scale = drawn_scale(x, at + i);
        put_half(scale, to + i);
        if (convert_type(x->type)->least == 0)
            put_half(-scale * middle * drawn_scale(x, at + i + 1) / x->scale_size, to + i + 2);
    }
}

static void load_drawn_row(struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    unsigned char stored[2 * 576];
    const struct quantise_row scales = row_of(x, b, h, n);
    draw_row(x, b, h, n, stored);
    quantise_load(x->type, &scales, stored, tensor_row(x, b, h, n), (size_t)x->width);
}

/* What scales are before rows are rounded: large enough for the elements of all these. */
static void fit_scales(struct tensor *x, double half)
{
    for (int64_t i = 0; i < array4_count(&x->scale.at); i++)
        x->scale.value[i] = 0;
    each_row_of(x, widen_scale);
    for (int64_t i = 0; i < array4_count(&x->scale.at); i++)
        x->scale.value[i] = (double)(float)(x->scale.value[i] / half);
}

/* Rows of no page are 0. */
static void clear_absent(struct tensor *x)
{
    for (int64_t b = 0; b < x->n[0]; b++)
        for (int64_t h = 0; h < x->n[1]; h++)
            for (int64_t n = 0; n < x->n[2]; n++)
                if (tensor_at(x, b, h, n) == NOWHERE)
                    memset(tensor_row(x, b, h, n), 0, (size_t)x->width * sizeof *x->value);
}

cl_int keys_round(struct trial *t, struct tensor *x)
{
    const int is_k = x == &t->k, has_zero = (t->c.problem.flags & (is_k ? CLATTN_K_ZERO : CLATTN_V_ZERO)) != 0;
    const uint64_t which = is_k ? 0 : 2;
    const double half = (x->type == CLATTN_INT8 ? 127 : 7) - (has_zero ? x->type == CLATTN_INT8 ? 64 : 4 : 0);
    cl_int e = CL_SUCCESS;
    clear_absent(x);
    if (!quantise_is(x->type))
        return CL_SUCCESS;
    if (quantise_is_scaled(x->type)) {
        if (!x->scale.value)
            e = make_scales(t, x, &x->scale, which);
        if (!e && has_zero && !x->zero.value)
            e = make_scales(t, x, &x->zero, which + 1);
        if (e)
            return e;
        for (int64_t i = 0; x->drawn && i < array4_count(&x->scale.at); i++)
            x->scale.value[i] = (double)(float)drawn_scale(x, (uint64_t)i);
        if (!x->drawn)
            fit_scales(x, half);
        if (has_zero)
            fill_zeros(t, x, which);
    }
    each_row_of(x, x->drawn ? load_drawn_row : round_row);
    return CL_SUCCESS;
}

void keys_store_row(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    const struct quantise_row scales = row_of(x, b, h, n);
    unsigned char *const to = x->image->byte + quantise_bytes(x->type, tensor_at(x, b, h, n));
    if (x->drawn)
        draw_row(x, b, h, n, to);
    else
        quantise_store(x->type, &scales, tensor_row(x, b, h, n), to, (size_t)x->width);
}

/* ---- Buffers ---- */

/* The cells that rows use which somebody reads; the others are poison. */
static void mark_used(const struct trial *t, const struct tensor *x, const struct scales *s, unsigned char *used)
{
    const int64_t *const shape = s->at.shape;
    for (int64_t b = 0; b < x->n[0]; b++)
        for (int64_t h = 0; h < x->n[1]; h++)
            for (int64_t n = 0; n < x->n[2]; n++)
                if (trial_stores(t, x, b, h, n) && tensor_at(x, b, h, n) != NOWHERE)
                    memset(used + cell(x, shape, b, h, n), 1, (size_t)shape[3]);
}

/* Writes scales or zero points into their image, poison where nobody reads them. */
static cl_int store_scales(const struct trial *t, const struct tensor *x, struct scales *s)
{
    unsigned char *const used = calloc((size_t)array4_count(&s->at) + 1, 1);
    int64_t index[4];
    if (!used)
        return CL_OUT_OF_HOST_MEMORY;
    mark_used(t, x, s, used);
    image_poison(&s->at.image, CLATTN_F32);
    for (int64_t i = 0; i < array4_count(&s->at); i++) {
        const float value = (float)s->value[i];
        if (used[i])
            memcpy(s->at.image.byte + array4_at(&s->at, i, index) * sizeof value, &value, sizeof value);
    }
    free(used);
    return CL_SUCCESS;
}

static cl_int give_scales(const struct trial *t, const struct tensor *x, struct scales *s, clattn_tensor4 *out,
                          cl_context context)
{
    int64_t full[4];
    cl_int e;
    if (!s->value)
        return CL_SUCCESS;
    axes_of(x, full);
    e = store_scales(t, x, s);
    e = e ? e : image_buffer(&s->at.image, context, CL_MEM_READ_ONLY);
    array4_argument(t, &s->at, full, out);
    return e;
}

cl_int keys_write(const struct trial *t, struct tensor *x, cl_command_queue queue)
{
    struct scales *const both[2] = { &x->scale, &x->zero };
    cl_int e = CL_SUCCESS;
    for (int i = 0; i < 2 && !e; i++) {
        if (!both[i]->value)
            continue;
        e = store_scales(t, x, both[i]);
        e = e ? e : image_write(&both[i]->at.image, queue);
    }
    return e;
}

/* Rows of the table further apart than they must be, with poison between. */
static cl_int give_table(struct trial *t, cl_context context)
{
    enum { HEAD = 3, GAP = 2 };
    const struct paging *const g = &t->paging;
    const int64_t stride = t->layout == PLAIN ? g->slots : g->slots + GAP, b = t->sizes.b;
    const size_t n = (size_t)(b * stride) + 1;
    int32_t *const spread = malloc(n * sizeof *spread);
    cl_int e;
    if (!spread)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < n; i++)
        spread[i] = INT32_MAX;
    for (int64_t i = 0; i < b * g->slots; i++)
        spread[i / g->slots * stride + i % g->slots] = g->table[i];
    e = trial_make_list(&t->list[BLOCK_TABLE], context, CLATTN_I32, spread,
                        b ? (size_t)((b - 1) * stride + g->slots) : 0, HEAD, &t->args.block_table);
    t->args.block_table_stride = t->layout == PLAIN ? 0 : stride;
    t->args.pages = g->n;
    t->args.page = g->page == t->c.problem.page && t->layout == PLAIN ? 0 : (int32_t)g->page;
    free(spread);
    return e;
}

cl_int keys_give(struct trial *t, cl_context context)
{
    clattn_forward_args *const a = &t->args;
    cl_int e = give_scales(t, &t->k, &t->k.scale, &a->k_scale, context);
    e = e ? e : give_scales(t, &t->k, &t->k.zero, &a->k_zero, context);
    e = e ? e : give_scales(t, &t->v, &t->v.scale, &a->v_scale, context);
    e = e ? e : give_scales(t, &t->v, &t->v.zero, &a->v_zero, context);
    return !e && t->paging.page ? give_table(t, context) : e;
}

int keys_unchanged(const struct trial *t, cl_command_queue queue)
{
    return image_unchanged(&t->k.scale.at.image, queue) && image_unchanged(&t->k.zero.at.image, queue) &&
           image_unchanged(&t->v.scale.at.image, queue) && image_unchanged(&t->v.zero.at.image, queue);
}

void keys_free_all(struct trial *t)
{
    struct scales *const all[4] = { &t->k.scale, &t->k.zero, &t->v.scale, &t->v.zero };
    for (int i = 0; i < 4; i++) {
        image_free(&all[i]->at.image);
        free(all[i]->value);
    }
    free(t->paging.table);
}
