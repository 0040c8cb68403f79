/* engine_dpas_emu.c - engines dpas_emu and dpas_emu8: dpas and dpas8 on any device, with their unit emulated
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

/* As mma_emu has it. */
#define EMULATED_ENGINE MATRIX_ENGINE, .fits = engine_mma_fits, .options = " -cl-opt-disable"
static const struct row rows[] = { /* a work-group takes the room of a small device */
    { .tile = { { 2, 1, 32, 1 } }, .widest = 128 },
    { .tile = { { 2, 1, 16, 0 } }, .widest = 256 },
    { .tile = { { 2, 1, 16, 0 } }, .widest = 128, .backward = true },
    { .widest = 0 },
};

static const char *surfaces(const struct caps *caps)
{
    (void)caps;
    return "mma_surfaces_2d.cl";
}
#define UNIT(lanes) \
    .fragments = { "mma_wave.cl", "mma_dpas_lanes.cl", "dpas_emu.cl" }, .operands = "mma_operands_blocks.cl", \
    .wave = lanes, .m = lanes, .n = 8, .k = 16, .rows = 1, .widest_sum = 128
static const struct unit emulated = { UNIT(16), .surfaces = surfaces }, emulated_8 = { UNIT(8) };
const struct engine engine_dpas_emu = {
    EMULATED_ENGINE,
    .name = "dpas_emu",
    .unit = &emulated,
    .rows = rows,
    .suits = engine_mma_suits,
    .own_words = 12,
};
const struct engine engine_dpas_emu8 = {
    EMULATED_ENGINE,
    .name = "dpas_emu8",
    .unit = &emulated_8,
    .rows = rows,
    .suits = engine_mma_suits,
    .own_words = 16,
};
