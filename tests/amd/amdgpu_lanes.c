/* amdgpu_lanes.c - what AMD's vector and scalar instructions compute, by the pseudo code of the ISA manuals
 * SPDX-License-Identifier: Apache-2.0
 *
 * Each row is an instruction on v[2:3], v[4:5] and v[6:7] (a, b, c), with its result in v[10:11] or a mask in s[10:11],
 * or on s[6:7] and s[8:9], with its result in s[10:11], and what the manual says of it, computed here once more. Every
 * lane, and every group, has other numbers. */
#include <math.h>
#include <stdint.h>

#include "tests/amd/amdgpu.h"

struct in {
    uint64_t a, b, c;
    unsigned lane;
    int scc; /* before; of scalar instructions afterwards, too */
};

static float f32(uint64_t x)
{
    const uint32_t u = (uint32_t)x;
    float f;
    memcpy(&f, &u, sizeof f);
    return f;
}

static uint32_t b32(float f)
{
    uint32_t u;
    memcpy(&u, &f, sizeof u);
    return u;
}

static double f64(uint64_t x)
{
    double d;
    memcpy(&d, &x, sizeof d);
    return d;
}

static uint64_t b64(double d)
{
    uint64_t u;
    memcpy(&u, &d, sizeof u);
    return u;
}

static double f16(uint64_t x) /* of the lower 16 bits */
{
    const int e = (int)(x >> 10 & 31), m = (int)(x & 1023);
    const double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexp(1024 + m, e - 25) : ldexp(m, -24);
    return x & 0x8000 ? -v : v;
}

/* The nearest, of two the even one: by looking at all of them. */
static uint32_t b16(double d)
{
    uint32_t best = 0;
    if (isnan(d))
        return 0x7fff;
    if (fabs(d) >= 65520)
        return 0x7c00 | (signbit(d) ? 0x8000 : 0);
    uint32_t low = 0, high = 0x7bff;
    while (low < high) { /* the largest that is not more */
        const uint32_t middle = (low + high + 1) / 2;
        if (f16(middle) <= fabs(d))
            low = middle;
        else
            high = middle - 1;
    }
    best = low;
    const double below = fabs(d) - f16(low), above = (low == 0x7bff ? 65536 : f16(low + 1)) - fabs(d);
    if (above < below || (above == below && (low & 1)))
        best = low + 1;
    return best | (signbit(d) ? 0x8000 : 0);
}

#define A ((uint32_t)x->a)
#define B ((uint32_t)x->b)
#define C ((uint32_t)x->c)
#define SA ((int32_t)x->a)
#define SB ((int32_t)x->b)
#define SC ((int32_t)x->c)
#define FA f32(x->a)
#define FB f32(x->b)
#define FC f32(x->c)
#define HA f16(x->a)
#define HB f16(x->b)
#define HC f16(x->c)
#define DA f64(x->a)
#define DB f64(x->b)
#define DC f64(x->c)
#define LOW(v) ((uint32_t)(v)&0xffff)
#define TOP(v) ((uint32_t)(v) >> 16)

static float min_f(float p, float q)
{
    return isnan(p) ? q : isnan(q) ? p : p < q ? p : q < p ? q : signbit(p) ? p : q;
}

static float max_f(float p, float q)
{
    return isnan(p) ? q : isnan(q) ? p : p > q ? p : q > p ? q : signbit(p) ? q : p;
}

static int64_t clampi(double v, double low, double high)
{
    return isnan(v) ? 0 : v <= low ? (int64_t)low : v >= high ? (int64_t)high : (int64_t)v;
}

static uint32_t bits_reversed(uint32_t v)
{
    uint32_t r = 0;
    for (int i = 0; i < 32; i++)
        r |= (v >> i & 1) << (31 - i);
    return r;
}

static uint32_t ones_of(uint64_t v)
{
    uint32_t n = 0;
    for (int i = 0; i < 64; i++)
        n += (uint32_t)(v >> i & 1);
    return n;
}

static uint32_t first_bit(uint64_t v, int bits, int from_top)
{
    for (int i = 0; i < bits; i++)
        if (v >> (from_top ? bits - 1 - i : i) & 1)
            return (uint32_t)i;
    return ~0u;
}

static uint32_t perm(uint32_t s0, uint32_t s1, uint32_t sel)
{
    unsigned char in[8], r[4];
    for (int i = 0; i < 4; i++) {
        in[i] = (unsigned char)(s1 >> 8 * i);
        in[4 + i] = (unsigned char)(s0 >> 8 * i);
    }
    for (int i = 0; i < 4; i++) {
        const unsigned s = sel >> 8 * i & 255;
        r[i] = s >= 13 ? 255 : s == 12 ? 0 : s >= 8 ? (in[2 * (s - 8) + 1] & 128 ? 255 : 0) : in[s];
    }
    return r[0] | (uint32_t)r[1] << 8 | (uint32_t)r[2] << 16 | (uint32_t)r[3] << 24;
}

static int class_bit(float v)
{
    const uint32_t u = b32(v);
    if (isnan(v))
        return u & 0x400000 ? 1 : 0;
    if (isinf(v))
        return v < 0 ? 2 : 9;
    if (v == 0)
        return signbit(v) ? 5 : 6;
    if (fabsf(v) < 0x1p-126f)
        return v < 0 ? 4 : 7;
    return v < 0 ? 3 : 8;
}

static uint64_t field(uint64_t v, unsigned at, unsigned n, unsigned bits, int is_signed)
{
    uint64_t r = 0;
    if (n > bits - at)
        n = bits - at;
    for (unsigned i = 0; i < n; i++)
        r |= (v >> (at + i) & 1) << i;
    if (is_signed && n && r >> (n - 1) & 1)
        for (unsigned i = n; i < bits; i++)
            r |= (uint64_t)1 << i;
    return r;
}

static uint32_t both(double low, double high)
{
    return b16(low) | b16(high) << 16;
}

/* The nearest to the exact sum: what is lost of it in double decides ties. */
static uint32_t fma16(double p, double q, double r)
{
    const double product = p * q, sum = product + r, back = sum - product, lost = (product - (sum - back)) + (r - back);
    const uint32_t nearest = b16(sum);
    if (isnan(sum) || isinf(sum) || lost == 0)
        return nearest;
    return b16(nextafter(sum, lost > 0 ? INFINITY : -INFINITY));
}

static uint32_t truncated16(float v)
{
    const uint32_t near = b16(v);
    if (isnan(v) || isinf(v) || fabs(f16(near)) <= fabs((double)v))
        return near;
    return near - 1;
}

static uint32_t med_i(int32_t p, int32_t q, int32_t r)
{
    return (uint32_t)(p < q ? (q < r ? q : p < r ? r : p) : (p < r ? p : q < r ? r : q));
}

/* X(id, text, kind, what): w 32 bits of v10, l 64 of v[10:11], f f32, d f64, h 16 bits of v10 (the upper ones stay 0),
 * m the lane's bit of s[10:11], n that and 32 bits, in the upper half. `x` are the sources. */
#define VECTORS(X)                                                                                                     \
    X(1, "v_add_f32 v10, v2, v4", 'f', b32(FA + FB))                                                                   \
    X(2, "v_sub_f32_e64 v10, -v2, |v4|", 'f', b32(-FA - fabsf(FB)))                                                    \
    X(3, "v_subrev_f32 v10, v2, v4", 'f', b32(FB - FA))                                                                \
    X(4, "v_mul_f32 v10, 0.5, v4", 'f', b32(0.5f * FB))                                                                \
    X(5, "v_fma_f32 v10, v2, -v4, v6", 'f', b32(fmaf(FA, -FB, FC)))                                                    \
    X(6, "v_fmaak_f32 v10, v2, v4, 0x40490fdb", 'f', b32(fmaf(FA, FB, f32(0x40490fdb))))                               \
    X(7, "v_fmamk_f32 v10, v2, 0x40490fdb, v4", 'f', b32(fmaf(FA, f32(0x40490fdb), FB)))                               \
    X(8, "v_max_f32 v10, v2, v4", 'f', b32(max_f(FA, FB)))                                                             \
    X(9, "v_min_num_f32 v10, v2, v4", 'f', b32(min_f(FA, FB)))                                                         \
    X(10, "v_max3_f32 v10, v2, v4, v6", 'f', b32(max_f(max_f(FA, FB), FC)))                                            \
    X(11, "v_min3_f32 v10, v2, v4, v6", 'f', b32(min_f(min_f(FA, FB), FC)))                                            \
    X(12, "v_med3_f32 v10, v2, 0, 1.0", 'f', b32(isnan(FA) ? 0 : FA <= 0 ? 0 : FA > 1 ? 1 : FA))                       \
    X(13, "v_minmax_f32 v10, v2, v4, v6", 'f', b32(max_f(min_f(FA, FB), FC)))                                          \
    X(14, "v_maxmin_f32 v10, v2, v4, v6", 'f', b32(min_f(max_f(FA, FB), FC)))                                          \
    X(15, "v_floor_f32 v10, v2", 'f', b32(floorf(FA)))                                                                 \
    X(16, "v_ceil_f32 v10, v2", 'f', b32(ceilf(FA)))                                                                   \
    X(17, "v_trunc_f32 v10, v2", 'f', b32(truncf(FA)))                                                                 \
    X(18, "v_rndne_f32 v10, v2", 'f', b32(nearbyintf(FA)))                                                             \
    X(19, "v_ldexp_f32 v10, v2, v4", 'f', b32((float)ldexp((double)FA, SB > 400 ? 400 : SB < -400 ? -400 : SB)))       \
    X(20, "v_frexp_mant_f32 v10, v2", 'f',                                                                             \
      b32(isfinite(FA) && FA != 0 ? FA / ldexpf(1, ilogbf(FA) / 2) / ldexpf(1, ilogbf(FA) - ilogbf(FA) / 2) / 2 : FA)) \
    X(21, "v_frexp_exp_i32_f32 v10, v2", 'w', isfinite(FA) && FA != 0 ? (uint32_t)(ilogbf(FA) + 1) : 0)                \
    X(22, "v_add_f32_e64 v10, v2, v4 clamp", 'f', b32(isnan(FA + FB) || FA + FB < 0 ? 0 : FA + FB > 1 ? 1 : FA + FB))  \
    X(23, "v_mul_f32_e64 v10, v2, v4 mul:4", 'f', b32(FA *FB * 4))                                                     \
    X(24, "v_mul_f32_e64 v10, v2, v4 div:2", 'f', b32(FA *FB / 2))                                                     \
    X(25, "v_cvt_i32_f32 v10, v2", 'w', (uint32_t)clampi(FA, -0x1p31, 0x7fffffff))                                     \
    X(26, "v_cvt_u32_f32 v10, v2", 'w', (uint32_t)clampi(FA, 0, 0xffffffff))                                           \
    X(27, "v_cvt_f32_i32 v10, v2", 'f', b32((float)SA))                                                                \
    X(28, "v_cvt_f32_u32 v10, v2", 'f', b32((float)A))                                                                 \
    X(29, "v_cvt_f32_ubyte0 v10, v2", 'f', b32((float)(A & 255)))                                                      \
    X(30, "v_cvt_f32_ubyte1 v10, v2", 'f', b32((float)(A >> 8 & 255)))                                                 \
    X(31, "v_cvt_f32_ubyte2 v10, v2", 'f', b32((float)(A >> 16 & 255)))                                                \
    X(32, "v_cvt_f32_ubyte3 v10, v2", 'f', b32((float)(A >> 24)))                                                      \
    X(33, "v_cvt_f32_f16 v10, v2", 'f', b32((float)HA))                                                                \
    X(34, "v_cvt_f32_f16_sdwa v10, v2 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:WORD_1", 'f',                       \
      b32((float)f16(TOP(A))))                                                                                         \
    X(35, "v_cvt_f16_f32 v10, v2", 'h', b16(FA))                                                                       \
    X(36, "v_mul_dx9_zero_f32 v10, v2, v4", 'f', b32(FA == 0 || FB == 0 ? 0 : FA * FB))                                \
    X(37, "v_fract_f32 v10, v2", 'f', isinf(FA) ? 0x7fffffffu : b32(fminf(FA - floorf(FA), 0x1.fffffep-1f)))           \
    X(38, "v_fmac_f32 v6, v2, v4\nv_mov_b32 v10, v6", 'f', b32(fmaf(FA, FB, FC)))                                      \
    X(39, "v_fma_mix_f32 v10, v2, v4, v6 op_sel:[1,0,0] op_sel_hi:[1,1,0]", 'f',                                       \
      b32(fmaf((float)f16(TOP(A)), (float)HB, FC)))                                                                    \
    X(40, "v_fma_mix_f32 v10, v2, |v4|, -v6 op_sel_hi:[0,0,0]", 'f', b32(fmaf(FA, fabsf(FB), -FC)))                    \
    X(41, "v_mov_b32 v10, 0xabcd\nv_fma_mixhi_f16 v10, v2, v4, v6 op_sel_hi:[1,1,1]", 'w',                             \
      0xabcdu | b16((float)fma(HA, HB, HC)) << 16)                                                                     \
    X(50, "v_add_nc_u32 v10, v2, v4", 'w', A + B)                                                                      \
    X(51, "v_sub_nc_u32 v10, v2, v4", 'w', A - B)                                                                      \
    X(52, "v_subrev_u32 v10, v2, v4", 'w', B - A)                                                                      \
    X(53, "v_add_nc_u32_e64 v10, v2, v4 clamp", 'w', (uint64_t)A + B > 0xffffffffu ? 0xffffffffu : A + B)              \
    X(54, "v_sub_nc_i32 v10, v2, v4 clamp", 'w', (uint32_t)clampi((double)SA - SB, -0x1p31, 0x7fffffff))               \
    X(55, "v_add_i32 v10, v2, v4", 'w', A + B)                                                                         \
    X(56, "v_and_b32 v10, v2, v4", 'w', A &B)                                                                          \
    X(57, "v_or_b32 v10, v2, v4", 'w', A | B)                                                                          \
    X(58, "v_xor_b32 v10, v2, v4", 'w', A ^ B)                                                                         \
    X(59, "v_xnor_b32 v10, v2, v4", 'w', ~(A ^ B))                                                                     \
    X(60, "v_not_b32 v10, v2", 'w', ~A)                                                                                \
    X(61, "v_lshlrev_b32 v10, v2, v4", 'w', B << (A % 32))                                                             \
    X(62, "v_lshrrev_b32 v10, v2, v4", 'w', B >> (A % 32))                                                             \
    X(63, "v_ashrrev_i32 v10, v2, v4", 'w', field(B, A % 32, 32, 32, 1))                                               \
    X(64, "v_lshl_add_u32 v10, v2, v4, v6", 'w', (A << (B % 32)) + C)                                                  \
    X(65, "v_add_lshl_u32 v10, v2, v4, v6", 'w', (A + B) << (C % 32))                                                  \
    X(66, "v_lshl_or_b32 v10, v2, 3, v6", 'w', (A << 3) | C)                                                           \
    X(67, "v_and_or_b32 v10, v2, v4, v6", 'w', (A & B) | C)                                                            \
    X(68, "v_or3_b32 v10, v2, v4, v6", 'w', A | B | C)                                                                 \
    X(69, "v_xor3_b32 v10, v2, v4, v6", 'w', A ^ B ^ C)                                                                \
    X(70, "v_xad_u32 v10, v2, v4, v6", 'w', (A ^ B) + C)                                                               \
    X(71, "v_add3_u32 v10, v2, v4, v6", 'w', A + B + C)                                                                \
    X(72, "v_bfe_u32 v10, v2, v4, v6", 'w', field(A, B % 32, C % 32, 32, 0))                                           \
    X(73, "v_bfe_i32 v10, v2, v4, v6", 'w',                                                                            \
      B % 32 + C % 32 > 32 ? field(A, B % 32, 32, 32, 1) : field(A, B % 32, C % 32, 32, 1))                            \
    X(74, "v_bfi_b32 v10, v2, v4, v6", 'w', (A & B) | (~A & C))                                                        \
    X(75, "v_alignbit_b32 v10, v2, v4, v6", 'w', C % 32 ? A << (32 - C % 32) | B >> (C % 32) : B)                      \
    X(76, "v_alignbyte_b32 v10, v2, v4, v6", 'w', C % 4 ? A << (32 - 8 * (C % 4)) | B >> 8 * (C % 4) : B)              \
    X(77, "v_perm_b32 v10, v2, v4, v6", 'w', perm(A, B, C))                                                            \
    X(78, "v_mul_lo_u32 v10, v2, v4", 'w', A *B)                                                                       \
    X(79, "v_mul_hi_u32 v10, v2, v4", 'w', (uint64_t)A *B >> 32)                                                       \
    X(80, "v_mul_hi_i32 v10, v2, v4", 'w', (uint32_t)((uint64_t)((int64_t)SA * SB) >> 32))                             \
    X(81, "v_mul_u32_u24 v10, v2, v4", 'w', (A % 0x1000000) * (B % 0x1000000))                                         \
    X(82, "v_mad_u32_u24 v10, v2, v4, v6", 'w', (A % 0x1000000) * (B % 0x1000000) + C)                                 \
    X(83, "v_mad_i32_i24 v10, v2, v4, v6", 'w',                                                                        \
      (uint32_t)field(A, 0, 24, 32, 1) * (uint32_t)field(B, 0, 24, 32, 1) + C)                                         \
    X(84, "v_min_i32 v10, v2, v4", 'w', (uint32_t)(SA < SB ? SA : SB))                                                 \
    X(85, "v_max_i32 v10, v2, v4", 'w', (uint32_t)(SA < SB ? SB : SA))                                                 \
    X(86, "v_min_u32 v10, v2, v4", 'w', A < B ? A : B)                                                                 \
    X(87, "v_max_u32 v10, v2, v4", 'w', A < B ? B : A)                                                                 \
    X(88, "v_med3_i32 v10, v2, v4, v6", 'w', med_i(SA, SB, SC))                                                        \
    X(89, "v_minmax_i32 v10, v2, v4, v6", 'w', (uint32_t)((SA < SB ? SA : SB) > SC ? (SA < SB ? SA : SB) : SC))        \
    X(90, "v_max3_u32 v10, v2, v4, v6", 'w', A > B ? (A > C ? A : C) : (B > C ? B : C))                                \
    X(91, "v_bcnt_u32_b32 v10, v2, v4", 'w', ones_of(A) + B)                                                           \
    X(92, "v_bfrev_b32 v10, v2", 'w', bits_reversed(A))                                                                \
    X(93, "v_clz_i32_u32 v10, v2", 'w', first_bit(A, 32, 1))                                                           \
    X(94, "v_ffbl_b32 v10, v2", 'w', first_bit(A, 32, 0))                                                              \
    X(95, "v_mbcnt_lo_u32_b32 v10, v2, v4", 'w',                                                                       \
      ones_of(A &(uint32_t)(((uint64_t)1 << (x->lane > 32 ? 32 : x->lane)) - 1)) + B)                                  \
    X(96, "v_mbcnt_hi_u32_b32 v10, v2, v4", 'w',                                                                       \
      ones_of(A &(uint32_t)(((uint64_t)1 << (x->lane < 32 ? 0 : x->lane - 32)) - 1)) + B)                              \
    X(97, "v_sad_u32 v10, v2, v4, v6", 'w', (A > B ? A - B : B - A) + C)                                               \
    X(98, "v_or_b32_sdwa v10, v2, v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_3 src1_sel:WORD_1", 'w',        \
      (A >> 24) | TOP(B))                                                                                              \
    X(99, "v_add_u32_sdwa v10, sext(v2), v4 dst_sel:DWORD dst_unused:UNUSED_PAD src0_sel:BYTE_1 src1_sel:DWORD", 'w',  \
      (uint32_t)(int8_t)(A >> 8) + B)                                                                                  \
    X(100, "v_mov_b32 v10, v6\nv_mov_b32_sdwa v10, v2 dst_sel:BYTE_2 dst_unused:UNUSED_PRESERVE src0_sel:BYTE_0", 'w', \
      (C & 0xff00ffffu) | (A & 255) << 16)                                                                             \
    X(101, "v_dot4_i32_i8 v10, v2, v4, v6", 'w',                                                                       \
      C + (uint32_t)((int8_t)A * (int8_t)B + (int8_t)(A >> 8) * (int8_t)(B >> 8) +                                     \
                     (int8_t)(A >> 16) * (int8_t)(B >> 16) + (int8_t)(A >> 24) * (int8_t)(B >> 24)))                   \
    X(102, "v_min3_i32 v10, v2, v4, v6", 'w', (uint32_t)(SA < SB ? (SA < SC ? SA : SC) : (SB < SC ? SB : SC)))         \
    X(103, "v_maxmin_u32 v10, v2, v4, v6", 'w', (A > B ? A : B) < C ? (A > B ? A : B) : C)                             \
    X(104, "v_bitop3_b32 v10, v2, v4, v6 bitop3:0xca", 'w', (A & B) | (~A & C))                                        \
    X(105, "v_bitop3_b32 v10, v2, v4, v6 bitop3:0x96", 'w', A ^ B ^ C)                                                 \
    X(106, "v_mul_i32_i24 v10, v2, v4", 'w', (uint32_t)field(A, 0, 24, 32, 1) * (uint32_t)field(B, 0, 24, 32, 1))      \
    X(107, "v_bfm_b32 v10, v2, v4", 'w', (((uint32_t)1 << A % 32) - 1) << B % 32)                                      \
    X(108, "v_dot4_u32_u8 v10, v2, v4, v6", 'w',                                                                       \
      C + (A & 255) * (B & 255) + (A >> 8 & 255) * (B >> 8 & 255) + (A >> 16 & 255) * (B >> 16 & 255) +                \
          (A >> 24) * (B >> 24))                                                                                       \
    X(109, "v_cls_i32 v10, v2", 'w', first_bit(A >> 31 ? ~A : A, 32, 1))                                               \
    X(110, "v_lshlrev_b64 v[10:11], v2, v[4:5]", 'l', x->b << (A % 64))                                                \
    X(111, "v_lshrrev_b64 v[10:11], v2, v[4:5]", 'l', x->b >> (A % 64))                                                \
    X(112, "v_ashrrev_i64 v[10:11], v2, v[4:5]", 'l', field(x->b, A % 64, 64, 64, 1))                                  \
    X(113, "v_lshl_add_u64 v[10:11], v[2:3], 3, v[6:7]", 'l', (x->a << 3) + x->c)                                      \
    X(114, "v_mad_u64_u32 v[10:11], s[10:11], v2, v4, v[6:7]", 'l', (uint64_t)A *B + x->c)                             \
    X(115, "v_mad_i64_i32 v[10:11], s[10:11], v2, v4, v[6:7]", 'l', (uint64_t)((int64_t)SA * SB) + x->c)               \
    X(116, "v_mov_b64 v[10:11], v[2:3]", 'l', x->a)                                                                    \
    X(117, "v_add_co_u32 v10, MASK, v2, v4", 'n', (A + B) | (uint64_t)(A + B < A) << 32)                               \
    X(118, "v_sub_co_u32 v10, MASK, v2, v4", 'n', (A - B) | (uint64_t)(A < B) << 32)                                   \
    X(119, "v_cmp_lt_u32 vcc, v6, v4\nv_add_co_ci_u32 v10, MASK, v2, v4, vcc", 'n',                                    \
      ((uint64_t)A + B + (C < B)) & 0x1ffffffffu)                                                                      \
    X(120, "v_cmp_lt_u32 vcc, v6, v4\nv_subb_co_u32 v10, MASK, v2, v4, vcc", 'n',                                      \
      (A - B - (C < B)) | (uint64_t)((uint64_t)A < (uint64_t)B + (C < B)) << 32)                                       \
    X(121, "v_cmp_lt_u32 vcc, v6, v4\nv_subbrev_co_u32 v10, MASK, v2, v4, vcc", 'n',                                   \
      (B - A - (C < B)) | (uint64_t)((uint64_t)B < (uint64_t)A + (C < B)) << 32)                                       \
    X(122, "v_cmp_lt_u32 vcc, v6, v4\nv_cndmask_b32 v10, v2, v4, vcc", 'w', C < B ? B : A)                             \
    X(123, "v_cmp_lt_u32 vcc, v6, v4\nv_cndmask_b32_e64 v10, -v2, v4, vcc", 'w', C < B ? B : A ^ 0x80000000u)          \
    X(130, "v_add_f64 v[10:11], v[2:3], -v[4:5]", 'd', b64(DA - DB))                                                   \
    X(131, "v_mul_f64 v[10:11], v[2:3], v[4:5]", 'd', b64(DA *DB))                                                     \
    X(132, "v_fma_f64 v[10:11], v[2:3], v[4:5], |v[6:7]|", 'd', b64(fma(DA, DB, fabs(DC))))                            \
    X(133, "v_cvt_f64_f32 v[10:11], v2", 'd', b64((double)FA))                                                         \
    X(134, "v_cvt_f32_f64 v10, v[2:3]", 'f', b32((float)DA))                                                           \
    X(135, "v_add_f64 v[10:11], v[2:3], 1.0", 'd', b64(DA + 1))                                                        \
    X(136, "v_max_f64 v[10:11], v[2:3], v[4:5]", 'd',                                                                  \
      b64(isnan(DA)                 ? DB                                                                               \
          : isnan(DB) || DA > DB    ? DA                                                                               \
          : DB == DA && signbit(DB) ? DA                                                                               \
                                    : DB))                                                                             \
    X(137, "v_ldexp_f64 v[10:11], v[2:3], v4", 'd', b64(ldexp(DA, SB > 5000 ? 5000 : SB < -5000 ? -5000 : SB)))        \
    X(138, "v_rndne_f64 v[10:11], v[2:3]", 'd', b64(nearbyint(DA)))                                                    \
    X(139, "v_cvt_i32_f64 v10, v[2:3]", 'w', (uint32_t)clampi(DA, -0x1p31, 0x7fffffff))                                \
    X(140, "v_mov_b32 v10, 0\nv_add_f16 v10, v2, v4", 'h', b16(HA + HB))                                               \
    X(141, "v_mov_b32 v10, 0\nv_mul_f16 v10, v2, -4.0", 'h', b16(HA * -4))                                             \
    X(142, "v_mov_b32 v10, 0\nv_max_f16 v10, v2, v4", 'h', b16(max_f((float)HA, (float)HB)))                           \
    X(143, "v_mov_b32 v10, 0\nv_add_nc_u16 v10, v2, v4", 'h', LOW(A + B))                                              \
    X(144, "v_mov_b32 v10, 0\nv_lshrrev_b16 v10, v2, v4", 'h', LOW(B) >> (A % 16))                                     \
    X(145, "v_mov_b32 v10, 0x55\nv_add_nc_u16 v10, v2, v4 op_sel:[1,0,1]", 'w', 0x55u | LOW(TOP(A) + B) << 16)         \
    X(146, "v_pack_b32_f16 v10, v2, v4 op_sel:[1,0,0]", 'w', TOP(A) | LOW(B) << 16)                                    \
    X(147, "v_mad_u32_u16 v10, v2, v4, v6", 'w', LOW(A) * LOW(B) + C)                                                  \
    X(148, "v_pk_add_f16 v10, v2, v4", 'p', both(HA + HB, f16(TOP(A)) + f16(TOP(B))))                                  \
    X(149, "v_pk_mul_f16 v10, v2, v4 op_sel:[1,0] op_sel_hi:[0,0] neg_lo:[1,0]", 'p',                                  \
      both(-f16(TOP(A)) * HB, HA * HB))                                                                                \
    X(150, "v_pk_max_f16 v10, v2, v4", 'p',                                                                            \
      both(max_f((float)HA, (float)HB), max_f((float)f16(TOP(A)), (float)f16(TOP(B)))))                                \
    X(151, "v_pk_lshlrev_b16 v10, 2, v4 op_sel_hi:[0,1]", 'w', LOW(B << 2) | LOW(TOP(B) << 2) << 16)                   \
    X(152, "v_pk_add_u16 v10, v2, v4", 'w', LOW(A + B) | LOW(TOP(A) + TOP(B)) << 16)                                   \
    X(153, "v_pk_mul_lo_u16 v10, v2, v4", 'w', LOW(A *B) | LOW(TOP(A) * TOP(B)) << 16)                                 \
    X(154, "v_fma_f16 v10, v2, v4, v6", 'h', fma16(HA, HB, HC))                                                        \
    X(155, "v_pk_fma_f16 v10, v2, v4, v6", 'p',                                                                        \
      fma16(HA, HB, HC) | fma16(f16(TOP(A)), f16(TOP(B)), f16(TOP(C))) << 16)                                          \
    X(156, "v_cvt_pk_rtz_f16_f32 v10, v2, v4", 'p', truncated16(FA) | truncated16(FB) << 16)                           \
    X(157, "v_cvt_pk_f16_f32 v10, v2, v4", 'p', both(FA, FB))                                                          \
    X(158, "v_dot2_f32_f16 v10, v2, v4, 2.0", 'f', b32((float)(HA * HB + f16(TOP(A)) * f16(TOP(B)) + 2)))              \
    X(159, "v_ashrrev_i16 v10, v2, v4", 'h', LOW(field(B, A % 16, 16, 16, 1)))                                         \
    X(165, "v_pk_min_i16 v10, v2, v4", 'w',                                                                            \
      LOW((int16_t)A < (int16_t)B ? A : B) | LOW((int16_t)TOP(A) < (int16_t)TOP(B) ? TOP(A) : TOP(B)) << 16)           \
    X(166, "v_pk_mad_u16 v10, v2, v4, v6", 'w', LOW(A *B + C) | LOW(TOP(A) * TOP(B) + TOP(C)) << 16)                   \
    X(167, "v_cvt_f16_u16 v10, v2", 'h', b16(LOW(A)))                                                                  \
    X(168, "v_cvt_i16_f16 v10, v2", 'h', LOW(clampi(HA, -32768, 32767)))                                               \
    X(169, "v_sub_nc_u16 v10, v2, v4 clamp", 'h', LOW(A) < LOW(B) ? 0 : LOW(A) - LOW(B))                               \
    X(249, "v_mad_legacy_u16 v10, v2, v4, v6", 'h', LOW(A *B + C))                                                     \
    X(160, "v_pk_add_f32 v[10:11], v[2:3], v[4:5]", '2',                                                               \
      b32(FA + FB) | (uint64_t)b32(f32(x->a >> 32) + f32(x->b >> 32)) << 32)                                           \
    X(161, "v_pk_mul_f32 v[10:11], v[2:3], v[4:5] op_sel:[1,0] op_sel_hi:[0,1] neg_hi:[0,1]", '2',                     \
      b32(f32(x->a >> 32) * FB) | (uint64_t)b32(FA * -f32(x->b >> 32)) << 32)                                          \
    X(162, "v_pk_fma_f32 v[10:11], v[2:3], v[4:5], v[6:7]", '2',                                                       \
      b32(fmaf(FA, FB, FC)) | (uint64_t)b32(fmaf(f32(x->a >> 32), f32(x->b >> 32), f32(x->c >> 32))) << 32)            \
    X(163, "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[1,0]", 'l', x->a >> 32 | x->b << 32)                         \
    X(164, "v_pk_mov_b32 v[10:11], v[2:3], v[4:5] op_sel:[0,1]", 'l', A | (x->b >> 32) << 32)                          \
    X(187, "v_cmp_le_f64 MASK, v[2:3], v[4:5]", 'm', DA <= DB)                                                         \
    X(188, "v_cmp_class_f64 MASK, v[2:3], 0x204", 'm', isinf(DA))                                                      \
    X(189, "v_cmp_ge_u16 MASK, v2, v4", 'm', LOW(A) >= LOW(B))                                                         \
    X(170, "v_cmp_lt_f32 MASK, v2, v4", 'm', FA < FB)                                                                  \
    X(171, "v_cmp_nlt_f32 MASK, v2, v4", 'm', !(FA < FB))                                                              \
    X(172, "v_cmp_lg_f32 MASK, v2, v4", 'm', FA<FB || FA> FB)                                                          \
    X(173, "v_cmp_nlg_f32 MASK, v2, v2", 'm', !(FA < FA || FA > FA))                                                   \
    X(174, "v_cmp_o_f32 MASK, v2, v4", 'm', !isnan(FA) && !isnan(FB))                                                  \
    X(175, "v_cmp_u_f32 MASK, v2, v4", 'm', isnan(FA) || isnan(FB))                                                    \
    X(176, "v_cmp_neq_f32 MASK, v2, v4", 'm', !(FA == FB))                                                             \
    X(177, "v_cmp_nge_f32 MASK, |v2|, v4", 'm', !(fabsf(FA) >= FB))                                                    \
    X(178, "v_cmp_le_i32 MASK, v2, v4", 'm', SA <= SB)                                                                 \
    X(179, "v_cmp_gt_u32 MASK, v2, v4", 'm', A > B)                                                                    \
    X(180, "v_cmp_ne_u32 MASK, v2, v4", 'm', A != B)                                                                   \
    X(181, "v_cmp_lt_i64 MASK, v[2:3], v[4:5]", 'm', (int64_t)x->a < (int64_t)x->b)                                    \
    X(182, "v_cmp_ge_u64 MASK, v[2:3], v[4:5]", 'm', x->a >= x->b)                                                     \
    X(183, "v_cmp_gt_f16 MASK, v2, v4", 'm', HA > HB)                                                                  \
    X(184, "v_cmp_lt_i16 MASK, v2, v4", 'm', (int16_t)A < (int16_t)B)                                                  \
    X(185, "v_cmp_class_f32 MASK, v2, v4", 'm', B >> class_bit(FA) & 1)                                                \
    X(186, "v_cmp_eq_f64 MASK, v[2:3], v[2:3]", 'm', DA == DA)

/* Division as compilers make it: exactly rounded. */
#define DIVISIONS(X)                                                                                                   \
    X(190,                                                                                                             \
      "v_div_scale_f32 v12, MASK, v4, v4, v2\nv_rcp_f32 v13, v12\nv_fma_f32 v14, -v12, v13, 1.0\n"                     \
      "v_fma_f32 v13, v14, v13, v13\nv_div_scale_f32 v14, vcc, v2, v4, v2\nv_mul_f32 v15, v14, v13\n"                  \
      "v_fma_f32 v16, -v12, v15, v14\nv_fma_f32 v15, v16, v13, v15\nv_fma_f32 v12, -v12, v15, v14\n"                   \
      "v_div_fmas_f32 v12, v12, v13, v15\nv_div_fixup_f32 v10, v12, v4, v2",                                           \
      'f', b32(FA / FB))

/* s: 32 bits of s10, S: 64 of s[10:11], c: only SCC, which is the result's bit 0; `x->scc` is SCC before (0). */
#define SCALARS(X)                                                                                                     \
    X(200, "s_add_u32 s10, s6, s8", 's', (x->scc = (uint64_t)A + B > 0xffffffffu, A + B))                              \
    X(201, "s_sub_u32 s10, s6, s8", 's', (x->scc = A < B, A - B))                                                      \
    X(202, "s_add_i32 s10, s6, s8", 's', (x->scc = (int64_t)SA + SB != (int32_t)(A + B), A + B))                       \
    X(203, "s_sub_co_i32 s10, s6, s8", 's', (x->scc = (int64_t)SA - SB != (int32_t)(A - B), A - B))                    \
    X(204, "s_cmp_lt_u32 s7, s9\ns_addc_u32 s10, s6, s8", 's',                                                         \
      (x->scc = (uint64_t)A + B + (x->a >> 32 < x->b >> 32) > 0xffffffffu, A + B + (x->a >> 32 < x->b >> 32)))         \
    X(205, "s_cmp_lt_u32 s7, s9\ns_subb_u32 s10, s6, s8", 's',                                                         \
      (x->scc = A < (uint64_t)B + (x->a >> 32 < x->b >> 32), A - B - (x->a >> 32 < x->b >> 32)))                       \
    X(206, "s_mul_i32 s10, s6, s8", 's', A *B)                                                                         \
    X(207, "s_mul_hi_u32 s10, s6, s8", 's', (uint64_t)A *B >> 32)                                                      \
    X(208, "s_mul_hi_i32 s10, s6, s8", 's', (uint32_t)((uint64_t)((int64_t)SA * SB) >> 32))                            \
    X(209, "s_and_b32 s10, s6, s8", 's', (x->scc = (A & B) != 0, A & B))                                               \
    X(210, "s_andn2_b64 s[10:11], s[6:7], s[8:9]", 'S', (x->scc = (x->a & ~x->b) != 0, x->a & ~x->b))                  \
    X(211, "s_xnor_b64 s[10:11], s[6:7], s[8:9]", 'S', (x->scc = ~(x->a ^ x->b) != 0, ~(x->a ^ x->b)))                 \
    X(212, "s_lshl_b32 s10, s6, s8", 's', (x->scc = A << (B % 32) != 0, A << (B % 32)))                                \
    X(213, "s_lshr_b64 s[10:11], s[6:7], s8", 'S', (x->scc = x->a >> (B % 64) != 0, x->a >> (B % 64)))                 \
    X(214, "s_ashr_i32 s10, s6, s8", 's', (x->scc = field(A, B % 32, 32, 32, 1) != 0, field(A, B % 32, 32, 32, 1)))    \
    X(215, "s_min_i32 s10, s6, s8", 's', (x->scc = SA < SB, SA < SB ? A : B))                                          \
    X(216, "s_max_u32 s10, s6, s8", 's', (x->scc = A > B, A > B ? A : B))                                              \
    X(217, "s_cmp_lt_u32 s7, s9\ns_cselect_b32 s10, s6, s8", 's',                                                      \
      (x->scc = x->a >> 32 < x->b >> 32, x->a >> 32 < x->b >> 32 ? A : B))                                             \
    X(218, "s_abs_i32 s10, s6", 's', (x->scc = A != 0, SA < 0 ? 0 - A : A))                                            \
    X(219, "s_bcnt1_i32_b64 s10, s[6:7]", 's', (x->scc = x->a != 0, ones_of(x->a)))                                    \
    X(220, "s_ff1_i32_b64 s10, s[6:7]", 's', first_bit(x->a, 64, 0))                                                   \
    X(221, "s_flbit_i32_b32 s10, s6", 's', first_bit(A, 32, 1))                                                        \
    X(222, "s_bfe_u32 s10, s6, 0x90005", 's', (x->scc = field(A, 5, 9, 32, 0) != 0, field(A, 5, 9, 32, 0)))            \
    X(223, "s_bfe_i32 s10, s6, 0x9001c", 's', (x->scc = field(A, 28, 9, 32, 1) != 0, field(A, 28, 9, 32, 1)))          \
    X(224, "s_bfe_u64 s[10:11], s[6:7], 0x2d000b", 'S',                                                                \
      (x->scc = field(x->a, 11, 45, 64, 0) != 0, field(x->a, 11, 45, 64, 0)))                                          \
    X(225, "s_movk_i32 s10, 0x8001", 's', 0xffff8001u)                                                                 \
    X(226, "s_mov_b32 s10, s6\ns_addk_i32 s10, 0xff00", 's',                                                           \
      (x->scc = (int64_t)SA - 256 != (int32_t)(A - 256), A - 256))                                                     \
    X(227, "s_mov_b32 s10, s6\ns_mulk_i32 s10, 0x7", 's', A * 7)                                                       \
    X(228, "s_lshl3_add_u32 s10, s6, s8", 's', (x->scc = ((uint64_t)A << 3) + B > 0xffffffffu, (A << 3) + B))          \
    X(229, "s_pack_lh_b32_b16 s10, s6, s8", 's', LOW(A) | (B & 0xffff0000u))                                           \
    X(230, "s_mul_u64 s[10:11], s[6:7], s[8:9]", 'S', x->a * x->b)                                                     \
    X(231, "s_add_nc_u64 s[10:11], s[6:7], s[8:9]", 'S', x->a + x->b)                                                  \
    X(232, "s_mul_f32 s10, s6, s8", 's', b32(FA *FB))                                                                  \
    X(233, "s_cvt_u32_f32 s10, s6", 's', (uint32_t)clampi(FA, 0, 0xffffffff))                                          \
    X(234, "s_bitset1_b32 s6, s8\ns_mov_b32 s10, s6", 's', A | 1u << (B % 32))                                         \
    X(235, "s_nor_b32 s10, s6, s8", 's', (x->scc = ~(A | B) != 0, ~(A | B)))                                           \
    X(236, "s_nand_b64 s[10:11], s[6:7], s[8:9]", 'S', (x->scc = ~(x->a & x->b) != 0, ~(x->a & x->b)))                 \
    X(237, "s_fmaak_f32 s10, s6, s8, 0x40490fdb", 's', b32(fmaf(FA, FB, f32(0x40490fdb))))                             \
    X(238, "s_bfm_b64 s[10:11], s6, s8", 'S', (((uint64_t)1 << A % 64) - 1) << B % 64)                                 \
    X(239, "s_sext_i32_i8 s10, s6", 's', field(A, 0, 8, 32, 1))                                                        \
    X(240, "s_cmp_lt_i32 s6, s8", 'c', SA < SB)                                                                        \
    X(241, "s_cmp_ge_u32 s6, s8", 'c', A >= B)                                                                         \
    X(242, "s_cmp_lg_u64 s[6:7], s[8:9]", 'c', x->a != x->b)                                                           \
    X(243, "s_cmpk_gt_i32 s6, 0xffce", 'c', SA > -50)                                                                  \
    X(244, "s_cmpk_lg_u32 s6, 0xffce", 'c', A != 0xffce)                                                               \
    X(245, "s_bitcmp1_b32 s6, s8", 'c', A >> (B % 32) & 1)                                                             \
    X(246, "s_bitcmp0_b32 s6, 4", 'c', !(A >> 4 & 1))                                                                  \
    X(247, "s_cmp_nge_f32 s6, s8", 'c', !(FA >= FB))                                                                   \
    X(248,                                                                                                             \
      "s_and_b32 s10, s6, 1\ns_cmp_eq_u32 s10, 0\ns_cbranch_scc0 odd\ns_cmp_eq_u32 s6, s6\ns_branch done\n"            \
      "odd:\ns_cmp_lg_u32 s6, s6\ndone:",                                                                              \
      'c', !(A & 1))

#define EXPECT(id, text, kind, ...)                                                                                    \
    static uint64_t expect_##id(struct in *x)                                                                          \
    {                                                                                                                  \
        (void)x;                                                                                                       \
        return (uint64_t)(__VA_ARGS__);                                                                                \
    }
VECTORS(EXPECT)
DIVISIONS(EXPECT)
SCALARS(EXPECT)
#define ROW(id, text, kind, ...) { text, kind, expect_##id },
static const struct row {
    const char *text;
    char kind;
    uint64_t (*expect)(struct in *x);
} vectors[] = { VECTORS(ROW) }, divisions[] = { DIVISIONS(ROW) }, scalars[] = { SCALARS(ROW) };

/* ---- numbers ---- */

enum { LANES = 64, RUNS = 24, WORDS = 6 };

/* Any bits, small numbers, reals near each other, and special ones. */
static uint32_t word(uint64_t *state)
{
    static const uint32_t special[] = { 0,          0x80000000u, 0x3f800000,  0xbf800000u, 0x7f800000, 0xff800000u,
                                        0x7fc00000, 0x7fffffff,  0xffffffffu, 1,           0x00400000, 0x7f7fffff,
                                        0x00003c00, 0x7c003c00,  0x04030201,  0x4f000000,  0x0c0d0b07, 0x1e240 };
    const uint64_t r = dice_throw(state);
    switch (r % 5) {
    case 0: return special[(r >> 8) % (sizeof special / sizeof *special)];
    case 1: return (uint32_t)(r >> 8) % 100;
    case 2: return b32((float)((int64_t)(r >> 8) % 20001 - 10000) / 64);
    default: return (uint32_t)(r >> 16);
    }
}

static int is_nan16(uint32_t v)
{
    return (v & 0x7c00) == 0x7c00 && (v & 0x3ff);
}

/* NaN is any NaN. */
static int same(char kind, uint64_t got, uint64_t want)
{
    switch (kind) {
    case 'f': return got == want || (isnan(f32(got)) && isnan(f32(want)));
    case 'd': return got == want || (isnan(f64(got)) && isnan(f64(want)));
    case 'h': return got == want || (is_nan16((uint32_t)got) && is_nan16((uint32_t)want));
    case '2': return same('f', (uint32_t)got, (uint32_t)want) && same('f', got >> 32, want >> 32);
    case 'p': return same('h', got & 0xffff, want & 0xffff) && same('h', got >> 16, want >> 16);
    default: return got == want;
    }
}

/* MASK becomes s[10:11] or s10, vcc what it is called in waves of 32 lanes. */
static void write_names(char *to, size_t size, const char *text, int lanes)
{
    size_t n = 0;
    for (const char *p = text; *p && n + 16 < size;) {
        if (!strncmp(p, "MASK", 4)) {
            n += (size_t)snprintf(to + n, size - n, lanes == 64 ? "s[10:11]" : "s10");
            p += 4;
        } else if (!strncmp(p, "s[10:11]", 8) && lanes == 32) {
            n += (size_t)snprintf(to + n, size - n, "s10");
            p += 8;
        } else if (!strncmp(p, "vcc", 3) && lanes == 32) {
            n += (size_t)snprintf(to + n, size - n, "vcc_lo");
            p += 3;
        } else {
            to[n++] = *p++;
        }
    }
    to[n] = 0;
}

/* ---- vectors ---- */

static void run_vector(const struct row *row, const char *target, int lanes, const uint32_t *in, uint32_t *out)
{
    static uint32_t data[(WORDS + 4) * LANES];
    char body[1000], text[3000];
    const struct how how = { .target = target };
    struct heard heard;
    write_names(body, sizeof body, row->text, lanes);
    snprintf(text, sizeof text,
             BEGIN "global_load_b32 v2, v1, s[4:5]\nglobal_load_b32 v3, v1, s[4:5] offset:256\n"
                   "global_load_b32 v4, v1, s[4:5] offset:512\nglobal_load_b32 v5, v1, s[4:5] offset:768\n"
                   "global_load_b32 v6, v1, s[4:5] offset:1024\nglobal_load_b32 v7, v1, s[4:5] offset:1280\n"
                   "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\ns_mov_b64 s[10:11], 0\ns_waitcnt vmcnt(0)\n%s\n"
                   "v_mov_b32 v20, s10\nv_mov_b32 v21, s11\n"
                   "global_store_b32 v1, v10, s[4:5] offset:1536\nglobal_store_b32 v1, v11, s[4:5] offset:1792\n"
                   "global_store_b32 v1, v20, s[4:5] offset:2048\nglobal_store_b32 v1, v21, s[4:5] offset:2304\n" END,
             body);
    memset(data, 0, sizeof data);
    memcpy(data, in, WORDS * LANES * sizeof *in);
    run_text(text, data, sizeof data, NULL, &how, &heard);
    if (heard.all)
        diag("%s: %s", row->text, heard.text);
    memcpy(out, data + WORDS * LANES, 4 * LANES * sizeof *out);
}

static uint64_t vector_result(char kind, const uint32_t *out, unsigned lane, int lanes)
{
    const uint64_t mask = out[2 * LANES + lane] | (lanes == 64 ? (uint64_t)out[3 * LANES + lane] << 32 : 0);
    const uint64_t bit = mask >> (lane % (unsigned)lanes) & 1;
    switch (kind) {
    case 'm': return bit;
    case 'n': return out[lane] | bit << 32;
    case 'l':
    case 'd':
    case '2': return out[lane] | (uint64_t)out[LANES + lane] << 32;
    default: return out[lane];
    }
}

static void test_vectors(const struct row *rows, size_t n, const char *target, int lanes)
{
    static uint32_t in[WORDS * LANES], out[4 * LANES];
    for (size_t i = 0; i < n; i++) {
        uint64_t state = 7 + i;
        int wrong = 0;
        for (int run = 0; run < RUNS; run++) {
            for (int k = 0; k < WORDS * LANES; k++)
                in[k] = word(&state);
            run_vector(&rows[i], target, lanes, in, out);
            for (unsigned lane = 0; lane < LANES; lane++) {
                struct in x = { in[lane] | (uint64_t)in[LANES + lane] << 32,
                                in[2 * LANES + lane] | (uint64_t)in[3 * LANES + lane] << 32,
                                in[4 * LANES + lane] | (uint64_t)in[5 * LANES + lane] << 32, lane % (unsigned)lanes,
                                0 };
                const uint64_t got = vector_result(rows[i].kind, out, lane, lanes), want = rows[i].expect(&x);
                if (!same(rows[i].kind, got, want) && !wrong++)
                    diag("a %llx b %llx c %llx: %llx, not %llx", (unsigned long long)x.a, (unsigned long long)x.b,
                         (unsigned long long)x.c, (unsigned long long)got, (unsigned long long)want);
            }
        }
        ok(!wrong, "%s: %.60s", target, rows[i].text);
    }
}

/* ---- scalars ---- */

static void test_scalars(void)
{
    enum { GROUPS = 256 };
    static uint32_t data[GROUPS * 8];
    const struct how how = { .groups = GROUPS, .items = 1 };
    struct heard heard;
    for (size_t i = 0; i < sizeof scalars / sizeof *scalars; i++) {
        char text[2000];
        uint64_t state = 99 + i;
        int wrong = 0;
        for (int k = 0; k < GROUPS * 8; k++)
            data[k] = word(&state);
        snprintf(text, sizeof text,
                 BEGIN "s_lshl_b32 s3, s2, 5\ns_load_b128 s[20:23], s[4:5], s3\ns_waitcnt lgkmcnt(0)\n"
                       "s_mov_b64 s[6:7], s[20:21]\ns_mov_b64 s[8:9], s[22:23]\n"
                       "s_mov_b64 s[10:11], 0\ns_cmp_lg_u32 s3, s3\n%s\ns_cselect_b32 s12, 1, 0\n"
                       "v_mov_b32 v1, s3\nv_mov_b32 v2, s10\nv_mov_b32 v3, s11\nv_mov_b32 v4, s12\n"
                       "global_store_b96 v1, v[2:4], s[4:5] offset:16\n" END,
                 scalars[i].text);
        run_text(text, data, sizeof data, NULL, &how, &heard);
        for (int g = 0; g < GROUPS; g++) {
            const uint32_t *p = data + 8 * g;
            struct in x = { p[0] | (uint64_t)p[1] << 32, p[2] | (uint64_t)p[3] << 32, 0, 0, 0 };
            const uint64_t want = scalars[i].expect(&x), got = p[4] | (uint64_t)p[5] << 32;
            const int is_compare = scalars[i].kind == 'c';
            const uint32_t scc = is_compare ? (uint32_t)want : (uint32_t)x.scc;
            const int right = is_compare || got == want || (isnan(f32(got)) && isnan(f32(want)));
            if ((!right || p[6] != scc) && !wrong++)
                diag("a %llx b %llx: %llx scc %u, not %llx scc %u", (unsigned long long)x.a, (unsigned long long)x.b,
                     (unsigned long long)got, p[6], (unsigned long long)want, scc);
        }
        ok(!wrong && !heard.all, "%.60s %s", scalars[i].text, heard.all ? heard.text : "");
    }
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    test_vectors(vectors, sizeof vectors / sizeof *vectors, "gfx1100", 32);
    test_vectors(vectors, sizeof vectors / sizeof *vectors, "gfx90a", 64);
    test_vectors(divisions, sizeof divisions / sizeof *divisions, "gfx1100", 32);
    test_scalars();
    return done_testing();
}
