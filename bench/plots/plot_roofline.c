/* plot_roofline.c - GFLOP/s over FLOP per byte, below what the device allows
 * SPDX-License-Identifier: Apache-2.0
 *
 * The roofs are those that were known last, which are the highest: no point is above them. */
#include "config.h"

#include "bench/figures/memory.h"
#include "bench/plots/plot.h"
#include "bench/plots/plot_kinds.h"
#include "bench/plots/plot_script.h"

#include <math.h>
#include <string.h>

enum { ROOFS_MOST = CEILINGS_TYPES * CEILINGS_SIZES };

/* One for each peak and each class of sizes that problems have, where the class lies in a cache, and for memory. */
struct one_roof {
    int type, size, cached;
    double peak, moved;
    char name[128];
};

struct roofline {
    FILE *f;
    int n, n_roofs;
    size_t longest;
    struct plot_range x, y;
    struct one_roof roofs[ROOFS_MOST];
};

/* ---- Roofs ---- */

/* No eye tells these apart. */
static int is_near(double x, double y)
{
    return x < 1.1 * y && y < 1.1 * x;
}

static void add_roof(struct roofline *l, const struct ceilings *c, int type, int size)
{
    static const char *const types[CEILINGS_TYPES] = { "f32", "f16", "bf16", "f64" };
    enum ceilings_by by;
    char text[MEMORY_TEXT];
    struct one_roof r = { .type = type, .cached = ceilings_is_cached(c, size) };
    r.size = r.cached ? size : ceilings_memory(c);
    r.peak = ceilings_of(&c->peak[type], &by);
    r.moved = ceilings_moved(c, r.size, &by);
    for (int i = 0; i < l->n_roofs; i++)
        if (l->roofs[i].peak == r.peak && (l->roofs[i].size == r.size || is_near(l->roofs[i].moved, r.moved)))
            return;
    if (isnan(r.peak) || isnan(r.moved) || l->n_roofs == ROOFS_MOST)
        return;
    snprintf(r.name, sizeof r.name, "roof, %s: %.4g GFLOP/s, %s at %s %.3g GB/s", types[type], r.peak,
             r.cached ? "cache" : "memory", memory_words(text, ceilings_bytes[r.size]), r.moved);
    l->longest = strlen(r.name) > l->longest ? strlen(r.name) : l->longest;
    l->roofs[l->n_roofs++] = r;
}

static void find_roofs(struct roofline *l, const struct figures *all, size_t n)
{
    const struct ceilings *const last = &all[n - 1].ceilings;
    for (size_t i = 0; i < n; i++) {
        add_roof(l, last, all[i].type, ceilings_memory(last));
        add_roof(l, last, all[i].type, all[i].roof.size);
    }
    for (int i = 0; i < l->n_roofs; i++)
        plot_extend(&l->y, l->roofs[i].peak);
}

static void put_roofs(const struct roofline *l, const struct plot_range *x)
{
    for (int i = 0; i < l->n_roofs; i++) {
        const struct one_roof *const r = &l->roofs[i];
        const double corner = r->peak / r->moved;
        fprintf(l->f, "$roof%d << EOD\n", i);
        plot_put_point(l->f, x->low, fmin(x->low * r->moved, r->peak));
        if (corner > x->low && corner < x->high)
            plot_put_point(l->f, corner, r->peak);
        if (!r->cached || corner > x->high) /* one horizontal line is enough */
            plot_put_point(l->f, x->high, fmin(x->high * r->moved, r->peak));
        fprintf(l->f, "EOD\n");
    }
}

/* ---- Problems ---- */

/* What may have done less than is counted has no place here. */
static double gflops_of(const struct figures *g, int peer)
{
    return g->at_most ? NAN : plot_gflops(g, peer);
}

static void measure(const struct plot_series *s, void *user)
{
    struct roofline *const l = user;
    const size_t length = strlen(s->name);
    l->longest = length > l->longest ? length : l->longest;
    for (size_t i = 0; i < s->n; i++) {
        plot_extend(&l->x, figures_intensity(s->at[i]));
        plot_extend(&l->y, gflops_of(s->at[i], s->peer));
    }
}

static void put_data(const struct plot_series *s, void *user)
{
    struct roofline *const l = user;
    fprintf(l->f, "$r%d << EOD\n", l->n++);
    for (size_t i = 0; i < s->n; i++)
        plot_put_point(l->f, figures_intensity(s->at[i]), gflops_of(s->at[i], s->peer));
    fprintf(l->f, "EOD\n");
}

static void put_points(const struct plot_series *s, void *user)
{
    struct roofline *const l = user;
    fprintf(l->f, "%s $r%d", l->n || l->n_roofs ? ", \\\n    " : "plot", l->n);
    l->n++;
    plot_put_style(l->f, s->kind, s->peer, 0);
    plot_put_title(l->f, s->name);
}

/* Where both parts of the first roof are seen. */
static struct plot_range see_corner(const struct roofline *l)
{
    struct plot_range x = l->x;
    for (int i = 0; i < l->n_roofs; i++)
        plot_extend(&x, l->roofs[i].peak / l->roofs[i].moved);
    return plot_widened(&x);
}

static void write_roofline(FILE *f, const struct figures *all, size_t n, const char *svg, int partial)
{
    struct roofline l = { .f = f };
    char common[KIND_ROOM];
    const int entries = plot_each(all, n, measure, &l);
    find_roofs(&l, all, n);
    const struct plot_range x = see_corner(&l), y = plot_widened(&l.y);
    plot_common(common, all, n);
    plot_put_head(f, &all[0], svg, "Roofline of attention", common, partial, entries + l.n_roofs, l.longest);
    plot_put_axis(f, 'x', &x, "FLOP/byte", plot_tics_two);
    plot_put_axis(f, 'y', &y, "GFLOP/s", plot_tics_ten);
    put_roofs(&l, &x);
    (void)plot_each(all, n, put_data, &l);
    for (int i = 0; i < l.n_roofs; i++) {
        fprintf(f, "%s $roof%d with lines lw 2 dt %d lc rgb '%s'", i ? ", \\\n    " : "plot", i, i % 5 + 1,
                i ? "#888888" : "black");
        plot_put_title(f, l.roofs[i].name);
    }
    l.n = 0;
    (void)plot_each(all, n, put_points, &l);
    fprintf(f, "\n");
}

const struct plot plot_roofline = { "roofline", write_roofline };
