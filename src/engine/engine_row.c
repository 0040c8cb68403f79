/* engine_row.c - engine row: one work-item with explicit vectors along Q, K and V, for a few rows of Q
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine.h"

#include "engine/split.h"

enum { W, NR, RK, RD, BK };
static const struct row rows[] = {
    /*           w nr rk rd bk */
    { .tile = { { 0, 1, 8, 8, 64 } }, .widest = D_MAX, .most_shared = 1 },
    { .tile = { { 0, 2, 4, 4, 64 } }, .widest = D_MAX, .most_shared = 2 },
    { .tile = { { 0, 4, 4, 4, 64 } }, .widest = D_MAX, .most_shared = 4, .narrowest = 16 },
    { .tile = { { 0, 8, 2, 2, 64 } }, .widest = D_MAX, .narrowest = 16 },
    { .tile = { { 0, 4, 2, 2, 64 } }, .widest = D_MAX },
    { .widest = 0 },
};

static cl_int fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const int *n = t->n;
    (void)caps, (void)p;
    if (16 % n[RK])
        REFUSE("rk is %d, no power of 2", n[RK]);
    if (n[BK] % n[W])
        REFUSE("w %d does not divide bk %d", n[W], n[BK]);
    return CL_SUCCESS;
}

static int rows_per_group(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    (void)e, (void)p;
    return t->n[NR];
}
static int keys(const struct tile *t)
{
    return t->n[BK];
}
static int one_item(const struct engine *e, const struct tile *t)
{
    (void)e, (void)t;
    return 1;
}

/* Of engine cpu's lanes, which are rows, half would stay idle or more; or all have a row, but of few queries that share
 * wide keys, as in generation: K and V are not in caches then, and this engine asks for them ahead. In narrow ones its
 * sums across lanes cost more than that saves. */
static bool rows_are_few(const struct caps *caps, const clattn_problem *p)
{
    const int64_t rows = split_shared_rows(p), lanes = engine_lanes(caps, p);
    const bool is_wide = p->d >= 128 && 2 * p->sizes.nq <= lanes;
    return p->sizes.nq && rows <= (is_wide ? lanes : lanes / 2);
}

static int rank(const struct caps *caps, const clattn_problem *p)
{
    return !engine_vectors_are_fast(caps) ? 12 : rows_are_few(caps, p) ? 50 : 30;
}

const struct engine engine_row = {
    .name = "row",
    .fragment = "engine_row.cl",
    .numbers = {
        [W] = { "w", "lanes of a vector: elements of a row of Q, K or V, or keys of a row of scores",
                2, 16, TRY(2, 4, 8, 16) },
        [NR] = { "nr", "rows of Q in a work-group", 1, 16, TRY(1, 2, 4, 8) },
        [RK] = { "rk", "keys whose scores are summed at a time, a power of 2", 1, 16, TRY(2, 4, 8, 16) },
        [RD] = { "rd", "vectors of V's columns whose output is summed at a time", 1, 24, TRY(2, 4, 8, 16) },
        [BK] = { "bk", "keys in a tile, a multiple of w", 1, CLA_CHAIN, TRY(16, 32, 64) },
    },
    .rows = rows,
    .width_at = W,
    .exp = "exp_poly.cl",
    .gather = "gather_row.cl",
    .rank = rank,
    .fits = fits,
    .rows_per_group = rows_per_group,
    .items_per_group = one_item,
    .keys_per_tile = keys,
    .waves = 2,
    .uneven = 2,
};
