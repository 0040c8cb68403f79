/* engine_mma.h - what all engines with matrix units have; each adds its unit, its rows and what it suits
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENGINE_MMA_H
#define ENGINE_MMA_H

#include "engine/engine.h"

enum { MATRIX_NW, MATRIX_RT, MATRIX_BK, MATRIX_QREG };
#define MATRIX_NUMBERS \
    { \
        [MATRIX_NW] = { "nw", "waves (warps, sub-groups) of a work-group", 1, 16, TRY(2, 4, 8) }, \
        [MATRIX_RT] = { "rt", "tiles of as many rows of Q as the matrix unit takes, that a wave has", \
                        1, 4, TRY(1, 2) }, \
        [MATRIX_BK] = { "bk", "keys in a tile, a multiple of 16", 16, 128, TRY(16, 32, 64, 128) }, \
        [MATRIX_QREG] = { "qreg", "1: Q stays in registers, 0: it is read from local memory for each tile", \
                          0, 1, TRY(0, 1) }, \
    }
#define MATRIX_ENGINE \
    .fragment = "engine_mma.cl", .products = "products_mma.cl", .backward = "engine_mma_backward.cl", \
    .numbers = MATRIX_NUMBERS, .width = 1, .exp = "exp_native.cl", .gather = "gather_square.cl", \
    .rows_per_group = engine_mma_rows_per_group, .items_per_group = engine_mma_items, \
    .keys_per_tile = engine_mma_keys, .local_bytes = engine_mma_local_bytes, \
    .total_scalars = engine_mma_total_scalars, .waves = 2, .uneven = 1, .narrow_p = true

cl_int engine_mma_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why);
int engine_mma_rows_per_group(const struct engine *e, const struct tile *t, const clattn_problem *p);
int engine_mma_items(const struct engine *e, const struct tile *t);
int engine_mma_keys(const struct tile *t);
int64_t engine_mma_local_bytes(const struct engine *e, const struct tile *t, const clattn_problem *p);
int engine_mma_total_scalars(const struct engine *e, const struct tile *t, const clattn_problem *p);

/* Of those that are the device's own; emulations have none. */
int engine_mma_rank(const struct caps *caps, const clattn_problem *p);

/* Whether types and widths suit matrix units at all. */
cl_int engine_mma_suits(const struct caps *caps, const clattn_problem *p, struct why *why);

/* NVIDIA's unit; the tiles of mma_nv, which its emulation has, too. */
#define M16N8K16 .operands = "mma_operands_lanes.cl", .wave = 32, .m = 16, .n = 8, .k = 16, .rows = 2
extern const struct row engine_mma_nv_rows[];

#endif
