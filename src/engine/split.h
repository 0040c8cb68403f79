/* split.h - into how many parts a call splits its keys. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_H
#define SPLIT_H

#include "engine/tile.h"

/* Parts, and how many keys each of them has at least: cl/forward.cl finds a row's own from these. */
struct split {
    int parts, least;
};

/* As many as give every compute unit of the device the work-groups that the configuration asks for, `waves` of them, or
 * on CPUs twice as many where the entries of a batch have lengths of their own. With CLATTN_BATCH_INVARIANT, what
 * follows from the keys alone. p: the plan's problem, s: the call's sizes. */
struct split split_by_rule(const struct config *config, const struct caps *caps, const clattn_problem *p,
                           const clattn_sizes *s);

/* As the caller wants. */
struct split split_by_force(int parts);

/* Keys of a part, at most, of a tile's rows that see `keys` of them: whole tiles of `tile` keys. */
int64_t split_keys(int64_t keys, int parts, int least, int tile);

/* The index-th configuration that differs from `from` in its number of waves only, and splits the keys of the problem's
 * sizes into another number of parts. They have one program. */
bool split_waves_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct config *from,
                    size_t index);

#endif
