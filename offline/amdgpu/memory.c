/* memory.c - addresses to host memory, with all checks of an access
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "inside.h"

enum { POISON = 0xa5 };

void memory_poison(unsigned char *to, size_t size)
{
    memset(to, POISON, size);
}

/* ---- regions ---- */

/* An address in one space, and which: flat ones carry the aperture that they came from. */
struct target {
    enum space space;
    uint64_t address;
};

static struct target in_space(enum space space, uint64_t address)
{
    struct target t = { space, address };
    if (space == SPACE_NONE) {
        const uint64_t upper = address >> 32 << 32;
        t.space = upper == APERTURE_SHARED ? SPACE_SHARED : upper == APERTURE_SCRATCH ? SPACE_LOCAL : SPACE_GLOBAL;
        t.address = t.space == SPACE_GLOBAL ? address : (uint32_t)address;
    }
    return t;
}

/* The region that an address would belong to, in bounds or not; NULL: none. */
static const struct region *region_of(const struct wave *w, struct target t)
{
    const struct launch *launch = w->worker->launch;
    const uint64_t k = t.address >> BUFFER_SHIFT;
    if (t.space == SPACE_SHARED)
        return &w->worker->shared;
    if (t.space == SPACE_LOCAL)
        return &w->scratch_region;
    if (k > MAX_BUFFERS)
        return k - MAX_BUFFERS - 1 < N_OWN ? &launch->own[k - MAX_BUFFERS - 1] : NULL;
    return k && k <= launch->asked->n_buffers ? &launch->buffers[k - 1] : NULL;
}

/* A little before a buffer's beginning is called so, not "far behind the end of the one before". */
static const struct region *nearest(const struct wave *w, struct target t)
{
    const struct target next = { t.space, t.address + ((uint64_t)1 << (BUFFER_SHIFT - 1)) };
    return t.space == SPACE_GLOBAL && t.address >> (BUFFER_SHIFT - 1) & 1 ? region_of(w, next) : region_of(w, t);
}

static void outside(struct touch *t, struct target at, struct wave *w)
{
    t->region = nearest(w, at);
    t->offset = t->region ? (int64_t)(at.address - t->region->base) : 0;
    t->space = at.space;
    check_touch(t, FOUND_OUTSIDE, NO_RACE);
}

/* ---- an address ---- */

static inline void check_all(const struct touch *t, const struct wave *w)
{
    const struct region *r = t->region;
    if (r->stamps.write)
        check_shared(t);
    else if (r->written)
        check_written(t);
    if (r->grid)
        check_grid(t, w->worker->group_linear, w->worker->launch->kernel->global_shift);
}

/* Atomic accesses must be aligned; in LDS words must, too, and what is longer like words. Where global and private
 * memory are accessed HSA's drivers let hardware take any address (SH_MEM_CONFIG.alignment_mode). NULL: it must not be
 * accessed. */
static unsigned char *look(struct touch *t, const struct wave *w, uint64_t address)
{
    const struct region *r = t->region;
    const size_t word = t->size < 4 ? t->size : 4;
    const size_t alignment = t->access == ACCESS_ATOMIC ? t->size : r->space == SPACE_SHARED ? word : 1;
    t->offset = (int64_t)(address - r->base);
    if (address & (alignment - 1))
        check_touch(t, FOUND_MISALIGNED, NO_RACE);
    if (t->access != ACCESS_READ && (r->space == SPACE_CONST || r->space == SPACE_PARAM)) {
        check_touch(t, FOUND_READ_ONLY, NO_RACE);
        return NULL;
    }
    check_all(t, w);
    return r->data + t->offset + t->lane * r->stride;
}

/* `last` is the region of the lane before. */
static void resolve_lane(struct touch *t, struct wave *w, enum space space, const struct region **last,
                         struct access *a)
{
    const struct target at = in_space(space, t->address);
    if (!*last || (*last)->space != at.space || !region_holds(*last, at.address, t->size))
        *last = region_of(w, at);
    if (!*last || !region_holds(*last, at.address, t->size)) {
        outside(t, at, w);
        *last = NULL;
        return;
    }
    t->region = *last;
    t->space = t->region->space;
    unsigned char *p = look(t, w, at.address);
    if (p) {
        a->at[t->lane] = p;
        a->good |= (uint64_t)1 << t->lane;
    }
}

/* Many lanes may read one address; who of them is looked at once, as read by several. */
static int same_as_before(const struct access *a, uint64_t mask, unsigned i, unsigned distance)
{
    return i >= distance && mask >> (i - distance) & 1 && a->address[i] == a->address[i - distance];
}

void memory_resolve(struct wave *w, const struct op *o, enum space space, uint64_t mask, size_t size, int access,
                    struct access *a)
{
    const struct region *last = NULL;
    struct touch t = { .warp = (struct warp *)(void *)w, .op = o, .order = &w->order, .tell = check_touch, .size = size,
                       .access = access, .shift = w->worker->launch->kernel->shared_shift,
                       .stamp = stamp_of(&w->order, access), .unwritten = a->unwritten };
    memset(a->nowhere, 0, sizeof a->nowhere);
    memset(a->unwritten, 0, sizeof a->unwritten);
    a->good = 0;
    for (unsigned i = 0; i < w->n; i++)
        a->at[i] = a->nowhere;
    for (uint64_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        if (access == ACCESS_READ && (space == SPACE_SHARED || space == SPACE_GLOBAL)) {
            const unsigned twin = same_as_before(a, mask, i, 1) ? 1 : same_as_before(a, mask, i, 8) ? 8 :
                                  same_as_before(a, mask, i, 16) ? 16 : 0;
            if (twin) {
                a->at[i] = a->at[i - twin];
                a->good |= (a->good >> (i - twin) & 1) << i;
                for (size_t k = 0; k < (size + 3) / 4; k++)
                    a->unwritten[k] |= (a->unwritten[k] >> (i - twin) & 1) << i;
                continue;
            }
        }
        t.lane = t.who = i;
        t.address = a->address[i];
        resolve_lane(&t, w, space, &last, a);
    }
}
