/* approx.h - instructions that Intel promises to some error only, as far off as the promise allows
 * SPDX-License-Identifier: Apache-2.0
 *
 * As the manuals have them (extended math): inv 1 unit in the last place, exp, sqt and rsqt 4 units, log 2^-21 between
 * 0.5 and 2 and 3 units elsewhere, sin and cos 0.0008, within -1 and 1. Powers of two are taken as exact where the
 * result is one, and log(1) is 0: compilers count on these. `sign` is gen_launch.approximate. Part of real.c. */
#ifndef GEN_APPROX_H
#define GEN_APPROX_H

#include <math.h>

#include "offline/frame/small.h"

/* The f32 farthest from `exact` on one side that is no farther than error, or the nearest one. */
static inline double at_worst(double exact, double error, int sign)
{
    const float nearest = (float)exact;
    if (!sign || exact == 0 || isnan(exact) || isinf(nearest))
        return nearest;
    const double limit = sign > 0 ? exact + error : exact - error;
    const float f = (float)limit;
    if (sign > 0)
        return f > limit ? nextafterf(f, -INFINITY) : f;
    return f < limit ? nextafterf(f, INFINITY) : f;
}

/* Units in the last place of the f32 numbers around x; 1: x is a power of two. */
static inline double units(double x, double n)
{
    int e = 0; /* of what is not finite frexp() says nothing */
    frexp(x, &e);
    return ldexp(n, (e - 1 < -126 ? -126 : e - 1) - 23);
}

static inline int is_power(double x)
{
    int e = 0;
    return fabs(frexp(x, &e)) == 0.5;
}

static inline double within(double exact, double n, int sign)
{
    return is_power(exact) ? exact : at_worst(exact, units(exact, n), sign);
}

static inline double approx_inv(double a, int sign)
{
    return within(1 / a, 1, sign);
}

static inline double approx_exp(double a, int sign)
{
    return within(exp2(a), 4, sign);
}

static inline double approx_sqrt(double a, int sign)
{
    return within(sqrt(a), 4, sign);
}

static inline double approx_rsqt(double a, int sign)
{
    return within(1 / sqrt(a), 4, sign);
}

static inline double approx_log(double a, int sign)
{
    const double exact = log2(a);
    if (a == 1)
        return 0;
    return a >= 0.5 && a <= 2 ? at_worst(exact, 0x1p-21, sign) : at_worst(exact, units(exact, 3), sign);
}

static inline double at_most_one(double x)
{
    return x > 1 ? 1 : x < -1 ? -1 : x;
}

static inline double approx_sin(double a, int sign)
{
    return isinf(a) ? NAN : at_most_one(at_worst(sin(a), 0.0008, sign));
}

static inline double approx_cos(double a, int sign)
{
    return isinf(a) ? NAN : at_most_one(at_worst(cos(a), 0.0008, sign));
}

#endif
