/* verify.c - O, LSE and gradients of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0
 *
 * One batch entry, or sequence, at a time: that serves keys shared by all entries, and keeps the memory small. */
#include "config.h"

#include "tools/oracle/verify.h"

#include "tools/oracle/inputs.h"
#include "tools/oracle/verify_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One batch entry: the problem of it alone, and its part of every array. */
struct entry {
    struct reference r;
    int64_t q_row, k_row; /* its first rows in arrays of all */
    const double *q, *k, *v, *o, *lse;
    double *want_o, *want_lse, *bound_o, *bound_lse; /* with the pitch of o */
};

enum { TILE_ROWS = 256 }; /* no engine's tile has more queries */

int verify_narrow_p(const char *config)
{
    return strncmp(config, "mma_", 4) == 0;
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
    const struct reference *r = &e->r;
    for (int64_t h = 0; h < r->h; h++)
        for (int64_t row = h * r->q_pitch; row < h * r->q_pitch + r->nq; row++)
            consider(worst, distance(e->lse[row], e->want_lse[row]), e->bound_lse[row]);
}

/* Whether NaN or inf in the values may have reached column c of row q: a query beside it, or one of a head that reads
 * the same keys, keeps one there. Where a score is NaN, LSE is too, and that reaches nobody. */
static int is_tainted(const struct entry *e, int64_t h, int64_t q, int64_t c)
{
    const struct reference *r = &e->r;
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
    const struct reference *r = &e->r;
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

/* A list of lengths: the caller's, or else the case's; NULL when the problem has none. */
static const int32_t *lengths(const clattn_problem *p, uint32_t flag, const int32_t *given, const int32_t *listed)
{
    return !(p->flags & flag) ? NULL : given ? given : listed;
}

static void copy_shape(int64_t to[4], const int64_t from[4])
{
    memcpy(to, from, 4 * sizeof *to);
}

void verify_take_extras(struct reference *r, const struct extras *x)
{
    r->bias = x->bias;
    r->mask = x->mask;
    r->block_map = x->block_map;
    copy_shape(r->bias_shape, x->bias_shape);
    copy_shape(r->mask_shape, x->mask_shape);
    copy_shape(r->block_shape, x->block_shape);
    r->block_q = x->block_q;
    r->block_k = x->block_k;
    r->slopes = x->slopes;
    r->slopes_b = x->slopes_b;
    r->sinks = x->sinks;
    r->dropout_seed = x->dropout_seed;
    r->dropout_offset = x->dropout_offset;
}

/* What all entries have in common. */
static struct reference problem(const clattn_problem *p, const struct setup_inputs *in)
{
    struct reference r;
    memset(&r, 0, sizeof r);
    r.p = *p;
    r.type = p->o_type;
    r.b = 1;
    r.h = p->sizes.h;
    r.hk = p->sizes.hk;
    r.d = p->d;
    r.dv = p->dv;
    r.scale = p->scale;
    if (in->x)
        verify_take_extras(&r, in->x);
    return r;
}

static const int32_t *at(const int32_t *list, int64_t b)
{
    return list ? list + b : NULL;
}

/* Rows of entry b, how far its heads are apart, and where its first row lies in heads of that pitch. */
static int64_t rows_of(const int32_t *cu, int64_t b, int64_t heads, int64_t n, int64_t total, int64_t *pitch,
                       int64_t *first)
{
    *pitch = cu ? total : n;
    *first = cu ? cu[b] : b * heads * n;
    return cu ? cu[b + 1] - cu[b] : n;
}

/* Entry b. o and lse: of the whole. */
static void enter(struct entry *e, const clattn_workload *c, const clattn_problem *p, const struct setup_inputs *in,
                  int64_t b, const double *o, const double *lse)
{
    const clattn_sizes *z = &p->sizes;
    const int32_t *cu_q = in->x ? in->x->cu_q : NULL, *cu_k = in->x ? in->x->cu_k : NULL;
    struct reference *r = &e->r;
    r->nq = rows_of(cu_q, b, z->h, z->nq, z->total_q, &r->q_pitch, &e->q_row);
    r->nk = rows_of(cu_k, in->shared ? 0 : b, z->hk, z->nk, z->total_k, &r->k_pitch, &e->k_row);
    r->b0 = b;
    r->q_len = at(lengths(p, CLATTN_Q_LEN, in->q_len, c->q_len), b);
    r->kv_len = at(lengths(p, CLATTN_KV_LEN, in->kv_len, c->kv_len), b);
    r->kv_start = at(lengths(p, CLATTN_KV_START, in->kv_start, c->kv_start), b);
    r->offsets = at(in->offsets, b);
    e->q = in->q + e->q_row * p->d;
    e->k = in->k + e->k_row * p->d;
    e->v = in->v + e->k_row * p->dv;
    e->o = o + e->q_row * p->dv;
    e->lse = lse ? lse + e->q_row : NULL;
}

/* O and LSE of entry b, and what it adds to gradients. */
static int check_entry(struct entry *e, struct expected *expected, struct verdict *out)
{
    const double *const from[5] = { e->q, e->k, e->v, e->o, e->lse ? e->lse : e->want_lse };
    if (reference_forward(&e->r, e->q, e->k, e->v, e->want_o, e->want_lse, e->bound_o, e->bound_lse, NULL) != 0)
        return -1;
    look_at_o(e, &out->o);
    if (e->lse)
        look_at_lse(e, &out->lse);
    return expected->given ? expected_add(expected, &e->r, from, e->q_row, e->k_row, e->bound_o, e->bound_lse) : 0;
}

static int is_good(const struct verdict *v)
{
    int good = farthest_part(&v->o) <= 1 && farthest_part(&v->lse) <= 1;
    for (int i = 0; i < VERIFY_GRADIENTS; i++)
        good = good && farthest_part(&v->gradients[i]) <= 1;
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
    e.r = problem(&p, in);
    e.r.narrow_p = narrow_p;
    e.r.mod = in->x && in->x->n_mods ? mod : NULL;
    e.r.user = user;
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
            expected_look_at_rows(&expected, &e.r, e.q_row, e.k_row, out->gradients);
        }
        expected_look_at_others(&expected, out->gradients);
    }
    out->good = is_good(out);
    status = 0;
out:
    expected_free(&expected);
    free(e.want_o);
    free(e.want_lse);
    free(e.bound_o);
    free(e.bound_lse);
    return status;
}
