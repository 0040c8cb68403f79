/* lanes_real.h - vector instructions on f32 and f64
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef AMDGPU_LANES_REAL_H
#define AMDGPU_LANES_REAL_H

#include "approx.h"
#include "lanes.h"

/* Of a number and NaN the number; of both zeros -0 is less. */
static inline float lesser(float a, float b)
{
    const float m = a < b || (a == b && signbit(a)) ? a : b;
    return isnan(a) ? b : isnan(b) ? a : m;
}

static inline float greater(float a, float b)
{
    const float m = a > b || (a == b && signbit(b)) ? a : b;
    return isnan(a) ? b : isnan(b) ? a : m;
}

static inline float middle(float a, float b, float c)
{
    if (isnan(a) || isnan(b) || isnan(c))
        return lesser(lesser(a, b), c);
    return greater(lesser(a, b), lesser(greater(a, b), c));
}

static inline double lesser_d(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a < b || (a == b && signbit(a)) ? a : b;
}

static inline double greater_d(double a, double b)
{
    return isnan(a) ? b : isnan(b) ? a : a > b || (a == b && signbit(b)) ? a : b;
}

static inline float zero_product(float a, float b) /* 0 times anything is 0 */
{
    return a == 0 || b == 0 ? 0 : a * b;
}

static inline int32_t to_i32(float a)
{
    const float in = isnan(a) || a <= -0x1p31f || a >= 0x1p31f ? 0 : a;
    return isnan(a) ? 0 : a >= 0x1p31f ? INT32_MAX : a <= -0x1p31f ? INT32_MIN : (int32_t)in;
}

static inline uint32_t to_u32(float a)
{
    const float in = isnan(a) || a <= 0 || a >= 0x1p32f ? 0 : a;
    return a >= 0x1p32f ? UINT32_MAX : (uint32_t)in;
}

static inline int32_t double_to_i32(double a)
{
    return isnan(a) ? 0 : a >= 0x1p31 ? INT32_MAX : a <= -0x1p31 ? INT32_MIN : (int32_t)a;
}

static inline uint32_t double_to_u32(double a)
{
    return isnan(a) || a <= 0 ? 0 : a >= 0x1p32 ? UINT32_MAX : (uint32_t)a;
}

static inline float fraction(float a)
{
    return isinf(a) ? NAN : fminf(a - floorf(a), 0x1.fffffep-1f);
}

static inline float mantissa(float a) /* 0.5 to 1 */
{
    int e;
    return isnan(a) || isinf(a) ? a : frexpf(a, &e);
}

static inline int exponent(float a)
{
    int e = 0;
    if (!isnan(a) && !isinf(a))
        frexpf(a, &e);
    return e;
}

static inline double mantissa_d(double a)
{
    int e;
    return isnan(a) || isinf(a) ? a : frexp(a, &e);
}

static inline int exponent_d(double a)
{
    int e = 0;
    if (!isnan(a) && !isinf(a))
        frexp(a, &e);
    return e;
}

static inline int scale_by(int32_t e) /* ldexp() with any number */
{
    return e > 5000 ? 5000 : e < -5000 ? -5000 : e;
}

/* ---- division: scale, fmas, fixup ---- */

/* `value` is the numerator or denominator; what becomes of it, and whether the quotient is to be scaled back. */
static inline float div_scale(float value, float denominator, float numerator, uint32_t *back)
{
    const uint32_t v = bits_of(value), d = bits_of(denominator), n = bits_of(numerator);
    const int ed = (int)(d >> 23 & 255), en = (int)(n >> 23 & 255);
    const int tiny = fabsf(numerator / denominator) < 0x1p-126f;
    const int inverse_tiny = fabs(1 / (double)denominator) < 0x1p-126;
    *back = 0;
    if (numerator == 0 || denominator == 0)
        return NAN;
    if (en - ed >= 96) {
        *back = 1;
        return v == d ? ldexpf(value, 64) : value;
    }
    if (ed == 0)
        return ldexpf(value, 64);
    if (inverse_tiny && tiny) { /* manuals scale by 2^64, with which the denominator overflows */
        *back = 1;
        return v == d ? ldexpf(value, -64) : value;
    }
    if (inverse_tiny)
        return ldexpf(value, -64);
    if (tiny) {
        *back = 1;
        return v == n ? ldexpf(value, 64) : value;
    }
    return en <= 23 ? ldexpf(value, 64) : value;
}

static void div_scale_f32(struct lanes *x)
{
    float r[CHUNK];
    uint32_t back[CHUNK];
    EACH_LANE
        r[i] = div_scale(F(0), F(1), F(2), &back[i]);
    memcpy((void *)x->out, r, sizeof r);
    x->bits_out = gather_bits(back);
}

/* The sum is scaled before it is rounded. */
static inline float div_fmas(float a, float b, float c, uint32_t scaled)
{
    const int up = (bits_of(c) >> 23 & 255) > 127;
    return scaled ? (float)ldexp(add_odd((double)a * b, c), up ? 64 : -64) : fmaf(a, b, c);
}

static inline float div_fixup(float q, float d, float n)
{
    const float sign = copysignf(1, d) * copysignf(1, n);
    if (isnan(n) || isnan(d) || (n == 0 && d == 0) || (isinf(n) && isinf(d)))
        return NAN;
    if (d == 0 || isinf(n))
        return sign * INFINITY;
    if (isinf(d) || n == 0)
        return sign * 0;
    return isnan(q) ? sign * INFINITY : copysignf(q, sign);
}

/* The same of f64. A denormal quotient is rounded twice here. */
static inline double div_scale_d(double value, double denominator, double numerator, uint32_t *back)
{
    const uint64_t v = bits64_of(value), d = bits64_of(denominator), n = bits64_of(numerator);
    const int ed = (int)(d >> 52 & 2047), en = (int)(n >> 52 & 2047);
    const int tiny = fabs(numerator / denominator) < 0x1p-1022, inverse_tiny = fabs(1 / denominator) < 0x1p-1022;
    *back = numerator != 0 && denominator != 0 && (en - ed >= 768 || (ed && tiny));
    if (numerator == 0 || denominator == 0)
        return NAN;
    if (en - ed >= 768)
        return v == d ? ldexp(value, 128) : value;
    if (ed == 0)
        return ldexp(value, 128);
    if (inverse_tiny)
        return !tiny || v == d ? ldexp(value, -128) : value;
    if (tiny)
        return v == n ? ldexp(value, 128) : value;
    return en <= 53 ? ldexp(value, 128) : value;
}

static void div_scale_f64(struct lanes *x)
{
    uint64_t r[CHUNK];
    uint32_t back[CHUNK];
    EACH_LANE
        r[i] = bits64_of(div_scale_d(D(0), D(1), D(2), &back[i]));
    put_longs(x, r);
    x->bits_out = gather_bits(back);
}

static inline double div_fmas_d(double a, double b, double c, uint32_t scaled)
{
    const int up = (bits64_of(c) >> 52 & 2047) > 1023;
    return scaled ? ldexp(fma(a, b, c), up ? 128 : -128) : fma(a, b, c);
}

static inline double div_fixup_d(double q, double d, double n)
{
    const double sign = copysign(1, d) * copysign(1, n);
    if (isnan(n) || isnan(d) || (n == 0 && d == 0) || (isinf(n) && isinf(d)))
        return NAN;
    if (d == 0 || isinf(n))
        return sign * INFINITY;
    if (isinf(d) || n == 0)
        return sign * 0;
    return isnan(q) ? sign * INFINITY : copysign(q, sign);
}

#define REALS(X)                                                                           \
    X(add_f32, "f-ff", F(0) + F(1))                                                        \
    X(sub_f32, "f-ff", F(0) - F(1))                                                        \
    X(subrev_f32, "f-ff", F(1) - F(0))                                                     \
    X(mul_f32, "f-ff", F(0) * F(1))                                                        \
    X(mul_dx9_zero_f32, "f-ff", zero_product(F(0), F(1)))                                  \
    X(fma_f32, "f-fff", fmaf(F(0), F(1), F(2)))                                            \
    X(mad_f32, "f-fff", F(0) * F(1) + F(2))                                                \
    X(max_f32, "f-ff", greater(F(0), F(1)))                                                \
    X(min_f32, "f-ff", lesser(F(0), F(1)))                                                 \
    X(max3_f32, "f-fff", greater(greater(F(0), F(1)), F(2)))                               \
    X(min3_f32, "f-fff", lesser(lesser(F(0), F(1)), F(2)))                                 \
    X(maxmin_f32, "f-fff", lesser(greater(F(0), F(1)), F(2)))                              \
    X(minmax_f32, "f-fff", greater(lesser(F(0), F(1)), F(2)))                              \
    X(med3_f32, "f-fff", middle(F(0), F(1), F(2)))                                         \
    X(floor_f32, "f-f", floorf(F(0)))                                                      \
    X(ceil_f32, "f-f", ceilf(F(0)))                                                        \
    X(trunc_f32, "f-f", truncf(F(0)))                                                      \
    X(rndne_f32, "f-f", rintf(F(0)))                                                       \
    X(fract_f32, "f-f", fraction(F(0)))                                                    \
    X(ldexp_f32, "f-fw", ldexpf(F(0), scale_by(I(1))))                                     \
    X(frexp_mant_f32, "f-f", mantissa(F(0)))                                               \
    X(exp_f32, "f-f", approx_exp(F(0), x->approximate))                                    \
    X(log_f32, "f-f", approx_log(F(0), x->approximate))                                    \
    X(rcp_f32, "f-f", approx_rcp(F(0), x->approximate))                                    \
    X(rcp_iflag_f32, "f-f", approx_rcp(F(0), x->approximate))                              \
    X(rsq_f32, "f-f", approx_rsq(F(0), x->approximate))                                    \
    X(sqrt_f32, "f-f", approx_sqrt(F(0), x->approximate))                                  \
    X(sin_f32, "f-f", approx_sin(F(0), x->approximate))                                    \
    X(cos_f32, "f-f", approx_cos(F(0), x->approximate))                                    \
    X(cvt_f32_i32, "f-w", (float)I(0))                                                     \
    X(cvt_f32_u32, "f-w", (float)U(0))                                                     \
    X(cvt_f32_f64, "f-d", (float)D(0))                                                     \
    X(cvt_f32_ubyte0, "f-w", (float)(U(0) & 255))                                          \
    X(cvt_f32_ubyte1, "f-w", (float)(U(0) >> 8 & 255))                                     \
    X(cvt_f32_ubyte2, "f-w", (float)(U(0) >> 16 & 255))                                    \
    X(cvt_f32_ubyte3, "f-w", (float)(U(0) >> 24))                                          \
    X(div_fixup_f32, "f-fff", div_fixup(F(0), F(1), F(2)))                                 \
    X(div_fmas_f32, "f-fffM", div_fmas(F(0), F(1), F(2), BIT_IN))                          \
    X(fma_mix_f32, "f-xxx", fmaf(F(0), F(1), F(2)))

#define REALS_TO_WORDS(X)                                                                  \
    X(frexp_exp_i32_f32, "w-f", exponent(F(0)))                                            \
    X(frexp_exp_i32_f64, "w-d", exponent_d(D(0)))                                          \
    X(cvt_i32_f32, "w-f", to_i32(F(0)))                                                    \
    X(cvt_u32_f32, "w-f", to_u32(F(0)))                                                    \
    X(cvt_floor_i32_f32, "w-f", to_i32(floorf(F(0))))                                      \
    X(cvt_nearest_i32_f32, "w-f", to_i32(floorf(F(0) + 0.5f)))                             \
    X(cvt_i32_f64, "w-d", double_to_i32(D(0)))                                             \
    X(cvt_u32_f64, "w-d", double_to_u32(D(0)))

#define DOUBLES(X)                                                                         \
    X(add_f64, "d-dd", D(0) + D(1))                                                        \
    X(mul_f64, "d-dd", D(0) * D(1))                                                        \
    X(fma_f64, "d-ddd", fma(D(0), D(1), D(2)))                                             \
    X(max_f64, "d-dd", greater_d(D(0), D(1)))                                              \
    X(min_f64, "d-dd", lesser_d(D(0), D(1)))                                               \
    X(floor_f64, "d-d", floor(D(0)))                                                       \
    X(ceil_f64, "d-d", ceil(D(0)))                                                         \
    X(trunc_f64, "d-d", trunc(D(0)))                                                       \
    X(rndne_f64, "d-d", rint(D(0)))                                                        \
    X(fract_f64, "d-d", fmin(D(0) - floor(D(0)), 0x1.fffffffffffffp-1))                    \
    X(ldexp_f64, "d-dw", ldexp(D(0), scale_by(I(1))))                                      \
    X(frexp_mant_f64, "d-d", mantissa_d(D(0)))                                             \
    X(rcp_f64, "d-d", approx_double(1 / D(0), x->approximate))                             \
    X(rsq_f64, "d-d", approx_double(1 / sqrt(D(0)), x->approximate))                       \
    X(sqrt_f64, "d-d", approx_double(sqrt(D(0)), x->approximate))                          \
    X(div_fmas_f64, "d-dddM", div_fmas_d(D(0), D(1), D(2), BIT_IN))                        \
    X(div_fixup_f64, "d-ddd", div_fixup_d(D(0), D(1), D(2)))                               \
    X(cvt_f64_f32, "d-f", (double)F(0))                                                    \
    X(cvt_f64_i32, "d-w", (double)I(0))                                                    \
    X(cvt_f64_u32, "d-w", (double)U(0))

REALS(DEFINE_F)
REALS_TO_WORDS(DEFINE_U)
DOUBLES(DEFINE_D)

/* Two f32 of an instruction. */
#define DEFINE_PAIR(name, expression)                            \
    static void name(struct lanes *x)                            \
    {                                                            \
        float r[2][CHUNK];                                       \
        for (size_t h = 0; h < 2; h++) {                         \
            const size_t s = h * x->stride;                      \
            EACH_LANE                                            \
                r[h][i] = (expression);                          \
        }                                                        \
        memcpy((void *)x->out, r[0], sizeof r[0]);               \
        memcpy((void *)(x->out + x->stride), r[1], sizeof r[1]); \
    }
#define P(k) (((const lane_f32 *)x->in[k])[i + s])
DEFINE_PAIR(pk_add_f32, P(0) + P(1))
DEFINE_PAIR(pk_mul_f32, P(0) * P(1))
DEFINE_PAIR(pk_fma_f32, fmaf(P(0), P(1), P(2)))

/* The lower word is what op_sel selects of the first source, the upper of the second. */
static void pk_mov_b32(struct lanes *x)
{
    uint32_t low[CHUNK], high[CHUNK];
    EACH_LANE {
        low[i] = x->in[0][i];
        high[i] = x->in[1][i];
    }
    memcpy((void *)x->out, low, sizeof low);
    memcpy((void *)(x->out + x->stride), high, sizeof high);
}

#endif
