/* progress.h - how far a run is, on standard error
 * SPDX-License-Identifier: Apache-2.0
 *
 * On a terminal one line, which is written over and over; else, for logs, a line when a problem begins and one every
 * ten seconds while it lasts. */
#ifndef PROGRESS_H
#define PROGRESS_H

struct progress {
    int n, i;          /* problems, and which one it is, from 1; the caller counts */
    int quiet, terminal, shown;
    const char *problem;
    double told;       /* ms: when the last line was written */
};

void progress_begin(struct progress *p, int n, int quiet);
void progress_problem(struct progress *p, const char *problem); /* number i begins */
void progress_step(struct progress *p, const char *step);       /* what is being done for it */
void progress_round(struct progress *p, int round, int of);     /* from 1 */
void progress_clear(struct progress *p);                        /* before other words are written */

#endif
