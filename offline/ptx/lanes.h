/* lanes.h - a loop over the lanes of a warp
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every lane is computed and those of the mask are kept: loops without branches, which compilers make vectors of. */
#ifndef PTX_LANES_H
#define PTX_LANES_H

#include <string.h>

#include "inside.h"

/* Operand k of lane i. */
#define IN(T, k) (((const lane_##T *)reg_u32(w, o->reg[k]))[i])

static inline void put_w(struct warp *w, uint32_t slot, uint32_t mask, const void *out)
{
    lane_u32 *to = reg_u32(w, slot);
    if (mask == ~0u) {
        memcpy((void *)to, out, LANES * 4);
        return;
    }
    uint32_t from[LANES];
    memcpy(from, out, sizeof from);
    for (int i = 0; i < LANES; i++)
        to[i] = mask >> i & 1 ? from[i] : to[i];
}

static inline void put_l(struct warp *w, uint32_t slot, uint32_t mask, const void *out)
{
    lane_u64 *to = (lane_u64 *)reg_u32(w, slot);
    if (mask == ~0u) {
        memcpy((void *)to, out, LANES * 8);
        return;
    }
    uint64_t from[LANES];
    memcpy(from, out, sizeof from);
    for (int i = 0; i < LANES; i++)
        to[i] = mask >> i & 1 ? from[i] : to[i];
}

static inline uint32_t get_p(const struct warp *w, uint32_t slot)
{
    return *reg_u32(w, slot);
}

static inline void put_p(struct warp *w, uint32_t slot, uint32_t mask, uint32_t bits)
{
    lane_u32 *to = reg_u32(w, slot);
    *to = (*to & ~mask) | (bits & mask);
}

#define LANE_OP_W(fn, T, expression)                                     \
    static void fn(struct warp *w, const struct op *o, uint32_t mask)    \
    {                                                                    \
        T out[LANES];                                                    \
        for (int i = 0; i < LANES; i++)                                  \
            out[i] = (T)(expression);                                    \
        put_w(w, o->reg[0], mask, out);                                  \
    }

#define LANE_OP_L(fn, T, expression)                                     \
    static void fn(struct warp *w, const struct op *o, uint32_t mask)    \
    {                                                                    \
        T out[LANES];                                                    \
        for (int i = 0; i < LANES; i++)                                  \
            out[i] = (T)(expression);                                    \
        put_l(w, o->reg[0], mask, out);                                  \
    }

#endif
