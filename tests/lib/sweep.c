/* sweep.c - random problems of all features: how they are drawn, and tables of how much of their bounds results use
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const engines[SWEEP_ENGINES] = { "cpu", "row", "simt", "naive", "mma_emu" };
const char *const sweep_types[SWEEP_TYPES] = { "f32", "f16", "bf16", "f64" };

/* ---- Random numbers ---- */

static uint64_t seed, drawn;

int64_t sweep_below(int64_t n)
{
    return (int64_t)(trial_hash(seed, 77, drawn++) % (uint64_t)n);
}

const char *sweep_one_of(const char *const *list, size_t n)
{
    return list[sweep_below((int64_t)n)];
}

/* ---- Tables ---- */

enum { KINDS = 128 };

static struct cell {
    double *usual, *promised;
    size_t n;
} table[SWEEP_ENGINES][SWEEP_TYPES];

static struct kind {
    const char *name;
    double worst[SWEEP_ENGINES][SWEEP_TYPES]; /* of the promise; negative: none ran */
} kinds[KINDS];

static int over;

static void *grown(void *list, size_t n, size_t size)
{
    void *const more = realloc(list, (n + 1) * size);
    if (!more)
        abort();
    return more;
}

static void note_random(struct cell *c, struct sweep_share share)
{
    c->usual = grown(c->usual, c->n, sizeof *c->usual);
    c->promised = grown(c->promised, c->n, sizeof *c->promised);
    c->usual[c->n] = share.usual;
    c->promised[c->n++] = share.promised;
}

static void note_bad(const struct sweep_class *k, const char *name, double promised)
{
    struct kind *x = kinds;
    while (x->name && strcmp(x->name, name) != 0)
        x++;
    if (!x->name) {
        x->name = name;
        for (int e = 0; e < SWEEP_ENGINES; e++)
            for (int t = 0; t < SWEEP_TYPES; t++)
                x->worst[e][t] = -1;
    }
    x->worst[k->engine][k->type] = fmax(x->worst[k->engine][k->type], promised);
}

int sweep_note(const struct sweep_class *k, const char *kind, enum demand demand, struct sweep_share share)
{
    const int good = share.promised <= 1 && (demand == PROMISED || share.usual <= 1);
    if (kind)
        note_bad(k, kind, share.promised);
    else
        note_random(&table[k->engine][k->type], share);
    over += !good;
    return good;
}

static int by_size(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static void print_cell(const struct cell *c, const char *engine, const char *type)
{
    qsort(c->usual, c->n, sizeof *c->usual, by_size);
    qsort(c->promised, c->n, sizeof *c->promised, by_size);
    printf("# %-9s %-5s %6zu  %.3f   %.3f   %.4f   %.4f\n", engine, type, c->n, c->usual[c->n - 1], c->usual[c->n / 2],
           c->promised[c->n - 1], c->promised[c->n / 2]);
}

static void print_kind(const struct kind *x, int engine)
{
    int any = 0;
    for (int t = 0; t < SWEEP_TYPES; t++)
        any = any || x->worst[engine][t] >= 0;
    if (!any)
        return;
    printf("# %-44s %-8s", x->name, engines[engine]);
    for (int t = 0; t < SWEEP_TYPES; t++)
        if (x->worst[engine][t] < 0)
            printf("       -");
        else
            printf("  %6.4f", x->worst[engine][t]);
    printf("\n");
}

/* As lines that the Test Anything Protocol passes over. */
static void print_tables(void)
{
    printf("# random                  usual           promised\n"
           "# engine    type    runs  worst   median  worst    median\n");
    for (int e = 0; e < SWEEP_ENGINES; e++)
        for (int t = 0; t < SWEEP_TYPES; t++)
            if (table[e][t].n)
                print_cell(&table[e][t], engines[e], sweep_types[t]);
    printf("# %-44s engine      f32     f16    bf16     f64\n", "bad on purpose: worst part of the promise");
    for (const struct kind *x = kinds; x->name; x++)
        for (int e = 0; e < SWEEP_ENGINES; e++)
            print_kind(x, e);
    fflush(stdout);
}

static void forget(void)
{
    for (int e = 0; e < SWEEP_ENGINES; e++)
        for (int t = 0; t < SWEEP_TYPES; t++) {
            free(table[e][t].usual);
            free(table[e][t].promised);
        }
    memset(table, 0, sizeof table);
    memset(kinds, 0, sizeof kinds);
    over = 0;
}

/* ---- Problems ---- */

void sweep_add(struct sweep_class *k, int in, const char *word)
{
    const size_t n = strlen(k->words);
    if (*word && !sweep_below(in))
        snprintf(k->words + n, sizeof k->words - n, " %s", word);
}

void sweep_draw_width(struct sweep_class *k)
{
    static const int widths[][2] = { { 64, 64 },   { 64, 64 },  { 128, 128 }, { 8, 8 },     { 1, 1 },
                                     { 33, 49 },   { 40, 24 },  { 80, 80 },   { 128, 64 },  { 256, 256 },
                                     { 192, 128 }, { 17, 130 }, { 96, 32 },   { 576, 512 } };
    char word[32];
    memcpy(k->width, widths[sweep_below(sizeof widths / sizeof *widths)], sizeof k->width);
    snprintf(word, sizeof word, "d%d/%d", k->width[0], k->width[1]);
    sweep_add(k, 1, word);
}

void sweep_draw_scores(struct sweep_class *k, const char *const *mods, size_t n_mods)
{
    static const char *const masks[] = { "mask:bhqk", "mask:11qk", "mask:b11k", "mask:1hq1", "blocks:16,32",
                                         "mask:bhqk blocks:32,16" };
    static const char *const biases[] = { "bias:bhqk", "bias:11qk:f16", "bias:1h1k:bf16", "bias:b1q1", "bias:1hqk" };
    static const char *const windows[] = { "window19,0", "window-1,12", "window25,6", "window300,-1" };
    static const char *const scales[] = { "scale0.125", "scale-0.25", "scale1", "scale0", "scale1.5" };
    sweep_add(k, 3, sweep_below(4) ? "causal" : "causal-tl");
    sweep_add(k, 4, SWEEP_ONE_OF(windows));
    sweep_add(k, 6, "softcap5");
    sweep_add(k, 5, "alibi");
    sweep_add(k, 4, SWEEP_ONE_OF(biases));
    sweep_add(k, 4, SWEEP_ONE_OF(masks));
    sweep_add(k, 4, "sink");
    sweep_add(k, 6, "dropout0.3");
    sweep_add(k, 8, sweep_one_of(mods, n_mods));
    sweep_add(k, 4, SWEEP_ONE_OF(scales));
    k->varlen = sweep_below(5) == 0;
    k->lengths = !k->varlen && sweep_below(3) == 0;
    sweep_add(k, 1, k->varlen ? "varlen" : "");
}

static size_t draw_lengths(int b, int64_t nq, int64_t nk, char *text, size_t len)
{
    static const char *const names[] = { "qlen", "kvlen", "kvstart" };
    size_t n = 0;
    for (int i = 0; i < 3; i++) {
        const int64_t most = i == 0 ? nq : nk, low = i == 2 ? 0 : most / 2;
        n += (size_t)snprintf(text + n, len - n, " %s:", names[i]);
        for (int j = 0; j < b; j++)
            n += (size_t)snprintf(text + n, len - n, "%s%lld", j ? "," : "",
                                  (long long)(low + sweep_below((i == 2 ? most / 3 : most - low) + 1)));
    }
    return n;
}

static int64_t draw_queries(const struct sweep_class *k)
{
    static const int64_t few[] = { 1, 2, 3, 5, 17, 33, 64, 100, 131 };
    return few[sweep_below(k->engine == SWEEP_EMULATED ? 6 : 9)];
}

static int64_t draw_keys(const struct sweep_class *k, int64_t most)
{
    enum { USUAL_KEYS = 300 };
    return sweep_below(8) || k->engine == SWEEP_EMULATED ? sweep_below(USUAL_KEYS) : USUAL_KEYS + sweep_below(most);
}

size_t sweep_draw_sizes(const struct sweep_class *k, int64_t most, char *text, size_t len)
{
    enum { SMALL = 1 << 18, ANY_OF = 200 }; /* products of a head; one problem in some has any size */
    static const char *const heads[] = { "h1", "h2", "h4/2", "h2/1", "h4/1", "h3", "h8/2" };
    const int b = k->varlen ? 3 : 1 + (int)sweep_below(2);
    int64_t nq, nk;
    do {
        nq = draw_queries(k);
        nk = draw_keys(k, most);
    } while (k->small && nq * nk * (k->width[0] + k->width[1]) > SMALL && sweep_below(ANY_OF));
    size_t n = (size_t)snprintf(text, len, "%s b%d %s q%lld k%lld%s", sweep_types[k->type], b, SWEEP_ONE_OF(heads),
                                (long long)nq, (long long)nk, k->words);
    return n + (k->lengths ? draw_lengths(b, nq, nk, text + n, len - n) : 0);
}

int sweep_draw_config(const struct device *d, struct sweep_class *k, const char *text)
{
    enum { CONFIGS = 96 };
    char configs[CONFIGS][160];
    size_t n = 0;
    const size_t word = strlen(engines[k->engine]);
    if (k->engine == SWEEP_EMULATED) { /* by name alone */
        snprintf(k->config, sizeof k->config, "mma_emu nw1,rt1,bk16,qreg0");
        return 1;
    }
    for (size_t i = 0; n < CONFIGS && harness_config(d, text, i, configs[n], sizeof configs[n]); i++)
        n += !strncmp(configs[n], engines[k->engine], word) && configs[n][word] == ' ';
    if (n)
        snprintf(k->config, sizeof k->config, "%s", configs[sweep_below((int64_t)n)]);
    return n > 0;
}

/* ---- Running ---- */

static long number(const char *name, long otherwise)
{
    const char *text = getenv(name);
    return text && *text ? strtol(text, NULL, 10) : otherwise;
}

static long least(long a, long b)
{
    return a < b ? a : b;
}

int sweep_run(const struct device *d, const struct sweep *s, long *random, long *bad)
{
    enum { EACH = 8, BAD_OF = 25, TABLE = 5000, QUICK = 2 };
    const long n = number("CLATTN_SWEEP", harness_flag("CLATTN_QUICK") ? QUICK : harness_rest() ? s->some : s->few);
    const long n_bad = number("CLATTN_SWEEP_BAD", n / BAD_OF + 1), each = number("CLATTN_SWEEP_EACH", EACH);
    const int small = each > EACH;
    const long each_bad = small ? each / 4 + 1 : each; /* there are few: of more classes */
    seed = (uint64_t)number("CLATTN_SWEEP_SEED", 1 + number("CLATTN_PART", 0)); /* each share has its own */
    drawn = 0;
    forget();
    for (long i = 0, next, bad_done = 0; i < n || bad_done < n_bad; i = next) {
        next = least(i + each, n);
        if (i < n)
            s->random(d, small, next - i);
        const long due = next < n ? n_bad * next / n - each_bad + 1 : n_bad;
        for (long more; bad_done < due; bad_done += more)
            s->bad(d, small, more = least(each_bad, n_bad - bad_done));
        if (next / TABLE != i / TABLE && next < n)
            print_tables();
    }
    print_tables();
    *random = n;
    *bad = n_bad;
    const int sum = over;
    forget();
    return sum;
}
