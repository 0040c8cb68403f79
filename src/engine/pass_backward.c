/* pass_backward.c - the passes of gradients. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/pass_backward.h"

#include "base/checked.h"
#include "engine/defines.h"
#include "engine/params.h"
#include "engine/slots.h"

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
    return pass_is_backward(p) && p->bias_type;
}

static bool is_sloped(const clattn_problem *p)
{
    return pass_is_backward(p) && p->flags & CLATTN_ALIBI;
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
}

/* ---- The table ---- */

static const struct pass passes[] = {
    [PASS_DELTA - PASS_DELTA] = { .name = "delta",
                                  .kernel = "cla_delta",
                                  .applies = pass_is_backward,
                                  .slots = slots_delta,
                                  .options = defines_rows,
                                  .items = items_for_rows,
                                  .groups = groups_of_row_blocks,
                                  .idle = idle_gradients },
    [PASS_BACKWARD_KEYS - PASS_DELTA] = { .name = "backward over keys",
                                          .kernel = "cla_backward_keys",
                                          .applies = pass_is_backward,
                                          .slots = slots_backward_keys,
                                          .options = defines_forward,
                                          .items = pass_items_of_engine,
                                          .groups = groups_of_keys,
                                          .group_bytes = bytes_of_key_sums,
                                          .idle = idle_gradients },
    [PASS_BACKWARD_QUERIES - PASS_DELTA] = { .name = "backward over queries",
                                             .kernel = "cla_backward_queries",
                                             .applies = pass_is_backward,
                                             .serves = has_queries_apart,
                                             .slots = slots_backward_queries,
                                             .options = defines_forward,
                                             .items = pass_items_of_engine,
                                             .groups = groups_of_queries,
                                             .group_bytes = bytes_of_query_sums,
                                             .idle = idle_gradients },
    [PASS_SUM_DQ - PASS_DELTA] = { .name = "sum of dQ",
                                   .kernel = "cla_sum_dq",
                                   .applies = pass_is_backward,
                                   .serves = has_stripes,
                                   .slots = slots_sum_dq,
                                   .options = defines_rows,
                                   .items = items_for_rows,
                                   .groups = groups_to_sum,
                                   .idle = idle_gradients },
    [PASS_SUM_DBIAS - PASS_DELTA] = { .name = "sum of dBias",
                                      .kernel = "cla_sum_dbias",
                                      .applies = is_biased,
                                      .slots = slots_sum_dbias,
                                      .options = defines_rows,
                                      .items = items_for_rows,
                                      .groups = groups_to_sum_bias,
                                      .idle = idle_gradients },
    [PASS_SUM_DSLOPES - PASS_DELTA] = { .name = "sum of dSlope",
                                        .kernel = "cla_sum_dslopes",
                                        .applies = is_sloped,
                                        .slots = slots_sum_dslopes,
                                        .options = defines_rows,
                                        .items = items_for_rows,
                                        .groups = groups_to_sum_slopes,
                                        .idle = idle_gradients },
    [PASS_SUM_DSINKS - PASS_DELTA] = { .name = "sum of dSink",
                                       .kernel = "cla_sum_dsinks",
                                       .applies = is_sinking,
                                       .slots = slots_sum_dsinks,
                                       .options = defines_rows,
                                       .items = items_for_rows,
                                       .groups = groups_to_sum_sinks,
                                       .idle = idle_gradients },
    [PASS_SUM_DAUX - PASS_DELTA] = { .name = "sum of dAux",
                                     .kernel = "cla_sum_daux",
                                     .applies = is_marked,
                                     .slots = slots_sum_daux,
                                     .options = defines_rows,
                                     .items = items_for_rows,
                                     .groups = groups_to_sum_aux,
                                     .idle = idle_gradients },
};

const struct pass *pass_backward_at(int id)
{
    return &passes[id - PASS_DELTA];
}
