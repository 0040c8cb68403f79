/* worst.h - results as far off as the promise of an instruction allows
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_WORST_H
#define FRAME_WORST_H

#include <math.h>

/* The f32 farthest from `exact` on one side that is no farther than error, or the nearest one. */
static inline float at_worst(double exact, double error, int sign)
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

#endif
