/* lanes.c - all that works on registers alone, and the table of it
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compiled twice: for every CPU as it stands, and by lanes_avx2.c. */
#include <math.h>
#include <string.h>

#include "inside.h"

#include "lanes_integer.h"
#include "lanes_real.h"
#include "lanes_wide.h"

#ifndef LANE_CODE
#define LANE_CODE ptx_lane_code_base
#endif

#define BOTH_SIGNS(name, unsigned_fn, signed_fn, bits, operands)    \
    { name ".u" bits, operands, 0, unsigned_fn, 0 }, { name ".s" bits, operands, 0, signed_fn, 0 }
#define ALL_SIZES(name, fn)                                                                       \
    BOTH_SIGNS(name, fn##_h, fn##_h, "16", "hhh"), BOTH_SIGNS(name, fn##_w, fn##_w, "32", "www"), \
        BOTH_SIGNS(name, fn##_l, fn##_l, "64", "lll")
#define ALL_TYPES(name, fn)                                                                              \
    BOTH_SIGNS(name, fn##_u16, fn##_s16, "16", "hhh"), BOTH_SIGNS(name, fn##_u32, fn##_s32, "32", "www"), \
        BOTH_SIGNS(name, fn##_u64, fn##_s64, "64", "lll")
#define BIT_SIZES(name, fn) \
    { name ".b16", "hhh", 0, fn##_w, 0 }, { name ".b32", "www", 0, fn##_w, 0 }, { name ".b64", "lll", 0, fn##_l, 0 }, \
    { name ".pred", "ppp", 0, fn##_p, 0 }
#define CHAIN(name, fn, operands_out, operands_in, operands_both)                                          \
    { name ".cc.u32", operands_out, 0, fn, 2 }, { name ".cc.s32", operands_out, 0, fn, 2 },                \
    { name "c.u32", operands_in, 0, fn, 1 }, { name "c.s32", operands_in, 0, fn, 1 },                      \
    { name "c.cc.u32", operands_both, 0, fn, 3 }, { name "c.cc.s32", operands_both, 0, fn, 3 }
#define MAD_CHAIN(half, fn)                                                                                \
    { "mad." half ".cc.u32", "wCwww", 0, fn, 2 }, { "mad." half ".cc.s32", "wCwww", 0, fn, 2 },            \
    { "madc." half ".u32", "wwwwc", 0, fn, 1 }, { "madc." half ".s32", "wwwwc", 0, fn, 1 },                \
    { "madc." half ".cc.u32", "wCwwwc", 0, fn, 3 }, { "madc." half ".cc.s32", "wCwwwc", 0, fn, 3 }
#define REAL_SMALL(name, fn, one, two, mods)                                                                           \
    { name ".f16", one, mods, fn##_f16, 0 }, { name ".f16x2", two, mods, fn##_f16x2, 0 },                              \
    { name ".bf16", one, mods, fn##_bf16, 0 }, { name ".bf16x2", two, mods, fn##_bf16x2, 0 }

enum { ARITHMETIC = MOD_ROUND | MOD_FTZ | MOD_SAT, SMALL_ARITHMETIC = MOD_RN | MOD_FTZ | MOD_SAT };

static const struct form forms[] = {
    ALL_SIZES("add", add),
    ALL_SIZES("sub", sub),
    ALL_SIZES("mul.lo", mul),
    BOTH_SIGNS("mad.lo", mad_h, mad_h, "16", "hhhh"),
    BOTH_SIGNS("mad.lo", mad_w, mad_w, "32", "wwww"),
    BOTH_SIGNS("mad.lo", mad_l, mad_l, "64", "llll"),
    { "add.sat.s32", "www", 0, add_sat, 0 },
    { "sub.sat.s32", "www", 0, sub_sat, 0 },
    { "neg.s16", "hh", 0, neg_h, 0 },
    { "neg.s32", "ww", 0, neg_w, 0 },
    { "neg.s64", "ll", 0, neg_l, 0 },
    { "abs.s16", "hh", 0, abs_h, 0 },
    { "abs.s32", "ww", 0, abs_w, 0 },
    { "abs.s64", "ll", 0, abs_l, 0 },
    ALL_TYPES("mul.hi", hi),
    ALL_TYPES("div", op_div),
    ALL_TYPES("rem", op_rem),
    ALL_TYPES("min", min),
    ALL_TYPES("max", max),
    BOTH_SIGNS("mad.hi", mad_hi_u32, mad_hi_s32, "32", "wwww"),
    BOTH_SIGNS("mul.wide", wide_u16, wide_s16, "16", "whh"),
    BOTH_SIGNS("mul.wide", wide_u32, wide_s32, "32", "lww"),
    BOTH_SIGNS("mad.wide", mad_wide_u16, mad_wide_s16, "16", "whhw"),
    BOTH_SIGNS("mad.wide", mad_wide_u32, mad_wide_s32, "32", "lwwl"),
    BOTH_SIGNS("mul24.lo", mul24_u32, mul24_s32, "32", "www"),
    BOTH_SIGNS("mad24.lo", mad24_u32, mad24_s32, "32", "wwww"),
    BOTH_SIGNS("sad", sad_u32, sad_s32, "32", "wwww"),
    CHAIN("add", add_chain, "wCww", "wwwc", "wCwwc"),
    CHAIN("sub", sub_chain, "wCww", "wwwc", "wCwwc"),
    MAD_CHAIN("lo", mad_lo_chain),
    MAD_CHAIN("hi", mad_hi_chain),

    BIT_SIZES("and", and),
    BIT_SIZES("or", or),
    BIT_SIZES("xor", xor),
    { "not.b16", "hh", 0, not_h, 0 },
    { "not.b32", "ww", 0, not_w, 0 },
    { "not.b64", "ll", 0, not_l, 0 },
    { "not.pred", "pp", 0, not_p, 0 },
    { "cnot.b32", "ww", 0, cnot_w, 0 },
    { "shl.b16", "hhw", 0, shl_h, 0 },
    { "shl.b32", "www", 0, shl_w, 0 },
    { "shl.b64", "llw", 0, shl_l, 0 },
    { "shr.b16", "hhw", 0, shr_u16, 0 },
    { "shr.b32", "www", 0, shr_u32, 0 },
    { "shr.b64", "llw", 0, shr_u64, 0 },
    BOTH_SIGNS("shr", shr_u16, shr_s16, "16", "hhw"),
    BOTH_SIGNS("shr", shr_u32, shr_s32, "32", "www"),
    BOTH_SIGNS("shr", shr_u64, shr_s64, "64", "llw"),
    { "popc.b32", "ww", 0, popc_w, 0 },
    { "popc.b64", "wl", 0, popc_l, 0 },
    { "clz.b32", "ww", 0, clz_w, 0 },
    { "clz.b64", "wl", 0, clz_l, 0 },
    { "brev.b32", "ww", 0, brev_w, 0 },
    { "brev.b64", "ll", 0, brev_l, 0 },
    BOTH_SIGNS("bfind", bfind_u32, bfind_s32, "32", "ww"),
    BOTH_SIGNS("bfind", bfind_u64, bfind_s64, "64", "wl"),
    { "bfind.shiftamt.u32", "ww", 0, bfind_u32, 1 },
    { "bfind.shiftamt.s32", "ww", 0, bfind_s32, 1 },
    { "bfind.shiftamt.u64", "wl", 0, bfind_u64, 1 },
    { "bfind.shiftamt.s64", "wl", 0, bfind_s64, 1 },
    BOTH_SIGNS("bfe", bfe_u32, bfe_s32, "32", "wwww"),
    BOTH_SIGNS("bfe", bfe_u64, bfe_s64, "64", "llww"),
    { "bfi.b32", "wwwww", 0, bfi_w, 0 },
    { "bfi.b64", "lllww", 0, bfi_l, 0 },
    { "prmt.b32", "wwww", 0, prmt_w, 0 },
    { "lop3.b32", "wwwww", 0, lop3_w, 0 },
    { "shf.l.wrap.b32", "wwww", 0, shf_w, 0 },
    { "shf.r.wrap.b32", "wwww", 0, shf_w, 1 },
    { "shf.l.clamp.b32", "wwww", 0, shf_w, 2 },
    { "shf.r.clamp.b32", "wwww", 0, shf_w, 3 },

    { "selp.b16", "hhhp", 0, select_w, 0 },
    BOTH_SIGNS("selp", select_w, select_w, "16", "hhhp"),
    { "selp.f16", "hhhp", 0, select_w, 0 },
    { "selp.b32", "wwwp", 0, select_w, 0 },
    BOTH_SIGNS("selp", select_w, select_w, "32", "wwwp"),
    { "selp.f32", "wwwp", 0, select_w, 0 },
    { "selp.b64", "lllp", 0, select_l, 0 },
    BOTH_SIGNS("selp", select_l, select_l, "64", "lllp"),
    { "selp.f64", "lllp", 0, select_l, 0 },
    { "activemask.b32", "w", 0, activemask, 0 },

    { "add.f32", "www", ARITHMETIC, add_f32, 0 },
    { "sub.f32", "www", ARITHMETIC, sub_f32, 0 },
    { "mul.f32", "www", ARITHMETIC, mul_f32, 0 },
    { "fma.f32", "wwww", ARITHMETIC, fma_f32, 0 },
    { "mad.f32", "wwww", ARITHMETIC, fma_f32, 0 },
    { "div.f32", "www", MOD_ROUND | MOD_FTZ, div_f32, 0 },
    { "rcp.f32", "ww", MOD_ROUND | MOD_FTZ, rcp_f32, 0 },
    { "sqrt.f32", "ww", MOD_ROUND | MOD_FTZ, sqrt_f32, 0 },
    { "min.f32", "www", MOD_FTZ, min_f32, 0 },
    { "max.f32", "www", MOD_FTZ, max_f32, 0 },
    { "min.NaN.f32", "www", MOD_FTZ, min_nan_f32, 0 },
    { "max.NaN.f32", "www", MOD_FTZ, max_nan_f32, 0 },
    { "neg.f32", "ww", MOD_FTZ, neg_f32, 0 },
    { "abs.f32", "ww", MOD_FTZ, abs_f32, 0 },
    { "copysign.f32", "www", 0, copysign_f32, 0 },
    { "ex2.approx.f32", "ww", MOD_FTZ, ex2_f32, 0 },
    { "lg2.approx.f32", "ww", MOD_FTZ, lg2_f32, 0 },
    { "rcp.approx.f32", "ww", MOD_FTZ, rcp_approx_f32, 0 },
    { "sqrt.approx.f32", "ww", MOD_FTZ, sqrt_approx_f32, 0 },
    { "rsqrt.approx.f32", "ww", MOD_FTZ, rsqrt_f32, 0 },
    { "sin.approx.f32", "ww", MOD_FTZ, sin_f32, 0 },
    { "cos.approx.f32", "ww", MOD_FTZ, cos_f32, 0 },
    { "tanh.approx.f32", "ww", 0, tanh_f32, 0 },
    { "div.approx.f32", "www", MOD_FTZ, div_approx_f32, 0 },
    { "div.full.f32", "www", MOD_FTZ, div_full_f32, 0 },
    { "testp.finite.f32", "pw", 0, testp_f32, 0 },
    { "testp.infinite.f32", "pw", 0, testp_f32, 1 },
    { "testp.number.f32", "pw", 0, testp_f32, 2 },
    { "testp.notanumber.f32", "pw", 0, testp_f32, 3 },
    { "testp.normal.f32", "pw", 0, testp_f32, 4 },
    { "testp.subnormal.f32", "pw", 0, testp_f32, 5 },

    { "add.f64", "lll", MOD_RN, add_f64, 0 },
    { "sub.f64", "lll", MOD_RN, sub_f64, 0 },
    { "mul.f64", "lll", MOD_RN, mul_f64, 0 },
    { "fma.f64", "llll", MOD_RN, fma_f64, 0 },
    { "mad.f64", "llll", MOD_RN, fma_f64, 0 },
    { "div.f64", "lll", MOD_RN, div_f64, 0 },
    { "rcp.f64", "ll", MOD_RN, rcp_f64, 0 },
    { "sqrt.f64", "ll", MOD_RN, sqrt_f64, 0 },
    { "min.f64", "lll", 0, min_f64, 0 },
    { "max.f64", "lll", 0, max_f64, 0 },
    { "neg.f64", "ll", 0, neg_f64, 0 },
    { "abs.f64", "ll", 0, abs_f64, 0 },
    { "copysign.f64", "lll", 0, copysign_f64, 0 },
    { "rcp.approx.f64", "ll", MOD_FTZ, rcp_approx_f64, 0 },
    { "rsqrt.approx.ftz.f64", "ll", 0, rsqrt_approx_f64, 0 },
    { "rsqrt.approx.f64", "ll", 0, rsqrt_f64, 0 },

    REAL_SMALL("add", add, "hhh", "www", SMALL_ARITHMETIC),
    REAL_SMALL("sub", sub, "hhh", "www", SMALL_ARITHMETIC),
    REAL_SMALL("mul", mul, "hhh", "www", SMALL_ARITHMETIC),
    REAL_SMALL("fma", fma, "hhhh", "wwww", SMALL_ARITHMETIC),
    REAL_SMALL("fma.relu", fma_relu, "hhhh", "wwww", MOD_RN | MOD_FTZ),
    REAL_SMALL("min", min, "hhh", "www", MOD_FTZ),
    REAL_SMALL("max", max, "hhh", "www", MOD_FTZ),
    REAL_SMALL("neg", neg, "hh", "ww", MOD_FTZ),
    REAL_SMALL("abs", abs, "hh", "ww", MOD_FTZ),
    REAL_SMALL("ex2.approx", ex2, "hh", "ww", MOD_FTZ),
    REAL_SMALL("tanh.approx", tanh, "hh", "ww", 0),
    { "cvt.f16x2.f32", "www", MOD_ROUND, convert_f16x2, 0 },
    { "cvt.relu.f16x2.f32", "www", MOD_ROUND, convert_f16x2, 1 },
    { "cvt.bf16x2.f32", "www", MOD_ROUND, convert_bf16x2, 0 },
    { "cvt.relu.bf16x2.f32", "www", MOD_ROUND, convert_bf16x2, 1 },

    /* names of the reader's own */
    { "(to generic)", "lll", 0, cvta_to_generic, 0 },
    { "(from generic)", "lll", 0, cvta_from_generic, 0 },
    { "(in window)", "pll", 0, in_window, 0 },
    { "(widen)", "lw", 0, widen_l, 0 },
};

#define COMPARE_ROW(type) { eq_##type, ne_##type, lt_##type, le_##type, gt_##type, ge_##type, 0, 0, 0, 0, 0, 0, 0, 0 }
#define COMPARE_ROW_REAL(type)                                                                                   \
    { eq_##type, ne_##type, lt_##type, le_##type, gt_##type, ge_##type, equ_##type, neu_##type, ltu_##type,      \
      leu_##type, gtu_##type, geu_##type, num_##type, nan_##type }

const struct lane_code LANE_CODE = {
    .forms = forms,
    .n_forms = sizeof forms / sizeof *forms,
    .compare = { [T_U16] = COMPARE_ROW(u16), [T_S16] = COMPARE_ROW(s16), [T_U32] = COMPARE_ROW(u32),
                 [T_S32] = COMPARE_ROW(s32), [T_U64] = COMPARE_ROW(u64), [T_S64] = COMPARE_ROW(s64),
                 [T_B16] = { eq_u16, ne_u16 }, [T_B32] = { eq_u32, ne_u32 }, [T_B64] = { eq_u64, ne_u64 },
                 [T_F32] = COMPARE_ROW_REAL(f32), [T_F64] = COMPARE_ROW_REAL(f64), [T_F16] = COMPARE_ROW_REAL(f16),
                 [T_BF16] = COMPARE_ROW_REAL(bf16) },
    .convert = convert, .move_w = move_w, .move_l = move_l, .move_p = move_p, .pack = pack, .unpack = unpack,
    .mma = mma, .shfl = shfl, .vote = vote, .movmatrix = movmatrix, .redux = redux,
    .convert_s32_f32 = convert_s32_f32, .convert_f16_f32 = convert_f16_f32, .convert_f32_f16 = convert_f32_f16,
    .convert_s32_s64 = convert_s32_s64, .convert_u32_u64 = convert_u32_u64, .convert_low = convert_low,
};
