/* fetch.c - operands as vector instructions take them: registers as they lie, all else in a copy
 * SPDX-License-Identifier: Apache-2.0
 *
 * Halves, signs, SDWA and DPP are done here, so that instructions know nothing of them. */
#include <string.h>

#include "inside.h"

/* ---- scalars ---- */

static int is_wide(const struct operand *o)
{
    return o->words >= 2;
}

uint64_t fetch_scalar(const struct wave *w, const struct operand *o)
{
    if (o->kind == OPERAND_CONST)
        return o->value;
    if (o->kind == OPERAND_SCC)
        return w->scc;
    const uint64_t low = w->s[o->reg];
    return is_wide(o) ? low | (uint64_t)w->s[o->reg + 1] << 32 : low;
}

uint64_t fetch_scalar_defined(const struct wave *w, const struct operand *o)
{
    if (o->kind == OPERAND_CONST)
        return ~(uint64_t)0;
    if (o->kind == OPERAND_SCC)
        return w->scc_defined ? ~(uint64_t)0 : 0;
    const uint64_t low = w->s_defined[o->reg];
    return low | (is_wide(o) ? (uint64_t)w->s_defined[o->reg + 1] << 32 : (uint64_t)0xffffffff << 32);
}

static void broadcast(lane_u32 *to, uint32_t x, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = x;
}

/* ---- words ---- */

const lane_u32 *fetch_plain(struct wave *w, const struct operand *o, unsigned word, lane_u32 *space)
{
    if (o->kind == OPERAND_VECTOR)
        return vector_of(w, o->reg + word);
    uint32_t x = 0;
    if (o->kind == OPERAND_CONST)
        x = word < 2 ? (uint32_t)(o->value >> 32 * word) : 0;
    else if (o->kind == OPERAND_SCC)
        x = w->scc;
    else if (o->reg != REG_NULL)
        x = w->s[o->reg + word];
    broadcast(space, x, w->n);
    return space;
}

uint64_t fetch_defined(const struct wave *w, const struct operand *o, unsigned word)
{
    if (o->kind == OPERAND_VECTOR)
        return w->defined[o->reg + word];
    if (o->kind == OPERAND_SCALAR && o->reg != REG_NULL && w->s_defined[o->reg + word] != ~0u)
        return 0;
    return o->kind != OPERAND_SCC || w->scc_defined ? ~(uint64_t)0 : 0;
}

/* ---- DPP ---- */

/* The lane that lane i reads from; -1: outside of its row. */
static int dpp_lane(const struct dpp *d, int i, int n)
{
    const int row = i & ~15, at = i & 15, by = d->by;
    switch (d->kind) {
    case DPP_QUAD: return (i & ~3) | d->select[i & 3];
    case DPP_EIGHT: return (i & ~7) | d->select[i & 7];
    case DPP_SHL: return at + by < 16 ? i + by : -1;
    case DPP_SHR: return at >= by ? i - by : -1;
    case DPP_ROR: return row | ((at - by) & 15);
    case DPP_SHARE: return row | (by & 15);
    case DPP_XMASK: return row | ((at ^ by) & 15);
    case DPP_MIRROR: return row | (15 - at);
    case DPP_HALF_MIRROR: return (i & ~7) | (7 - (i & 7));
    case DPP_BCAST: return by == 15 ? row - 1 : (i & ~31) - 1; /* the last lane of the row before, of both before */
    case DPP_WAVE_SHL: return i + 1 < n ? i + 1 : -1;
    case DPP_WAVE_SHR: return i - 1;
    case DPP_WAVE_ROL: return (i + 1) % n;
    default: return (i + n - 1) % n;
    }
}

/* Moves words and what is defined of them; lanes that get nothing leave the mask, or read 0 with bound_ctrl. */
static uint64_t shuffle(const struct wave *w, const struct dpp *d, const lane_u32 *from, lane_u32 *to,
                        uint64_t *defined)
{
    const uint64_t exec = exec_of(w), before = *defined;
    const int n = (int)w->n;
    lane_u32 copy[MAX_LANES];
    uint64_t mask = 0;
    memcpy((void *)copy, (const void *)from, w->n * sizeof *copy);
    *defined = 0;
    for (int i = 0; i < n; i++) {
        const int k = dpp_lane(d, i, n);
        const int valid = k >= 0 && (exec >> k & 1 || d->inactive || d->kind == DPP_EIGHT);
        const uint64_t bit = (uint64_t)1 << i;
        const int masked = d->kind != DPP_EIGHT && !(d->row_mask >> (i / 16) & 1 && d->bank_mask >> (i / 4 & 3) & 1);
        to[i] = valid && (exec >> k & 1 || d->inactive) ? copy[k] : 0;
        if (!valid || (d->kind == DPP_EIGHT && !(exec >> k & 1) && !d->inactive) || before >> k & 1)
            *defined |= bit;
        if (!masked && (valid || d->bound))
            mask |= bit;
    }
    return mask;
}

/* ---- parts and signs ---- */

static uint32_t part_of(uint32_t x, uint8_t part, int is_signed)
{
    if (part <= PART_BYTE_3) {
        x = x >> 8 * part & 0xff;
        return is_signed ? (uint32_t)(int32_t)(int8_t)x : x;
    }
    x = part == PART_HIGH ? x >> 16 : x & 0xffff;
    return is_signed ? (uint32_t)(int32_t)(int16_t)x : x;
}

static void take_part(const struct operand *o, const lane_u32 *from, lane_u32 *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++)
        to[i] = part_of(from[i], o->part, o->fetch & FETCH_SEXT);
}

static void take_sign(const struct operand *o, const lane_u32 *from, lane_u32 *to, uint32_t n)
{
    const uint32_t bit = o->type == 'h' || o->type == 'i' ? 0x8000u : 0x80000000u;
    const uint32_t keep = o->fetch & FETCH_ABS ? ~bit : ~0u, flip = o->fetch & FETCH_NEG ? bit : 0;
    for (uint32_t i = 0; i < n; i++)
        to[i] = (from[i] & keep) ^ flip;
}

/* Of fma_mix: f32, or a half that becomes it. */
static void take_mix(const struct operand *o, const lane_u32 *from, lane_u32 *to, uint32_t n)
{
    for (uint32_t i = 0; o->select_high && i < n; i++)
        to[i] = bits_of(half_to_float(part_of(from[i], o->part, 0)));
    take_sign(o, o->select_high ? to : from, to, n);
}

static void flush_words(const struct operand *o, const lane_u32 *from, lane_u32 *to, uint32_t n)
{
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t x = from[i];
        if (o->type == 'h')
            to[i] = x & 0x7c00 ? x : x & 0x8000;
        else if (o->type == 'p')
            to[i] = (x & 0x7c00 ? x & 0xffff : x & 0x8000) | (x & 0x7c000000 ? x & 0xffff0000u : x & 0x80000000u);
        else
            to[i] = bits_of(flush(float_of(x)));
    }
}

static int is_flushed(const struct wave *w, const struct operand *o)
{
    return (w->flush & 1 && (o->type == 'f' || o->type == 'q')) || (w->flush & 2 && (o->type == 'h' || o->type == 'p'));
}

/* ---- pairs ---- */

static void take_pair_16(const struct operand *o, const lane_u32 *from, lane_u32 *to, uint32_t n)
{
    const unsigned low = 16 * o->select_low, high = 16 * o->select_high;
    const uint32_t flip = (o->neg_low ? 0x8000u : 0) | (o->neg_high ? 0x80000000u : 0);
    for (uint32_t i = 0; i < n; i++)
        to[i] = ((from[i] >> low & 0xffff) | (from[i] >> high) << 16) ^ flip;
}

static void take_pair_32(struct wave *w, const struct operand *o, struct issue *is, int k)
{
    lane_u32 copy[MAX_LANES];
    const uint32_t flips[2] = { o->neg_low ? 0x80000000u : 0, o->neg_high ? 0x80000000u : 0 };
    const unsigned words[2] = { o->select_low, o->select_high };
    for (unsigned h = 0; h < 2; h++) {
        const lane_u32 *from = fetch_plain(w, o, words[h], copy);
        lane_u32 *to = is->space[k] + h * w->n;
        for (uint32_t i = 0; i < w->n; i++)
            to[i] = from[i] ^ flips[h];
        is->defined[k][h] = fetch_defined(w, o, words[h]);
    }
    is->source[k] = is->space[k];
}

/* ---- sources ---- */

static void modify(struct wave *w, const struct op *o, int k, struct issue *is)
{
    const struct operand *a = &o->src[k];
    lane_u32 *to = is->space[k];
    if (a->type == 'q') {
        if (a->fetch & FETCH_PAIR)
            take_pair_32(w, a, is, k);
        return;
    }
    const unsigned words = a->words == 2 ? 2 : 1;
    for (unsigned h = 0; h < words && a->fetch & FETCH_DPP; h++)
        is->mask &= shuffle(w, &o->dpp, is->source[k] + h * w->n, to + h * w->n, &is->defined[k][h]);
    const lane_u32 *from = a->fetch & FETCH_DPP ? to : is->source[k];
    if (a->fetch & FETCH_PAIR)
        take_pair_16(a, from, to, w->n);
    if (a->fetch & FETCH_PART) {
        take_part(a, from, to, w->n);
        from = to;
    }
    if (a->fetch & FETCH_MIX)
        take_mix(a, from, to, w->n);
    else if (a->fetch & (FETCH_ABS | FETCH_NEG)) {
        if (words == 2 && from != to)
            memcpy((void *)to, (const void *)from, w->n * sizeof *to);
        const size_t top = words == 2 ? w->n : 0; /* the sign is in the upper word */
        take_sign(a, from + top, to + top, w->n);
    }
    is->source[k] = to;
}

static void fetch_one(struct wave *w, const struct op *o, int k, struct issue *is)
{
    const struct operand *a = &o->src[k];
    const unsigned words = a->type == 'm' ? 0 : a->words == 2 ? 2 : 1;
    is->source[k] = is->space[k];
    if (a->kind == OPERAND_VECTOR) {
        is->source[k] = vector_of(w, a->reg);
        for (unsigned h = 0; h < words; h++)
            is->defined[k][h] = w->defined[a->reg + h];
    } else {
        for (unsigned h = 0; h < words; h++) {
            fetch_plain(w, a, h, is->space[k] + h * w->n);
            is->defined[k][h] = fetch_defined(w, a, h);
        }
    }
    if (a->fetch)
        modify(w, o, k, is);
    if (w->flush && is_flushed(w, a))
        for (unsigned h = 0; h < words; h++) {
            flush_words(a, is->source[k] + h * w->n, is->space[k] + h * w->n, w->n);
            if (h + 1 == words)
                is->source[k] = is->space[k];
        }
}

void fetch_sources(struct wave *w, const struct op *o, struct issue *is)
{
    for (int k = 0; k < o->n_src; k++)
        fetch_one(w, o, k, is);
}
