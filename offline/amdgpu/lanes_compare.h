/* lanes_compare.h - comparisons to a mask of lanes
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef AMDGPU_LANES_COMPARE_H
#define AMDGPU_LANES_COMPARE_H

#include "lanes.h"

#define COMPARE_WHOLE(X, type, in, c)                       \
    X(lt_##type, in(0) < in(1), #type, "lt", c)             \
    X(eq_##type, in(0) == in(1), #type, "eq", c)            \
    X(le_##type, in(0) <= in(1), #type, "le", c)            \
    X(gt_##type, in(0) > in(1), #type, "gt", c)             \
    X(ne_##type, in(0) != in(1), #type, "ne", c)            \
    X(ge_##type, in(0) >= in(1), #type, "ge", c)
#define COMPARE_REAL(X, type, in, c)                        \
    X(lt_##type, in(0) < in(1), #type, "lt", c)             \
    X(eq_##type, in(0) == in(1), #type, "eq", c)            \
    X(le_##type, in(0) <= in(1), #type, "le", c)            \
    X(gt_##type, in(0) > in(1), #type, "gt", c)             \
    X(lg_##type, in(0) < in(1) || in(0) > in(1), #type, "lg", c) \
    X(ge_##type, in(0) >= in(1), #type, "ge", c)            \
    X(o_##type, in(0) == in(0) && in(1) == in(1), #type, "o", c) \
    X(u_##type, in(0) != in(0) || in(1) != in(1), #type, "u", c) \
    X(nge_##type, !(in(0) >= in(1)), #type, "nge", c)       \
    X(nlg_##type, !(in(0) < in(1) || in(0) > in(1)), #type, "nlg", c) \
    X(ngt_##type, !(in(0) > in(1)), #type, "ngt", c)        \
    X(nle_##type, !(in(0) <= in(1)), #type, "nle", c)       \
    X(neq_##type, !(in(0) == in(1)), #type, "neq", c)       \
    X(nlt_##type, !(in(0) < in(1)), #type, "nlt", c)
#define COMPARES(X)                                         \
    COMPARE_WHOLE(X, i16, I16, "ii") COMPARE_WHOLE(X, u16, U16, "ii") \
    COMPARE_WHOLE(X, i32, I, "ww") COMPARE_WHOLE(X, u32, U, "ww") \
    COMPARE_WHOLE(X, i64, I64, "ll") COMPARE_WHOLE(X, u64, U64, "ll") \
    COMPARE_REAL(X, f16, H, "hh") COMPARE_REAL(X, f32, F, "ff") COMPARE_REAL(X, f64, D, "dd")

/* Bits: NaN that signals, quiet NaN, -inf, -normal, -denormal, -0, +0, +denormal, +normal, +inf. */
static inline uint32_t class_of(int is_nan, int quiet, int infinite, int zero, int denormal, int negative)
{
    if (is_nan)
        return quiet ? 2 : 1;
    const int k = infinite ? 0 : zero ? 3 : denormal ? 2 : 1;
    return negative ? 4u << k : 512u >> k;
}

static inline uint32_t class_f32(uint32_t b)
{
    const uint32_t e = b >> 23 & 255, m = b & 0x7fffff;
    return class_of(e == 255 && m, m >> 22 != 0, e == 255, !e && !m, !e, b >> 31 != 0);
}

static inline uint32_t class_f16(uint32_t b)
{
    const uint32_t e = b >> 10 & 31, m = b & 0x3ff;
    return class_of(e == 31 && m, m >> 9 != 0, e == 31, !e && !m, !e, (b >> 15 & 1) != 0);
}

static inline uint32_t class_f64(uint64_t b)
{
    const uint32_t e = b >> 52 & 2047;
    const uint64_t m = b & 0xfffffffffffffu;
    return class_of(e == 2047 && m, m >> 51 != 0, e == 2047, !e && !m, !e, b >> 63 != 0);
}

#define DEFINE_COMPARE(name, expression, type, word, c) DEFINE_BITS(name, expression)
COMPARES(DEFINE_COMPARE)
DEFINE_BITS(class_in_f32, class_f32(U(0)) & U(1))
DEFINE_BITS(class_in_f16, class_f16(U(0)) & U(1))
DEFINE_BITS(class_in_f64, class_f64(U64(0)) & U(1))

#endif
