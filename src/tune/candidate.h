/* candidate.h - configurations checked and timed on buffers of the library's own
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CANDIDATE_H
#define CANDIDATE_H

#include "judge/build.h"

/* What all configurations of a problem are checked and timed on. */
enum { CHECKS = 3 };
struct candidate_inputs {
    struct maker *maker;
    clattn_problem problem;    /* checked, without sizes of its own */
    struct device_sample checks[CHECKS]; /* small and ragged */
    struct device_sample timed;
    double whole, first;       /* the work of the class in calls of `timed`; the approximate time of the first
                                * configuration */
    bool sized, trusts_events;
};

/* One configuration of it. */
struct candidate {
    struct launch launch;
    struct config config;
    bool made;
};

/* `like`: the class's problem, whose sizes are used. candidate_inputs_close() must be called also after a failure. */
cl_int candidate_inputs_open(struct candidate_inputs *g, struct maker *maker, const clattn_problem *p,
                             const clattn_problem *like, struct why *why);
void candidate_inputs_close(struct candidate_inputs *g);

/* Builds a configuration and checks it on all small shapes. candidate_close() must be called also after a failure. */
cl_int candidate_open(struct candidate *t, struct candidate_inputs *g, const struct config *config, struct why *why);
void candidate_close(struct candidate *t);

/* Makes one timed call; *seconds is scaled to the whole work of the class. */
cl_int candidate_run(struct candidate *t, struct candidate_inputs *g, double *seconds, struct why *why);

/* Checks a few rows of the timed shape, which candidate_open() does not do. */
cl_int candidate_check(struct candidate *t, struct candidate_inputs *g, struct why *why);

#endif
