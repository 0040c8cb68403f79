/* params.h - what kernels take: one list for the programs' text and for the calls. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PARAMS_H
#define PARAMS_H

#include "base/text.h"
#include "cl/passes/args.h"
#include "engine/pass.h"

/* Buffers, in the order of kernels' parameters, behind the struct of arguments. */
enum param {
    PARAM_Q,
    PARAM_K,
    PARAM_V,
    PARAM_O,
    PARAM_LSE,
    PARAM_SCORES,
    PARAM_Q_LEN,
    PARAM_KV_LEN,
    PARAM_KV_START,
    PARAM_OFFSETS,
    PARAM_CU_Q,
    PARAM_CU_K,
    PARAM_WORKSPACE,
    PARAM_O_PARTS,
    PARAM_LSE_PARTS,
    PARAM_BIAS,
    PARAM_MASK,
    PARAM_BLOCK_MAP,
    PARAM_SLOPES,
    PARAM_SINKS,
    PARAM_BLOCK_TABLE,
    PARAM_K_SCALE,
    PARAM_K_ZERO,
    PARAM_V_SCALE,
    PARAM_V_ZERO,
    PARAM_ABSENT, /* zeros: what stands for every buffer that a call lacks, and for pages that there are not */
    PARAM_NEW_K,
    PARAM_NEW_V,
    PARAM_NEW_LEN,
    PARAM_COSINES,
    PARAM_SINES,
    PARAM_POSITIONS,
    PARAM_DROPPED,
    PARAM_DOUT,
    PARAM_DLSE,
    PARAM_DQ,
    PARAM_DK,
    PARAM_DV,
    PARAM_DBIAS,
    PARAM_DSLOPES,
    PARAM_DSINKS,
    PARAM_AUX,
    PARAM_DAUX = PARAM_AUX + CLATTN_AUX_MAX,
    PARAMS = PARAM_DAUX + CLATTN_AUX_MAX
};

/* Every number that a kernel may be given, as a call fills them in. The struct that a kernel takes, cla_args in its
 * program, has those members that params_list.c gives its pass. */
struct arguments {
    cla_rows_at q, k, v, o, lse, o_parts, lse_parts;
    cla_rows_at dout, dlse, dq, dk, dv; /* of a backward call */
    cla_rows_at stats;                  /* what its passes tell each other of each row (cl/passes/stats.cl) */
    cla_i64 stats_rows;                 /* how many */
    cla_i32 wanted;                     /* of it: CLA_DQ_WANTED .. */
    cla_i32 tiles;                      /* of keys: of the longest sequence */
    cla_i32 unit_b, unit_hk;            /* entries and key/value heads that a work-group has the keys of */
    cla_i32 shared;                     /* CLA_DK_WANTED, CLA_DV_WANTED: what is summed over these entries */
    cla_scores_at dbias, bias_part;     /* cells of the latter are contiguous */
    cla_i64 bias_cells;                 /* of a stripe's own; 0: dbias has an axis of keys */
    cla_i64 bias_losses;                /* cells of dbias that keep what additions lose: all or none */
    cla_i32 bias_shape[4];              /* of the bias; 1 where it is broadcast */
    cla_i64 dslopes_offset, dsinks_offset;
    cla_i64 aux_cells;                  /* elements of all captured buffers whose gradients are wanted */
    cla_i64 aux_at[CLATTN_AUX_MAX];     /* where those of a buffer begin among them */
    cla_i64 daux_offset[CLATTN_AUX_MAX];
    cla_i32 aux_n[CLATTN_AUX_MAX];      /* how many: 0 where it is not wanted */
    cla_scores_at bias, mask, map;
    cla_scores_at scores;               /* where they are written */
    cla_i32 stage;                      /* CLATTN_SCORES_* */
    cla_i64 slopes_stride, slopes_offset, sinks_offset;
    cla_i64 q_len_offset, kv_len_offset, kv_start_offset, offsets_offset, cu_q_offset, cu_k_offset;
    cla_i64 table_stride, table_offset; /* of a block table */
    cla_i64 k_scale_offset, k_zero_offset, v_scale_offset, v_zero_offset;
    cla_i32 k_scale[4], k_zero[4], v_scale[4], v_zero[4]; /* strides of the axes b or page, hk, row and group */
    cla_i64 aux_offset[CLATTN_AUX_MAX];
    cla_i64 states_offset, workspace_offset; /* of states of parts, and of the engine's own, in words of 4 bytes */
    cla_i64 o_parts_stride, lse_parts_stride; /* from part to part */
    cla_i64 scale_bits, softcap_bits, dropout_scale_bits; /* as doubles: a struct with a double needs cl_khr_fp64 */
    cla_f32 scale, scale_log2, softcap; /* scale_log2: scale log2(e) */
    cla_f32 dropout_scale;              /* 1 / (1 - dropout_p) */
    cla_i32 dropout_threshold;          /* words below it drop their weight */
    cla_i32 dropout_seed_low, dropout_seed_high, dropout_offset;
    cla_i32 h, heads_per_kv;          /* query heads; those that share a key head */
    cla_i32 nq, nk, total_q, total_k;
    cla_i32 align, offset;            /* CLATTN_ALIGN_* */
    cla_i32 flags;                    /* of the problem */
    cla_i32 given;                    /* arrays by batch entry: CLA_Q_LEN .. CLA_CU_K, CLA_OFFSETS_GIVEN */
    cla_i32 write_lse;
    cla_i32 window_low, window_high;  /* keys that a row sees: from its diagonal + low to its diagonal + high */
    cla_i32 block_q, block_k;
    cla_i32 parts, part_least;        /* of the keys, and how many a part has at least (split.h) */
    cla_i32 page, page_magic, page_shift, pages; /* rows of a page; how to divide by that (division.h); pages */
    cla_i32 groups;                   /* work-groups that have work: the grid may be larger */
    cla_i32 heads;                    /* b h / packed_heads: the work-groups of a block of rows */
    cla_i32 heads_inner; /* whether the work-groups of a block of rows are neighbours, or those of a head */
    cla_i32 packed_heads;             /* query heads whose queries are the rows of a work-group */
    cla_f32 per_packed_head;          /* 1 / packed_heads */
    cla_i64 blocks;                   /* of a block map that is made: the grid may be larger */
    cla_i32 map_shape[4];             /* of that map, which may be broadcast */
    cla_i32 mask_q, mask_k;           /* cells of its mask, 1 where that is broadcast */
    cla_i32 rows, columns;            /* that are merged, all together, and their width */
    cla_i32 merge_flags;              /* CLATTN_LSE_* */
    cla_i32 lse_is_wide;              /* LSE of parts is of the type that is computed in, else float */
    cla_rows_at new_k, new_v;         /* rows that are appended to caches; k and v count bytes in that pass */
    cla_i64 new_len_offset, positions_offset, dropped_offset, cosines_offset, sines_offset;
    cla_i64 rotary_items;             /* pairs of all rows that are rotated, and elements behind them */
    cla_i32 row_parts;                /* of a row of all heads of K and V that is appended; of one that is rotated */
    cla_i32 sequences, kv_heads;
    cla_i32 rotary_rows, rotary_width, interleaved; /* rows of the tables */
};

/* What the kernel of a target takes: decided once, when a plan is made, for all of its calls. */
enum { PARAMS_NUMBERS = 144, PARAMS_WORDS = sizeof(struct arguments) / sizeof(cla_i64) + 2 };
struct params {
    int n_buffers, n_numbers;
    unsigned char buffers[PARAMS]; /* PARAM_*, in the order of its parameters */
    struct {
        unsigned short at, bytes; /* in struct arguments */
    } numbers[PARAMS_NUMBERS];    /* in the order of its struct */
    size_t bytes;                 /* of that */
};
void params_find(struct params *to, const struct target *target);

/* Writes the kernel's struct of arguments as its program declares it; `to` has room for any. */
void params_pack(cl_ulong to[PARAMS_WORDS], const struct arguments *from, const struct params *params);

/* Bytes of a kernel's parameters, struct and buffers; and what OpenCL 1.2 promises that a kernel may have. */
enum { PARAMS_PROMISED = 1024 };
size_t params_bytes(const struct params *params);

/* Writes the fragment that declares them: cla_args, struct cla_pointers, CLA_PARAMS, CLA_TAKE_PARAMS. */
void params_write(struct text *to, const struct target *target);

#endif
