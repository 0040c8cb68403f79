/* clock.c - wall-clock times and their median
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/clock.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

double clock_ms(void)
{
    struct timespec t;
    if (clock_gettime(CLOCK_MONOTONIC, &t) != 0)
        return NAN;
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

static int ascending(const void *x, const void *y)
{
    const double a = *(const double *)x, b = *(const double *)y;
    return (a > b) - (a < b);
}

double clock_median(const double *x, int n)
{
    double *sorted = malloc((size_t)n * sizeof *sorted);
    if (!sorted)
        return NAN;
    memcpy(sorted, x, (size_t)n * sizeof *sorted);
    qsort(sorted, (size_t)n, sizeof *sorted, ascending);
    const double m = n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
    free(sorted);
    return m;
}
