/* pairs.c - every two features together: rows that cover all pairs of choices, made up as the test runs
 * SPDX-License-Identifier: Apache-2.0
 *
 * pairs.t: a seeded twelfth of the rows, on the default engine; CLATTN_PART=1: all the others, so that the two parts
 * run every pair. CLATTN_FULL=1: every row, on every engine.
 * pairs.t N: row N alone. pairs.t --list: the problems of all rows, which needs no device. */
#include "config.h"

#include "tests/lib/harness.h"
#include "tests/lib/tap.h"

/* ---- Choices ---- */

enum { TYPE, MASK, BIAS, SCORE, SINK, WINDOW, PLACE, DIAGONAL, WIDTH, PAGE, K_TYPE, V_TYPE, O_TYPE, SPLITS, FACTORS };
enum { CHOICES = 13, ROWS_MAX = 400 };

/* Words of a problem string; {q}, {k} and {b} of PLACE say where. Each list ends with NULL. */
static const char *const words[FACTORS][CHOICES] = {
    [TYPE] = { "f32", "f16", "bf16", "f64", "f16 k:f32 v:bf16", "bf16 k:bf16 v:f16", NULL },
    [MASK] = { "", "causal", "causal-tl", "mask:bhqk", "mask:11qk", "causal mask:b11k", "mask:1hq1", "blocks:16,32",
               "mask:bhqk blocks:32,16", NULL },
    [BIAS] = { "", "bias:bhqk", "bias:11qk:f16", "bias:1h1k:bf16", "bias:b1q1", NULL },
    [SCORE] = { "", "softcap3", "alibi", "softcap9 alibi", "mod:document", "mod:strided", "mod:relative,pair_bias",
                NULL },
    [SINK] = { "", "sink", NULL },
    [WINDOW] = { "", "window19,0", "window-1,12", "window25,6", NULL },
    [PLACE] = { "b2 h4/2 q33 k70", "b2 h4/2 q47 k90", "b2 h4/2 q61 k61", "b3 h2/1 q33 k70", "b2 h4/2 q40 k66 bthd",
                "b3 h2 q33 k70 qlen:33,20,0 kvlen:70,3,41 kvstart:5,0,9", "b3 h4/2 q41 k83 varlen",
                "b5 h2 q65 k65 varlen", "b4 h2/1 q50 k50 varlen", "b2 h4/1 q70 k52", "b3 h8/2 q1 k90 kvlen:90,0,41",
                "b2 h4/1 q5 k83 kvlen:29,83", NULL },
    [DIAGONAL] = { "", "off11", "off-9", NULL },
    [WIDTH] = { "d64", "d40/24", "d33/49", "d128/64", NULL },
    [PAGE] = { "", "page1", "page7", "page64", NULL },
    [K_TYPE] = { "", "k:int8", "k:int8:16z", "k:int4:1z", "k:int4:32", "k:q8_0", "k:q4_0", "k:bf16", NULL },
    [V_TYPE] = { "", "v:int8z", "v:int8:1", "v:int4", "v:int4:16z", "v:q8_0", "v:q4_0", "v:f32", NULL },
    [O_TYPE] = { "", "o:f32", "o:f16", "o:bf16", NULL },
    [SPLITS] = { "", "splits2", "splits5", "splits64", NULL },
};
static const enum layout layouts[CHOICES] = { PLAIN, PADDED, PACKED, SHARED, PADDED, REPEAT, PLAIN, UNEVEN, PACKED,
                                              OFFSETS, PADDED, PLAIN };

struct row {
    signed char choice[FACTORS]; /* -1: not chosen yet */
};

static struct row rows[ROWS_MAX];
static unsigned n_rows;
static unsigned char covered[FACTORS][CHOICES][FACTORS][CHOICES];

static int choices(int factor)
{
    int n = 0;
    while (words[factor][n])
        n++;
    return n;
}

static int has(int factor, int choice, const char *text)
{
    return strstr(words[factor][choice], text) != NULL;
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

/* Two choices that contradict each other: top-left and an offset, one buffer and several types, two offsets; f64 and
 * another type, K's or V's type twice, varlen sequences on pages, one buffer and pages, a row that ends in a block. */
static int forbidden(int f, int x, int g, int y)
{
    if (f > g)
        return forbidden(g, y, f, x);
    return (f == MASK && g == DIAGONAL && has(f, x, "causal-tl") && y) ||
           (f == TYPE && g == PLACE && has(f, x, " k:") && layouts[y] == PACKED) ||
           (f == PLACE && g == DIAGONAL && layouts[x] == OFFSETS && y) ||
           (f == TYPE && (is_k_or_v(g) || g == O_TYPE) && has(f, x, "f64") && y) ||
           (f == TYPE && is_k_or_v(g) && has(f, x, " k:") && y) ||
           (f == PLACE && (is_k_or_v(g) || g == PAGE) && layouts[x] == PACKED && y) ||
           (f == PLACE && g == PAGE && has(f, x, "varlen") && y) || (f == WIDTH && is_k_or_v(g) && is_cut(x, g, y));
}

/* ---- Making rows ---- */

/* Pairs that this choice would add to a row, or -1 when it contradicts what is chosen. */
static int gain(const struct row *r, int factor, int choice)
{
    int other, n = 0;
    for (other = 0; other < FACTORS; other++) {
        if (other == factor || r->choice[other] < 0)
            continue;
        if (forbidden(factor, choice, other, r->choice[other]))
            return -1;
        n += !covered[factor][choice][other][r->choice[other]];
    }
    return n;
}

/* Chooses for one factor what covers most; by the seed among equals. 0 when nothing goes. */
static int choose(struct row *r, int factor, uint64_t seed)
{
    const int n = choices(factor), first = (int)(trial_hash(seed, 1, (uint64_t)factor) % (uint64_t)n);
    int most = -1, i;
    for (i = 0; i < n; i++) {
        const int choice = (first + i) % n, g = gain(r, factor, choice);
        if (g > most) {
            most = g;
            r->choice[factor] = (signed char)choice;
        }
    }
    return most >= 0;
}

/* Fills up a row that has a pair chosen, factors in an order by the seed. Returns the pairs it adds, -1 for none. */
static int complete(struct row *r, uint64_t seed)
{
    int order[FACTORS], i, f, g, n = 0;
    for (i = 0; i < FACTORS; i++) {
        const int j = (int)(trial_hash(seed, 0, (uint64_t)i) % (uint64_t)(i + 1));
        order[i] = order[j];
        order[j] = i;
    }
    for (i = 0; i < FACTORS; i++)
        if (r->choice[order[i]] < 0 && !choose(r, order[i], seed))
            return -1;
    for (f = 0; f < FACTORS; f++)
        for (g = 0; g < f; g++)
            n += !covered[f][r->choice[f]][g][r->choice[g]];
    return n;
}

/* The best of many rows with this pair. 0 when there is none. */
static int add_row(int f, int x, int g, int y)
{
    enum { TRIES = 60 };
    struct row best, r;
    int most = 0, i, n;
    for (i = 0; i < TRIES; i++) {
        memset(&r, -1, sizeof r);
        r.choice[f] = (signed char)x;
        r.choice[g] = (signed char)y;
        n = complete(&r, (uint64_t)n_rows * TRIES + (uint64_t)i);
        if (n > most) {
            most = n;
            best = r;
        }
    }
    if (!most || n_rows == ROWS_MAX)
        return 0;
    rows[n_rows++] = best;
    for (f = 0; f < FACTORS; f++)
        for (g = 0; g < FACTORS; g++)
            covered[f][best.choice[f]][g][best.choice[g]] = 1;
    return 1;
}

static unsigned n_pairs, n_covered;

static void make_rows(void)
{
    int f, g, x, y;
    for (f = 0; f < FACTORS; f++)
        for (g = 0; g < f; g++)
            for (x = 0; x < choices(f); x++)
                for (y = 0; y < choices(g); y++) {
                    if (forbidden(f, x, g, y))
                        continue;
                    n_pairs++;
                    n_covered += covered[f][x][g][y] || add_row(f, x, g, y);
                }
}

/* ---- Running ---- */

/* TYPE, then sizes, then the rest: the words of a type that follow its name go last. */
static void write_problem(const struct row *r, unsigned index, char *text, size_t len)
{
    const char *type = words[TYPE][r->choice[TYPE]];
    const size_t name = strcspn(type, " ");
    size_t n = (size_t)snprintf(text, len, "%.*s", (int)name, type);
    static const int order[] = { PLACE, WIDTH, MASK, WINDOW, SCORE, BIAS, SINK, DIAGONAL, PAGE, K_TYPE, V_TYPE,
                                 O_TYPE, SPLITS };
    size_t i;
    for (i = 0; i < sizeof order / sizeof *order; i++) {
        const char *word = words[order[i]][r->choice[order[i]]];
        if (*word)
            n += (size_t)snprintf(text + n, len - n, " %s", word);
    }
    snprintf(text + n, len - n, "%s seed%u lse", type + name, 4000 + index);
}

static void check(const struct device *d, unsigned index, const char *config)
{
    const enum layout layout = layouts[rows[index].choice[PLACE]];
    char problem[512], why[1024];
    int verdict;
    write_problem(&rows[index], index, problem, sizeof problem);
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
        for (unsigned i = 0; i < n_rows; i++)
            check(d, i, engine);
}

static int is_dealt(unsigned row)
{
    return harness_deals((unsigned)(trial_hash(6, row, 0) % 12), 12);
}

static void run_part(const struct device *d)
{
    for (unsigned i = 0; i < n_rows; i++)
        if (is_dealt(i))
            check(d, i, NULL);
}

/* Pairs that are in some row of this part. */
static unsigned count_dealt(void)
{
    static unsigned char seen[FACTORS][CHOICES][FACTORS][CHOICES];
    unsigned n = 0;
    for (unsigned i = 0; i < n_rows; i++)
        for (int f = 0; f < FACTORS && is_dealt(i); f++)
            for (int g = 0; g < f; g++) {
                unsigned char *const s = &seen[f][rows[i].choice[f]][g][rows[i].choice[g]];
                n += !*s;
                *s = 1;
            }
    return n;
}

static int list(void)
{
    char problem[512];
    for (unsigned i = 0; i < n_rows; i++) {
        write_problem(&rows[i], i, problem, sizeof problem);
        puts(problem);
    }
    return fflush(stdout) || ferror(stdout);
}

int main(int argc, char **argv)
{
    const struct device *devices;
    const char *why;
    unsigned n, i;
    make_rows();
    if (argc > 1 && !strcmp(argv[1], "--list"))
        return list();
    n = harness_open(&devices, &why);
    if (!n)
        return skip_all("%s", why);
    diag("%u rows cover %u of %u pairs; this part runs %u of them", n_rows, n_covered, n_pairs, count_dealt());
    ok(n_covered == n_pairs, "every pair that goes together is in some row");
    for (i = 0; i < n; i++)
        if (argc > 1 && strtoul(argv[1], NULL, 10) < n_rows)
            check(&devices[i], (unsigned)strtoul(argv[1], NULL, 10), NULL);
        else if (harness_flag("CLATTN_FULL"))
            run_full(&devices[i]);
        else
            run_part(&devices[i]);
    harness_close();
    return done_testing();
}
