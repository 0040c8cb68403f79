/* verify_entry.c - one batch entry, or sequence, of a call, as the float64 reference takes it
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/verify_entry.h"

#include "tools/oracle/verify.h"

#include <string.h>

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

void verify_entry_start(struct verify_entry *e, const clattn_problem *p, const struct setup_inputs *in, int narrow_p,
                        reference_mod mod, void *user)
{
    struct reference *const r = &e->r;
    memset(e, 0, sizeof *e);
    r->p = *p;
    r->type = p->o_type;
    r->b = 1;
    r->h = p->sizes.h;
    r->hk = p->sizes.hk;
    r->d = p->d;
    r->dv = p->dv;
    r->scale = p->scale;
    r->narrow_p = narrow_p;
    r->mod = in->x && in->x->n_mods ? mod : NULL;
    r->user = user;
    if (in->x)
        verify_take_extras(r, in->x);
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

void verify_entry_enter(struct verify_entry *e, const clattn_workload *c, const clattn_problem *p,
                        const struct setup_inputs *in, int64_t b)
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
}
