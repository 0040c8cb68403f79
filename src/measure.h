/* measure.h - configurations checked and timed on buffers of the library's own
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MEASURE_H
#define MEASURE_H

#include "build.h"

/* What all configurations of a problem are checked and timed on. */
enum { CHECKS = 3 };
struct ground {
    struct maker *maker;
    clattn_problem problem;    /* checked, without sizes of its own */
    struct bed checks[CHECKS]; /* small and ragged */
    struct bed timed;
    double whole, first;       /* the class's work in calls of `timed`; what the first configuration takes, roughly */
    bool sized, trusts_events;
};

/* One configuration of it. */
struct candidate {
    struct launch launch;
    struct config config;
    bool made;
};

/* `like`: the class's problem, whose sizes count. ground_close() is due in both cases. */
cl_int ground_open(struct ground *g, struct maker *maker, const clattn_problem *p, const clattn_problem *like,
                   struct why *why);
void ground_close(struct ground *g);

/* Builds, and checks on all the small shapes. candidate_close() is due in both cases. */
cl_int candidate_open(struct candidate *t, struct ground *g, const struct config *config, struct why *why);
void candidate_close(struct candidate *t);

/* One timed call, as seconds for all the work of the class. */
cl_int candidate_run(struct candidate *t, struct ground *g, double *seconds, struct why *why);

/* A few rows of the timed shape, which opening does not look at. */
cl_int candidate_check(struct candidate *t, struct ground *g, struct why *why);

#endif
