/* ptx.c - what each instruction computes, against plain C and the formulas of PTX's manual
 * SPDX-License-Identifier: Apache-2.0 */
#include <fenv.h>
#include <math.h>
#include <stdint.h>

#include "tests/nvidia/ptx.h"

/* ---- one instruction on many operands ----
 *
 * a, b and c are 64 bits, of which narrower registers have the low ones: %a 32, %ah 16, %A 64 bits; %p is the lowest
 * bit of c. The result is in %d, %dh, %D or %q. */

enum { N_EDGES = 22, N_THIRD = 8, N_ALL = N_EDGES * N_EDGES * N_THIRD };

static const uint64_t edges[N_EDGES] = { 0,
                                         1,
                                         2,
                                         31,
                                         32,
                                         33,
                                         0x7f,
                                         0xff,
                                         0x7fff,
                                         0x8000,
                                         0xffff,
                                         0x7fffffff,
                                         0x80000000,
                                         0xffffffff,
                                         0x123456789abcdef0,
                                         0x7fffffffffffffff,
                                         0x8000000000000000,
                                         0xffffffffffffffff,
                                         0xfedcba9876543210,
                                         0x3f800000,
                                         0x00000001c2a0ff05,
                                         0x6543 };
/* Pairs of 16 bits and numbers of 32: zeros, ones, subnormal, ties, largest, infinite, NaN. */
static const uint64_t reals[N_EDGES] = {
    0x00000000, 0x80000000, 0x3f800000, 0xbf800000, 0x00000001, 0x807fffff, 0x00800000, 0x3f800001, 0x3effffff,
    0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00001, 0x40490fdb, 0x4b000001, 0xcb800003, 0x33800000,
    0x4f000000, 0x5f000000, 0xbfc00000, 0x42fe0000
};
static const uint64_t doubles[N_EDGES] = {
    0, 0x8000000000000000, 0x3ff0000000000000, 0xbff0000000000000, 1, 0x800fffffffffffff, 0x0010000000000000,
    0x3ff0000000000001, 0x3fdfffffffffffff, 0x7fefffffffffffff, 0xffefffffffffffff, 0x7ff0000000000000,
    0xfff0000000000000, 0x7ff8000000000001, 0x400921fb54442d18, 0x41e0000000000000, 0xc1e0000000200000,
    0x43e0000000000000, 0x3ca0000000000000, 0x47efffffe0000000, 0xbff8000000000000, 0x40dfffe000000001
};
static const uint64_t halves[N_EDGES] = {
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x0001, 0x83ff, 0x0400, 0x3c01, 0x37ff, 0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7e01,
    0x4248, 0x6400, 0xe401, 0x1000, 0x7800, 0x3f80, 0xbf80, 0x0080
};

static float f32(uint64_t bits)
{
    const uint32_t u = (uint32_t)bits;
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static double f64(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static uint64_t bits32(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static uint64_t bits64(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

/* In another mode than to nearest; volatile: not at compile time. */
static float in_mode(int mode, int op, float a, float b, float c)
{
    volatile float x = a, y = b, z = c, r;
    fesetround(mode);
    switch (op) {
    case '+': r = x + y; break;
    case '-': r = x - y; break;
    case '*': r = x * y; break;
    case '/': r = x / y; break;
    case 'q': r = sqrtf(x); break;
    default: r = fmaf(x, y, z); break;
    }
    fesetround(FE_TONEAREST);
    return r;
}

static float narrowed(int mode, double a)
{
    volatile double x = a;
    volatile float r;
    fesetround(mode);
    r = (float)x;
    fesetround(FE_TONEAREST);
    return r;
}

static float from_whole(int mode, int64_t a, uint64_t u, int is_signed)
{
    volatile int64_t x = a;
    volatile uint64_t y = u;
    volatile float r;
    fesetround(mode);
    if (is_signed)
        r = (float)x;
    else
        r = (float)y;
    fesetround(FE_TONEAREST);
    return r;
}

/* 16 bits: every one of them by its definition, and the nearest by search. `fraction` bits: 10 of f16, 7 of bf16. */
static double small_value(uint32_t h, int fraction)
{
    const int exponents = 15 - fraction, bias = (1 << (exponents - 1)) - 1;
    const int e = (int)(h >> fraction) & ((1 << exponents) - 1);
    const double m = (double)(h & ((1u << fraction) - 1)), sign = h & 0x8000 ? -1 : 1;
    if (e == (1 << exponents) - 1)
        return m != 0 ? NAN : sign * INFINITY;
    return sign * (e ? ldexp(ldexp(1, fraction) + m, e - bias - fraction) : ldexp(m, 1 - bias - fraction));
}

static uint64_t small_nearest(double x, int fraction)
{
    const uint32_t sign = signbit(x) ? 0x8000 : 0, top = ((1u << (15 - fraction)) - 1) << fraction;
    uint32_t low = 0, high = top; /* magnitudes */
    const double want = fabs(x);
    if (isnan(x))
        return 0x7fff;
    if (isinf(x))
        return sign | top;
    while (high - low > 1) {
        const uint32_t mid = (low + high) / 2;
        if (small_value(mid, fraction) <= want)
            low = mid;
        else
            high = mid;
    }
    /* infinity stands where the next number would */
    const double above = high == top ? 2 * small_value(low, fraction) - small_value(low - 1, fraction) :
                                       small_value(high, fraction);
    const double down = want - small_value(low, fraction), up = above - want;
    return sign | (down < up || (down == up && !(low & 1)) ? low : high);
}

#define H(x) small_value((uint32_t)(x) & 0xffff, 10)
#define B(x) small_value((uint32_t)(x) & 0xffff, 7)

static int64_t clamp(double x, double low, double high, int64_t if_nan)
{
    return isnan(x) ? if_nan : x < low ? (int64_t)low : x > high ? (int64_t)high : (int64_t)x;
}

static uint64_t field(uint64_t a, unsigned at, unsigned n, int bits, int is_signed) /* the manual's loop */
{
    uint64_t d = 0;
    const int msb = bits - 1;
    const unsigned pos = at & 0xff, len = n & 0xff;
    const uint64_t sbit = !is_signed || len == 0 ? 0 :
                          a >> (pos + len - 1 < (unsigned)msb ? pos + len - 1 : (unsigned)msb) & 1;
    for (int i = 0; i <= msb; i++)
        d |= ((unsigned)i < len && pos + (unsigned)i <= (unsigned)msb ? a >> (pos + (unsigned)i) & 1 : sbit) << i;
    return d;
}

static uint64_t insert(uint64_t a, uint64_t b, unsigned c, unsigned d, int bits) /* likewise */
{
    uint64_t f = b;
    for (unsigned i = 0; i < (d & 0xff) && (c & 0xff) + i <= (unsigned)bits - 1; i++)
        f = (f & ~((uint64_t)1 << ((c & 0xff) + i))) | (i < 64 ? a >> i & 1 : 0) << ((c & 0xff) + i);
    return f;
}

static uint64_t bytes(uint32_t a, uint32_t b, uint32_t c)
{
    uint64_t d = 0;
    for (int k = 0; k < 4; k++) {
        const unsigned s = c >> 4 * k & 7;
        const uint32_t byte = (s < 4 ? a >> 8 * s : b >> 8 * (s - 4)) & 0xff;
        d |= (uint64_t)(c >> 4 * k & 8 ? (byte & 0x80 ? 0xff : 0) : byte) << 8 * k;
    }
    return d;
}

static int ones(uint64_t x)
{
    int n = 0;
    for (; x; x &= x - 1)
        n++;
    return n;
}

static int zeros(uint64_t x, int bits)
{
    int n = 0;
    while (n < bits && !(x >> (bits - 1 - n) & 1))
        n++;
    return n;
}

static uint64_t high64(uint64_t a, uint64_t b, int is_signed) /* by 32-bit digits */
{
    const uint64_t a0 = (uint32_t)a, a1 = a >> 32, b0 = (uint32_t)b, b1 = b >> 32;
    const uint64_t m = a1 * b0 + (a0 * b0 >> 32), n = a0 * b1 + (uint32_t)m;
    uint64_t h = a1 * b1 + (m >> 32) + (n >> 32);
    if (is_signed && a >> 63)
        h -= b;
    if (is_signed && b >> 63)
        h -= a;
    return h;
}

static float flush(float x)
{
    return fpclassify(x) == FP_SUBNORMAL ? copysignf(0, x) : x;
}

static float sat(float x)
{
    return !(x > 0) ? 0 : x > 1 ? 1 : x;
}

static float least(float x, float y)
{
    return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? x : y) : x < y ? x : y;
}

static float most(float x, float y)
{
    return isnan(x) ? y : isnan(y) ? x : x == y ? (signbit(x) ? y : x) : x > y ? x : y;
}

#define S16(x) (int16_t)(x)
#define S32(x) (int32_t)(x)
#define S64(x) (int64_t)(x)
#define U16(x) (uint16_t)(x)
#define U32(x) (uint32_t)(x)
#define FA f32(a)
#define FB f32(b)
#define FC f32(c)
#define DA f64(a)
#define DB f64(b)
#define DC f64(c)

/* X(name, operands from, result, instruction, expected): results are of h 16, w 32, l 64 bits, p a predicate, f f32 and
 * F f64 (any NaN is as good as another). */
#define INTEGER_FORMS(X) \
    X(add_s16, e, h, "add.s16 %dh, %ah, %bh;", U16(a + b)) \
    X(add_s32, e, w, "add.s32 %d, %a, %b;", U32(a + b)) \
    X(add_u64, e, l, "add.u64 %D, %A, %B;", a + b) \
    X(sub_u16, e, h, "sub.u16 %dh, %ah, %bh;", U16(a - b)) \
    X(sub_u32, e, w, "sub.u32 %d, %a, %b;", U32(a - b)) \
    X(sub_s64, e, l, "sub.s64 %D, %A, %B;", a - b) \
    X(add_sat, e, w, "add.sat.s32 %d, %a, %b;", U32(clamp((double)S32(a) + S32(b), INT32_MIN, INT32_MAX, 0))) \
    X(sub_sat, e, w, "sub.sat.s32 %d, %a, %b;", U32(clamp((double)S32(a) - S32(b), INT32_MIN, INT32_MAX, 0))) \
    X(mul_lo16, e, h, "mul.lo.s16 %dh, %ah, %bh;", U16((uint32_t)U16(a) * U16(b))) \
    X(mul_lo32, e, w, "mul.lo.s32 %d, %a, %b;", U32(a * b)) \
    X(mul_lo64, e, l, "mul.lo.u64 %D, %A, %B;", a * b) \
    X(mul_hiu16, e, h, "mul.hi.u16 %dh, %ah, %bh;", (uint32_t)U16(a) * U16(b) >> 16) \
    X(mul_his16, e, h, "mul.hi.s16 %dh, %ah, %bh;", U16(S16(a) * S16(b) >> 16)) \
    X(mul_hiu32, e, w, "mul.hi.u32 %d, %a, %b;", (uint64_t)U32(a) * U32(b) >> 32) \
    X(mul_his32, e, w, "mul.hi.s32 %d, %a, %b;", U32((int64_t)S32(a) * S32(b) >> 32)) \
    X(mul_hiu64, e, l, "mul.hi.u64 %D, %A, %B;", high64(a, b, 0)) \
    X(mul_his64, e, l, "mul.hi.s64 %D, %A, %B;", high64(a, b, 1)) \
    X(wide_u16, e, w, "mul.wide.u16 %d, %ah, %bh;", (uint32_t)U16(a) * U16(b)) \
    X(wide_s16, e, w, "mul.wide.s16 %d, %ah, %bh;", U32(S16(a) * S16(b))) \
    X(wide_u32, e, l, "mul.wide.u32 %D, %a, %b;", (uint64_t)U32(a) * U32(b)) \
    X(wide_s32, e, l, "mul.wide.s32 %D, %a, %b;", (uint64_t)((int64_t)S32(a) * S32(b))) \
    X(mad_lo, e, w, "mad.lo.s32 %d, %a, %b, %c;", U32(a * b + c)) \
    X(mad_lo16, e, h, "mad.lo.u16 %dh, %ah, %bh, %ch;", U16((uint32_t)U16(a) * U16(b) + c)) \
    X(mad_lo64, e, l, "mad.lo.s64 %D, %A, %B, %C;", a * b + c) \
    X(mad_hi, e, w, "mad.hi.u32 %d, %a, %b, %c;", U32(((uint64_t)U32(a) * U32(b) >> 32) + c)) \
    X(mad_his, e, w, "mad.hi.s32 %d, %a, %b, %c;", U32((uint64_t)((int64_t)S32(a) * S32(b) >> 32) + c)) \
    X(mad_wide, e, l, "mad.wide.s32 %D, %a, %b, %C;", (uint64_t)((int64_t)S32(a) * S32(b)) + c) \
    X(mad_wideu, e, l, "mad.wide.u32 %D, %a, %b, %C;", (uint64_t)U32(a) * U32(b) + c) \
    X(mad_wide16, e, w, "mad.wide.s16 %d, %ah, %bh, %c;", U32(S16(a) * S16(b)) + U32(c)) \
    X(mul24, e, w, "mul24.lo.u32 %d, %a, %b;", U32((a & 0xffffff) * (b & 0xffffff))) \
    X(mul24s, e, w, "mul24.lo.s32 %d, %a, %b;", \
      U32((uint64_t)((int64_t)(a << 40) >> 40) * (uint64_t)((int64_t)(b << 40) >> 40))) \
    X(sad_u, e, w, "sad.u32 %d, %a, %b, %c;", U32((U32(a) < U32(b) ? b - a : a - b) + c)) \
    X(sad_s, e, w, "sad.s32 %d, %a, %b, %c;", U32((S32(a) < S32(b) ? b - a : a - b) + c)) \
    X(div_u16, e, h, "div.u16 %dh, %ah, %bh;", U16(b) ? U16(a) / U16(b) : 0xffff) \
    X(div_s16, e, h, "div.s16 %dh, %ah, %bh;", U16(S16(b) ? S16(a) / S16(b) : -1)) \
    X(div_u32, e, w, "div.u32 %d, %a, %b;", U32(b) ? U32(a) / U32(b) : 0xffffffff) \
    X(div_s32, e, w, "div.s32 %d, %a, %b;", U32(S32(b) ? (int64_t)S32(a) / S32(b) : -1)) \
    X(div_u64, e, l, "div.u64 %D, %A, %B;", b ? a / b : ~(uint64_t)0) \
    X(div_s64, e, l, "div.s64 %D, %A, %B;", b + 1 == 0 ? 0 - a : b ? (uint64_t)(S64(a) / S64(b)) : ~(uint64_t)0) \
    X(rem_u16, e, h, "rem.u16 %dh, %ah, %bh;", U16(b) ? U16(a) % U16(b) : U16(a)) \
    X(rem_s16, e, h, "rem.s16 %dh, %ah, %bh;", U16(S16(b) ? S16(a) % S16(b) : S16(a))) \
    X(rem_u32, e, w, "rem.u32 %d, %a, %b;", U32(b) ? U32(a) % U32(b) : U32(a)) \
    X(rem_s32, e, w, "rem.s32 %d, %a, %b;", U32(S32(b) ? (int64_t)S32(a) % S32(b) : S32(a))) \
    X(rem_u64, e, l, "rem.u64 %D, %A, %B;", b ? a % b : a) \
    X(rem_s64, e, l, "rem.s64 %D, %A, %B;", b + 1 == 0 ? 0 : b ? (uint64_t)(S64(a) % S64(b)) : a) \
    X(min_u16, e, h, "min.u16 %dh, %ah, %bh;", U16(a) < U16(b) ? U16(a) : U16(b)) \
    X(max_s16, e, h, "max.s16 %dh, %ah, %bh;", S16(a) > S16(b) ? U16(a) : U16(b)) \
    X(min_s32, e, w, "min.s32 %d, %a, %b;", S32(a) < S32(b) ? U32(a) : U32(b)) \
    X(max_u32, e, w, "max.u32 %d, %a, %b;", U32(a) > U32(b) ? U32(a) : U32(b)) \
    X(min_u64, e, l, "min.u64 %D, %A, %B;", a < b ? a : b) \
    X(max_s64, e, l, "max.s64 %D, %A, %B;", S64(a) > S64(b) ? a : b) \
    X(neg_s16, e, h, "neg.s16 %dh, %ah;", U16(0 - a)) \
    X(neg_s32, e, w, "neg.s32 %d, %a;", U32(0 - a)) \
    X(neg_s64, e, l, "neg.s64 %D, %A;", 0 - a) \
    X(abs_s32, e, w, "abs.s32 %d, %a;", S32(a) < 0 ? U32(0 - a) : U32(a)) \
    X(abs_s16, e, h, "abs.s16 %dh, %ah;", S16(a) < 0 ? U16(0 - a) : U16(a)) \
    X(abs_s64, e, l, "abs.s64 %D, %A;", S64(a) < 0 ? 0 - a : a) \
    X(carry, e, w, "add.cc.u32 %d, %a, %b; addc.u32 %d, %c, 0;", U32(c + (((uint64_t)U32(a) + U32(b)) >> 32))) \
    X(carry2, e, w, "add.cc.u32 %d, %a, %b; addc.cc.u32 %d, %c, %a; addc.u32 %d, 0, 0;", \
      ((uint64_t)U32(c) + U32(a) + (((uint64_t)U32(a) + U32(b)) >> 32)) >> 32) \
    X(borrow, e, w, "sub.cc.u32 %d, %a, %b; subc.u32 %d, %c, 0;", U32(c - (U32(a) < U32(b)))) \
    X(madc, e, w, "mad.lo.cc.u32 %d, %a, %b, %c; madc.hi.u32 %d, %a, %b, 7;", \
      U32(((uint64_t)U32(a) * U32(b) >> 32) + 7 + (((uint64_t)U32(a * b) + U32(c)) >> 32))) \
    X(and16, e, h, "and.b16 %dh, %ah, %bh;", U16(a & b)) \
    X(or32, e, w, "or.b32 %d, %a, %b;", U32(a | b)) \
    X(xor64, e, l, "xor.b64 %D, %A, %B;", a ^ b) \
    X(not16, e, h, "not.b16 %dh, %ah;", U16(~a)) \
    X(not32, e, w, "not.b32 %d, %a;", U32(~a)) \
    X(not64, e, l, "not.b64 %D, %A;", ~a) \
    X(cnot, e, w, "cnot.b32 %d, %a;", U32(a) == 0) \
    X(shl16, e, h, "shl.b16 %dh, %ah, %b;", U32(b) > 15 ? 0 : U16(a << (b & 15))) \
    X(shl32, e, w, "shl.b32 %d, %a, %b;", U32(b) > 31 ? 0 : U32(a << (b & 31))) \
    X(shl64, e, l, "shl.b64 %D, %A, %b;", U32(b) > 63 ? 0 : a << (b & 63)) \
    X(shru16, e, h, "shr.u16 %dh, %ah, %b;", U32(b) > 15 ? 0 : U16(a) >> (b & 15)) \
    X(shrs16, e, h, "shr.s16 %dh, %ah, %b;", U16(S16(a) >> (U32(b) > 15 ? 15 : U32(b)))) \
    X(shru32, e, w, "shr.u32 %d, %a, %b;", U32(b) > 31 ? 0 : U32(a) >> (b & 31)) \
    X(shrs32, e, w, "shr.s32 %d, %a, %b;", U32(S32(a) >> (U32(b) > 31 ? 31 : U32(b)))) \
    X(shru64, e, l, "shr.b64 %D, %A, %b;", U32(b) > 63 ? 0 : a >> (b & 63)) \
    X(shrs64, e, l, "shr.s64 %D, %A, %b;", (uint64_t)(S64(a) >> (U32(b) > 63 ? 63 : U32(b)))) \
    X(popc32, e, w, "popc.b32 %d, %a;", ones(U32(a))) \
    X(popc64, e, w, "popc.b64 %d, %A;", ones(a)) \
    X(clz32, e, w, "clz.b32 %d, %a;", zeros(U32(a), 32)) \
    X(clz64, e, w, "clz.b64 %d, %A;", zeros(a, 64)) \
    X(bfind, e, w, "bfind.u32 %d, %a;", U32(a) ? U32(31 - zeros(U32(a), 32)) : 0xffffffff) \
    X(bfinds, e, w, "bfind.s32 %d, %a;", \
      U32(S32(a) < 0 ? ~a : a) ? U32(31 - zeros(U32(S32(a) < 0 ? ~a : a), 32)) : 0xffffffff) \
    X(bfindl, e, w, "bfind.shiftamt.u64 %d, %A;", a ? U32(zeros(a, 64)) : 0xffffffff) \
    X(bfeu, e, w, "bfe.u32 %d, %a, %b, %c;", field(U32(a), U32(b), U32(c), 32, 0)) \
    X(bfes, e, w, "bfe.s32 %d, %a, %b, %c;", field(U32(a), U32(b), U32(c), 32, 1)) \
    X(bfeu64, e, l, "bfe.u64 %D, %A, %b, %c;", field(a, U32(b), U32(c), 64, 0)) \
    X(bfes64, e, l, "bfe.s64 %D, %A, %b, %c;", field(a, U32(b), U32(c), 64, 1)) \
    X(bfi, e, w, "bfi.b32 %d, %a, %b, %c, 9;", insert(a, U32(b), U32(c), 9, 32)) \
    X(bfi2, e, w, "bfi.b32 %d, %a, %b, 5, %c;", insert(a, U32(b), 5, U32(c), 32)) \
    X(bfi64, e, l, "bfi.b64 %D, %A, %B, 7, %c;", insert(a, b, 7, U32(c), 64)) \
    X(prmt, e, w, "prmt.b32 %d, %a, %b, %c;", bytes(U32(a), U32(b), U32(c))) \
    X(lop3, e, w, "lop3.b32 %d, %a, %b, %c, 0xe4;", U32((a & b & ~c) | (a & b & c) | (a & ~b & c) | (~a & b & ~c))) \
    X(shfl_l, e, w, "shf.l.wrap.b32 %d, %a, %b, %c;", U32((b << 32 | U32(a)) << (c & 31) >> 32)) \
    X(shf_r, e, w, "shf.r.wrap.b32 %d, %a, %b, %c;", U32((b << 32 | U32(a)) >> (c & 31))) \
    X(shf_lc, e, w, "shf.l.clamp.b32 %d, %a, %b, %c;", \
      U32(c) >= 32 ? U32(a) : U32((b << 32 | U32(a)) << U32(c) >> 32)) \
    X(shf_rc, e, w, "shf.r.clamp.b32 %d, %a, %b, %c;", U32((b << 32 | U32(a)) >> (U32(c) > 32 ? 32 : U32(c)))) \
    X(selp16, e, h, "selp.b16 %dh, %ah, %bh, %p;", c & 1 ? U16(a) : U16(b)) \
    X(selp32, e, w, "selp.s32 %d, %a, %b, %p;", c & 1 ? U32(a) : U32(b)) \
    X(selp64, e, l, "selp.f64 %D, %A, %B, %p;", c & 1 ? a : b) \
    X(mov16, e, h, "mov.u16 %dh, %ah;", U16(a)) \
    X(mov32, e, w, "mov.b32 %d, %a;", U32(a)) \
    X(mov64, e, l, "mov.f64 %D, %A;", a) \
    X(movp, e, p, "mov.pred %q, %p;", c & 1) \
    X(pack32, e, w, "mov.b32 %d, {%ah, %bh};", U16(a) | (b & 0xffff) << 16) \
    X(pack64, e, l, "mov.b64 %D, {%a, %b};", U32(a) | b << 32) \
    X(pack4, e, l, "mov.b64 %D, {%ah, %bh, %ch, %ah};", U16(a) | (b & 0xffff) << 16 | (c & 0xffff) << 32 | a << 48) \
    X(unpack, e, w, "mov.b64 {_, %d}, %A;", a >> 32) \
    X(unpack16, e, h, "mov.b32 {_, %dh}, %a;", U16(a >> 16)) \
    X(andp, e, p, "setp.ne.b32 %q, %a, 0; and.pred %q, %q, %p;", U32(a) && (c & 1)) \
    X(notp, e, p, "not.pred %q, %p;", !(c & 1)) \
    X(xorp, e, p, "setp.lt.s32 %q, %a, %b; xor.pred %q, %q, %p;", (S32(a) < S32(b)) ^ (int)(c & 1)) \
    X(seq16, e, p, "setp.eq.s16 %q, %ah, %bh;", U16(a) == U16(b)) \
    X(slt16, e, p, "setp.lt.s16 %q, %ah, %bh;", S16(a) < S16(b)) \
    X(shi, e, p, "setp.hi.u32 %q, %a, %b;", U32(a) > U32(b)) \
    X(sgeu, e, p, "setp.ge.u16 %q, %ah, %bh;", U16(a) >= U16(b)) \
    X(sle64, e, p, "setp.le.s64 %q, %A, %B;", S64(a) <= S64(b)) \
    X(sgt64, e, p, "setp.gt.u64 %q, %A, %B;", a > b) \
    X(sand, e, p, "setp.lt.and.u32 %q, %a, %b, %p;", U32(a) < U32(b) && (c & 1)) \
    X(sor, e, p, "setp.ge.or.s32 %q, %a, %b, !%p;", S32(a) >= S32(b) || !(c & 1)) \
    X(stwo, e, p, "setp.ne.xor.s32 _|%q, %a, %b, %p;", (U32(a) == U32(b)) ^ (int)(c & 1)) \
    X(cvt1, e, w, "cvt.s32.s8 %d, %ah;", U32((int8_t)a)) \
    X(cvt2, e, w, "cvt.u32.u8 %d, %ah;", a & 0xff) \
    X(cvt3, e, l, "cvt.s64.s32 %D, %a;", (uint64_t)(int64_t)S32(a)) \
    X(cvt4, e, l, "cvt.u64.u32 %D, %a;", U32(a)) \
    X(cvt5, e, w, "cvt.u32.u64 %d, %A;", U32(a)) \
    X(cvt6, e, h, "cvt.u16.u64 %dh, %A;", U16(a)) \
    X(cvt7, e, l, "cvt.s64.s16 %D, %ah;", (uint64_t)(int64_t)S16(a)) \
    X(cvt8, e, h, "cvt.s16.s8 %dh, %a;", U16((int8_t)a)) \
    X(cvt9, e, l, "cvt.s64.s32 %D, %A;", (uint64_t)(int64_t)S32(a)) \
    X(cvt10, e, w, "cvt.u32.u8 %d, %A;", a & 0xff) \
    X(cvt11, e, f, "cvt.rn.f32.s32 %d, %A;", bits32((float)S32(a))) \
    X(cvts1, e, w, "cvt.sat.s32.s64 %d, %A;", \
      U32(S64(a) > INT32_MAX ? INT32_MAX : S64(a) < INT32_MIN ? INT32_MIN : S64(a))) \
    X(cvts2, e, w, "cvt.sat.u32.s64 %d, %A;", S64(a) < 0 ? 0 : a > UINT32_MAX ? UINT32_MAX : a) \
    X(cvts3, e, w, "cvt.sat.u8.s32 %d, %a;", S32(a) < 0 ? 0 : S32(a) > 255 ? 255 : U32(a)) \
    X(cvts4, e, h, "cvt.sat.s8.s32 %dh, %a;", U16(S32(a) < -128 ? -128 : S32(a) > 127 ? 127 : S32(a))) \
    X(cvts5, e, w, "cvt.sat.s32.u32 %d, %a;", U32(a) > INT32_MAX ? INT32_MAX : U32(a)) \
    X(i2f, e, f, "cvt.rn.f32.s32 %d, %a;", bits32((float)S32(a))) \
    X(u2f, e, f, "cvt.rn.f32.u32 %d, %a;", bits32((float)U32(a))) \
    X(i2fz, e, f, "cvt.rz.f32.s32 %d, %a;", bits32(from_whole(FE_TOWARDZERO, S32(a), 0, 1))) \
    X(l2f, e, f, "cvt.rn.f32.s64 %d, %A;", bits32((float)S64(a))) \
    X(ul2f, e, f, "cvt.rn.f32.u64 %d, %A;", bits32((float)a)) \
    X(l2fp, e, f, "cvt.rp.f32.s64 %d, %A;", bits32(from_whole(FE_UPWARD, S64(a), 0, 1))) \
    X(ul2fm, e, f, "cvt.rm.f32.u64 %d, %A;", bits32(from_whole(FE_DOWNWARD, 0, a, 0))) \
    X(l2d, e, F, "cvt.rn.f64.s64 %D, %A;", bits64((double)S64(a))) \
    X(ul2d, e, F, "cvt.rn.f64.u64 %D, %A;", bits64((double)a)) \
    X(s2f, e, f, "cvt.rn.f32.s16 %d, %ah;", bits32((float)S16(a))) \
    X(i2d, e, F, "cvt.rn.f64.s32 %D, %a;", bits64(S32(a)))

#define REAL_FORMS(X) \
    X(addf, r, f, "add.f32 %d, %a, %b;", bits32(FA + FB)) \
    X(subf, r, f, "sub.rn.f32 %d, %a, %b;", bits32(FA - FB)) \
    X(mulf, r, f, "mul.f32 %d, %a, %b;", bits32(FA * FB)) \
    X(fmaf_, r, f, "fma.rn.f32 %d, %a, %b, %c;", bits32(fmaf(FA, FB, FC))) \
    X(divf, r, f, "div.rn.f32 %d, %a, %b;", bits32(FA / FB)) \
    X(rcpf, r, f, "rcp.rn.f32 %d, %a;", bits32(1 / FA)) \
    X(sqrtf_, r, f, "sqrt.rn.f32 %d, %a;", bits32(sqrtf(FA))) \
    X(addz, r, f, "add.rz.f32 %d, %a, %b;", bits32(in_mode(FE_TOWARDZERO, '+', FA, FB, 0))) \
    X(subm, r, f, "sub.rm.f32 %d, %a, %b;", bits32(in_mode(FE_DOWNWARD, '-', FA, FB, 0))) \
    X(mulp, r, f, "mul.rp.f32 %d, %a, %b;", bits32(in_mode(FE_UPWARD, '*', FA, FB, 0))) \
    X(fmam, r, f, "fma.rm.f32 %d, %a, %b, %c;", bits32(in_mode(FE_DOWNWARD, 'f', FA, FB, FC))) \
    X(fmaz, r, f, "fma.rz.f32 %d, %a, %b, %c;", bits32(in_mode(FE_TOWARDZERO, 'f', FA, FB, FC))) \
    X(divp, r, f, "div.rp.f32 %d, %a, %b;", bits32(in_mode(FE_UPWARD, '/', FA, FB, 0))) \
    X(rcpz, r, f, "rcp.rz.f32 %d, %a;", bits32(in_mode(FE_TOWARDZERO, '/', 1, FA, 0))) \
    X(sqrtm, r, f, "sqrt.rm.f32 %d, %a;", bits32(in_mode(FE_DOWNWARD, 'q', FA, 0, 0))) \
    X(addftz, r, f, "add.ftz.f32 %d, %a, %b;", bits32(flush(flush(FA) + flush(FB)))) \
    X(fmaftz, r, f, "fma.rn.ftz.f32 %d, %a, %b, %c;", bits32(flush(fmaf(flush(FA), flush(FB), flush(FC))))) \
    X(mulsat, r, f, "mul.sat.f32 %d, %a, %b;", bits32(sat(FA * FB))) \
    X(minf, r, f, "min.f32 %d, %a, %b;", bits32(least(FA, FB))) \
    X(maxf, r, f, "max.f32 %d, %a, %b;", bits32(most(FA, FB))) \
    X(maxn, r, f, "max.NaN.f32 %d, %a, %b;", bits32(isnan(FA) || isnan(FB) ? NAN : most(FA, FB))) \
    X(negf, r, f, "neg.f32 %d, %a;", a ^ 0x80000000) \
    X(absf, r, f, "abs.f32 %d, %a;", a & 0x7fffffff) \
    X(negz, r, f, "neg.ftz.f32 %d, %a;", bits32(-flush(FA))) \
    X(csgn, r, w, "copysign.f32 %d, %a, %b;", (b & 0x7fffffff) | (a & 0x80000000)) \
    X(feq, r, p, "setp.eq.f32 %q, %a, %b;", FA == FB) \
    X(fne, r, p, "setp.ne.f32 %q, %a, %b;", FA < FB || FA > FB) \
    X(flt, r, p, "setp.lt.f32 %q, %a, %b;", FA < FB) \
    X(fle, r, p, "setp.le.f32 %q, %a, %b;", FA <= FB) \
    X(fgt, r, p, "setp.gt.f32 %q, %a, %b;", FA > FB) \
    X(fge, r, p, "setp.ge.f32 %q, %a, %b;", FA >= FB) \
    X(fequ, r, p, "setp.equ.f32 %q, %a, %b;", isunordered(FA, FB) || FA == FB) \
    X(fneu, r, p, "setp.neu.f32 %q, %a, %b;", FA != FB) \
    X(fltu, r, p, "setp.ltu.f32 %q, %a, %b;", isunordered(FA, FB) || FA < FB) \
    X(fleu, r, p, "setp.leu.f32 %q, %a, %b;", isunordered(FA, FB) || FA <= FB) \
    X(fgtu, r, p, "setp.gtu.f32 %q, %a, %b;", isunordered(FA, FB) || FA > FB) \
    X(fgeu, r, p, "setp.geu.f32 %q, %a, %b;", isunordered(FA, FB) || FA >= FB) \
    X(fnum, r, p, "setp.num.f32 %q, %a, %b;", !isunordered(FA, FB)) \
    X(fnan, r, p, "setp.nan.f32 %q, %a, %b;", isunordered(FA, FB)) \
    X(feqz, r, p, "setp.eq.ftz.f32 %q, %a, %b;", flush(FA) == flush(FB)) \
    X(tinf, r, p, "testp.infinite.f32 %q, %a;", isinf(FA) != 0) \
    X(tsub, r, p, "testp.subnormal.f32 %q, %a;", fpclassify(FA) == FP_SUBNORMAL) \
    X(f2i, r, w, "cvt.rzi.s32.f32 %d, %a;", U32(clamp(FA, INT32_MIN, INT32_MAX, 0))) \
    X(f2u, r, w, "cvt.rni.u32.f32 %d, %a;", U32(clamp(nearbyint(FA), 0, UINT32_MAX, 0))) \
    X(f2im, r, w, "cvt.rmi.s32.f32 %d, %a;", U32(clamp(floor(FA), INT32_MIN, INT32_MAX, 0))) \
    X(f2u8, r, w, "cvt.rpi.u8.f32 %d, %a;", (uint64_t)clamp(ceil(FA), 0, 255, 0)) \
    X(f2l, r, l, "cvt.rzi.s64.f32 %D, %a;", \
      isnan(FA) || FA < -0x1p63f ? (uint64_t)1 << 63 : FA >= 0x1p63f ? (uint64_t)INT64_MAX : \
      (uint64_t)(int64_t)FA) \
    X(f2d, r, F, "cvt.f64.f32 %D, %a;", bits64(FA)) \
    X(rint_, r, f, "cvt.rni.f32.f32 %d, %a;", bits32(nearbyintf(FA))) \
    X(floor_, r, f, "cvt.rmi.f32.f32 %d, %a;", bits32(floorf(FA))) \
    X(ceil_, r, f, "cvt.rpi.f32.f32 %d, %a;", bits32(ceilf(FA))) \
    X(satf, r, f, "cvt.sat.f32.f32 %d, %a;", bits32(sat(FA))) \
    X(f2h, r, h, "cvt.rn.f16.f32 %dh, %a;", small_nearest(FA, 10)) \
    X(f2b, r, h, "cvt.rn.bf16.f32 %dh, %a;", small_nearest(FA, 7)) \
    X(f2hh, r, w, "cvt.rn.f16x2.f32 %d, %a, %b;", small_nearest(FA, 10) << 16 | small_nearest(FB, 10)) \
    X(f2bb, r, w, "cvt.rn.bf16x2.f32 %d, %a, %b;", small_nearest(FA, 7) << 16 | small_nearest(FB, 7)) \
    X(addd, d, F, "add.f64 %D, %A, %B;", bits64(DA + DB)) \
    X(subd, d, F, "sub.rn.f64 %D, %A, %B;", bits64(DA - DB)) \
    X(muld, d, F, "mul.f64 %D, %A, %B;", bits64(DA * DB)) \
    X(fmad, d, F, "fma.rn.f64 %D, %A, %B, %C;", bits64(fma(DA, DB, DC))) \
    X(divd, d, F, "div.rn.f64 %D, %A, %B;", bits64(DA / DB)) \
    X(sqrtd, d, F, "sqrt.rn.f64 %D, %A;", bits64(sqrt(DA))) \
    X(rcpd, d, F, "rcp.rn.f64 %D, %A;", bits64(1 / DA)) \
    X(negd, d, F, "neg.f64 %D, %A;", a ^ (uint64_t)1 << 63) \
    X(mind, d, F, "min.f64 %D, %A, %B;", bits64(DA == DB && signbit(DA) != signbit(DB) ? -0.0 : fmin(DA, DB))) \
    X(maxd, d, F, "max.f64 %D, %A, %B;", bits64(DA == DB && signbit(DA) != signbit(DB) ? 0.0 : fmax(DA, DB))) \
    X(dlt, d, p, "setp.lt.f64 %q, %A, %B;", DA < DB) \
    X(dgtu, d, p, "setp.gtu.f64 %q, %A, %B;", !(DA <= DB)) \
    X(d2f, d, f, "cvt.rn.f32.f64 %d, %A;", bits32((float)DA)) \
    X(d2fz, d, f, "cvt.rz.f32.f64 %d, %A;", bits32(narrowed(FE_TOWARDZERO, DA))) \
    X(d2fp, d, f, "cvt.rp.f32.f64 %d, %A;", bits32(narrowed(FE_UPWARD, DA))) \
    X(d2h, d, h, "cvt.rn.f16.f64 %dh, %A;", small_nearest(DA, 10)) \
    X(d2i, d, w, "cvt.rzi.s32.f64 %d, %A;", U32(clamp(trunc(DA), INT32_MIN, INT32_MAX, INT32_MIN))) \
    X(d2u, d, w, "cvt.rni.u32.f64 %d, %A;", U32(clamp(nearbyint(DA), 0, UINT32_MAX, INT64_C(0x80000000)))) \
    X(floord, d, F, "cvt.rmi.f64.f64 %D, %A;", bits64(floor(DA))) \
    X(addh, h, h, "add.f16 %dh, %ah, %bh;", small_nearest(H(a) + H(b), 10)) \
    X(mulh, h, h, "mul.rn.f16 %dh, %ah, %bh;", small_nearest(H(a) * H(b), 10)) \
    X(subhh, h, w, "sub.f16x2 %d, %a, %b;", small_nearest(H(a) - H(b), 10) | small_nearest(0, 10) << 16) \
    X(maxh, h, h, "max.f16 %dh, %ah, %bh;", small_nearest(most((float)H(a), (float)H(b)), 10)) \
    X(mulb, h, h, "mul.bf16 %dh, %ah, %bh;", small_nearest(B(a) * B(b), 7)) \
    X(addb, h, h, "add.rn.bf16 %dh, %ah, %bh;", small_nearest(B(a) + B(b), 7)) \
    X(h2f, h, f, "cvt.f32.f16 %d, %ah;", bits32((float)H(a))) \
    X(b2f, h, f, "cvt.f32.bf16 %d, %ah;", bits32((float)B(a))) \
    X(h2i, h, w, "cvt.rzi.s32.f16 %d, %ah;", U32(clamp(trunc(H(a)), INT32_MIN, INT32_MAX, 0))) \
    X(hlt, h, p, "setp.lt.f16 %q, %ah, %bh;", H(a) < H(b))

#define FUNCTION(name, from, result, text, expected)                                         \
    static uint64_t want_##name(uint64_t a, uint64_t b, uint64_t c)                          \
    {                                                                                        \
        (void)a, (void)b, (void)c;                                                           \
        return (uint64_t)(expected);                                                         \
    }
#define ROW(name, from, result, text, expected) { text, #from[0], #result[0], want_##name },
INTEGER_FORMS(FUNCTION)
REAL_FORMS(FUNCTION)

static const struct {
    const char *text;
    char from, result;
    uint64_t (*want)(uint64_t a, uint64_t b, uint64_t c);
} forms[] = { INTEGER_FORMS(ROW) REAL_FORMS(ROW) };

static const uint64_t *operands_from(char from)
{
    return from == 'r' ? reals : from == 'd' ? doubles : from == 'h' ? halves : edges;
}

static const char *store_of(char result)
{
    switch (result) {
    case 'h': return "cvt.u64.u16 %D, %dh;";
    case 'l':
    case 'F': return "";
    case 'p': return "selp.u32 %d, 1, 0, %q; cvt.u64.u32 %D, %d;";
    default: return "cvt.u64.u32 %D, %d;";
    }
}

static int same(char result, uint64_t got, uint64_t want)
{
    if (result == 'f' && isnan(f32(want)))
        return isnan(f32(got));
    if (result == 'F' && isnan(f64(want)))
        return isnan(f64(got));
    return got == want;
}

static void operand_triple(char from, int i, uint64_t *abc)
{
    const uint64_t *list = operands_from(from);
    abc[0] = list[i % N_EDGES];
    abc[1] = list[i / N_EDGES % N_EDGES];
    abc[2] = list[i / N_EDGES / N_EDGES * 5 % N_EDGES];
}

/* A kernel that loads three operands, executes and stores 64 bits. */
static void form_program(char *to, size_t size, const char *instruction, char result)
{
    snprintf(to, size,
             HEAD
             ".entry t(.param .u64 .ptr .global .align 8 p)\n{\n"
             ".reg .pred %%p, %%q; .reg .b16 %%ah, %%bh, %%ch, %%dh; .reg .b32 %%a, %%b, %%c, %%d, %%t, %%n, %%x;\n"
             ".reg .b64 %%A, %%B, %%C, %%D, %%z;\n"
             "ld.param.u64 %%z, [p]; mov.u32 %%t, %%tid.x; mov.u32 %%n, %%ctaid.x; mad.lo.s32 %%t, %%n, 32, %%t;\n"
             "mad.wide.u32 %%z, %%t, 32, %%z; ld.global.v2.u64 {%%A, %%B}, [%%z]; ld.global.u64 %%C, [%%z+16];\n"
             "cvt.u32.u64 %%a, %%A; cvt.u32.u64 %%b, %%B; cvt.u32.u64 %%c, %%C; cvt.u16.u64 %%ah, %%A;\n"
             "cvt.u16.u64 %%bh, %%B; cvt.u16.u64 %%ch, %%C; and.b32 %%x, %%c, 1; setp.ne.s32 %%p, %%x, 0;\n"
             "%s\n%s\nst.global.u64 [%%z+24], %%D; ret;\n}\n",
             instruction, store_of(result));
}

static void run_form(const char *instruction, char from, char result, uint64_t (*data)[4], int approximate)
{
    char text[2048];
    struct heard heard;
    const struct how how = { N_ALL / 32, 32, SCHEDULE_LOWEST, 0, 0, approximate, 0, 0 };
    form_program(text, sizeof text, instruction, result);
    for (int i = 0; i < N_ALL; i++)
        operand_triple(from, i, data[i]);
    run_text(text, data, N_ALL * sizeof *data, NULL, &how, &heard);
    if (heard.all)
        ok(0, "%s: %s", instruction, heard.text);
}

static void test_forms(void)
{
    static uint64_t data[N_ALL][4];
    for (size_t f = 0; f < sizeof forms / sizeof *forms; f++) {
        int wrong = -1;
        uint64_t want = 0;
        run_form(forms[f].text, forms[f].from, forms[f].result, data, 0);
        for (int i = 0; i < N_ALL && wrong < 0; i++) {
            want = forms[f].want(data[i][0], data[i][1], data[i][2]);
            if (!same(forms[f].result, data[i][3], want))
                wrong = i;
        }
        ok(wrong < 0, "%s", forms[f].text);
        if (wrong >= 0)
            diag("a %llx b %llx c %llx: got %llx, want %llx", (unsigned long long)data[wrong][0],
                 (unsigned long long)data[wrong][1], (unsigned long long)data[wrong][2],
                 (unsigned long long)data[wrong][3], (unsigned long long)want);
    }
}

/* ---- approximations: as far off as promised, no farther, on the side that was asked for ---- */

static long double div_(long double x)
{
    return 1 / x;
}

static long double rsqrt_(long double x)
{
    return 1 / sqrtl(x);
}

static const struct {
    const char *text;
    long double (*exact)(long double x);
    double relative, absolute, low, high; /* the promise, and where */
} approximations[] = {
    { "ex2.approx.f32 %d, %a;", exp2l, 0x1p-22, 0, -120, 120 },
    { "ex2.approx.ftz.f32 %d, %a;", exp2l, 0x1p-22, 0, -120, 120 },
    { "lg2.approx.f32 %d, %a;", log2l, 0x1p-22, 0, 2, 1e30 },
    { "lg2.approx.ftz.f32 %d, %a;", log2l, 0, 0x1p-22, 0.5, 2 },
    { "rcp.approx.f32 %d, %a;", div_, 0x1p-23, 0, 1e-30, 1e30 },
    { "rsqrt.approx.f32 %d, %a;", rsqrt_, 0x1.85p-23, 0, 1e-30, 1e30 },
    { "sqrt.approx.f32 %d, %a;", sqrtl, 0x1p-23, 0, 1e-30, 1e30 },
    { "sin.approx.f32 %d, %a;", sinl, 0, 0x1.6bp-21, -6, 6 },
    { "cos.approx.f32 %d, %a;", cosl, 0, 0x1.3cp-15, 7, 300 },
    { "tanh.approx.f32 %d, %a;", tanhl, 0x1p-11, 0, -9, 9 },
    { "div.approx.f32 %d, 0f3f800000, %a;", div_, 0x1p-22, 0, 1e-30, 1e30 },
    { "div.full.f32 %d, 0f3f800000, %a;", div_, 0x1p-22, 0, 1e-30, 1e30 },
};

/* On -1 below, on +1 above the exact value, by more than half of the promise somewhere; at 0 the nearest. */
static void test_approximations(void)
{
    static uint64_t data[N_ALL][4];
    for (size_t f = 0; f < sizeof approximations / sizeof *approximations; f++)
        for (int sign = -1; sign <= 1; sign++) {
            char text[2048];
            struct heard heard;
            const struct how how = { N_ALL / 32, 32, SCHEDULE_LOWEST, 0, 0, sign, 0, 0 };
            double most_off = 0;
            int bad = 0;
            const double low = approximations[f].low, high = approximations[f].high;
            form_program(text, sizeof text, approximations[f].text, 'f');
            for (int i = 0; i < N_ALL; i++) {
                const double part = (i + 0.37) / N_ALL;
                data[i][0] = bits32((float)(low > 0 ? low * pow(high / low, part) : low + (high - low) * part));
            }
            run_text(text, data, sizeof data, NULL, &how, &heard);
            for (int i = 0; i < N_ALL; i++) {
                const long double x = approximations[f].exact(f32(data[i][0]));
                const double off = (double)((long double)f32(data[i][3]) - x);
                const double promise = fabs((double)x) * approximations[f].relative + approximations[f].absolute;
                bad += fabs(off) > promise || (sign < 0 && off > 0) || (sign > 0 && off < 0);
                bad += sign == 0 && f32(data[i][3]) != (float)x;
                most_off = fmax(most_off, fabs(off) / promise);
            }
            ok(!bad && (!sign || most_off > 0.5) && !heard.all, "%s, side %d", approximations[f].text, sign);
            if (bad || (sign && most_off <= 0.5))
                diag("%d of %d beyond the promise or on the other side; the farthest %g of it", bad, N_ALL, most_off);
        }
}

/* What the manual's tables of special values say. */
static const struct {
    const char *text;
    uint32_t a, want;
} specials[] = {
    { "ex2.approx.f32", 0xff800000, 0 },
    { "ex2.approx.f32", 0x80000000, 0x3f800000 },
    { "ex2.approx.f32", 0x7f800000, 0x7f800000 },
    { "ex2.approx.f32", 0x40400000, 0x41000000 }, /* 3: exact, as other integers */
    { "ex2.approx.ftz.f32", 0xc1a00000, 0x35800000 },
    { "ex2.approx.ftz.f32", 0xc3000000, 0 },
    { "ex2.approx.ftz.f32", 0x80000001, 0x3f800000 },
    { "lg2.approx.f32", 0x80000000, 0xff800000 },
    { "lg2.approx.ftz.f32", 0x00000001, 0xff800000 },
    { "lg2.approx.f32", 0x7f800000, 0x7f800000 },
    { "rcp.approx.f32", 0x80000000, 0xff800000 },
    { "rcp.approx.f32", 0xff800000, 0x80000000 },
    { "rcp.approx.ftz.f32", 0x807fffff, 0xff800000 },
    { "rsqrt.approx.f32", 0x80000000, 0xff800000 },
    { "rsqrt.approx.f32", 0x7f800000, 0 },
    { "sqrt.approx.f32", 0x80000000, 0x80000000 },
    { "sqrt.approx.ftz.f32", 0x80000001, 0x80000000 },
    { "sin.approx.f32", 0x80000000, 0x80000000 },
    { "cos.approx.f32", 0x80000000, 0x3f800000 },
    { "tanh.approx.f32", 0xff800000, 0xbf800000 },
};

static void test_specials(void)
{
    for (size_t k = 0; k < sizeof specials / sizeof *specials; k++)
        for (int sign = -1; sign <= 1; sign++) {
            char text[1024];
            struct heard heard;
            const struct how how = { 1, 1, SCHEDULE_LOWEST, 0, 0, sign, 0, 0 };
            uint32_t data[2] = { specials[k].a, 99 };
            snprintf(text, sizeof text,
                     "%sld.global.f32 %%f1, [%%p0]; %s %%f2, %%f1; st.global.f32 [%%p0+4], %%f2;\n%s", BEGIN,
                     specials[k].text, END);
            run_text(text, data, sizeof data, NULL, &how, &heard);
            ok(data[1] == specials[k].want, "%s of %08x, side %d", specials[k].text, specials[k].a, sign);
        }
}

/* ---- matrices ---- */

/* m16n8k16 and m16n8k8: rows and columns of element i of a fragment, as the manual's formulas have them. */
static void element_a(int lane, int i, int *row, int *column)
{
    *row = i < 2 || (i >= 4 && i < 6) ? lane / 4 : lane / 4 + 8;
    *column = lane % 4 * 2 + (i & 1) + (i < 4 ? 0 : 8);
}

static void element_b(int lane, int i, int *row, int *column)
{
    *row = lane % 4 * 2 + (i & 1) + (i < 2 ? 0 : 8);
    *column = lane / 4;
}

static void element_c(int lane, int i, int *row, int *column)
{
    *row = i < 2 ? lane / 4 : lane / 4 + 8;
    *column = lane % 4 * 2 + (i & 1);
}

static void test_mma(int k, int fraction, const char *type)
{
    enum { WORDS = 14 };
    static uint32_t data[32][WORDS];
    static double a[16][16], b[16][8], c[16][8];
    const int n_a = k / 4, n_b = k / 8;
    uint32_t state = 7;
    char text[3000], a_regs[64] = "", b_regs[64] = "";
    struct heard heard;
    for (int i = 0; i < 16 * 16; i++)
        a[i / 16][i % 16] = (int)(dice(&state) % 33) / 8.0 - 2;
    for (int i = 0; i < 16 * 8; i++) {
        b[i / 8][i % 8] = (int)(dice(&state) % 65) / 16.0 - 2;
        c[i / 8][i % 8] = (int)(dice(&state) % 1000) / 64.0;
    }
    memset(data, 0, sizeof data);
    for (int lane = 0; lane < 32; lane++) {
        int row, column;
        for (int i = 0; i < 2 * n_a; i++) {
            element_a(lane, i, &row, &column);
            data[lane][i / 2] |= (uint32_t)small_nearest(a[row][column], fraction) << 16 * (i & 1);
        }
        for (int i = 0; i < 2 * n_b; i++) {
            element_b(lane, i, &row, &column);
            data[lane][4 + i / 2] |= (uint32_t)small_nearest(b[row][column], fraction) << 16 * (i & 1);
        }
        for (int i = 0; i < 4; i++) {
            element_c(lane, i, &row, &column);
            data[lane][6 + i] = (uint32_t)bits32((float)c[row][column]);
        }
    }
    for (int i = 0; i < n_a; i++)
        snprintf(a_regs + strlen(a_regs), 16, "%s%%r%d", i ? "," : "", i);
    for (int i = 0; i < n_b; i++)
        snprintf(b_regs + strlen(b_regs), 16, "%s%%r%d", i ? "," : "", 4 + i);
    snprintf(
        text, sizeof text,
        "%smad.wide.u32 %%d1, %%t, 56, %%p0;\n"
        "ld.global.b32 %%r0, [%%d1]; ld.global.b32 %%r1, [%%d1+4]; ld.global.b32 %%r2, [%%d1+8];\n"
        "ld.global.b32 %%r3, [%%d1+12]; ld.global.b32 %%r4, [%%d1+16]; ld.global.b32 %%r5, [%%d1+20];\n"
        "ld.global.f32 %%f0, [%%d1+24]; ld.global.f32 %%f1, [%%d1+28]; ld.global.f32 %%f2, [%%d1+32];\n"
        "ld.global.f32 %%f3, [%%d1+36];\n"
        "mma.sync.aligned.m16n8k%d.row.col.f32.%s.%s.f32 {%%f4,%%f5,%%f6,%%f7}, {%s}, {%s}, {%%f0,%%f1,%%f2,%%f3};\n"
        "st.global.f32 [%%d1+40], %%f4; st.global.f32 [%%d1+44], %%f5; st.global.f32 [%%d1+48], %%f6;\n"
        "st.global.f32 [%%d1+52], %%f7;\n%s",
        BEGIN, k, type, type, a_regs, b_regs, END);
    run_text(text, data, sizeof data, NULL, NULL, &heard);
    int wrong = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int i = 0; i < 4; i++) {
            int row, column;
            element_c(lane, i, &row, &column);
            double want = c[row][column];
            for (int j = 0; j < k; j++)
                want += a[row][j] * b[j][column]; /* exact: eighths times sixteenths */
            wrong += f32(data[lane][10 + i]) != (float)want;
        }
    ok(!wrong && !heard.all, "mma m16n8k%d %s: %d wrong %s", k, type, wrong, heard.text);
}

/* Matrix m holds at (row, column) the number 64 m + 8 row + column. */
static void test_ldmatrix(int count, int transposed)
{
    static uint32_t data[32][4];
    static const char *const regs[] = { "%r1", "%r1,%r2", NULL, "%r1,%r2,%r3,%r4" };
    char text[3000];
    struct heard heard;
    snprintf(
        text, sizeof text,
        "%s.shared .align 16 .b8 s[512];\n"
        "mov.u64 %%d1, s; shl.b32 %%r9, %%t, 3; cvt.u16.u32 %%h1, %%r9; mad.wide.u32 %%d2, %%t, 16, %%d1;\n"
        "st.shared.u16 [%%d2], %%h1; add.s16 %%h1, %%h1, 1; st.shared.u16 [%%d2+2], %%h1;\n"
        "add.s16 %%h1, %%h1, 1; st.shared.u16 [%%d2+4], %%h1; add.s16 %%h1, %%h1, 1; st.shared.u16 [%%d2+6], %%h1;\n"
        "add.s16 %%h1, %%h1, 1; st.shared.u16 [%%d2+8], %%h1; add.s16 %%h1, %%h1, 1; st.shared.u16 [%%d2+10], %%h1;\n"
        "add.s16 %%h1, %%h1, 1; st.shared.u16 [%%d2+12], %%h1; add.s16 %%h1, %%h1, 1; st.shared.u16 [%%d2+14], %%h1;\n"
        "bar.warp.sync -1; mov.b32 %%r1, 0; mov.b32 %%r2, 0; mov.b32 %%r3, 0; mov.b32 %%r4, 0;\n"
        "cvt.u32.u64 %%r9, %%d2;\n"
        "ldmatrix.sync.aligned.m8n8.x%d%s.shared.b16 {%s}, [%%r9];\n"
        "mad.wide.u32 %%d3, %%t, 16, %%p0; st.global.v4.b32 [%%d3], {%%r1,%%r2,%%r3,%%r4};\n%s",
        BEGIN, count, transposed ? ".trans" : "", regs[count - 1], END);
    run_text(text, data, sizeof data, NULL, NULL, &heard);
    int wrong = 0;
    for (int lane = 0; lane < 32; lane++)
        for (int m = 0; m < count; m++)
            for (int h = 0; h < 2; h++) {
                const int i = lane / 4, j = 2 * (lane % 4) + h;
                const int want = 64 * m + (transposed ? 8 * j + i : 8 * i + j);
                wrong += (int)(data[lane][m] >> 16 * h & 0xffff) != want;
            }
    ok(!wrong && !heard.all, "ldmatrix x%d%s %s", count, transposed ? " transposed" : "", heard.text);
}

static void test_movmatrix(void)
{
    uint32_t data[32];
    struct heard heard;
    for (int i = 0; i < 32; i++)
        data[i] = (uint32_t)(2 * i) | (uint32_t)(2 * i + 1) << 16; /* row i / 4, columns 2 (i % 4) and the next */
    run_text(BEGIN "add.s64 %d1, %p0, %u; ld.global.b32 %r1, [%d1];\n"
                   "movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r1; st.global.b32 [%d1], %r2;\n" END,
             data, sizeof data, NULL, NULL, &heard);
    int wrong = 0;
    for (int i = 0; i < 32; i++)
        for (int h = 0; h < 2; h++)
            wrong += (data[i] >> 16 * h & 0xffff) != (uint32_t)(8 * (2 * (i % 4) + h) + i / 4);
    ok(!wrong && !heard.all, "movmatrix");
}

/* ---- shuffles, votes ---- */

/* The manual's pseudo code. */
static uint32_t shuffled(const char *mode, int lane, uint32_t bval, uint32_t cval, int segmask, int *pred)
{
    const int maxlane = (lane & segmask) | ((int)cval & ~segmask), minlane = lane & segmask;
    int j;
    if (!strcmp(mode, "up"))
        j = lane - (int)bval, *pred = j >= maxlane;
    else if (!strcmp(mode, "down"))
        j = lane + (int)bval, *pred = j <= maxlane;
    else if (!strcmp(mode, "bfly"))
        j = lane ^ (int)bval, *pred = j <= maxlane;
    else
        j = minlane | ((int)bval & ~segmask), *pred = j <= maxlane;
    return (uint32_t)(100 + (*pred ? j : lane));
}

static void test_shfl(void)
{
    static const char *const modes[] = { "up", "down", "bfly", "idx" };
    static const uint32_t cs[] = { 0x1f, 0x0, 0x181f, 0x1800, 0x1c03, 0x1007 };
    for (int m = 0; m < 4; m++)
        for (int k = 0; k < 6; k++)
            for (uint32_t b = 0; b < 20; b += 5) {
                char text[2000];
                uint32_t data[32][2] = { { 0 } };
                struct heard heard;
                snprintf(text, sizeof text,
                         "%sadd.s32 %%r1, %%t, 100; shfl.sync.%s.b32 %%r2|%%p1, %%r1, %u, %u, 0xffffffff;\n"
                         "selp.u32 %%r3, 1, 0, %%p1; mad.wide.u32 %%d1, %%t, 8, %%p0;\n"
                         "st.global.v2.u32 [%%d1], {%%r2,%%r3};\n%s",
                         BEGIN, modes[m], b, cs[k], END);
                run_text(text, data, sizeof data, NULL, NULL, &heard);
                int wrong = heard.all;
                for (int lane = 0; lane < 32; lane++) {
                    int pred;
                    const uint32_t want = shuffled(modes[m], lane, b & 31, cs[k] & 31, (int)(cs[k] >> 8 & 31), &pred);
                    wrong += data[lane][0] != want || (int)data[lane][1] != pred;
                }
                ok(!wrong, "shfl.sync.%s by %u, 0x%x", modes[m], b, cs[k]);
            }
}

static void test_votes(void)
{
    uint32_t data[8] = { 0 };
    struct heard heard;
    run_text(
        BEGIN
        "setp.lt.u32 %p1, %t, 5; vote.sync.ballot.b32 %r1, %p1, -1; vote.sync.any.pred %p2, %p1, -1;\n"
        "vote.sync.all.pred %p3, %p1, -1; vote.sync.uni.pred %p4, !%p1, 0x1f; \n"
        "selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3; redux.sync.add.u32 %r5, %t, -1; activemask.b32 %r6;\n"
        "setp.ne.u32 %p5, %t, 0; @%p5 bra DONE; st.global.u32 [%p0], %r1; st.global.u32 [%p0+4], %r2;\n"
        "st.global.u32 [%p0+8], %r3; selp.u32 %r4, 1, 0, %p4; st.global.u32 [%p0+12], %r4;\n"
        "st.global.u32 [%p0+16], %r5; st.global.u32 [%p0+20], %r6; activemask.b32 %r7; st.global.u32 [%p0+24], %r7;\n"
        "DONE: " END,
        data, sizeof data, NULL, NULL, &heard);
    /* lanes 5.. are not members of the vote.uni: nobody would come for them */
    ok(heard.n[FOUND_DIVERGED] == 1, "a lane that is not a member is told");
    run_text(
        BEGIN
        "setp.lt.u32 %p1, %t, 5; vote.sync.ballot.b32 %r1, %p1, -1; vote.sync.any.pred %p2, %p1, -1;\n"
        "vote.sync.all.pred %p3, %p1, -1; selp.u32 %r4, 0, 0, %p1; @!%p1 bra ON; vote.sync.uni.pred %p4, !%p1, 0x1f; \n"
        "selp.u32 %r4, 1, 0, %p4; ON: bar.warp.sync -1;\n"
        "selp.u32 %r2, 1, 0, %p2; selp.u32 %r3, 1, 0, %p3; redux.sync.add.u32 %r5, %t, -1; activemask.b32 %r6;\n"
        "setp.ne.u32 %p5, %t, 0; @%p5 bra DONE; st.global.u32 [%p0], %r1; st.global.u32 [%p0+4], %r2;\n"
        "st.global.u32 [%p0+8], %r3; st.global.u32 [%p0+12], %r4;\n"
        "st.global.u32 [%p0+16], %r5; st.global.u32 [%p0+20], %r6; activemask.b32 %r7; st.global.u32 [%p0+24], %r7;\n"
        "DONE: " END,
        data, sizeof data, NULL, NULL, &heard);
    ok(!heard.all && data[0] == 31 && data[1] == 1 && data[2] == 0 && data[3] == 1 && data[4] == 496 &&
           data[5] == ~0u && data[6] == 1,
       "votes: %x %u %u %u %u %x %x %s", data[0], data[1], data[2], data[3], data[4], data[5], data[6], heard.text);
}

/* ---- memory ---- */

static void test_widths(void)
{
    union {
        unsigned char b[64];
        uint64_t l[8];
    } data;
    struct heard heard;
    for (int i = 0; i < 64; i++)
        data.b[i] = (unsigned char)(0x80 + i);
    const struct how one = { 1, 1, SCHEDULE_LOWEST, 0, 0, 0, 0, 0 };
    run_text(
        BEGIN
        "ld.global.s8 %r1, [%p0+1]; ld.global.u8 %r2, [%p0+1]; ld.global.s16 %d3, [%p0+2]; ld.global.u8 %h1, [%p0+5];\n"
        "ld.global.v4.u8 {%h2,%h3,%h4,%h5}, [%p0+4]; ld.global.v2.b64 {%d4,%d5}, [%p0+16]; ld.global.s8 %h6, [%p0];\n"
        "st.global.u32 [%p0+32], %r1; st.global.u32 [%p0+36], %r2; st.global.u64 [%p0+40], %d3;\n"
        "st.global.v2.u16 [%p0+48], {%h1,%h6}; st.global.v4.u8 [%p0+52], {%h5,%h4,%h3,%h2};\n"
        "st.global.u8 [%p0+56], %d4; st.global.u64 [%p0+8], %d5;\n" END,
        &data, sizeof data, NULL, &one, &heard);
    ok(!heard.all && data.l[4] == 0x00000081ffffff81 && data.l[5] == 0xffffffffffff8382 &&
           data.l[6] == 0x84858687ff800085 && data.b[56] == 0x90 && data.b[57] == 0xb9 &&
           data.l[1] == 0x9f9e9d9c9b9a9998,
       "loads and stores of every width: %llx %llx %llx %s", (unsigned long long)data.l[4],
       (unsigned long long)data.l[5], (unsigned long long)data.l[6], heard.text);
}

static void test_tables(void)
{
    uint32_t data[8] = { 0 };
    struct heard heard;
    run_text(".version 7.4\n.target sm_75\n.address_size 64\n"
             ".const .align 4 .b8 c[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n.global .align 4 .u32 g[3] = {10, 0x20};\n"
             ".global .align 8 .f32 h = 0f40000000;\n"
             ".entry t(.param .u64 .ptr .global .align 4 p)\n{ .reg .b32 %r<9>; .reg .b64 %d<9>; .reg .f32 %f<3>;\n"
             "ld.param.u64 %d1, [p]; ld.const.u32 %r1, [c+4]; mov.u64 %d2, g; ld.global.u32 %r2, [%d2+4];\n"
             "ld.global.u32 %r3, [g+8]; ld.global.f32 %f1, [h]; st.global.u32 [%d1], %r1; st.global.u32 [%d1+4], %r2;\n"
             "st.global.u32 [%d1+8], %r3; st.global.f32 [%d1+12], %f1; cvta.global.u64 %d3, %d2; ld.u32 %r4, [%d3];\n"
             "st.global.u32 [%d1+16], %r4; ret; }\n",
             data, sizeof data, NULL, NULL, &heard);
    ok(!heard.all && data[0] == 0x08070605 && data[1] == 0x20 && data[2] == 0 && data[3] == 0x40000000 && data[4] == 10,
       "tables of the module %s", heard.text);
}

/* Generic addresses, local and shared memory, a parameter by value that is indexed. */
static void test_spaces(void)
{
    uint32_t data[64] = { 0 };
    struct heard heard;
    run_text(BEGIN
             ".local .align 8 .b8 depot[32]; .shared .align 4 .b8 s[128];\n"
             "mov.u64 %d1, depot; cvta.local.u64 %d2, %d1; add.s32 %r1, %t, 7; st.u32 [%d2+4], %r1;\n"
             "ld.local.u32 %r2, [depot+4]; mov.u64 %d3, s; cvta.shared.u64 %d4, %d3; add.s64 %d5, %d4, %u;\n"
             "st.u32 [%d5], %r2; cvta.to.shared.u64 %d6, %d5; ld.shared.u32 %r3, [%d6]; cvta.to.local.u64 %d7, %d2;\n"
             "ld.local.u32 %r4, [%d7+4]; add.s32 %r3, %r3, %r4; isspacep.shared %p1, %d5; selp.u32 %r5, 100, 0, %p1;\n"
             "add.s32 %r3, %r3, %r5; add.s64 %d8, %p0, %u; st.global.u32 [%d8], %r3;\n" END,
             data, sizeof data, NULL, NULL, &heard);
    int wrong = 0;
    for (uint32_t i = 0; i < 32; i++)
        wrong += data[i] != 2 * (i + 7) + 100;
    ok(!wrong && !heard.all, "local and shared memory by generic addresses %s", heard.text);
}

static const struct {
    const char *text;
    uint32_t before, after;
} atomics[] = {
    { "atom.global.add.u32 %r2, [%p0], %r1;", 5, 5 + 32 * 33 / 2 },
    { "red.global.max.s32 [%p0], %r1;", 0xfffffff0, 32 },
    { "red.global.max.u32 [%p0], %r1;", 0xfffffff0, 0xfffffff0 },
    { "atom.global.min.s32 %r2, [%p0], -3;", 5, 0xfffffffd },
    { "red.global.or.b32 [%p0], %r1;", 0, 63 },
    { "red.global.and.b32 [%p0], -2;", 7, 6 },
    { "red.global.xor.b32 [%p0], %r1;", 1, 33 },
    { "atom.global.inc.u32 %r2, [%p0], 20;", 19, 9 },
    { "atom.global.dec.u32 %r2, [%p0], 20;", 5, 15 },
    { "red.global.add.f32 [%p0], 0f3f000000;", 0, 0x41800000 },
    { "atom.global.cas.b32 %r2, [%p0], 7, 9;", 7, 9 },
    { "atom.global.cas.b32 %r2, [%p0], 7, 9;", 8, 8 },
    { "atom.relaxed.gpu.global.exch.b32 %r2, [%p0], 77;", 8, 77 },
};

static void test_atomics(void)
{
    for (size_t k = 0; k < sizeof atomics / sizeof *atomics; k++) {
        uint32_t data[2] = { atomics[k].before, 0 };
        char text[1024];
        struct heard heard;
        snprintf(text, sizeof text, "%sadd.s32 %%r1, %%t, 1; %s\n%s", BEGIN, atomics[k].text, END);
        run_text(text, data, sizeof data, NULL, NULL, &heard);
        ok(data[0] == atomics[k].after && !heard.all, "%s: %x %s", atomics[k].text, data[0], heard.text);
    }
    /* of many groups on several host threads, what was there before is different for everybody */
    static uint32_t seen[1 + 64 * 32];
    struct heard heard;
    const struct how many = { 64, 32, SCHEDULE_RANDOM, 3, 0, 0, 0, 4 };
    memset(seen, 0, sizeof seen);
    run_text(
        BEGIN
        "atom.global.add.u32 %r1, [%p0], 1; add.s32 %r2, %r1, 1; mul.wide.u32 %d1, %r2, 4; add.s64 %d1, %d1, %p0;\n"
        "st.global.u32 [%d1], 1;\n" END,
        seen, sizeof seen, NULL, &many, &heard);
    int wrong = 0;
    for (int i = 1; i <= 64 * 32; i++)
        wrong += seen[i] != 1;
    ok(!wrong && seen[0] == 64 * 32, "atom of 64 groups on 4 host threads");
}

/* ---- control ---- */

static const enum schedule schedules[] = { SCHEDULE_LOWEST, SCHEDULE_HIGHEST, SCHEDULE_RANDOM };

/* Every lane goes around as often as its number says, leaves the inner loop early, and some leave for good. */
static void test_divergence(void)
{
    for (int s = 0; s < 3; s++) {
        uint32_t data[32];
        struct heard heard;
        const struct how how = { 1, 32, schedules[s], 11, 0, 0, 0, 0 };
        memset(data, 0xff, sizeof data);
        run_text(BEGIN "mov.u32 %r1, 0; mov.u32 %r2, 0; add.s64 %d1, %p0, %u;\n"
                       "OUTER: setp.ge.u32 %p1, %r1, %t; @%p1 bra OUT;\n"
                       "mov.u32 %r3, 0;\n"
                       "INNER: add.s32 %r2, %r2, 1; add.s32 %r3, %r3, 1; setp.gt.u32 %p2, %r3, %r1; @%p2 bra NEXT;\n"
                       "setp.eq.u32 %p3, %r2, 300; @%p3 exit; bra.uni INNER;\n"
                       "NEXT: add.s32 %r1, %r1, 1; bra OUTER;\n"
                       "OUT: bar.warp.sync -1; st.global.u32 [%d1], %r2;\n" END,
                 data, sizeof data, NULL, &how, &heard);
        int wrong = heard.all;
        for (uint32_t lane = 0; lane < 32; lane++) {
            uint32_t n = 0;
            int left = 0;
            for (uint32_t i = 0; i < lane && !left; i++)
                for (uint32_t j = 0; !left;) {
                    n++;
                    if (++j > i)
                        break;
                    left = n == 300;
                }
            wrong += data[lane] != (left ? ~0u : n);
        }
        ok(!wrong, "diverged loops and early exits, schedule %d %s", s, heard.text);
    }
}

/* Lanes that are apart meet again: counted by activemask behind an if and else and behind a loop. */
static void test_reconvergence(void)
{
    uint32_t data[32];
    struct heard heard;
    run_text(BEGIN "add.s64 %d1, %p0, %u; and.b32 %r1, %t, 1; setp.eq.u32 %p1, %r1, 0; @%p1 bra EVEN;\n"
                   "add.s32 %r2, %t, 1; bra BOTH; EVEN: add.s32 %r2, %t, 2; BOTH: activemask.b32 %r3;\n"
                   "LOOP: sub.s32 %r2, %r2, 1; setp.gt.s32 %p2, %r2, 0; @%p2 bra LOOP; activemask.b32 %r4;\n"
                   "and.b32 %r3, %r3, %r4; st.global.u32 [%d1], %r3;\n" END,
             data, sizeof data, NULL, NULL, &heard);
    int wrong = 0;
    for (int i = 0; i < 32; i++)
        wrong += data[i] != ~0u;
    ok(!wrong && !heard.all, "lanes are one again where their paths meet");
}

/* A sum over 256 threads by halves, with barriers, then a named barrier of 64 threads. */
static void test_barriers(void)
{
    for (int s = 0; s < 3; s++) {
        uint32_t data[4] = { 0 };
        struct heard heard;
        const struct how how = { 1, 256, schedules[s], 5, 0, 0, 0, 0 };
        run_text(
            BEGIN
            ".shared .align 4 .b8 s[1024];\n"
            "mov.u64 %d1, s; add.s64 %d1, %d1, %u; st.shared.u32 [%d1], %t; mov.u32 %r1, 128;\n"
            "LOOP: bar.sync 0; setp.ge.u32 %p1, %t, %r1; @%p1 bra SKIP;\n"
            "mul.wide.u32 %d2, %r1, 4; add.s64 %d2, %d2, %d1; ld.shared.u32 %r2, [%d2]; ld.shared.u32 %r3, [%d1];\n"
            "add.s32 %r3, %r3, %r2; st.shared.u32 [%d1], %r3;\n"
            "SKIP: shr.u32 %r1, %r1, 1; setp.ne.u32 %p2, %r1, 0; @%p2 bra LOOP;\n"
            "bar.sync 0; setp.ge.u32 %p3, %t, 64; @%p3 bra OTHERS; barrier.sync 3, 64; ld.shared.u32 %r4, [s];\n"
            "setp.ne.u32 %p4, %t, 33; @%p4 bra DONE; st.global.u32 [%p0], %r4; bra DONE;\n"
            "OTHERS: setp.lt.u32 %p5, %t, 192; @%p5 bra DONE; setp.lt.u32 %p6, %t, 224; @%p6 bar.arrive 2, 64;\n"
            "@%p6 bra DONE; bar.sync 2, 64; st.global.u32 [%p0+4], 1;\n"
            "DONE: " END,
            data, sizeof data, NULL, &how, &heard);
        /* the last store is done by a whole warp to one place: of one warp's lanes, not looked at in global memory */
        ok(data[0] == 255 * 256 / 2 && data[1] == 1 && !heard.all, "barriers, schedule %d: %u %s", s, data[0],
           heard.text);
    }
}

/* A lane waits for another of its warp, a warp for another: both get their turn. */
static void test_waiting(void)
{
    uint32_t data[2] = { 0 };
    struct heard heard;
    const struct how how = { 1, 64, SCHEDULE_LOWEST, 5, 10000000, 0, 1, 0 };
    run_text(BEGIN
             "setp.ne.u32 %p1, %t, 0; @%p1 bra NOT; WAIT: ld.volatile.global.u32 %r1, [%p0]; setp.ne.u32 %p2, %r1, 2;\n"
             "@%p2 bra WAIT; st.global.u32 [%p0+4], 1; bra DONE;\n"
             "NOT: setp.eq.u32 %p3, %t, 5; @%p3 red.global.add.u32 [%p0], 1; setp.eq.u32 %p3, %t, 40; @%p3 "
             "red.global.add.u32 [%p0], 1;\n"
             "DONE: " END,
             data, sizeof data, NULL, &how, &heard);
    ok(data[1] == 1 && !heard.all, "a lane that waits for others in a loop %s", heard.text);
}

/* Functions: called twice, one within another, guarded, with vectors in their parameters. */
static void test_calls(void)
{
    uint32_t data[32];
    struct heard heard;
    run_text(
        HEAD
        ".func (.param .b32 out) twice(.param .b32 in)\n{ .reg .b32 %r<3>; .reg .pred %p; ld.param.u32 %r1, [in];\n"
        "setp.eq.u32 %p, %r1, 3; @%p bra SPECIAL; add.s32 %r2, %r1, %r1; st.param.b32 [out+0], %r2; ret;\n"
        "SPECIAL: st.param.b32 [out+0], 1000; ret; }\n"
        ".func (.param .align 8 .b8 out[8]) both(.param .b32 a, .param .b32 b)\n{ .reg .b32 %r<5>; ld.param.u32 %r1, "
        "[a];\n"
        "{ .param .b32 x; st.param.b32 [x], %r1; .param .b32 y; call.uni (y), twice, (x); ld.param.b32 %r2, [y]; }\n"
        "ld.param.u32 %r3, [b]; st.param.v2.b32 [out], {%r2, %r3}; ret; }\n"
        ".entry t(.param .u64 .ptr .global .align 4 p)\n{ .reg .b32 %r<9>; .reg .b64 %d<3>; .reg .pred %q;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %tid.x; mad.wide.u32 %d2, %r1, 4, %d1; mov.u32 %r5, 5; setp.ne.u32 %q, "
        "%r1, 7;\n"
        "{ .param .b32 p0; st.param.b32 [p0], %r1; .param .b32 p1; st.param.b32 [p1], 70; .param .align 8 .b8 r[8];\n"
        "st.param.v2.b32 [r], {9, 9}; @%q call (r), both, (p0, p1); ld.param.v2.b32 {%r2, %r3}, [r]; }\n"
        "add.s32 %r4, %r2, %r3; st.global.u32 [%d2], %r4; ret; }\n",
        data, sizeof data, NULL, NULL, &heard);
    int wrong = 0;
    for (uint32_t i = 0; i < 32; i++)
        wrong += data[i] != (i == 7 ? 18 : i == 3 ? 1070 : 2 * i + 70);
    ok(!wrong && !heard.all, "calls of functions %s", heard.text);
}

/* ---- where a thread is ---- */

#define WHERE(k, name) "mov.u32 %r1, " name "; st.global.u32 [%d1+" #k "], %r1;\n"

static void test_where(void)
{
    enum { WORDS = 26, GROUPS = 2 * 3 * 2, THREADS = 4 * 3 * 5 };
    static uint32_t data[GROUPS * THREADS * WORDS];
    struct ptx_module *m = read_or_bail(
        HEAD
        ".entry t(.param .u64 .ptr .global .align 8 p, .param .u32 first)\n{ .reg .b32 %r<9>; .reg .b64 %d<9>;\n"
        "ld.param.u64 %d1, [p]; mov.u32 %r1, %ctaid.z; mov.u32 %r2, %nctaid.y; mov.u32 %r3, %ctaid.y;\n"
        "mad.lo.s32 %r1, %r1, %r2, %r3; mov.u32 %r2, %nctaid.x; mov.u32 %r3, %ctaid.x; mad.lo.s32 %r1, %r1, %r2, %r3;\n"
        "mov.u32 %r2, %warpid; mov.u32 %r3, %laneid; mad.lo.s32 %r3, %r2, 32, %r3; mad.lo.s32 %r1, %r1, 60, %r3;\n"
        "ld.param.u32 %r4, [first]; add.s32 %r1, %r1, %r4; mad.wide.u32 %d1, %r1, 104, %d1;\n" WHERE(0, "%tid.x")
            WHERE(4, "%tid.y") WHERE(8, "%tid.z") WHERE(12, "%ntid.x") WHERE(16, "%ntid.y") WHERE(20, "%ntid.z")
                WHERE(24, "%ctaid.x") WHERE(28, "%ctaid.y") WHERE(32, "%ctaid.z") WHERE(36, "%nctaid.x")
                    WHERE(40, "%envreg0") WHERE(44, "%envreg1") WHERE(48, "%envreg2") WHERE(52, "%envreg3")
                        WHERE(56, "%envreg4") WHERE(60, "%envreg5") WHERE(64, "%envreg6") WHERE(68, "%envreg7")
                            WHERE(72, "%envreg8") WHERE(76, "%envreg9") WHERE(80, "%nwarpid") WHERE(84, "%lanemask_lt")
                                WHERE(88, "%lanemask_ge") WHERE(92, "%lanemask_eq") WHERE(96, "%lanemask_le")
                                    WHERE(100, "%lanemask_gt") "ret; }\n");
    struct launch_buffer buffer = { data, sizeof data, NULL };
    const uint32_t first = 0;
    struct launch_arg args[] = { { ARG_BUFFER, 0, 0, NULL, 0 }, { ARG_VALUE, 0, 0, &first, sizeof first } };
    struct ptx_launch l = PTX_LAUNCH_INIT;
    const uint32_t grid[] = { 2, 3, 2 }, block[] = { 4, 3, 5 }, offset[] = { 10, 20, 30 }, total[] = { 100, 200, 300 },
                   global[] = { 1000, 2000, 3000 };
    memcpy(l.grid, grid, sizeof grid), memcpy(l.block, block, sizeof block);
    memcpy(l.group_offset, offset, sizeof offset), memcpy(l.total_grid, total, sizeof total);
    memcpy(l.global_offset, global, sizeof global);
    l.work_dim = 2, l.args = args, l.n_args = 2, l.buffers = &buffer, l.n_buffers = 1;
    const enum ptx_status status = ptx_run(ptx_kernel_at(m, 0), &l, NULL, 0);
    int wrong = status;
    for (uint32_t g = 0; g < GROUPS; g++)
        for (uint32_t t = 0; t < THREADS; t++) {
            const uint32_t *x = data + (g * THREADS + t) * WORDS, lane = t % 32;
            const uint32_t want[WORDS] = { t % 4,
                                           t / 4 % 3,
                                           t / 12,
                                           4,
                                           3,
                                           5,
                                           g % 2,
                                           g / 2 % 3,
                                           g / 6,
                                           2,
                                           10,
                                           20,
                                           30,
                                           1000 + 40,
                                           2000 + 60,
                                           3000 + 150,
                                           100,
                                           200,
                                           300,
                                           2,
                                           2,
                                           (1u << lane) - 1,
                                           ~0u << lane,
                                           1u << lane,
                                           (uint32_t)((2ull << lane) - 1),
                                           (uint32_t) ~((2ull << lane) - 1) };
            wrong += memcmp(x, want, sizeof want) != 0;
        }
    ok(!wrong, "special registers, and those of a piece of a launch: %d wrong", wrong);
    ptx_module_free(m);
}

/* Two arguments that are one buffer, a null pointer, a shared array of an argument, 16 bytes by value. */
static void test_arguments(void)
{
    struct ptx_module *m = read_or_bail(
        HEAD
        ".entry t(.param .u64 .ptr .global .align 4 a, .param .u64 .ptr .global .align 4 b, .param .u64 .ptr .shared "
        ".align 8 s,\n"
        ".param .align 16 .b8 v[16], .param .u64 .ptr .const .align 4 n)\n.reqntid 32, 1, 1\n{ .reg .b32 %r<9>; .reg "
        ".b64 %d<9>;\n"
        "ld.param.u64 %d1, [a]; ld.param.u64 %d2, [b]; ld.param.u64 %d3, [s]; ld.param.v4.u32 {%r1,%r2,%r3,%r4}, [v];\n"
        "ld.param.u64 %d4, [n]; mov.u32 %r5, %tid.x; mul.wide.u32 %d5, %r5, 4; add.s64 %d6, %d3, %d5; st.shared.u32 "
        "[%d6], %r5;\n"
        "mov.b64 %d7, v; ld.param.u32 %r8, [%d7+8]; add.s64 %d1, %d1, %d5; ld.shared.u32 %r6, [%d6]; add.s32 %r6, %r6, "
        "%r8;\n"
        "st.global.u32 [%d1], %r6; add.s64 %d2, %d2, %d5; ld.global.u32 %r7, [%d2]; add.s32 %r7, %r7, %r1;\n"
        "cvt.u32.u64 %r8, %d4; add.s32 %r7, %r7, %r8; st.global.u32 [%d2], %r7; ret; }\n");
    const struct ptx_info *info = ptx_kernel_info(ptx_kernel_named(m, "t"));
    ok(info->n_params == 5 && info->params[0].kind == PARAM_GLOBAL && info->params[2].kind == PARAM_SHARED &&
           info->params[2].points_at == 8 && info->params[3].kind == PARAM_VALUE && info->params[3].size == 16 &&
           info->params[3].align == 16 && info->params[4].is_const && info->reqntid[0] == 32 &&
           !strcmp(info->params[3].name, "v"),
       "what is said of parameters");
    uint32_t data[32], v[4] = { 1000, 1, 50, 3 };
    struct launch_buffer buffer = { data, sizeof data, NULL };
    struct launch_arg args[] = { { ARG_BUFFER, 0, 0, NULL, 0 },
                                 { ARG_BUFFER, 0, 0, NULL, 0 },
                                 { ARG_SHARED, 0, 0, NULL, 128 },
                                 { ARG_VALUE, 0, 0, v, 16 },
                                 { ARG_NULL, 0, 0, NULL, 0 } };
    struct ptx_launch l = PTX_LAUNCH_INIT;
    struct heard heard;
    char why[200];
    memset(&heard, 0, sizeof heard);
    l.block[0] = 32, l.args = args, l.n_args = 5, l.buffers = &buffer, l.n_buffers = 1, l.report = hear,
    l.context = &heard;
    const enum ptx_status status = ptx_run(ptx_kernel_at(m, 0), &l, why, sizeof why);
    int wrong = status;
    for (uint32_t i = 0; i < 32; i++)
        wrong += data[i] != i + 50 + 1000;
    ok(!wrong && !heard.all, "one buffer as two arguments, shared memory, bytes by value %s", heard.text);
    l.block[0] = 64;
    ok(ptx_run(ptx_kernel_at(m, 0), &l, why, sizeof why) == PTX_INVALID && strstr(why, "reqntid"),
       "another block than .reqntid");
    l.block[0] = 32, args[3].size = 12;
    ok(ptx_run(ptx_kernel_at(m, 0), &l, why, sizeof why) == PTX_INVALID && strstr(why, "argument 3"),
       "a value of another size");
    args[3].size = 16, args[2].kind = ARG_BUFFER;
    ok(ptx_run(ptx_kernel_at(m, 0), &l, why, sizeof why) == PTX_INVALID && strstr(why, "argument 2"),
       "a buffer for shared memory");
    args[2].kind = ARG_SHARED, args[0].buffer = 1;
    ok(ptx_run(ptx_kernel_at(m, 0), &l, why, sizeof why) == PTX_INVALID && strstr(why, "argument 0"),
       "a buffer that is not there");
    args[0].buffer = 0, l.n_args = 4;
    ok(ptx_run(ptx_kernel_at(m, 0), &l, why, sizeof why) == PTX_INVALID && strstr(why, "4 arguments"),
       "too few arguments");
    ptx_module_free(m);
}

int main(void)
{
    const uint16_t one = 1;
    if (!*(const unsigned char *)&one)
        return skip_all("the interpreter keeps registers and memory as little-endian machines do");
    test_forms();
    test_approximations();
    test_specials();
    test_mma(16, 10, "f16");
    test_mma(8, 10, "f16");
    test_mma(16, 7, "bf16");
    test_mma(8, 7, "bf16");
    for (int count = 1; count <= 4; count *= 2)
        for (int transposed = 0; transposed < 2; transposed++)
            test_ldmatrix(count, transposed);
    test_movmatrix();
    test_shfl();
    test_votes();
    test_widths();
    test_tables();
    test_spaces();
    test_atomics();
    test_divergence();
    test_reconvergence();
    test_barriers();
    test_waiting();
    test_calls();
    test_where();
    test_arguments();
    return done_testing();
}
