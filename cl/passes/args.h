/* args.h - what host and kernels must agree on; compiled by both
 * SPDX-License-Identifier: Apache-2.0
 *
 * The struct of arguments that a kernel takes is not here: each program gets one of its own, with just the members that
 * its kernel reads (src/engine/params_list.c). Offsets and strides count elements.
 * A struct whose first member is used through a pointer stays in memory on Mesa (doc/gpus): those that every kernel
 * reads, and engine simt's, begin with one that nobody uses. */
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

/* Additions that may follow one another, and tiles of a segment: where all terms have one sign, the error of a longer
 * chain would exceed the promised bound. */
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
#define CLA_OFFSETS_GIVEN 1 /* beside flags of arrays, in the argument `given` */

/* Stages of scores, as clattn.h names them. */
#define CLA_SCORES_PRODUCTS 0
#define CLA_SCORES_CHANGED 1
#define CLA_SCORES_MASKED 2
#define CLA_SCORES_WEIGHTS 3

/* Flags of a merge, as clattn.h names them. */
#define CLA_LSE_IN_LOG2 1
#define CLA_LSE_IN_EMPTY_INF 2
#define CLA_LSE_OUT_LOG2 4
#define CLA_LSE_OUT_EMPTY_INF 8

/* The same of appends and rotations, and what of these is wanted. */
#define CLA_NEW_LEN_GIVEN 1
#define CLA_POSITIONS_GIVEN 2
#define CLA_KV_LEN_GIVEN 4
#define CLA_K_SCALE_GIVEN 8
#define CLA_V_SCALE_GIVEN 16
#define CLA_DROPPED_WANTED 32

/* What a backward call is given, and what it wants. */
#define CLA_DLSE_GIVEN 64
#define CLA_DQ_WANTED 1
#define CLA_DK_WANTED 2
#define CLA_DV_WANTED 4
#define CLA_DBIAS_WANTED 8
#define CLA_DSINKS_WANTED 16
#define CLA_DSLOPES_WANTED 32
#define CLA_DAUX_WANTED 64
#define CLA_ALL_SUMS (CLA_DK_WANTED | CLA_DV_WANTED) /* the two that a tile has, whatever of */

/* Where a tensor [b,h,row] lies, and what goes with scores, [b,h,q,k]: the first element, and the stride of each axis.
 * Behind as many entries and heads as there are the first one comes again. */
typedef struct {
    cla_i64 unused, offset, b, h, row;
} cla_rows_at;
typedef struct {
    cla_i64 unused, offset, b, h, q, k;
    cla_i32 entries, heads;
} cla_scores_at;

#endif
