/* results.c - what becomes of the rounds of a problem
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/results.h"

#include "bench/figures/print.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Problems whose peak is told apart: matrix units and packed arithmetic know types of 16 bits only. */
static int type_number(int type)
{
    return type == CLATTN_F64 ? 3 : type == CLATTN_F16 ? 1 : type == CLATTN_BF16 ? 2 : 0;
}

static void see_probes(struct bench *b, const struct comparison *r, struct figures *g)
{
    g->probe_gflops = NAN;
    if (!r->probe)
        return;
    for (int type = g->twice ? 3 : 0; type < (g->twice ? 4 : 3); type++) {
        ceilings_raise(&b->ceilings.peak[type].probed, r->probe->best);
        for (int i = 0; i < r->rounds; i++)
            ceilings_raise(&b->ceilings.peak[type].probed, r->peak[i]);
    }
    g->probe_gflops = figures_median(r->peak, r->rounds);
}

static void fill_peer(const struct bench *b, const struct comparison *r, struct figures *g, int i)
{
    const double *const ms = r->ms + (i + 1) * b->o.rounds;
    struct peer_figures *const p = &g->peers[i];
    p->name = b->o.peers[i]->name;
    p->note = b->o.peers[i]->note(&b->where);
    p->differs = comparison_differs(b, r, i);
    snprintf(p->missing, sizeof p->missing, "%s", r->missing[i]);
    figures_peer(g, p, comparison_has(r, i) ? figures_median(ms, r->rounds) : NAN);
}

cl_int results_fill(struct bench *b, const struct comparison *r, struct figures *g)
{
    struct work w = { 0, 0, 0 };
    double best[1 + PEERS_MAX];
    int n = 1;
    memset(g, 0, sizeof *g);
    g->problem = r->problem;
    g->platform = b->where.platform_name;
    g->device = b->where.device_name;
    g->driver = b->driver;
    (void)clattn_plan_config(r->plan, g->config, sizeof g->config, NULL);
    const cl_int status = work_of(&r->c, &w);
    g->flops = w.flops;
    g->bytes = w.bytes;
    g->at_most = w.at_most;
    g->rounds = r->rounds;
    g->asked = b->o.rounds;
    g->ms = figures_median(r->ms, r->rounds);
    g->best_ms = best[0] = figures_least(r->ms, r->rounds);
    g->type = type_number(r->setup.c.problem.type);
    g->twice = g->type == 3;
    g->copied = b->moves.copied > 0 ? b->moves.copied : NAN;
    g->read = b->moves.read > 0 ? b->moves.read : NAN;
    g->host_bytes = r->need.host;
    g->device_bytes = r->need.device;
    g->n_peers = b->o.n_peers;
    see_probes(b, r, g);
    for (int i = 0; i < b->o.n_peers; i++) {
        fill_peer(b, r, g, i);
        if (comparison_has(r, i) && !g->peers[i].differs && !b->o.peers[i]->other)
            best[n++] = figures_least(r->ms + (i + 1) * b->o.rounds, r->rounds);
    }
    figures_share(g, &b->ceilings, best, n);
    return status;
}

static int keep(struct bench *b, const struct figures *g, struct fault *f)
{
    struct figures *all = realloc(b->all, (b->n_all + 1) * sizeof *all);
    if (!all)
        return fault_set(f, EXIT_USAGE, "no memory");
    b->all = all;
    all[b->n_all++] = *g;
    return 0;
}

int results_tell(struct bench *b, const struct comparison *r, struct fault *f)
{
    struct figures g;
    const cl_int status = results_fill(b, r, &g);
    if (status)
        return bench_fault(f, NULL, status, r->problem);
    progress_clear(&b->progress);
    (b->o.json ? print_json : print_text)(stdout, &g);
    fflush(stdout);
    b->measured++;
    if (b->json) {
        print_json(b->json, &g);
        if (fflush(b->json) != 0)
            return fault_set(f, EXIT_USAGE, "%s cannot be written", b->o.json_file);
    }
    if (b->o.plot && keep(b, &g, f))
        return -1;
    for (int i = 0; i < b->o.n_peers; i++)
        if (g.peers[i].differs)
            return fault_set(f, EXIT_VERIFY, "%s: %s: its O is %.3g away from ours", r->problem, g.peers[i].name,
                             r->off[i]);
    return 0;
}
