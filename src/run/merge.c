/* merge.c - partial results to be merged: a caller's, and the states of a call's own parts
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/readers.h"

#include "base/caller_struct.h"
#include "base/checked.h"
#include "engine/pass.h"
#include "run/tensor.h"

typedef char constants_agree[CLA_LSE_IN_LOG2 == CLATTN_LSE_IN_LOG2 && CLA_LSE_IN_EMPTY_INF == CLATTN_LSE_IN_EMPTY_INF &&
                                     CLA_LSE_OUT_LOG2 == CLATTN_LSE_OUT_LOG2 &&
                                     CLA_LSE_OUT_EMPTY_INF == CLATTN_LSE_OUT_EMPTY_INF
                                 ? 1
                                 : -1];

/* ---- A call's own ---- */

/* As cl/passes/epilogue_output.cl lays them out: [part,b,h,nq,dv], and behind them all [part,b,h,nq]. */
void merge_take_states(struct call *c, const clattn_problem *p)
{
    struct arguments *const a = &c->args;
    const int64_t rows = pass_forward_state_rows(a), heads = a->h, nq = a->nq, dv = p->dv;
    const int64_t at = a->states_offset * (int64_t)sizeof(cl_uint) / engine_scalar_bytes(p);
    c->mem[PARAM_O_PARTS] = c->mem[PARAM_LSE_PARTS] = c->mem[PARAM_WORKSPACE];
    a->o_parts = (cla_rows_at){ .offset = at, .b = heads * nq * dv, .h = nq * dv, .row = dv };
    a->o_parts_stride = rows * dv;
    a->lse_parts = (cla_rows_at){ .offset = at + a->parts * rows * dv, .b = heads * nq, .h = nq, .row = 1 };
    a->lse_parts_stride = rows;
    a->rows = (cla_i32)rows;
    a->columns = (cla_i32)dv;
    a->lse_is_wide = 1;
}

/* ---- A caller's ---- */

/* What is read of a part, and how far parts are apart. */
struct parts {
    const char *name;
    const clattn_tensor *tensor;
    int64_t stride;
    struct tensor_use use; /* of one of them */
    cl_mem *mem;
    cla_rows_at *at;
    cla_i64 *to;
};

/* Checks the last part: it begins as far behind the first as all strides say. */
static cl_int check_parts(const struct parts *x, int64_t parts, cl_context context, struct why *why)
{
    const clattn_tensor *const first = x->tensor;
    int64_t stride = x->stride, behind;
    const bool contiguous = !stride && !first->stride[0] && !first->stride[1] && !first->stride[2];
    if (x->stride < 0)
        INVALID("%s_stride is %lld, must not be negative", x->name, (long long)x->stride);
    if (!parts)
        return CL_SUCCESS;
    if (contiguous && (!checked_mul(x->use.extent[0] * x->use.extent[1], x->use.extent[2], &stride) ||
                       !checked_mul(stride, x->use.width, &stride)))
        INVALID("%s: its size overflows", x->name);
    if (!checked_mul(parts - 1, stride, &behind))
        INVALID("%s: its offset and strides overflow", x->name);
    const cl_int status = tensor_check_behind(first, behind, &x->use, context, x->mem, x->at, why);
    if (status)
        return status;
    *x->to = *x->mem ? stride : 0;
    x->at->offset -= (parts - 1) * *x->to;
    return CL_SUCCESS;
}

/* What is written: O, and LSE if it is wanted. */
static cl_int check_written(struct call *c, const clattn_merge_args *a, const clattn_problem *p, const clattn_sizes *s,
                            cl_context context, struct why *why)
{
    const size_t lse_bytes = problem_type_size(problem_lse_type(p));
    const struct tensor_use o = { "o", { s->b, s->h, s->nq }, p->dv, problem_type_size(p->o_type), true, false, 0 };
    const struct tensor_use lse = { "lse", { s->b, s->h, s->nq }, 1, lse_bytes, true, false, 0 };
    const cl_int status = tensor_check(&a->o, &o, context, &c->mem[PARAM_O], &c->args.o, why);
    if (status || !a->lse.mem)
        return status;
    c->args.write_lse = 1;
    return tensor_check(&a->lse, &lse, context, &c->mem[PARAM_LSE], &c->args.lse, why);
}

static cl_int check_read(struct call *c, const clattn_merge_args *a, const clattn_problem *p, const clattn_sizes *s,
                         cl_context context, struct why *why)
{
    struct arguments *const to = &c->args;
    const int64_t b = s->b, h = s->h, nq = s->nq;
    const size_t bytes = (size_t)engine_scalar_bytes(p);
    const struct parts all[] = {
        { "o_parts", &a->o_parts, a->o_parts_stride, { "o_parts", { b, h, nq }, p->dv, bytes, false, false, 0 },
          &c->mem[PARAM_O_PARTS], &to->o_parts, &to->o_parts_stride },
        { "lse_parts", &a->lse_parts, a->lse_parts_stride,
          { "lse_parts", { b, h, nq }, 1, problem_type_size(problem_lse_type(p)), false, false, 0 },
          &c->mem[PARAM_LSE_PARTS], &to->lse_parts, &to->lse_parts_stride },
    };
    cl_int status = CL_SUCCESS;
    for (size_t i = 0; i < sizeof all / sizeof *all && !status; i++)
        status = check_parts(&all[i], a->parts, context, why);
    return status;
}

static cl_int check_numbers(const clattn_merge_args *a, struct why *why)
{
    enum { FLAGS = CLATTN_LSE_IN_LOG2 | CLATTN_LSE_IN_EMPTY_INF | CLATTN_LSE_OUT_LOG2 | CLATTN_LSE_OUT_EMPTY_INF };
    if (a->parts < 0 || a->parts > ROWS_MAX)
        INVALID("parts is %lld, outside 0 to %d", (long long)a->parts, ROWS_MAX);
    if (a->flags & ~(uint32_t)FLAGS)
        INVALID("flags 0x%x has unknown bits", (unsigned)a->flags);
    if (a->reserved)
        INVALID("reserved is %u, must be 0", (unsigned)a->reserved);
    return CL_SUCCESS;
}

static cl_int fill_numbers(struct arguments *to, const clattn_merge_args *a, const clattn_problem *p,
                           const clattn_sizes *s, struct why *why)
{
    enum { COLUMNS_LEAST = 8 }; /* of a work-group of one row */
    const int64_t chunks = (p->dv + COLUMNS_LEAST - 1) / COLUMNS_LEAST;
    int64_t rows;
    if (!checked_mul(s->b * s->h, s->nq, &rows) || rows > INT32_MAX / chunks)
        REFUSE("b %lld, h %lld and nq %lld make too many rows", (long long)s->b, (long long)s->h, (long long)s->nq);
    to->rows = (cla_i32)rows;
    to->h = (cla_i32)s->h;
    to->nq = (cla_i32)s->nq;
    to->columns = p->dv;
    to->parts = (cla_i32)a->parts;
    to->merge_flags = (cla_i32)a->flags;
    to->lse_is_wide = problem_lse_type(p) == CLATTN_F64;
    return CL_SUCCESS;
}

cl_int merge_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    const clattn_problem *const p = plan->p;
    clattn_merge_args a;
    clattn_sizes s;
    cl_int status;
    if ((status = caller_struct_read(&a, sizeof a, in, "clattn_merge_args", why)) ||
        (status = check_numbers(&a, why)))
        return status;
    if ((status = call_sizes(&s, c, a.sizes, why)) || (status = check_written(c, &a, p, &s, plan->context, why)) ||
        (status = check_read(c, &a, p, &s, plan->context, why)))
        return status;
    return fill_numbers(&c->args, &a, p, &s, why);
}
