/* number.h - numbers in text, the same in every locale
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NUMBER_H
#define NUMBER_H

#include "base/why.h"
#include "base/text.h"

/* Both return a pointer to what follows the number, or NULL when there is no number or it does not fit. A real is
 * [-]digits[.digits][e[+-]digits]. */
const char *number_read_integer(const char *at, int64_t *value);
const char *number_read_real(const char *at, double *value);

/* The shortest digits that read back as x. */
void number_print_real(struct text *to, double x);

#endif
