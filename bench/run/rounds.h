/* rounds.h - timing what runs for one problem, in rounds
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROUNDS_H
#define ROUNDS_H

#include "bench/run/comparison.h"

/* Every round runs the plan, each peer and a probe of the device once. A signal ends them after the round that it comes
 * in, so that one has run at least. */
int rounds_run(struct bench *b, struct comparison *r, struct fault *f);

/* Runs one timed round for each line on standard input and prints its ms on a line, so that another program can
 * interleave its own rounds. */
int rounds_on_stdin(struct bench *b, struct comparison *r, struct fault *f);

#endif
