/* shadow.c - who touched what
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/shadow.h"

#include <stdlib.h>
#include <string.h>

int region_of_buffer(struct region *r, const struct launch_buffer *buffer, size_t index, unsigned shift, int checked,
                     size_t cells)
{
    memset(r, 0, sizeof *r);
    r->space = SPACE_GLOBAL;
    r->base = (uint64_t)(index + 1) << shift;
    r->size = buffer->size;
    r->data = buffer->data;
    r->buffer = (int)index;
    r->written = checked ? buffer->written : NULL;
    r->grid = cells ? calloc(cells, sizeof *r->grid) : NULL;
    return r->grid || !cells;
}

void touch_finding(const struct touch *t, enum finding_kind kind, int64_t other, struct finding *f)
{
    const struct region *r = t->region;
    memset(f, 0, sizeof *f);
    f->kind = kind;
    f->space = t->space;
    f->is_write = t->access != ACCESS_READ;
    f->is_atomic = t->access == ACCESS_ATOMIC;
    f->address = t->address;
    f->buffer = r ? r->buffer : -1;
    f->variable = r ? r->name : NULL;
    f->extent = r ? (size_t)r->size : 0;
    f->offset = t->offset;
    f->size = t->size;
    f->has_other = other >= 0;
    f->other = other >= 0 ? (uint32_t)other : 0;
}

/* ---- order ---- */

void order_begin(struct warp_order *o, uint64_t first_epoch)
{
    o->epoch = first_epoch - 1;
    o->first_epoch = first_epoch;
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        o->clock[i] = first_epoch - 1;
}

void meeting_begin(struct meeting *m, uint64_t last_epoch)
{
    m->arrived = 0;
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        m->joined[i] = last_epoch;
}

void meeting_enter(struct warp_order *o, uint64_t first_epoch)
{
    order_begin(o, first_epoch);
    o->epoch = o->clock[o->warp] = first_epoch;
}

static void release(struct meeting *m)
{
    m->arrived = 0;
    m->tickets++;
    for (uint32_t i = 0; i < MAX_WARPS; i++) {
        m->released[i] = m->joined[i];
        m->joined[i] = 0;
    }
}

uint32_t meeting_join(struct meeting *m, struct warp_order *o, uint32_t n)
{
    const uint32_t ticket = m->tickets;
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        if (o->clock[i] > m->joined[i])
            m->joined[i] = o->clock[i];
    o->clock[o->warp] = ++o->epoch;
    if (++m->arrived == n)
        release(m);
    return ticket;
}

int meeting_leave(const struct meeting *m, struct warp_order *o, uint32_t ticket)
{
    if (ticket == m->tickets)
        return 0;
    for (uint32_t i = 0; i < MAX_WARPS; i++)
        if (i != o->warp && m->released[i] > o->clock[i])
            o->clock[i] = m->released[i];
    return 1;
}

void order_fence(struct warp_order *o)
{
    o->clock[o->warp] = o->epoch++;
}

void order_barrier(struct warp_order *const *warps, uint32_t n)
{
    uint64_t joined[MAX_WARPS] = { 0 };
    for (uint32_t i = 0; i < n; i++) {
        for (uint32_t k = 0; k < MAX_WARPS; k++)
            if (warps[i]->clock[k] > joined[k])
                joined[k] = warps[i]->clock[k];
        if (warps[i]->epoch > joined[warps[i]->warp])
            joined[warps[i]->warp] = warps[i]->epoch;
    }
    for (uint32_t i = 0; i < n; i++) {
        memcpy(warps[i]->clock, joined, sizeof joined);
        order_fence(warps[i]);
    }
}

/* ---- shared memory ---- */

static int64_t stamp_thread(uint64_t stamp, uint32_t lanes)
{
    return (stamp & 0xff) == SEVERAL ? OTHER_UNKNOWN : (int64_t)(stamp_warp(stamp) * lanes + (uint32_t)(stamp & 0xff));
}

void check_order(const struct touch *t, uint64_t stamp)
{
    const struct warp_order *o = t->order;
    const int same_warp = stamp_warp(stamp) == o->warp;
    if (in_order(o, stamp) || (t->access == ACCESS_ATOMIC && (stamp >> 8 & STAMP_ATOMIC)))
        return;
    if (same_warp && (stamp & 0xff) == t->who)
        return;
    struct touch told = *t;
    if (same_warp && (stamp & 0xff) == t->lane)
        told.lane = t->other;
    t->tell(&told, same_warp ? FOUND_RACE_WARP : FOUND_RACE_GROUP, stamp_thread(stamp, o->lanes));
}

/* Bytes from `first` to `last` of an access. */
static void note_unwritten(const struct touch *t, size_t first, size_t last)
{
    for (size_t word = first / 4; word <= last / 4 && word < UNWRITTEN_WORDS; word++)
        t->unwritten[word] |= (uint64_t)1 << t->lane;
}

void check_first(const struct touch *t, size_t k, uint64_t mine)
{
    const size_t begin = k << t->shift, end = (k + 1) << t->shift, at = (size_t)t->offset;
    if (t->unwritten && t->access == ACCESS_READ) {
        note_unwritten(t, begin > at ? begin - at : 0, (end < at + t->size ? end - at : t->size) - 1);
        return;
    }
    t->tell(t, FOUND_READ_UNWRITTEN, NO_RACE);
    t->region->stamps.write[k] = mine; /* once is enough */
}

/* ---- local and global memory ---- */

void check_written(const struct touch *t)
{
    unsigned char *written = t->region->written + (size_t)t->offset + t->lane * t->region->stride;
    if (t->access != ACCESS_WRITE && memchr(written, 0, t->size)) {
        if (t->access != ACCESS_READ || !t->unwritten)
            t->tell(t, FOUND_READ_UNWRITTEN, NO_RACE);
        else
            for (size_t i = 0; i < t->size; i++)
                if (!written[i])
                    note_unwritten(t, i, i);
    }
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
    t->tell(t, FOUND_RACE_GRID, group == MANY_GROUPS ? OTHER_UNKNOWN : (int64_t)group - 1);
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

void check_grid(const struct touch *t, uint64_t group, int shift)
{
    const uint32_t me = (uint32_t)(group % (MANY_GROUPS - 1)) + 1;
    const size_t last = ((size_t)t->offset + t->size - 1) >> shift;
    for (size_t k = (size_t)t->offset >> shift; k <= last; k++)
        if (t->access == ACCESS_READ)
            read_grid(t, &t->region->grid[k], me);
        else
            write_grid(t, &t->region->grid[k], me);
}
