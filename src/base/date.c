/* date.c - dates as text, the same in every time zone: 2025-01-31T23:59:59Z
 * SPDX-License-Identifier: Apache-2.0
 *
 * By hand: the C library's functions read the time zone, and some zones have leap seconds. */
#include "config.h"

#include "base/date.h"

#include <string.h>

enum { LENGTH = 20, DAY = 86400 };

static const int64_t last = INT64_C(253402300799); /* 9999-12-31T23:59:59Z */

/* Returns the days from 1970-01-01 to a day; month 13 is the next January. Years begin in March here, so that the leap
 * day is the last day of a year. */
static int64_t days_until(int64_t year, int64_t month, int64_t day)
{
    const int64_t y = year - (month <= 2), m = month > 2 ? month - 3 : month + 9;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 719469;
}

void date_print(struct text *to, int64_t date)
{
    const int64_t at = date < 0 ? 0 : date > last ? last : date, days = at / DAY, s = at % DAY;
    int64_t year = 1970 + days / 366, month = 1;
    while (days_until(year + 1, 1, 1) <= days)
        year++;
    while (days_until(year, month + 1, 1) <= days)
        month++;
    text_add(to, "%04d-%02d-%02dT%02d:%02d:%02dZ", (int)year, (int)month, (int)(days - days_until(year, month, 1) + 1),
             (int)(s / 3600), (int)(s / 60 % 60), (int)(s % 60));
}

static int64_t digits(const char *at, int n)
{
    int64_t x = 0;
    for (int i = 0; i < n; i++)
        x = x * 10 + (at[i] - '0');
    return x;
}

bool date_read(const char *text, int64_t *date)
{
    if (strlen(text) != LENGTH)
        return false;
    *date = days_until(digits(text, 4), digits(text + 5, 2), digits(text + 8, 2)) * DAY +
            digits(text + 11, 2) * 3600 + digits(text + 14, 2) * 60 + digits(text + 17, 2);
    return true;
}
