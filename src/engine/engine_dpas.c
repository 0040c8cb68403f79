/* engine_dpas.c - engines dpas and dpas8, with the matrix units of Intel's GPUs: sub-groups of 16, and of 8
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

static const struct row rows[] = {
    /*            nw rt bk qreg; 256 registers, of which an item of 16 has a word each, of 8 two */
    { .tile = { { 8, 1, 64, 1 } }, .widest = 64, .plain = true },
    { .tile = { { 8, 1, 32, 1 } }, .widest = 64 },
    { .tile = { { 16, 1, 32, 0 } }, .widest = 128 },
    /* Backward, with two sums in registers, which of wider rows would not fit. */
    { .tile = { { 8, 1, 16, 0 } }, .widest = 64, .backward = true },
    { .widest = 0 },
};

#define UNIT(lanes) \
    { \
        .fragments = { "mma_dpas_lanes.cl", "mma_dpas.cl" }, .operands = "operands_blocks.cl", .wave = lanes, \
        .m = lanes, .n = 8, .k = 16, .rows = 1 \
    }
static const struct unit unit = UNIT(16), unit_8 = UNIT(8);

/* The unit takes as many queries at a time as the device's shortest sub-groups have items. */
static cl_int suits(const struct caps *caps, const clattn_problem *p, int lanes, struct why *why)
{
    if (caps->sub_group != lanes && !caps->any)
        REFUSE("needs an Intel GPU with matrix units and sub-groups of %d", lanes);
    return engine_mma_suits(caps, p, why);
}
static cl_int suits_16(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    return suits(caps, p, 16, why);
}
static cl_int suits_8(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    return suits(caps, p, 8, why);
}

#define DPAS_ENGINE MATRIX_ENGINE, .rows = rows, .rank = engine_mma_rank, .fits = engine_mma_fits, .wants_selftest = true
const struct engine engine_dpas = {
    DPAS_ENGINE,
    .name = "dpas",
    .unit = &unit,
    .suits = suits_16,
};
const struct engine engine_dpas8 = {
    DPAS_ENGINE,
    .name = "dpas8",
    .unit = &unit_8,
    .suits = suits_8,
};
