/* target.c - what a program is composed for, and the numbers that follow from it. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/target.h"

/* An engine of one item to a group has vectors, and a thread for each group: columns are in vectors there. Elsewhere
 * they are in neighbouring items. */
static struct merge_shape shape_to_merge(const struct shape *of, size_t max_group, int dv)
{
    enum { COLUMN_ITEMS = 32, LANES = 8, VECTORS = 4 };
    struct merge_shape s = { 1, 1, VECTORS, of->width, 0 };
    if (of->items > 1) {
        const int most = (int)(max_group < COLUMN_ITEMS * LANES ? max_group : COLUMN_ITEMS * LANES);
        s = (struct merge_shape){ 1, 1, 1, 1, 0 };
        while (2 * s.items <= most)
            s.items *= 2;
        s.column_items = s.items < COLUMN_ITEMS ? s.items : COLUMN_ITEMS;
    }
    const int columns = s.column_items * s.vectors * s.width;
    s.chunks = (dv + columns - 1) / columns;
    return s;
}

static struct shape shape_of(const clattn_problem *p, const struct caps *caps, const struct config *config)
{
    enum { ENOUGH = 64 };
    const struct engine *const e = config->engine;
    const struct tile *const tile = &config->tile;
    struct shape s = { .rows = e->rows_per_group(e, tile, p),
                       .keys = e->keys_per_tile(tile),
                       .items = e->items_per_group(e, tile),
                       .items_of_others = caps->max_group < ENOUGH ? (int)caps->max_group : ENOUGH,
                       .width = engine_width(e, tile),
                       .tables = engine_tables(e, tile),
                       .scalar_bytes = engine_scalar_bytes(p) };
    s.own_bytes = (int64_t)s.items * e->own_words * (int64_t)sizeof(cl_uint);
    s.total_bytes = e->total_scalars ? s.items * e->total_scalars(e, tile, p) * s.scalar_bytes : 0;
    s.merge = shape_to_merge(&s, caps->max_group, p->dv);
    return s;
}

struct target target_make(int pass, const clattn_problem *p, const struct caps *caps, const struct config *config)
{
    return (struct target){
        .pass = pass, .p = p, .caps = caps, .config = config, .shape = shape_of(p, caps, config)
    };
}
