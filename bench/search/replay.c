/* replay.c - clattn-replay: the search, run on recordings by clocks that lie
 * SPDX-License-Identifier: Apache-2.0
 *
 * A recording (of clattn-record, or made up) says how long each configuration takes. Replaying shows how often the
 * search finds one within 3 % of the best in spite of noise, cold clocks, drift, outliers and other programs. */
#include "config.h"

#include "bench/search/virtual.h"
#include "src/problem/workload.h"
#include "tools/system/args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { RUNS = 1000, LINE_MAX_BYTES = 1024, ENTRIES_MAX = 1 << 16 };
static const double near_enough = 1.03;

struct recording {
    struct space space;
    struct caps caps;
    clattn_problem problem;
};

/* ---- Reading ---- */

static int fail(const char *file, int line, const char *words)
{
    fprintf(stderr, "clattn-replay: %s:%d: %s\n", file, line, words);
    return -1;
}

static int read_header(struct recording *r, const char *text, struct why *why)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    unsigned long long x;
    if (!strncmp(text, "# problem ", 10))
        return workload_parse(&c, text + 10, why) || problem_read(&r->problem, &c.problem, why);
    if (sscanf(text, "# float_width %llu", &x) == 1)
        r->caps.float_width = (unsigned)x;
    if (sscanf(text, "# local_bytes %llu", &x) == 1)
        r->caps.local_bytes = x;
    if (sscanf(text, "# max_group %llu", &x) == 1)
        r->caps.max_group = (size_t)x;
    return 0;
}

/* Reads "CONFIG MICROSECONDS" or "CONFIG refused". Configurations that this version cannot run are ignored. */
static int read_entry(struct recording *r, char *text, struct why *why)
{
    char *const at = strrchr(text, ' ');
    struct entry e = { { NULL, { { 0 } }, 0 }, 0 };
    if (!at || r->space.n == ENTRIES_MAX)
        return why_set(why, -1, at ? "too many lines" : "no time");
    *at = '\0';
    if (strcmp(at + 1, "refused") && !((e.seconds = atof(at + 1) * 1e-6) > 0))
        return why_set(why, -1, "\"%.40s\" is no time", at + 1);
    if (!r->problem.type)
        return why_set(why, -1, "a configuration before the problem");
    if ((!strncmp(text, "cpu ", 4) || !strncmp(text, "row ", 4)) && r->caps.kind != CAPS_CPU) {
        r->caps.kind = CAPS_CPU;
        if (r->caps.float_width == 1)
            r->caps.float_width = 16;
    }
    if (tile_config_read(&e.config, text, &r->caps, &r->problem, why) || space_find(&r->space, &e.config))
        return 0;
    struct entry *const more = realloc(r->space.at, (size_t)(r->space.n + 1) * sizeof *more);
    if (!more)
        return why_set(why, -1, "no memory");
    r->space.at = more;
    more[r->space.n++] = e;
    return 0;
}

static int recording_read(struct recording *r, const char *file)
{
    char text[LINE_MAX_BYTES];
    struct why why = { "" };
    int line = 0, bad = 0;
    FILE *const from = fopen(file, "r");
    memset(r, 0, sizeof *r);
    caps_generic(&r->caps);
    if (!from)
        return fail(file, 0, "cannot be opened");
    while (!bad && fgets(text, sizeof text, from)) {
        line++;
        text[strcspn(text, "\n")] = '\0';
        if (*text)
            bad = *text == '#' ? read_header(r, text, &why) : read_entry(r, text, &why);
    }
    if (!bad && (ferror(from) || !isfinite(space_best(&r->space))))
        bad = why_set(&why, -1, "no times in it");
    fclose(from);
    return bad ? fail(file, line, why.text) : 0;
}

/* ---- Replaying ---- */

struct tally {
    int near, near_opened; /* runs whose winner is near the best there is, and of those it opened */
    int slower, noisy;     /* winners more than 1 % slower than the control; undecided */
    double trials, seconds;
    double *loss;
};

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double truth(const struct recording *r, const struct config *c)
{
    const struct entry *const e = space_find(&r->space, c);
    return e && e->seconds > 0 ? e->seconds : INFINITY;
}

static long replay_one(struct tally *t, const struct recording *r, enum clock clock, int effort, long span, int run)
{
    struct device d;
    struct search_ops ops;
    struct search_result result;
    struct search_options o = { effort, effort == CLATTN_TUNE_QUICK ? 2 : 60, "", { NULL, { { 0 } }, 0 }, NULL, 0, 0,
                                false };
    tile_config_at(&o.control, &r->caps, &r->problem, NULL, 0);
    device_init(&d, &ops, &r->space, clock, span, (uint64_t)run * 1000003u + (uint64_t)clock);
    search_run(&result, &ops, &o, &r->caps, &r->problem);
    const double got = truth(r, &result.best), best = space_best(&r->space);
    t->near += got <= near_enough * best;
    t->near_opened += got <= near_enough * d.best_opened;
    t->slower += got > 1.01 * truth(r, &o.control);
    t->noisy += result.noisy;
    t->trials += result.trials;
    t->seconds += d.now;
    t->loss[run] = got / best - 1;
    return d.calls;
}

static bool replay(struct tally *t, const struct recording *r, enum clock clock, int effort, const char *name)
{
    double *const loss = t->loss;
    const long span = replay_one(t, r, CLOCK_EXACT, effort, 1, 0);
    *t = (struct tally){ 0, 0, 0, 0, 0, 0, loss };
    for (int run = 0; run < RUNS; run++)
        replay_one(t, r, clock, effort, span, run);
    qsort(loss, RUNS, sizeof *loss, compare);
    printf("%-5s %-8s %5.1f %% near the best, %5.1f %% near the best opened; loss %.1f %% median, %.1f %% at 95 of "
           "100; %.0f tried, %.1f s; %d slower than the control, %d undecided\n",
           name, clock_name(clock), 100.0 * t->near / RUNS, 100.0 * t->near_opened / RUNS, 100 * loss[RUNS / 2],
           100 * loss[RUNS * 95 / 100], t->trials / RUNS, t->seconds / RUNS, t->slower, t->noisy);
    return t->near >= RUNS * 95 / 100;
}

static int replay_file(const char *file)
{
    struct recording r;
    struct tally t;
    bool good = true;
    if (recording_read(&r, file) || !(t.loss = calloc(RUNS, sizeof *t.loss))) {
        free(r.space.at);
        return 1;
    }
    printf("%s: %d configurations, best %.1f us\n", file, r.space.n, 1e6 * space_best(&r.space));
    for (enum clock c = CLOCK_EXACT; c < CLOCKS; c++)
        replay(&t, &r, c, CLATTN_TUNE_QUICK, "quick");
    for (enum clock c = CLOCK_EXACT; c < CLOCKS; c++)
        good = replay(&t, &r, c, CLATTN_TUNE_FULL, "full") && good;
    free(t.loss);
    free(r.space.at);
    return !good;
}

/* Prints a recording with times made up. */
static int make(const char *problem, const char *seed)
{
    struct recording r;
    struct why why;
    char header[LINE_MAX_BYTES];
    memset(&r, 0, sizeof r);
    caps_generic(&r.caps);
    r.caps.kind = CAPS_CPU;
    r.caps.float_width = 16;
    snprintf(header, sizeof header, "# problem %s", problem);
    if (read_header(&r, header, &why) || !space_make(&r.space, &r.caps, &r.problem, strtoull(seed, NULL, 10)))
        return fail(problem, 0, "cannot be made");
    printf("# times are made up, by clattn-replay --make '%s' %s\n%s\n", problem, seed, header);
    for (int i = 0; i < r.space.n; i++) {
        struct text to = { header, sizeof header, 0 };
        tile_config_print(&r.space.at[i].config, &to);
        printf("%s %.2f\n", header, 1e6 * r.space.at[i].seconds);
    }
    free(r.space.at);
    return 0;
}

struct replay_options {
    const char *make;
    int help, version;
};
#define INTO struct replay_options
static const struct args_row table[] = {
    ROW_TEXT("--make", make, "PROBLEM", "print a recording with times made up from SEED, a number"),
    ROW_LAST("--help", help, "print this (-h)"),
    ROW_LAST("--version", version, "print the version (-V)"),
    { .name = NULL },
};

int main(int argc, char **argv)
{
    static struct fault f;
    struct replay_options o = { NULL, 0, 0 };
    int bad = 0;
    const int n = args_read(argc, argv, table, &o, &f);
    if (o.help) {
        fputs("usage: clattn-replay FILE...\n       clattn-replay --make PROBLEM SEED\n"
              "Runs the search on recordings, by clocks that lie.\n\n", stdout);
        args_help(stdout, table);
        return 0;
    }
    if (o.version)
        return printf("clattn-replay %s\n", clattn_version()) < 0;
    if (n >= 0 && (o.make ? n != 1 : n < 1))
        fault_set(&f, EXIT_USAGE, o.make ? "--make wants one number behind the problem"
                                          : "a file is wanted; see --help");
    if (f.status) {
        fault_print(&f, "clattn-replay");
        return f.status;
    }
    if (o.make)
        return make(o.make, argv[1]) != 0;
    for (int i = 1; i <= n; i++)
        bad |= replay_file(argv[i]);
    return bad;
}
