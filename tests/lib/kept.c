/* kept.c - which elements of the scores exist: what may be read, and what must not be
 * SPDX-License-Identifier: Apache-2.0
 *
 * The masks are the oracle's, which unit/reference.c holds to a formula of its own, and unit/sample.c to the library's
 * rules of samples. */
#include "config.h"

#include "tests/lib/trial.h"

#include "tests/lib/mods.h"
#include "tools/oracle/reference_rules.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* The element of a tensor of axes b, h, q and k, of which those of shape 1 are broadcast, and entries and heads repeat
 * where there are fewer. */
static size_t at(const int64_t shape[4], int64_t b, int64_t h, int64_t q, int64_t k)
{
    int64_t step;
    const int64_t cells = reference_cells(shape, b, h, q, &step);
    return (size_t)(cells + k * step);
}

void trial_keep_row(const struct trial *t, int64_t b, int64_t h, int64_t q, unsigned char *keep)
{
    struct reference r = trial_problem(t);
    r.bias = NULL;
    const struct reference_line line = reference_line_of(&r, b, h, q);
    reference_keep(&r, &line, keep);
}

/* keep[k] of row q, score_mods that drop an element included. `s` is scratch. */
static int keep_row(const struct trial *t, int64_t b, int64_t h, int64_t q, unsigned char *keep, double *s)
{
    int64_t k;
    trial_keep_row(t, b, h, q, keep);
    for (k = 0; k < t->sizes.nk; k++)
        s[k] = 0;
    if (!t->x.n_mods)
        return 0;
    if (mods_reference((void *)(uintptr_t)&t->x, s, keep, b, h, q, t->sizes.nk))
        return -1;
    for (k = 0; k < t->sizes.nk; k++)
        keep[k] = keep[k] && s[k] != -INFINITY;
    return 0;
}

/* Calls `use` for each element that is kept. */
static int each_kept(const struct trial *t, void (*use)(void *, int64_t b, int64_t h, int64_t q, int64_t k), void *user)
{
    unsigned char *keep = malloc((size_t)t->sizes.nk + 1);
    double *s = malloc((size_t)(t->sizes.nk + 1) * sizeof *s);
    int64_t b, h, q, k;
    int bad = !keep || !s;
    for (b = 0; b < t->sizes.b && t->sizes.nk; b++)
        for (h = 0; h < t->sizes.h; h++)
            for (q = 0; q < t->sizes.nq && !bad; q++) {
                bad = keep_row(t, b, h, q, keep, s);
                for (k = 0; k < t->sizes.nk && !bad; k++)
                    if (keep[k])
                        use(user, b, h, q, k);
            }
    free(keep);
    free(s);
    return bad;
}

/* A bias of -inf drops an element too. */
static void mark(void *user, int64_t b, int64_t h, int64_t q, int64_t k)
{
    struct trial *t = user;
    const struct extras *x = &t->x;
    if (x->bias && x->bias[at(x->bias_shape, b, h, q, k)] == -INFINITY)
        return;
    t->sees[(b * t->sizes.h + h) * t->sizes.nq + q] = 1;
    t->seen[(b * t->sizes.hk + h / (t->sizes.h / t->sizes.hk)) * t->sizes.nk + k] = 1;
}

cl_int trial_find_kept(struct trial *t)
{
    const size_t keys = (size_t)(t->sizes.b * t->sizes.hk * t->sizes.nk);
    const size_t queries = (size_t)(t->sizes.b * t->sizes.h * t->sizes.nq);
    free(t->seen);
    free(t->sees);
    t->seen = calloc(keys + 1, 1);
    t->sees = calloc(queries + 1, 1);
    if (!t->seen || !t->sees)
        return CL_OUT_OF_HOST_MEMORY;
    return each_kept(t, mark, t) ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

struct used {
    const struct trial *t;
    unsigned char *cell;
};

static void mark_cell(void *user, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const struct used *u = user;
    u->cell[at(u->t->x.bias_shape, b, h, q, k)] = 1;
}

unsigned char *trial_bias_used(const struct trial *t)
{
    const int64_t *n = t->x.bias_shape;
    struct used u = { t, calloc((size_t)(n[0] * n[1] * n[2] * n[3]) + 1, 1) };
    if (u.cell && each_kept(t, mark_cell, &u)) {
        free(u.cell);
        u.cell = NULL;
    }
    return u.cell;
}
