/* gqa.c - GQA packing: when the query heads that share keys are rows of one tile. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/gqa.h"

#include "problem/feature.h"

static bool may_pack_heads(const clattn_problem *p)
{
    return !feature_any(p, FEATURE_DIFFERS_BY_HEAD) && !(p->flags & CLATTN_BACKWARD);
}

struct rows gqa_rows(const clattn_problem *p, int per_group)
{
    struct rows rows = { per_group, may_pack_heads(p) };
    rows.packs_heads = gqa_heads(&rows, &p->sizes) > 1;
    return rows;
}

int64_t gqa_shared_rows(const clattn_problem *p)
{
    const clattn_sizes *s = &p->sizes;
    return may_pack_heads(p) && s->hk ? s->nq * (s->h / s->hk) : s->nq;
}

/* FlashAttention's rule: less than 0.9 of the tiles. */
int gqa_heads(const struct rows *rows, const clattn_sizes *s)
{
    const int64_t heads = s->hk ? s->h / s->hk : 1, most = GQA_ROWS_MAX, tile = rows->per_group;
    if (!rows->packs_heads || heads < 2 || s->nq < 1 || heads > most || s->nq > most / heads)
        return 1;
    const int64_t apart = (s->nq + tile - 1) / tile * heads, packed = (s->nq * heads + tile - 1) / tile;
    return 10 * packed < 9 * apart ? (int)heads : 1;
}
