/* clattn-bench.c - time and throughput of problems, beside peers in the same run
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every round runs the plan, each peer and a probe of the device once, forwards and backwards in turn, so that a
 * machine whose speed drifts slows all of them alike. Times are medians over the rounds, ratios are medians of the
 * ratios within a round. Before the first round the O of each peer is compared with clattn's; a difference is an
 * error. */
#include "config.h"

#include "args.h"
#include "backward.h"
#include "clock.h"
#include "convert.h"
#include "devices.h"
#include "fault.h"
#include "figures.h"
#include "inputs.h"
#include "peer.h"
#include "plot.h"
#include "probe.h"
#include "setup.h"
#include "suites.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS_DEFAULT = 11, ROUNDS_MOST = 100000 };

struct bench {
    struct opencl where;
    clattn_handle handle;
    const struct peer_kind *peers[PEERS_MAX];
    int n_peers, rounds, json, on_stdin, help, version, list_devices;
    const char *device, *config, *against, *suite_name, *plot, *rounds_text;
    const struct suite *suite;
    struct probe probes[2]; /* of float and of double */
    int probed[2];          /* whether the probe was tried, which happens at the first problem of either type */
    struct figures *all;    /* where they are to be plotted */
    size_t n_all;
};

/* ---- One problem ---- */

/* What runs for one problem: the plan is number 0, and the peers follow. */
struct comparison {
    clattn_workload c;
    struct extras extras;           /* c.problem points into them */
    struct setup setup;
    clattn_plan plan;
    struct backward backward;       /* where gradients are asked for */
    void *peers[PEERS_MAX];
    struct probe *probe;            /* NULL: the roofline is not known */
    double *ms;                     /* [1 + n_peers][rounds] */
    double *peak;                   /* [rounds], GFLOP/s */
    double largest, off[PEERS_MAX]; /* our largest |O|, and how far each peer is from ours */
};

static int cl_fault(struct fault *f, clattn_handle h, cl_int status, const char *problem)
{
    char words[4096] = "";
    (void)clattn_error_detail(h, words, sizeof words, NULL);
    return fault_set(f, status == CLATTN_ERROR_NOT_SUPPORTED ? EXIT_UNSUPPORTED : EXIT_USAGE, "%s: %s%s%s", problem,
                     clattn_status_string(status), *words ? ": " : "", words);
}

static int is_backward(const struct comparison *r)
{
    return (r->c.problem.flags & CLATTN_BACKWARD) != 0;
}

static cl_int run_ours(struct comparison *r)
{
    return is_backward(r) ? gradients_run(&r->backward.g, &r->setup) : setup_run(&r->setup, r->plan);
}

static int run_one(struct bench *b, struct comparison *r, int n, double *ms, const char *problem, struct fault *f)
{
    const double t = clock_ms();
    const cl_int status = n ? b->peers[n - 1]->run(r->peers[n - 1]) : run_ours(r);
    *ms = clock_ms() - t;
    return status ? cl_fault(f, n ? NULL : b->handle, status, problem) : 0;
}

static int open_inputs(struct bench *b, struct comparison *r, const char *problem, struct fault *f)
{
    struct counts n;
    struct stored_kv caches;
    int result = -1;
    double *q = NULL, *k = NULL, *v = NULL;
    memset(&caches, 0, sizeof caches);
    if (inputs_count(&r->c, &n))
        return fault_set(f, EXIT_USAGE, "%s: its sizes overflow", problem);
    q = calloc(n.q + 1, sizeof *q);
    k = calloc(n.k + 1, sizeof *k);
    v = calloc(n.v + 1, sizeof *v);
    if (!q || !k || !v) {
        fault_set(f, EXIT_USAGE, "%s: no memory", problem);
        goto out;
    }
    inputs_fill(&r->c, q, k, v);
    if (stored_kv_make(&caches, &r->c, k, v)) {
        fault_set(f, EXIT_USAGE, "%s: no memory", problem);
        goto out;
    }
    const struct setup_inputs in = { .q = q, .k = k, .v = v, .caches = &caches, .lse = r->c.lse || is_backward(r),
                                     .x = &r->extras };
    const cl_int status = setup_open(&r->setup, &b->where, &r->c, &in);
    result = status ? cl_fault(f, NULL, status, problem) : 0;
out:
    stored_kv_free(&caches);
    free(q);
    free(k);
    free(v);
    return result;
}

/* All write to the same O, which is filled with NaN before a run to show elements that the run does not write. */
static cl_int blank_o(struct comparison *r, size_t n)
{
    const unsigned char nan_byte = 0xff;
    const size_t bytes = n * convert_size(r->setup.c.problem.o_type);
    return bytes ? clEnqueueFillBuffer(r->setup.queue, r->setup.args.o.mem, &nan_byte, 1, 0, bytes, 0, NULL, NULL)
                 : CL_SUCCESS;
}

static double largest_difference(const double *x, const double *y, size_t n)
{
    double most = 0;
    for (size_t i = 0; i < n; i++) {
        const double d = fabs(x[i] - (y ? y[i] : 0));
        most = isnan(d) ? INFINITY : fmax(most, d);
    }
    return most;
}

/* Runs the plan and every peer once: drivers compile at the first launch. Fills largest and off. */
static int warm_up(struct bench *b, struct comparison *r, const char *problem, struct fault *f)
{
    struct counts n = { 0, 0, 0, 0, 0 };
    double ms;
    (void)inputs_count(&r->c, &n); /* open_inputs() has seen that it can be done */
    double *ours = calloc(n.o + 1, sizeof *ours), *theirs = calloc(n.o + 1, sizeof *theirs);
    int result = ours && theirs ? 0 : fault_set(f, EXIT_USAGE, "%s: no memory", problem);
    for (int i = 0; i <= b->n_peers && !result; i++) {
        cl_int status = is_backward(r) ? CL_SUCCESS : blank_o(r, n.o); /* its O is an input */
        if (!status && (result = run_one(b, r, i, &ms, problem, f)))
            break;
        if (!status)
            status = setup_read(&r->setup, i ? theirs : ours, NULL);
        if (status)
            result = cl_fault(f, NULL, status, problem);
        else if (i)
            r->off[i - 1] = largest_difference(ours, theirs, n.o);
        else
            r->largest = largest_difference(ours, NULL, n.o);
    }
    free(ours);
    free(theirs);
    return result;
}

/* Both are rounded to the type of O, and scores of the 16-bit types may be too. */
static int differs(const struct bench *b, const struct comparison *r, int peer)
{
    const int type = r->setup.c.problem.o_type;
    const double part = type == CLATTN_BF16 ? 5e-2 : type == CLATTN_F16 ? 1e-2 : 1e-3;
    return !b->peers[peer]->other && (isinf(r->off[peer]) || r->off[peer] > part * r->largest);
}

static int comparison_open(struct bench *b, struct comparison *r, const char *problem, struct fault *f)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    const char *words = NULL;
    char why[4096] = "";
    cl_int status;
    r->c.struct_size = sizeof r->c;
    if ((status = clattn_workload_parse(problem, &r->c, why, sizeof why)))
        return fault_set(f, status == CLATTN_ERROR_NOT_SUPPORTED ? EXIT_UNSUPPORTED : EXIT_USAGE, "\"%s\": %s", problem,
                         why);
    if (extras_fill(&r->c, &r->extras, &words))
        return fault_set(f, EXIT_USAGE, "\"%s\": %s", problem, words);
    o.config = b->config;
    if ((status = clattn_plan_create(&r->plan, b->handle, &r->c.problem, &o)))
        return cl_fault(f, b->handle, status, problem);
    if (open_inputs(b, r, problem, f))
        return -1;
    if (is_backward(r) && b->n_peers)
        return fault_set(f, EXIT_UNSUPPORTED, "%s: %s computes no gradients", problem, b->peers[0]->name);
    status = is_backward(r) ? backward_open(&r->backward, b->handle, r->plan, &r->setup)
                            : setup_prepare(&r->setup, r->plan);
    if (status)
        return cl_fault(f, b->handle, status, problem);
    for (int i = 0; i < b->n_peers; i++)
        if (b->peers[i]->open(&r->peers[i], &b->where, b->handle, &r->setup, why, sizeof why))
            return fault_set(f, EXIT_UNSUPPORTED, "%s: %s: %s", problem, b->peers[i]->name, why);
    r->ms = calloc((size_t)(1 + b->n_peers) * (size_t)b->rounds, sizeof *r->ms);
    r->peak = calloc((size_t)b->rounds, sizeof *r->peak);
    if (!r->ms || !r->peak)
        return fault_set(f, EXIT_USAGE, "no memory");
    return warm_up(b, r, problem, f);
}

static void comparison_close(struct bench *b, struct comparison *r)
{
    for (int i = 0; i < b->n_peers; i++)
        b->peers[i]->close(r->peers[i]);
    backward_close(&r->backward);
    setup_close(&r->setup);
    (void)clattn_plan_release(r->plan);
    extras_free(&r->extras);
    free(r->ms);
    free(r->peak);
}

/* ---- Rounds ---- */

/* Measures the device's ceilings; where that fails, the rest is still useful. */
static struct probe *find_probe(struct bench *b, const clattn_problem *p)
{
    const int twice = p->type == CLATTN_F64;
    struct probe *const probe = &b->probes[twice];
    if (!b->probed[twice]++ && probe_open(probe, &b->where, twice))
        probe_close(probe);
    return probe->queue ? probe : NULL;
}

static int run_peak(struct comparison *r, int round, const char *problem, struct fault *f)
{
    r->peak[round] = NAN;
    const cl_int status = r->probe ? probe_run(r->probe, &r->peak[round]) : CL_SUCCESS;
    return status ? cl_fault(f, NULL, status, problem) : 0;
}

/* Runs the plan, every peer and the probe once each, forwards and backwards in turn, because whatever runs second finds
 * its data in the caches: up to 10 % of a time of 2 ms. */
static int run_round(struct bench *b, struct comparison *r, int round, const char *problem, struct fault *f)
{
    const int last = b->n_peers + 1; /* the number of the probe */
    for (int i = 0; i <= last; i++) {
        const int n = round % 2 ? last - i : i;
        if (n == last ? run_peak(r, round, problem, f)
                      : run_one(b, r, n, &r->ms[n * b->rounds + round], problem, f))
            return -1;
    }
    return 0;
}

/* The median over rounds of x / y. */
static double ratio(const struct bench *b, const double *x, const double *y)
{
    double *z = malloc((size_t)b->rounds * sizeof *z), m = NAN;
    if (!z)
        return m;
    for (int i = 0; i < b->rounds; i++)
        z[i] = x[i] / y[i];
    m = clock_median(z, b->rounds);
    free(z);
    return m;
}

/* Where memory is the limit, its ceiling was measured before. */
static double fraction(const struct bench *b, const struct comparison *r, const struct figures *g)
{
    const double roof = figures_roof(g);
    if (isnan(roof) || g->flops <= 0)
        return NAN;
    if (roof < g->peak_gflops)
        return figures_gflops(g) / roof;
    double *took = malloc((size_t)b->rounds * sizeof *took), x = NAN;
    for (int i = 0; took && i < b->rounds; i++)
        took[i] = r->ms[i] * r->peak[i];
    if (took)
        x = g->flops * 1e-6 / clock_median(took, b->rounds);
    free(took);
    return x;
}

static cl_int fill_figures(const struct bench *b, const struct comparison *r, const char *problem, struct figures *g)
{
    memset(g, 0, sizeof *g);
    g->problem = problem;
    g->device = b->where.device_name;
    (void)clattn_plan_config(r->plan, g->config, sizeof g->config, NULL);
    const cl_int status = clattn_workload_cost(&r->c, &g->flops, &g->bytes);
    g->ms = clock_median(r->ms, b->rounds);
    g->best_ms = r->ms[0];
    for (int i = 1; i < b->rounds; i++)
        g->best_ms = fmin(g->best_ms, r->ms[i]);
    g->twice = r->setup.c.problem.type == CLATTN_F64;
    g->peak_gflops = r->probe ? clock_median(r->peak, b->rounds) : NAN;
    g->copy_gbytes_s = r->probe ? r->probe->copied : NAN;
    g->read_gbytes_s = r->probe ? r->probe->read : NAN;
    g->fraction = fraction(b, r, g);
    g->n_peers = b->n_peers;
    for (int i = 0; i < b->n_peers; i++) {
        const double *const ms = r->ms + (i + 1) * b->rounds;
        g->peers[i].name = b->peers[i]->name;
        g->peers[i].note = b->peers[i]->note(&b->where);
        g->peers[i].ms = clock_median(ms, b->rounds);
        g->peers[i].ratio = ratio(b, ms, r->ms);
        g->peers[i].differs = differs(b, r, i);
    }
    return status;
}

/* Prints what was measured, and keeps it where it is to be plotted. */
static int tell(struct bench *b, const struct comparison *r, const char *problem, struct fault *f)
{
    struct figures g;
    const cl_int status = fill_figures(b, r, problem, &g);
    if (status)
        return cl_fault(f, NULL, status, problem);
    (b->json ? figures_print_json : figures_print)(&g);
    fflush(stdout);
    if (b->plot) {
        struct figures *all = realloc(b->all, (b->n_all + 1) * sizeof *all);
        if (!all)
            return fault_set(f, EXIT_USAGE, "no memory");
        b->all = all;
        all[b->n_all++] = g;
    }
    for (int i = 0; i < b->n_peers; i++)
        if (g.peers[i].differs)
            return fault_set(f, EXIT_VERIFY, "%s: %s: its O is %.3g away from ours", problem, g.peers[i].name,
                             r->off[i]);
    return 0;
}

/* Runs one timed round for each line on standard input and prints its ms on a line, so that another program can
 * interleave its own rounds. */
static int rounds_on_stdin(struct bench *b, struct comparison *r, const char *problem, struct fault *f)
{
    int c;
    printf("ready\n");
    fflush(stdout);
    while ((c = getchar()) != EOF) {
        double ms;
        if (c != '\n')
            continue;
        if (run_one(b, r, 0, &ms, problem, f))
            return -1;
        printf("%.6f\n", ms);
        fflush(stdout);
    }
    return 0;
}

static int bench_problem(struct bench *b, const char *problem, struct fault *f)
{
    struct comparison r;
    memset(&r, 0, sizeof r);
    int result = comparison_open(b, &r, problem, f);
    if (!result && b->on_stdin) {
        result = rounds_on_stdin(b, &r, problem, f);
    } else if (!result) {
        r.probe = find_probe(b, &r.setup.c.problem);
        for (int i = 0; i < b->rounds && !result; i++)
            result = run_round(b, &r, i, problem, f);
        if (!result)
            result = tell(b, &r, problem, f);
    }
    comparison_close(b, &r);
    return result;
}

/* ---- Command line ---- */

static void help(void)
{
    puts("Usage: clattn-bench [options] 'PROBLEM' ...\n"
         "Times fused attention; a problem is e.g. 'f32 b1 h8 q2048 k2048 d64 causal'.\n"
         "  --device TEXT      part of \"platform / device\", or P:D (default: first GPU, accelerator, CPU)\n"
         "  --config TEXT      \"ENGINE\" or \"ENGINE TILE\" instead of the default\n"
         "  --against LIST     peers to compare with, separated by commas:");
    for (int i = 0; peer_kinds[i]; i++)
        printf("      %-12s %s\n", peer_kinds[i]->name, peer_kinds[i]->what);
    puts("  --suite NAME       a set of problems, measured before those that are given:");
    for (const struct suite *s = suites; s->name; s++)
        printf("      %-12s %s\n", s->name, s->what);
    puts("  --plot DIR         write throughput.svg and roofline.svg into DIR, by gnuplot (default suite: prefill)\n"
         "  --rounds N         rounds after a warm-up (default 11)\n"
         "  --rounds-on-stdin  one round for each line of standard input; prints its ms on a line\n"
         "  --json             print JSON, one object on a line for each problem\n"
         "  --list-devices     list the devices, and the engine that each has by default\n"
         "  --help             print this (-h)\n"
         "  --version          print the version (-V)");
}

static int find_peers(struct bench *b, struct fault *f)
{
    const char *at = b->against ? b->against : "";
    while (*at) {
        const size_t n = strcspn(at, ",");
        int i = 0;
        while (peer_kinds[i] && (strlen(peer_kinds[i]->name) != n || strncmp(peer_kinds[i]->name, at, n)))
            i++;
        if (!peer_kinds[i])
            return fault_set(f, EXIT_USAGE, "--against: \"%.*s\" is no peer; see --help", (int)n, at);
        if (b->n_peers == PEERS_MAX)
            return fault_set(f, EXIT_USAGE, "--against: too many peers");
        for (int n_before = 0; n_before < b->n_peers; n_before++)
            if (b->peers[n_before] == peer_kinds[i])
                return fault_set(f, EXIT_USAGE, "--against: %s is named twice", peer_kinds[i]->name);
        b->peers[b->n_peers++] = peer_kinds[i];
        at += n + (at[n] == ',');
    }
    return 0;
}

static int read_rounds(int *rounds, const char *text, struct fault *f)
{
    char *end;
    const long n = strtol(text, &end, 10);
    if (*end || n < 1 || n > ROUNDS_MOST)
        return fault_set(f, EXIT_USAGE, "--rounds %s: expected 1 to %d", text, ROUNDS_MOST);
    *rounds = (int)n;
    return 0;
}

/* given: problems were given. */
static int find_suite(struct bench *b, int given, struct fault *f)
{
    const char *name = !b->suite_name && b->plot && !given ? "prefill" : b->suite_name;
    if (!name)
        return given ? 0 : fault_set(f, EXIT_USAGE, "no problem given; see --help");
    b->suite = suite_find(name);
    return b->suite ? 0 : fault_set(f, EXIT_USAGE, "--suite: there is no \"%s\"; see --help", name);
}

#define INTO struct bench
static const struct args_row table[] = {
    ROW_TEXT("--device", device, "TEXT", NULL),
    ROW_TEXT("--config", config, "TEXT", NULL),
    ROW_TEXT("--against", against, "LIST", NULL),
    ROW_TEXT("--suite", suite_name, "NAME", NULL),
    ROW_TEXT("--plot", plot, "DIR", NULL),
    ROW_TEXT("--rounds", rounds_text, "N", NULL),
    ROW_FLAG("--rounds-on-stdin", on_stdin, NULL),
    ROW_FLAG("--json", json, NULL),
    ROW_LAST("--list-devices", list_devices, NULL),
    ROW_LAST("--help", help, NULL),
    ROW_LAST("--version", version, NULL),
    { .name = NULL },
};

/* Reads the options; problems are moved behind argv[0]. Returns their number, or -1. */
static int read_options(struct bench *b, int argc, char **argv, struct fault *f)
{
    const int n = args_read(argc, argv, table, b, f);
    b->rounds = ROUNDS_DEFAULT;
    if (n < 0 || b->help || b->version || b->list_devices)
        return n;
    if (b->rounds_text && read_rounds(&b->rounds, b->rounds_text, f))
        return -1;
    return find_suite(b, n, f) || find_peers(b, f) ? -1 : n;
}

/* Prints what went wrong and returns the worse of two exit statuses. */
static int worse(int status, const struct fault *f)
{
    if (f->status)
        fault_print(f, "clattn-bench");
    return f->status > status ? f->status : status;
}

static int bench_next(struct bench *b, const char *problem, int result)
{
    struct fault one = { 0, "" };
    (void)bench_problem(b, problem, &one);
    return worse(result, &one);
}

/* Runs every problem, also after failures. Returns an exit status. */
static int bench_all(struct bench *b, int n, char **problems)
{
    struct fault f = { 0, "" };
    int result = EXIT_OK;
    cl_int status = opencl_open(b->device, &b->where);
    if (status) {
        fault_set(&f, EXIT_NO_DEVICE, "no device%s%s: %s", b->device ? " named " : "", b->device ? b->device : "",
                  clattn_status_string(status));
        return worse(result, &f);
    }
    status = clattn_create(&b->handle, b->where.context, b->where.device, NULL);
    if (status) {
        fault_set(&f, EXIT_UNSUPPORTED, "%s: %s", b->where.device_name, clattn_status_string(status));
        result = worse(result, &f);
    }
    for (int i = 0; b->suite && b->suite->problems[i] && !status; i++)
        result = bench_next(b, b->suite->problems[i], result);
    for (int i = 0; i < n && !status; i++)
        result = bench_next(b, problems[i], result);
    if (b->plot && !status && plot_write(b->plot, b->all, b->n_all, &f))
        result = worse(result, &f);
    free(b->all);
    for (int i = 0; i < 2; i++)
        probe_close(&b->probes[i]);
    (void)clattn_release(b->handle);
    opencl_close(&b->where);
    return result;
}

int main(int argc, char **argv)
{
    struct bench b;
    struct fault f = { 0, "" }, unwritten = { 0, "" };
    int result = EXIT_OK;
    memset(&b, 0, sizeof b);
    const int n = read_options(&b, argc, argv, &f);
    if (n < 0)
        result = worse(result, &f);
    else if (b.help)
        help();
    else if (b.version)
        printf("clattn-bench %s\n", clattn_version());
    else if (b.list_devices)
        result = devices_list(stdout, &f) == 0 ? EXIT_OK : worse(result, &f);
    else
        result = bench_all(&b, n, argv + 1);
    if (fflush(stdout) != 0 || ferror(stdout))
        fault_set(&unwritten, EXIT_USAGE, "standard output cannot be written");
    return worse(result, &unwritten);
}
