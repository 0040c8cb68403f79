/* lanes_half.h - vector instructions on 16 bits, one or two in a word
 * SPDX-License-Identifier: Apache-2.0
 *
 * Reals are computed in double, rounded once. */
#ifndef AMDGPU_LANES_HALF_H
#define AMDGPU_LANES_HALF_H

#include "lanes_real.h"

static inline double fma_odd(double a, double b, double c) /* a b is exact: f16 or bf16 */
{
    return add_odd(a * b, c);
}

static inline int32_t small_whole(float a, int32_t least, int32_t most)
{
    return isnan(a) ? 0 : a <= (float)least ? least : a >= (float)most ? most : (int32_t)a;
}

static inline uint32_t towards_zero(float a)
{
    return round_small(a, 10, ROUND_RZ);
}

static inline int32_t limit(int32_t a, int32_t least, int32_t most)
{
    return a < least ? least : a > most ? most : a;
}

static inline uint32_t scaled_half(float a, int32_t e)
{
    return round_small(ldexp(a, scale_by(e)), 10, ROUND_RN);
}

#define HALVES(X)                                                                          \
    X(add_f16, "h-hh", (double)H(0) + (double)H(1))                                        \
    X(sub_f16, "h-hh", (double)H(0) - (double)H(1))                                        \
    X(subrev_f16, "h-hh", (double)H(1) - (double)H(0))                                     \
    X(mul_f16, "h-hh", (double)H(0) * (double)H(1))                                        \
    X(fma_f16, "h-hhh", fma_odd(H(0), H(1), H(2)))                                         \
    X(max_f16, "h-hh", greater(H(0), H(1)))                                                \
    X(min_f16, "h-hh", lesser(H(0), H(1)))                                                 \
    X(max3_f16, "h-hhh", greater(greater(H(0), H(1)), H(2)))                               \
    X(min3_f16, "h-hhh", lesser(lesser(H(0), H(1)), H(2)))                                 \
    X(med3_f16, "h-hhh", middle(H(0), H(1), H(2)))                                         \
    X(floor_f16, "h-h", floorf(H(0)))                                                      \
    X(ceil_f16, "h-h", ceilf(H(0)))                                                        \
    X(trunc_f16, "h-h", truncf(H(0)))                                                      \
    X(rndne_f16, "h-h", rintf(H(0)))                                                       \
    X(fract_f16, "h-h", H(0) - floorf(H(0)))                                               \
    X(cvt_f16_u16, "h-i", (double)U16(0))                                                  \
    X(cvt_f16_i16, "h-i", (double)I16(0))

#define HALF_WORDS(X)                                                                      \
    X(ldexp_f16, "h-hi", scaled_half(H(0), I16(1)))                                        \
    X(exp_f16, "h-h", approx_half(exp2(H(0)), x->approximate))                             \
    X(log_f16, "h-h", approx_half(log2(H(0)), x->approximate))                             \
    X(rcp_f16, "h-h", approx_half(1 / (double)H(0), x->approximate))                       \
    X(rsq_f16, "h-h", approx_half(1 / sqrt(H(0)), x->approximate))                         \
    X(sqrt_f16, "h-h", approx_half(sqrt(H(0)), x->approximate))                            \
    X(cvt_f16_f32, "h-f", float_to_half(F(0)))                                             \
    X(cvt_i16_f16, "i-h", small_whole(H(0), -32768, 32767))                                \
    X(cvt_u16_f16, "i-h", small_whole(H(0), 0, 65535))                                     \
    X(cvt_pk_rtz_f16_f32, "w-ff", towards_zero(F(0)) | towards_zero(F(1)) << 16)           \
    X(cvt_pk_f16_f32, "w-ff", float_to_half(F(0)) | float_to_half(F(1)) << 16)             \
    X(cvt_pk_bf16_f32, "w-ff", float_to_bf16(F(0)) | float_to_bf16(F(1)) << 16)            \
    X(pack_b32_f16, "w-hh", U16(0) | U16(1) << 16)                                         \
    X(mul_lo_u16, "i-ii", U16(0) * U16(1))                                                 \
    X(mad_u16, "i-iii", U16(0) * U16(1) + U16(2))                                          \
    X(mad_i16, "i-iii", U16(0) * U16(1) + U16(2))                                          \
    X(mad_u32_u16, "w-iiw", U16(0) * U16(1) + U(2))                                        \
    X(mad_i32_i16, "w-iiw", (uint32_t)(I16(0) * I16(1)) + U(2))                            \
    X(min_u16, "i-ii", U16(0) < U16(1) ? U16(0) : U16(1))                                  \
    X(max_u16, "i-ii", U16(0) > U16(1) ? U16(0) : U16(1))                                  \
    X(min_i16, "i-ii", I16(0) < I16(1) ? I16(0) : I16(1))                                  \
    X(max_i16, "i-ii", I16(0) > I16(1) ? I16(0) : I16(1))                                  \
    X(lshlrev_b16, "i-ii", U16(1) << (U(0) & 15))                                          \
    X(lshrrev_b16, "i-ii", U16(1) >> (U(0) & 15))                                          \
    X(ashrrev_i16, "i-ii", I16(1) >> (U(0) & 15))                                          \
    X(and_b16, "i-ii", U(0) & U(1))                                                        \
    X(or_b16, "i-ii", U(0) | U(1))                                                         \
    X(xor_b16, "i-ii", U(0) ^ U(1))                                                        \
    X(not_b16, "i-i", ~U(0))                                                               \
    X(mov_b16, "i-i", U(0))                                                                \
    X(cndmask_b16, "i-iim", BIT_IN ? U(1) : U(0))

#define SATURATING_HALVES(X)                                                               \
    X(add_nc_u16, "i-ii", x->clamp ? limit((int32_t)(U16(0) + U16(1)), 0, 65535) : (int32_t)(U16(0) + U16(1)))\
    X(sub_nc_u16, "i-ii", x->clamp && U16(0) < U16(1) ? 0 : U16(0) - U16(1))               \
    X(subrev_nc_u16, "i-ii", x->clamp && U16(1) < U16(0) ? 0 : U16(1) - U16(0))            \
    X(add_nc_i16, "i-ii", x->clamp ? limit(I16(0) + I16(1), -32768, 32767) : I16(0) + I16(1))\
    X(sub_nc_i16, "i-ii", x->clamp ? limit(I16(0) - I16(1), -32768, 32767) : I16(0) - I16(1))

#define HALF_REALS(X)                                                                      \
    X(cvt_f32_f16, "f-h", H(0))                                                            \
    X(cvt_f32_bf16, "f-h", bf16_to_float(U16(0)))

/* Both halves of a word: a(k) is source k's half h. */
#define DEFINE_TWO(name, operands, ...)                             \
    static void name(struct lanes *x)                               \
    {                                                               \
        uint32_t r[CHUNK];                                          \
        EACH_LANE {                                                 \
            r[i] = 0;                                               \
            for (unsigned h = 0; h < 32; h += 16)                   \
                r[i] |= ((uint32_t)(__VA_ARGS__) & 0xffff) << h;    \
        }                                                           \
        memcpy((void *)x->out, r, sizeof r);                        \
    }
#define HU(k) (x->in[k][i] >> h & 0xffff)
#define HI(k) ((int32_t)(int16_t)(x->in[k][i] >> h))
#define HF(k) half_to_float(x->in[k][i] >> h & 0xffff)
#define TO_HALF(value) round_small(value, 10, ROUND_RN)
#define PAIRS(X)                                                                           \
    X(pk_add_f16, "p-pp", TO_HALF((double)HF(0) + (double)HF(1)))                          \
    X(pk_mul_f16, "p-pp", TO_HALF((double)HF(0) * (double)HF(1)))                          \
    X(pk_fma_f16, "p-ppp", TO_HALF(fma_odd(HF(0), HF(1), HF(2))))                          \
    X(pk_max_f16, "p-pp", TO_HALF(greater(HF(0), HF(1))))                                  \
    X(pk_min_f16, "p-pp", TO_HALF(lesser(HF(0), HF(1))))                                   \
    X(pk_add_u16, "p-pp", HU(0) + HU(1))                                                   \
    X(pk_sub_u16, "p-pp", HU(0) - HU(1))                                                   \
    X(pk_add_i16, "p-pp", HU(0) + HU(1))                                                   \
    X(pk_sub_i16, "p-pp", HU(0) - HU(1))                                                   \
    X(pk_mul_lo_u16, "p-pp", HU(0) * HU(1))                                                \
    X(pk_mad_u16, "p-ppp", HU(0) * HU(1) + HU(2))                                          \
    X(pk_mad_i16, "p-ppp", HU(0) * HU(1) + HU(2))                                          \
    X(pk_min_u16, "p-pp", HU(0) < HU(1) ? HU(0) : HU(1))                                   \
    X(pk_max_u16, "p-pp", HU(0) > HU(1) ? HU(0) : HU(1))                                   \
    X(pk_min_i16, "p-pp", HI(0) < HI(1) ? HI(0) : HI(1))                                   \
    X(pk_max_i16, "p-pp", HI(0) > HI(1) ? HI(0) : HI(1))                                   \
    X(pk_lshlrev_b16, "p-pp", HU(1) << (HU(0) & 15))                                       \
    X(pk_lshrrev_b16, "p-pp", HU(1) >> (HU(0) & 15))                                       \
    X(pk_ashrrev_i16, "p-pp", HI(1) >> (HU(0) & 15))

HALVES(DEFINE_H)
HALF_WORDS(DEFINE_U)
SATURATING_HALVES(DEFINE_U)
HALF_REALS(DEFINE_F)
PAIRS(DEFINE_TWO)

DEFINE_U(fma_mix_f16, , float_to_half(fmaf(F(0), F(1), F(2))))

static inline float dot_halves(uint32_t a, uint32_t b, float c)
{
    const double low = (double)half_to_float(a & 0xffff) * half_to_float(b & 0xffff);
    const double high = (double)half_to_float(a >> 16) * half_to_float(b >> 16);
    return (float)add_odd(low + high, c);
}
DEFINE_F(dot2_f32_f16, , dot_halves(U(0), U(1), F(2)))

static inline float dot_brains(uint32_t a, uint32_t b, float c)
{
    const double low = (double)bf16_to_float(a & 0xffff) * bf16_to_float(b & 0xffff);
    const double high = (double)bf16_to_float(a >> 16) * bf16_to_float(b >> 16);
    return (float)add_odd(low + high, c);
}
DEFINE_F(dot2_f32_bf16, , dot_brains(U(0), U(1), F(2)))

#endif
