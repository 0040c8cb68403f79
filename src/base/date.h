/* date.h - dates as text, the same in every time zone: 2025-01-31T23:59:59Z
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATE_H
#define DATE_H

#include "base/why.h"
#include "base/text.h"

/* Seconds since 1970, UTC. What lies outside 1970 to 9999 becomes the nearest there is. */
void date_print(struct text *to, int64_t date);

/* false: not as long as a date. What is as long but no date becomes a number that date_print() does not print so. */
bool date_read(const char *text, int64_t *date);

#endif
