/* merge.c - partial results merged: any number of them, any order, brackets, strides and way of writing LSE
 * SPDX-License-Identifier: Apache-2.0
 *
 * Engines cpu and row merge in work-groups of one item, the others in trees of many: every test meets both kinds, and
 * types take turns with them; CLATTN_PART=1: all. */
#include "config.h"

#include "tests/lib/bad.h"
#include "tests/lib/each.h"
#include "tests/lib/states.h"

#include <math.h>

static const char *const engines[] = { "row", "simt", "cpu w4,nv2,rk2,rd2,bk16", "naive" };
enum { SIMT = 1, ENGINES = sizeof engines / sizeof *engines };

/* Random parts ask less of a merge than the promise has, as forward calls do. */
static const double usual = 0.25;

/* A plan, or NULL where the device lacks the type. */
static clattn_plan plan_for(const struct device *d, const char *text, const char *engine, clattn_problem *p)
{
    const clattn_workload c = each_case(text);
    clattn_plan plan = NULL;
    char why[512] = "";
    *p = c.problem;
    const cl_int e = harness_plan(d, p, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, p, engine))
        return NULL;
    if (e)
        bail("%s, %s: %s", text, engine, why);
    return plan;
}

static int merge(const struct device *d, clattn_plan plan, struct states *s, double share, char *why, size_t len)
{
    const cl_int e = states_run(s, plan, d->queue);
    if (e)
        harness_words(d->handle, e, why, len);
    return !e && states_verify(s, d->queue, share, why, len);
}

/* Made, merged and judged. */
static int is_right(const struct device *d, clattn_plan plan, const clattn_problem *p, const int64_t n[3],
                    int64_t parts, enum states_layout layout, uint32_t flags, char *why, size_t len)
{
    struct states s;
    const cl_int e = states_make(&s, d->cl.context, p, n, parts, layout, flags, (uint64_t)parts);
    if (e)
        snprintf(why, len, "no states: %s", clattn_status_string(e));
    const int good = !e && merge(d, plan, &s, usual, why, len);
    states_free(&s);
    return good;
}

/* ---- How many, of which type ---- */

static void test_counts(const struct device *d, const char *text, const char *engine)
{
    static const int64_t counts[] = { 0, 1, 2, 3, 4, 5, 7, 8, 15, 16, 17, 63, 64, 65, 130, 513, 1000 };
    static const int64_t sizes[][3] = { { 2, 3, 5 }, { 1, 1, 1 }, { 1, 2, 17 } };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, text, engine, &p);
    char why[512] = "";
    int64_t wrong = -1;
    if (!plan) {
        skip("%s: not here", text);
        return;
    }
    const int64_t most = p.dv > 64 ? 65 : 1000; /* wide ones take long to make up */
    for (size_t i = 0; i < sizeof counts / sizeof *counts && wrong < 0 && counts[i] <= most; i++)
        if (!is_right(d, plan, &p, sizes[i % 3], counts[i], (enum states_layout)(i % STATES_LAYOUTS), 0, why,
                      sizeof why))
            wrong = counts[i];
    if (!ok(wrong < 0, "%s, %s: 0 to %d parts: %s", d->name, engine, (int)most, text))
        diag("%lld parts: %s", (long long)wrong, why);
}

static void test_types(const struct device *d)
{
    static const char *const texts[] = { "f32 b1 h1 q1 k1 d16/1",  "f16 b1 h1 q1 k1 d16/20", "bf16 b1 h1 q1 k1 d16/33",
                                         "f64 b1 h1 q1 k1 d16/21", "f32 b1 h1 q1 k1 d16/64", "f32 b1 h1 q1 k1 d16/130",
                                         "f16 b1 h1 q1 k1 d16/65 o:f32", "f32 b1 h1 q1 k1 d16/576" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        for (size_t e = 0; e < ENGINES; e++)
            if (harness_turn((unsigned)(i + e), (i + e) % (e < 2 ? 4 : 8) == 0 && (e != SIMT || i == 1)))
                test_counts(d, texts[i], engines[e]);
}

/* ---- Flags and strides ---- */

static void test_flags(const struct device *d, const char *engine)
{
    static const int64_t n[3] = { 2, 2, 5 };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/12", engine, &p);
    char why[512] = "";
    int wrong = -1;
    for (int flags = 0; flags < 16 && wrong < 0; flags++)
        for (int layout = 0; layout < STATES_LAYOUTS && wrong < 0; layout++)
            if (!is_right(d, plan, &p, n, 9, (enum states_layout)layout, (uint32_t)flags, why, sizeof why))
                wrong = flags;
    if (!ok(wrong < 0, "%s, %s: all ways to write LSE, all layouts", d->name, engine))
        diag("flags %d: %s", wrong, why);
}

/* A stride of 0 from part to part repeats one of them: n times the weight, and the same mean. */
static void test_repeated(const struct device *d, const char *engine)
{
    static const int64_t n[3] = { 1, 2, 3 };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/12", engine, &p);
    struct states s;
    char why[512] = "";
    cl_int e = states_make(&s, d->cl.context, &p, n, 5, STATES_INSIDE, 0, 3);
    for (int64_t part = 1; part < 5 && !e; part++) {
        memcpy(s.o + part * 6 * s.dv, s.o, 6 * (size_t)s.dv * sizeof *s.o);
        memcpy(s.lse + part * 6, s.lse, 6 * sizeof *s.lse);
    }
    s.args.o_parts_stride = s.args.lse_parts_stride = 0;
    ok(!e && merge(d, plan, &s, usual, why, sizeof why), "%s, %s: one part five times: %s", d->name, engine, why);
    states_free(&s);
}

/* Without LSE, and of no rows. */
static void test_nothing(const struct device *d, const char *engine)
{
    static const int64_t n[3] = { 2, 1, 3 }, none[][3] = { { 0, 2, 3 }, { 2, 2, 0 } };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/12", engine, &p);
    struct states s;
    char why[512] = "";
    cl_int e = states_make(&s, d->cl.context, &p, n, 4, STATES_ROWS, 0, 3);
    s.args.lse.mem = NULL;
    ok(!e && merge(d, plan, &s, usual, why, sizeof why), "%s, %s: LSE is not wanted: %s", d->name, engine, why);
    states_free(&s);
    for (int i = 0; i < 2; i++)
        ok(is_right(d, plan, &p, none[i], 3, STATES_PLAIN, 0, why, sizeof why), "%s, %s: no rows: %s", d->name, engine,
           why);
}

/* ---- Many ---- */

/* Thousands of parts, all alike but for the last bits of O, which is of one sign: chains of sums would lose far more
 * than is promised. And so many that their places are beyond those of a chain of chains. */
static void test_many(const struct device *d, const char *engine, int64_t parts)
{
    static const int64_t n[3] = { 1, 1, 2 };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/5", engine, &p);
    struct states s;
    char why[512] = "";
    cl_int e = states_make(&s, d->cl.context, &p, n, parts, STATES_PLAIN, 0, 3);
    for (int64_t i = 0; i < parts * 2 && !e; i++) {
        s.lse[i] = 0.25;
        for (int64_t c = 0; c < s.dv; c++)
            s.o[i * s.dv + c] = c ? 0.9 + 0.1 * (double)(trial_hash(1, 2, (uint64_t)(i * s.dv + c)) % 1000) / 1000
                                  : 0.95; /* each sum is rounded as the one before */
    }
    e = e ? e : states_store(&s, d->queue);
    ok(!e && merge(d, plan, &s, usual, why, sizeof why), "%s, %s: %lld parts of one sign: %s", d->name, engine,
       (long long)parts, why);
    states_free(&s);
}

/* One part that rises above all others, first, last and in between; and one that is far below. */
static void test_far(const struct device *d, const char *engine)
{
    static const int64_t n[3] = { 1, 1, 1 };
    static const double heights[] = { 30, 300, 1e30, -300, -1e30 };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/5", engine, &p);
    char why[512] = "";
    int wrong = 0;
    for (int i = 0; i < 15 && !wrong; i++) {
        struct states s;
        cl_int e = states_make(&s, d->cl.context, &p, n, 200, STATES_INSIDE, 0, 3);
        const int64_t place = i % 3 == 0 ? 0 : i % 3 == 1 ? 199 : 77;
        for (int64_t c = 0; c < s.dv && !e; c++)
            s.o[place * s.dv + c] = (double)(c + 1);
        if (!e)
            s.lse[place] = heights[i / 3];
        e = e ? e : states_store(&s, d->queue);
        wrong = e || !merge(d, plan, &s, usual, why, sizeof why) ? i + 1 : 0;
        states_free(&s);
    }
    ok(!wrong, "%s, %s: a part far above or below all others: %d %s", d->name, engine, wrong, why);
}

/* ---- What is promised ---- */

/* One part that outweighs others by nearly all that float goes down, which have values as large: those may be lost. LSE
 * of 1e6 beside one another, too. */
static const struct {
    const char *name;
    double lse, others, o;
} far_apart[] = { { "parts below 2^-126", 0, -88, 1e36 },
                  { "parts of 2^-126 and above", 0, -87, 1e36 },
                  { "all of 1e6", 1e6, 999999.3, -1 },
                  { "all of -1e30", -1e30, -1e30, -1 } };

static void test_far_apart(const struct device *d, const char *engine)
{
    static const int64_t n[3] = { 1, 1, 2 };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/5", engine, &p);
    for (size_t i = 0; i < sizeof far_apart / sizeof *far_apart; i++) {
        struct states s;
        char why[512] = "";
        cl_int e = states_make(&s, d->cl.context, &p, n, 33, STATES_INSIDE, 0, 3);
        for (int64_t at = 0; at < 33 * 2 && !e; at++) {
            s.lse[at] = at < 2 ? far_apart[i].lse : far_apart[i].others;
            for (int64_t c = 0; c < s.dv; c++)
                s.o[at * s.dv + c] = at < 2 ? (far_apart[i].o < 0 ? 1 : 0) : far_apart[i].o;
        }
        e = e ? e : states_store(&s, d->queue);
        const int good = !e && merge(d, plan, &s, 0, why, sizeof why);
        ok(good, "%s, %s: %s: %s (%.3f of the bound)", d->name, engine, far_apart[i].name, why, s.part);
        states_free(&s);
    }
}

/* O of a part is off by all that it is, and storing the result adds to that. */
static void test_all_off(const struct device *d, const char *engine)
{
    enum { DV = 5, VALUES = 2 * DV };
    static const int64_t n[3] = { 1, 1, 2 };
    static const double none[VALUES];
    double off[VALUES];
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/5 o:bf16", engine, &p);
    struct states s;
    char why[512] = "";
    cl_int e = states_make(&s, d->cl.context, &p, n, 1, STATES_INSIDE, 0, 3);
    for (int i = 0; i < VALUES && !e; i++) {
        s.o[i] = off[i] = 1.0 + 0x1p-8; /* which bf16 has no room for: 1 or 1 + 2^-7 */
        s.lse[i / DV] = 0;
    }
    for (int i = 0; i < VALUES && !e; i += 2)
        s.o[i] = off[i] = 1.0 + 0x3p-8;
    e = e ? e : states_store(&s, d->queue);
    s.exact_o = none;
    s.o_off = off;
    s.exact_lse = s.lse;
    s.lse_off = none;
    const int good = !e && merge(d, plan, &s, 0, why, sizeof why);
    ok(good, "%s, %s: a part that is nothing but error: %s %s (%.3f of the bound)", d->name, engine,
       clattn_status_string(e), why, s.part);
    states_free(&s);
}

/* O and LSE of keys [first, end) of a trial as part number `at`, and what float64 says of them. */
static cl_int take_keys(const struct device *d, clattn_plan plan, struct trial *t, int64_t first, int64_t end,
                        struct states *to, int64_t at, struct truth *exact)
{
    const int64_t rows = tensor_count(&t->lse);
    const clattn_forward_args whole = t->args;
    clattn_sizes sizes = t->sizes;
    int32_t begins = (int32_t)first, ends = (int32_t)end;
    struct reference r = trial_problem(t);
    char why[256];
    sizes.nk = end - first;
    t->args.sizes = &sizes;
    t->args.k.offset = tensor_at(&t->k, 0, 0, first);
    t->args.v.offset = tensor_at(&t->v, 0, 0, first);
    const int ran = harness_fetch(d, t, plan, why, sizeof why);
    t->args = whole;
    if (!ran)
        return CLATTN_ERROR_WRONG_RESULT;
    memcpy(to->o + at * rows * t->dv, t->o.value, (size_t)(rows * t->dv) * sizeof *to->o);
    memcpy(to->lse + at * rows, t->lse.value, (size_t)rows * sizeof *to->lse);
    r.kv_start = &begins;
    r.kv_len = &ends;
    t->demand = PROMISED;
    return trial_truth(t, &r, exact, NULL) ? CL_OUT_OF_HOST_MEMORY : CL_SUCCESS;
}

/* Lets states know what their two parts are exactly. to: room for four arrays of each. */
static void tell_exact(struct states *s, const struct truth x[2], double *to)
{
    const size_t rows = (size_t)(s->n[0] * s->n[1] * s->n[2]), values = rows * (size_t)s->dv;
    double *const o = to, *const off = o + 2 * values, *const lse = off + 2 * values, *const lse_off = lse + 2 * rows;
    for (size_t i = 0; i < 2; i++) {
        memcpy(o + i * values, x[i].o, values * sizeof *o);
        memcpy(off + i * values, x[i].o_bound, values * sizeof *o);
        memcpy(lse + i * rows, x[i].lse, rows * sizeof *o);
        memcpy(lse_off + i * rows, x[i].lse_bound, rows * sizeof *o);
    }
    s->exact_o = o;
    s->o_off = off;
    s->exact_lse = lse;
    s->lse_off = lse_off;
}

/* Halves of the keys of a forward call, each computed alone and then merged: what their LSE is off counts, which is far
 * more than its size says where products cancel. */
static void test_halves(const struct device *d, const char *engine, const char *name, int width)
{
    enum { KEYS = 200, ROWS = 6, DV = 40 };
    static const int64_t n[3] = { 1, 2, 3 };
    static double room[4 * ROWS * (DV + 1)];
    const struct bad *bad = bads;
    char text[128], why[512] = "";
    struct truth x[2];
    struct states s;
    struct trial t;
    clattn_problem p;
    memset(x, 0, sizeof x);
    while (strcmp(bad->name, name) != 0)
        bad++;
    snprintf(text, sizeof text, "f32 b1 h2/1 q3 k%d d%d/%d %s", KEYS, width, DV, bad->words);
    const clattn_workload c = each_case(text);
    const clattn_plan plan = plan_for(d, text, engine, &p);
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    e = e ? e : bad_fill(bad, &t, d->queue);
    const cl_int made = states_make(&s, d->cl.context, &p, n, 2, STATES_ROWS, 0, 1);
    e = e ? e : made;
    for (int i = 0; i < 2 && !e; i++)
        e = take_keys(d, plan, &t, i * KEYS / 2, (i + 1) * KEYS / 2, &s, i, &x[i]);
    e = e ? e : states_store(&s, d->queue);
    if (!e)
        tell_exact(&s, x, room);
    const int good = !e && merge(d, plan, &s, 0, why, sizeof why);
    ok(good, "%s, %s: halves, %s: %s %s (%.3f of the bound)", d->name, engine, name, clattn_status_string(e), why,
       s.part);
    truth_free(&x[0]);
    truth_free(&x[1]);
    states_free(&s);
    trial_free(&t);
}

/* ---- Order and brackets ---- */

/* Parts of `all` from `first` on, every step-th, `count` of them. */
static cl_int take_parts(struct states *to, const struct device *d, const clattn_problem *p, const struct states *all,
                         const int *order, int64_t first, int64_t count)
{
    const int64_t rows = all->n[0] * all->n[1] * all->n[2];
    const cl_int e = states_make(to, d->cl.context, p, all->n, count, STATES_ROWS, 0, 1);
    for (int64_t i = 0; i < count && !e; i++) {
        const int64_t from = order[first + i];
        memcpy(to->o + i * rows * to->dv, all->o + from * rows * to->dv, (size_t)(rows * to->dv) * sizeof *to->o);
        memcpy(to->lse + i * rows, all->lse + from * rows, (size_t)rows * sizeof *to->lse);
    }
    return e ? e : states_store(to, d->queue);
}

/* What a merge has left, as part number `at` of other states, which are not stored yet. */
static void hand_over(const struct device *d, struct states *from, struct states *to, int64_t at)
{
    const int64_t first = at * from->n[0] * from->n[1] * from->n[2];
    if (!states_take(from, d->queue, to->o + first * to->dv, to->lse + first))
        bail("no results");
}

/* Parts in a random order, in random groups, each merged and then all of them: as right as a single merge is, with what
 * two levels of merges may add. */
static void test_brackets(const struct device *d, const char *engine)
{
    enum { PARTS = 23 };
    static const int64_t n[3] = { 1, 2, 5 };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/12", engine, &p);
    char why[512] = "";
    int wrong = 0;
    for (uint64_t seed = 1; seed <= 8 && !wrong; seed++) {
        struct states all, groups, some;
        int order[PARTS], sizes[PARTS], count = 0;
        for (int i = 0; i < PARTS; i++) {
            const int j = (int)(trial_hash(seed, 5, (uint64_t)i) % (uint64_t)(i + 1));
            order[i] = order[j];
            order[j] = i;
        }
        for (int left = PARTS; left; left -= sizes[count++])
            sizes[count] = 1 + (int)(trial_hash(seed, 6, (uint64_t)left) % (uint64_t)(left < 6 ? left : 6));
        cl_int e = states_make(&all, d->cl.context, &p, n, PARTS, STATES_PLAIN, 0, seed);
        e = e ? e : states_make(&groups, d->cl.context, &p, n, count, STATES_INSIDE, 0, seed);
        for (int g = 0, first = 0; g < count && !e; first += sizes[g++]) {
            e = take_parts(&some, d, &p, &all, order, first, sizes[g]);
            if (!e && !merge(d, plan, &some, usual, why, sizeof why))
                e = CLATTN_ERROR_WRONG_RESULT;
            if (!e)
                hand_over(d, &some, &groups, g);
            states_free(&some);
        }
        e = e ? e : states_store(&groups, d->queue);
        e = e ? e : states_run(&groups, plan, d->queue);
        wrong = e || !states_verify_as(&groups, &all, d->queue, 2 * usual, why, sizeof why);
        states_free(&all);
        states_free(&groups);
    }
    ok(!wrong, "%s, %s: any order, any brackets: %s", d->name, engine, why);
}

/* ---- What no forward call leaves ---- */

/* LSE that is +inf or NaN: anything may come of these rows, but others are right and nothing else is written. */
static void test_unsound(const struct device *d, const char *engine)
{
    static const int64_t n[3] = { 1, 2, 4 };
    clattn_problem p;
    const clattn_plan plan = plan_for(d, "f32 b1 h1 q1 k1 d8/12", engine, &p);
    struct states s;
    cl_int e = states_make(&s, d->cl.context, &p, n, 40, STATES_INSIDE, 0, 3);
    for (int64_t i = 0; i < 40 && !e; i++) {
        s.lse[i * 8] = i % 3 ? (double)INFINITY : (double)NAN;
        s.lse[i * 8 + 5] = i == 7 ? (double)NAN : s.lse[i * 8 + 5];
    }
    e = e ? e : states_store(&s, d->queue);
    e = e ? e : states_run(&s, plan, d->queue);
    ok(!e && states_are_kept(&s, d->queue), "%s, %s: LSE of NaN and +inf write nothing elsewhere: %s", d->name, engine,
       clattn_status_string(e));
    states_free(&s);
}

static void test_device(const struct device *d)
{
    harness_unoptimised();
    test_types(d);
    for (size_t e = 0; e < ENGINES; e++) {
        if (!harness_turn((unsigned)e, !e))
            continue;
        test_flags(d, engines[e]);
        test_repeated(d, engines[e]);
        test_nothing(d, engines[e]);
        test_many(d, engines[e], 5000);
        test_many(d, engines[e], 70000);
        test_far(d, engines[e]);
        test_far_apart(d, engines[e]);
        test_all_off(d, engines[e]);
        test_halves(d, engines[e], "products that cancel, d64", 64);
        test_halves(d, engines[e], "scores of 1e6", 64);
        test_halves(d, engines[e], "a large product first", 64);
        test_brackets(d, engines[e]);
        test_unsound(d, engines[e]);
    }
}

int main(void)
{
    return each_device(test_device);
}
