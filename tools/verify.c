/* verify.c - O and LSE of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0
 *
 * One batch entry at a time: that serves keys shared by all entries, and keeps the memory small. */
#include "config.h"

#include "verify.h"

#include "inputs.h"
#include "reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One batch entry: its part of every array, and the keys [first,last) that some query of it keeps. */
struct entry {
    const clattn_problem *p;
    const double *v;
    int64_t first, last;
    unsigned char *tainted; /* [hk,dv]: such a key has NaN or inf in that column of V */
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

static double farthest(const double *got, const double *want, size_t n)
{
    double worst = 0;
    for (size_t i = 0; i < n; i++)
        worst = distance(worst, got[i], want[i]);
    return worst;
}

/* The same for O [h,nq,dv], where NaN or inf in a value that one query keeps may reach the queries beside it. */
static double farthest_o(const struct entry *e, const double *got, const double *want)
{
    const clattn_sizes *z = &e->p->sizes;
    double worst = 0;
    for (int64_t h = 0; h < z->h; h++) {
        const unsigned char *tainted = e->tainted + h / (z->h / z->hk) * e->p->dv;
        for (int64_t q = 0; q < z->nq; q++, got += e->p->dv, want += e->p->dv)
            for (int64_t c = 0; c < e->p->dv; c++)
                if (!(tainted[c] && strange(got[c])))
                    worst = distance(worst, got[c], want[c]);
    }
    return worst;
}

/* Looks through the values that are kept: sets `tainted`, and returns the largest finite |v|. Padding may hold anything
 * and must not widen the bound. */
static double look_at_values(const struct entry *e)
{
    const clattn_problem *p = e->p;
    double most = 0;
    memset(e->tainted, 0, (size_t)(p->sizes.hk * p->dv));
    for (int64_t h = 0; h < p->sizes.hk; h++)
        for (int64_t k = e->first; k < e->last; k++)
            for (int64_t c = 0; c < p->dv; c++) {
                const double x = e->v[(h * p->sizes.nk + k) * p->dv + c];
                if (strange(x))
                    e->tainted[h * p->dv + c] = 1;
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

static int64_t within(const int32_t *list, int64_t none, int64_t most)
{
    const int64_t x = list ? *list : none;
    return x < 0 ? 0 : x > most ? most : x;
}

/* Fills first and last. r is the problem of this entry alone. */
static void find_kept(struct entry *e, const struct reference *r)
{
    const int64_t q_len = within(r->q_len, r->nq, r->nq), kv_len = within(r->kv_len, r->nk, r->nk);
    const int64_t offset = r->align == CLATTN_ALIGN_BOTTOM_RIGHT ? kv_len - q_len
        : r->align == CLATTN_ALIGN_OFFSET ? r->offset
        : r->align == CLATTN_ALIGN_OFFSETS ? *r->offsets : 0;
    e->first = within(r->kv_start, 0, r->nk);
    e->last = kv_len;
    if (r->causal && offset < kv_len - q_len) /* the last query sees the keys before q_len + offset */
        e->last = offset < -q_len ? 0 : q_len + offset;
}

int verify(const clattn_case *c, const struct setup_inputs *in, const double *o, const double *lse, struct verdict *out)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const clattn_sizes *z = &p.sizes;
    const int32_t *q_len = lengths(&p, CLATTN_Q_LEN, in->q_len, c->q_len);
    const int32_t *kv_len = lengths(&p, CLATTN_KV_LEN, in->kv_len, c->kv_len);
    const int32_t *kv_start = lengths(&p, CLATTN_KV_START, in->kv_start, c->kv_start);
    const size_t rows = (size_t)(z->h * z->nq), values = rows * (size_t)p.dv;
    double *want_o = malloc((values ? values : 1) * sizeof *want_o);
    double *want_lse = malloc((rows ? rows : 1) * sizeof *want_lse);
    struct entry e = { &p, NULL, 0, 0, malloc(rows ? (size_t)z->hk * (size_t)p.dv : 1) };
    double conditioning = 0, most = 0;
    int status = -1;
    memset(out, 0, sizeof *out);
    if (!want_o || !want_lse || !e.tainted)
        goto out;
    for (int64_t b = 0; b < z->b && rows > 0; b++) {
        const int64_t kv = (in->shared ? 0 : b) * z->hk * z->nk;
        const struct reference r = {
            1, z->h, z->hk, z->nq, z->nk, p.d, p.dv, p.scale, p.causal, p.align, z->offset, q_len ? q_len + b : NULL,
            kv_len ? kv_len + b : NULL, kv_start ? kv_start + b : NULL, in->offsets ? in->offsets + b : NULL,
        };
        double a = 0;
        e.v = in->v + kv * p.dv;
        find_kept(&e, &r);
        if (reference_forward(&r, in->q + (size_t)b * rows * (size_t)p.d, in->k + kv * p.d, e.v, want_o, want_lse,
                              &a) != 0)
            goto out;
        conditioning = fmax(conditioning, a);
        most = fmax(most, look_at_values(&e));
        out->error_o = fmax(out->error_o, farthest_o(&e, o + (size_t)b * values, want_o));
        if (lse)
            out->error_lse = fmax(out->error_lse, farthest(lse + (size_t)b * rows, want_lse, rows));
    }
    out->bound_o = reference_bound_o(p.type, conditioning, most);
    out->bound_lse = reference_bound_lse(p.type, conditioning);
    out->good = out->error_o <= out->bound_o && out->error_lse <= out->bound_lse;
    status = 0;
out:
    free(want_o);
    free(want_lse);
    free(e.tainted);
    return status;
}
