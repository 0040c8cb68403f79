/* rotary.c - rotary embedding: what a call says of it, and the arguments of rotating Q
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/caller_struct.h"
#include "base/checked.h"
#include "run/readers.h"
#include "run/tensor.h"

static cl_int check_numbers(const clattn_rotary *r, int32_t width, struct why *why)
{
    if (r->width < 0 || r->width > width || r->width % 2)
        INVALID("rotary.width is %d, must be even and 0 to %d", (int)r->width, (int)width);
    if (r->width && (r->positions < 1 || r->positions > ROWS_MAX))
        INVALID("rotary.positions is %lld, outside 1 to %d", (long long)r->positions, ROWS_MAX);
    if (r->interleaved != 0 && r->interleaved != 1)
        INVALID("rotary.interleaved is %d, must be 0 or 1", (int)r->interleaved);
    return CL_SUCCESS;
}

cl_int rotary_check(struct call *c, const struct call_plan *plan, const clattn_rotary *r, const clattn_sizes *s,
                    int32_t width, struct why *why)
{
    struct arguments *const to = &c->args;
    cl_int status = check_numbers(r, width, why);
    if (status)
        return status;
    to->rotary_rows = 1;
    if (!r->width)
        return CL_SUCCESS;
    if (!(plan->p->flags & CLATTN_ROTARY))
        INVALID("rotary.width is %d, but the problem lacks CLATTN_ROTARY", (int)r->width);
    if (!r->cos.mem || !r->sin.mem)
        INVALID("rotary.%s.mem is NULL", r->cos.mem ? "sin" : "cos");
    const int64_t of_table = r->positions * (r->width / 2);
    const struct call_array rows[] = {
        { PARAM_COSINES, &r->cos, { "rotary.cos", true, of_table, 4, false }, &to->cosines_offset },
        { PARAM_SINES, &r->sin, { "rotary.sin", true, of_table, 4, false }, &to->sines_offset },
        { PARAM_POSITIONS,
          &r->given,
          { "rotary.given", r->given.mem != NULL, s->b * s->nq, 4, false },
          &to->positions_offset },
    };
    if ((status = call_check_arrays(c, rows, sizeof rows / sizeof *rows, plan->context, why)))
        return status;
    to->rotary_rows = (cla_i32)r->positions;
    to->rotary_width = r->width;
    to->interleaved = r->interleaved;
    to->given |= c->mem[PARAM_POSITIONS] ? CLA_POSITIONS_GIVEN : 0;
    return CL_SUCCESS;
}

/* Where it begins at the place of another with other strides, elements of one lie on others of the other. */
static cl_int check_in_place(const struct call *c, const clattn_sizes *s, struct why *why)
{
    const cla_rows_at *const in = &c->args.q, *const out = &c->args.o;
    if (c->mem[PARAM_Q] != c->mem[PARAM_O] || in->offset != out->offset)
        return CL_SUCCESS;
    if ((s->b > 1 && in->b != out->b) || (s->h > 1 && in->h != out->h) || (s->nq > 1 && in->row != out->row))
        INVALID("out begins where in does, but has other strides");
    return CL_SUCCESS;
}

static cl_int check_tensors(struct call *c, const struct call_plan *plan, const clattn_rotary_args *a,
                            const clattn_sizes *s, struct why *why)
{
    const clattn_problem *const p = plan->p;
    const size_t bytes = problem_type_size(p->type);
    const struct tensor_use in = { "in", { s->b, s->h, s->nq }, p->d, bytes, false, false, 0 };
    const struct tensor_use out = { "out", { s->b, s->h, s->nq }, p->d, bytes, true, false, 0 };
    const struct array_use kv_len = { "kv_len", a->kv_len.mem != NULL, s->b, 4, false };
    cl_int status;
    if ((status = tensor_check(&a->in, &in, plan->context, &c->mem[PARAM_Q], &c->args.q, why)) ||
        (status = tensor_check(&a->out, &out, plan->context, &c->mem[PARAM_O], &c->args.o, why)) ||
        (status = tensor_check_array(&a->kv_len, &kv_len, plan->context, &c->mem[PARAM_KV_LEN],
                                     &c->args.kv_len_offset, why)))
        return status;
    c->args.given |= c->mem[PARAM_KV_LEN] ? CLA_KV_LEN_GIVEN : 0;
    return check_in_place(c, s, why);
}

/* Pairs, and the elements behind them. */
static cl_int count_parts(struct arguments *to, const clattn_sizes *s, int32_t d, struct why *why)
{
    int64_t rows, parts;
    to->row_parts = d - to->rotary_width / 2;
    if (!checked_mul(s->b * s->h, s->nq, &rows) || !checked_mul(rows, to->row_parts, &parts) || parts > INT32_MAX)
        REFUSE("b %lld, h %lld and nq %lld make too many work-groups", (long long)s->b, (long long)s->h,
               (long long)s->nq);
    to->rotary_items = parts;
    to->h = (cla_i32)s->h;
    to->nq = (cla_i32)s->nq;
    return CL_SUCCESS;
}

cl_int rotary_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    const clattn_problem *const p = plan->p;
    clattn_rotary_args a;
    clattn_sizes s;
    cl_int status;
    if (!(p->flags & CLATTN_ROTARY))
        INVALID("the problem lacks CLATTN_ROTARY");
    if ((status = caller_struct_read(&a, sizeof a, in, "clattn_rotary_args", why)))
        return status;
    if ((status = call_sizes(&s, c, a.sizes, why)))
        return status;
    if (!a.rotary.width)
        INVALID("rotary.width is 0: there is nothing to rotate");
    if ((status = rotary_check(c, plan, &a.rotary, &s, p->d, why)) ||
        (status = check_tensors(c, plan, &a, &s, why)))
        return status;
    return count_parts(&c->args, &s, p->d, why);
}
