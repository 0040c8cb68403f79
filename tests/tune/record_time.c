/* record_time.c - how clattn-tune writes the time of a record
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/tune/records.h"

#include <math.h>

int main(void)
{
    static const struct { double ns; const char *text; } rows[] = {
        { 0, "-" },           { -1, "-" },           { NAN, "-" },         { 1, "1 ns" },        { 7.25, "7.25 ns" },
        { 99.94, "99.9 ns" }, { 99.96, "100 ns" },   { 400, "400 ns" },    { 999.4, "999 ns" },  { 999.6, "1 us" },
        { 1234, "1.23 us" },  { 23449, "23.4 us" },  { 999400, "999 us" }, { 999600, "1 ms" },   { 4.2e6, "4.2 ms" },
        { 1.5e8, "150 ms" },  { 9.996e8, "1 s" },    { 2.5e9, "2.5 s" },   { 1e11, "100 s" },    { 3.6e12, "3600 s" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct record r = { .time_ns = rows[i].ns };
        char text[RECORD_TIME];
        ok(strcmp(record_time(text, &r), rows[i].text) == 0, "%.10g ns is written as %s (%s)", rows[i].ns, rows[i].text,
           text);
    }
    return done_testing();
}
