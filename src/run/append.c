/* append.c - the arguments of writing new rows into caches
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/readers.h"

#include "base/caller_struct.h"
#include "base/checked.h"
#include "engine/defines.h"
#include "run/caches.h"
#include "run/tensor.h"

/* What all checks of one call share. */
struct reader {
    const struct call_plan *plan;
    const clattn_problem *p;
    clattn_append_args a;
    clattn_sizes s;
};

/* ---- Sizes ---- */

static cl_int read_sizes(struct reader *r, const struct call *c, struct why *why)
{
    r->s = *(r->a.sizes ? r->a.sizes : c->sizes);
    if (!r->s.h)
        r->s.h = r->s.hk; /* of no use here */
    const cl_int status = problem_check_sizes(&r->s, why);
    if (status)
        return status;
    if (r->s.b && r->s.nq > r->s.nk && !r->a.new_len.mem)
        INVALID("nq is %lld, but a sequence has room for nk %lld rows", (long long)r->s.nq, (long long)r->s.nk);
    return CL_SUCCESS;
}

/* ---- Caches ---- */

/* Kernels take bytes. Where a block is one element, tensor_check() has counted elements. */
static void count_bytes(cla_rows_at *at, const int64_t extent[3], int type)
{
    const struct problem_type *const t = problem_type_at(type);
    cla_i64 *const steps[] = { &at->b, &at->h, &at->row };
    if (t->elements > 1)
        return;
    for (int i = 0; i < 3; i++)
        *steps[i] = extent[i] > 1 ? *steps[i] * t->bytes : 0; /* where they are more than one they lie in a buffer */
    at->offset *= t->bytes;
}

static cl_int check_caches(struct call *c, const struct reader *r, struct why *why)
{
    const struct caches caches = CACHES_OF(&r->a);
    const struct caches_use use = { r->p, &r->s, r->plan->context, true, false };
    const cl_int status = caches_check(&caches, &use, &c->args, c->mem, why);
    if (status)
        return status;
    const bool paged = r->p->page;
    const int64_t extent[] = { paged ? r->a.pages : r->s.b, r->s.hk, paged ? c->args.page : r->s.nk };
    count_bytes(&c->args.k, extent, r->p->k_type);
    count_bytes(&c->args.v, extent, r->p->v_type);
    return CL_SUCCESS;
}

/* Scales that all rows share are read, and zero points with them. */
static cl_int check_shared(const clattn_tensor4 *scale, const clattn_tensor4 *zero, const char *name, bool has_zero,
                           struct why *why)
{
    if (has_zero && (scale->shape[2] == 1) != (zero->shape[2] == 1))
        INVALID("%s_scale.shape[n] is %lld, but that of %s_zero is %lld: both are read, or both are written", name,
                (long long)scale->shape[2], name, (long long)zero->shape[2]);
    return CL_SUCCESS;
}

static cl_int check_scales(struct call *c, const struct reader *r, struct why *why)
{
    const clattn_append_args *const a = &r->a;
    cl_int status;
    if ((status = check_shared(&a->k_scale, &a->k_zero, "k", r->p->flags & CLATTN_K_ZERO, why)) ||
        (status = check_shared(&a->v_scale, &a->v_zero, "v", r->p->flags & CLATTN_V_ZERO, why)))
        return status;
    c->args.given |= (a->k_scale.shape[2] == 1 ? CLA_K_SCALE_GIVEN : 0) |
                     (a->v_scale.shape[2] == 1 ? CLA_V_SCALE_GIVEN : 0);
    return CL_SUCCESS;
}

/* ---- Rows and lists ---- */

static cl_int check_new_rows(struct call *c, const struct reader *r, struct why *why)
{
    const size_t bytes = problem_type_size(r->p->type);
    const struct tensor_use k = { "new_k", { r->s.b, r->s.hk, r->s.nq }, r->p->d, bytes, false, false, 0 };
    const struct tensor_use v = { "new_v", { r->s.b, r->s.hk, r->s.nq }, r->p->dv, bytes, false, false, 0 };
    const cl_int status =
        tensor_check(&r->a.new_k, &k, r->plan->context, &c->mem[PARAM_NEW_K], &c->args.new_k, why);
    return status ? status
                  : tensor_check(&r->a.new_v, &v, r->plan->context, &c->mem[PARAM_NEW_V], &c->args.new_v, why);
}

/* kv_len is read and written. */
static cl_int check_lists(struct call *c, const struct reader *r, struct why *why)
{
    const clattn_append_args *const a = &r->a;
    const int64_t b = r->s.b;
    const bool has_new = a->new_len.mem, has_dropped = a->dropped.mem;
    struct arguments *const to = &c->args;
    const struct call_array rows[] = {
        { PARAM_KV_LEN, &a->kv_len, { "kv_len", true, b, 4, false }, &to->kv_len_offset },
        { PARAM_KV_LEN, &a->kv_len, { "kv_len", true, b, 4, true }, &to->kv_len_offset },
        { PARAM_NEW_LEN, &a->new_len, { "new_len", has_new, b, 4, false }, &to->new_len_offset },
        { PARAM_DROPPED, &a->dropped, { "dropped", has_dropped, b, 4, true }, &to->dropped_offset },
    };
    if (b && !a->kv_len.mem)
        INVALID("kv_len.mem is NULL");
    const cl_int status = call_check_arrays(c, rows, sizeof rows / sizeof *rows, r->plan->context, why);
    to->given |= (c->mem[PARAM_NEW_LEN] ? CLA_NEW_LEN_GIVEN : 0) | (c->mem[PARAM_DROPPED] ? CLA_DROPPED_WANTED : 0);
    return status;
}

/* ---- Numbers ---- */

static cl_int fill_numbers(struct arguments *to, const struct reader *r, struct why *why)
{
    const clattn_problem *const p = r->p;
    const clattn_sizes *const s = &r->s;
    const int64_t of_head = problem_groups(p->d, defines_part(p->k_type, p->k_group)) +
                            problem_groups(p->dv, defines_part(p->v_type, p->v_group));
    int64_t parts = s->hk * of_head;
    to->row_parts = (cla_i32)parts;
    if (!checked_mul(parts, s->nq ? s->nq : 1, &parts) || !checked_mul(parts, s->b ? s->b : 1, &parts) ||
        parts > ROWS_MAX)
        REFUSE("b %lld, hk %lld and nq %lld make too many work-groups", (long long)s->b, (long long)s->hk,
               (long long)s->nq);
    to->sequences = (cla_i32)s->b;
    to->kv_heads = (cla_i32)s->hk;
    to->nq = (cla_i32)s->nq;
    to->nk = (cla_i32)s->nk;
    return CL_SUCCESS;
}

cl_int append_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    struct reader r = { .plan = plan, .p = plan->p };
    cl_int status;
    if (!(r.p->flags & CLATTN_APPEND))
        INVALID("the problem lacks CLATTN_APPEND");
    if (r.p->flags & CLATTN_CU_K)
        INVALID("varlen K and V have no room for new rows");
    if ((status = caller_struct_read(&r.a, sizeof r.a, in, "clattn_append_args", why)))
        return status;
    if (r.a.reserved)
        INVALID("reserved is %d, must be 0", (int)r.a.reserved);
    if ((status = read_sizes(&r, c, why)) || (status = check_new_rows(c, &r, why)) ||
        (status = check_scales(c, &r, why)) || (status = check_caches(c, &r, why)) ||
        (status = check_lists(c, &r, why)) ||
        (status = rotary_check(c, plan, &r.a.rotary, &r.s, r.p->d, why)))
        return status;
    return fill_numbers(&c->args, &r, why);
}
