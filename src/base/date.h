/* date.h - dates as text, the same in every time zone: 2025-01-31T23:59:59Z
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DATE_H
#define DATE_H

#include "base/why.h"
#include "base/text.h"

/* Seconds since 1970, UTC. Dates outside 1970 to 9999 become the nearest date in that range. */
void date_print(struct text *to, int64_t date);

/* Returns false when the text has another length than a date. A text of that length that is no date becomes a number
 * which date_print() prints differently. */
bool date_read(const char *text, int64_t *date);

#endif
