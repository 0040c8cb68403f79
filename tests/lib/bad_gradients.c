/* bad_gradients.c - inputs that are made bad on purpose for gradients
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/bad_gradients.h"

#define F64 BAD_F64
#define WIDE BAD_WIDE
#define ANY BAD_ANY

#define NONE { BAD_ALL, 0, 0 }
#define ONES { BAD_ALL, 1, 0 }
#define UNITS { BAD_NORMAL, 1, 0 }
#define RANDOM { BAD_NORMAL, 0.6, 0 }
#define NORMAL(x) { BAD_NORMAL, x, 0 }
#define SAME { BAD_ALL, 0.95, 0 }
#define SIGNED { BAD_BETWEEN, 0.9, 1 }
#define FIRST(x) { BAD_COLUMN, x, 0 }
#define TURNS { BAD_PARITY, 1, -1 }
#define LOST { BAD_ROW, 1, 5.3e-8 }        /* a first row, and others of which each addition loses all */
#define SWALLOWED { BAD_ADDED, 516, 2.95e-5 } /* likewise the first column, to one side in even rows */

const struct bad_gradient bad_gradients[] = {
    /* sums of one sign */
    { "all of one sign", "scale1", SIGNED, SIGNED, SIGNED, SIGNED, NONE, 0, 0, ANY, WHOLE },
    { "Q and K of one sign", "scale1", SIGNED, SIGNED, UNITS, UNITS, UNITS, 0, 64, ANY, WHOLE },
    { "V and dO of one sign", "scale1", RANDOM, RANDOM, SIGNED, SIGNED, NONE, 0, 0, ANY, WHOLE },
    { "constants", "scale1", { BAD_ALL, 0.25, 0 }, { BAD_ALL, 0.5, 0 }, SAME, SAME, ONES, 0, 0, ANY, WHOLE },
    { "dLSE alone", "scale1", RANDOM, RANDOM, NONE, NONE, { BAD_ALL, 0.7390851, 0 }, 0, 0, ANY, WHOLE },
    /* a large term, and many small ones */
    { "a large product first", "scale1", { BAD_COLUMN, 64, 1 }, { BAD_COLUMN, 64, 0.03 }, UNITS, UNITS, NONE, 0, 64,
      ANY, WHOLE },
    { "a large row of dO", "scale1", RANDOM, RANDOM, UNITS, { BAD_ROW, 1000, 0.9 }, NONE, 0, 0, ANY, WHOLE },
    { "dLSE of 1000 beside D", "scale1", RANDOM, RANDOM, UNITS, UNITS, { BAD_ALL, 1000, 0 }, 0, 0, ANY, WHOLE },
    { "dLSE of 1e6 and -1e6", "scale1", RANDOM, RANDOM, UNITS, UNITS, { BAD_PARITY, 1e6, -1e6 }, 0, 0, WIDE, WHOLE },
    { "dLSE of 1e30", "scale1", RANDOM, RANDOM, UNITS, UNITS, NORMAL(1e30), 0, 0, WIDE, WHOLE },
    /* the ends of the range */
    { "V and dO of 1e16", "scale1", RANDOM, RANDOM, NORMAL(1e16), NORMAL(1e16), NONE, 0, 0, WIDE, WHOLE },
    { "V 1e-18, dO 1e18", "scale1", RANDOM, RANDOM, NORMAL(1e-18), NORMAL(1e18), NONE, 0, 0, WIDE, WHOLE },
    { "V 1e18, dO 1e-18", "scale1", RANDOM, RANDOM, NORMAL(1e18), NORMAL(1e-18), NONE, 0, 0, WIDE, WHOLE },
    { "Q 1e18, K 1e-18", "scale1", NORMAL(1e18), NORMAL(1e-18), UNITS, UNITS, UNITS, 0, 0, WIDE, WHOLE },
    { "Q 1e-18, K 1e18", "scale1", NORMAL(1e-18), NORMAL(1e18), UNITS, UNITS, UNITS, 0, 0, WIDE, WHOLE },
    { "V near the smallest normal", "scale1", RANDOM, RANDOM, { BAD_TINY, 4, 0 }, UNITS, NONE, 0, 0, ANY, WHOLE },
    { "dO near the smallest normal", "scale1", RANDOM, RANDOM, UNITS, { BAD_TINY, 4, 0 }, NONE, 0, 0, ANY, WHOLE },
    { "Q near the smallest normal", "scale1", { BAD_TINY, 4, 0 }, RANDOM, UNITS, UNITS, NONE, 0, 0, ANY, WHOLE },
    { "V and dO near the smallest normal", "scale1", RANDOM, RANDOM, { BAD_TINY, 4, 0 }, { BAD_TINY, 4, 0 }, NONE, 0, 0,
      ANY, PROMISED },
    /* sinks */
    { "a sink of 9", "scale1 sink", RANDOM, RANDOM, UNITS, UNITS, UNITS, 9, 0, ANY, WHOLE },
    { "a sink of 60", "scale1 sink", RANDOM, RANDOM, UNITS, UNITS, UNITS, 60, 0, ANY, WHOLE },
    { "a sink of -60", "scale1 sink", RANDOM, RANDOM, UNITS, UNITS, UNITS, -60, 0, ANY, WHOLE },
    { "a sink of 2e5", "scale1 sink", RANDOM, RANDOM, UNITS, UNITS, UNITS, 2e5, 0, ANY, WHOLE },
    { "a sink of -2e5", "scale1 sink", RANDOM, RANDOM, UNITS, UNITS, UNITS, -2e5, 0, ANY, WHOLE },
    { "a sink of 2^17 beside scores like it", "scale1 sink", FIRST(256), { BAD_COLUMN, 512, 1e-3 }, UNITS, UNITS, UNITS,
      131072.5, 0, ANY, PROMISED },
    /* softcap, whose factor cancels; and its ends */
    { "softcap 1, scores up to 20", "scale1 softcap1", FIRST(1), { BAD_BETWEEN, 0, 20 }, UNITS, UNITS, NONE, 0, 0, ANY,
      WHOLE },
    { "softcap 1 behind a scale of 8", "scale8 softcap1", FIRST(1), { BAD_BETWEEN, 0, 0.3 }, UNITS, UNITS, NONE, 0, 0,
      ANY, WHOLE },
    { "softcap 1, large products", "scale1 softcap1", ONES, SWALLOWED, TURNS, UNITS, NONE, 0, 64, ANY, PROMISED },
    { "softcap 500, products that are lost", "scale1 softcap500", ONES, SWALLOWED, TURNS, UNITS, NONE, 0, 64, ANY,
      PROMISED },
    { "softcap 1e-37", "scale1 softcap1e-37", FIRST(1), { BAD_BETWEEN, 0.3e-37, 3e-37 }, UNITS, UNITS, NONE, 0, 0, WIDE,
      PROMISED },
    { "softcap 8e37", "scale1 softcap8e37", FIRST(1), { BAD_BETWEEN, 900, 1000 }, UNITS, UNITS, NONE, 0, 0, ANY,
      PROMISED },
    { "softcap 3e5, scores like it", "scale1 softcap300000", FIRST(1), { BAD_BETWEEN, 2.5e5, 2.6e5 }, UNITS, UNITS,
      NONE, 0, 0, WIDE, PROMISED },
    /* roundings that conspire: products that each addition loses, in scores, in dp and in D; terms of sums likewise */
    { "products that are lost, d64", "scale1", ONES, SWALLOWED, TURNS, UNITS, NONE, 0, 64, ANY, PROMISED },
    { "products that are lost, d576", "scale1", ONES, SWALLOWED, TURNS, UNITS, NONE, 0, 576, ANY, PROMISED },
    { "products that are lost in dp", "scale1", NONE, UNITS, SWALLOWED, ONES, NONE, 0, 0, ANY, PROMISED },
    { "products that are lost in D", "scale1", FIRST(1), { BAD_LEVELS, 10, 0 }, SWALLOWED, ONES, NONE, 0, 0, ANY,
      PROMISED },
    { "queries that are lost in dV", "scale1", NONE, UNITS, UNITS, LOST, NONE, 0, 0, ANY, PROMISED },
    { "queries that are lost in dK", "scale1", LOST, NONE, TURNS, ONES, NONE, 0, 0, ANY, PROMISED },
    { "keys that are lost in dQ", "scale1", NONE, LOST, NONE, NONE, ONES, 0, 0, ANY, PROMISED },
    { "weights that are lost in dQ", "scale1", FIRST(1), { BAD_TOP, 1, -15.7 }, NONE, NONE, ONES, 0, 0, ANY, PROMISED },
    { "rows that are lost in dBias", "scale1 bias:1h11", NONE, NONE, NONE, NONE, LOST, 0, 0, ANY, PROMISED },
    { "rows that are lost, by keys", "scale1 bias:111k", NONE, NONE, NONE, NONE, LOST, 0, 0, ANY, PROMISED },
    { "rows that are lost in dSlopes", "scale1 alibi", NONE, NONE, NONE, NONE, LOST, 0, 0, ANY, PROMISED },
    { "rows that are lost in dSinks", "scale1 sink", NONE, NONE, NONE, NONE, LOST, 0, 0, ANY, PROMISED },
    /* scores whose LSE is coarse */
    { "scores of 2e4", "scale1", UNITS, NORMAL(3e3), UNITS, UNITS, UNITS, 0, 64, ANY, PROMISED },
    { "scores of 2^18, all alike", "scale1", ONES, { BAD_BETWEEN, 4090, 4096 }, UNITS, UNITS, UNITS, 0, 64, ANY,
      PROMISED },
    { "scores of -2^18, all alike", "scale1", ONES, { BAD_BETWEEN, -4096, -4090 }, UNITS, UNITS, UNITS, 0, 64, ANY,
      PROMISED },
    { "scores of 2^18, equal", "scale1", FIRST(512), FIRST(511.875), SIGNED, SIGNED, ONES, 0, 0, ANY, PROMISED },
    { "scores of 2^18, 16 apart", "scale1", FIRST(512), { BAD_LEVELS, 512, 511.96875 }, UNITS, UNITS, UNITS, 0, 0, ANY,
      PROMISED },
    { "scores of 2^47, all alike", "scale1", ONES, { BAD_BETWEEN, 0x1p41 - 0.1, 0x1p41 }, UNITS, UNITS, UNITS, 0, 64,
      F64, PROMISED },
    /* what underflows before a large factor: dS that is scaled by 2^-100, and products of dO and V before a scale */
    { "dS that underflows", "scale7.888609052210118e-31", NONE, { BAD_PARITY, 0x1p100, -0x1p100 },
      { BAD_PARITY, 0x1.02p-25, -0x1.02p-25 }, { BAD_ALL, 0x1p-26, 0 }, NONE, 0, 0, WIDE, PROMISED },
    { "dS that underflows, f64", "scale9.332636185032189e-302", NONE, { BAD_PARITY, 0x1p980, -0x1p980 },
      { BAD_PARITY, 0x1.02p-37, -0x1.02p-37 }, { BAD_ALL, 0x1p-38, 0 }, NONE, 0, 0, F64, PROMISED },
    { "dP that underflows", "scale1e38", NONE, TURNS, { BAD_PARITY, 0x1.02p-75, -0x1.02p-75 },
      { BAD_ALL, 0x1p-75, 0 }, NONE, 0, 0, WIDE, PROMISED },
    { "dP that underflows, f64", "scale1e308", NONE, TURNS, { BAD_PARITY, 0x1.02p-537, -0x1.02p-537 },
      { BAD_ALL, 0x1p-538, 0 }, NONE, 0, 0, F64, PROMISED },
    { "elements that underflow", "scale7.888609052210118e-31", { BAD_PARITY, 0x1p127, -0x1p127 },
      { BAD_ALL, 0x1.02p-50, 0 }, TURNS, UNITS, NONE, 0, 128, WIDE, PROMISED },
    /* weights that count as 0, of all engines and of matrix units in 16 bits; and what these round to one side */
    { "weights below 2^-100", "scale1", FIRST(1), { BAD_TOP, 0, -70 }, NONE, { BAD_ALL, 1e30, 0 }, NONE, 0, 0, WIDE,
      PROMISED },
    { "weights below 2^-900", "scale1", FIRST(1), { BAD_TOP, 0, -625 }, NONE, { BAD_ALL, 1e36, 0 }, NONE, 0, 0, F64,
      PROMISED },
    { "weights below 2^-32", "scale1 sink", { BAD_TOP, 20, -23.5 }, FIRST(1), NONE, { BAD_ROW, 0, 5e4 }, NONE, 0, 0,
      ANY, PROMISED },
    { "dS below 2^-32", "scale1", { BAD_ROW, 0, 5e4 }, NONE, TURNS, { BAD_ROW, 1.5e4, 6e-6 }, NONE, 0, 0, ANY,
      PROMISED },
    { "equal weights", "scale1", NONE, NONE, NONE, ONES, NONE, 0, 0, ANY, PROMISED },
    { NULL, NULL, NONE, NONE, NONE, NONE, NONE, 0, 0, 0, WHOLE },
};

/* What graded_make_bad() asks values of. */
static struct {
    const struct bad_gradient *bad;
    uint64_t seed;
    int64_t keys, width[2];
    int type;
} now;

static double value(int which, int64_t row, int64_t column)
{
    const struct bad_gradient *const bad = now.bad;
    const struct bad_shape *const shape = which == GRADED_Q      ? &bad->q
                                          : which == GRADED_K    ? &bad->k
                                          : which == GRADED_V    ? &bad->v
                                          : which == GRADED_DOUT ? &bad->dout
                                                                 : &bad->dlse;
    const int64_t width = which == GRADED_DLSE ? 1 : now.width[which == GRADED_V || which == GRADED_DOUT];
    const struct bad_place at = { row, column, width, now.keys, now.type };
    return bad_element(shape, &at, now.seed, 60 + (unsigned)which, (uint64_t)(row * width + column));
}

cl_int bad_gradient_make(const struct bad_gradient *bad, struct graded *g, cl_context context, cl_command_queue queue,
                         const clattn_workload *c, enum layout layout, unsigned wanted)
{
    const clattn_problem *const p = &c->problem;
    now.bad = bad;
    now.seed = c->seed;
    now.keys = p->sizes.nk;
    now.width[0] = p->d;
    now.width[1] = p->dv ? p->dv : p->d;
    now.type = p->type;
    cl_int e = graded_make_bad(g, context, queue, c, layout, wanted, value);
    if (e || !g->t.x.sinks)
        return e;
    e = bad_sinks(&g->t, bad->sink, queue);
    return e ? e : graded_truth(g, queue);
}
