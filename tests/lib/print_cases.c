/* print_cases.c - prints the problems of cases.h, each in all types, a line for each: what offline/cases.py compiles
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/cases.h"

#include <stdio.h>

static void print_all(const char *const *lines, size_t n)
{
    for (size_t i = 0; i < n; i++)
        for (size_t t = 0; t < sizeof case_types / sizeof *case_types; t++)
            printf("%s %s\n", case_types[t], lines[i]);
}
#define PRINT_ALL(lines) print_all(lines, sizeof(lines) / sizeof *(lines))

int main(void)
{
    PRINT_ALL(cases);
    PRINT_ALL(engine_cases);
    PRINT_ALL(tile_cases);
    PRINT_ALL(few_cases);
    PRINT_ALL(feature_cases);
    PRINT_ALL(quick_cases);
    PRINT_ALL(quick_features);
    return fflush(stdout) || ferror(stdout);
}
