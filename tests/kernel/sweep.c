/* sweep.c - random problems of all features, types, engines and tiles, and bad inputs: how much of the promise is used
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check runs a few, CLATTN_PART=1 some more. CLATTN_SWEEP=N runs N random problems and N / 25 bad ones;
 * CLATTN_SWEEP_SEED=S others. A table tells engine by type how many ran, and of the farthest element of each run which
 * part of the promised bound its error is: the largest and the median. What is over it is printed as it runs. */
#include "config.h"

#include "tests/lib/bad.h"
#include "tests/lib/each.h"

#include <math.h>

enum { FEW = 16, SOME = 24, EACH = 8, BAD_OF = 25, CONFIGS = 96, WORDS = 400, SOME_KEYS = 5000, EMULATED_KEYS = 300 };

static const char *const engines[] = { "cpu", "row", "simt", "naive", "mma_emu" };
static const char *const types[] = { "f32", "f16", "bf16", "f64" };
enum { N_ENGINES = sizeof engines / sizeof *engines, N_TYPES = sizeof types / sizeof *types, EMULATED = N_ENGINES - 1 };

/* ---- Random numbers ---- */

static uint64_t seed, drawn;

static int64_t below(int64_t n)
{
    return (int64_t)(trial_hash(seed, 77, drawn++) % (uint64_t)n);
}

static const char *one_of(const char *const *list, int n)
{
    return list[below(n)];
}
#define ONE_OF(list) one_of(list, sizeof list / sizeof *list)

/* ---- The table ---- */

static struct cell {
    double *part;
    size_t n;
} table[N_ENGINES][N_TYPES];

static void note(int engine, int type, double part)
{
    struct cell *c = &table[engine][type];
    double *more = realloc(c->part, (c->n + 1) * sizeof *more);
    if (!more)
        bail("no memory");
    c->part = more;
    c->part[c->n++] = part;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_table(void)
{
    diag("engine    type   runs  worst   median");
    for (int e = 0; e < N_ENGINES; e++)
        for (int t = 0; t < N_TYPES; t++) {
            struct cell *c = &table[e][t];
            if (!c->n)
                continue;
            qsort(c->part, c->n, sizeof *c->part, by_size);
            diag("%-9s %-5s %5zu  %.3f   %.3f", engines[e], types[t], c->n, c->part[c->n - 1], c->part[c->n / 2]);
            free(c->part);
            *c = (struct cell){ NULL, 0 };
        }
}

/* ---- Problems ---- */

/* What kernels are built for: all but the sizes. */
struct class {
    int engine, type;
    char words[WORDS], config[160];
    int varlen, lengths, paged, split; /* varlen sequences; lengths of padded ones; pages; keys in parts */
};

static void add(struct class *k, int in, const char *word)
{
    if (*word && !below(in))
        snprintf(k->words + strlen(k->words), sizeof k->words - strlen(k->words), " %s", word);
}

static void draw_engine(struct class *k)
{
    k->engine = (int)below(4 * 4 + 1) / 4;
    k->type = k->engine == EMULATED ? 1 + (int)below(2) : (int)below(N_TYPES);
}

/* Storage of K or V that rows of this width may have; "" where it is drawn again. */
static void add_stored(struct class *k, const char *k_or_v, int width)
{
    static const char *const names[] = { "int8", "int4", "q8_0", "q4_0" };
    static const char *const groups[] = { "", "", ":1", ":16", ":32", ":48", ":64" };
    static const int blocks[] = { 1, 2, 32, 32 };
    const int i = (int)below(sizeof blocks / sizeof *blocks), scaled = blocks[i] < 32;
    char word[32];
    snprintf(word, sizeof word, "%s%s%s%s", k_or_v, names[i], scaled ? ONE_OF(groups) : "",
             scaled && below(2) ? "z" : "");
    add(k, 1, width % blocks[i] ? "" : word);
}

/* What caches are made of: K and V each on its own, or a plain pair of types; the type of O; pages; parts. */
static void draw_cache(struct class *k, const int widths[2])
{
    static const char *const partners[] = { "k:f32", "v:bf16", "k:f16 v:f16", "k:bf16 v:f32" };
    static const char *const results[] = { "o:f32", "o:f16", "o:bf16" };
    const int wide = !strcmp(types[k->type], "f64"), quantised = !wide && k->engine != EMULATED && below(2);
    if (quantised && below(4))
        add_stored(k, "k:", widths[0]);
    if (quantised && below(4))
        add_stored(k, "v:", widths[1]);
    if (!quantised && !wide && k->engine != EMULATED)
        add(k, 4, ONE_OF(partners));
    if (!wide)
        add(k, 4, ONE_OF(results));
    k->paged = !k->varlen && below(3) == 0;
    k->split = below(3) == 0;
}

static void draw_class(struct class *k)
{
    static const int widths[][2] = { { 64, 64 },   { 64, 64 },  { 128, 128 }, { 8, 8 },     { 1, 1 },
                                     { 33, 49 },   { 40, 24 },  { 80, 80 },   { 128, 64 },  { 256, 256 },
                                     { 192, 128 }, { 17, 130 }, { 96, 32 },   { 576, 512 } };
    static const char *const masks[] = { "mask:bhqk", "mask:11qk", "mask:b11k", "mask:1hq1", "blocks:16,32",
                                         "mask:bhqk blocks:32,16" };
    static const char *const biases[] = { "bias:bhqk", "bias:11qk:f16", "bias:1h1k:bf16", "bias:b1q1", "bias:1hqk" };
    static const char *const mods[] = { "mod:document", "mod:strided", "mod:relative", "mod:tanh_gate",
                                        "mod:relative,softcap", "mod:causal" };
    static const char *const windows[] = { "window19,0", "window-1,12", "window25,6", "window300,-1" };
    static const char *const scales[] = { "scale0.125", "scale-0.25", "scale1", "scale0" };
    const int *const width = widths[below(sizeof widths / sizeof *widths)];
    const int causal = below(3) == 0;
    memset(k, 0, sizeof *k);
    draw_engine(k);
    snprintf(k->words, sizeof k->words, " d%d/%d", width[0], width[1]);
    add(k, 1, causal ? (below(4) ? "causal" : "causal-tl") : "");
    add(k, 4, ONE_OF(windows));
    add(k, 6, "softcap5");
    add(k, 5, "alibi");
    add(k, 4, ONE_OF(biases));
    add(k, 4, ONE_OF(masks));
    add(k, 4, "sink");
    add(k, 8, ONE_OF(mods));
    add(k, 4, ONE_OF(scales));
    k->varlen = below(5) == 0;
    k->lengths = !k->varlen && below(3) == 0;
    add(k, 1, k->varlen ? "varlen" : "");
    draw_cache(k, width);
}

/* Rows of a page and parts are a call's own: any, where the class has them. */
static size_t draw_pages(const struct class *k, char *text, size_t len)
{
    static const int64_t parts[] = { 1, 2, 3, 5, 8, 13, 64 };
    size_t n = 0;
    if (k->paged)
        n += (size_t)snprintf(text, len, " page%lld", (long long)(1 + below(below(2) ? 8 : 70)));
    if (k->split)
        n += (size_t)snprintf(text + n, len - n, " splits%lld", (long long)parts[below(sizeof parts / sizeof *parts)]);
    return n;
}

/* Rows and heads, and lengths where the class has them. */
static void draw_problem(const struct class *k, char *text, size_t len)
{
    static const char *const heads[] = { "h1", "h2", "h4/2", "h2/1", "h4/1", "h3", "h8/2" };
    static const int64_t few[] = { 1, 2, 3, 5, 17, 33, 64, 100, 131 };
    const int b = k->varlen ? 3 : 1 + (int)below(2), emulated = k->engine == EMULATED;
    const int64_t nq = few[below(emulated ? 6 : 9)];
    const int64_t nk = below(8) || emulated ? below(EMULATED_KEYS) : EMULATED_KEYS + below(SOME_KEYS);
    size_t n = (size_t)snprintf(text, len, "%s b%d %s q%lld k%lld%s", types[k->type], b, ONE_OF(heads), (long long)nq,
                                (long long)nk, k->words);
    static const char *const names[] = { "qlen", "kvlen", "kvstart" };
    for (int i = 0; i < 3 && k->lengths; i++) {
        const int64_t most = i == 0 ? nq : nk, low = i == 2 ? 0 : most / 2;
        n += (size_t)snprintf(text + n, len - n, " %s:", names[i]);
        for (int j = 0; j < b; j++)
            n += (size_t)snprintf(text + n, len - n, "%s%lld", j ? "," : "",
                                  (long long)(low + below((i == 2 ? most / 3 : most - low) + 1)));
    }
    n += draw_pages(k, text + n, len - n);
    snprintf(text + n, len - n, " seed%lld lse", (long long)below(1000000));
}

/* Any tile of the class's engine that runs here. 0: none. */
static int draw_config(const struct device *d, struct class *k, const char *text)
{
    char configs[CONFIGS][160];
    size_t n = 0;
    const size_t word = strlen(engines[k->engine]);
    if (k->engine == EMULATED) { /* by name alone */
        snprintf(k->config, sizeof k->config, "mma_emu nw1,rt1,bk16,qreg0");
        return 1;
    }
    for (size_t i = 0; n < CONFIGS && harness_config(d, text, i, configs[n], sizeof configs[n]); i++)
        n += !strncmp(configs[n], engines[k->engine], word) && configs[n][word] == ' ';
    if (n)
        snprintf(k->config, sizeof k->config, "%s", configs[below((int64_t)n)]);
    return n > 0;
}

/* ---- Running ---- */

static int over;

/* The plan of the class, which serves pages of any size and any number of parts: the call says which. */
static cl_int make_plan(const struct device *d, const struct class *k, struct trial *t, clattn_plan *plan, char *why,
                        size_t len)
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

/* Runs a problem, notes how much of its promise it uses, and tells what is over it. */
static void run(const struct device *d, const struct class *k, const char *text, const struct bad *bad,
                enum layout layout)
{
    const clattn_workload c = each_case(text);
    struct truth x = { NULL, NULL, NULL, NULL };
    struct trial t;
    clattn_plan plan = NULL;
    char why[1024] = "";
    cl_int e = trial_make(&t, d->cl.context, &c, layout);
    t.demand = WHOLE; /* that is less than what is promised */
    e = e || !bad ? e : bad_fill(bad, &t, d->queue);
    e = e ? e : make_plan(d, k, &t, &plan, why, sizeof why);
    const int unsupported = e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &t.c.problem, k->config);
    e = e ? e : trial_run(&t, plan, d->queue);
    const int fetched = !e && trial_fetch(&t, d->queue, why, sizeof why) && !trial_truth(&t, NULL, &x, NULL);
    const double part = fetched ? trial_part(&t, &x, why, sizeof why) : INFINITY;
    truth_free(&x);
    trial_free(&t);
    if (unsupported)
        return;
    note(k->engine, k->type, part);
    if (part <= 1)
        return;
    over++;
    diag("%.3g of the promise: %s: %s %s", part, d->name, clattn_status_string(e), why);
    if (bad)
        diag("%s, %s, %s", bad->name, text, k->config);
    else
        diag("again: tests/kernel/forward.t '%s' '%s' %s", text, k->config, layout_name(layout));
}

/* EACH problems of one class: what is built serves them all. */
static void run_class(const struct device *d)
{
    struct class k;
    char text[2 * WORDS];
    draw_class(&k);
    draw_problem(&k, text, sizeof text);
    if (!draw_config(d, &k, text))
        return;
    for (int i = 0; i < EACH; i++) {
        run(d, &k, text, NULL, (enum layout)below(LAYOUTS));
        draw_problem(&k, text, sizeof text);
    }
    harness_forget();
}

static void run_bad(const struct device *d)
{
    struct class k = { .words = "" };
    char text[2 * WORDS];
    int64_t n_bads = 0;
    while (bads[n_bads].name)
        n_bads++;
    const struct bad *bad = &bads[below(n_bads)];
    const int widths[2] = { bad->d ? bad->d : 8 << below(5), 8 << below(5) };
    draw_engine(&k);
    draw_cache(&k, widths);
    const int64_t most = k.engine == EMULATED ? EMULATED_KEYS : SOME_KEYS;
    size_t n = (size_t)snprintf(text, sizeof text, "%s b1 h2/1 q%lld k%lld d%d/%d%s", types[k.type],
                                (long long)(1 + below(20)), (long long)(1 + below(1 + below(most))), widths[0],
                                widths[1], k.words);
    n += draw_pages(&k, text + n, sizeof text - n);
    snprintf(text + n, sizeof text - n, " %s seed%lld", bad_words(bad), (long long)below(1000000));
    if (bad_suits(bad, types[k.type], k.words) && draw_config(d, &k, text))
        run(d, &k, text, bad, PADDED);
    harness_forget();
}

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static void test_device(const struct device *d)
{
    const long n = number("CLATTN_SWEEP", harness_flag("CLATTN_QUICK") ? 2 : harness_rest() ? SOME : FEW);
    seed = (uint64_t)number("CLATTN_SWEEP_SEED", 1 + number("CLATTN_PART", 0)); /* each share has its own */
    drawn = 0;
    over = 0;
    for (long i = 0; i < n; i += EACH)
        run_class(d);
    for (long i = 0; i < n / BAD_OF + 1; i++)
        run_bad(d);
    print_table();
    is_int(over, 0, "%s: of %ld random problems and %ld bad ones none is off by more than promised", d->name, n,
           n / BAD_OF + 1);
}

int main(void)
{
    return each_device(test_device);
}
