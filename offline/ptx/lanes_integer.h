/* lanes_integer.h - whole numbers, bits and predicates of a lane; part of lanes.c
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PTX_LANES_INTEGER_H
#define PTX_LANES_INTEGER_H

#include "lanes.h"

/* ---- arithmetic; signed numbers wrap, so most of it does not ask for the sign ---- */

LANE_OP_W(add_h, uint32_t, (uint16_t)(IN(u32, 1) + IN(u32, 2)))
LANE_OP_W(add_w, uint32_t, IN(u32, 1) + IN(u32, 2))
LANE_OP_L(add_l, uint64_t, IN(u64, 1) + IN(u64, 2))
LANE_OP_W(sub_h, uint32_t, (uint16_t)(IN(u32, 1) - IN(u32, 2)))
LANE_OP_W(sub_w, uint32_t, IN(u32, 1) - IN(u32, 2))
LANE_OP_L(sub_l, uint64_t, IN(u64, 1) - IN(u64, 2))
LANE_OP_W(mul_h, uint32_t, (uint16_t)(IN(u32, 1) * IN(u32, 2)))
LANE_OP_W(mul_w, uint32_t, IN(u32, 1) * IN(u32, 2))
LANE_OP_L(mul_l, uint64_t, IN(u64, 1) * IN(u64, 2))
LANE_OP_W(mad_h, uint32_t, (uint16_t)(IN(u32, 1) * IN(u32, 2) + IN(u32, 3)))
LANE_OP_W(mad_w, uint32_t, IN(u32, 1) * IN(u32, 2) + IN(u32, 3))
LANE_OP_L(mad_l, uint64_t, IN(u64, 1) * IN(u64, 2) + IN(u64, 3))
LANE_OP_W(neg_h, uint32_t, (uint16_t)(0 - IN(u32, 1)))
LANE_OP_W(neg_w, uint32_t, 0 - IN(u32, 1))
LANE_OP_L(neg_l, uint64_t, 0 - IN(u64, 1))
LANE_OP_W(abs_h, uint32_t, (uint16_t)((int16_t)IN(u32, 1) < 0 ? 0 - IN(u32, 1) : IN(u32, 1)))
LANE_OP_W(abs_w, uint32_t, IN(s32, 1) < 0 ? 0 - IN(u32, 1) : IN(u32, 1))
LANE_OP_L(abs_l, uint64_t, IN(s64, 1) < 0 ? 0 - IN(u64, 1) : IN(u64, 1))

static inline int32_t clamp_s32(int64_t x)
{
    return (int32_t)(x < INT32_MIN ? INT32_MIN : x > INT32_MAX ? INT32_MAX : x);
}
LANE_OP_W(add_sat, int32_t, clamp_s32((int64_t)IN(s32, 1) + IN(s32, 2)))
LANE_OP_W(sub_sat, int32_t, clamp_s32((int64_t)IN(s32, 1) - IN(s32, 2)))

/* Products: high halves, double width, 24 bits. */
static inline uint64_t high_u64(uint64_t a, uint64_t b)
{
    const uint64_t al = (uint32_t)a, ah = a >> 32, bl = (uint32_t)b, bh = b >> 32;
    const uint64_t low = al * bl, mid = ah * bl + (low >> 32), mid2 = al * bh + (uint32_t)mid;
    return ah * bh + (mid >> 32) + (mid2 >> 32);
}

static inline uint64_t high_s64(int64_t a, int64_t b)
{
    return high_u64((uint64_t)a, (uint64_t)b) - (a < 0 ? (uint64_t)b : 0) - (b < 0 ? (uint64_t)a : 0);
}

static inline int32_t low24(uint32_t x)
{
    return (int32_t)(x << 8) >> 8;
}
LANE_OP_W(hi_u16, uint32_t, (IN(u32, 1) & 0xffff) * (IN(u32, 2) & 0xffff) >> 16)
LANE_OP_W(hi_s16, uint32_t, (uint16_t)((int32_t)(int16_t)IN(u32, 1) * (int16_t)IN(u32, 2) >> 16))
LANE_OP_W(hi_u32, uint32_t, (uint64_t)IN(u32, 1) * IN(u32, 2) >> 32)
LANE_OP_W(hi_s32, int32_t, (int64_t)IN(s32, 1) * IN(s32, 2) >> 32)
LANE_OP_L(hi_u64, uint64_t, high_u64(IN(u64, 1), IN(u64, 2)))
LANE_OP_L(hi_s64, uint64_t, high_s64(IN(s64, 1), IN(s64, 2)))
LANE_OP_W(mad_hi_u32, uint32_t, ((uint64_t)IN(u32, 1) * IN(u32, 2) >> 32) + IN(u32, 3))
LANE_OP_W(mad_hi_s32, uint32_t, (uint32_t)((int64_t)IN(s32, 1) * IN(s32, 2) >> 32) + IN(u32, 3))
LANE_OP_W(wide_u16, uint32_t, (IN(u32, 1) & 0xffff) * (IN(u32, 2) & 0xffff))
LANE_OP_W(wide_s16, int32_t, (int32_t)(int16_t)IN(u32, 1) * (int16_t)IN(u32, 2))
LANE_OP_L(wide_u32, uint64_t, (uint64_t)IN(u32, 1) * IN(u32, 2))
LANE_OP_L(wide_s32, int64_t, (int64_t)IN(s32, 1) * IN(s32, 2))
LANE_OP_W(mad_wide_u16, uint32_t, (IN(u32, 1) & 0xffff) * (IN(u32, 2) & 0xffff) + IN(u32, 3))
LANE_OP_W(mad_wide_s16, uint32_t, (uint32_t)((int32_t)(int16_t)IN(u32, 1) * (int16_t)IN(u32, 2)) + IN(u32, 3))
LANE_OP_L(mad_wide_u32, uint64_t, (uint64_t)IN(u32, 1) * IN(u32, 2) + IN(u64, 3))
LANE_OP_L(mad_wide_s32, uint64_t, (uint64_t)((int64_t)IN(s32, 1) * IN(s32, 2)) + IN(u64, 3))
LANE_OP_W(mul24_u32, uint32_t, (IN(u32, 1) & 0xffffff) * (IN(u32, 2) & 0xffffff))
LANE_OP_W(mul24_s32, uint32_t, (uint32_t)low24(IN(u32, 1)) * (uint32_t)low24(IN(u32, 2)))
LANE_OP_W(mad24_u32, uint32_t, (IN(u32, 1) & 0xffffff) * (IN(u32, 2) & 0xffffff) + IN(u32, 3))
LANE_OP_W(mad24_s32, uint32_t, (uint32_t)low24(IN(u32, 1)) * (uint32_t)low24(IN(u32, 2)) + IN(u32, 3))
LANE_OP_W(sad_u32, uint32_t, (IN(u32, 1) > IN(u32, 2) ? IN(u32, 1) - IN(u32, 2) : IN(u32, 2) - IN(u32, 1)) + IN(u32, 3))
LANE_OP_W(sad_s32, uint32_t, (IN(s32, 1) > IN(s32, 2) ? IN(u32, 1) - IN(u32, 2) : IN(u32, 2) - IN(u32, 1)) + IN(u32, 3))

/* Division by zero gives what GPUs give: all ones, and the dividend as the rest. */
#define DIVISION(bits, unsigned_t, signed_t)                                                     \
    static inline unsigned_t div_u(bits)(unsigned_t a, unsigned_t b)                             \
    {                                                                                            \
        return b ? (unsigned_t)(a / b) : (unsigned_t)~(unsigned_t)0;                             \
    }                                                                                            \
    static inline unsigned_t rem_u(bits)(unsigned_t a, unsigned_t b)                             \
    {                                                                                            \
        return b ? (unsigned_t)(a % b) : a;                                                      \
    }                                                                                            \
    static inline unsigned_t div_s(bits)(signed_t a, signed_t b)                                 \
    {                                                                                            \
        return b == -1 ? (unsigned_t)(0 - (unsigned_t)a) : b ? (unsigned_t)(a / b) : (unsigned_t)~(unsigned_t)0; \
    }                                                                                            \
    static inline unsigned_t rem_s(bits)(signed_t a, signed_t b)                                 \
    {                                                                                            \
        return b == -1 ? 0 : b ? (unsigned_t)(a % b) : (unsigned_t)a;                            \
    }
#define div_u(bits) div_u##bits
#define rem_u(bits) rem_u##bits
#define div_s(bits) div_s##bits
#define rem_s(bits) rem_s##bits
DIVISION(16, uint16_t, int16_t)
DIVISION(32, uint32_t, int32_t)
DIVISION(64, uint64_t, int64_t)
#undef div_u
#undef rem_u
#undef div_s
#undef rem_s
LANE_OP_W(op_div_u16, uint32_t, div_u16((uint16_t)IN(u32, 1), (uint16_t)IN(u32, 2)))
LANE_OP_W(op_div_s16, uint32_t, div_s16((int16_t)IN(u32, 1), (int16_t)IN(u32, 2)))
LANE_OP_W(op_div_u32, uint32_t, div_u32(IN(u32, 1), IN(u32, 2)))
LANE_OP_W(op_div_s32, uint32_t, div_s32(IN(s32, 1), IN(s32, 2)))
LANE_OP_L(op_div_u64, uint64_t, div_u64(IN(u64, 1), IN(u64, 2)))
LANE_OP_L(op_div_s64, uint64_t, div_s64(IN(s64, 1), IN(s64, 2)))
LANE_OP_W(op_rem_u16, uint32_t, rem_u16((uint16_t)IN(u32, 1), (uint16_t)IN(u32, 2)))
LANE_OP_W(op_rem_s16, uint32_t, rem_s16((int16_t)IN(u32, 1), (int16_t)IN(u32, 2)))
LANE_OP_W(op_rem_u32, uint32_t, rem_u32(IN(u32, 1), IN(u32, 2)))
LANE_OP_W(op_rem_s32, uint32_t, rem_s32(IN(s32, 1), IN(s32, 2)))
LANE_OP_L(op_rem_u64, uint64_t, rem_u64(IN(u64, 1), IN(u64, 2)))
LANE_OP_L(op_rem_s64, uint64_t, rem_s64(IN(s64, 1), IN(s64, 2)))

#define SMALLER(T, C) ((C)IN(T, 1) < (C)IN(T, 2) ? IN(T, 1) : IN(T, 2))
#define LARGER(T, C) ((C)IN(T, 1) > (C)IN(T, 2) ? IN(T, 1) : IN(T, 2))
LANE_OP_W(min_u16, uint32_t, SMALLER(u32, uint16_t))
LANE_OP_W(min_s16, uint32_t, SMALLER(u32, int16_t))
LANE_OP_W(min_u32, uint32_t, SMALLER(u32, uint32_t))
LANE_OP_W(min_s32, uint32_t, SMALLER(u32, int32_t))
LANE_OP_L(min_u64, uint64_t, SMALLER(u64, uint64_t))
LANE_OP_L(min_s64, uint64_t, SMALLER(u64, int64_t))
LANE_OP_W(max_u16, uint32_t, LARGER(u32, uint16_t))
LANE_OP_W(max_s16, uint32_t, LARGER(u32, int16_t))
LANE_OP_W(max_u32, uint32_t, LARGER(u32, uint32_t))
LANE_OP_W(max_s32, uint32_t, LARGER(u32, int32_t))
LANE_OP_L(max_u64, uint64_t, LARGER(u64, uint64_t))
LANE_OP_L(max_s64, uint64_t, LARGER(u64, int64_t))

/* Chains of additions: out 0 the sum, out 1 the carry, a predicate that stands for PTX's condition code. op->sub bit 0:
 * there is a carry in, the last source; bit 1: there is one out. */
static void chain(struct warp *w, const struct op *o, uint32_t mask, const uint32_t *a, const lane_u32 *b, int minus)
{
    const uint32_t in = o->sub & 1 ? get_p(w, o->reg[o->n_dst + o->n_src - 1]) : 0;
    uint32_t out[LANES], carry = 0;
    for (int i = 0; i < LANES; i++) {
        const uint64_t c = in >> i & 1;
        const uint64_t sum = minus ? (uint64_t)a[i] - b[i] - c : (uint64_t)a[i] + b[i] + c;
        out[i] = (uint32_t)sum;
        carry |= (uint32_t)(sum >> 32 & 1) << i;
    }
    put_w(w, o->reg[0], mask, out);
    if (o->sub & 2)
        put_p(w, o->reg[1], mask, carry);
}

static void add_chain(struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t a[LANES];
    memcpy(a, (const void *)reg_u32(w, o->reg[o->n_dst]), sizeof a);
    chain(w, o, mask, a, reg_u32(w, o->reg[o->n_dst + 1]), 0);
}

static void sub_chain(struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t a[LANES];
    memcpy(a, (const void *)reg_u32(w, o->reg[o->n_dst]), sizeof a);
    chain(w, o, mask, a, reg_u32(w, o->reg[o->n_dst + 1]), 1);
}

static void mad_lo_chain(struct warp *w, const struct op *o, uint32_t mask)
{
    const int k = o->n_dst;
    uint32_t product[LANES];
    for (int i = 0; i < LANES; i++)
        product[i] = IN(u32, k) * IN(u32, k + 1);
    chain(w, o, mask, product, reg_u32(w, o->reg[k + 2]), 0);
}

static void mad_hi_chain(struct warp *w, const struct op *o, uint32_t mask)
{
    const int k = o->n_dst;
    uint32_t product[LANES];
    for (int i = 0; i < LANES; i++)
        product[i] = (uint32_t)((uint64_t)IN(u32, k) * IN(u32, k + 1) >> 32);
    chain(w, o, mask, product, reg_u32(w, o->reg[k + 2]), 0);
}

/* ---- bits ---- */

LANE_OP_W(and_w, uint32_t, IN(u32, 1) & IN(u32, 2))
LANE_OP_L(and_l, uint64_t, IN(u64, 1) & IN(u64, 2))
LANE_OP_W(or_w, uint32_t, IN(u32, 1) | IN(u32, 2))
LANE_OP_L(or_l, uint64_t, IN(u64, 1) | IN(u64, 2))
LANE_OP_W(xor_w, uint32_t, IN(u32, 1) ^ IN(u32, 2))
LANE_OP_L(xor_l, uint64_t, IN(u64, 1) ^ IN(u64, 2))
LANE_OP_W(not_h, uint32_t, ~IN(u32, 1) & 0xffff)
LANE_OP_W(not_w, uint32_t, ~IN(u32, 1))
LANE_OP_L(not_l, uint64_t, ~IN(u64, 1))
LANE_OP_W(cnot_w, uint32_t, IN(u32, 1) == 0)
LANE_OP_W(shl_h, uint32_t, IN(u32, 2) > 15 ? 0 : (uint16_t)(IN(u32, 1) << (IN(u32, 2) & 15)))
LANE_OP_W(shl_w, uint32_t, IN(u32, 2) > 31 ? 0 : IN(u32, 1) << (IN(u32, 2) & 31))
LANE_OP_L(shl_l, uint64_t, IN(u32, 2) > 63 ? 0 : IN(u64, 1) << (IN(u32, 2) & 63))
LANE_OP_W(shr_u16, uint32_t, IN(u32, 2) > 15 ? 0 : (IN(u32, 1) & 0xffff) >> (IN(u32, 2) & 15))
LANE_OP_W(shr_u32, uint32_t, IN(u32, 2) > 31 ? 0 : IN(u32, 1) >> (IN(u32, 2) & 31))
LANE_OP_L(shr_u64, uint64_t, IN(u32, 2) > 63 ? 0 : IN(u64, 1) >> (IN(u32, 2) & 63))
LANE_OP_W(shr_s16, uint32_t, (uint16_t)((int16_t)IN(u32, 1) >> (IN(u32, 2) > 15 ? 15 : IN(u32, 2))))
LANE_OP_W(shr_s32, int32_t, IN(s32, 1) >> (IN(u32, 2) > 31 ? 31 : IN(u32, 2)))
LANE_OP_L(shr_s64, int64_t, IN(s64, 1) >> (IN(u32, 2) > 63 ? 63 : IN(u32, 2)))

static inline uint32_t count_bits(uint64_t x)
{
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    x = (x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu;
    return (uint32_t)(x * 0x0101010101010101u >> 56);
}

static inline uint32_t leading_zeros(uint64_t x, uint32_t bits)
{
    for (int k = 1; k < 64; k *= 2)
        x |= x >> k;
    return bits - count_bits(x);
}

static inline uint64_t reverse_bits(uint64_t x)
{
    uint64_t y = 0;
    for (int k = 0; k < 64; k++)
        y |= (x >> k & 1) << (63 - k);
    return y;
}

/* The highest bit that differs from the sign, or with .shiftamt its distance from the top; ~0: none. */
static inline uint32_t find_bit(uint64_t x, uint32_t bits, int shift)
{
    const uint32_t zeros = leading_zeros(x, bits);
    return zeros == bits ? ~0u : shift ? zeros : bits - 1 - zeros;
}
LANE_OP_W(popc_w, uint32_t, count_bits(IN(u32, 1)))
LANE_OP_W(popc_l, uint32_t, count_bits(IN(u64, 1)))
LANE_OP_W(clz_w, uint32_t, leading_zeros(IN(u32, 1), 32))
LANE_OP_W(clz_l, uint32_t, leading_zeros(IN(u64, 1), 64))
LANE_OP_W(brev_w, uint32_t, reverse_bits(IN(u32, 1)) >> 32)
LANE_OP_L(brev_l, uint64_t, reverse_bits(IN(u64, 1)))
LANE_OP_W(bfind_u32, uint32_t, find_bit(IN(u32, 1), 32, o->sub))
LANE_OP_W(bfind_s32, uint32_t, find_bit(IN(s32, 1) < 0 ? ~IN(u32, 1) : IN(u32, 1), 32, o->sub))
LANE_OP_W(bfind_u64, uint32_t, find_bit(IN(u64, 1), 64, o->sub))
LANE_OP_W(bfind_s64, uint32_t, find_bit(IN(s64, 1) < 0 ? ~IN(u64, 1) : IN(u64, 1), 64, o->sub))

/* Fields: position and length are the low 8 bits; what lies above the number is the sign or 0. */
static inline uint64_t field_get(uint64_t a, uint32_t position, uint32_t length, int bits, int is_signed)
{
    const uint32_t at = position & 0xff, n = length & 0xff;
    const uint64_t top = a >> (bits - 1) & 1;
    uint64_t value = at < (uint32_t)bits ? a >> at : 0;
    if (n < (uint32_t)bits)
        value &= ((uint64_t)1 << n) - 1;
    if (!is_signed || n == 0)
        return value;
    const uint32_t last = at + n - 1 < (uint32_t)bits - 1 ? at + n - 1 : (uint32_t)bits - 1;
    const uint64_t sign = last >= at ? a >> last & 1 : top;
    const uint32_t have = last >= at ? last - at + 1 : 0;
    return sign && have < 64 ? value | ~(uint64_t)0 << have : value;
}

static inline uint64_t field_put(uint64_t a, uint64_t b, uint32_t position, uint32_t length, uint32_t bits)
{
    const uint32_t at = position & 0xff, n = length & 0xff;
    if (at >= bits || n == 0)
        return b;
    const uint64_t mask = (n >= bits ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1) << at;
    return (b & ~mask) | (a << at & mask);
}
LANE_OP_W(bfe_u32, uint32_t, field_get(IN(u32, 1), IN(u32, 2), IN(u32, 3), 32, 0))
LANE_OP_W(bfe_s32, uint32_t, field_get(IN(u32, 1), IN(u32, 2), IN(u32, 3), 32, 1))
LANE_OP_L(bfe_u64, uint64_t, field_get(IN(u64, 1), IN(u32, 2), IN(u32, 3), 64, 0))
LANE_OP_L(bfe_s64, uint64_t, field_get(IN(u64, 1), IN(u32, 2), IN(u32, 3), 64, 1))
LANE_OP_W(bfi_w, uint32_t, field_put(IN(u32, 1), IN(u32, 2), IN(u32, 3), IN(u32, 4), 32))
LANE_OP_L(bfi_l, uint64_t, field_put(IN(u64, 1), IN(u64, 2), IN(u32, 3), IN(u32, 4), 64))

static inline uint32_t permute(uint32_t a, uint32_t b, uint32_t selectors)
{
    const uint64_t bytes = (uint64_t)b << 32 | a;
    uint32_t d = 0;
    for (int k = 0; k < 4; k++) {
        const uint32_t s = selectors >> 4 * k & 15;
        uint32_t byte = (uint32_t)(bytes >> 8 * (s & 7)) & 0xff;
        if (s & 8) /* its sign, eight times */
            byte = byte & 0x80 ? 0xff : 0;
        d |= byte << 8 * k;
    }
    return d;
}

static inline uint32_t table_of_three(uint32_t a, uint32_t b, uint32_t c, uint32_t table)
{
    uint32_t d = 0;
    for (int k = 0; k < 8; k++)
        if (table >> k & 1)
            d |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return d;
}
LANE_OP_W(prmt_w, uint32_t, permute(IN(u32, 1), IN(u32, 2), IN(u32, 3)))
LANE_OP_W(lop3_w, uint32_t, table_of_three(IN(u32, 1), IN(u32, 2), IN(u32, 3), IN(u32, 4)))

/* Funnel shifts of b:a; op->sub bit 0: right; bit 1: .clamp, else .wrap. */
static inline uint32_t funnel(uint32_t a, uint32_t b, uint32_t c, int sub)
{
    const uint32_t n = sub & 2 ? c > 32 ? 32 : c : c & 31;
    const uint64_t both = (uint64_t)b << 32 | a;
    return (uint32_t)(sub & 1 ? both >> n : both << n >> 32);
}
LANE_OP_W(shf_w, uint32_t, funnel(IN(u32, 1), IN(u32, 2), IN(u32, 3), o->sub))

/* ---- predicates: one bit per lane ---- */

static void and_p(struct warp *w, const struct op *o, uint32_t mask)
{
    put_p(w, o->reg[0], mask, get_p(w, o->reg[1]) & get_p(w, o->reg[2]));
}

static void or_p(struct warp *w, const struct op *o, uint32_t mask)
{
    put_p(w, o->reg[0], mask, get_p(w, o->reg[1]) | get_p(w, o->reg[2]));
}

static void xor_p(struct warp *w, const struct op *o, uint32_t mask)
{
    put_p(w, o->reg[0], mask, get_p(w, o->reg[1]) ^ get_p(w, o->reg[2]));
}

static void not_p(struct warp *w, const struct op *o, uint32_t mask)
{
    put_p(w, o->reg[0], mask, ~get_p(w, o->reg[1]));
}

static void move_p(struct warp *w, const struct op *o, uint32_t mask)
{
    put_p(w, o->reg[0], mask, get_p(w, o->reg[1]));
}

/* ---- moves ---- */

LANE_OP_W(move_w, uint32_t, IN(u32, 1))
LANE_OP_L(move_l, uint64_t, IN(u64, 1))
LANE_OP_L(widen_l, uint64_t, IN(u32, 1))

static void select_w(struct warp *w, const struct op *o, uint32_t mask)
{
    const uint32_t p = get_p(w, o->reg[3]);
    uint32_t out[LANES];
    for (int i = 0; i < LANES; i++)
        out[i] = p >> i & 1 ? IN(u32, 1) : IN(u32, 2);
    put_w(w, o->reg[0], mask, out);
}

static void select_l(struct warp *w, const struct op *o, uint32_t mask)
{
    const uint32_t p = get_p(w, o->reg[3]);
    uint64_t out[LANES];
    for (int i = 0; i < LANES; i++)
        out[i] = p >> i & 1 ? IN(u64, 1) : IN(u64, 2);
    put_l(w, o->reg[0], mask, out);
}

/* mov {a, b}, c and mov c, {a, b}: op->width bytes of each part, low ones first. */
static void pack(struct warp *w, const struct op *o, uint32_t mask)
{
    const int bits = 8 * o->width;
    uint64_t out[LANES];
    for (int i = 0; i < LANES; i++) {
        uint64_t x = 0;
        for (int k = 0; k < o->n_src; k++)
            x |= ((uint64_t)IN(u32, 1 + k) & (((uint64_t)1 << bits) - 1)) << bits * k;
        out[i] = x;
    }
    if (o->width * o->n_src == 8) {
        put_l(w, o->reg[0], mask, out);
        return;
    }
    uint32_t low[LANES];
    for (int i = 0; i < LANES; i++)
        low[i] = (uint32_t)out[i];
    put_w(w, o->reg[0], mask, low);
}

static void unpack(struct warp *w, const struct op *o, uint32_t mask)
{
    const int bits = 8 * o->width, wide = o->width * o->n_dst == 8;
    uint64_t from[LANES];
    for (int i = 0; i < LANES; i++)
        from[i] = wide ? IN(u64, o->n_dst) : IN(u32, o->n_dst);
    for (int k = 0; k < o->n_dst; k++) {
        uint32_t out[LANES];
        for (int i = 0; i < LANES; i++)
            out[i] = (uint32_t)(from[i] >> bits * k & (((uint64_t)1 << bits) - 1));
        put_w(w, o->reg[k], mask, out);
    }
}

/* Generic addresses: op->sub 0 into a window, 1 out of it; the window is the second source, a constant. */
LANE_OP_L(cvta_to_generic, uint64_t, IN(u64, 1) ? IN(u64, 1) | IN(u64, 2) : 0)
LANE_OP_L(cvta_from_generic, uint64_t, IN(u64, 1) & ~IN(u64, 2))
/* isspacep: 1 where the window matches. */
static void in_window(struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t bits = 0;
    for (int i = 0; i < LANES; i++)
        bits |= (uint32_t)((IN(u64, 1) & WINDOWS) == IN(u64, 2)) << i;
    put_p(w, o->reg[0], mask, bits);
}

#endif
