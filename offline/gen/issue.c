/* issue.c - an instruction of lanes: which are on, sources, the function on them, conditions, results
 * SPDX-License-Identifier: Apache-2.0 */
#include "inside.h"

/* ---- lanes and flags ---- */

uint32_t issue_flag(const struct thread *t, unsigned flag, unsigned first, unsigned width)
{
    uint32_t x;
    memcpy(&x, t->file + FILE_FLAG + flag / 32 * 4, sizeof x);
    const unsigned shift = flag % 32 + first;
    return (shift < 32 ? x >> shift : 0) & lanes_below(width);
}

static uint32_t flag_known(const struct thread *t, unsigned flag, unsigned first, unsigned width)
{
    const unsigned shift = flag % 32 + first;
    return (shift < 32 ? t->flag_known[flag / 32] >> shift : 0) & lanes_below(width);
}

void issue_set_flag(struct thread *t, const struct op *o, uint32_t mask, uint32_t bits, uint32_t known)
{
    const unsigned shift = o->condition_flag % 32 + o->first, reg = o->condition_flag / 32;
    uint32_t x;
    if (shift >= 32)
        return;
    memcpy(&x, t->file + FILE_FLAG + reg * 4, sizeof x);
    x = (x & ~(mask << shift)) | (bits & mask) << shift;
    memcpy(t->file + FILE_FLAG + reg * 4, &x, sizeof x);
    t->flag_known[reg] = (t->flag_known[reg] & ~(mask << shift)) | (known & mask) << shift;
}

/* What decides has to be defined, of lanes that are on. Once told it counts as such. */
static void need_flag(struct thread *t, const struct op *o, uint32_t mask)
{
    const unsigned shift = o->flag % 32 + o->first;
    const uint32_t missing = mask & ~flag_known(t, o->flag, o->first, o->width) &
                             (o->width > 1 ? t->active >> o->first : ~0u);
    if (!missing || !t->worker->launch->checked || shift >= 32)
        return;
    check_lanes(t, o, FOUND_READ_REGISTER, missing << o->first);
    t->flag_known[o->flag / 32] |= missing << shift;
}

uint32_t issue_mask(struct thread *t, const struct op *o)
{
    const uint32_t mask = (o->no_mask ? ~0u : t->active >> o->first) & lanes_below(o->width);
    if (!o->predicated || (o->flags & FORM_SELECTS))
        return mask;
    need_flag(t, o, mask);
    const uint32_t bits = issue_flag(t, o->flag, o->first, o->width);
    return mask & (o->inverted ? ~bits : bits);
}

/* ---- what is defined ---- */

/* Told where something is computed of what nothing wrote; then it counts as written. Instructions of all lanes, (W),
 * compute of whatever there is, where it does not matter: their results are as undefined. */
static uint32_t need_source(struct thread *t, const struct op *o, const struct operand *s, uint32_t mask)
{
    const uint32_t missing = mask & ~fetch_known(t, s, o->width), told = o->no_mask ? 0 : missing;
    if (!told)
        return ~missing;
    check_lanes(t, o, FOUND_READ_REGISTER, told << o->first);
    for (uint32_t rest = told; rest; rest &= rest - 1)
        if (s->file == IN_FLAG)
            t->flag_known[s->reg] = ~0u;
        else
            memset(t->known + s->at[lowest_lane(rest)], 1, s->size);
    return ~0u;
}

static uint32_t known_result(struct thread *t, const struct op *o, uint32_t mask, uint32_t selected)
{
    uint32_t known = ~0u;
    if (!t->worker->launch->checked)
        return ~0u;
    if ((o->flags & FORM_SELECTS) && o->predicated) {
        const uint32_t a = fetch_known(t, &o->src[0], o->width), b = fetch_known(t, &o->src[1], o->width);
        need_flag(t, o, mask);
        return (a & selected) | (b & ~selected);
    }
    if ((o->flags & FORM_MOVE) && !o->condition)
        return fetch_known(t, &o->src[0], o->width);
    for (unsigned i = 0; i < o->n_src; i++)
        known &= need_source(t, o, &o->src[i], mask);
    if (o->flags & FORM_WIDE)
        known &= need_source(t, o, &o->accumulator, mask);
    return known;
}

/* ---- conditions ---- */

static int holds_real(uint8_t condition, double x)
{
    return condition == COND_EQ ? x == 0 : condition == COND_NE ? x != 0 : condition == COND_GT ? x > 0 :
           condition == COND_GE ? x >= 0 : condition == COND_LT ? x < 0 : condition == COND_LE ? x <= 0 : x != x;
}

static int holds_whole(uint8_t condition, int64_t x)
{
    return condition == COND_EQ ? x == 0 : condition == COND_NE ? x != 0 : condition == COND_GT ? x > 0 :
           condition == COND_GE ? x >= 0 : condition == COND_LT ? x < 0 : condition == COND_LE ? x <= 0 : 0;
}

/* Of a result as the destination would hold it, rounded, flushed, saturated. */
static int holds(const struct thread *t, const struct op *o, union lane x)
{
    const union lane stored = fetch_stored(t, o, x);
    if (type_real(o->dst.type))
        return holds_real(o->condition, stored.r);
    return holds_whole(o->condition, o->dst.type == TYPE_UQ ? stored.u != 0 : stored.i);
}

static uint32_t conditions_of(const struct thread *t, const struct op *o, const union lane *out)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < o->width; i++)
        bits |= (uint32_t)holds(t, o, out[i]) << i;
    return bits;
}

/* ---- an instruction ---- */

static void put(struct thread *t, const struct op *o, const union lane *out, uint32_t mask, uint32_t known)
{
    if (o->condition && !(o->flags & FORM_COMPARES))
        issue_set_flag(t, o, mask, conditions_of(t, o, out), known);
    fetch_put(t, o, out, mask, known);
}

/* A move without a change keeps bits and what is known of each byte. */
static int is_copy(const struct op *o)
{
    return (o->flags & FORM_MOVE) && o->dst.type == o->src[0].type && !o->src[0].negate && !o->src[0].absolute &&
           !o->src[0].invert && !o->saturate && !o->condition;
}

void issue_lanes(struct thread *t, const struct op *o)
{
    union lane in[MAX_SOURCES][MAX_LANES], out[MAX_LANES];
    const uint32_t mask = issue_mask(t, o);
    struct lanes x = { { in[0], in[1], in[2] }, out, o->width, o, t, t->worker->launch->asked->approximate,
                       mask, ~0u };
    if (!mask)
        return;
    if (is_copy(o)) {
        fetch_copy(t, o, mask);
        return;
    }
    if ((o->flags & FORM_SELECTS) && o->predicated) {
        const uint32_t bits = issue_flag(t, o->flag, o->first, o->width), selected = o->inverted ? ~bits : bits;
        const uint32_t known = known_result(t, o, mask, selected);
        fetch_lanes(t, &o->src[0], o->width, in[0]);
        fetch_lanes(t, &o->src[1], o->width, in[1]);
        for (unsigned i = 0; i < o->width; i++)
            out[i] = in[!(selected >> i & 1)][i];
        put(t, o, out, mask, known);
        return;
    }
    x.known = known_result(t, o, mask, 0);
    for (unsigned i = 0; i < o->n_src; i++)
        fetch_lanes(t, &o->src[i], o->width, in[i]);
    if (o->real)
        for (unsigned i = 0; i < o->n_src; i++)
            for (unsigned k = 0; !type_real(o->src[i].type) && k < o->width; k++)
                in[i][k].r = (double)in[i][k].i;
    o->lanes(&x);
    put(t, o, out, mask, x.known);
}

/* An operand that a0 says where it lies, as one that lies there. False: that is in no register. */
static int find_operand(struct thread *t, const struct op *o, struct operand *x, uint16_t room[MAX_LANES])
{
    const struct gen_kernel *k = t->worker->launch->kernel;
    const size_t word = FILE_ADDRESS + 2 * (x->indirect - 1u), end = (size_t)k->info.registers * k->grf;
    uint16_t base;
    if (!x->indirect)
        return 1;
    if (t->worker->launch->checked && memchr(t->known + word, 0, 2))
        check_lanes(t, o, FOUND_READ_REGISTER, t->active);
    memcpy(&base, t->file + word, sizeof base);
    for (unsigned i = 0; i < o->width; i++) {
        const size_t at = (size_t)base + x->at[i];
        if (at + x->size > end)
            return 0;
        room[i] = (uint16_t)at;
    }
    x->at = room;
    return 1;
}

void issue_indirect(struct thread *t, const struct op *o)
{
    struct op direct = *o;
    uint16_t room[MAX_SOURCES + 1][MAX_LANES];
    int inside = find_operand(t, o, &direct.dst, room[MAX_SOURCES]);
    for (unsigned i = 0; i < o->n_src; i++)
        inside = find_operand(t, o, &direct.src[i], room[i]) && inside;
    if (inside)
        issue_lanes(t, &direct);
    else
        check_end(t, o, FOUND_OUTSIDE, t->active);
}
