/* figures.c - what follows from times: what is shown, ratios, shares, and their printing
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "bench/figures/figures.h"
#include "bench/figures/print.h"

#include <math.h>

static void shown(double ms, const char *want)
{
    char text[64];
    snprintf(text, sizeof text, "%.*f", figures_decimals(figures_shown(ms)), figures_shown(ms));
    is_str(text, want, "%g ms is shown", ms);
}

static void test_shown(void)
{
    shown(1234.567, "1235");
    shown(123456.7, "123457");
    shown(123.456, "123.5");
    shown(12.3456, "12.35");
    shown(1.23456, "1.235");
    shown(0.123456, "0.1235");
    shown(0.0123456, "0.01235");
    shown(0.00123456, "0.001235");
    shown(0.0000123456, "0.000012");
    shown(9.99996, "10.00");
    ok(isnan(figures_shown(NAN)) && isnan(figures_shown(INFINITY)) && isnan(figures_shown(-1)),
       "no time, nothing shown");
    ok(figures_shown(0) == 0, "0 stays 0");
}

static void test_medians(void)
{
    const double odd[] = { 3, 1, 2 }, even[] = { 4, 1, 2, 30 };
    ok(figures_median(odd, 3) == 2, "median of three");
    ok(figures_median(even, 4) == 3, "median of four");
    ok(figures_least(even, 4) == 1 && figures_least(odd, 1) == 3, "the least");
    const double one = 1.23456;
    ok(figures_median(&one, 1) == 1.235 && figures_least(&one, 1) == 1.235, "both rounded");
    ok(isnan(figures_median(odd, 0)) && isnan(figures_least(odd, 0)), "of none");
}

/* Whoever divides what is printed gets what is printed. */
static void test_ratios(void)
{
    int off = 0;
    for (int i = 1; i < 4000; i++) {
        struct figures g = { .ms = figures_shown(0.0007 * i * i + 1e-3 / i) };
        struct peer_figures p = { .name = "naive" };
        char ours[64], theirs[64], want[64], got[64];
        figures_peer(&g, &p, 0.00003 * i * i * (1 + i % 7));
        snprintf(ours, sizeof ours, "%.*f", figures_decimals(g.ms), g.ms);
        snprintf(theirs, sizeof theirs, "%.*f", figures_decimals(p.ms), p.ms);
        snprintf(want, sizeof want, "%.2f", atof(theirs) / atof(ours));
        snprintf(got, sizeof got, "%.2f", p.ratio);
        off += strcmp(want, got) != 0;
    }
    is_int(off, 0, "4000 ratios are those of the times that are printed");
    struct figures none = { .ms = 0 };
    struct peer_figures p = { .name = "naive" };
    figures_peer(&none, &p, 1);
    ok(isnan(p.ratio), "no ratio to no time");
    struct figures coarse = { .ms = figures_shown(0.00000149) }; /* 0.000001 */
    figures_peer(&coarse, &p, 0.0000026);
    ok(p.ratio == 3, "rounded first, then divided: %g", p.ratio);
}

static void test_labels(void)
{
    char label[LABEL_TEXT];
    figures_label(label, "clblast", "unfused, untuned parameters");
    is_str(label, "CLBlast, unfused, untuned parameters", "a peer with a note");
    figures_label(label, "naive", NULL);
    is_str(label, "naive", "one without");
}

static struct figures measured(struct ceilings *c, const double *best, int n)
{
    struct figures g = { .problem = "f32 b1", .platform = "P", .device = "D \"1\"", .driver = "3", .rounds = 3,
                         .asked = 3, .flops = 1e9, .bytes = 1e6, .ms = best[0], .best_ms = best[0] };
    strcpy(g.config, "cpu w8");
    g.probe_gflops = 90;
    g.copied = g.read = 10;
    figures_share(&g, c, best, n);
    return g;
}

static void test_shares(void)
{
    struct ceilings c = { { { 100, 0 } }, { { 10, 0 } } };
    const double slow[] = { 20 }, fast[] = { 20, 5 }, same[] = { 4 };
    ok(measured(&c, slow, 1).share == 0.5, "a share of the probe");
    struct figures g = measured(&c, fast, 2);
    ok(g.share == 0.25 && g.roof.peak == 200 && g.ceilings.peak[0].reached == 200, "a faster peer is the roof");
    ok(measured(&c, same, 1).share == 1, "the fastest has all of it");
    g.at_most = 1;
    g.ms = 0.1;
    figures_share(&g, &c, (const double[]){ 0.1 }, 1);
    ok(isnan(g.share) && c.peak[0].reached == 250, "work that may be less has no share and raises nothing");
    ok(fabs(figures_gbytes_s(&g) - 10) < 1e-9 && figures_intensity(&g) == 1000, "GB/s and FLOP/byte");
    g.bytes = 0;
    ok(isnan(figures_gbytes_s(&g)) && isnan(figures_intensity(&g)), "of no bytes");
    g.bytes = 1e6;
    g.ms = 0.5;
    figures_share(&g, &c, NULL, 0);
    g.at_most = 0;
    figures_share(&g, &c, (const double[]){ 0.51 }, 1);
    ok(g.share <= 1 && c.peak[0].reached == 2000, "a time that was rounded down is the least");
}

/* What a printer writes, up to 4095 bytes. */
static const char *printed(void (*print)(FILE *, const struct figures *), const struct figures *g)
{
    static char text[4096];
    FILE *f = tmpfile();
    if (!f)
        bail("no temporary file");
    print(f, g);
    rewind(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    return text;
}

static int has(const char *text, const char *part)
{
    if (!strstr(text, part))
        diag("%s\nlacks %s", text, part);
    return strstr(text, part) != NULL;
}

static void test_printed(void)
{
    struct ceilings c = { { { 100, 0 } }, { { 10, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 0, 0 }, { 4, 0 } } };
    const double best[] = { 20 };
    struct figures g = measured(&c, best, 1);
    g.n_peers = 2;
    g.peers[0] = (struct peer_figures){ .name = "clblast", .note = "unfused, untuned parameters" };
    g.peers[1] = (struct peer_figures){ .name = "naive", .missing = "no room" };
    figures_peer(&g, &g.peers[0], 30);
    figures_peer(&g, &g.peers[1], NAN);
    const char *text = printed(print_text, &g);
    ok(has(text, "f32 b1  [cpu w8]  20.00 ms  50.0 GFLOP/s  0.05 GB/s  1000 FLOP/B  0.50 of the roofline "
                 "(multiply-adds, 100 GFLOP/s)  CLBlast, unfused, untuned parameters 30.00 ms, 1.50 times ours  "
                 "naive left out: no room\n"), "a line");
    ok(!strstr(text, "PARTIAL"), "that is whole");
    text = printed(print_json, &g);
    ok(has(text, "\"time_ms\": 20, ") && has(text, "\"device\": \"D \\\"1\\\"\"") && has(text, "\"partial\": false") &&
           has(text, "\"roofline_fraction\": 0.5") && has(text, "\"limited_by\": \"multiply-adds\"") &&
           has(text, "\"peak_by\": \"probe\"") && has(text, "\"clblast_ms\": 30") &&
           has(text, "\"clblast_ratio\": 1.5") && has(text, "\"clblast_agrees\": true") &&
           has(text, "\"clblast_label\": \"CLBlast, unfused, untuned parameters\"") &&
           has(text, "\"naive_ms\": null") && has(text, "\"naive_agrees\": null") &&
           has(text, "\"naive_missing\": \"no room\"") && has(text, "{\"bytes\": 268435456, \"gbytes_s\": 4,"),
       "an object");
    g.rounds = 1;
    g.bytes = 2e8;
    c.moved[4].probed = 15;
    g.peers[0].differs = 1;
    figures_share(&g, &c, best, 1);
    text = printed(print_text, &g);
    ok(has(text, "PARTIAL: 1 of 3 rounds\n") && has(text, "ANOTHER RESULT") &&
           has(text, " of the roofline (cache, 15.0 GB/s at 64 MiB)"), "what is partial, wrong, or bound by a cache");
    text = printed(print_json, &g);
    ok(has(text, "\"partial\": true") && has(text, "\"clblast_agrees\": false") &&
           has(text, "\"size_class\": \"cache\"") && has(text, "\"limited_by\": \"bandwidth\""), "and as an object");
    c.moved[4].reached = 16;
    figures_share(&g, &c, best, 1);
    ok(has(printed(print_text, &g), "(cache, 16.0 GB/s at 64 MiB, reached by a kernel)"), "what no probe has reached");
    g.at_most = 1;
    figures_share(&g, &c, best, 1);
    ok(has(printed(print_text, &g), "of the roofline: not known") &&
           has(printed(print_json, &g), "\"roofline_fraction\": null"), "a share that is not known");
}

int main(void)
{
    test_shown();
    test_medians();
    test_ratios();
    test_labels();
    test_shares();
    test_printed();
    return done_testing();
}
