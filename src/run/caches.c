/* caches.c - a caller's K and V: where they lie, in one piece or on pages
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/caches.h"

#include "base/checked.h"
#include "base/division.h"
#include "run/tensor.h"

#define INVALID(...) return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)

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
    const struct array_use use = { "block_table", true, count, sizeof(cl_int) };
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

static cl_int check_rows(const struct reader *r, const char *name, const clattn_tensor *tensor, int type, int32_t width,
                         int param, cla_rows_at *at)
{
    const clattn_sizes *const s = r->use->s;
    const struct problem_block block = problem_type_block(type);
    const bool varlen = r->use->p->flags & CLATTN_CU_K;
    struct tensor_use use = { name, { s->b, s->hk, s->nk }, width, (size_t)block.bytes, r->use->written, false,
                              block.elements };
    clattn_tensor t = *tensor;
    if (varlen)
        t = tensor_as_one_entry(tensor, &use, s->total_k, true);
    if (r->page) {
        use.extent[0] = has_keys(s) ? r->in->pages : 0;
        use.extent[2] = r->page;
        use.rows_first = true;
    }
    const cl_int status = tensor_check(&t, &use, r->use->context, &r->mem[param], at, r->why);
    if (varlen)
        at->b = 0;
    return status;
}

cl_int caches_check(const struct caches *in, const struct caches_use *use, struct arguments *to, cl_mem mem[PARAMS],
                    struct why *why)
{
    struct reader r = { in, use, to, mem, 0, why };
    const clattn_problem *const p = use->p;
    cl_int status;
    if ((status = check_pages(&r)) || (status = check_rows(&r, "k", in->k, p->k_type, p->d, PARAM_K, &to->k)))
        return status;
    return check_rows(&r, "v", in->v, p->v_type, p->dv, PARAM_V, &to->v);
}
