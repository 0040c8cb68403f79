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
#include "offline/frame/worst.h"

static inline int is_power(double x)
{
    int e = 0;
    return fabs(frexp(x, &e)) == 0.5;
}

static inline double within(double exact, double n, int sign)
{
    return is_power(exact) ? exact : at_worst(exact, n * float_unit(exact), sign);
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
    return a >= 0.5 && a <= 2 ? at_worst(exact, 0x1p-21, sign) : at_worst(exact, 3 * float_unit(exact), sign);
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
