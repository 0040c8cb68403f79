/* feature.c - every row of the feature tables says what its own rules, fragments and words do
 * SPDX-License-Identifier: Apache-2.0
 *
 * Goes over the tables, so that a new row is looked at as the others are: a problem that asks for the feature is made
 * from its word. What features compute is sample.t's and the kernels' business, which have references of their own. */
#include "config.h"

#include "src/engine/source.h"
#include "src/problem/class.h"
#include "src/problem/feature.h"
#include "src/judge/sample_feature.h"
#include "src/engine/split.h"
#include "tests/lib/tap.h"

#include <math.h>

enum { NQ = 70, NK = 200, H = 4, OFFSET = 90 };
static const char plain[] = "f32 b1 h4/2 q70 k200 d8";

static clattn_workload parsed(const char *text)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    if (workload_parse(&c, text, &why))
        bail("%s: %s", text, why.text);
    return c;
}

static clattn_problem checked(const clattn_workload *c)
{
    clattn_problem p;
    struct why why;
    if (problem_read(&p, &c->problem, &why))
        bail("%s", why.text);
    return p;
}

/* What is printed of a string that is read. */
static void reprint(const char *text, char *to, size_t room)
{
    const clattn_workload c = parsed(text);
    struct text out = { to, room, 0 };
    struct why why;
    if (workload_print(&c, &out, &why))
        bail("%s: %s", text, why.text);
}

/* A problem string with the feature's word, and the first value that it takes. */
static bool witness(const struct feature *f, char *text, size_t room)
{
    static const char *const values[] = { "3", "0.3", "3,2", "11qk", "relative" };
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        snprintf(text, room, "%s %s%s", plain, f->words[0].name, f->words[0].has_value ? values[i] : "");
        if (!workload_parse(&c, text, &why))
            return true;
    }
    return false;
}

/* ---- Words ---- */

static void test_words(const struct feature *f, const char *text)
{
    char again[256];
    reprint(text, again, sizeof again);
    is_str(again, text, "%s: its word is printed as it is read", f->name);
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why;
    char twice[300];
    snprintf(twice, sizeof twice, "%s %s", text, strrchr(text, ' ') + 1);
    ok(workload_parse(&c, twice, &why) == CLATTN_ERROR_SYNTAX, "%s: twice it is refused: %s", f->name, why.text);
}

/* Words of all features, in the order of the grammar, whatever order they are read in. */
static void test_order(void)
{
    static const char sorted[] = "f32 b1 h2 q3 k4 d5 causal window3,2 softcap3 alibi bias:11qk mask:b11k blocks:3,2 "
                                 "sink mod:x dropout0.5";
    char again[256];
    reprint("f32 b1 h2 q3 k4 d5 dropout0.5 mod:x sink blocks:3,2 mask:b11k bias:11qk alibi softcap3 window3,2 causal",
            again, sizeof again);
    is_str(again, sorted, "the words in their order");
}

/* ---- Flags and checks ---- */

static void test_flags(void)
{
    const uint32_t others = CLATTN_SCALE | CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START | CLATTN_CU_Q | CLATTN_CU_K;
    uint32_t seen = others;
    int rows = 0, bad = 0;
    FEATURE_EACH(f) {
        bad += (f->flag & (f->flag - 1)) || f->flag & seen;
        seen |= f->flag;
        rows++;
        for (const struct feature *g = feature_next(f); g; g = feature_next(g))
            bad += !strcmp(f->name, g->name);
    }
    ok(!bad, "flags are a bit each, and of nobody else; so are names");
    ok(rows >= 9 && rows <= FEATURES_MOST, "%d rows, of which there is room for %d", rows, FEATURES_MOST);
}

static void test_problem(const struct feature *f, const clattn_problem *p, const clattn_problem *without)
{
    ok(!feature_applies(f, without) && (feature_applies(f, p) || f->is_said),
       "%s: applies where it is asked for", f->name);
    ok((p->flags & ~(uint32_t)CLATTN_SCALE) == f->flag, "%s: its flag, and no other", f->name);
}

/* ---- Kernels ---- */

static const char *fragment_text(const char *name)
{
    const struct fragment *f = fragments;
    while (f->name && strcmp(f->name, name))
        f++;
    return f->text;
}

static bool defines(const char *text, const char *name, const char *function)
{
    char call[64];
    snprintf(call, sizeof call, "cla_%s%s(", name, function);
    return strstr(text, call);
}

static void test_fragment(const struct feature *f)
{
    static const char *const of_kind[][5] = { [FEATURE_MASK] = { "_begin", "_end", "_next", "_full", "_drop" },
                                              [FEATURE_SCORE] = { "" },
                                              [FEATURE_BIAS] = { "" },
                                              [FEATURE_SINK] = { "" },
                                              [FEATURE_WEIGHT] = { "_zero", "_mark" } };
    const char *text = f->fragment ? fragment_text(f->fragment) : NULL;
    bool all = text || f->write;
    for (int i = 0; i < 5 && text && of_kind[f->kind][i]; i++)
        all = all && defines(text, f->name, of_kind[f->kind][i]);
    ok(all, "%s: its fragment has its functions", f->name);
    ok(!text || !strstr(text, "CLA_GATHER(") == !(f->facts & FEATURE_GATHERS), "%s: it is known whether it gathers",
       f->name);
}

/* ---- Classes ---- */

static void print_class(const clattn_problem *p, char *to, size_t room)
{
    clattn_workload c;
    struct text out = { to, room, 0 };
    class_of(&c, p);
    class_print(&c, NULL, &out);
}

static void test_class(const struct feature *f, const clattn_problem *p, const clattn_problem *without)
{
    char with[256], of_class[256], none[256], near[256];
    clattn_workload c, like;
    bool found = false;
    print_class(p, with, sizeof with);
    print_class(without, none, sizeof none);
    ok(strcmp(with, none), "%s: a class of its own: %s", f->name, with);
    class_of(&c, p);
    const clattn_problem of = checked(&c);
    print_class(&of, of_class, sizeof of_class);
    is_str(of_class, with, "%s: its class stands for itself", f->name);
    for (size_t n = 0; class_near(&like, &c, n) && !found; n++) {
        struct text out = { near, sizeof near, 0 };
        class_print(&like, NULL, &out);
        found = !strcmp(near, none);
    }
    ok(found, "%s: the class without is among its neighbours", f->name);
}

/* ---- Facts, by what the rules do ---- */

struct effects {
    bool holes, diagonal, heads, changes;
    int64_t in_range, kept, strays; /* keys between range()'s bounds, those kept; kept outside, or dropped within */
};

static double value_at(const struct feature *f, const struct sample *s, int64_t h, int64_t q, int64_t k, int64_t offset)
{
    const struct feature_at at = { &s->p, q, k, offset, sample_feature_read(s, f->reads, 0, h, q, k) };
    return f->kind == FEATURE_WEIGHT ? sample_answer_factor(s, 0, h, q, k)
           : f->keeps                ? f->keeps(&at)
                                     : f->change(&at, 0.5);
}

static struct effects effects_of(const struct feature *f, const struct sample *s)
{
    struct effects x = { false, false, false, false, 0, 0, 0 };
    int64_t low = INT64_MIN, high = INT64_MAX;
    if (f->range)
        f->range(&s->p, &low, &high);
    for (int64_t q = 0; q < NQ; q++) {
        int runs = 0;
        bool before = false;
        for (int64_t k = 0; k < NK; k++) {
            const double value = value_at(f, s, 0, q, k, OFFSET);
            const bool keeps = f->keeps && value != 0, within = k - q - OFFSET >= low && k - q - OFFSET <= high;
            runs += keeps && !before;
            before = keeps;
            x.in_range += within;
            x.kept += keeps;
            x.strays += keeps != within;
            x.changes = x.changes || (f->kind != FEATURE_WEIGHT && !f->keeps && value != 0.5);
            x.diagonal = x.diagonal || value != value_at(f, s, 0, q, k, OFFSET + 1);
            x.heads = x.heads || value != value_at(f, s, 1, q, k, OFFSET);
        }
        x.holes = x.holes || runs > 1;
    }
    return x;
}

static const enum sample_what read[FEATURE_TENSORS] = {
    [FEATURE_READS_BIAS] = SAMPLE_BIAS,     [FEATURE_READS_MASK] = SAMPLE_MASK,   [FEATURE_READS_MAP] = SAMPLE_MAP,
    [FEATURE_READS_SLOPES] = SAMPLE_SLOPES, [FEATURE_READS_SINKS] = SAMPLE_SINKS,
};

static void test_facts(const struct feature *f, const clattn_problem *p)
{
    const struct sample s = { .p = *p, .seed = 1 };
    const struct effects x = effects_of(f, &s);
    const bool holes = f->facts & FEATURE_HAS_HOLES, diagonal = f->facts & FEATURE_KNOWS_DIAGONAL;
    ok(f->kind == FEATURE_BIAS ? holes : x.holes == holes, "%s: it is known whether it has holes", f->name);
    ok(x.diagonal == diagonal, "%s: it is known whether it asks for the diagonal", f->name);
    ok(f->kind == FEATURE_SINK || !x.heads || f->facts & FEATURE_DIFFERS_BY_HEAD, "%s: what differs by head is apart",
       f->name);
    ok(x.changes == !!(f->facts & FEATURE_CHANGES_SCORES), "%s: it is known whether it changes scores", f->name);
    if (f->keeps && !f->reads)
        ok(holes ? f->share && fabs((double)x.kept / (double)x.in_range - f->share(p)) < 0.02 : !x.strays,
           "%s: what it keeps is counted: %lld of %lld", f->name, (long long)x.kept, (long long)x.in_range);
    if (f->reads)
        ok(sample_count(&s, read[f->reads]) > 0, "%s: samples have what it reads", f->name);
    const clattn_sizes *z = &p->sizes;
    ok(split_shared_rows(p) == (f->facts & FEATURE_DIFFERS_BY_HEAD ? z->nq : z->nq * z->h / z->hk),
       "%s: packing follows", f->name);
    ok(problem_has_holes(p) == holes, "%s: and problem_has_holes()", f->name);
}

/* What the rules do not show: elements of a bias or a mask may differ by head where those of a sample do not, texts
 * may do anything. */
static void test_by_hand(void)
{
    static const struct {
        const char *name;
        unsigned facts;
    } rows[] = {
        { "blocks", FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD },
        { "bool", FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD | FEATURE_GATHERS },
        { "mods", FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD | FEATURE_CHANGES_SCORES },
        { "bias", FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD | FEATURE_CHANGES_SCORES | FEATURE_GATHERS },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct feature *f = feature_next(NULL);
        while (f && strcmp(f->name, rows[i].name))
            f = feature_next(f);
        ok(f && f->facts == rows[i].facts, "%s: what is true of it", rows[i].name);
    }
}

/* Values that a row's check refuses. */
static void test_checks(void)
{
    const clattn_workload base = parsed(plain);
    const struct {
        const char *what;
        int32_t causal, left, right, bias_type, n_mods;
        uint32_t flags;
        double softcap, dropout_p;
    } rows[] = {
        { .what = "causal of 2", .causal = 2 },
        { .what = "a window below -1", .left = -2, .flags = CLATTN_WINDOW },
        { .what = "a window beyond 2^30", .right = INT32_MAX, .flags = CLATTN_WINDOW },
        { .what = "a window without its flag", .right = 3 },
        { .what = "a softcap below 0", .softcap = -1 },
        { .what = "a softcap that float does not hold", .softcap = 1e39 },
        { .what = "a dropout below 0", .dropout_p = -0.5 },
        { .what = "a dropout of everything", .dropout_p = 1 },
        { .what = "a dropout of all but what no word says", .dropout_p = 1 - 0x1p-33 },
        { .what = "a dropout of nothing that can be told from 0", .dropout_p = 1e-10 },
        { .what = "a dropout that is no number", .dropout_p = NAN },
        { .what = "a dropout whose words depend on the place of an entry, in rows that must not", .dropout_p = 0.5,
          .flags = CLATTN_BATCH_INVARIANT },
        { .what = "a bias of no type", .bias_type = CLATTN_I32 },
        { .what = "a bias of f64 with f32", .bias_type = CLATTN_F64 },
        { .what = "a score_mod without a text", .n_mods = 1 },
        { .what = "a flag of nobody", .flags = UINT32_C(1) << 31 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem in = base.problem, p;
        struct why why = { "" };
        in.causal = rows[i].causal;
        in.window_left = rows[i].left;
        in.window_right = rows[i].right;
        in.bias_type = rows[i].bias_type;
        in.n_mods = rows[i].n_mods;
        in.flags |= rows[i].flags;
        in.softcap = rows[i].softcap;
        in.dropout_p = rows[i].dropout_p;
        ok(problem_read(&p, &in, &why) != CL_SUCCESS, "%s is refused: %s", rows[i].what, why.text);
    }
}

static void test_tensors(void)
{
    int bad = 0;
    for (int i = FEATURE_READS_NONE + 1; i < FEATURE_TENSORS; i++)
        bad += read[i] == SAMPLE_Q || !sample_feature_has(read[i]);
    ok(!bad && !sample_feature_has(SAMPLE_Q), "samples have a row for each tensor that features read");
}

int main(void)
{
    const clattn_workload base = parsed(plain);
    const clattn_problem without = checked(&base);
    test_flags();
    test_tensors();
    test_order();
    test_by_hand();
    test_checks();
    FEATURE_EACH(f) {
        char text[256];
        const bool named = f->words[0].name && f->place >= 0 && f->place < FEATURE_PLACES;
        if (!ok(named && witness(f, text, sizeof text), "%s: a word", f->name))
            continue;
        const clattn_workload c = parsed(text);
        const clattn_problem p = checked(&c);
        test_words(f, text);
        test_problem(f, &p, &without);
        test_fragment(f);
        if (f->is_said)
            continue; /* a string says its name, not what it does */
        test_class(f, &p, &without);
        test_facts(f, &p);
    }
    return done_testing();
}
