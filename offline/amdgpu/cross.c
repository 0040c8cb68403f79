/* cross.c - vector instructions whose lanes look at others, and registers by number
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "access.h"

static void copy_lanes(const struct wave *w, const lane_u32 *from, lane_u32 *to)
{
    memcpy((void *)to, (const void *)from, w->n * sizeof *to);
}

/* ---- to and from scalars ---- */

static void put_lane(struct wave *w, const struct op *o, unsigned lane)
{
    lane_u32 space[MAX_LANES];
    const uint32_t x = fetch_plain(w, &o->src[0], 0, space)[lane];
    const uint64_t defined = fetch_defined(w, &o->src[0], 0) >> lane & 1 ? ~(uint64_t)0 : 0;
    issue_put_scalar(w, &o->dst[0], x, defined);
}

static void read_first_lane(struct wave *w, const struct op *o)
{
    const uint64_t exec = exec_of(w);
    put_lane(w, o, exec ? lowest_lane(exec) : 0);
}

static unsigned lane_of(struct wave *w, const struct op *o, const struct operand *a)
{
    if (w->worker->launch->checked)
        check_address(w, o, a, 1, 1);
    return (unsigned)fetch_scalar(w, a) & (w->n - 1);
}

static void read_lane(struct wave *w, const struct op *o)
{
    put_lane(w, o, lane_of(w, o, &o->src[1]));
}

static void write_lane(struct wave *w, const struct op *o)
{
    const unsigned lane = lane_of(w, o, &o->src[1]);
    const uint64_t bit = (uint64_t)1 << lane;
    const uint32_t reg = o->dst[0].reg;
    vector_of(w, reg)[lane] = (uint32_t)fetch_scalar(w, &o->src[0]);
    w->defined[reg] &= ~bit;
    if ((uint32_t)fetch_scalar_defined(w, &o->src[0])) /* of a mask that is kept so, compilers define some bits only */
        w->defined[reg] |= bit;
}

/* ---- other lanes ---- */

/* Lane i takes from lane from[i]; FROM_NONE: 0; KEEP: it keeps what it has. Lanes that are off give what they hold,
 * or 0 with `off_is_zero`. */
enum { FROM_NONE = -1, KEEP = -2 };
static void move_lanes(struct wave *w, const struct op *o, const struct operand *a, const int *from, int off_is_zero)
{
    lane_u32 space[MAX_LANES], old[MAX_LANES], out[MAX_LANES];
    const uint64_t exec = exec_of(w), before = fetch_defined(w, a, 0);
    uint64_t defined = 0, mask = exec;
    copy_lanes(w, fetch_plain(w, a, 0, space), old);
    for (uint32_t i = 0; i < w->n; i++) {
        if (from[i] == KEEP)
            mask &= ~((uint64_t)1 << i);
        const int zero = from[i] < 0 || (off_is_zero && !(exec >> from[i] & 1));
        out[i] = zero ? 0 : old[from[i]];
        defined |= (uint64_t)(zero || (before >> from[i] & 1)) << i;
    }
    issue_put(w, o->dst[0].reg, mask, out, defined);
}

enum { PERMLANE_X = 1 };

/* 16 numbers of four bits, of lanes in the row or (x) the other row of the pair. */
static void permlane16(struct wave *w, const struct op *o)
{
    const uint64_t select = fetch_scalar(w, &o->src[1]) | fetch_scalar(w, &o->src[2]) << 32;
    int from[MAX_LANES];
    if (w->worker->launch->checked)
        for (int k = 1; k < 3; k++)
            check_address(w, o, &o->src[k], 1, 1);
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t row = (i & ~15u) ^ (o->sub == PERMLANE_X ? 16 : 0);
        from[i] = (int)(row | (select >> 4 * (i & 15) & 15));
        if (!(exec_of(w) >> from[i] & 1) && !(o->d16 & 1)) /* without fi */
            from[i] = o->d16 & 2 ? FROM_NONE : KEEP;
    }
    move_lanes(w, o, &o->src[0], from, 0);
}

/* op_sel: [fi, bound_ctrl]. */
static void read_permlane(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct word v;
    read_operands(r, f, s, o);
    if (find_modifier(s->modifiers, "op_sel", &v))
        for (size_t i = 0, n = 0; i < v.length && n < 2; i++)
            if (v.at[i] == '0' || v.at[i] == '1')
                o->d16 |= (uint8_t)((v.at[i] - '0') << n++);
}

static void permlane64(struct wave *w, const struct op *o)
{
    int from[MAX_LANES];
    for (uint32_t i = 0; i < w->n; i++)
        from[i] = (int)(w->n == 64 ? i ^ 32 : i);
    move_lanes(w, o, &o->src[0], from, 0);
}

/* gfx950: the upper 16 (32) lanes of the first change places with the lower ones of the second. */
static void permlane_swap(struct wave *w, const struct op *o)
{
    const uint32_t half = o->sub, a = o->dst[0].reg, b = o->src[0].reg;
    lane_u32 x[MAX_LANES], y[MAX_LANES];
    uint64_t dx = w->defined[a], dy = w->defined[b];
    copy_lanes(w, vector_of(w, a), x);
    copy_lanes(w, vector_of(w, b), y);
    for (uint32_t i = 0; i < w->n; i++) {
        if (i & half)
            continue;
        const uint32_t t = x[i + half];
        const uint64_t tx = dx >> (i + half) & 1, ty = dy >> i & 1;
        x[i + half] = y[i];
        y[i] = t;
        dx = (dx & ~((uint64_t)1 << (i + half))) | ty << (i + half);
        dy = (dy & ~((uint64_t)1 << i)) | tx << i;
    }
    issue_put(w, a, exec_of(w), x, dx);
    issue_put(w, b, exec_of(w), y, dy);
}

/* ---- through LDS's hardware, without its memory ---- */

static void bpermute(struct wave *w, const struct op *o)
{
    lane_u32 at[MAX_LANES];
    int from[MAX_LANES];
    copy_lanes(w, vector_of(w, o->src[SOURCE_ADDRESS].reg), at);
    if (w->worker->launch->checked)
        check_address(w, o, &o->src[SOURCE_ADDRESS], 1, exec_of(w));
    for (uint32_t i = 0; i < w->n; i++)
        from[i] = (int)((at[i] + (uint32_t)o->offset) / 4 & (w->n - 1));
    move_lanes(w, o, &o->src[SOURCE_DATA], from, 1);
    wait_issued(w, o, &o->dst[0]);
}

static void permute(struct wave *w, const struct op *o) /* the highest lane that writes to one wins */
{
    const lane_u32 *at = vector_of(w, o->src[SOURCE_ADDRESS].reg);
    const uint64_t exec = exec_of(w);
    int from[MAX_LANES];
    for (uint32_t i = 0; i < w->n; i++)
        from[i] = FROM_NONE;
    if (w->worker->launch->checked)
        check_address(w, o, &o->src[SOURCE_ADDRESS], 1, exec);
    for (uint32_t i = 0; i < w->n; i++)
        if (exec >> i & 1)
            from[(at[i] + (uint32_t)o->offset) / 4 & (w->n - 1)] = (int)i;
    move_lanes(w, o, &o->src[SOURCE_DATA], from, 0);
    wait_issued(w, o, &o->dst[0]);
}

static void read_permute(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    if (s->n_operands != 3)
        fail(r, "%s takes three operands", f->name);
    o->n_src = N_MEMORY_SOURCES;
    o->counter = COUNT_LDS;
    o->count = 1;
    read_kind(r, s->operands[0], 'w', OPERAND_VECTOR, &o->dst[o->n_dst++]);
    read_kind(r, s->operands[1], 'w', OPERAND_VECTOR, &o->src[SOURCE_ADDRESS]);
    read_operand(r, s->operands[2], 'w', &o->src[SOURCE_DATA]);
    access_offset(r, s, "offset", &o->offset);
}

enum { SWIZZLE_QUAD = 0x8000 };

static void swizzle(struct wave *w, const struct op *o)
{
    const uint32_t mode = (uint32_t)o->offset, keep = mode & 31, set = mode >> 5 & 31, flip = mode >> 10 & 31;
    int from[MAX_LANES];
    for (uint32_t i = 0; i < w->n; i++)
        from[i] = (int)(mode & SWIZZLE_QUAD ? (i & ~3u) | (mode >> 2 * (i & 3) & 3) :
                                              (i & 32) | (((i & 31 & keep) | set) ^ flip));
    move_lanes(w, o, &o->src[0], from, 1);
    wait_issued(w, o, &o->dst[0]);
}

/* The numbers in `swizzle(NAME, 1, 2, ..)`. */
static size_t numbers_in(struct word v, int64_t *to, size_t most)
{
    size_t n = 0;
    for (size_t i = 0; i < v.length && n < most; i++) {
        if (v.at[i] < '0' || v.at[i] > '9' || (i && v.at[i - 1] != ' ' && v.at[i - 1] != ','))
            continue;
        to[n] = 0;
        for (; i < v.length && v.at[i] >= '0' && v.at[i] <= '9' && to[n] < 1000; i++)
            to[n] = to[n] * 10 + (v.at[i] - '0');
        n++;
    }
    return n;
}

/* Five characters, of bit 4 first: 0, 1, p(reserve), i(nvert). */
static int32_t bit_masks(struct word v)
{
    const char *quote = memchr(v.at, '"', v.length);
    int32_t keep = 0, set = 0, flip = 0;
    for (int k = 0; quote && k < 5 && quote + 1 + k < v.at + v.length; k++) {
        const char c = quote[1 + k];
        const int32_t bit = 16 >> k;
        keep |= c == 'p' || c == 'i' ? bit : 0;
        set |= c == '1' ? bit : 0;
        flip |= c == 'i' ? bit : 0;
    }
    return keep | set << 5 | flip << 10;
}

static int32_t swizzle_mode(struct reader *r, struct word v)
{
    int64_t n[4] = { 0, 0, 0, 0 };
    const size_t count = numbers_in(v, n, 4);
    if (word_begins(v, "swizzle(SWAP") && count == 1)
        return (int32_t)(31 | n[0] << 10);
    if (word_begins(v, "swizzle(REVERSE") && count == 1)
        return (int32_t)(31 | (n[0] - 1) << 10);
    if (word_begins(v, "swizzle(QUAD_PERM") && count == 4)
        return (int32_t)(SWIZZLE_QUAD | (n[0] & 3) | (n[1] & 3) << 2 | (n[2] & 3) << 4 | (n[3] & 3) << 6);
    if (word_begins(v, "swizzle(BROADCAST") && count == 2)
        return (int32_t)((31 & ~(n[0] - 1)) | n[1] << 5);
    if (word_begins(v, "swizzle(BITMASK_PERM"))
        return bit_masks(v);
    fail(r, "%.*s is not known here", WORD(v));
}

static void read_swizzle(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct word v;
    int64_t n;
    read_operands(r, f, s, o);
    o->counter = COUNT_LDS;
    o->count = 1;
    if (!find_modifier(s->modifiers, "offset", &v))
        return;
    o->offset = word_number(v, &n) ? (int32_t)(n & 0xffff) : swizzle_mode(r, v);
    if (o->offset & SWIZZLE_QUAD && o->offset > 0x80ff)
        fail(r, "%.*s is not executed here", WORD(v));
}

/* ---- registers by M0, and exchanged ---- */

static void move_relative(struct wave *w, const struct op *o, uint32_t to, uint32_t from)
{
    lane_u32 space[MAX_LANES];
    const uint32_t n = w->worker->launch->kernel->module->n_vectors;
    struct operand a = o->src[0];
    if (w->worker->launch->checked && w->s_defined[REG_M0] != ~0u)
        check_lanes(w, o, FOUND_READ_REGISTER, exec_of(w));
    a.reg = (uint16_t)(a.reg + from); /* from: of vectors alone */
    if ((a.kind == OPERAND_VECTOR && a.reg >= n) || o->dst[0].reg + to >= n || to > n || from > n) {
        check_end(w, o, FOUND_OUTSIDE, exec_of(w));
        return;
    }
    issue_put(w, o->dst[0].reg + to, exec_of(w), fetch_plain(w, &a, 0, space), fetch_defined(w, &a, 0));
}

static void move_to_relative(struct wave *w, const struct op *o)
{
    move_relative(w, o, w->s[REG_M0], 0);
}

static void move_from_relative(struct wave *w, const struct op *o)
{
    move_relative(w, o, 0, w->s[REG_M0]);
}

static void swap(struct wave *w, const struct op *o)
{
    const uint32_t a = o->dst[0].reg, b = o->src[0].reg;
    const uint64_t da = w->defined[a], db = w->defined[b], exec = exec_of(w);
    lane_u32 x[MAX_LANES];
    copy_lanes(w, vector_of(w, a), x);
    issue_put(w, a, exec, vector_of(w, b), db);
    issue_put(w, b, exec, x, da);
}

static void read_two_vectors(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    read_operands(r, f, s, o);
    if (o->dst[0].kind != OPERAND_VECTOR || o->src[0].kind != OPERAND_VECTOR)
        fail(r, "%s works on vectors", f->name);
}

/* ---- the table ---- */

/* exp, log and so on of a scalar (generation 12). */
static void scalar_of_vector(struct wave *w, const struct op *o)
{
    lane_u32 in[CHUNK], out[CHUNK];
    struct lanes x;
    const struct operand *a = &o->src[0];
    uint32_t b = (uint32_t)fetch_scalar(w, a);
    b = (a->fetch & FETCH_ABS ? b & 0x7fffffffu : b) ^ (a->fetch & FETCH_NEG ? 0x80000000u : 0);
    memset(&x, 0, sizeof x);
    for (int i = 0; i < CHUNK; i++)
        in[i] = b;
    x.in[0] = in;
    x.out = out;
    x.approximate = w->worker->launch->asked->approximate;
    o->lanes(&x);
    issue_put_scalar(w, &o->dst[0], out[0], fetch_scalar_defined(w, a));
}

static void read_scalar_math(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    char name[NAME] = "v_";
    strcat(name, f->name + strlen("v_s_"));
    const struct form *vector = find_form(r, name);
    if (!vector || !vector->lanes)
        fail(r, "%s is not executed here", f->name);
    o->lanes = vector->lanes;
    read_operands(r, f, s, o);
}

#define FORM(name, operands, run, sub, read) \
    { name, operands, NULL, NULL, run, 0, sub, DEFINE_ALL, read, 0, 0, 0, 0, 0 }

static const struct form forms[] = {
    FORM("v_readfirstlane_b32", "s-w", read_first_lane, 0, NULL),
    FORM("v_readlane_b32", "s-wc", read_lane, 0, NULL),
    FORM("v_writelane_b32", "w-cc", write_lane, 0, NULL),
    FORM("v_permlane16_b32", "w-wcc", permlane16, 0, read_permlane),
    FORM("v_permlanex16_b32", "w-wcc", permlane16, PERMLANE_X, read_permlane),
    FORM("v_permlane64_b32", "w-w", permlane64, 0, NULL),
    FORM("v_permlane16_swap_b32", "w-w", permlane_swap, 16, read_two_vectors),
    FORM("v_permlane32_swap_b32", "w-w", permlane_swap, 32, read_two_vectors),
    FORM("ds_bpermute_b32", "", bpermute, 0, read_permute),
    FORM("ds_permute_b32", "", permute, 0, read_permute),
    FORM("ds_swizzle_b32", "w-w", swizzle, 0, read_swizzle),
    FORM("v_movreld_b32", "w-w", move_to_relative, 0, NULL),
    FORM("v_movrels_b32", "w-w", move_from_relative, 0, read_two_vectors),
    FORM("v_swap_b32", "w-w", swap, 0, read_two_vectors),
    FORM("v_s_exp_f32", "s-c", scalar_of_vector, 0, read_scalar_math),
    FORM("v_s_log_f32", "s-c", scalar_of_vector, 0, read_scalar_math),
    FORM("v_s_rcp_f32", "s-c", scalar_of_vector, 0, read_scalar_math),
    FORM("v_s_rsq_f32", "s-c", scalar_of_vector, 0, read_scalar_math),
    FORM("v_s_sqrt_f32", "s-c", scalar_of_vector, 0, read_scalar_math),
};

struct forms amdgpu_cross_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
