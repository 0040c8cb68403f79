/* check.c - who touched what: races, reads of what was never written, and findings told
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every warp counts its barriers: its epoch. A barrier tells a warp the epochs of the others that came (its clock):
 * what they did up to then is in order before what it does next. Two accesses of different warps are a race if neither
 * is in order before the other; two of one warp's lanes if they lie in one epoch. Barriers that part of a group pass
 * are understood so too; bar.warp.sync of some lanes is taken as one of all. */
#include <stdio.h>
#include <string.h>

#include "shadow.h"

/* ---- findings ---- */

static const char *file_of(const struct ptx_module *m, uint32_t number)
{
    for (size_t i = 0; i < m->n_files; i++)
        if (m->files[i].number == number)
            return m->files[i].name;
    return NULL;
}

/* The instruction's text up to its end, blanks made one. */
static void copy_text(const struct ptx_module *m, const struct op *o, char *to, size_t size)
{
    size_t n = 0;
    for (const char *p = m->text + o->at; *p && *p != ';' && *p != '\n' && n + 1 < size; p++) {
        const char c = *p == '\t' || *p == '\r' ? ' ' : *p;
        if (c != ' ' || (n && to[n - 1] != ' '))
            to[n++] = c;
    }
    to[n] = 0;
}

/* Fills in where it happened and tells; after kinds that say so the launch ends. */
static void tell(struct warp *w, const struct op *o, uint32_t lanes, struct ptx_finding *f)
{
    struct worker *worker = w->worker;
    const struct launch *launch = worker->launch;
    const struct ptx_launch *l = launch->asked;
    char text[160];
    uint32_t lane = 0;
    while (lane < LANES - 1 && !(lanes >> lane & 1))
        lane++;
    const uint32_t thread = w->index * LANES + lane;
    copy_text(launch->kernel->module, o, text, sizeof text);
    f->kernel = launch->kernel->name;
    f->line = (int)o->line;
    f->text = text;
    f->file = o->file_line ? file_of(launch->kernel->module, o->file) : NULL;
    f->file_line = (int)o->file_line;
    f->lanes = lanes;
    for (int i = 0; i < 3; i++)
        f->group[i] = worker->group[i] + l->group_offset[i];
    f->thread[0] = thread % l->block[0];
    f->thread[1] = thread / l->block[0] % l->block[1];
    f->thread[2] = thread / l->block[0] / l->block[1];
    worker->stats.findings[f->kind]++;
    if (launch_tell(worker->launch, o, f))
        worker->stop = 1;
}

void check_place(const struct touch *t, enum ptx_kind kind, enum ptx_space space)
{
    struct ptx_finding f;
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.space = space;
    f.is_write = t->access != ACCESS_READ;
    f.is_atomic = t->access == ACCESS_ATOMIC;
    f.address = t->address;
    f.buffer = t->region ? t->region->buffer : -1;
    f.variable = t->region ? t->region->name : NULL;
    f.extent = t->region ? (size_t)t->region->size : 0;
    f.offset = t->offset;
    f.size = t->size;
    tell(t->warp, t->op, 1u << t->lane, &f);
}

static void tell_race(const struct touch *t, enum ptx_kind kind, uint32_t other)
{
    struct ptx_finding f;
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.space = t->region->space;
    f.is_write = t->access != ACCESS_READ;
    f.is_atomic = t->access == ACCESS_ATOMIC;
    f.address = t->address;
    f.buffer = t->region->buffer;
    f.variable = t->region->name;
    f.extent = (size_t)t->region->size;
    f.offset = t->offset;
    f.size = t->size;
    f.has_other = other != ~0u;
    f.other = other;
    tell(t->warp, t->op, 1u << t->lane, &f);
}

void check_registers(struct warp *w, const struct op *o, uint32_t missing)
{
    struct ptx_finding f;
    memset(&f, 0, sizeof f);
    f.kind = PTX_READ_REGISTER;
    f.buffer = -1;
    tell(w, o, missing, &f);
}

void check_end(struct warp *w, const struct op *o, enum ptx_kind kind, uint32_t lanes)
{
    struct ptx_finding f;
    memset(&f, 0, sizeof f);
    f.kind = kind;
    f.buffer = -1;
    tell(w, o, lanes, &f);
    w->worker->stop = 1;
}

/* ---- order ---- */

void check_fence(struct warp *w)
{
    w->clock[w->index] = w->epoch++;
    memset(w->recent, 0, sizeof w->recent);
}

void check_barrier(struct worker *worker, uint32_t warps)
{
    uint64_t joined[MAX_WARPS] = { 0 };
    const uint32_t n = worker->launch->n_warps;
    for (uint32_t i = 0; i < n; i++) {
        if (!(warps >> i & 1))
            continue;
        for (uint32_t k = 0; k < n; k++)
            if (worker->warps[i].clock[k] > joined[k])
                joined[k] = worker->warps[i].clock[k];
        if (worker->warps[i].epoch > joined[i])
            joined[i] = worker->warps[i].epoch;
    }
    for (uint32_t i = 0; i < n; i++)
        if (warps >> i & 1) {
            memcpy(worker->warps[i].clock, joined, sizeof joined);
            check_fence(&worker->warps[i]);
        }
}

/* ---- shared memory: see shadow.h ---- */

static inline uint32_t stamp_thread(uint64_t stamp) /* ~0: several of them */
{
    return (stamp & 0xff) == SEVERAL ? ~0u : stamp_warp(stamp) * LANES + (uint32_t)(stamp & 0xff);
}

void check_order(const struct touch *t, uint64_t stamp)
{
    const struct warp *w = t->warp;
    const int same_warp = stamp_warp(stamp) == w->index;
    if (in_order(w, stamp) || (t->access == ACCESS_ATOMIC && (stamp >> 8 & STAMP_ATOMIC)))
        return;
    if (same_warp && (stamp & 0xff) == t->who)
        return;
    struct touch told = *t;
    if (same_warp && (stamp & 0xff) == t->lane)
        told.lane = t->other;
    tell_race(&told, same_warp ? PTX_RACE_WARP : PTX_RACE_GROUP, stamp_thread(stamp));
}

void check_first(const struct touch *t, uint64_t *stamp, uint64_t mine)
{
    check_place(t, PTX_READ_UNWRITTEN, t->region->space);
    *stamp = mine; /* once is enough */
}

/* ---- local and global memory ---- */

void check_written(const struct touch *t)
{
    unsigned char *written = t->region->written + (size_t)t->offset + t->lane * t->region->stride;
    if (t->access != ACCESS_WRITE && memchr(written, 0, t->size))
        check_place(t, PTX_READ_UNWRITTEN, t->region->space);
    if (t->access != ACCESS_READ)
        memset(written, 1, t->size);
}

/* Host threads share these cells. */
#if defined(__GNUC__)
#define LOOK(p) __atomic_load_n(p, __ATOMIC_SEQ_CST)
#define SWAP(p, x) __atomic_exchange_n(p, x, __ATOMIC_SEQ_CST)
#else
static uint32_t LOOK(const uint32_t *p)
{
    return *p;
}
static uint32_t SWAP(uint32_t *p, uint32_t x)
{
    const uint32_t old = *p;
    *p = x;
    return old;
}
#endif

/* Another group at a cell: its number + 1, or MANY_GROUPS; 0 and mine are none. */
static inline int other_group(uint32_t cell, uint32_t me)
{
    return cell && (cell & ~ATOMIC_ACCESS) != me;
}

static void tell_grid(const struct touch *t, uint32_t cell)
{
    const uint32_t group = cell & ~ATOMIC_ACCESS;
    tell_race(t, PTX_RACE_GRID, group == MANY_GROUPS ? ~0u : group - 1);
}

static inline void read_grid(const struct touch *t, struct grid_cell *c, uint32_t me)
{
    const uint32_t r = LOOK(&c->read);
    if (r != me && r != MANY_GROUPS) {
        const uint32_t before = SWAP(&c->read, r ? MANY_GROUPS : me);
        if (before && before != me)
            SWAP(&c->read, MANY_GROUPS);
    }
    const uint32_t w = LOOK(&c->write);
    if (other_group(w, me))
        tell_grid(t, w);
}

static inline void write_grid(const struct touch *t, struct grid_cell *c, uint32_t me)
{
    const uint32_t atomic = t->access == ACCESS_ATOMIC ? ATOMIC_ACCESS : 0, mine = me | atomic;
    uint32_t w = LOOK(&c->write);
    if (w != mine)
        w = SWAP(&c->write, mine);
    if (other_group(w, me) && !(atomic && (w & ATOMIC_ACCESS)))
        tell_grid(t, w);
    const uint32_t r = LOOK(&c->read);
    if (other_group(r, me))
        tell_grid(t, r);
}

void check_grid(const struct touch *t)
{
    const struct worker *worker = t->warp->worker;
    const int shift = worker->launch->kernel->global_shift;
    const uint32_t me = (uint32_t)(worker->group_linear % (MANY_GROUPS - 1)) + 1;
    const size_t last = ((size_t)t->offset + t->size - 1) >> shift;
    for (size_t k = (size_t)t->offset >> shift; k <= last; k++)
        if (t->access == ACCESS_READ)
            read_grid(t, &t->region->grid[k], me);
        else
            write_grid(t, &t->region->grid[k], me);
}
