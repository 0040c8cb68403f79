/* split.c - how a call's work is cut into work-groups: heads that share tiles, parts of the keys. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/split.h"

#include "base/checked.h"
#include "cl/passes/parts.h"
#include "problem/feature.h"

/* ---- Rows: GQA packing, where the query heads that share keys are rows of one tile ---- */

static bool may_pack_heads(const clattn_problem *p)
{
    return !feature_any(p, FEATURE_DIFFERS_BY_HEAD) && !(p->flags & CLATTN_BACKWARD);
}

struct rows split_rows(const clattn_problem *p, int per_group)
{
    struct rows rows = { per_group, may_pack_heads(p) };
    rows.packs_heads = split_heads(&rows, &p->sizes) > 1;
    return rows;
}

int64_t split_shared_rows(const clattn_problem *p)
{
    const clattn_sizes *s = &p->sizes;
    return may_pack_heads(p) && s->hk ? s->nq * (s->h / s->hk) : s->nq;
}

/* FlashAttention's rule: less than 0.9 of the tiles. */
int split_heads(const struct rows *rows, const clattn_sizes *s)
{
    const int64_t heads = s->hk ? s->h / s->hk : 1, most = SPLIT_ROWS_MAX, tile = rows->per_group;
    if (!rows->packs_heads || heads < 2 || s->nq < 1 || heads > most || s->nq > most / heads)
        return 1;
    const int64_t separate = (s->nq + tile - 1) / tile * heads, packed = (s->nq * heads + tile - 1) / tile;
    return 10 * packed < 9 * separate ? (int)heads : 1;
}

/* ---- Parts of the keys ---- */

static int64_t divide_up(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}

static int64_t least_of(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* Keys that the rows of a work-group see, at most; INT64_MAX: all. */
static int64_t window_of(const clattn_problem *p, int rows)
{
    int64_t low, high;
    feature_range(p, &low, &high);
    return low == INT64_MIN || high == INT64_MAX ? INT64_MAX : high - low + rows;
}

/* What a part costs beside its keys, i.e. the beginning and end of a work-group and its state, is little beside
 * TILES_LEAST tiles or KEYS_LEAST keys. With CLATTN_BATCH_INVARIANT parts follow from the keys alone. Those of an entry
 * with fewer keys than nk are the same as if it were alone: there are fewer of them as long as they have `least` keys,
 * and INVARIANT_PARTS from then on. */
struct split_rule split_rule(const clattn_problem *p, const struct caps *caps, const struct config *config)
{
    enum { TILES_LEAST = 4, KEYS_LEAST = 256, PARTS_MOST = 64, INVARIANT_KEYS = 1024, INVARIANT_PARTS = 32 };
    const struct engine *const e = config->engine;
    const bool invariant = p->flags & CLATTN_BATCH_INVARIANT;
    const int tiles = TILES_LEAST * e->keys_per_tile(&config->tile), least = invariant ? INVARIANT_KEYS : KEYS_LEAST;
    const int64_t groups = (int64_t)tile_waves(config) * caps->compute_units;
    struct split_rule r = { .rows = split_rows(p, e->rows_per_group(e, &config->tile, p)),
                            .invariant = invariant,
                            .has_lists = problem_has_lists(p),
                            .least = tiles > least ? tiles : least,
                            .most = invariant ? INVARIANT_PARTS : PARTS_MOST,
                            .groups = groups,
                            .uneven_groups = problem_has_lists(p) ? groups * e->uneven : groups };
    r.window = window_of(p, r.rows.per_group);
    return r;
}

/* Work-groups that go over the same keys at a time, as far as is known: where each batch entry has lengths of its own,
 * one may have nearly all the keys. 0: none, or more than there are numbers. */
static int64_t groups_of(const struct split_rule *r, const clattn_sizes *s, int packed)
{
    int64_t groups;
    if (!checked_mul(r->has_lists ? s->b > 0 : s->b, s->h / packed, &groups) ||
        !checked_mul(groups, divide_up(s->nq * packed, r->rows.per_group), &groups))
        return 0;
    return groups;
}

struct split split_by_rule(const struct split_rule *r, const clattn_sizes *s, int packed)
{
    int64_t parts = 1;
    if (r->invariant) {
        parts = divide_up(s->nk, r->least);
    } else {
        const int64_t groups = groups_of(r, s, packed), wanted = s->b > 1 ? r->uneven_groups : r->groups;
        if (groups)
            parts = least_of(divide_up(wanted, groups), least_of(s->nk, r->window) / r->least);
    }
    return (struct split){ parts < 1 ? 1 : (int)least_of(parts, r->most), r->least };
}

struct split split_by_force(int parts)
{
    return (struct split){ parts, 1 };
}

int64_t split_keys(int64_t keys, int parts, int least, int tile)
{
    return parts > 1 ? cla_part_keys((cla_i32)keys, parts, least, tile) : keys;
}

static int parts_of(const struct config *config, const struct caps *caps, const clattn_problem *p)
{
    const struct split_rule rule = split_rule(p, caps, config);
    return split_by_rule(&rule, &p->sizes, split_heads(&rule.rows, &p->sizes)).parts;
}

bool split_waves_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct config *from,
                    size_t index)
{
    int before = parts_of(from, caps, p);
    const int own = before;
    if (p->splits || p->flags & (CLATTN_BACKWARD | CLATTN_BATCH_INVARIANT))
        return false;
    *out = *from;
    for (int i = 0; (out->waves = tile_waves_listed(i)); i++) {
        const int parts = parts_of(out, caps, p);
        if (parts != own && parts != before && !index--)
            return true;
        before = parts;
    }
    return false;
}
