/* params_list.c - the lists of what kernels take. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/params_list.h"

#include <stddef.h>

/* ---- When a kernel takes what ---- */

static bool is_f64(const struct target *t) { return t->p->type == CLATTN_F64; }
static bool is_f32(const struct target *t) { return !is_f64(t); }
static bool has_softcap(const struct target *t) { return t->p->softcap > 0 && is_f32(t); }
static bool has_softcap_f64(const struct target *t) { return t->p->softcap > 0 && is_f64(t); }
static bool has_dropout(const struct target *t) { return t->p->dropout_p > 0; }
static bool has_dropout_f32(const struct target *t) { return has_dropout(t) && is_f32(t); }
static bool has_dropout_f64(const struct target *t) { return has_dropout(t) && is_f64(t); }
static bool has_bias(const struct target *t) { return t->p->bias_type; }
static bool has_mask(const struct target *t) { return t->p->flags & CLATTN_MASK; }
static bool has_map(const struct target *t) { return t->p->flags & CLATTN_BLOCK_MAP; }
static bool has_slopes(const struct target *t) { return t->p->flags & PROBLEM_SLOPES; }
static bool has_sinks(const struct target *t) { return t->p->flags & CLATTN_SINKS; }
static bool has_k_scale(const struct target *t) { return problem_type_is(t->p->k_type, PROBLEM_SCALED); }
static bool has_v_scale(const struct target *t) { return problem_type_is(t->p->v_type, PROBLEM_SCALED); }
static bool has_k_zero(const struct target *t) { return t->p->flags & CLATTN_K_ZERO; }
static bool has_v_zero(const struct target *t) { return t->p->flags & CLATTN_V_ZERO; }
static bool has_window(const struct target *t) { return t->p->flags & CLATTN_WINDOW; }
static bool is_varlen(const struct target *t) { return problem_is_varlen(t->p); }
/* All lists of lengths or none: plans with one of them or another share a program. */
static bool has_lists(const struct target *t) { return problem_has_lists(t->p); }
static bool has_aux(const struct target *t) { return t->p->n_aux; }
static bool has_marks(const struct target *t) { return t->p->aux_grads; }
static bool is_paged(const struct target *t) { return t->p->page; }
static bool has_rotary(const struct target *t) { return t->p->flags & CLATTN_ROTARY; }
static int captured(const struct target *t) { return t->p->n_aux; }
static int four(const struct target *t)
{
    (void)t;
    return 4;
}
/* What the engine itself keeps there, and what segments add up. */
static bool has_workspace(const struct target *t)
{
    const struct engine *const e = t->config->engine;
    const bool sums = t->pass == PASS_FORWARD ? e->total_scalars != NULL
                      : t->pass == PASS_SCORES ? false
                                               : e->sum_scalars != NULL;
    return e->own_words || sums;
}

/* ---- The lists ---- */

/* The passes that take what a row says: a bit for each, by its name, and sets of them. */
#define BIT(NAME, row) NAME = 1 << PASS_##NAME,
#define OR(NAME, row) | NAME
enum {
    PASSES_FORWARD(BIT)
    PASSES_BACKWARD(BIT)
    BACKWARD = 0 PASSES_BACKWARD(OR),
    ON_KEYS = FORWARD | SCORES, /* those that read keys of any storage */
    ON_ROWS = ON_KEYS | BACKWARD, /* those that find rows by cl/rows/group.cl */
    ON_SCORES = ON_KEYS | BACKWARD_KEYS | BACKWARD_QUERIES,
    ON_PARTS = MERGE /* those that read states of parts */
};
typedef char a_bit_for_each_pass[PASSES < 31 ? 1 : -1];

static const struct params_buffer buffers[] = {
    { PARAM_Q, ON_ROWS | ROTARY, "q", NULL, "const __global cla_q_elem" },
    { PARAM_K, ON_ROWS, "k", NULL, "const __global cla_k_elem" },
    { PARAM_V, ON_ROWS, "v", NULL, "const __global cla_v_elem" },
    { PARAM_K, APPEND, "k", NULL, "__global uchar" },
    { PARAM_V, APPEND, "v", NULL, "__global uchar" },
    { PARAM_O, ON_KEYS | ON_PARTS, "o", NULL, "__global cla_o_elem" },
    { PARAM_O, ROTARY, "o", NULL, "__global cla_q_elem" },
    { PARAM_O, DELTA, "o", NULL, "const __global cla_o_elem" },
    { PARAM_LSE, ON_KEYS | ON_PARTS, "lse", NULL, "__global cla_lse_elem" },
    { PARAM_LSE, DELTA | SUM_DSINKS, "lse", NULL, "const __global cla_lse_elem" },
    { PARAM_SCORES, SCORES, "scores", NULL, "__global cla_o_elem" },
    { PARAM_Q_LEN, ON_ROWS, "q_len", has_lists, "const __global int" },
    { PARAM_KV_LEN, ON_ROWS, "kv_len", has_lists, "const __global int" },
    { PARAM_KV_LEN, APPEND | ROTARY, "kv_len", NULL, "const __global int" },
    { PARAM_KV_LEN, ADVANCE, "kv_len", NULL, "__global int" },
    { PARAM_KV_START, ON_ROWS, "kv_start", has_lists, "const __global int" },
    { PARAM_OFFSETS, ON_ROWS, "offsets", NULL, "const __global int" },
    { PARAM_CU_Q, ON_ROWS, "cu_q", is_varlen, "const __global int" },
    { PARAM_CU_Q, ON_PARTS, "cu_q", NULL, "const __global int" },
    { PARAM_CU_K, ON_ROWS, "cu_k", is_varlen, "const __global int" },
    { PARAM_WORKSPACE, ON_ROWS, "workspace", NULL, "__global uint" },
    { PARAM_O_PARTS, ON_PARTS, "o_parts", NULL, "const __global cla_scalar" },
    { PARAM_LSE_PARTS, ON_PARTS, "lse_parts", NULL, "const __global cla_lse_elem" },
    { PARAM_BIAS, ON_SCORES, "bias", has_bias, "const __global cla_bias_elem" },
    { PARAM_MASK, ON_SCORES | BLOCK_MAP, "mask", has_mask, "const __global uchar" },
    { PARAM_BLOCK_MAP, ON_SCORES, "block_map", has_map, "const __global uchar" },
    { PARAM_BLOCK_MAP, BLOCK_MAP, "block_map", NULL, "__global uchar" },
    { PARAM_SLOPES, ON_SCORES, "slopes", has_slopes, "const __global float" },
    { PARAM_SINKS, ON_KEYS | SUM_DSINKS, "sinks", has_sinks, "const __global float" },
    { PARAM_BLOCK_TABLE, ON_KEYS | APPEND | ADVANCE, "block_table", is_paged, "const __global int" },
    { PARAM_K_SCALE, ON_KEYS, "k_scale", has_k_scale, "const __global float" },
    { PARAM_K_ZERO, ON_KEYS, "k_zero", has_k_zero, "const __global float" },
    { PARAM_V_SCALE, ON_KEYS, "v_scale", has_v_scale, "const __global float" },
    { PARAM_V_ZERO, ON_KEYS, "v_zero", has_v_zero, "const __global float" },
    { PARAM_K_SCALE, APPEND, "k_scale", NULL, "__global float" },
    { PARAM_K_ZERO, APPEND, "k_zero", NULL, "__global float" },
    { PARAM_V_SCALE, APPEND, "v_scale", NULL, "__global float" },
    { PARAM_V_ZERO, APPEND, "v_zero", NULL, "__global float" },
    { PARAM_ABSENT, ON_KEYS, "absent", is_paged, "const __global uchar" },
    { PARAM_NEW_K, APPEND, "new_k", NULL, "const __global cla_q_elem" },
    { PARAM_NEW_V, APPEND, "new_v", NULL, "const __global cla_q_elem" },
    { PARAM_NEW_LEN, APPEND | ADVANCE, "new_len", NULL, "const __global int" },
    { PARAM_COSINES, APPEND | ROTARY, "cosines", has_rotary, "const __global float" },
    { PARAM_SINES, APPEND | ROTARY, "sines", has_rotary, "const __global float" },
    { PARAM_POSITIONS, APPEND | ROTARY, "positions", has_rotary, "const __global int" },
    { PARAM_DROPPED, ADVANCE, "dropped", NULL, "__global int" },
    { PARAM_DOUT, DELTA | BACKWARD_KEYS | BACKWARD_QUERIES, "dout", NULL, "const __global cla_q_elem" },
    { PARAM_DLSE, DELTA | SUM_DSINKS, "dlse", NULL, "const __global cla_lse_elem" },
    { PARAM_DQ, BACKWARD_QUERIES | SUM_DQ, "dq", NULL, "__global cla_q_elem" },
    { PARAM_DK, BACKWARD_KEYS, "dk", NULL, "__global cla_k_elem" },
    { PARAM_DV, BACKWARD_KEYS, "dv", NULL, "__global cla_v_elem" },
    { PARAM_DBIAS, BACKWARD_KEYS | SUM_DBIAS, "dbias", has_bias, "__global cla_scalar" },
    { PARAM_DSLOPES, SUM_DSLOPES, "dslopes", NULL, "__global float" },
    { PARAM_DSINKS, SUM_DSINKS, "dsinks", NULL, "__global float" },
    { 0 }
};

static const struct params_number numbers[] = {
#define TELL(kind, passes, name, taken) { kind, passes, #name, taken, offsetof(struct arguments, name), NULL }
#define TELL_ALL(kind, passes, name, taken, members) \
    { kind, passes, #name, taken, offsetof(struct arguments, name), members }
    TELL(PARAMS_ROWS_AT, ON_ROWS | ROTARY, q, NULL),
    TELL(PARAMS_ROWS_AT, ON_ROWS | APPEND, k, NULL),
    TELL(PARAMS_ROWS_AT, ON_ROWS | APPEND, v, NULL),
    TELL(PARAMS_ROWS_AT, ON_KEYS | ON_PARTS | ROTARY | DELTA, o, NULL),
    TELL(PARAMS_ROWS_AT, ON_KEYS | ON_PARTS | DELTA | SUM_DSINKS, lse, NULL),
    TELL(PARAMS_ROWS_AT, DELTA | BACKWARD_KEYS | BACKWARD_QUERIES, dout, NULL),
    TELL(PARAMS_ROWS_AT, DELTA | SUM_DSINKS, dlse, NULL),
    TELL(PARAMS_ROWS_AT, BACKWARD_QUERIES | SUM_DQ, dq, NULL),
    TELL(PARAMS_ROWS_AT, BACKWARD_KEYS, dk, NULL),
    TELL(PARAMS_ROWS_AT, BACKWARD_KEYS, dv, NULL),
    TELL(PARAMS_ROWS_AT, BACKWARD, stats, NULL),
    TELL(PARAMS_ROWS_AT, ON_PARTS, o_parts, NULL),
    TELL(PARAMS_ROWS_AT, ON_PARTS, lse_parts, NULL),
    TELL(PARAMS_ROWS_AT, APPEND, new_k, NULL),
    TELL(PARAMS_ROWS_AT, APPEND, new_v, NULL),
    TELL(PARAMS_SCORES_AT, ON_SCORES, bias, has_bias),
    TELL(PARAMS_SCORES_AT, BACKWARD_KEYS | SUM_DBIAS, dbias, has_bias),
    TELL(PARAMS_SCORES_AT, BACKWARD_KEYS | SUM_DBIAS, bias_part, has_bias),
    TELL(PARAMS_SCORES_AT, ON_SCORES | BLOCK_MAP, mask, has_mask),
    TELL(PARAMS_SCORES_AT, ON_SCORES | BLOCK_MAP, map, has_map),
    TELL(PARAMS_SCORES_AT, SCORES, scores, NULL),
    TELL(PARAMS_LONG, ON_SCORES | SUM_DSLOPES, slopes_stride, has_slopes),
    TELL(PARAMS_LONG, ON_SCORES, slopes_offset, has_slopes),
    TELL(PARAMS_LONG, ON_KEYS | SUM_DSINKS, sinks_offset, has_sinks),
    TELL(PARAMS_LONG, ON_ROWS, q_len_offset, has_lists),
    TELL(PARAMS_LONG, ON_ROWS, kv_len_offset, has_lists),
    TELL(PARAMS_LONG, APPEND | ADVANCE | ROTARY, kv_len_offset, NULL),
    TELL(PARAMS_LONG, ON_ROWS, kv_start_offset, has_lists),
    TELL(PARAMS_LONG, ON_ROWS, offsets_offset, NULL),
    TELL(PARAMS_LONG, ON_ROWS, cu_q_offset, is_varlen),
    TELL(PARAMS_LONG, ON_PARTS, cu_q_offset, NULL),
    TELL(PARAMS_LONG, ON_PARTS, o_parts_stride, NULL),
    TELL(PARAMS_LONG, ON_PARTS, lse_parts_stride, NULL),
    TELL(PARAMS_LONG, ON_ROWS, cu_k_offset, is_varlen),
    TELL(PARAMS_LONG, ON_KEYS | APPEND | ADVANCE, table_stride, is_paged),
    TELL(PARAMS_LONG, ON_KEYS | APPEND | ADVANCE, table_offset, is_paged),
    TELL(PARAMS_LONG, ON_KEYS, k_scale_offset, has_k_scale),
    TELL(PARAMS_LONG, APPEND, k_scale_offset, NULL),
    TELL(PARAMS_LONG, ON_KEYS, k_zero_offset, has_k_zero),
    TELL(PARAMS_LONG, APPEND, k_zero_offset, NULL),
    TELL(PARAMS_LONG, ON_KEYS, v_scale_offset, has_v_scale),
    TELL(PARAMS_LONG, APPEND, v_scale_offset, NULL),
    TELL(PARAMS_LONG, ON_KEYS, v_zero_offset, has_v_zero),
    TELL(PARAMS_LONG, APPEND, v_zero_offset, NULL),
    TELL_ALL(PARAMS_LONG, ON_SCORES, aux_offset, has_aux, captured),
    TELL(PARAMS_LONG, ON_ROWS, states_offset, NULL),
    TELL(PARAMS_LONG, ON_SCORES, workspace_offset, has_workspace),
    TELL(PARAMS_LONG, ON_SCORES, scale_bits, is_f64),
    TELL(PARAMS_LONG, ON_SCORES, softcap_bits, has_softcap_f64),
    TELL(PARAMS_LONG, ON_SCORES, dropout_scale_bits, has_dropout_f64),
    TELL(PARAMS_LONG, BLOCK_MAP, blocks, NULL),
    TELL(PARAMS_LONG, APPEND | ADVANCE, new_len_offset, NULL),
    TELL(PARAMS_LONG, APPEND | ROTARY, cosines_offset, has_rotary),
    TELL(PARAMS_LONG, APPEND | ROTARY, sines_offset, has_rotary),
    TELL(PARAMS_LONG, APPEND | ROTARY, positions_offset, has_rotary),
    TELL(PARAMS_LONG, ADVANCE, dropped_offset, NULL),
    TELL(PARAMS_LONG, ROTARY, rotary_items, NULL),
    TELL(PARAMS_LONG, BACKWARD, stats_rows, NULL),
    TELL(PARAMS_LONG, BACKWARD_KEYS | SUM_DBIAS, bias_cells, has_bias),
    TELL(PARAMS_LONG, BACKWARD_KEYS, bias_losses, has_bias),
    TELL(PARAMS_LONG, BACKWARD, aux_cells, NULL),
    TELL_ALL(PARAMS_LONG, BACKWARD_KEYS | SUM_DAUX, aux_at, has_marks, captured),
    TELL_ALL(PARAMS_LONG, SUM_DAUX, daux_offset, has_marks, captured),
    TELL(PARAMS_LONG, SUM_DSLOPES, dslopes_offset, NULL),
    TELL(PARAMS_LONG, SUM_DSINKS, dsinks_offset, NULL),
    TELL(PARAMS_FLOAT, ON_SCORES, scale, is_f32),
    TELL(PARAMS_FLOAT, ON_SCORES, scale_log2, is_f32),
    TELL(PARAMS_FLOAT, ON_SCORES, softcap, has_softcap),
    TELL(PARAMS_FLOAT, ON_SCORES, dropout_scale, has_dropout_f32),
    TELL(PARAMS_FLOAT, ON_ROWS, per_packed_head, NULL),
    TELL(PARAMS_INT, ON_ROWS | ON_PARTS | ROTARY, h, NULL),
    TELL(PARAMS_INT, ON_ROWS, heads_per_kv, NULL),
    TELL(PARAMS_INT, ON_ROWS | ON_PARTS | APPEND | ADVANCE | ROTARY, nq, NULL),
    TELL(PARAMS_INT, ON_ROWS | APPEND | ADVANCE, nk, NULL),
    TELL(PARAMS_INT, ON_ROWS | ON_PARTS, parts, NULL),
    TELL(PARAMS_INT, ON_ROWS, part_least, NULL),
    TELL(PARAMS_INT, ON_ROWS, total_q, is_varlen),
    TELL(PARAMS_INT, ON_PARTS, total_q, NULL),
    TELL(PARAMS_INT, ON_ROWS, total_k, is_varlen),
    TELL(PARAMS_INT, ON_ROWS, align, NULL),
    TELL(PARAMS_INT, ON_ROWS, offset, NULL),
    TELL(PARAMS_INT, ON_ROWS, flags, has_lists),
    TELL(PARAMS_INT, ON_PARTS, flags, NULL),
    TELL(PARAMS_INT, ON_ROWS | ON_PARTS | APPEND | ADVANCE | ROTARY, given, NULL),
    TELL(PARAMS_INT, ON_KEYS | ON_PARTS, write_lse, NULL),
    TELL(PARAMS_INT, SCORES, stage, NULL),
    TELL(PARAMS_INT, ON_SCORES, window_low, has_window),
    TELL(PARAMS_INT, ON_SCORES, window_high, has_window),
    TELL(PARAMS_INT, ON_SCORES, dropout_threshold, has_dropout),
    TELL(PARAMS_INT, ON_SCORES, dropout_seed_low, has_dropout),
    TELL(PARAMS_INT, ON_SCORES, dropout_seed_high, has_dropout),
    TELL(PARAMS_INT, ON_SCORES, dropout_offset, has_dropout),
    TELL(PARAMS_INT, ON_SCORES | BLOCK_MAP, block_q, has_map),
    TELL(PARAMS_INT, ON_SCORES | BLOCK_MAP, block_k, has_map),
    TELL(PARAMS_INT, ON_KEYS | APPEND | ADVANCE, page, is_paged),
    TELL(PARAMS_INT, ON_KEYS | APPEND | ADVANCE, page_magic, is_paged),
    TELL(PARAMS_INT, ON_KEYS | APPEND | ADVANCE, page_shift, is_paged),
    TELL(PARAMS_INT, ON_KEYS | APPEND | ADVANCE, pages, is_paged),
    TELL_ALL(PARAMS_INT, ON_KEYS, k_scale, has_k_scale, four),
    TELL_ALL(PARAMS_INT, APPEND, k_scale, NULL, four),
    TELL_ALL(PARAMS_INT, ON_KEYS, k_zero, has_k_zero, four),
    TELL_ALL(PARAMS_INT, APPEND, k_zero, NULL, four),
    TELL_ALL(PARAMS_INT, ON_KEYS, v_scale, has_v_scale, four),
    TELL_ALL(PARAMS_INT, APPEND, v_scale, NULL, four),
    TELL_ALL(PARAMS_INT, ON_KEYS, v_zero, has_v_zero, four),
    TELL_ALL(PARAMS_INT, APPEND, v_zero, NULL, four),
    TELL(PARAMS_INT, ON_ROWS, heads_inner, NULL),
    TELL(PARAMS_INT, ON_ROWS, packed_heads, NULL),
    TELL(PARAMS_INT, ON_ROWS, heads, NULL),
    TELL(PARAMS_INT, ON_ROWS, groups, NULL),
    TELL_ALL(PARAMS_INT, BLOCK_MAP, map_shape, NULL, four),
    TELL(PARAMS_INT, BLOCK_MAP, mask_q, NULL),
    TELL(PARAMS_INT, BLOCK_MAP, mask_k, NULL),
    TELL(PARAMS_INT, ON_PARTS, rows, NULL),
    TELL(PARAMS_INT, ON_PARTS, columns, NULL),
    TELL(PARAMS_INT, ON_PARTS, merge_flags, NULL),
    TELL(PARAMS_INT, ON_PARTS, lse_is_wide, NULL),
    TELL(PARAMS_INT, BACKWARD, wanted, NULL),
    TELL(PARAMS_INT, BACKWARD, tiles, NULL),
    TELL_ALL(PARAMS_INT, BACKWARD_KEYS | SUM_DBIAS, bias_shape, has_bias, four),
    TELL_ALL(PARAMS_INT, BACKWARD_KEYS | SUM_DAUX, aux_n, has_marks, captured),
    TELL(PARAMS_INT, BACKWARD_KEYS, unit_b, NULL),
    TELL(PARAMS_INT, BACKWARD_KEYS, unit_hk, NULL),
    TELL(PARAMS_INT, BACKWARD_KEYS, shared, NULL),
    TELL(PARAMS_INT, APPEND | ROTARY, row_parts, NULL),
    TELL(PARAMS_INT, APPEND | ADVANCE, sequences, NULL),
    TELL(PARAMS_INT, APPEND, kv_heads, NULL),
    TELL(PARAMS_INT, APPEND | ROTARY, rotary_rows, has_rotary),
    TELL(PARAMS_INT, APPEND | ROTARY, rotary_width, has_rotary),
    TELL(PARAMS_INT, APPEND | ROTARY, interleaved, has_rotary),
    { 0 }
};
typedef char all_numbers_fit_in_struct_params[sizeof numbers / sizeof *numbers <= PARAMS_NUMBERS ? 1 : -1];

/* ---- Looking up ---- */

static bool is_in(uint32_t passes, int pass)
{
    return passes >> pass & 1;
}

/* Whether a row is for the kernel of a target, by its passes and its condition. */
static bool is_taken(uint32_t passes, bool (*taken)(const struct target *), const struct target *t)
{
    return is_in(passes, t->pass) && (!taken || taken(t));
}

const struct params_buffer *params_list_buffer(const struct params_buffer *before, const struct target *t)
{
    const struct params_buffer *row = before ? before + 1 : buffers;
    while (row->passes && !is_taken(row->passes, row->taken, t))
        row++;
    return row->passes ? row : NULL;
}

const struct params_number *params_list_number(const struct params_number *before, const struct target *t)
{
    const struct params_number *row = before ? before + 1 : numbers;
    while (row->passes && !is_taken(row->passes, row->taken, t))
        row++;
    return row->passes ? row : NULL;
}

bool params_list_has_aux(const struct target *t)
{
    return is_in(ON_SCORES, t->pass);
}

bool params_list_has_daux(const struct target *t)
{
    return is_in(SUM_DAUX, t->pass);
}
