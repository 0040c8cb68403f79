/* pairs.c - every two features together: rows that cover all pairs of choices, made up as the test runs
 * SPDX-License-Identifier: Apache-2.0
 *
 * pairs.t: a seeded 24th of the rows, on the default engine; CLATTN_PART=1: all the others, so that the two parts
 * run every pair. CLATTN_FULL=1: every row, on every engine.
 * pairs.t N: row N alone. pairs.t --list: the problems of all rows, which needs no device. */
#include "config.h"

#include "tests/lib/harness.h"
#include "tests/lib/pair_words.h"
#include "tests/lib/pairwise.h"
#include "tests/lib/tap.h"

/* ---- Choices ---- */

enum { TYPE, MASK, BIAS, SCORE, SINK, DROPOUT, WINDOW, PLACE, DIAGONAL, WIDTH, PAGE, K_TYPE, V_TYPE, O_TYPE, SPLITS,
       FACTORS };

/* Words of a problem string. Each list ends with NULL. */
static const char *const words[FACTORS][PAIRWISE_CHOICES] = {
    [TYPE] = { "f32", "f16", "bf16", "f64", "f16 k:f32 v:bf16", "bf16 k:bf16 v:f16", NULL },
    [MASK] = { PAIR_MASKS, NULL },
    [BIAS] = { "", "bias:bhqk", "bias:11qk:f16", "bias:1h1k:bf16", "bias:b1q1", "bias:12qk",
               "bias:1hqk slopes", NULL },
    [SCORE] = { PAIR_SCORES, NULL },
    [SINK] = { PAIR_SINKS, NULL },
    [DROPOUT] = { PAIR_DROPOUTS, NULL },
    [WINDOW] = { PAIR_WINDOWS, NULL },
    [PLACE] = { PAIR_PLACES, NULL },
    [DIAGONAL] = { PAIR_DIAGONALS, NULL },
    [WIDTH] = { "d64", "d40/24", "d33/49", "d128/64", NULL },
    [PAGE] = { "", "page1", "page7", "page64", NULL },
    [K_TYPE] = { "", "k:int8", "k:int8:16z", "k:int4:1z", "k:int4:32", "k:q8_0", "k:q4_0", "k:bf16", "k:q4_1", "k:q5_0",
                 "k:q5_1", NULL },
    [V_TYPE] = { "", "v:int8z", "v:int8:1", "v:int4", "v:int4:16z", "v:q8_0", "v:q4_0", "v:f32", "v:q4_1", "v:q5_0",
                 "v:q5_1", NULL },
    [O_TYPE] = { "", "o:f32", "o:f16", "o:bf16", NULL },
    [SPLITS] = { "", "splits2", "splits5", "splits64", NULL },
};

static int forbidden(int f, int x, int g, int y);
static struct pairwise pairs = { .words = words, .factors = FACTORS, .forbidden = forbidden };

static int has(int factor, int choice, const char *text)
{
    return pairwise_has(&pairs, factor, choice, text);
}

static int is_k_or_v(int factor)
{
    return factor == K_TYPE || factor == V_TYPE;
}

/* Whether a width has rows that this type does not store: int4 has pairs, and GGUF's types have blocks of 32. */
static int is_cut(int width, int factor, int type)
{
    const int odd = has(WIDTH, width, "d33"), narrow = odd || has(WIDTH, width, "d40");
    return (odd && has(factor, type, "int4")) || (narrow && has(factor, type, ":q"));
}

/* Two choices that contradict each other: top-left and an offset, one buffer and several types, two offsets, slopes for
 * two; f64 and another type, K's or V's type twice, varlen sequences on pages, one buffer and pages, a row that ends in
 * a block. */
static int forbidden(int f, int x, int g, int y)
{
    return (f == MASK && g == DIAGONAL && has(f, x, "causal-tl") && y) ||
           (f == BIAS && g == SCORE && has(f, x, "slopes") && has(g, y, "alibi")) ||
           (f == TYPE && g == PLACE && has(f, x, " k:") && pair_layouts[y] == PACKED) ||
           (f == PLACE && g == DIAGONAL && pair_layouts[x] == OFFSETS && y) ||
           (f == TYPE && (is_k_or_v(g) || g == O_TYPE) && has(f, x, "f64") && y) ||
           (f == TYPE && is_k_or_v(g) && has(f, x, " k:") && y) ||
           (f == PLACE && (is_k_or_v(g) || g == PAGE) && pair_layouts[x] == PACKED && y) ||
           (f == PLACE && g == PAGE && has(f, x, "varlen") && y) || (f == WIDTH && is_k_or_v(g) && is_cut(x, g, y));
}

/* ---- Running ---- */

/* TYPE, then sizes, then the rest: the words of a type that follow its name go last. */
static void write_problem(unsigned index, char *text, size_t len)
{
    static const int order[] = { PLACE, WIDTH, MASK, WINDOW, SCORE, BIAS, SINK, DROPOUT, DIAGONAL, PAGE, K_TYPE, V_TYPE,
                                 O_TYPE, SPLITS };
    const struct pairwise_row *const r = &pairs.rows[index];
    const char *type = pairwise_word(&pairs, r, TYPE);
    const size_t name = strcspn(type, " ");
    size_t n = (size_t)snprintf(text, len, "%.*s", (int)name, type);
    n += pairwise_write(&pairs, r, order, sizeof order / sizeof *order, text + n, len - n);
    snprintf(text + n, len - n, "%s seed%u lse", type + name, 4000 + index);
}

static void check(const struct device *d, unsigned index, const char *config)
{
    const enum layout layout = pair_layouts[pairs.rows[index].choice[PLACE]];
    char problem[512], why[1024];
    int verdict;
    write_problem(index, problem, sizeof problem);
    verdict = harness_check_text(d, problem, config, layout, why, sizeof why);
    if (verdict < 0)
        skip("%s: %s", problem, why);
    else if (!ok(verdict, "%s, row %u, %s, %s: %s", d->name, index, config ? config : "default", layout_name(layout),
                 problem))
        diag("%s\nagain: tests/kernel/forward.t '%s' '%s' %s", why, problem, config ? config : "", layout_name(layout));
}

static void run_full(const struct device *d)
{
    const char *engine;
    for (size_t e = 0; (engine = harness_engine(e)) != NULL; e++)
        for (unsigned i = 0; i < pairs.n_rows; i++)
            check(d, i, engine);
}

static int is_dealt(unsigned row)
{
    return harness_deals((unsigned)(trial_hash(6, row, 0) % 24), 24);
}

static void run_part(const struct device *d)
{
    for (unsigned i = 0; i < pairs.n_rows; i++)
        if (is_dealt(i))
            check(d, i, NULL);
}

/* Pairs that are in some row of this part. */
static unsigned count_dealt(void)
{
    static unsigned char seen[FACTORS][PAIRWISE_CHOICES][FACTORS][PAIRWISE_CHOICES];
    unsigned n = 0;
    for (unsigned i = 0; i < pairs.n_rows; i++)
        for (int f = 0; f < FACTORS && is_dealt(i); f++)
            for (int g = 0; g < f; g++) {
                unsigned char *const s = &seen[f][pairs.rows[i].choice[f]][g][pairs.rows[i].choice[g]];
                n += !*s;
                *s = 1;
            }
    return n;
}

int main(int argc, char **argv)
{
    const struct device *devices;
    const char *why;
    unsigned n, i;
    pairwise_make(&pairs);
    if (argc > 1 && !strcmp(argv[1], "--list"))
        return pairwise_list(&pairs, write_problem);
    n = harness_open(&devices, &why);
    if (!n)
        return skip_all("%s", why);
    diag("%u rows cover %u of %u pairs; this part runs %u of them", pairs.n_rows, pairs.n_covered, pairs.n_pairs,
         count_dealt());
    ok(pairs.n_covered == pairs.n_pairs, "every pair that goes together is in some row");
    for (i = 0; i < n; i++)
        if (argc > 1 && strtoul(argv[1], NULL, 10) < pairs.n_rows)
            check(&devices[i], (unsigned)strtoul(argv[1], NULL, 10), NULL);
        else if (harness_flag("CLATTN_FULL"))
            run_full(&devices[i]);
        else
            run_part(&devices[i]);
    harness_close();
    return done_testing();
}
