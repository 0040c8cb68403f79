/* slots_features.h - what fills the slots of masks, scores, weights, bias and sinks of passes. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SLOTS_FEATURES_H
#define SLOTS_FEATURES_H

#include "engine/pass.h"

/* Each writes the problem's features of a kind, and what makes one of them all. */
void slots_features_masks(struct text *to, const struct target *target);
void slots_features_scores(struct text *to, const struct target *target);
void slots_features_sink(struct text *to, const struct target *target);
void slots_features_gradients(struct text *to, const struct target *t);
void slots_features_taken(struct text *to, const struct target *t);
void slots_features_weights(struct text *to, const struct target *target);
void slots_features_bias(struct text *to, const struct target *target);

#endif
