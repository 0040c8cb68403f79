/* engine.c - the engines: which fragment, which numbers, which rows of them. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine.h"

#include "cl/args.h"
#include "problem/gqa.h"

#include <string.h>

/* A struct values. */
#define TRY(...)                                                                                                       \
    {                                                                                                                  \
        (int)(sizeof((const int[]){ __VA_ARGS__ }) / sizeof(int)), { __VA_ARGS__ }                                     \
    }

#define REFUSE(...) return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, __VA_ARGS__)

static int64_t scalar_bytes(const clattn_problem *p)
{
    return p->type == CLATTN_F64 ? 8 : 4;
}
static int round_up(int x, int to)
{
    return (x + to - 1) / to * to;
}
static int larger(int x, int y)
{
    return x > y ? x : y;
}

static cl_int check_group(int64_t items, const struct caps *caps, struct why *why)
{
    if (items > (int64_t)caps->max_group)
        REFUSE("needs work-groups of %lld items, device has %zu", (long long)items, caps->max_group);
    return CL_SUCCESS;
}

static cl_int check_range(const char *name, int x, int low, int high, struct why *why)
{
    if (x < low || x > high)
        REFUSE("%s is %d, outside %d to %d", name, x, low, high);
    return CL_SUCCESS;
}

static cl_int check_lanes(int w, struct why *why)
{
    if (w != 2 && w != 4 && w != 8 && w != 16)
        REFUSE("w is %d, none of 2, 4, 8, 16", w);
    return CL_SUCCESS;
}

/* ---- naive ---- */

enum { NAIVE_WG, NAIVE_BK };
static const struct row naive_rows[] = { { .tile = { { 32, 8 } }, .widest = D_MAX },
                                         { .tile = { { 1, 8 } }, .widest = D_MAX },
                                         { .widest = 0 } };
static const struct values naive_values[] = { TRY(1, 8, 32, 64, 128), TRY(8, 16, 32) };

static cl_int naive_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    cl_int status;
    (void)p;
    if ((status = check_range("wg", t->n[NAIVE_WG], 1, 1024, why)) ||
        (status = check_range("bk", t->n[NAIVE_BK], 1, CLA_CHAIN, why)))
        return status;
    return check_group(t->n[NAIVE_WG], caps, why);
}
static int naive_group(const struct tile *t)
{
    return t->n[NAIVE_WG];
}
static int naive_keys(const struct tile *t)
{
    return t->n[NAIVE_BK];
}

/* ---- cpu ---- */

enum { CPU_W, CPU_NV, CPU_RK, CPU_RD, CPU_BK };
static const struct row cpu_rows[] = {
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
    { .tile = { { 0, 3, 4, 4, 64 } }, .widest = 192, .broadest = 8 }, /* 16 registers, 12 of them sums */
    { .tile = { { 0, 2, 6, 6, 64 } }, .widest = D_MAX, .broadest = 8 },
    { .tile = { { 0, 4, 2, 2, 64 } }, .widest = 192, .broadest = 8 },
    { .tile = { { 0, 2, 4, 4, 16 } }, .widest = D_MAX },
    { .widest = 0 },
};
static const struct values cpu_values[] = { TRY(2, 4, 8, 16), TRY(1, 2, 3, 4), TRY(2, 4, 6, 8, 12), TRY(2, 4, 6, 8, 12),
                                            TRY(16, 32, 64) };

static cl_int cpu_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const int *n = t->n;
    cl_int status;
    (void)caps;
    if ((status = check_lanes(n[CPU_W], why)) || (status = check_range("nv", n[CPU_NV], 1, 8, why)) ||
        (status = check_range("rk", n[CPU_RK], 1, 24, why)) || (status = check_range("rd", n[CPU_RD], 1, 24, why)) ||
        (status = check_range("bk", n[CPU_BK], 1, CLA_CHAIN, why)))
        return status;
    /* Everything lives on the driver thread's stack: Q^T, O^T, S, a converted tile, and the total of O^T with its losses. */
    const int64_t rows = n[CPU_W] * n[CPU_NV];
    const int64_t s = round_up(n[CPU_BK], n[CPU_W]), row = round_up(larger(p->d, p->dv), n[CPU_W]);
    const int64_t bytes = scalar_bytes(p) * (rows * (p->d + 3 * p->dv + s) + n[CPU_BK] * row);
    enum { PRIVATE_MAX = 768 << 10 };
    if (bytes > PRIVATE_MAX)
        REFUSE("needs %lld KiB of private memory, at most %d are taken", (long long)(bytes >> 10), PRIVATE_MAX >> 10);
    return CL_SUCCESS;
}
static int cpu_rows_per_group(const struct tile *t)
{
    return t->n[CPU_W] * t->n[CPU_NV];
}
static int cpu_keys(const struct tile *t)
{
    return t->n[CPU_BK];
}
static int one_item(const struct tile *t)
{
    (void)t;
    return 1;
}
static const char *cpu_load(const clattn_problem *p)
{
    const bool stored_as_used = p->type == CLATTN_F64 || (p->k_type == CLATTN_F32 && p->v_type == CLATTN_F32);
    return stored_as_used ? "load_rows.cl" : "load_tile.cl";
}

/* ---- row ---- */

enum { ROW_W, ROW_NR, ROW_RK, ROW_RD, ROW_BK };
static const struct row row_rows[] = {
    /*           w nr rk rd bk */
    { .tile = { { 0, 1, 8, 8, 64 } }, .widest = D_MAX, .most_shared = 1 },
    { .tile = { { 0, 2, 4, 4, 64 } }, .widest = D_MAX, .most_shared = 2 },
    { .tile = { { 0, 4, 4, 4, 64 } }, .widest = D_MAX, .most_shared = 4, .narrowest = 16 },
    { .tile = { { 0, 8, 2, 2, 64 } }, .widest = D_MAX, .narrowest = 16 },
    { .tile = { { 0, 4, 2, 2, 64 } }, .widest = D_MAX },
    { .widest = 0 },
};
static const struct values row_values[] = { TRY(2, 4, 8, 16), TRY(1, 2, 4, 8), TRY(2, 4, 8, 16), TRY(2, 4, 8, 16),
                                            TRY(16, 32, 64) };

static cl_int row_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const int *n = t->n;
    cl_int status;
    (void)caps;
    (void)p;
    if ((status = check_lanes(n[ROW_W], why)) || (status = check_range("nr", n[ROW_NR], 1, 16, why)) ||
        (status = check_range("rk", n[ROW_RK], 1, 16, why)) || (status = check_range("rd", n[ROW_RD], 1, 24, why)) ||
        (status = check_range("bk", n[ROW_BK], 1, CLA_CHAIN, why)))
        return status;
    if (16 % n[ROW_RK])
        REFUSE("rk is %d, no power of 2", n[ROW_RK]);
    if (n[ROW_BK] % n[ROW_W])
        REFUSE("w %d does not divide bk %d", n[ROW_W], n[ROW_BK]);
    return CL_SUCCESS;
}
static int row_rows_per_group(const struct tile *t)
{
    return t->n[ROW_NR];
}
static int row_keys(const struct tile *t)
{
    return t->n[ROW_BK];
}

/* ---- simt ---- */

enum { SIMT_TX, SIMT_TY, SIMT_TM, SIMT_TN, SIMT_CH, SIMT_CV, SIMT_QRES };
static const struct row simt_rows[] = {
    /*            tx ty tm tn ch cv qres; within 256 items, in f32 within 32 KiB, but the best ones of d 64 and d 128 take
     *            39 and 48 KiB; the last ones in f64 too */
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
    { .widest = 0 },
};
static const struct values simt_values[] = { TRY(4, 8, 16, 32), TRY(4, 8, 16),        TRY(4, 8),  TRY(4, 8),
                                             TRY(4, 8, 16),     TRY(1, 2, 4, 8, 16), TRY(0, 1) };

/* As engine_simt.cl declares it. */
static int64_t simt_local_bytes(const struct tile *t, const clattn_problem *p)
{
    const int *n = t->n;
    const int64_t bq = n[SIMT_TM] * n[SIMT_TY], bk = n[SIMT_TN] * n[SIMT_TX], ch = n[SIMT_CH];
    const int in_p = !n[SIMT_QRES] && p->d <= CLA_CHAIN && 2 * ch <= bk - n[SIMT_TX];
    const int64_t q = in_p ? 0 : (n[SIMT_QRES] ? round_up(p->d, n[SIMT_CH]) : 2 * ch) * (bq + 4);
    const int64_t k_chunk = ch * (bk + 4), v_chunk = (int64_t)n[SIMT_CV] * round_up(p->dv, 4 * n[SIMT_TX]);
    const int64_t weights = bk * (bq + 4), of_rows = 3 * bq, seen = problem_has_holes(p) ? 4 * bk : 4;
    return seen + scalar_bytes(p) * (q + 2 * (k_chunk > v_chunk ? k_chunk : v_chunk) + weights + of_rows);
}

/* Of one item: its part of S, whose place that of the tile in O takes, and of O, and what it is moving. */
static int64_t simt_private_bytes(const struct tile *t, const clattn_problem *p)
{
    const int *n = t->n;
    const int64_t items = (int64_t)n[SIMT_TX] * n[SIMT_TY], columns = round_up(p->dv, 4 * n[SIMT_TX]);
    const int64_t o = n[SIMT_TM] * columns / n[SIMT_TX], s = (int64_t)n[SIMT_TM] * n[SIMT_TN] > o ? n[SIMT_TM] * n[SIMT_TN] : o;
    const int64_t moved = (int64_t)n[SIMT_TM] * n[SIMT_TY] * n[SIMT_CH] + (int64_t)n[SIMT_TN] * n[SIMT_TX] * n[SIMT_CH] +
                          n[SIMT_CV] * columns;
    return scalar_bytes(p) * (s + o + (moved + items - 1) / items);
}

static int simt_keys(const struct tile *t)
{
    return t->n[SIMT_TN] * t->n[SIMT_TX];
}

static cl_int simt_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const int *n = t->n;
    cl_int status;
    if ((status = check_range("tx", n[SIMT_TX], 2, 64, why)) || (status = check_range("ty", n[SIMT_TY], 1, 64, why)) ||
        (status = check_range("tm", n[SIMT_TM], 4, 16, why)) || (status = check_range("tn", n[SIMT_TN], 4, 16, why)) ||
        (status = check_range("ch", n[SIMT_CH], 4, 64, why)) || (status = check_range("cv", n[SIMT_CV], 1, 64, why)) ||
        (status = check_range("qres", n[SIMT_QRES], 0, 1, why)))
        return status;
    if (n[SIMT_TM] % 4 || n[SIMT_TN] % 4 || n[SIMT_CH] % 4)
        REFUSE("tm, tn and ch must be multiples of 4");
    if (CLA_CHAIN % n[SIMT_CH])
        REFUSE("ch %d does not divide %d", n[SIMT_CH], CLA_CHAIN);
    const int keys = simt_keys(t);
    if (keys > CLA_CHAIN && keys % CLA_CHAIN)
        REFUSE("the tile's keys, tx %d by tn %d, are no multiple of %d", n[SIMT_TX], n[SIMT_TN], CLA_CHAIN);
    if (keys > CLA_CHAIN && CLA_CHAIN % n[SIMT_CV])
        REFUSE("cv %d does not divide %d, which tx %d by tn %d exceeds", n[SIMT_CV], CLA_CHAIN, n[SIMT_TX], n[SIMT_TN]);
    if (n[SIMT_TX] % n[SIMT_CV] && (n[SIMT_CV] % n[SIMT_TX] || keys % n[SIMT_CV]))
        REFUSE("cv %d does not divide tx %d, nor is it tx times a part of tn %d", n[SIMT_CV], n[SIMT_TX], n[SIMT_TN]);
    if ((status = check_group((int64_t)n[SIMT_TX] * n[SIMT_TY], caps, why)))
        return status;
    const int64_t bytes = simt_local_bytes(t, p);
    if (bytes > (int64_t)caps->local_bytes)
        REFUSE("needs %.1f KiB of local memory, device has %.1f", (double)bytes / 1024,
               (double)caps->local_bytes / 1024);
    /* On CPUs all items live on one thread's stack, 8 MiB as a rule, and drivers keep copies: PoCL takes 10 to 32 times
     * as much as one would think. */
    enum { GROUP_PRIVATE_MAX = 256 << 10 };
    const int64_t all = simt_private_bytes(t, p) * n[SIMT_TX] * n[SIMT_TY];
    if (caps->kind == CAPS_CPU && all > GROUP_PRIVATE_MAX)
        REFUSE("needs %lld KiB of private memory, at most %d are taken of a CPU", (long long)(all >> 10),
               GROUP_PRIVATE_MAX >> 10);
    return CL_SUCCESS;
}
static int simt_rows_per_group(const struct tile *t)
{
    return t->n[SIMT_TM] * t->n[SIMT_TY];
}
static int simt_items(const struct tile *t)
{
    return t->n[SIMT_TX] * t->n[SIMT_TY];
}
/* As total.cl has them: sum and loss of O and l, and the maxima. */
static int simt_total(const struct tile *t, const clattn_problem *p)
{
    const int columns = round_up(p->dv, 4 * t->n[SIMT_TX]) / t->n[SIMT_TX];
    return t->n[SIMT_TM] * (2 * columns + 3);
}
static const char *simt_load(const clattn_problem *p)
{
    (void)p;
    return "load_local.cl";
}

/* ---- mma_nv, and mma_emu: the same on any device, for tests ---- */

enum { MMA_NW, MMA_RT, MMA_BK, MMA_QREG };
static const struct row mma_rows[] = {
    /*            nw rt bk qreg; within 48 KiB; 255 registers are full where two row tiles are */
    { .tile = { { 4, 1, 64, 1 } }, .widest = 64, .most_rows = 64 },
    { .tile = { { 4, 2, 64, 1 } }, .widest = 64, .plain = true },
    { .tile = { { 4, 1, 64, 1 } }, .widest = 64 },
    { .tile = { { 8, 1, 128, 1 } }, .widest = 64 },
    { .tile = { { 4, 1, 32, 1 } }, .widest = 128, .most_rows = 64 },
    { .tile = { { 4, 2, 32, 0 } }, .widest = 128, .plain = true },
    { .tile = { { 8, 1, 64, 1 } }, .widest = 128 },
    { .tile = { { 4, 1, 32, 1 } }, .widest = 128 },
    { .tile = { { 4, 1, 16, 0 } }, .widest = 256 },
    { .widest = 0 },
};
static const struct values mma_values[] = { TRY(2, 4, 8), TRY(1, 2), TRY(16, 32, 64, 128), TRY(0, 1) };

/* As engine_mma_nv.cl declares it. */
static int64_t mma_local_bytes(const struct tile *t, const clattn_problem *p)
{
    const int64_t rows = 16 * t->n[MMA_NW] * t->n[MMA_RT], bk = t->n[MMA_BK];
    const int64_t k = bk * round_up(p->d, 32), v = bk * round_up(p->dv, 16);
    return 2 * (k + v + (t->n[MMA_QREG] ? 0 : rows * round_up(p->d, 32))) + (problem_has_holes(p) ? 4 * bk : 0);
}

static cl_int mma_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    enum { WIDEST = 256 };
    const int *n = t->n;
    cl_int status;
    if ((p->type != CLATTN_F16 && p->type != CLATTN_BF16) || p->k_type != p->type || p->v_type != p->type)
        REFUSE("matrix units take Q, K and V in f16 or in bf16, all alike");
    if (p->d > WIDEST || p->dv > WIDEST)
        REFUSE("d %d and dv %d: at most %d here", (int)p->d, (int)p->dv, WIDEST);
    if ((status = check_range("nw", n[MMA_NW], 1, 16, why)) || (status = check_range("rt", n[MMA_RT], 1, 4, why)) ||
        (status = check_range("bk", n[MMA_BK], 16, 256, why)) || (status = check_range("qreg", n[MMA_QREG], 0, 1, why)))
        return status;
    if (n[MMA_BK] % 16)
        REFUSE("bk must be a multiple of 16");
    if ((status = check_group(32 * (int64_t)n[MMA_NW], caps, why)))
        return status;
    const int64_t bytes = mma_local_bytes(t, p);
    if (bytes > (int64_t)caps->local_bytes)
        REFUSE("needs %.1f KiB of local memory, device has %.1f", (double)bytes / 1024,
               (double)caps->local_bytes / 1024);
    return CL_SUCCESS;
}
static cl_int mma_nv_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    enum { TURING = 75, AMPERE = 80 };
    if (caps->nv_cc < TURING)
        REFUSE("needs an NVIDIA GPU of compute capability 7.5 or later");
    if (__atomic_load_n(&caps->matrix, __ATOMIC_ACQUIRE) == CAPS_FAILED)
        REFUSE("failed its test on this device");
    if (caps->nv_cc < AMPERE && p->type == CLATTN_BF16)
        REFUSE("bf16 needs compute capability 8.0, this is %d.%d", caps->nv_cc / 10, caps->nv_cc % 10);
    return mma_fits(t, caps, p, why);
}
static int mma_rows_per_group(const struct tile *t)
{
    return 16 * t->n[MMA_NW] * t->n[MMA_RT];
}
static int mma_items(const struct tile *t)
{
    return 32 * t->n[MMA_NW];
}
static int mma_keys(const struct tile *t)
{
    return t->n[MMA_BK];
}
static int mma_total(const struct tile *t, const clattn_problem *p)
{
    return t->n[MMA_RT] * (round_up(p->dv, 16) + 2 * 3);
}
static const char *mma_asm(const clattn_problem *p)
{
    (void)p;
    return "mma_asm.cl";
}
static const char *mma_emulated(const clattn_problem *p)
{
    (void)p;
    return "mma_emu.cl";
}

static const char *no_load(const clattn_problem *p)
{
    (void)p;
    return NULL;
}

const struct engine engines[] = {
    { "simt",
      "engine_simt.cl",
      { "tx", "ty", "tm", "tn", "ch", "cv", "qres", NULL },
      simt_rows,
      simt_values,
      4,
      "exp_native.cl",
      simt_fits,
      simt_rows_per_group,
      simt_items,
      simt_load,
      "gather_square.cl",
      "",
      0,
      simt_keys,
      simt_total,
      false },
    { "cpu",
      "engine_cpu.cl",
      { "w", "nv", "rk", "rd", "bk", NULL },
      cpu_rows,
      cpu_values,
      0,
      "exp_poly.cl",
      cpu_fits,
      cpu_rows_per_group,
      one_item,
      cpu_load,
      "gather_square.cl",
      "",
      0,
      cpu_keys,
      NULL,
      false },
    { "row",
      "engine_row.cl",
      { "w", "nr", "rk", "rd", "bk", NULL },
      row_rows,
      row_values,
      0,
      "exp_poly.cl",
      row_fits,
      row_rows_per_group,
      one_item,
      no_load,
      "gather_row.cl",
      "",
      0,
      row_keys,
      NULL,
      false },
    { "naive",
      "engine_naive.cl",
      { "wg", "bk", NULL },
      naive_rows,
      naive_values,
      1,
      "exp_builtin.cl",
      naive_fits,
      naive_group,
      naive_group,
      no_load,
      "gather_square.cl",
      "",
      0,
      naive_keys,
      NULL,
      false },
    { "mma_nv",
      "engine_mma_nv.cl",
      { "nw", "rt", "bk", "qreg", NULL },
      mma_rows,
      mma_values,
      1,
      "exp_native.cl",
      mma_nv_fits,
      mma_rows_per_group,
      mma_items,
      mma_asm,
      "gather_square.cl",
      "",
      0,
      mma_keys,
      mma_total,
      true },
    { "mma_emu",
      "engine_mma_nv.cl",
      { "nw", "rt", "bk", "qreg", NULL },
      mma_rows,
      mma_values,
      1,
      "exp_native.cl",
      mma_fits,
      mma_rows_per_group,
      mma_items,
      mma_emulated,
      "gather_square.cl",
      " -cl-opt-disable", /* PoCL compiles five times as long with all its barriers optimised */
      6,
      mma_keys,
      mma_total,
      true },
    { NULL, NULL, { NULL }, NULL, NULL, 0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0, NULL, NULL, false },
};

const struct engine *engine_find(const char *name, size_t length)
{
    for (const struct engine *e = engines; e->name; e++)
        if (strlen(e->name) == length && !strncmp(e->name, name, length))
            return e;
    return NULL;
}

/* Vectors have 16 bytes at least. */
int engine_least_lanes(const clattn_problem *p)
{
    return p->type == CLATTN_F64 ? 2 : 4;
}
int engine_lanes(const struct caps *caps, const clattn_problem *p)
{
    const int w = (int)caps->float_width / (p->type == CLATTN_F64 ? 2 : 1);
    return w >= 16 ? 16 : w >= 8 ? 8 : w >= 4 ? 4 : engine_least_lanes(p);
}

/* Of engine cpu's lanes, which are rows, half stay idle or more, and no quirk asks for that engine. */
static bool rows_are_few(const struct caps *caps, const clattn_problem *p)
{
    return !caps->quirk->engine && p->sizes.nq && 2 * gqa_shared_rows(p) <= engine_lanes(caps, p);
}

const struct engine *engine_ranked(const struct caps *caps, const clattn_problem *p, size_t n)
{
    static const char *const on_cpu[] = { "cpu", "row", "simt", "naive", NULL },
                             *const few[] = { "row", "cpu", "simt", "naive", NULL },
                             *const elsewhere[] = { "mma_nv", "simt", "cpu", "row", "naive", NULL };
    const bool cpu = caps->kind == CAPS_CPU && !(caps->quirk->engine && strcmp(caps->quirk->engine, "cpu"));
    const bool matrix = __atomic_load_n(&caps->matrix, __ATOMIC_ACQUIRE) == CAPS_PASSED;
    const char *const *names = matrix ? elsewhere : elsewhere + 1;
    if (cpu)
        names = rows_are_few(caps, p) ? few : on_cpu;
    for (size_t i = 0; names[i]; i++)
        if (i == n)
            return engine_find(names[i], strlen(names[i]));
    return NULL;
}
