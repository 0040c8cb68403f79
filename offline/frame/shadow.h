/* shadow.h - who touched what: races, and reads of what was never written
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every warp counts its barriers: its epoch. A barrier tells a warp the epochs of the others that came (its clock):
 * what they did up to then is in order before what it does next. Two accesses of different warps are a race if neither
 * is in order before the other; two of one warp's lanes if they lie in one epoch. Barriers that part of a group pass
 * are understood so too; a barrier of some lanes of a warp is taken as one of all.
 *
 * What is called for every access of shared memory is inline, as it costs the most of all checks. */
#ifndef FRAME_SHADOW_H
#define FRAME_SHADOW_H

#include "offline/frame/finding.h"
#include "offline/frame/launch.h"

/* Who accessed a grain of shared memory: epoch << 16 | warp << 8 | lane, or SEVERAL lanes of that warp. Epochs are a
 * warp's own count of barriers, never reset within a worker; one below the group's first means "not in this group". */
enum { SEVERAL = 0xff, STAMP_EPOCH = 16, STAMP_ATOMIC = 0x80, MAX_WARPS = 32 /* of a group */ };
struct stamps { /* arrays, one element per grain */
    uint64_t *write, *read, *read2; /* the last write; the last reads of up to two warps that are not in order */
};
/* Who accessed a grain of global memory in this launch: group + 1, with ATOMIC_ACCESS; of reads MANY_GROUPS. */
struct grid_cell {
    uint32_t write, read;
};
#define ATOMIC_ACCESS 0x80000000u
#define MANY_GROUPS 0x7fffffffu

/* What an address may lie in. */
struct region {
    enum space space;
    uint64_t base, size;
    unsigned char *data;
    size_t stride;             /* from lane to lane: of local arrays */
    unsigned char *written;    /* one byte per byte, same strides; NULL: not kept */
    struct grid_cell *grid;    /* of buffers, NULL: not checked */
    struct stamps stamps;      /* of shared arrays, NULL: not checked */
    const char *name;
    int buffer;                /* -1: none */
};

static inline int region_holds(const struct region *r, uint64_t address, size_t size)
{
    const uint64_t offset = address - r->base;
    return offset < r->size && size <= r->size - offset;
}
/* The region of a launch's buffer with that index, at (index + 1) << shift. cells: of `grid`; 0: accesses of groups are
 * not compared. False: no memory. */
int region_of_buffer(struct region *r, const struct launch_buffer *buffer, size_t index, unsigned shift, int checked,
                     size_t cells);

/* Which accesses are in order before what a warp does now. */
struct warp_order {
    uint64_t epoch, first_epoch; /* first_epoch: the group's */
    uint64_t clock[MAX_WARPS];   /* epochs of each warp that are in order */
    uint32_t warp, lanes;        /* its index; how many lanes a warp of this machine has */
};
void order_begin(struct warp_order *o, uint64_t first_epoch); /* of a group */
void order_fence(struct warp_order *o);                       /* what its lanes did is in order from now on */
void order_barrier(struct warp_order *const *warps, uint32_t n); /* what these did */

/* Where the warps of a group meet, those that arrive one after another: each brings what is in order before it, and
 * takes what all of them have brought. What its own lanes do is in order always. */
struct meeting {
    uint32_t arrived, tickets; /* warps; meetings that are over */
    uint64_t joined[MAX_WARPS], released[MAX_WARPS]; /* clocks: of those that arrived, of the last meeting */
};
void meeting_begin(struct meeting *m, uint64_t last_epoch);        /* of a group */
void meeting_enter(struct warp_order *o, uint64_t first_epoch);    /* a warp of a group */
uint32_t meeting_join(struct meeting *m, struct warp_order *o, uint32_t n); /* one of n arrives; its ticket */
int meeting_leave(const struct meeting *m, struct warp_order *o, uint32_t ticket); /* false: it is not over */

enum { ACCESS_READ, ACCESS_WRITE, ACCESS_ATOMIC };
enum { OTHER_UNKNOWN = -1, NO_RACE = -2 };
struct warp;
struct op;
struct touch;
/* other: of races the thread, or the group, that was there before, or OTHER_UNKNOWN; else NO_RACE. */
typedef void touch_tell(const struct touch *t, enum finding_kind kind, int64_t other);
struct touch {
    struct warp *warp;           /* the machine's own; not looked at here */
    const struct op *op;
    const struct warp_order *order;
    touch_tell *tell;
    const struct region *region; /* NULL: the address belongs to none */
    enum space space;
    uint64_t address;            /* as the kernel saw it */
    int64_t offset;              /* in the region */
    size_t size;
    unsigned lane, who, other;   /* who: the lane, or SEVERAL that read the same, of which `other` is one more */
    int access, shift;           /* shift: bytes of shared memory to grains */
    uint64_t stamp;              /* this access's, without the lane */
    /* NULL: that a read finds what nobody wrote is told. Else the lane's bit is set for each of the access's words of 4
     * bytes that has such a byte, for machines that follow what is defined until it matters. */
    uint64_t *unwritten;
};
enum { UNWRITTEN_WORDS = 16 }; /* of an access */

/* What a finding says of an access and its place. */
void touch_finding(const struct touch *t, enum finding_kind kind, int64_t other, struct finding *f);

/* Of global memory: who is the group, shift is of bytes to grains. Host threads share the cells. */
void check_grid(const struct touch *t, uint64_t group, int shift);
/* Of local and global memory. */
void check_written(const struct touch *t);
/* Reports a race if the access that `stamp` stands for is not ordered with this one. */
void check_order(const struct touch *t, uint64_t stamp);
/* Nobody has written grain k of shared memory: tells, or notes it. */
void check_first(const struct touch *t, size_t k, uint64_t mine);

static inline uint64_t stamp_epoch(uint64_t stamp)
{
    return stamp >> STAMP_EPOCH;
}

static inline uint32_t stamp_warp(uint64_t stamp)
{
    return stamp >> 8 & 0x1f;
}

/* Is it in order before what the warp does now? What its own lanes did is, up to the last fence. */
static inline int in_order(const struct warp_order *o, uint64_t stamp)
{
    return stamp_epoch(stamp) <= o->clock[stamp_warp(stamp)];
}

/* Two slots are enough: of readers that a later writer may conflict with at least one is of another warp. True: several
 * lanes of this one are noted. */
static int note_second(const struct touch *t, uint64_t *slot, uint64_t mine)
{
    const uint64_t before = *slot;
    const int same = (before | SEVERAL) == (mine | SEVERAL);
    if (same && before != mine)
        *slot = mine | SEVERAL;
    else if (same || in_order(t->order, before))
        *slot = mine;
    return *slot == (mine | SEVERAL);
}

static inline int note_read(const struct touch *t, size_t k, uint64_t mine)
{
    const struct stamps *s = &t->region->stamps;
    const uint64_t before = s->read[k];
    if ((before | SEVERAL) == (mine | SEVERAL)) {
        s->read[k] = before == mine ? mine : mine | SEVERAL;
        return s->read[k] == (mine | SEVERAL);
    }
    if (!in_order(t->order, before))
        return note_second(t, &s->read2[k], mine);
    s->read[k] = mine;
    return t->who == SEVERAL;
}

static inline int check_shared_read(const struct touch *t, size_t k, uint64_t mine)
{
    uint64_t *write = &t->region->stamps.write[k];
    if (stamp_epoch(*write) < t->order->first_epoch)
        check_first(t, k, mine);
    else if (!in_order(t->order, *write))
        check_order(t, *write);
    return note_read(t, k, mine);
}

static inline void check_shared_write(const struct touch *t, size_t k, uint64_t mine)
{
    const struct stamps *s = &t->region->stamps;
    if (t->access == ACCESS_ATOMIC && stamp_epoch(s->write[k]) < t->order->first_epoch)
        check_first(t, k, mine);
    if (!in_order(t->order, s->write[k]))
        check_order(t, s->write[k]);
    if (!in_order(t->order, s->read[k]))
        check_order(t, s->read[k]);
    if (!in_order(t->order, s->read2[k]))
        check_order(t, s->read2[k]);
    s->write[k] = mine;
}

/* True, of reads: several lanes of the warp have read all of it, so it makes no difference who else of them does. */
static inline int check_shared(const struct touch *t)
{
    const int shift = t->shift;
    const uint64_t mine = t->stamp | t->who;
    const size_t first = (size_t)t->offset >> shift, last = ((size_t)t->offset + t->size - 1) >> shift;
    int several = 1;
    if (t->access == ACCESS_READ) {
        for (size_t k = first; k <= last; k++)
            several &= check_shared_read(t, k, mine);
        return several;
    }
    for (size_t k = first; k <= last; k++)
        check_shared_write(t, k, mine);
    return 0;
}

/* What t->stamp is of accesses of this kind. */
static inline uint64_t stamp_of(const struct warp_order *o, int access)
{
    return o->epoch << STAMP_EPOCH | (uint64_t)(o->warp | (access == ACCESS_ATOMIC ? STAMP_ATOMIC : 0)) << 8;
}

#endif
