/* case.h - problem strings: read, print, count work. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CASE_H
#define CASE_H

#include "problem.h"

/* Rows of the i-th of b sequences, of which the longest has n: ceil(n (i + 1) / b). */
int64_t case_varlen(int64_t n, int64_t i, int64_t b);

/* Whether `names` are names of letters, digits, _, - and . with commas between, or "". */
bool case_is_names(const char *names);

cl_int case_parse(clattn_case *out, const char *text, struct why *why); /* in parse.c */
cl_int case_print(const clattn_case *c, struct text *to, struct why *why);
cl_int case_cost(const clattn_case *c, double *flops, double *bytes, struct why *why);

#endif
