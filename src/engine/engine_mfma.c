/* engine_mfma.c - engine mfma, with the matrix units of AMD's Instinct
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

static const struct row rows[] = {
    /*            nw rt bk qreg; two groups within 64 KiB, or compilers use registers that have to be moved */
    { .tile = { { 4, 1, 64, 1 } }, .widest = 64, .most_rows = 64 },
    { .tile = { { 4, 4, 32, 1 } }, .widest = 64, .plain = true },
    { .tile = { { 4, 2, 64, 1 } }, .widest = 64 },
    { .tile = { { 4, 1, 32, 1 } }, .widest = 128, .most_rows = 64 },
    { .tile = { { 4, 2, 64, 1 } }, .widest = 128, .plain = true },
    { .tile = { { 4, 1, 32, 1 } }, .widest = 128 },
    { .tile = { { 4, 1, 32, 1 } }, .widest = 256, .plain = true },
    { .tile = { { 4, 1, 16, 1 } }, .widest = 256 },
    /* Backward, with two sums in registers. */
    { .tile = { { 4, 2, 32, 1 } }, .widest = 64, .backward = true, .plain = true },
    { .tile = { { 4, 1, 32, 1 } }, .widest = 128, .backward = true },
    { .widest = 0 },
};

static const struct unit unit = {
    .fragments = { "mma_mfma_lanes.cl", "mma_amd.cl", "mma_mfma.cl" }, .operands = "mma_operands_lanes.cl",
    .wave = 64, .m = 16, .n = 16, .k = 16, .rows = 1
};

static cl_int suits(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    static const int known[] = { 0x908, 0x90a, 0x942, 0x950, CAPS_GFX_ANY };
    if (caps->gfx == 0x90a && p->type == CLATTN_F16) /* of bf16 they are below what the bound asks for */
        REFUSE("gfx90a takes numbers of f16 below 2^-14 for 0");
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (caps->gfx == known[i])
            return engine_mma_suits(caps, p, why);
    REFUSE("needs AMD's gfx908, gfx90a, gfx942 or gfx950, by AMD's own driver");
}

const struct engine engine_mfma = {
    MATRIX_ENGINE,
    .name = "mfma",
    .unit = &unit,
    .rows = rows,
    .rank = engine_mma_rank,
    .suits = suits,
    .fits = engine_mma_fits,
    .wants_selftest = true,
};
