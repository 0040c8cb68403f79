/* invariant.c - CLATTN_BATCH_INVARIANT: a row has the same bits in every call that has it
 * SPDX-License-Identifier: Apache-2.0
 *
 * A batch is judged by float64. Then the same plan computes each of its entries alone, with no more keys than that has;
 * of each entry a row alone; and one key head's query heads alone. The inputs stay where they are: only offsets
 * and sizes of the call differ. make check has about half of the rows, each on one engine; CLATTN_PART=1: all on all.
 */
#include "config.h"

#include "tests/lib/each.h"

/* Axis `axis` of what goes with scores or scales keeps its n cells from `first` on; broadcast ones stay. */
static void cut4(clattn_tensor4 *x, int axis, int64_t first, int64_t n)
{
    if (!x->mem || x->shape[axis] == 1)
        return;
    x->offset += (size_t)(first * x->stride[axis]);
    x->shape[axis] = n;
}

/* ---- Parts of a call ---- */

/* Keys from 0 to nk - 1. */
static void cut_keys(clattn_forward_args *a, clattn_sizes *s, const clattn_problem *p, int64_t nk)
{
    clattn_tensor4 *const scales[] = { &a->k_scale, &a->k_zero, &a->v_scale, &a->v_zero };
    s->nk = nk;
    cut4(&a->mask, 3, 0, nk);
    cut4(&a->bias, 3, 0, nk);
    if (a->block_map.mem)
        cut4(&a->block_map, 3, 0, (nk + a->block_k - 1) / a->block_k);
    for (int i = 0; i < 4 && !p->page; i++)
        cut4(scales[i], 2, 0, nk);
}

static void cut_entry(clattn_forward_args *a, clattn_sizes *s, const clattn_problem *p, int64_t b)
{
    clattn_array *const lists[] = { &a->q_len, &a->kv_len, &a->kv_start, &a->offsets, &a->cu_q, &a->cu_k };
    clattn_tensor4 *const scores[] = { &a->mask, &a->bias, &a->block_map };
    clattn_tensor4 *const scales[] = { &a->k_scale, &a->k_zero, &a->v_scale, &a->v_zero };
    clattn_tensor *const rows[] = { &a->q, &a->o, &a->lse }, *const caches[] = { &a->k, &a->v };
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        lists[i]->offset += (size_t)b;
    for (int i = 0; i < 3 && !(p->flags & CLATTN_CU_Q); i++)
        rows[i]->offset += (size_t)(b * rows[i]->stride[0]);
    for (int i = 0; i < 2 && !(p->flags & CLATTN_CU_K) && !p->page; i++)
        caches[i]->offset += (size_t)(b * caches[i]->stride[0]);
    for (int i = 0; i < 3; i++)
        cut4(scores[i], 0, b, 1);
    for (int i = 0; i < 4 && !p->page; i++)
        cut4(scales[i], 0, b, 1);
    if (p->page)
        a->block_table.offset += (size_t)(b * a->block_table_stride);
    a->slopes.offset += (size_t)(b * a->slopes_stride);
    s->b = 1;
}

/* The query heads of one key head. */
static void cut_head(clattn_forward_args *a, clattn_sizes *s, int64_t kh)
{
    clattn_tensor4 *const scores[] = { &a->mask, &a->bias, &a->block_map };
    clattn_tensor4 *const scales[] = { &a->k_scale, &a->k_zero, &a->v_scale, &a->v_zero };
    clattn_tensor *const rows[] = { &a->q, &a->o, &a->lse }, *const caches[] = { &a->k, &a->v };
    const int64_t ratio = s->h / s->hk;
    for (int i = 0; i < 3; i++)
        rows[i]->offset += (size_t)(kh * ratio * rows[i]->stride[1]);
    for (int i = 0; i < 2; i++)
        caches[i]->offset += (size_t)(kh * caches[i]->stride[1]);
    for (int i = 0; i < 3; i++)
        cut4(scores[i], 1, kh * ratio, ratio);
    for (int i = 0; i < 4; i++)
        cut4(scales[i], 1, kh, 1);
    a->sinks.offset += (size_t)(kh * ratio);
    a->slopes.offset += (size_t)(kh * ratio);
    s->h = ratio;
    s->hk = 1;
}

static void cut_row(clattn_forward_args *a, clattn_sizes *s, int64_t q)
{
    clattn_tensor4 *const scores[] = { &a->mask, &a->bias };
    clattn_tensor *const rows[] = { &a->q, &a->o, &a->lse };
    for (int i = 0; i < 3; i++)
        rows[i]->offset += (size_t)(q * rows[i]->stride[2]);
    for (int i = 0; i < 2; i++)
        cut4(scores[i], 2, q, 1);
    if (a->block_map.mem)
        cut4(&a->block_map, 2, q / a->block_q, 1);
    s->nq = 1;
}

/* ---- Comparing ---- */

/* Rows of O and LSE as a call leaves them; no two numbers are alike, but zeros of either sign. */
struct bits {
    double *o, *lse;
};

/* Rows of an entry. */
struct of {
    int64_t b, h0, h1, q0, q1;
};

/* Whether they are the same now. */
static int is_same(const struct trial *t, const struct bits *of, const struct of *x)
{
    int same = 1;
    for (int64_t h = x->h0; h < x->h1; h++)
        for (int64_t q = x->q0; q < x->q1; q++) {
            const double *const o = tensor_row(&t->o, x->b, h, q), *const lse = tensor_row(&t->lse, x->b, h, q);
            const double *const o_of = of->o + (o - t->o.value), *const lse_of = of->lse + (lse - t->lse.value);
            same = same && (*lse == *lse_of || (*lse != *lse && *lse_of != *lse_of));
            for (int64_t i = 0; i < t->dv; i++)
                same = same && o[i] == o_of[i];
        }
    return same;
}

struct whole {
    const struct device *d;
    clattn_plan plan;
    struct trial t;
    clattn_forward_args args; /* of the batch */
    struct bits bits;
};

/* Runs what is left of the call; whether it has the bits of the batch. */
static int again(struct whole *w, const clattn_forward_args *a, const clattn_sizes *s, const struct of *x)
{
    struct trial *const t = &w->t;
    char why[512] = "";
    t->args = *a;
    t->args.sizes = s;
    const int good = harness_fetch(w->d, t, w->plan, why, sizeof why) && is_same(t, &w->bits, x);
    if (!good)
        diag("b %lld, heads from %lld, queries from %lld: %s", (long long)x->b, (long long)x->h0, (long long)x->q0,
             why);
    t->args = w->args;
    return good;
}

static int check_entry(struct whole *w, int64_t b)
{
    const struct trial *const t = &w->t;
    const clattn_problem *const p = &t->c.problem;
    const int64_t h = t->sizes.h, ratio = h / t->sizes.hk, kh = b % t->sizes.hk, n = t->q_rows[b];
    const int64_t q = p->align == CLATTN_ALIGN_OFFSET ? 0 : n - 1; /* whose diagonal stays where it is */
    clattn_forward_args a = w->args;
    clattn_sizes s = t->sizes;
    cut_entry(&a, &s, p, b);
    cut_keys(&a, &s, p, t->kv_len[b] > 0 ? t->kv_len[b] : 1);
    int good = again(w, &a, &s, &(struct of){ b, 0, h, 0, n });
    if (!(p->flags & CLATTN_CU_Q)) {
        clattn_forward_args row = a;
        clattn_sizes one = s;
        cut_row(&row, &one, q);
        good = again(w, &row, &one, &(struct of){ b, 0, h, q, q + 1 }) && good;
    }
    cut_head(&a, &s, kh);
    return again(w, &a, &s, &(struct of){ b, kh * ratio, (kh + 1) * ratio, 0, n }) && good;
}

/* The second entry's keys from its first one on, in place of those from 0 on, with the lengths of the first entry. */
static int check_shift(struct whole *w)
{
    const struct trial *const t = &w->t;
    const int64_t from = t->kv_start[1];
    clattn_forward_args a = w->args;
    clattn_sizes s = t->sizes;
    cut_entry(&a, &s, &t->c.problem, 1);
    a.kv_len.offset--;
    a.kv_start.offset--;
    a.k.offset += (size_t)(from * a.k.stride[2]);
    a.v.offset += (size_t)(from * a.v.stride[2]);
    s.nk -= from;
    return t->kv_start[0] == 0 && t->kv_len[0] == t->kv_len[1] - from &&
           again(w, &a, &s, &(struct of){ 1, 0, s.h, 0, s.nq });
}

static int check_entries(struct whole *w)
{
    int good = 1;
    for (int64_t b = 0; b < w->t.sizes.b && good; b++)
        good = check_entry(w, b);
    return good;
}

static void check(const struct device *d, const char *text, const char *engine, int (*compare)(struct whole *))
{
    const clattn_workload c = each_case(text);
    struct whole w = { .d = d };
    char why[1024] = "";
    cl_int e = harness_plan(d, &c.problem, engine, &w.plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &c.problem, engine)) {
        skip("%s: %s: %s", engine, text, why);
        return;
    }
    e = e ? e : trial_make(&w.t, d->cl.context, &c, PADDED);
    e = e ? e : trial_run(&w.t, w.plan, d->queue);
    if (e)
        bail("%s, %s: %s %s", engine, text, clattn_status_string(e), why);
    int good = trial_verify(&w.t, d->queue, why, sizeof why);
    w.args = w.t.args;
    w.bits = (struct bits){ tensor_copy(&w.t.o), tensor_copy(&w.t.lse) };
    good = good && compare(&w);
    ok(good, "%s, %s: each row has the bits of the batch, %s: %s %s", d->name, engine,
       compare == check_shift ? "with its keys from 0 on too" : "alone too", text, why);
    free(w.bits.o);
    free(w.bits.lse);
    trial_free(&w.t);
}

/* ---- Problems ---- */

static const char *const engines[] = { "cpu w4,nv2,rk2,rd2,bk16", "row w4,nr2,rk2,rd2,bk16",
                                       "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", "naive wg32,bk8",
                                       "mma_emu nw2,rt1,bk16,qreg0" };
enum { ENGINES = sizeof engines / sizeof *engines };

/* Each row with the engine that runs it in make check, if any does. */
enum { CPU, ROW, SIMT, NAIVE, NONE = ENGINES };
static const struct {
    const char *text;
    size_t engine;
} rows[] = {
    { "f16 b4 h4/2 q5 k2600 d16 o:f32 causal kvlen:2600,700,1025,0 invariant lse", CPU }, /* one part to three */
    /* tiles that rows begin within, and blocks across tiles */
    { "f16 b3 h2/1 q9 k2500 d16 o:f32 window40,7 kvlen:2500,1999,30 invariant lse", NONE },
    { "f16 b2 h2 q40 k1600 d16 o:f32 mask:b1qk blocks:8,24 kvlen:1600,900 invariant lse", NAIVE },
    { "f16 b2 h2 q3 k500 d16 o:f32 kvlen:500,60 splits7 invariant lse", SIMT }, /* as many parts as are asked for */
    { "f32 b2 h1 q12 k34400 d4 causal off34303 kvlen:34400,33 invariant lse", ROW }, /* more than 32 parts of 1024 */
    { "f32 b2 h2 q4 k1300 d16 causal kvlen:1300,1200 kvstart:5,1100 alibi softcap9 invariant lse", NONE },
    { "f16 b3 h2 q6 k1500 d16 o:f32 varlen causal invariant lse", ROW },
    { "bf16 b2 h2/1 q2 k1100 d64/32 k:q8_0 v:q4_0 kvlen:1100,64 invariant lse", NONE },
    { "f16 b2 h4/1 q3 k1400 d32 o:f32 k:int8 v:int8 page16 kvlen:1400,90 causal sink invariant lse", ROW },
    { "f32 b2 h2 q3 k2100 d16 mask:b1qk kvlen:2100,300 invariant lse", NONE },
    { "f64 b2 h2/1 q3 k1200 d8 bias:b1qk kvlen:1200,33 invariant lse", NONE },
};

/* Most engines by one row or more; with CLATTN_PART each row by all. */
static void test_rows(const struct device *d)
{
    const size_t n = harness_flag("CLATTN_QUICK") ? 2 : sizeof rows / sizeof *rows;
    for (size_t i = 0; i < n; i++)
        for (size_t e = 0; e < ENGINES; e++) {
            const unsigned at = (unsigned)(i * ENGINES + e);
            if (harness_turn(at, e == rows[i].engine))
                check(d, rows[i].text, engines[e], check_entries);
        }
    static const char *const shifted[] = { /* more than 64 tiles in a part, and 2000 is no multiple of 64 tiles */
        "f32 b2 h2 q3 k4700 d8 kvlen:2700,4700 kvstart:0,2000 splits1 invariant lse",
        "f32 b2 h2 q3 k4700 d8 kvlen:2700,4700 kvstart:0,2000 splits2 invariant lse"
    };
    for (unsigned i = 0; i < 2 * ENGINES; i++)
        if (harness_turn(i, i % ENGINES == ROW))
            check(d, shifted[i / ENGINES], engines[i % ENGINES], check_shift);
}

/* ---- What goes with it ---- */

static void test_workspace(const struct device *d)
{
    static const char text[] = "f32 b1 h2 q3 k2500 d16/20 invariant lse";
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan small = NULL;
    struct fixture f;
    size_t size = 0;
    each_open_by(&f, d, text, "row", PADDED);
    ok(!clattn_workspace_size(f.plan, &f.t.args, &size), "a workspace can be asked for");
    enum { STATES = 3 * 2 * 3 * (20 + 1) * 4, UNIT = 32 }; /* of 3 parts of 2 heads of 3 rows */
    is_int((long long)size, (STATES + UNIT - 1) / UNIT * UNIT, "it has the states of three parts");
    each_refused(d, clattn_enqueue_forward(f.plan, d->queue, &f.t.args, 0, NULL, NULL), NULL, CLATTN_ERROR_WORKSPACE,
                 "workspace", "a call without a workspace");
    options.max_workspace = size - 1;
    options.config = "row";
    if (clattn_plan_create(&small, d->handle, &f.t.c.problem, &options))
        bail("no plan");
    is_int(clattn_workspace_size(small, &f.t.args, &size), CLATTN_ERROR_NOT_SUPPORTED,
           "a plan that allows less refuses the call in place of splitting it otherwise");
    clattn_plan_release(small);
    fixture_close(&f);
}

static void test_refused(const struct device *d)
{
    clattn_problem p = each_case("f32 b1 h2 q3 k250 d16").problem;
    char why[512] = "";
    p.flags |= CLATTN_BACKWARD | CLATTN_BATCH_INVARIANT;
    ok(clattn_supports(d->handle, &p, why, sizeof why) == CLATTN_ERROR_INVALID_ARGUMENT &&
           strstr(why, "CLATTN_BATCH_INVARIANT"),
       "gradients refuse it: %s", why);
}

static void test_device(const struct device *d)
{
    harness_unoptimised();
    test_rows(d);
    test_workspace(d);
    test_refused(d);
}

int main(void)
{
    return each_device(test_device);
}
