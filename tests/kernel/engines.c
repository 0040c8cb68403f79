/* engines.c - every engine and every tile, against float64
 * SPDX-License-Identifier: Apache-2.0
 *
 * engines.t: every twelfth tile, and a few cases of cases.h on engines that compile fast. CLATTN_PART=1: all tiles and
 * rows, and a seeded part of case x type x configuration x layout. CLATTN_QUICK=1: a few small cases x type x engine,
 * those of CLATTN_TEST_ENGINES='simt naive' where it is set: what a driver compiles for minutes is left out by name. */
#include "config.h"

#include "tests/lib/cases.h"
#include "tests/lib/each.h"

enum { EXTRA = 12, IN_TYPES = 6, IN_F32 = 8, TILES = 12 }; /* make check runs one in so many */

static size_t count_configs(const struct device *d, const char *type, const char *row)
{
    char config[128];
    size_t n = 0;
    while (each_config(d, type, row, n, config, sizeof config))
        n++;
    return n;
}

/* Behind the last configuration of the engine that configuration `begin` is of; `begin` where there is none. */
static size_t engine_end(const struct device *d, const char *type, const char *row, size_t begin)
{
    char config[128], next[128];
    size_t end = begin, word;
    if (!each_config(d, type, row, end, config, sizeof config))
        return begin;
    word = strcspn(config, " ");
    do
        end++;
    while (each_config(d, type, row, end, next, sizeof next) && strcspn(next, " ") == word &&
           !strncmp(next, config, word));
    return end;
}

/* What is run below is what the library lists: every engine has to be among it, in every type, of any width. A tile of
 * engine simt has to fit into local memory. */
static void check_listed(const struct device *d)
{
    static const short widths[] = { 1, 40, 64, 96, 128, 192, 256, 320, 512, 576 };
    enum { N_WIDTHS = sizeof widths / sizeof *widths, WIDEST_SIMT = 128 };
    for (unsigned t = 0; t < N_CASE_TYPES; t++)
        for (unsigned i = 0; i < N_WIDTHS; i++) {
            char problem[64], config[128];
            unsigned seen = 0, want = 0;
            size_t n, e;
            const char *name;
            snprintf(problem, sizeof problem, "%s b1 h1 q40 k40 d%d", case_types[t], widths[i]);
            if (harness_may_refuse_text(d, problem, NULL))
                continue;
            for (n = 0; harness_config(d, problem, n, config, sizeof config); n++)
                for (e = 0; (name = harness_engine(e)) != NULL; e++)
                    if (!strncmp(config, name, strlen(name)) && config[strlen(name)] == ' ')
                        seen |= 1u << e;
            for (e = 0; (name = harness_engine(e)) != NULL; e++)
                if (widths[i] <= WIDEST_SIMT || strcmp(name, "simt"))
                    want |= 1u << e;
            ok((seen & want) == want, "%s: every engine has a tile for %s (0x%x of 0x%x)", d->name, problem, seen,
               want);
        }
}

/* Optimising is what takes long: make check leaves engines cpu and simt, whose kernels are long, to run_tiles(). */
static int is_due(const char *config, unsigned i, unsigned n)
{
    const int is_short = !strncmp(config, "row", 3) || !strncmp(config, "naive", 5);
    return harness_turn(i, is_short && i % n == 0);
}

/* Rows in the first so many types on each engine: its configurations stand together, and take turns. `tight`: all of
 * it, every second row in buffers that end with the last element, where a simulator sees what is read behind it. */
static void run_engines(const struct device *d, const char *const *rows, unsigned n_rows, unsigned n_types,
                        unsigned seed, int tight)
{
    unsigned t, i;
    for (t = 0; t < n_types; t++)
        for (i = 0; i < n_rows; i++) {
            char config[128];
            size_t begin = 0, end;
            unsigned engine = 0;
            for (; (end = engine_end(d, case_types[t], rows[i], begin)) > begin; begin = end, engine++) {
                each_config(d, case_types[t], rows[i], begin + (seed + t * n_rows + i) % (end - begin), config,
                            sizeof config);
                if (!tight && !is_due(config, t + i + engine, n_types > 1 ? IN_TYPES : IN_F32))
                    continue;
                if (!each_is_chosen(config))
                    continue;
                each_row(d, case_types[t], rows[i], seed + i, config, tight && (t + i) % 2 ? PLAIN : PADDED);
            }
            if (!begin)
                each_lacking(d, case_types[t], rows[i]);
        }
}

static void run_tiles(const struct device *d)
{
    char config[128];
    unsigned i;
    size_t n;
    for (n = 0; each_config(d, "f32", tile_cases[0], n, config, sizeof config); n++)
        for (i = 0; i < N_TILE && harness_deals((unsigned)n, TILES); i++)
            each_row(d, "f32", tile_cases[i], 700 + i, config, PADDED);
}

/* The tiles of engine row for so few rows that it is the default on CPUs: one query or more; make check has more, in
 * one type of 16 bits. */
static void run_few(const struct device *d)
{
    unsigned t, i;
    for (t = 0; t < N_CASE_TYPES; t++)
        for (i = 0; i < N_FEW; i++)
            if (harness_turn(t * N_FEW + i, t == 1 && i > 0))
                each_row(d, case_types[t], few_cases[i], 640 + i, "row", PADDED);
}

/* What no table above has, in f32. */
static void run_lone(const struct device *d)
{
    enum { PACKS = 2 }; /* which make check has */
    static const char vectors[] = "b1 h2/1 q37 k43 d19/21 causal bias:1hqk mask:bhqk lse";
    static const struct {
        const char *row, *config;
        enum layout layout;
    } lone[] = {
        /* rows of Q that are aligned, but for packed heads; more than a chain of products */
        { "b1 h8/2 q5 k30 d18 bthd lse", "simt", PLAIN },
        { "b1 h2 q3 k40 d575/513 lse", "row w4,nr2,rk4,rd4,bk64", PADDED },
        /* packs of which a float has no exact inverse: 41 / 41 is below 1 but for what is added to a row first */
        { "b1 h41/1 q3 k9 d40 causal lse", "cpu", PADDED },
        { "b1 h47/1 q3 k9 d40 causal lse", "cpu", PADDED },
        { "b1 h55/1 q3 k9 d40 causal lse", "cpu", PADDED },
        { "b1 h41/1 q3 k9 d40 causal lse", "simt", PADDED },
        /* vectors of widths that the table may have for other devices only */
        { vectors, "cpu w2,nv2,rk2,rd2,bk16", PADDED },
        { vectors, "cpu w4,nv2,rk2,rd2,bk16", PADDED },
        { vectors, "cpu w8,nv2,rk2,rd2,bk16", PADDED },
        { vectors, "cpu w16,nv2,rk2,rd2,bk16", PADDED },
    };
    for (unsigned i = 0; i < sizeof lone / sizeof *lone; i++)
        if (harness_turn(i, i == PACKS))
            each_row(d, "f32", lone[i].row, 690 + i, lone[i].config, lone[i].layout);
}

/* Any case, type, configuration and layout. */
static void run_extra(const struct device *d)
{
    for (unsigned i = 0; i < EXTRA; i++) {
        if (!harness_shares(i))
            continue;
        const char *row = cases[trial_hash(1, i, 0) % N_CASES], *type = case_types[i % N_CASE_TYPES];
        char config[128];
        size_t n = each_is_sensible(type, row) ? count_configs(d, type, row) : 0;
        if (n && each_config(d, type, row, trial_hash(1, i, 1) % n, config, sizeof config))
            each_row(d, type, row, 1000 + i, config, (enum layout)(trial_hash(1, i, 2) % LAYOUTS));
    }
}

static void run_default(const struct device *d)
{
    check_listed(d);
    run_tiles(d);
    run_engines(d, engine_cases, N_ENGINE, N_CASE_TYPES, 600, 0);
    run_engines(d, feature_cases, N_FEATURES, 1, 620, 0);
    run_lone(d);
    run_extra(d);
    run_few(d);
}

/* Features in 16 bits, by the device's own matrix units where it has some; quantised they do not take. */
static void run_units(const struct device *d)
{
    static const struct {
        const char *name;
        int type;
    } types[] = { { "f16", CLATTN_F16 }, { "bf16", CLATTN_BF16 } };
    for (unsigned i = 0; i < N_QUICK_FEATURES; i++)
        for (unsigned t = 0; t < 2; t++) {
            char real[32];
            const char *const engine = harness_real(d, types[t].type, "mma_emu", real, sizeof real);
            if (engine == real && each_is_chosen(engine) && !strstr(quick_features[i], " k:"))
                each_row(d, types[t].name, quick_features[i], 20 + i, engine, PADDED);
        }
}

static void run_quick(const struct device *d)
{
    check_listed(d);
    run_engines(d, quick_cases, N_QUICK, N_CASE_TYPES, 0, 1);
    run_engines(d, quick_features, N_QUICK_FEATURES, 1, 0, 1);
    run_units(d);
}

int main(void)
{
    return each_device(harness_flag("CLATTN_QUICK") ? run_quick : run_default);
}
