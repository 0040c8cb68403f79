/* defines.h - the build options of each pass's program, and numbers that calls need as well. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DEFINES_H
#define DEFINES_H

#include "engine/pass.h"

void defines_forward(struct text *to, const struct target *target);
/* Of passes that read or write rows of heads, a block of DEFINES_BLOCK of them for each work-group. */
enum { DEFINES_BLOCK = 64 };
void defines_rows(struct text *to, const struct target *target);
int defines_results(const struct target *target); /* of a work-group of passes that sum up (cl/passes/sums.cl) */
void defines_merge(struct text *to, const struct target *target);
void defines_append(struct text *to, const struct target *target); /* of advance and rotary, too */
void defines_exp2(struct text *to, const struct target *target);

/* Elements of a row of K or V that a work-item of pass append writes, by its storage type and its groups: whole groups
 * and whole bytes. */
int defines_part(int type, int32_t group);

#endif
