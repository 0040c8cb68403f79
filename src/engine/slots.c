/* slots.c - what fills the slots of each pass's program: a fragment, or text for the problem. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/slots.h"

#include "engine/params.h"
#include "engine/slots_features.h"
#include "engine/source.h"
#include "problem/feature.h"
#include "problem/mod_grads.h"
#include "problem/mods.h"

#include <string.h>

/* ---- Which fragment fills a slot. A new one is one more row: the first row that applies wins. Masks, scores, bias and
 * sinks are written by slots_features.c. ---- */

struct choice {
    const char *fragment;
    bool (*applies)(const clattn_problem *);
};

static bool always(const clattn_problem *p)
{
    (void)p;
    return true;
}
static bool is_f64(const clattn_problem *p) { return p->type == CLATTN_F64; }
static const struct choice acc[] = { { "acc_f64.cl", is_f64 }, { "acc_f32.cl", always } };
static const struct choice lengths[] = { { "lengths.cl", problem_has_lists }, { NULL, always } };
static const struct choice kv[] = { { "kv_varlen.cl", problem_is_varlen },
                                    { "kv_padded.cl", problem_has_lists },
                                    { "kv_dense.cl", always } };
static bool is_paged(const clattn_problem *p) { return p->page; }
static bool has_scales(const clattn_problem *p)
{
    return problem_type_is(p->k_type, PROBLEM_SCALED) || problem_type_is(p->v_type, PROBLEM_SCALED);
}
static bool has_blocks(const clattn_problem *p)
{
    return problem_type_is(p->k_type, PROBLEM_BLOCKS) || problem_type_is(p->v_type, PROBLEM_BLOCKS);
}
static bool has_q4_0(const clattn_problem *p) { return p->k_type == CLATTN_Q4_0 || p->v_type == CLATTN_Q4_0; }
static const struct choice scaled[] = { { "storage_scaled.cl", has_scales }, { NULL, always } };
static const struct choice blocks[] = { { "storage_blocks.cl", has_blocks }, { NULL, always } };
static const struct choice rows[] = { { "rows_paged.cl", is_paged }, { "rows_strided.cl", always } };
static const char *chosen(const struct choice *c, const clattn_problem *p)
{
    while (!c->applies(p))
        c++;
    return c->fragment;
}

/* ---- Storage types ---- */

/* The fragment of a storage type: dtype_NAME.cl, or encode_NAME.cl. */
static void write_of_type(struct text *to, const char *what, int type)
{
    char name[32];
    struct text t = { name, sizeof name, 0 };
    text_add(&t, "%s_%s.cl", what, problem_type_name(type));
    source_write_fragment(to, name);
}

/* Each once. */
static void write_types(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    const int types[] = { p->type, p->k_type, p->v_type, p->o_type, p->bias_type };
    for (int i = 0; i < 5; i++) {
        bool again = !types[i];
        for (int j = 0; j < i && !again; j++)
            again = types[j] == types[i];
        if (!again)
            write_of_type(to, "dtype", types[i]);
    }
}

/* ---- Caches that are written ---- */

static bool has_rotary(const clattn_problem *p) { return p->flags & CLATTN_ROTARY; }
static const struct choice room[] = { { "room_paged.cl", is_paged }, { "room_strided.cl", always } };
static const struct choice rotation[] = { { "rotate.cl", has_rotary }, { NULL, always } };
static const struct choice source[] = { { "source_rotated.cl", has_rotary }, { "source_plain.cl", always } };

static void write_type(struct text *to, const struct target *t)
{
    write_of_type(to, "dtype", t->p->type);
}

/* Codes are written byte by byte, and need no words of their own. */
static void write_plain_type(struct text *to, int type)
{
    if (problem_type_is(type, PROBLEM_PLAIN))
        write_of_type(to, "dtype", type);
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
    if (problem_type_is(type, PROBLEM_PLAIN))
        text_add(to, "CLA_ENCODE_PLAIN(%s)\n", problem_type_name(type));
    else
        write_of_type(to, "encode", type);
}

static void write_encodings(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    if (has_scales(p))
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
static const char *values_slot(const struct target *t)
{
    return !has_q4_0(t->p) ? NULL : caps_looks_up(t->caps) ? "values_looked_up.cl" : "values_computed.cl";
}
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
static const char *products_slot(const struct target *t) { return t->config->engine->products; }
static const char *engine_slot(const struct target *t) { return t->config->engine->fragment; }
static const char *backward_slot(const struct target *t) { return t->config->engine->backward; }
/* Engines that add up dQ in stripes have one item, and one pass of gradients. */
static const char *where_shared(const struct target *t, const char *fragment)
{
    return t->config->engine->dq_in_stripes ? NULL : fragment;
}
static const char *shared_slot(const struct target *t) { return where_shared(t, "gradient_shared.cl"); }
static const char *shared_keys_slot(const struct target *t) { return where_shared(t, "gradient_keys.cl"); }
static const char *shared_queries_slot(const struct target *t) { return where_shared(t, "gradient_queries.cl"); }
static const char *segments_slot(const struct target *t)
{
    return t->config->engine->sum_scalars ? "segments.cl" : "segments_none.cl";
}
static const char *look_ups_slot(const struct target *t)
{
    return t->p->aux_grads ? t->config->engine->look_ups : NULL;
}
static const char *gather_slot(const struct target *t)
{
    return feature_any(t->p, FEATURE_GATHERS) ? t->config->engine->gather : NULL;
}
/* Lanes are keys where keys are owned. */
static const char *gather_keys_slot(const struct target *t)
{
    return feature_any(t->p, FEATURE_GATHERS) ? "gather_row.cl" : NULL;
}
static const char *total_slot(const struct target *t)
{
    return t->config->engine->total_scalars ? "total_workspace.cl" : "total_private.cl";
}
static const char *exp2_slot(const struct target *t) { return source_exp2(t->exp2); }
/* Of vectors of any width, and as good everywhere: little is computed beside what is read. */
static const char *merge_exp_slot(const struct target *t) { return is_f64(t->p) ? "exp_builtin.cl" : "exp_poly.cl"; }
static void write_output_type(struct text *to, const struct target *t) { write_of_type(to, "dtype", t->p->o_type); }

static void write_params(struct text *to, const struct target *t)
{
    text_add(to, "#line 1 \"params\"\n");
    params_write(to, t);
}
static void write_mods(struct text *to, const struct target *t)
{
    mods_write_texts(to, t->p);
    mod_grads_write_texts(to, t->p, t->pass == PASS_BACKWARD_KEYS);
}

/* How the slots of passes begin that go over rows of heads. */
#define FINDS_ROWS \
    { .fragment = "args.h" }, { .choose = acc_slot }, { .write = write_types }, { .fragment = "env.cl" }, \
        { .fragment = "transpose.cl" }, { .write = write_params }, { .fragment = "group.cl" }, \
        { .choose = lengths_slot }, { .choose = kv_slot }

const struct slot slots_forward[] = {
    FINDS_ROWS,
    { .choose = rows_slot },
    { .fragment = "storage_plain.cl" },
    { .choose = scaled_slot },
    { .choose = values_slot },
    { .choose = blocks_slot },
    { .fragment = "rows.cl" },
    { .write = slots_features_sink },
    { .choose = exp_slot },
    { .fragment = "weight.cl" },
    { .fragment = "epilogue_output.cl" },
    { .choose = prefetch_slot },
    { .fragment = "own_queries.cl" },
    { .choose = load_slot },
    { .choose = products_slot },
    { .choose = engine_slot },
    { .fragment = "tile.cl" },
    { .choose = gather_slot },
    { .write = slots_features_masks },
    { .write = slots_features_scores },
    { .write = slots_features_bias },
    { .fragment = "logits.cl" },
    { .fragment = "softmax.cl" },
    { .fragment = "long_sums.cl" },
    { .choose = total_slot },
    { .fragment = "total.cl" },
    { .fragment = "forward.cl" },
    { .write = write_mods },
    { NULL, NULL, NULL },
};

/* Passes that read or write rows of heads, or what comes of them, by a fragment of their own. */
#define ROW_PASS(name) \
    { \
        FINDS_ROWS, { .fragment = "long_sums.cl" }, { .fragment = "stats.cl" }, { .fragment = name }, \
            { NULL, NULL, NULL }, \
    }
const struct slot slots_delta[] = ROW_PASS("delta.cl");
const struct slot slots_sum_dq[] = ROW_PASS("sum_dq.cl");
const struct slot slots_sum_dsinks[] = ROW_PASS("sum_dsinks.cl");

/* Passes that sum up what lies in the workspace. */
#define SUMS \
    FINDS_ROWS, { .fragment = "long_sums.cl" }, { .fragment = "stats.cl" }, { .fragment = "sums.cl" }
const struct slot slots_sum_dbias[] = { SUMS, { .fragment = "sum_dbias.cl" }, { NULL, NULL, NULL } };
const struct slot slots_sum_dslopes[] = { SUMS, { .fragment = "sum_dslopes.cl" }, { NULL, NULL, NULL } };

/* Where each element of the gradients of captured buffers goes. */
static void write_daux(struct text *to, const struct target *t)
{
    text_add(to, "#line 1 \"daux\"\nCLA_FN void cla_put_daux(const cla_env *e, long i, cla_scalar x)\n{\n"
                 "    const cla_args *a = e->a;\n");
    for (int j = 0; j < t->p->n_aux; j++)
        if (t->p->aux_grads >> j & 1)
            text_add(to, "    if (i >= a->aux_at[%d] && i < a->aux_at[%d] + a->aux_n[%d])\n"
                         "        e->at.daux_%s[a->daux_offset[%d] + i - a->aux_at[%d]] = x;\n",
                     j, j, j, t->p->aux[j].name, j, j);
    text_add(to, "}\n");
}

const struct slot slots_sum_daux[] = {
    SUMS,
    { .write = write_daux },
    { .fragment = "sum_daux.cl" },
    { NULL, NULL, NULL },
};

/* Passes of gradients that go over tiles. */
#define OWNS(own) \
    FINDS_ROWS, { .choose = rows_slot }, { .fragment = "storage_plain.cl" }, { .fragment = "rows.cl" }, \
        { .choose = exp_slot }, { .fragment = "long_sums.cl" }, { .fragment = "stats.cl" }, \
        { .fragment = "rows_gradient.cl" }, { .choose = prefetch_slot }, { .fragment = own }, { .choose = load_slot }, \
        { .choose = products_slot }, { .choose = shared_slot }, { .choose = backward_slot }
#define DIFFERENTIATES_SCORES \
    { .write = slots_features_masks }, { .write = slots_features_scores }, { .write = slots_features_gradients }, \
        { .write = slots_features_bias }, { .fragment = "logits.cl" }

const struct slot slots_backward_keys[] = {
    OWNS("own_keys.cl"),
    { .choose = shared_keys_slot },
    { .fragment = "tile.cl" },
    { .choose = gather_keys_slot },
    DIFFERENTIATES_SCORES,
    { .choose = segments_slot },
    { .choose = look_ups_slot },
    { .write = slots_features_taken },
    { .fragment = "backward.cl" },
    { .fragment = "backward_keys.cl" },
    { .write = write_mods },
    { NULL, NULL, NULL },
};

const struct slot slots_backward_queries[] = {
    OWNS("own_queries.cl"),
    { .choose = shared_queries_slot },
    { .fragment = "tile.cl" },
    { .choose = gather_slot },
    DIFFERENTIATES_SCORES,
    { .choose = segments_slot },
    { .fragment = "backward.cl" },
    { .fragment = "backward_queries.cl" },
    { .write = write_mods },
    { NULL, NULL, NULL },
};

const struct slot slots_merge[] = {
    { .fragment = "args.h" },
    { .choose = acc_slot },
    { .write = write_output_type },
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
