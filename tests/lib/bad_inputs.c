/* bad_inputs.c - inputs that are made bad on purpose
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/bad.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/inputs.h"
#include "tools/oracle/quantise.h"

#include <math.h>
#include <string.h>

#define ANY BAD_ANY
#define WIDE BAD_WIDE

/* Words of problems. */
#define PLAIN "scale1 lse"
#define SINK "scale1 sink lse"
#define NO_SINK (-(double)INFINITY)

#define RANDOM { BAD_NORMAL, 0.6, 0 }
#define UNITS { BAD_NORMAL, 1, 0 }
#define SIGNED { BAD_BETWEEN, 0.9, 1 }
#define SAME { BAD_ALL, 0.95, 0 }
#define FIRST(x) { BAD_COLUMN, x, 0 }
#define ONES { BAD_ALL, 1, 0 }
#define TURNS { BAD_PARITY, 1, -1 }

const struct bad bads[] = {
    /* sums of one sign */
    { "Q = 0, V = 0.95", PLAIN, { BAD_ALL, 0, 0 }, UNITS, SAME, NO_SINK, 0, ANY, WHOLE },
    { "V in 0.9 to 1", PLAIN, RANDOM, RANDOM, SIGNED, NO_SINK, 0, ANY, WHOLE },
    { "equal scores, V in 0.9 to 1", PLAIN, { BAD_ALL, 0.25, 0 }, { BAD_ALL, 0.5, 0 }, SIGNED, NO_SINK, 0, ANY, WHOLE },
    { "equal scores, V of both signs", PLAIN, { BAD_ALL, 0.25, 0 }, { BAD_ALL, 0.5, 0 }, UNITS, NO_SINK, 0, ANY,
      WHOLE },
    { "Q and K of one sign, d64", PLAIN, SIGNED, SIGNED, UNITS, NO_SINK, 64, ANY, WHOLE },
    { "Q and K of one sign, d128", PLAIN, SIGNED, SIGNED, UNITS, NO_SINK, 128, ANY, WHOLE },
    { "Q and K of one sign, d576", PLAIN, SIGNED, SIGNED, UNITS, NO_SINK, 576, ANY, WHOLE },
    /* a large term, and many small ones that it swallows */
    { "a large product first", PLAIN, { BAD_COLUMN, 64, 1 }, { BAD_COLUMN, 64, 0.03 }, UNITS, NO_SINK, 0, ANY, WHOLE },
    { "a large product last", PLAIN, { BAD_LAST, 64, 1 }, { BAD_LAST, 64, 0.03 }, UNITS, NO_SINK, 0, ANY, WHOLE },
    { "a large value first", PLAIN, { BAD_ALL, 0, 0 }, UNITS, { BAD_ROW, 4000, 0.9 }, NO_SINK, 0, ANY, WHOLE },
    /* maxima that move */
    { "rising scores", PLAIN, FIRST(1), { BAD_RISING, 0.05, 1e6 }, SIGNED, NO_SINK, 0, ANY, WHOLE },
    { "steeply rising scores", PLAIN, FIRST(1), { BAD_RISING, 2, 2e4 }, SIGNED, NO_SINK, 0, ANY, WHOLE },
    { "evenly rising scores", PLAIN, FIRST(1), { BAD_RISING, 0x1p-21, 2e6 }, SIGNED, NO_SINK, 0, ANY, WHOLE },
    { "falling scores", PLAIN, FIRST(1), { BAD_RISING, -0.05, 1e6 }, SIGNED, NO_SINK, 0, ANY, WHOLE },
    /* huge scores: equal ones, whose weights are exact, and two levels of them */
    { "scores of 9e8", PLAIN, FIRST(3e4), FIRST(3e4), SAME, NO_SINK, 0, ANY, WHOLE },
    { "scores of 9e8 and 8e8", PLAIN, FIRST(3e4), { BAD_LEVELS, 3e4, 2.7e4 }, UNITS, NO_SINK, 0, ANY, WHOLE },
    { "scores of 1e30", PLAIN, FIRST(1e15), FIRST(1e15), SAME, NO_SINK, 0, WIDE, WHOLE },
    { "scores of -1e30", PLAIN, FIRST(1e15), FIRST(-1e15), SAME, NO_SINK, 0, WIDE, WHOLE },
    { "scores of 9e36 and -9e36", PLAIN, FIRST(3e18), { BAD_LEVELS, 3e18, -3e18 }, SAME, NO_SINK, 0, WIDE, WHOLE },
    /* products of what has hardly a place in float */
    { "Q 2.5e38, K 1.2e-38", PLAIN, FIRST(2.5e38), { BAD_LEVELS, 1.2e-38, 2.4e-38 }, UNITS, NO_SINK, 0, WIDE, WHOLE },
    { "Q 1.2e-38, K 2.5e38", PLAIN, FIRST(1.2e-38), { BAD_LEVELS, 2.5e38, 1.2e38 }, UNITS, NO_SINK, 0, WIDE, WHOLE },
    /* the ends of O */
    { "V up to 1e38 in all", PLAIN, RANDOM, RANDOM, { BAD_SHARE, 0.98e38, 0.9 }, NO_SINK, 0, WIDE, WHOLE },
    { "V up to 1e38, both signs", PLAIN, RANDOM, RANDOM, { BAD_SHARE, 0.98e38, -1 }, NO_SINK, 0, WIDE, WHOLE },
    { "V near the smallest normal", PLAIN, RANDOM, RANDOM, { BAD_TINY, 4, 0 }, NO_SINK, 0, ANY, WHOLE },
    /* sinks */
    { "a sink of 9", SINK, RANDOM, RANDOM, SIGNED, 9, 0, ANY, WHOLE },
    { "a sink of 60", SINK, RANDOM, RANDOM, SIGNED, 60, 0, ANY, WHOLE },
    { "a sink of 1e30", SINK, RANDOM, RANDOM, SIGNED, 1e30, 0, ANY, WHOLE },
    { "a sink of -60", SINK, RANDOM, RANDOM, SIGNED, -60, 0, ANY, WHOLE },
    { "a sink of -1e37", SINK, RANDOM, RANDOM, SIGNED, -1e37, 0, ANY, WHOLE },
    /* roundings that conspire: products that each addition loses, to either side; weights that it loses, likewise */
    { "products that are lost, d64", PLAIN, ONES, { BAD_ADDED, 516, 2.95e-5 }, TURNS, NO_SINK, 64, ANY, PROMISED },
    { "products that are lost, d576", PLAIN, ONES, { BAD_ADDED, 516, 2.95e-5 }, TURNS, NO_SINK, 576, ANY, PROMISED },
    { "products that cancel, d64", PLAIN, ONES, { BAD_CANCELS, 512, 2.95e-5 }, { BAD_SECOND, 1, -1 }, NO_SINK, 64, ANY,
      PROMISED },
    { "weights that are lost", PLAIN, FIRST(1), { BAD_TOP, 0, -16.7 }, { BAD_ROW, 1, 0 }, NO_SINK, 0, ANY, PROMISED },
    { "weights and values that are lost", PLAIN, FIRST(1), { BAD_TOP, 0, -16.7 }, { BAD_ROW, 1, 1 }, NO_SINK, 0, ANY,
      PROMISED },
    { "weights and values, subtracted", PLAIN, FIRST(1), { BAD_TOP, 0, -16.7 }, { BAD_ROW, 1, -1 }, NO_SINK, 0, ANY,
      PROMISED },
    { "tiles of weights that are lost", PLAIN, FIRST(1), { BAD_TOP, 0, -20.8 }, { BAD_ROW, 1, 0 }, NO_SINK, 0, ANY,
      PROMISED },
    /* scores that are rounded to more than 1 */
    { "scores of 2^29, 20 and more apart", PLAIN, ONES, { BAD_ADDED, 0x1p29, 10 }, TURNS, NO_SINK, 0, WIDE, PROMISED },
    { "scores of 1e4", PLAIN, UNITS, { BAD_NORMAL, 1e3, 0 }, UNITS, NO_SINK, 0, ANY, PROMISED },
    { "scores of 1e6", PLAIN, UNITS, { BAD_NORMAL, 1e5, 0 }, UNITS, NO_SINK, 0, WIDE, PROMISED },
    { "scores of 1e7", PLAIN, UNITS, { BAD_NORMAL, 1e6, 0 }, UNITS, NO_SINK, 0, WIDE, PROMISED },
    { "scores of 1e8, all alike", PLAIN, ONES, { BAD_BETWEEN, 0.999999e7, 1e7 }, UNITS, NO_SINK, 0, WIDE, PROMISED },
    { "a sink of 1e7 beside scores like it", SINK, FIRST(3e3), { BAD_COLUMN, 3333.3333, 1e-3 }, UNITS, 1e7, 0, ANY,
      PROMISED },
    /* weights that count as 0: beside all keys where parts are merged, and where matrix units have them in 16 bits */
    { "weights that merges drop", PLAIN, FIRST(1), { BAD_FEW, 0, -86.5 }, { BAD_SECOND, 0, 5e31 }, NO_SINK, 0, WIDE,
      PROMISED },
    { "weights below 2^-118", PLAIN, FIRST(1), { BAD_TOP, 0, -87 }, { BAD_ROW, 0, 5e31 }, NO_SINK, 0, WIDE, PROMISED },
    { "weights below 2^-32", PLAIN, FIRST(1), { BAD_TOP, 0, -22.5 }, { BAD_ROW, 0, 5e4 }, NO_SINK, 0, ANY, PROMISED },
    { "weights that are rounded down", "scale1 o:f32 lse", FIRST(1), { BAD_TOP, 0, -0.63671875 }, ONES, NO_SINK, 0,
      BAD_NARROW, PROMISED },
    /* what underflows before a large factor: elements that are scaled by 2^-100, and products before a scale */
    { "elements that underflow", "scale7.888609052210118e-31 lse", { BAD_ALL, 0x1.02p-50, 0 },
      { BAD_PARITY, 0x1p127, -0x1p127 }, TURNS, NO_SINK, 256, WIDE, PROMISED },
    { "elements that underflow, f64", "scale9.332636185032189e-302 lse", { BAD_ALL, 0x1.02p-75, 0 },
      { BAD_PARITY, 0x1p1022, -0x1p1022 }, TURNS, NO_SINK, 256, BAD_F64, PROMISED },
    { "products that underflow", "scale1e38 lse", { BAD_ALL, 0x1.02p-75, 0 }, { BAD_PARITY, 0x1p-75, -0x1p-75 }, TURNS,
      NO_SINK, 256, WIDE, PROMISED },
    { "products that underflow, f64", "scale1e308 lse", { BAD_ALL, 0x1.02p-537, 0 },
      { BAD_PARITY, 0x1p-538, -0x1p-538 }, TURNS, NO_SINK, 256, BAD_F64, PROMISED },
    { "Q 2.5e38, a scale of 4", "scale4 lse", FIRST(2.5e38), { BAD_LEVELS, 1.2e-38, 2.4e-38 }, UNITS, NO_SINK, 0, WIDE,
      WHOLE },
    { NULL, NULL, UNITS, UNITS, UNITS, 0, 0, 0, WHOLE },
};

int bad_suits(const struct bad *bad, const char *type, const char *words)
{
    static const struct {
        const char *name;
        int type;
    } types[] = { { "f32", CLATTN_F32 }, { "f16", CLATTN_F16 }, { "bf16", CLATTN_BF16 }, { "f64", CLATTN_F64 } };
    static const char *const narrow[] = { ":f16", ":q8_0", ":q4_0" }; /* GGUF's types have scales in f16 */
    int suits = 0;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        suits = suits || (!strcmp(type, types[i].name) && bad->types >> types[i].type & 1);
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        suits = suits && (bad->types & BAD_F16 || !strstr(words, narrow[i]));
    return suits && (!strstr(bad->words, " o:") || !strstr(words, " o:")); /* O has one type */
}

static double smallest_normal(int type)
{
    return ldexp(1, type == CLATTN_F16 ? -14 : type == CLATTN_F64 ? -1022 : -126);
}

double bad_element(const struct bad_shape *s, const struct bad_place *at, uint64_t seed, unsigned which, uint64_t i)
{
    const int64_t n = at->row, c = at->column;
    const double r = (double)(trial_hash(seed, which, i) >> 11) * 0x1p-53;
    const int first_half = n < at->keys / 2;
    const double near_b = s->b * (0.9 + 0.2 * r), step = s->a * fmin((double)n, s->b);
    switch (s->kind) {
    case BAD_ALL: return s->a;
    case BAD_NORMAL: return s->a * trial_normal(seed, which, i);
    case BAD_BETWEEN: return s->a + (s->b - s->a) * r;
    case BAD_COLUMN: return c == 0 ? s->a : near_b;
    case BAD_LAST: return c == at->width - 1 ? s->a : near_b;
    case BAD_ROW: return n == 0 ? s->a : near_b;
    case BAD_LEVELS: return c > 0 ? 0 : n % 2 ? s->b : s->a;
    case BAD_RISING: return c > 0 ? 0 : step;
    case BAD_PARITY: return n % 2 ? s->b : s->a;
    case BAD_ADDED: return c == 0 ? s->a : n % 2 ? -s->b : s->b;
    case BAD_TOP: return c > 0 ? 0 : n ? s->b : s->a;
    case BAD_FEW: return c > 0 ? 0 : first_half ? s->a : n % 32 ? -1e4 : s->b;
    case BAD_CANCELS: return c == 0 ? s->a : c == at->width - 1 ? -s->a : first_half ? s->b : -s->b;
    case BAD_SECOND: return first_half ? s->a : s->b;
    case BAD_SHARE: return s->a / (double)at->keys * (s->b + (1 - s->b) * r);
    default: return smallest_normal(at->type) * (r < 0.5 ? -1 : 1) * (1 + (s->a - 1) * fabs(2 * r - 1));
    }
}

/* The first row that lies where this one does, as an index of rows: a block table may lead to a page twice. */
static int64_t first_of(const struct tensor *x, int64_t row)
{
    const struct paging *const p = x->paging;
    const int64_t n = row % x->n[2], h = row / x->n[2] % x->n[1], b = row / x->n[2] / x->n[1];
    int64_t slot = 0;
    if (!p)
        return row;
    while (p->table[slot] != p->table[b * p->slots + n / p->page])
        slot++;
    return (slot / p->slots * x->n[1] + h) * x->n[2] + slot % p->slots * p->page + n % p->page;
}

static cl_int fill(struct trial *t, struct tensor *x, const struct bad_shape *s, unsigned which)
{
    const int64_t rows = x->n[0] * x->n[1] * x->n[2];
    struct bad_place at = { .width = x->width, .keys = t->sizes.nk, .type = x->type };
    for (int64_t row = 0; row < rows; row++) {
        const int64_t first = first_of(x, row);
        at.row = first % x->n[2];
        for (at.column = 0; at.column < x->width; at.column++)
            x->value[row * x->width + at.column] =
                bad_element(s, &at, t->c.seed, which, (uint64_t)(first * x->width + at.column));
    }
    if (!quantise_is(x->type))
        inputs_round(x->type, x->value, (size_t)(rows * x->width));
    return keys_round(t, x);
}

cl_int bad_sinks(struct trial *t, double sink, cl_command_queue queue)
{
    struct image *im = &t->list[SINKS];
    for (int64_t h = 0; h < t->sizes.h; h++)
        t->x.sinks[h] = (double)(float)sink;
    convert_store(CLATTN_F32, t->x.sinks, im->byte + t->args.sinks.offset * sizeof(float), (size_t)t->sizes.h);
    return image_write(im, queue);
}

cl_int bad_fill(const struct bad *bad, struct trial *t, cl_command_queue queue)
{
    cl_int e;
    t->demand = bad->demand;
    e = fill(t, &t->q, &bad->q, 11);
    e = e ? e : fill(t, &t->k, &bad->k, 12);
    e = e ? e : fill(t, &t->v, &bad->v, 13);
    e = !e && t->x.sinks ? bad_sinks(t, bad->sink, queue) : e;
    return e ? e : trial_upload_inputs(t, queue);
}
