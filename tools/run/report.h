/* report.h - what clattn-run tells about a run
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_H
#define REPORT_H

#include "tools/run/arrays.h"
#include "tools/oracle/verify.h"

/* What was found out. A number that was not measured is NaN, a text that is not known is NULL or "". */
struct report {
    const char *platform, *device;
    char problem[16384]; /* without lengths and offsets that the string has no words for */
    char engine[64], tile[448];
    clattn_plan_info made;
    double plan_ms, time_ms, flops, bytes;
    int verified, verified_gradients[VERIFY_GRADIENTS], verified_scores[VERIFY_SCORES];
    struct verdict verdict;
};

void report_start(struct report *r);

/* Fills problem, flops and bytes. Returns a clattn status. */
cl_int report_problem(struct report *r, const struct arrays *a);

/* The same for a merge of partial results of `width`, in storage type `type`, which no problem string
 * describes. */
void report_merge(struct report *r, int64_t parts, int64_t rows, int64_t width, int type);

/* The error that is reported, and its bound: those of the element of O, LSE, gradients and scores whose error is the
 * largest share of its bound. */
void report_error(const struct report *r, double *error, double *bound);

/* Prints to standard output. Returns 0, or -1 with `f` set when that cannot be written. */
int report_print(const struct report *r, int json, struct fault *f);

#endif
