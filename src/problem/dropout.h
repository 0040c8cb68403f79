/* dropout.h - which weights dropout drops. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DROPOUT_H
#define DROPOUT_H

#include <stdint.h>

/* ceil(2^32 p), p being at most 1 - 2^-32: weights whose word is below are left out. */
uint32_t dropout_threshold(double p);

/* What dropout multiplies a weight with: 0 or 1 / (1 - p). `head` counts query heads of all batch entries. */
struct dropout {
    double p;
    uint64_t seed;
    uint32_t offset;
};
double dropout_factor(const struct dropout *d, int64_t head, int64_t q, int64_t k);

#endif
