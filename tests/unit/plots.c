/* plots.c - kinds of problems, axes and words of clattn-bench's pictures
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "bench/plots/plot_kinds.h"
#include "bench/plots/plot_script.h"

#include <math.h>

static void kind(const char *problem, const char *want, double want_keys)
{
    char text[KIND_ROOM];
    double keys;
    plot_kind(text, problem, &keys);
    is_str(text, want, "the kind of %s", problem);
    ok(keys == want_keys || (isnan(keys) && isnan(want_keys)), "and its keys");
}

static void test_kinds(void)
{
    char long_one[3 * KIND_ROOM], text[KIND_ROOM];
    double keys;
    kind("f32 b1 h8 q128 k128 d64 causal", "f32 b1 h8 d64 causal", 128);
    kind("f32 b1 h8 q1 k4096 d64", "f32 b1 h8 q1 d64", 4096);
    kind("  f32\tk:int8 kvlen:3 q8 k9 qlen:2 ", "f32 k:int8 kvlen:3 q8 qlen:2", 9);
    kind("f32 d64", "f32 d64", NAN);
    kind("", "", NAN);
    memset(long_one, 'x', sizeof long_one);
    long_one[sizeof long_one - 1] = '\0';
    memcpy(long_one, "f32 ", 4);
    plot_kind(text, long_one, &keys);
    is_str(text, "f32", "a word without room is left out");
}

static struct figures of(const char *problem)
{
    return (struct figures){ .problem = problem };
}

static void test_series(void)
{
    const struct figures all[] = { of("f32 b1 h8 q512 k512 d64"), of("f32 b1 h8 q512 k512 d64 causal"),
                                   of("f32 b1 h8 q128 k128 d64"), of("f32 b1 h8 q1 k64 d64"),
                                   of("f32 b1 h8 q256 k256 d64") };
    const struct figures *at[5];
    char text[KIND_ROOM];
    plot_common(text, all, 5);
    is_str(text, "f32 b1 h8 d64", "words of all");
    plot_common(text, all + 1, 4);
    is_str(text, "f32 b1 h8 d64", "whichever is the first");
    plot_rest(text, all[1].problem, "f32 b1 h8 d64");
    is_str(text, "causal", "and what is left");
    plot_rest(text, all[0].problem, "f32 b1 h8 d64");
    is_str(text, "", "or not");
    plot_common(text, all, 1);
    is_str(text, "f32 b1 h8 d64", "words of one");
    plot_common(text, all, 0);
    is_str(text, "", "words of none");
    ok(plot_is_first_of_kind(all, 0) && plot_is_first_of_kind(all, 1) && !plot_is_first_of_kind(all, 2) &&
           plot_is_first_of_kind(all, 3) && !plot_is_first_of_kind(all, 4), "the first of each kind");
    ok(plot_members(all, 5, 0, at) == 3 && at[0] == &all[2] && at[1] == &all[4] && at[2] == &all[0],
       "a line has its problems by their keys");
    ok(plot_members(all, 5, 1, at) == 1 && at[0] == &all[1], "and only these");
}

static void test_ranges(void)
{
    static const double bad[] = { 0, -1, NAN, INFINITY };
    struct plot_range r = { 0, 0 };
    for (int i = 0; i < 4; i++)
        plot_extend(&r, bad[i]);
    ok(r.low == 0 && r.high == 0, "what no logarithm has is passed over");
    struct plot_range w = plot_widened(&r);
    ok(w.low == 1 && w.high == 10, "an axis of nothing");
    plot_extend(&r, 100);
    plot_extend(&r, 50);
    plot_extend(&r, 70);
    ok(r.low == 50 && r.high == 100, "least and largest");
    w = plot_widened(&r);
    ok(w.low < 50 && w.low > 40 && w.high > 100 && w.high < 125, "a bit beyond");
    r.low = 99;
    w = plot_widened(&r);
    ok(w.low < 99 && w.low > 98.7 && w.high > 100 && w.high < 100.3, "very little, where the range is narrow");
    r.low = 100;
    w = plot_widened(&r);
    ok(w.low == 50 && w.high == 200, "one number stands in the middle");
}

/* Every axis has marks that are within it, ascending, and neither too few nor too many. */
static void test_tics(void)
{
    int bad_two = 0, bad_ten = 0;
    for (double low = 1e-6; low < 1e9; low *= 1.7)
        for (double factor = 8; factor < 1e18; factor *= 1.9) {
            const struct plot_range r = { low, low * factor };
            double at[PLOT_TICS];
            int n = plot_tics_two(&r, at);
            bad_two += n < 3 || n > PLOT_TICS;
            for (int i = 0; i < n; i++)
                bad_two += at[i] < r.low || at[i] > r.high || (i > 0 && at[i] < 2 * at[i - 1]) ||
                           exp2(round(log2(at[i]))) != at[i];
            n = plot_tics_ten(&r, at);
            bad_ten += n < 2 || n > PLOT_TICS || at[n - 1] * 10 < r.high * (factor > 1e12 ? 1e-3 : 1e-1);
            for (int i = 0; i < n; i++)
                bad_ten += at[i] < r.low || at[i] > r.high || (i > 0 && at[i] < 1.99 * at[i - 1]);
        }
    is_int(bad_two, 0, "marks at powers of two");
    is_int(bad_ten, 0, "marks at 1, 2, 5");
    const struct plot_range r = { 90, 1100 };
    double at[PLOT_TICS];
    ok(plot_tics_ten(&r, at) == 4 && at[0] == 100 && at[1] == 200 && at[2] == 500 && at[3] == 1000, "100 200 500 1000");
    ok(plot_tics_two(&r, at) == 4 && at[0] == 128 && at[3] == 1024, "128 256 512 1024");
    const struct plot_range narrow = { 3950, 5180 };
    ok(plot_tics_ten(&narrow, at) == 6 && at[0] == 4000 && at[1] == 4200 && at[5] == 5000, "4000 4200 .. 5000");
    int bad = 0;
    for (double low = 1e-6; low < 1e9; low *= 1.7)
        for (double factor = 1.0005; factor < 4; factor *= 1.01) {
            const struct plot_range some = { low, low * factor };
            const int n = plot_tics_two(&some, at);
            bad += n < 3 || n > 10 || at[0] < low || at[n - 1] > low * factor || plot_tics_ten(&some, at) != n;
        }
    is_int(bad, 0, "marks in even steps");
}

static char script[65536];

/* What `put` writes, by way of a file. */
#define WRITTEN(put) (file = tmpfile(), file ? (void)0 : bail("no temporary file"), (put), read_back(file))
static const char *read_back(FILE *f)
{
    rewind(f);
    script[fread(script, 1, sizeof script - 1, f)] = '\0';
    fclose(f);
    return script;
}

static void test_words(void)
{
    FILE *file;
    char long_name[400];
    is_str(WRITTEN(plot_put_text(file, "it's a\n`x` \\ \"y\"")), "'it''s a?`x` \\ \"y\"'", "quotes");
    is_str(WRITTEN(plot_put_point(file, 2, 0.5)), "2 0.5\n", "a point");
    is_str(WRITTEN((plot_put_point(file, 0, 1), plot_put_point(file, 1, NAN), plot_put_point(file, 1, -1))), "",
           "what is no point of logarithmic axes");
    memset(long_name, 'y', sizeof long_name);
    long_name[sizeof long_name - 1] = '\0';
    const char *const cut = WRITTEN(plot_put_title(file, long_name));
    ok(strlen(cut) == strlen(" title ''") + PLOT_NAME && !strcmp(cut + strlen(cut) - 3, "..'"), "a long name is cut");
    is_str(WRITTEN(plot_put_title(file, "clattn")), " title 'clattn'", "a short one is not");
    const struct plot_range r = { 90, 1100 };
    is_str(WRITTEN(plot_put_axis(file, 'x', &r, "keys", plot_tics_two)),
           "set logscale x\nset xrange [90:1100]\nset xlabel 'keys'\n"
           "set xtics ('128' 128, '256' 256, '512' 512, '1024' 1024)\n", "an axis");
}

static void test_styles(void)
{
    FILE *file;
    char seen[9 * 4][128];
    int same = 0;
    for (int i = 0; i < 36; i++) {
        snprintf(seen[i], sizeof *seen, "%.127s", WRITTEN(plot_put_style(file, i / 4, i % 4 - 1, 1)));
        for (int n = 0; n < i; n++)
            same += !strcmp(seen[n], seen[i]) && i / 4 < 8;
    }
    is_int(same, 0, "eight kinds and three peers of each are drawn in 32 ways");
    ok(strcmp(seen[0], seen[32]) != 0, "a ninth kind of ours has another mark");
    ok(strstr(seen[0], "linespoints") && strstr(seen[0], "dt 1") && strstr(seen[1], "dt 2"),
       "ours is solid, a peer dashed");
    ok(!strstr(WRITTEN(plot_put_style(file, 0, 0, 0)), "lines"), "or points alone");
}

static void head(const char *device, const char *problem, int partial, int entries, size_t longest, const char *size,
                 const char *columns, const char *words)
{
    const struct figures g = { .device = device, .platform = "Portable Computing Language", .driver = "3.1" };
    FILE *file;
    const char *const text =
        WRITTEN(plot_put_head(file, &g, "a.svg", "Throughput", problem, partial, entries, longest));
    if (!ok(strstr(text, size) && strstr(text, columns) && strstr(text, words), "a head of %s", size))
        diag("%s", text);
}

static void test_heads(void)
{
    char name[256];
    head("CPU", "f32 d64", 0, 2, 20, "size 960,580 ", "maxrows 1 width -3\n",
         "'Throughput: f32 d64' . \"\\n\" . 'CPU, Portable Computing Language, driver 3.1'\n");
    head("CPU", "f32 d64", 1, 7, 40, "size 960,640 ", "maxrows 4 width -6\n",
         "f32 d64 (partial: the run was interrupted)'");
    head("CPU", "", 0, 3, 60, "size 960,620 ", "maxrows 3 width -10\n", "'Throughput: several problems'");
    head("CPU", "", 0, 3, 500, "size 960,620 ", "maxrows 3 width -18\n", "set tmargin at screen 0.887097\n"
         "set bmargin at screen 0.209677\nset key at screen 0.03,0.112903 ");
    memset(name, 'n', sizeof name);
    name[70] = '\0'; /* 110 letters with the rest of the line */
    head(name, "f32", 0, 1, 9, "size 960,600 ", "maxrows 1 width -1\n", "nn, Portable Computing Language,' . ");
    memset(name, 'n', sizeof name);
    for (int i = 9; i < 250; i += 10)
        name[i] = ' ';
    name[sizeof name - 1] = '\0';
    head(name, "f32", 0, 1, 9, "size 960,620 ", "maxrows 1 width -1\n", "nnnn' . \"\\n\" . 'nnnn"); /* two more lines */
    memset(name, 'n', sizeof name - 1);
    head(name, "f32", 0, 1, 9, "size 960,620 ", "maxrows 1 width -1\n", "nnnn' . \"\\n\" . 'nnnn");
}

int main(void)
{
    test_kinds();
    test_series();
    test_ranges();
    test_tics();
    test_words();
    test_styles();
    test_heads();
    return done_testing();
}
