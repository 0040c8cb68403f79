/* lanes.c - vector instructions that work on each lane by itself, and the table of them
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compiled twice: for every CPU as it stands, and by lanes_avx2.c. */
#include <math.h>
#include <string.h>

#include "inside.h"

#include "lanes_compare.h"
#include "lanes_half.h"
#include "lanes_integer.h"
#include "lanes_real.h"

#ifndef LANE_FORMS
#define LANE_FORMS amdgpu_lane_forms_base
#endif

#define COMPARE_ROWS(fn, expression, type, word, c)                           \
    ROW_AS("v_cmp_" word "_" type, "m-" c, fn, 0, 0, DEFINE_ALL),             \
    ROW_AS("v_cmpx_" word "_" type, c, fn, FORM_EXEC, 0, DEFINE_ALL),
#define CLASS_ROWS(type, c)                                                   \
    ROW_AS("v_cmp_class_" #type, "m-" c, class_in_##type, 0, 0, DEFINE_ALL),  \
    ROW_AS("v_cmpx_class_" #type, c, class_in_##type, FORM_EXEC, 0, DEFINE_ALL)

static const struct form forms[] = {
    REALS(ROW)
    REALS_TO_WORDS(ROW)
    DOUBLES(ROW)
    HALVES(ROW)
    HALF_WORDS(ROW)
    HALF_REALS(ROW)
    PAIRS(ROW)
    INTEGERS(ROW)
    SATURATING(ROW_SATURATING)
    SATURATING_HALVES(ROW_SATURATING)
    LONGS(ROW)
    COMPARES(COMPARE_ROWS)
    CLASS_ROWS(f16, "hw"),
    CLASS_ROWS(f32, "fw"),
    CLASS_ROWS(f64, "dw"),
    ROW_AS("v_fmac_f32", "f-ff", fma_f32, FORM_TIED, 0, DEFINE_ALL),
    ROW_AS("v_fmac_f16", "h-hh", fma_f16, FORM_TIED, 0, DEFINE_ALL),
    ROW_AS("v_fmac_f64", "d-dd", fma_f64, FORM_TIED, 0, DEFINE_ALL),
    ROW_AS("v_mac_f32", "f-ff", mad_f32, FORM_TIED, 0, DEFINE_ALL),
    ROW_AS("v_fmaak_f32", "f-fff", fma_f32, 0, 0, DEFINE_ALL),
    ROW_AS("v_fmamk_f32", "f-fff", fma_f32, 0, 0, DEFINE_ALL),
    ROW_AS("v_fmaak_f16", "h-hhh", fma_f16, 0, 0, DEFINE_ALL),
    ROW_AS("v_fmamk_f16", "h-hhh", fma_f16, 0, 0, DEFINE_ALL),
    ROW_AS("v_madak_f32", "f-fff", mad_f32, 0, 0, DEFINE_ALL),
    ROW_AS("v_madmk_f32", "f-fff", mad_f32, 0, 0, DEFINE_ALL),
    { "v_fma_mixlo_f16", "h-xxx", fma_mix_f16, NULL, NULL, 0, 0, DEFINE_ALL, NULL, 0, 0, 0, 1, 0 },
    { "v_fma_mixhi_f16", "h-xxx", fma_mix_f16, NULL, NULL, 0, 0, DEFINE_ALL, NULL, 0, 0, 0, 2, 0 },
    ROW_AS("v_dot2_f32_f16", "f-ppf", dot2_f32_f16, 0, 0, DEFINE_ALL),
    ROW_AS("v_dot2_f32_bf16", "f-ppf", dot2_f32_bf16, 0, 0, DEFINE_ALL),
    ROW_AS("v_dot2acc_f32_f16", "f-pp", dot2_f32_f16, FORM_TIED, 0, DEFINE_ALL),
    { "v_bitop3_b32", "w-www", bitop3, NULL, NULL, 0, 0, DEFINE_ALL, amdgpu_read_table, 0, 0, 0, 0, 0 },
    { "v_bitop3_b16", "i-iii", bitop3, NULL, NULL, 0, 0, DEFINE_ALL, amdgpu_read_table, 0, 0, 0, 0, 0 },
    ROW_AS("v_div_scale_f64", "dm-ddd", div_scale_f64, 0, 0, DEFINE_ALL),
    ROW_AS("v_div_scale_f32", "fm-fff", div_scale_f32, 0, 0, DEFINE_ALL),
    ROW_AS("v_pk_add_f32", "q-qq", pk_add_f32, 0, 0, DEFINE_WORDS),
    ROW_AS("v_pk_mul_f32", "q-qq", pk_mul_f32, 0, 0, DEFINE_WORDS),
    ROW_AS("v_pk_fma_f32", "q-qqq", pk_fma_f32, 0, 0, DEFINE_WORDS),
    ROW_AS("v_pk_mov_b32", "q-qq", pk_mov_b32, 0, 0, DEFINE_MOVE),
    ROW_AS("v_mov_b64", "l-l", mov_b64, 0, 0, DEFINE_WORDS),
    ROW_AS("v_lshlrev_b64", "l-wl", lshlrev_b64, 0, 0, DEFINE_CARRY),
    ROW_AS("v_lshl_add_u64", "l-lwl", lshl_add_u64, 0, 0, DEFINE_CARRY),
    ROW_AS("v_mad_u64_u32", "lm-wwl", mad_u64_u32, 0, 0, DEFINE_CARRY),
    ROW_AS("v_mad_i64_i32", "lm-wwl", mad_i64_i32, 0, 0, DEFINE_CARRY),
    ROW_AS("v_cndmask_b32", "w-wwm", cndmask_b32, 0, 0, DEFINE_SELECT),
    ROW_AS("v_add_co_u32", "wm-ww", carry_begin, 0, 0, DEFINE_ALL),
    ROW_AS("v_sub_co_u32", "wm-ww", carry_begin, 0, 1, DEFINE_ALL),
    ROW_AS("v_subrev_co_u32", "wm-ww", carry_begin, 0, 2, DEFINE_ALL),
    ROW_AS("v_add_co_ci_u32", "wm-wwm", carry_chain, 0, 0, DEFINE_ALL),
    ROW_AS("v_sub_co_ci_u32", "wm-wwm", carry_chain, 0, 1, DEFINE_ALL),
    ROW_AS("v_subrev_co_ci_u32", "wm-wwm", carry_chain, 0, 2, DEFINE_ALL),
};

const struct forms LANE_FORMS = { forms, sizeof forms / sizeof *forms };
