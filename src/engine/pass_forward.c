/* pass_forward.c - passes of forward calls: attention itself, merging, scores and block maps. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/pass.h"

#include "base/checked.h"
#include "cl/passes/parts.h"
#include "engine/defines.h"
#include "engine/params.h"
#include "engine/slots.h"
#include "engine/slots_features.h"
#include "engine/split.h"

/* ---- Attention ---- */

static bool has_scales(const clattn_problem *p)
{
    return problem_type_is(p->k_type, PROBLEM_SCALED) || problem_type_is(p->v_type, PROBLEM_SCALED);
}
static bool has_blocks(const clattn_problem *p)
{
    return problem_type_is(p->k_type, PROBLEM_BLOCKS) || problem_type_is(p->v_type, PROBLEM_BLOCKS);
}
static bool has_q4_0(const clattn_problem *p) { return p->k_type == CLATTN_Q4_0 || p->v_type == CLATTN_Q4_0; }
static const char *scaled_slot(const struct target *t) { return has_scales(t->p) ? "storage_scaled.cl" : NULL; }
static const char *values_slot(const struct target *t)
{
    return !has_q4_0(t->p) ? NULL : caps_looks_up(t->caps) ? "values_looked_up.cl" : "values_computed.cl";
}
static const char *blocks_slot(const struct target *t) { return has_blocks(t->p) ? "storage_blocks.cl" : NULL; }
static const char *engine_slot(const struct target *t) { return t->config->engine->fragment; }
static const char *total_slot(const struct target *t)
{
    return t->config->engine->total_scalars ? "total_workspace.cl" : "total_private.cl";
}

/* As far as the engine, and what is done to scores: of pass scores as well. */
#define SLOTS_SCORES \
    SLOTS_FIND_ROWS, { .choose = slots_rows }, { .fragment = "storage_plain.cl" }, { .choose = scaled_slot }, \
        { .choose = values_slot }, { .choose = blocks_slot }, { .fragment = "rows.cl" }, \
        { .write = slots_features_sink }, { .choose = slots_exp }, { .fragment = "weight.cl" }, \
        { .fragment = "epilogue_output.cl" }, { .choose = slots_prefetch }, { .fragment = "own_queries.cl" }, \
        { .choose = slots_load }, { .write = slots_write_unit }, { .choose = slots_products }, \
        { .choose = slots_surfaces }, { .choose = engine_slot }, { .fragment = "tile.cl" }, \
        { .choose = slots_gather }, { .write = slots_features_masks }, \
        { .write = slots_features_scores }, { .write = slots_features_bias }

static const struct slot rows_slots[] = {
    SLOTS_SCORES,
    { .fragment = "logits.cl" },
    { .fragment = "softmax.cl" },
    { .write = slots_features_weights },
    { .fragment = "long_sums.cl" },
    { .choose = total_slot },
    { .fragment = "total.cl" },
    { .fragment = "parts.h" },
    { .fragment = "forward.cl" },
    { .write = slots_write_mods },
    { NULL, NULL, NULL },
};

static int64_t groups_of_rows(const struct target *t, const struct arguments *a)
{
    (void)t;
    return a->groups;
}

/* What the engine itself needs, and where a part has more keys than a segment the sums of segments
 * (cl/engines/total.cl). */
static int64_t bytes_of_engine(const struct target *t, const struct arguments *a)
{
    const struct shape *const s = &t->shape;
    const int64_t segment = (int64_t)CLA_CHAIN * s->keys;
    const int64_t keys = split_keys(a->nk, a->parts, a->part_least, s->keys);
    return s->own_bytes + (keys > segment ? s->total_bytes : 0);
}

const struct pass pass_forward_rows = {
    .kernel = "cla_forward",
    .calls = PASS_CALL_FORWARD,
    .judged = PASS_JUDGED_BY_ROWS,
    .applies = pass_is_forward,
    .slots = rows_slots,
    .options = defines_forward,
    .items = pass_items_of_engine,
    .groups = groups_of_rows,
    .group_bytes = bytes_of_engine,
    .idle = pass_idle_rows,
};

/* ---- Merging ---- */

/* Of vectors of any width, and as good everywhere: little is computed beside what is read. */
static const char *merge_exp_slot(const struct target *t)
{
    return t->p->type == CLATTN_F64 ? "exp_builtin.cl" : "exp_poly.cl";
}
static void write_output_type(struct text *to, const struct target *t) { slots_write_type(to, "dtype", t->p->o_type); }

static const struct slot merge_slots[] = {
    { .fragment = "args.h" },
    { .fragment = "compilers.cl" },
    { .choose = slots_acc },
    { .write = write_output_type },
    { .fragment = "env.cl" },
    { .fragment = "transpose.cl" },
    { .write = slots_write_params },
    { .choose = merge_exp_slot },
    { .fragment = "parts.h" },
    { .fragment = "merge.cl" },
    { NULL, NULL, NULL },
};

int64_t pass_forward_state_rows(const struct arguments *a)
{
    return (int64_t)a->heads * a->packed_heads * a->nq;
}

/* States of all parts (cl/passes/epilogue_output.cl): O and LSE of each row. Pass merge counts their rows in an int. */
bool pass_forward_bytes(const struct target *t, const struct arguments *a, int64_t *bytes)
{
    const int64_t rows = pass_forward_state_rows(a), of_row = (t->p->dv + 1) * t->shape.scalar_bytes;
    *bytes = 0;
    if (a->parts < 2)
        return true;
    return rows * t->shape.merge.chunks <= INT32_MAX && checked_mul(rows * a->parts, of_row, bytes);
}

static int items_to_merge(const struct target *t)
{
    return t->shape.merge.items;
}

/* Items of a row's columns; the others have other rows, or share its parts. */
static int64_t groups_to_merge(const struct target *t, const struct arguments *a)
{
    const struct merge_shape s = t->shape.merge;
    const int most = s.items / s.column_items;
    const int64_t rows = most / cla_lanes(a->parts, t->p->flags & CLATTN_BATCH_INVARIANT ? 1 : most);
    return ((int64_t)a->rows + rows - 1) / rows * s.chunks;
}

static void idle_merge(struct arguments *a)
{
    a->h = a->nq = a->columns = 1;
}

const struct pass pass_forward_merge = {
    .kernel = "cla_merge",
    .calls = PASS_CALL_FORWARD | PASS_CALL_MERGE,
    .judged = PASS_JUDGED_IN_PARTS,
    .applies = pass_is_forward,
    .slots = merge_slots,
    .options = defines_merge,
    .items = items_to_merge,
    .groups = groups_to_merge,
    .idle = idle_merge,
};

/* ---- Scores ---- */

static const struct slot scores_slots[] = {
    SLOTS_SCORES,
    { .write = slots_features_weights },
    { .fragment = "scores.cl" },
    { .write = slots_write_mods },
    { NULL, NULL, NULL },
};

static bool has_scores(const clattn_problem *p)
{
    return p->flags & CLATTN_SCORES && pass_is_forward(p);
}

static int64_t bytes_of_engine_alone(const struct target *t, const struct arguments *a)
{
    (void)a;
    return t->shape.own_bytes;
}

const struct pass pass_forward_scores = {
    .kernel = "cla_scores_out",
    .calls = PASS_CALL_SCORES,
    .judged = PASS_JUDGED_BY_SCORES,
    .applies = has_scores,
    .slots = scores_slots,
    .options = defines_forward,
    .items = pass_items_of_engine,
    .groups = groups_of_rows,
    .group_bytes = bytes_of_engine_alone,
    .idle = pass_idle_rows,
};

/* ---- Making a block map ---- */

static const struct slot block_map_slots[] = {
    { .fragment = "args.h" },
    { .write = slots_write_params },
    { .fragment = "block_map.cl" },
    { NULL, NULL, NULL },
};

static bool makes_maps(const clattn_problem *p)
{
    enum { BOTH = CLATTN_MASK | CLATTN_BLOCK_MAP };
    return (p->flags & BOTH) == BOTH && pass_is_forward(p);
}

static int64_t groups_of_blocks(const struct target *t, const struct arguments *a)
{
    const int items = pass_items_for_blocks(t);
    return (a->blocks + items - 1) / items;
}

const struct pass pass_forward_block_map = {
    .kernel = "cla_block_map",
    .calls = PASS_CALL_BLOCK_MAP,
    .judged = PASS_JUDGED_BY_MAP,
    .applies = makes_maps,
    .slots = block_map_slots,
    .items = pass_items_for_blocks,
    .groups = groups_of_blocks,
};
