/* print.c - figures as a line of text
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/figures/memory.h"
#include "bench/figures/print.h"

#include <math.h>

static void print_ms(FILE *to, double ms)
{
    fprintf(to, "%.*f ms", figures_decimals(ms), ms);
}

static void print_share(FILE *to, const struct figures *g)
{
    const struct roof *const r = &g->roof;
    char size[MEMORY_TEXT];
    if (g->at_most)
        fprintf(to, "  of the roofline: not known, blocks are skipped");
    if (isnan(g->share))
        return;
    fprintf(to, "  %.2f of the roofline (", g->share);
    if (r->by_memory)
        fprintf(to, "%s, %.1f GB/s at %s", r->cached ? "cache" : "memory", r->moved,
                memory_words(size, ceilings_bytes[r->size]));
    else
        fprintf(to, "multiply-adds, %.0f GFLOP/s", r->peak);
    fprintf(to, "%s)", (r->by_memory ? r->moved_by : r->peak_by) == BY_KERNEL ? ", reached by a kernel" : "");
}

static void print_peer(FILE *to, const struct peer_figures *p)
{
    if (*p->missing) {
        fprintf(to, "  %s left out: %s", p->label, p->missing);
        return;
    }
    fprintf(to, "  %s ", p->label);
    print_ms(to, p->ms);
    fprintf(to, ", %.2f times ours%s", p->ratio, p->differs ? ", and ANOTHER RESULT" : "");
}

void print_text(FILE *to, const struct figures *g)
{
    fprintf(to, "%s  [%s]  ", g->problem, g->config);
    print_ms(to, g->ms);
    fprintf(to, "  %.1f GFLOP/s  %.2f GB/s  %.0f FLOP/B", g->flops > 0 ? figures_gflops(g) : 0,
            g->bytes > 0 ? figures_gbytes_s(g) : 0, g->bytes > 0 ? figures_intensity(g) : 0);
    print_share(to, g);
    for (int i = 0; i < g->n_peers; i++)
        print_peer(to, &g->peers[i]);
    if (g->rounds < g->asked)
        fprintf(to, "  PARTIAL: %d of %d rounds", g->rounds, g->asked);
    fprintf(to, "\n");
}
