/* forward.c - the forward pass against float64, case by case
 * SPDX-License-Identifier: Apache-2.0
 *
 * forward.t: every twelfth stretch of cases in f32 on the default engine, and one whose work-groups are more than a
 * grid is wide. CLATTN_PART=1: all of them, and all cases with types and engines by turns. engines.t has the tiles.
 * CLATTN_FULL=1: every case x type x configuration, and x layout on the default configuration.
 * CLATTN_TEST_TYPES='f16 bf16': the default engine's in these types instead, and nothing else; with CLATTN_FULL=1 all.
 * CLATTN_QUICK=1: nothing.
 * forward.t PROBLEM [CONFIG [LAYOUT]]: one case; CONFIG "" is the default. */
#include "config.h"

#include "tests/lib/cases.h"
#include "tests/lib/each.h"

enum { STRETCH = 10 }; /* so many cases follow one another that some share kernels */

/* The stretches that make check has, and a case. */
static int is_due(unsigned i)
{
    return harness_turn(i / STRETCH, i / STRETCH % 12 == 0 || strstr(cases[i], "h2999"));
}

static void run_default(const struct device *d, const char *type)
{
    for (unsigned i = 0; i < N_CASES; i++)
        if (is_due(i) && each_is_sensible(type, cases[i]))
            each_row(d, type, cases[i], i, NULL, (enum layout)(i % LAYOUTS));
}

/* 4 types and 7 engines go round, so that each type meets each engine: simt, which takes longest to build, less often,
 * and with a tile that builds in half of the time. */
static void run_others(const struct device *d)
{
    static const char *const by[] = {
        "row", "naive", "cpu", "naive", "row", "simt tx8,ty8,tm4,tn4,ch8,cv8,qres0", "cpu"
    };
    enum { N_BY = sizeof by / sizeof *by };
    for (unsigned i = 0; i < N_CASES; i++) {
        const unsigned stretch = i / STRETCH;
        const char *const type = case_types[stretch % N_CASE_TYPES];
        if (harness_shares(stretch + stretch / 4) && each_is_sensible(type, cases[i]))
            each_row(d, type, cases[i], 5000 + i, by[stretch % N_BY], (enum layout)(i % LAYOUTS));
    }
}

static void run_usual(const struct device *d)
{
    run_default(d, "f32");
    if (harness_rest())
        run_others(d);
}

static void run_full(const struct device *d)
{
    unsigned t, i, l;
    size_t n;
    for (t = 0; t < N_CASE_TYPES; t++)
        for (i = 0; i < N_CASES; i++) {
            char config[128];
            if (!each_is_sensible(case_types[t], cases[i]))
                continue;
            for (l = 0; l < LAYOUTS; l++)
                each_row(d, case_types[t], cases[i], 2000 + i, NULL, (enum layout)l);
            for (n = 1; each_config(d, case_types[t], cases[i], n, config, sizeof config); n++)
                each_row(d, case_types[t], cases[i], 2000 + i, config, (enum layout)((i + n) % LAYOUTS));
        }
}

static void run_types(const struct device *d)
{
    const char *const chosen = getenv("CLATTN_TEST_TYPES");
    for (unsigned t = 0; t < N_CASE_TYPES; t++)
        if (each_is_among(chosen, case_types[t]))
            run_default(d, case_types[t]);
}

static char **arguments;

static void run_one(const struct device *d)
{
    const char *config = arguments[2] && *arguments[2] ? arguments[2] : NULL;
    enum layout layout = arguments[2] && arguments[3] ? layout_find(arguments[3]) : PADDED;
    char why[1024];
    if (layout == LAYOUTS)
        bail("no layout '%s'", arguments[3]);
    const int verdict = harness_check_text(d, arguments[1], config, layout, why, sizeof why);
    each_report(d, verdict, arguments[1], config, layout, why);
}

int main(int argc, char **argv)
{
    arguments = argv;
    if (argc > 1)
        return each_device(run_one);
    if (harness_flag("CLATTN_TEST_TYPES"))
        return each_device(run_types);
    if (harness_flag("CLATTN_QUICK"))
        return skip_all("engines.t has the quick ones");
    return each_device(harness_flag("CLATTN_FULL") ? run_full : run_usual);
}
