/* shadow.h - who accessed shared memory, for every access of it: inline, as it costs the most of all checks
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PTX_SHADOW_H
#define PTX_SHADOW_H

#include "inside.h"

/* Reports a race if the access that `stamp` stands for is not ordered with this one. */
void check_order(const struct touch *t, uint64_t stamp);
void check_first(const struct touch *t, uint64_t *stamp, uint64_t mine); /* tells that nobody has written it */

static inline uint64_t stamp_epoch(uint64_t stamp)
{
    return stamp >> STAMP_EPOCH;
}

static inline uint32_t stamp_warp(uint64_t stamp)
{
    return stamp >> 8 & 0x1f;
}

/* Is it in order before what the warp does now? What its own lanes did is, up to the last fence. */
static inline int in_order(const struct warp *w, uint64_t stamp)
{
    return stamp_epoch(stamp) <= w->clock[stamp_warp(stamp)];
}

/* Two slots are enough: of readers that a later writer may conflict with at least one is of another warp. True: several
 * lanes of this one are noted. */
static int note_second(const struct touch *t, uint64_t *slot, uint64_t mine)
{
    const uint64_t before = *slot;
    const int same = (before | SEVERAL) == (mine | SEVERAL);
    if (same && before != mine)
        *slot = mine | SEVERAL;
    else if (same || in_order(t->warp, before))
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
    if (!in_order(t->warp, before))
        return note_second(t, &s->read2[k], mine);
    s->read[k] = mine;
    return t->who == SEVERAL;
}

static inline int check_shared_read(const struct touch *t, size_t k, uint64_t mine)
{
    const struct warp *w = t->warp;
    uint64_t *write = &t->region->stamps.write[k];
    if (stamp_epoch(*write) < w->worker->first_epoch)
        check_first(t, write, mine);
    else if (!in_order(w, *write))
        check_order(t, *write);
    return note_read(t, k, mine);
}

static inline void check_shared_write(const struct touch *t, size_t k, uint64_t mine)
{
    const struct stamps *s = &t->region->stamps;
    if (t->access == ACCESS_ATOMIC && stamp_epoch(s->write[k]) < t->warp->worker->first_epoch)
        check_first(t, &s->write[k], mine);
    if (!in_order(t->warp, s->write[k]))
        check_order(t, s->write[k]);
    if (!in_order(t->warp, s->read[k]))
        check_order(t, s->read[k]);
    if (!in_order(t->warp, s->read2[k]))
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
static inline uint64_t stamp_of(const struct warp *w, int access)
{
    return w->epoch << STAMP_EPOCH | (uint64_t)(w->index | (access == ACCESS_ATOMIC ? STAMP_ATOMIC : 0)) << 8;
}

#endif
