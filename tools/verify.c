/* verify.c - O and LSE of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0
 *
 * One batch entry, or sequence, at a time: that serves keys shared by all entries, and keeps the memory small. */
#include "config.h"

#include "verify.h"

#include "inputs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One batch entry: the problem of it alone, and its part of every array. */
struct entry {
    struct reference r;
    const double *q, *k, *v, *o, *lse;
    double *want_o, *want_lse; /* with the pitch of o */
    unsigned char *seen;       /* [hk,nk]: some query keeps that key */
    unsigned char *tainted;    /* [hk,dv]: such a key has NaN or inf in that column of V */
};

static int strange(double x)
{
    return isnan(x) || isinf(x);
}

/* The larger of `worst` and the distance of two values; infinite when they are not the same kind of number. */
static double distance(double worst, double got, double want)
{
    if (strange(want) || strange(got))
        return (isnan(want) ? isnan(got) : got == want) ? worst : (double)INFINITY;
    return fmax(worst, fabs(got - want));
}

static double farthest_lse(const struct entry *e)
{
    const struct reference *r = &e->r;
    double worst = 0;
    for (int64_t h = 0; h < r->h; h++)
        for (int64_t row = h * r->q_pitch; row < h * r->q_pitch + r->nq; row++)
            worst = distance(worst, e->lse[row], e->want_lse[row]);
    return worst;
}

/* The same for O, where NaN or inf in a value that one query keeps may reach the queries beside it. */
static double farthest_o(const struct entry *e)
{
    const struct reference *r = &e->r;
    double worst = 0;
    for (int64_t h = 0; h < r->h; h++) {
        const unsigned char *tainted = e->tainted + h / (r->h / r->hk) * r->dv;
        for (int64_t row = h * r->q_pitch; row < h * r->q_pitch + r->nq; row++)
            for (int64_t c = 0; c < r->dv; c++) {
                const double got = e->o[row * r->dv + c];
                if (!(tainted[c] && strange(got)))
                    worst = distance(worst, got, e->want_o[row * r->dv + c]);
            }
    }
    return worst;
}

/* Looks through the values that are kept: sets `tainted`, and returns the largest finite |v|. Padding may hold anything
 * and must not widen the bound. */
static double look_at_values(const struct entry *e)
{
    const struct reference *r = &e->r;
    double most = 0;
    memset(e->tainted, 0, (size_t)(r->hk * r->dv));
    for (int64_t h = 0; h < r->hk; h++)
        for (int64_t k = 0; k < r->nk; k++)
            for (int64_t c = 0; c < r->dv && e->seen[h * r->nk + k]; c++) {
                const double x = e->v[(h * r->k_pitch + k) * r->dv + c];
                if (strange(x))
                    e->tainted[h * r->dv + c] = 1;
                else
                    most = fmax(most, fabs(x));
            }
    return most;
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
}

/* What all entries have in common. */
static struct reference problem(const clattn_problem *p, const struct setup_inputs *in)
{
    struct reference r;
    memset(&r, 0, sizeof r);
    r.b = 1;
    r.h = p->sizes.h;
    r.hk = p->sizes.hk;
    r.d = p->d;
    r.dv = p->dv;
    r.scale = p->scale;
    r.causal = p->causal;
    r.align = p->align;
    r.offset = p->sizes.offset;
    r.softcap = p->softcap;
    r.window = (p->flags & CLATTN_WINDOW) != 0;
    r.window_left = p->window_left;
    r.window_right = p->window_right;
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
static void enter(struct entry *e, const clattn_case *c, const clattn_problem *p, const struct setup_inputs *in,
                  int64_t b, const double *o, const double *lse)
{
    const clattn_sizes *z = &p->sizes;
    const int32_t *cu_q = in->x ? in->x->cu_q : NULL, *cu_k = in->x ? in->x->cu_k : NULL;
    struct reference *r = &e->r;
    int64_t q, k;
    r->nq = rows_of(cu_q, b, z->h, z->nq, z->total_q, &r->q_pitch, &q);
    r->nk = rows_of(cu_k, in->shared ? 0 : b, z->hk, z->nk, z->total_k, &r->k_pitch, &k);
    r->b0 = b;
    r->q_len = at(lengths(p, CLATTN_Q_LEN, in->q_len, c->q_len), b);
    r->kv_len = at(lengths(p, CLATTN_KV_LEN, in->kv_len, c->kv_len), b);
    r->kv_start = at(lengths(p, CLATTN_KV_START, in->kv_start, c->kv_start), b);
    r->offsets = at(in->offsets, b);
    e->q = in->q + q * p->d;
    e->k = in->k + k * p->d;
    e->v = in->v + k * p->dv;
    e->o = o + q * p->dv;
    e->lse = lse ? lse + q : NULL;
    memset(e->seen, 0, (size_t)(r->hk * r->nk));
}

int verify(const clattn_case *c, const struct setup_inputs *in, reference_mod mod, void *user, const double *o,
           const double *lse, struct verdict *out)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const clattn_sizes *z = &p.sizes;
    const int64_t pitch = p.flags & CLATTN_CU_Q ? z->total_q : z->nq;
    const size_t rows = (size_t)z->h * (size_t)pitch, keys = (size_t)z->hk * (size_t)z->nk;
    struct entry e;
    double conditioning = 0, most = 0;
    int status = -1;
    memset(out, 0, sizeof *out);
    memset(&e, 0, sizeof e);
    e.r = problem(&p, in);
    e.r.mod = in->x && in->x->n_mods ? mod : NULL;
    e.r.user = user;
    e.want_o = malloc((rows ? rows * (size_t)p.dv : 1) * sizeof *e.want_o);
    e.want_lse = malloc((rows ? rows : 1) * sizeof *e.want_lse);
    e.seen = malloc(rows && keys ? keys : 1);
    e.tainted = malloc(rows ? (size_t)z->hk * (size_t)p.dv : 1);
    if (!e.want_o || !e.want_lse || !e.seen || !e.tainted)
        goto out;
    for (int64_t b = 0; b < z->b && rows > 0; b++) {
        double a = 0;
        enter(&e, c, &p, in, b, o, lse);
        if (reference_forward(&e.r, e.q, e.k, e.v, e.want_o, e.want_lse, &a, e.seen) != 0)
            goto out;
        conditioning = fmax(conditioning, a);
        most = fmax(most, look_at_values(&e));
        out->error_o = fmax(out->error_o, farthest_o(&e));
        if (lse)
            out->error_lse = fmax(out->error_lse, farthest_lse(&e));
    }
    out->bound_o = reference_bound_o(p.type, conditioning, most);
    out->bound_lse = reference_bound_lse(p.type, conditioning);
    out->good = out->error_o <= out->bound_o && out->error_lse <= out->bound_lse;
    status = 0;
out:
    free(e.want_o);
    free(e.want_lse);
    free(e.seen);
    free(e.tainted);
    return status;
}
