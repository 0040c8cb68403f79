/* engine_mma_nv.c - engine mma_nv, with NVIDIA's matrix units
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

const struct row engine_mma_nv_rows[] = {
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

static const struct unit nvidia = { { "mma_m16n8k16.cl", "mma_asm.cl" }, M16N8K16 };

static cl_int suits(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    enum { TURING = 75, AMPERE = 80 };
    if (caps->nv_cc < TURING)
        REFUSE("needs an NVIDIA GPU of compute capability 7.5 or later");
    if (caps->nv_cc < AMPERE && p->type == CLATTN_BF16)
        REFUSE("bf16 needs compute capability 8.0, this is %d.%d", caps->nv_cc / 10, caps->nv_cc % 10);
    return engine_mma_suits(caps, p, why);
}

const struct engine engine_mma_nv = {
    MATRIX_ENGINE,
    .name = "mma_nv",
    .unit = &nvidia,
    .rows = engine_mma_nv_rows,
    .rank = engine_mma_rank,
    .suits = suits,
    .fits = engine_mma_fits,
    .wants_selftest = true,
};
