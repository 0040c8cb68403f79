/* work.c - what a problem has a device do, and the memory that it takes
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/figures/work.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/inputs.h"
#include "tools/oracle/quantise.h"

/* ---- Bytes that are moved ---- */

static int64_t clamp(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* Keys of an entry that some query sees. Query q sees low <= k - q <= high, and the queries follow each other. */
static int64_t keys_seen(const clattn_workload *c, const clattn_problem *p, int64_t b)
{
    const int64_t far = INT64_C(1) << 40, nq = p->sizes.nq, nk = p->sizes.nk;
    const int64_t n = p->flags & CLATTN_Q_LEN ? clamp(c->q_len[b], 0, nq) : nq;
    const int64_t end = p->flags & CLATTN_KV_LEN ? clamp(c->kv_len[b], 0, nk) : nk;
    const int64_t begin = p->flags & CLATTN_KV_START ? clamp(c->kv_start[b], 0, nk) : 0;
    const int64_t offset = p->align == CLATTN_ALIGN_BOTTOM_RIGHT ? end - n
                           : p->align == CLATTN_ALIGN_OFFSET     ? clamp(p->sizes.offset, -far, far)
                                                                 : 0;
    const int window = (p->flags & CLATTN_WINDOW) != 0;
    const int64_t left = window && p->window_left >= 0 ? p->window_left : far * 2,
                  right = p->causal ? 0 : window && p->window_right >= 0 ? p->window_right : far * 2;
    const int64_t first = offset - left > begin ? offset - left : begin,
                  last = n - 1 + offset + right < end - 1 ? n - 1 + offset + right : end - 1;
    return n > 0 && last >= first ? last - first + 1 : 0;
}

/* The part of all rows of K and V that is read. */
static double share_of_keys(const clattn_workload *c, const clattn_problem *p)
{
    const int lists = (p->flags & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START)) != 0;
    double seen = 0;
    if (p->flags & (CLATTN_CU_Q | CLATTN_CU_K) || p->sizes.nk <= 0 || p->sizes.b <= 0 ||
        p->align == CLATTN_ALIGN_OFFSETS || (lists && p->sizes.b > CLATTN_LIST_MAX))
        return 1;
    for (int64_t b = 0; b < (lists ? p->sizes.b : 1); b++)
        seen += (double)keys_seen(c, p, b);
    return seen / (double)p->sizes.nk / (lists ? (double)p->sizes.b : 1);
}

cl_int work_of(const clattn_workload *c, struct work *w)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const cl_int status = clattn_workload_cost(c, &w->flops, &w->bytes);
    const int backward = (p.flags & CLATTN_BACKWARD) != 0;
    struct counts n;
    w->at_most = (p.flags & CLATTN_BLOCK_MAP) != 0;
    if (status || inputs_count(c, &n))
        return status;
    const double of_q = (double)n.q * (double)convert_size(p.type), of_o = (double)n.o * (double)convert_size(p.o_type),
                 of_lse = c->lse || backward ? 4 * (double)n.lse : 0,
                 more = backward ? (double)(n.q + n.o) * (double)convert_size(p.type) : 0;
    const double of_keys = (w->bytes - of_q - of_o - of_lse - more) / (backward ? 2 : 1); /* dK and dV are whole */
    w->bytes -= of_keys * (1 - share_of_keys(c, &p));
    return CL_SUCCESS;
}

/* ---- Memory ---- */

/* An axis that repeats has its number. */
static int64_t extent(int32_t axis, int64_t size)
{
    return axis > 1 ? axis : axis ? size : 1;
}
static uint64_t axes_of(const clattn_sizes *z, const int32_t axes[4])
{
    return memory_size(extent(axes[0], z->b), extent(axes[1], z->h), extent(axes[2], z->nq), extent(axes[3], z->nk));
}

/* Elements of a pool of pages, a few of them spare. */
enum { SPARE_PAGES = 3 }; /* as stored.c makes them */
static uint64_t pool_of(const clattn_problem *p, int64_t width)
{
    const int64_t pages = (p->sizes.nk + p->page - 1) / p->page;
    const uint64_t all = memory_add(memory_size(p->sizes.b, pages, 1, 1), SPARE_PAGES);
    return memory_times(all, memory_size(p->sizes.hk, p->page, width, 1));
}

static uint64_t stored_bytes(int type, uint64_t n)
{
    return n > SIZE_MAX / 16 ? UINT64_MAX : quantise_bytes(type, (size_t)n);
}

/* K or V of `rows` rows: the host has doubles and, quantised or in pages, what is stored as well; returns all that. */
static uint64_t need_keys(struct memory_need *n, const clattn_problem *p, int type, int64_t width, int64_t group,
                          int zero, uint64_t rows)
{
    const uint64_t stored = p->page ? pool_of(p, width) : memory_times(rows, (uint64_t)width);
    const uint64_t bytes = stored_bytes(type, stored);
    uint64_t host = memory_times(memory_times(rows, (uint64_t)width), sizeof(double));
    memory_buffer(n, bytes);
    if (p->page)
        host = memory_add(host, memory_times(stored, sizeof(double)));
    if (quantise_is(type))
        host = memory_add(host, bytes);
    if (quantise_is_scaled(type)) {
        const uint64_t groups = memory_times(stored / (uint64_t)width, (uint64_t)((width + group - 1) / group));
        for (int i = 0; i <= zero; i++) {
            memory_buffer(n, memory_times(groups, 4));
            host = memory_add(host, memory_times(groups, sizeof(double)));
        }
    }
    return host;
}

/* What changes scores: returns the bytes of the host, which keeps them. */
static uint64_t need_changes(struct memory_need *n, const clattn_workload *c, const clattn_problem *p)
{
    const uint64_t bias = p->bias_type ? axes_of(&p->sizes, c->bias_axes) : 0;
    const uint64_t mask = p->flags & CLATTN_MASK ? axes_of(&p->sizes, c->mask_axes) : 0;
    if (bias)
        memory_buffer(n, memory_times(bias, convert_size(p->bias_type)));
    if (bias && p->flags & CLATTN_BACKWARD)
        memory_buffer(n, memory_times(bias, p->type == CLATTN_F64 ? 8 : 4));
    if (mask)
        memory_buffer(n, mask);
    return memory_add(memory_times(bias, sizeof(double)), mask);
}

void work_need(const clattn_workload *c, struct memory_need *n)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const clattn_sizes *const z = &p.sizes;
    const int backward = (p.flags & CLATTN_BACKWARD) != 0;
    const int packed_q = (p.flags & CLATTN_CU_Q) != 0, packed_k = (p.flags & CLATTN_CU_K) != 0;
    const uint64_t q_rows = memory_size(packed_q ? 1 : z->b, z->h, packed_q ? z->total_q : z->nq, 1),
                   k_rows = memory_size(packed_k ? 1 : z->b, z->hk, packed_k ? z->total_k : z->nk, 1);
    const uint64_t q = memory_times(q_rows, (uint64_t)p.d), o = memory_times(q_rows, (uint64_t)p.dv);
    *n = (struct memory_need){ 0, 0, 0 };
    const uint64_t kept = need_changes(n, c, &p);
    const uint64_t keys = memory_add(
        need_keys(n, &p, p.k_type, p.d, p.k_group, (p.flags & CLATTN_K_ZERO) != 0, k_rows),
        need_keys(n, &p, p.v_type, p.dv, p.v_group, (p.flags & CLATTN_V_ZERO) != 0, k_rows));
    for (int i = 0; i <= backward; i++) { /* Q and O; dQ and dO */
        memory_buffer(n, stored_bytes(p.type, q));
        memory_buffer(n, stored_bytes(i ? p.type : p.o_type, o));
    }
    if (c->lse || backward)
        memory_buffer(n, memory_times(q_rows, 4));
    uint64_t values = 0; /* dO and all gradients */
    if (backward) {
        memory_buffer(n, stored_bytes(p.k_type, memory_times(k_rows, (uint64_t)p.d)));
        memory_buffer(n, stored_bytes(p.v_type, memory_times(k_rows, (uint64_t)p.dv)));
        values = memory_add(memory_add(q, o), memory_times(k_rows, (uint64_t)(p.d + p.dv)));
        values = memory_times(values, sizeof(double));
    }
    /* While inputs are made all of them are there, and a copy of one as it is stored; later our O and a peer's. */
    const uint64_t making = memory_add(memory_add(keys, memory_times(q, sizeof(double))), n->largest);
    const uint64_t results = memory_add(memory_times(o, 2 * sizeof(double)), stored_bytes(p.o_type, o));
    const uint64_t judging = memory_add(values, results);
    n->host = memory_add(kept, making > judging ? making : judging);
}

uint64_t work_scores(const clattn_workload *c)
{
    const clattn_sizes *const z = &c->problem.sizes;
    return memory_times(memory_size(z->b, z->h, z->nq, z->nk), 4);
}
