/* wait.c - accesses that are on their way: counters, and barriers
 * SPDX-License-Identifier: Apache-2.0
 *
 * Here loads have their values at once; what is kept is how many have begun on each counter and how many are known to
 * be complete. A register whose load is not must not be read or written. Loads of one counter complete in order, but
 * those of scalars only all together. */
#include <string.h>

#include "reader.h"

/* ---- what has begun ---- */

enum { LOWER = 1, UPPER = 2, BOTH = 3 }; /* halves of a register */

static int halves_of(int part)
{
    return part == PART_LOW || part == PART_BYTE_0 || part == PART_BYTE_1   ? LOWER
           : part == PART_HIGH || part == PART_BYTE_2 || part == PART_BYTE_3 ? UPPER
                                                                             : BOTH;
}

void wait_issued(struct wave *w, const struct op *o, const struct operand *to)
{
    const uint32_t number = ++w->issued[o->counter];
    if (!to)
        return;
    for (uint32_t i = 0; i < o->count; i++) {
        const uint32_t reg = to->reg + i;
        if (to->kind == OPERAND_VECTOR) {
            for (uint32_t half = 0; half < 2; half++)
                if ((o->d16 == 0 ? BOTH : o->d16) >> half & 1) {
                    w->pending[2 * reg + half] = number;
                    w->pending_on[2 * reg + half] = o->counter;
                }
        } else if (reg < N_SCALARS && reg != REG_NULL) {
            w->s_pending[reg] = number;
        }
    }
}

static void complete(struct wave *w, enum counter counter, uint32_t left)
{
    const uint32_t issued = w->issued[counter], known = issued > left ? issued - left : 0;
    if (known > w->complete[counter])
        w->complete[counter] = known;
}

static void wait_for(struct wave *w, const struct op *o)
{
    for (int c = 0; c < N_COUNTERS; c++)
        if (o->wait[c] >= 0 && (c != COUNT_SCALAR || o->wait[c] == 0))
            complete(w, (enum counter)c, (uint32_t)o->wait[c]);
}

/* ---- registers that are not there yet ---- */

static int is_pending(const struct wave *w, const struct operand *a, uint32_t i, int halves)
{
    const uint32_t reg = a->reg + i;
    if (a->kind == OPERAND_VECTOR)
        return (halves & LOWER && w->pending[2 * reg] > w->complete[w->pending_on[2 * reg]]) ||
               (halves & UPPER && w->pending[2 * reg + 1] > w->complete[w->pending_on[2 * reg + 1]]);
    return a->kind == OPERAND_SCALAR && reg < N_SCALARS && w->s_pending[reg] > w->complete[COUNT_SCALAR];
}

static void check_operand(struct wave *w, const struct op *o, const struct operand *a, int halves)
{
    int early = 0;
    if (a->kind != OPERAND_VECTOR && a->kind != OPERAND_SCALAR)
        return;
    for (uint32_t i = 0; i < a->words; i++) {
        if (!is_pending(w, a, i, halves))
            continue;
        early = 1;
        if (a->kind == OPERAND_VECTOR) /* once is enough */
            w->pending[2 * (a->reg + i)] = w->pending[2 * (a->reg + i) + 1] = 0;
        else
            w->s_pending[a->reg + i] = 0;
    }
    if (early)
        check_lanes(w, o, FOUND_NOT_WAITED, exec_of(w));
}

static int is_quiet(const struct wave *w)
{
    for (int c = 0; c < N_COUNTERS; c++)
        if (c != COUNT_STORE && w->issued[c] != w->complete[c])
            return 0;
    return 1;
}

/* The halves of its destination that must be there: loads to one register after another on one counter are in order, so
 * the second may begin before the first ends. */
static int halves_written(const struct wave *w, const struct op *o, int k)
{
    int halves = o->width ? (o->d16 ? o->d16 : BOTH) : k == 0 && o->keep_half ? halves_of(o->dst[0].part) : BOTH;
    for (uint32_t half = 0; o->width && o->dst[k].kind == OPERAND_VECTOR && half < 2; half++)
        if (w->pending_on[2 * o->dst[k].reg + half] == o->counter)
            halves &= ~(1 << half);
    return halves;
}

static int is_half(const struct operand *a)
{
    return a->type == 'h' || a->type == 'i';
}

/* Operands of 16 bits are halves of registers: the other one may still be on its way. */
static void check_half(struct wave *w, const struct op *o)
{
    for (int k = 0; k < o->n_src; k++)
        check_operand(w, o, &o->src[k], o->src[k].part != PART_ALL ? halves_of(o->src[k].part) :
                                        is_half(&o->src[k]) ? LOWER : BOTH);
    for (int k = 0; k < o->n_dst; k++)
        check_operand(w, o, &o->dst[k], halves_written(w, o, k));
}

void wait_check(struct wave *w, const struct op *o)
{
    if (is_quiet(w))
        return;
    check_half(w, o);
    if (o->pair)
        check_half(w, o->pair);
}

/* Stores to LDS that others are to see behind the barrier must be complete. */
void wait_barrier(struct wave *w, const struct op *o)
{
    if (w->stores > w->complete[COUNT_LDS])
        check_lanes(w, o, FOUND_NOT_WAITED, exec_of(w));
    w->stores = 0;
}

/* ---- waits ---- */

static int named_count(struct word text, const char *name, int8_t *to)
{
    const size_t n = strlen(name);
    for (size_t i = 0; i + n + 2 < text.length; i++)
        if (!memcmp(text.at + i, name, n) && text.at[i + n] == '(' && (!i || text.at[i - 1] == ' ')) {
            const char *p = text.at + i + n + 1, *end = memchr(p, ')', (size_t)(text.at + text.length - p));
            const struct word number = { p, end ? (size_t)(end - p) : 0 };
            int64_t value;
            if (!word_number(number, &value) || value < 0 || value > 127)
                return 0;
            *to = (int8_t)value;
            return 1;
        }
    return 0;
}

/* s_waitcnt: names with counts, or all of them in one number. */
static void read_waitcnt(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const char *end = s->modifiers.at ? s->modifiers.at + s->modifiers.length : NULL;
    struct word whole = { s->n_operands ? s->operands[0].at : "", 0 };
    int64_t n;
    (void)f;
    if (s->n_operands)
        whole.length = end ? (size_t)(end - whole.at) : s->operands[0].length;
    if (word_number(whole, &n)) {
        const unsigned x = (unsigned)n;
        const int old = r->module->generation < 11;
        o->wait[COUNT_LOAD] = (int8_t)(old ? (x & 15) | (x >> 10 & 0x30) : x >> 10 & 63);
        o->wait[COUNT_LDS] = (int8_t)(old ? x >> 8 & (r->module->generation == 9 ? 15 : 63) : x >> 4 & 63);
    } else {
        int any = named_count(whole, "vmcnt", &o->wait[COUNT_LOAD]);
        any |= named_count(whole, "lgkmcnt", &o->wait[COUNT_LDS]);
        any |= named_count(whole, "vscnt", &o->wait[COUNT_STORE]);
        int8_t ignored;
        if (!any && !named_count(whole, "expcnt", &ignored))
            fail(r, "%.*s is no wait that is known here", WORD(whole));
    }
    o->wait[COUNT_SCALAR] = o->wait[COUNT_LDS];
}

/* Those of generation 12, one counter or two in a number; `sub` says which. */
enum { WAIT_LOAD, WAIT_STORE, WAIT_DS, WAIT_KM, WAIT_LOAD_DS, WAIT_STORE_DS, WAIT_VS };

static void read_wait(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    int64_t n;
    if (!s->n_operands || !word_number(s->operands[s->n_operands - 1], &n) || n < 0 || n > 0xffff)
        fail(r, "%s wants a number", f->name);
    const int8_t low = (int8_t)(n & 63), high = (int8_t)(n >> 8 & 63);
    switch (f->sub) {
    case WAIT_LOAD: o->wait[COUNT_LOAD] = low; break;
    case WAIT_STORE: case WAIT_VS: o->wait[COUNT_STORE] = low; break;
    case WAIT_DS: o->wait[COUNT_LDS] = low; break;
    case WAIT_KM: o->wait[COUNT_SCALAR] = low; break;
    case WAIT_LOAD_DS: o->wait[COUNT_LOAD] = high; o->wait[COUNT_LDS] = low; break;
    default: o->wait[COUNT_STORE] = high; o->wait[COUNT_LDS] = low; break;
    }
}

static void read_ignored(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    (void)r, (void)f, (void)s, (void)o;
}

#define WAIT(name, sub) { name, "", NULL, NULL, wait_for, 0, sub, DEFINE_ALL, read_wait, 0, 0, 0, 0, 0 }
#define READ(name, run, read) { name, "", NULL, NULL, run, 0, 0, DEFINE_ALL, read, 0, 0, 0, 0, 0 }

static const struct form forms[] = {
    READ("s_waitcnt", wait_for, read_waitcnt),
    WAIT("s_waitcnt_vscnt", WAIT_VS),
    WAIT("s_wait_loadcnt", WAIT_LOAD),
    WAIT("s_wait_storecnt", WAIT_STORE),
    WAIT("s_wait_dscnt", WAIT_DS),
    WAIT("s_wait_kmcnt", WAIT_KM),
    WAIT("s_wait_loadcnt_dscnt", WAIT_LOAD_DS),
    WAIT("s_wait_storecnt_dscnt", WAIT_STORE_DS),
    READ("s_wait_expcnt", control_nothing, read_ignored),
    READ("s_wait_samplecnt", control_nothing, read_ignored),
    READ("s_wait_bvhcnt", control_nothing, read_ignored),
};

struct forms amdgpu_wait_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
