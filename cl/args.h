/* args.h - what a kernel is told at run time; compiled by the host and by the device
 * SPDX-License-Identifier: Apache-2.0
 *
 * 64-bit members first, so that no compiler pads. Offsets and strides count elements.
 * A struct whose first member is used through a pointer stays in memory on Mesa (HACKING): those that every kernel reads, and
 * engine simt's, begin with one that nobody uses. */
#ifndef CLA_ARGS_H
#define CLA_ARGS_H
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

/* Additions that may follow one another, and tiles of a segment: where all terms have one sign, the error of a longer chain
 * would exceed the promised bound. */
#define CLA_CHAIN 64

/* Flags of the problem and alignments, as clattn.h names them. */
#define CLA_Q_LEN 2
#define CLA_KV_LEN 4
#define CLA_KV_START 8
#define CLA_CU_Q 16
#define CLA_CU_K 32
#define CLA_BOTTOM_RIGHT 0
#define CLA_TOP_LEFT 1
#define CLA_OFFSETS 3
#define CLA_OFFSETS_GIVEN 1 /* beside flags of arrays, in cla_args.given */

/* Where a tensor [b,h,row] lies, and what goes with scores, [b,h,q,k]: the first element, and the stride of each axis. */
typedef struct {
    cla_i64 unused, offset, b, h, row;
} cla_rows_at;
typedef struct {
    cla_i64 unused, offset, b, h, q, k;
} cla_scores_at;

typedef struct cla_args {
    cla_i64 unused;
    cla_rows_at q, k, v, o, lse;
    cla_scores_at bias, mask, map;
    cla_i64 slopes_stride;
    cla_i64 q_len_offset, kv_len_offset, kv_start_offset, offsets_offset, cu_q_offset, cu_k_offset;
    cla_i64 slopes_offset, sinks_offset, aux_offset[16];
    cla_i64 workspace_offset;         /* in words of 4 bytes */
    cla_i64 scale_bits, softcap_bits; /* as doubles: a struct with a double needs cl_khr_fp64 */
    cla_f32 scale, softcap, per_pack; /* 1 / pack */
    cla_i32 h, group;                 /* query heads; query heads per key head */
    cla_i32 nq, nk, total_q, total_k;
    cla_i32 align, offset;            /* CLATTN_ALIGN_* */
    cla_i32 flags;                    /* of the problem */
    cla_i32 write_lse;
    cla_i32 window_low, window_high;  /* keys that a row sees: from its diagonal + low to its diagonal + high */
    cla_i32 block_q, block_k;
    cla_i32 heads_inner;              /* the order of work-groups */
    cla_i32 pack;                     /* query heads whose queries are the rows of a work-group */
    cla_i32 heads, groups;            /* of work-groups: b h / pack; all that have work: the grid may be larger */
    cla_f32 scale_log2;               /* scale log2(e) */
    cla_i32 given;                    /* arrays by batch entry: CLA_Q_LEN .. CLA_CU_K, CLA_OFFSETS_GIVEN */
    cla_i32 reserved;
} cla_args;

/* To make a block map. */
typedef struct cla_map_args {
    cla_scores_at mask, map;
    cla_i64 blocks;                   /* of the map: the grid may be larger */
    cla_i32 shape[4];                 /* of the map, which may be broadcast */
    cla_i32 mask_q, mask_k;           /* cells of the mask, 1 where it is broadcast */
    cla_i32 block_q, block_k;
} cla_map_args;

#endif
