/* appended.c - calls that append rows to caches, and every byte that is to come of them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/appended.h"

/* ---- One call ---- */

enum { B_MAX = 4 };

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

static void make_new_rows(struct appended *c, int which, uint64_t *state)
{
    const int64_t n[3] = { c->sizes.b, c->sizes.hk, c->sizes.nq }, width = which ? c->p.dv : c->p.d;
    const size_t size = convert_size(c->p.type);
    double x[ENCODED_WIDEST];
    c->new_place[which] = bytes_place(n, width, 1, new_order, state);
    c->new_rows[which] = bytes_make(which ? "new_v" : "new_k", (size_t)c->new_place[which].end * size, state);
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        fill_row(x, width, state);
        const int64_t at =
            bytes_row(&c->new_place[which], new_order, i / n[2] / n[1], i / n[2] % n[1], i % n[2]);
        convert_store(c->p.type, x, c->new_rows[which].byte + (size_t)at * size, (size_t)width);
    }
}

static void put_int(struct image *b, size_t at, int64_t x)
{
    const int32_t narrow = (int32_t)x;
    memcpy(b->byte + 4 * at, &narrow, 4);
}
static int64_t get_int(const struct image *b, size_t at)
{
    int32_t x;
    memcpy(&x, b->byte + 4 * at, 4);
    return x;
}

/* Usual numbers, and some that no sequence has. */
static int64_t pick_number(uint64_t *state, int64_t most)
{
    const int kind = (int)bytes_pick(state, 0, 9);
    return kind == 0 ? INT32_MIN : kind == 1 ? INT32_MAX : bytes_pick(state, -2, most + 2);
}

static void make_lists(struct appended *c, uint64_t *state)
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
static void make_table(struct appended *c, uint64_t *state)
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

static void make_sizes(struct appended *c, uint64_t *state)
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

static void make_args(struct appended *c)
{
    c->args = (clattn_append_args)CLATTN_APPEND_ARGS_INIT;
    c->args.sizes = &c->sizes;
    c->args.new_k = bytes_tensor(&c->new_rows[0], &c->new_place[0]);
    c->args.new_v = bytes_tensor(&c->new_rows[1], &c->new_place[1]);
    c->args.new_len = (clattn_array){ c->new_len.mem, c->new_len_at };
    c->args.k = bytes_tensor(&c->k.bytes, &c->k.place);
    c->args.v = bytes_tensor(&c->v.bytes, &c->v.place);
    c->args.k_scale = encoded_factors(&c->k.scale);
    c->args.k_zero = encoded_factors(&c->k.zero);
    c->args.v_scale = encoded_factors(&c->v.scale);
    c->args.v_zero = encoded_factors(&c->v.zero);
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

void appended_make(struct appended *c, const clattn_problem *p, uint64_t *state, cl_context context)
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
    c->k = encoded_make("k", p->k_type, p->d, p->k_group, (p->flags & CLATTN_K_ZERO) != 0, n, p->page, state);
    c->v = encoded_make("v", p->v_type, p->dv, p->v_group, (p->flags & CLATTN_V_ZERO) != 0, n, p->page, state);
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
    encoded_upload(&c->k, context);
    encoded_upload(&c->v, context);
    make_args(c);
}

void appended_free(struct appended *c)
{
    for (int i = 0; i < 2; i++)
        image_free(&c->new_rows[i]);
    image_free(&c->new_len);
    image_free(&c->kv_len);
    image_free(&c->dropped);
    image_free(&c->table);
    bytes_turning_free(&c->turning);
    encoded_free(&c->k);
    encoded_free(&c->v);
}

/* ---- What has to come of it ---- */

static void load_row(const struct appended *c, int which, int64_t b, int64_t h, int64_t i, double *x)
{
    const int64_t at = bytes_row(&c->new_place[which], new_order, b, h, i);
    const size_t size = convert_size(c->p.type);
    convert_load(c->p.type, c->new_rows[which].byte + (size_t)at * size, x, (size_t)c->new_place[which].width);
}

/* Where a position of sequence b is, or 0 where it has no room. */
static int find_place(const struct appended *c, int64_t b, int64_t position, int64_t *first, int64_t *row)
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

static void expect_row(struct appended *c, int64_t b, int64_t i, int64_t position, int64_t first, int64_t row)
{
    double x[ENCODED_WIDEST];
    for (int64_t h = 0; h < c->sizes.hk; h++) {
        const int64_t at[3] = { first, h, row };
        load_row(c, 0, b, h, i, x);
        if (c->rotates)
            bytes_turn(&c->turning, b * c->sizes.nq + i, position, x, c->p.type != CLATTN_F64);
        encoded_row(&c->k, x, at);
        load_row(c, 1, b, h, i, x);
        encoded_row(&c->v, x, at);
    }
}

int64_t appended_expect(struct appended *c)
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

int appended_agrees(const struct appended *c, cl_command_queue queue, char *why, size_t len)
{
    return encoded_agrees(&c->k, queue, why, len) && encoded_agrees(&c->v, queue, why, len) &&
           image_agrees(&c->kv_len, queue, why, len) &&
           (!c->dropped_wanted || image_agrees(&c->dropped, queue, why, len)) &&
           image_agrees(&c->new_rows[0], queue, why, len) && image_agrees(&c->new_rows[1], queue, why, len);
}

clattn_plan appended_plan(const struct device *d, const clattn_problem *p)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    char why[512];
    o.config = "naive wg1,bk8"; /* whose sample of a forward call is the smallest */
    const cl_int e = clattn_plan_create(&plan, d->handle, p, &o);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && p->type == CLATTN_F64)
        return NULL;
    clattn_error_detail(d->handle, why, sizeof why, NULL);
    if (e)
        bail("no plan: %s", why);
    return plan;
}
