/* args.h - what a kernel is told at run time; compiled by the host and by the device
 * SPDX-License-Identifier: Apache-2.0
 *
 * 64-bit members first, so that no compiler pads. Strides and offsets count elements; strides are of b, h and row. */
#ifdef __OPENCL_C_VERSION__
typedef long cla_i64;
typedef int cla_i32;
typedef float cla_f32;
#else
#include <stdint.h>
typedef int64_t cla_i64;
typedef int32_t cla_i32;
typedef float cla_f32;
#endif

typedef struct cla_args {
    cla_i64 q_stride[3], k_stride[3], v_stride[3], o_stride[3], lse_stride[3];
    cla_i64 q_offset, k_offset, v_offset, o_offset, lse_offset;
    cla_i64 q_len_offset, kv_len_offset, kv_start_offset, offsets_offset;
    cla_i64 scale_bits; /* the bits of the scale as a double: a struct with a double needs cl_khr_fp64 */
    cla_i32 h, group;   /* query heads; query heads per key head */
    cla_i32 nq, nk;
    cla_i32 align;      /* CLATTN_ALIGN_* */
    cla_i32 offset;
    cla_i32 lengths;    /* CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START: which arrays are given */
    cla_i32 write_lse;
    cla_f32 scale;
    cla_i32 reserved;
} cla_args;
