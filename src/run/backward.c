/* backward.c - the arguments of a backward call, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/readers.h"

#include "base/caller_struct.h"
#include "base/checked.h"
#include "base/text.h"
#include "engine/defines.h"
#include "problem/mods.h"
#include "run/tensor.h"

/* What all checks of one call share. */
struct reader {
    const clattn_problem *p;
    clattn_backward_args a;
    clattn_forward_args forward;
    clattn_sizes s;
    int shared; /* CLA_DK_WANTED, CLA_DV_WANTED: those that are summed over batch entries */
    struct why *why;
};

cl_int backward_read_args(clattn_backward_args *a, clattn_forward_args *forward, const void *in, struct why *why)
{
    const cl_int status = caller_struct_read(a, sizeof *a, in, "clattn_backward_args", why);
    if (status)
        return status;
    if (!a->forward)
        INVALID("forward is NULL");
    return caller_struct_read(forward, sizeof *forward, a->forward, "clattn_forward_args", why);
}

/* ---- Gradients of K and V that batch entries share ---- */

/* A tensor whose axis b has one entry, which serves all: a stride of 0 among others. */
static bool repeats(const clattn_tensor *t)
{
    return !t->stride[0] && (t->stride[1] || t->stride[2]);
}

/* Each of them on its own: K may be that of all entries, and V of each. */
static cl_int check_shared(struct reader *r)
{
    struct why *const why = r->why;
    const struct {
        const char *name, *of;
        int wanted;
        const clattn_tensor *to, *from;
    } rows[] = {
        { "dk", "k", CLA_DK_WANTED, &r->a.dk, &r->forward.k },
        { "dv", "v", CLA_DV_WANTED, &r->a.dv, &r->forward.v },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows && r->s.b > 1 && !(r->p->flags & CLATTN_CU_K); i++) {
        if (!rows[i].to->mem || !repeats(rows[i].to))
            continue;
        if (!repeats(rows[i].from))
            INVALID("%s.stride[b] is 0, that of %s is not", rows[i].name, rows[i].of);
        r->shared |= rows[i].wanted;
    }
    return CL_SUCCESS;
}

/* ---- Tensors ---- */

static cl_int check_tensors(struct call *c, const struct reader *r, cl_context context)
{
    const clattn_problem *const p = r->p;
    const clattn_backward_args *const a = &r->a;
    const clattn_sizes *const s = &r->s;
    struct arguments *const to = &c->args;
    const int64_t kb = r->shared & CLA_DK_WANTED ? 1 : s->b, vb = r->shared & CLA_DV_WANTED ? 1 : s->b;
    const size_t lse_bytes = problem_type_size(problem_lse_type(p));
    const struct {
        int param, wanted;
        const clattn_tensor *tensor;
        struct tensor_use use;
        bool keys, optional;
        cla_rows_at *at;
    } rows[] = {
        { PARAM_DOUT, 0, &a->dout,
          { "dout", { s->b, s->h, s->nq }, p->dv, problem_type_size(p->type), false, false, 0 }, false, false,
          &to->dout },
        { PARAM_DLSE, 0, &a->dlse, { "dlse", { s->b, s->h, s->nq }, 1, lse_bytes, false, false, 0 },
          false, true, &to->dlse },
        { PARAM_DQ, CLA_DQ_WANTED, &a->dq,
          { "dq", { s->b, s->h, s->nq }, p->d, problem_type_size(p->type), true, false, 0 }, false, true, &to->dq },
        { PARAM_DK, CLA_DK_WANTED, &a->dk,
          { "dk", { kb, s->hk, s->nk }, p->d, problem_type_size(p->k_type), true, false, 0 }, true, true, &to->dk },
        { PARAM_DV, CLA_DV_WANTED, &a->dv,
          { "dv", { vb, s->hk, s->nk }, p->dv, problem_type_size(p->v_type), true, false, 0 }, true, true, &to->dv },
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
        if (varlen || r->shared & rows[i].wanted)
            rows[i].at->b = 0;
        to->wanted |= c->mem[rows[i].param] ? rows[i].wanted : 0;
    }
    to->given |= c->mem[PARAM_DLSE] ? CLA_DLSE_GIVEN : 0;
    return CL_SUCCESS;
}

/* ---- Gradients of bias, slopes and sinks ---- */

/* The shape of the bias as it counts: an axis of 1, or one that does not step, is broadcast. Entries and heads may be
 * fewer than those of the call. Its numbers have been checked. */
static void read_bias_shape(struct arguments *to, const struct reader *r)
{
    const clattn_tensor4 *const bias = &r->forward.bias;
    const int64_t extent[4] = { r->s.b, r->s.h, r->s.nq, r->s.nk };
    const bool contiguous = !bias->stride[0] && !bias->stride[1] && !bias->stride[2] && !bias->stride[3];
    for (int i = 0; i < 4; i++)
        to->bias_shape[i] = bias->shape[i] == 1 || (!contiguous && !bias->stride[i]) ? 1
                            : i < 2 && bias->shape[i]                                ? (cla_i32)bias->shape[i]
                                                                                     : (cla_i32)extent[i];
}

static bool bias_has_cells(const struct arguments *a)
{
    return a->bias_shape[0] && a->bias_shape[1] && a->bias_shape[2] && a->bias_shape[3];
}

static cl_int check_bias(struct call *c, const struct reader *r, cl_context context)
{
    struct arguments *const to = &c->args;
    const cla_i32 *const shape = to->bias_shape;
    struct tensor4 t;
    read_bias_shape(to, r);
    const struct tensor4_use use = { "dbias", r->p->bias_type != 0, { shape[0], shape[1], shape[2], shape[3] },
                                     (size_t)engine_scalar_bytes(r->p), true, NULL, false, false, false };
    if (!r->a.dbias.mem)
        return CL_SUCCESS;
    clattn_tensor4 dbias = r->a.dbias;
    for (int i = 0; i < 4; i++) /* given as the bias is, its size with a stride of 0 */
        if (shape[i] == 1 && !dbias.stride[i])
            dbias.shape[i] = 1;
    const cl_int status = tensor4_check(&dbias, &use, context, &t, r->why);
    if (status || !t.mem)
        return status;
    c->mem[PARAM_DBIAS] = t.mem;
    to->dbias = tensor4_place(&t);
    to->wanted |= CLA_DBIAS_WANTED;
    return CL_SUCCESS;
}

/* As far as the slopes: those that all entries share are there without any. */
static int64_t slopes_reach(const struct reader *r)
{
    const int64_t step = r->forward.slopes_stride;
    return r->s.b ? (r->s.b - 1) * step + r->s.h : step ? 0 : r->s.h;
}

static cl_int check_arrays(struct call *c, const struct reader *r, cl_context context)
{
    const clattn_array *const slopes = &r->a.dslopes, *const sinks = &r->a.dsinks;
    const bool has_slopes = slopes->mem && r->p->flags & PROBLEM_SLOPES;
    const bool has_sinks = sinks->mem && r->p->flags & CLATTN_SINKS;
    struct arguments *const to = &c->args;
    const struct call_array rows[] = {
        { PARAM_DSLOPES, slopes, { "dslopes", has_slopes, slopes_reach(r), 4, true }, &to->dslopes_offset },
        { PARAM_DSINKS, sinks, { "dsinks", has_sinks, r->s.h, 4, true }, &to->dsinks_offset },
    };
    const cl_int status = call_check_arrays(c, rows, sizeof rows / sizeof *rows, context, r->why);
    to->wanted |= (c->mem[PARAM_DSLOPES] ? CLA_DSLOPES_WANTED : 0) | (c->mem[PARAM_DSINKS] ? CLA_DSINKS_WANTED : 0);
    return status;
}

/* ---- Gradients of captured buffers ---- */

static bool is_wanted(const struct reader *r, int i)
{
    return r->a.daux && r->a.daux[i].to.mem;
}

/* How many elements each has that is wanted. */
static cl_int read_daux(struct arguments *to, const struct reader *r)
{
    struct why *const why = r->why;
    if (r->a.daux && !r->p->n_aux)
        INVALID("daux is given, but the problem has no captured buffers");
    for (int i = 0; i < r->p->n_aux; i++) {
        const int64_t n = is_wanted(r, i) ? r->a.daux[i].n : 0;
        to->aux_at[i] = to->aux_cells;
        if (!is_wanted(r, i))
            continue;
        if (!(r->p->aux_grads >> i & 1))
            INVALID("daux[%d] is given, but aux_grads of the problem does not mark aux[%d]", i, i);
        if (n < 1 || n > ROWS_MAX)
            INVALID("daux[%d].n is %lld, outside 1 to %d", i, (long long)n, ROWS_MAX);
        to->aux_n[i] = (cla_i32)n;
        to->aux_cells += n;
        to->wanted |= CLA_DAUX_WANTED;
    }
    return CL_SUCCESS;
}

static cl_int check_daux(struct call *c, const struct reader *r, cl_context context)
{
    cl_int status = read_daux(&c->args, r);
    for (int i = 0; i < r->p->n_aux && !status; i++) {
        char name[16];
        struct text to = { name, sizeof name, 0 };
        text_add(&to, "daux[%d]", i);
        const struct array_use use = { name, true, c->args.aux_n[i], (size_t)engine_scalar_bytes(r->p), true };
        if (is_wanted(r, i))
            status = tensor_check_array(&r->a.daux[i].to, &use, context, &c->mem[PARAM_DAUX + i],
                                        &c->args.daux_offset[i], r->why);
    }
    return status;
}

/* ---- Numbers ---- */

/* Stripes of keys: as few as give every compute unit the same number of work-groups, or four of them, where each keeps
 * a dQ, or cells of a bias or captured buffers, of its own, unless the caller says how many; else one for each tile. */
static int stripes(const struct call_plan *plan, const struct arguments *a, int64_t units, int64_t tiles, int forced)
{
    const int64_t compute_units = plan->target->caps->compute_units;
    int n = 1;
    const bool own = plan->target->config->engine->dq_in_stripes || a->bias_cells || a->aux_cells;
    if (!own && tiles > 1 && units * tiles <= INT32_MAX)
        return (int)tiles;
    if (forced)
        return forced < tiles ? forced : (int)(tiles > 1 ? tiles : 1);
    while (n < tiles && units * n % compute_units && units * n < 4 * compute_units)
        n++;
    return n;
}

/* A work-group has the keys of all entries and heads whose gradients are added up in the same place. Where the tables
 * of captured buffers, some for each group, would have more elements than dQ, it has those of all, and there are
 * fewer. */
static void set_units(struct arguments *to, const clattn_sizes *s, int shared, int64_t most_cells)
{
    const bool bias = to->wanted & CLA_DBIAS_WANTED, all = to->aux_cells / (s->h / s->hk) > most_cells;
    to->shared = shared;
    to->unit_b = s->b && (all || shared || (bias && to->bias_shape[0] != s->b)) ? (cla_i32)s->b : 1;
    to->unit_hk = all || (bias && to->bias_shape[1] != s->h) ? (cla_i32)s->hk : 1;
}

/* Where a bias has no axis of keys each stripe adds up cells of its own; else a cell that has more terms than a chain
 * keeps what additions lose. All are the sum of no stripes where there are no entries. */
static bool set_bias_cells(struct arguments *to, const clattn_sizes *s, int64_t tiles_of_queries)
{
    const cla_i32 *const shape = to->bias_shape;
    int64_t step[5] = { [4] = 1 };
    if (!(to->wanted & CLA_DBIAS_WANTED))
        return true;
    for (int i = 4; i--;)
        if (!checked_mul(step[i + 1], shape[i], &step[i]))
            return false;
    to->bias_part = (cla_scores_at){ .b = shape[0] == 1 ? 0 : step[1],
                                     .h = shape[1] == 1 ? 0 : step[2],
                                     .q = shape[2] == 1 ? 0 : step[3],
                                     .entries = shape[0] ? shape[0] : 1,
                                     .heads = shape[1] };
    to->bias_cells = shape[3] == 1 || !s->b ? step[0] : 0;
    const int64_t entries = shape[0] ? s->b / shape[0] : 1; /* that share a cell */
    const int64_t terms = entries * (s->h / shape[1]) * (shape[2] == 1 ? tiles_of_queries : 1);
    to->bias_losses = !to->bias_cells && terms > CLA_CHAIN ? step[0] : 0;
    return true;
}

static cl_int set_groups(struct call *c, const struct call_plan *plan, const struct reader *r)
{
    const clattn_sizes *const s = &r->s;
    const int shared = r->shared, forced = r->forward.splits;
    struct arguments *const to = &c->args;
    struct why *const why = r->why;
    const bool varlen = plan->p->flags & CLATTN_CU_Q;
    const int64_t own = plan->target->shape.rows, block = own < DEFINES_BLOCK ? own : DEFINES_BLOCK; /* of queries */
    const int64_t blocks = (s->nq + block - 1) / block;
    int64_t heads, groups, rows;
    if (forced < 0 || forced > SPLITS_MAX)
        INVALID("splits is %d, outside 0 to %d", forced, SPLITS_MAX);
    to->heads_per_kv = (cla_i32)(s->h / s->hk);
    set_units(to, s, shared, s->nq * plan->p->d / plan->target->shape.tables);
    const int64_t units = s->b / to->unit_b * (s->hk / to->unit_hk), tiles = (s->nk + own - 1) / own;
    if (!checked_mul(s->b, s->h, &heads) || heads > INT32_MAX || !checked_mul(heads, blocks, &groups) ||
        groups > INT32_MAX || !checked_mul(varlen ? s->h : heads, varlen ? s->total_q : s->nq, &rows) ||
        !set_bias_cells(to, s, (s->nq + plan->target->shape.keys - 1) / plan->target->shape.keys))
        REFUSE("b %lld, h %lld and nq %lld make too many work-groups", (long long)s->b, (long long)s->h,
               (long long)s->nq);
    to->heads = (cla_i32)heads;
    to->packed_heads = 1;
    to->per_packed_head = 1;
    to->part_least = 1;
    to->h = (cla_i32)s->h;
    to->nq = (cla_i32)s->nq;
    to->nk = (cla_i32)s->nk;
    to->tiles = (cla_i32)tiles;
    to->stats = (cla_rows_at){ .h = varlen ? s->total_q : s->nq, .b = varlen ? 0 : s->h * s->nq, .row = 1 };
    to->stats_rows = rows;
    c->part_groups = units;
    c->short_parts = call_short_parts(tiles);
    c->parts_may_be_fewer = plan->target->config->engine->dq_in_stripes || to->bias_cells || to->aux_cells ||
                            pass_at(plan->target->pass)->group_bytes(plan->target, to);
    for (int n = stripes(plan, to, units, tiles, forced); !call_set_parts(c, n); n--)
        continue;
    if (!s->b)
        to->parts = 0;
    return CL_SUCCESS;
}

/* ---- Both ---- */

cl_int backward_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    struct reader r = { .p = plan->p, .why = why };
    cl_int status;
    if ((status = backward_read_args(&r.a, &r.forward, in, why)) ||
        (status = call_read_inputs(c, plan, &r.forward, CALL_READS, &r.s, why)) || (status = check_shared(&r)) ||
        (status = check_tensors(c, &r, plan->context)) || (status = check_bias(c, &r, plan->context)) ||
        (status = check_arrays(c, &r, plan->context)) || (status = check_daux(c, &r, plan->context)))
        return status;
    c->workspace = (struct workspace){ r.a.workspace, r.a.workspace_offset, r.a.workspace_size };
    return set_groups(c, plan, &r);
}

cl_int backward_read_mods_off(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    const cl_int status = backward_read(c, plan, in, why);
    c->args.wanted |= mods_may_be_off(plan->p) ? MODS_OFF : 0;
    return status;
}

cl_int backward_read_sizes(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    struct reader r = { .p = plan->p, .why = why };
    cl_int status;
    if ((status = backward_read_args(&r.a, &r.forward, in, why)) ||
        (status = call_sizes(&r.s, c, r.forward.sizes, why)) || (status = check_shared(&r)))
        return status;
    const struct tensor4_use bias = call_use_of_bias(r.p, &r.s);
    if (bias.given && (status = tensor4_check_shape(&r.forward.bias, &bias, why)))
        return status;
    read_bias_shape(&c->args, &r);
    const bool queries = r.s.b && (r.p->flags & CLATTN_CU_Q ? r.s.total_q : r.s.nq); /* that there are any */
    const bool keys = r.s.b && (r.p->flags & CLATTN_CU_K ? r.s.total_k : r.s.nk);
    c->args.wanted = (queries && r.a.dq.mem ? CLA_DQ_WANTED : 0) | (keys && r.a.dk.mem ? CLA_DK_WANTED : 0) |
                     (keys && r.a.dv.mem ? CLA_DV_WANTED : 0) | (r.a.dslopes.mem ? CLA_DSLOPES_WANTED : 0) |
                     (r.a.dsinks.mem ? CLA_DSINKS_WANTED : 0) |
                     (r.a.dbias.mem && bias_has_cells(&c->args) ? CLA_DBIAS_WANTED : 0);
    if ((status = read_daux(&c->args, &r)))
        return status;
    return set_groups(c, plan, &r);
}
