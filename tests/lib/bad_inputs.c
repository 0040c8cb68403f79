/* bad_inputs.c - inputs that are made bad on purpose
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/bad.h"

#include "tools/convert.h"
#include "tools/inputs.h"
#include "tools/quantise.h"

#include <math.h>
#include <string.h>

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
    { "Q = 0, V = 0.95", { BAD_ALL, 0, 0 }, UNITS, SAME, NO_SINK, 0, 0, WHOLE },
    { "V in 0.9 to 1", RANDOM, RANDOM, SIGNED, NO_SINK, 0, 0, WHOLE },
    { "equal scores, V in 0.9 to 1", { BAD_ALL, 0.25, 0 }, { BAD_ALL, 0.5, 0 }, SIGNED, NO_SINK, 0, 0, WHOLE },
    { "equal scores, V of both signs", { BAD_ALL, 0.25, 0 }, { BAD_ALL, 0.5, 0 }, UNITS, NO_SINK, 0, 0, WHOLE },
    { "Q and K of one sign, d64", SIGNED, SIGNED, UNITS, NO_SINK, 64, 0, WHOLE },
    { "Q and K of one sign, d128", SIGNED, SIGNED, UNITS, NO_SINK, 128, 0, WHOLE },
    { "Q and K of one sign, d576", SIGNED, SIGNED, UNITS, NO_SINK, 576, 0, WHOLE },
    /* a large term, and many small ones that it swallows */
    { "a large product first", { BAD_COLUMN, 64, 1 }, { BAD_COLUMN, 64, 0.03 }, UNITS, NO_SINK, 0, 0, WHOLE },
    { "a large product last", { BAD_LAST, 64, 1 }, { BAD_LAST, 64, 0.03 }, UNITS, NO_SINK, 0, 0, WHOLE },
    { "a large value first", { BAD_ALL, 0, 0 }, UNITS, { BAD_ROW, 4000, 0.9 }, NO_SINK, 0, 0, WHOLE },
    /* maxima that move */
    { "rising scores", FIRST(1), { BAD_RISING, 0.05, 1e6 }, SIGNED, NO_SINK, 0, 0, WHOLE },
    { "steeply rising scores", FIRST(1), { BAD_RISING, 2, 2e4 }, SIGNED, NO_SINK, 0, 0, WHOLE },
    { "evenly rising scores", FIRST(1), { BAD_RISING, 0x1p-21, 2e6 }, SIGNED, NO_SINK, 0, 0, WHOLE },
    { "falling scores", FIRST(1), { BAD_RISING, -0.05, 1e6 }, SIGNED, NO_SINK, 0, 0, WHOLE },
    /* huge scores: equal ones, whose weights are exact, and two levels of them */
    { "scores of 9e8", FIRST(3e4), FIRST(3e4), SAME, NO_SINK, 0, 0, WHOLE },
    { "scores of 9e8 and 8e8", FIRST(3e4), { BAD_LEVELS, 3e4, 2.7e4 }, UNITS, NO_SINK, 0, 0, WHOLE },
    { "scores of 1e30", FIRST(1e15), FIRST(1e15), SAME, NO_SINK, 0, 1, WHOLE },
    { "scores of -1e30", FIRST(1e15), FIRST(-1e15), SAME, NO_SINK, 0, 1, WHOLE },
    { "scores of 9e36 and -9e36", FIRST(3e18), { BAD_LEVELS, 3e18, -3e18 }, SAME, NO_SINK, 0, 1, WHOLE },
    /* products of what has hardly a place in float */
    { "Q 2.5e38, K 1.2e-38", FIRST(2.5e38), { BAD_LEVELS, 1.2e-38, 2.4e-38 }, UNITS, NO_SINK, 0, 1, WHOLE },
    { "Q 1.2e-38, K 2.5e38", FIRST(1.2e-38), { BAD_LEVELS, 2.5e38, 1.2e38 }, UNITS, NO_SINK, 0, 1, WHOLE },
    /* the ends of O */
    { "V up to 1e38 in all", RANDOM, RANDOM, { BAD_SHARE, 0.98e38, 0.9 }, NO_SINK, 0, 1, WHOLE },
    { "V up to 1e38, both signs", RANDOM, RANDOM, { BAD_SHARE, 0.98e38, -1 }, NO_SINK, 0, 1, WHOLE },
    { "V near the smallest normal", RANDOM, RANDOM, { BAD_TINY, 4, 0 }, NO_SINK, 0, 0, WHOLE },
    /* sinks */
    { "a sink of 9", RANDOM, RANDOM, SIGNED, 9, 0, 0, WHOLE },
    { "a sink of 60", RANDOM, RANDOM, SIGNED, 60, 0, 0, WHOLE },
    { "a sink of 1e30", RANDOM, RANDOM, SIGNED, 1e30, 0, 0, WHOLE },
    { "a sink of -60", RANDOM, RANDOM, SIGNED, -60, 0, 0, WHOLE },
    { "a sink of -1e37", RANDOM, RANDOM, SIGNED, -1e37, 0, 0, WHOLE },
    /* roundings that conspire: products that each addition loses, to either side; weights that it loses, likewise */
    { "products that are lost, d64", ONES, { BAD_ADDED, 516, 2.95e-5 }, TURNS, NO_SINK, 64, 0, PROMISED },
    { "products that are lost, d576", ONES, { BAD_ADDED, 516, 2.95e-5 }, TURNS, NO_SINK, 576, 0, PROMISED },
    { "weights that are lost", FIRST(1), { BAD_TOP, 0, -16.7 }, { BAD_ROW, 1, 0 }, NO_SINK, 0, 0, PROMISED },
    { "weights and values that are lost", FIRST(1), { BAD_TOP, 0, -16.7 }, { BAD_ROW, 1, 1 }, NO_SINK, 0, 0, PROMISED },
    { "weights and values, subtracted", FIRST(1), { BAD_TOP, 0, -16.7 }, { BAD_ROW, 1, -1 }, NO_SINK, 0, 0, PROMISED },
    { "tiles of weights that are lost", FIRST(1), { BAD_TOP, 0, -20.8 }, { BAD_ROW, 1, 0 }, NO_SINK, 0, 0, PROMISED },
    /* scores that are rounded to more than 1 */
    { "scores of 2^29, 20 and more apart", ONES, { BAD_ADDED, 0x1p29, 10 }, TURNS, NO_SINK, 0, 1, PROMISED },
    { "scores of 1e4", UNITS, { BAD_NORMAL, 1e3, 0 }, UNITS, NO_SINK, 0, 0, PROMISED },
    { "scores of 1e6", UNITS, { BAD_NORMAL, 1e5, 0 }, UNITS, NO_SINK, 0, 1, PROMISED },
    { "scores of 1e7", UNITS, { BAD_NORMAL, 1e6, 0 }, UNITS, NO_SINK, 0, 1, PROMISED },
    { "scores of 1e8, all alike", ONES, { BAD_BETWEEN, 0.999999e7, 1e7 }, UNITS, NO_SINK, 0, 1, PROMISED },
    { "a sink of 1e7 beside scores like it", FIRST(3e3), { BAD_COLUMN, 3333.3333, 1e-3 }, UNITS, 1e7, 0, 0, PROMISED },
    { NULL, UNITS, UNITS, UNITS, 0, 0, 0, WHOLE },
};

const char *bad_words(const struct bad *bad)
{
    return bad->sink > -(double)INFINITY ? "scale1 sink lse" : "scale1 lse";
}

int bad_suits(const struct bad *bad, const char *type, const char *words)
{
    static const char *const narrow[] = { ":f16", ":q8_0", ":q4_0" }; /* GGUF's types have scales in f16 */
    int suits = strcmp(type, "f16") != 0;
    for (size_t i = 0; i < sizeof narrow / sizeof *narrow; i++)
        suits = suits && !strstr(words, narrow[i]);
    return suits || !bad->wide_only;
}

static double smallest_normal(int type)
{
    return ldexp(1, type == CLATTN_F16 ? -14 : type == CLATTN_F64 ? -1022 : -126);
}

double bad_element(const struct bad_shape *s, const struct bad_place *at, uint64_t seed, unsigned which, uint64_t i)
{
    const int64_t n = at->row, c = at->column;
    const double r = (double)(trial_hash(seed, which, i) >> 11) * 0x1p-53;
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
    e = e ? e : trial_upload(t, queue, &t->q);
    e = e ? e : trial_upload(t, queue, &t->k);
    return e ? e : trial_upload(t, queue, &t->v);
}
