/* checked.h - arithmetic that notices when a result does not fit
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CHECKED_H
#define CHECKED_H

#include <stdbool.h>
#include <stdint.h>

/* a op b, of 64 bits, into *r; false when the result does not fit. */
#define checked_mul(a, b, r) (!__builtin_mul_overflow((int64_t)(a), (int64_t)(b), r))
#define checked_add(a, b, r) (!__builtin_add_overflow((int64_t)(a), (int64_t)(b), r))
/* A size or an offset, which has 32 bits on some machines, as *r; likewise. */
#define checked_signed(a, r) (!__builtin_add_overflow((uint64_t)(a), 0u, r))

#endif
