/* plot_script.h - what gnuplot scripts of all pictures consist of
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_SCRIPT_H
#define PLOT_SCRIPT_H

#include "bench/figures/figures.h"

#include <stdio.h>

/* Text as gnuplot takes it literally: within '...' nothing but the quote means anything. */
void plot_put_text(FILE *f, const char *text);

/* A line of data, unless one is no number above 0: both axes are logarithmic. */
void plot_put_point(FILE *f, double x, double y);

/* The least and the largest number that an axis has to show; zeroed, it has none. */
struct plot_range {
    double low, high;
};
void plot_extend(struct plot_range *r, double x); /* numbers that are not above 0 and finite are passed over */

/* A range that begins and ends a bit beyond; one number has a factor of 2 on both sides, none the range 1 to 10. */
struct plot_range plot_widened(const struct plot_range *r);

/* Where a logarithmic axis has marks with numbers, at most PLOT_TICS, so that none is over another: powers of 2 or of
 * 4, 8, ..; or numbers with 1, 2 and 5, or with 1 alone; on both, where the range is narrow, numbers in even steps.
 * Returns how many. */
enum { PLOT_TICS = 12 };
int plot_tics_two(const struct plot_range *r, double at[PLOT_TICS]);
int plot_tics_ten(const struct plot_range *r, double at[PLOT_TICS]);

/* "set xrange" and "set xtics", or those of y. */
void plot_put_axis(FILE *f, char axis, const struct plot_range *r, const char *label,
                   int (*tics)(const struct plot_range *, double *));

/* A key below the picture with `entries` names of at most `longest` characters: a name that is longer is cut. */
enum { PLOT_NAME = 110 };

/* Everything before the data: the size that title and key need, the title, the key. what: of the picture; problem: the
 * words of all problems; partial: a signal ended the run. */
void plot_put_head(FILE *f, const struct figures *g, const char *svg, const char *what, const char *problem,
                   int partial, int entries, size_t longest);

/* "title NAME", cut. */
void plot_put_title(FILE *f, const char *name);

/* How the line number n is drawn: a colour for each kind, ours filled and solid, peers open and dashed. */
void plot_put_style(FILE *f, int kind, int peer, int with_lines);

#endif
