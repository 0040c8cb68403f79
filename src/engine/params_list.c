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
static bool has_bias(const struct target *t) { return t->p->bias_type; }
static bool has_mask(const struct target *t) { return t->p->flags & CLATTN_MASK; }
static bool has_map(const struct target *t) { return t->p->flags & CLATTN_BLOCK_MAP; }
static bool has_alibi(const struct target *t) { return t->p->flags & CLATTN_ALIBI; }
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
    return e->own_words || (t->pass == PASS_FORWARD ? e->total_scalars != NULL : e->sum_scalars != NULL);
}

/* ---- The lists ---- */

/* The passes that take what a row says. */
enum {
    FORWARD = PASS_FORWARD,
    MERGE = PASS_MERGE,
    BLOCK_MAP = PASS_BLOCK_MAP,
    APPEND = PASS_APPEND,
    ADVANCE = PASS_ADVANCE,
    ROTARY = PASS_ROTARY,
    DELTA = PASS_DELTA,
    KEYS = PASS_BACKWARD_KEYS,
    QUERIES = PASS_BACKWARD_QUERIES,
    SUM_DQ = PASS_SUM_DQ,
    SUM_DBIAS = PASS_SUM_DBIAS,
    SUM_DSLOPES = PASS_SUM_DSLOPES,
    SUM_DSINKS = PASS_SUM_DSINKS,
    SUM_DAUX = PASS_SUM_DAUX
};
#define BACKWARD DELTA, KEYS, QUERIES, SUM_DQ, SUM_DBIAS, SUM_DSLOPES, SUM_DSINKS, SUM_DAUX
#define ON_ROWS FORWARD, BACKWARD /* those that find rows by cl/rows/group.cl */
#define ON_SCORES FORWARD, KEYS, QUERIES
#define IN(...) (const unsigned char[]) { __VA_ARGS__, PASSES }

static const struct params_buffer buffers[] = {
    { PARAM_Q, IN(ON_ROWS, ROTARY), "q", NULL, "const __global cla_q_elem" },
    { PARAM_K, IN(ON_ROWS), "k", NULL, "const __global cla_k_elem" },
    { PARAM_V, IN(ON_ROWS), "v", NULL, "const __global cla_v_elem" },
    { PARAM_K, IN(APPEND), "k", NULL, "__global uchar" },
    { PARAM_V, IN(APPEND), "v", NULL, "__global uchar" },
    { PARAM_O, IN(FORWARD, MERGE), "o", NULL, "__global cla_o_elem" },
    { PARAM_O, IN(ROTARY), "o", NULL, "__global cla_q_elem" },
    { PARAM_O, IN(DELTA), "o", NULL, "const __global cla_o_elem" },
    { PARAM_LSE, IN(FORWARD, MERGE), "lse", NULL, "__global cla_lse_elem" },
    { PARAM_LSE, IN(DELTA, SUM_DSINKS), "lse", NULL, "const __global cla_lse_elem" },
    { PARAM_Q_LEN, IN(ON_ROWS), "q_len", has_lists, "const __global int" },
    { PARAM_KV_LEN, IN(ON_ROWS), "kv_len", has_lists, "const __global int" },
    { PARAM_KV_LEN, IN(APPEND, ROTARY), "kv_len", NULL, "const __global int" },
    { PARAM_KV_LEN, IN(ADVANCE), "kv_len", NULL, "__global int" },
    { PARAM_KV_START, IN(ON_ROWS), "kv_start", has_lists, "const __global int" },
    { PARAM_OFFSETS, IN(ON_ROWS), "offsets", NULL, "const __global int" },
    { PARAM_CU_Q, IN(ON_ROWS), "cu_q", is_varlen, "const __global int" },
    { PARAM_CU_Q, IN(MERGE), "cu_q", NULL, "const __global int" },
    { PARAM_CU_K, IN(ON_ROWS), "cu_k", is_varlen, "const __global int" },
    { PARAM_WORKSPACE, IN(ON_ROWS), "workspace", NULL, "__global uint" },
    { PARAM_O_PARTS, IN(MERGE), "o_parts", NULL, "const __global cla_scalar" },
    { PARAM_LSE_PARTS, IN(MERGE), "lse_parts", NULL, "const __global cla_lse_elem" },
    { PARAM_BIAS, IN(ON_SCORES), "bias", has_bias, "const __global cla_bias_elem" },
    { PARAM_MASK, IN(ON_SCORES, BLOCK_MAP), "mask", has_mask, "const __global uchar" },
    { PARAM_BLOCK_MAP, IN(ON_SCORES), "block_map", has_map, "const __global uchar" },
    { PARAM_BLOCK_MAP, IN(BLOCK_MAP), "block_map", NULL, "__global uchar" },
    { PARAM_SLOPES, IN(ON_SCORES), "slopes", has_alibi, "const __global float" },
    { PARAM_SINKS, IN(FORWARD, SUM_DSINKS), "sinks", has_sinks, "const __global float" },
    { PARAM_BLOCK_TABLE, IN(FORWARD, APPEND, ADVANCE), "block_table", is_paged, "const __global int" },
    { PARAM_K_SCALE, IN(FORWARD), "k_scale", has_k_scale, "const __global float" },
    { PARAM_K_ZERO, IN(FORWARD), "k_zero", has_k_zero, "const __global float" },
    { PARAM_V_SCALE, IN(FORWARD), "v_scale", has_v_scale, "const __global float" },
    { PARAM_V_ZERO, IN(FORWARD), "v_zero", has_v_zero, "const __global float" },
    { PARAM_K_SCALE, IN(APPEND), "k_scale", NULL, "__global float" },
    { PARAM_K_ZERO, IN(APPEND), "k_zero", NULL, "__global float" },
    { PARAM_V_SCALE, IN(APPEND), "v_scale", NULL, "__global float" },
    { PARAM_V_ZERO, IN(APPEND), "v_zero", NULL, "__global float" },
    { PARAM_ABSENT, IN(FORWARD), "absent", is_paged, "const __global uchar" },
    { PARAM_NEW_K, IN(APPEND), "new_k", NULL, "const __global cla_q_elem" },
    { PARAM_NEW_V, IN(APPEND), "new_v", NULL, "const __global cla_q_elem" },
    { PARAM_NEW_LEN, IN(APPEND, ADVANCE), "new_len", NULL, "const __global int" },
    { PARAM_COSINES, IN(APPEND, ROTARY), "cosines", has_rotary, "const __global float" },
    { PARAM_SINES, IN(APPEND, ROTARY), "sines", has_rotary, "const __global float" },
    { PARAM_POSITIONS, IN(APPEND, ROTARY), "positions", has_rotary, "const __global int" },
    { PARAM_DROPPED, IN(ADVANCE), "dropped", NULL, "__global int" },
    { PARAM_DOUT, IN(DELTA, KEYS, QUERIES), "dout", NULL, "const __global cla_q_elem" },
    { PARAM_DLSE, IN(DELTA, SUM_DSINKS), "dlse", NULL, "const __global cla_lse_elem" },
    { PARAM_DQ, IN(QUERIES, SUM_DQ), "dq", NULL, "__global cla_q_elem" },
    { PARAM_DK, IN(KEYS), "dk", NULL, "__global cla_k_elem" },
    { PARAM_DV, IN(KEYS), "dv", NULL, "__global cla_v_elem" },
    { PARAM_DBIAS, IN(KEYS, SUM_DBIAS), "dbias", has_bias, "__global cla_scalar" },
    { PARAM_DSLOPES, IN(SUM_DSLOPES), "dslopes", NULL, "__global float" },
    { PARAM_DSINKS, IN(SUM_DSINKS), "dsinks", NULL, "__global float" },
    { 0 }
};

static const struct params_number numbers[] = {
#define TELL(kind, passes, name, taken) { kind, passes, #name, taken, offsetof(struct arguments, name), NULL }
#define TELL_ALL(kind, passes, name, taken, members) \
    { kind, passes, #name, taken, offsetof(struct arguments, name), members }
    TELL(PARAMS_ROWS_AT, IN(ON_ROWS, ROTARY), q, NULL),
    TELL(PARAMS_ROWS_AT, IN(ON_ROWS, APPEND), k, NULL),
    TELL(PARAMS_ROWS_AT, IN(ON_ROWS, APPEND), v, NULL),
    TELL(PARAMS_ROWS_AT, IN(FORWARD, MERGE, ROTARY, DELTA), o, NULL),
    TELL(PARAMS_ROWS_AT, IN(FORWARD, MERGE, DELTA, SUM_DSINKS), lse, NULL),
    TELL(PARAMS_ROWS_AT, IN(DELTA, KEYS, QUERIES), dout, NULL),
    TELL(PARAMS_ROWS_AT, IN(DELTA, SUM_DSINKS), dlse, NULL),
    TELL(PARAMS_ROWS_AT, IN(QUERIES, SUM_DQ), dq, NULL),
    TELL(PARAMS_ROWS_AT, IN(KEYS), dk, NULL),
    TELL(PARAMS_ROWS_AT, IN(KEYS), dv, NULL),
    TELL(PARAMS_ROWS_AT, IN(BACKWARD), stats, NULL),
    TELL(PARAMS_ROWS_AT, IN(MERGE), o_parts, NULL),
    TELL(PARAMS_ROWS_AT, IN(MERGE), lse_parts, NULL),
    TELL(PARAMS_ROWS_AT, IN(APPEND), new_k, NULL),
    TELL(PARAMS_ROWS_AT, IN(APPEND), new_v, NULL),
    TELL(PARAMS_SCORES_AT, IN(ON_SCORES), bias, has_bias),
    TELL(PARAMS_SCORES_AT, IN(KEYS, SUM_DBIAS), dbias, has_bias),
    TELL(PARAMS_SCORES_AT, IN(KEYS, SUM_DBIAS), bias_part, has_bias),
    TELL(PARAMS_SCORES_AT, IN(ON_SCORES, BLOCK_MAP), mask, has_mask),
    TELL(PARAMS_SCORES_AT, IN(ON_SCORES, BLOCK_MAP), map, has_map),
    TELL(PARAMS_LONG, IN(ON_SCORES, SUM_DSLOPES), slopes_stride, has_alibi),
    TELL(PARAMS_LONG, IN(ON_SCORES), slopes_offset, has_alibi),
    TELL(PARAMS_LONG, IN(FORWARD, SUM_DSINKS), sinks_offset, has_sinks),
    TELL(PARAMS_LONG, IN(ON_ROWS), q_len_offset, has_lists),
    TELL(PARAMS_LONG, IN(ON_ROWS), kv_len_offset, has_lists),
    TELL(PARAMS_LONG, IN(APPEND, ADVANCE, ROTARY), kv_len_offset, NULL),
    TELL(PARAMS_LONG, IN(ON_ROWS), kv_start_offset, has_lists),
    TELL(PARAMS_LONG, IN(ON_ROWS), offsets_offset, NULL),
    TELL(PARAMS_LONG, IN(ON_ROWS), cu_q_offset, is_varlen),
    TELL(PARAMS_LONG, IN(MERGE), cu_q_offset, NULL),
    TELL(PARAMS_LONG, IN(MERGE), o_parts_stride, NULL),
    TELL(PARAMS_LONG, IN(MERGE), lse_parts_stride, NULL),
    TELL(PARAMS_LONG, IN(ON_ROWS), cu_k_offset, is_varlen),
    TELL(PARAMS_LONG, IN(FORWARD, APPEND, ADVANCE), table_stride, is_paged),
    TELL(PARAMS_LONG, IN(FORWARD, APPEND, ADVANCE), table_offset, is_paged),
    TELL(PARAMS_LONG, IN(FORWARD), k_scale_offset, has_k_scale),
    TELL(PARAMS_LONG, IN(APPEND), k_scale_offset, NULL),
    TELL(PARAMS_LONG, IN(FORWARD), k_zero_offset, has_k_zero),
    TELL(PARAMS_LONG, IN(APPEND), k_zero_offset, NULL),
    TELL(PARAMS_LONG, IN(FORWARD), v_scale_offset, has_v_scale),
    TELL(PARAMS_LONG, IN(APPEND), v_scale_offset, NULL),
    TELL(PARAMS_LONG, IN(FORWARD), v_zero_offset, has_v_zero),
    TELL(PARAMS_LONG, IN(APPEND), v_zero_offset, NULL),
    TELL_ALL(PARAMS_LONG, IN(ON_SCORES), aux_offset, has_aux, captured),
    TELL(PARAMS_LONG, IN(ON_ROWS), states_offset, NULL),
    TELL(PARAMS_LONG, IN(ON_SCORES), workspace_offset, has_workspace),
    TELL(PARAMS_LONG, IN(ON_SCORES), scale_bits, is_f64),
    TELL(PARAMS_LONG, IN(ON_SCORES), softcap_bits, has_softcap_f64),
    TELL(PARAMS_LONG, IN(BLOCK_MAP), blocks, NULL),
    TELL(PARAMS_LONG, IN(APPEND, ADVANCE), new_len_offset, NULL),
    TELL(PARAMS_LONG, IN(APPEND, ROTARY), cosines_offset, has_rotary),
    TELL(PARAMS_LONG, IN(APPEND, ROTARY), sines_offset, has_rotary),
    TELL(PARAMS_LONG, IN(APPEND, ROTARY), positions_offset, has_rotary),
    TELL(PARAMS_LONG, IN(ADVANCE), dropped_offset, NULL),
    TELL(PARAMS_LONG, IN(ROTARY), rotary_items, NULL),
    TELL(PARAMS_LONG, IN(BACKWARD), stats_rows, NULL),
    TELL(PARAMS_LONG, IN(KEYS, SUM_DBIAS), bias_cells, has_bias),
    TELL(PARAMS_LONG, IN(KEYS), bias_losses, has_bias),
    TELL(PARAMS_LONG, IN(BACKWARD), aux_cells, NULL),
    TELL_ALL(PARAMS_LONG, IN(KEYS, SUM_DAUX), aux_at, has_marks, captured),
    TELL_ALL(PARAMS_LONG, IN(SUM_DAUX), daux_offset, has_marks, captured),
    TELL(PARAMS_LONG, IN(SUM_DSLOPES), dslopes_offset, NULL),
    TELL(PARAMS_LONG, IN(SUM_DSINKS), dsinks_offset, NULL),
    TELL(PARAMS_FLOAT, IN(ON_SCORES), scale, is_f32),
    TELL(PARAMS_FLOAT, IN(ON_SCORES), scale_log2, is_f32),
    TELL(PARAMS_FLOAT, IN(ON_SCORES), softcap, has_softcap),
    TELL(PARAMS_FLOAT, IN(ON_ROWS), per_packed_head, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS, MERGE, ROTARY), h, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), heads_per_kv, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS, MERGE, APPEND, ADVANCE, ROTARY), nq, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS, APPEND, ADVANCE), nk, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS, MERGE), parts, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), part_least, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), total_q, is_varlen),
    TELL(PARAMS_INT, IN(MERGE), total_q, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), total_k, is_varlen),
    TELL(PARAMS_INT, IN(ON_ROWS), align, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), offset, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), flags, has_lists),
    TELL(PARAMS_INT, IN(MERGE), flags, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS, MERGE, APPEND, ADVANCE, ROTARY), given, NULL),
    TELL(PARAMS_INT, IN(FORWARD, MERGE), write_lse, NULL),
    TELL(PARAMS_INT, IN(ON_SCORES), window_low, has_window),
    TELL(PARAMS_INT, IN(ON_SCORES), window_high, has_window),
    TELL(PARAMS_INT, IN(ON_SCORES, BLOCK_MAP), block_q, has_map),
    TELL(PARAMS_INT, IN(ON_SCORES, BLOCK_MAP), block_k, has_map),
    TELL(PARAMS_INT, IN(FORWARD, APPEND, ADVANCE), page, is_paged),
    TELL(PARAMS_INT, IN(FORWARD, APPEND, ADVANCE), page_magic, is_paged),
    TELL(PARAMS_INT, IN(FORWARD, APPEND, ADVANCE), page_shift, is_paged),
    TELL(PARAMS_INT, IN(FORWARD, APPEND, ADVANCE), pages, is_paged),
    TELL_ALL(PARAMS_INT, IN(FORWARD), k_scale, has_k_scale, four),
    TELL_ALL(PARAMS_INT, IN(APPEND), k_scale, NULL, four),
    TELL_ALL(PARAMS_INT, IN(FORWARD), k_zero, has_k_zero, four),
    TELL_ALL(PARAMS_INT, IN(APPEND), k_zero, NULL, four),
    TELL_ALL(PARAMS_INT, IN(FORWARD), v_scale, has_v_scale, four),
    TELL_ALL(PARAMS_INT, IN(APPEND), v_scale, NULL, four),
    TELL_ALL(PARAMS_INT, IN(FORWARD), v_zero, has_v_zero, four),
    TELL_ALL(PARAMS_INT, IN(APPEND), v_zero, NULL, four),
    TELL(PARAMS_INT, IN(ON_ROWS), heads_inner, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), packed_heads, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), heads, NULL),
    TELL(PARAMS_INT, IN(ON_ROWS), groups, NULL),
    TELL_ALL(PARAMS_INT, IN(BLOCK_MAP), map_shape, NULL, four),
    TELL(PARAMS_INT, IN(BLOCK_MAP), mask_q, NULL),
    TELL(PARAMS_INT, IN(BLOCK_MAP), mask_k, NULL),
    TELL(PARAMS_INT, IN(MERGE), rows, NULL),
    TELL(PARAMS_INT, IN(MERGE), columns, NULL),
    TELL(PARAMS_INT, IN(MERGE), merge_flags, NULL),
    TELL(PARAMS_INT, IN(MERGE), lse_is_wide, NULL),
    TELL(PARAMS_INT, IN(BACKWARD), wanted, NULL),
    TELL(PARAMS_INT, IN(BACKWARD), tiles, NULL),
    TELL_ALL(PARAMS_INT, IN(KEYS, SUM_DBIAS), bias_shape, has_bias, four),
    TELL_ALL(PARAMS_INT, IN(KEYS, SUM_DAUX), aux_n, has_marks, captured),
    TELL(PARAMS_INT, IN(KEYS), unit_b, NULL),
    TELL(PARAMS_INT, IN(KEYS), unit_hk, NULL),
    TELL(PARAMS_INT, IN(KEYS), shared, NULL),
    TELL(PARAMS_INT, IN(APPEND, ROTARY), row_parts, NULL),
    TELL(PARAMS_INT, IN(APPEND, ADVANCE), sequences, NULL),
    TELL(PARAMS_INT, IN(APPEND), kv_heads, NULL),
    TELL(PARAMS_INT, IN(APPEND, ROTARY), rotary_rows, has_rotary),
    TELL(PARAMS_INT, IN(APPEND, ROTARY), rotary_width, has_rotary),
    TELL(PARAMS_INT, IN(APPEND, ROTARY), interleaved, has_rotary),
    { 0 }
};
typedef char all_numbers_fit_in_struct_params[sizeof numbers / sizeof *numbers <= PARAMS_NUMBERS ? 1 : -1];

/* ---- Looking up ---- */

static bool is_in(const unsigned char *passes, int pass)
{
    while (*passes != PASSES && *passes != pass)
        passes++;
    return *passes != PASSES;
}

/* Whether a row is for the kernel of a target, by its passes and its condition. */
static bool is_taken(const unsigned char *passes, bool (*taken)(const struct target *), const struct target *t)
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
    return is_in(IN(ON_SCORES), t->pass);
}
