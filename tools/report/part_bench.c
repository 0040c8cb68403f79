/* part_bench.c - how fast a device is: prompts, decoding, gradients; and what searches find
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/parts.h"

#include "bench/run/bench.h"
#include "bench/run/comparison.h"
#include "bench/run/results.h"
#include "tools/system/clock.h"

#include <clattn_tune.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { ROUNDS = 11, ROUNDS_LEAST = 3, LENGTH_LEAST = 512, LENGTH_MOST = 8192, REFUSALS_TOLD = 8 };
#define ENOUGH_MS 1500.0       /* of rounds */
#define CALL_MS 150.0          /* that a call may take, of a kernel at a quarter of the peak; with --quick: */
#define CALL_MS_QUICK 20.0
#define SEARCH_SECONDS 15.0

/* N: a length that fits the device's speed. */
static const struct { const char *what, *problem; double work; /* FLOPs / N^2 */ } problems[] = {
    { "prefill", "f16 b1 h16 qN kN d128 causal", 4.0 * 16 * 128 / 2 },
    { "decode", "f16 b1 h32/8 q1 k16384 d128", 0 },
    { "gradient", "f16 b1 h16 qN kN d64 causal bwd", 10.0 * 16 * 64 / 2 },
    { "prefill", "f32 b1 h8 qN kN d64", 4.0 * 8 * 64 },
    { "decode", "f16 b1 h32/8 q1 k16384 d128 k:q8_0 v:q4_0", 0 },
    { "prefill", "bf16 b1 h16 qN kN d128 causal", 4.0 * 16 * 128 / 2 },
    { "gradient", "f32 b1 h8 qN kN d64 causal bwd", 10.0 * 8 * 64 / 2 },
};
enum { PROBLEMS = sizeof problems / sizeof *problems };

/* The problem with a power of two in place of N. */
static void write_problem(const struct visit *v, const struct bench *b, int i, char *text, size_t len)
{
    const double gflops = b->probes[0].best > 0 ? b->probes[0].best : 1;
    const double most = gflops / 4 * 1e6 * (v->o->quick ? CALL_MS_QUICK : CALL_MS);
    long length = LENGTH_LEAST;
    size_t n = 0;
    while (length < LENGTH_MOST && problems[i].work * 4 * (double)length * (double)length <= most)
        length *= 2;
    for (const char *c = problems[i].problem; *c && n + 1 < len; c++) {
        const int put = *c == 'N' ? snprintf(text + n, len - n, "%ld", length) : snprintf(text + n, len - n, "%c", *c);
        n = put > 0 && n + (size_t)put < len ? n + (size_t)put : len - 1;
    }
}

/* ---- Speed ---- */

/* Once in a child, for speed and searches. */
static void open_bench(struct visit *v, struct bench *b)
{
    if (b->o.rounds)
        return;
    b->o.rounds = ROUNDS;
    b->where = v->where;
    b->handle = v->handle;
    b->progress.quiet = 1;
    if (bench_limits(b) != CL_SUCCESS)
        memset(&b->limits, 0, sizeof b->limits);
    (void)comparison_probe(b, 0);
}

static double known(double x)
{
    return x > 0 ? x : NAN;
}

static void tell_probe(struct visit *v, const struct bench *b)
{
    struct fact_line l;
    fact_begin(&l, "probe");
    fact_add_number(&l, known(b->probes[0].best), 4);
    fact_add_number(&l, known(b->moves.read), 4);
    fact_add_number(&l, known(b->moves.copied), 4);
    fact_add_number(&l, known(b->moves.of[0]), 4);
    parts_send(v, &l);
}

/* Until there are enough rounds, or time enough was spent on fewer. */
static int run_rounds(struct visit *v, struct bench *b, struct comparison *r, struct fault *f)
{
    const double start = clock_ms();
    for (r->rounds = 0; r->rounds < ROUNDS; r->rounds++) {
        const double now = clock_ms();
        if (r->rounds >= ROUNDS_LEAST && (now - start > ENOUGH_MS || !(now < v->end)))
            break;
        r->peak[r->rounds] = NAN;
        if (r->probe)
            (void)probe_run(r->probe, &r->peak[r->rounds]);
        if (comparison_run(b, r, 0, &r->ms[r->rounds], f) != 0)
            return -1;
    }
    return 0;
}

static const char *by(enum ceilings_by who)
{
    return who == BY_KERNEL ? "kernel" : who == BY_PROBE ? "probe" : "";
}

static void tell_bench(struct visit *v, const char *what, const char *problem, const struct figures *g,
                       const char *words)
{
    const struct roof *const roof = &g->roof;
    const int known_roof = !isnan(g->share);
    struct fact_line l;
    fact_begin(&l, "bench");
    fact_add(&l, what);
    fact_add(&l, problem);
    fact_add(&l, g->config);
    fact_add_number(&l, g->ms, 4);
    fact_add_number(&l, g->best_ms, 4);
    fact_add_number(&l, g->rounds, 9);
    fact_add_number(&l, figures_gflops(g), 4);
    fact_add_number(&l, figures_gbytes_s(g), 4);
    fact_add_number(&l, g->share, 3);
    fact_add(&l, !known_roof ? "" : !roof->by_memory ? "multiply-add" : roof->cached ? "cache" : "memory");
    fact_add(&l, known_roof ? by(roof->by_memory ? roof->moved_by : roof->peak_by) : "");
    fact_add(&l, words);
    parts_send(v, &l);
}

static void measure(struct visit *v, struct bench *b, const char *what, const char *problem)
{
    struct comparison r;
    struct figures g;
    struct fault f = { 0, "" };
    memset(&g, 0, sizeof g);
    g.ms = g.best_ms = g.share = NAN;
    if (comparison_open(b, &r, problem, &f) == 0 && run_rounds(v, b, &r, &f) == 0)
        (void)results_fill(b, &r, &g);
    tell_bench(v, what, problem, &g, f.text);
    comparison_close(b, &r);
}

void part_bench(struct visit *v)
{
    struct bench *const b = &v->bench;
    char problem[128];
    if (parts_step(v, "what the device does at best")) {
        open_bench(v, b);
        tell_probe(v, b);
    }
    for (int i = 0; i < PROBLEMS; i++) {
        if (!parts_step(v, problems[i].problem))
            continue;
        open_bench(v, b); /* where a child before this one has told the probe */
        write_problem(v, b, i, problem, sizeof problem);
        parts_doing(v, problem);
        measure(v, b, problems[i].what, problem);
    }
}

/* ---- Searches ---- */

struct search {
    struct visit *v;
    const char *problem;
    int tried, refused;
    double ratio;
};

/* Tells what is about to be built, so that a crash has a name; and why candidates are refused. */
static int watch(void *user, const clattn_progress *p)
{
    struct search *const s = user;
    struct fact_line l;
    char doing[FACT_WORDS];
    if (p->step == CLATTN_STEP_BUILD) {
        s->tried++;
        snprintf(doing, sizeof doing, "searching for %s: %s", s->problem, p->config);
        parts_doing(s->v, doing);
    }
    if (p->step == CLATTN_STEP_REFUSED && s->refused++ < REFUSALS_TOLD) {
        fact_begin(&l, "refused");
        fact_add(&l, s->problem);
        fact_add(&l, p->config);
        fact_add(&l, p->words);
        parts_send(s->v, &l);
    }
    if (p->best_ratio > 0)
        s->ratio = p->best_ratio;
    return s->v->gone;
}

static void search(struct visit *v, const char *problem)
{
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct search s = { v, problem, 0, 0, NAN };
    struct fact_line l;
    char standard[256] = "", best[256] = "", words[FACT_WORDS] = "";
    parts_settle(v);
    const double left = (v->end - clock_ms()) * 1e-3;
    o.effort = CLATTN_TUNE_FULL;
    o.seconds = left < SEARCH_SECONDS ? left : SEARCH_SECONDS;
    o.progress = watch;
    o.progress_user = &s;
    cl_int e = clattn_workload_parse(problem, &c, words, sizeof words);
    if (e == CL_SUCCESS)
        e = clattn_config_at(v->handle, &c.problem, 0, standard, sizeof standard);
    if (e == CL_SUCCESS && o.seconds > 0)
        e = clattn_tune(v->handle, &c.problem, &o, best, sizeof best);
    if (e != CL_SUCCESS && !*words)
        parts_failure(v, e, words, sizeof words);
    fact_begin(&l, "tuned");
    fact_add(&l, problem);
    fact_add(&l, standard);
    fact_add(&l, best);
    fact_add_number(&l, *best && !strcmp(best, standard) ? 1 : s.ratio, 3);
    fact_add_number(&l, s.tried, 9);
    fact_add_number(&l, s.refused, 9);
    fact_add(&l, words);
    parts_send(v, &l);
}

void part_tuning(struct visit *v)
{
    struct bench *const b = &v->bench;
    char problem[128];
    for (int i = 0; i < PROBLEMS; i++) {
        if (!parts_step(v, problems[i].problem))
            continue;
        open_bench(v, b);
        write_problem(v, b, i, problem, sizeof problem);
        parts_doing(v, problem);
        search(v, problem);
    }
}
