/* plot_script.c - what gnuplot scripts of all pictures consist of
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "plot_script.h"

#include "json.h"

#include <math.h>
#include <string.h>

void plot_put_text(FILE *f, const char *text)
{
    putc('\'', f);
    for (; *text; text++) {
        if (*text == '\'')
            putc('\'', f);
        putc((unsigned char)*text < ' ' || *text == 0x7f ? '?' : *text, f);
    }
    putc('\'', f);
}

static int is_drawn(double x)
{
    return isfinite(x) && x > 0;
}

void plot_put_point(FILE *f, double x, double y)
{
    char a[JSON_NUMBER], b[JSON_NUMBER];
    if (is_drawn(x) && is_drawn(y))
        fprintf(f, "%s %s\n", json_number(a, x, 9), json_number(b, y, 9));
}

/* ---- Axes ---- */

void plot_extend(struct plot_range *r, double x)
{
    if (!is_drawn(x))
        return;
    r->low = r->high > 0 ? fmin(r->low, x) : x;
    r->high = fmax(r->high, x);
}

struct plot_range plot_widened(const struct plot_range *r, double least)
{
    const double beyond = 1.15;
    struct plot_range w = { r->low / beyond, r->high * beyond };
    if (!(r->high > 0))
        w = (struct plot_range){ 1, 10 };
    if (w.high / w.low < least) {
        const double more = sqrt(least / (w.high / w.low));
        w.low /= more;
        w.high *= more;
    }
    return w;
}

int plot_tics_two(const struct plot_range *r, double at[PLOT_TICS])
{
    const int first = (int)ceil(log2(r->low)), last = (int)floor(log2(r->high));
    int step = 1, n = 0;
    while ((last - first) / step + 1 > PLOT_TICS)
        step++;
    for (int i = first; i <= last; i += step)
        at[n++] = ldexp(1, i);
    return n;
}

int plot_tics_ten(const struct plot_range *r, double at[PLOT_TICS])
{
    static const int digits[] = { 1, 2, 5 };
    const int first = (int)floor(log10(r->low)), last = (int)ceil(log10(r->high));
    const int each = (last - first) * 3 > PLOT_TICS ? 1 : 3;
    int step = 1, n = 0;
    while ((last - first) / step + 1 > PLOT_TICS)
        step++;
    for (int i = first; i <= last; i += step)
        for (int d = 0; d < each; d++) {
            const double x = digits[d] * pow(10, i);
            if (x >= r->low && x <= r->high && n < PLOT_TICS)
                at[n++] = x;
        }
    return n;
}

void plot_put_axis(FILE *f, char axis, const struct plot_range *r, const char *label,
                   int (*tics)(const struct plot_range *, double *))
{
    char a[JSON_NUMBER], b[JSON_NUMBER];
    double at[PLOT_TICS];
    const int n = tics(r, at);
    fprintf(f, "set logscale %c\nset %crange [%s:%s]\nset %clabel ", axis, axis, json_number(a, r->low, 6),
            json_number(b, r->high, 6), axis);
    plot_put_text(f, label);
    fprintf(f, "\nset %ctics (", axis);
    for (int i = 0; i < n; i++) {
        json_number(a, at[i], 7);
        fprintf(f, "%s'%s' %s", i ? ", " : "", a, a);
    }
    fprintf(f, ")\n");
}

/* ---- Title and key ---- */

enum { WIDTH = 960, HEIGHT = 540, LINE = 20, CHARACTER = 8, SAMPLE = 60, TITLE_COLUMNS = 100 };

/* Lines of the title that `text` takes; writes them, joined by line breaks, unless f is NULL. */
static int put_lines(FILE *f, const char *text, int n)
{
    char line[TITLE_COLUMNS + 1];
    while (*text) {
        size_t m = strlen(text);
        if (m > TITLE_COLUMNS) {
            for (m = TITLE_COLUMNS; m > 0 && text[m] != ' ';)
                m--;
            m = m ? m : TITLE_COLUMNS;
        }
        memcpy(line, text, m);
        line[m] = '\0';
        if (f && n)
            fprintf(f, " . \"\\n\" . ");
        if (f)
            plot_put_text(f, line);
        n++;
        text += m;
        text += strspn(text, " ");
    }
    return n;
}

static int put_all_lines(FILE *f, const struct figures *g, const char *what, const char *problem, int partial)
{
    char first[1024], second[1024];
    snprintf(first, sizeof first, "%s: %s%s", what, *problem ? problem : "several problems",
             partial ? " (partial: the run was interrupted)" : "");
    snprintf(second, sizeof second, "%s, %s, driver %s", g->device, g->platform, g->driver);
    return put_lines(f, second, put_lines(f, first, 0));
}

void plot_put_head(FILE *f, const struct figures *g, const char *svg, const char *what, const char *problem, int partial,
                   int entries, size_t longest)
{
    const size_t each = SAMPLE + CHARACTER * (longest < PLOT_NAME ? longest : PLOT_NAME);
    const int columns = each < WIDTH / 3 ? 3 : each < WIDTH / 2 ? 2 : 1;
    const int lines = put_all_lines(NULL, g, what, problem, partial) + (entries + columns - 1) / columns;
    fprintf(f, "set terminal svg size %d,%d noenhanced font 'sans,13' background rgb 'white'\nset output ", WIDTH,
            HEIGHT + LINE * lines);
    plot_put_text(f, svg);
    fprintf(f, "\nset title ");
    (void)put_all_lines(f, g, what, problem, partial);
    fprintf(f, "\nset key below left Left reverse maxcols %d\nset grid lc rgb '#dddddd'\nset border lc rgb '#444444'\n",
            columns);
}

void plot_put_title(FILE *f, const char *name)
{
    char cut[PLOT_NAME + 1];
    snprintf(cut, sizeof cut, "%s", name);
    if (strlen(name) > PLOT_NAME)
        memcpy(cut + PLOT_NAME - 2, "..", 2);
    fprintf(f, " title ");
    plot_put_text(f, cut);
}

void plot_put_style(FILE *f, int kind, int peer, int with_lines)
{
    static const char *const colours[] = { "#0060ad", "#d95319", "#2a8f2a", "#7e2f8e",
                                           "#b8860b", "#008b8b", "#a2142f", "#555555" };
    static const int filled[] = { 7, 5, 9, 13, 11 }, open[] = { 6, 4, 8, 12, 10 };
    const int mark = peer < 0 ? filled[kind / 8 % 5] : open[(peer + 1) % 5];
    fprintf(f, " with %s lc rgb '%s' pt %d ps %s", with_lines ? "linespoints" : "points", colours[kind % 8], mark,
            peer < 0 ? "1" : "0.9");
    if (with_lines)
        fprintf(f, " lw %s dt %d", peer < 0 ? "2.5" : "1.5", peer < 0 ? 1 : peer % 4 + 2);
}
