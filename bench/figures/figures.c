/* figures.c - what was measured of one problem, and all that follows from it
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/figures/figures.h"

#include "tools/system/clock.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

int figures_decimals(double ms)
{
    int n = 3;
    for (double x = ms; isfinite(x) && x >= 10 && n > 0; x /= 10)
        n--;
    for (double x = ms; x > 0 && x < 1 && n < 6; x *= 10)
        n++;
    return n;
}

double figures_shown(double ms)
{
    const double scale = pow(10, figures_decimals(ms));
    return isfinite(ms) && ms >= 0 ? round(ms * scale) / scale : NAN;
}

double figures_gflops(const struct figures *g)
{
    return ceilings_rate(g->flops, g->ms);
}

double figures_gbytes_s(const struct figures *g)
{
    return ceilings_rate(g->bytes, g->ms);
}

double figures_intensity(const struct figures *g)
{
    return g->bytes > 0 ? g->flops / g->bytes : NAN;
}

double figures_median(const double *ms, int n)
{
    return n > 0 ? figures_shown(clock_median(ms, n)) : NAN;
}

double figures_least(const double *ms, int n)
{
    double least = n > 0 ? ms[0] : NAN;
    for (int i = 1; i < n; i++)
        least = fmin(least, ms[i]);
    return figures_shown(least);
}

void figures_label(char label[LABEL_TEXT], const char *name, const char *note)
{
    const char *const proper = strcmp(name, "clblast") ? name : "CLBlast";
    snprintf(label, LABEL_TEXT, "%s%s%s", proper, note ? ", " : "", note ? note : "");
}

void figures_peer(const struct figures *g, struct peer_figures *p, double ms)
{
    p->ms = figures_shown(ms);
    p->ratio = g->ms > 0 ? p->ms / g->ms : NAN;
    figures_label(p->label, p->name, p->note);
}

void figures_share(struct figures *g, struct ceilings *c, const double *best, int n)
{
    for (int i = 0; i < n && !g->at_most; i++)
        ceilings_reach(c, g->type, g->flops, g->bytes, best[i]);
    if (!g->at_most)
        ceilings_reach(c, g->type, g->flops, g->bytes, g->ms); /* rounding may have made it the least */
    g->roof = ceilings_roof(c, g->type, g->flops, g->bytes);
    g->share = g->at_most ? NAN : ceilings_share(&g->roof, g->flops, g->ms);
    g->ceilings = *c;
}
