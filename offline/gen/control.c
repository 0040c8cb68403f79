/* control.c - branches, and lanes that part and meet
 * SPDX-License-Identifier: Apache-2.0
 *
 * A lane that a goto turns off remembers where it comes back: at the join there. JIP is where the thread goes on when
 * no lane is left, UIP where the lanes that jump come back. A `goto.b` jumps backwards to UIP with the lanes whose
 * predicate is true, the others come back at the join behind it, which JIP is. A `while` does so without a join. */
#include "reader.h"

enum { NOWHERE = 0xffffffff };

/* Lanes whose predicate is true, of those that take part. */
static uint32_t taken(struct thread *t, const struct op *o)
{
    return issue_mask(t, o) << o->first;
}

static void part(struct thread *t, uint32_t lanes, uint32_t at)
{
    for (uint32_t rest = lanes; rest; rest &= rest - 1)
        t->waits_for[lowest_lane(rest)] = at;
    t->active &= ~lanes;
}

static void meet(struct thread *t, uint32_t at)
{
    for (uint32_t rest = t->existing & ~t->active; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        if (t->waits_for[i] == at) {
            t->active |= (uint32_t)1 << i;
            t->waits_for[i] = NOWHERE;
        }
    }
}

static void jump(struct thread *t, const struct op *o)
{
    if (!o->predicated || issue_mask(t, o))
        t->ip = o->jip;
}

static void go(struct thread *t, const struct op *o)
{
    part(t, taken(t, o), o->uip);
    if (!t->active)
        t->ip = o->jip;
}

static void go_back(struct thread *t, const struct op *o)
{
    const uint32_t lanes = taken(t, o), others = t->active & ~lanes & (lanes_below(o->width) << o->first);
    if (!lanes)
        return;
    part(t, others, o->index + 1);
    t->ip = o->uip;
}

static void repeat(struct thread *t, const struct op *o)
{
    const uint32_t lanes = taken(t, o), others = t->active & ~lanes & (lanes_below(o->width) << o->first);
    part(t, others, o->index + 1);
    if (lanes)
        t->ip = o->jip;
    else
        meet(t, o->index + 1);
}

static void join(struct thread *t, const struct op *o)
{
    meet(t, o->index);
    if (!t->active)
        t->ip = o->jip;
}

static void nothing(struct thread *t, const struct op *o)
{
    (void)t;
    (void)o;
}

static void illegal(struct thread *t, const struct op *o)
{
    check_end(t, o, FOUND_DIVERGED, t->active);
}

void message_end(struct thread *t, const struct op *o)
{
    (void)o;
    t->ended = 1;
}

/* ---- reading ---- */

/* As many operands; what stands behind a dot has to be the form's. */
static void need(struct reader *r, const struct form *f, const struct statement *s, size_t n)
{
    if (strcmp(s->name, f->name))
        fail(r, "%s is not executed here", s->name);
    if (s->n_words != n)
        fail(r, "%s takes %zu operands", s->name, n);
}

static void read_branch(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const struct word none = { "", 0 };
    need(r, f, s, f->n_src);
    if (o->no_mask && f->run != jump)
        fail(r, "%s of all lanes", s->name);
    o->no_mask = f->run == jump;
    add_branch(r, o, s->words[0], f->n_src == 2 ? s->words[1] : none);
}

static void read_sync(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    (void)f;
    if (!strcmp(s->name, "sync.bar"))
        o->run = barrier_wait;
    else if (strcmp(s->name, "sync.nop") && strcmp(s->name, "sync.allrd") && strcmp(s->name, "sync.allwr"))
        fail(r, "%s is not executed here", s->name);
}

static void read_nothing(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    (void)o;
    need(r, f, s, 0);
}

/* ---- the table; n_src: labels, sub: the other lanes come back behind it ---- */

static const struct form forms[] = {
    { "jmpi", 1, NULL, NULL, jump, read_branch, 0, 0 },
    { "goto", 2, NULL, NULL, go, read_branch, 0, 0 },
    { "goto.b", 2, NULL, NULL, go_back, read_branch, 0, 1 },
    { "while", 1, NULL, NULL, repeat, read_branch, 0, 0 },
    { "join", 1, NULL, NULL, join, read_branch, 0, 0 },
    { "nop", 0, NULL, NULL, nothing, read_nothing, 0, 0 },
    { "sync", 0, NULL, NULL, nothing, read_sync, 0, 0 },
    { "illegal", 0, NULL, NULL, illegal, read_nothing, 0, 0 },
};

struct forms gen_control_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
