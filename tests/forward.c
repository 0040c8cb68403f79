/* forward.c - the forward pass against float64, case by case
 * SPDX-License-Identifier: Apache-2.0
 *
 * forward.t: every case in f32, every engine and tile, and a seeded part of the rest.
 * CLATTN_FULL=1: every case x type x configuration, and x layout on the default configuration.
 * CLATTN_QUICK=1: a few small cases x type x engine.
 * forward.t PROBLEM [CONFIG [LAYOUT]]: one case; CONFIG "" is the default. */
#include "config.h"

#include "cases.h"
#include "harness.h"
#include "tap.h"

static const char *const types[] = { "f32", "f16", "bf16", "f64" };
enum { N_TYPES = 4, EXTRA = 12 };

/* One TAP line. The seed is part of the string, so the string alone reproduces the inputs. */
static void check(const struct device *d, const char *type, const char *row, unsigned seed, const char *config,
                  enum layout layout)
{
    char problem[512], why[1024];
    int verdict;
    snprintf(problem, sizeof problem, "%s %s seed%u", type, row, seed);
    verdict = harness_check_text(d, problem, config, layout, why, sizeof why);
    if (verdict < 0) {
        skip("%s: %s", problem, why);
        return;
    }
    ok(verdict, "%s, %s, %s: %s", d->name, config ? config : "default", layout_name(layout), problem);
    if (!verdict)
        diag("%s\nagain: tests/forward.t '%s' '%s' %s", why, problem, config ? config : "", layout_name(layout));
}

/* f64 takes no partner of another type. */
static int sensible(const char *type, const char *row)
{
    return strcmp(type, "f64") || (!strstr(row, " k:") && !strstr(row, " v:"));
}

/* The index-th configuration for this case; 0 when there is none. */
static int config_at(const struct device *d, const char *type, const char *row, size_t index, char *config, size_t len)
{
    char problem[512];
    snprintf(problem, sizeof problem, "%s %s", type, row);
    return harness_config(d, problem, index, config, len);
}

static size_t count_configs(const struct device *d, const char *type, const char *row)
{
    char config[128];
    size_t n = 0;
    while (config_at(d, type, row, n, config, sizeof config))
        n++;
    return n;
}

/* Behind the last configuration of the engine that configuration `begin` is of; `begin` where there is none. */
static size_t engine_end(const struct device *d, const char *type, const char *row, size_t begin)
{
    char config[128], next[128];
    size_t end = begin, word;
    if (!config_at(d, type, row, end, config, sizeof config))
        return begin;
    word = strcspn(config, " ");
    do
        end++;
    while (config_at(d, type, row, end, next, sizeof next) && strcspn(next, " ") == word &&
           !strncmp(next, config, word));
    return end;
}

/* Rows in the first so many types on each engine: its configurations stand together, and take turns. */
static void run_engines(const struct device *d, const char *const *rows, unsigned n_rows, unsigned n_types,
                        unsigned seed)
{
    unsigned t, i;
    for (t = 0; t < n_types; t++)
        for (i = 0; i < n_rows; i++) {
            char config[128];
            size_t begin = 0, end;
            for (; (end = engine_end(d, types[t], rows[i], begin)) > begin; begin = end) {
                config_at(d, types[t], rows[i], begin + (seed + t * n_rows + i) % (end - begin), config, sizeof config);
                check(d, types[t], rows[i], seed + i, config, PADDED);
            }
            if (!begin)
                skip("%s %s: no configuration here", types[t], rows[i]);
        }
}

static void run_tiles(const struct device *d)
{
    char config[128];
    unsigned i;
    size_t n;
    for (n = 0; config_at(d, "f32", tile_cases[0], n, config, sizeof config); n++)
        for (i = 0; i < N_TILE; i++)
            check(d, "f32", tile_cases[i], 700 + i, config, PADDED);
}

/* Every case in f32 as it is, every engine and tile, then picks of case x type x configuration x layout. */
static void run_default(const struct device *d)
{
    unsigned i;
    for (i = 0; i < N_CASES; i++)
        check(d, "f32", cases[i], i, NULL, (enum layout)(i % LAYOUTS));
    run_engines(d, engine_cases, N_ENGINE, N_TYPES, 600);
    run_engines(d, feature_cases, N_FEATURES, 1, 620);
    run_tiles(d);
    check(d, "f32", "b1 h8/2 q5 k30 d18 bthd lse", 690, "simt", PLAIN); /* rows of Q are aligned, but for packed heads */
    for (i = 0; i < EXTRA; i++) {
        const char *row = cases[trial_hash(1, i, 0) % N_CASES], *type = types[i % N_TYPES];
        char config[128];
        size_t n = sensible(type, row) ? count_configs(d, type, row) : 0;
        if (n && config_at(d, type, row, trial_hash(1, i, 1) % n, config, sizeof config))
            check(d, type, row, 1000 + i, config, (enum layout)(trial_hash(1, i, 2) % LAYOUTS));
    }
}

static void run_quick(const struct device *d)
{
    run_engines(d, quick_cases, N_QUICK, N_TYPES, 0);
    run_engines(d, quick_features, N_QUICK_FEATURES, 1, 0);
}

static void run_full(const struct device *d)
{
    unsigned t, i, l;
    size_t n;
    for (t = 0; t < N_TYPES; t++)
        for (i = 0; i < N_CASES; i++) {
            char config[128];
            if (!sensible(types[t], cases[i]))
                continue;
            for (l = 0; l < LAYOUTS; l++)
                check(d, types[t], cases[i], 2000 + i, NULL, (enum layout)l);
            for (n = 1; config_at(d, types[t], cases[i], n, config, sizeof config); n++)
                check(d, types[t], cases[i], 2000 + i, config, (enum layout)((i + n) % LAYOUTS));
        }
}

static void run_one(const struct device *d, char **argv)
{
    const char *config = argv[2] && *argv[2] ? argv[2] : NULL;
    enum layout layout = argv[2] && argv[3] ? layout_find(argv[3]) : PADDED;
    char why[1024];
    int verdict;
    if (layout == LAYOUTS)
        bail("no layout '%s'", argv[3]);
    verdict = harness_check_text(d, argv[1], config, layout, why, sizeof why);
    if (verdict < 0)
        skip("%s: %s", argv[1], why);
    else if (!ok(verdict, "%s, %s, %s: %s", d->name, config ? config : "default", layout_name(layout), argv[1]))
        diag("%s", why);
}

int main(int argc, char **argv)
{
    const struct device *devices;
    const char *why;
    unsigned n = harness_open(&devices, &why), i;
    if (!n)
        return skip_all("%s", why);
    for (i = 0; i < n; i++)
        if (argc > 1)
            run_one(&devices[i], argv);
        else if (harness_flag("CLATTN_QUICK"))
            run_quick(&devices[i]);
        else if (harness_flag("CLATTN_FULL"))
            run_full(&devices[i]);
        else
            run_default(&devices[i]);
    harness_close();
    return done_testing();
}
