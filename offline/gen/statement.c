/* statement.c - one instruction: its name, predicate, lanes, condition and operands
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "reader.h"

/* ---- names ---- */

static int by_key(const void *key, const void *form)
{
    const char *const name = key;
    const struct form *const *const f = form;
    return strcmp(name, (*f)->name);
}

/* By its whole name, then by what stands before the first dot. */
static const struct form *find_form(struct reader *r, const struct statement *s)
{
    char base[OP_NAME];
    const size_t n = strcspn(s->name, ".");
    memcpy(base, s->name, n);
    base[n] = 0;
    const struct form *const *f = bsearch(s->name, r->forms, r->n_forms, sizeof *r->forms, by_key);
    if (!f && s->name[n]) {
        f = bsearch(base, r->forms, r->n_forms, sizeof *r->forms, by_key);
        if (f && !(*f)->read) /* what stands behind the dot has to be understood */
            f = NULL;
    }
    if (!f)
        fail(r, "%s is not executed here", s->name);
    return *f;
}

/* ---- what stands before the operands ---- */

static void drop_word(struct statement *s)
{
    s->n_words--;
    memmove(s->words, s->words + 1, s->n_words * sizeof *s->words);
}

/* f1.0 */
static uint8_t flag_named(struct reader *r, struct word text)
{
    struct word rest = text;
    uint32_t reg, sub;
    if (!word_begins(rest, "f"))
        fail(r, "%.*s is no flag", WORD(text));
    word_until(&rest, 'f');
    if (!word_digits(&rest, &reg) || !rest.length || *rest.at != '.')
        fail(r, "%.*s is no flag", WORD(text));
    word_until(&rest, '.');
    if (!word_digits(&rest, &sub) || rest.length || reg >= N_FLAGS || sub > 1)
        fail(r, "flag %.*s is not known here", WORD(text));
    return (uint8_t)(32 * reg + 16 * sub);
}

/* W, f0.0, ~f0.0, W&f0.0 or W&~f0.0 */
static void read_predicate(struct reader *r, struct word p, struct op *o)
{
    if (word_begins(p, "W")) {
        o->no_mask = 1;
        if (p.length == 1)
            return;
        if (p.at[1] != '&')
            fail(r, "predicate %.*s is not known here", WORD(p));
        word_until(&p, '&');
        p = word_trim(p);
    }
    if (!p.length)
        return;
    if (word_begins(p, "~")) {
        o->inverted = 1;
        word_until(&p, '~');
    }
    o->predicated = 1;
    o->flag = flag_named(r, p);
}

/* (16|M0) */
static void read_lanes(struct reader *r, struct statement *s, struct op *o)
{
    struct word rest = s->n_words ? s->words[0] : (struct word){ "", 0 };
    uint32_t width, first;
    o->width = 1;
    if (!word_begins(rest, "(") || rest.length < 2 || rest.at[1] < '0' || rest.at[1] > '9')
        return;
    word_until(&rest, '(');
    if (!word_digits(&rest, &width) || !word_begins(rest, "|M"))
        fail(r, "lanes %.*s", WORD(s->words[0]));
    word_until(&rest, 'M');
    if (!word_digits(&rest, &first) || !word_is(rest, ")") || !width || width & (width - 1) ||
        width + first > MAX_LANES)
        fail(r, "lanes %.*s", WORD(s->words[0]));
    o->width = (uint8_t)width;
    o->first = (uint8_t)first;
    drop_word(s);
}

static const char *const conditions[] = { "", "eq", "ne", "gt", "ge", "lt", "le", "un" };

/* (lt)f0.0 */
static void read_condition(struct reader *r, struct statement *s, struct op *o)
{
    if (!s->n_words || !word_begins(s->words[0], "(") || word_begins(s->words[0], "(sat)") ||
        word_begins(s->words[0], "($")) /* tokens of a sync */
        return;
    struct word flag = s->words[0];
    word_until(&flag, '(');
    const struct word name = word_until(&flag, ')');
    for (uint8_t i = COND_EQ; i <= COND_UN; i++)
        if (word_is(name, conditions[i]))
            o->condition = i;
    if (!o->condition)
        fail(r, "condition %.*s is not known here", WORD(s->words[0]));
    o->condition_flag = flag_named(r, flag);
    drop_word(s);
}

/* ---- operands ---- */

/* What it computes in: real numbers where a source is one, by the widest. */
static void set_execution(const struct form *f, struct op *o)
{
    o->exec_type = TYPE_D;
    for (unsigned i = 0; i < o->n_src; i++)
        if (type_real(o->src[i].type)) {
            o->exec_type = !o->real || o->src[i].type > o->exec_type ? o->src[i].type : o->exec_type;
            o->real = 1;
        } else if (!o->real && o->src[i].size == 8) {
            o->exec_type = o->src[i].type;
        }
    if (!o->real && f->n_src && o->dst.size == 8 && o->exec_type == TYPE_D)
        o->exec_type = o->dst.type;
}

/* Results are of 64 bits here: what may lie beyond cannot be told to. A move can. */
static void check_saturation(struct reader *r, const struct form *f, const struct statement *s, const struct op *o)
{
    const struct operand *const a = &o->src[0];
    int beyond = o->dst.size == 8;
    if (!o->saturate || o->real || type_real(o->dst.type))
        return;
    for (unsigned i = 0; i < o->n_src; i++)
        beyond |= o->src[i].size == 8 || ((f->flags & FORM_PRODUCT) && o->src[i].type == TYPE_UD);
    if (beyond && !((f->flags & FORM_MOVE) && !a->negate && !a->absolute && !a->invert))
        fail(r, "%s of numbers that are so wide does not saturate here", s->name);
}

static void set_lanes(struct reader *r, const struct form *f, const struct statement *s, struct op *o)
{
    o->lanes = o->real ? f->real : f->whole;
    if (!o->lanes)
        fail(r, "%s of these types is not executed here", s->name);
    if ((f->flags & FORM_SELECTS) && !o->predicated && !o->condition)
        fail(r, "%s selects by nothing", s->name);
    if (o->dst.file == IN_CONTROL && (o->dst.sub || o->width != 1))
        fail(r, "%s writes a control register that is not known here", s->name);
    if (o->exec_type == TYPE_BF && !(f->flags & FORM_MOVE))
        fail(r, "%s of bf is not executed here", s->name);
}

void read_by_operands(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    if (s->n_words != (size_t)f->n_src + 1)
        fail(r, "%s takes %u operands", s->name, f->n_src + 1u);
    if (word_begins(s->words[0], "(sat)")) {
        o->saturate = 1;
        s->words[0].at += 5;
        s->words[0].length -= 5;
    }
    o->has_dst = 1;
    read_destination(r, s->words[0], o, &o->dst);
    o->n_src = f->n_src;
    for (unsigned i = 0; i < f->n_src; i++)
        read_source(r, s->words[i + 1], o, &o->src[i]);
    for (unsigned i = 0; i <= f->n_src; i++)
        if ((i ? &o->src[i - 1] : &o->dst)->indirect)
            o->run = issue_indirect;
    set_execution(f, o);
    set_lanes(r, f, s, o);
    check_saturation(r, f, s, o);
    if (f->flags & FORM_WIDE) {
        static const char text[] = "acc0.0<1;1,0>:ud";
        const struct word acc = { text, sizeof text - 1 };
        read_source(r, acc, o, &o->accumulator);
    }
}

void read_statement(struct reader *r, struct statement *s, struct op *o)
{
    const struct form *const f = find_form(r, s);
    o->run = f->run;
    o->flags = f->flags;
    o->sub = f->sub;
    read_predicate(r, s->predicate, o);
    read_lanes(r, s, o);
    read_condition(r, s, o);
    if (f->read)
        f->read(r, f, s, o);
    else
        read_by_operands(r, f, s, o);
}
