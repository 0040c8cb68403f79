/* atomic.c - atomic messages, of SLM and global memory
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "inside.h"

/* The operations that descriptors number so. */
enum { ATOMIC_INC = 8, ATOMIC_DEC, ATOMIC_LOAD, ATOMIC_STORE, ATOMIC_ADD, ATOMIC_SUB, ATOMIC_SMIN, ATOMIC_SMAX,
       ATOMIC_UMIN, ATOMIC_UMAX, ATOMIC_CAS, ATOMIC_FADD, ATOMIC_FSUB, ATOMIC_FMIN, ATOMIC_FMAX, ATOMIC_FCAS,
       ATOMIC_AND, ATOMIC_OR, ATOMIC_XOR };

static uint64_t real(uint8_t op, uint64_t old, uint64_t a, uint64_t b)
{
    const float x = float_of((uint32_t)old), y = float_of((uint32_t)a);
    switch (op) {
    case ATOMIC_FADD: return bits_of(x + y);
    case ATOMIC_FSUB: return bits_of(x - y);
    case ATOMIC_FMIN: return bits_of(fminf(x, y));
    case ATOMIC_FMAX: return bits_of(fmaxf(x, y));
    default: return x == y ? b : old;
    }
}

static uint64_t whole(uint8_t op, uint64_t old, uint64_t a, uint64_t b, unsigned bytes)
{
    const int64_t s = bytes == 4 ? (int32_t)old : (int64_t)old, sa = bytes == 4 ? (int32_t)a : (int64_t)a;
    switch (op) {
    case ATOMIC_INC: return old + 1;
    case ATOMIC_DEC: return old - 1;
    case ATOMIC_LOAD: return old;
    case ATOMIC_STORE: return a;
    case ATOMIC_ADD: return old + a;
    case ATOMIC_SUB: return old - a;
    case ATOMIC_SMIN: return s < sa ? old : a;
    case ATOMIC_SMAX: return s > sa ? old : a;
    case ATOMIC_UMIN: return old < a ? old : a;
    case ATOMIC_UMAX: return old > a ? old : a;
    case ATOMIC_CAS: return old == a ? b : old;
    case ATOMIC_AND: return old & a;
    case ATOMIC_OR: return old | a;
    default: return old ^ a;
    }
}

unsigned atomic_operands(uint8_t op)
{
    return op <= ATOMIC_LOAD ? 0 : op == ATOMIC_CAS || op == ATOMIC_FCAS ? 2 : 1;
}

static uint64_t operand(struct thread *t, const struct op *o, unsigned k, unsigned lane)
{
    const struct message *m = o->message;
    const size_t grf = t->worker->launch->kernel->grf;
    const size_t step = ((size_t)o->width * m->stored + grf - 1) / grf * grf;
    uint64_t x = 0;
    if (k >= atomic_operands(m->atomic))
        return 0;
    const size_t at = access_data(t, m, k * step + (size_t)lane * m->stored);
    access_need(t, o, at, m->width, lane);
    memcpy(&x, t->file + at, m->width);
    return x;
}

static void change(struct thread *t, const struct op *o, unsigned char *at, unsigned lane)
{
    const struct message *m = o->message;
    const size_t to = (size_t)m->to * t->worker->launch->kernel->grf + (size_t)lane * m->stored;
    const uint64_t a = operand(t, o, 0, lane), b = operand(t, o, 1, lane);
    const int is_real = m->atomic >= ATOMIC_FADD && m->atomic <= ATOMIC_FCAS;
    uint64_t old = 0;
    memcpy(&old, at, m->width);
    const uint64_t now = is_real ? real(m->atomic, old, a, b) : whole(m->atomic, old, a, b, m->width);
    memcpy(at, &now, m->width);
    if (m->to == NO_REGISTER)
        return;
    memcpy(t->file + to, &old, m->stored);
    memset(t->known + to, 1, m->stored);
}

void atomic_access(struct thread *t, const struct op *o)
{
    const struct place p = memory_place(t, o->message);
    const uint32_t mask = issue_mask(t, o);
    struct access a;
    access_addresses(t, o, mask, &a);
    memory_resolve(t, o, &p, mask, o->message->width, ACCESS_ATOMIC, &a);
    launch_lock(t->worker->launch);
    for (uint32_t rest = a.good; rest; rest &= rest - 1)
        change(t, o, a.at[lowest_lane(rest)], lowest_lane(rest));
    launch_unlock(t->worker->launch);
}
