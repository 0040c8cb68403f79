/* caches.c - a caller's K and V: where they lie, in one piece or on pages
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/caches.h"

#include "base/checked.h"
#include "base/division.h"
#include "run/tensor.h"

/* What the parts of a check share. */
struct reader {
    const struct caches *in;
    const struct caches_use *use;
    struct arguments *to;
    cl_mem *mem;
    int64_t page; /* rows of a page; 0: K and V lie in one piece */
    struct why *why;
};

/* ---- Pages ---- */

static bool has_keys(const clattn_sizes *s)
{
    return s->b && s->nk;
}

/* Likewise of sequences that stand one behind the other. */
static bool has_rows(const struct reader *r)
{
    return r->use->p->flags & CLATTN_CU_K ? r->use->s->b && r->use->s->total_k : has_keys(r->use->s);
}

static cl_int check_no_pages(const struct caches *in, struct why *why)
{
    const char *const what = in->page                 ? "page"
                             : in->pages              ? "pages"
                             : in->block_table_stride ? "block_table_stride"
                             : in->block_table->mem   ? "block_table"
                                                      : NULL;
    if (what)
        INVALID("%s is given, but the problem's K and V are not paged", what);
    return CL_SUCCESS;
}

/* The entries of a sequence stand side by side, those of the next a stride behind. */
static cl_int check_table(const struct reader *r)
{
    const clattn_sizes *const s = r->use->s;
    struct why *const why = r->why;
    const int64_t entries = (s->nk + r->page - 1) / r->page;
    const int64_t stride = r->in->block_table_stride ? r->in->block_table_stride : entries;
    int64_t count = 0;
    if (stride < 0)
        INVALID("block_table_stride is %lld, must not be negative", (long long)stride);
    if (has_keys(s) && (!checked_mul(s->b - 1, stride, &count) || !checked_add(count, entries, &count)))
        INVALID("block_table: its stride overflows");
    const struct array_use use = { "block_table", true, count, sizeof(cl_int), false };
    const cl_int status = tensor_check_array(r->in->block_table, &use, r->use->context, &r->mem[PARAM_BLOCK_TABLE],
                                             &r->to->table_offset, why);
    r->to->table_stride = count ? stride : 0;
    return status;
}

static cl_int check_pages(struct reader *r)
{
    const struct caches *const in = r->in;
    struct why *const why = r->why;
    if (!r->use->p->page)
        return check_no_pages(in, why);
    if (in->page < 0 || in->page > ROWS_MAX)
        INVALID("page is %d, outside 0 to %d", (int)in->page, ROWS_MAX);
    if (in->pages < 0 || in->pages > ROWS_MAX)
        INVALID("pages is %lld, outside 0 to %d", (long long)in->pages, ROWS_MAX);
    if (!in->pages && has_keys(r->use->s))
        INVALID("pages is 0, but there are keys");
    r->page = in->page ? in->page : r->use->p->page;
    const struct division by = division_by((uint32_t)r->page);
    r->to->page = (cla_i32)r->page;
    r->to->page_magic = (cla_i32)by.magic;
    r->to->page_shift = by.shift;
    r->to->pages = has_keys(r->use->s) ? (cla_i32)in->pages : 0;
    return check_table(r);
}

/* ---- K and V ---- */

/* One of them. */
struct operand {
    const char *name, *scale_name, *zero_name;
    const clattn_tensor *tensor;
    const clattn_tensor4 *scale, *zero;
    int type, param, scale_param, zero_param; /* PARAM_* */
    int32_t width, group;
    bool has_zero;
    cla_rows_at *at;
    cla_i64 *scale_offset, *zero_offset;
    cla_i32 *scale_strides, *zero_strides; /* [4] */
};

static cl_int check_rows(const struct reader *r, const struct operand *o)
{
    const clattn_sizes *const s = r->use->s;
    const struct problem_type *const type = problem_type_at(o->type);
    const bool varlen = r->use->p->flags & CLATTN_CU_K;
    struct tensor_use use = { o->name, { s->b, s->hk, s->nk }, o->width, (size_t)type->bytes, r->use->written, false,
                              type->elements };
    clattn_tensor t = *o->tensor;
    if (varlen)
        t = tensor_as_one_entry(o->tensor, &use, s->total_k, true);
    if (r->page) {
        use.extent[0] = has_keys(s) ? r->in->pages : 0;
        use.extent[2] = r->page;
        use.rows_first = true;
    }
    const cl_int status = tensor_check(&t, &use, r->use->context, &r->mem[o->param], o->at, r->why);
    if (varlen)
        o->at->b = 0;
    return status;
}

/* Those that are written are computed for each row, so every row has its own. */
static cl_int check_written(const struct tensor4_use *use, const struct tensor4 *t, struct why *why)
{
    for (int i = 0; i < 4; i++)
        if (t->shape[i] != use->extent[i])
            INVALID("%s.shape[%c] is %lld, must be %lld where every row has its own", use->name, use->axes[i],
                    (long long)t->shape[i], (long long)use->extent[i]);
    return CL_SUCCESS;
}

/* Scales or zero points. Kernels take their strides in 32 bits. A call without keys reads none; their shape is what it
 * is with keys, since a pool of pages is there all the same. */
static cl_int check_scales(const struct reader *r, const char *name, const clattn_tensor4 *tensor, bool given,
                           int32_t groups, int param, cla_i64 *offset, cla_i32 stride[4])
{
    const clattn_sizes *const s = r->use->s;
    const bool varlen = r->use->p->flags & CLATTN_CU_K, paged = r->page;
    const int64_t first = paged ? r->in->pages : varlen ? s->b != 0 : s->b;
    const bool written = r->use->written && tensor->shape[2] != 1;
    const struct tensor4_use use = {
        name, given, { first, s->hk, paged ? r->page : varlen ? s->total_k : s->nk, groups }, sizeof(cl_float), written,
        paged ? "phng" : "bhng", paged || varlen, !has_rows(r), false
    };
    struct why *const why = r->why;
    struct tensor4 t;
    cl_int status = tensor4_check(tensor, &use, r->use->context, &t, why);
    if (!status && given && written)
        status = check_written(&use, &t, why);
    for (int i = 0; i < 4 && !status; i++) {
        if (t.stride[i] > INT32_MAX)
            INVALID("%s.stride[%c] is %lld, at most %d", name, use.axes[i], (long long)t.stride[i], INT32_MAX);
        stride[i] = (cla_i32)t.stride[i];
    }
    r->mem[param] = t.mem;
    *offset = t.offset;
    return status;
}

static cl_int check_operand(const struct reader *r, const struct operand *o)
{
    const bool scaled = problem_type_is(o->type, PROBLEM_SCALED);
    const int32_t groups = scaled ? problem_groups(o->width, o->group) : 0;
    cl_int status;
    if ((status = check_rows(r, o)) || (status = check_scales(r, o->scale_name, o->scale, scaled, groups,
                                                              o->scale_param, o->scale_offset, o->scale_strides)))
        return status;
    return check_scales(r, o->zero_name, o->zero, o->has_zero, groups, o->zero_param, o->zero_offset, o->zero_strides);
}

cl_int caches_check(const struct caches *in, const struct caches_use *use, struct arguments *to, cl_mem mem[PARAMS],
                    struct why *why)
{
    struct reader r = { in, use, to, mem, 0, why };
    const clattn_problem *const p = use->p;
    const struct operand k = { "k", "k_scale", "k_zero", in->k, in->k_scale, in->k_zero, p->k_type, PARAM_K,
                               PARAM_K_SCALE, PARAM_K_ZERO, p->d, p->k_group, p->flags & CLATTN_K_ZERO, &to->k,
                               &to->k_scale_offset, &to->k_zero_offset, to->k_scale, to->k_zero };
    const struct operand v = { "v", "v_scale", "v_zero", in->v, in->v_scale, in->v_zero, p->v_type, PARAM_V,
                               PARAM_V_SCALE, PARAM_V_ZERO, p->dv, p->v_group, p->flags & CLATTN_V_ZERO, &to->v,
                               &to->v_scale_offset, &to->v_zero_offset, to->v_scale, to->v_zero };
    cl_int status;
    if ((status = check_pages(&r)) || (status = check_operand(&r, &k)) || use->without_v)
        return status;
    return check_operand(&r, &v);
}
