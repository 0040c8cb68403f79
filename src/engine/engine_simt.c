/* engine_simt.c - engine simt: any GPU, in plain OpenCL C 1.2
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine.h"

#include "problem/problem.h"

enum { TX, TY, TM, TN, CH, CV, QRES };
static const struct row rows[] = {
    /*            tx ty tm tn ch cv qres; within 256 items, in f32 within 32 KiB, but the best ones of d 64 and d 128
     *            take 39 and 48 KiB; the last ones in f64 too */
    /* A step of generation waits for memory: an item has two loads of K and two of V on their way at a time with d 64,
     * four and eight with d 128, where the tile also has fewer rows that idle. */
    { .tile = { { 16, 8, 4, 4, 16, 16, 0 } }, .widest = 64, .most_shared = 16 },
    { .tile = { { 16, 4, 4, 4, 16, 16, 0 } }, .widest = 128, .most_shared = 16, .large = true },
    { .tile = { { 8, 8, 4, 4, 8, 8, 0 } }, .widest = 64, .most_rows = 32 },
    { .tile = { { 16, 8, 8, 8, 8, 16, 0 } }, .widest = 64, .sub_group = 8 },
    { .tile = { { 16, 8, 8, 8, 8, 16, 0 } }, .widest = 64, .sub_group = 16 },
    { .tile = { { 8, 16, 8, 8, 8, 8, 0 } }, .widest = 64 },
    { .tile = { { 8, 16, 8, 4, 8, 16, 0 } }, .widest = 64 },
    { .tile = { { 16, 8, 8, 8, 8, 8, 0 } }, .widest = 128 },
    { .tile = { { 16, 8, 8, 4, 8, 8, 0 } }, .widest = 128 },
    { .tile = { { 16, 8, 4, 8, 8, 4, 0 } }, .widest = 256 },
    { .tile = { { 32, 8, 4, 4, 8, 2, 0 } }, .widest = D_MAX },
    { .tile = { { 16, 4, 4, 4, 8, 4, 0 } }, .widest = 256 },
    { .tile = { { 8, 8, 4, 4, 8, 4, 0 } }, .widest = 64 },
    { .tile = { { 8, 8, 4, 4, 8, 8, 0 } }, .widest = 64 },
    { .tile = { { 8, 8, 4, 4, 8, 8, 1 } }, .widest = 64 },
    { .tile = { { 16, 4, 4, 4, 8, 2, 0 } }, .widest = D_MAX },
    { .tile = { { 4, 4, 4, 4, 4, 4, 0 } }, .widest = 64 },
    /* Backward, with two sums in registers, within 32 KiB in f32; the last but one fits in f64 too. */
    { .tile = { { 16, 8, 4, 8, 8, 8, 0 } }, .widest = 64, .backward = true, .plain = true },
    { .tile = { { 8, 16, 4, 8, 8, 8, 0 } }, .widest = 64, .backward = true, .plain = true },
    { .tile = { { 16, 8, 4, 4, 8, 8, 0 } }, .widest = 64, .backward = true, .sub_group = 16 },
    { .tile = { { 8, 16, 4, 4, 8, 4, 0 } }, .widest = 64, .backward = true },
    { .tile = { { 16, 8, 8, 4, 8, 4, 0 } }, .widest = 64, .backward = true },
    { .tile = { { 16, 8, 4, 8, 8, 8, 0 } }, .widest = 128, .backward = true, .plain = true, .sub_group = 16 },
    { .tile = { { 16, 8, 4, 4, 8, 8, 0 } }, .widest = 128, .backward = true, .plain = true },
    { .tile = { { 32, 8, 4, 4, 8, 4, 0 } }, .widest = 128, .backward = true },
    { .tile = { { 32, 8, 4, 4, 8, 2, 0 } }, .widest = D_MAX, .backward = true },
    { .tile = { { 16, 4, 4, 4, 8, 4, 0 } }, .widest = 256, .backward = true },
    { .tile = { { 8, 8, 4, 4, 8, 8, 0 } }, .widest = 64, .backward = true },
    { .tile = { { 16, 4, 4, 4, 4, 1, 0 } }, .widest = D_MAX, .backward = true },
    { .tile = { { 4, 4, 4, 4, 4, 4, 0 } }, .widest = 64, .backward = true },
    { .widest = 0 },
};

/* As engine_simt_backward.cl declares it, in the pass that takes more. */
static int64_t backward_local_bytes(const int *n, const clattn_problem *p)
{
    const int64_t bq = n[TM] * n[TY], bk = n[TN] * n[TX], own = 2 * n[CH] * (bq + 4), weights = bk * (bq + 4);
    const int64_t chunk = n[CH] * (bk + 4), of_rows = 2 * (bq > bk ? bq : bk);
    const int64_t summed = (int64_t)n[CV] * engine_round_up(p->d > p->dv ? p->d : p->dv, 4 * n[TX]);
    return 4 * bk + engine_scalar_bytes(p) * (own + 2 * (chunk > summed ? chunk : summed) + weights + of_rows);
}

/* As engine_simt.cl declares it. */
static int64_t local_bytes(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    const int *n = t->n;
    (void)e;
    if (p->flags & CLATTN_BACKWARD)
        return backward_local_bytes(n, p);
    const int64_t bq = n[TM] * n[TY], bk = n[TN] * n[TX], ch = n[CH];
    const int in_p = !n[QRES] && p->d <= CLA_CHAIN && 2 * ch <= bk - n[TX];
    const int64_t q = in_p ? 0 : (n[QRES] ? engine_round_up(p->d, n[CH]) : 2 * ch) * (bq + 4);
    const int64_t k_chunk = ch * (bk + 4), v_chunk = (int64_t)n[CV] * engine_round_up(p->dv, 4 * n[TX]);
    const int64_t weights = bk * (bq + 4), of_rows = 3 * bq, seen = problem_has_holes(p) ? 4 * bk : 4;
    return seen + engine_scalar_bytes(p) * (q + 2 * (k_chunk > v_chunk ? k_chunk : v_chunk) + weights + of_rows);
}

/* Of one item: its part of S, whose place that of the tile in O takes, and of O, and what it is moving; backward P and
 * dS, and two sums. */
static int64_t private_bytes(const struct tile *t, const clattn_problem *p)
{
    const int *n = t->n;
    const int64_t items = (int64_t)n[TX] * n[TY], columns = engine_round_up(p->dv, 4 * n[TX]);
    const int64_t o = n[TM] * columns / n[TX], s = (int64_t)n[TM] * n[TN] > o ? n[TM] * n[TN] : o;
    const int64_t sums = p->flags & CLATTN_BACKWARD ? s + n[TM] * engine_round_up(p->d, 4 * n[TX]) / n[TX] : 0;
    const int64_t moved = (int64_t)n[TM] * n[TY] * n[CH] + (int64_t)n[TN] * n[TX] * n[CH] +
                          n[CV] * columns;
    return engine_scalar_bytes(p) * (s + o + sums + (moved + items - 1) / items);
}

static int keys(const struct tile *t)
{
    return t->n[TN] * t->n[TX];
}

static cl_int check_places(const int *n, int keys_of_tile, struct why *why)
{
    if (n[TM] % 4 || n[TN] % 4 || n[CH] % 4)
        REFUSE("tm, tn and ch must be multiples of 4");
    if (CLA_CHAIN % n[CH])
        REFUSE("ch %d does not divide %d", n[CH], CLA_CHAIN);
    if (keys_of_tile > CLA_CHAIN && keys_of_tile % CLA_CHAIN)
        REFUSE("the tile's keys, tx %d by tn %d, are no multiple of %d", n[TX], n[TN], CLA_CHAIN);
    if (keys_of_tile > CLA_CHAIN && CLA_CHAIN % n[CV])
        REFUSE("cv %d does not divide %d, which tx %d by tn %d exceeds", n[CV], CLA_CHAIN, n[TX], n[TN]);
    if (n[TX] % n[CV] && (n[CV] % n[TX] || keys_of_tile % n[CV]))
        REFUSE("cv %d does not divide tx %d, nor is it tx times a part of tn %d", n[CV], n[TX], n[TN]);
    return CL_SUCCESS;
}

/* On CPUs all items live on one thread's stack, 8 MiB as a rule, and drivers keep copies: PoCL takes 10 to 32 times as
 * much as one would think. */
static cl_int fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    enum { GROUP_PRIVATE_MAX = 256 << 10 };
    const int64_t all = private_bytes(t, p) * t->n[TX] * t->n[TY];
    const cl_int status = check_places(t->n, keys(t), why);
    if (!status && p->flags & CLATTN_BACKWARD && t->n[QRES])
        REFUSE("has no backward pass with qres 1");
    if (!status && caps->kind == CAPS_CPU && all > GROUP_PRIVATE_MAX)
        REFUSE("needs %lld KiB of private memory, at most %d are taken of a CPU", (long long)(all >> 10),
               GROUP_PRIVATE_MAX >> 10);
    return status;
}

static int rows_per_group(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    (void)e, (void)p;
    return t->n[TM] * t->n[TY];
}
static int items(const struct engine *e, const struct tile *t)
{
    (void)e;
    return t->n[TX] * t->n[TY];
}
/* As total.cl has them: sum and loss of O and l, and the maxima. */
static int total_scalars(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    const int columns = engine_round_up(p->dv, 4 * t->n[TX]) / t->n[TX];
    (void)e;
    return t->n[TM] * (2 * columns + 3);
}
static int64_t sum_scalars(const struct tile *t, int width)
{
    return (int64_t)t->n[TM] * t->n[TY] * engine_round_up(width, 4 * t->n[TX]);
}
static const char *load(const clattn_problem *p)
{
    (void)p;
    return "load_local.cl";
}
/* PoCL takes minutes to compile some of its gradients: on CPUs they are had by name only. */
static int rank(const struct caps *caps, const clattn_problem *p)
{
    return caps->kind == CAPS_CPU && p->flags & CLATTN_BACKWARD ? 0 : 20;
}

const struct engine engine_simt = {
    .name = "simt",
    .fragment = "engine_simt.cl",
    .products = "products_simt.cl",
    .backward = "engine_simt_backward.cl",
    .look_ups = "engine_simt_look_ups.cl",
    .numbers = {
        [TX] = { "tx", "work-items along the keys, and along the columns of V", 2, 64, TRY(4, 8, 16, 32) },
        [TY] = { "ty", "work-items along the rows of Q", 1, 64, TRY(4, 8, 16) },
        [TM] = { "tm", "rows of Q that a work-item has, a multiple of 4", 4, 16, TRY(4, 8) },
        [TN] = { "tn", "keys of a tile that a work-item has, a multiple of 4", 4, 16, TRY(4, 8) },
        [CH] = { "ch", "elements of each row of Q and K that are in local memory at a time", 4, 64, TRY(4, 8, 16) },
        [CV] = { "cv", "rows of V that are in local memory at a time", 1, 64, TRY(1, 2, 4, 8, 16) },
        [QRES] = { "qres", "1: Q stays in local memory as a whole, 0: it is read again beside K", 0, 1, TRY(0, 1) },
    },
    .rows = rows,
    .width = 4,
    .exp = "exp_native.cl",
    .gather = "gather_square_rows.cl",
    .load = load,
    .rank = rank,
    .fits = fits,
    .rows_per_group = rows_per_group,
    .items_per_group = items,
    .keys_per_tile = keys,
    .waves = 4,
    .uneven = 1,
    .local_bytes = local_bytes,
    .total_scalars = total_scalars,
    .sum_scalars = sum_scalars,
};
