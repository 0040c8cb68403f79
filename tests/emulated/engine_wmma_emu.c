/* engine_wmma_emu.c - engines wmma_emu and wmma_emu11: wmma as on gfx12 and as on gfx11, on any device
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

/* As mma_emu has it. */
#define EMULATED_ENGINE(more) MATRIX_ENGINE, .fits = engine_mma_fits, .options = " -cl-opt-disable" more
static const struct row rows[] = { /* a work-group takes the room of a small device */
    { .tile = { { 2, 1, 32, 1 } }, .widest = 128 },
    { .tile = { { 1, 1, 16, 0 } }, .widest = 256 },
    { .tile = { { 2, 1, 16, 0 } }, .widest = 128, .backward = true },
    { .widest = 0 },
};

/* Which of the two it is the compiler for a GPU says. */
static const struct unit emulated = {
    .fragments = { "mma_wave.cl", "mma_wmma_lanes.cl", "wmma_emu.cl" }, .operands = "mma_operands_lanes.cl",
    .wave = 32, .m = 16, .n = 16, .k = 16, .rows = 1
};
const struct engine engine_wmma_emu = {
    EMULATED_ENGINE(" -DCLA_MMA_WHOLE=0"),
    .name = "wmma_emu",
    .unit = &emulated,
    .rows = rows,
    .suits = engine_mma_suits,
    .own_words = 8,
};
const struct engine engine_wmma_emu11 = {
    EMULATED_ENGINE(" -DCLA_MMA_WHOLE=1"),
    .name = "wmma_emu11",
    .unit = &emulated,
    .rows = rows,
    .suits = engine_mma_suits,
    .own_words = 16,
};
