/* tile.h - choosing, reading and printing the numbers of an engine's tile. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TILE_H
#define TILE_H

#include "engine.h"

/* What a plan runs with. */
struct config {
    const struct engine *engine;
    struct tile tile;
};

/* The index-th configuration for a problem on a device, the default first; of one engine unless `only` is NULL. false
 * when there are not that many. */
bool tile_config_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct engine *only,
                    size_t index);

/* Reads "ENGINE" (its best row), "ENGINE TILE", or NULL (the default) into *out and checks that it can run. */
cl_int tile_config_read(struct config *out, const char *text, const struct caps *caps, const clattn_problem *p,
                        struct why *why);

/* Whether `text` names a tile, and so leaves nothing to choose. */
bool tile_config_is_pinned(const char *text);

/* "ENGINE TILE", e.g. "cpu w16,nv4,rk4,rd4,bk64". */
void tile_config_print(const struct config *c, struct text *to);

#endif
