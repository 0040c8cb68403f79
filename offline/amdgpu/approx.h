/* approx.h - instructions that AMD promises to some error only, as far off as the promise allows
 * SPDX-License-Identifier: Apache-2.0
 *
 * The promises are those of the ISA manuals of RDNA 3 and CDNA 3: one unit in the last place for exp, log, rcp, rsq and
 * sqrt of f32, which make denormal numbers zero. Results that the manuals give as examples are exact: exp(0), log(1),
 * rcp(2). `sign` is amdgpu_launch.approximate. Part of lanes.c. */
#ifndef AMDGPU_APPROX_H
#define AMDGPU_APPROX_H

#include <math.h>

#include "offline/frame/small.h"
#include "offline/frame/worst.h"

static inline float one_unit(double exact, int sign)
{
    return flush(at_worst(exact, float_unit(exact), sign));
}

static inline float approx_exp(float a, int sign)
{
    a = flush(a);
    return a == 0 ? 1 : one_unit(exp2(a), sign);
}

static inline float approx_log(float a, int sign)
{
    a = flush(a);
    return a == 1 ? 0 : one_unit(log2(a), sign);
}

static inline float approx_rcp(float a, int sign)
{
    a = flush(a);
    return fabsf(a) == 2 ? 1 / a : one_unit(1 / (double)a, sign);
}

static inline float approx_rsq(float a, int sign)
{
    return one_unit(1 / sqrt(flush(a)), sign);
}

static inline float approx_sqrt(float a, int sign)
{
    const double x = sqrt(a);
    return at_worst(x, float_unit(x), sign);
}

/* Of revolutions. The manuals promise nothing; 2^-20 absolute is what is taken. Whole quarters are exact. */
static inline float approx_turn(double exact, float a, int sign)
{
    const float quarters = 4 * a;
    return isinf(a) ? NAN : quarters == rintf(quarters) ? (float)rint(exact) : at_worst(exact, 0x1p-20, sign);
}

static inline float approx_sin(float a, int sign)
{
    return approx_turn(sin(6.283185307179586 * (a - (double)rintf(a))), a, sign);
}

static inline float approx_cos(float a, int sign)
{
    return approx_turn(cos(6.283185307179586 * (a - (double)rintf(a))), a, sign);
}

/* f64: 2^29 units of its last place. */
static inline double approx_double(double exact, int sign)
{
    return isnan(exact) || isinf(exact) ? exact : exact * (1 + sign * 0x1p-24);
}

/* f16: 0.51 units; so the neighbour is never promised, but the other way of a tie may be. */
static inline uint32_t approx_half(double exact, int sign)
{
    int e;
    if (!sign || exact == 0 || isnan(exact) || isinf(exact))
        return round_small(exact, 10, ROUND_RN);
    frexp(exact, &e);
    return round_small(exact + sign * ldexp(0.01, (e - 1 < -14 ? -14 : e - 1) - 10), 10, ROUND_RN);
}

#endif
