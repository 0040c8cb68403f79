/* pass_backward.c - passes of gradients. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/pass.h"

#include "base/checked.h"
#include "engine/defines.h"
#include "engine/params.h"
#include "engine/slots.h"
#include "engine/slots_features.h"
#include "problem/feature.h"
#include "problem/mod_grads.h"
#include "problem/mods.h"

/* L and D of each row, and what stripes of keys add up (cl/passes/stats.cl). */
bool pass_backward_bytes(const struct target *t, const struct arguments *a, int64_t *bytes)
{
    const int64_t width = t->shape.width;
    const int64_t pitch = (t->p->d + width - 1) / width * width;
    const bool stripes = a->wanted & CLA_DQ_WANTED && t->config->engine->dq_in_stripes;
    const int64_t totals = a->tiles > (int64_t)CLA_CHAIN * a->parts; /* beside each dQ */
    const int64_t of_row = 2 + (stripes ? a->parts * pitch * (1 + totals) : 0);
    const int64_t sloped = a->wanted & CLA_DSLOPES_WANTED ? (int64_t)a->heads * a->tiles : 0;
    int64_t scalars, cells, slopes, tables;
    return checked_mul(a->stats_rows, of_row, &scalars) && checked_mul(sloped, pass_items_of_engine(t), &slopes) &&
           checked_mul(a->bias_cells, 2 * a->parts, &cells) &&
           checked_mul(a->aux_cells, 2 * (int64_t)a->groups, &tables) &&
           checked_mul(tables, t->shape.tables, &tables) &&
           checked_add(scalars, slopes, &scalars) && checked_add(scalars, tables, &scalars) &&
           checked_add(scalars, cells, &scalars) && checked_add(scalars, a->bias_losses, &scalars) &&
           checked_mul(scalars, t->shape.scalar_bytes, bytes);
}

/* Totals of what a work-group adds up, where it has more tiles than a segment (cl/engines/segments.cl). */
static int64_t tiles_of(const struct target *t, int64_t columns)
{
    return (columns + t->shape.keys - 1) / t->shape.keys;
}

static int64_t scalars_of_sum(const struct target *t, int width)
{
    const struct engine *const e = t->config->engine;
    return e->sum_scalars ? e->sum_scalars(&t->config->tile, width) : 0;
}

static int64_t bytes_of_key_sums(const struct target *t, const struct arguments *a)
{
    const int64_t tiles = tiles_of(t, a->nq) * a->heads_per_kv * (a->shared ? a->unit_b : 1);
    const int64_t sums = tiles > CLA_CHAIN ? scalars_of_sum(t, t->p->d) + scalars_of_sum(t, t->p->dv) : 0;
    return sums * t->shape.scalar_bytes + t->shape.own_bytes;
}

static int64_t bytes_of_query_sums(const struct target *t, const struct arguments *a)
{
    const int64_t sum = tiles_of(t, a->nk) > CLA_CHAIN ? scalars_of_sum(t, t->p->d) : 0;
    return sum * t->shape.scalar_bytes + t->shape.own_bytes;
}

/* Of passes whose work-groups have a block of rows of one head each, or of results. */
static int items_for_rows(const struct target *t)
{
    return t->shape.items > 1 ? pass_items_for_blocks(t) : 1;
}

static int64_t groups_of_row_blocks(const struct target *t, const struct arguments *a)
{
    (void)t;
    return a->wanted ? (int64_t)a->heads * ((a->nq + DEFINES_BLOCK - 1) / DEFINES_BLOCK) : 0;
}

static int64_t groups_of_keys(const struct target *t, const struct arguments *a)
{
    const int others = CLA_DSINKS_WANTED | (t->config->engine->dq_in_stripes ? 0 : CLA_DQ_WANTED);
    return a->wanted & ~others ? a->groups : 0;
}

static int64_t groups_of_queries(const struct target *t, const struct arguments *a)
{
    const int64_t own = t->shape.rows;
    return a->wanted & CLA_DQ_WANTED ? (int64_t)a->heads * ((a->nq + own - 1) / own) : 0;
}

static bool has_stripes(const struct engine *e)
{
    return e->dq_in_stripes;
}

static bool has_pass_over_queries(const struct engine *e)
{
    return !e->dq_in_stripes;
}

static int64_t groups_to_sum(const struct target *t, const struct arguments *a)
{
    return a->wanted & CLA_DQ_WANTED ? groups_of_row_blocks(t, a) : 0;
}

static int64_t groups_of_results(const struct target *t, int64_t n)
{
    const int of_group = defines_results(t);
    return (n + of_group - 1) / of_group;
}

static int64_t groups_to_sum_bias(const struct target *t, const struct arguments *a)
{
    return groups_of_results(t, a->bias_cells);
}

static int64_t groups_to_sum_slopes(const struct target *t, const struct arguments *a)
{
    return a->wanted & CLA_DSLOPES_WANTED ? groups_of_results(t, a->slopes_stride ? a->heads : a->h) : 0;
}

static int64_t groups_to_sum_sinks(const struct target *t, const struct arguments *a)
{
    (void)t;
    return a->wanted & CLA_DSINKS_WANTED ? (a->h + DEFINES_BLOCK - 1) / DEFINES_BLOCK : 0;
}

static int64_t groups_to_sum_aux(const struct target *t, const struct arguments *a)
{
    return groups_of_results(t, a->aux_cells);
}

static bool is_biased(const clattn_problem *p)
{
    return pass_is_backward(p) && p->bias_type;
}

static bool is_sloped(const clattn_problem *p)
{
    return pass_is_backward(p) && p->flags & PROBLEM_SLOPES;
}

static bool is_sinking(const clattn_problem *p)
{
    return pass_is_backward(p) && p->flags & CLATTN_SINKS;
}

static bool is_marked(const clattn_problem *p)
{
    return pass_is_backward(p) && p->aux_grads;
}

/* Nothing is wanted, and nothing that is divided by is 0. */
static void idle_gradients(struct arguments *a)
{
    pass_idle_rows(a);
    a->heads = 0;
    a->unit_b = a->unit_hk = 1;
    for (int i = 0; i < 4; i++)
        a->bias_shape[i] = 1;
    a->dbias.entries = a->dbias.heads = a->bias_part.entries = a->bias_part.heads = 1;
}

/* ---- Slots ---- */

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
static const char *slope_sums_slot(const struct target *t)
{
    return t->p->flags & PROBLEM_SLOPES ? "slope_sums.cl" : NULL;
}
static const char *bias_slopes_slot(const struct target *t)
{
    return t->p->flags & CLATTN_BIAS_SLOPES ? "grad_slopes.cl" : NULL;
}
/* Lanes are keys where keys are owned. */
static const char *gather_keys_slot(const struct target *t)
{
    return feature_any(t->p, FEATURE_GATHERS) ? "gather_row.cl" : NULL;
}

/* Passes that read or write rows of heads, or what comes of them, by a fragment of their own. */
#define ROW_PASS(name) \
    { \
        SLOTS_FIND_ROWS, { .fragment = "long_sums.cl" }, { .fragment = "stats.cl" }, { .fragment = name }, \
            { NULL, NULL, NULL }, \
    }
static const struct slot delta_slots[] = ROW_PASS("delta.cl");
static const struct slot sum_dq_slots[] = ROW_PASS("sum_dq.cl");
static const struct slot sum_dsinks_slots[] = ROW_PASS("sum_dsinks.cl");

/* Passes that sum up what lies in the workspace. */
#define SUMS \
    SLOTS_FIND_ROWS, { .fragment = "long_sums.cl" }, { .fragment = "stats.cl" }, { .fragment = "sums.cl" }
static const struct slot sum_dbias_slots[] = { SUMS, { .fragment = "sum_dbias.cl" }, { NULL, NULL, NULL } };
static const struct slot sum_dslopes_slots[] = { SUMS, { .fragment = "sum_dslopes.cl" }, { NULL, NULL, NULL } };

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

static const struct slot sum_daux_slots[] = {
    SUMS,
    { .write = write_daux },
    { .fragment = "sum_daux.cl" },
    { NULL, NULL, NULL },
};

/* Passes of gradients that go over tiles. */
#define OWNS(own) \
    SLOTS_FIND_ROWS, { .choose = slots_rows }, { .fragment = "storage_plain.cl" }, { .fragment = "rows.cl" }, \
        { .choose = slots_exp }, { .fragment = "long_sums.cl" }, { .fragment = "stats.cl" }, \
        { .fragment = "rows_gradient.cl" }, { .choose = slots_prefetch }, { .fragment = own }, \
        { .choose = slots_load }, { .write = slots_write_unit }, { .choose = slots_products }, \
        { .choose = shared_slot }, { .choose = backward_slot }
#define DIFFERENTIATES_SCORES \
    { .write = slots_features_masks }, { .write = slots_features_scores }, { .write = slots_features_gradients }, \
        { .write = slots_features_bias }, { .write = slots_features_weights }, { .fragment = "logits.cl" }

/* The caller's texts: here their derivatives tell what they look up. */
static void write_mods_of_keys(struct text *to, const struct target *t)
{
    mods_write_texts(to, t->p);
    mod_grads_write_texts(to, t->p, true);
}

static const struct slot keys_slots[] = {
    OWNS("own_keys.cl"),
    { .choose = shared_keys_slot },
    { .fragment = "tile.cl" },
    { .choose = gather_keys_slot },
    DIFFERENTIATES_SCORES,
    { .choose = segments_slot },
    { .choose = look_ups_slot },
    { .choose = slope_sums_slot },
    { .choose = bias_slopes_slot },
    { .write = slots_features_taken },
    { .fragment = "backward.cl" },
    { .fragment = "backward_keys.cl" },
    { .write = write_mods_of_keys },
    { NULL, NULL, NULL },
};

static const struct slot queries_slots[] = {
    OWNS("own_queries.cl"),
    { .choose = shared_queries_slot },
    { .fragment = "tile.cl" },
    { .choose = slots_gather },
    DIFFERENTIATES_SCORES,
    { .choose = segments_slot },
    { .fragment = "backward.cl" },
    { .fragment = "backward_queries.cl" },
    { .write = slots_write_mods },
    { NULL, NULL, NULL },
};

/* ---- The passes ---- */

const struct pass pass_backward_delta = {
    .kernel = "cla_delta",
    .calls = PASS_CALL_BACKWARD,
    .applies = pass_is_backward,
    .slots = delta_slots,
    .options = defines_rows,
    .items = items_for_rows,
    .groups = groups_of_row_blocks,
    .idle = idle_gradients,
};

const struct pass pass_backward_keys = {
    .kernel = "cla_backward_keys",
    .calls = PASS_CALL_BACKWARD,
    .judged = PASS_JUDGED_BY_GRADIENTS,
    .applies = pass_is_backward,
    .slots = keys_slots,
    .options = defines_forward,
    .items = pass_items_of_engine,
    .groups = groups_of_keys,
    .group_bytes = bytes_of_key_sums,
    .idle = idle_gradients,
};

const struct pass pass_backward_queries = {
    .kernel = "cla_backward_queries",
    .calls = PASS_CALL_BACKWARD,
    .applies = pass_is_backward,
    .serves = has_pass_over_queries,
    .slots = queries_slots,
    .options = defines_forward,
    .items = pass_items_of_engine,
    .groups = groups_of_queries,
    .group_bytes = bytes_of_query_sums,
    .idle = idle_gradients,
};

const struct pass pass_backward_sum_dq = {
    .kernel = "cla_sum_dq",
    .calls = PASS_CALL_BACKWARD,
    .applies = pass_is_backward,
    .serves = has_stripes,
    .slots = sum_dq_slots,
    .options = defines_rows,
    .items = items_for_rows,
    .groups = groups_to_sum,
    .idle = idle_gradients,
};

const struct pass pass_backward_sum_dbias = {
    .kernel = "cla_sum_dbias",
    .calls = PASS_CALL_BACKWARD,
    .applies = is_biased,
    .slots = sum_dbias_slots,
    .options = defines_rows,
    .items = items_for_rows,
    .groups = groups_to_sum_bias,
    .idle = idle_gradients,
};

const struct pass pass_backward_sum_dslopes = {
    .kernel = "cla_sum_dslopes",
    .calls = PASS_CALL_BACKWARD,
    .one_result = true,
    .applies = is_sloped,
    .slots = sum_dslopes_slots,
    .options = defines_rows,
    .items = items_for_rows,
    .groups = groups_to_sum_slopes,
    .idle = idle_gradients,
};

const struct pass pass_backward_sum_dsinks = {
    .kernel = "cla_sum_dsinks",
    .calls = PASS_CALL_BACKWARD,
    .applies = is_sinking,
    .slots = sum_dsinks_slots,
    .options = defines_rows,
    .items = items_for_rows,
    .groups = groups_to_sum_sinks,
    .idle = idle_gradients,
};

const struct pass pass_backward_sum_daux = {
    .kernel = "cla_sum_daux",
    .calls = PASS_CALL_BACKWARD,
    .applies = is_marked,
    .slots = sum_daux_slots,
    .options = defines_rows,
    .items = items_for_rows,
    .groups = groups_to_sum_aux,
    .idle = idle_gradients,
};
