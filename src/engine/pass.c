/* pass.c - the passes, but for those of gradients. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/pass_backward.h"

#include "base/checked.h"
#include "engine/params.h"
#include "engine/defines.h"
#include "engine/slots.h"
#include "engine/split.h"

/* ---- Forward ---- */

bool pass_is_backward(const clattn_problem *p)
{
    return p->flags & CLATTN_BACKWARD;
}

static bool is_forward(const clattn_problem *p)
{
    return !pass_is_backward(p);
}

int pass_items_of_engine(const struct target *t)
{
    return t->shape.items;
}

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

/* A grid of one spare group: it reads a length here and there, and writes nothing but its workspace. */
void pass_idle_rows(struct arguments *a)
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

/* States of all parts (cl/passes/epilogue_output.cl): O and LSE of each row. Pass merge counts their rows in an int. */
bool pass_bytes_of_states(const struct target *t, const struct arguments *a, int64_t *bytes)
{
    const int64_t rows = pass_state_rows(a), of_row = (t->p->dv + 1) * t->shape.scalar_bytes;
    *bytes = 0;
    if (a->parts < 2)
        return true;
    return rows * t->shape.merge.chunks <= INT32_MAX && checked_mul(rows * a->parts, of_row, bytes);
}

static int items_to_merge(const struct target *t)
{
    return t->shape.merge.items;
}

/* Items of a row's columns; the others have other rows, or share its parts: cla_lanes() of cl/passes/merge.cl. */
static int64_t groups_to_merge(const struct target *t, const struct arguments *a)
{
    const struct merge_shape s = t->shape.merge;
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

int pass_items_for_blocks(const struct target *t)
{
    return t->shape.items_of_others;
}

static int64_t groups_of_blocks(const struct target *t, const struct arguments *a)
{
    const int items = pass_items_for_blocks(t);
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
    const int items = pass_items_for_blocks(t);
    return a->sequences * (((int64_t)a->nq * a->row_parts + items - 1) / items);
}

/* Of several all look through a block table. */
static int items_for_sequence(const struct target *t)
{
    return t->p->page ? pass_items_for_blocks(t) : 1;
}

static int64_t groups_of_sequences(const struct target *t, const struct arguments *a)
{
    (void)t;
    return a->sequences;
}

static int64_t groups_of_pairs(const struct target *t, const struct arguments *a)
{
    const int items = pass_items_for_blocks(t);
    return (a->rotary_items + items - 1) / items;
}

/* No sequence, so that all groups are spare ones; and nothing that is divided by is 0. */
static void idle_sequences(struct arguments *a)
{
    a->nq = a->row_parts = a->kv_heads = a->rotary_rows = 1;
}

/* ---- The table ---- */

static const struct pass passes[] = {
    [PASS_FORWARD] = { .name = "forward",
                       .kernel = "cla_forward",
                       .applies = is_forward,
                       .slots = slots_forward,
                       .options = defines_forward,
                       .items = pass_items_of_engine,
                       .groups = groups_of_rows,
                       .group_bytes = bytes_of_engine,
                       .idle = pass_idle_rows },
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
                         .items = pass_items_for_blocks,
                         .groups = groups_of_blocks },
    [PASS_APPEND] = { .name = "append",
                      .kernel = "cla_append",
                      .applies = appends,
                      .slots = slots_append,
                      .options = defines_append,
                      .items = pass_items_for_blocks,
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
                      .items = pass_items_for_blocks,
                      .groups = groups_of_pairs,
                      .idle = idle_sequences },
    [PASS_EXP2] = { .name = "2^x",
                    .kernel = "cla_power",
                    .slots = slots_exp2_test,
                    .options = defines_exp2 },
};

const struct pass *pass_at(int id)
{
    return id < PASS_DELTA || id == PASS_EXP2 ? &passes[id] : pass_backward_at(id);
}

bool pass_applies(int id, const clattn_problem *p, const struct engine *e)
{
    const struct pass *const pass = pass_at(id);
    return pass->applies(p) && (!pass->serves || pass->serves(e));
}

int pass_main(const clattn_problem *p)
{
    return pass_is_backward(p) ? PASS_BACKWARD_KEYS : PASS_FORWARD;
}
