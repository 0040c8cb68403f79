/* split.c - into how many parts a call splits its keys. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/split.h"

/* What a part costs beside its keys, i.e. a work-group's beginning and end and its state, is little beside these. */
enum { TILES_LEAST = 4, KEYS_LEAST = 256, PARTS_MOST = 64 };

static int64_t divide_up(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}

static int64_t least_of(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

struct split split_by_rule(const struct config *config, const struct caps *caps, int64_t groups, int64_t keys)
{
    const int tile = config->engine->keys_per_tile(&config->tile);
    const int least = TILES_LEAST * tile > KEYS_LEAST ? TILES_LEAST * tile : KEYS_LEAST;
    const int64_t wanted = groups ? divide_up((int64_t)config->engine->waves * caps->compute_units, groups) : 1;
    const int64_t parts = least_of(least_of(wanted, keys / least), PARTS_MOST);
    return (struct split){ parts > 1 ? (int)parts : 1, least };
}

struct split split_by_force(int parts)
{
    return (struct split){ parts, 1 };
}

int64_t split_keys(int64_t keys, int parts, int least, int tile)
{
    const int64_t even = divide_up(keys, parts);
    return parts > 1 ? divide_up(even > least ? even : least, tile) * tile : keys;
}
