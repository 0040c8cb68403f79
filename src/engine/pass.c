/* pass.c - the table of passes. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/pass.h"

#include "base/checked.h"
#include "engine/params.h"
#include "engine/defines.h"
#include "engine/slots.h"
#include "engine/split.h"

/* ---- Forward ---- */

static bool is_backward(const clattn_problem *p)
{
    return p->flags & CLATTN_BACKWARD;
}

static bool is_forward(const clattn_problem *p)
{
    return !is_backward(p);
}

static int items_of_engine(const struct target *t)
{
    return t->config->engine->items_per_group(&t->config->tile);
}

static int64_t groups_of_rows(const struct target *t, const struct arguments *a)
{
    (void)t;
    return a->groups;
}

static int64_t words_of_engine(const struct target *t, const struct arguments *a)
{
    (void)a;
    return (int64_t)items_of_engine(t) * t->config->engine->own_words * (int64_t)sizeof(cl_uint);
}

/* What the engine itself needs, and where a part has more keys than a segment (cl/total.cl) the sums of segments. */
static int64_t bytes_of_engine(const struct target *t, const struct arguments *a)
{
    const struct engine *const e = t->config->engine;
    const struct tile *const tile = &t->config->tile;
    const int64_t segment = (int64_t)CLA_CHAIN * e->keys_per_tile(tile);
    const int64_t keys = split_keys(a->nk, a->parts, a->part_least, e->keys_per_tile(tile));
    const int64_t total =
        e->total_scalars && keys > segment ? e->total_scalars(tile, t->p) * engine_scalar_bytes(t->p) : 0;
    return e->items_per_group(tile) * total + words_of_engine(t, a);
}

/* A grid of one spare group: it reads a length here and there, and writes nothing but its workspace. */
static void idle_rows(struct arguments *a)
{
    a->parts = a->part_least = 1;
    a->h = a->heads_per_kv = a->nq = a->nk = a->packed_heads = a->heads = 1;
    a->per_packed_head = 1;
    a->block_q = a->block_k = 1;
}

/* ---- Merging ---- */

int64_t pass_state_rows(const struct arguments *a)
{
    return (int64_t)a->heads * a->packed_heads * a->nq;
}

/* States of all parts (cl/epilogue_output.cl): O and LSE of each row. Pass merge counts their rows in an int. */
static bool bytes_of_states(const struct target *t, const struct arguments *a, int64_t *bytes)
{
    const int64_t rows = pass_state_rows(a), of_row = (t->p->dv + 1) * engine_scalar_bytes(t->p);
    *bytes = 0;
    if (a->parts < 2)
        return true;
    return rows * defines_merge_shape(t).chunks <= INT32_MAX && checked_mul(rows * a->parts, of_row, bytes);
}

static int items_to_merge(const struct target *t)
{
    return defines_merge_shape(t).items;
}

/* Items of a row's columns; the others have other rows, or share its parts: as cla_lanes() of cl/merge.cl says. */
static int64_t groups_to_merge(const struct target *t, const struct arguments *a)
{
    const struct merge_shape s = defines_merge_shape(t);
    const int most = s.items / s.column_items;
    const bool may_share = !(t->p->flags & CLATTN_BATCH_INVARIANT);
    int lanes = 1;
    while (may_share && 2 * lanes <= most && a->parts >= 4 * lanes)
        lanes *= 2;
    const int64_t rows = most / lanes;
    return ((int64_t)a->rows + rows - 1) / rows * s.chunks;
}

static void idle_merge(struct arguments *a)
{
    a->h = a->nq = a->columns = 1;
}

/* ---- Making a block map ---- */

static bool makes_maps(const clattn_problem *p)
{
    enum { BOTH = CLATTN_MASK | CLATTN_BLOCK_MAP };
    return (p->flags & BOTH) == BOTH && is_forward(p);
}

static int items_for_blocks(const struct target *t)
{
    enum { ENOUGH = 64 };
    return t->caps->max_group < ENOUGH ? (int)t->caps->max_group : ENOUGH;
}

static int64_t groups_of_blocks(const struct target *t, const struct arguments *a)
{
    const int items = items_for_blocks(t);
    return (a->blocks + items - 1) / items;
}

/* ---- Appending to caches, and rotating ---- */

static bool appends(const clattn_problem *p)
{
    return p->flags & CLATTN_APPEND;
}

static bool rotates(const clattn_problem *p)
{
    return p->flags & CLATTN_ROTARY;
}

static int64_t groups_of_new_rows(const struct target *t, const struct arguments *a)
{
    const int items = items_for_blocks(t);
    return a->sequences * (((int64_t)a->nq * a->row_parts + items - 1) / items);
}

/* Of several all look through a block table. */
static int items_for_sequence(const struct target *t)
{
    return t->p->page ? items_for_blocks(t) : 1;
}

static int64_t groups_of_sequences(const struct target *t, const struct arguments *a)
{
    (void)t;
    return a->sequences;
}

static int64_t groups_of_pairs(const struct target *t, const struct arguments *a)
{
    const int items = items_for_blocks(t);
    return (a->rotary_items + items - 1) / items;
}

/* No sequence, so that all groups are spare ones; and nothing that is divided by is 0. */
static void idle_sequences(struct arguments *a)
{
    a->nq = a->row_parts = a->kv_heads = a->rotary_rows = 1;
}

/* ---- Backward ---- */

/* L and D of each row, and what stripes of keys add up (cl/stats.cl). */
static bool bytes_of_gradients(const struct target *t, const struct arguments *a, int64_t *bytes)
{
    const int64_t width = engine_width(t->config->engine, &t->config->tile);
    const int64_t pitch = (t->p->d + width - 1) / width * width;
    const bool stripes = a->wanted & CLA_DQ_WANTED && t->config->engine->dq_in_stripes;
    const int64_t totals = a->tiles > (int64_t)CLA_CHAIN * a->parts; /* beside each dQ */
    const int64_t of_row = 2 + (stripes ? a->parts * pitch * (1 + totals) : 0);
    const int64_t sloped = a->wanted & CLA_DSLOPES_WANTED ? (int64_t)a->heads * a->tiles : 0;
    int64_t scalars, cells, slopes, tables;
    return checked_mul(a->stats_rows, of_row, &scalars) && checked_mul(sloped, items_of_engine(t), &slopes) &&
           checked_mul(a->bias_cells, 2 * a->parts, &cells) &&
           checked_mul(a->aux_cells, 2 * (int64_t)a->groups, &tables) &&
           checked_mul(tables, engine_tables(t->config->engine, &t->config->tile), &tables) &&
           checked_add(scalars, slopes, &scalars) && checked_add(scalars, tables, &scalars) &&
           checked_add(scalars, cells, &scalars) && checked_add(scalars, a->bias_losses, &scalars) &&
           checked_mul(scalars, engine_scalar_bytes(t->p), bytes);
}

/* Totals of what a work-group adds up, where it has more tiles than a segment (cl/segments.cl). */
static int64_t tiles_of(const struct target *t, int64_t columns)
{
    const int bk = t->config->engine->keys_per_tile(&t->config->tile);
    return (columns + bk - 1) / bk;
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
    return sums * engine_scalar_bytes(t->p) + words_of_engine(t, a);
}

static int64_t bytes_of_query_sums(const struct target *t, const struct arguments *a)
{
    const int64_t sum = tiles_of(t, a->nk) > CLA_CHAIN ? scalars_of_sum(t, t->p->d) : 0;
    return sum * engine_scalar_bytes(t->p) + words_of_engine(t, a);
}

/* Of passes whose work-groups have a block of rows of one head each, or of results. */
static int items_for_rows(const struct target *t)
{
    return t->config->engine->items_per_group(&t->config->tile) > 1 ? items_for_blocks(t) : 1;
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
    const int64_t own = t->config->engine->rows_per_group(&t->config->tile);
    return a->wanted & CLA_DQ_WANTED ? (int64_t)a->heads * ((a->nq + own - 1) / own) : 0;
}

static bool has_stripes(const struct engine *e)
{
    return e->dq_in_stripes;
}

static bool has_queries_apart(const struct engine *e)
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
    return is_backward(p) && p->bias_type;
}

static bool is_sloped(const clattn_problem *p)
{
    return is_backward(p) && p->flags & CLATTN_ALIBI;
}

static bool is_sinking(const clattn_problem *p)
{
    return is_backward(p) && p->flags & CLATTN_SINKS;
}

static bool is_marked(const clattn_problem *p)
{
    return is_backward(p) && p->aux_grads;
}

/* Nothing is wanted, and nothing that is divided by is 0. */
static void idle_gradients(struct arguments *a)
{
    idle_rows(a);
    a->heads = 0;
    a->unit_b = a->unit_hk = 1;
    for (int i = 0; i < 4; i++)
        a->bias_shape[i] = 1;
}

/* ---- The table ---- */

static const struct pass passes[] = {
    [PASS_FORWARD] = { .name = "forward",
                       .kernel = "cla_forward",
                       .applies = is_forward,
                       .slots = slots_forward,
                       .options = defines_forward,
                       .items = items_of_engine,
                       .groups = groups_of_rows,
                       .call_bytes = bytes_of_states,
                       .group_bytes = bytes_of_engine,
                       .idle = idle_rows },
    [PASS_MERGE] = { .name = "merge",
                     .kernel = "cla_merge",
                     .applies = is_forward,
                     .slots = slots_merge,
                     .options = defines_merge,
                     .items = items_to_merge,
                     .groups = groups_to_merge,
                     .idle = idle_merge },
    [PASS_BLOCK_MAP] = { .name = "block map",
                         .kernel = "cla_block_map",
                         .applies = makes_maps,
                         .slots = slots_block_map,
                         .items = items_for_blocks,
                         .groups = groups_of_blocks },
    [PASS_APPEND] = { .name = "append",
                      .kernel = "cla_append",
                      .applies = appends,
                      .slots = slots_append,
                      .options = defines_append,
                      .items = items_for_blocks,
                      .groups = groups_of_new_rows,
                      .idle = idle_sequences },
    [PASS_ADVANCE] = { .name = "advance",
                       .kernel = "cla_advance",
                       .applies = appends,
                       .slots = slots_advance,
                       .options = defines_append,
                       .items = items_for_sequence,
                       .groups = groups_of_sequences,
                       .idle = idle_sequences },
    [PASS_ROTARY] = { .name = "rotary",
                      .kernel = "cla_rotary",
                      .applies = rotates,
                      .slots = slots_rotary,
                      .options = defines_append,
                      .items = items_for_blocks,
                      .groups = groups_of_pairs,
                      .idle = idle_sequences },
    [PASS_DELTA] = { .name = "delta",
                     .kernel = "cla_delta",
                     .applies = is_backward,
                     .slots = slots_delta,
                     .options = defines_rows,
                     .items = items_for_rows,
                     .groups = groups_of_row_blocks,
                     .call_bytes = bytes_of_gradients,
                     .idle = idle_gradients },
    [PASS_BACKWARD_KEYS] = { .name = "backward over keys",
                             .kernel = "cla_backward_keys",
                             .applies = is_backward,
                             .slots = slots_backward_keys,
                             .options = defines_forward,
                             .items = items_of_engine,
                             .groups = groups_of_keys,
                             .call_bytes = bytes_of_gradients,
                             .group_bytes = bytes_of_key_sums,
                             .idle = idle_gradients },
    [PASS_BACKWARD_QUERIES] = { .name = "backward over queries",
                                .kernel = "cla_backward_queries",
                                .applies = is_backward,
                                .serves = has_queries_apart,
                                .slots = slots_backward_queries,
                                .options = defines_forward,
                                .items = items_of_engine,
                                .groups = groups_of_queries,
                                .call_bytes = bytes_of_gradients,
                                .group_bytes = bytes_of_query_sums,
                                .idle = idle_gradients },
    [PASS_SUM_DQ] = { .name = "sum of dQ",
                      .kernel = "cla_sum_dq",
                      .applies = is_backward,
                      .serves = has_stripes,
                      .slots = slots_sum_dq,
                      .options = defines_rows,
                      .items = items_for_rows,
                      .groups = groups_to_sum,
                      .call_bytes = bytes_of_gradients,
                      .idle = idle_gradients },
    [PASS_SUM_DBIAS] = { .name = "sum of dBias",
                         .kernel = "cla_sum_dbias",
                         .applies = is_biased,
                         .slots = slots_sum_dbias,
                         .options = defines_rows,
                         .items = items_for_rows,
                         .groups = groups_to_sum_bias,
                         .call_bytes = bytes_of_gradients,
                         .idle = idle_gradients },
    [PASS_SUM_DSLOPES] = { .name = "sum of dSlope",
                           .kernel = "cla_sum_dslopes",
                           .applies = is_sloped,
                           .slots = slots_sum_dslopes,
                           .options = defines_rows,
                           .items = items_for_rows,
                           .groups = groups_to_sum_slopes,
                           .call_bytes = bytes_of_gradients,
                           .idle = idle_gradients },
    [PASS_SUM_DSINKS] = { .name = "sum of dSink",
                          .kernel = "cla_sum_dsinks",
                          .applies = is_sinking,
                          .slots = slots_sum_dsinks,
                          .options = defines_rows,
                          .items = items_for_rows,
                          .groups = groups_to_sum_sinks,
                          .call_bytes = bytes_of_gradients,
                          .idle = idle_gradients },
    [PASS_SUM_DAUX] = { .name = "sum of dAux",
                        .kernel = "cla_sum_daux",
                        .applies = is_marked,
                        .slots = slots_sum_daux,
                        .options = defines_rows,
                        .items = items_for_rows,
                        .groups = groups_to_sum_aux,
                        .call_bytes = bytes_of_gradients,
                        .idle = idle_gradients },
    [PASS_EXP2] = { .name = "2^x",
                    .kernel = "cla_power",
                    .slots = slots_exp2_test,
                    .options = defines_exp2 },
};

const struct pass *pass_at(int id)
{
    return &passes[id];
}

bool pass_applies(int id, const clattn_problem *p, const struct engine *e)
{
    return passes[id].applies(p) && (!passes[id].serves || passes[id].serves(e));
}

int pass_main(const clattn_problem *p)
{
    return is_backward(p) ? PASS_BACKWARD_KEYS : PASS_FORWARD;
}
