/* workload.c - problem strings: printing, and counting work. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/workload.h"

#include "problem/feature.h"
#include "problem/workload_words.h"

#include <string.h>

int64_t workload_varlen(int64_t n, int64_t i, int64_t b)
{
    return (n * (i + 1) + b - 1) / b;
}

bool workload_is_names(const char *names)
{
    const size_t n = strlen(names);
    bool good = true;
    for (size_t i = 0; i < n && good; i++)
        good = (names[i] >= 'a' && names[i] <= 'z') || (names[i] >= 'A' && names[i] <= 'Z') ||
               (names[i] >= '0' && names[i] <= '9') || strchr("_-.", names[i]) ||
               (names[i] == ',' && i && names[i - 1] != ',' && i + 1 < n);
    return good;
}

static bool is_said(const struct feature *f, const clattn_workload *c, const clattn_problem *p)
{
    return f->is_said ? f->is_said(c) : feature_applies(f, p);
}

/* The words between the widths and the types: what changes scores and drops keys. */
static void add_features(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    for (int place = 0; place < FEATURE_PLACES; place++)
        FEATURE_EACH(f)
            if (f->place == place && f->print && is_said(f, c, p))
                f->print(to, c, p);
}

/* What the grammar has no words for. */
static cl_int check_words(const clattn_workload *c, const clattn_problem *p, struct why *why)
{
    const bool cu_q = p->flags & CLATTN_CU_Q, cu_k = p->flags & CLATTN_CU_K;
    const char *what = NULL;
    int64_t q = 0, k = 0;
    for (int64_t i = 0; cu_q && i < p->sizes.b; i++) {
        q += workload_varlen(p->sizes.nq, i, p->sizes.b);
        k += workload_varlen(p->sizes.nk, i, p->sizes.b);
    }
    if (p->align == CLATTN_ALIGN_OFFSETS)
        what = "CLATTN_ALIGN_OFFSETS";
    else if (cu_q != cu_k)
        what = "CLATTN_CU_Q or CLATTN_CU_K alone";
    else if (cu_q && c->bthd)
        what = "bthd of varlen sequences";
    else if (cu_q && (q != p->sizes.total_q || k != p->sizes.total_k))
        what = "other totals than those of its sequences";
    FEATURE_EACH(f)
        if (!what && f->unsaid && is_said(f, c, p))
            what = f->unsaid(c);
    return what ? why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "a problem string cannot say %s", what) : CL_SUCCESS;
}

cl_int workload_print(const clattn_workload *c, struct text *to, struct why *why)
{
    clattn_problem p;
    cl_int status = problem_read(&p, &c->problem, why);
    if (status)
        return status;
    if (problem_has_lists(&p) && p.sizes.b > CLATTN_LIST_MAX)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "lists have at most %d numbers", CLATTN_LIST_MAX);
    if ((status = check_words(c, &p, why)))
        return status;
    text_add(to, "%s", problem_type_name(p.type));
    for (const struct workload_word *w = workload_words; w->name; w++) {
        w->print(w, to, c, &p);
        if (w == &workload_words[WORKLOAD_REQUIRED - 1])
            add_features(to, c, &p);
    }
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

static double kept(const clattn_workload *c, const clattn_problem *p, int64_t b)
{
    const clattn_sizes *s = &p->sizes;
    const int64_t nq = p->flags & CLATTN_CU_Q ? workload_varlen(s->nq, b, s->b) : s->nq;
    const int64_t nk = p->flags & CLATTN_CU_K ? workload_varlen(s->nk, b, s->b) : s->nk;
    const int64_t n = p->flags & CLATTN_Q_LEN ? clamp_i64(c->q_len[b], 0, nq) : nq;
    const int64_t end = p->flags & CLATTN_KV_LEN ? clamp_i64(c->kv_len[b], 0, nk) : nk;
    const int64_t begin = p->flags & CLATTN_KV_START ? clamp_i64(c->kv_start[b], 0, nk) : 0;
    const int64_t offset = p->align == CLATTN_ALIGN_BOTTOM_RIGHT ? end - n
                           : p->align == CLATTN_ALIGN_OFFSET     ? clamp_i64(s->offset, -ROWS_MAX, ROWS_MAX)
                                                                 : 0;
    int64_t low, high; /* of the keys that a row sees, from its diagonal on */
    double share = 1;
    feature_range(p, &low, &high);
    FEATURE_EACH(f)
        if (f->share && feature_applies(f, p))
            share *= f->share(p);
    if (begin >= end)
        return 0;
    double pairs = (double)(n * (end - begin));
    if (high < INT64_MAX)
        pairs = kept_causal(n, begin, end, offset + high);
    if (low > INT64_MIN)
        pairs -= kept_causal(n, begin, end, offset + low - 1);
    return share * pairs;
}

cl_int workload_cost(const clattn_workload *c, double *flops, double *bytes, struct why *why)
{
    clattn_problem p;
    cl_int status = problem_read(&p, &c->problem, why);
    if (status)
        return status;
    const clattn_sizes *s = &p.sizes;
    const bool lists = problem_has_lists(&p);
    if (lists && s->b > CLATTN_LIST_MAX)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "lists have at most %d numbers", CLATTN_LIST_MAX);
    double pairs = 0;
    for (int64_t b = 0; b < (lists ? s->b : 1); b++)
        pairs += kept(c, &p, b);
    if (!lists)
        pairs *= (double)s->b;
    const double q_rows = (double)s->h * (p.flags & CLATTN_CU_Q ? (double)s->total_q : (double)s->b * (double)s->nq),
                 k_rows = (double)s->hk * (p.flags & CLATTN_CU_K ? (double)s->total_k : (double)s->b * (double)s->nk);
    const bool backward = p.flags & CLATTN_BACKWARD;
    *flops = 2 * (double)s->h * pairs * (backward ? 3 * p.d + 2 * p.dv : p.d + p.dv);
    const double row = p.d * (double)problem_type_size(p.type) + p.dv * (double)problem_type_size(p.o_type);
    const double of_keys = k_rows * (problem_k_row_bytes(&p) + problem_v_row_bytes(&p));
    const double lse = c->lse || backward ? (double)problem_type_size(problem_lse_type(&p)) : 0;
    *bytes = q_rows * (row + lse) + of_keys;
    if (backward) /* dO and dQ, dK and dV */
        *bytes += q_rows * (p.d + p.dv) * (double)problem_type_size(p.type) + of_keys;
    return CL_SUCCESS;
}
