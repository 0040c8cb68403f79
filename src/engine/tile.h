/* tile.h - choosing, reading and printing the numbers of an engine's tile. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TILE_H
#define TILE_H

#include "engine/engine.h"
#include "base/text.h"

/* What a plan runs with. */
struct config {
    const struct engine *engine;
    struct tile tile;
    int waves; /* work-groups for each compute unit that keys are split for (split.h); 0: as the engine says */
};

int tile_waves(const struct config *config);
/* The i-th that a search tries, ascending; 0: there are not that many. */
int tile_waves_listed(int i);

/* The next configuration for a problem on a device, the default first; of one engine unless `only` is NULL. false:
 * there are no more. *at: all zeros for the first. And the index-th of them. */
struct tile_cursor {
    size_t engine; /* how many are done */
    int row;       /* the next of the engine at hand, .. */
    bool large;    /* .. of those that do not keep to the device's quirks */
};
bool tile_config_next(struct config *out, const struct caps *caps, const clattn_problem *p, const struct engine *only,
                      struct tile_cursor *at);
bool tile_config_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct engine *only,
                    size_t index);

bool tile_is_same(const struct config *a, const struct config *b);

/* ---- What a search may try: hard limits of the device, and of a platform with quirks, nothing that is only a guess
 * ---- */

/* Whether every number is in its engine's lists, or the tile is one of the engine's rows. */
bool tile_is_candidate(const struct config *config);

/* Whether the platform's quirks leave it worth a try. */
bool tile_suits(const struct config *config, const struct caps *caps);

/* The index-th candidate that can run here and is one step up or down from `from` in one number. A number that is not
 * in its list steps to the values nearest to it. */
bool tile_neighbour_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct config *from,
                       size_t index);

/* Whether they are one step apart in one number. */
bool tile_is_neighbour(const struct config *a, const struct config *b);

/* The next of all combinations of an engine's lists that can run here; *at: 0 for the first. */
bool tile_space_next(struct config *out, const struct caps *caps, const clattn_problem *p, const struct engine *engine,
                     size_t *at);

/* ---- As text ---- */

/* Reads "ENGINE" (its best row), "ENGINE TILE", "ENGINE TILE wavesN", or NULL (the default) into *out and checks that
 * it can run. */
cl_int tile_config_read(struct config *out, const char *text, const struct caps *caps, const clattn_problem *p,
                        struct why *why);

/* Whether `text` names a tile, and so leaves nothing to choose. */
bool tile_config_is_pinned(const char *text);

/* "ENGINE TILE", e.g. "cpu w16,nv4,rk4,rd4,bk64", and " wavesN" where that is not as the engine says. */
void tile_config_print(const struct config *c, struct text *to);

#endif
