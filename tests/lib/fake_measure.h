/* fake_measure.h - a clattn_measure that measures nothing: made-up times, and a look at how it is called
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FAKE_MEASURE_H
#define FAKE_MEASURE_H

#include <clattn_tune.h>

enum { PRETEND_NAME = 128 };

struct pretend_config {
    char name[PRETEND_NAME];
    int opens, refused, runs, closes, is_open;
};

/* What it shall do, all zero by default: times by hash and seed, from 1 to 2 ms, the same every time. */
struct pretend {
    unsigned seed;
    const char *favourite;  /* the one that takes half a millisecond, when it is open; NULL: none */
    const char *odd;        /* the one that what follows is about; "*": all */
    cl_int open_status, run_status;
    double odd_seconds;     /* its time, unless 0 and not odd_time */
    int odd_time;
    int n;                  /* configurations seen so far, and what happened to them */
    struct pretend_config *seen;
    int wrong;              /* calls out of order */
    char why[2 * PRETEND_NAME];
};

clattn_measure pretend_measure(struct pretend *p);
/* What it says of a configuration. */
double pretend_seconds(const struct pretend *p, const char *config);
struct pretend_config *pretend_find(const struct pretend *p, const char *config);
/* Whether all that was opened is closed, and no call came out of order; else words in p->why. */
int pretend_is_over(struct pretend *p);
/* Forgets what it has seen. */
void pretend_forget(struct pretend *p);

/* A record for a problem's class, of a search in which `favourite` (NULL: whatever is first) was the fastest. */
cl_int pretend_tune(clattn_handle h, const clattn_problem *problem, int effort, const char *favourite);

#endif
