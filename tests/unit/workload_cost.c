/* workload_cost.c - the work of a case, against counting by hand
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"
#include "tests/lib/trial.h"

static int size_of(int type)
{
    return type == CLATTN_F64 ? 8 : type == CLATTN_F32 ? 4 : 2;
}

static int64_t at_most(int64_t x, int64_t most)
{
    return x < most ? x : most;
}

/* The rules of clattn.h, one pair at a time. */
static int64_t pairs_of(const clattn_workload *c)
{
    const clattn_problem *p = &c->problem;
    const clattn_sizes *s = &p->sizes;
    const int packed = p->flags & CLATTN_CU_Q, window = p->flags & CLATTN_WINDOW;
    int64_t b, q, k, pairs = 0;
    for (b = 0; b < s->b; b++) {
        int64_t nq = packed ? (s->nq * (b + 1) + s->b - 1) / s->b : s->nq;
        int64_t nk = packed ? (s->nk * (b + 1) + s->b - 1) / s->b : s->nk;
        int64_t q_len = p->flags & CLATTN_Q_LEN ? at_most(c->q_len[b], nq) : nq;
        int64_t kv_len = p->flags & CLATTN_KV_LEN ? at_most(c->kv_len[b], nk) : nk;
        int64_t start = p->flags & CLATTN_KV_START ? c->kv_start[b] : 0;
        int64_t offset = p->align == CLATTN_ALIGN_OFFSET ? s->offset : p->align ? 0 : kv_len - q_len;
        for (q = 0; q < q_len; q++)
            for (k = start; k < kv_len; k++)
                pairs += (!p->causal || k <= q + offset) &&
                         (!window || ((p->window_left < 0 || k >= q + offset - p->window_left) &&
                                      (p->window_right < 0 || k <= q + offset + p->window_right)));
    }
    return pairs;
}

/* Bytes of a row of K or V, with a float for each group, and another one for its zero point. */
static double row_bytes(int type, int width, int group, int zero)
{
    const int of_group = group && group < width ? group : width, groups = (width + of_group - 1) / of_group;
    switch (type) {
    case CLATTN_INT8: return width + 4 * groups * (1 + zero);
    case CLATTN_INT4: return width * 0.5 + 4 * groups * (1 + zero);
    case CLATTN_Q8_0: return width / 32 * 34;
    case CLATTN_Q4_0: return width / 32 * 18;
    case CLATTN_Q4_1: return width / 32 * 20;
    case CLATTN_Q5_0: return width / 32 * 22;
    case CLATTN_Q5_1: return width / 32 * 24;
    default: return width * size_of(type);
    }
}

static double bytes_of(const clattn_workload *c)
{
    const clattn_problem *p = &c->problem;
    const clattn_sizes *s = &p->sizes;
    int64_t hk = s->hk ? s->hk : s->h, dv = p->dv ? p->dv : p->d;
    int type = p->type ? p->type : CLATTN_F32, k_type = p->k_type ? p->k_type : type,
        v_type = p->v_type ? p->v_type : type, o_type = p->o_type ? p->o_type : type;
    int64_t q_rows = p->flags & CLATTN_CU_Q ? s->total_q : s->b * s->nq;
    int64_t k_rows = p->flags & CLATTN_CU_K ? s->total_k : s->b * s->nk;
    const int backward = !!(p->flags & CLATTN_BACKWARD); /* dO and dQ as Q, dK and dV as K and V */
    const double more = (double)(s->h * q_rows * (dv + p->d) * size_of(type)) +
                        (double)(hk * k_rows) * (p->d * size_of(k_type) + (double)dv * size_of(v_type));
    const int64_t lse = c->lse || backward ? 4 * s->h * q_rows : 0;
    return (backward ? more : 0) +
           (double)(s->h * q_rows * (p->d * size_of(type) + dv * size_of(o_type)) + lse) +
           (double)(hk * k_rows) * (row_bytes(k_type, p->d, p->k_group, !!(p->flags & CLATTN_K_ZERO)) +
                                    row_bytes(v_type, (int)dv, p->v_group, !!(p->flags & CLATTN_V_ZERO)));
}

static void check(const char *text)
{
    clattn_workload c;
    double flops = -1, bytes = -1, want;
    char why[256] = "";
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    if (clattn_workload_parse(text, &c, why, sizeof why)) {
        ok(0, "reads (%s): %s", why, text);
        return;
    }
    const int d = c.problem.d, dv = c.problem.dv ? c.problem.dv : d;
    const int products = c.problem.flags & CLATTN_BACKWARD ? 3 * d + 2 * dv : d + dv;
    want = 2.0 * products * (double)c.problem.sizes.h * (double)pairs_of(&c);
    ok(clattn_workload_cost(&c, &flops, &bytes) == CL_SUCCESS && flops == want, "%.0f flops, counted %.0f: %s", flops,
       want, text);
    ok(bytes == bytes_of(&c), "%.0f bytes, counted %.0f: %s", bytes, bytes_of(&c), text);
}

static const char *const fixed[] = { "f32 b1 h1 q1 k1 d1",
                                     "f16 b2 h8/2 q33 k70 d64 lse",
                                     "bf16 b1 h2 q70 k33 d5/7 causal",
                                     "f64 b1 h2 q70 k33 d5 causal-tl",
                                     "f32 b1 h2 q20 k30 d5 causal off-5",
                                     "f32 b1 h2 q20 k30 d5 causal off-20",
                                     "f32 b1 h2 q20 k30 d5 causal off500",
                                     "f32 b1 h2 q20 k30 d5 causal off29",
                                     "f16 b1 h2 q3 k4 d5 k:f32 v:bf16",
                                     "f16 b2 h4/2 q3 k40 d64 page16 k:int8 v:int4 lse",
                                     "f16 b2 h4/2 q3 k40 d80/40 k:int8:32z v:int4:16z o:f32",
                                     "bf16 b1 h4/2 q3 k40 d7 k:int8:1z",
                                     "f32 b1 h2 q1 k4096 d128/96 k:q8_0 v:q4_0 o:f16 splits3",
                                     "f32 b3 h2 q20 k31 d64 varlen k:q4_0 v:int8:48 kvlen:3,40,25",
                                     "f32 b0 h2 q3 k4 d5",
                                     "f32 b1 h2 q0 k4 d5",
                                     "f32 b1 h2 q3 k0 d5 causal lse",
                                     "f32 b2 h2 q20 k30 d5 qlen:20,3 kvlen:30,7 kvstart:4,9",
                                     "f32 b2 h2 q20 k30 d5 causal qlen:20,3 kvlen:30,7 kvstart:4,9",
                                     "f32 b2 h2 q20 k30 d5 causal kvlen:30,7 kvstart:29,2",
                                     "f32 b2 h2 q20 k30 d5 window3,4",
                                     "f32 b2 h2 q20 k30 d5 window0,0 off7",
                                     "f32 b2 h2 q20 k30 d5 window-1,4 off-9",
                                     "f32 b2 h2 q20 k30 d5 window1000,-1",
                                     "f32 b2 h2 q20 k30 d5 window-1,-1",
                                     "f32 b2 h2 q30 k20 d5 causal window5,9",
                                     "f32 b3 h4/2 q20 k30 d5 varlen lse",
                                     "f32 b3 h2 q20 k31 d5 varlen causal window5,-1 kvlen:3,40,25",
                                     "f32 b2 h4/2 q3 k10 d7/5 bwd",
                                     "f16 b1 h4/1 q7 k9 d8/24 causal o:f32 bwd",
                                     "bf16 b1 h2 q7 k9 d8/24 k:f32 v:f16 lse bwd",
                                     "f64 b3 h2 q20 k31 d5/6 varlen window5,-1 bwd",
                                     "f32 b1 h2 q20 k30 d5 bias:11qk mask:11qk alibi sink softcap5 mod:causal" };

static void check_random(unsigned i)
{
    static const char *const causal[] = { "", " causal", " causal-tl", " causal off" };
    char text[256], off[16] = "";
    unsigned how = (unsigned)(trial_hash(i, 0, 0) % 4);
    int q = (int)(trial_hash(i, 1, 0) % 40), k = (int)(trial_hash(i, 2, 0) % 40);
    if (how == 3)
        snprintf(off, sizeof off, "%d", (int)(trial_hash(i, 3, 0) % 100) - 50);
    snprintf(text, sizeof text, "f32 b2 h3 q%d k%d d5/3%s%s qlen:%d,%d kvlen:%d,%d kvstart:%d,%d", q, k, causal[how],
             off, (int)(trial_hash(i, 4, 0) % (unsigned)(q + 1)), q, (int)(trial_hash(i, 5, 0) % (unsigned)(k + 1)), k,
             (int)(trial_hash(i, 6, 0) % (unsigned)(k + 1)), (int)(trial_hash(i, 7, 0) % (unsigned)(k + 1)));
    check(text);
}

/* Too large to count pair by pair, but a triangle is a triangle. */
static void check_large(void)
{
    clattn_workload c;
    double flops = 0, bytes = 0, n = 1073741824;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    ok(!clattn_workload_parse("f32 b1 h1 q1073741824 k1073741824 d1 causal", &c, NULL, 0) &&
           !clattn_workload_cost(&c, &flops, &bytes) && flops == 4 * (n / 2 * (n + 1)) && bytes == 16 * n,
       "the largest triangle (%.0f flops, %.0f bytes)", flops, bytes);
}

/* A case of a newer header, whose problem is longer too: what this library does not know is zero. */
static void check_longer(void)
{
    static const char text[] = "f16 b2 h8/2 q33 k70 d64 causal lse";
    struct longer {
        clattn_workload c;
        char more[40];
    } *l = calloc(1, sizeof *l); /* on the heap: reading past its end is noticed */
    char printed[128] = "";
    double flops = 0, bytes = 0, same_flops = 1, same_bytes = 1;
    if (!l)
        bail("no memory");
    l->c.struct_size = sizeof l->c;
    if (clattn_workload_parse(text, &l->c, NULL, 0) || clattn_workload_cost(&l->c, &same_flops, &same_bytes))
        bail("no case");
    l->c.struct_size = sizeof *l;
    l->c.problem.struct_size += sizeof l->more;
    is_int(clattn_workload_print(&l->c, printed, sizeof printed, NULL), CL_SUCCESS, "a longer case is printed");
    is_str(printed, text, "as it is");
    ok(!clattn_workload_cost(&l->c, &flops, &bytes) && flops == same_flops && bytes == same_bytes,
       "and costs the same");
    l->more[39] = 1;
    is_int(clattn_workload_print(&l->c, printed, sizeof printed, NULL), CLATTN_ERROR_UNKNOWN_FIELD,
           "a tail that is not zero is refused");
    is_int(clattn_workload_cost(&l->c, &flops, &bytes), CLATTN_ERROR_UNKNOWN_FIELD, "by both");
    free(l);
}

/* A case as parse makes it, or bails. */
static clattn_workload read_case(const char *text)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    if (clattn_workload_parse(text, &c, NULL, 0))
        bail("no case: %s", text);
    return c;
}

/* What is said entry by entry is said of so many entries: more have no place, whatever the problem is. */
static void check_lists(void)
{
    static const struct {
        uint32_t flags;
        const char *what;
        int listed;
    } rows[] = { { CLATTN_Q_LEN, "lengths of queries", 1 }, { CLATTN_KV_LEN, "lengths of keys", 1 },
                 { CLATTN_KV_START, "first keys", 1 },      { CLATTN_CU_Q, "packed queries", 1 },
                 { CLATTN_CU_K, "packed keys", 1 },         { CLATTN_SINKS | CLATTN_ALIBI, "nothing of the kind", 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int b = CLATTN_LIST_MAX; b <= CLATTN_LIST_MAX + 1; b++) {
            clattn_workload c = read_case("f32 b1 h2 q1 k7 d5");
            double flops = -1, bytes = -1, pairs = 0;
            char text[4096] = "";
            c.problem.sizes.b = b;
            c.problem.flags = rows[i].flags;
            for (int k = 0; k < CLATTN_LIST_MAX; k++)
                c.q_len[k] = 1, c.kv_len[k] = k % 9, c.kv_start[k] = k % 3;
            for (int64_t k = 0; k < b; k++) {
                const int64_t at = k < CLATTN_LIST_MAX ? k : 0, nk = (7 * (k + 1) + b - 1) / b;
                const int64_t begin = rows[i].flags & CLATTN_KV_START ? at % 3 : 0,
                              end = rows[i].flags & CLATTN_KV_LEN ? at_most(at % 9, 7)
                                    : rows[i].flags & CLATTN_CU_K ? nk
                                                                  : 7;
                c.problem.sizes.total_q += rows[i].flags & CLATTN_CU_Q ? (k + b) / b : 0;
                c.problem.sizes.total_k += rows[i].flags & CLATTN_CU_K ? nk : 0;
                pairs += end > begin ? (double)(end - begin) : 0;
            }
            const cl_int e = clattn_workload_cost(&c, &flops, &bytes);
            if (!rows[i].listed || b == CLATTN_LIST_MAX) {
                ok(!e && flops == 2 * 2 * 10 * pairs, "%s of %d entries: %.0f flops", rows[i].what, b, flops);
            } else {
                is_int(e, CLATTN_ERROR_INVALID_ARGUMENT, "%s of %d entries", rows[i].what, b);
                ok(flops == -1 && bytes == -1, "cost nothing that could be told");
                is_int(clattn_workload_print(&c, text, sizeof text, NULL), CLATTN_ERROR_INVALID_ARGUMENT,
                       "nor printed");
            }
        }
}

/* Lengths and offsets beyond all that there is. */
static void check_clamped(void)
{
    static const struct {
        int32_t q_len, kv_len, kv_start;
        int64_t offset;
        double pairs; /* of 20 queries and 30 keys, causal */
    } rows[] = { { 20, 30, 0, INT64_MAX, 600 },
                 { 20, 30, 0, INT64_MIN, 0 },
                 { 20, 30, 0, INT64_C(1) << 32, 600 },
                 { 20, 30, 0, -(INT64_C(1) << 32), 0 },
                 { INT32_MIN, 30, 0, 0, 0 },
                 { INT32_MAX, 30, 0, INT64_MAX, 600 },
                 { 20, INT32_MIN, 0, INT64_MAX, 0 },
                 { 20, INT32_MAX, 0, INT64_MAX, 600 },
                 { 20, 30, INT32_MIN, INT64_MAX, 600 },
                 { 20, 30, INT32_MAX, INT64_MAX, 0 },
                 { 20, 30, 29, 0, 0 },
                 { 20, 30, 29, 10, 1 },
                 { -1, 31, -1, 9, 0 },
                 { 21, 31, -1, 9, 390 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (int window = 0; window < 2; window++) {
            clattn_workload c = read_case("f32 b1 h1 q20 k30 d1 causal off0");
            double flops = -1, bytes = -1;
            c.problem.flags |= CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START | (window ? CLATTN_WINDOW : 0);
            c.problem.causal = !window;
            c.problem.window_left = window ? -1 : 0; /* the same said otherwise */
            c.q_len[0] = rows[i].q_len;
            c.kv_len[0] = rows[i].kv_len;
            c.kv_start[0] = rows[i].kv_start;
            c.problem.sizes.offset = rows[i].offset;
            if (window && (rows[i].offset > INT32_MAX || rows[i].offset < INT32_MIN))
                c.problem.window_right = 7; /* that much farther, or less far, makes no difference */
            ok(!clattn_workload_cost(&c, &flops, &bytes) && flops == 4 * rows[i].pairs,
               "row %d, %s: %.0f pairs, want %.0f", (int)i, window ? "window" : "causal", flops / 4, rows[i].pairs);
        }
}

int main(void)
{
    clattn_workload c;
    double x;
    unsigned i;
    for (i = 0; i < sizeof fixed / sizeof *fixed; i++)
        check(fixed[i]);
    for (i = 0; i < 100; i++)
        check_random(i);
    check_large();
    check_longer();
    check_lists();
    check_clamped();
    memset(&c, 0, sizeof c);
    ok(clattn_workload_cost(NULL, &x, &x) != CL_SUCCESS, "NULL is refused");
    ok(clattn_workload_cost(&c, &x, &x) != CL_SUCCESS, "a struct without struct_size is refused");
    return done_testing();
}
