/* print_json.c - figures as a JSON object on a line; clattn-bench(1) has its members
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/figures/print.h"
#include "tools/system/json.h"

#include <inttypes.h>

static void put_text(FILE *to, const char *name, const char *text)
{
    fprintf(to, ", \"%s\": ", name);
    json_string(to, text);
}

static void put_number(FILE *to, const char *name, double x)
{
    char t[JSON_NUMBER];
    fprintf(to, ", \"%s\": %s", name, json_number(t, x, 9));
}

static void put_bool(FILE *to, const char *name, int x)
{
    fprintf(to, ", \"%s\": %s", name, x ? "true" : "false");
}

static const char *whose(enum ceilings_by by)
{
    return by == BY_PROBE ? "probe" : by == BY_KERNEL ? "kernel" : NULL;
}

static void put_roof(FILE *to, const struct figures *g)
{
    const struct roof *const r = &g->roof;
    const int known = r->gflops == r->gflops;
    put_number(to, "peak_gflops", r->peak);
    put_text(to, "peak_by", whose(r->peak_by));
    put_number(to, "peak_gbytes_s", r->moved);
    put_text(to, "peak_gbytes_s_by", whose(r->moved_by));
    put_number(to, "size_class_bytes", (double)ceilings_bytes[r->size]);
    put_text(to, "size_class", r->moved_by == BY_NOTHING ? NULL : r->cached ? "cache" : "memory");
    put_number(to, "probe_gflops", g->probe_gflops);
    put_number(to, "copy_gbytes_s", g->copied);
    put_number(to, "read_gbytes_s", g->read);
    put_number(to, "roof_gflops", r->gflops);
    put_text(to, "limited_by", !known ? NULL : r->by_memory ? "bandwidth" : "multiply-adds");
    put_number(to, "roofline_fraction", g->share);
}

static void put_ceilings(FILE *to, const struct ceilings *c)
{
    fprintf(to, ", \"ceilings\": [");
    for (int i = 0; i < CEILINGS_SIZES; i++) {
        enum ceilings_by by;
        fprintf(to, "%s{\"bytes\": %" PRIu64, i ? ", " : "", ceilings_bytes[i]);
        put_number(to, "gbytes_s", ceilings_moved(c, i, &by));
        put_number(to, "probed_gbytes_s", c->moved[i].probed);
        put_number(to, "reached_gbytes_s", c->moved[i].reached);
        fprintf(to, "}");
    }
    fprintf(to, "]");
}

static void put_peer(FILE *to, const struct peer_figures *p)
{
    static const char *const names[] = { "ms", "ratio", "agrees", "label", "missing" };
    char name[5][64];
    for (int i = 0; i < 5; i++)
        snprintf(name[i], sizeof name[i], "%s_%s", p->name, names[i]);
    put_number(to, name[0], p->ms);
    put_number(to, name[1], p->ratio);
    if (*p->missing)
        fprintf(to, ", \"%s\": null", name[2]);
    else
        put_bool(to, name[2], !p->differs);
    put_text(to, name[3], p->label);
    put_text(to, name[4], *p->missing ? p->missing : NULL);
}

void print_json(FILE *to, const struct figures *g)
{
    fprintf(to, "{\"problem\": ");
    json_string(to, g->problem);
    put_text(to, "platform", g->platform);
    put_text(to, "device", g->device);
    put_text(to, "driver", g->driver);
    put_text(to, "config", g->config);
    put_number(to, "rounds", g->rounds);
    put_number(to, "rounds_asked", g->asked);
    put_bool(to, "partial", g->rounds < g->asked);
    put_number(to, "time_ms", g->ms);
    put_number(to, "best_ms", g->best_ms);
    put_number(to, "flops", g->flops);
    put_number(to, "bytes", g->bytes);
    put_number(to, "gflops", figures_gflops(g));
    put_number(to, "gbytes_s", figures_gbytes_s(g));
    put_number(to, "intensity", figures_intensity(g));
    put_roof(to, g);
    put_ceilings(to, &g->ceilings);
    put_number(to, "host_bytes", (double)g->host_bytes);
    put_number(to, "device_bytes", (double)g->device_bytes);
    for (int i = 0; i < g->n_peers; i++)
        put_peer(to, &g->peers[i]);
    fprintf(to, "}\n");
}
