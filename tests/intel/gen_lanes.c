/* gen_lanes.c - instructions of lanes: each against what the manual says, computed apart
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "tests/intel/gen.h"

enum { LANES = 16 };

static float f(uint32_t x)
{
    float y;
    memcpy(&y, &x, sizeof y);
    return y;
}

static uint32_t u(float x)
{
    uint32_t y;
    memcpy(&y, &x, sizeof y);
    return y;
}

static int32_t s(uint32_t x)
{
    return (int32_t)x;
}

/* A whole number as one of 32 bits. */
static uint32_t to_whole(float x)
{
    return isnan(x) ? 0 : x >= 0x1p31f ? INT32_MAX : x < -0x1p31f ? 0x80000000u : (uint32_t)(int32_t)x;
}

/* Of what lies between two f32 numbers the one that is nearer to zero. */
static uint32_t toward_zero(double x)
{
    const float y = (float)x;
    return u(fabs((double)y) > fabs(x) ? nextafterf(y, 0) : y);
}

/* ---- whole numbers: a is in r30, b in r31, c in r32, the result in r20 ---- */

#define D3 "r20.0<1>:d r30.0<1;0>:d r31.0<1;0>:d r32.0<1>:d\n"
#define D2 "r20.0<1>:d r30.0<1;1,0>:d r31.0<1;1,0>:d\n"
#define UD2 "r20.0<1>:ud r30.0<1;1,0>:ud r31.0<1;1,0>:ud\n"
#define D1 "r20.0<1>:d r30.0<1;1,0>:d\n"
#define PRODUCT(t) "mul (16|M0) acc0.0<1>:" t " r30.0<1;1,0>:" t " r31.0<2;1,0>:uw\n"
#define BFN(e) "bfn.(" e ") (16|M0) r20.0<1>:ud r30.0<1;0>:ud r31.0<1;0>:ud r32.0<1>:ud\n"
#define FLAGS_TO_R20 "(f1.0) sel (16|M0) r20.0<1>:d 1:w 0:w\n"
#define CMP(c, t) "cmp (16|M0) (" c ")f1.0 null<1>:d r30.0<1;1,0>:" t " r31.0<1;1,0>:" t "\n" FLAGS_TO_R20
#define LESS "cmp (16|M0) (lt)f1.0 null<1>:d r30.0<1;1,0>:d r31.0<1;1,0>:d\n"
#define UPPER "shl (16|M0) r24.0<1>:uq r30.0<1;1,0>:ud 32:w\n"
#define WHOLE(X)                                                                                                       \
    X(add, "add (16|M0) " D2, a + b)                                                                                   \
    X(add_word, "add (16|M0) r20.0<1>:d r30.0<1;1,0>:d -3:w\n", a - 3)                                                 \
    X(add_saturates, "add (16|M0) (sat)r20.0<1>:d r30.0<1;1,0>:d r31.0<1;1,0>:d\n",                                    \
      (uint32_t)((int64_t)s(a) + s(b) > INT32_MAX ? INT32_MAX : (int64_t)s(a) + s(b) < INT32_MIN ? INT32_MIN :         \
                                                                                    (int64_t)s(a) + s(b)))             \
    X(subtract, "add (16|M0) r20.0<1>:d r30.0<1;1,0>:d -r31.0<1;1,0>:d\n", a - b)                                      \
    X(sub_slice, "add (16|M0) r20.0<1>:d r30.0<1;1,0>:d msg0.0<0;1,0>:d\n", a)                                         \
    X(magnitude, "mov (16|M0) r20.0<1>:d (abs)r30.0<1;1,0>:d\n", s(a) < 0 ? 0 - a : a)                                 \
    X(add3, "add3 (16|M0) " D3, a + b + c)                                                                             \
    X(mad, "mad (16|M0) r20.0<1>:d r30.0<1;0>:d r31.0<1;0>:d 5:w\n", a + b * 5)                                        \
    X(mul_word, "mul (16|M0) r20.0<1>:d r30.0<1;1,0>:d r31.0<2;1,0>:uw\n", a * (b & 0xffff))                           \
    X(macl, PRODUCT("d") "macl (16|M0) " D2, a * b)                                                                    \
    X(macl_unsigned, PRODUCT("ud") "macl (16|M0) " UD2, a * b)                                                         \
    X(mach, PRODUCT("d") "mach (16|M0) " D2, (uint32_t)((int64_t)s(a) * s(b) >> 32))                                   \
    X(mach_unsigned, PRODUCT("ud") "mach (16|M0) " UD2, (uint32_t)((uint64_t)a * b >> 32))                             \
    X(mach_of_acc0, PRODUCT("d") "mul (16|M0) acc2.0<1>:d r32.0<1;1,0>:d 7:w\nmach (16|M0) " D2,                       \
      (uint32_t)((int64_t)s(a) * s(b) >> 32))                                                                          \
    X(mach_keeps_low, PRODUCT("ud") "mach (16|M0) " UD2 "mov (16|M0) r20.0<1>:ud acc0.0<1;1,0>:ud\n", a * b)           \
    X(addc, "addc (16|M0) " UD2, a + b)                                                                                \
    X(carry, "addc (16|M0) " UD2 "mov (16|M0) r20.0<1>:ud acc0.0<1;1,0>:ud\n", (uint32_t)(((uint64_t)a + b) >> 32))    \
    X(subb, "subb (16|M0) " UD2, a - b)                                                                                \
    X(borrow, "subb (16|M0) " UD2 "mov (16|M0) r20.0<1>:ud acc0.0<1;1,0>:ud\n", a < b)                                 \
    X(carry_of_some, "mov (16|M0) acc0.0<1>:ud 77:w\n" LESS "(f1.0) addc (16|M0) r22.0<1>:ud r30.0<1;1,0>:ud "         \
                     "r31.0<1;1,0>:ud\nmov (16|M0) r20.0<1>:ud acc0.0<1;1,0>:ud\n",                                    \
      s(a) < s(b) ? (uint32_t)(((uint64_t)a + b) >> 32) : 77)                                                          \
    X(borrow_of_some, "mov (16|M0) acc0.0<1>:ud 77:w\n" LESS "(f1.0) subb (16|M0) r22.0<1>:ud r30.0<1;1,0>:ud "        \
                      "r31.0<1;1,0>:ud\nmov (16|M0) r20.0<1>:ud acc0.0<1;1,0>:ud\n",                                   \
      s(a) < s(b) ? a < b : 77)                                                                                        \
    X(product_of_some, PRODUCT("d") LESS "(f1.0) mul (16|M0) acc0.0<1>:d r32.0<1;1,0>:d r31.0<2;1,0>:uw\n"             \
                       "macl (16|M0) " D2,                                                                             \
      s(a) < s(b) ? c * (b & 0xffff) + (a * (b >> 16) << 16) : a * b)                                                  \
    X(low_half_of_some, PRODUCT("ud") LESS "(f1.0) mach (16|M0) r22.0<1>:ud r30.0<1;1,0>:ud r31.0<1;1,0>:ud\n"         \
                        "mov (16|M0) r20.0<1>:ud acc0.0<1;1,0>:ud\n",                                                  \
      s(a) < s(b) ? a * b : a * (b & 0xffff))                                                                          \
    X(mach_behind_some, PRODUCT("ud") LESS "(f1.0) mach (16|M0) r22.0<1>:ud r30.0<1;1,0>:ud r31.0<1;1,0>:ud\n"         \
                        "mach (16|M0) " UD2,                                                                           \
      (uint32_t)(((s(a) < s(b) ? a * b : (uint64_t)a * (b & 0xffff)) + ((uint64_t)a * (b >> 16) << 16)) >> 32))        \
    X(long_saturates, UPPER "mov (16|M0) (sat)r20.0<1>:d r24.0<1;1,0>:uq\n", a ? INT32_MAX : 0)                        \
    X(long_to_signed, UPPER "mov (16|M0) (sat)r22.0<1>:q r24.0<1;1,0>:uq\nmov (16|M0) r20.0<1>:d r22.1<2;1,0>:d\n",    \
      a > INT32_MAX ? INT32_MAX : a)                                                                                   \
    X(long_to_unsigned, "mov (16|M0) r22.0<1>:q r30.0<1;1,0>:d\nmov (16|M0) (sat)r24.0<1>:uq r22.0<1;1,0>:q\n"         \
                        "mov (16|M0) r20.0<1>:d r24.0<2;1,0>:d\n",                                                     \
      s(a) < 0 ? 0 : a)                                                                                                \
    X(condition_of_long, "shl (16|M0) (gt)f1.0 r22.0<1>:uq r30.0<1;1,0>:ud 32:w\n" FLAGS_TO_R20, a != 0)               \
    X(and, "and (16|M0) " D2, a & b)                                                                                   \
    X(and_not, "and (16|M0) r20.0<1>:d ~r30.0<1;1,0>:d r31.0<1;1,0>:d\n", ~a & b)                                      \
    X(or, "or (16|M0) " D2, a | b)                                                                                     \
    X(xor, "xor (16|M0) " D2, a ^ b)                                                                                   \
    X(not, "not (16|M0) " D1, ~a)                                                                                      \
    X(lzd, "shr (16|M0) r22.0<1>:ud r30.0<1;1,0>:ud r31.0<1;1,0>:ud\n"                                                 \
           "lzd (16|M0) r20.0<1>:ud r22.0<1;1,0>:ud\n",                                                                \
      a >> (b & 31) ? 31 - (uint32_t)ilogb(a >> (b & 31)) : 32)                                                        \
    X(shl, "shl (16|M0) " D2, a << (b & 31))                                                                           \
    X(shr, "shr (16|M0) " UD2, a >> (b & 31))                                                                          \
    X(shr_signed, "shr (16|M0) r20.0<1>:d r30.0<1;1,0>:d 4:w\n", a >> 4)                                               \
    X(asr, "asr (16|M0) " D2, (uint32_t)(s(a) >> (b & 31)))                                                            \
    X(shl_long, "shl (16|M0) r22.0<1>:q r30.0<1;1,0>:d 20:w\nmov (16|M0) r20.0<1>:d r22.1<2;1,0>:d\n",                 \
      (uint32_t)((uint64_t)(int64_t)s(a) << 20 >> 32))                                                                 \
    X(shl_longer, "mov (16|M0) r22.0<1>:q r30.0<1;1,0>:ud\n"                                                           \
                  "shl (16|M0) r24.0<1>:q r22.0<1;1,0>:q 40:w\nmov (16|M0) r20.0<1>:d r24.1<2;1,0>:d\n",               \
      a << 8)                                                                                                          \
    X(add_long, "mov (16|M0) r22.0<1>:q r30.0<1;1,0>:d\nadd (16|M0) r24.0<1>:q r22.0<1;1,0>:q r31.0<1;1,0>:ud\n"       \
                "mov (16|M0) r20.0<1>:d r24.1<2;1,0>:d\n",                                                             \
      (uint32_t)((uint64_t)((int64_t)s(a) + b) >> 32))                                                                 \
    X(bfn_and_or, BFN("s0&s1|s2"), (a & b) | c)                                                                        \
    X(bfn_choose, BFN("s0&s1|~s0&s2"), (a & b) | (~a & c))                                                             \
    X(bfn_order, BFN("s0|s1&s2"), a | (b & c))                                                                         \
    X(bfn_brackets, BFN("(~s0|~s1)^~s2"), (~a | ~b) ^ ~c)                                                              \
    X(bfn_xor, BFN("s0^s1^s2"), a ^ b ^ c)                                                                             \
    X(cmp_lt, CMP("lt", "d"), s(a) < s(b))                                                                             \
    X(cmp_lt_unsigned, CMP("lt", "ud"), a < b)                                                                         \
    X(cmp_le, CMP("le", "d"), s(a) <= s(b))                                                                            \
    X(cmp_gt, CMP("gt", "d"), s(a) > s(b))                                                                             \
    X(cmp_ge_unsigned, CMP("ge", "ud"), a >= b)                                                                        \
    X(cmp_eq, CMP("eq", "d"), a == b)                                                                                  \
    X(cmp_ne, CMP("ne", "d"), a != b)                                                                                  \
    X(cmp_mask, "cmp (16|M0) (lt)f0.0 r20.0<1>:d r30.0<1;1,0>:d r31.0<1;1,0>:d\n", s(a) < s(b) ? ~0u : 0)              \
    X(condition, "and (16|M0) (eq)f1.0 null<1>:d r30.0<1;1,0>:d 3:w\n" FLAGS_TO_R20, (a & 3) == 0)                     \
    X(smaller, "sel (16|M0) (lt)f0.0 " D2, s(a) < s(b) ? a : b)                                                        \
    X(larger_unsigned, "sel (16|M0) (ge)f0.0 " UD2, a >= b ? a : b)                                                    \
    X(inverted, CMP("lt", "d") "(~f1.0) sel (16|M0) r20.0<1>:d r30.0<1;1,0>:d r31.0<1;1,0>:d\n",                       \
      s(a) < s(b) ? b : a)                                                                                             \
    X(upper_flags, "cmp (16|M0) (lt)f0.1 null<1>:d r30.0<1;1,0>:d r31.0<1;1,0>:d\n"                                    \
                   "(W) mov (1|M0) r22.0<1>:ud f0.0<0;1,0>:ud\n(W) shr (1|M0) r22.0<1>:ud r22.0<0;1,0>:ud 16:w\n"      \
                   "(W) mov (1|M0) f2.0<1>:uw r22.0<0;1,0>:uw\n(f2.0) sel (16|M0) r20.0<1>:d 1:w 0:w\n",               \
      s(a) < s(b))                                                                                                     \
    X(predicate, CMP("lt", "d") "mov (16|M0) r20.0<1>:d 9:w\n(f1.0) mov (16|M0) r20.0<1>:d 8:w\n",                     \
      s(a) < s(b) ? 8 : 9)                                                                                             \
    X(csel, "csel (16|M0) (gt)f0.0 " D3, s(c) > 0 ? a : b)                                                             \
    X(bytes, "mov (16|M0) r22.0<4>:b r30.0<1;1,0>:d\nmov (16|M0) r20.0<1>:d r22.0<4;1,0>:b\n",                         \
      (uint32_t)(int32_t)(int8_t)a)                                                                                    \
    X(bytes_saturate, "mov (16|M0) (sat)r22.0<4>:ub r30.0<1;1,0>:d\nmov (16|M0) r20.0<1>:d r22.0<4;1,0>:ub\n",         \
      (uint32_t)(s(a) < 0 ? 0 : s(a) > 255 ? 255 : s(a)))                                                              \
    X(upper_half, "mov (16|M0) r20.0<1>:d r30.1<2;1,0>:w\n", (uint32_t)(int32_t)(int16_t)(a >> 16))                    \
    X(vector, "mov (16|M0) r22.0<1>:w 0xFEDC3210:v\nmov (16|M0) r20.0<1>:d r22.0<1;1,0>:w\n",                          \
      (uint32_t)((int[]){ 0, 1, 2, 3, -4, -3, -2, -1 }[i % 8]))                                                        \
    X(quotient, "math.iqot (16|M0) " D2, b == 0 ? (s(a) >= 0 ? 0x7fffffffu : 0x80000000u) :                            \
                                         (uint32_t)((int64_t)s(a) / s(b)))                                             \
    X(remainder, "math.irem (16|M0) " UD2, b ? a % b : ~0u)

#define FUNCTION(name, body, e)                                                                                        \
    static uint32_t whole_##name(uint32_t a, uint32_t b, uint32_t c, int i)                                            \
    {                                                                                                                  \
        (void)a, (void)b, (void)c, (void)i;                                                                            \
        return (uint32_t)(e);                                                                                          \
    }
WHOLE(FUNCTION)
#undef FUNCTION

/* ---- real numbers ---- */

#define F3 "r20.0<1>:f r30.0<1;0>:f r31.0<1;0>:f r32.0<1>:f\n"
#define F2 "r20.0<1>:f r30.0<1;1,0>:f r31.0<1;1,0>:f\n"
#define F1 "r20.0<1>:f r30.0<1;1,0>:f\n"
#define TOWARD_ZERO "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud 0x30:uw\n"
#define CONTROL(bits) "(W) or (1|M0) cr0.0<1>:ud cr0.0<0;1,0>:ud " bits ":uw\n"
#define FLUSHES "(W) mov (1|M0) cr0.0<1>:ud 0x0:ud\n"
#define FCMP(c) "cmp (16|M0) (" c ")f1.0 null<1>:f r30.0<1;1,0>:f r31.0<1;1,0>:f\n" FLAGS_TO_R20
#define REAL(X)                                                                                                        \
    X(add, "add (16|M0) " F2, u((float)((double)f(a) + f(b))))                                                         \
    X(subtract, "add (16|M0) r20.0<1>:f r30.0<1;1,0>:f -r31.0<1;1,0>:f\n", u((float)((double)f(a) - f(b))))            \
    X(multiply, "mul (16|M0) " F2, u((float)((double)f(a) * f(b))))                                                    \
    X(mad, "mad (16|M0) " F3, u(fmaf(f(b), f(c), f(a))))                                                               \
    X(mad_negated, "mad (16|M0) r20.0<1>:f -r30.0<1;0>:f r31.0<1;0>:f r32.0<1>:f\n", u(fmaf(f(b), f(c), -f(a))))       \
    X(rounded_once, "mov (16|M0) r30.0<1>:f 0x3F800001:f\nmov (16|M0) r31.0<1>:f 0x33800001:f\n"                       \
                    "mov (16|M0) r32.0<1>:f 0x3F7FFFFE:f\nmad (16|M0) " F3, 0x3f800001)                                \
    X(constant, "mul (16|M0) r20.0<1>:f r30.0<1;1,0>:f 0x3FC00000:f\n", u(f(a) * 1.5f))                                \
    X(vector_of_reals, "mov (16|M0) r20.0<1>:f 0x80FF0100:vf\n",                                                       \
      u((float[]){ 0, 0.1328125f, -31, -0.0f }[i % 4]))                                                                \
    X(multiply_to_zero, TOWARD_ZERO "mul (16|M0) " F2, toward_zero((double)f(a) * f(b)))                               \
    X(saturates, "add (16|M0) (sat)r20.0<1>:f r30.0<1;1,0>:f 0x3F000000:f\n",                                          \
      u(f(a) + 0.5f > 0 ? f(a) + 0.5f < 1 ? f(a) + 0.5f : 1 : 0))                                                      \
    X(accumulator, "mad (16|M0) acc2.0<1>:f r30.0<1;0>:f r31.0<1;0>:f r32.0<1>:f\n"                                    \
                   "add (16|M0) r20.0<1>:f acc2.0<1;1,0>:f r31.0<1;1,0>:f\n",                                          \
      u(fmaf(f(b), f(c), f(a)) + f(b)))                                                                                \
    X(cmp_lt, FCMP("lt"), f(a) < f(b))                                                                                 \
    X(cmp_ge, FCMP("ge"), f(a) >= f(b))                                                                                \
    X(cmp_ne, FCMP("ne"), f(a) != f(b))                                                                                \
    X(cmp_eq, FCMP("eq"), f(a) == f(b))                                                                                \
    X(cmp_mask, "cmp (16|M0) (gt)f0.0 r20.0<1>:f r30.0<1;1,0>:f r31.0<1;1,0>:f\n", f(a) > f(b) ? ~0u : 0)              \
    X(smaller, "sel (16|M0) (lt)f0.0 " F2, u(isnan(f(a)) ? f(b) : isnan(f(b)) ? f(a) : f(a) < f(b) ? f(a) : f(b)))     \
    X(larger, "sel (16|M0) (ge)f0.0 " F2, u(isnan(f(a)) ? f(b) : isnan(f(b)) ? f(a) : f(a) >= f(b) ? f(a) : f(b)))     \
    X(csel, "csel (16|M0) (lt)f0.0 " F3, f(c) < 0 ? a : b)                                                             \
    X(to_whole, "mov (16|M0) r20.0<1>:d r30.0<1;1,0>:f\n",                                                             \
      isnan(f(a)) ? 0 : f(a) >= 0x1p31f ? 0x7fffffffu : f(a) < -0x1p31f ? 0x80000000u : (uint32_t)(int32_t)f(a))       \
    X(to_unsigned, "mov (16|M0) r20.0<1>:ud r30.0<1;1,0>:f\n",                                                         \
      isnan(f(a)) || f(a) <= 0 ? 0 : f(a) >= 0x1p32f ? ~0u : (uint32_t)f(a))                                           \
    X(to_whole_up, CONTROL("0x1010") "mov (16|M0) r20.0<1>:d r30.0<1;1,0>:f\n", to_whole(ceilf(f(a))))                 \
    X(to_whole_down, CONTROL("0x1020") "mov (16|M0) r20.0<1>:d r30.0<1;1,0>:f\n", to_whole(floorf(f(a))))              \
    X(to_whole_even, CONTROL("0x1000") "mov (16|M0) r20.0<1>:d r30.0<1;1,0>:f\n", to_whole(rintf(f(a))))               \
    X(to_whole_still, CONTROL("0x10") "mov (16|M0) r20.0<1>:d r30.0<1;1,0>:f\n", to_whole(truncf(f(a))))               \
    X(to_long, "mul (16|M0) r22.0<1>:f r30.0<1;1,0>:f 0x4F800000:f\nmov (16|M0) r24.0<1>:uq r22.0<1;1,0>:f\n"          \
               "mov (16|M0) r20.0<1>:d r24.1<2;1,0>:d\n",                                                              \
      isnan(f(a)) || f(a) <= 0 ? 0 : f(a) >= 0x1p32f ? ~0u : (uint32_t)f(a))                                           \
    X(raw_predicated, FLUSHES LESS "mov (16|M0) r20.0<1>:f r31.0<1;1,0>:f\n(f1.0) mov (16|M0) " F1,                    \
      s(a) < s(b) ? a : b)                                                                                             \
    X(condition_flushed, FLUSHES "mov (16|M0) r33.0<1>:f 0x00800000:f\n"                                               \
                         "mul (16|M0) (eq)f1.0 null<1>:f r33.0<1;1,0>:f 0x3F000000:f\n" FLAGS_TO_R20,                  \
      1)                                                                                                               \
    X(condition_saturated, "add (16|M0) (lt)f1.0 (sat)r22.0<1>:f r30.0<1;1,0>:f 0x3F000000:f\n" FLAGS_TO_R20, 0)       \
    X(condition_of_whole, "mul (16|M0) (eq)f1.0 r22.0<1>:d r30.0<1;1,0>:f 0x3F800000:f\n" FLAGS_TO_R20,                \
      isnan(f(a)) || fabs(f(a)) < 1)                                                                                   \
    X(of_whole, "mov (16|M0) r20.0<1>:f r30.0<1;1,0>:d\n", u((float)s(a)))                                             \
    X(of_whole_to_zero, TOWARD_ZERO "mov (16|M0) r20.0<1>:f r30.0<1;1,0>:ud\n", toward_zero(a))                        \
    X(round_down, "rndd (16|M0) " F1, u(floorf(f(a))))                                                                 \
    X(round_up, "rndu (16|M0) " F1, u(ceilf(f(a))))                                                                    \
    X(round_even, "rnde (16|M0) " F1, u(rintf(f(a))))                                                                  \
    X(round_to_zero, "rndz (16|M0) " F1, u(truncf(f(a))))                                                              \
    X(magnitude, "mov (16|M0) r20.0<1>:f -(abs)r30.0<1;1,0>:f\n", a | 0x80000000u)                                     \
    X(flushes, FLUSHES "mul (16|M0) r20.0<1>:f r30.0<1;1,0>:f 0x3F800000:f\n",                                         \
      a & 0x7f800000 ? a : a & 0x80000000u)                                                                            \
    X(flushes_f32, "(W) mov (1|M0) cr0.0<1>:ud 0x440:ud\nmul (16|M0) r20.0<1>:f r30.0<1;1,0>:f 0x3F800000:f\n",        \
      a & 0x7f800000 ? a : a & 0x80000000u)                                                                            \
    X(keeps_f32, "(W) mov (1|M0) cr0.0<1>:ud 0x80:ud\nmul (16|M0) r20.0<1>:f r30.0<1;1,0>:f 0x3F800000:f\n", a)        \
    X(raw, FLUSHES "mov (16|M0) " F1, a)                                                                               \
    X(through_double, "mov (16|M0) r22.0<1>:df r30.0<1;1,0>:f\nmad (16|M0) r24.0<1>:df r22.0<1;0>:df r22.0<1;0>:df "   \
                      "r22.0<1>:df\nmov (16|M0) r20.0<1>:f r24.0<1;1,0>:df\n",                                         \
      u((float)fma(f(a), f(a), f(a))))

#define FUNCTION(name, body, e)                                                                                        \
    static uint32_t real_##name(uint32_t a, uint32_t b, uint32_t c, int i)                                             \
    {                                                                                                                  \
        (void)a, (void)b, (void)c, (void)i;                                                                            \
        return (uint32_t)(e);                                                                                          \
    }
REAL(FUNCTION)
#undef FUNCTION

typedef uint32_t function(uint32_t a, uint32_t b, uint32_t c, int i);
struct row {
    const char *name, *body;
    function *expected;
    int real;
};
static const struct row rows[] = {
#define ROW(name, body, e) { #name, body, whole_##name, 0 },
    WHOLE(ROW)
#undef ROW
#define ROW(name, body, e) { #name, body, real_##name, 1 },
    REAL(ROW)
#undef ROW
};

/* ---- running them ---- */

static uint32_t next(uint32_t *seed)
{
    *seed = *seed * 1664525 + 1013904223;
    return *seed ^ *seed >> 15;
}

static uint32_t input(int real, uint32_t *seed)
{
    static const uint32_t wholes[] = { 0, 1, 2, 3, 0xffffffff, 0x80000000, 0x7fffffff, 0x8000, 0xffff0000, 0x10001 };
    static const uint32_t reals[] = { 0,          0x80000000, 0x3f800000, 0xbf800000, 0x7f800000,
                                      0xff800000, 0x7fc00000, 0x1,        0x80000001, 0x4f000000 };
    const uint32_t x = next(seed), k = next(seed) % 20;
    if (k < 10)
        return real ? reals[k] : wholes[k];
    return real ? (x & 0x807fffff) | (110 + x % 40) << 23 : k < 15 ? x % 64 : x;
}

/* NaNs are one. */
static int same(uint32_t x, uint32_t y)
{
    return x == y || (isnan(f(x)) && isnan(f(y)));
}

static void prepare(char *text, size_t size, const char *body)
{
    snprintf(text, size,
             BEGIN "load.ugm.d32.a64 (16|M0) r30:1 [r14:2]\nload.ugm.d32.a64 (16|M0) r31:1 [r14:2+0x40]\n"
                   "load.ugm.d32.a64 (16|M0) r32:1 [r14:2+0x80]\n%sstore.ugm.d32.a64 (16|M0) [r14:2+0xC0] r20:1\n" END,
             body);
}

static void run_row(const struct row *r)
{
    char text[4000];
    struct heard heard;
    uint32_t seed = 7;
    int bad = 0;
    prepare(text, sizeof text, r->body);
    for (int round = 0; round < 40 && !bad; round++) {
        uint32_t data[4 * LANES] = { 0 };
        for (int i = 0; i < 3 * LANES; i++)
            data[i] = input(r->real, &seed);
        run_text(text, data, sizeof data, NULL, NULL, &heard);
        for (int i = 0; i < LANES; i++) {
            const uint32_t a = data[i], b = data[LANES + i], c = data[2 * LANES + i];
            const uint32_t got = data[3 * LANES + i], expected = r->expected(a, b, c, i);
            if (!bad && !(r->real ? same(got, expected) : got == expected)) {
                diag("%08x %08x %08x: %08x, not %08x", a, b, c, got, expected);
                bad = 1;
            }
        }
        if (heard.all) {
            diag("%s", heard.text);
            bad = 1;
        }
    }
    ok(!bad, "%s %s", r->real ? "real" : "whole", r->name);
}

/* ---- regions: lane i of r20 has element from(i) of 0, 1, 2, .. ---- */

static const struct {
    const char *region;
    int ternary, from[LANES];
} regions[] = {
    { "<1;1,0>", 0, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
    { "<0;1,0>", 0, { 0 } },
    { "<2;1,0>", 0, { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 } },
    { "<4;2,1>", 0, { 0, 1, 4, 5, 8, 9, 12, 13, 16, 17, 20, 21, 24, 25, 28, 29 } },
    { "<8;4,2>", 0, { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 } },
    { "<0;4,1>", 0, { 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3, 0, 1, 2, 3 } },
    { "<1;4,0>", 0, { 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2, 3, 3, 3, 3 } },
    { "<1;0>", 1, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
    { "<0;0>", 1, { 0 } },
    { "<4;2>", 1, { 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30 } },
    { "<2;1>", 1, { 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15 } },
};

static void run_regions(void)
{
    for (size_t k = 0; k < sizeof regions / sizeof *regions; k++) {
        char text[4000], body[1000];
        struct heard heard;
        uint32_t data[4 * LANES];
        int bad = 0;
        snprintf(body, sizeof body,
                 regions[k].ternary ? "add3 (16|M0) r20.0<1>:d r30.1%s:d r30.0<0;0>:d 0:w\n"
                                    : "add (16|M0) r20.0<1>:d r30.1%s:d 0:w\n",
                 regions[k].region);
        prepare(text, sizeof text, body);
        for (uint32_t i = 0; i < 4 * LANES; i++)
            data[i] = i;
        run_text(text, data, sizeof data, NULL, NULL, &heard);
        for (int i = 0; i < LANES; i++)
            bad |= data[3 * LANES + i] != (uint32_t)regions[k].from[i] + 1;
        ok(!bad && !heard.all, "region %s%s", regions[k].region, regions[k].ternary ? " of three sources" : "");
    }
}

/* ---- numbers of 16 bits: all sums of a few with all ---- */

static double half(uint32_t h)
{
    const int e = h >> 10 & 31, m = h & 1023;
    const double x = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return h & 0x8000 ? -x : x;
}

/* The nearest one, of two the even one; by counting on from below. */
static uint32_t to_half(double x)
{
    const uint32_t sign = signbit(x) ? 0x8000 : 0;
    x = fabs(x);
    if (isnan(x))
        return 0x7e00;
    uint32_t low = 0, high = 0x7c00;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (half(middle) <= x)
            low = middle;
        else
            high = middle;
    }
    const double above = high == 0x7c00 ? 65536 : half(high), middle = (half(low) + above) / 2;
    return sign | (x > middle || (x == middle && low & 1) ? high : low);
}

static void run_halves(void)
{
    static const uint32_t few[] = { 0x0000, 0x3c00, 0xbc01, 0x7bff, 0x0001, 0x8400, 0x5640, 0x1234 };
    char text[4000];
    struct heard heard;
    int bad = 0;
    prepare(text, sizeof text,
            "mov (16|M0) r22.0<1>:hf r30.0<2;1,0>:hf\nmov (16|M0) r23.0<1>:hf r31.0<2;1,0>:hf\n"
            "mov (16|M0) r24.0<1>:hf r32.0<2;1,0>:hf\nmad (16|M0) r25.0<1>:hf r22.0<1;0>:hf r23.0<1;0>:hf r24.0<1>:hf\n"
            "mov (16|M0) r20.0<1>:d r25.0<1;1,0>:uw\n");
    for (uint32_t k = 0; k < 8 && !bad; k++)
        for (uint32_t h = 0; h < 0x10000 && !bad; h += 16 * 37) {
            uint32_t data[4 * LANES];
            for (uint32_t i = 0; i < LANES; i++) {
                data[i] = few[(i + k) % 8];
                data[LANES + i] = (h + 37 * i) & 0xffff;
                data[2 * LANES + i] = few[i % 8];
            }
            run_text(text, data, sizeof data, NULL, NULL, &heard);
            for (int i = 0; i < LANES; i++) {
                const double product = half(data[LANES + i]) * half(data[2 * LANES + i]), sum = product + half(data[i]);
                const uint32_t got = data[3 * LANES + i], expected = to_half(sum);
                const int inexact = sum - product != half(data[i]) || sum - half(data[i]) != product;
                if (!inexact && got != expected && !(isnan(half(got)) && isnan(sum)) && !bad) {
                    diag("%04x + %04x * %04x: %04x, not %04x", data[i], data[LANES + i], data[2 * LANES + i], got,
                         expected);
                    bad = 1;
                }
            }
            bad |= heard.all;
        }
    ok(!bad, "mad of f16");
    uint32_t data[4 * LANES];
    prepare(text, sizeof text, "mov (16|M0) r22.0<1>:hf r30.0<1;1,0>:f\nmov (16|M0) r20.0<1>:d r22.0<1;1,0>:uw\n");
    for (uint32_t seed = 1, round = bad = 0; round < 200; round++) {
        for (uint32_t i = 0; i < LANES; i++)
            data[i] = u((float)ldexp((int32_t)next(&seed), -31 + (int)(next(&seed) % 44) - 26));
        run_text(text, data, sizeof data, NULL, NULL, &heard);
        for (int i = 0; i < LANES; i++)
            bad |= data[3 * LANES + i] != to_half(f(data[i]));
    }
    ok(!bad, "f32 to f16");
}

/* ---- what is promised to some error only ---- */

static double inverse(double x)
{
    return 1 / x;
}
static double inverse_root(double x)
{
    return 1 / sqrt(x);
}
static const struct {
    const char *name;
    double (*exact)(double);
    double low, high, units, absolute; /* the error is at most so many units, or so much */
} approximate[] = {
    { "inv", inverse, 0.01, 100, 1, 0 },       { "exp", exp2, -20, 20, 4, 0 },      { "sqt", sqrt, 0.01, 900, 4, 0 },
    { "rsqt", inverse_root, 0.01, 900, 4, 0 }, { "log", log2, 2.5, 900, 3, 0 },     { "log", log2, 0.5, 2, 0, 0x1p-21 },
    { "sin", sin, -30, 30, 0, 0.0008 },        { "cos", cos, -30, 30, 0, 0.0008 },
};

static void run_approximate(void)
{
    for (size_t k = 0; k < sizeof approximate / sizeof *approximate; k++)
        for (int sign = -1; sign <= 1; sign++) {
            char text[4000], body[200];
            struct heard heard;
            struct how how;
            uint32_t data[4 * LANES], seed = 5;
            int bad = 0;
            double most = 0;
            memset(&how, 0, sizeof how);
            how.approximate = sign;
            snprintf(body, sizeof body, "math.%s (16|M0) " F1, approximate[k].name);
            prepare(text, sizeof text, body);
            for (int round = 0; round < 50; round++) {
                for (int i = 0; i < LANES; i++)
                    data[i] = u((float)(approximate[k].low + (approximate[k].high - approximate[k].low) *
                                                                 (next(&seed) / 4294967296.0)));
                run_text(text, data, sizeof data, NULL, &how, &heard);
                for (int i = 0; i < LANES; i++) {
                    const double exact = approximate[k].exact(f(data[i])), error = f(data[3 * LANES + i]) - exact;
                    int e;
                    frexp(exact, &e);
                    const double unit = ldexp(1, e - 24);
                    const double share = error / (approximate[k].units ? approximate[k].units * unit :
                                                                          approximate[k].absolute);
                    if (sign ? fabs(share) > 1 || share * sign < -1e-9 : fabs(error) > 0.5001 * unit)
                        bad = 1;
                    bad |= approximate[k].absolute == 0.0008 && fabs(f(data[3 * LANES + i])) > 1;
                    most = fabs(share) > most ? fabs(share) : most;
                }
            }
            ok(!bad && !heard.all && (!sign || most > 0.7),
               "math.%s, error on side %d: at most %.3f of what is promised", approximate[k].name, sign, most);
        }
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        run_row(&rows[i]);
    run_regions();
    run_halves();
    run_approximate();
    return done_testing();
}
