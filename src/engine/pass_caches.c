/* pass_caches.c - passes that append rows to caches and rotate them. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/pass.h"

#include "engine/defines.h"
#include "engine/params.h"
#include "engine/slots.h"

/* ---- Fragments ---- */

static const char *room_slot(const struct target *t) { return t->p->page ? "room_paged.cl" : "room_strided.cl"; }
static bool rotates(const clattn_problem *p)
{
    return p->flags & CLATTN_ROTARY;
}
static const char *rotation_slot(const struct target *t) { return rotates(t->p) ? "rotate.cl" : NULL; }
static const char *source_slot(const struct target *t)
{
    return rotates(t->p) ? "source_rotated.cl" : "source_plain.cl";
}

static void write_type(struct text *to, const struct target *t)
{
    slots_write_type(to, "dtype", t->p->type);
}

/* Codes are written byte by byte, and need no words of their own. */
static void write_plain_type(struct text *to, int type)
{
    if (problem_type_is(type, PROBLEM_PLAIN))
        slots_write_type(to, "dtype", type);
}

/* Storage types of the caches, each once: those that rows are not stored in already. */
static void write_cache_types(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    write_type(to, t);
    if (p->k_type != p->type)
        write_plain_type(to, p->k_type);
    if (p->v_type != p->type && p->v_type != p->k_type)
        write_plain_type(to, p->v_type);
}

static void write_encoding(struct text *to, int type)
{
    if (problem_type_is(type, PROBLEM_PLAIN))
        text_add(to, "CLA_ENCODE_PLAIN(%s)\n", problem_type_name(type));
    else
        slots_write_type(to, "encode", type);
}

static void write_encodings(struct text *to, const struct target *t)
{
    const clattn_problem *const p = t->p;
    if (problem_type_is(p->k_type, PROBLEM_SCALED) || problem_type_is(p->v_type, PROBLEM_SCALED))
        source_write_fragment(to, "encode_scaled.cl");
    if (problem_type_is(p->k_type, PROBLEM_BLOCKS) || problem_type_is(p->v_type, PROBLEM_BLOCKS))
        source_write_fragment(to, "encode_blocks.cl");
    source_write_fragment(to, "encode_plain.cl");
    write_encoding(to, p->k_type);
    if (p->v_type != p->k_type)
        write_encoding(to, p->v_type);
}

/* ---- Work-groups ---- */

static bool appends(const clattn_problem *p)
{
    return p->flags & CLATTN_APPEND;
}

static int64_t groups_of_new_rows(const struct target *t, const struct arguments *a)
{
    const int items = pass_items_for_blocks(t);
    return a->sequences * (((int64_t)a->nq * a->row_parts + items - 1) / items);
}

/* Of several all look through a block table. */
static int items_for_sequence(const struct target *t)
{
    return t->p->page ? pass_items_for_blocks(t) : 1;
}

static int64_t groups_of_sequences(const struct target *t, const struct arguments *a)
{
    (void)t;
    return a->sequences;
}

static int64_t groups_of_pairs(const struct target *t, const struct arguments *a)
{
    const int items = pass_items_for_blocks(t);
    return (a->rotary_items + items - 1) / items;
}

/* No sequence, so that all groups are spare ones; and nothing that is divided by is 0. */
static void idle_sequences(struct arguments *a)
{
    a->nq = a->row_parts = a->kv_heads = a->rotary_rows = 1;
}

/* ---- The passes ---- */

static const struct slot append_slots[] = {
    { .fragment = "args.h" },
    { .fragment = "compilers.cl" },
    { .choose = slots_acc },
    { .write = write_cache_types },
    { .fragment = "env.cl" },
    { .write = slots_write_params },
    { .fragment = "exact.cl" },
    { .fragment = "new_rows.cl" },
    { .choose = room_slot },
    { .choose = rotation_slot },
    { .choose = source_slot },
    { .fragment = "scales.cl" },
    { .write = write_encodings },
    { .fragment = "append.cl" },
    { NULL, NULL, NULL },
};

const struct pass pass_caches_append = {
    .kernel = "cla_append",
    .calls = PASS_CALL_APPEND,
    .applies = appends,
    .slots = append_slots,
    .options = defines_append,
    .items = pass_items_for_blocks,
    .groups = groups_of_new_rows,
    .idle = idle_sequences,
};

static const struct slot advance_slots[] = {
    { .fragment = "args.h" },
    { .fragment = "compilers.cl" },
    { .choose = slots_acc },
    { .write = write_type },
    { .fragment = "env.cl" },
    { .write = slots_write_params },
    { .fragment = "new_rows.cl" },
    { .choose = room_slot },
    { .fragment = "advance.cl" },
    { NULL, NULL, NULL },
};

const struct pass pass_caches_advance = {
    .kernel = "cla_advance",
    .calls = PASS_CALL_APPEND,
    .applies = appends,
    .slots = advance_slots,
    .options = defines_append,
    .items = items_for_sequence,
    .groups = groups_of_sequences,
    .idle = idle_sequences,
};

static const struct slot rotary_slots[] = {
    { .fragment = "args.h" },
    { .fragment = "compilers.cl" },
    { .choose = slots_acc },
    { .write = write_type },
    { .fragment = "env.cl" },
    { .write = slots_write_params },
    { .fragment = "exact.cl" },
    { .fragment = "rotate.cl" },
    { .fragment = "rotary.cl" },
    { NULL, NULL, NULL },
};

const struct pass pass_caches_rotary = {
    .kernel = "cla_rotary",
    .calls = PASS_CALL_ROTARY,
    .applies = rotates,
    .slots = rotary_slots,
    .options = defines_append,
    .items = pass_items_for_blocks,
    .groups = groups_of_pairs,
    .idle = idle_sequences,
};
