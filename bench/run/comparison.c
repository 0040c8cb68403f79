/* comparison.c - all that runs for one problem: the plan, and peers that compute the same
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/comparison.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/inputs.h"
#include "tools/system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int is_backward(const struct comparison *r)
{
    return (r->c.problem.flags & CLATTN_BACKWARD) != 0;
}

int comparison_has(const struct comparison *r, int peer)
{
    return !*r->missing[peer];
}

static cl_int run_ours(struct comparison *r)
{
    return is_backward(r) ? gradients_run(&r->backward.g, &r->setup) : setup_run(&r->setup, r->plan);
}

int comparison_run(struct bench *b, struct comparison *r, int n, double *ms, struct fault *f)
{
    const double t = clock_ms();
    const cl_int status = n ? b->o.peers[n - 1]->run(r->peers[n - 1]) : run_ours(r);
    *ms = clock_ms() - t;
    return status ? bench_fault(f, n ? NULL : b->handle, status, r->problem) : 0;
}

/* ---- Inputs ---- */

static int open_inputs(struct bench *b, struct comparison *r, struct fault *f)
{
    struct counts n;
    struct stored_kv caches;
    int result = -1;
    double *q = NULL, *k = NULL, *v = NULL;
    memset(&caches, 0, sizeof caches);
    if (inputs_count(&r->c, &n))
        return fault_set(f, EXIT_USAGE, "%s: its sizes overflow", r->problem);
    q = calloc(n.q + 1, sizeof *q);
    k = calloc(n.k + 1, sizeof *k);
    v = calloc(n.v + 1, sizeof *v);
    if (!q || !k || !v) {
        fault_set(f, EXIT_USAGE, "%s: no memory", r->problem);
        goto out;
    }
    inputs_fill(&r->c, q, k, v);
    if (stored_kv_make(&caches, &r->c, k, v)) {
        fault_set(f, EXIT_USAGE, "%s: no memory", r->problem);
        goto out;
    }
    const struct setup_inputs in = { .q = q, .k = k, .v = v, .caches = &caches, .lse = r->c.lse || is_backward(r),
                                     .x = &r->extras };
    const cl_int status = setup_open(&r->setup, &b->where, &r->c, &in);
    result = status ? bench_fault(f, NULL, status, r->problem) : 0;
out:
    stored_kv_free(&caches);
    free(q);
    free(k);
    free(v);
    return result;
}

/* ---- The first run ---- */

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

/* Fills largest and off. */
static int warm_up(struct bench *b, struct comparison *r, struct fault *f)
{
    struct counts n = { 0, 0, 0, 0, 0 };
    double ms;
    (void)inputs_count(&r->c, &n); /* open_inputs() has seen that it can be done */
    double *ours = calloc(n.o + 1, sizeof *ours), *theirs = calloc(n.o + 1, sizeof *theirs);
    int result = ours && theirs ? 0 : fault_set(f, EXIT_USAGE, "%s: no memory", r->problem);
    for (int i = 0; i <= b->o.n_peers && !result; i++) {
        if (i && !comparison_has(r, i - 1))
            continue;
        progress_step(&b->progress, i ? b->o.peers[i - 1]->name : "first run");
        cl_int status = is_backward(r) ? CL_SUCCESS : blank_o(r, n.o); /* its O is an input */
        if (!status && (result = comparison_run(b, r, i, &ms, f)))
            break;
        if (!status)
            status = setup_read(&r->setup, i ? theirs : ours, NULL);
        if (status)
            result = bench_fault(f, NULL, status, r->problem);
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
int comparison_differs(const struct bench *b, const struct comparison *r, int peer)
{
    const int type = r->setup.c.problem.o_type;
    const double part = type == CLATTN_BF16 ? 5e-2 : type == CLATTN_F16 ? 1e-2 : 1e-3;
    return comparison_has(r, peer) && !b->o.peers[peer]->other &&
           (isinf(r->off[peer]) || r->off[peer] > part * r->largest);
}

/* ---- Memory ---- */

static int fits(const struct bench *b, const struct comparison *r, struct fault *f)
{
    char why[256];
    if (!memory_check(&r->need, &b->limits, why, sizeof why))
        return 1;
    fault_set(f, EXIT_UNSUPPORTED, "%s: skipped: %s", r->problem, why);
    return 0;
}

/* Peers whose own buffers do not fit beside ours are left out, for this problem. */
static void leave_out(struct bench *b, struct comparison *r)
{
    for (int i = 0; i < b->o.n_peers; i++) {
        struct memory_need with = r->need;
        memory_buffer(&with, b->o.peers[i]->need(&r->c));
        if (!memory_check(&with, &b->limits, r->missing[i], sizeof r->missing[i]))
            r->need = with;
    }
}

/* Bytes of a backward call that writes all gradients. Which ones these are is told by buffers; any will do. */
static cl_int backward_workspace(struct comparison *r, size_t *bytes)
{
    const clattn_forward_args *const forward = &r->setup.args;
    clattn_backward_args args = CLATTN_BACKWARD_ARGS_INIT;
    args.forward = forward;
    args.dout.mem = forward->o.mem;
    args.dq.mem = forward->q.mem;
    args.dk.mem = forward->k.mem;
    args.dv.mem = forward->v.mem;
    args.dbias.mem = forward->bias.mem;
    memcpy(args.dbias.shape, forward->bias.shape, sizeof args.dbias.shape);
    args.dslopes.mem = forward->slopes.mem;
    args.dsinks.mem = forward->sinks.mem;
    return clattn_backward_workspace_size(r->plan, &args, bytes);
}

/* Adds what a plan with its inputs knows; peers that are plans of ours have a workspace like it. */
static int add_workspace(struct bench *b, struct comparison *r, struct fault *f)
{
    size_t bytes = 0;
    int users = 1;
    const cl_int status = is_backward(r) ? backward_workspace(r, &bytes)
                                         : clattn_workspace_size(r->plan, &r->setup.args, &bytes);
    if (status)
        return bench_fault(f, b->handle, status, r->problem);
    for (int i = 0; i < b->o.n_peers; i++)
        users += comparison_has(r, i) && b->o.peers[i]->is_plan;
    for (int i = 0; i < users; i++)
        memory_buffer(&r->need, bytes);
    return fits(b, r, f) ? 0 : -1;
}

/* ---- Opening ---- */

/* Reads the problem, and whether there is memory for it. */
static int read_problem(struct bench *b, struct comparison *r, struct fault *f)
{
    const char *words = NULL;
    char why[4096] = "";
    cl_int status;
    r->c.struct_size = sizeof r->c;
    if ((status = clattn_workload_parse(r->problem, &r->c, why, sizeof why)))
        return fault_set(f, status == CLATTN_ERROR_NOT_SUPPORTED ? EXIT_UNSUPPORTED : EXIT_USAGE, "\"%s\": %s",
                         r->problem, why);
    progress_problem(&b->progress, r->problem);
    work_need(&r->c, &r->need);
    if (!fits(b, r, f))
        return -1;
    if (extras_fill(&r->c, &r->extras, &words))
        return fault_set(f, EXIT_USAGE, "\"%s\": %s", r->problem, words);
    for (size_t i = 0; i < r->extras.n_aux; i++)
        memory_buffer(&r->need, memory_times(r->extras.aux[i].count, r->extras.aux[i].type == CLATTN_U8 ? 1 : 4));
    if (!fits(b, r, f))
        return -1;
    leave_out(b, r);
    return 0;
}

static int open_peers(struct bench *b, struct comparison *r, struct fault *f)
{
    char why[4096] = "";
    if (is_backward(r) && b->o.n_peers)
        return fault_set(f, EXIT_UNSUPPORTED, "%s: %s computes no gradients", r->problem, b->o.peers[0]->name);
    for (int i = 0; i < b->o.n_peers; i++)
        if (comparison_has(r, i) &&
            b->o.peers[i]->open(&r->peers[i], &b->where, b->handle, &r->setup, why, sizeof why))
            return fault_set(f, EXIT_UNSUPPORTED, "%s: %s: %s", r->problem, b->o.peers[i]->name, why);
    return 0;
}

/* Where it fails, the rest is still useful. */
struct probe *comparison_probe(struct bench *b, int twice)
{
    struct probe *const probe = &b->probes[twice];
    const uint64_t room = b->limits.unified ? b->limits.host : b->limits.device;
    if (!b->moved++) {
        progress_step(&b->progress, "probing memory");
        if (probe_moves(&b->where, room ? room / 8 : UINT64_MAX, &b->moves))
            memset(&b->moves, 0, sizeof b->moves);
        for (int i = 0; i < CEILINGS_SIZES; i++)
            ceilings_raise(&b->ceilings.moved[i].probed, b->moves.of[i]);
    }
    if (!b->probed[twice]++) {
        progress_step(&b->progress, "probing multiply-adds");
        if (probe_open(probe, &b->where, twice))
            probe_close(probe);
    }
    return probe->queue ? probe : NULL;
}

int comparison_open(struct bench *b, struct comparison *r, const char *problem, struct fault *f)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    cl_int status;
    memset(r, 0, sizeof *r);
    r->problem = problem;
    if (read_problem(b, r, f))
        return -1;
    if (!b->o.on_stdin)
        r->probe = comparison_probe(b, r->c.problem.type == CLATTN_F64);
    progress_step(&b->progress, "plan");
    o.config = b->o.config;
    if ((status = clattn_plan_create(&r->plan, b->handle, &r->c.problem, &o)))
        return bench_fault(f, b->handle, status, problem);
    progress_step(&b->progress, "inputs");
    if (open_inputs(b, r, f) || add_workspace(b, r, f))
        return -1;
    status = is_backward(r) ? backward_open(&r->backward, b->handle, r->plan, &r->setup)
                            : setup_prepare(&r->setup, r->plan);
    if (status)
        return bench_fault(f, b->handle, status, problem);
    if (open_peers(b, r, f))
        return -1;
    r->ms = calloc((size_t)(1 + b->o.n_peers) * (size_t)b->o.rounds, sizeof *r->ms);
    r->peak = calloc((size_t)b->o.rounds, sizeof *r->peak);
    if (!r->ms || !r->peak)
        return fault_set(f, EXIT_USAGE, "no memory");
    return warm_up(b, r, f);
}

void comparison_close(struct bench *b, struct comparison *r)
{
    for (int i = 0; i < b->o.n_peers; i++)
        b->o.peers[i]->close(r->peers[i]);
    backward_close(&r->backward);
    setup_close(&r->setup);
    (void)clattn_plan_release(r->plan);
    extras_free(&r->extras);
    free(r->ms);
    free(r->peak);
}
