/* checked.h - arithmetic that notices when a result does not fit
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECKED_H
#define CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* a op b into *r; false when the result does not fit. */
bool checked_mul(int64_t a, int64_t b, int64_t *r);
bool checked_add(int64_t a, int64_t b, int64_t *r);
/* A size or an offset, which has 32 bits on some machines, as *r; likewise. */
bool checked_signed(uint64_t a, int64_t *r);

#endif
