/* pass_backward.h - the passes of gradients, and what they share with the others. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PASS_BACKWARD_H
#define PASS_BACKWARD_H

#include "engine/pass.h"

/* From PASS_DELTA to PASS_SUM_DAUX. */
const struct pass *pass_backward_at(int id);

/* Bytes of the workspace through which one pass hands sums on to the next; false: they are too many. */
bool pass_backward_bytes(const struct target *t, const struct arguments *a, int64_t *bytes);

/* In pass.c. */
bool pass_is_backward(const clattn_problem *p);
int pass_items_of_engine(const struct target *t);
int pass_items_for_blocks(const struct target *t);
void pass_idle_rows(struct arguments *a);

#endif
