/* plot.h - figures as pictures, drawn by gnuplot
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_H
#define PLOT_H

#include "fault.h"
#include "figures.h"

#include <stddef.h>

/* Writes throughput.svg (GFLOP/s over the number of keys, a line for each kind of problem and each peer) and
 * roofline.svg, and what they are drawn from, throughput.gp and roofline.gp, into the directory dir, which is made
 * where it is not there. 0, or -1 with the fault set. */
int plot_write(const char *dir, const struct figures *all, size_t n, struct fault *f);

#endif
