/* reference_dropout.h - which weights dropout drops, by the words of clattn.h
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REFERENCE_DROPOUT_H
#define REFERENCE_DROPOUT_H

#include "tools/oracle/reference_rules.h"

/* Word `which` of the block of Philox4x32 with so many rounds. */
uint32_t reference_philox(const uint32_t counter[4], uint64_t key, int rounds, int which);

/* What the weight of key k of a row is multiplied with; 1 where the problem has no dropout. */
double reference_factor(const struct reference *r, const struct reference_line *at, int64_t k);

#endif
