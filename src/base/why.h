/* why.h - the words that tell a caller why a call failed
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WHY_H
#define WHY_H

#include <clattn.h>
#include <stdbool.h>

/* The words of a failure, on their way from where it was found to the caller. */
enum { WHY_MAX = 2048 };
struct why {
    char text[WHY_MAX];
};

/* Sets the words and returns `status`, so that a check reads: return why_set(why, STATUS, "...", ...). */
cl_int why_set(struct why *why, cl_int status, const char *format, ...) PRINTF_LIKE(3, 4);

/* In functions whose words are `why`. INVALID: what a caller gave is wrong. SYNTAX: a text cannot be read. REFUSE: it
 * cannot be done. */
#define INVALID(...) return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, __VA_ARGS__)
#define SYNTAX(...) return why_set(why, CLATTN_ERROR_SYNTAX, __VA_ARGS__)
#define REFUSE(...) return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, __VA_ARGS__)

/* Sets the words for a failed call of OpenCL, "clFoo: CL_BAR (-1)", and returns `status`. */
cl_int why_cl(struct why *why, cl_int status, const char *call);

#endif
