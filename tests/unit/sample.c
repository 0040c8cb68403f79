/* sample.c - the made-up attention that tuning checks configurations against, judged by the float64 reference
 * SPDX-License-Identifier: Apache-2.0
 *
 * sample.t: seeded combinations of features, until every two have met; make check tries one in 12, and of what is
 * looked at in every type and width some; CLATTN_PART all or a share, CLATTN_FULL=1 many more. sample.t N: combination
 * N alone. */
#include "config.h"

#include "src/judge/sample_cache.h"
#include "tests/lib/deals.h"
#include "tests/lib/tap.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/reference.h"

#include <math.h>

static const char *const names[SAMPLES] = { "Q",           "K",      "V",       "bias",     "mask",
                                            "map",         "slopes", "sinks",   "k_scale",  "k_zero",
                                            "v_scale",     "v_zero", "q_len",   "kv_len",   "kv_start",
                                            "offsets",     "cu_q",   "cu_k",    "block table", "O",       "dO",
                                            "dLSE" };

static void *room(size_t n, size_t size)
{
    void *const p = calloc(n + 1, size);
    if (!p)
        bail("no memory");
    return p;
}

/* ---- A sample as the header says that it is stored ---- */

/* What sample_fill() gives, as numbers: double, int32_t for lists, bytes for mask and map; NULL where there is none. K
 * and V as they are meant: not in pages, not quantised, and NaN where a page is that nothing leads to. */
struct truth {
    const struct sample *s;
    void *data[SAMPLES];
    int64_t n[SAMPLES];
    int64_t q_rows, k_rows; /* of all entries, of one head */
};

static bool is_list(int what) { return what >= SAMPLE_Q_LEN; }
static bool is_bytes(int what) { return what == SAMPLE_MASK || what == SAMPLE_MAP; }
static bool is_scale(int what) { return what >= SAMPLE_K_SCALE && what <= SAMPLE_V_ZERO; }

/* Bytes of n elements, and how many are one block, as clattn.h says. */
static int64_t block(const struct sample *s, int what)
{
    switch (what == SAMPLE_K || what == SAMPLE_V ? sample_type(s, what) : 0) {
    case CLATTN_INT4: return 2;
    case CLATTN_Q8_0:
    case CLATTN_Q4_0:
    case CLATTN_Q4_1:
    case CLATTN_Q5_0:
    case CLATTN_Q5_1: return 32;
    default: return 1;
    }
}
static int gguf_bytes(int type) /* of a block */
{
    static const int bytes[] = { 34, 18, 20, 22, 24 };
    return bytes[type - CLATTN_Q8_0];
}
static size_t size_of(const struct sample *s, int what, int64_t n)
{
    const size_t count = (size_t)n;
    const int type = what == SAMPLE_K || what == SAMPLE_V ? sample_type(s, what) : 0;
    switch (type) {
    case CLATTN_INT8: return count;
    case CLATTN_INT4: return count / 2;
    case CLATTN_Q8_0:
    case CLATTN_Q4_0:
    case CLATTN_Q4_1:
    case CLATTN_Q5_0:
    case CLATTN_Q5_1: return count / 32 * (size_t)gguf_bytes(type);
    default: return count * (is_bytes(what) ? 1 : is_list(what) ? 4 : convert_size(sample_type(s, what)));
    }
}

/* Rows of sequence i of b, packed as problem strings say. */
static int64_t part(int64_t n, int64_t i, int64_t b)
{
    return n * (i + 1) / b + (n * (i + 1) % b != 0);
}

static int64_t rows(const struct sample *s, uint32_t packed, int64_t n, int64_t b)
{
    return s->p.flags & packed ? part(n, b, s->p.sizes.b) : n;
}

static int64_t rows_before(const struct sample *s, uint32_t packed, int64_t n, int64_t b)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < b; i++)
        sum += rows(s, packed, n, i);
    return sum;
}

/* Row n of (b, head): [total,h] where packed, else [b,h,n]. */
static int64_t place(const struct sample *s, uint32_t packed, int64_t most, int64_t heads, int64_t b, int64_t head,
                     int64_t n)
{
    return s->p.flags & packed ? (rows_before(s, packed, most, b) + n) * heads + head : (b * heads + head) * most + n;
}

static void *stored(const struct sample *s, int what)
{
    enum { BEYOND = 40 };
    const int64_t n = sample_count(s, what);
    const size_t bytes_of = size_of(s, what, n);
    unsigned char *const bytes = room(bytes_of + BEYOND, 1);
    memset(bytes + bytes_of, 0xa5, BEYOND);
    sample_fill(s, what, 0, n, bytes);
    for (size_t i = 0; i < BEYOND; i++)
        if (bytes[bytes_of + i] != 0xa5)
            bail("%s is filled beyond its end", names[what]);
    return bytes;
}

/* ---- K and V ---- */

/* What goes wrong on purpose in reading them. */
enum slip { NO_SLIP, NEXT_GROUP, NEXT_ROW, NO_ZERO, NEXT_PAGE, SLIPS };

/* K or V with what goes with it, as it is stored. */
struct cache {
    const struct sample *s;
    int what, type;
    int64_t width, group, groups, rows; /* rows as they are stored */
    unsigned char *bytes;
    float *scale, *zero; /* NULL: none */
    int32_t *table;
    struct sample_pages pages;
};

static void open_cache(struct cache *x, const struct sample *s, int what)
{
    const clattn_problem *p = &s->p;
    const bool v = what == SAMPLE_V;
    memset(x, 0, sizeof *x);
    x->s = s;
    x->what = what;
    x->type = v ? p->v_type : p->k_type;
    x->width = v ? p->dv : p->d;
    x->group = v ? p->v_group : p->k_group;
    x->groups = x->group ? (x->width + x->group - 1) / x->group : 0;
    x->rows = sample_count(s, what) / x->width;
    x->bytes = stored(s, what);
    x->scale = x->groups ? stored(s, v ? SAMPLE_V_SCALE : SAMPLE_K_SCALE) : NULL;
    x->zero = p->flags & (v ? CLATTN_V_ZERO : CLATTN_K_ZERO) ? stored(s, v ? SAMPLE_V_ZERO : SAMPLE_K_ZERO) : NULL;
    x->table = p->page ? stored(s, SAMPLE_TABLE) : NULL;
    x->pages = sample_cache_pages(s);
}

static void close_cache(struct cache *x)
{
    free(x->bytes);
    free(x->scale);
    free(x->zero);
    free(x->table);
}

/* The row that key k of (b, head) is stored in; -1 where the block table leads nowhere. */
static int64_t stored_row(const struct cache *x, int64_t b, int64_t head, int64_t k, enum slip slip)
{
    const clattn_sizes *z = &x->s->p.sizes;
    if (!x->table)
        return place(x->s, CLATTN_CU_K, z->nk, z->hk, b, head, k);
    const int64_t page = x->table[b * x->pages.stride + k / x->pages.page] + (slip == NEXT_PAGE);
    return page < 0 || page >= x->pages.count ? -1 : (page * x->pages.page + k % x->pages.page) * z->hk + head;
}

/* An element of one of the quantised types, by the table in clattn.h: the number that its scale is for. */
static int code_at(const struct cache *x, int64_t row, int64_t c)
{
    const int64_t at = row * x->width + c, i = c % 32;
    if (x->type == CLATTN_INT8)
        return (signed char)x->bytes[at];
    if (x->type == CLATTN_INT4)
        return ((x->bytes[at / 2] >> (c % 2 ? 4 : 0) & 15) ^ 8) - 8;
    const unsigned char *const gguf = x->bytes + at / 32 * gguf_bytes(x->type);
    const int low = gguf[gguf_bytes(x->type) - 16 + i % 16] >> (i < 16 ? 0 : 4) & 15; /* not of q8_0 */
    switch (x->type) {
    case CLATTN_Q8_0: return (signed char)gguf[2 + i];
    case CLATTN_Q4_0: return low - 8;
    case CLATTN_Q4_1: return low;
    case CLATTN_Q5_0: return low + (gguf[2 + i / 8] >> i % 8 & 1) * 16 - 16;
    default: return low + (gguf[4 + i / 8] >> i % 8 & 1) * 16;
    }
}

static double element_at(const struct cache *x, int64_t row, int64_t c, enum slip slip)
{
    const int64_t at = row * x->width + c;
    double y;
    if (x->type <= CLATTN_F64) {
        convert_load(x->type, x->bytes + (size_t)at * convert_size(x->type), &y, 1);
        return y;
    }
    if (!x->scale) {
        const int64_t block = at / 32 + (slip == NEXT_GROUP) * (c / 32 + 1 < x->width / 32 ? 1 : 0);
        const unsigned char *const at_block = x->bytes + block * gguf_bytes(x->type);
        double least = 0;
        convert_load(CLATTN_F16, at_block, &y, 1);
        if ((x->type == CLATTN_Q4_1 || x->type == CLATTN_Q5_1) && slip != NO_ZERO)
            convert_load(CLATTN_F16, at_block + 2, &least, 1);
        return y * code_at(x, row, c) + least;
    }
    const int64_t group = (c / x->group + (slip == NEXT_GROUP)) % x->groups;
    const int64_t n = (row + (slip == NEXT_ROW)) % x->rows * x->groups + group;
    return (double)x->scale[n] * (code_at(x, row, c) - (x->zero && slip != NO_ZERO ? (double)x->zero[n] : 0));
}

/* All of it, where the answer looks for it: [b,hk,nk,width] or [total,hk,width]. */
static double *read_cache(const struct sample *s, int what, int64_t k_rows, enum slip slip)
{
    const clattn_sizes *z = &s->p.sizes;
    struct cache x;
    open_cache(&x, s, what);
    double *const to = room((size_t)(k_rows * z->hk * x.width), sizeof *to);
    for (int64_t b = 0; b < z->b; b++)
        for (int64_t h = 0; h < z->hk; h++)
            for (int64_t k = 0; k < rows(s, CLATTN_CU_K, z->nk, b); k++) {
                const int64_t row = stored_row(&x, b, h, k, slip);
                double *const at = to + place(s, CLATTN_CU_K, z->nk, z->hk, b, h, k) * x.width;
                for (int64_t c = 0; c < x.width; c++)
                    at[c] = row < 0 ? (double)NAN : element_at(&x, row, c, slip);
            }
    close_cache(&x);
    return to;
}

/* ---- All of it ---- */

static void *numbers(const struct sample *s, int what)
{
    const size_t n = (size_t)sample_count(s, what);
    void *const bytes = stored(s, what);
    if (is_list(what) || is_bytes(what))
        return bytes;
    double *const x = room(n, sizeof *x);
    convert_load(sample_type(s, what), bytes, x, n);
    free(bytes);
    return x;
}

static void open_truth(struct truth *t, const struct sample *s)
{
    const clattn_sizes *z = &s->p.sizes;
    t->s = s;
    t->q_rows = rows_before(s, CLATTN_CU_Q, z->nq, z->b);
    t->k_rows = rows_before(s, CLATTN_CU_K, z->nk, z->b);
    for (int what = 0; what < SAMPLES; what++) {
        const bool cache = what == SAMPLE_K || what == SAMPLE_V;
        t->data[what] = cache                                          ? read_cache(s, what, t->k_rows, NO_SLIP)
                        : sample_count(s, what) || what == SAMPLE_Q ? numbers(s, what)
                                                                       : NULL;
        t->n[what] = cache ? t->k_rows * s->p.sizes.hk * (what == SAMPLE_V ? s->p.dv : s->p.d) : sample_count(s, what);
    }
}

static void close_truth(struct truth *t)
{
    for (int what = 0; what < SAMPLES; what++)
        free(t->data[what]);
}

static const int32_t *list_at(const struct truth *t, int what, int64_t b)
{
    const int32_t *const list = t->data[what];
    return list ? list + b : NULL;
}

static void set_shape(int64_t to[4], int64_t n, int64_t m)
{
    to[0] = to[1] = 1;
    to[2] = n;
    to[3] = m;
}

/* What entry b is for one of its heads. */
static struct reference problem_of(const struct truth *t, int64_t b, int64_t h)
{
    const clattn_problem *p = &t->s->p;
    const clattn_sizes *z = &p->sizes;
    struct reference r;
    memset(&r, 0, sizeof r);
    r.b = r.h = r.hk = r.slopes_b = 1;
    r.b0 = b * z->h + h; /* where it begins among all heads, for dropout */
    r.dropout_seed = sample_answer_dropout(t->s).seed;
    r.dropout_offset = sample_answer_dropout(t->s).offset;
    r.p = *p;
    r.type = p->o_type;
    r.narrow_p = t->s->narrow_p;
    r.nq = rows(t->s, CLATTN_CU_Q, z->nq, b);
    r.nk = rows(t->s, CLATTN_CU_K, z->nk, b);
    r.d = p->d;
    r.dv = p->dv;
    r.scale = p->scale;
    r.q_len = list_at(t, SAMPLE_Q_LEN, b);
    r.kv_len = list_at(t, SAMPLE_KV_LEN, b);
    r.kv_start = list_at(t, SAMPLE_KV_START, b);
    r.offsets = list_at(t, SAMPLE_OFFSETS, b);
    r.bias = t->data[SAMPLE_BIAS];
    r.mask = t->data[SAMPLE_MASK];
    r.block_map = t->data[SAMPLE_MAP];
    r.block_q = r.block_k = SAMPLE_BLOCK;
    set_shape(r.bias_shape, z->nq, z->nk);
    set_shape(r.mask_shape, z->nq, z->nk);
    set_shape(r.block_shape, (z->nq + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK, (z->nk + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK);
    r.slopes = t->data[SAMPLE_SLOPES] ? (const double *)t->data[SAMPLE_SLOPES] + h : NULL;
    r.sinks = t->data[SAMPLE_SINKS] ? (const double *)t->data[SAMPLE_SINKS] + h : NULL;
    return r;
}

/* One head of an entry, and what the reference makes of it. seen[nk]: keys that some query keeps. */
struct head {
    struct reference r;
    double *q, *k, *v, *o, *lse, *o_bound, *lse_bound;
    unsigned char *seen;
};

static void gather(double *to, const double *from, int64_t row, int64_t at, int64_t width)
{
    memcpy(to + at * width, from + row * width, (size_t)width * sizeof *to);
}

static void run_head(struct head *x)
{
    memset(x->seen, 0, (size_t)x->r.nk);
    if (reference_forward(&x->r, x->q, x->k, x->v, x->o, x->lse, x->o_bound, x->lse_bound, x->seen))
        bail("the reference failed");
}

static void open_head(struct head *x, const struct truth *t, int64_t b, int64_t h)
{
    const clattn_sizes *z = &t->s->p.sizes;
    const int64_t hk = h / (z->h / z->hk);
    x->r = problem_of(t, b, h);
    x->r.share = 1; /* a sample is not made to be bad */
    x->q = room((size_t)(x->r.nq * x->r.d), sizeof *x->q);
    x->k = room((size_t)(x->r.nk * x->r.d), sizeof *x->k);
    x->v = room((size_t)(x->r.nk * x->r.dv), sizeof *x->v);
    x->o = room((size_t)(x->r.nq * x->r.dv), sizeof *x->o);
    x->lse = room((size_t)x->r.nq, sizeof *x->lse);
    x->o_bound = room((size_t)(x->r.nq * x->r.dv), sizeof *x->o);
    x->lse_bound = room((size_t)x->r.nq, sizeof *x->lse);
    x->seen = room((size_t)x->r.nk, 1);
    for (int64_t n = 0; n < x->r.nq; n++)
        gather(x->q, t->data[SAMPLE_Q], place(t->s, CLATTN_CU_Q, z->nq, z->h, b, h, n), n, x->r.d);
    for (int64_t n = 0; n < x->r.nk; n++) {
        gather(x->k, t->data[SAMPLE_K], place(t->s, CLATTN_CU_K, z->nk, z->hk, b, hk, n), n, x->r.d);
        gather(x->v, t->data[SAMPLE_V], place(t->s, CLATTN_CU_K, z->nk, z->hk, b, hk, n), n, x->r.dv);
    }
    run_head(x);
}

static void close_head(struct head *x)
{
    free(x->q);
    free(x->k);
    free(x->v);
    free(x->o);
    free(x->lse);
    free(x->o_bound);
    free(x->lse_bound);
    free(x->seen);
}

/* ---- Combinations ---- */

enum { TYPE, CAUSAL, WINDOW, ALIGN, Q_LEN, KV_LEN, KV_START, PACKED, SOFTCAP, ALIBI, BIAS, MASK, MAP, SINKS, HEADS,
       WIDTHS, SCALE, SIZES, RAGGED, K_QUANT, V_QUANT, GROUP, ZERO, PAGE, O_TYPE, DROPOUT, FACTORS, CHOICES = 8 };
static const int choices[FACTORS] = { 7, 2, 5, 4, 2, 2, 2, 4, 3, 2, 5, 2, 2, 2, 5, 8, 4, 8, 2, 8, 8, 4, 4, 6, 3, 2 };
static const int32_t groupings[4] = { 0, 1, 16, 32 }, page_sizes[6] = { 0, 1, 3, 16, 1000, ROWS_MAX };
static const int32_t types[7][3] = { { CLATTN_F32, CLATTN_F32, CLATTN_F32 },  { CLATTN_F16, CLATTN_F16, CLATTN_F16 },
                                     { CLATTN_BF16, CLATTN_BF16, CLATTN_BF16 }, { CLATTN_F64, CLATTN_F64, CLATTN_F64 },
                                     { CLATTN_F16, CLATTN_F32, CLATTN_BF16 }, { CLATTN_BF16, CLATTN_BF16, CLATTN_F16 },
                                     { CLATTN_F32, CLATTN_F16, CLATTN_F32 } };
static const int32_t windows[5][2] = { { 0, 0 }, { 9, 4 }, { -1, 3 }, { 20, -1 }, { 0, 0 } }; /* the first: none */
static const uint32_t packings[4] = { 0, CLATTN_CU_Q, CLATTN_CU_K, CLATTN_CU_Q | CLATTN_CU_K };
static const double softcaps[3] = { 0, 3, 30 }, scales[4] = { 0, 0.5, -0.25, 0 };
static const int64_t heads[5][2] = { { 1, 1 }, { 2, 2 }, { 4, 2 }, { 3, 1 }, { 9, 3 } };
static const int32_t widths[8][2] = { { 8, 8 },   { 5, 3 },   { 1, 9 },   { 17, 1 },
                                      { 32, 64 }, { 64, 32 }, { 24, 40 }, { 96, 34 } };
static const int64_t sizes[8][3] = { { 2, 19, 45 }, { 3, 37, 33 }, { 2, 41, 7 }, { 1, 5, 70 },
                                     { 2, 1, 1 },   { 4, 3, 67 },  { 3, 7, 0 },  { 5, 6, 6 } };
static const int64_t offsets[] = { 0, -9, 4, 40, 1000, -1000, 1 };

struct row {
    int choice[FACTORS];
};

static uint64_t mix(uint64_t x)
{
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

/* A place of the diagonal where there is none; what f64, the width or varlen do not go with. */
static bool is_forbidden(const int *c)
{
    const bool quantised = c[K_QUANT] || c[V_QUANT], by_2 = c[WIDTHS] == 0 || c[WIDTHS] >= 4;
    const bool by_32 = c[WIDTHS] == 4 || c[WIDTHS] == 5;
    return (c[ALIGN] && !c[CAUSAL] && !c[WINDOW] && !c[ALIBI]) || (quantised && c[TYPE] == 3) ||
           ((c[K_QUANT] > 1 || c[V_QUANT] > 1) && !by_2) || ((c[K_QUANT] > 2 || c[V_QUANT] > 2) && !by_32) ||
           (c[PAGE] && packings[c[PACKED]] & CLATTN_CU_K) || (c[O_TYPE] && c[TYPE] == 3);
}

/* Pairs that are never together. */
static bool is_impossible(int f, int x, int g, int y)
{
    int c[FACTORS] = { 0 };
    c[ALIGN] = 0;
    c[WIDTHS] = f == K_QUANT || f == V_QUANT || g == K_QUANT || g == V_QUANT ? 4 : 0;
    c[f] = x;
    c[g] = y;
    c[CAUSAL] = f == CAUSAL ? x : g == CAUSAL ? y : 1;
    return is_forbidden(c) && !(f == ALIGN || g == ALIGN);
}

/* What K and V are stored in, if quantised. */
static void add_caches(clattn_problem *p, const int *c)
{
    static const int32_t quantised[] = { 0, CLATTN_INT8, CLATTN_INT4, CLATTN_Q8_0, CLATTN_Q4_0,
                                         CLATTN_Q4_1, CLATTN_Q5_0, CLATTN_Q5_1 };
    const bool k_scaled = c[K_QUANT] == 1 || c[K_QUANT] == 2, v_scaled = c[V_QUANT] == 1 || c[V_QUANT] == 2;
    p->k_type = c[K_QUANT] ? quantised[c[K_QUANT]] : p->k_type;
    p->v_type = c[V_QUANT] ? quantised[c[V_QUANT]] : p->v_type;
    p->k_group = k_scaled ? groupings[c[GROUP]] : 0;
    p->v_group = v_scaled ? groupings[3 - c[GROUP]] : 0;
    p->flags |= (k_scaled && c[ZERO] & 1 ? CLATTN_K_ZERO : 0) | (v_scaled && c[ZERO] & 2 ? CLATTN_V_ZERO : 0);
    p->page = page_sizes[c[PAGE]];
    p->o_type = c[O_TYPE];
}

static struct row make_row(uint64_t index)
{
    struct row r;
    uint64_t x = mix(index + UINT64_C(0x9e3779b97f4a7c15));
    do {
        for (int f = 0; f < FACTORS; f++)
            r.choice[f] = (int)((x = mix(x + UINT64_C(0x9e3779b97f4a7c15))) % (uint64_t)choices[f]);
        if (r.choice[TYPE] == 3) /* f64: too few would be left by chance */
            r.choice[K_QUANT] = r.choice[V_QUANT] = r.choice[O_TYPE] = 0;
    } while (is_forbidden(r.choice));
    return r;
}

static uint32_t flags_of(const int *c)
{
    return (c[WINDOW] ? CLATTN_WINDOW : 0) | (c[Q_LEN] ? CLATTN_Q_LEN : 0) | (c[KV_LEN] ? CLATTN_KV_LEN : 0) |
           (c[KV_START] ? CLATTN_KV_START : 0) | packings[c[PACKED]] | (c[ALIBI] ? CLATTN_ALIBI : 0) |
           (c[MASK] ? CLATTN_MASK : 0) | (c[MAP] ? CLATTN_BLOCK_MAP : 0) | (c[SINKS] ? CLATTN_SINKS : 0) |
           (c[SCALE] == 3 ? CLATTN_SCALE : 0);
}

static struct sample checked(const clattn_problem *in, uint32_t seed, bool ragged)
{
    struct sample s;
    struct why why;
    memset(&s, 0, sizeof s);
    s.seed = seed;
    s.ragged = ragged;
    if (problem_read(&s.p, in, &why))
        bail("%s", why.text);
    s.p.sizes.total_q = s.p.flags & CLATTN_CU_Q ? rows_before(&s, CLATTN_CU_Q, s.p.sizes.nq, s.p.sizes.b) : 0;
    s.p.sizes.total_k = s.p.flags & CLATTN_CU_K ? rows_before(&s, CLATTN_CU_K, s.p.sizes.nk, s.p.sizes.b) : 0;
    return s;
}

static struct sample make(const struct row *r, uint64_t index)
{
    const int *c = r->choice;
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.type = types[c[TYPE]][0];
    p.k_type = types[c[TYPE]][1];
    p.v_type = types[c[TYPE]][2];
    p.d = widths[c[WIDTHS]][0];
    p.dv = widths[c[WIDTHS]][1];
    p.causal = c[CAUSAL];
    p.align = c[ALIGN];
    p.flags = flags_of(c);
    p.window_left = windows[c[WINDOW]][0];
    p.window_right = windows[c[WINDOW]][1];
    add_caches(&p, c);
    p.softcap = softcaps[c[SOFTCAP]];
    p.dropout_p = c[DROPOUT] ? 0.3 : 0;
    p.scale = scales[c[SCALE]];
    p.bias_type = c[BIAS] == 4 ? p.type : c[BIAS];
    p.sizes.b = sizes[c[SIZES]][0];
    p.sizes.nq = sizes[c[SIZES]][1];
    p.sizes.nk = sizes[c[SIZES]][2];
    p.sizes.h = heads[c[HEADS]][0];
    p.sizes.hk = heads[c[HEADS]][1];
    p.sizes.offset = offsets[index % (sizeof offsets / sizeof *offsets)];
    struct sample s = checked(&p, (uint32_t)mix(index), c[RAGGED]);
    s.narrow_p = index % 3 == 0 && (p.type == CLATTN_F16 || p.type == CLATTN_BF16);
    return s;
}

/* ---- What holds of every sample ---- */

/* What went wrong first, or NULL. */
typedef const char *(*check)(const struct truth *t);

static bool close_to(double got, double want)
{
    return got == want || fabs(got - want) <= 1e-12 * fmax(1, fabs(want));
}

static const char *check_answers(const struct truth *t)
{
    const clattn_sizes *z = &t->s->p.sizes;
    const size_t dv = (size_t)t->s->p.dv;
    double *const o = room(dv, sizeof *o), *const o_bound = room(dv, sizeof *o);
    double *const scratch = room(SAMPLE_SCRATCH * (size_t)z->nk, sizeof *scratch);
    bool good = true, fair = true;
    for (int64_t i = 0; i < z->b * z->h; i++) {
        struct head x;
        open_head(&x, t, i / z->h, i % z->h);
        for (int64_t q = 0; q < x.r.nq; q++) {
            const double *const want = x.o + q * x.r.dv, *const bound = x.o_bound + q * x.r.dv;
            memset(o, 0xff, dv * sizeof *o);
            memset(o_bound, 0xff, dv * sizeof *o);
            const struct answer a = sample_answer(t->s, i / z->h, i % z->h, q, o, o_bound, scratch);
            good = good && close_to(a.lse, x.lse[q]);
            fair = fair && fabs(a.lse_bound - x.lse_bound[q]) <= 1e-9 * x.lse_bound[q];
            for (size_t c = 0; c < dv; c++) {
                good = good && (isinf(x.lse[q]) ? o[c] == 0 : close_to(o[c], want[c]));
                fair = fair && fabs(o_bound[c] - bound[c]) <= 1e-9 * bound[c];
            }
        }
        close_head(&x);
    }
    free(o);
    free(o_bound);
    free(scratch);
    return !good ? "the answer is another than the reference's" : fair ? NULL : "it may be farther off, or less far";
}

/* Every row of every head once, none beyond. */
static const char *check_rows(const struct truth *t)
{
    const struct sample *s = t->s;
    const clattn_sizes *z = &s->p.sizes;
    const bool packed = s->p.flags & CLATTN_CU_Q;
    bool good = true;
    int64_t n = 0;
    for (int64_t i = 0; i < z->b * z->h * z->nq; i++) {
        const int64_t b = i / z->nq / z->h, h = i / z->nq % z->h, q = i % z->nq;
        const int64_t row = sample_row(s, b, h, q), lse = sample_lse(s, b, h, q);
        if (q >= rows(s, CLATTN_CU_Q, z->nq, b)) {
            good = good && row == -1 && lse == -1;
            continue;
        }
        n++;
        good = good && row == place(s, CLATTN_CU_Q, z->nq, z->h, b, h, q) &&
               lse == (packed ? h * t->q_rows + rows_before(s, CLATTN_CU_Q, z->nq, b) + q : row);
    }
    return good && n == t->q_rows * z->h ? NULL : "rows lie elsewhere";
}

static const char *check_counts(const struct truth *t)
{
    const struct sample *s = t->s;
    const clattn_problem *p = &s->p;
    const clattn_sizes *z = &p->sizes;
    const int64_t blocks = (z->nq + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK * ((z->nk + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK);
    const uint32_t f = p->flags;
    const struct sample_pages pages = sample_cache_pages(s);
    const int64_t stored_rows = p->page ? pages.count * pages.page * z->hk : t->k_rows * z->hk;
    const int64_t k_groups = p->k_group ? (p->d + p->k_group - 1) / p->k_group : 0;
    const int64_t v_groups = p->v_group ? (p->dv + p->v_group - 1) / p->v_group : 0;
    const int64_t want[SAMPLES] = {
        [SAMPLE_Q] = t->q_rows * z->h * p->d,
        [SAMPLE_K] = stored_rows * p->d,
        [SAMPLE_V] = stored_rows * p->dv,
        [SAMPLE_K_SCALE] = stored_rows * k_groups,
        [SAMPLE_K_ZERO] = f & CLATTN_K_ZERO ? stored_rows * k_groups : 0,
        [SAMPLE_V_SCALE] = stored_rows * v_groups,
        [SAMPLE_V_ZERO] = f & CLATTN_V_ZERO ? stored_rows * v_groups : 0,
        [SAMPLE_TABLE] = p->page && z->nk ? z->b * pages.stride : 0,
        [SAMPLE_BIAS] = p->bias_type ? z->nq * z->nk : 0,
        [SAMPLE_MASK] = f & CLATTN_MASK ? z->nq * z->nk : 0,
        [SAMPLE_MAP] = f & CLATTN_BLOCK_MAP ? blocks : 0,
        [SAMPLE_SLOPES] = f & CLATTN_ALIBI ? z->b * z->h : 0,
        [SAMPLE_SINKS] = f & CLATTN_SINKS ? z->h : 0,
        [SAMPLE_Q_LEN] = f & CLATTN_Q_LEN ? z->b : 0,
        [SAMPLE_KV_LEN] = f & CLATTN_KV_LEN ? z->b : 0,
        [SAMPLE_KV_START] = f & CLATTN_KV_START ? z->b : 0,
        [SAMPLE_OFFSETS] = p->align == CLATTN_ALIGN_OFFSETS ? z->b : 0,
        [SAMPLE_CU_Q] = f & CLATTN_CU_Q ? z->b + 1 : 0,
        [SAMPLE_CU_K] = f & CLATTN_CU_K ? z->b + 1 : 0,
    };
    const int type[SAMPLES] = { p->type,    p->k_type,  p->v_type,  p->bias_type, CLATTN_U8,  CLATTN_U8,  CLATTN_F32,
                                CLATTN_F32, CLATTN_F32, CLATTN_F32, CLATTN_F32,   CLATTN_F32, CLATTN_I32, CLATTN_I32,
                                CLATTN_I32, CLATTN_I32, CLATTN_I32, CLATTN_I32,   CLATTN_I32 };
    for (int what = 0; what < SAMPLES; what++)
        if (sample_count(s, what) != want[what] || (want[what] && sample_type(s, what) != type[what]) ||
            sample_bytes(s, what, want[what]) != size_of(s, what, want[what]) ||
            sample_block(s, what) != block(s, what))
            return names[what];
    return sample_count(s, SAMPLES) ? "what is beyond the last" : NULL;
}

/* Lists are odd where they should be, and leave nothing out where not. */
static const char *check_lists(const struct truth *t)
{
    const clattn_sizes *z = &t->s->p.sizes;
    const int64_t far = t->s->ragged ? 1 : 0, usual[SAMPLES] = { [SAMPLE_Q_LEN] = z->nq,
                                                                 [SAMPLE_KV_LEN] = z->nk,
                                                                 [SAMPLE_OFFSETS] = z->nk - z->nq };
    for (int what = SAMPLE_Q_LEN; what <= SAMPLE_OFFSETS; what++) {
        const int32_t *const list = t->data[what];
        for (int64_t b = 0; b < z->b && list; b++)
            if ((list[b] != usual[what]) != far || (b && (list[b] != list[b - 1]) != far))
                return names[what];
    }
    for (int what = SAMPLE_CU_Q; what <= SAMPLE_CU_K; what++) {
        const int32_t *const list = t->data[what];
        const bool q = what == SAMPLE_CU_Q;
        for (int64_t b = 0; b <= z->b && list; b++)
            if (list[b] != rows_before(t->s, q ? CLATTN_CU_Q : CLATTN_CU_K, q ? z->nq : z->nk, b))
                return names[what];
    }
    return NULL;
}

static int64_t clamp(int64_t x, int64_t most)
{
    return x < 0 ? 0 : x > most ? most : x;
}

/* Key n of entry b is beyond what lengths leave. */
static bool is_beyond(const struct truth *t, int64_t b, int64_t n)
{
    const int64_t nk = rows(t->s, CLATTN_CU_K, t->s->p.sizes.nk, b);
    const int32_t *const start = list_at(t, SAMPLE_KV_START, b), *const end = list_at(t, SAMPLE_KV_LEN, b);
    return n < (start ? clamp(*start, nk) : 0) || n >= (end ? clamp(*end, nk) : nk);
}

/* Every page that a key is in belongs to one sequence alone, lies in a disorder, and has pages of nobody beside it; the
 * other entries lead nowhere. A ragged sequence has more pages than one. */
static const char *check_pages(const struct truth *t)
{
    const clattn_sizes *z = &t->s->p.sizes;
    const struct sample_pages x = sample_cache_pages(t->s);
    const int32_t *const table = t->data[SAMPLE_TABLE];
    int64_t of_sequence, in_order = 0, n = 0;
    if (!t->s->p.page)
        return x.page || x.count || x.stride ? "pages where there are none" : NULL;
    if (!z->nk || !z->b)
        return x.count ? "pages without keys" : NULL;
    of_sequence = (z->nk + x.page - 1) / x.page;
    if (x.page < 1 || x.page > t->s->p.page || x.stride != of_sequence + t->s->ragged ||
        x.count <= z->b * of_sequence || (t->s->ragged && z->nk > 2 && of_sequence < 2))
        return "the size or the number of pages";
    unsigned char *const met = room((size_t)x.count, 1);
    const char *wrong = NULL;
    for (int64_t i = 0; i < z->b * x.stride; i++) {
        const int64_t b = i / x.stride, first = i % x.stride * x.page;
        const int32_t *const end = list_at(t, SAMPLE_KV_LEN, b);
        const bool inside = table[i] >= 0 && table[i] < x.count, wanted = first < (end ? clamp(*end, z->nk) : z->nk);
        if (inside != wanted || (inside && met[table[i]]++))
            wrong = "an entry of the block table";
        n += inside && i % x.stride;
        in_order += inside && i % x.stride && table[i] == table[i - 1] + 1;
    }
    free(met);
    return wrong ? wrong : n > 4 && in_order * 2 > n ? "pages in order" : NULL;
}

/* Scales are powers of two, zero points are whole, and both differ from row to row and from group to group. */
static const char *check_scales(const struct truth *t)
{
    for (int what = SAMPLE_K_SCALE; what <= SAMPLE_V_ZERO; what++) {
        const bool v = what >= SAMPLE_V_SCALE, zero = what == SAMPLE_K_ZERO || what == SAMPLE_V_ZERO;
        const clattn_problem *p = &t->s->p;
        const int64_t groups = v ? p->v_group ? (p->dv + p->v_group - 1) / p->v_group : 0
                                 : p->k_group ? (p->d + p->k_group - 1) / p->k_group : 0;
        const double *const x = t->data[what];
        int64_t across = 0, down = 0, n = 0;
        for (int64_t i = 0; i < t->n[what]; i++) {
            int e;
            if (isnan(x[i]))
                continue;
            if (zero ? x[i] != floor(x[i]) || fabs(x[i]) > 90 : frexp(x[i], &e) != 0.5)
                return names[what];
            n++;
            across += i % groups && x[i] != x[i - 1] && !isnan(x[i - 1]);
            down += i >= groups && x[i] != x[i - groups] && !isnan(x[i - groups]);
        }
        if (n > 60 && !t->s->ragged && (down < n / 4 || (groups > 1 && across < n / 4 / groups)))
            return "scales that are alike";
    }
    return NULL;
}

static const char *check_hidden(const struct truth *t)
{
    const clattn_sizes *z = &t->s->p.sizes;
    for (int64_t i = 0; i < z->b * z->hk * z->nk; i++) {
        const int64_t b = i / z->nk / z->hk, hk = i / z->nk % z->hk, n = i % z->nk;
        if (n >= rows(t->s, CLATTN_CU_K, z->nk, b))
            continue;
        const int64_t row = place(t->s, CLATTN_CU_K, z->nk, z->hk, b, hk, n);
        const bool beyond = is_beyond(t, b, n);
        for (int c = 0; c < t->s->p.d; c++)
            if (!isnan(((const double *)t->data[SAMPLE_K])[row * t->s->p.d + c]) == beyond)
                return "a hidden key is not NaN, or another is";
        for (int c = 0; c < t->s->p.dv; c++)
            if (!isnan(((const double *)t->data[SAMPLE_V])[row * t->s->p.dv + c]) == beyond)
                return "a hidden value is not NaN, or another is";
    }
    return NULL;
}

static bool is_quantised(const struct sample *s, int what)
{
    return (what == SAMPLE_K || what == SAMPLE_V) && sample_type(s, what) > CLATTN_F64;
}

/* Nothing was rounded: in f64 the same is stored. */
static const char *check_exact(const struct truth *t)
{
    struct sample wide = *t->s;
    wide.p.type = wide.p.o_type = wide.p.k_type = wide.p.v_type = CLATTN_F64;
    wide.p.k_group = wide.p.v_group = 0;
    wide.p.flags &= ~(uint32_t)(CLATTN_K_ZERO | CLATTN_V_ZERO);
    wide.p.bias_type = wide.p.bias_type ? CLATTN_F64 : 0;
    const char *wrong = NULL;
    for (int what = 0; what < SAMPLES; what++) {
        const int64_t n = t->n[what];
        if (is_list(what) || is_bytes(what) || is_scale(what) || !n || is_quantised(t->s, what))
            continue;
        double *const x = what == SAMPLE_K || what == SAMPLE_V ? read_cache(&wide, what, t->k_rows, NO_SLIP)
                                                               : numbers(&wide, what);
        double *const got = t->data[what];
        for (int64_t i = 0; i < n; i++)
            wrong = (isnan(x[i]) ? isnan(got[i]) : x[i] == got[i]) ? wrong : names[what];
        free(x);
    }
    return wrong;
}

/* The library's own reading is that of the tools. */
static const char *check_load(const struct truth *t)
{
    const char *wrong = NULL;
    for (int what = 0; what < SAMPLES; what++) {
        if (is_list(what) || is_bytes(what) || is_quantised(t->s, what) || !sample_count(t->s, what))
            continue;
        double *const x = numbers(t->s, what);
        unsigned char *const bytes = stored(t->s, what);
        for (int64_t i = 0; i < sample_count(t->s, what); i++) {
            const double y = sample_load(sample_type(t->s, what), bytes + size_of(t->s, what, i));
            wrong = (isnan(x[i]) ? isnan(y) : x[i] == y) ? wrong : names[what];
        }
        free(x);
        free(bytes);
    }
    return wrong;
}

/* What is quantised is exactly what the answer is made of, where it is seen. */
static const char *check_dequantised(const struct truth *t)
{
    const double *const k = t->data[SAMPLE_K], *const v = t->data[SAMPLE_V];
    for (int64_t i = 0; i < t->n[SAMPLE_K]; i++)
        if (!isnan(k[i]) && k[i] != sample_value(t->s, SAMPLE_K, i))
            return "K";
    for (int64_t i = 0; i < t->n[SAMPLE_V]; i++)
        if (!isnan(v[i]) && v[i] != sample_value(t->s, SAMPLE_V, i))
            return "V";
    return NULL;
}

/* Multiples of 1/16 that no type rounds (of 1/64 where they are quantised), none 0, V no larger than what bounds count
 * with, and not all alike. */
static const char *check_values(const struct truth *t)
{
    static const double most[SAMPLES] = { 8, 2, 2, 4, 0, 0, 0.5, 2 };
    for (int what = 0; what < SAMPLES; what++) {
        const double *const x = t->data[what];
        const int64_t n = t->n[what];
        const double parts = is_quantised(t->s, what) ? 64 : 16;
        int64_t above = 0, below = 0;
        if (is_list(what) || is_bytes(what) || is_scale(what))
            continue;
        for (int64_t i = 0; i < n; i++) {
            above += x[i] > 0;
            below += x[i] < 0;
            if (!isnan(x[i]) && (x[i] == 0 || fabs(x[i]) > most[what] ||
                                 (what != SAMPLE_SLOPES && x[i] * parts != floor(x[i] * parts))))
                return names[what];
        }
        if (above + below > 200 && (above < n / 9 || below < n / 9) && !t->s->ragged)
            return names[what];
    }
    for (int what = SAMPLE_MASK; what <= SAMPLE_MAP; what++) {
        const unsigned char *const x = t->data[what];
        const size_t n = (size_t)sample_count(t->s, what);
        if (x && n > 200 && (!memchr(x, 0, n) || !memchr(x, 1, n)))
            return names[what];
    }
    return NULL;
}

static const char *check_pieces(const struct truth *t)
{
    for (int what = 0; what < SAMPLES; what++) {
        const int64_t n = sample_count(t->s, what);
        const size_t bytes = size_of(t->s, what, n);
        unsigned char *const all = stored(t->s, what), *const piece = room(bytes, 1);
        bool same = true;
        for (int64_t at = 0, step = 1, length; at < n; at += length, step = step * 5 % 23) {
            length = n - at < step * block(t->s, what) ? n - at : step * block(t->s, what);
            const size_t end = size_of(t->s, what, length);
            memset(piece, 0xa5, end + 1);
            sample_fill(t->s, what, at, 0, piece);
            same = same && *piece == 0xa5;
            sample_fill(t->s, what, at, length, piece);
            same = same && !memcmp(piece, all + size_of(t->s, what, at), end) && piece[end] == 0xa5;
        }
        free(all);
        free(piece);
        if (!same)
            return names[what];
    }
    return NULL;
}

static const struct {
    const char *name;
    check run;
} checks[] = {
    { "the answer is the reference's", check_answers },
    { "rows lie without gaps and overlaps", check_rows },
    { "there are as many elements as sizes and features say", check_counts },
    { "lists are odd where ragged, and leave nothing out where not", check_lists },
    { "hidden rows are NaN and nothing else is", check_hidden },
    { "pages lie in a disorder, and what leads nowhere is behind the last key", check_pages },
    { "scales and zero points differ from row to row and from group to group", check_scales },
    { "what is stored is exactly what is meant", check_exact },
    { "and reads back", check_load },
    { "quantised as well", check_dequantised },
    { "values are small multiples of 1/16", check_values },
    { "in pieces as at once", check_pieces },
};
enum { CHECKS = sizeof checks / sizeof *checks };
static int failed[CHECKS];

static void check_all(const struct sample *s, const char *what)
{
    struct truth t;
    open_truth(&t, s);
    for (int i = 0; i < CHECKS; i++) {
        const char *const wrong = checks[i].run(&t);
        if (wrong && failed[i]++ < 3)
            diag("%s, not so: %s\nagain: tests/unit/sample.t %s", checks[i].name, wrong, what);
    }
    close_truth(&t);
}

static void test_combinations(uint64_t first, uint64_t n)
{
    static bool met[FACTORS][CHOICES][FACTORS][CHOICES];
    int missing = 0, tried = 0;
    for (uint64_t i = first; i < first + n; i++) {
        const struct row r = make_row(i);
        if (n == 1 || harness_deals((unsigned)i, 24)) {
            const struct sample s = make(&r, i);
            char text[32];
            snprintf(text, sizeof text, "%llu", (unsigned long long)i);
            check_all(&s, text);
            tried++;
        }
        for (int f = 0; f < FACTORS; f++)
            for (int g = 0; g < f; g++)
                met[f][r.choice[f]][g][r.choice[g]] = true;
    }
    for (int f = 0; f < FACTORS && n > 1; f++)
        for (int g = 0; g < f; g++)
            for (int x = 0; x < choices[f]; x++)
                for (int y = 0; y < choices[g]; y++)
                    missing += !met[f][x][g][y] && !is_impossible(f, x, g, y);
    for (int i = 0; i < CHECKS; i++)
        ok(!failed[i], "%d of %llu combinations: %s", tried, (unsigned long long)n, checks[i].name);
    if (n > 1)
        ok(!missing, "every two features have met");
}

/* ---- Samples of note ---- */

static clattn_problem plain(int type, int64_t b, int64_t h, int64_t hk, int64_t nq, int64_t nk, int d)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.type = type;
    p.d = d;
    p.sizes.b = b;
    p.sizes.h = h;
    p.sizes.hk = hk;
    p.sizes.nq = nq;
    p.sizes.nk = nk;
    return p;
}

/* The shapes that configurations are checked on, all features at once; and sizes of 0. */
static void test_shapes(void)
{
    static const int64_t shapes[][6] = { { 1, 4, 4, 131, 133, 16 }, { 1, 4, 1, 67, 133, 300 }, { 2, 1, 1, 1, 1, 64 },
                                         { 2, 2, 2, 19, 7, 64 },    { 2, 2, 1, 0, 5, 8 },      { 2, 2, 1, 5, 0, 8 },
                                         { 0, 2, 1, 5, 5, 8 },      { 0, 1, 1, 0, 0, 1 } };
    memset(failed, 0, sizeof failed);
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes * 2; i++) {
        const int64_t *x = shapes[i / 2];
        clattn_problem p = plain(CLATTN_F16, x[0], x[1], x[2], x[3], x[4], (int)x[5]);
        p.causal = 1;
        p.softcap = 20;
        p.bias_type = CLATTN_F32;
        p.flags = CLATTN_ALIBI | CLATTN_SINKS | CLATTN_MASK | CLATTN_BLOCK_MAP | CLATTN_WINDOW;
        p.window_left = 50;
        p.window_right = 5;
        if (i % 2)
            p.flags |= CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START | CLATTN_CU_Q | CLATTN_CU_K;
        const struct sample s = checked(&p, (uint32_t)i, i % 2);
        check_all(&s, "(a shape of its own)");
    }
    for (int i = 0; i < CHECKS; i++)
        ok(!failed[i], "the shapes of checks, and none: %s", checks[i].name);
}

static clattn_problem diagonal_at(int64_t offset, uint32_t flags)
{
    clattn_problem p = plain(CLATTN_F32, 1, 1, 1, 5, 9, 8);
    p.align = CLATTN_ALIGN_OFFSET;
    p.flags = flags;
    p.window_left = flags & CLATTN_WINDOW ? -1 : 0;
    p.window_right = flags & CLATTN_WINDOW ? 3 : 0;
    p.sizes.offset = offset;
    return p;
}

/* A diagonal beyond all rows, on either side, at the ends of what an offset can be. */
static void test_far_offsets(void)
{
    static const int64_t far[] = { ROWS_MAX, (int64_t)ROWS_MAX + 1, INT64_MAX / 2, INT64_MAX };
    int bad = 0;
    for (size_t i = 0; i < sizeof far / sizeof *far * 4; i++) {
        clattn_problem p = diagonal_at(i & 2 ? far[i / 4] : -far[i / 4], CLATTN_WINDOW);
        p.causal = i & 1;
        const struct sample s = checked(&p, 1, false);
        struct truth t;
        open_truth(&t, &s);
        bad += check_answers(&t) != NULL;
        close_truth(&t);
    }
    ok(!bad, "the largest offsets keep all or nothing");
    for (size_t i = 0; i < sizeof far / sizeof *far * 2; i++) {
        const int64_t side = i & 1 ? 1 : -1;
        const clattn_problem p = diagonal_at(side * far[i / 2], CLATTN_ALIBI);
        const clattn_problem q = diagonal_at(side * ROWS_MAX, CLATTN_ALIBI);
        const struct sample a = checked(&p, 1, false), b = checked(&q, 1, false);
        double o[8], o_bound[8], scratch[SAMPLE_SCRATCH * 9];
        const double lse = sample_answer(&a, 0, 0, 4, o, o_bound, scratch).lse;
        bad += !(lse < -1e8) || lse != sample_answer(&b, 0, 0, 4, o, o_bound, scratch).lse;
    }
    ok(!bad, "and count as 2^30");
}

/* Elements beyond 2^32, and counts at the edge of what fits. */
static void test_huge(void)
{
    enum { N = 64 };
    clattn_problem p = plain(CLATTN_F32, 1, 1, 1, ROWS_MAX, ROWS_MAX, 512);
    const int64_t count = (int64_t)ROWS_MAX * 512, at[] = { 0, INT64_C(1) << 31, INT64_C(1) << 32, INT64_C(1) << 33 };
    struct sample s = checked(&p, 3, false);
    float x[4][N], end;
    int same = 0, counted = 1;
    for (int what = SAMPLE_Q; what <= SAMPLE_V; what++) {
        for (int i = 0; i < 4; i++) {
            sample_fill(&s, what, at[i], N, x[i]);
            for (int j = 0; j < i; j++)
                same += !memcmp(x[i], x[j], sizeof x[i]);
        }
        sample_fill(&s, what, count - 1, 1, &end);
        counted = counted && sample_count(&s, what) == count && end != 0;
    }
    ok(!same && counted, "elements beyond 2^32 are others than those before");
    s.p.sizes.b = s.p.sizes.nq = s.p.sizes.nk = ROWS_MAX - 1;
    for (int64_t h = 1; h < ROWS_MAX; h = h * 13 + 2) {
        s.p.sizes.h = s.p.sizes.hk = h;
        counted = counted && !sample_count(&s, SAMPLE_Q) && !sample_count(&s, SAMPLE_K) && !sample_count(&s, SAMPLE_V);
    }
    ok(counted, "what is too many counts as none");
}

/* Every pattern of 16 bits, and many of 32 and 64. */
static void test_load(void)
{
    static const int small[] = { CLATTN_F16, CLATTN_BF16 };
    int bad = 0;
    for (int64_t i = 0; i < 2 * 65536; i++) {
        const uint16_t bits = (uint16_t)i;
        double want;
        convert_load(small[i >> 16], &bits, &want, 1);
        const double got = sample_load(small[i >> 16], &bits);
        bad += isnan(want) ? !isnan(got) : got != want || signbit(got) != signbit(want);
    }
    ok(!bad, "every half and every bfloat16 is read as it is");
    for (uint64_t i = 0; i < 20000; i++) {
        const uint64_t bits = mix(i);
        float f;
        double x;
        memcpy(&f, &bits, sizeof f);
        memcpy(&x, &bits, sizeof x);
        const double single = sample_load(CLATTN_F32, &bits), wide = sample_load(CLATTN_F64, &bits);
        bad += isnan(f) ? !isnan(single) : single != f;
        bad += isnan(x) ? !isnan(wide) : wide != x;
    }
    ok(!bad, "and so are floats and doubles");
}

/* ---- What the answer tells apart ---- */

/* A row's O and LSE against another's: farther off than they may be. */
static bool differs(const struct answer *a, const double *o, const double *o_bound, const double *other,
                    double other_lse, int64_t dv)
{
    bool far = !(a->lse == other_lse) && !(fabs(a->lse - other_lse) <= a->lse_bound);
    for (int64_t c = 0; c < dv && !far; c++)
        far = !(fabs(o[c] - other[c]) <= o_bound[c]);
    return far;
}

/* What is left out: key k of row q (-1: of all rows), or only its value of all rows. */
struct omission {
    int64_t q, k;
    bool only_v;
};

static void omit(struct head *x, const struct omission *what, unsigned char *mask, const clattn_sizes *z)
{
    for (int64_t i = 0; i < z->nq * z->nk; i++) {
        const bool here = i % z->nk == what->k && (what->q < 0 || i / z->nk == what->q) && !what->only_v;
        mask[i] = !here && (!x->r.mask || x->r.mask[i]);
    }
    x->r.mask = mask;
    if (what->only_v)
        memset(x->v + what->k * x->r.dv, 0, (size_t)x->r.dv * sizeof *x->v);
    run_head(x);
}

/* 0: it makes no difference to the head. 1: none that a check would see. 2: some row shows it. */
static int shows(const struct truth *t, int64_t b, int64_t h, const struct head *x, const struct omission *what)
{
    const clattn_sizes *z = &t->s->p.sizes;
    unsigned char *const mask = room((size_t)(z->nq * z->nk), 1);
    double *const o = room((size_t)x->r.dv, sizeof *o), *const o_bound = room((size_t)x->r.dv, sizeof *o);
    double *const scratch = room(SAMPLE_SCRATCH * (size_t)z->nk, sizeof *scratch);
    struct head without;
    int shown = 0;
    open_head(&without, t, b, h);
    omit(&without, what, mask, z);
    for (int64_t q = 0; q < x->r.nq && shown < 2; q++) {
        const struct answer a = sample_answer(t->s, b, h, q, o, o_bound, scratch);
        const double *const changed = without.o + q * x->r.dv;
        if (differs(&a, o, o_bound, changed, without.lse[q], x->r.dv))
            shown = 2;
        else if (without.lse[q] != x->lse[q] || memcmp(changed, x->o + q * x->r.dv, (size_t)x->r.dv * sizeof *o))
            shown = 1;
    }
    close_head(&without);
    free(mask);
    free(o);
    free(o_bound);
    free(scratch);
    return shown;
}

/* The same over all heads of an entry: what a wrong bound of a loop leaves out, it leaves out of all. */
static int shows_somewhere(const struct truth *t, int64_t b, const struct omission *what)
{
    int most = 0;
    for (int64_t h = 0; h < t->s->p.sizes.h && most < 2; h++) {
        struct head x;
        open_head(&x, t, b, h);
        const int shown = shows(t, b, h, &x, what);
        most = shown > most ? shown : most;
        close_head(&x);
    }
    return most;
}

enum { KEYS, VALUES, PAIRS, OMISSIONS };

/* Leaves out every key, every value, and every key of a single row: how often each was of the three kinds. */
static void leave_out(const struct sample *s, bool pairs, int count[OMISSIONS][3])
{
    const clattn_sizes *z = &s->p.sizes;
    struct truth t;
    open_truth(&t, s);
    for (int64_t i = 0; i < z->b * z->nk; i++) {
        const int64_t b = i / z->nk, k = i % z->nk;
        count[KEYS][shows_somewhere(&t, b, &(struct omission){ -1, k, false })]++;
        count[VALUES][shows_somewhere(&t, b, &(struct omission){ -1, k, true })]++;
        for (int64_t q = 0; q < z->nq && pairs; q++)
            count[PAIRS][shows_somewhere(&t, b, &(struct omission){ q, k, false })]++;
    }
    close_truth(&t);
}

static void test_keys(void)
{
    static const struct {
        int64_t nq, nk;
        uint32_t seed, flags;
    } shapes[] = { { 19, 7, 4, 0 }, { 67, 45, 2, CLATTN_KV_LEN | CLATTN_KV_START | CLATTN_MASK } };
    for (int i = 0; i < 2 * 2 * 4; i++) {
        if (!harness_deals((unsigned)i, 5)) /* each type once, in one of the shapes */
            continue;
        const bool small = i < 8, causal = i / 4 % 2;
        clattn_problem p = plain(1 + i % 4, small ? 2 : 1, 2, 2, shapes[!small].nq, shapes[!small].nk, 64);
        int count[OMISSIONS][3] = { { 0 } };
        p.causal = causal;
        p.flags = shapes[!small].flags;
        const struct sample s = checked(&p, shapes[!small].seed, true);
        leave_out(&s, small, count);
        ok(count[KEYS][2] > 0 && !count[KEYS][1] && !count[VALUES][1] && !count[PAIRS][1],
           "%s q%d k%d%s: no key can be left out unseen", problem_type_name(p.type), (int)p.sizes.nq, (int)p.sizes.nk,
           causal ? " causal" : "");
        diag("unseen are %d keys of %d, %d values, %d of %d keys of single rows", count[KEYS][1],
             count[KEYS][1] + count[KEYS][2], count[VALUES][1], count[PAIRS][1], count[PAIRS][1] + count[PAIRS][2]);
    }
}

/* K or V read with a slip: the rows of which head show it. */
static bool slip_shows(const struct sample *s, int what, enum slip slip)
{
    const clattn_sizes *z = &s->p.sizes;
    double *const o = room((size_t)s->p.dv, sizeof *o), *const o_bound = room((size_t)s->p.dv, sizeof *o);
    double *const scratch = room(SAMPLE_SCRATCH * (size_t)z->nk, sizeof *scratch);
    struct truth t;
    bool shown = false;
    open_truth(&t, s);
    free(t.data[what]);
    t.data[what] = read_cache(s, what, t.k_rows, slip);
    for (int64_t i = 0; i < z->b * z->h && !shown; i++) {
        struct head x;
        open_head(&x, &t, i / z->h, i % z->h);
        for (int64_t q = 0; q < x.r.nq && !shown; q++) {
            const struct answer a = sample_answer(s, i / z->h, i % z->h, q, o, o_bound, scratch);
            shown = differs(&a, o, o_bound, x.o + q * x.r.dv, x.lse[q], x.r.dv);
        }
        close_head(&x);
    }
    close_truth(&t);
    free(o);
    free(o_bound);
    free(scratch);
    return shown;
}

/* A wrong scale, a zero point that is left out, and a wrong page each show, in K and in V, ragged or not. */
static void test_slips(void)
{
    static const char *const words[SLIPS] = { "nothing", "the scale of the next group", "the scale of the next row",
                                              "no zero point", "the next page" };
    for (enum slip slip = NO_SLIP; slip < SLIPS; slip++) {
        int wrong = 0, n = 0;
        for (int type = CLATTN_INT8; type <= CLATTN_Q5_1; type++)
            for (int i = 0; i < 8; i++) {
                const bool v = i & 1, scaled = type <= CLATTN_INT4;
                clattn_problem p = plain(i & 4 ? CLATTN_F16 : CLATTN_F32, 2, 2, 2, 5, 40, 64);
                *(v ? &p.v_type : &p.k_type) = type;
                *(v ? &p.v_group : &p.k_group) = scaled ? 32 : 0;
                p.flags = CLATTN_KV_LEN | (scaled ? v ? CLATTN_V_ZERO : CLATTN_K_ZERO : 0);
                p.page = 7;
                const bool least = type == CLATTN_Q4_1 || type == CLATTN_Q5_1;
                if (!scaled && (slip == NEXT_ROW || (slip == NO_ZERO && !least)))
                    continue;
                const struct sample s = checked(&p, (uint32_t)i, i & 2);
                wrong += slip_shows(&s, v ? SAMPLE_V : SAMPLE_K, slip) == (slip == NO_SLIP);
                n++;
            }
        ok(!wrong && n >= 16, "%s %s in K and V", words[slip], slip ? "shows" : "is wrong");
    }
}

/* A configuration that ignores a feature is seen. */
static bool matters(const struct sample *with, const struct sample *without)
{
    const clattn_sizes *z = &with->p.sizes;
    const size_t dv = (size_t)with->p.dv;
    double *const o = room(dv, sizeof *o), *const other = room(dv, sizeof *o), *const o_bound = room(dv, sizeof *o);
    double *const bound = room(dv, sizeof *o), *const scratch = room(SAMPLE_SCRATCH * (size_t)z->nk, sizeof *scratch);
    bool far = false;
    for (int64_t i = 0; i < z->b * z->h * z->nq && !far; i++) {
        const int64_t b = i / z->nq / z->h, h = i / z->nq % z->h, q = i % z->nq;
        const struct answer a = sample_answer(with, b, h, q, o, o_bound, scratch);
        const struct answer x = sample_answer(without, b, h, q, other, bound, scratch);
        far = differs(&a, o, o_bound, other, x.lse, with->p.dv);
    }
    free(o);
    free(other);
    free(o_bound);
    free(bound);
    free(scratch);
    return far;
}

static void add_feature(clattn_problem *p, int i)
{
    static const uint32_t flags[] = { CLATTN_Q_LEN, CLATTN_KV_LEN, CLATTN_KV_START, CLATTN_ALIBI, CLATTN_SINKS,
                                      CLATTN_MASK,  CLATTN_BLOCK_MAP, CLATTN_WINDOW };
    switch (i) {
    case 8: p->causal = 1; break;
    case 9: p->softcap = 30; break;
    case 10: p->bias_type = CLATTN_F16; break;
    case 11: p->scale = 0.13; break;
    case 12: p->dropout_p = 0.3; break;
    default: p->flags |= flags[i]; break;
    }
    if (p->flags & CLATTN_WINDOW)
        p->window_left = p->window_right = 60;
}

static void test_features(void)
{
    static const char *const feature[] = { "q_len", "kv_len",    "kv_start", "ALiBi",  "sinks",   "mask",
                                           "map",   "a window", "causal",   "softcap", "a bias", "scale", "dropout" };
    for (int i = 0; i < 13; i++) {
        int unseen = 0, tried = 0;
        for (int type = CLATTN_F32; type <= CLATTN_F64; type++) {
            if (!harness_turn((unsigned)(i * 4 + type), type - CLATTN_F32 == i % 4))
                continue;
            tried++;
            clattn_problem p = plain(type, 1, 2, 2, 131, 133, 64);
            const struct sample without = checked(&p, 2, true);
            add_feature(&p, i);
            const struct sample with = checked(&p, 2, true);
            unseen += !matters(&with, &without);
        }
        if (tried)
            ok(!unseen, "%s left out shows in each of %d types", feature[i], tried);
    }
}

/* The largest weight of each row: V of one column for each key makes O of them. */
static void test_sharpness(void)
{
    enum { NQ = 131, NK = 133 };
    const clattn_problem p = plain(CLATTN_F32, 1, 1, 1, NQ, NK, 64);
    const struct sample s = checked(&p, 2, false);
    struct truth t;
    struct head x;
    int sharp = 0, flat = 0;
    open_truth(&t, &s);
    open_head(&x, &t, 0, 0);
    free(x.v);
    free(x.o);
    free(x.o_bound);
    x.r.dv = NK;
    x.v = room(NK * NK, sizeof *x.v);
    x.o = room(NQ * NK, sizeof *x.o);
    x.o_bound = room(NQ * NK, sizeof *x.o);
    for (int k = 0; k < NK; k++)
        x.v[k * NK + k] = 1;
    run_head(&x);
    for (int q = 0; q < NQ; q++) {
        double most = 0;
        for (int k = 0; k < NK; k++)
            most = fmax(most, x.o[q * NK + k]);
        sharp += most > 0.5;
        flat += most < 0.2;
    }
    close_head(&x);
    close_truth(&t);
    ok(sharp > NQ / 10 && flat > NQ / 10, "of %d softmaxes %d are sharp and %d flat", NQ, sharp, flat);
}

/* The LSE that gradients are timed with: no weight is above 1; most rows have one that a half holds, where a bias and
 * ALiBi do not make all of them small. */
static void test_made_up_lse(void)
{
    static const int ds[] = { 1, 8, 64, 128, 576 };
    enum { NQ = 96, NK = 512 };
    for (int i = 0; i < 10; i++) {
        if (!harness_turn((unsigned)i, i == 1 || i == 2 || i == 6 || i == 7)) /* wide heads take long */
            continue;
        clattn_problem p = plain(CLATTN_F32, 1, 2, 1, NQ, NK, ds[i % 5]);
        p.flags = CLATTN_BACKWARD | (i > 4 ? CLATTN_ALIBI : 0);
        p.bias_type = i > 4 ? CLATTN_F32 : 0;
        p.softcap = i > 6 ? 30 : 0;
        const struct sample s = checked(&p, 1, false);
        const struct sample_entry e = sample_entry_of(&s, 0);
        int above = 0, small = 0;
        for (int64_t row = 0; row < 2 * NQ; row++) {
            const double lse = sample_gradient_lse(&s, 0, row / NQ, row % NQ);
            double most = -(double)INFINITY;
            for (int64_t k = 0; k < NK; k++)
                most = fmax(most, sample_answer_score(&s, &e, 0, row / NQ, row % NQ, k).logit);
            above += most > lse;
            small += most < lse - 9;
        }
        ok(!above && (i > 4 || small < 2 * NQ * 3 / 4),
           "d%d: weights beside an LSE that is made up; %d of %d rows have small ones", ds[i % 5], small, 2 * NQ);
    }
}

/* Rows read in the place of others show. */
static void test_rows_differ(void)
{
    enum { WIDTH = 16 };
    clattn_problem p = plain(CLATTN_F32, 3, 4, 4, 19, 17, WIDTH);
    const struct sample s = checked(&p, 2, false);
    const size_t bytes = WIDTH * sizeof(double);
    struct truth t;
    int same = 0;
    open_truth(&t, &s);
    const int64_t ends[3] = { 3 * 4 * 19, 3 * 4 * 17, 3 * 4 * 17 };
    for (int a = 0; a < 3; a++)
        for (int b = 0; b <= a; b++)
            for (int64_t i = 0; i < ends[a]; i++)
                for (int64_t j = 0; j < (a == b ? i : ends[b]); j++)
                    same += !memcmp((double *)t.data[a] + i * WIDTH, (double *)t.data[b] + j * WIDTH, bytes);
    close_truth(&t);
    ok(!same, "no two rows of Q, K and V are alike");
}

/* ---- Bounds ---- */

static void test_bounds(void)
{
    static const double scale[] = { 0, 1e-6, 0.125, -3 };
    for (int type = CLATTN_F32; type <= CLATTN_F64; type++) {
        int bad = 0;
        for (int i = 0; i < 4 * 8; i++) {
            clattn_problem p = plain(type, 1, 2, 1, 9, 11, i % 2 ? 1 : 24);
            p.scale = scale[i / 8];
            p.flags = CLATTN_SCALE | (i & 2 ? CLATTN_ALIBI | CLATTN_SINKS | CLATTN_MASK : 0);
            p.causal = i / 4 % 2;
            p.softcap = i & 4 ? 2 : 0;
            p.bias_type = i & 2 ? CLATTN_BF16 : 0;
            struct sample s = checked(&p, (uint32_t)i, true);
            struct truth t;
            s.narrow_p = i % 3 == 0 && (type == CLATTN_F16 || type == CLATTN_BF16);
            open_truth(&t, &s);
            bad += check_answers(&t) != NULL;
            close_truth(&t);
        }
        ok(!bad, "%s: bounds are what is usual", problem_type_name(type));
    }
}

/* ---- Bounds of gradients ---- */

/* One head of a sample's backward call without dLSE, as the law of doc/semantics, "The bound of gradients", has it: O
 * and LSE are exact. gone: what counts as 0 in f16 of matrix units, of the largest dS that is added up to a row. */
struct gradients {
    const struct sample *s;
    const float *lse;
    double u, tiny, eps, narrow, terms, gone; /* narrow: of products in 16 bits; terms: 1 where their chains are long */
};

static double chains_of(double terms)
{
    return 32 + 8 * fmin(terms, 64);
}
static double dots_off(const struct gradients *g, double width)
{
    return g->u * (96 + 2 * width * g->terms);
}

/* Of an element that is kept: the weight and ds, and how far off they may be. */
struct element {
    double p, p_off, ds, ds_off;
};
static struct element element_by_law(const struct gradients *g, int64_t q, int64_t k)
{
    const struct sample *const s = g->s;
    const int64_t d = s->p.d, kept = q + s->p.sizes.nk - s->p.sizes.nq + 1;
    const double n = (double)kept + 1, scale = fabs(s->p.scale); /* all see the sink */
    double dot = 0, x = 0, sizes = 0, dp = 0, dp_size = 0, delta = 0, delta_size = 0;
    for (int64_t c = 0; c < d; c++) {
        const double of_q = sample_value(s, SAMPLE_Q, q * d + c), of_k = sample_value(s, SAMPLE_K, k * d + c);
        const double dout = sample_value(s, SAMPLE_DOUT, q * d + c), v = sample_value(s, SAMPLE_V, k * d + c);
        const double o = sample_value(s, SAMPLE_O, q * d + c);
        dot += of_q * of_k;
        x += scale * fabs(of_q * of_k);
        sizes += fabs(of_q) + fabs(of_k);
        dp += dout * v;
        dp_size += fabs(dout * v);
        delta += dout * o;
        delta_size += fabs(dout * o);
    }
    const double log_p = s->p.scale * dot - (double)g->lse[q], p = exp(log_p), flow = (1 + (double)d) * g->tiny;
    const double e = g->u * (chains_of(n) + 16 * fabs(log_p)) + dots_off(g, (double)d) * x +
                     g->tiny * fmax(1, scale) * ((double)d + sizes);
    const double p_off = p * expm1(e), all = p + p_off, ds = p * (dp - delta);
    const double b_dp = dots_off(g, (double)d) * dp_size + flow, b_d = g->u * (96 + (double)d) * delta_size + flow;
    const double b_ds = all * (b_dp + b_d) + (p_off + 8 * g->u * all) * fabs(dp - delta) + g->tiny;
    return (struct element){ p, p_off, s->p.scale * ds, scale * b_ds + g->tiny };
}

/* Column c of row n of dQ, dK or dV, whose terms are those of `count` others from `first` on. */
static double bound_by_law(const struct gradients *g, int which, int64_t n, int64_t first, int64_t count, double m,
                           int64_t c)
{
    const struct sample *const s = g->s;
    const int64_t d = s->p.d;
    const double more = g->u * (chains_of(m) + m * g->terms) + g->narrow;
    double sum = 0, bound = 0, largest = 0;
    for (int64_t i = first; i < first + count; i++) {
        const struct element x = which == SAMPLE_DQ ? element_by_law(g, n, i) : element_by_law(g, i, n);
        largest = fmax(largest, fabs(x.ds) + x.ds_off);
    }
    for (int64_t i = first; i < first + count; i++) {
        const struct element x = which == SAMPLE_DQ ? element_by_law(g, n, i) : element_by_law(g, i, n);
        const double y = which == SAMPLE_DQ   ? sample_value(s, SAMPLE_K, i * d + c)
                         : which == SAMPLE_DK ? sample_value(s, SAMPLE_Q, i * d + c)
                                              : sample_value(s, SAMPLE_DOUT, i * d + c);
        const double term = which == SAMPLE_DV ? x.p : x.ds;
        const double off = which == SAMPLE_DV ? x.p_off + g->gone : x.ds_off + g->gone * largest;
        sum += term * y;
        bound += (off + more * (fabs(term) + off)) * fabs(y) + g->tiny;
    }
    const double smallest = s->p.type == CLATTN_F64 ? 0x1p-1022 : s->p.type == CLATTN_F16 ? 0x1p-14 : 0x1p-126;
    return bound + g->eps * (fabs(sum) + bound) + smallest;
}

/* The sink of the head: terms p D, and off as such. */
static double sink_by_law(const struct gradients *g)
{
    const struct sample *const s = g->s;
    const int64_t d = s->p.d, nq = s->p.sizes.nq, nk = s->p.sizes.nk;
    const double m = (double)(nq * nk), more = g->u * (chains_of(m) + m * g->terms);
    float sink;
    double sum = 0, bound = 0;
    sample_fill(s, SAMPLE_SINKS, 0, 1, &sink);
    for (int64_t q = 0; q < nq; q++) {
        double delta = 0, size = 0;
        for (int64_t c = 0; c < d; c++) {
            const double term = sample_value(s, SAMPLE_DOUT, q * d + c) * sample_value(s, SAMPLE_O, q * d + c);
            delta += term;
            size += fabs(term);
        }
        const double log_p = (double)sink - (double)g->lse[q], p = exp(log_p), n = (double)(q + nk - nq + 1) + 1;
        const double p_off = p * expm1(g->u * (chains_of(n) + 16 * (fabs((double)sink) + fabs(log_p))));
        const double b_d = g->u * (96 + (double)d) * size + (1 + (double)d) * g->tiny;
        const double off = (p + p_off) * b_d + p_off * fabs(delta);
        sum -= p * delta;
        bound += off + more * (p * fabs(delta) + off) + g->tiny;
    }
    return bound + 0x1p-24 * (fabs(sum) + bound) + 0x1p-126;
}

static bool is_law(const struct gradients *g, int which, int64_t n, const double *bound)
{
    const struct sample *const s = g->s;
    const int64_t nq = s->p.sizes.nq, nk = s->p.sizes.nk, before = nk - nq;
    const int64_t seeing = n > before ? n - before : 0; /* the first query that sees key n */
    bool same = true;
    for (int64_t c = 0; c < (which == SAMPLE_DSINKS ? 1 : s->p.d); c += s->p.d > 8 ? 23 : 1) {
        const double want = which == SAMPLE_DSINKS ? sink_by_law(g)
                            : which == SAMPLE_DQ   ? bound_by_law(g, which, n, 0, n + before + 1, (double)nk, c)
                                                   : bound_by_law(g, which, n, seeing, nq - seeing, (double)nq, c);
        same = same && fabs(bound[c] - want) <= 1e-11 * want;
    }
    return same;
}

/* Causal rows with a sink keep from 4 to 70 keys; the smallest scale makes dS as small as numbers go. Every second time
 * values and numbers of keys are kept; wide rows are more than a piece. */
static void test_gradient_bounds(void)
{
    enum { NQ = 67, NK = 70, D_MOST = 72 };
    static double values[5 * NK * D_MOST];
    static const int which[] = { SAMPLE_DQ, SAMPLE_DK, SAMPLE_DV, SAMPLE_DSINKS };
    for (int i = 0; i < 12; i++) {
        const int type = CLATTN_F32 + i % 4, wide = type == CLATTN_F64;
        clattn_problem p = plain(type, 1, 1, 1, NQ, NK, i % 3 ? 8 : D_MOST);
        p.flags = CLATTN_BACKWARD | CLATTN_SCALE | CLATTN_SINKS;
        p.causal = 1;
        p.scale = (i < 4 ? 0.3 : i < 8 ? -0.3 : wide ? 1e-307 : 1e-37) / (i % 3 ? 1 : 3); /* no weight is lost */
        struct sample s = checked(&p, (uint32_t)i, false);
        s.narrow_p = i < 8 && (type == CLATTN_F16 || type == CLATTN_BF16);
        float lse[NQ];
        double row[D_MOST], bound[D_MOST];
        unsigned char keys[NQ] = { 0 };
        bool same = sample_value_count(&s) <= sizeof values / sizeof *values;
        const struct sample bare = s;
        if (i % 2 && same) {
            sample_value_compute(&s, values);
            s.keys = keys;
        }
        for (int64_t q = 0; q < NQ; q++)
            lse[q] = (float)sample_gradient_lse(&s, 0, 0, q);
        const double eps = wide ? 0x1p-53 : type == CLATTN_F16 ? 0x1p-11 : type == CLATTN_BF16 ? 0x1p-8 : 0x1p-24;
        const struct gradients g = { &bare, lse, wide ? 0x1p-53 : 0x1p-24, wide ? 0x1p-1020 : 0x1p-124, eps,
                                     s.narrow_p ? 2 * eps : 0, s.narrow_p,
                                     s.narrow_p && type == CLATTN_F16 ? 0x1p-32 : 0 };
        for (size_t w = 0; w < sizeof which / sizeof *which; w++)
            for (int64_t n = 0; n < (which[w] == SAMPLE_DSINKS ? 1 : NQ); n++) {
                sample_gradient(&s, which[w], lse, 0, 0, n, row, bound);
                same = same && is_law(&g, which[w], n, bound);
            }
        ok(same, "%s, scale %g%s: bounds of gradients are the law's", problem_type_name(type), p.scale,
           s.narrow_p ? ", matrix units" : "");
    }
}

int main(int argc, char **argv)
{
    const char *const full = getenv("CLATTN_FULL");
    if (argc > 1) {
        test_combinations(strtoull(argv[1], NULL, 10), 1);
        return done_testing();
    }
    test_combinations(0, full && !strcmp(full, "1") ? 20000 : 1600);
    test_made_up_lse();
    test_keys();
    test_features();
    if (harness_rest())
        return done_testing();
    test_shapes();
    test_far_offsets();
    test_huge();
    test_load();
    test_slips();
    test_sharpness();
    test_rows_differ();
    test_bounds();
    test_gradient_bounds();
    return done_testing();
}
