/* property.c - what must hold whatever the numbers are
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/reference.h"
#include "tests/lib/each.h"

#include <math.h>

/* One problem, run once on the default configuration. */
struct subject {
    struct fixture f;
    double *o, *lse;    /* the first run's */
    struct truth truth; /* of its inputs */
};

static int run(struct subject *s, char *why, size_t len)
{
    return harness_fetch(s->f.d, &s->f.t, s->f.plan, why, len);
}

/* 0 when this device cannot; the reason is reported. */
static int set_up(struct subject *s, const struct device *d, const char *text)
{
    struct trial *t = &s->f.t;
    char why[1024] = "";
    cl_int e = fixture_open(&s->f, d, text, PADDED, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse_text(d, text, NULL))
        skip("%s: %s", text, why);
    else if (e)
        ok(0, "%s: cannot be set up (%s): %s", d->name, why, text);
    if (e)
        return 0;
    if (!run(s, why, sizeof why)) {
        ok(0, "%s: cannot be run (%s): %s", d->name, why, text);
        fixture_close(&s->f);
        return 0;
    }
    s->o = tensor_copy(&t->o);
    s->lse = tensor_copy(&t->lse);
    if (trial_truth(t, NULL, &s->truth, NULL))
        bail("no memory");
    return 1;
}

static void tear_down(struct subject *s)
{
    free(s->o);
    free(s->lse);
    truth_free(&s->truth);
    fixture_close(&s->f);
}

static int same_bits(const double *x, const double *y, int64_t n)
{
    return !memcmp(x, y, (size_t)n * sizeof *x);
}

/* O and LSE are what the first run gave. */
static int as_first(const struct subject *s)
{
    const struct trial *t = &s->f.t;
    return same_bits(t->o.value, s->o, tensor_count(&t->o)) && same_bits(t->lse.value, s->lse, tensor_count(&t->lse));
}

/* The largest part that |x - y| is of its bound. */
static double distance(const double *x, const double *y, const double *bound, int64_t n)
{
    double most = 0;
    int64_t i;
    for (i = 0; i < n; i++)
        if (x[i] != y[i] && !(fabs(x[i] - y[i]) <= most * bound[i]))
            most = isnan(x[i] - y[i]) ? INFINITY : fabs(x[i] - y[i]) / bound[i];
    return most;
}

static void repeats(struct subject *s)
{
    char why[1024] = "";
    int i, good = 1;
    for (i = 0; i < 5 && good; i++)
        good = run(s, why, sizeof why) && as_first(s);
    ok(good, "%s: every run gives the same bits: %s", s->f.d->name, s->f.text);
}

static void swap_rows(struct tensor *x, int64_t b, int64_t h, int64_t one, int64_t two)
{
    int64_t i;
    double *p = tensor_row(x, b, h, one), *q = tensor_row(x, b, h, two);
    for (i = 0; i < x->width; i++) {
        double kept = p[i];
        p[i] = q[i];
        q[i] = kept;
    }
}

/* Without a mask the order of the keys means nothing. */
static void permutes(struct subject *s)
{
    char why[1024] = "";
    int64_t b, h, n;
    int good;
    for (b = 0; b < s->f.t.k.n[0]; b++)
        for (h = 0; h < s->f.t.k.n[1]; h++)
            for (n = 1; n < s->f.t.k.n[2]; n++) {
                int64_t other = (int64_t)(trial_hash(5, (uint64_t)n, (uint64_t)h) % (uint64_t)(n + 1));
                swap_rows(&s->f.t.k, b, h, n, other);
                swap_rows(&s->f.t.v, b, h, n, other);
            }
    good = !trial_upload(&s->f.t, s->f.d->queue, &s->f.t.k) && !trial_upload(&s->f.t, s->f.d->queue, &s->f.t.v) &&
           run(s, why, sizeof why);
    ok(good && distance(s->f.t.o.value, s->o, s->truth.o_bound, tensor_count(&s->f.t.o)) <= 2 &&
           distance(s->f.t.lse.value, s->lse, s->truth.lse_bound, tensor_count(&s->f.t.lse)) <= 2,
       "%s: keys in another order change nothing: %s", s->f.d->name, s->f.text);
}

/* Runs V as it is now: O into *o, and how far off it may be added to `bound`. */
static int run_values(struct subject *s, double **o, double *bound)
{
    struct trial *t = &s->f.t;
    struct truth x = { NULL, NULL, NULL, NULL };
    char why[1024] = "";
    const int good = !trial_upload(t, s->f.d->queue, &t->v) && run(s, why, sizeof why);
    *o = tensor_copy(&t->o);
    if (trial_truth(t, NULL, &x, NULL))
        bail("no memory");
    for (int64_t i = 0; i < tensor_count(&t->o); i++)
        bound[i] += x.o_bound[i];
    truth_free(&x);
    return good;
}

/* Adding a constant to V adds it to every O. Integers and a power of two keep V exact. */
static void shifts(struct subject *s)
{
    const int64_t values = tensor_count(&s->f.t.v), n = tensor_count(&s->f.t.o);
    double *value = s->f.t.v.value, *before, *after, *bound = calloc((size_t)n + 1, sizeof *bound);
    int64_t i;
    int good;
    if (!bound)
        bail("no memory");
    for (i = 0; i < values; i++)
        value[i] = floor(value[i] * 4);
    good = run_values(s, &before, bound);
    for (i = 0; i < values; i++)
        value[i] += 16;
    good = run_values(s, &after, bound) && good; /* both runs err */
    for (i = 0; i < n; i++)
        after[i] -= 16;
    ok(good && distance(after, before, bound, n) <= 1, "%s: a constant on V is a constant on O: %s", s->f.d->name,
       s->f.text);
    free(before);
    free(after);
    free(bound);
}

/* Moves K and V to the keys [first, first + count) of what is there, through offset and stride alone. */
static void narrow(struct subject *s, const clattn_forward_args *whole, clattn_sizes *sizes, int64_t first,
                   int64_t count)
{
    s->f.t.args = *whole;
    sizes->nk = count;
    s->f.t.args.sizes = sizes;
    s->f.t.args.k.offset += (size_t)(first * s->f.t.k.stride[2]);
    s->f.t.args.v.offset += (size_t)(first * s->f.t.v.stride[2]);
}

/* The monoid of SEMANTICS: two parts of the keys, merged, are the whole. */
static void splits(struct subject *s, int64_t at)
{
    clattn_forward_args whole = s->f.t.args;
    clattn_sizes sizes = s->f.t.sizes;
    char why[1024] = "";
    const double *o_bound = s->truth.o_bound, *lse_bound = s->truth.lse_bound;
    double *o, *lse, *may, most_v = 0;
    int64_t row, i, rows = tensor_count(&s->f.t.lse), dv = s->f.t.dv;
    int good;
    narrow(s, &whole, &sizes, 0, at);
    good = run(s, why, sizeof why);
    o = tensor_copy(&s->f.t.o);
    lse = tensor_copy(&s->f.t.lse);
    may = tensor_copy(&s->f.t.o);
    for (i = 0; i < tensor_count(&s->f.t.v); i++)
        most_v = fmax(most_v, fabs(s->f.t.v.value[i]));
    narrow(s, &whole, &sizes, at, s->f.t.sizes.nk - at);
    good = run(s, why, sizeof why) && good;
    for (row = 0; row < rows; row++) {
        double l1 = lse[row], l2 = s->f.t.lse.value[row], most = fmax(l1, l2);
        double l = most == -INFINITY ? most : most + log(exp(l1 - most) + exp(l2 - most));
        for (i = row * dv; i < (row + 1) * dv; i++) {
            const double w1 = exp(l1 - l), w2 = exp(l2 - l), o2 = s->f.t.o.value[i];
            /* Each part errs as the whole may and is rounded, and its LSE errs too, in the weights. */
            may[i] = 3 * o_bound[i] + 2 * lse_bound[row] * most_v + w1 * reference_rounding(s->f.t.o.type, o[i]) +
                     w2 * reference_rounding(s->f.t.o.type, o2);
            o[i] = w1 * o[i] + w2 * o2;
        }
        lse[row] = l;
    }
    const double part = distance(o, s->o, may, rows * dv), lse_part = distance(lse, s->lse, lse_bound, rows);
    ok(good && part <= 1 && lse_part <= 3, "%s: keys split at %lld merge to the whole (%.3g of what it may be off): %s",
       s->f.d->name, (long long)at, part, s->f.text);
    s->f.t.args = whole;
    free(o);
    free(lse);
    free(may);
}

/* A batch entry on its own is what it is among others. */
static void alone(struct subject *s, int64_t b)
{
    clattn_forward_args whole = s->f.t.args, *a = &s->f.t.args;
    clattn_sizes sizes = s->f.t.sizes;
    char why[1024] = "";
    int64_t per_o = tensor_count(&s->f.t.o) / s->f.t.sizes.b, per_lse = tensor_count(&s->f.t.lse) / s->f.t.sizes.b;
    int good;
    sizes.b = 1;
    a->sizes = &sizes;
    a->q.offset = tensor_at(&s->f.t.q, b, 0, 0);
    a->k.offset = tensor_at(&s->f.t.k, b, 0, 0);
    a->v.offset = tensor_at(&s->f.t.v, b, 0, 0);
    a->o.offset = tensor_at(&s->f.t.o, b, 0, 0);
    a->lse.offset = tensor_at(&s->f.t.lse, b, 0, 0);
    a->q_len.offset += a->q_len.mem ? (size_t)b : 0;
    a->kv_len.offset += a->kv_len.mem ? (size_t)b : 0;
    a->kv_start.offset += a->kv_start.mem ? (size_t)b : 0;
    good = run(s, why, sizeof why);
    ok(good && same_bits(s->f.t.o.value + b * per_o, s->o + b * per_o, per_o) &&
           same_bits(s->f.t.lse.value + b * per_lse, s->lse + b * per_lse, per_lse),
       "%s: batch entry %lld alone gives the same bits: %s", s->f.d->name, (long long)b, s->f.text);
    s->f.t.args = whole;
}

/* Keys beyond every kv_len change no bit, whether they are there or not. */
static void ignores(struct subject *s)
{
    clattn_forward_args whole = s->f.t.args;
    clattn_sizes sizes = s->f.t.sizes;
    char why[1024] = "";
    int64_t b, most = 0;
    int good;
    for (b = 0; b < s->f.t.sizes.b; b++)
        most = s->f.t.kv_len[b] > most ? s->f.t.kv_len[b] : most;
    narrow(s, &whole, &sizes, 0, most);
    good = run(s, why, sizeof why);
    ok(good && as_first(s), "%s: the %lld keys behind every kv_len left out, the same bits: %s", s->f.d->name,
       (long long)(s->f.t.sizes.nk - most), s->f.text);
    s->f.t.args = whole;
}

static const char *const plain[] = { "f32 b2 h4/2 q33 k70 d64 lse seed1", "f16 b2 h4/2 q33 k70 d64 lse seed2",
                                     "bf16 b2 h4/2 q33 k70 d64 lse seed3", "f64 b1 h2 q17 k40 d64 lse seed4" };
static const char *const masked[] = { "f32 b3 h4/2 q33 k70 d64 causal kvlen:50,1,0 lse seed5",
                                      "f16 b2 h2 q20 k140 d64 qlen:20,3 kvlen:70,9 kvstart:3,2 lse seed6" };

/* For simulators and sanitizers. */
static const char *const quick_plain = "f32 b2 h2/1 q5 k9 d8 lse seed1",
                         *const quick_masked = "f32 b2 h2/1 q5 k9 d8 causal kvlen:6,1 lse seed5";

static void run_plain(const struct device *d, const char *text)
{
    struct subject s;
    if (!set_up(&s, d, text))
        return;
    repeats(&s);
    alone(&s, s.f.t.sizes.b - 1);
    splits(&s, s.f.t.sizes.nk / 2);
    splits(&s, 1);
    splits(&s, 0);
    permutes(&s);
    shifts(&s);
    tear_down(&s);
}

static void run_masked(const struct device *d, const char *text)
{
    struct subject s;
    if (!set_up(&s, d, text))
        return;
    repeats(&s);
    alone(&s, 1);
    ignores(&s);
    tear_down(&s);
}

static void test_device(const struct device *d)
{
    if (harness_flag("CLATTN_QUICK")) {
        run_plain(d, quick_plain);
        run_masked(d, quick_masked);
        return;
    }
    for (size_t i = 0; i < sizeof plain / sizeof *plain; i++)
        run_plain(d, plain[i]);
    for (size_t i = 0; i < sizeof masked / sizeof *masked; i++)
        run_masked(d, masked[i]);
}

int main(void)
{
    return each_device(test_device);
}
