/* rooms.c - gradients whose P and dS leave what 16 bits hold: next to nothing, huge, and growing along a sum
 * SPDX-License-Identifier: Apache-2.0
 *
 * Of Q all even columns are 0, and of K all odd ones, but for column 0, which alone makes scores. So Q and K may have
 * any size, and what dQ and dK are made of counts in all its terms: those of a larger dS meet a smaller Q or K.
 * make check has one tile, CLATTN_PART=1 both. rooms.t CONFIG FILL: one row. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/graded.h"
#include "tools/oracle/inputs.h"

#include <math.h>

enum { SPAN = 8 }; /* rows of one size: half of the smallest tile */

/* Elements of a row are about 2^(first + step * (row / SPAN)). */
struct size {
    int first, step;
};
static int size_of(const struct size *size, int64_t row)
{
    return size->first + size->step * (int)(row / SPAN);
}

/* A score is the power of two that its query has, times the key's factor: where it lies, or whether it is odd. */
struct fill {
    const char *name;
    struct size q, k, v, dout, of_query;
    int by_place, by_parity;
};
static const struct fill fills[] = {
    /* dS is 2^-22 or so, and P of odd keys is: what is much less cannot be seen in what is stored in f16. */
    { "small-ds", { 14, 0 }, { 14, 0 }, { -6, 0 }, { -13, 0 }, { 0, 0 }, 0, 0 },
    { "small-p", { 0, 0 }, { 0, 0 }, { -12, 0 }, { 14, 0 }, { -20, 0 }, 0, 1 },
    /* dS is 2^15 and more. */
    { "large-ds", { -9, 0 }, { -9, 0 }, { 10, 0 }, { 10, 0 }, { 0, 0 }, 0, 0 },
    /* dS grows along queries, or along keys, and P along queries; within a tile and from tile to tile. */
    { "ds-of-queries", { 13, -13 }, { -8, 0 }, { 6, 0 }, { -13, 13 }, { 0, 0 }, 0, 0 },
    { "ds-of-keys", { 0, 0 }, { 13, -13 }, { 6, 0 }, { 6, 0 }, { 1, 0 }, 13, 0 },
    { "p-of-queries", { 0, 0 }, { 0, 0 }, { -10, 0 }, { 14, -10 }, { -20, 10 }, 0, 1 },
};
enum { N_FILLS = sizeof fills / sizeof *fills };

/* Columns of one parity, or all. */
static void put(struct tensor *x, const struct size *size, uint64_t seed, int first, int by)
{
    for (int64_t i = 0; i < tensor_count(x); i++) {
        const int64_t row = i / x->width % x->n[2], column = i % x->width;
        x->value[i] = column % by == first % by ? ldexp(trial_normal(seed, 90, (uint64_t)i), size_of(size, row)) : 0;
    }
}
static double half_score(const struct fill *f, int of_key, int64_t row)
{
    return of_key ? f->by_place * (double)(row / SPAN) + f->by_parity * (double)(row % 2)
                  : log(2) * size_of(&f->of_query, row);
}
static void put_scores(struct tensor *x, const struct fill *f, int of_key)
{
    for (int64_t i = 0; i < tensor_count(x); i += x->width)
        x->value[i] = half_score(f, of_key, i / x->width % x->n[2]);
}

static cl_int give(struct graded *g, const struct fill *f, cl_command_queue queue)
{
    struct trial *const t = &g->t;
    struct tensor *const x[] = { &t->q, &t->k, &t->v };
    put(&t->q, &f->q, 1, 1, 2);
    put(&t->k, &f->k, 2, 0, 2);
    put(&t->v, &f->v, 3, 0, 1);
    put(&g->x[GRADED_DOUT], &f->dout, 4, 0, 1);
    put_scores(&t->q, f, 0);
    put_scores(&t->k, f, 1);
    for (int i = 0; i < 3; i++)
        inputs_round(x[i]->type, x[i]->value, (size_t)tensor_count(x[i]));
    cl_int e = trial_upload_inputs(t, queue);
    e = e ? e : graded_upload(g, GRADED_DOUT, queue);
    return e ? e : graded_truth(g, queue);
}

static void check(const struct device *d, const char *type, const char *config, const struct fill *f)
{
    struct graded g;
    char text[128], why[1024] = "";
    snprintf(text, sizeof text, "%s b1 h2 q22 k22 d72/12 scale1 lse bwd", type);
    const clattn_workload c = each_case(text);
    const unsigned wanted = 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV;
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, PADDED, wanted);
    e = e ? e : give(&g, f, d->queue);
    const clattn_plan plan = each_plan(d, config, &g.t.c.problem, text);
    if (plan) {
        e = e ? e : graded_run(&g, plan, d->queue);
        const int good = !e && graded_verify(&g, d->queue, why, sizeof why);
        if (!ok(good, "%s, %s, %s: %s (%.3f of the bound)", d->name, config, f->name, text, g.most))
            diag("%s %s\nagain: tests/kernel/rooms.t '%s' %s", clattn_status_string(e), why, config, f->name);
    }
    graded_free(&g);
}

static char **arguments;
static int is_due(const char *tile, const char *fill, unsigned i, int soon)
{
    return arguments[1] ? !strcmp(arguments[1], tile) && !strcmp(arguments[2], fill) : harness_turn(i, soon);
}

static void test(const struct device *d)
{
    static const char *const tiles[] = { "mma_emu nw1,rt2,bk16,qreg0", "mma_emu nw2,rt1,bk16,qreg0" };
    for (unsigned i = 0; i < 2; i++)
        for (unsigned n = 0; n < N_FILLS; n++)
            if (is_due(tiles[i], fills[n].name, i * N_FILLS + n, !i))
                check(d, "f16", tiles[i], &fills[n]);
}

int main(int argc, char **argv)
{
    (void)argc;
    arguments = argv;
    return each_device(test);
}
