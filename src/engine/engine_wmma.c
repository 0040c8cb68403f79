/* engine_wmma.c - engine wmma, with the matrix units of AMD's Radeon
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

static const struct row rows[] = {
    /*            nw rt bk qreg; 256 registers, of which gfx11's halves of a wave have Q twice */
    { .tile = { { 4, 1, 64, 1 } }, .widest = 64 },
    { .tile = { { 4, 1, 64, 0 } }, .widest = 64 },
    { .tile = { { 4, 1, 64, 1 } }, .widest = 128, .plain = true },
    { .tile = { { 4, 1, 32, 0 } }, .widest = 128 },
    { .tile = { { 4, 1, 16, 0 } }, .widest = 256 },
    /* Backward, with two sums in registers, which of wider rows would not fit. */
    { .tile = { { 4, 1, 16, 0 } }, .widest = 64, .backward = true },
    { .widest = 0 },
};

static const struct unit unit = {
    .fragments = { "mma_wmma_lanes.cl", "mma_amd.cl", "mma_wmma.cl" }, .operands = "mma_operands_lanes.cl",
    .wave = 32, .m = 16, .n = 16, .k = 16, .rows = 1
};

/* Families, of which compilers may know more members than are known here; not gfx125, whose instruction is another. */
static cl_int suits(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    static const int known[] = { 0x110, 0x115, 0x117, 0x120 };
    if (caps->gfx == CAPS_GFX_ANY)
        return engine_mma_suits(caps, p, why);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (caps->gfx >> 4 == known[i])
            return engine_mma_suits(caps, p, why);
    REFUSE("needs AMD's gfx110x, gfx115x, gfx117x or gfx120x, by AMD's own driver");
}

/* Where lanes hold whole rows, those of Q leave too few registers for wide ones and for a mask that is read. */
static cl_int fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    if (caps->gfx >> 8 == 0x11 && t->n[MATRIX_QREG] && (p->d > 64 || p->dv > 64))
        REFUSE("qreg is 1: d %d or dv %d is too wide for gfx11's registers", (int)p->d, (int)p->dv);
    if (caps->gfx >> 8 == 0x11 && t->n[MATRIX_QREG] && p->flags & CLATTN_MASK)
        REFUSE("qreg is 1: beside a mask gfx11 has no registers for Q");
    return engine_mma_fits(t, caps, p, why);
}

const struct engine engine_wmma = {
    MATRIX_ENGINE,
    .name = "wmma",
    .unit = &unit,
    .rows = rows,
    .rank = engine_mma_rank,
    .suits = suits,
    .fits = fits,
    .wants_selftest = true,
};
