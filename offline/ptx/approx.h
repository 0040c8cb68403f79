/* approx.h - instructions that PTX promises to some error only, as far off as the promise allows
 * SPDX-License-Identifier: Apache-2.0
 *
 * The promises are the manual's; where its editions differ, the weaker one. What its tables of special values say
 * (zero, infinity, NaN) is exact. `sign` is ptx_launch.approximate. Part of lanes.c. */
#ifndef PTX_APPROX_H
#define PTX_APPROX_H

#include "offline/frame/small.h"

/* The f32 farthest from `exact` on one side that is no farther than error, or the nearest one. */
static inline float at_worst(double exact, double error, int sign)
{
    const float nearest = (float)exact;
    if (!sign || exact == 0 || isnan(exact) || isinf(exact))
        return nearest;
    const double limit = sign > 0 ? exact + error : exact - error;
    const float f = (float)limit;
    if (sign > 0)
        return f > limit ? nextafterf(f, -INFINITY) : f;
    return f < limit ? nextafterf(f, INFINITY) : f;
}

/* Relative 2^-22; also said to be 2 ulp, which is less. Of an integer it has to be exact: NVIDIA's own functions of
 * doubles (exp(), tanh()) take their powers of two from it. */
static inline float approx_ex2(float a, int sign)
{
    const double x = exp2(a);
    return a == rintf(a) ? (float)x : at_worst(x, x * 0x1p-22, sign);
}

static inline float approx_lg2(float a, int sign) /* absolute 2^-22 in (0.5, 2), relative 2^-22 elsewhere */
{
    const double x = log2(a);
    return at_worst(x, a > 0.5f && a < 2 ? 0x1p-22 : fabs(x) * 0x1p-22, sign);
}

static inline float approx_rcp(float a, int sign) /* relative 2^-23 */
{
    const double x = 1 / (double)a;
    return at_worst(x, fabs(x) * 0x1p-23, sign);
}

static inline float approx_sqrt(float a, int sign) /* relative 2^-23 */
{
    const double x = sqrt(a);
    return at_worst(x, x * 0x1p-23, sign);
}

static inline float approx_rsqrt(float a, int sign) /* relative 2^-22.4 */
{
    const double x = 1 / sqrt(a);
    return at_worst(x, x * 0x1.8406003b2ae63p-23, sign);
}

/* Absolute 2^-20.5 within two pi, 2^-14.7 within a hundred; beyond that nothing is promised, and the same is taken. */
static inline double sine_error(float a)
{
    return fabsf(a) <= 6.2831855f ? 0x1.6a09e667f3bcdp-21 : 0x1.3b2c47bff832cp-15;
}

static inline float approx_sin(float a, int sign)
{
    return isinf(a) ? NAN : at_worst(sin(a), sine_error(a), sign);
}

static inline float approx_cos(float a, int sign)
{
    return isinf(a) ? NAN : a == 0 ? 1 : at_worst(cos(a), sine_error(a), sign);
}

static inline float approx_tanh(float a, int sign) /* relative 2^-11 */
{
    const double x = tanh(a);
    return isinf(a) ? (float)x : at_worst(x, fabs(x) * 0x1p-11, sign);
}

static inline float approx_div(float a, float b, int sign) /* 2 ulp; .approx gives 0 where |b| > 2^126 */
{
    const double x = (double)a / b;
    if (fabsf(b) > 0x1p126f && !isinf(b))
        return isinf(a) ? NAN : (float)copysign(0, x);
    return at_worst(x, 2 * float_unit(x), sign);
}

static inline float full_div(float a, float b, int sign)
{
    const double x = (double)a / b;
    return at_worst(x, 2 * float_unit(x), sign);
}

/* Gross ones of f64: the upper 32 bits of the result, the lower 32 are zero; one off in the last of those that are
 * kept. */
static inline double upper_half(double exact, int sign)
{
    if (isnan(exact) || isinf(exact) || exact == 0)
        return exact;
    const uint64_t magnitude = (bits64_of(exact) & ~((uint64_t)1 << 63)) + ((uint64_t)1 << 31);
    const int away = exact < 0 ? -sign : sign;
    const uint64_t upper = (magnitude >> 32) + (uint64_t)(int64_t)away;
    return copysign(double_of(upper << 32), exact);
}

static inline double flush_double(double x)
{
    return fabs(x) < 0x1p-1022 ? copysign(0, x) : x;
}

static inline double approx_rcp_double(double a, int sign)
{
    return flush_double(upper_half(1 / flush_double(double_of(bits64_of(a) >> 32 << 32)), sign));
}

static inline double approx_rsqrt_double(double a, int sign)
{
    return upper_half(1 / sqrt(flush_double(double_of(bits64_of(a) >> 32 << 32))), sign);
}

static inline double full_rsqrt_double(double a, int sign) /* 2 ulp */
{
    const double x = 1 / sqrt(a);
    return isinf(x) || isnan(x) || x == 0 ? x : x * (1 + sign * 0x1p-52);
}

#endif
