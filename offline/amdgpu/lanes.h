/* lanes.h - a loop over the lanes of a chunk
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every lane is computed; which of them keep the result is decided behind it: loops without branches, which compilers
 * make vectors of. Instructions are lists X(name, operands, expression), once for functions and once for the table. */
#ifndef AMDGPU_LANES_H
#define AMDGPU_LANES_H

#include <math.h>
#include <string.h>

#include "inside.h"

/* Source k of lane i. */
#define U(k) ((uint32_t)x->in[k][i])
#define I(k) ((int32_t)x->in[k][i])
#define F(k) (((const lane_f32 *)x->in[k])[i])
#define H(k) half_to_float(x->in[k][i])
#define U16(k) (x->in[k][i] & 0xffff)
#define I16(k) ((int32_t)(int16_t)x->in[k][i])
#define U64(k) (x->in[k][i] | (uint64_t)x->in[k][i + x->stride] << 32)
#define I64(k) ((int64_t)U64(k))
#define D(k) double_of(U64(k))
#define BIT_IN (x->bits_in >> i & 1)
#define LANE (x->first + (uint32_t)i)

#define EACH_LANE for (int i = 0; i < CHUNK; i++)

static inline void put_longs(struct lanes *x, const uint64_t *r)
{
    uint32_t low[CHUNK], high[CHUNK];
    EACH_LANE {
        low[i] = (uint32_t)r[i];
        high[i] = (uint32_t)(r[i] >> 32);
    }
    memcpy((void *)x->out, low, sizeof low);
    memcpy((void *)(x->out + x->stride), high, sizeof high);
}

static inline uint32_t gather_bits(const uint32_t *r) /* r[i]: 0 or 1 */
{
    uint32_t bits = 0;
    EACH_LANE
        bits |= r[i] << i;
    return bits;
}

#define LANES_OF(T, name, ...)                        \
    static void name(struct lanes *x)                 \
    {                                                 \
        T r[CHUNK];                                   \
        EACH_LANE                                     \
            r[i] = (T)(__VA_ARGS__);                  \
        memcpy((void *)x->out, r, sizeof r);          \
    }
#define DEFINE_U(name, operands, ...) LANES_OF(uint32_t, name, __VA_ARGS__)
#define DEFINE_F(name, operands, ...) LANES_OF(float, name, __VA_ARGS__)
#define DEFINE_L(name, operands, ...)                 \
    static void name(struct lanes *x)                 \
    {                                                 \
        uint64_t r[CHUNK];                            \
        EACH_LANE                                     \
            r[i] = (uint64_t)(__VA_ARGS__);           \
        put_longs(x, r);                              \
    }
#define DEFINE_D(name, operands, ...)                 \
    static void name(struct lanes *x)                 \
    {                                                 \
        uint64_t r[CHUNK];                            \
        EACH_LANE                                     \
            r[i] = bits64_of(__VA_ARGS__);            \
        put_longs(x, r);                              \
    }
/* 16 bits of a sum or product that is exact in double, or rounded to odd. */
#define DEFINE_H(name, operands, ...) LANES_OF(uint32_t, name, round_small(__VA_ARGS__, 10, ROUND_RN))
#define DEFINE_BITS(name, ...)                        \
    static void name(struct lanes *x)                 \
    {                                                 \
        uint32_t r[CHUNK];                            \
        EACH_LANE                                     \
            r[i] = (uint32_t)((__VA_ARGS__) != 0);    \
        x->bits_out = gather_bits(r);                 \
    }

#define ROW(fn, operands, ...) { "v_" #fn, operands, fn, NULL, NULL, 0, 0, DEFINE_ALL, NULL, 0, 0, 0, 0, 0 },
#define ROW_SATURATING(fn, operands, ...) \
    { "v_" #fn, operands, fn, NULL, NULL, FORM_SATURATES, 0, DEFINE_ALL, NULL, 0, 0, 0, 0, 0 },
#define ROW_AS(name, operands, fn, flags, sub, define) \
    { name, operands, fn, NULL, NULL, flags, sub, define, NULL, 0, 0, 0, 0, 0 }

#endif
