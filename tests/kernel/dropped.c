/* dropped.c - rows that see nothing, keys that must not surface, and those that must
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has a twelfth of the problems whose rows are emptied, with a sink or without, and asks most else of the
 * device's first choice; CLATTN_PART=1 or CLATTN_FULL=1: all. */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tests/lib/each.h"

#include <float.h>
#include <math.h>

/* ---- Rows that see nothing ---- */

/* By what, and how: some rows of each problem keep no key, and the verdict holds them to exactly 0 and -inf. */
static const struct {
    const char *what, *problem;
} emptied[] = {
    { "causal", "f32 b1 h2 q20 k9 d16 causal lse" },
    { "a far diagonal", "f32 b1 h2 q20 k9 d16 causal off-1000 lse" },
    { "a window", "f32 b1 h2 q20 k9 d16 window2,1 lse" },
    { "a window and causal", "f32 b1 h2 q9 k20 d16 causal window2,5 off-5 lse" },
    { "a mask", "f32 b1 h2 q90 k20 d16 mask:bhqk lse" },
    { "a mask of rows", "f32 b1 h2 q20 k9 d16 mask:11q1 lse" },
    { "a mask of keys", "f32 b1 h1 q20 k1 d16 mask:bhqk lse seed3" },
    { "a block map", "f32 b1 h2 q90 k40 d16 blocks:16,16 lse" },
    { "a block map of a mask", "f32 b1 h2 q90 k40 d16 mask:bhqk blocks:16,16 lse" },
    { "a bias of -inf", "f32 b1 h2 q300 k9 d16 bias:11q1 lse" },
    { "a score_mod", "f32 b1 h2 q20 k9 d16 mod:causal kvstart:5 lse" },
    { "a score_mod, where a bias is NaN", "f32 b1 h2 q20 k9 d16 mod:causal bias:bhqk kvstart:5 lse" },
    { "a score_mod of vectors", "f32 b1 h2 q20 k9 d16 mod:strided kvstart:8 lse" },
    { "q_len", "f32 b2 h2 q20 k9 d16 qlen:7,0 lse" },
    { "kv_len", "f32 b2 h2 q20 k9 d16 kvlen:9,0 lse" },
    { "kv_start", "f32 b2 h2 q20 k9 d16 kvstart:0,9 lse" },
    { "no keys at all", "f32 b2 h2 q20 k0 d16 lse" },
    { "sequences without keys", "f32 b3 h2 q20 k0 d16 varlen lse" },
    { "kv_len in varlen sequences", "f32 b3 h2 q20 k9 d16 varlen kvlen:0,9,1 kvstart:0,9,0 lse" },
};

static int64_t count_empty(const struct trial *t)
{
    int64_t row, n = 0;
    for (row = 0; row < tensor_count(&t->lse); row++)
        n += !t->sees[row] && row % t->sizes.nq < t->q_rows[row / t->sizes.nq / t->sizes.h];
    return n;
}

/* Rows that see nothing are exactly 0, and their LSE is -inf; with a sink its logit. */
static int exactly_empty(const struct trial *t)
{
    int64_t row, i;
    for (row = 0; row < tensor_count(&t->lse); row++) {
        const double sink = t->x.sinks ? t->x.sinks[row / t->sizes.nq % t->sizes.h] : -INFINITY;
        const double lse = t->lse.value[row];
        if (t->sees[row] || row % t->sizes.nq >= t->q_rows[row / t->sizes.nq / t->sizes.h])
            continue;
        if (lse != sink && !(fabs(lse - sink) <= 1e-5))
            return 0;
        for (i = 0; i < t->dv; i++)
            if (t->o.value[row * t->dv + i] != 0)
                return 0;
    }
    return 1;
}

static void test_emptied(const struct device *d, const char *what, const char *problem, const char *config)
{
    struct fixture f;
    char why[1024] = "";
    int64_t n;
    cl_int e = fixture_open_by(&f, d, problem, config, PADDED, why, sizeof why);
    if (e) {
        ok(0, "%s: rows emptied by %s (%s): %s", d->name, what, why, problem);
        return;
    }
    n = count_empty(&f.t);
    if (!ok(harness_run(d, &f.t, f.plan, why, sizeof why) && n && exactly_empty(&f.t),
            "%s, %s: %lld rows emptied by %s: %s", d->name, config ? config : "default", (long long)n, what, problem))
        diag("%s", why);
    fixture_close(&f);
}

static void test_all_emptied(const struct device *d)
{
    size_t i;
    for (i = 0; i < sizeof emptied / sizeof *emptied; i++) {
        char problem[256];
        if (harness_deals((unsigned)i, 12))
            test_emptied(d, emptied[i].what, emptied[i].problem, NULL);
        snprintf(problem, sizeof problem, "%s sink", emptied[i].problem);
        if (harness_deals((unsigned)i + 3, 12))
            test_emptied(d, emptied[i].what, problem, NULL);
    }
}

/* Keys of several segments, whose sums are collected elsewhere: a tile of rows that sees none of them closes no
 * segment. */
static void test_long_emptied(const struct device *d)
{
    static const struct {
        const char *problem, *config;
    } kinds[] = { { "f32 b2 h1 q3 k4200 d8 kvlen:0,4200 sink lse", "cpu" },
                  { "f32 b2 h1 q3 k4200 d8 kvlen:0,4200 sink lse", "row" },
                  { "f32 b2 h1 q3 k4200 d8 kvlen:0,4200 sink lse", "simt" },
                  { "f32 b2 h1 q3 k4200 d8 kvlen:0,4200 sink lse", "naive" },
                  { "f16 b2 h1 q3 k1100 d8 kvlen:0,1100 sink lse", "mma_emu nw1,rt1,bk16,qreg0" } };
    for (unsigned i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (harness_turn(i, i % 2 || !i)) /* simt and mma_emu take long to compile */
            test_emptied(d, "kv_len in long rows", kinds[i].problem, kinds[i].config);
}

/* ---- What the rest is asked of ---- */

/* The device's first choice, and the fragment of the matrix units, which treats maxima and weights in its own way. */
static const struct kind {
    const char *type, *config;
} kinds[] = { { "f32", NULL },
              { "f16", "mma_emu nw1,rt1,bk16,qreg0" },
              { "bf16", "mma_emu nw1,rt1,bk16,qreg0" } };

static cl_int open_kind(struct fixture *f, const struct device *d, const struct kind *kind, const char *text, char *why,
                        size_t len)
{
    char problem[256];
    snprintf(problem, sizeof problem, "%s %s", kind->type, text);
    const cl_int e = fixture_open_by(f, d, problem, kind->config, PADDED, why, len);
    f->text = text;
    return e;
}

/* ---- Sinks at the ends of their range ---- */

/* Of the first and the last head: heads that share keys may share a tile. */
static void test_sinks(const struct device *d, const struct kind *kind, double sink, int heads, const char *text)
{
    struct fixture f;
    char why[1024] = "";
    cl_int e = open_kind(&f, d, kind, text, why, sizeof why);
    struct image *im = &f.t.list[SINKS];
    int good;
    if (e)
        bail("%s: %s", text, why);
    f.t.x.sinks[0] = f.t.x.sinks[heads - 1] = (double)(float)sink;
    convert_store(CLATTN_F32, f.t.x.sinks, im->byte + f.t.args.sinks.offset * sizeof(float), (size_t)heads);
    e = image_write(im, d->queue);
    e = e ? e : trial_run(&f.t, f.plan, d->queue);
    good = !e && trial_verify(&f.t, d->queue, why, sizeof why) && exactly_empty(&f.t);
    if (!ok(good, "%s: sinks of %g: %s %s", d->name, sink, kind->type, text))
        diag("%s %s", clattn_status_string(e), why);
    fixture_close(&f);
}

/* ---- Bias that means never, said with a finite number ---- */

/* Row 0 has it on every key, row 1 on all but key 4: such a bias is no mask, and drops nothing. */
static void test_bias(const struct device *d, const struct kind *kind, double bias, const char *text)
{
    struct fixture f;
    struct trial *t = &f.t;
    char why[1024] = "";
    const size_t size = convert_size(CLATTN_F32);
    int64_t index[4], i;
    cl_int e = open_kind(&f, d, kind, text, why, sizeof why);
    if (e)
        bail("%s: %s", text, why);
    for (i = 0; i < array4_count(&t->bias); i++) {
        const size_t at = array4_at(&t->bias, i, index);
        if (index[2] > 1)
            continue;
        t->x.bias[i] = index[2] == 1 && index[3] == 4 ? 0 : bias;
        convert_store(CLATTN_F32, &t->x.bias[i], t->bias.image.byte + at * size, 1);
    }
    e = image_write(&t->bias.image, d->queue);
    e = e ? e : trial_find_kept(t);
    e = e ? e : trial_upload_inputs(t, d->queue);
    e = e ? e : trial_run(t, f.plan, d->queue);
    if (!ok(!e && trial_verify(t, d->queue, why, sizeof why), "%s: a bias of %g: %s %s", d->name, bias, kind->type,
            text))
        diag("%s %s", clattn_status_string(e), why);
    fixture_close(&f);
}

/* A row of the lowest float is no row of -inf: it is the mean of V, as with a bias of 0. And +inf is no number to
 * compute with: all of O is NaN. */
static void test_lowest(const struct device *d, const struct kind *kind, float bias, int mean)
{
    static const char text[] = "b1 h1 q20 k9 d16 bias:1111";
    struct fixture f;
    struct trial *t = &f.t;
    struct truth x = { NULL, NULL, NULL, NULL };
    char why[1024] = "";
    int64_t i, bad = 0;
    cl_int e = open_kind(&f, d, kind, text, why, sizeof why);
    if (e)
        bail("%s: %s", text, why);
    for (i = 0; i < (int64_t)(t->bias.image.size / sizeof bias); i++)
        memcpy(t->bias.image.byte + (size_t)i * sizeof bias, &bias, sizeof bias);
    e = image_write(&t->bias.image, d->queue);
    e = e ? e : trial_run(t, f.plan, d->queue);
    if (!e && !trial_fetch(t, d->queue, why, sizeof why))
        e = CL_INVALID_VALUE;
    struct reference r = trial_problem(t);
    r.bias = NULL;
    r.scale = 0; /* such a bias leaves nothing of the scores */
    if (trial_truth(t, &r, &x, NULL))
        bail("no memory");
    for (i = 0; i < tensor_count(&t->o) && !mean; i++)
        bad += !isnan(t->o.value[i]);
    if (!ok(!e && (!mean || trial_agrees(t, &x, why, sizeof why)) && !bad, "%s: a bias of %g: %s %s", d->name,
            (double)bias, kind->type, text))
        diag("%s %s: %lld wrong", clattn_status_string(e), why, (long long)bad);
    truth_free(&x);
    fixture_close(&f);
}

/* ---- NaN in what is kept ---- */

/* Rows that keep the key are NaN; the verdict sees that the others are what they are without. */
static int64_t count_nan(const struct truth *x, int64_t rows)
{
    int64_t n = 0;
    for (int64_t i = 0; i < rows; i++)
        n += isnan(x->lse[i]) != 0;
    return n;
}

/* NaN in one key, or in one query. */
static void test_nan(const struct device *d, const struct kind *kind, const char *text, int in_query)
{
    struct fixture f;
    struct trial *t = &f.t;
    char why[1024] = "";
    struct truth x = { NULL, NULL, NULL, NULL };
    cl_int e = open_kind(&f, d, kind, text, why, sizeof why);
    if (e) {
        ok(0, "%s: %s: %s", d->name, why, text);
        return;
    }
    tensor_row(in_query ? &t->q : &t->k, 0, 0, in_query ? 12 : 2)[3] = NAN;
    e = trial_upload(t, d->queue, in_query ? &t->q : &t->k);
    e = e ? e : trial_run(t, f.plan, d->queue);
    if (trial_truth(t, NULL, &x, NULL))
        bail("no memory");
    const int64_t tainted = count_nan(&x, tensor_count(&t->lse));
    const int good = !e && trial_fetch(t, d->queue, why, sizeof why) && trial_agrees(t, &x, why, sizeof why);
    ok(good && tainted, "%s: NaN in a %s shows in %lld rows and in no other %s: %s %s", d->name,
       in_query ? "query" : "key", (long long)tainted, why, kind->type, text);
    truth_free(&x);
    fixture_close(&f);
}

static void test_nans(const struct device *d, const struct kind *kind)
{
    static const char *const kept[] = {
        "b1 h2/1 q20 k9 d16 lse",
        "b1 h2/1 q20 k9 d16 window3,3 lse",
        "b1 h2/1 q20 k9 d16 softcap5 sink lse",
        "b1 h2/1 q20 k9 d16 bias:bhqk alibi lse",
        "b1 h2/1 q20 k9 d16 mask:11qk lse",
        "b1 h2/1 q20 k9 d16 mod:relative lse",
        "b1 h2/1 q20 k9 d16 mod:document lse",
    };
    const size_t step = kind->config && !harness_flag("CLATTN_FULL") ? 3 : 1; /* kernels take a second to build */
    for (size_t i = 0; i < sizeof kept / sizeof *kept; i += step) {
        if (!harness_more() && i != 0 && i != 3)
            continue;
        test_nan(d, kind, kept[i], 0);
        test_nan(d, kind, kept[i], 1);
    }
}

static void test_device(const struct device *d)
{
    static const double sinks[] = { -INFINITY, -1e4, 1e4, 1e38, -1e38 };
    test_all_emptied(d);
    test_long_emptied(d);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        const struct kind *const kind = &kinds[i];
        if (!harness_deals((unsigned)i, 2))
            continue;
        for (size_t j = 0; j < sizeof sinks / sizeof *sinks; j++) {
            test_sinks(d, kind, sinks[j], 2, "b1 h2 q20 k9 d16 causal sink lse");
            if (j % 3 == 0 && harness_more()) /* kernels take a second to build */
                test_sinks(d, kind, sinks[j], 4, "b1 h4/2 q6 k4 d16/12 causal sink lse");
        }
        test_bias(d, kind, -1e4, "b1 h2/1 q20 k9 d16 bias:11qk lse");
        test_bias(d, kind, -1e30, "b1 h2/1 q20 k9 d16 bias:1hqk sink lse");
        test_bias(d, kind, -1e38, "b2 h2/1 q20 k9 d16 bias:bhqk lse");
        test_bias(d, kind, 1e30, "b1 h2/1 q20 k9 d16 bias:11qk lse");
        test_lowest(d, kind, -FLT_MAX, 1);
        test_lowest(d, kind, FLT_MAX, 1);
        test_lowest(d, kind, INFINITY, 0);
        test_nans(d, kind);
    }
}

int main(void)
{
    return each_device(test_device);
}
