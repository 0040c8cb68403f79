/* fetch.c - operands as instructions take them, and results as registers hold them
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "inside.h"

/* ---- the control register ---- */

enum { ROUNDS_WHOLE = 1 << 12 };

static uint32_t control(const struct thread *t)
{
    uint32_t x;
    memcpy(&x, t->file + FILE_CONTROL, sizeof x);
    return x;
}

int fetch_rounding(const struct thread *t)
{
    static const int modes[] = { ROUND_RN, ROUND_RP, ROUND_RM, ROUND_RZ };
    return modes[control(t) >> 4 & 3];
}

/* Denormal numbers are zero unless a bit of the control register keeps them. */
int fetch_flushes(const struct thread *t, uint8_t type)
{
    const uint32_t keeps = type == TYPE_F ? 1u << 7 : type == TYPE_HF ? 1u << 10 : type == TYPE_DF ? 1u << 6 : ~0u;
    return !(control(t) & keeps);
}

static double flushed(double x, uint8_t type)
{
    const double least = type == TYPE_F ? 0x1p-126 : type == TYPE_HF ? 0x1p-14 : 0x1p-1022;
    return fabs(x) < least ? copysign(0, x) : x;
}

/* ---- reading ---- */

#define READ(name, type, member, value)                                                             \
    static void name(const unsigned char *from, const uint16_t *at, unsigned n, union lane *to)     \
    {                                                                                               \
        for (unsigned i = 0; i < n; i++) {                                                          \
            type x;                                                                                 \
            memcpy(&x, from + at[i], sizeof x);                                                     \
            to[i].member = value;                                                                   \
        }                                                                                           \
    }
READ(read_ub, uint8_t, i, x)
READ(read_b, int8_t, i, x)
READ(read_uw, uint16_t, i, x)
READ(read_w, int16_t, i, x)
READ(read_ud, uint32_t, i, x)
READ(read_d, int32_t, i, x)
READ(read_q, uint64_t, u, x)
READ(read_hf, uint16_t, r, half_to_float(x))
READ(read_bf, uint16_t, r, bf16_to_float(x))
READ(read_f, float, r, x)
READ(read_df, double, r, x)

typedef void reading(const unsigned char *from, const uint16_t *at, unsigned n, union lane *to);
static reading *const readers[N_TYPES] = {
    [TYPE_UB] = read_ub, [TYPE_B] = read_b, [TYPE_UW] = read_uw, [TYPE_W] = read_w,   [TYPE_UD] = read_ud,
    [TYPE_D] = read_d,   [TYPE_UQ] = read_q, [TYPE_Q] = read_q,   [TYPE_HF] = read_hf, [TYPE_BF] = read_bf,
    [TYPE_F] = read_f,   [TYPE_DF] = read_df,
};

static void modify_real(const struct thread *t, const struct operand *o, unsigned n, union lane *to)
{
    const int flushes = fetch_flushes(t, o->type);
    if (!flushes && !o->absolute && !o->negate)
        return;
    for (unsigned i = 0; i < n; i++) {
        double x = flushes ? flushed(to[i].r, o->type) : to[i].r;
        x = o->absolute ? fabs(x) : x;
        to[i].r = o->negate ? -x : x;
    }
}

static void modify_whole(const struct operand *o, unsigned n, union lane *to)
{
    if (!o->absolute && !o->negate && !o->invert)
        return;
    for (unsigned i = 0; i < n; i++) {
        uint64_t x = to[i].u;
        x = o->absolute && to[i].i < 0 ? 0 - x : x;
        x = o->negate ? 0 - x : x;
        to[i].u = o->invert ? ~x : x;
    }
}

void fetch_lanes(const struct thread *t, const struct operand *o, unsigned n, union lane *to)
{
    readers[o->type](o->constant ? o->constant : t->file, o->at, n, to);
    if (type_real(o->type))
        modify_real(t, o, n, to);
    else
        modify_whole(o, n, to);
}

/* Flags are kept bit by bit: of one that is read as a number any bit is enough, since others belong to lanes that are
 * off. */
static uint32_t flag_known(const struct thread *t, const struct operand *o, unsigned n)
{
    const uint32_t bits = t->flag_known[o->reg] >> 16 * o->sub;
    return (o->size == 2 ? bits & 0xffff : bits) ? lanes_below(n) : 0;
}

uint32_t fetch_known(const struct thread *t, const struct operand *o, unsigned n)
{
    uint32_t known = 0;
    if (o->file == IN_FLAG)
        return flag_known(t, o, n);
    if (o->file > IN_ADDRESS)
        return lanes_below(n);
    for (unsigned i = 0; i < n; i++) {
        const unsigned char *const k = t->known + o->at[i];
        uint32_t all = 1;
        for (unsigned b = 0; b < o->size; b++)
            all &= k[b];
        known |= all << i;
    }
    return known;
}

/* ---- writing ---- */

static const struct limits {
    int64_t least;
    uint64_t most;
    double above;
} limits[] = {
    [TYPE_UB] = { 0, UINT8_MAX, 0x1p8 },           [TYPE_B] = { INT8_MIN, INT8_MAX, 0x1p7 },
    [TYPE_UW] = { 0, UINT16_MAX, 0x1p16 },         [TYPE_W] = { INT16_MIN, INT16_MAX, 0x1p15 },
    [TYPE_UD] = { 0, UINT32_MAX, 0x1p32 },         [TYPE_D] = { INT32_MIN, INT32_MAX, 0x1p31 },
    [TYPE_UQ] = { 0, UINT64_MAX, 0x1p64 },         [TYPE_Q] = { INT64_MIN, INT64_MAX, 0x1p63 },
};

/* Towards zero, unless a bit of the control register says: as all results are rounded. */
static uint64_t whole_of(const struct thread *t, double real, const struct limits *l)
{
    const double x = control(t) & ROUNDS_WHOLE ? round_whole(real, fetch_rounding(t)) : real;
    if (isnan(x))
        return 0;
    if (x <= (double)l->least)
        return (uint64_t)l->least;
    return x >= l->above ? l->most : x < 0 ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static uint64_t saturated(const struct op *o, union lane x, const struct limits *l)
{
    const int is_signed = o->src[0].type != TYPE_UQ;
    if (is_signed && x.i < 0)
        return (uint64_t)(x.i < l->least ? l->least : x.i);
    return x.u < l->most ? x.u : l->most;
}

/* What is stored of a whole number. */
static uint64_t whole_bits(const struct thread *t, const struct op *o, union lane x)
{
    const struct limits *l = &limits[o->dst.type];
    return o->real ? whole_of(t, x.r, l) : o->saturate ? saturated(o, x, l) : x.u;
}

/* A whole number of 64 bits as a double that can still be rounded any way. */
static double real_of_whole(const struct op *o, union lane x)
{
    const int is_large = o->exec_type == TYPE_UQ && x.i < 0;
    const int64_t i = is_large ? (int64_t)(x.u >> 1 | (x.u & 1)) : x.i;
    const double d = (double)i, error = d >= 0x1p63 ? -1 : (double)(i - (int64_t)d);
    return (is_large ? 2 : 1) * (i == (int64_t)INT64_MAX || d < 0x1p63 ? make_odd(d, error) : d);
}

static uint64_t real_bits(const struct thread *t, const struct op *o, union lane in)
{
    const uint8_t type = o->dst.type;
    const int mode = fetch_rounding(t);
    double x = o->real ? in.r : real_of_whole(o, in);
    if (o->saturate)
        x = x > 0 ? x < 1 ? x : 1 : 0;
    if (type == TYPE_DF)
        return bits64_of(fetch_flushes(t, type) ? flushed(x, type) : x);
    if (type == TYPE_F) {
        const float f = round_float(x, mode);
        return bits_of(fetch_flushes(t, type) ? flush(f) : f);
    }
    const uint32_t h = round_small(x, type == TYPE_HF ? 10 : 7, mode);
    return type == TYPE_HF && fetch_flushes(t, type) && !(h & 0x7c00) ? h & 0x8000 : h;
}

static uint64_t stored_bits(const struct thread *t, const struct op *o, union lane x)
{
    return o->flags & FORM_BITS ? x.u : type_real(o->dst.type) ? real_bits(t, o, x) : whole_bits(t, o, x);
}

union lane fetch_stored(const struct thread *t, const struct op *o, union lane x)
{
    static const uint16_t first[1];
    const uint64_t bits = stored_bits(t, o, x);
    unsigned char bytes[sizeof bits];
    union lane stored;
    memcpy(bytes, &bits, sizeof bits);
    readers[o->dst.type](bytes, first, 1, &stored);
    return stored;
}

static void note_known(struct thread *t, const struct operand *to, uint32_t mask, uint32_t known)
{
    if (to->file == IN_FLAG) {
        const uint32_t field = (to->size == 2 ? 0xffffu : ~0u) << 16 * to->sub;
        if (mask & 1)
            t->flag_known[to->reg] = (t->flag_known[to->reg] & ~field) | (known & 1 ? field : 0);
        return;
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        memset(t->known + to->at[i], (int)(known >> i & 1), to->size);
    }
}

void fetch_put(struct thread *t, const struct op *o, const union lane *from, uint32_t mask, uint32_t known)
{
    const struct operand *to = &o->dst;
    if (to->file == IN_NULL)
        return;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        const uint64_t x = stored_bits(t, o, from[i]);
        const uint32_t low = (uint32_t)x;
        const uint16_t word = (uint16_t)x;
        if (to->size == 8)
            memcpy(t->file + to->at[i], &x, 8);
        else if (to->size == 4)
            memcpy(t->file + to->at[i], &low, 4);
        else if (to->size == 2)
            memcpy(t->file + to->at[i], &word, 2);
        else
            t->file[to->at[i]] = (unsigned char)x;
    }
    note_known(t, to, mask, known);
}

/* A move between registers of one type: bits, and what is known of each byte. */
void fetch_copy(struct thread *t, const struct op *o, uint32_t mask)
{
    const struct operand *to = &o->dst, *from = &o->src[0];
    unsigned char space[MAX_LANES][8], known[MAX_LANES][8];
    const unsigned char *const base = from->constant ? from->constant : t->file;
    const uint32_t whole = from->file > IN_ACC ? fetch_known(t, from, o->width) : 0;
    if (to->file == IN_NULL)
        return;
    for (unsigned i = 0; i < o->width; i++) {
        memcpy(space[i], base + from->at[i], to->size);
        if (from->file > IN_ACC)
            memset(known[i], (int)(whole >> i & 1), to->size);
        else
            memcpy(known[i], t->known + from->at[i], to->size);
    }
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        memcpy(t->file + to->at[i], space[i], to->size);
        memcpy(t->known + to->at[i], known[i], to->size);
    }
    if (to->file == IN_FLAG)
        note_known(t, to, mask, known[0][0]);
}
