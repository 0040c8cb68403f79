/* small.h - numbers of 16 bits, and sums and quotients that can still be rounded any way
 * SPDX-License-Identifier: Apache-2.0
 *
 * "Odd" functions return the exact result rounded to odd in double: the neighbour with the odd last bit unless it is
 * exact. Rounding that once more, in any mode, to at most 51 bits gives what rounding the exact result would have. */
#ifndef FRAME_SMALL_H
#define FRAME_SMALL_H

#include <math.h>
#include <stdint.h>
#include <string.h>

enum rounding { ROUND_RN, ROUND_RZ, ROUND_RM, ROUND_RP };

static inline uint32_t bits_of(float x)
{
    uint32_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline float float_of(uint32_t u)
{
    float x;
    memcpy(&x, &u, sizeof x);
    return x;
}

static inline uint64_t bits64_of(double x)
{
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    return u;
}

static inline double double_of(uint64_t u)
{
    double x;
    memcpy(&x, &u, sizeof x);
    return x;
}

/* Subnormal: zero of the same sign. */
static inline float flush(float x)
{
    const uint32_t u = bits_of(x);
    return float_of(u & 0x7f800000u ? u : u & 0x80000000u);
}

static inline float saturate(float x) /* NaN becomes 0 */
{
    return x > 0 ? x < 1 ? x : 1.0f : 0.0f;
}

static inline float half_to_float(uint32_t h)
{
    const uint32_t magnitude = (h & 0x7fff) << 13, sign = (h & 0x8000) << 16;
    const float scaled = float_of(magnitude) * 0x1p112f; /* subnormal ones too */
    const uint32_t special = (h & 0x7c00) == 0x7c00 ? magnitude | 0x7f800000u : bits_of(scaled);
    return float_of(special | sign);
}

static inline float bf16_to_float(uint32_t b)
{
    return float_of(b << 16);
}

/* To nearest even. NaN is 0x7fff. */
static inline uint32_t float_to_half(float x)
{
    const uint32_t u = bits_of(x), a = u & 0x7fffffffu, sign = u >> 16 & 0x8000;
    const uint32_t normal = (a - 0x38000000u + 0xfff + (a >> 13 & 1)) >> 13;
    const uint32_t small = bits_of(float_of(a) + 0.5f) - 0x3f000000u; /* the sum's last bit is 2^-24 */
    const uint32_t finite = a < 0x38800000u ? small : a >= 0x47800000u ? 0x7c00 : normal;
    return a > 0x7f800000u ? 0x7fff : finite | sign;
}

static inline uint32_t float_to_bf16(float x)
{
    const uint32_t u = bits_of(x);
    return (u & 0x7fffffffu) > 0x7f800000u ? 0x7fff : (u + 0x7fff + (u >> 16 & 1)) >> 16;
}

/* One unit in the last place of the f32 numbers around x. Of what is not finite frexp() does not say the exponent. */
static inline double float_unit(double x)
{
    int e = 0;
    frexp(x, &e);
    return ldexp(1, (e - 1 < -126 ? -126 : e - 1) - 23);
}

static inline double make_odd(double rounded, double error)
{
    if (error == 0 || isnan(error) || isinf(rounded) || (bits64_of(rounded) & 1))
        return rounded;
    return nextafter(rounded, error > 0 ? INFINITY : -INFINITY);
}

static inline double add_odd(double a, double b)
{
    const double s = a + b, t = s - a;
    return make_odd(s, (a - (s - t)) + (b - t));
}

static inline double div_odd(double a, double b)
{
    const double q = a / b;
    if (q == 0 || isinf(q) || isnan(q) || isinf(b))
        return q;
    const double rest = fma(-q, b, a);
    return make_odd(q, b < 0 ? -rest : rest);
}

static inline double sqrt_odd(double a)
{
    const double s = sqrt(a);
    return s > 0 && !isinf(s) ? make_odd(s, fma(-s, s, a)) : s;
}

/* A whole number near x. */
static inline double round_whole(double x, int mode)
{
    return mode == ROUND_RZ ? trunc(x) : mode == ROUND_RM ? floor(x) : mode == ROUND_RP ? ceil(x) : nearbyint(x);
}

static inline float round_float(double x, int mode)
{
    const float f = (float)x;
    if (mode == ROUND_RN || isnan(f) || (double)f == x)
        return f;
    if (mode == ROUND_RZ)
        return fabs((double)f) > fabs(x) ? nextafterf(f, 0) : f;
    if (mode == ROUND_RM)
        return f > x ? nextafterf(f, -INFINITY) : f;
    return f < x ? nextafterf(f, INFINITY) : f;
}

/* Any double to 16 bits with so many of fraction: 10 of f16, 7 of bf16. */
static inline uint32_t round_small(double x, int fraction, int mode)
{
    const int least = fraction == 10 ? -14 : -126, most = fraction == 10 ? 15 : 127;
    const uint32_t sign = signbit(x) ? 0x8000 : 0, infinite = (uint32_t)(most - least + 2) << fraction;
    if (isnan(x))
        return 0x7fff;
    if (isinf(x))
        return sign | infinite;
    int e;
    frexp(x, &e);
    e = x == 0 || e - 1 < least ? least : e - 1;
    const double steps = fabs(round_whole(ldexp(x, fraction - e), mode));
    /* so many steps of 2^(e - fraction); they may have become one exponent more */
    const uint32_t bits = (uint32_t)(e - least) << fraction;
    const uint32_t magnitude = bits + (uint32_t)steps; /* a normal one's leading bit counts as one exponent */
    if (magnitude < infinite)
        return sign | magnitude;
    const int down = mode == ROUND_RZ || (mode == ROUND_RM && !sign) || (mode == ROUND_RP && sign);
    return sign | (down ? infinite - 1 : infinite);
}

#endif
