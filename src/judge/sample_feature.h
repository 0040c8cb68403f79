/* sample_feature.h - the tensors of a sample that features read: bias, mask, block map, slopes and sinks
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SAMPLE_FEATURE_H
#define SAMPLE_FEATURE_H

#include "problem/feature.h"
#include "judge/sample.h"

/* Whether a feature reads it; its elements, 0 where the problem has none or they are too many; its type; one of
 * them. */
bool sample_feature_has(enum sample_what what);
int64_t sample_feature_count(const struct sample *s, enum sample_what what);
int sample_feature_type(const struct sample *s, enum sample_what what);
double sample_feature_value(const struct sample *s, enum sample_what what, int64_t at);

/* What such a tensor has for query q and key k of head h of entry b; 0 for FEATURE_READS_NONE. A bias is multiplied by
 * its slope. */
double sample_feature_read(const struct sample *s, enum feature_tensor from, int64_t b, int64_t h, int64_t q,
                           int64_t k);

/* What its bias is multiplied by for a head: 1 without CLATTN_BIAS_SLOPES. */
double sample_feature_slope(const struct sample *s, int64_t h);

#endif
