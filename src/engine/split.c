/* split.c - into how many parts a call splits its keys. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/split.h"

#include "base/checked.h"
#include "problem/feature.h"
#include "problem/gqa.h"

/* What a part costs beside its keys, i.e. the beginning and end of a work-group and its state, is little beside these.
 */
enum { TILES_LEAST = 4, KEYS_LEAST = 256, PARTS_MOST = 64 };

static int64_t divide_up(int64_t x, int64_t by)
{
    return (x + by - 1) / by;
}

static int64_t least_of(int64_t x, int64_t y)
{
    return x < y ? x : y;
}

/* Work-groups that go over the same keys at a time, as far as is known: where each batch entry has lengths of its own,
 * one may have nearly all the keys. 0: none, or more than there are numbers. */
static int64_t groups_of(const struct rows *rows, const clattn_problem *p, const clattn_sizes *s)
{
    const int packed = gqa_heads(rows, s);
    int64_t groups;
    if (!checked_mul(problem_has_lists(p) ? s->b > 0 : s->b, s->h / packed, &groups) ||
        !checked_mul(groups, divide_up(s->nq * packed, rows->per_group), &groups))
        return 0;
    return groups;
}

/* Keys that the rows of a work-group see, at most. */
static int64_t keys_of(const struct rows *rows, const clattn_problem *p, const clattn_sizes *s)
{
    int64_t low, high;
    feature_range(p, &low, &high);
    return low == INT64_MIN || high == INT64_MAX ? s->nk : least_of(s->nk, high - low + rows->per_group);
}

/* Work-groups for each compute unit. A CPU's runtime may give each thread a range of them: where the first parts hold
 * all keys of the short entries, the others must be enough to even that out. */
static int waves_of(const struct config *config, const clattn_problem *p, const clattn_sizes *s)
{
    return tile_waves(config) * (problem_has_lists(p) && s->b > 1 ? config->engine->uneven : 1);
}

/* Whatever else is computed. The parts of an entry with fewer keys than nk are those that it would have by itself: as
 * long as they are `least` keys long there are fewer of them, and from then on PARTS. */
static struct split split_by_keys(int64_t nk, int tiles)
{
    enum { KEYS = 1024, PARTS = 32 };
    const int least = tiles > KEYS ? tiles : KEYS;
    const int64_t parts = least_of(divide_up(nk, least), PARTS);
    return (struct split){ parts < 1 ? 1 : (int)parts, least };
}

struct split split_by_rule(const struct config *config, const struct caps *caps, const clattn_problem *p,
                           const clattn_sizes *s)
{
    const struct engine *const e = config->engine;
    const int tile = e->keys_per_tile(&config->tile), tiles = TILES_LEAST * tile;
    const int least = tiles > KEYS_LEAST ? tiles : KEYS_LEAST;
    if (p->flags & CLATTN_BATCH_INVARIANT)
        return split_by_keys(s->nk, tiles);
    const struct rows rows = gqa_rows(p, e->rows_per_group(&config->tile));
    const int64_t groups = groups_of(&rows, p, s), wanted = (int64_t)waves_of(config, p, s) * caps->compute_units;
    const int64_t parts = groups ? least_of(divide_up(wanted, groups), keys_of(&rows, p, s) / least) : 1;
    return (struct split){ parts < 1 ? 1 : (int)least_of(parts, PARTS_MOST), least };
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

static int parts_of(const struct config *config, const struct caps *caps, const clattn_problem *p)
{
    return split_by_rule(config, caps, p, &p->sizes).parts;
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
