/* figures.c - what was measured of one problem, and its printing
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "figures.h"

#include "json.h"

#include <math.h>

double figures_gflops(const struct figures *g)
{
    return g->flops / g->ms * 1e-6;
}
double figures_gbytes_s(const struct figures *g)
{
    return g->bytes / g->ms * 1e-6;
}
double figures_intensity(const struct figures *g)
{
    return g->bytes > 0 ? g->flops / g->bytes : NAN;
}
double figures_peak_gbytes_s(const struct figures *g)
{
    return isnan(g->copy_gbytes_s) ? NAN : fmax(g->copy_gbytes_s, g->read_gbytes_s);
}
double figures_roof(const struct figures *g)
{
    const double by_memory = figures_peak_gbytes_s(g) * figures_intensity(g);
    return isnan(by_memory) ? NAN : fmin(g->peak_gflops, by_memory);
}

void figures_print(const struct figures *g)
{
    printf("%s  [%s]  %.3f ms  %.1f GFLOP/s  %.2f GB/s  %.0f FLOP/B", g->problem, g->config, g->ms, figures_gflops(g),
           figures_gbytes_s(g), g->bytes > 0 ? figures_intensity(g) : 0);
    if (!isnan(g->fraction))
        printf("  %.2f of the roofline (%.0f GFLOP/s, %.1f GB/s)", g->fraction, g->peak_gflops,
               figures_peak_gbytes_s(g));
    for (int i = 0; i < g->n_peers; i++) {
        const char *note = g->peers[i].note;
        printf("  %s%s%s%s %.3f ms, %.2f times ours%s", g->peers[i].name, note ? " (" : "", note ? note : "",
               note ? ")" : "", g->peers[i].ms, g->peers[i].ratio, g->peers[i].differs ? ", and ANOTHER RESULT" : "");
    }
    printf("\n");
}

static void print_member(const char *name, double x)
{
    char t[JSON_NUMBER];
    printf(", \"%s\": %s", name, json_number(t, x, 6));
}

void figures_print_json(const struct figures *g)
{
    char t[JSON_NUMBER];
    printf("{\"problem\": ");
    json_string(stdout, g->problem);
    printf(", \"device\": ");
    json_string(stdout, g->device);
    printf(", \"config\": ");
    json_string(stdout, g->config);
    print_member("time_ms", g->ms);
    print_member("best_ms", g->best_ms);
    print_member("gflops", figures_gflops(g));
    print_member("gbytes_s", figures_gbytes_s(g));
    print_member("intensity", figures_intensity(g));
    print_member("peak_gflops", g->peak_gflops);
    print_member("peak_gbytes_s", figures_peak_gbytes_s(g));
    print_member("copy_gbytes_s", g->copy_gbytes_s);
    print_member("read_gbytes_s", g->read_gbytes_s);
    print_member("roofline_fraction", g->fraction);
    for (int i = 0; i < g->n_peers; i++) {
        printf(", \"%s_ms\": %s", g->peers[i].name, json_number(t, g->peers[i].ms, 6));
        printf(", \"%s_ratio\": %s", g->peers[i].name, json_number(t, g->peers[i].ratio, 6));
        printf(", \"%s_agrees\": %s", g->peers[i].name, g->peers[i].differs ? "false" : "true");
    }
    printf("}\n");
}
