/* names.c - what one generation calls so and another otherwise
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "reader.h"

/* Where both are in use the name of gfx11 is that of the tables. */
static const struct {
    const char *other, *name;
} names[] = {
    { "s_addk_co_i32", "s_addk_i32" }, { "s_add_co_ci_u32", "s_addc_u32" }, { "s_add_co_i32", "s_add_i32" },
    { "s_add_co_u32", "s_add_u32" }, { "s_andn1_saveexec_b64", "s_and_not0_saveexec_b64" },
    { "s_andn2_b32", "s_and_not1_b32" }, { "s_andn2_b64", "s_and_not1_b64" },
    { "s_andn2_saveexec_b32", "s_and_not1_saveexec_b32" }, { "s_andn2_saveexec_b64", "s_and_not1_saveexec_b64" },
    { "s_ff1_i32_b32", "s_ctz_i32_b32" }, { "s_ff1_i32_b64", "s_ctz_i32_b64" },
    { "s_flbit_i32", "s_cls_i32" }, { "s_flbit_i32_b32", "s_clz_i32_u32" }, { "s_flbit_i32_b64", "s_clz_i32_u64" },
    { "s_load_dword", "s_load_b32" }, { "s_load_dwordx16", "s_load_b512" }, { "s_load_dwordx2", "s_load_b64" },
    { "s_load_dwordx4", "s_load_b128" }, { "s_load_dwordx8", "s_load_b256" },
    { "s_orn2_b32", "s_or_not1_b32" }, { "s_orn2_b64", "s_or_not1_b64" },
    { "s_orn2_saveexec_b32", "s_or_not1_saveexec_b32" }, { "s_orn2_saveexec_b64", "s_or_not1_saveexec_b64" },
    { "s_sub_co_ci_u32", "s_subb_u32" }, { "s_sub_co_i32", "s_sub_i32" }, { "s_sub_co_u32", "s_sub_u32" },

    { "v_addc_co_u32", "v_add_co_ci_u32" }, { "v_add_i32", "v_add_nc_i32" }, { "v_add_i16", "v_add_nc_i16" },
    { "v_add_u16", "v_add_nc_u16" }, { "v_add_u32", "v_add_nc_u32" }, { "v_cmp_lg_i32", "v_cmp_ne_i32" },
    { "v_cvt_flr_i32_f32", "v_cvt_floor_i32_f32" }, { "v_cvt_pkrtz_f16_f32", "v_cvt_pk_rtz_f16_f32" },
    { "v_cvt_rpi_i32_f32", "v_cvt_nearest_i32_f32" }, { "v_dot2c_f32_f16", "v_dot2acc_f32_f16" },
    { "v_ffbh_i32", "v_cls_i32" }, { "v_ffbh_u32", "v_clz_i32_u32" }, { "v_ffbl_b32", "v_ctz_i32_b32" },
    { "v_mad_co_i64_i32", "v_mad_i64_i32" }, { "v_mad_co_u64_u32", "v_mad_u64_u32" },
    { "v_mad_legacy_i16", "v_mad_i16" }, { "v_mad_legacy_u16", "v_mad_u16" },
    { "v_mad_mix_f32", "v_fma_mix_f32" }, { "v_mad_mixhi_f16", "v_fma_mixhi_f16" },
    { "v_mad_mixlo_f16", "v_fma_mixlo_f16" }, { "v_max3_num_f16", "v_max3_f16" }, { "v_max3_num_f32", "v_max3_f32" },
    { "v_maxmin_num_f32", "v_maxmin_f32" }, { "v_max_num_f16", "v_max_f16" }, { "v_max_num_f32", "v_max_f32" },
    { "v_max_num_f64", "v_max_f64" }, { "v_med3_num_f16", "v_med3_f16" }, { "v_med3_num_f32", "v_med3_f32" },
    { "v_min3_num_f16", "v_min3_f16" }, { "v_min3_num_f32", "v_min3_f32" }, { "v_minmax_num_f32", "v_minmax_f32" },
    { "v_min_num_f16", "v_min_f16" }, { "v_min_num_f32", "v_min_f32" }, { "v_min_num_f64", "v_min_f64" },
    { "v_mul_legacy_f32", "v_mul_dx9_zero_f32" }, { "v_mul_lo_i32", "v_mul_lo_u32" },
    { "v_pk_max_num_f16", "v_pk_max_f16" }, { "v_pk_min_num_f16", "v_pk_min_f16" },
    { "v_subb_co_u32", "v_sub_co_ci_u32" }, { "v_subbrev_co_u32", "v_subrev_co_ci_u32" },
    { "v_subrev_u16", "v_subrev_nc_u16" }, { "v_subrev_u32", "v_subrev_nc_u32" }, { "v_sub_i16", "v_sub_nc_i16" },
    { "v_sub_i32", "v_sub_nc_i32" }, { "v_sub_u16", "v_sub_nc_u16" }, { "v_sub_u32", "v_sub_nc_u32" },
    { "v_mov_b64_dpp", "v_mov_b64" },
};
/* Accesses: the ends of names behind "global_load_", "scratch_load_", "buffer_load_", "flat_load_". */
static const struct {
    const char *other, *name;
} widths[] = {
    { "dword", "b32" }, { "dwordx2", "b64" }, { "dwordx3", "b96" }, { "dwordx4", "b128" },
    { "ubyte", "u8" }, { "sbyte", "i8" }, { "ushort", "u16" }, { "sshort", "i16" }, { "byte", "b8" },
    { "short", "b16" }, { "short_d16", "d16_b16" }, { "short_d16_hi", "d16_hi_b16" }, { "ubyte_d16", "d16_u8" },
    { "ubyte_d16_hi", "d16_hi_u8" }, { "sbyte_d16", "d16_i8" }, { "sbyte_d16_hi", "d16_hi_i8" },
    /* atomics */
    { "swap", "swap_b32" }, { "cmpswap", "cmpswap_b32" }, { "add", "add_u32" }, { "sub", "sub_u32" },
    { "smin", "min_i32" }, { "umin", "min_u32" }, { "smax", "max_i32" }, { "umax", "max_u32" }, { "and", "and_b32" },
    { "or", "or_b32" }, { "xor", "xor_b32" }, { "inc", "inc_u32" }, { "dec", "dec_u32" },
    { "swap_x2", "swap_b64" }, { "cmpswap_x2", "cmpswap_b64" }, { "add_x2", "add_u64" }, { "sub_x2", "sub_u64" },
    { "smin_x2", "min_i64" }, { "umin_x2", "min_u64" }, { "smax_x2", "max_i64" }, { "umax_x2", "max_u64" },
    { "and_x2", "and_b64" }, { "or_x2", "or_b64" }, { "xor_x2", "xor_b64" }, { "inc_x2", "inc_u64" },
    { "dec_x2", "dec_u64" },
};

const char *amdgpu_name_of(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!strcmp(names[i].other, name))
            return names[i].name;
    return name;
}

const char *amdgpu_width_of(const char *name)
{
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (!strcmp(widths[i].other, name))
            return widths[i].name;
    return name;
}
