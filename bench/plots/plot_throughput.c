/* plot_throughput.c - GFLOP/s over the number of keys
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/plots/plot.h"
#include "bench/plots/plot_kinds.h"
#include "bench/plots/plot_script.h"

#include <string.h>

/* What the visits of all series share. */
struct throughput {
    FILE *f;
    int n;
    size_t longest;
    struct plot_range x, y;
};

static double keys_of(const struct figures *g)
{
    char kind[KIND_ROOM];
    double keys;
    plot_kind(kind, g->problem, &keys);
    return keys;
}

static void measure(const struct plot_series *s, void *user)
{
    struct throughput *const t = user;
    const size_t length = strlen(s->name);
    t->longest = length > t->longest ? length : t->longest;
    for (size_t i = 0; i < s->n; i++) {
        plot_extend(&t->x, keys_of(s->at[i]));
        plot_extend(&t->y, plot_gflops(s->at[i], s->peer));
    }
}

static void put_data(const struct plot_series *s, void *user)
{
    struct throughput *const t = user;
    fprintf(t->f, "$t%d << EOD\n", t->n++);
    for (size_t i = 0; i < s->n; i++)
        plot_put_point(t->f, keys_of(s->at[i]), plot_gflops(s->at[i], s->peer));
    fprintf(t->f, "EOD\n");
}

static void put_line(const struct plot_series *s, void *user)
{
    struct throughput *const t = user;
    fprintf(t->f, "%s $t%d", t->n ? ", \\\n    " : "plot", t->n);
    t->n++;
    plot_put_style(t->f, s->kind, s->peer, 1);
    plot_put_title(t->f, s->name);
}

static void write_throughput(FILE *f, const struct figures *all, size_t n, const char *svg, int partial)
{
    struct throughput t = { f, 0, 0, { 0, 0 }, { 0, 0 } };
    char common[KIND_ROOM];
    const int entries = plot_each(all, n, measure, &t);
    const struct plot_range x = plot_widened(&t.x), y = plot_widened(&t.y);
    plot_common(common, all, n);
    plot_put_head(f, &all[0], svg, "Throughput of attention", common, partial, entries, t.longest);
    plot_put_axis(f, 'x', &x, "keys", plot_tics_two);
    plot_put_axis(f, 'y', &y, "GFLOP/s", plot_tics_ten);
    (void)plot_each(all, n, put_data, &t);
    t.n = 0;
    (void)plot_each(all, n, put_line, &t);
    fprintf(f, "\n");
}

const struct plot plot_throughput = { "throughput", write_throughput };
