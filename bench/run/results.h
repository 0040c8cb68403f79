/* results.h - what becomes of the rounds of a problem: figures, which are printed, written and kept
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RESULTS_H
#define RESULTS_H

#include "bench/run/comparison.h"

/* What follows from the rounds that have run. */
cl_int results_fill(struct bench *b, const struct comparison *r, struct figures *g);

/* Prints what was measured, writes it to the file of --json-file, and keeps it where it is to be plotted. Returns 0, or
 * -1 with `f` set, also where a peer computed something else. */
int results_tell(struct bench *b, const struct comparison *r, struct fault *f);

#endif
