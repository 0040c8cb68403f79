/* sweep.c - random problems of all features, types, engines and tiles, and bad inputs: how much of the promise is used
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check runs a few, CLATTN_PART=1 some more; tests/lib/sweep.h says how to run many. A table tells engine by type
 * how many ran, and of the farthest element of each run which part of what is usual, and of the promised bound, its
 * error is: the largest and the median. Another has the bad inputs. What is over is printed as it runs. */
#include "config.h"

#include "tests/lib/bad.h"
#include "tests/lib/each.h"
#include "tests/lib/sweep.h"
#include "tools/oracle/convert.h"

#include <math.h>

enum { FEW = 16, SOME = 24, SOME_KEYS = 5000, EMULATED_KEYS = 300, TEXT = 800 };

/* ---- Problems ---- */

static void draw_engine(struct sweep_class *k)
{
    k->engine = (int)sweep_below(4 * 4 + 1) / 4;
    k->type = k->engine == SWEEP_EMULATED ? SWEEP_F16 + (int)sweep_below(2) : (int)sweep_below(SWEEP_TYPES);
}

/* Storage of K or V that rows of this width may have; "" where it is drawn again. */
static void add_stored(struct sweep_class *k, const char *k_or_v, int width)
{
    static const char *const groups[] = { "", "", ":1", ":16", ":32", ":48", ":64" };
    unsigned n = 0;
    int type = 0;
    while ((type = convert_next(type, 1)))
        n++;
    for (unsigned i = (unsigned)sweep_below(n) + 1; i; i--)
        type = convert_next(type, 1);
    const struct convert_type *const t = convert_type(type);
    char word[32];
    snprintf(word, sizeof word, "%s%s%s%s", k_or_v, t->name, t->scaled ? SWEEP_ONE_OF(groups) : "",
             t->scaled && sweep_below(2) ? "z" : "");
    sweep_add(k, 1, width % t->elements ? "" : word);
}

/* What caches are made of: K and V each on its own, or a plain pair of types; the type of O; pages; parts. */
static void draw_cache(struct sweep_class *k)
{
    static const char *const partners[] = { "k:f32", "v:bf16", "k:f16 v:f16", "k:bf16 v:f32" };
    static const char *const results[] = { "o:f32", "o:f16", "o:bf16" };
    const int wide = k->type == SWEEP_F64, emulated = k->engine == SWEEP_EMULATED;
    const int quantised = !wide && !emulated && sweep_below(2);
    if (quantised && sweep_below(4))
        add_stored(k, "k:", k->width[0]);
    if (quantised && sweep_below(4))
        add_stored(k, "v:", k->width[1]);
    if (!quantised && !wide && !emulated)
        sweep_add(k, 4, SWEEP_ONE_OF(partners));
    if (!wide)
        sweep_add(k, 4, SWEEP_ONE_OF(results));
    k->paged = !k->varlen && sweep_below(3) == 0;
    k->split = sweep_below(3) == 0;
}

static void draw_class(struct sweep_class *k, int small)
{
    static const char *const mods[] = { "mod:document", "mod:strided", "mod:relative", "mod:tanh_gate",
                                        "mod:relative,softcap", "mod:causal" };
    memset(k, 0, sizeof *k);
    k->small = small;
    draw_engine(k);
    sweep_draw_width(k);
    sweep_draw_scores(k, mods, sizeof mods / sizeof *mods);
    draw_cache(k);
}

/* Rows of a page and parts are a call's own: any, where the class has them. */
static size_t draw_pages(const struct sweep_class *k, char *text, size_t len)
{
    static const int64_t parts[] = { 1, 2, 3, 5, 8, 13, 64 };
    size_t n = 0;
    if (k->paged)
        n += (size_t)snprintf(text, len, " page%lld", (long long)(1 + sweep_below(sweep_below(2) ? 8 : 70)));
    if (k->split)
        n += (size_t)snprintf(text + n, len - n, " splits%lld",
                              (long long)parts[sweep_below(sizeof parts / sizeof *parts)]);
    return n;
}

static void draw_problem(const struct sweep_class *k, char *text, size_t len)
{
    size_t n = sweep_draw_sizes(k, SOME_KEYS, text, len);
    n += draw_pages(k, text + n, len - n);
    snprintf(text + n, len - n, " seed%lld lse", (long long)sweep_below(1000000));
}

/* ---- Running ---- */

/* The plan of the class, which serves pages of any size and any number of parts: the call says which. */
static cl_int make_plan(const struct device *d, const struct sweep_class *k, struct trial *t, clattn_plan *plan,
                        char *why, size_t len)
{
    enum { SOME_ROWS = 16 };
    clattn_problem p = t->c.problem;
    t->args.splits = p.splits;
    p.splits = 0;
    if (p.page) {
        t->args.page = p.page;
        p.page = SOME_ROWS;
    }
    return harness_plan(d, &p, k->config, plan, why, len);
}

static double part(struct trial *t, enum demand demand, char *why, size_t len)
{
    t->demand = demand;
    return trial_own_part(t, why, len);
}

/* Runs a problem, notes how much of its bounds it uses, and tells what is over. Of random inputs the whole of what is
 * usual is asked: that is less than what is promised. */
static void run(const struct device *d, const struct sweep_class *k, const char *text, const struct bad *bad,
                enum layout layout)
{
    const clattn_workload c = each_case(text);
    struct sweep_share share = { INFINITY, INFINITY };
    struct trial t;
    clattn_plan plan = NULL;
    char why[1024] = "";
    cl_int e = trial_make(&t, d->cl.context, &c, layout);
    e = e || !bad ? e : bad_fill(bad, &t, d->queue);
    e = e ? e : make_plan(d, k, &t, &plan, why, sizeof why);
    const int unsupported = e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &t.c.problem, k->config);
    e = e ? e : trial_run(&t, plan, d->queue);
    if (!e && trial_fetch(&t, d->queue, why, sizeof why))
        share = (struct sweep_share){ part(&t, WHOLE, why, sizeof why), part(&t, PROMISED, why, sizeof why) };
    trial_free(&t);
    if (unsupported || sweep_note(k, bad ? bad->name : NULL, bad ? bad->demand : WHOLE, share))
        return;
    diag("%.3g of what is usual, %.3g of the promise: %s: %s %s", share.usual, share.promised, d->name,
         clattn_status_string(e), why);
    if (bad)
        diag("%s, %s, %s", bad->name, text, k->config);
    else
        diag("again: tests/kernel/forward.t '%s' '%s' %s", text, k->config, layout_name(layout));
}

/* n problems of one class: what is built serves them all. */
static void run_class(const struct device *d, int small, long n)
{
    struct sweep_class k;
    char text[TEXT];
    draw_class(&k, small);
    draw_problem(&k, text, sizeof text);
    if (!sweep_draw_config(d, &k, text))
        return;
    for (long i = 0; i < n; i++) {
        run(d, &k, text, NULL, (enum layout)sweep_below(LAYOUTS));
        draw_problem(&k, text, sizeof text);
    }
    harness_forget();
}

/* ---- Bad inputs ---- */

/* One that a class can have; NULL: there is none. */
static const struct bad *draw_bad(const struct sweep_class *k, const char *words)
{
    const struct bad *suitable[128];
    size_t n = 0;
    for (const struct bad *bad = bads; bad->name && n < sizeof suitable / sizeof *suitable; bad++)
        if ((!bad->d || bad->d == k->width[0]) && !strcmp(bad->words, words) &&
            bad_suits(bad, sweep_types[k->type], k->words))
            suitable[n++] = bad;
    return n ? suitable[sweep_below((int64_t)n)] : NULL;
}

static void draw_bad_problem(const struct sweep_class *k, const char *words, char *text, size_t len)
{
    const int64_t most = k->engine == SWEEP_EMULATED ? EMULATED_KEYS : SOME_KEYS;
    const int64_t keys = k->small && sweep_below(50) ? sweep_below(EMULATED_KEYS) : sweep_below(1 + sweep_below(most));
    size_t n = (size_t)snprintf(text, len, "%s b1 h2/1 q%lld k%lld%s", sweep_types[k->type],
                                (long long)(1 + sweep_below(k->small ? 4 : 20)), (long long)(1 + keys), k->words);
    n += draw_pages(k, text + n, len - n);
    snprintf(text + n, len - n, " %s seed%lld", words, (long long)sweep_below(1000000));
}

/* Of a class as well: its width is that of a kind, or another one, and so is whether it has sinks. */
static void run_bad(const struct device *d, int small, long n)
{
    struct sweep_class k = { .small = small };
    char text[TEXT], width[32];
    int64_t n_bads = 0;
    while (bads[n_bads].name)
        n_bads++;
    const struct bad *bad = &bads[sweep_below(n_bads)];
    const char *const words = bad->words;
    k.width[0] = bad->d ? bad->d : 8 << sweep_below(5);
    k.width[1] = 8 << sweep_below(5);
    snprintf(width, sizeof width, "d%d/%d", k.width[0], k.width[1]);
    sweep_add(&k, 1, width);
    draw_engine(&k);
    draw_cache(&k);
    draw_bad_problem(&k, words, text, sizeof text);
    if (!sweep_draw_config(d, &k, text))
        return;
    for (long i = 0; i < n && (bad = draw_bad(&k, words)); i++) {
        run(d, &k, text, bad, PADDED);
        draw_bad_problem(&k, words, text, sizeof text);
    }
    harness_forget();
}

static void test_device(const struct device *d)
{
    static const struct sweep all = { FEW, SOME, run_class, run_bad };
    long random, bad;
    const int over = sweep_run(d, &all, &random, &bad);
    is_int(over, 0, "%s: of %ld random problems and %ld bad ones none is off by more than it may be", d->name, random,
           bad);
}

int main(void)
{
    return each_device(test_device);
}
