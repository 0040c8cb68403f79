/* clock.h - wall-clock times and their median
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLOCK_H
#define CLOCK_H

/* Milliseconds of a clock that never jumps, from an arbitrary start; NaN where there is none. */
double clock_ms(void);

/* NaN when there is no memory. n > 0 */
double clock_median(const double *x, int n);

#endif
