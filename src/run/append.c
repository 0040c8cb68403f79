/* append.c - the arguments of writing new rows into caches
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/append.h"

#include "base/caller_struct.h"
#include "base/checked.h"
#include "base/text.h"
#include "engine/slots.h"
#include "run/rotary.h"
#include "run/tensor.h"

#define INVALID(...) return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

/* What all checks of one call share. first, rows: the axes of a cache beside hk, which are b and nk or, where it is
 * paged, pages and rows of a page. */
struct reader {
    const struct call_plan *plan;
    const clattn_problem *p;
    clattn_append_args a;
    clattn_sizes s;
    int64_t first, rows;
};

/* K or V of the cache. */
struct side {
    const char *name, *scale_name, *zero_name;
    int type;
    int32_t width, group;
    bool has_zero;
    const clattn_tensor *cache;
    const clattn_tensor4 *scale, *zero;
    int param, scale_param, zero_param, given;
    cla_rows_at *at;
    cla_scores_at *scale_at, *zero_at;
};

/* ---- Sizes ---- */

static cl_int read_sizes(struct reader *r, struct why *why)
{
    r->s = r->a.sizes ? *r->a.sizes : r->p->sizes;
    if (!r->s.h)
        r->s.h = r->s.hk; /* of no use here */
    const cl_int status = problem_check_sizes(&r->s, why);
    if (status)
        return status;
    if (r->s.nq > r->s.nk && !r->a.new_len.mem)
        INVALID("nq is %lld, but a sequence has room for nk %lld rows", (long long)r->s.nq, (long long)r->s.nk);
    return CL_SUCCESS;
}

static cl_int read_pages(struct call *c, struct reader *r, struct why *why)
{
    const clattn_append_args *const a = &r->a;
    struct arguments *const to = &c->args;
    r->first = r->s.b;
    r->rows = r->s.nk;
    to->page = to->pages = 1;
    if (!r->p->page && (a->page || a->pages || a->block_table_stride || a->block_table.mem))
        INVALID("page, pages or block_table is given, but the problem has no pages");
    if (!r->p->page)
        return CL_SUCCESS;
    to->page = a->page ? a->page : r->p->page;
    if (to->page < 1 || to->page > ROWS_MAX)
        INVALID("page is %d, outside 0 to %d", (int)a->page, ROWS_MAX);
    if (a->pages < 0 || a->pages > ROWS_MAX)
        INVALID("pages is %lld, outside 0 to %d", (long long)a->pages, ROWS_MAX);
    to->pages = (cla_i32)a->pages;
    r->first = a->pages;
    r->rows = to->page;
    return CL_SUCCESS;
}

static cl_int check_table(struct call *c, const struct reader *r, struct why *why)
{
    const int64_t entries = (r->s.nk + c->args.page - 1) / c->args.page;
    const int64_t stride = r->a.block_table_stride ? r->a.block_table_stride : entries;
    int64_t count = 0;
    if (!r->p->page)
        return CL_SUCCESS;
    if (stride < 0)
        INVALID("block_table_stride is %lld, must not be negative", (long long)stride);
    if (r->s.b && entries && (!checked_mul(r->s.b - 1, stride, &count) || !checked_add(count, entries, &count)))
        INVALID("block_table: its stride overflows");
    const struct array_use use = { "block_table", true, count, 4 };
    c->args.block_table_stride = stride;
    return tensor_check_array(&r->a.block_table, &use, r->plan->context, &c->mem[PARAM_BLOCK_TABLE],
                              &c->args.block_table_offset, why);
}

/* ---- Caches ---- */

/* A cache as one of blocks, which are elements where they are not quantised; kernels take bytes. */
static cl_int check_cache(struct call *c, const struct reader *r, const struct side *side, struct why *why)
{
    const struct problem_block block = problem_type_block(side->type);
    const struct tensor_use use = { side->name,
                                    { r->first, r->s.hk, r->rows },
                                    side->width / block.elements,
                                    (size_t)block.bytes,
                                    true };
    clattn_tensor t = *side->cache;
    const bool contiguous = !t.stride[0] && !t.stride[1] && !t.stride[2];
    bool whole = t.offset % (size_t)block.elements == 0;
    t.offset /= (size_t)block.elements;
    for (int i = 0; i < 3; i++) {
        whole = whole && t.stride[i] % block.elements == 0;
        t.stride[i] /= block.elements;
    }
    if (!whole)
        INVALID("%s: its offset and strides in %s must be multiples of %d elements", side->name,
                problem_type_name(side->type), block.elements);
    if (contiguous && r->p->page) { /* in the order page, row, hk; 2^40 elements at most are from row to row */
        t.stride[1] = use.width;
        t.stride[2] = use.width * r->s.hk;
        if (!checked_mul(t.stride[2], r->rows, &t.stride[0]))
            INVALID("%s: its size overflows", side->name);
    }
    const cl_int status = tensor_check(&t, &use, r->plan->context, &c->mem[side->param], side->at, why);
    cla_i64 *const steps[] = { &side->at->b, &side->at->h, &side->at->row };
    for (int i = 0; i < 3 && !status; i++)
        *steps[i] = use.extent[i] > 1 ? *steps[i] * block.bytes : 0; /* beyond one it lies in the buffer */
    side->at->offset *= block.bytes;
    return status;
}

/* Where the scales of rows are computed, each has a place of its own. */
static cl_int check_own_places(const clattn_tensor4 *t, const struct tensor4_use *use, struct why *why)
{
    static const char *const axis[] = { "0", "1", "2", "3" };
    for (int i = 0; i < 4; i++)
        if (t->shape[i] == 1 && use->extent[i] > 1)
            INVALID("%s.shape[%s] is 1, but what its rows have is computed and written", use->name, axis[i]);
    return CL_SUCCESS;
}

static cl_int check_scale(struct call *c, const struct reader *r, const clattn_tensor4 *given, const char *name,
                          bool wanted, int32_t groups, bool written, int param, cla_scores_at *at, struct why *why)
{
    const struct tensor4_use use = { name, wanted, { r->first, r->s.hk, r->rows, groups }, 4, written };
    clattn_tensor4 t = *given;
    struct tensor4 out;
    cl_int status = wanted && written ? check_own_places(&t, &use, why) : CL_SUCCESS;
    if (status)
        return status;
    if (r->p->page && !t.stride[0] && !t.stride[1] && !t.stride[2] && !t.stride[3]) {
        static const int order[] = { 3, 1, 2, 0 }; /* page, row, hk, group, from behind */
        for (int64_t i = 0, step = 1; i < 4; i++) {
            const int64_t n = t.shape[order[i]] ? t.shape[order[i]] : use.extent[order[i]];
            t.stride[order[i]] = step;
            if (!checked_mul(step, n, &step))
                INVALID("%s: its size overflows", name);
        }
    }
    if ((status = tensor4_check(&t, &use, r->plan->context, &out, why)))
        return status;
    c->mem[param] = out.mem;
    *at = tensor4_place(&out);
    return CL_SUCCESS;
}

static cl_int check_side(struct call *c, const struct reader *r, const struct side *side, struct why *why)
{
    const bool scaled = problem_type_block(side->type).scaled, written = side->scale->shape[2] != 1;
    const int32_t groups = scaled ? problem_groups(side->width, side->group) : 0;
    cl_int status;
    if (side->has_zero && written != (side->zero->shape[2] != 1))
        INVALID("%s.shape[2] is %lld, but that of %s is %lld: both are read, or both are written", side->scale_name,
                (long long)side->scale->shape[2], side->zero_name, (long long)side->zero->shape[2]);
    if ((status = check_cache(c, r, side, why)) ||
        (status = check_scale(c, r, side->scale, side->scale_name, scaled, groups, written, side->scale_param,
                              side->scale_at, why)) ||
        (status = check_scale(c, r, side->zero, side->zero_name, side->has_zero, groups, written, side->zero_param,
                              side->zero_at, why)))
        return status;
    c->args.given |= written ? 0 : side->given;
    return CL_SUCCESS;
}

static cl_int check_caches(struct call *c, const struct reader *r, struct why *why)
{
    const clattn_problem *const p = r->p;
    const clattn_append_args *const a = &r->a;
    struct arguments *const to = &c->args;
    const struct side sides[] = {
        { "k", "k_scale", "k_zero", p->k_type, p->d, p->k_group, p->flags & CLATTN_K_ZERO, &a->k, &a->k_scale,
          &a->k_zero, PARAM_K, PARAM_K_SCALE, PARAM_K_ZERO, CLA_K_SCALE_GIVEN, &to->k, &to->k_scale, &to->k_zero },
        { "v", "v_scale", "v_zero", p->v_type, p->dv, p->v_group, p->flags & CLATTN_V_ZERO, &a->v, &a->v_scale,
          &a->v_zero, PARAM_V, PARAM_V_SCALE, PARAM_V_ZERO, CLA_V_SCALE_GIVEN, &to->v, &to->v_scale, &to->v_zero },
    };
    const cl_int status = check_side(c, r, &sides[0], why);
    return status ? status : check_side(c, r, &sides[1], why);
}

/* ---- Rows and lists ---- */

static cl_int check_new_rows(struct call *c, const struct reader *r, struct why *why)
{
    const size_t bytes = problem_type_size(r->p->type);
    const struct tensor_use k = { "new_k", { r->s.b, r->s.hk, r->s.nq }, r->p->d, bytes, false };
    const struct tensor_use v = { "new_v", { r->s.b, r->s.hk, r->s.nq }, r->p->dv, bytes, false };
    const cl_int status =
        tensor_check(&r->a.new_k, &k, r->plan->context, &c->mem[PARAM_NEW_K], &c->args.new_k, why);
    return status ? status
                  : tensor_check(&r->a.new_v, &v, r->plan->context, &c->mem[PARAM_NEW_V], &c->args.new_v, why);
}

/* kv_len is read and written. */
static cl_int check_lists(struct call *c, const struct reader *r, struct why *why)
{
    const clattn_append_args *const a = &r->a;
    cl_context context = r->plan->context;
    const struct array_use kv_len = { "kv_len", true, r->s.b, 4 };
    const struct array_use new_len = { "new_len", a->new_len.mem != NULL, r->s.b, 4 };
    const struct array_use dropped = { "dropped", a->dropped.mem != NULL, r->s.b, 4 };
    struct arguments *const to = &c->args;
    cl_mem *const mem = c->mem;
    cl_int status;
    if (r->s.b && !a->kv_len.mem)
        INVALID("kv_len.mem is NULL");
    if ((status = tensor_check_array(&a->kv_len, &kv_len, context, &mem[PARAM_KV_LEN], &to->kv_len_offset, why)) ||
        (status = tensor_check_output(&a->kv_len, &kv_len, context, &mem[PARAM_KV_LEN], &to->kv_len_offset, why)) ||
        (status = tensor_check_array(&a->new_len, &new_len, context, &mem[PARAM_NEW_LEN], &to->new_len_offset, why)) ||
        (status = tensor_check_output(&a->dropped, &dropped, context, &mem[PARAM_DROPPED], &to->dropped_offset, why)))
        return status;
    to->given |= (mem[PARAM_NEW_LEN] ? CLA_NEW_LEN_GIVEN : 0) | (mem[PARAM_DROPPED] ? CLA_DROPPED_WANTED : 0);
    return CL_SUCCESS;
}

/* ---- Numbers ---- */

static cl_int fill_numbers(struct arguments *to, const struct reader *r, struct why *why)
{
    const clattn_problem *const p = r->p;
    const clattn_sizes *const s = &r->s;
    const int64_t of_head = problem_groups(p->d, slots_part(p->k_type, p->k_group)) +
                            problem_groups(p->dv, slots_part(p->v_type, p->v_group));
    int64_t parts = s->hk * of_head;
    to->row_parts = (cla_i32)parts;
    if (!checked_mul(parts, s->nq ? s->nq : 1, &parts) || !checked_mul(parts, s->b ? s->b : 1, &parts) ||
        parts > ROWS_MAX)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "b %lld, hk %lld and nq %lld make too many work-groups",
                       (long long)s->b, (long long)s->hk, (long long)s->nq);
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
    if ((status = read_sizes(&r, why)) || (status = read_pages(c, &r, why)) ||
        (status = check_new_rows(c, &r, why)) || (status = check_caches(c, &r, why)) ||
        (status = check_table(c, &r, why)) || (status = check_lists(c, &r, why)) ||
        (status = rotary_check(c, plan, &r.a.rotary, &r.s, r.p->d, why)))
        return status;
    return fill_numbers(&c->args, &r, why);
}
