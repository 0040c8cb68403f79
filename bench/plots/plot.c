/* plot.c - figures as pictures, drawn by gnuplot
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/plots/plot.h"

#include "bench/plots/plot_kinds.h"
#include "tools/system/files.h"
#include "tools/system/system.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_ROOM = 4096 };

/* ---- What is drawn ---- */

double plot_gflops(const struct figures *g, int peer)
{
    return ceilings_rate(g->flops, peer < 0 ? g->ms : g->peers[peer].ms);
}

static int has_any(const struct plot_series *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (!isnan(plot_gflops(s->at[i], s->peer)))
            return 1;
    return 0;
}

int plot_each(const struct figures *all, size_t n, void (*visit)(const struct plot_series *s, void *user), void *user)
{
    const struct figures **const at = malloc((n + 1) * sizeof *at);
    char common[KIND_ROOM], rest[KIND_ROOM];
    int series = 0, kind = 0;
    plot_common(common, all, n);
    for (size_t i = 0; i < n && at; i++) {
        if (!plot_is_first_of_kind(all, i))
            continue;
        struct plot_series s = { at, plot_members(all, n, i, at), kind++, -1, "" };
        plot_rest(rest, all[i].problem, common);
        for (; s.peer < all[i].n_peers; s.peer++) {
            snprintf(s.name, sizeof s.name, "%s%s%.120s", s.peer < 0 ? "clattn" : all[i].peers[s.peer].label,
                     *rest ? ": " : "", rest);
            if (!has_any(&s))
                continue;
            visit(&s, user);
            series++;
        }
    }
    free(at);
    return series;
}

/* ---- Drawing ---- */

static int draw(char *script, struct fault *f)
{
    char command[] = "gnuplot", plain[] = "-d", *const argv[] = { command, plain, script, NULL }; /* no ~/.gnuplot */
    int status;
    const int failed = system_run(argv, &status);
    if (failed)
        return fault_set(f, EXIT_UNSUPPORTED, "gnuplot: %s (Debian: gnuplot-nox); %s waits for it", strerror(failed),
                         script);
    return status ? fault_set(f, EXIT_UNSUPPORTED, "gnuplot failed on %s", script) : 0;
}

static int plot_one(const char *dir, const struct plot *what, const struct figures *all, size_t n, int partial,
                    struct fault *f)
{
    const char *const here = *dir == '/' ? "" : "./"; /* gnuplot has its own ideas of what begins with ~, | and - */
    char path[PATH_ROOM], svg[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s%s/%s.gp", here, dir, what->name) >= (int)sizeof path ||
        snprintf(svg, sizeof svg, "%s%s/%s.svg", here, dir, what->name) >= (int)sizeof svg)
        return fault_set(f, EXIT_USAGE, "--plot %s: too long", dir);
    FILE *const file = fopen(path, "w");
    if (!file)
        return fault_set(f, EXIT_USAGE, "%s: %s", path, strerror(errno));
    what->write(file, all, n, svg, partial);
    const int bad = ferror(file);
    if (fclose(file) || bad)
        return fault_set(f, EXIT_USAGE, "%s cannot be written", path);
    return draw(path, f);
}

int plot_check(const char *dir, struct fault *f)
{
    if (!system_has("gnuplot"))
        return fault_set(f, EXIT_UNSUPPORTED, "--plot %s: there is no gnuplot to draw with (Debian: gnuplot-nox)", dir);
    const char *const why = strlen(dir) > PATH_ROOM / 2 ? "too long" : files_may_keep(dir);
    return why ? fault_set(f, EXIT_USAGE, "--plot %s: %s", dir, why) : 0;
}

int plot_write(const char *dir, const struct figures *all, size_t n, int partial, struct fault *f)
{
    if (!n)
        return fault_set(f, EXIT_USAGE, "--plot: nothing was measured");
    if (files_make_folder(dir))
        return fault_set(f, EXIT_USAGE, "%s: %s", dir, strerror(errno));
    return plot_one(dir, &plot_throughput, all, n, partial, f) || plot_one(dir, &plot_roofline, all, n, partial, f) ? -1
                                                                                                                    : 0;
}
