/* plot_script.c - what gnuplot scripts of all pictures consist of
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/plots/plot_script.h"

#include "tools/system/json.h"

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

struct plot_range plot_widened(const struct plot_range *r)
{
    const double beyond = r->high > r->low ? 1 + 0.15 * fmin(log2(r->high / r->low), 1) : 2;
    if (!(r->high > 0))
        return (struct plot_range){ 1, 10 };
    return (struct plot_range){ r->low / beyond, r->high * beyond };
}

/* Multiples of 1, 2 or 5 times a power of 10, three to ten of them: an axis of less than a factor of 4 is nearly
 * linear. */
static int even_tics(const struct plot_range *r, double at[PLOT_TICS])
{
    static const double steps[] = { 1, 2, 5, 10 };
    const double width = r->high - r->low, ten = pow(10, floor(log10(width / 4)));
    int n = 0, i = 0;
    while (i < 3 && steps[i + 1] * ten <= width / 4)
        i++;
    for (double x = ceil(r->low / (steps[i] * ten)); x * steps[i] * ten <= r->high && n < PLOT_TICS; x++)
        at[n++] = x * steps[i] * ten;
    return n;
}

enum { NARROW = 4 };

int plot_tics_two(const struct plot_range *r, double at[PLOT_TICS])
{
    if (r->high / r->low < NARROW)
        return even_tics(r, at);
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
    if (r->high / r->low < NARROW)
        return even_tics(r, at);
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

/* Pixels: the picture between title and key, what stands between it and these, a line, a letter, a line's sample. */
enum { WIDTH = 960, HEIGHT = 420, ABOVE = 30, BELOW = 70, LINE = 20, LETTER = 9, SAMPLE = 80, TITLE_COLUMNS = 100 };

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

void plot_put_head(FILE *f, const struct figures *g, const char *svg, const char *what, const char *problem,
                   int partial, int entries, size_t longest)
{
    const size_t letters = longest < PLOT_NAME ? longest : PLOT_NAME, spare = letters / 6; /* of gnuplot's estimate */
    const size_t each = SAMPLE + LETTER * (letters - spare);
    const int columns = each < WIDTH / 3 ? 3 : each < WIDTH / 2 ? 2 : 1, rows = (entries + columns - 1) / columns;
    const int above = ABOVE + LINE * put_all_lines(NULL, g, what, problem, partial), below = BELOW + LINE * rows;
    const double height = above + HEIGHT + below;
    char x[JSON_NUMBER];
    fprintf(f, "set terminal svg size %d,%.0f noenhanced font 'sans,13' background rgb 'white'\nset output ", WIDTH,
            height);
    plot_put_text(f, svg);
    fprintf(f, "\nset title ");
    (void)put_all_lines(f, g, what, problem, partial);
    fprintf(f, "\nset tmargin at screen %s\n", json_number(x, 1 - above / height, 6));
    fprintf(f, "set bmargin at screen %s\n", json_number(x, below / height, 6));
    fprintf(f, "set key at screen 0.03,%s left top Left reverse vertical maxrows %d width -%zu\n",
            json_number(x, (below - BELOW + LINE / 2) / height, 6), rows, spare);
    fprintf(f, "set grid lc rgb '#dddddd'\nset border lc rgb '#444444'\n");
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
