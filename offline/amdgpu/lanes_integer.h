/* lanes_integer.h - vector instructions on whole numbers and bits
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef AMDGPU_LANES_INTEGER_H
#define AMDGPU_LANES_INTEGER_H

#include "lanes.h"

static inline uint32_t low_bits(uint32_t n) /* 0 to 31 */
{
    return ((uint32_t)1 << n) - 1;
}

static inline uint32_t count_bits(uint32_t x)
{
    x -= x >> 1 & 0x55555555u;
    x = (x & 0x33333333u) + (x >> 2 & 0x33333333u);
    return ((x + (x >> 4)) & 0x0f0f0f0fu) * 0x01010101u >> 24;
}

static inline uint32_t reverse_bits(uint32_t x)
{
    x = (x >> 1 & 0x55555555u) | (x & 0x55555555u) << 1;
    x = (x >> 2 & 0x33333333u) | (x & 0x33333333u) << 2;
    x = (x >> 4 & 0x0f0f0f0fu) | (x & 0x0f0f0f0fu) << 4;
    x = (x >> 8 & 0x00ff00ffu) | (x & 0x00ff00ffu) << 8;
    return x >> 16 | x << 16;
}

static inline uint32_t leading_zeros(uint32_t x) /* of 0: -1 */
{
    uint32_t n = 0;
    while (x && !(x >> (31 - n)))
        n++;
    return x ? n : ~0u;
}

static inline uint32_t leading_signs(int32_t a) /* bits before the first that differs from the sign; of 0 and -1: -1 */
{
    return leading_zeros((uint32_t)(a < 0 ? ~a : a));
}

static inline uint32_t trailing_zeros(uint32_t x) /* of 0: -1 */
{
    return x ? 31 - leading_zeros(x & (0 - x)) : ~0u;
}

static inline uint32_t field_unsigned(uint32_t a, uint32_t at, uint32_t n)
{
    return a >> (at & 31) & low_bits(n & 31);
}

static inline int32_t field_signed(uint32_t a, uint32_t at, uint32_t n)
{
    n &= 31;
    return n ? (int32_t)((uint32_t)((int32_t)a >> (at & 31)) << (32 - n)) >> (32 - n) : 0;
}

/* Bytes of b and, from 4 on, a; 8 to 11 the signs of halves, 12 zeros, above ones. */
static inline uint32_t permute_bytes(uint32_t a, uint32_t b, uint32_t select)
{
    const uint64_t both = (uint64_t)a << 32 | b;
    uint32_t r = 0;
    for (int i = 0; i < 4; i++) {
        const uint32_t s = select >> 8 * i & 255;
        const uint32_t byte = s < 8 ? (uint32_t)(both >> 8 * s & 255) :
                              s < 12 ? (both >> (16 * (s - 8) + 15) & 1 ? 255u : 0) : s == 12 ? 0 : 255;
        r |= byte << 8 * i;
    }
    return r;
}

static inline int32_t low_24(uint32_t a)
{
    return (int32_t)(a << 8) >> 8;
}

static inline int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

static inline int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

static inline uint32_t smaller_u(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static inline uint32_t larger_u(uint32_t a, uint32_t b)
{
    return a > b ? a : b;
}

static inline int32_t saturated(int64_t a)
{
    return a > INT32_MAX ? INT32_MAX : a < INT32_MIN ? INT32_MIN : (int32_t)a;
}

static inline uint32_t absolute_difference(uint32_t a, uint32_t b)
{
    return a > b ? a - b : b - a;
}

/* Bits below the lane; `upper`: of lanes 32 to 63. */
static inline uint32_t below(uint32_t bits, uint32_t lane, int upper)
{
    const uint32_t n = upper ? (lane < 32 ? 0 : lane - 32) : lane;
    return count_bits(n >= 32 ? bits : bits & low_bits(n));
}

static inline int32_t dot_bytes(uint32_t a, uint32_t b, int a_signed, int b_signed)
{
    int32_t sum = 0;
    for (int k = 0; k < 32; k += 8) {
        const int32_t x = a_signed ? (int8_t)(a >> k) : (int32_t)(a >> k & 255);
        const int32_t y = b_signed ? (int8_t)(b >> k) : (int32_t)(b >> k & 255);
        sum += x * y;
    }
    return sum;
}

/* Whose clamp takes the nearest number that there is. */
#define SATURATING(X)                                                                      \
    X(add_nc_u32, "w-ww", x->clamp && U(0) + U(1) < U(0) ? ~0u : U(0) + U(1))              \
    X(sub_nc_u32, "w-ww", x->clamp && U(0) < U(1) ? 0 : U(0) - U(1))                       \
    X(subrev_nc_u32, "w-ww", x->clamp && U(1) < U(0) ? 0 : U(1) - U(0))                    \
    X(add_nc_i32, "w-ww", x->clamp ? (uint32_t)saturated((int64_t)I(0) + I(1)) : U(0) + U(1)) \
    X(sub_nc_i32, "w-ww", x->clamp ? (uint32_t)saturated((int64_t)I(0) - I(1)) : U(0) - U(1))

#define INTEGERS(X)                                                                        \
    X(and_b32, "w-ww", U(0) & U(1))                                                        \
    X(or_b32, "w-ww", U(0) | U(1))                                                         \
    X(xor_b32, "w-ww", U(0) ^ U(1))                                                        \
    X(xnor_b32, "w-ww", ~(U(0) ^ U(1)))                                                    \
    X(not_b32, "w-w", ~U(0))                                                               \
    X(lshlrev_b32, "w-ww", U(1) << (U(0) & 31))                                            \
    X(lshrrev_b32, "w-ww", U(1) >> (U(0) & 31))                                            \
    X(ashrrev_i32, "w-ww", I(1) >> (U(0) & 31))                                            \
    X(lshl_add_u32, "w-www", (U(0) << (U(1) & 31)) + U(2))                                 \
    X(add_lshl_u32, "w-www", (U(0) + U(1)) << (U(2) & 31))                                 \
    X(lshl_or_b32, "w-www", U(0) << (U(1) & 31) | U(2))                                    \
    X(and_or_b32, "w-www", (U(0) & U(1)) | U(2))                                           \
    X(or3_b32, "w-www", U(0) | U(1) | U(2))                                                \
    X(xor3_b32, "w-www", U(0) ^ U(1) ^ U(2))                                               \
    X(xad_u32, "w-www", (U(0) ^ U(1)) + U(2))                                              \
    X(add3_u32, "w-www", U(0) + U(1) + U(2))                                               \
    X(bfe_u32, "w-www", field_unsigned(U(0), U(1), U(2)))                                  \
    X(bfe_i32, "w-www", field_signed(U(0), U(1), U(2)))                                    \
    X(bfi_b32, "w-www", (U(0) & U(1)) | (~U(0) & U(2)))                                    \
    X(bfm_b32, "w-ww", low_bits(U(0) & 31) << (U(1) & 31))                                 \
    X(alignbit_b32, "w-www", (uint32_t)(((uint64_t)U(0) << 32 | U(1)) >> (U(2) & 31)))     \
    X(alignbyte_b32, "w-www", (uint32_t)(((uint64_t)U(0) << 32 | U(1)) >> 8 * (U(2) & 3))) \
    X(perm_b32, "w-www", permute_bytes(U(0), U(1), U(2)))                                  \
    X(mul_lo_u32, "w-ww", U(0) * U(1))                                                     \
    X(mul_hi_u32, "w-ww", (uint32_t)((uint64_t)U(0) * U(1) >> 32))                         \
    X(mul_hi_i32, "w-ww", (uint32_t)((uint64_t)((int64_t)I(0) * I(1)) >> 32))              \
    X(mul_u32_u24, "w-ww", (U(0) & 0xffffff) * (U(1) & 0xffffff))                          \
    X(mul_i32_i24, "w-ww", (uint32_t)low_24(U(0)) * (uint32_t)low_24(U(1)))                \
    X(mul_hi_u32_u24, "w-ww", (uint32_t)((uint64_t)(U(0) & 0xffffff) * (U(1) & 0xffffff) >> 32)) \
    X(mad_u32_u24, "w-www", (U(0) & 0xffffff) * (U(1) & 0xffffff) + U(2))                  \
    X(mad_i32_i24, "w-www", (uint32_t)low_24(U(0)) * (uint32_t)low_24(U(1)) + U(2))        \
    X(min_i32, "w-ww", smaller(I(0), I(1)))                                                \
    X(max_i32, "w-ww", larger(I(0), I(1)))                                                 \
    X(min_u32, "w-ww", smaller_u(U(0), U(1)))                                              \
    X(max_u32, "w-ww", larger_u(U(0), U(1)))                                               \
    X(min3_i32, "w-www", smaller(smaller(I(0), I(1)), I(2)))                               \
    X(max3_i32, "w-www", larger(larger(I(0), I(1)), I(2)))                                 \
    X(min3_u32, "w-www", smaller_u(smaller_u(U(0), U(1)), U(2)))                           \
    X(max3_u32, "w-www", larger_u(larger_u(U(0), U(1)), U(2)))                             \
    X(minmax_i32, "w-www", larger(smaller(I(0), I(1)), I(2)))                              \
    X(maxmin_i32, "w-www", smaller(larger(I(0), I(1)), I(2)))                              \
    X(minmax_u32, "w-www", larger_u(smaller_u(U(0), U(1)), U(2)))                          \
    X(maxmin_u32, "w-www", smaller_u(larger_u(U(0), U(1)), U(2)))                          \
    X(med3_i32, "w-www", larger(smaller(I(0), I(1)), smaller(larger(I(0), I(1)), I(2))))   \
    X(med3_u32, "w-www", larger_u(smaller_u(U(0), U(1)), smaller_u(larger_u(U(0), U(1)), U(2)))) \
    X(bcnt_u32_b32, "w-ww", count_bits(U(0)) + U(1))                                       \
    X(bfrev_b32, "w-w", reverse_bits(U(0)))                                                \
    X(clz_i32_u32, "w-w", leading_zeros(U(0)))                                             \
    X(cls_i32, "w-w", leading_signs(I(0)))                                                 \
    X(ctz_i32_b32, "w-w", trailing_zeros(U(0)))                                            \
    X(mbcnt_lo_u32_b32, "w-ww", below(U(0), LANE, 0) + U(1))                               \
    X(mbcnt_hi_u32_b32, "w-ww", below(U(0), LANE, 1) + U(1))                               \
    X(sad_u32, "w-www", absolute_difference(U(0), U(1)) + U(2))                            \
    X(dot4_i32_i8, "w-www", (uint32_t)dot_bytes(U(0), U(1), 1, 1) + U(2))                  \
    X(dot4_u32_u8, "w-www", (uint32_t)dot_bytes(U(0), U(1), 0, 0) + U(2))                  \
    X(mov_b32, "w-w", U(0))                                                                \
    X(accvgpr_read_b32, "w-w", U(0))                                                       \
    X(accvgpr_write_b32, "w-w", U(0))                                                      \
    X(accvgpr_mov_b32, "w-w", U(0))

#define LONGS(X)                                                                           \
    X(lshrrev_b64, "l-wl", U64(1) >> (U(0) & 63))                                          \
    X(ashrrev_i64, "l-wl", I64(1) >> (U(0) & 63))

SATURATING(DEFINE_U)
INTEGERS(DEFINE_U)
LONGS(DEFINE_L)
DEFINE_L(lshlrev_b64, , U64(1) << (U(0) & 63))
DEFINE_L(lshl_add_u64, , (U64(0) << (U(1) & 7)) + U64(2))
DEFINE_L(mov_b64, , U64(0))
DEFINE_U(cndmask_b32, , BIT_IN ? U(1) : U(0))

/* Any function of three bits: the bit of the table that they number is the result. */
static inline uint32_t by_table(uint32_t a, uint32_t b, uint32_t c, int table)
{
    uint32_t r = 0;
    for (int k = 0; k < 8; k++)
        if (table >> k & 1)
            r |= (k & 4 ? a : ~a) & (k & 2 ? b : ~b) & (k & 1 ? c : ~c);
    return r;
}
DEFINE_U(bitop3, , by_table(U(0), U(1), U(2), x->sub))

/* Sums with carries: `sub` 0 adds, 1 subtracts, 2 subtracts the first from the second. */
static void carry_chain(struct lanes *x)
{
    uint32_t r[CHUNK], carry[CHUNK];
    EACH_LANE {
        const uint64_t a = x->sub == 2 ? U(1) : U(0), b = x->sub == 2 ? U(0) : U(1), in = BIT_IN;
        const uint64_t sum = x->sub ? a - b - in : a + b + in;
        r[i] = (uint32_t)sum;
        carry[i] = sum >> 32 & 1;
    }
    memcpy((void *)x->out, r, sizeof r);
    x->bits_out = gather_bits(carry);
}

static void carry_begin(struct lanes *x)
{
    x->bits_in = 0;
    carry_chain(x);
}

static void mad_u64_u32(struct lanes *x)
{
    uint64_t r[CHUNK];
    uint32_t carry[CHUNK];
    EACH_LANE {
        const uint64_t product = (uint64_t)U(0) * U(1);
        r[i] = product + U64(2);
        carry[i] = r[i] < product;
    }
    put_longs(x, r);
    x->bits_out = gather_bits(carry);
}

static void mad_i64_i32(struct lanes *x)
{
    uint64_t r[CHUNK];
    uint32_t carry[CHUNK];
    EACH_LANE {
        const int64_t product = (int64_t)I(0) * I(1);
        r[i] = (uint64_t)product + U64(2);
        carry[i] = (product < 0) == (I64(2) < 0) ? product < 0 : (int64_t)r[i] < 0;
    }
    put_longs(x, r);
    x->bits_out = gather_bits(carry);
}

#endif
