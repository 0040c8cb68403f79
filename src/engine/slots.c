/* slots.c - what fills the slots of each pass's program: a fragment, or text for the problem. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/slots.h"

#include "engine/params.h"
#include "engine/source.h"
#include "problem/feature.h"
#include "problem/gqa.h"
#include "problem/mods.h"

#include <math.h>
#include <string.h>

/* ---- Which fragment fills a slot. A new one is one more row: the first row that applies wins. Masks, scores, bias and
 * sinks are rows of problem/feature.h. ---- */

struct choice {
    const char *fragment;
    bool (*applies)(const clattn_problem *);
};

static bool always(const clattn_problem *p)
{
    (void)p;
    return true;
}
static bool is_f64(const clattn_problem *p)
{
    return p->type == CLATTN_F64;
}
static const struct choice acc[] = { { "acc_f64.cl", is_f64 }, { "acc_f32.cl", always } };
static const struct choice lengths[] = { { "lengths.cl", problem_has_lists }, { NULL, always } };
static const struct choice kv[] = { { "kv_varlen.cl", problem_is_varlen },
                                    { "kv_padded.cl", problem_has_lists },
                                    { "kv_dense.cl", always } };
static bool is_paged(const clattn_problem *p)
{
    return p->page;
}
static bool has_scales(const clattn_problem *p)
{
    return problem_type_block(p->k_type).scaled || problem_type_block(p->v_type).scaled;
}
static bool is_blocks(int type)
{
    return problem_is_quantised(type) && !problem_type_block(type).scaled;
}
static bool has_blocks(const clattn_problem *p)
{
    return is_blocks(p->k_type) || is_blocks(p->v_type);
}
static const struct choice scaled[] = { { "storage_scaled.cl", has_scales }, { NULL, always } };
static const struct choice blocks[] = { { "storage_blocks.cl", has_blocks }, { NULL, always } };
static const struct choice rows[] = { { "rows_paged.cl", is_paged }, { "rows_strided.cl", always } };
static const char *chosen(const struct choice *c, const clattn_problem *p)
{
    while (!c->applies(p))
        c++;
    return c->fragment;
}

static const char *dtype(int type)
{
    static const char *const by_type[] = { [CLATTN_F32] = "dtype_f32.cl",
                                           [CLATTN_F16] = "dtype_f16.cl",
                                           [CLATTN_BF16] = "dtype_bf16.cl",
                                           [CLATTN_F64] = "dtype_f64.cl",
                                           [CLATTN_INT8] = "dtype_int8.cl",
                                           [CLATTN_INT4] = "dtype_int4.cl",
                                           [CLATTN_Q8_0] = "dtype_q8_0.cl",
                                           [CLATTN_Q4_0] = "dtype_q4_0.cl" };
    return by_type[type];
}

/* ---- Masks, scores, bias and sinks ---- */

static void write_feature(struct text *to, const struct feature *f, const clattn_problem *p)
{
    source_write_fragment(to, f->needs ? f->needs(p) : NULL);
    if (f->write)
        f->write(to, p);
    else
        source_write_fragment(to, f->fragment);
}

/* The features of a kind, or `none` where the problem asks for none of them. */
static void write_features(struct text *to, enum feature_kind kind, const char *none, const clattn_problem *p)
{
    bool some = false;
    FEATURE_EACH(f)
        if (f->kind == kind && feature_is_compiled(f, p)) {
            write_feature(to, f, p);
            some = true;
        }
    source_write_fragment(to, some ? NULL : none);
}

/* Storage types, each once. */
static void write_types(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    const int types[] = { p->type, p->k_type, p->v_type, p->o_type, p->bias_type };
    for (int i = 0; i < 5; i++) {
        bool again = !types[i];
        for (int j = 0; j < i && !again; j++)
            again = types[j] == types[i];
        if (!again)
            source_write_fragment(to, dtype(types[i]));
    }
}

/* How the answers of all masks become one: x starts as `from`, and for each mask x = before cla_NAME_ after. */
static const struct {
    const char *head, *from, *before, *after, *tail;
} combinations[] = {
    { "int cla_mask_begin(const cla_env *e, int q0, int q1)", "int x = 0;", "x = max(x, cla_", "_begin(e, q0, q1));",
      "return x;" },
    { "int cla_mask_end(const cla_env *e, int q0, int q1)", "int x = e->k_end;", "x = min(x, cla_", "_end(e, q0, q1));",
      "return x;" },
    { "int cla_mask_next(const cla_env *e, int q0, int q1, int k, int end)", "", "k = cla_",
      "_next(e, q0, q1, k, end);", "return k;" },
};
enum { COMBINATIONS = sizeof combinations / sizeof *combinations };

static void write_masks(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    write_features(to, FEATURE_MASK, NULL, p);
    text_add(to, "#line 1 \"masks\"\n");
    for (int c = 0; c < COMBINATIONS; c++) {
        text_add(to, "CLA_FN %s\n{\n    %s\n", combinations[c].head, combinations[c].from);
        FEATURE_EACH(f)
            if (f->kind == FEATURE_MASK && feature_is_compiled(f, p))
                text_add(to, "    %s%s%s\n", combinations[c].before, f->name, combinations[c].after);
        text_add(to, "    %s\n}\n", combinations[c].tail);
    }
    text_add(to, "CLA_FN void cla_mask_drop(const cla_tile *t, const cla_env *e, real *s, int q0, int q1, int k0, "
                 "int k1, int n)\n{\n");
    FEATURE_EACH(f)
        if (f->kind == FEATURE_MASK && feature_is_compiled(f, p))
            text_add(to, "    if (!cla_%s_full(e, q0, q1, k0, k1)) cla_%s_drop(t, e, s, k0, n);\n", f->name, f->name);
    text_add(to, "}\n");
}

static void write_scores(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    write_features(to, FEATURE_SCORE, NULL, p);
    text_add(to, "#line 1 \"scores\"\n#define CLA_SCORE_DROPS %d\n",
             -feature_any_compiled(p, FEATURE_SCORE, FEATURE_HAS_HOLES));
    text_add(to, "CLA_FN real cla_score(const cla_env *e, real s, integer q, integer k)\n{\n");
    FEATURE_EACH(f)
        if (f->kind == FEATURE_SCORE && feature_is_compiled(f, p))
            text_add(to, "    s = cla_%s(e, s, q, k);\n", f->name);
    text_add(to, "    return s;\n}\n");
}

/* ---- Caches that are written ---- */

static bool has_rotary(const clattn_problem *p)
{
    return p->flags & CLATTN_ROTARY;
}
static const struct choice room[] = { { "room_paged.cl", is_paged }, { "room_strided.cl", always } };
static const struct choice rotation[] = { { "rotate.cl", has_rotary }, { NULL, always } };
static const struct choice source[] = { { "source_rotated.cl", has_rotary }, { "source_plain.cl", always } };

/* What encodes elements in a quantised storage type. */
static const char *const encodings[] = { [CLATTN_INT8] = "encode_int8.cl",
                                         [CLATTN_INT4] = "encode_int4.cl",
                                         [CLATTN_Q8_0] = "encode_q8_0.cl",
                                         [CLATTN_Q4_0] = "encode_q4_0.cl" };

int slots_part(int type, int32_t group)
{
    enum { PLAIN = 16 };
    const struct problem_block block = problem_type_block(type);
    return block.scaled && group > 1 ? group : block.elements > 2 ? block.elements : PLAIN;
}

static void write_type(struct text *to, const struct target *t)
{
    source_write_fragment(to, dtype(t->p->type));
}

/* Elements of quantised types are written byte by byte, and need no words of their own. */
static void write_plain_type(struct text *to, int type)
{
    source_write_fragment(to, problem_is_quantised(type) ? NULL : dtype(type));
}

/* Storage types of the caches, each once: those that rows are not stored in already. */
static void write_cache_types(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    write_type(to, t);
    if (p->k_type != p->type)
        write_plain_type(to, p->k_type);
    if (p->v_type != p->type && p->v_type != p->k_type)
        write_plain_type(to, p->v_type);
}

static void write_encoding(struct text *to, int type)
{
    if (problem_is_quantised(type))
        source_write_fragment(to, encodings[type]);
    else
        text_add(to, "CLA_ENCODE_PLAIN(%s)\n", problem_type_name(type));
}

static void write_encodings(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    if (problem_type_block(p->k_type).scaled || problem_type_block(p->v_type).scaled)
        source_write_fragment(to, "encode_scaled.cl");
    source_write_fragment(to, "encode_plain.cl");
    write_encoding(to, p->k_type);
    if (p->v_type != p->k_type)
        write_encoding(to, p->v_type);
}

static const char *room_slot(const struct target *t) { return chosen(room, t->p); }
static const char *rotation_slot(const struct target *t) { return chosen(rotation, t->p); }
static const char *source_slot(const struct target *t) { return chosen(source, t->p); }

/* ---- The slots of each pass ---- */

/* The engine's 2^x, or what takes the place of a device's own. */
static const char *exp2_of(const struct engine *e, const struct caps *caps)
{
    const bool native = !strcmp(e->exp, source_exp2(CAPS_EXP2_NATIVE));
    return native ? source_exp2(__atomic_load_n(&caps->exp2, __ATOMIC_ACQUIRE)) : e->exp;
}

static const char *acc_slot(const struct target *t) { return chosen(acc, t->p); }
static const char *lengths_slot(const struct target *t) { return chosen(lengths, t->p); }
static const char *kv_slot(const struct target *t) { return chosen(kv, t->p); }
static const char *rows_slot(const struct target *t) { return chosen(rows, t->p); }
static const char *scaled_slot(const struct target *t) { return chosen(scaled, t->p); }
static const char *blocks_slot(const struct target *t) { return chosen(blocks, t->p); }
static const char *exp_slot(const struct target *t)
{
    return is_f64(t->p) ? "exp_builtin.cl" : exp2_of(t->config->engine, t->caps);
}
static const char *prefetch_slot(const struct target *t)
{
    return caps_prefetches(t->caps) ? "prefetch_line.cl" : "prefetch_none.cl";
}
static const char *load_slot(const struct target *t)
{
    const struct engine *const e = t->config->engine;
    return e->load ? e->load(t->p) : NULL;
}
static const char *engine_slot(const struct target *t) { return t->config->engine->fragment; }
static const char *gather_slot(const struct target *t)
{
    return feature_any(t->p, FEATURE_GATHERS) ? t->config->engine->gather : NULL;
}
static const char *total_slot(const struct target *t)
{
    return t->config->engine->total_scalars ? "total_workspace.cl" : "total_private.cl";
}
static const char *exp2_slot(const struct target *t) { return source_exp2(t->exp2); }
/* Of vectors of any width, and as good everywhere: little is computed beside what is read. */
static const char *merge_exp_slot(const struct target *t) { return is_f64(t->p) ? "exp_builtin.cl" : "exp_poly.cl"; }
static const char *output_type_slot(const struct target *t) { return dtype(t->p->o_type); }

static void write_params(struct text *to, const struct target *t)
{
    text_add(to, "#line 1 \"params\"\n");
    params_write(to, t);
}
static void write_sink(struct text *to, const struct target *t)
{
    write_features(to, FEATURE_SINK, "sink_none.cl", t->p);
}
static void write_bias(struct text *to, const struct target *t)
{
    write_features(to, FEATURE_BIAS, "bias_none.cl", t->p);
}
static void write_mods(struct text *to, const struct target *t)
{
    mods_write_texts(to, t->p);
}

const struct slot slots_forward[] = {
    { .fragment = "args.h" },
    { .choose = acc_slot },
    { .write = write_types },
    { .fragment = "env.cl" },
    { .fragment = "transpose.cl" },
    { .write = write_params },
    { .fragment = "group.cl" },
    { .choose = lengths_slot },
    { .choose = kv_slot },
    { .choose = rows_slot },
    { .fragment = "storage_plain.cl" },
    { .choose = scaled_slot },
    { .choose = blocks_slot },
    { .fragment = "rows.cl" },
    { .write = write_sink },
    { .choose = exp_slot },
    { .fragment = "weight.cl" },
    { .fragment = "epilogue_output.cl" },
    { .choose = prefetch_slot },
    { .choose = load_slot },
    { .choose = engine_slot },
    { .fragment = "tile.cl" },
    { .choose = gather_slot },
    { .write = write_masks },
    { .write = write_scores },
    { .write = write_bias },
    { .fragment = "softmax.cl" },
    { .choose = total_slot },
    { .fragment = "total.cl" },
    { .fragment = "forward.cl" },
    { .write = write_mods },
    { NULL, NULL, NULL },
};

const struct slot slots_merge[] = {
    { .fragment = "args.h" },
    { .choose = acc_slot },
    { .choose = output_type_slot },
    { .fragment = "env.cl" },
    { .fragment = "transpose.cl" },
    { .write = write_params },
    { .choose = merge_exp_slot },
    { .fragment = "merge.cl" },
    { NULL, NULL, NULL },
};

const struct slot slots_block_map[] = {
    { .fragment = "args.h" },
    { .write = write_params },
    { .fragment = "block_map.cl" },
    { NULL, NULL, NULL },
};

const struct slot slots_append[] = {
    { .fragment = "args.h" },
    { .choose = acc_slot },
    { .write = write_cache_types },
    { .fragment = "env.cl" },
    { .write = write_params },
    { .fragment = "exact.cl" },
    { .fragment = "new_rows.cl" },
    { .choose = room_slot },
    { .choose = rotation_slot },
    { .choose = source_slot },
    { .fragment = "scales.cl" },
    { .write = write_encodings },
    { .fragment = "append.cl" },
    { NULL, NULL, NULL },
};

const struct slot slots_advance[] = {
    { .fragment = "args.h" },
    { .choose = acc_slot },
    { .write = write_type },
    { .fragment = "env.cl" },
    { .write = write_params },
    { .fragment = "new_rows.cl" },
    { .choose = room_slot },
    { .fragment = "advance.cl" },
    { NULL, NULL, NULL },
};

const struct slot slots_rotary[] = {
    { .fragment = "args.h" },
    { .choose = acc_slot },
    { .write = write_type },
    { .fragment = "env.cl" },
    { .write = write_params },
    { .fragment = "exact.cl" },
    { .fragment = "rotate.cl" },
    { .fragment = "rotary.cl" },
    { NULL, NULL, NULL },
};

const struct slot slots_exp2_test[] = {
    { .fragment = "args.h" },
    { .fragment = "acc_f32.cl" },
    { .fragment = "dtype_f32.cl" },
    { .fragment = "env.cl" },
    { .choose = exp2_slot },
    { .fragment = "exp2_test.cl" },
    { NULL, NULL, NULL },
};

/* ---- Options ---- */

/* How K or V is quantised, if there are scales to say so. */
static void add_groups(struct text *to, char name, int type, int32_t group, bool has_zero)
{
    if (problem_type_block(type).scaled)
        text_add(to, " -DCLA_%c_GROUP=%d -DCLA_%c_HAS_ZERO=%d", name, (int)group, name, has_zero);
}

void slots_forward_options(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    const struct caps *const caps = t->caps;
    const struct config *const c = t->config;
    const struct engine *e = c->engine;
    text_add(to, " -cl-mad-enable -DCLA_D=%d -DCLA_DV=%d -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s -DCLA_TO=%s", (int)p->d,
             (int)p->dv, problem_type_name(p->type), problem_type_name(p->k_type), problem_type_name(p->v_type),
             problem_type_name(p->o_type));
    if (p->bias_type)
        text_add(to, " -DCLA_TB=%s", problem_type_name(p->bias_type));
    text_add(to, " -DCLA_PAGED=%d", is_paged(p));
    add_groups(to, 'K', p->k_type, p->k_group, p->flags & CLATTN_K_ZERO);
    add_groups(to, 'V', p->v_type, p->v_group, p->flags & CLATTN_V_ZERO);
    text_add(to, " -DCLA_O_LIKE_Q=%d -DCLA_DROPS=%d -DCLA_NATURAL=%d -DCLA_SCALES_LATE=%d "
             "-DCLA_DIAGONAL=%d -DCLA_PACKS_HEADS=%d",
             p->o_type == p->type, problem_has_holes(p), problem_changes_scores(p), fabs(p->scale) > 1,
             feature_any_compiled(p, FEATURE_MASK, FEATURE_KNOWS_DIAGONAL),
             gqa_rows(p, e->rows_per_group(&c->tile)).packs_heads);
    FEATURE_EACH(f)
        if (f->options && f->applies(p))
            f->options(to, p);
    text_add(to, " -DCLA_WIDTH=%d", engine_width(e, &c->tile));
    for (int i = 0; e->numbers[i].name; i++) {
        text_add(to, " -DCLA_");
        for (const char *s = e->numbers[i].name; *s; s++)
            text_add(to, "%c", *s - 'a' + 'A');
        text_add(to, "=%d", c->tile.n[i]);
    }
    text_add(to, " -DCLA_FMA=%d -DCLA_SUB_GROUP=%d -DCLA_NV_CC=%d", is_f64(p) ? caps->fma64 : caps->fma,
             caps->sub_group, caps->nv_cc);
    text_add(to, "%s%s", caps->sub_group ? " -cl-intel-256-GRF-per-thread" : "", e->options ? e->options : "");
}

/* An engine of one item to a group has vectors, and a thread for each group: columns are in vectors there. Elsewhere
 * they are in neighbouring items. */
struct merge_shape slots_merge_shape(const struct target *t)
{
    enum { COLUMN_ITEMS = 32, LANES = 8, VECTORS = 4 };
    const struct config *const c = t->config;
    struct merge_shape s = { 1, 1, VECTORS, engine_width(c->engine, &c->tile), 0 };
    if (c->engine->items_per_group(&c->tile) > 1) {
        const int most = (int)(t->caps->max_group < COLUMN_ITEMS * LANES ? t->caps->max_group : COLUMN_ITEMS * LANES);
        s = (struct merge_shape){ 1, 1, 1, 1, 0 };
        while (2 * s.items <= most)
            s.items *= 2;
        s.column_items = s.items < COLUMN_ITEMS ? s.items : COLUMN_ITEMS;
    }
    const int columns = s.column_items * s.vectors * s.width;
    s.chunks = (t->p->dv + columns - 1) / columns;
    return s;
}

void slots_merge_options(struct text *to, const struct target *t)
{
    const struct merge_shape s = slots_merge_shape(t);
    const char *const type = problem_type_name(t->p->o_type);
    text_add(to, " -cl-mad-enable -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s -DCLA_TO=%s", type, type, type, type);
    text_add(to, " -DCLA_ITEMS=%d -DCLA_COLUMN_ITEMS=%d -DCLA_VECTORS=%d -DCLA_WIDTH=%d", s.items, s.column_items,
             s.vectors, s.width);
}

/* Rows as they are given are the only ones with a type of their own here: what is written is bytes to begin with. */
void slots_append_options(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    const char *const type = problem_type_name(p->type);
    const int k = slots_part(p->k_type, p->k_group), v = slots_part(p->v_type, p->v_group);
    text_add(to, " -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s -DCLA_TO=%s -DCLA_WIDTH=1 -DCLA_D=%d -DCLA_DV=%d", type, type,
             type, type, (int)p->d, (int)p->dv);
    text_add(to, " -DCLA_INTO_K=%s -DCLA_INTO_V=%s -DCLA_K_GROUP=%d -DCLA_V_GROUP=%d -DCLA_K_ZERO=%d -DCLA_V_ZERO=%d",
             problem_type_name(p->k_type), problem_type_name(p->v_type), (int)p->k_group, (int)p->v_group,
             !!(p->flags & CLATTN_K_ZERO), !!(p->flags & CLATTN_V_ZERO));
    text_add(to, " -DCLA_K_PART=%d -DCLA_V_PART=%d -DCLA_K_PARTS=%d -DCLA_V_PARTS=%d", k, v,
             (int)problem_groups(p->d, k), (int)problem_groups(p->dv, v));
}

void slots_exp2_options(struct text *to, const struct target *t)
{
    (void)t;
    text_add(to, " -cl-mad-enable -DCLA_TQ=f32 -DCLA_TK=f32 -DCLA_TV=f32 -DCLA_TO=f32 -DCLA_WIDTH=4");
}
