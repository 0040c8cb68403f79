/* engine_mfma_emu.c - engine mfma_emu: mfma on any device, with its unit emulated
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

/* As mma_emu has it. */
#define EMULATED_ENGINE MATRIX_ENGINE, .fits = engine_mma_fits, .options = " -cl-opt-disable"
static const struct row rows[] = { /* a work-group takes the room of a small device */
    { .tile = { { 2, 1, 32, 1 } }, .widest = 128 },
    { .tile = { { 1, 1, 16, 0 } }, .widest = 256 },
    { .tile = { { 2, 1, 16, 0 } }, .widest = 128, .backward = true },
    { .widest = 0 },
};

static const struct unit emulated = {
    .fragments = { "mma_wave.cl", "mma_mfma_lanes.cl", "mfma_emu.cl" }, .operands = "mma_operands_lanes.cl",
    .wave = 64, .m = 16, .n = 16, .k = 16, .rows = 1
};
const struct engine engine_mfma_emu = {
    EMULATED_ENGINE,
    .name = "mfma_emu",
    .unit = &emulated,
    .rows = rows,
    .suits = engine_mma_suits,
    .own_words = 4,
};
