/* engine_cpu.c - engine cpu: one work-item with explicit vectors, whose lanes are rows of Q
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine.h"

enum { W, NV, RK, RD, BK };
static const struct row rows[] = {
    /*           w nv rk rd bk */
    { .tile = { { 0, 1, 8, 8, 64 } }, .widest = D_MAX, .most_shared = 16, .narrowest = 16 }, /* no idle vectors */
    { .tile = { { 0, 2, 8, 8, 64 } }, .widest = 320, .most_shared = 32, .narrowest = 16 },
    { .tile = { { 0, 1, 8, 8, 64 } }, .widest = D_MAX, .most_shared = 8, .broadest = 8 },
    { .tile = { { 0, 2, 6, 6, 64 } }, .widest = D_MAX, .most_shared = 16, .broadest = 8 },
    { .tile = { { 0, 2, 8, 8, 32 } }, .widest = 160, .most_rows = 128, .narrowest = 16, .causal = true },
    { .tile = { { 0, 4, 6, 6, 32 } }, .widest = 96, .narrowest = 16, .converted = true },
    { .tile = { { 0, 4, 6, 6, 64 } }, .widest = 320, .narrowest = 16 },
    { .tile = { { 0, 4, 6, 4, 64 } }, .widest = 96, .narrowest = 16 },
    { .tile = { { 0, 4, 4, 4, 32 } }, .widest = 96, .narrowest = 16 },
    { .tile = { { 0, 2, 8, 8, 64 } }, .widest = 320, .narrowest = 16 },
    { .tile = { { 0, 1, 12, 12, 64 } }, .widest = D_MAX, .narrowest = 16 },
    { .tile = { { 0, 3, 4, 4, 64 } }, .widest = D_MAX, .broadest = 8 }, /* 16 registers, 12 of them sums */
    { .tile = { { 0, 2, 6, 6, 64 } }, .widest = D_MAX, .broadest = 8 },
    { .tile = { { 0, 4, 2, 2, 64 } }, .widest = 192, .broadest = 8 },
    { .tile = { { 0, 2, 4, 4, 16 } }, .widest = D_MAX },
    { .tile = { { 0, 4, 6, 4, 48 } }, .widest = 256, .narrowest = 16, .backward = true },
    { .tile = { { 0, 3, 8, 8, 64 } }, .widest = 256, .narrowest = 16, .backward = true },
    { .tile = { { 0, 2, 8, 8, 48 } }, .widest = D_MAX, .narrowest = 16, .backward = true },
    { .tile = { { 0, 3, 4, 4, 48 } }, .widest = 256, .broadest = 8, .backward = true },
    { .tile = { { 0, 2, 6, 6, 48 } }, .widest = D_MAX, .backward = true },
    { .tile = { { 0, 2, 4, 4, 16 } }, .widest = D_MAX, .backward = true },
    { .widest = 0 },
};

/* Backward: K^T, V^T and their gradients, P, dS and scores before they were changed, rounded up to as many queries as
 * dQ takes at a time, three converted tiles. */
static int64_t backward_bytes(const int *n, const clattn_problem *p)
{
    const int64_t keys = n[W] * n[NV], rows = keys > n[BK] ? keys : n[BK];
    const int64_t row = engine_round_up((p->d > p->dv ? p->d : p->dv), n[W]);
    return engine_scalar_bytes(p) * (2 * keys * (p->d + p->dv) + 3 * (n[BK] + 2 * n[RK]) * keys + 3 * rows * row);
}

static cl_int fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const int *n = t->n;
    (void)caps;
    /* Everything lives on the driver thread's stack: Q^T, O^T, S, a converted tile, and the total of O^T with its
     * losses. */
    const int64_t rows = n[W] * n[NV];
    const int64_t s = engine_round_up(n[BK], n[W]), row = engine_round_up((p->d > p->dv ? p->d : p->dv), n[W]);
    const int64_t forward = engine_scalar_bytes(p) * (rows * (p->d + 3 * p->dv + s) + n[BK] * row);
    const int64_t bytes = p->flags & CLATTN_BACKWARD ? backward_bytes(n, p) : forward;
    enum { PRIVATE_MAX = 768 << 10 };
    if (bytes > PRIVATE_MAX)
        REFUSE("needs %lld KiB of private memory, at most %d are taken", (long long)(bytes >> 10), PRIVATE_MAX >> 10);
    return CL_SUCCESS;
}

static int rows_per_group(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    (void)e, (void)p;
    return t->n[W] * t->n[NV];
}
static int64_t sum_scalars(const struct tile *t, int width)
{
    return (int64_t)rows_per_group(NULL, t, NULL) * width;
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

/* Rows are converted once for each tile, unless they are stored as they are computed with; of pages it is looked up
 * once where they lie. Backward reads rows of Q and dO as well, and those of K by whole vectors. */
static const char *load(const clattn_problem *p)
{
    const bool backward = p->flags & CLATTN_BACKWARD;
    const bool rows_as_used = p->type == CLATTN_F64 || p->type == CLATTN_F32;
    const bool stored_as_used = p->type == CLATTN_F64 || (p->k_type == CLATTN_F32 && p->v_type == CLATTN_F32);
    if (backward)
        return stored_as_used && rows_as_used && p->d % 16 == 0 ? "load_rows.cl" : "load_tile.cl";
    return !stored_as_used ? "load_tile.cl" : p->page ? "load_pages.cl" : "load_rows.cl";
}

static int rank(const struct caps *caps, const clattn_problem *p)
{
    (void)p;
    return engine_vectors_are_fast(caps) ? 40 : 15;
}

const struct engine engine_cpu = {
    .name = "cpu",
    .fragment = "engine_cpu.cl",
    .products = "products_cpu.cl",
    .backward = "engine_cpu_backward.cl",
    .look_ups = "engine_cpu_look_ups.cl",
    .dq_in_stripes = true,
    .numbers = {
        [W] = { "w", "lanes of a vector: rows of Q", 2, 16, TRY(2, 4, 8, 16) },
        [NV] = { "nv", "vectors of rows: a work-group has w nv rows", 1, 8, TRY(1, 2, 3, 4) },
        [RK] = { "rk", "keys whose scores are summed at a time, in rk nv registers", 1, 24, TRY(2, 4, 6, 8, 12) },
        [RD] = { "rd", "columns of V whose output is summed at a time, in rd nv registers",
                 1, 24, TRY(2, 4, 6, 8, 12) },
        [BK] = { "bk", "keys in a tile", 1, CLA_CHAIN, TRY(16, 32, 64) },
    },
    .rows = rows,
    .width_at = W,
    .exp = "exp_poly.cl",
    .gather = "gather_square.cl",
    .load = load,
    .rank = rank,
    .fits = fits,
    .rows_per_group = rows_per_group,
    .items_per_group = one_item,
    .keys_per_tile = keys,
    .sum_scalars = sum_scalars,
    .waves = 2,
    .uneven = 2,
};
