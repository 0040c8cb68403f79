/* engine_dpas.c - engines dpas and dpas8, with the matrix units of Intel's GPUs: sub-groups of 16, and of 8
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

#include "problem/problem.h"

/*                nw rt bk qreg; 256 registers, each a word of all items */
static const struct row rows[] = {
    { .tile = { { 8, 1, 64, 0 } }, .widest = 64, .plain = true },
    { .tile = { { 8, 1, 32, 1 } }, .widest = 64 },
    { .tile = { { 8, 1, 32, 0 } }, .widest = 128 },
    { .tile = { { 8, 1, 16, 0 } }, .widest = 256 },
    /* Backward, with two sums in registers, which of wider rows do not fit. */
    { .tile = { { 4, 1, 16, 0 } }, .widest = 64, .backward = true },
    { .widest = 0 },
};
static const struct row rows_8[] = {
    { .tile = { { 8, 1, 32, 1 } }, .widest = 64 },
    { .tile = { { 8, 1, 32, 0 } }, .widest = 64 },
    { .tile = { { 8, 1, 16, 0 } }, .widest = 128 },
    { .tile = { { 8, 1, 16, 0 } }, .widest = 64, .backward = true },
    { .widest = 0 },
};

static const char *surfaces(const struct caps *caps)
{
    return caps->blocks_2d ? "mma_surfaces_2d.cl" : "mma_surfaces_none.cl";
}
#define UNIT(lanes) \
    .fragments = { "mma_dpas_lanes.cl", "mma_dpas.cl" }, .operands = "mma_operands_blocks.cl", .wave = lanes, \
    .m = lanes, .n = 8, .k = 16, .rows = 1, .widest_sum = 128
static const struct unit unit = { UNIT(16), .surfaces = surfaces }, unit_8 = { UNIT(8) };

/* The unit takes as many queries at a time as the device's shortest sub-groups have items. */
static cl_int suits(const struct caps *caps, const clattn_problem *p, int lanes, struct why *why)
{
    if (caps->sub_group != lanes && !caps->any)
        REFUSE("needs an Intel GPU with matrix units whose shortest sub-groups have %d items", lanes);
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

/* Beside sums of 128 columns, and Q and K twice as wide, there are no registers for what is read element by element. */
static cl_int check_widest(const clattn_problem *p, struct why *why)
{
    if ((p->d > 128 || p->dv > 128) && (p->flags & CLATTN_MASK || p->bias_type))
        REFUSE("d %d and dv %d: beside a mask or a bias at most 128", (int)p->d, (int)p->dv);
    return CL_SUCCESS;
}

/* What takes the registers of a wide tile, or of Q in sub-groups of 8. */
static cl_int fits_16(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const bool wide = p->d > 64 || p->dv > 64;
    if (t->n[MATRIX_BK] > 32 && p->dropout_p > 0)
        REFUSE("bk is %d: beside dropout at most 32", t->n[MATRIX_BK]);
    if (t->n[MATRIX_BK] > 16 && wide &&
        (p->flags & CLATTN_MASK || p->bias_type || p->dropout_p > 0 || problem_changes_scores(p)))
        REFUSE("bk is %d: beside a mask, a bias, dropout or scores that are changed at most 16 where rows are wider "
               "than 64", t->n[MATRIX_BK]);
    const cl_int status = check_widest(p, why);
    return status ? status : engine_mma_fits(t, caps, p, why);
}
static cl_int fits_8(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    if (t->n[MATRIX_QREG] && p->bias_type)
        REFUSE("qreg is 1: beside a bias there are no registers for Q");
    const cl_int status = check_widest(p, why);
    return status ? status : engine_mma_fits(t, caps, p, why);
}

/* Said once more where the host knows the device, as for all its programs. */
#define DPAS_ENGINE \
    MATRIX_ENGINE, .rank = engine_mma_rank, .options = " -cl-intel-256-GRF-per-thread", .wants_selftest = true
const struct engine engine_dpas = {
    DPAS_ENGINE,
    .name = "dpas",
    .unit = &unit,
    .rows = rows,
    .suits = suits_16,
    .fits = fits_16,
};
const struct engine engine_dpas8 = {
    DPAS_ENGINE,
    .name = "dpas8",
    .unit = &unit_8,
    .rows = rows_8,
    .suits = suits_8,
    .fits = fits_8,
};
