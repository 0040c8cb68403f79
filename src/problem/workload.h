/* workload.h - problem strings: read, print, count work. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WORKLOAD_H
#define WORKLOAD_H

#include "problem/problem.h"
#include "base/text.h"

/* Rows of the i-th of b sequences, of which the longest has n: ceil(n (i + 1) / b). */
int64_t workload_varlen(int64_t n, int64_t i, int64_t b);

/* Whether `names` are names of letters, digits, _, - and . with commas between, or "". */
bool workload_is_names(const char *names);

/* What is wrong with a string in which two words say where the diagonal lies. */
#define WORKLOAD_TWO_DIAGONALS "causal-tl and off contradict each other"

cl_int workload_parse(clattn_workload *out, const char *text, struct why *why); /* in workload_parse.c */
cl_int workload_print(const clattn_workload *c, struct text *to, struct why *why);
cl_int workload_cost(const clattn_workload *c, double *flops, double *bytes, struct why *why);

#endif
