/* findings.c - what to look at first in a report
 * SPDX-License-Identifier: Apache-2.0
 *
 * In this order: results that are wrong, crashes, what does not compile or run, spilled registers, tiles that are not
 * the fastest, speed, compile times, what there was no time for. */
#include "config.h"

#include "tools/report/findings.h"

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum rank { RANK_WRONG, RANK_CRASH, RANK_REFUSED, RANK_SPILL, RANK_TILE, RANK_SPEED, RANK_COMPILE, RANK_LEFT_OUT };
static const char *const kinds[] = { "wrong", "crash", "refused", "spill", "tile", "speed", "compile", "left-out" };

#define TILE_GAIN 1.1     /* of a tile that is worth a finding */
#define GOOD_SHARE 0.5    /* of the roofline */
#define SLOW_COMPILE 10.0 /* seconds for a kernel */

static int add(struct findings *f, const struct fact *r, enum rank rank, double weight, const char *format, ...)
    PRINTF_LIKE(5, 6);
static int add(struct findings *f, const struct fact *r, enum rank rank, double weight, const char *format, ...)
{
    struct finding *const all = realloc(f->all, (f->n + 1) * sizeof *all);
    va_list list;
    if (!all)
        return -1;
    f->all = all;
    struct finding *const x = &all[f->n++];
    x->rank = (int)rank;
    x->weight = weight;
    x->kind = kinds[rank];
    x->device = r->device;
    va_start(list, format);
    vsnprintf(x->words, sizeof x->words, format, list);
    va_end(list);
    return 0;
}

static const char *of(const struct fact *r, const char *field)
{
    return fact_value(r, field);
}

/* ---- Each kind of fact ---- */

static int is_wrong(const struct fact *r)
{
    return !strcmp(of(r, "verdict"), "BEYOND") || !strcmp(of(r, "verdict"), "WRONG");
}

static int is_good(const struct fact *r)
{
    return !strcmp(of(r, "verdict"), "within") || !strcmp(of(r, "verdict"), "refused");
}

static int from_check(struct findings *f, const struct fact *r)
{
    const double bounds = fact_number(r, "bounds");
    const int engine = fact_is(r, "engine");
    char what[256];
    if (is_good(r))
        return 0;
    snprintf(what, sizeof what, "%s%s%s%s%s", engine ? "engine " : of(r, "problem"), engine ? of(r, "engine") : "",
             engine ? " in " : "", engine ? of(r, "type") : "", *of(r, "config") ? " with " : "");
    if (!is_wrong(r))
        return add(f, r, RANK_REFUSED, engine ? 2 : 1, "%s%s: %s: %s", what, of(r, "config"), of(r, "verdict"),
                   of(r, "words"));
    if (isnan(bounds))
        return add(f, r, RANK_WRONG, INFINITY, "WRONG RESULT: %s%s: %s%s%s", what, of(r, "config"), of(r, "what"),
                   *of(r, "what") ? ": " : "", of(r, "words"));
    return add(f, r, RANK_WRONG, bounds, "WRONG RESULT: %s%s: %s is off by %s times its bound", what, of(r, "config"),
               of(r, "what"), of(r, "bounds"));
}

/* What the library says on its own account: an engine that failed its self-test, a configuration passed over. */
static int from_log(struct findings *f, const struct fact *r)
{
    const int wrong = strstr(of(r, "words"), "self-test") != NULL;
    if (!wrong && !strstr(of(r, "words"), "instead of"))
        return 0;
    return add(f, r, wrong ? RANK_WRONG : RANK_REFUSED, 1.5, "the library says: %s", of(r, "words"));
}

/* An engine that nobody gets by itself there, and that compiles without end. */
static int is_aside(const struct fact *r)
{
    return (!strcmp(of(r, "part"), "tuning") || strstr(of(r, "doing"), " by ") || strstr(of(r, "doing"), "engine ")) &&
           strstr(of(r, "words"), "no answer");
}

static int from_trouble(struct findings *f, const struct fact *r)
{
    const int aside = is_aside(r);
    return add(f, r, aside ? RANK_COMPILE : RANK_CRASH, aside ? INFINITY : 0, "%s: %s: %s", of(r, "part"),
               of(r, "doing"), of(r, "words"));
}

static int from_kernel(struct findings *f, const struct fact *r)
{
    const double spills = fact_number(r, "spill_bytes"), seconds = fact_number(r, "compile_s");
    if (*of(r, "words"))
        return add(f, r, RANK_REFUSED, 3, "%s of %s is not compiled: %s", of(r, "kernel"), of(r, "problem"),
                   of(r, "words"));
    if (spills > 0 && add(f, r, RANK_SPILL, spills, "%s of %s spills %s bytes (%s registers): %s", of(r, "kernel"),
                          of(r, "problem"), of(r, "spill_bytes"), of(r, "registers"), of(r, "config")) != 0)
        return -1;
    return seconds > SLOW_COMPILE ? add(f, r, RANK_COMPILE, seconds, "%s of %s takes %s s to compile", of(r, "kernel"),
                                        of(r, "problem"), of(r, "compile_s"))
                                  : 0;
}

/* A roof that the kernel itself has shown says nothing of how good it is. */
static int from_bench(struct findings *f, const struct fact *r)
{
    const double share = fact_number(r, "of_roof");
    if (*of(r, "words"))
        return add(f, r, RANK_REFUSED, 0.5, "%s was not timed: %s", of(r, "problem"), of(r, "words"));
    if (isnan(share) || share >= GOOD_SHARE)
        return 0;
    return add(f, r, RANK_SPEED, 1 - share, "%s, %s: %s of the roofline (%s), %s GFLOP/s, %s GB/s, with %s",
               of(r, "what"), of(r, "problem"), of(r, "of_roof"), of(r, "roof"), of(r, "gflops"), of(r, "gbytes_s"),
               of(r, "config"));
}

static int from_tuned(struct findings *f, const struct fact *r)
{
    const double ratio = fact_number(r, "of_time");
    if (*of(r, "words"))
        return add(f, r, RANK_REFUSED, 0.2, "the search for %s failed: %s", of(r, "problem"), of(r, "words"));
    if (!(ratio > 0 && ratio * TILE_GAIN <= 1))
        return 0;
    return add(f, r, RANK_TILE, 1 / ratio, "%s: %s takes %s of the time of the standard tile, %s", of(r, "problem"),
               of(r, "best"), of(r, "of_time"), of(r, "standard"));
}

/* One finding for all that a device lacks for the same reason. */
static int from_left_out(struct findings *f, const struct fact *r)
{
    char begin[64];
    if (!strcmp(of(r, "why"), "not asked for"))
        return 0;
    snprintf(begin, sizeof begin, "left out, all or in part (%s): ", of(r, "why"));
    for (size_t i = 0; i < f->n; i++) {
        char *const words = f->all[i].words;
        const size_t n = strlen(words);
        if (f->all[i].device == r->device && !strncmp(words, begin, strlen(begin))) {
            snprintf(words + n, FINDING_WORDS - n, ", %s", of(r, "what"));
            return 0;
        }
    }
    return add(f, r, RANK_LEFT_OUT, 0, "%s%s", begin, of(r, "what"));
}

static const struct {
    const char *kind;
    int (*look)(struct findings *f, const struct fact *r);
} looks[] = {
    { "check", from_check },     { "engine", from_check }, { "log", from_log },     { "trouble", from_trouble },
    { "kernel", from_kernel },   { "bench", from_bench },   { "tuned", from_tuned }, { "left_out", from_left_out },
};

static int compare(const void *a, const void *b)
{
    const struct finding *const x = a, *const y = b;
    if (x->rank != y->rank)
        return x->rank < y->rank ? -1 : 1;
    return x->weight > y->weight ? -1 : x->weight < y->weight;
}

int findings_make(struct findings *f, const struct fact *all, size_t n)
{
    memset(f, 0, sizeof *f);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < sizeof looks / sizeof *looks; k++)
            if (fact_is(&all[i], looks[k].kind) && looks[k].look(f, &all[i]) != 0)
                return -1;
    if (f->n)
        qsort(f->all, f->n, sizeof *f->all, compare);
    return 0;
}

void findings_free(struct findings *f)
{
    free(f->all);
    memset(f, 0, sizeof *f);
}
