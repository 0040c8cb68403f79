/* case.c - problem strings: printing, and counting work. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "case.h"
#include "number.h"

static void add_list(struct text *to, const char *name, const int32_t *list, int64_t n)
{
    for (int64_t i = 0; i < n; i++)
        text_add(to, "%s%d", i ? "," : name, (int)list[i]);
}

cl_int case_print(const clattn_case *c, struct text *to, struct why *why)
{
    clattn_problem p;
    cl_int status = problem_read(&p, &c->problem, why);
    if (status)
        return status;
    const clattn_sizes *s = &p.sizes;
    if ((p.flags & ~(uint32_t)CLATTN_SCALE) && s->b > CLATTN_LIST_MAX)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "lists have at most %d numbers", CLATTN_LIST_MAX);
    if (p.align == CLATTN_ALIGN_OFFSETS)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "a problem string cannot say CLATTN_ALIGN_OFFSETS");
    text_add(to, "%s b%lld h%lld", problem_type_name(p.type), (long long)s->b, (long long)s->h);
    if (s->hk != s->h)
        text_add(to, "/%lld", (long long)s->hk);
    text_add(to, " q%lld k%lld d%d", (long long)s->nq, (long long)s->nk, (int)p.d);
    if (p.dv != p.d)
        text_add(to, "/%d", (int)p.dv);
    if (p.causal)
        text_add(to, p.align == CLATTN_ALIGN_TOP_LEFT ? " causal-tl" : " causal");
    if (p.k_type != p.type)
        text_add(to, " k:%s", problem_type_name(p.k_type));
    if (p.v_type != p.type)
        text_add(to, " v:%s", problem_type_name(p.v_type));
    if (p.align == CLATTN_ALIGN_OFFSET)
        text_add(to, " off%lld", (long long)s->offset);
    if (c->bthd)
        text_add(to, " bthd");
    if (c->problem.scale != 0 || p.flags & CLATTN_SCALE) {
        text_add(to, " scale");
        number_print_real(to, c->problem.scale);
    }
    if (p.flags & CLATTN_Q_LEN)
        add_list(to, " qlen:", c->q_len, s->b);
    if (p.flags & CLATTN_KV_LEN)
        add_list(to, " kvlen:", c->kv_len, s->b);
    if (p.flags & CLATTN_KV_START)
        add_list(to, " kvstart:", c->kv_start, s->b);
    if (c->seed)
        text_add(to, " seed%llu", (unsigned long long)c->seed);
    if (c->lse)
        text_add(to, " lse");
    return CL_SUCCESS;
}

/* ---- Work ---- */

static int64_t clamp_i64(int64_t x, int64_t low, int64_t high)
{
    return x < low ? low : x > high ? high : x;
}

/* How many (q, k) are kept of n rows and the keys [begin, end), when row q sees k <= q + offset. */
static double kept_causal(int64_t n, int64_t begin, int64_t end, int64_t offset)
{
    const int64_t far = (int64_t)1 << 31, w = end - begin, c = clamp_i64(offset, -far, far) + 1 - begin;
    const int64_t first = clamp_i64(-c, 0, n),
                  full = clamp_i64(w - c, first, n); /* rows that see something; all keys */
    return (double)((full - first) * c + (full * (full - 1) - first * (first - 1)) / 2 + (n - full) * w);
}

static double kept(const clattn_case *c, const clattn_problem *p, int64_t b)
{
    const clattn_sizes *s = &p->sizes;
    const int64_t n = p->flags & CLATTN_Q_LEN ? clamp_i64(c->q_len[b], 0, s->nq) : s->nq;
    const int64_t end = p->flags & CLATTN_KV_LEN ? clamp_i64(c->kv_len[b], 0, s->nk) : s->nk;
    const int64_t begin = p->flags & CLATTN_KV_START ? clamp_i64(c->kv_start[b], 0, s->nk) : 0;
    if (begin >= end)
        return 0;
    if (!p->causal)
        return (double)(n * (end - begin));
    return kept_causal(n, begin, end,
                       p->align == CLATTN_ALIGN_BOTTOM_RIGHT ? end - n
                       : p->align == CLATTN_ALIGN_OFFSET     ? s->offset
                                                             : 0);
}

cl_int case_cost(const clattn_case *c, double *flops, double *bytes, struct why *why)
{
    clattn_problem p;
    cl_int status = problem_read(&p, &c->problem, why);
    if (status)
        return status;
    const clattn_sizes *s = &p.sizes;
    const bool lists = p.flags & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START);
    if (lists && s->b > CLATTN_LIST_MAX)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "lists have at most %d numbers", CLATTN_LIST_MAX);
    double pairs = 0;
    for (int64_t b = 0; b < (lists ? s->b : 1); b++)
        pairs += kept(c, &p, b);
    if (!lists)
        pairs *= (double)s->b;
    const double q_rows = (double)s->b * (double)s->h * (double)s->nq,
                 k_rows = (double)s->b * (double)s->hk * (double)s->nk;
    *flops = 2 * (double)s->h * pairs * (p.d + p.dv);
    *bytes = q_rows * (p.d + p.dv) * (double)problem_type_size(p.type) + (c->lse ? 4 * q_rows : 0) +
             k_rows * (p.d * (double)problem_type_size(p.k_type) + p.dv * (double)problem_type_size(p.v_type));
    return CL_SUCCESS;
}
