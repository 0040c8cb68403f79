/* engine_mma.c - engines with matrix units: mma_nv, NVIDIA's, and mma_emu, the same on any device, for tests
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine.h"

#include "problem/problem.h"


enum { NW, RT, BK, QREG };
static const struct row rows[] = {
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
    /* Backward, with two sums in registers. */
    { .tile = { { 4, 1, 32, 0 } }, .widest = 64, .backward = true },
    { .tile = { { 4, 1, 16, 0 } }, .widest = 128, .backward = true },
    { .tile = { { 4, 2, 16, 0 } }, .widest = 64, .backward = true, .plain = true },
    { .widest = 0 },
};

/* What products_mma.cl rounds up: dims that are multiplied, 8 for each of 4 lanes, and columns that are summed. */
static int dotted(int width)
{
    return engine_round_up(width, 4 * 8);
}
static int summed(const struct engine *e, int width)
{
    return engine_round_up(width, 2 * e->unit->n);
}

static int rows_per_group(const struct engine *e, const struct tile *t)
{
    return e->unit->m * t->n[NW] * t->n[RT];
}
static int items(const struct engine *e, const struct tile *t)
{
    return e->unit->wave * t->n[NW];
}
static int keys(const struct tile *t)
{
    return t->n[BK];
}

/* At most what engine_mma_backward.cl declares in a pass. */
static int64_t backward_local_bytes(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    const int64_t rows = rows_per_group(e, t), bk = t->n[BK];
    const int64_t d = dotted(p->d), dv = dotted(p->dv), widest = d > dv ? d : dv;
    const int64_t owned = t->n[QREG] ? 0 : rows * (d + dv), numbers = 2 * (rows > bk ? rows : bk);
    const int64_t shared = p->bias_type ? bk * (rows + 4) : 0;
    return 2 * (2 * bk * widest + owned) + 4 * (numbers + bk + shared);
}

/* As engine_mma.cl declares it. */
static int64_t local_bytes(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    if (p->flags & CLATTN_BACKWARD)
        return backward_local_bytes(e, t, p);
    const int64_t rows = rows_per_group(e, t), bk = t->n[BK], d = dotted(p->d), dv = summed(e, p->dv);
    return 2 * (bk * d + bk * dv + (t->n[QREG] ? 0 : rows * d)) + (problem_has_holes(p) ? 4 * bk : 0);
}

/* As total.cl has them, of each tile of rows: sum and loss of O and l, and the maxima. */
static int total_scalars(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    const struct unit *const u = e->unit;
    return t->n[RT] * (2 * summed(e, p->dv) * u->m / u->wave + 3 * u->rows);
}

static cl_int suits(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const bool backward = p->flags & CLATTN_BACKWARD;
    const int widest = backward ? 128 : 256; /* two sums fill the registers */
    (void)caps;
    if ((p->type != CLATTN_F16 && p->type != CLATTN_BF16) || p->k_type != p->type || p->v_type != p->type)
        REFUSE("matrix units take Q, K and V in f16 or in bf16, all alike");
    if (p->d > widest || p->dv > widest)
        REFUSE("d %d and dv %d: at most %d here", (int)p->d, (int)p->dv, widest);
    return CL_SUCCESS;
}
static cl_int suits_nv(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    enum { TURING = 75, AMPERE = 80 };
    if (caps->nv_cc < TURING)
        REFUSE("needs an NVIDIA GPU of compute capability 7.5 or later");
    if (caps->nv_cc < AMPERE && p->type == CLATTN_BF16)
        REFUSE("bf16 needs compute capability 8.0, this is %d.%d", caps->nv_cc / 10, caps->nv_cc % 10);
    return suits(caps, p, why);
}

static cl_int fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    (void)caps, (void)p;
    if (t->n[BK] % 16)
        REFUSE("bk must be a multiple of 16");
    return CL_SUCCESS;
}

static int rank_nv(const struct caps *caps, const clattn_problem *p)
{
    (void)p;
    return caps->kind == CAPS_CPU ? 0 : 60;
}

#define M16N8K16 .wave = 32, .m = 16, .n = 8, .k = 16, .rows = 2
static const struct unit nvidia = { { "mma_m16n8k16.cl", "mma_asm.cl" }, M16N8K16 };
static const struct unit emulated = { { "mma_m16n8k16.cl", "mma_wave.cl", "mma_emu.cl" }, M16N8K16 };

/* What all engines with matrix units have. */
#define NUMBERS \
    { \
        [NW] = { "nw", "waves of a work-group", 1, 16, TRY(2, 4, 8) }, \
        [RT] = { "rt", "tiles of as many rows of Q as the matrix unit takes, that a wave has", 1, 4, TRY(1, 2) }, \
        [BK] = { "bk", "keys in a tile, a multiple of 16", 16, 128, TRY(16, 32, 64, 128) }, \
        [QREG] = { "qreg", "1: Q stays in registers, 0: it is read from local memory for each tile", \
                   0, 1, TRY(0, 1) }, \
    }
#define MATRIX_ENGINE \
    .fragment = "engine_mma.cl", .products = "products_mma.cl", .backward = "engine_mma_backward.cl", \
    .numbers = NUMBERS, .width = 1, .exp = "exp_native.cl", .gather = "gather_square.cl", .fits = fits, \
    .rows_per_group = rows_per_group, .items_per_group = items, .keys_per_tile = keys, .local_bytes = local_bytes, \
    .total_scalars = total_scalars, .waves = 2, .uneven = 1, .narrow_p = true

const struct engine engine_mma_nv = {
    MATRIX_ENGINE,
    .name = "mma_nv",
    .unit = &nvidia,
    .rows = rows,
    .rank = rank_nv,
    .suits = suits_nv,
    .wants_selftest = true,
};

/* PoCL compiles five times as long with all the barriers of an emulation optimised. */
#define EMULATED MATRIX_ENGINE, .options = " -cl-opt-disable"
const struct engine engine_mma_emu = {
    EMULATED,
    .name = "mma_emu",
    .unit = &emulated,
    .rows = rows,
    .suits = suits,
    .own_words = 6,
};
