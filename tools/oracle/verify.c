/* verify.c - O, LSE and gradients of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0
 *
 * One batch entry, or sequence, at a time: that serves keys shared by all entries, and keeps the memory small. */
#include "config.h"

#include "tools/oracle/verify.h"

#include "tools/oracle/inputs.h"
#include "tools/oracle/verify_entry.h"
#include "tools/oracle/verify_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One batch entry, and its part of every array. */
struct entry {
    struct verify_entry of;
    const double *o, *lse;
    double *want_o, *want_lse, *bound_o, *bound_lse; /* with the pitch of o */
};

enum { TILE_ROWS = 256 }; /* no engine's tile has more queries */

int verify_narrow_p(const char *config)
{
    static const char *const with_matrix_units[] = { "mma_", "mfma", "wmma", "dpas" };
    for (size_t i = 0; i < sizeof with_matrix_units / sizeof *with_matrix_units; i++)
        if (!strncmp(config, with_matrix_units[i], 4))
            return 1;
    return 0;
}

static int strange(double x)
{
    return isnan(x) || isinf(x);
}

/* The distance of two values; infinite when they are not the same kind of number. */
static double distance(double got, double want)
{
    if (strange(want) || strange(got))
        return (isnan(want) ? isnan(got) : got == want) ? 0 : (double)INFINITY;
    return fabs(got - want);
}

double farthest_part(const struct farthest *f)
{
    return f->error == 0 ? 0 : f->error / f->bound;
}

/* Keeps in *worst the farther one, of two that are as far the one that may be farther off. */
static void consider(struct farthest *worst, double error, double bound)
{
    const struct farthest f = { error, bound };
    const double part = farthest_part(&f), most = farthest_part(worst);
    if (part > most || (part == most && bound > worst->bound))
        *worst = f;
}

void farthest_consider(struct farthest *worst, double got, double want, double bound)
{
    consider(worst, distance(got, want), bound);
}

static void look_at_lse(const struct entry *e, struct farthest *worst)
{
    const struct reference *r = &e->of.r;
    for (int64_t h = 0; h < r->h; h++)
        for (int64_t row = h * r->q_pitch; row < h * r->q_pitch + r->nq; row++)
            consider(worst, distance(e->lse[row], e->want_lse[row]), e->bound_lse[row]);
}

/* Whether NaN or inf in the values may have reached column c of row q: a query beside it, or one of a head that reads
 * the same keys, keeps one there. Where a score is NaN, LSE is too, and that reaches nobody. */
static int is_tainted(const struct entry *e, int64_t h, int64_t q, int64_t c)
{
    const struct reference *r = &e->of.r;
    const int64_t share = r->h / r->hk, first = h / share * share;
    const int64_t from = q < TILE_ROWS ? 0 : q - TILE_ROWS + 1, to = r->nq - q < TILE_ROWS ? r->nq : q + TILE_ROWS;
    for (int64_t other = first; other < first + share; other++)
        for (int64_t row = other * r->q_pitch + from; row < other * r->q_pitch + to; row++)
            if (!isnan(e->want_lse[row]) && strange(e->want_o[row * r->dv + c]))
                return 1;
    return 0;
}

static void look_at_o(const struct entry *e, struct farthest *worst)
{
    const struct reference *r = &e->of.r;
    for (int64_t h = 0; h < r->h; h++)
        for (int64_t q = 0; q < r->nq; q++)
            for (int64_t c = 0; c < r->dv; c++) {
                const int64_t at = (h * r->q_pitch + q) * r->dv + c;
                const double error = distance(e->o[at], e->want_o[at]);
                const int may_be = error == (double)INFINITY && strange(e->o[at]);
                if (!may_be || worst->error == (double)INFINITY || !is_tainted(e, h, q, c))
                    consider(worst, error, e->bound_o[at]);
            }
}

/* Entry b. o and lse: of the whole. */
static void enter(struct entry *e, const clattn_workload *c, const clattn_problem *p, const struct setup_inputs *in,
                  int64_t b, const double *o, const double *lse)
{
    verify_entry_enter(&e->of, c, p, in, b);
    e->o = o + e->of.q_row * p->dv;
    e->lse = lse ? lse + e->of.q_row : NULL;
}

/* O and LSE of entry b, and what it adds to gradients. */
static int check_entry(struct entry *e, struct expected *expected, struct verdict *out)
{
    const struct verify_entry *const of = &e->of;
    const double *const from[5] = { of->q, of->k, of->v, e->o, e->lse ? e->lse : e->want_lse };
    if (reference_forward(&of->r, of->q, of->k, of->v, e->want_o, e->want_lse, e->bound_o, e->bound_lse, NULL) != 0)
        return -1;
    look_at_o(e, &out->o);
    if (e->lse)
        look_at_lse(e, &out->lse);
    return expected->given ? expected_add(expected, &of->r, from, of->q_row, of->k_row, e->bound_o, e->bound_lse) : 0;
}

int verify_is_good(const struct verdict *v)
{
    int good = farthest_part(&v->o) <= 1 && farthest_part(&v->lse) <= 1;
    for (int i = 0; i < VERIFY_GRADIENTS; i++)
        good = good && farthest_part(&v->gradients[i]) <= 1;
    for (int i = 0; i < VERIFY_SCORES; i++)
        good = good && farthest_part(&v->scores[i]) <= 1;
    return good;
}

int verify(const clattn_workload *c, const struct setup_inputs *in, int narrow_p, reference_mod mod, void *user,
           const double *o, const double *lse, const struct verify_gradients *gradients, struct verdict *out)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const clattn_sizes *z = &p.sizes;
    const int64_t pitch = p.flags & CLATTN_CU_Q ? z->total_q : z->nq;
    const size_t rows = (size_t)z->h * (size_t)pitch, values = rows * (size_t)p.dv;
    struct expected expected = { 0 };
    struct entry e;
    int status = -1;
    memset(out, 0, sizeof *out);
    memset(&e, 0, sizeof e);
    verify_entry_start(&e.of, &p, in, narrow_p, mod, user);
    e.want_o = malloc((values + 1) * sizeof *e.want_o);
    e.want_lse = malloc((rows + 1) * sizeof *e.want_lse);
    e.bound_o = malloc((values + 1) * sizeof *e.bound_o);
    e.bound_lse = malloc((rows + 1) * sizeof *e.bound_lse);
    if (!e.want_o || !e.want_lse || !e.bound_o || !e.bound_lse ||
        (gradients && expected_make(&expected, gradients, c, in->x) != 0))
        goto out;
    for (int64_t b = 0; b < z->b && rows > 0; b++) {
        enter(&e, c, &p, in, b, o, lse);
        if (check_entry(&e, &expected, out) != 0)
            goto out;
    }
    if (gradients) {
        expected_store(&expected, &p);
        for (int64_t b = 0; b < z->b; b++) {
            enter(&e, c, &p, in, b, o, lse);
            expected_look_at_rows(&expected, &e.of.r, e.of.q_row, e.of.k_row, out->gradients);
        }
        expected_look_at_others(&expected, out->gradients);
    }
    out->good = verify_is_good(out);
    status = 0;
out:
    expected_free(&expected);
    free(e.want_o);
    free(e.want_lse);
    free(e.bound_o);
    free(e.bound_lse);
    return status;
}
