/* split.h - into how many parts a call splits its keys. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SPLIT_H
#define SPLIT_H

#include "engine/tile.h"

/* Parts, and how many keys each of them has at least: cl/forward.cl finds a row's own from these. */
struct split {
    int parts, least;
};

/* As the device needs: `groups` work-groups go over the same keys, at most `keys` of them, and nobody knows of others
 * that would have as much to do. */
struct split split_by_rule(const struct config *config, const struct caps *caps, int64_t groups, int64_t keys);

/* As the caller wants. */
struct split split_by_force(int parts);

/* Keys of a part, at most, of a tile's rows that see `keys` of them: whole tiles of `tile` keys. */
int64_t split_keys(int64_t keys, int parts, int least, int tile);

#endif
