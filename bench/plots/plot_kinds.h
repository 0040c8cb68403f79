/* plot_kinds.h - kinds of problems, which are the lines of a picture: all that differ in their keys only
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PLOT_KINDS_H
#define PLOT_KINDS_H

#include "bench/figures/figures.h"

enum { KIND_ROOM = 512 };

/* The problem string without its word for k, and without that for q where both are the same number; *keys is that of k.
 * What does not fit is left out, in whole words. */
void plot_kind(char kind[KIND_ROOM], const char *problem, double *keys);

/* The words that the kinds of all problems have, in their order in the first; for a title. */
void plot_common(char common[KIND_ROOM], const struct figures *all, size_t n);

/* The kind of a problem without these; "" where nothing is left. */
void plot_rest(char rest[KIND_ROOM], const char *problem, const char *common);

int plot_is_first_of_kind(const struct figures *all, size_t i);

/* The figures of the kind of all[first], by their keys. Returns how many; `at` has room for n. */
size_t plot_members(const struct figures *all, size_t n, size_t first, const struct figures **at);

#endif
