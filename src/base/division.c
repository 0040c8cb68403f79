/* division.c - dividing by a run-time constant, by multiplying: as kernels do
 * SPDX-License-Identifier: Apache-2.0
 *
 * With 2^shift at least `by`, magic is 2^(31 + shift) / by rounded up, so too large by less than 1 and the quotient too
 * large by less than x / 2^(31 + shift). That is less than 1 / by for x below 2^31, since by <= 2^shift, and what is
 * missing to the next whole quotient is 1 / by at least. And magic is below 2^32, since by is above 2^(shift - 1). */
#include "config.h"

#include "base/division.h"

struct division division_by(uint32_t by)
{
    int shift = 0;
    while ((uint32_t)1 << shift < by)
        shift++;
    return (struct division){ (uint32_t)((((uint64_t)1 << (31 + shift)) + by - 1) / by), shift };
}
