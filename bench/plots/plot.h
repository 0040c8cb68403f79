/* plot.h - figures as pictures, drawn by gnuplot
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_H
#define PLOT_H

#include "bench/figures/figures.h"
#include "tools/system/fault.h"

#include <stdio.h>

/* Whether plot_write() has what it needs, as far as that can be known before anything is measured: gnuplot, and a
 * directory that is there or can be made. 0, or -1 with the fault set. */
int plot_check(const char *dir, struct fault *f);

/* Writes throughput.svg (GFLOP/s over the number of keys, a line for each kind of problem and each peer) and
 * roofline.svg, and what they are drawn from, throughput.gp and roofline.gp, into the directory dir, which is made
 * where it is not there. partial: the run was interrupted, and the titles say so. 0, or -1 with the fault set. */
int plot_write(const char *dir, const struct figures *all, size_t n, int partial, struct fault *f);

/* What is drawn: a script holds its data, so that one file is all it takes to draw it again, differently. The name of
 * its file, without .svg and .gp, and who writes it. */
struct plot {
    const char *name;
    void (*write)(FILE *f, const struct figures *all, size_t n, const char *svg, int partial);
};
extern const struct plot plot_throughput, plot_roofline;

/* Each line of a picture: of one kind of problem, ours (peer -1) or a peer's. */
struct plot_series {
    const struct figures *const *at; /* by their keys */
    size_t n;
    int kind, peer;
    char name[256];                  /* "clattn", or "clattn: d64 causal" where kinds differ */
};

/* Calls `visit` for each. Returns their number, kinds first. Without memory there are none. */
int plot_each(const struct figures *all, size_t n, void (*visit)(const struct plot_series *s, void *user), void *user);

/* GFLOP/s of a member; NaN: it did not run. */
double plot_gflops(const struct figures *g, int peer);

#endif
