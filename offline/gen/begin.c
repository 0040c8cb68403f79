/* begin.c - what kernels find: arguments in memory, registers of threads
 * SPDX-License-Identifier: Apache-2.0
 *
 * The arguments are one block. Its first bytes are in r1 when a thread begins (inline); the others lie where r0.0
 * points at, rounded up to 32 bytes, and behind them local ids for each thread, which it loads itself. */
#include "inside.h"

enum { INLINE_REGISTER = 1, PLAIN_REGISTER = 4 };

/* ---- arguments ---- */

static uint64_t pointer_of(const struct launch_arg *a)
{
    return a->kind == ARG_BUFFER ? ((uint64_t)a->buffer + 1) << BUFFER_SHIFT | a->offset : 0;
}

static uint64_t shared_offset(const struct launch *launch, uint32_t param)
{
    size_t at = (launch->kernel->info.shared + 15) / 16 * 16;
    for (uint32_t i = 0; i < param; i++)
        if (launch->asked->args[i].kind == ARG_SHARED)
            at += (launch->asked->args[i].size + 15) / 16 * 16;
    return at;
}

static void put_three(unsigned char *to, size_t size, const uint32_t x[3])
{
    uint32_t copy[3] = { x[0], x[1], x[2] };
    memcpy(to, copy, size < sizeof copy ? size : sizeof copy);
}

static void put_number(unsigned char *to, size_t size, uint64_t x)
{
    memcpy(to, &x, size < sizeof x ? size : sizeof x);
}

static void put_value(unsigned char *to, const struct payload *p, const struct launch_arg *a)
{
    if (a->kind != ARG_VALUE) {
        put_number(to, p->size, pointer_of(a));
        return;
    }
    if (p->source < a->size)
        memcpy(to, (const unsigned char *)a->value + p->source,
               p->size < a->size - p->source ? p->size : a->size - p->source);
}

static void put_argument(const struct launch *launch, const struct payload *p)
{
    const struct gen_launch *l = launch->asked;
    unsigned char *const to = launch->payload + p->offset;
    uint32_t three[3];
    switch (p->kind) {
    case PAYLOAD_POINTER: put_number(to, p->size, pointer_of(&l->args[p->param])); break;
    case PAYLOAD_SURFACE: put_number(to, p->size, ((uint64_t)p->param + 1) << SURFACE_SHIFT); break;
    case PAYLOAD_SHARED: put_number(to, p->size, shared_offset(launch, p->param)); break;
    case PAYLOAD_VALUE: put_value(to, p, &l->args[p->param]); break;
    case PAYLOAD_GROUP_COUNT: put_three(to, p->size, l->grid); break;
    case PAYLOAD_LOCAL_SIZE: put_three(to, p->size, l->block); break;
    case PAYLOAD_WORK_DIM: put_number(to, p->size, launch->work_dim); break;
    case PAYLOAD_PRIVATE: put_number(to, p->size, OWN_ADDRESS(OWN_PRIVATE)); break;
    case PAYLOAD_CONST: put_number(to, p->size, OWN_ADDRESS(OWN_CONSTANTS)); break;
    case PAYLOAD_GLOBAL_OFFSET:
    case PAYLOAD_GLOBAL_SIZE:
        for (int i = 0; i < 3; i++)
            three[i] = p->kind == PAYLOAD_GLOBAL_SIZE ? l->grid[i] * l->block[i] : (uint32_t)l->global_offset[i];
        put_three(to, p->size, three);
        break;
    default: break;
    }
}

void begin_payload(struct launch *launch)
{
    const struct gen_kernel *k = launch->kernel;
    for (size_t i = 0; i < k->n_payload; i++)
        put_argument(launch, &k->payload[i]);
}

/* ---- threads ---- */

/* 16 bits for each work-item; each dimension begins in a register of its own. */
static void put_ids(const struct thread *t, unsigned char *to, size_t dimensions, size_t pitch)
{
    const struct launch *launch = t->worker->launch;
    const uint32_t *block = launch->asked->block, simd = launch->kernel->info.simd;
    for (uint32_t lane = 0; lane < simd; lane++) {
        const uint32_t item = t->index * simd + lane;
        const uint16_t ids[3] = { (uint16_t)(item % block[0]), (uint16_t)(item / block[0] % block[1]),
                                  (uint16_t)(item / block[0] / block[1]) };
        for (size_t d = 0; d < dimensions && d < 3; d++)
            memcpy(to + d * pitch + 2 * lane, &ids[d], 2);
    }
}

static void put_register(struct thread *t, unsigned reg, unsigned word, uint32_t x)
{
    memcpy(t->file + (size_t)reg * t->worker->launch->kernel->grf + 4 * word, &x, 4);
}

static void put_header(struct thread *t)
{
    const uint32_t *const group = t->worker->group;
    memset(t->file, 0, t->worker->launch->kernel->grf);
    memset(t->known, 1, t->worker->launch->kernel->grf);
    put_register(t, 0, 0, PAYLOAD_BASE);
    put_register(t, 0, 1, group[0]);
    put_register(t, 0, 2, t->index);
    put_register(t, 0, 6, group[1]);
    put_register(t, 0, 7, group[2]);
    memcpy(t->file + FILE_STATE, &t->index, sizeof t->index);
}

static void put_plain(struct thread *t)
{
    const struct launch *launch = t->worker->launch;
    const size_t grf = launch->kernel->grf, bytes = launch->kernel->payload_bytes;
    put_ids(t, t->file + grf, 3, grf);
    memset(t->known + grf, 1, 3 * grf);
    memcpy(t->file + PLAIN_REGISTER * grf, launch->payload, bytes);
    memset(t->known + PLAIN_REGISTER * grf, 1, bytes);
}

static void put_inline(struct thread *t)
{
    const struct launch *launch = t->worker->launch;
    const struct gen_kernel *k = launch->kernel;
    const size_t pitch = k->info.simd == 32 && k->grf == 32 ? 64 : k->grf;
    memcpy(t->file + INLINE_REGISTER * k->grf, launch->payload, k->inline_bytes);
    memset(t->known + INLINE_REGISTER * k->grf, 1, k->inline_bytes);
    put_ids(t, t->worker->payload.data + launch->rest + t->index * launch->per_thread, k->local_id_bytes / pitch,
            pitch);
}

void begin_thread(struct thread *t)
{
    const struct launch *launch = t->worker->launch;
    const uint32_t simd = launch->kernel->info.simd, left = launch->n_items - t->index * simd;
    memset(t->file, 0xa5, FILE_CONTROL);
    memset(t->file + FILE_CONTROL, 0, FILE_BYTES - FILE_CONTROL);
    memset(t->known, 0, FILE_CONTROL);
    memset(t->flag_known, 0, sizeof t->flag_known);
    memset(t->wide, 0, sizeof t->wide);
    memset(t->waits_for, 0xff, sizeof t->waits_for);
    memset(t->scratch, 0xa5, launch->scratch_bytes);
    memset(t->scratch_known, 0, launch->scratch_bytes);
    t->existing = t->active = lanes_below(left < simd ? left : simd);
    t->ip = 0;
    t->ended = t->signalled = t->waits = 0;
    put_header(t);
    if (launch->kernel->plain)
        put_plain(t);
    else
        put_inline(t);
}
