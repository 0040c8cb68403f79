/* defines.c - the build options of each pass's program: its numbers and types. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/defines.h"

#include "engine/split.h"
#include "problem/feature.h"

#include <math.h>

/* How K or V is quantised, if there are scales to say so. */
static void add_groups(struct text *to, char name, int type, int32_t group, bool has_zero)
{
    if (problem_type_is(type, PROBLEM_SCALED))
        text_add(to, " -DCLA_%c_GROUP=%d -DCLA_%c_HAS_ZERO=%d", name, (int)group, name, has_zero);
}

/* Widths and storage types. */
static void add_storage(struct text *to, const clattn_problem *p)
{
    text_add(to, " -cl-mad-enable -DCLA_D=%d -DCLA_DV=%d -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s -DCLA_TO=%s", (int)p->d,
             (int)p->dv, problem_type_name(p->type), problem_type_name(p->k_type), problem_type_name(p->v_type),
             problem_type_name(p->o_type));
    if (p->bias_type)
        text_add(to, " -DCLA_TB=%s", problem_type_name(p->bias_type));
    text_add(to, " -DCLA_PAGED=%d", p->page != 0);
    add_groups(to, 'K', p->k_type, p->k_group, p->flags & CLATTN_K_ZERO);
    add_groups(to, 'V', p->v_type, p->v_group, p->flags & CLATTN_V_ZERO);
}

/* Where rows are to have the same bits in every batch, tiles may begin before what their rows see. */
static bool drops(const clattn_problem *p)
{
    int64_t low, high;
    feature_range(p, &low, &high);
    return problem_has_holes(p) || (p->flags & CLATTN_BATCH_INVARIANT && low != INT64_MIN);
}

/* What is done to scores. Those that are written are in natural units, and before masks on both sides of a diagonal. */
static void add_scores(struct text *to, const struct target *t)
{
    const bool written = t->pass == PASS_SCORES;
    const clattn_problem *const p = t->p;
    const struct config *const c = t->config;
    text_add(to, " -DCLA_BACKWARD=%d -DCLA_O_LIKE_Q=%d -DCLA_DROPS=%d -DCLA_NATURAL=%d -DCLA_SCALES_LATE=%d "
             "-DCLA_DIAGONAL=%d -DCLA_PACKS_HEADS=%d -DCLA_INVARIANT=%d -DCLA_HAS_DROPOUT=%d -DCLA_REPEATS=%d",
             !!(p->flags & CLATTN_BACKWARD), p->o_type == p->type, drops(p), written || problem_changes_scores(p),
             fabs(p->scale) > 1, !written && feature_any_compiled(p, FEATURE_MASK, FEATURE_KNOWS_DIAGONAL),
             split_rows(p, t->shape.rows).packs_heads, !!(p->flags & CLATTN_BATCH_INVARIANT), p->dropout_p > 0,
             !!(p->flags & CLATTN_REPEAT));
    if (p->flags & CLATTN_BACKWARD)
        text_add(to, " -DCLA_HAS_BIAS=%d -DCLA_DQ_IN_STRIPES=%d -DCLA_PARTNERS=%d -DCLA_TABLES=%d", p->bias_type != 0,
                 c->engine->dq_in_stripes, t->shape.items, t->shape.tables);
}

void defines_forward(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    const struct caps *const caps = t->caps;
    const struct config *const c = t->config;
    const struct engine *e = c->engine;
    add_storage(to, p);
    add_scores(to, t);
    FEATURE_EACH(f)
        if (f->options && feature_applies(f, p))
            f->options(to, p);
    text_add(to, " -DCLA_WIDTH=%d -DCLA_ASKED=%s", t->shape.width, t->pass == PASS_SCORES ? "none" : "v");
    for (int i = 0; e->numbers[i].name; i++) {
        text_add(to, " -DCLA_");
        for (const char *s = e->numbers[i].name; *s; s++)
            text_add(to, "%c", *s - 'a' + 'A');
        text_add(to, "=%d", c->tile.n[i]);
    }
    if (e->unit)
        text_add(to, " -DCLA_WAVE=%d -DCLA_MMA_M=%d -DCLA_MMA_N=%d -DCLA_MMA_K=%d -DCLA_MMA_ROWS=%d -DCLA_ROW_WAVES=%d"
                 " -DCLA_OWN_WORDS=%d", e->unit->wave, e->unit->m, e->unit->n, e->unit->k, e->unit->rows,
                 engine_shares(e->unit, p), e->own_words);
    text_add(to, " -DCLA_FMA=%d -DCLA_SUB_GROUP=%d -DCLA_NV_CC=%d -DCLA_GFX=%d",
             p->type == CLATTN_F64 ? caps->fma64 : caps->fma, caps->sub_group, caps->nv_cc, caps->gfx);
    text_add(to, "%s%s", caps->sub_group ? " -cl-intel-256-GRF-per-thread" : "", e->options ? e->options : "");
}

/* Where items share sums, neighbours among them read what lies side by side: results, or what is summed for one. */
int defines_results(const struct target *t)
{
    enum { SIDE_BY_SIDE = 8 };
    const struct pass *const pass = pass_at(t->pass);
    const int items = pass->items(t);
    return items == 1 ? DEFINES_BLOCK : pass->one_result || items % SIDE_BY_SIDE ? 1 : SIDE_BY_SIDE;
}

void defines_rows(struct text *to, const struct target *t)
{
    add_storage(to, t->p);
    add_scores(to, t);
    text_add(to, " -DCLA_WIDTH=%d -DCLA_ITEMS=%d -DCLA_BLOCK=%d -DCLA_RESULTS=%d",
             t->shape.width, pass_at(t->pass)->items(t), DEFINES_BLOCK,
             defines_results(t));
}

void defines_merge(struct text *to, const struct target *t)
{
    const struct merge_shape s = t->shape.merge;
    const char *const type = problem_type_name(t->p->o_type);
    text_add(to, " -cl-mad-enable -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s -DCLA_TO=%s", type, type, type, type);
    text_add(to, " -DCLA_ITEMS=%d -DCLA_COLUMN_ITEMS=%d -DCLA_VECTORS=%d -DCLA_WIDTH=%d -DCLA_INVARIANT=%d", s.items,
             s.column_items, s.vectors, s.width, !!(t->p->flags & CLATTN_BATCH_INVARIANT));
}

int defines_part(int type, int32_t group)
{
    enum { PLAIN = 16 };
    const struct problem_type *const t = problem_type_at(type);
    return t->storage == PROBLEM_SCALED && group > 1 ? group : t->storage == PROBLEM_BLOCKS ? t->elements : PLAIN;
}

/* Rows as they are given are the only ones with a type of their own here: what is written is bytes to begin with. */
void defines_append(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    const char *const type = problem_type_name(p->type);
    const int k = defines_part(p->k_type, p->k_group), v = defines_part(p->v_type, p->v_group);
    text_add(to, " -DCLA_TQ=%s -DCLA_TK=%s -DCLA_TV=%s -DCLA_TO=%s -DCLA_WIDTH=1 -DCLA_D=%d -DCLA_DV=%d", type, type,
             type, type, (int)p->d, (int)p->dv);
    text_add(to, " -DCLA_INTO_K=%s -DCLA_INTO_V=%s -DCLA_K_GROUP=%d -DCLA_V_GROUP=%d -DCLA_K_ZERO=%d -DCLA_V_ZERO=%d",
             problem_type_name(p->k_type), problem_type_name(p->v_type), (int)p->k_group, (int)p->v_group,
             !!(p->flags & CLATTN_K_ZERO), !!(p->flags & CLATTN_V_ZERO));
    text_add(to, " -DCLA_K_PART=%d -DCLA_V_PART=%d -DCLA_K_PARTS=%d -DCLA_V_PARTS=%d", k, v,
             (int)problem_groups(p->d, k), (int)problem_groups(p->dv, v));
}

void defines_exp2(struct text *to, const struct target *t)
{
    (void)t;
    text_add(to, " -cl-mad-enable -DCLA_TQ=f32 -DCLA_TK=f32 -DCLA_TV=f32 -DCLA_TO=f32 -DCLA_WIDTH=4");
}
