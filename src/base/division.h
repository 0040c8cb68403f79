/* division.h - dividing by a run-time constant, by multiplying: as kernels do
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DIVISION_H
#define DIVISION_H

#include <stdint.h>

/* x / by = high(2 x, magic) >> shift for every x below 2^31, high() being the upper half of the product of two numbers
 * of 32 bits. */
struct division {
    uint32_t magic;
    int shift;
};
struct division division_by(uint32_t by); /* 1 to 2^30 */

#endif
