/* append.c - new rows of K and V written into caches: every storage type, paged and in one piece
 * SPDX-License-Identifier: Apache-2.0
 *
 * The host computes what every byte of every buffer has to be afterwards, by encoders of its own, and all are compared:
 * what is written beside the new rows is seen, too. */
#include "config.h"

#include "tests/lib/bytes.h"
#include "tests/lib/each.h"

#include <float.h>

enum { WIDEST = 576, B_MAX = 4 };

/* ---- Encoders ---- */

static float rounded_product(float a, float b)
{
    const volatile float product = a * b;
    return product;
}

static void store_f16(float x, unsigned char *to)
{
    const double exact = x;
    convert_store(CLATTN_F16, &exact, to, 1);
}

static void encode_q8_0(const float *x, int n, unsigned char *to)
{
    for (int block = 0; block < n / 32; block++, x += 32, to += 34) {
        float most = 0;
        for (int i = 0; i < 32; i++)
            most = fmaxf(most, fabsf(x[i]));
        const float d = most / 127, id = d != 0 ? 1 / d : 0;
        store_f16(d, to);
        for (int i = 0; i < 32; i++)
            to[2 + i] = (unsigned char)(signed char)roundf(rounded_product(x[i], id));
    }
}

static void encode_q4_0(const float *x, int n, unsigned char *to)
{
    for (int block = 0; block < n / 32; block++, x += 32, to += 18) {
        float most = 0, value = 0;
        for (int i = 0; i < 32; i++)
            if (fabsf(x[i]) > most) {
                most = fabsf(x[i]);
                value = x[i];
            }
        const float d = value / -8, id = d != 0 ? 1 / d : 0;
        store_f16(d, to);
        for (int i = 0; i < 16; i++) {
            const int low = (int)(rounded_product(x[i], id) + 8.5f);
            const int high = (int)(rounded_product(x[i + 16], id) + 8.5f);
            to[2 + i] = (unsigned char)((low > 15 ? 15 : low) | (high > 15 ? 15 : high) << 4);
        }
    }
}

/* Scale and zero point that a group gets. */
static void measure(const float *x, int n, int most, int has_zero, float *scale, float *zero)
{
    float low = 0, high = 0, largest = 0;
    for (int i = 0; i < n; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
        largest = fmaxf(largest, fabsf(x[i]));
    }
    *scale = has_zero ? (high - low) / (float)(2 * most + 1) : largest / (float)most;
    *scale = *scale < FLT_MIN ? 0 : *scale;
    *zero = 0;
    if (has_zero) {
        const float id = *scale != 0 ? 1 / *scale : 0;
        *zero = fmaxf((float)(-most - 1), fminf((float)most, rintf((float)(-most - 1) - rounded_product(low, id))));
    }
}

static int code(float x, int most, float scale, float zero)
{
    const float id = scale != 0 ? 1 / scale : 0, q = rintf(rounded_product(x, id) + zero);
    return q > (float)most ? most : q < (float)(-most - 1) ? -most - 1 : (int)q;
}

/* ---- Caches ---- */

/* Scales, or zero points: axes first, hk, row, group. */
struct factors {
    struct bytes bytes;
    int64_t n[4], shape[4], stride[4], offset;
    int by_default;
};

struct cache {
    const char *name;
    int type, group, has_zero, computed;
    int64_t width;
    const int *order; /* of axes first, hk and row where strides are 0 */
    struct place place;
    struct bytes bytes;
    struct factors scale, zero;
};

static const struct {
    int elements, bytes;
} blocks[] = {
    [CLATTN_F32] = { 1, 4 },  [CLATTN_F16] = { 1, 2 },  [CLATTN_BF16] = { 1, 2 },   [CLATTN_F64] = { 1, 8 },
    [CLATTN_INT8] = { 1, 1 }, [CLATTN_INT4] = { 2, 1 }, [CLATTN_Q8_0] = { 32, 34 }, [CLATTN_Q4_0] = { 32, 18 },
};
static const char *const type_names[] = {
    [CLATTN_F32] = "f32",   [CLATTN_F16] = "f16",   [CLATTN_BF16] = "bf16", [CLATTN_F64] = "f64",
    [CLATTN_INT8] = "int8", [CLATTN_INT4] = "int4", [CLATTN_Q8_0] = "q8_0", [CLATTN_Q4_0] = "q4_0",
};
static int is_scaled(int type)
{
    return type == CLATTN_INT8 || type == CLATTN_INT4;
}

static struct factors make_factors(const struct cache *c, const char *name, const int64_t n[3], const int64_t shape[4],
                                 uint64_t *state)
{
    const int by_axes[4] = { c->order[0], c->order[1], c->order[2], 3 };
    struct factors s = { .by_default = (int)bytes_pick(state, 0, 1), .offset = bytes_pick(state, 0, 3) };
    int64_t step = 1;
    for (int i = 0; i < 4; i++) {
        s.n[i] = i < 3 ? n[i] : (c->width + c->group - 1) / c->group;
        s.shape[i] = shape[i];
    }
    for (int i = 3; i >= 0; i--) {
        const int axis = by_axes[s.by_default ? i : (i + 1) % 4];
        s.stride[axis] = step + (s.by_default ? 0 : bytes_pick(state, 0, 2));
        step = s.stride[axis] * (s.shape[axis] == 1 || s.n[axis] < 1 ? 1 : s.n[axis]);
    }
    s.bytes = bytes_make(name, 4 * (size_t)(s.offset + step), state);
    return s;
}

static unsigned char *scale_at(const struct factors *s, int64_t first, int64_t h, int64_t row, int64_t group)
{
    const int64_t index[4] = { first, h, row, group };
    int64_t at = s->offset;
    for (int i = 0; i < 4; i++)
        at += s->shape[i] == 1 ? 0 : index[i] * s->stride[i];
    return s->bytes.want + 4 * at;
}

static clattn_tensor4 scale_tensor(const struct factors *s)
{
    clattn_tensor4 t = { s->bytes.mem, (size_t)s->offset, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    for (int i = 0; i < 4 && s->bytes.size; i++) {
        t.shape[i] = s->shape[i];
        t.stride[i] = s->by_default ? 0 : s->stride[i];
    }
    return t;
}

/* Given scales are sometimes too small, so that values go beyond what the type holds; sometimes 0 or negative. */
static void fill_factors(struct factors *s, int is_zero, uint64_t *state)
{
    for (size_t i = 0; i < s->bytes.size / 4; i++) {
        const float factor = bytes_pick(state, 0, 7) ? 0.03f : bytes_pick(state, 0, 1) ? 0.0f : -0.01f;
        const float size = 1 + fabsf((float)bytes_normal(state));
        const float x = is_zero ? (float)bytes_pick(state, -20, 20) / 2 : factor * size;
        memcpy(s->bytes.want + 4 * i, &x, 4);
    }
}

static struct cache make_cache(const char *name, int type, int64_t width, int group, int has_zero, const int64_t n[3],
                               int paged, uint64_t *state)
{
    static const int plain[] = { 0, 1, 2 }, pages[] = { 0, 2, 1 };
    static const char *const scale_names[] = { "k_scale", "v_scale" }, *const zero_names[] = { "k_zero", "v_zero" };
    struct cache c = { .name = name, .type = type, .group = group, .has_zero = has_zero, .width = width };
    c.order = paged ? pages : plain;
    c.place = bytes_place(n, width, blocks[type].elements, c.order, state);
    c.bytes = bytes_make(name, (size_t)(c.place.end / blocks[type].elements * blocks[type].bytes), state);
    c.computed = (int)bytes_pick(state, 0, 2) > 0;
    if (!is_scaled(type))
        return c;
    int64_t shape[4];
    for (int i = 0; i < 4; i++)
        shape[i] = c.computed ? 0 : bytes_pick(state, 0, 1);
    shape[2] = !c.computed;
    c.scale = make_factors(&c, scale_names[*name == 'v'], n, shape, state);
    if (!c.computed)
        fill_factors(&c.scale, 0, state);
    if (!has_zero)
        return c;
    c.zero = make_factors(&c, zero_names[*name == 'v'], n, shape, state);
    if (!c.computed)
        fill_factors(&c.zero, 1, state);
    return c;
}

static void cache_upload(struct cache *c, cl_context context)
{
    const cl_mem_flags scales = c->computed ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
    bytes_upload(&c->bytes, context, CL_MEM_READ_WRITE);
    bytes_upload(&c->scale.bytes, context, scales);
    bytes_upload(&c->zero.bytes, context, scales);
}

static int cache_agrees(const struct cache *c, cl_command_queue queue, char *why, size_t len)
{
    return bytes_agree(&c->bytes, queue, why, len) &&
           (!c->scale.bytes.size || bytes_agree(&c->scale.bytes, queue, why, len)) &&
           (!c->zero.bytes.size || bytes_agree(&c->zero.bytes, queue, why, len));
}

static void cache_free(struct cache *c)
{
    bytes_free(&c->bytes);
    bytes_free(&c->scale.bytes);
    bytes_free(&c->zero.bytes);
}

static void encode_scaled(const struct cache *c, const float *x, const int64_t at[3], unsigned char *to)
{
    const int most = c->type == CLATTN_INT8 ? 127 : 7, width = (int)c->width;
    for (int i = 0; i < width; i++) {
        const int g = i / c->group, first = g * c->group, n = width - first < c->group ? width - first : c->group;
        float scale, zero = 0;
        unsigned char *const scale_to = scale_at(&c->scale, at[0], at[1], at[2], g);
        unsigned char *const zero_to = c->has_zero ? scale_at(&c->zero, at[0], at[1], at[2], g) : NULL;
        if (c->computed) {
            measure(x + first, n, most, c->has_zero, &scale, &zero);
            memcpy(scale_to, &scale, 4);
            if (zero_to)
                memcpy(zero_to, &zero, 4);
        } else {
            memcpy(&scale, scale_to, 4);
            if (zero_to)
                memcpy(&zero, zero_to, 4);
        }
        const int q = code(x[i], most, scale, zero);
        if (c->type == CLATTN_INT8)
            to[i] = (unsigned char)q;
        else
            to[i / 2] = (unsigned char)(i % 2 ? (to[i / 2] & 15) | (q & 15) << 4 : (to[i / 2] & 240) | (q & 15));
    }
}

/* One row, at axes first, hk and row. */
static void encode(struct cache *c, const double *x, const int64_t at[3])
{
    const int64_t row = bytes_row(&c->place, c->order, at[0], at[1], at[2]);
    unsigned char *const to = c->bytes.want + row / blocks[c->type].elements * blocks[c->type].bytes;
    float single[WIDEST];
    for (int64_t i = 0; i < c->width; i++)
        single[i] = (float)x[i];
    if (is_scaled(c->type))
        encode_scaled(c, single, at, to);
    else if (c->type == CLATTN_Q8_0)
        encode_q8_0(single, (int)c->width, to);
    else if (c->type == CLATTN_Q4_0)
        encode_q4_0(single, (int)c->width, to);
    else
        convert_store(c->type, x, to, (size_t)c->width);
}

/* ---- One call ---- */

/* What a plan is made for, and the call's sizes and buffers. */
struct call {
    clattn_problem p;
    clattn_sizes sizes;
    int page;
    int64_t pages, table_stride, entries;
    struct place new_place[2];
    struct bytes new_rows[2], new_len, kv_len, dropped, table;
    size_t new_len_at, kv_len_at, dropped_at, table_at;
    int new_len_given, dropped_wanted, rotates;
    struct turning turning;
    struct cache k, v;
    clattn_append_args args;
};

/* Rows of all kinds: of one size; small integers, that have several largest; halves, that are ties; zeros; tiny. */
static void fill_row(double *x, int64_t n, uint64_t *state)
{
    const int kind = (int)bytes_pick(state, 0, 7);
    const double size = ldexp(1, (int)bytes_pick(state, -6, 6));
    for (int64_t i = 0; i < n; i++)
        x[i] = kind == 0   ? (double)bytes_pick(state, -8, 8)
               : kind == 1 ? (double)bytes_pick(state, -254, 254) / 2
               : kind == 2 ? 0
               : kind == 3 ? 1e-35 * bytes_normal(state)
                           : size * bytes_normal(state);
    if (kind == 1)
        x[bytes_pick(state, 0, n - 1)] = 127;
}

static const int new_order[] = { 0, 1, 2 };

static void make_new_rows(struct call *c, int which, uint64_t *state)
{
    const int64_t n[3] = { c->sizes.b, c->sizes.hk, c->sizes.nq }, width = which ? c->p.dv : c->p.d;
    const size_t size = convert_size(c->p.type);
    double x[WIDEST];
    c->new_place[which] = bytes_place(n, width, 1, new_order, state);
    c->new_rows[which] = bytes_make(which ? "new_v" : "new_k", (size_t)c->new_place[which].end * size, state);
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        fill_row(x, width, state);
        const int64_t at =
            bytes_row(&c->new_place[which], new_order, i / n[2] / n[1], i / n[2] % n[1], i % n[2]);
        convert_store(c->p.type, x, c->new_rows[which].want + (size_t)at * size, (size_t)width);
    }
}

static void put_int(struct bytes *b, size_t at, int64_t x)
{
    const int32_t narrow = (int32_t)x;
    memcpy(b->want + 4 * at, &narrow, 4);
}
static int64_t get_int(const struct bytes *b, size_t at)
{
    int32_t x;
    memcpy(&x, b->want + 4 * at, 4);
    return x;
}

/* Usual numbers, and some that no sequence has. */
static int64_t pick_number(uint64_t *state, int64_t most)
{
    const int kind = (int)bytes_pick(state, 0, 9);
    return kind == 0 ? INT32_MIN : kind == 1 ? INT32_MAX : bytes_pick(state, -2, most + 2);
}

static void make_lists(struct call *c, uint64_t *state)
{
    const size_t b = (size_t)c->sizes.b;
    c->kv_len_at = (size_t)bytes_pick(state, 0, 3);
    c->new_len_at = (size_t)bytes_pick(state, 0, 3);
    c->dropped_at = (size_t)bytes_pick(state, 0, 3);
    c->dropped_wanted = (int)bytes_pick(state, 0, 3) > 0;
    c->kv_len = bytes_make("kv_len", 4 * (c->kv_len_at + b + 1), state);
    c->new_len = bytes_make("new_len", c->new_len_given ? 4 * (c->new_len_at + b) : 0, state);
    c->dropped = bytes_make("dropped", c->dropped_wanted ? 4 * (c->dropped_at + b + 1) : 0, state);
    for (size_t i = 0; i < b; i++) {
        put_int(&c->kv_len, c->kv_len_at + i, pick_number(state, c->sizes.nk));
        if (c->new_len_given)
            put_int(&c->new_len, c->new_len_at + i, pick_number(state, c->sizes.nq));
    }
}

/* Every entry that may be written through has a page of its own, but for some that have none; the others are noise. */
static void make_table(struct call *c, uint64_t *state)
{
    const int64_t b = c->sizes.b, bad[] = { -1, c->pages, INT32_MIN, INT32_MAX };
    int64_t next = 0;
    c->entries = (c->sizes.nk + c->page - 1) / c->page;
    c->table_stride = bytes_pick(state, 0, 1) ? 0 : c->entries + bytes_pick(state, 0, 2);
    c->table_at = (size_t)bytes_pick(state, 0, 3);
    const int64_t stride = c->table_stride ? c->table_stride : c->entries;
    c->table = bytes_make("block_table", 4 * (c->table_at + (size_t)(b ? stride * (b - 1) + c->entries : 0)), state);
    for (int64_t i = 0; i < b; i++) {
        const int64_t length = get_int(&c->kv_len, c->kv_len_at + (size_t)i);
        for (int64_t e = (length > 0 ? length : 0) / c->page; e < c->entries; e++)
            put_int(&c->table, c->table_at + (size_t)(i * stride + e),
                    bytes_pick(state, 0, 5) ? (next++ * 7 + 3) % c->pages : bad[bytes_pick(state, 0, 3)]);
    }
}

static void make_sizes(struct call *c, uint64_t *state)
{
    clattn_sizes *const s = &c->sizes;
    s->b = bytes_pick(state, 0, 9) ? bytes_pick(state, 1, B_MAX) : 0;
    s->hk = bytes_pick(state, 1, 3);
    s->h = s->hk * bytes_pick(state, 0, 2);
    s->nk = bytes_pick(state, 0, 9) ? bytes_pick(state, 1, 40) : 0;
    s->nq = bytes_pick(state, 0, 9) ? bytes_pick(state, 1, 9) : 0;
    c->new_len_given = s->nq > s->nk || bytes_pick(state, 0, 1);
    if (!c->p.page)
        return;
    c->page = bytes_pick(state, 0, 3) ? (int)bytes_pick(state, 1, 17) : 1;
    c->pages = s->b * ((s->nk + c->page - 1) / c->page);
    c->pages += bytes_pick(state, 1, 3);
    while (c->pages % 7 == 0) /* so that 7 i + 3 meets each once */
        c->pages++;
}

static void make_args(struct call *c)
{
    c->args = (clattn_append_args)CLATTN_APPEND_ARGS_INIT;
    c->args.sizes = &c->sizes;
    c->args.new_k = bytes_tensor(&c->new_rows[0], &c->new_place[0]);
    c->args.new_v = bytes_tensor(&c->new_rows[1], &c->new_place[1]);
    c->args.new_len = (clattn_array){ c->new_len.mem, c->new_len_at };
    c->args.k = bytes_tensor(&c->k.bytes, &c->k.place);
    c->args.v = bytes_tensor(&c->v.bytes, &c->v.place);
    c->args.k_scale = scale_tensor(&c->k.scale);
    c->args.k_zero = scale_tensor(&c->k.zero);
    c->args.v_scale = scale_tensor(&c->v.scale);
    c->args.v_zero = scale_tensor(&c->v.zero);
    c->args.kv_len = (clattn_array){ c->kv_len.mem, c->kv_len_at };
    c->args.dropped = (clattn_array){ c->dropped.mem, c->dropped_at };
    if (c->rotates)
        c->args.rotary = bytes_rotary(&c->turning);
    if (!c->p.page)
        return;
    c->args.block_table = (clattn_array){ c->table.mem, c->table_at };
    c->args.block_table_stride = c->table_stride;
    c->args.pages = c->pages;
    c->args.page = c->page == c->p.page ? 0 : c->page;
}

static void make_call(struct call *c, const clattn_problem *p, uint64_t *state, cl_context context)
{
    memset(c, 0, sizeof *c);
    c->p = *p;
    make_sizes(c, state);
    const clattn_sizes *const s = &c->sizes;
    const int64_t n[3] = { p->page ? c->pages : s->b, s->hk, p->page ? c->page : s->nk };
    make_new_rows(c, 0, state);
    make_new_rows(c, 1, state);
    make_lists(c, state);
    if (p->page)
        make_table(c, state);
    c->k = make_cache("k", p->k_type, p->d, p->k_group, (p->flags & CLATTN_K_ZERO) != 0, n, p->page, state);
    c->v = make_cache("v", p->v_type, p->dv, p->v_group, (p->flags & CLATTN_V_ZERO) != 0, n, p->page, state);
    c->rotates = p->flags & CLATTN_ROTARY && p->d > 1 && bytes_pick(state, 0, 3) > 0;
    if (c->rotates)
        c->turning = bytes_turning(p->d, s->b * s->nq, state);
    for (int i = 0; i < 2; i++)
        bytes_upload(&c->new_rows[i], context, CL_MEM_READ_ONLY);
    bytes_upload(&c->new_len, context, CL_MEM_READ_ONLY);
    bytes_upload(&c->kv_len, context, CL_MEM_READ_WRITE);
    bytes_upload(&c->dropped, context, CL_MEM_WRITE_ONLY);
    bytes_upload(&c->table, context, CL_MEM_READ_ONLY);
    bytes_turning_upload(&c->turning, context);
    cache_upload(&c->k, context);
    cache_upload(&c->v, context);
    make_args(c);
}

static void free_call(struct call *c)
{
    for (int i = 0; i < 2; i++)
        bytes_free(&c->new_rows[i]);
    bytes_free(&c->new_len);
    bytes_free(&c->kv_len);
    bytes_free(&c->dropped);
    bytes_free(&c->table);
    bytes_turning_free(&c->turning);
    cache_free(&c->k);
    cache_free(&c->v);
}

/* ---- What has to come of it ---- */

static void load_row(const struct call *c, int which, int64_t b, int64_t h, int64_t i, double *x)
{
    const int64_t at = bytes_row(&c->new_place[which], new_order, b, h, i);
    const size_t size = convert_size(c->p.type);
    convert_load(c->p.type, c->new_rows[which].want + (size_t)at * size, x, (size_t)c->new_place[which].width);
}

/* Where a position of sequence b is, or 0 where it has no room. */
static int find_place(const struct call *c, int64_t b, int64_t position, int64_t *first, int64_t *row)
{
    const int64_t stride = c->table_stride ? c->table_stride : c->entries;
    *first = b;
    *row = position;
    if (position >= c->sizes.nk)
        return 0;
    if (!c->p.page)
        return 1;
    *first = get_int(&c->table, c->table_at + (size_t)(b * stride + position / c->page));
    *row = position % c->page;
    return *first >= 0 && *first < c->pages;
}

static void expect_row(struct call *c, int64_t b, int64_t i, int64_t position, int64_t first, int64_t row)
{
    double x[WIDEST];
    for (int64_t h = 0; h < c->sizes.hk; h++) {
        const int64_t at[3] = { first, h, row };
        load_row(c, 0, b, h, i, x);
        if (c->rotates)
            bytes_turn(&c->turning, b * c->sizes.nq + i, position, x, c->p.type != CLATTN_F64);
        encode(&c->k, x, at);
        load_row(c, 1, b, h, i, x);
        encode(&c->v, x, at);
    }
}

/* One append; returns the rows that were written. */
static int64_t expect(struct call *c)
{
    int64_t all = 0;
    for (int64_t b = 0; b < c->sizes.b; b++) {
        int64_t length = get_int(&c->kv_len, c->kv_len_at + (size_t)b), n = c->sizes.nq, i = 0, first, row;
        if (c->new_len_given) {
            n = get_int(&c->new_len, c->new_len_at + (size_t)b);
            n = n < 0 ? 0 : n > c->sizes.nq ? c->sizes.nq : n;
        }
        length = length < 0 ? 0 : length;
        for (; i < n && find_place(c, b, length + i, &first, &row); i++)
            expect_row(c, b, i, length + i, first, row);
        put_int(&c->kv_len, c->kv_len_at + (size_t)b, length + i);
        if (c->dropped_wanted)
            put_int(&c->dropped, c->dropped_at + (size_t)b, n - i);
        all += i;
    }
    return all;
}

static int agrees(const struct call *c, cl_command_queue queue, char *why, size_t len)
{
    return cache_agrees(&c->k, queue, why, len) && cache_agrees(&c->v, queue, why, len) &&
           bytes_agree(&c->kv_len, queue, why, len) &&
           (!c->dropped_wanted || bytes_agree(&c->dropped, queue, why, len)) &&
           bytes_agree(&c->new_rows[0], queue, why, len) && bytes_agree(&c->new_rows[1], queue, why, len);
}

/* ---- Plans ---- */

static clattn_plan make_plan(const struct device *d, const clattn_problem *p)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    char why[512];
    o.config = "naive";
    const cl_int e = clattn_plan_create(&plan, d->handle, p, &o);
    if (e == CLATTN_ERROR_NOT_SUPPORTED)
        return NULL;
    clattn_error_detail(d->handle, why, sizeof why, NULL);
    if (e)
        bail("no plan: %s", why);
    return plan;
}

static void describe(const clattn_problem *p, char *text, size_t len)
{
    snprintf(text, len, "%s to %s:%d%s d%d and %s:%d%s d%d%s%s", type_names[p->type], type_names[p->k_type],
             (int)p->k_group, p->flags & CLATTN_K_ZERO ? "z" : "", (int)p->d, type_names[p->v_type], (int)p->v_group,
             p->flags & CLATTN_V_ZERO ? "z" : "", (int)p->dv, p->page ? " paged" : "",
             p->flags & CLATTN_ROTARY ? " rotary" : "");
}

/* Two appends, the second behind the first. */
static int append_twice(clattn_plan plan, struct call *c, cl_command_queue queue, int64_t *rows, char *why, size_t len)
{
    cl_event first = NULL, second = NULL;
    cl_int e = clattn_enqueue_append(plan, queue, &c->args, 0, NULL, &first);
    *rows = expect(c);
    if (!e)
        e = clattn_enqueue_append(plan, queue, &c->args, 1, &first, &second);
    *rows += expect(c);
    if (!e)
        e = clWaitForEvents(1, &second);
    if (first)
        clReleaseEvent(first);
    if (second)
        clReleaseEvent(second);
    snprintf(why, len, "%s", clattn_status_string(e));
    return !e && agrees(c, queue, why, len);
}

/* Many calls of all kinds. */
static void test_problem(const struct device *d, const clattn_problem *p, cl_command_queue other, unsigned calls)
{
    char what[160], why[512] = "";
    describe(p, what, sizeof what);
    clattn_plan plan = make_plan(d, p);
    if (!plan) {
        skip("%s: %s", d->name, what);
        return;
    }
    int64_t rows, all = 0;
    unsigned i = 0, good = 1;
    for (; i < calls && good; i++) {
        struct call c;
        uint64_t state = 1000 * (uint64_t)i + 17;
        make_call(&c, p, &state, d->cl.context);
        good = (unsigned)append_twice(plan, &c, i % 2 ? d->queue : other, &rows, why, sizeof why);
        if (!good)
            clattn_error_detail(d->handle, why + strlen(why), sizeof why - strlen(why), NULL);
        all += rows;
        free_call(&c);
    }
    if (!ok(good && all, "%s: %u calls, %lld rows: %s", d->name, i, (long long)all, what))
        diag("call %u: %s", i - 1, why);
    clattn_plan_release(plan);
}

static int picked_group(int type, unsigned i, int width)
{
    static const int groups[] = { 32, 1, 0, 16, 64 };
    const int group = groups[i % 5];
    return !is_scaled(type) ? 0 : group ? group < width ? group : width : width;
}

/* Pairs of storage types. One in three has every type as K and as V. */
static void test_pairs(const struct device *d, cl_command_queue other, unsigned n, unsigned calls)
{
    static const int types[] = { CLATTN_F32,  CLATTN_F16,  CLATTN_BF16, CLATTN_INT8,
                                 CLATTN_INT4, CLATTN_Q8_0, CLATTN_Q4_0 };
    enum { TYPES = sizeof types / sizeof *types };
    for (unsigned i = 0; i < TYPES * TYPES; i++) {
        const int k = types[i / TYPES], v = types[i % TYPES];
        clattn_problem p = CLATTN_PROBLEM_INIT;
        p.type = types[(i + i / 3) % 3];
        p.k_type = k;
        p.v_type = v;
        p.d = blocks[k].elements == 32 ? 32 * (1 + (int)i % 3) : (int)(2 + 2 * (i * 11 % 49));
        p.dv = blocks[v].elements == 32 ? 32 * (1 + (int)i / 5 % 3) : (int)(2 + 2 * (i * 17 % 41));
        p.k_group = picked_group(k, i, p.d);
        p.v_group = picked_group(v, i / 3, p.dv);
        p.page = i % 2 ? 4 : 0;
        p.flags = CLATTN_APPEND | (i % 5 < 3 ? CLATTN_ROTARY : 0);
        p.flags |= (is_scaled(k) && i % 4 < 2 ? CLATTN_K_ZERO : 0) | (is_scaled(v) && i % 8 < 4 ? CLATTN_V_ZERO : 0);
        if (harness_deals(i, n))
            test_problem(d, &p, other, calls);
    }
}

/* ---- Special rows ---- */

/* f64 stays f64, to the bit, and is rotated in double. */
static void test_f64(const struct device *d, cl_command_queue other, unsigned calls)
{
    for (int paged = 0; paged < 2; paged++) {
        clattn_problem p = CLATTN_PROBLEM_INIT;
        p.type = p.k_type = p.v_type = CLATTN_F64;
        p.d = 10;
        p.dv = 37;
        p.page = 3 * paged;
        p.flags = CLATTN_APPEND | (paged ? CLATTN_ROTARY : 0);
        test_problem(d, &p, other, calls);
    }
}

/* A cache of one row, by default strides: its bytes, and its scale where it has one. */
static int append_row(const struct device *d, int type, const float *x, int width, unsigned char *bytes, size_t size,
                      float *scale)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_append_args a = CLATTN_APPEND_ARGS_INIT;
    const clattn_sizes one = { .b = 1, .hk = 1, .nq = 1, .nk = 1 };
    const cl_int none = 0;
    cl_int e[5];
    p.k_type = p.v_type = type;
    p.d = width;
    p.flags = CLATTN_APPEND;
    clattn_plan plan = make_plan(d, &p);
    const cl_mem_flags given = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    cl_mem rows = clCreateBuffer(d->cl.context, given, (size_t)width * 4, (void *)(uintptr_t)x, &e[0]);
    cl_mem k = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, size, NULL, &e[1]);
    cl_mem v = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, size, NULL, &e[2]);
    cl_mem len = clCreateBuffer(d->cl.context, given, 4, (void *)(uintptr_t)&none, &e[3]);
    cl_mem scales = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, 8, NULL, &e[4]);
    if (!plan || e[0] || e[1] || e[2] || e[3] || e[4])
        bail("no plan, or no buffers");
    a.sizes = &one;
    a.new_k.mem = a.new_v.mem = rows;
    a.k.mem = k;
    a.v.mem = v;
    a.kv_len.mem = len;
    if (is_scaled(type)) {
        a.k_scale.mem = a.v_scale.mem = scales;
        a.v_scale.offset = 1;
    }
    cl_int status = clattn_enqueue_append(plan, d->queue, &a, 0, NULL, NULL);
    if (!status)
        status = clEnqueueReadBuffer(d->queue, k, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
    if (!status)
        status = clEnqueueReadBuffer(d->queue, scales, CL_TRUE, 0, 4, scale, 0, NULL, NULL);
    clReleaseMemObject(rows);
    clReleaseMemObject(k);
    clReleaseMemObject(v);
    clReleaseMemObject(len);
    clReleaseMemObject(scales);
    clattn_plan_release(plan);
    return !status;
}

/* NaN and inf must not turn into numbers: the scale of their group is neither. Other groups do not mind. */
static void test_not_finite(const struct device *d)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    static const int types[] = { CLATTN_INT8, CLATTN_INT4, CLATTN_Q8_0, CLATTN_Q4_0 };
    for (size_t t = 0; t < 4; t++)
        for (size_t i = 0; i < 3; i++) {
            const int type = types[t], block = blocks[type].bytes, scaled = is_scaled(type);
            unsigned char bytes[68];
            float x[64], scale = 1;
            double first = 0, second = 0;
            for (int j = 0; j < 64; j++)
                x[j] = (float)(j % 9 - 4);
            x[17] = bad[i];
            const int done = append_row(d, type, x, scaled ? 32 : 64, bytes, (size_t)(scaled ? 32 : 2 * block), &scale);
            if (!scaled) {
                convert_load(CLATTN_F16, bytes, &first, 1);
                convert_load(CLATTN_F16, bytes + block, &second, 1);
            }
            ok(done && !isfinite(scaled ? (double)scale : first) && (scaled || isfinite(second)),
               "%s: %f in a group of %s leaves no number there", d->name, (double)bad[i], type_names[type]);
        }
}

/* Known bytes: what the reference quantisation of ggml makes of a ramp, and of zeros. */
static void test_known(const struct device *d)
{
    float x[32], zero[32] = { 0 }, scale;
    unsigned char bytes[34], want[34];
    for (int i = 0; i < 32; i++)
        x[i] = (float)(i - 16) * 0.75f;
    ok(append_row(d, CLATTN_Q4_0, x, 32, bytes, 18, &scale) && bytes[0] == 0x00 && bytes[1] == 0x3e &&
           bytes[2] == 0x80 && bytes[3] == 0x91 && bytes[17] == 0xf8,
       "%s: q4_0 of a ramp from -12 by 0.75", d->name);
    ok(append_row(d, CLATTN_Q4_0, zero, 32, bytes, 18, &scale) && bytes[0] == 0 && bytes[1] == 0x80 && bytes[2] == 0x88,
       "%s: q4_0 of zeros has the scale -0", d->name);
    memset(want, 0, sizeof want);
    ok(append_row(d, CLATTN_Q8_0, zero, 32, bytes, 34, &scale) && !memcmp(bytes, want, 34), "%s: q8_0 of zeros",
       d->name);
    for (int i = 0; i < 32; i++)
        x[i] = i ? (float)i - 0.5f : 127;
    ok(append_row(d, CLATTN_Q8_0, x, 32, bytes, 34, &scale) && bytes[0] == 0x00 && bytes[1] == 0x3c &&
           bytes[2] == 127 && bytes[3] == 1 && bytes[4] == 2 && bytes[33] == 31,
       "%s: q8_0 takes halves away from zero", d->name);
    ok(append_row(d, CLATTN_INT8, x, 32, bytes, 32, &scale) && bytes[0] == 127 && bytes[1] == 0 && bytes[2] == 2 &&
           bytes[3] == 2 && scale == 1,
       "%s: int8 takes halves to even", d->name);
}

/* ---- Refusals ---- */

enum { BAD = CLATTN_ERROR_INVALID_ARGUMENT, SMALL = CLATTN_ERROR_BUFFER_TOO_SMALL };

/* Fails as it should, in words, without an event, and nothing was written. */
static void refused(const struct device *d, clattn_plan plan, const struct call *c, const clattn_append_args *a,
                    cl_int want, const char *words, const char *what)
{
    cl_event event = NULL;
    char detail[512] = "", why[512] = "";
    const cl_int e = clattn_enqueue_append(plan, d->queue, a, 0, NULL, &event);
    clattn_error_detail(d->handle, detail, sizeof detail, NULL);
    clFinish(d->queue);
    ok(e == want && !event && strstr(detail, words) && agrees(c, d->queue, why, sizeof why),
       "%s is refused (%s): %s %s", what, clattn_status_string(e), detail, why);
}

#define REFUSED(want, words, change)                                                                                   \
    do {                                                                                                               \
        clattn_append_args a = c.args;                                                                                 \
        clattn_sizes s = c.sizes;                                                                                      \
        a.sizes = &s;                                                                                                  \
        change;                                                                                                        \
        refused(d, plan, &c, &a, want, words, #change);                                                                \
    } while (0)

/* A call where every axis has more than one entry, scales are computed, and everything is given. */
static void find_call(struct call *c, const clattn_problem *p, const struct device *d)
{
    for (uint64_t i = 0;; i++) {
        uint64_t state = 33 + 1000 * i;
        make_call(c, p, &state, d->cl.context);
        if (c->sizes.b > 1 && c->sizes.hk > 1 && c->sizes.nq > 1 && c->sizes.nk > c->sizes.nq + 1 && c->rotates &&
            c->k.place.stride[0] && c->new_place[0].stride[0] && c->k.computed && c->v.computed && c->new_len_given &&
            c->dropped_wanted && (!p->page || (c->page > 1 && c->pages > 1)))
            return;
        free_call(c);
    }
}

static void test_lacking(const struct device *d, const struct call *c, uint32_t change, const char *words)
{
    clattn_problem p = c->p;
    p.flags ^= change;
    clattn_plan plan = make_plan(d, &p);
    refused(d, plan, c, &c->args, BAD, words, "a plan without the flag");
    clattn_plan_release(plan);
}

static void test_refusals(const struct device *d, int k_type, int page)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    struct call c;
    cl_int e;
    p.type = p.v_type = CLATTN_F32;
    p.k_type = k_type;
    p.d = 64;
    p.dv = 24;
    p.k_group = is_scaled(k_type) ? 32 : 0;
    p.page = page;
    p.flags = CLATTN_APPEND | CLATTN_ROTARY | (is_scaled(k_type) ? CLATTN_K_ZERO : 0);
    clattn_plan plan = make_plan(d, &p);
    find_call(&c, &p, d);
    cl_mem fixed = clCreateBuffer(d->cl.context, CL_MEM_READ_ONLY, 1 << 20, NULL, &e);
    cl_mem blind = clCreateBuffer(d->cl.context, CL_MEM_WRITE_ONLY, 1 << 20, NULL, &e);
    cl_mem small = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, 2, NULL, &e);
    test_lacking(d, &c, CLATTN_APPEND, "the problem lacks CLATTN_APPEND");
    test_lacking(d, &c, CLATTN_ROTARY, "the problem lacks CLATTN_ROTARY");
    REFUSED(BAD, "nq is", s.nq = s.nk + 1; a.new_len.mem = NULL);
    REFUSED(BAD, "nq is -1", s.nq = -1);
    REFUSED(BAD, "nk is", s.nk = INT64_MAX);
    REFUSED(BAD, "hk is", s.h = 1; s.hk = -1);
    REFUSED(BAD, "struct_size", a.struct_size = sizeof a - 8);
    REFUSED(BAD, "reserved is 1", a.reserved = 1);
    REFUSED(BAD, "new_k.mem is NULL", a.new_k.mem = NULL);
    REFUSED(BAD, "new_v.mem is NULL", a.new_v.mem = NULL);
    REFUSED(SMALL, "new_k reaches", a.new_k.mem = small);
    REFUSED(SMALL, "new_v reaches", a.new_v.offset = 1 << 20);
    REFUSED(BAD, "CL_MEM_WRITE_ONLY", a.new_k.mem = blind);
    REFUSED(BAD, "must not be negative", a.new_k.stride[2] = -1);
    REFUSED(BAD, "overflow", a.new_k.stride[2] = INT64_MAX);
    REFUSED(BAD, "k.mem is NULL", a.k.mem = NULL);
    REFUSED(BAD, "v.mem is NULL", a.v.mem = NULL);
    REFUSED(SMALL, "k reaches", a.k.mem = small);
    REFUSED(SMALL, "v reaches", a.v.mem = small);
    REFUSED(BAD, "k is written, but its buffer is CL_MEM_READ_ONLY", a.k.mem = fixed);
    REFUSED(BAD, "v is written, but its buffer is CL_MEM_READ_ONLY", a.v.mem = fixed);
    REFUSED(BAD, "k: its strides make elements overlap", a.k.stride[1] = 32);
    REFUSED(BAD, "v: its strides make elements overlap",
            a.v.stride[0] = a.v.stride[1] = a.v.stride[2] = 1);
    REFUSED(BAD, "kv_len.mem is NULL", a.kv_len.mem = NULL);
    REFUSED(BAD, "kv_len is written, but its buffer is CL_MEM_READ_ONLY", a.kv_len.mem = fixed);
    REFUSED(BAD, "kv_len is read, but its buffer is CL_MEM_WRITE_ONLY", a.kv_len.mem = blind);
    REFUSED(SMALL, "kv_len reaches", a.kv_len.offset += 2);
    REFUSED(SMALL, "new_len reaches", a.new_len.offset += 1);
    REFUSED(SMALL, "dropped reaches", a.dropped.offset += 2);
    REFUSED(BAD, "dropped is written, but its buffer is CL_MEM_READ_ONLY", a.dropped.mem = fixed);
    REFUSED(BAD, "rotary.width is 5", a.rotary.width = 5);
    REFUSED(BAD, "rotary.width is 66", a.rotary.width = 66);
    REFUSED(BAD, "rotary.positions is 0", a.rotary.positions = 0);
    REFUSED(BAD, "rotary.cos.mem is NULL", a.rotary.cos.mem = NULL);
    REFUSED(SMALL, "rotary.sin reaches", a.rotary.sin.mem = small);
    if (is_scaled(k_type)) {
        REFUSED(BAD, "k_scale.mem is NULL", a.k_scale.mem = NULL);
        REFUSED(BAD, "k_zero.mem is NULL", a.k_zero.mem = NULL);
        REFUSED(BAD, "both are read, or both are written", a.k_zero.shape[2] = 1);
        REFUSED(BAD, "k_scale.shape[h] is 1, must be", a.k_scale.shape[1] = 1);
        REFUSED(BAD, "k_zero.shape[g] is 1, must be", a.k_zero.shape[3] = 1);
        REFUSED(BAD, "k_scale.shape[g] is 3", a.k_scale.shape[3] = 3);
        REFUSED(BAD, "k_scale is written, but its buffer is CL_MEM_READ_ONLY", a.k_scale.mem = fixed);
        REFUSED(SMALL, "k_scale reaches", a.k_scale.mem = small);
        REFUSED(BAD, "k_scale: its strides make elements overlap",
                a.k_scale.stride[0] = a.k_scale.stride[1] = a.k_scale.stride[2] = a.k_scale.stride[3] = 1);
    } else {
        REFUSED(BAD, "k_scale is given, but the problem does not say so", a.k_scale.mem = fixed);
    }
    REFUSED(BAD, "v_scale is given, but the problem does not say so", a.v_scale.mem = fixed);
    if (blocks[k_type].elements > 1) {
        REFUSED(BAD, "multiple of", a.k.offset += 1);
        REFUSED(BAD, "multiple of", a.k.stride[2] += 1);
    }
    if (page) {
        REFUSED(BAD, "page is -1", a.page = -1);
        REFUSED(BAD, "pages is -1", a.pages = -1);
        REFUSED(BAD, "pages is 0", a.pages = 0);
        REFUSED(BAD, "block_table.mem is NULL", a.block_table.mem = NULL);
        REFUSED(SMALL, "block_table reaches", a.block_table.mem = small);
        REFUSED(BAD, "block_table_stride is -1", a.block_table_stride = -1);
        REFUSED(SMALL, "k reaches", a.pages = 1 << 20);
    } else {
        REFUSED(BAD, "page is given", a.page = 4);
        REFUSED(BAD, "block_table is given", a.block_table.mem = small);
    }
    clReleaseMemObject(fixed);
    clReleaseMemObject(blind);
    clReleaseMemObject(small);
    free_call(&c);
    clattn_plan_release(plan);
}

static void test_device(const struct device *d)
{
    const int quick = harness_flag("CLATTN_QUICK");
    cl_int e;
    cl_command_queue other =
        clCreateCommandQueue(d->cl.context, d->cl.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &e);
    if (e)
        other = d->queue;
    test_pairs(d, other, quick ? 9 : 3, quick ? 4 : 20);
    test_f64(d, other, quick ? 4 : 20);
    test_known(d);
    test_not_finite(d);
    test_refusals(d, CLATTN_F32, 0);
    test_refusals(d, CLATTN_INT4, 4);
    if (!quick)
        test_refusals(d, CLATTN_Q8_0, 0);
    if (!e)
        clReleaseCommandQueue(other);
}

int main(void)
{
    return each_device(test_device);
}
