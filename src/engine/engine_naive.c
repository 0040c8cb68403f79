/* engine_naive.c - engine naive: a work-item per row, nothing shared. Runs wherever anything does
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine.h"

enum { WG, BK };
static const struct row rows[] = { { .tile = { { 32, 8 } }, .widest = D_MAX },
                                         { .tile = { { 1, 8 } }, .widest = D_MAX },
                                         { .widest = 0 } };

static int group(const struct engine *e, const struct tile *t)
{
    (void)e;
    return t->n[WG];
}
static int rows_of(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    (void)p;
    return group(e, t);
}
static int keys(const struct tile *t)
{
    return t->n[BK];
}

/* The last resort. */
static int rank(const struct caps *caps, const clattn_problem *p)
{
    (void)caps, (void)p;
    return 1;
}

const struct engine engine_naive = {
    .name = "naive",
    .fragment = "engine_naive.cl",
    .numbers = {
        [WG] = { "wg", "rows of Q in a work-group, one for each work-item", 1, 1024, TRY(1, 8, 32, 64, 128) },
        [BK] = { "bk", "keys in a tile", 1, CLA_CHAIN, TRY(8, 16, 32) },
    },
    .rows = rows,
    .width = 1,
    .exp = "exp_builtin.cl",
    .gather = "gather_square.cl",
    .rank = rank,
    .rows_per_group = rows_of,
    .items_per_group = group,
    .keys_per_tile = keys,
    .waves = 1,
    .uneven = 1,
};
