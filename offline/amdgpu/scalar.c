/* scalar.c - scalar instructions, and the table of them
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "inside.h"

#define A ((uint32_t)x->a)
#define B ((uint32_t)x->b)
#define SA ((int32_t)x->a)
#define SB ((int32_t)x->b)
#define FA float_of(A)
#define FB float_of(B)
#define FC float_of((uint32_t)x->c)

/* X(name, operands, flags, result, scc): R is the result, of 32 or 64 bits by the operands. */
#define R ((uint32_t)x->r)
#define KEEP (x->scc)
#define NOT_ZERO (x->r != 0)

static inline uint32_t ones(uint32_t n) /* 0 to 32 */
{
    return n >= 32 ? ~0u : ((uint32_t)1 << n) - 1;
}

static inline uint64_t ones64(uint32_t n)
{
    return n >= 64 ? ~(uint64_t)0 : ((uint64_t)1 << n) - 1;
}

static inline uint32_t bits_in(uint64_t a)
{
    return count_lanes(a);
}

static inline uint32_t zeros_before(uint64_t a, uint32_t bits)
{
    uint32_t n = 0;
    while (a && !(a >> (bits - 1 - n)))
        n++;
    return a ? n : ~0u;
}

static inline uint32_t zeros_behind(uint64_t a)
{
    return a ? lowest_lane(a) : ~0u;
}

static inline uint64_t reversed(uint64_t a, uint32_t bits)
{
    uint64_t r = 0;
    for (uint32_t i = 0; i < bits; i++)
        r |= (a >> i & 1) << (bits - 1 - i);
    return r;
}

static inline uint32_t field_u32(uint32_t a, uint32_t what)
{
    return a >> (what & 31) & ones(what >> 16 & 127);
}

static inline uint64_t field_u64(uint64_t a, uint32_t what)
{
    return a >> (what & 63) & ones64(what >> 16 & 127);
}

static inline uint64_t extended(uint64_t a, uint32_t n, uint32_t bits) /* the lower n bits with their sign */
{
    if (n == 0)
        return 0;
    return n >= bits ? a : (uint64_t)((int64_t)(a << (64 - n)) >> (64 - n));
}

static inline uint32_t field_i32(uint32_t a, uint32_t what)
{
    const uint32_t n = what >> 16 & 127, at = what & 31;
    return (uint32_t)extended((uint64_t)(int64_t)(int32_t)a >> at, n > 32 - at ? 32 - at : n, 64);
}

static inline uint64_t field_i64(uint64_t a, uint32_t what)
{
    const uint32_t n = what >> 16 & 127, at = what & 63;
    return extended((uint64_t)((int64_t)a >> at), n > 64 - at ? 64 - at : n, 64);
}

static inline int32_t whole(float a)
{
    return isnan(a) ? 0 : a >= 0x1p31f ? INT32_MAX : a <= -0x1p31f ? INT32_MIN : (int32_t)a;
}

static inline uint32_t whole_u(float a)
{
    return isnan(a) || a <= 0 ? 0 : a >= 0x1p32f ? UINT32_MAX : (uint32_t)a;
}

static inline float least(float a, float b)
{
    return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b;
}

static inline float most(float a, float b)
{
    return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && signbit(b)) ? a : b;
}

enum { SET = FORM_SCC, IN = FORM_SCC_IN, BITWISE = FORM_BITS | FORM_SCC, SHIFT = FORM_SHIFTS | FORM_SCC };

#define WORDS(X)                                                                                \
    X(s_mov_b32, "s-w", FORM_BITS, A, KEEP)                                                     \
    X(s_add_u32, "s-ww", SET, A + B, R < A)                                                     \
    X(s_sub_u32, "s-ww", SET, A - B, A < B)                                                     \
    X(s_add_i32, "s-ww", SET, A + B, ((R ^ A) & (R ^ B)) >> 31)                                 \
    X(s_sub_i32, "s-ww", SET, A - B, ((A ^ B) & (R ^ A)) >> 31)                                 \
    X(s_addc_u32, "s-ww", SET | IN, (uint64_t)A + B + x->scc, x->r >> 32)                \
    X(s_subb_u32, "s-ww", SET | IN, (uint64_t)A - B - x->scc, x->r >> 32 & 1)            \
    X(s_mul_i32, "s-ww", 0, A * B, KEEP)                                                        \
    X(s_mul_hi_u32, "s-ww", 0, (uint64_t)A * B >> 32, KEEP)                                     \
    X(s_mul_hi_i32, "s-ww", 0, (uint64_t)((int64_t)SA * SB) >> 32 & 0xffffffffu, KEEP)          \
    X(s_and_b32, "s-ww", BITWISE, A & B, NOT_ZERO)                                              \
    X(s_or_b32, "s-ww", BITWISE, A | B, NOT_ZERO)                                               \
    X(s_xor_b32, "s-ww", BITWISE, A ^ B, NOT_ZERO)                                              \
    X(s_and_not1_b32, "s-ww", BITWISE, A & ~B, NOT_ZERO)                                        \
    X(s_or_not1_b32, "s-ww", BITWISE, A | ~B, NOT_ZERO)                                         \
    X(s_nand_b32, "s-ww", BITWISE, ~(A & B), NOT_ZERO)                                          \
    X(s_nor_b32, "s-ww", BITWISE, ~(A | B), NOT_ZERO)                                           \
    X(s_xnor_b32, "s-ww", BITWISE, ~(A ^ B), NOT_ZERO)                                          \
    X(s_not_b32, "s-w", BITWISE, ~A, NOT_ZERO)                                                  \
    X(s_lshl_b32, "s-ww", SHIFT, A << (B & 31), NOT_ZERO)                                         \
    X(s_lshr_b32, "s-ww", SHIFT, A >> (B & 31), NOT_ZERO)                                         \
    X(s_ashr_i32, "s-ww", SHIFT, (uint32_t)(SA >> (B & 31)), NOT_ZERO)                            \
    X(s_min_i32, "s-ww", SET, SA < SB ? A : B, SA < SB)                                         \
    X(s_max_i32, "s-ww", SET, SA > SB ? A : B, SA > SB)                                         \
    X(s_min_u32, "s-ww", SET, A < B ? A : B, A < B)                                             \
    X(s_max_u32, "s-ww", SET, A > B ? A : B, A > B)                                             \
    X(s_cselect_b32, "s-ww", IN | FORM_BITS, x->scc ? A : B, KEEP)                              \
    X(s_abs_i32, "s-w", SET, SA < 0 ? 0 - A : A, NOT_ZERO)                                      \
    X(s_sext_i32_i8, "s-w", FORM_SHIFTS, (uint32_t)(int32_t)(int8_t)A, KEEP)                              \
    X(s_sext_i32_i16, "s-w", FORM_SHIFTS, (uint32_t)(int32_t)(int16_t)A, KEEP)                            \
    X(s_bcnt1_i32_b32, "s-w", SET, bits_in(A), NOT_ZERO)                                        \
    X(s_bcnt0_i32_b32, "s-w", SET, 32 - bits_in(A), NOT_ZERO)                                   \
    X(s_bcnt1_i32_b64, "s-l", SET, bits_in(x->a), NOT_ZERO)                                     \
    X(s_clz_i32_u32, "s-w", 0, zeros_before(A, 32), KEEP)                                       \
    X(s_clz_i32_u64, "s-l", 0, zeros_before(x->a, 64), KEEP)                                    \
    X(s_cls_i32, "s-w", 0, zeros_before(SA < 0 ? ~A : A, 32), KEEP)                             \
    X(s_ctz_i32_b32, "s-w", 0, zeros_behind(A), KEEP)                                           \
    X(s_ctz_i32_b64, "s-l", 0, zeros_behind(x->a), KEEP)                                        \
    X(s_brev_b32, "s-w", FORM_SHIFTS, reversed(A, 32), KEEP)                                              \
    X(s_bfe_u32, "s-ww", SHIFT, field_u32(A, B), NOT_ZERO)                                        \
    X(s_bfe_i32, "s-ww", SHIFT, field_i32(A, B), NOT_ZERO)                                        \
    X(s_bfm_b32, "s-ww", 0, ones(A & 31) << (B & 31), KEEP)                                     \
    X(s_pack_ll_b32_b16, "s-ww", 0, (A & 0xffff) | B << 16, KEEP)                               \
    X(s_pack_lh_b32_b16, "s-ww", 0, (A & 0xffff) | (B & 0xffff0000u), KEEP)                     \
    X(s_pack_hh_b32_b16, "s-ww", 0, A >> 16 | (B & 0xffff0000u), KEEP)                          \
    X(s_pack_hl_b32_b16, "s-ww", 0, A >> 16 | B << 16, KEEP)                                    \
    X(s_lshl1_add_u32, "s-ww", SET, ((uint64_t)A << 1) + B, x->r >> 32 != 0)             \
    X(s_lshl2_add_u32, "s-ww", SET, ((uint64_t)A << 2) + B, x->r >> 32 != 0)             \
    X(s_lshl3_add_u32, "s-ww", SET, ((uint64_t)A << 3) + B, x->r >> 32 != 0)             \
    X(s_lshl4_add_u32, "s-ww", SET, ((uint64_t)A << 4) + B, x->r >> 32 != 0)             \
    X(s_movk_i32, "s-k", 0, (uint32_t)(int32_t)(int16_t)A, KEEP)                                \
    X(s_add_f32, "s-ww", 0, bits_of(FA + FB), KEEP)                                             \
    X(s_sub_f32, "s-ww", 0, bits_of(FA - FB), KEEP)                                             \
    X(s_mul_f32, "s-ww", 0, bits_of(FA * FB), KEEP)                                             \
    X(s_min_num_f32, "s-ww", 0, bits_of(least(FA, FB)), KEEP)                                   \
    X(s_max_num_f32, "s-ww", 0, bits_of(most(FA, FB)), KEEP)                                    \
    X(s_min_f32, "s-ww", 0, bits_of(least(FA, FB)), KEEP)                                       \
    X(s_max_f32, "s-ww", 0, bits_of(most(FA, FB)), KEEP)                                        \
    X(s_fmaak_f32, "s-www", 0, bits_of(fmaf(FA, FB, FC)), KEEP)                                 \
    X(s_fmamk_f32, "s-www", 0, bits_of(fmaf(FA, FB, FC)), KEEP)                                 \
    X(s_cvt_f32_i32, "s-w", 0, bits_of((float)SA), KEEP)                                        \
    X(s_cvt_f32_u32, "s-w", 0, bits_of((float)A), KEEP)                                         \
    X(s_cvt_i32_f32, "s-w", 0, (uint32_t)whole(FA), KEEP)                                       \
    X(s_cvt_u32_f32, "s-w", 0, whole_u(FA), KEEP)                                               \
    X(s_cvt_f16_f32, "s-w", 0, float_to_half(FA), KEEP)                                         \
    X(s_cvt_f32_f16, "s-w", 0, bits_of(half_to_float(A & 0xffff)), KEEP)                        \
    X(s_trunc_f32, "s-w", 0, bits_of(truncf(FA)), KEEP)                                         \
    X(s_rndne_f32, "s-w", 0, bits_of(rintf(FA)), KEEP)                                          \
    X(s_floor_f32, "s-w", 0, bits_of(floorf(FA)), KEEP)                                         \
    X(s_ceil_f32, "s-w", 0, bits_of(ceilf(FA)), KEEP)

/* The destination is the last source, too. */
#define TIED(X)                                                                                 \
    X(s_addk_i32, "s-k", SET, B + (uint32_t)(int32_t)(int16_t)A,                                \
      ((R ^ B) & (R ^ (uint32_t)(int32_t)(int16_t)A)) >> 31)                                    \
    X(s_mulk_i32, "s-k", 0, B * (uint32_t)(int32_t)(int16_t)A, KEEP)                            \
    X(s_cmov_b32, "s-w", IN, x->scc ? A : B, KEEP)                                              \
    X(s_cmovk_i32, "s-k", IN, x->scc ? (uint32_t)(int32_t)(int16_t)A : B, KEEP)                 \
    X(s_bitset0_b32, "s-w", 0, B & ~((uint32_t)1 << (A & 31)), KEEP)                            \
    X(s_bitset1_b32, "s-w", 0, B | (uint32_t)1 << (A & 31), KEEP)                               \
    X(s_fmac_f32, "s-ww", 0, bits_of(fmaf(FA, FB, FC)), KEEP)

#define LONGS(X)                                                                                \
    X(s_mov_b64, "L-l", FORM_BITS, x->a, KEEP)                                                  \
    X(s_and_b64, "L-ll", BITWISE, x->a & x->b, NOT_ZERO)                                        \
    X(s_or_b64, "L-ll", BITWISE, x->a | x->b, NOT_ZERO)                                         \
    X(s_xor_b64, "L-ll", BITWISE, x->a ^ x->b, NOT_ZERO)                                        \
    X(s_and_not1_b64, "L-ll", BITWISE, x->a & ~x->b, NOT_ZERO)                                  \
    X(s_or_not1_b64, "L-ll", BITWISE, x->a | ~x->b, NOT_ZERO)                                   \
    X(s_nand_b64, "L-ll", BITWISE, ~(x->a & x->b), NOT_ZERO)                                    \
    X(s_nor_b64, "L-ll", BITWISE, ~(x->a | x->b), NOT_ZERO)                                     \
    X(s_xnor_b64, "L-ll", BITWISE, ~(x->a ^ x->b), NOT_ZERO)                                    \
    X(s_not_b64, "L-l", BITWISE, ~x->a, NOT_ZERO)                                               \
    X(s_cselect_b64, "L-ll", IN | FORM_BITS, x->scc ? x->a : x->b, KEEP)                        \
    X(s_lshl_b64, "L-lw", SHIFT, x->a << (B & 63), NOT_ZERO)                                      \
    X(s_lshr_b64, "L-lw", SHIFT, x->a >> (B & 63), NOT_ZERO)                                      \
    X(s_ashr_i64, "L-lw", SHIFT, (uint64_t)((int64_t)x->a >> (B & 63)), NOT_ZERO)                 \
    X(s_bfe_u64, "L-lw", SHIFT, field_u64(x->a, B), NOT_ZERO)                                     \
    X(s_bfe_i64, "L-lw", SHIFT, field_i64(x->a, B), NOT_ZERO)                                     \
    X(s_bfm_b64, "L-ww", 0, ones64(A & 63) << (B & 63), KEEP)                                   \
    X(s_brev_b64, "L-l", FORM_SHIFTS, reversed(x->a, 64), KEEP)                                           \
    X(s_mul_u64, "L-ll", 0, x->a * x->b, KEEP)                                                  \
    X(s_add_nc_u64, "L-ll", 0, x->a + x->b, KEEP)                                               \
    X(s_sub_nc_u64, "L-ll", 0, x->a - x->b, KEEP)

/* Without a result. */
#define COMPARE_INTEGERS(X, type, c, in)                                                        \
    X(s_cmp_eq_##type, c, in(a) == in(b)) X(s_cmp_lg_##type, c, in(a) != in(b))
#define COMPARE_ORDER(X, type, c, in)                                                           \
    X(s_cmp_gt_##type, c, in(a) > in(b)) X(s_cmp_ge_##type, c, in(a) >= in(b))                  \
    X(s_cmp_lt_##type, c, in(a) < in(b)) X(s_cmp_le_##type, c, in(a) <= in(b))
#define COMPARE_REALS(X, type, in)                                                              \
    COMPARE_ORDER(X, type, "ww", in)                                                            \
    X(s_cmp_eq_##type, "ww", in(a) == in(b))                                                    \
    X(s_cmp_lg_##type, "ww", in(a) < in(b) || in(a) > in(b))                                    \
    X(s_cmp_o_##type, "ww", !isnan(in(a)) && !isnan(in(b)))                                     \
    X(s_cmp_u_##type, "ww", isnan(in(a)) || isnan(in(b)))                                       \
    X(s_cmp_neq_##type, "ww", !(in(a) == in(b)))                                                \
    X(s_cmp_nge_##type, "ww", !(in(a) >= in(b))) X(s_cmp_ngt_##type, "ww", !(in(a) > in(b)))    \
    X(s_cmp_nle_##type, "ww", !(in(a) <= in(b))) X(s_cmp_nlt_##type, "ww", !(in(a) < in(b)))    \
    X(s_cmp_nlg_##type, "ww", !(in(a) < in(b) || in(a) > in(b)))
#define IN_I32(k) ((int32_t)x->k)
#define IN_U32(k) ((uint32_t)x->k)
#define IN_U64(k) (x->k)
#define IN_F32(k) float_of((uint32_t)x->k)
#define IN_F16(k) half_to_float((uint32_t)x->k & 0xffff)
#define SIGNED_16 ((int32_t)(int16_t)x->b)
#define UNSIGNED_16 ((uint32_t)x->b & 0xffff)
#define COMPARE_SHORT(X, type, c, in, k)                                                        \
    X(s_cmpk_eq_##type, c, in(a) == k) X(s_cmpk_lg_##type, c, in(a) != k)                       \
    X(s_cmpk_gt_##type, c, in(a) > k) X(s_cmpk_ge_##type, c, in(a) >= k)                        \
    X(s_cmpk_lt_##type, c, in(a) < k) X(s_cmpk_le_##type, c, in(a) <= k)
#define COMPARES(X)                                                                             \
    COMPARE_INTEGERS(X, i32, "ww", IN_I32) COMPARE_ORDER(X, i32, "ww", IN_I32)                  \
    COMPARE_INTEGERS(X, u32, "ww", IN_U32) COMPARE_ORDER(X, u32, "ww", IN_U32)                  \
    COMPARE_INTEGERS(X, u64, "ll", IN_U64)                                                      \
    COMPARE_REALS(X, f32, IN_F32) COMPARE_REALS(X, f16, IN_F16)                                 \
    COMPARE_SHORT(X, i32, "wk", IN_I32, SIGNED_16) COMPARE_SHORT(X, u32, "wu", IN_U32, UNSIGNED_16) \
    X(s_bitcmp0_b32, "ww", !(A >> (B & 31) & 1)) X(s_bitcmp1_b32, "ww", A >> (B & 31) & 1)      \
    X(s_bitcmp0_b64, "lw", !(x->a >> (B & 63) & 1)) X(s_bitcmp1_b64, "lw", x->a >> (B & 63) & 1)

#define DEFINE(name, operands, flags, result, carry) \
    static void name(struct scalar *x)               \
    {                                                \
        x->r = (result);                             \
        const uint32_t scc = (uint32_t)(carry);      \
        x->r = (uint32_t)x->r;                       \
        x->scc = scc;                                \
    }
#define DEFINE_LONG(name, operands, flags, result, carry) \
    static void name(struct scalar *x)                    \
    {                                                     \
        x->r = (result);                                  \
        x->scc = (uint32_t)(carry);                       \
    }
#define DEFINE_COMPARE(name, operands, result) \
    static void name(struct scalar *x)         \
    {                                          \
        x->scc = (uint32_t)((result) != 0);    \
    }
WORDS(DEFINE)
TIED(DEFINE)
LONGS(DEFINE_LONG)
COMPARES(DEFINE_COMPARE)

#define ROW(fn, operands, flags, result, carry) \
    { #fn, operands, NULL, fn, NULL, flags, 0, DEFINE_ALL, NULL, 0, 0, 0, 0, 0 },
#define ROW_TIED(fn, operands, flags, result, carry) \
    { #fn, operands, NULL, fn, NULL, (flags) | FORM_TIED, 0, DEFINE_ALL, NULL, 0, 0, 0, 0, 0 },
#define ROW_COMPARE(fn, operands, result) \
    { #fn, operands, NULL, fn, NULL, FORM_SCC, 0, DEFINE_ALL, NULL, 0, 0, 0, 0, 0 },

static const struct form forms[] = { WORDS(ROW) TIED(ROW_TIED) LONGS(ROW) COMPARES(ROW_COMPARE) };

struct forms amdgpu_scalar_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
