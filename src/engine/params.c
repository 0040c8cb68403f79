/* params.c - what kernels take: one list for the programs' text and for the calls. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/params.h"

#include "problem/mods.h"

#include <stddef.h>
#include <string.h>

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
static bool has_k_scale(const struct target *t) { return problem_type_block(t->p->k_type).scaled; }
static bool has_v_scale(const struct target *t) { return problem_type_block(t->p->v_type).scaled; }
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

/* ---- The list ---- */

/* Buffers first, in the order of enum param; then numbers of 64 bits before those of 32, so that no compiler pads. */
enum kind { BUFFER, ROWS_AT, SCORES_AT, LONG, FLOAT, INT };
enum {
    FORWARD = 1 << PASS_FORWARD,
    MERGE = 1 << PASS_MERGE,
    BLOCK_MAP = 1 << PASS_BLOCK_MAP,
    APPEND = 1 << PASS_APPEND,
    ADVANCE = 1 << PASS_ADVANCE,
    ROTARY = 1 << PASS_ROTARY,
    DELTA = 1 << PASS_DELTA,
    KEYS = 1 << PASS_BACKWARD_KEYS,
    SUM_DQ = 1 << PASS_SUM_DQ,
    SUM_DBIAS = 1 << PASS_SUM_DBIAS,
    SUM_DSLOPES = 1 << PASS_SUM_DSLOPES,
    SUM_DSINKS = 1 << PASS_SUM_DSINKS,
    QUERIES = 1 << PASS_BACKWARD_QUERIES,
    SUM_DAUX = 1 << PASS_SUM_DAUX,
    BACKWARD = DELTA | KEYS | QUERIES | SUM_DQ | SUM_DBIAS | SUM_DSLOPES | SUM_DSINKS | SUM_DAUX,
    ON_ROWS = FORWARD | BACKWARD, /* those that find rows by cl/group.cl */
    ON_SCORES = FORWARD | KEYS | QUERIES
};
#define ALWAYS(passes) ((passes) << PASSES) /* whatever the row's condition says of others */
typedef char passes_fit_twice_in_an_int[2 * PASSES < 32 ? 1 : -1];

static const struct {
    enum kind kind;
    int passes;         /* that take it: a bit for each */
    const char *name;   /* in kernels */
    bool (*taken)(const struct target *); /* the condition; NULL: by every kernel of these passes */
    const char *type;   /* of a buffer's elements */
    size_t at;          /* a buffer's enum param; of a number its place in struct arguments */
    int (*members)(const struct target *); /* of an array; NULL: it is none */
} list[] = {
#define TAKE(param, passes, name, taken, type) { BUFFER, passes, name, taken, type, param, NULL }
#define TELL(kind, passes, name, taken) { kind, passes, #name, taken, NULL, offsetof(struct arguments, name), NULL }
#define TELL_ALL(kind, passes, name, taken, members) \
    { kind, passes, #name, taken, NULL, offsetof(struct arguments, name), members }
    TAKE(PARAM_Q, ON_ROWS | ROTARY, "q", NULL, "const __global cla_q_elem"),
    TAKE(PARAM_K, ON_ROWS, "k", NULL, "const __global cla_k_elem"),
    TAKE(PARAM_V, ON_ROWS, "v", NULL, "const __global cla_v_elem"),
    TAKE(PARAM_K, APPEND, "k", NULL, "__global uchar"),
    TAKE(PARAM_V, APPEND, "v", NULL, "__global uchar"),
    TAKE(PARAM_O, FORWARD | MERGE, "o", NULL, "__global cla_o_elem"),
    TAKE(PARAM_O, ROTARY, "o", NULL, "__global cla_q_elem"),
    TAKE(PARAM_O, DELTA, "o", NULL, "const __global cla_o_elem"),
    TAKE(PARAM_LSE, FORWARD | MERGE, "lse", NULL, "__global cla_lse_elem"),
    TAKE(PARAM_LSE, DELTA | SUM_DSINKS, "lse", NULL, "const __global cla_lse_elem"),
    TAKE(PARAM_Q_LEN, ON_ROWS, "q_len", has_lists, "const __global int"),
    TAKE(PARAM_KV_LEN, ON_ROWS | ALWAYS(APPEND | ROTARY), "kv_len", has_lists, "const __global int"),
    TAKE(PARAM_KV_LEN, ADVANCE, "kv_len", NULL, "__global int"),
    TAKE(PARAM_KV_START, ON_ROWS, "kv_start", has_lists, "const __global int"),
    TAKE(PARAM_OFFSETS, ON_ROWS, "offsets", NULL, "const __global int"),
    TAKE(PARAM_CU_Q, ON_ROWS | ALWAYS(MERGE), "cu_q", is_varlen, "const __global int"),
    TAKE(PARAM_CU_K, ON_ROWS, "cu_k", is_varlen, "const __global int"),
    TAKE(PARAM_WORKSPACE, ON_ROWS, "workspace", NULL, "__global uint"),
    TAKE(PARAM_O_PARTS, MERGE, "o_parts", NULL, "const __global cla_scalar"),
    TAKE(PARAM_LSE_PARTS, MERGE, "lse_parts", NULL, "const __global cla_lse_elem"),
    TAKE(PARAM_BIAS, ON_SCORES, "bias", has_bias, "const __global cla_bias_elem"),
    TAKE(PARAM_MASK, ON_SCORES | BLOCK_MAP, "mask", has_mask, "const __global uchar"),
    TAKE(PARAM_BLOCK_MAP, ON_SCORES, "block_map", has_map, "const __global uchar"),
    TAKE(PARAM_BLOCK_MAP, BLOCK_MAP, "block_map", NULL, "__global uchar"),
    TAKE(PARAM_SLOPES, ON_SCORES, "slopes", has_alibi, "const __global float"),
    TAKE(PARAM_SINKS, FORWARD | SUM_DSINKS, "sinks", has_sinks, "const __global float"),
    TAKE(PARAM_BLOCK_TABLE, FORWARD | APPEND | ADVANCE, "block_table", is_paged, "const __global int"),
    TAKE(PARAM_K_SCALE, FORWARD, "k_scale", has_k_scale, "const __global float"),
    TAKE(PARAM_K_ZERO, FORWARD, "k_zero", has_k_zero, "const __global float"),
    TAKE(PARAM_V_SCALE, FORWARD, "v_scale", has_v_scale, "const __global float"),
    TAKE(PARAM_V_ZERO, FORWARD, "v_zero", has_v_zero, "const __global float"),
    TAKE(PARAM_K_SCALE, APPEND, "k_scale", NULL, "__global float"),
    TAKE(PARAM_K_ZERO, APPEND, "k_zero", NULL, "__global float"),
    TAKE(PARAM_V_SCALE, APPEND, "v_scale", NULL, "__global float"),
    TAKE(PARAM_V_ZERO, APPEND, "v_zero", NULL, "__global float"),
    TAKE(PARAM_ABSENT, FORWARD, "absent", is_paged, "const __global uchar"),
    TAKE(PARAM_NEW_K, APPEND, "new_k", NULL, "const __global cla_q_elem"),
    TAKE(PARAM_NEW_V, APPEND, "new_v", NULL, "const __global cla_q_elem"),
    TAKE(PARAM_NEW_LEN, APPEND | ADVANCE, "new_len", NULL, "const __global int"),
    TAKE(PARAM_COSINES, APPEND | ROTARY, "cosines", has_rotary, "const __global float"),
    TAKE(PARAM_SINES, APPEND | ROTARY, "sines", has_rotary, "const __global float"),
    TAKE(PARAM_POSITIONS, APPEND | ROTARY, "positions", has_rotary, "const __global int"),
    TAKE(PARAM_DROPPED, ADVANCE, "dropped", NULL, "__global int"),
    TAKE(PARAM_DOUT, DELTA | KEYS | QUERIES, "dout", NULL, "const __global cla_q_elem"),
    TAKE(PARAM_DLSE, DELTA | SUM_DSINKS, "dlse", NULL, "const __global cla_lse_elem"),
    TAKE(PARAM_DQ, QUERIES | SUM_DQ, "dq", NULL, "__global cla_q_elem"),
    TAKE(PARAM_DK, KEYS, "dk", NULL, "__global cla_k_elem"),
    TAKE(PARAM_DV, KEYS, "dv", NULL, "__global cla_v_elem"),
    TAKE(PARAM_DBIAS, KEYS | SUM_DBIAS, "dbias", has_bias, "__global cla_scalar"),
    TAKE(PARAM_DSLOPES, SUM_DSLOPES, "dslopes", NULL, "__global float"),
    TAKE(PARAM_DSINKS, SUM_DSINKS, "dsinks", NULL, "__global float"),

    TELL(ROWS_AT, ON_ROWS | ROTARY, q, NULL),
    TELL(ROWS_AT, ON_ROWS | APPEND, k, NULL),
    TELL(ROWS_AT, ON_ROWS | APPEND, v, NULL),
    TELL(ROWS_AT, FORWARD | MERGE | ROTARY | DELTA, o, NULL),
    TELL(ROWS_AT, FORWARD | MERGE | DELTA | SUM_DSINKS, lse, NULL),
    TELL(ROWS_AT, DELTA | KEYS | QUERIES, dout, NULL),
    TELL(ROWS_AT, DELTA | SUM_DSINKS, dlse, NULL),
    TELL(ROWS_AT, QUERIES | SUM_DQ, dq, NULL),
    TELL(ROWS_AT, KEYS, dk, NULL),
    TELL(ROWS_AT, KEYS, dv, NULL),
    TELL(ROWS_AT, BACKWARD, stats, NULL),
    TELL(ROWS_AT, MERGE, o_parts, NULL),
    TELL(ROWS_AT, MERGE, lse_parts, NULL),
    TELL(ROWS_AT, APPEND, new_k, NULL),
    TELL(ROWS_AT, APPEND, new_v, NULL),
    TELL(SCORES_AT, ON_SCORES, bias, has_bias),
    TELL(SCORES_AT, KEYS | SUM_DBIAS, dbias, has_bias),
    TELL(SCORES_AT, KEYS | SUM_DBIAS, bias_part, has_bias),
    TELL(SCORES_AT, ON_SCORES | BLOCK_MAP, mask, has_mask),
    TELL(SCORES_AT, ON_SCORES | BLOCK_MAP, map, has_map),
    TELL(LONG, ON_SCORES | SUM_DSLOPES, slopes_stride, has_alibi),
    TELL(LONG, ON_SCORES, slopes_offset, has_alibi),
    TELL(LONG, FORWARD | SUM_DSINKS, sinks_offset, has_sinks),
    TELL(LONG, ON_ROWS, q_len_offset, has_lists),
    TELL(LONG, ON_ROWS | ALWAYS(APPEND | ADVANCE | ROTARY), kv_len_offset, has_lists),
    TELL(LONG, ON_ROWS, kv_start_offset, has_lists),
    TELL(LONG, ON_ROWS, offsets_offset, NULL),
    TELL(LONG, ON_ROWS | ALWAYS(MERGE), cu_q_offset, is_varlen),
    TELL(LONG, MERGE, o_parts_stride, NULL),
    TELL(LONG, MERGE, lse_parts_stride, NULL),
    TELL(LONG, ON_ROWS, cu_k_offset, is_varlen),
    TELL(LONG, FORWARD | APPEND | ADVANCE, table_stride, is_paged),
    TELL(LONG, FORWARD | APPEND | ADVANCE, table_offset, is_paged),
    TELL(LONG, FORWARD | ALWAYS(APPEND), k_scale_offset, has_k_scale),
    TELL(LONG, FORWARD | ALWAYS(APPEND), k_zero_offset, has_k_zero),
    TELL(LONG, FORWARD | ALWAYS(APPEND), v_scale_offset, has_v_scale),
    TELL(LONG, FORWARD | ALWAYS(APPEND), v_zero_offset, has_v_zero),
    TELL_ALL(LONG, ON_SCORES, aux_offset, has_aux, captured),
    TELL(LONG, ON_ROWS, states_offset, NULL),
    TELL(LONG, ON_SCORES, workspace_offset, has_workspace),
    TELL(LONG, ON_SCORES, scale_bits, is_f64),
    TELL(LONG, ON_SCORES, softcap_bits, has_softcap_f64),
    TELL(LONG, BLOCK_MAP, blocks, NULL),
    TELL(LONG, APPEND | ADVANCE, new_len_offset, NULL),
    TELL(LONG, APPEND | ROTARY, cosines_offset, has_rotary),
    TELL(LONG, APPEND | ROTARY, sines_offset, has_rotary),
    TELL(LONG, APPEND | ROTARY, positions_offset, has_rotary),
    TELL(LONG, ADVANCE, dropped_offset, NULL),
    TELL(LONG, ROTARY, rotary_items, NULL),
    TELL(LONG, BACKWARD, stats_rows, NULL),
    TELL(LONG, KEYS | SUM_DBIAS, bias_cells, has_bias),
    TELL(LONG, KEYS, bias_losses, has_bias),
    TELL(LONG, BACKWARD, aux_cells, NULL),
    TELL_ALL(LONG, KEYS | SUM_DAUX, aux_at, has_marks, captured),
    TELL_ALL(LONG, SUM_DAUX, daux_offset, has_marks, captured),
    TELL(LONG, SUM_DSLOPES, dslopes_offset, NULL),
    TELL(LONG, SUM_DSINKS, dsinks_offset, NULL),
    TELL(FLOAT, ON_SCORES, scale, is_f32),
    TELL(FLOAT, ON_SCORES, scale_log2, is_f32),
    TELL(FLOAT, ON_SCORES, softcap, has_softcap),
    TELL(FLOAT, ON_ROWS, per_packed_head, NULL),
    TELL(INT, ON_ROWS | MERGE | ROTARY, h, NULL),
    TELL(INT, ON_ROWS, heads_per_kv, NULL),
    TELL(INT, ON_ROWS | MERGE | APPEND | ADVANCE | ROTARY, nq, NULL),
    TELL(INT, ON_ROWS | APPEND | ADVANCE, nk, NULL),
    TELL(INT, ON_ROWS | MERGE, parts, NULL),
    TELL(INT, ON_ROWS, part_least, NULL),
    TELL(INT, ON_ROWS | ALWAYS(MERGE), total_q, is_varlen),
    TELL(INT, ON_ROWS, total_k, is_varlen),
    TELL(INT, ON_ROWS, align, NULL),
    TELL(INT, ON_ROWS, offset, NULL),
    TELL(INT, ON_ROWS | ALWAYS(MERGE), flags, has_lists),
    TELL(INT, ON_ROWS | MERGE | APPEND | ADVANCE | ROTARY, given, NULL),
    TELL(INT, FORWARD | MERGE, write_lse, NULL),
    TELL(INT, ON_SCORES, window_low, has_window),
    TELL(INT, ON_SCORES, window_high, has_window),
    TELL(INT, ON_SCORES | BLOCK_MAP, block_q, has_map),
    TELL(INT, ON_SCORES | BLOCK_MAP, block_k, has_map),
    TELL(INT, FORWARD | APPEND | ADVANCE, page, is_paged),
    TELL(INT, FORWARD | APPEND | ADVANCE, page_magic, is_paged),
    TELL(INT, FORWARD | APPEND | ADVANCE, page_shift, is_paged),
    TELL(INT, FORWARD | APPEND | ADVANCE, pages, is_paged),
    TELL_ALL(INT, FORWARD | ALWAYS(APPEND), k_scale, has_k_scale, four),
    TELL_ALL(INT, FORWARD | ALWAYS(APPEND), k_zero, has_k_zero, four),
    TELL_ALL(INT, FORWARD | ALWAYS(APPEND), v_scale, has_v_scale, four),
    TELL_ALL(INT, FORWARD | ALWAYS(APPEND), v_zero, has_v_zero, four),
    TELL(INT, ON_ROWS, heads_inner, NULL),
    TELL(INT, ON_ROWS, packed_heads, NULL),
    TELL(INT, ON_ROWS, heads, NULL),
    TELL(INT, ON_ROWS, groups, NULL),
    TELL_ALL(INT, BLOCK_MAP, map_shape, NULL, four),
    TELL(INT, BLOCK_MAP, mask_q, NULL),
    TELL(INT, BLOCK_MAP, mask_k, NULL),
    TELL(INT, MERGE, rows, NULL),
    TELL(INT, MERGE, columns, NULL),
    TELL(INT, MERGE, merge_flags, NULL),
    TELL(INT, MERGE, lse_is_wide, NULL),
    TELL(INT, BACKWARD, wanted, NULL),
    TELL(INT, BACKWARD, tiles, NULL),
    TELL_ALL(INT, KEYS | SUM_DBIAS, bias_shape, has_bias, four),
    TELL_ALL(INT, KEYS | SUM_DAUX, aux_n, has_marks, captured),
    TELL(INT, KEYS, unit_b, NULL),
    TELL(INT, KEYS, unit_hk, NULL),
    TELL(INT, KEYS, shared, NULL),
    TELL(INT, APPEND | ROTARY, row_parts, NULL),
    TELL(INT, APPEND | ADVANCE, sequences, NULL),
    TELL(INT, APPEND, kv_heads, NULL),
    TELL(INT, APPEND | ROTARY, rotary_rows, has_rotary),
    TELL(INT, APPEND | ROTARY, rotary_width, has_rotary),
    TELL(INT, APPEND | ROTARY, interleaved, has_rotary),
};
enum { LIST = (int)(sizeof list / sizeof *list) };

static const struct {
    const char *name; /* in OpenCL C */
    size_t bytes;
} types[] = {
    [ROWS_AT] = { "cla_rows_at", sizeof(cla_rows_at) },
    [SCORES_AT] = { "cla_scores_at", sizeof(cla_scores_at) },
    [LONG] = { "cla_i64", sizeof(cla_i64) },
    [FLOAT] = { "cla_f32", sizeof(cla_f32) },
    [INT] = { "cla_i32", sizeof(cla_i32) },
};

static bool is_taken(int i, const struct target *t)
{
    const int pass = 1 << t->pass;
    return list[i].passes & ALWAYS(pass) || (list[i].passes & pass && (!list[i].taken || list[i].taken(t)));
}

/* ---- Calls ---- */

/* Captured buffers stand last, or the gradients of those that are marked. */
int params_buffers(int to[PARAMS], const struct target *t)
{
    int n = 0;
    for (int i = 0; i < LIST; i++)
        if (list[i].kind == BUFFER && is_taken(i, t))
            to[n++] = (int)list[i].at;
    for (int i = 0; ON_SCORES & 1 << t->pass && i < t->p->n_aux; i++)
        to[n++] = PARAM_AUX + i;
    for (int i = 0; SUM_DAUX & 1 << t->pass && i < t->p->n_aux; i++)
        if (t->p->aux_grads >> i & 1)
            to[n++] = PARAM_DAUX + i;
    return n;
}

static size_t bytes_of(int i, const struct target *t)
{
    return types[list[i].kind].bytes * (size_t)(list[i].members ? list[i].members(t) : 1);
}

/* What is behind `n` bytes of numbers, up to the next number of 64 bits. */
static size_t rest_of(size_t n)
{
    return (sizeof(cla_i64) - n % sizeof(cla_i64)) % sizeof(cla_i64);
}

size_t params_pack(void *to, const struct arguments *from, const struct target *t)
{
    static const unsigned char none[sizeof(cla_i64)];
    unsigned char *const out = to;
    size_t at = sizeof(cla_i64); /* `unused` */
    if (out)
        memcpy(out, none, at);
    for (int i = 0; i < LIST; i++) {
        if (list[i].kind == BUFFER || !is_taken(i, t))
            continue;
        const size_t n = bytes_of(i, t);
        if (out)
            memcpy(out + at, (const unsigned char *)from + list[i].at, n);
        at += n;
    }
    if (out)
        memcpy(out + at, none, rest_of(at));
    return at + rest_of(at);
}

size_t params_bytes(const struct target *t)
{
    int buffers[PARAMS];
    return params_pack(NULL, NULL, t) + sizeof(cla_i64) * (size_t)params_buffers(buffers, t);
}

/* ---- Text ---- */

static const char *buffer_type(int param, int i, const struct target *t)
{
    return param < PARAM_AUX    ? list[i].type
           : param < PARAM_DAUX ? mods_aux_type(t->p->aux[param - PARAM_AUX].type)
                                : "__global cla_scalar";
}

/* Names of captured buffers are the caller's: they get a prefix. */
static void write_name(struct text *to, int param, int i, const struct target *t)
{
    if (param < PARAM_AUX)
        text_add(to, "%s", list[i].name);
    else if (param < PARAM_DAUX)
        text_add(to, "aux_%s", t->p->aux[param - PARAM_AUX].name);
    else
        text_add(to, "daux_%s", t->p->aux[param - PARAM_DAUX].name);
}

/* The struct ends with a number of its own where a compiler would pad it: rusticl of Mesa 22.3 refuses an argument of
 * as many bytes as sizeof says there. */
static void write_struct(struct text *to, const struct target *t)
{
    size_t bytes = sizeof(cla_i64);
    text_add(to, "typedef struct {\n    cla_i64 unused;\n"); /* see args.h */
    for (int i = 0; i < LIST; i++) {
        if (list[i].kind == BUFFER || !is_taken(i, t))
            continue;
        text_add(to, "    %s %s", types[list[i].kind].name, list[i].name);
        if (list[i].members)
            text_add(to, "[%d]", list[i].members(t));
        text_add(to, ";\n");
        bytes += bytes_of(i, t);
    }
    text_add(to, "%s} cla_args;\n", rest_of(bytes) ? "    cla_i32 rest;\n" : "");
}

static bool takes(int param, const int *buffers, int n)
{
    while (n && buffers[n - 1] != param)
        n--;
    return n;
}

void params_write(struct text *to, const struct target *t)
{
    int buffers[PARAMS], row[PARAMS] = { 0 };
    const int n = params_buffers(buffers, t);
    for (int i = 0, at = 0; i < LIST; i++)
        if (list[i].kind == BUFFER && is_taken(i, t))
            row[at++] = i;
    write_struct(to, t);
    if (takes(PARAM_LSE, buffers, n))
        text_add(to, "typedef %s cla_lse_elem;\n", problem_lse_type(t->p) == CLATTN_F64 ? "double" : "float");
    if (takes(PARAM_BIAS, buffers, n))
        text_add(to, "typedef cla_elem_%s cla_bias_elem;\n", problem_type_name(t->p->bias_type));
    text_add(to, "typedef struct {\n    int unused;\n"); /* see args.h */
    for (int i = 0; i < n; i++) {
        text_add(to, "    %s *", buffer_type(buffers[i], row[i], t));
        write_name(to, buffers[i], row[i], t);
        text_add(to, ";\n");
    }
    text_add(to, "} cla_pointers;\n#define CLA_PARAMS");
    for (int i = 0; i < n; i++) {
        text_add(to, "%s \\\n    %s *cla_p_", i ? "," : "", buffer_type(buffers[i], row[i], t));
        write_name(to, buffers[i], row[i], t);
    }
    text_add(to, "\n#define CLA_TAKE_PARAMS(to)");
    for (int i = 0; i < n; i++) {
        text_add(to, " \\\n    to.");
        write_name(to, buffers[i], row[i], t);
        text_add(to, " = cla_p_");
        write_name(to, buffers[i], row[i], t);
        text_add(to, ";");
    }
    text_add(to, "\n");
}
