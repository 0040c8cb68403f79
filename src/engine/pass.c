/* pass.c - the table of passes, and what their rows share. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/pass.h"

#include "engine/defines.h"
#include "engine/params.h"
#include "engine/slots.h"

/* ---- What rows share ---- */

bool pass_is_backward(const clattn_problem *p)
{
    return p->flags & CLATTN_BACKWARD;
}

bool pass_is_forward(const clattn_problem *p)
{
    return !pass_is_backward(p);
}

int pass_items_of_engine(const struct target *t)
{
    return t->shape.items;
}

int pass_items_for_blocks(const struct target *t)
{
    return t->shape.items_of_others;
}

/* A grid of one spare group: it reads a length here and there, and writes nothing but its workspace. */
void pass_idle_rows(struct arguments *a)
{
    a->parts = a->part_least = 1;
    a->h = a->heads_per_kv = a->nq = a->nk = a->packed_heads = a->heads = 1;
    a->per_packed_head = 1;
    a->block_q = a->block_k = 1;
    a->bias.entries = a->bias.heads = a->mask.entries = a->mask.heads = a->map.entries = a->map.heads = 1;
}

/* ---- No plan's ---- */

static const char *exp2_slot(const struct target *t) { return source_exp2(t->exp2); }

static const struct slot exp2_slots[] = {
    { .fragment = "args.h" },
    { .fragment = "compilers.cl" },
    { .fragment = "acc_f32.cl" },
    { .fragment = "dtype_f32.cl" },
    { .fragment = "env.cl" },
    { .choose = exp2_slot },
    { .fragment = "exp2_test.cl" },
    { NULL, NULL, NULL },
};

static const struct pass exp2_test = { .kernel = "cla_power", .slots = exp2_slots, .options = defines_exp2 };

/* ---- The table ---- */

#define ROW(NAME, row) [PASS_##NAME] = &row,
static const struct pass *const passes[] = {
    PASSES_FORWARD(ROW)
    PASSES_BACKWARD(ROW)
    [PASS_EXP2] = &exp2_test,
};

const struct pass *pass_at(int id)
{
    return passes[id];
}

bool pass_applies(int id, const clattn_problem *p, const struct engine *e)
{
    const struct pass *const pass = pass_at(id);
    return pass->applies(p) && (!pass->serves || pass->serves(e));
}

int pass_main(const clattn_problem *p)
{
    return pass_is_backward(p) ? PASS_BACKWARD_KEYS : PASS_FORWARD;
}
