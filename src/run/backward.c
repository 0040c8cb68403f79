/* backward.c - the arguments of a backward call, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/backward.h"

#include "base/caller_struct.h"
#include "base/checked.h"
#include "engine/defines.h"
#include "run/tensor.h"

#define INVALID(...) return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* What all checks of one call share. */
struct reader {
    const clattn_problem *p;
    clattn_backward_args a;
    clattn_forward_args forward;
    clattn_sizes s;
    bool shared; /* dK and dV are summed over batch entries */
    struct why *why;
};

static cl_int read_structs(struct reader *r, const void *in)
{
    struct why *const why = r->why;
    const cl_int status = caller_struct_read(&r->a, sizeof r->a, in, "clattn_backward_args", why);
    if (status)
        return status;
    if (!r->a.forward)
        INVALID("forward is NULL");
    return caller_struct_read(&r->forward, sizeof r->forward, r->a.forward, "clattn_forward_args", why);
}

/* ---- Gradients of K and V that batch entries share ---- */

/* A tensor whose axis b has one entry, which serves all: a stride of 0 among others. */
static bool repeats(const clattn_tensor *t)
{
    return !t->stride[0] && (t->stride[1] || t->stride[2]);
}

static cl_int check_shared(struct reader *r)
{
    struct why *const why = r->why;
    const bool dk = r->a.dk.mem && repeats(&r->a.dk), dv = r->a.dv.mem && repeats(&r->a.dv);
    r->shared = r->s.b > 1 && !(r->p->flags & CLATTN_CU_K) && (dk || dv);
    if (!r->shared)
        return CL_SUCCESS;
    if ((r->a.dk.mem && !dk) || (r->a.dv.mem && !dv))
        INVALID("%s.stride[b] is 0, that of %s is not", dk ? "dk" : "dv", dk ? "dv" : "dk");
    if (!repeats(&r->forward.k) || !repeats(&r->forward.v))
        INVALID("%s.stride[b] is 0, that of %s is not", dk ? "dk" : "dv", repeats(&r->forward.k) ? "v" : "k");
    return CL_SUCCESS;
}

/* ---- Tensors ---- */

static cl_int check_tensors(struct call *c, const struct reader *r, cl_context context)
{
    const clattn_problem *const p = r->p;
    const clattn_backward_args *const a = &r->a;
    const clattn_sizes *const s = &r->s;
    struct arguments *const to = &c->args;
    const int64_t kb = r->shared ? 1 : s->b;
    const struct {
        int param, wanted;
        const clattn_tensor *tensor;
        struct tensor_use use;
        bool keys, optional;
        cla_rows_at *at;
    } rows[] = {
        { PARAM_DOUT, 0, &a->dout,
          { "dout", { s->b, s->h, s->nq }, p->dv, problem_type_size(p->o_type), false, false, 0 }, false, false,
          &to->dout },
        { PARAM_DLSE, 0, &a->dlse, { "dlse", { s->b, s->h, s->nq }, 1, sizeof(cl_float), false, false, 0 }, false, true,
          &to->dlse },
        { PARAM_DQ, CLA_DQ_WANTED, &a->dq,
          { "dq", { s->b, s->h, s->nq }, p->d, problem_type_size(p->type), true, false, 0 }, false, true, &to->dq },
        { PARAM_DK, CLA_DK_WANTED, &a->dk,
          { "dk", { kb, s->hk, s->nk }, p->d, problem_type_size(p->k_type), true, false, 0 }, true, true, &to->dk },
        { PARAM_DV, CLA_DV_WANTED, &a->dv,
          { "dv", { kb, s->hk, s->nk }, p->dv, problem_type_size(p->v_type), true, false, 0 }, true, true, &to->dv },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tensor_use use = rows[i].use;
        clattn_tensor t = *rows[i].tensor;
        const bool varlen = p->flags & (rows[i].keys ? CLATTN_CU_K : CLATTN_CU_Q);
        if (rows[i].optional && !t.mem)
            continue;
        if (varlen)
            t = tensor_as_one_entry(&t, &use, rows[i].keys ? s->total_k : s->total_q, rows[i].param != PARAM_DLSE);
        const cl_int status = tensor_check(&t, &use, context, &c->mem[rows[i].param], rows[i].at, r->why);
        if (status)
            return status;
        if (varlen || (rows[i].keys && r->shared))
            rows[i].at->b = 0;
        to->wanted |= c->mem[rows[i].param] ? rows[i].wanted : 0;
    }
    to->given |= c->mem[PARAM_DLSE] ? CLA_DLSE_GIVEN : 0;
    return CL_SUCCESS;
}

/* ---- Numbers ---- */

/* Stripes of keys: as few as give every compute unit the same number of work-groups, or four of them. Each keeps a dQ
 * of its own. */
static int stripes(int64_t units, int64_t tiles, int compute_units)
{
    int n = 1;
    while (n < tiles && units * n % compute_units && units * n < 4 * (int64_t)compute_units)
        n++;
    return n;
}

static cl_int set_groups(struct call *c, const struct call_plan *plan, const clattn_sizes *s, bool shared,
                         struct why *why)
{
    struct arguments *const to = &c->args;
    const bool varlen = plan->p->flags & CLATTN_CU_Q;
    const int64_t blocks = (s->nq + DEFINES_BLOCK - 1) / DEFINES_BLOCK, own = plan->rows.per_group;
    const int64_t units = (shared ? 1 : s->b) * s->hk;
    int64_t heads, groups, rows;
    if (!checked_mul(s->b, s->h, &heads) || heads > INT32_MAX || !checked_mul(heads, blocks, &groups) ||
        groups > INT32_MAX || !checked_mul(varlen ? s->h : heads, varlen ? s->total_q : s->nq, &rows))
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "b %lld, h %lld and nq %lld make too many work-groups",
                       (long long)s->b, (long long)s->h, (long long)s->nq);
    to->heads = (cla_i32)heads;
    to->packed_heads = 1;
    to->per_packed_head = 1;
    to->part_least = 1;
    to->h = (cla_i32)s->h;
    to->nq = (cla_i32)s->nq;
    to->nk = (cla_i32)s->nk;
    to->shared_batch = shared ? (cla_i32)s->b : 0;
    to->stats = (cla_rows_at){ .h = varlen ? s->total_q : s->nq, .b = varlen ? 0 : s->h * s->nq, .row = 1 };
    to->stats_rows = rows;
    c->part_groups = units;
    c->parts_may_be_fewer = true;
    for (int n = stripes(units, (s->nk + own - 1) / own, (int)plan->caps->compute_units); !call_set_parts(c, n); n--)
        continue;
    return CL_SUCCESS;
}

/* ---- Both ---- */

cl_int backward_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    struct reader r = { .p = plan->p, .why = why };
    cl_int status;
    if ((status = read_structs(&r, in)) || (status = call_read_inputs(c, plan, &r.forward, &r.s, why)) ||
        (status = check_shared(&r)) || (status = check_tensors(c, &r, plan->context)))
        return status;
    c->workspace = (struct workspace){ r.a.workspace, r.a.workspace_offset, r.a.workspace_size };
    return set_groups(c, plan, &r.s, r.shared, why);
}

cl_int backward_read_sizes(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    struct reader r = { .p = plan->p, .why = why };
    cl_int status;
    if ((status = read_structs(&r, in)) || (status = call_sizes(&r.s, plan->p, &r.forward, why)) ||
        (status = check_shared(&r)))
        return status;
    const bool queries = r.s.b && r.s.nq, keys = r.s.b && r.s.nk; /* that there are */
    c->args.wanted = (queries && r.a.dq.mem ? CLA_DQ_WANTED : 0) | (keys && r.a.dk.mem ? CLA_DK_WANTED : 0) |
                     (keys && r.a.dv.mem ? CLA_DV_WANTED : 0);
    return set_groups(c, plan, &r.s, r.shared, why);
}
