/* engine_mma_emu.c - engine mma_emu: mma_nv on any device, with its unit emulated
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

static const struct unit emulated = { { "mma_m16n8k16.cl", "mma_wave.cl", "mma_emu.cl" }, M16N8K16 };

/* PoCL compiles five times as long with all the barriers of an emulation optimised. */
#define EMULATED_ENGINE MATRIX_ENGINE, .fits = engine_mma_fits, .options = " -cl-opt-disable"
const struct engine engine_mma_emu = {
    EMULATED_ENGINE,
    .name = "mma_emu",
    .unit = &emulated,
    .rows = engine_mma_nv_rows,
    .suits = engine_mma_suits,
    .own_words = 6,
};
