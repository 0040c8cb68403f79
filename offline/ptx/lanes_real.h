/* lanes_real.h - arithmetic of f32, f64, f16 and bf16; part of lanes.c
 * SPDX-License-Identifier: Apache-2.0
 *
 * Correctly rounded where PTX says so, with fused operations fused. NaN results are whatever the host makes: PTX does
 * not specify their bits, but for min, max, cvt and 16-bit numbers. */
#ifndef PTX_LANES_REAL_H
#define PTX_LANES_REAL_H

#include "approx.h"
#include "lanes.h"
#include "offline/frame/small.h"

/* ---- f32: x, y, z are the operands, exact an expression in double of the same, rounded to odd ---- */

static void put_f32(struct warp *w, const struct op *o, uint32_t mask, float *out)
{
    if (o->ftz)
        for (int i = 0; i < LANES; i++)
            out[i] = flush(out[i]);
    if (o->sat)
        for (int i = 0; i < LANES; i++)
            out[i] = saturate(out[i]);
    put_w(w, o->reg[0], mask, out);
}

#define OPERAND(k, keep) (keep ? flush(IN(f32, k)) : IN(f32, k))
#define FLOAT_LOOP(n, keep, expression)                                                          \
    for (int i = 0; i < LANES; i++) {                                                            \
        const float x = OPERAND(1, keep), y = n > 1 ? OPERAND(n > 1 ? 2 : 1, keep) : 0,          \
                    z = n > 2 ? OPERAND(n > 2 ? 3 : 1, keep) : 0;                                \
        (void)x, (void)y, (void)z;                                                               \
        out[i] = (float)(expression);                                                            \
    }
#define FLOAT_OP(fn, n, expression, exact)                                                       \
    static void fn(struct warp *w, const struct op *o, uint32_t mask)                            \
    {                                                                                            \
        float out[LANES];                                                                        \
        if (o->round != ROUND_RN)                                                                \
            FLOAT_LOOP(n, o->ftz, round_float(exact, o->round))                                  \
        else if (o->ftz)                                                                         \
            FLOAT_LOOP(n, 1, expression)                                                         \
        else                                                                                     \
            FLOAT_LOOP(n, 0, expression)                                                         \
        put_f32(w, o, mask, out);                                                                \
    }

static inline float minimum(float x, float y)
{
    const float less = bits_of(x) >> 31 ? x : y; /* of equal ones that are zero, the negative */
    return isnan(x) ? (isnan(y) ? float_of(0x7fffffff) : y) : isnan(y) ? x : x < y ? x : y < x ? y : less;
}

static inline float maximum(float x, float y)
{
    const float more = bits_of(x) >> 31 ? y : x;
    return isnan(x) ? (isnan(y) ? float_of(0x7fffffff) : y) : isnan(y) ? x : x > y ? x : y > x ? y : more;
}

static inline float nan_through(float x, float y, float result)
{
    return isnan(x) || isnan(y) ? float_of(0x7fffffff) : result;
}

static inline double minimum_double(double x, double y)
{
    return isnan(x) ? y : isnan(y) ? x : x < y || (x == y && signbit(x)) ? x : y;
}

static inline double maximum_double(double x, double y)
{
    return isnan(x) ? y : isnan(y) ? x : x > y || (x == y && !signbit(x)) ? x : y;
}

/* Numbers that cancel are -0 where sums are rounded down. */
static inline double exact_sum(double x, double y, int mode)
{
    const double sum = add_odd(x, y);
    return sum == 0 && mode == ROUND_RM && !signbit(x) != !signbit(y) ? -0.0 : sum;
}

FLOAT_OP(add_f32, 2, x + y, exact_sum(x, y, o->round))
FLOAT_OP(sub_f32, 2, x - y, exact_sum(x, -(double)y, o->round))
FLOAT_OP(mul_f32, 2, x * y, (double)x * y)
FLOAT_OP(fma_f32, 3, fmaf(x, y, z), exact_sum((double)x * y, z, o->round))
FLOAT_OP(div_f32, 2, x / y, div_odd(x, y))
FLOAT_OP(rcp_f32, 1, 1 / x, div_odd(1, x))
FLOAT_OP(sqrt_f32, 1, sqrtf(x), sqrt_odd(x))
FLOAT_OP(min_f32, 2, minimum(x, y), 0)
FLOAT_OP(max_f32, 2, maximum(x, y), 0)
FLOAT_OP(min_nan_f32, 2, nan_through(x, y, minimum(x, y)), 0)
FLOAT_OP(max_nan_f32, 2, nan_through(x, y, maximum(x, y)), 0)
FLOAT_OP(neg_f32, 1, float_of(bits_of(x) ^ 0x80000000u), 0)
FLOAT_OP(abs_f32, 1, float_of(bits_of(x) & 0x7fffffffu), 0)
FLOAT_OP(ex2_f32, 1, approx_ex2(x, w->approximate), 0)
FLOAT_OP(lg2_f32, 1, approx_lg2(x, w->approximate), 0)
FLOAT_OP(rcp_approx_f32, 1, approx_rcp(x, w->approximate), 0)
FLOAT_OP(sqrt_approx_f32, 1, approx_sqrt(x, w->approximate), 0)
FLOAT_OP(rsqrt_f32, 1, approx_rsqrt(x, w->approximate), 0)
FLOAT_OP(sin_f32, 1, approx_sin(x, w->approximate), 0)
FLOAT_OP(cos_f32, 1, approx_cos(x, w->approximate), 0)
FLOAT_OP(tanh_f32, 1, approx_tanh(x, w->approximate), 0)
FLOAT_OP(div_approx_f32, 2, approx_div(x, y, w->approximate), 0)
FLOAT_OP(div_full_f32, 2, full_div(x, y, w->approximate), 0)
LANE_OP_W(copysign_f32, uint32_t, (IN(u32, 2) & 0x7fffffff) | (IN(u32, 1) & 0x80000000u))

/* testp: op->sub which. */
static void testp_f32(struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t bits = 0;
    for (int i = 0; i < LANES; i++) {
        const uint32_t a = IN(u32, 1) & 0x7fffffff;
        const uint32_t is[] = { a < 0x7f800000, a == 0x7f800000, a <= 0x7f800000, a > 0x7f800000,
                                a >= 0x800000 && a < 0x7f800000, a && a < 0x800000 };
        bits |= is[o->sub] << i;
    }
    put_p(w, o->reg[0], mask, bits);
}

/* ---- f64, to nearest only ---- */

LANE_OP_L(add_f64, double, IN(f64, 1) + IN(f64, 2))
LANE_OP_L(sub_f64, double, IN(f64, 1) - IN(f64, 2))
LANE_OP_L(mul_f64, double, IN(f64, 1) * IN(f64, 2))
LANE_OP_L(fma_f64, double, fma(IN(f64, 1), IN(f64, 2), IN(f64, 3)))
LANE_OP_L(div_f64, double, IN(f64, 1) / IN(f64, 2))
LANE_OP_L(rcp_f64, double, 1 / IN(f64, 1))
LANE_OP_L(sqrt_f64, double, sqrt(IN(f64, 1)))
LANE_OP_L(min_f64, double, minimum_double(IN(f64, 1), IN(f64, 2)))
LANE_OP_L(max_f64, double, maximum_double(IN(f64, 1), IN(f64, 2)))
LANE_OP_L(neg_f64, uint64_t, IN(u64, 1) ^ (uint64_t)1 << 63)
LANE_OP_L(abs_f64, uint64_t, IN(u64, 1) & ~((uint64_t)1 << 63))
LANE_OP_L(copysign_f64, uint64_t, (IN(u64, 2) & ~((uint64_t)1 << 63)) | (IN(u64, 1) & (uint64_t)1 << 63))
LANE_OP_L(rcp_approx_f64, double, approx_rcp_double(IN(f64, 1), w->approximate))
LANE_OP_L(rsqrt_approx_f64, double, approx_rsqrt_double(IN(f64, 1), w->approximate))
LANE_OP_L(rsqrt_f64, double, full_rsqrt_double(IN(f64, 1), w->approximate))

/* ---- f16 and bf16, one or two in a register: x, y, z in double, the result rounded once ---- */

static inline uint32_t small_flush(uint32_t x, int fraction, int ftz)
{
    const uint32_t exponent = fraction == 10 ? 0x7c00 : 0x7f80;
    return ftz && !(x & exponent) ? x & 0x8000 : x & 0xffff;
}

static inline double small_in(uint32_t bits, int fraction, int ftz)
{
    const uint32_t x = small_flush(bits, fraction, ftz);
    return fraction == 10 ? half_to_float(x) : bf16_to_float(x);
}

static inline uint32_t small_out(const struct op *o, double x, int fraction)
{
    if (o->sat)
        x = x > 0 ? x < 1 ? x : 1 : 0;
    return small_flush(round_small(x, fraction, ROUND_RN), fraction, o->ftz);
}

/* fn for one number, fn##x2 for two. */
#define SMALL_OPERAND(k, shift) small_in(IN(u32, k) >> (shift), fraction, o->ftz)
#define SMALL_ONE(n, shift, expression)                                                          \
    {                                                                                            \
        const double x = SMALL_OPERAND(1, shift), y = n > 1 ? SMALL_OPERAND(n > 1 ? 2 : 1, shift) : 0, \
                     z = n > 2 ? SMALL_OPERAND(n > 2 ? 3 : 1, shift) : 0;                        \
        (void)x, (void)y, (void)z;                                                               \
        out[i] |= small_out(o, expression, fraction) << (shift);                                 \
    }
#define SMALL_OP(fn, bits, n, expression)                                                        \
    static void fn(struct warp *w, const struct op *o, uint32_t mask)                            \
    {                                                                                            \
        const int fraction = bits;                                                               \
        uint32_t out[LANES] = { 0 };                                                             \
        for (int i = 0; i < LANES; i++)                                                          \
            SMALL_ONE(n, 0, expression)                                                          \
        put_w(w, o->reg[0], mask, out);                                                          \
    }                                                                                            \
    static void fn##x2(struct warp *w, const struct op *o, uint32_t mask)                        \
    {                                                                                            \
        const int fraction = bits;                                                               \
        uint32_t out[LANES] = { 0 };                                                             \
        for (int i = 0; i < LANES; i++) {                                                        \
            SMALL_ONE(n, 0, expression)                                                          \
            SMALL_ONE(n, 16, expression)                                                         \
        }                                                                                        \
        put_w(w, o->reg[0], mask, out);                                                          \
    }
#define SMALL_OPS(type, bits)                                                                    \
    SMALL_OP(add_##type, bits, 2, add_odd(x, y))                                                 \
    SMALL_OP(sub_##type, bits, 2, add_odd(x, -y))                                                \
    SMALL_OP(mul_##type, bits, 2, x * y)                                                         \
    SMALL_OP(fma_##type, bits, 3, add_odd(x * y, z))                                             \
    SMALL_OP(fma_relu_##type, bits, 3, maximum_double(add_odd(x * y, z), 0))                     \
    SMALL_OP(min_##type, bits, 2, minimum_double(x, y))                                          \
    SMALL_OP(max_##type, bits, 2, maximum_double(x, y))                                          \
    SMALL_OP(neg_##type, bits, 1, -x)                                                            \
    SMALL_OP(abs_##type, bits, 1, fabs(x))
SMALL_OPS(f16, 10)
SMALL_OPS(bf16, 7)

static inline double small_worst(double exact, double error, int sign)
{
    return exact + sign * error;
}
SMALL_OP(ex2_f16, 10, 1, small_worst(exp2(x), exp2(x) * 0x1.125fbee250663p-10, w->approximate))
SMALL_OP(ex2_bf16, 7, 1, small_worst(exp2(x), exp2(x) * 0x1p-7, w->approximate))
SMALL_OP(tanh_f16, 10, 1, small_worst(tanh(x), 0x1.0251353756991p-11, w->approximate))
SMALL_OP(tanh_bf16, 7, 1, small_worst(tanh(x), 0x1p-8, w->approximate))

/* ---- comparisons ---- */

static void put_compare(struct warp *w, const struct op *o, uint32_t mask, uint32_t p)
{
    const uint32_t c = o->combine ? get_p(w, o->reg[o->n_dst + 2]) : 0;
    const uint32_t both[] = { p, ~p };
    for (int k = 0; k < o->n_dst; k++) {
        const uint32_t combined[] = { both[k], both[k] & c, both[k] | c, both[k] ^ c };
        put_p(w, o->reg[k], mask, combined[o->combine]);
    }
}

#define COMPARE_OP(fn, load, T, expression)                                                      \
    static void fn(struct warp *w, const struct op *o, uint32_t mask)                            \
    {                                                                                            \
        const int k = o->n_dst;                                                                  \
        uint32_t bits = 0;                                                                       \
        for (int i = 0; i < LANES; i++) {                                                        \
            const T x = load(k), y = load(k + 1);                                                \
            bits |= (uint32_t)(expression) << i;                                                 \
        }                                                                                        \
        put_compare(w, o, mask, bits);                                                           \
    }
#define LOAD_u16(k) (uint16_t)IN(u32, k)
#define LOAD_s16(k) (int16_t)IN(u32, k)
#define LOAD_u32(k) IN(u32, k)
#define LOAD_s32(k) IN(s32, k)
#define LOAD_u64(k) IN(u64, k)
#define LOAD_s64(k) IN(s64, k)
#define LOAD_f32(k) (o->ftz ? flush(IN(f32, k)) : IN(f32, k))
#define LOAD_f64(k) IN(f64, k)
#define LOAD_f16(k) (float)small_in(IN(u32, k), 10, o->ftz)
#define LOAD_bf16(k) (float)small_in(IN(u32, k), 7, o->ftz)
#define COMPARE_WHOLE(type, T)                       \
    COMPARE_OP(eq_##type, LOAD_##type, T, x == y)    \
    COMPARE_OP(ne_##type, LOAD_##type, T, x != y)    \
    COMPARE_OP(lt_##type, LOAD_##type, T, x < y)     \
    COMPARE_OP(le_##type, LOAD_##type, T, x <= y)    \
    COMPARE_OP(gt_##type, LOAD_##type, T, x > y)     \
    COMPARE_OP(ge_##type, LOAD_##type, T, x >= y)
#define COMPARE_REAL(type, T)                                       \
    COMPARE_OP(eq_##type, LOAD_##type, T, x == y)                   \
    COMPARE_OP(ne_##type, LOAD_##type, T, (x < y) | (x > y))        \
    COMPARE_OP(lt_##type, LOAD_##type, T, x < y)                    \
    COMPARE_OP(le_##type, LOAD_##type, T, x <= y)                   \
    COMPARE_OP(gt_##type, LOAD_##type, T, x > y)                    \
    COMPARE_OP(ge_##type, LOAD_##type, T, x >= y)                   \
    COMPARE_OP(equ_##type, LOAD_##type, T, !((x < y) | (x > y)))    \
    COMPARE_OP(neu_##type, LOAD_##type, T, x != y)                  \
    COMPARE_OP(ltu_##type, LOAD_##type, T, !(x >= y))               \
    COMPARE_OP(leu_##type, LOAD_##type, T, !(x > y))                \
    COMPARE_OP(gtu_##type, LOAD_##type, T, !(x <= y))               \
    COMPARE_OP(geu_##type, LOAD_##type, T, !(x < y))                \
    COMPARE_OP(num_##type, LOAD_##type, T, (x == x) & (y == y))     \
    COMPARE_OP(nan_##type, LOAD_##type, T, (x != x) | (y != y))
COMPARE_WHOLE(u16, uint16_t)
COMPARE_WHOLE(s16, int16_t)
COMPARE_WHOLE(u32, uint32_t)
COMPARE_WHOLE(s32, int32_t)
COMPARE_WHOLE(u64, uint64_t)
COMPARE_WHOLE(s64, int64_t)
COMPARE_REAL(f32, float)
COMPARE_REAL(f64, double)
COMPARE_REAL(f16, float)
COMPARE_REAL(bf16, float)

/* ---- conversions ---- */

/* A source as double, or as a whole number that double may not hold. */
struct number {
    int is_real;
    double real;
    uint64_t whole; /* sign-extended */
    int is_signed;
};

static inline struct number convert_in(const struct warp *w, const struct op *o, int i)
{
    struct number n = { 0, 0, 0, 0 };
    const uint32_t slot = o->reg[1];
    const uint32_t low = ptx_type_bytes(o->type2) == 8 ? 0 : reg_u32(w, slot)[i];
    const uint64_t all = ptx_type_bytes(o->type2) == 8 ? ((const lane_u64 *)reg_u32(w, slot))[i] : low;
    switch (o->type2) {
    case T_F16: n.is_real = 1, n.real = half_to_float(low & 0xffff); break;
    case T_BF16: n.is_real = 1, n.real = bf16_to_float(low & 0xffff); break;
    case T_F32: n.is_real = 1, n.real = o->ftz ? flush(float_of(low)) : float_of(low); break;
    case T_F64: n.is_real = 1, n.real = double_of(all); break;
    case T_S8: n.is_signed = 1, n.whole = (uint64_t)(int8_t)low; break;
    case T_S16: n.is_signed = 1, n.whole = (uint64_t)(int16_t)low; break;
    case T_S32: n.is_signed = 1, n.whole = (uint64_t)(int32_t)low; break;
    case T_S64: n.is_signed = 1, n.whole = all; break;
    case T_U8: n.whole = low & 0xff; break;
    case T_U16: n.whole = low & 0xffff; break;
    default: n.whole = all; break;
    }
    return n;
}

/* A whole number of 64 bits rounded to odd at 53, so that it may be rounded again. */
static inline double whole_odd(struct number n)
{
    const int negative = n.is_signed && (int64_t)n.whole < 0;
    uint64_t magnitude = negative ? 0 - n.whole : n.whole;
    if (magnitude >> 53)
        magnitude = (magnitude & ~(uint64_t)0x7ff) | ((magnitude & 0x7ff) ? 0x800 : 0);
    return negative ? -(double)magnitude : (double)magnitude;
}

static inline uint64_t convert_to_real(const struct op *o, struct number n)
{
    double x = n.is_real          ? n.real
               : o->type == T_F64 ? (n.is_signed ? (double)(int64_t)n.whole : (double)n.whole)
                                  : whole_odd(n);
    if (o->integral)
        x = round_whole(x, o->round);
    if (o->sat)
        x = x > 0 ? x < 1 ? x : 1 : 0;
    if (o->type == T_F64)
        return bits64_of(x);
    if (o->type == T_F32) {
        const float f = isnan(x) ? float_of(0x7fffffff) : round_float(x, o->round);
        return bits_of(o->ftz ? flush(f) : f);
    }
    return round_small(x, o->type == T_F16 ? 10 : 7, o->round);
}

/* Out of range is clamped; NaN is 0, but where 64 bits are on either side the lowest signed number. */
static inline uint64_t real_to_whole(const struct op *o, double value)
{
    const int bits = 8 * ptx_type_bytes(o->type), is_signed = o->type == T_S8 || o->type == T_S16 || o->type == T_S32 ||
                                                              o->type == T_S64;
    const double x = round_whole(value, o->round);
    const double high = ldexp(1, bits - is_signed), low = is_signed ? -high : 0;
    if (isnan(x))
        return bits == 64 || o->type2 == T_F64 ? (uint64_t)1 << (bits - 1) : 0;
    if (x >= high)
        return ~(uint64_t)0 >> (64 - bits + is_signed);
    if (x <= low)
        return is_signed ? (uint64_t)1 << (bits - 1) : 0;
    return is_signed ? (uint64_t)(int64_t)x : (uint64_t)x;
}

static inline uint64_t whole_to_whole(const struct op *o, struct number n)
{
    const int bits = 8 * ptx_type_bytes(o->type), is_signed = o->type == T_S8 || o->type == T_S16 || o->type == T_S32 ||
                                                              o->type == T_S64;
    if (!o->sat)
        return n.whole;
    const uint64_t high = ~(uint64_t)0 >> (64 - bits + is_signed);
    if (n.is_signed && (int64_t)n.whole < 0) {
        const int64_t low = is_signed ? -(int64_t)high - 1 : 0;
        return (int64_t)n.whole < low ? (uint64_t)low : n.whole;
    }
    return n.whole > high ? high : n.whole;
}

/* What is narrower than its register is extended as its type says (PTX does so for signed ones). */
static void convert(struct warp *w, const struct op *o, uint32_t mask)
{
    const int to_real = o->type == T_F16 || o->type == T_BF16 || o->type == T_F32 || o->type == T_F64;
    uint64_t out[LANES];
    for (int i = 0; i < LANES; i++) {
        const struct number n = convert_in(w, o, i);
        uint64_t x = to_real ? convert_to_real(o, n) : n.is_real ? real_to_whole(o, n.real) : whole_to_whole(o, n);
        switch (o->type) {
        case T_S8: x = (uint64_t)(int8_t)x; break;
        case T_U8: x = (uint8_t)x; break;
        case T_S16: x = (uint64_t)(int16_t)x; break;
        case T_U16: x = (uint16_t)x; break;
        case T_S32: x = (uint64_t)(int32_t)x; break;
        case T_U32: x = (uint32_t)x; break;
        default: break;
        }
        out[i] = x;
    }
    if (o->width == 8) {
        put_l(w, o->reg[0], mask, out);
        return;
    }
    uint32_t low[LANES];
    for (int i = 0; i < LANES; i++)
        low[i] = (uint32_t)(o->width == 4 ? out[i] : out[i] & 0xffff);
    put_w(w, o->reg[0], mask, low);
}

/* The frequent ones. */
LANE_OP_W(convert_s32_f32, float, IN(s32, 1))
LANE_OP_W(convert_f16_f32, float, half_to_float(IN(u32, 1) & 0xffff))
LANE_OP_W(convert_f32_f16, uint32_t, float_to_half(IN(f32, 1)))
LANE_OP_L(convert_s32_s64, int64_t, IN(s32, 1))
LANE_OP_L(convert_u32_u64, uint64_t, IN(u32, 1))
LANE_OP_W(convert_low, uint32_t, IN(u64, 1))

/* Two of f32 to a pair of 16 bits: the first source is the upper half. */
static inline uint32_t pair_part(const struct op *o, float x, int fraction)
{
    if (o->sub && (x < 0 || isnan(x))) /* .relu */
        x = isnan(x) ? x : 0;
    if (o->round == ROUND_RN)
        return fraction == 10 ? float_to_half(x) : float_to_bf16(x);
    return round_small(x, fraction, o->round);
}
LANE_OP_W(convert_f16x2, uint32_t, pair_part(o, IN(f32, 1), 10) << 16 | pair_part(o, IN(f32, 2), 10))
LANE_OP_W(convert_bf16x2, uint32_t, pair_part(o, IN(f32, 1), 7) << 16 | pair_part(o, IN(f32, 2), 7))

#endif
