/* sample_cache.h - how a sample stores K and V: in pages, quantised. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A sample's values do not depend on where they lie, so its answer knows nothing of pages. Elements of K and V are
 * counted in two ways: as values, [b,hk,nk,width] or varlen [total,hk,width], and as they are stored, which is the
 * same unless they are paged: [pages,page,hk,width]. */
#ifndef SAMPLE_CACHE_H
#define SAMPLE_CACHE_H

#include "judge/sample.h"

/* Rows of a page, the pages that there are, and elements of a row of the block table; zeros where nothing is paged.
 * Pages lie in a disorder, some belong to nobody, and entries behind a sequence's last key lead nowhere. A ragged
 * sample has pages so small that every sequence has more than one, whatever the problem says. */
struct sample_pages {
    int64_t page, count, stride;
};
struct sample_pages sample_cache_pages(const struct sample *s);

/* Whether it is one of K, V, their scales and zero points, and the block table; then its elements, and some of them as
 * they are stored. Of quantised storage `from` and `n` are whole blocks. */
bool sample_cache_has(enum sample_what what);
int64_t sample_cache_count(const struct sample *s, enum sample_what what);
void sample_cache_fill(const struct sample *s, enum sample_what what, int64_t from, int64_t n, void *to);

/* Values of K (or V): how many, and one of them. */
int64_t sample_cache_values(const struct sample *s, enum sample_what k_or_v);
double sample_cache_value(const struct sample *s, enum sample_what k_or_v, int64_t at);

#endif
