/* dropout.c - which weights dropout drops, as cl/scores/dropout.cl has it. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/dropout.h"

/* Four words of Philox4x32 with seven rounds, in place of the counter that is in x. */
static void philox(uint32_t x[4], const uint32_t key[2])
{
    uint32_t k[2] = { key[0], key[1] };
    for (int round = 0; round < 7; round++) {
        const uint64_t by_first = UINT64_C(0xD2511F53) * x[0], by_third = UINT64_C(0xCD9E8D57) * x[2];
        x[0] = (uint32_t)(by_third >> 32) ^ x[1] ^ k[0];
        x[1] = (uint32_t)by_third;
        x[2] = (uint32_t)(by_first >> 32) ^ x[3] ^ k[1];
        x[3] = (uint32_t)by_first;
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
}

uint32_t dropout_threshold(double p)
{
    const uint32_t below = (uint32_t)(0x1p32 * p);
    return below + (below < 0x1p32 * p);
}

double dropout_factor(const struct dropout *d, int64_t head, int64_t q, int64_t k)
{
    const uint32_t key[2] = { (uint32_t)d->seed, (uint32_t)(d->seed >> 32) };
    uint32_t x[4] = { (uint32_t)(k >> 2), (uint32_t)q, (uint32_t)head, d->offset };
    philox(x, key);
    return x[k & 3] < dropout_threshold(d->p) ? 0 : 1 / (1 - d->p);
}
