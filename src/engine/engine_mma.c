/* engine_mma.c - what all engines with matrix units have
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/engine_mma.h"

#include "problem/problem.h"

/* What products_mma.cl rounds up: dims that are multiplied, 8 for each lane of a row or as many as an instruction
 * takes, and columns that are summed, a chunk for each of B. */
static int parts(const struct unit *u)
{
    return u->wave * u->rows / u->m;
}
static int dotted(const struct engine *e, int width)
{
    const int chunks = 8 * parts(e->unit);
    return engine_round_up(width, chunks > e->unit->k ? chunks : e->unit->k);
}
static int summed(const struct engine *e, const clattn_problem *p)
{
    const int chunks = 8 * parts(e->unit) * e->unit->n / e->unit->k;
    return engine_round_up(p->dv, engine_shares(e->unit, p) * (chunks > e->unit->n ? chunks : e->unit->n));
}

int engine_mma_rows_per_group(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    return e->unit->m * t->n[MATRIX_NW] * t->n[MATRIX_RT] / engine_shares(e->unit, p);
}
int engine_mma_items(const struct engine *e, const struct tile *t)
{
    return e->unit->wave * t->n[MATRIX_NW];
}
int engine_mma_keys(const struct tile *t)
{
    return t->n[MATRIX_BK];
}

/* At most what engine_mma_backward.cl declares in a pass. */
static int64_t backward_local_bytes(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    const int64_t rows = engine_mma_rows_per_group(e, t, p), bk = t->n[MATRIX_BK];
    const int64_t d = dotted(e, p->d), dv = dotted(e, p->dv), widest = d > dv ? d : dv;
    const int64_t owned = t->n[MATRIX_QREG] ? 0 : rows * (d + dv), numbers = 2 * (rows > bk ? rows : bk);
    const int64_t shared = p->bias_type ? bk * (rows + 4) : 0;
    return 2 * (2 * bk * widest + owned) + 4 * (numbers + bk + shared);
}

/* As engine_mma.cl declares it. */
int64_t engine_mma_local_bytes(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    if (p->flags & CLATTN_BACKWARD)
        return backward_local_bytes(e, t, p);
    const int64_t rows = engine_mma_rows_per_group(e, t, p), bk = t->n[MATRIX_BK];
    const int64_t d = dotted(e, p->d), dv = summed(e, p);
    return 2 * (bk * d + bk * dv + (t->n[MATRIX_QREG] ? 0 : rows * d)) + (problem_has_holes(p) ? 4 * bk : 0);
}

/* As total.cl has them, of each tile of rows: sum and loss of O and l, and the maxima. */
int engine_mma_total_scalars(const struct engine *e, const struct tile *t, const clattn_problem *p)
{
    const struct unit *const u = e->unit;
    const int columns = summed(e, p) / engine_shares(e->unit, p);
    return t->n[MATRIX_RT] * (2 * columns * u->m / u->wave + 3 * u->rows);
}

cl_int engine_mma_suits(const struct caps *caps, const clattn_problem *p, struct why *why)
{
    const bool backward = p->flags & CLATTN_BACKWARD;
    const int widest = backward ? 128 : 256; /* two sums fill the registers */
    (void)caps;
    if ((p->type != CLATTN_F16 && p->type != CLATTN_BF16) || p->k_type != p->type || p->v_type != p->type)
        REFUSE("matrix units take Q, K and V in f16 or in bf16, all alike");
    if (p->d > widest || p->dv > widest)
        REFUSE("d %d and dv %d: at most %d here", (int)p->d, (int)p->dv, widest);
    return CL_SUCCESS;
}

cl_int engine_mma_fits(const struct tile *t, const struct caps *caps, const clattn_problem *p, struct why *why)
{
    (void)caps, (void)p;
    if (t->n[MATRIX_BK] % 16)
        REFUSE("bk must be a multiple of 16");
    return CL_SUCCESS;
}

int engine_mma_rank(const struct caps *caps, const clattn_problem *p)
{
    (void)p;
    return caps->kind == CAPS_CPU ? 0 : 60;
}
