/* emulations.h - the engines that are there for tests alone, as the tests' table has them
 * SPDX-License-Identifier: Apache-2.0
 *
 * For tests of the library's inner parts. The tile of all of them is that of engine mma_emu. */
#ifndef EMULATIONS_H
#define EMULATIONS_H

#include "engine/engine.h"
#include "tests/lib/deals.h"

/* The index-th of those whose turn it is, "NAME TILE", by name alone where `tile` is ""; NULL behind the last. Until
 * the next call. */
static inline const char *emulation(size_t index, const char *tile)
{
    static char config[64];
    const struct engine *e;
    unsigned n = 0, at = 0;
    for (size_t i = 0; (e = engine_at(i)) != NULL; i++)
        n += !e->rank;
    for (size_t i = 0; (e = engine_at(i)) != NULL; i++)
        if (!e->rank && harness_alternates(at++, n) && !index--) {
            snprintf(config, sizeof config, "%s%s%s", e->name, *tile ? " " : "", tile);
            return config;
        }
    return NULL;
}

#endif
