/* reference_dropout.c - which weights dropout drops, by the words of clattn.h
 * SPDX-License-Identifier: Apache-2.0
 *
 * Philox as Random123's paper writes it: a round multiplies two words, and each product's high half, mixed with the
 * word beside and the key, takes the other's place. */
#include "config.h"

#include "tools/oracle/reference_dropout.h"

#include <math.h>

struct block {
    uint32_t l0, r0, l1, r1;
};

static struct block round_of(struct block x, uint32_t key0, uint32_t key1)
{
    const uint64_t a = (uint64_t)x.l0 * 3528531795u, b = (uint64_t)x.l1 * 3449720151u;
    return (struct block) { (uint32_t)(b / 4294967296u) ^ x.r0 ^ key0, (uint32_t)b,
                            (uint32_t)(a / 4294967296u) ^ x.r1 ^ key1, (uint32_t)a };
}

uint32_t reference_philox(const uint32_t counter[4], uint64_t key, int rounds, int which)
{
    struct block x = { counter[0], counter[1], counter[2], counter[3] };
    for (int i = 0; i < rounds; i++)
        x = round_of(x, (uint32_t)(key % 4294967296u + i * UINT64_C(2654435769)),
                     (uint32_t)(key / 4294967296u + i * UINT64_C(3144134277)));
    return which == 0 ? x.l0 : which == 1 ? x.r0 : which == 2 ? x.l1 : x.r1;
}

double reference_factor(const struct reference *r, const struct reference_line *at, int64_t k)
{
    const double p = r->p.dropout_p;
    if (p == 0)
        return 1;
    const uint32_t counter[4] = { (uint32_t)(k / 4), (uint32_t)at->q, (uint32_t)(at->b * r->h + at->h),
                                  (uint32_t)r->dropout_offset };
    return reference_philox(counter, r->dropout_seed, 7, (int)(k % 4)) < ceil(ldexp(p, 32)) ? 0 : 1 / (1 - p);
}
