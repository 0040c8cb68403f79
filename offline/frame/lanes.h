/* lanes.h - lanes of a mask
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_LANES_H
#define FRAME_LANES_H

#include <stdint.h>

static inline unsigned lowest_lane(uint64_t mask)
{
    unsigned n = 0;
#if defined(__GNUC__)
    n = (unsigned)__builtin_ctzll(mask);
#else
    while (!(mask >> n & 1))
        n++;
#endif
    return n;
}

static inline unsigned count_lanes(uint64_t x)
{
#if defined(__GNUC__) && defined(__x86_64__)
    if (x == ~(uint64_t)0 || x == 0xffffffffu)
        return x == 0xffffffffu ? 32 : 64;
#endif
    x -= x >> 1 & 0x5555555555555555u;
    x = (x & 0x3333333333333333u) + (x >> 2 & 0x3333333333333333u);
    return (unsigned)(((x + (x >> 4)) & 0x0f0f0f0f0f0f0f0fu) * 0x0101010101010101u >> 56);
}

#endif
