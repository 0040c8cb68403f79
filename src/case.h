/* case.h - problem strings: read, print, count work. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CASE_H
#define CASE_H

#include "problem.h"

cl_int case_parse(clattn_case *out, const char *text, struct why *why); /* in parse.c */
cl_int case_print(const clattn_case *c, struct text *to, struct why *why);
cl_int case_cost(const clattn_case *c, double *flops, double *bytes, struct why *why);

#endif
