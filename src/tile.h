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

/* The index-th configuration for a problem on a device, the default first; false when there are not that many. */
bool tile_config_at(struct config *out, const struct caps *caps, const clattn_problem *p, size_t index);

/* Reads "ENGINE" (its best row), "ENGINE TILE", or NULL (the default) into *out and checks that it can run. */
cl_int tile_config_read(struct config *out, const char *text, const struct caps *caps, const clattn_problem *p,
                        struct why *why);

/* "ENGINE TILE", e.g. "cpu w16,nv4,rk4,rd4,bk64". */
void tile_config_print(const struct config *c, struct text *to);

#endif
