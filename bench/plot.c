/* plot.c - figures as pictures, drawn by gnuplot
 * SPDX-License-Identifier: Apache-2.0
 *
 * A script holds its data, so that one file is all it takes to draw it again, differently. */
#include "config.h"

#include "plot.h"

#include "json.h"

#include <errno.h>
#include <math.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

extern char **environ;

enum { PATH_ROOM = 4096, KIND_ROOM = 512 };

/* ---- Kinds of problems: all that differ in their lengths only ---- */

/* The problem string without its words for q and k; *keys is the number in the latter. */
static void kind_of(char *kind, size_t len, const char *problem, double *keys)
{
    size_t n = 0;
    *keys = NAN;
    while (*problem) {
        const size_t word = strcspn(problem, " \t\r\n"), gap = strspn(problem + word, " \t\r\n");
        const int length = (*problem == 'q' || *problem == 'k') && problem[1] >= '0' && problem[1] <= '9';
        if (length && *problem == 'k')
            *keys = strtod(problem + 1, NULL);
        else if (!length && n + word + 2 < len) {
            n += n > 0;
            memcpy(kind + n, problem, word);
            if (n)
                kind[n - 1] = ' ';
            n += word;
        }
        problem += word + gap;
    }
    kind[n] = '\0';
}

static int same_kind(const struct figures *a, const struct figures *b)
{
    char x[KIND_ROOM], y[KIND_ROOM];
    double keys;
    kind_of(x, sizeof x, a->problem, &keys);
    kind_of(y, sizeof y, b->problem, &keys);
    return !strcmp(x, y);
}

static int is_first_of_kind(const struct figures *all, size_t i)
{
    for (size_t n = 0; n < i; n++)
        if (same_kind(&all[n], &all[i]))
            return 0;
    return 1;
}

/* ---- Scripts ---- */

/* Within '...' of gnuplot's nothing but the quote means anything. */
static void put_text(FILE *f, const char *text)
{
    putc('\'', f);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', f);
        putc(*text < ' ' && *text >= 0 ? '?' : *text, f);
    }
    putc('\'', f);
}

static void put_point(FILE *f, double x, double y)
{
    char a[JSON_NUMBER], b[JSON_NUMBER];
    if (!isnan(x) && !isnan(y))
        fprintf(f, "%s %s\n", json_number(a, x, 9), json_number(b, y, 9));
}

static void put_head(FILE *f, const struct figures *g, const char *svg)
{
    fprintf(f, "set terminal svg size 960,640 noenhanced background rgb 'white'\nset output ");
    put_text(f, svg);
    fprintf(f, "\nset title ");
    put_text(f, g->device);
    fprintf(f, "\nset key outside below\nset grid\nset ylabel 'GFLOP/s'\nset logscale x 2\n");
}

/* double has a ceiling of its own. */
static int is_first_of_peak(const struct figures *all, size_t i)
{
    for (size_t n = 0; n < i; n++)
        if (all[n].twice == all[i].twice)
            return 0;
    return !isnan(all[i].peak_gflops) && !isnan(figures_peak_gbytes_s(&all[i]));
}

/* A block of data for one kind of problem: ours, or that of the peer of that number. */
static void put_block(FILE *f, const char *name, const struct figures *all, size_t n, size_t first, int peer)
{
    fprintf(f, "$%s%zu_%d << EOD\n", name, first, peer + 1);
    for (size_t i = first; i < n; i++) {
        char kind[KIND_ROOM];
        double keys;
        kind_of(kind, sizeof kind, all[i].problem, &keys);
        if (same_kind(&all[first], &all[i]))
            put_point(f, keys, all[i].flops / (peer < 0 ? all[i].ms : all[i].peers[peer].ms) * 1e-6);
    }
    fprintf(f, "EOD\n");
}

static void write_throughput(FILE *f, const struct figures *all, size_t n)
{
    fprintf(f, "set xlabel 'keys'\nset yrange [0:*]\n");
    for (size_t i = 0; i < n; i++)
        for (int p = -1; p < all[i].n_peers && is_first_of_kind(all, i); p++)
            put_block(f, "t", all, n, i, p);
    fprintf(f, "plot");
    int lines = 0;
    for (size_t i = 0; i < n; i++)
        for (int p = -1; p < all[i].n_peers && is_first_of_kind(all, i); p++) {
            char kind[KIND_ROOM], title[2 * KIND_ROOM];
            double keys;
            kind_of(kind, sizeof kind, all[i].problem, &keys);
            snprintf(title, sizeof title, "%s%s%s", kind, p < 0 ? "" : ", ", p < 0 ? "" : all[i].peers[p].name);
            fprintf(f, "%s $t%zu_%d with linespoints title ", lines++ ? "," : "", i, p + 1);
            put_text(f, title);
        }
    fprintf(f, "\n");
}

static void write_roofline(FILE *f, const struct figures *all, size_t n)
{
    char memory[JSON_NUMBER], peak[JSON_NUMBER], kind[KIND_ROOM];
    double keys;
    int lines = 0;
    fprintf(f, "set xlabel 'FLOP/byte'\nset logscale y\n");
    for (size_t i = 0; i < n; i++) {
        if (!is_first_of_kind(all, i))
            continue;
        fprintf(f, "$r%zu << EOD\n", i);
        for (size_t k = i; k < n; k++)
            if (same_kind(&all[i], &all[k]))
                put_point(f, figures_intensity(&all[k]), figures_gflops(&all[k]));
        fprintf(f, "EOD\n");
    }
    fprintf(f, "plot [*<1:*]");
    for (size_t i = 0; i < n; i++)
        if (is_first_of_peak(all, i))
            fprintf(f, "%s (%s * x < %s ? %s * x : %s) with lines title 'roofline, %s'", lines++ ? "," : "",
                    json_number(memory, figures_peak_gbytes_s(&all[i]), 6), json_number(peak, all[i].peak_gflops, 6),
                    memory, peak, all[i].twice ? "double" : "float");
    for (size_t i = 0; i < n; i++) {
        if (!is_first_of_kind(all, i))
            continue;
        kind_of(kind, sizeof kind, all[i].problem, &keys);
        fprintf(f, "%s $r%zu with points pointsize 1 title ", lines++ ? "," : "", i);
        put_text(f, kind);
    }
    fprintf(f, "\n");
}

/* ---- Drawing ---- */

static int draw(char *script, struct fault *f)
{
    char command[] = "gnuplot", plain[] = "-d", *const argv[] = { command, plain, script, NULL }; /* no ~/.gnuplot */
    pid_t pid;
    int status = -1;
    const int failed = posix_spawnp(&pid, command, NULL, NULL, argv, environ);
    if (failed)
        return fault_set(f, EXIT_UNSUPPORTED, "gnuplot: %s (Debian: gnuplot-nox); %s waits for it", strerror(failed),
                         script);
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
        ;
    return status ? fault_set(f, EXIT_UNSUPPORTED, "gnuplot failed on %s", script) : 0;
}

static int plot_one(const char *dir, const char *picture, void (*write)(FILE *, const struct figures *, size_t),
                    const struct figures *all, size_t n, struct fault *f)
{
    const char *const here = *dir == '/' ? "" : "./"; /* gnuplot has its own ideas of what begins with ~, | and - */
    char path[PATH_ROOM], svg[PATH_ROOM];
    if (snprintf(path, sizeof path, "%s%s/%s.gp", here, dir, picture) >= (int)sizeof path ||
        snprintf(svg, sizeof svg, "%s%s/%s.svg", here, dir, picture) >= (int)sizeof svg)
        return fault_set(f, EXIT_USAGE, "--plot %s: too long", dir);
    FILE *const file = fopen(path, "w");
    if (!file)
        return fault_set(f, EXIT_USAGE, "%s: %s", path, strerror(errno));
    put_head(file, all, svg);
    write(file, all, n);
    const int bad = ferror(file);
    if (fclose(file) || bad)
        return fault_set(f, EXIT_USAGE, "%s cannot be written", path);
    return draw(path, f);
}

int plot_write(const char *dir, const struct figures *all, size_t n, struct fault *f)
{
    if (!n)
        return fault_set(f, EXIT_USAGE, "--plot: nothing was measured");
    if (mkdir(dir, 0777) && errno != EEXIST)
        return fault_set(f, EXIT_USAGE, "%s: %s", dir, strerror(errno));
    return plot_one(dir, "throughput", write_throughput, all, n, f) ||
                   plot_one(dir, "roofline", write_roofline, all, n, f)
               ? -1
               : 0;
}
