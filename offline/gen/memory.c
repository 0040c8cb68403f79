/* memory.c - addresses to host memory, with all checks of an access
 * SPDX-License-Identifier: Apache-2.0 */
#include "inside.h"

/* ---- regions ---- */

/* The region that an address of global memory would belong to, in bounds or not; NULL: none. */
static const struct region *region_of(const struct thread *t, uint64_t address)
{
    const struct launch *launch = t->worker->launch;
    const uint64_t k = address >> BUFFER_SHIFT;
    if (k == OWN_ADDRESS(OWN_CONSTANTS) >> BUFFER_SHIFT)
        return &launch->constants;
    if (k == OWN_ADDRESS(OWN_PRIVATE) >> BUFFER_SHIFT)
        return &t->worker->private_memory;
    return k && k <= launch->asked->n_buffers ? &launch->buffers[k - 1] : NULL;
}

/* A little before a buffer's beginning is called so, not "far behind the end of the one before". */
static const struct region *nearest(const struct thread *t, uint64_t address)
{
    const uint64_t half = (uint64_t)1 << (BUFFER_SHIFT - 1);
    return region_of(t, address & half ? address + half : address);
}

/* Which word of a0 has the surface, or which entry of the table: the number of its parameter, or none. */
static uint64_t param_of(const struct thread *t, const struct message *m)
{
    const struct gen_kernel *k = t->worker->launch->kernel;
    uint32_t handle;
    if (m->surface == SURFACE_BSS) {
        memcpy(&handle, t->file + FILE_ADDRESS + 4 * (m->index % 8), sizeof handle);
        return ((uint64_t)handle >> SURFACE_SHIFT) - 1;
    }
    for (size_t i = 0; i < k->n_bindings; i++)
        if (k->bindings[i].index == m->index)
            return k->bindings[i].param;
    return UINT64_MAX;
}

uint64_t memory_surface(const struct thread *t, const struct op *o)
{
    const struct gen_launch *l = t->worker->launch->asked;
    const uint64_t i = param_of(t, o->message);
    if (i >= l->n_args || l->args[i].kind != ARG_BUFFER)
        return 0;
    return ((uint64_t)l->args[i].buffer + 1) << BUFFER_SHIFT | l->args[i].offset;
}

struct place memory_place(const struct thread *t, const struct message *m)
{
    /* A lane's single element may lie anywhere in global memory; IGC counts on it. */
    const int anywhere = m->space == SPACE_GLOBAL && m->count == 1 && !m->transposed && m->op != MESSAGE_ATOMIC;
    struct place p = { NULL, m->space, anywhere ? 1 : m->width };
    if (m->space == SPACE_SHARED)
        p.region = &t->worker->shared;
    else if (m->surface == SURFACE_SS || m->scratch)
        p.region = &t->scratch_region;
    else if (m->oword || (m->surface == SURFACE_BTI && m->index == 255))
        p.region = &t->worker->payload;
    p.space = p.region ? p.region->space : SPACE_GLOBAL;
    return p;
}

unsigned char *memory_known(const struct thread *t, const unsigned char *at)
{
    const size_t offset = (size_t)((uintptr_t)at - (uintptr_t)t->scratch);
    return offset < t->scratch_region.size ? t->scratch_known + offset : NULL;
}

/* ---- an address ---- */

static void outside(struct touch *touch, const struct place *p, const struct thread *t)
{
    touch->region = p->region ? p->region : nearest(t, touch->address);
    touch->offset = touch->region ? (int64_t)(touch->address - touch->region->base) : 0;
    touch->space = p->space;
    check_touch(touch, FOUND_OUTSIDE, NO_RACE);
}

/* Groups may have the halves of a cell: of an access that is not aligned to cells those that it covers whole. */
static void check_cells(const struct touch *touch, const struct thread *t)
{
    const int shift = t->worker->launch->kernel->global_shift;
    const size_t cell = (size_t)1 << shift, at = (size_t)touch->offset;
    struct touch whole = *touch;
    if (!(at % cell)) {
        check_grid(touch, t->worker->group_linear, shift);
        return;
    }
    const size_t first = (at + cell - 1) >> shift, end = (at + touch->size) >> shift;
    whole.offset = (int64_t)(first << shift);
    whole.size = (end - first) << shift;
    if (end > first)
        check_grid(&whole, t->worker->group_linear, shift);
}

static inline void check_all(const struct touch *touch, const struct thread *t)
{
    const struct region *r = touch->region;
    if (r->stamps.write)
        check_shared(touch);
    else if (r->written)
        check_written(touch);
    if (r->grid)
        check_cells(touch, t);
}

/* NULL: it must not be accessed. */
static unsigned char *look(struct touch *touch, const struct place *p, const struct thread *t)
{
    const struct region *r = touch->region;
    touch->offset = (int64_t)(touch->address - r->base);
    if (touch->address & (p->alignment - 1))
        check_touch(touch, FOUND_MISALIGNED, NO_RACE);
    if (touch->access != ACCESS_READ && (r->space == SPACE_CONST || r->space == SPACE_PARAM)) {
        check_touch(touch, FOUND_READ_ONLY, NO_RACE);
        return NULL;
    }
    if (t->worker->launch->checked)
        check_all(touch, t);
    return r->data + touch->offset;
}

/* Many lanes may read one address; who of them is looked at once, as read by several. */
static int same_as_before(const struct access *a, uint32_t mask, unsigned i)
{
    return i && mask >> (i - 1) & 1 && a->address[i] == a->address[i - 1];
}

static void repeat(struct access *a, unsigned i, size_t size)
{
    a->at[i] = a->at[i - 1];
    a->good |= (a->good >> (i - 1) & 1) << i;
    for (size_t k = 0; k < (size + 3) / 4; k++)
        a->unwritten[k] |= (a->unwritten[k] >> (i - 1) & 1) << i;
}

void memory_resolve(struct thread *t, const struct op *o, const struct place *p, uint32_t mask, size_t size, int access,
                    struct access *a)
{
    const struct region *last = p->region;
    struct touch touch = { .warp = (struct warp *)(void *)t, .op = o, .order = &t->order, .tell = check_touch,
                           .size = size, .access = access, .shift = t->worker->launch->kernel->shared_shift,
                           .stamp = stamp_of(&t->order, access), .unwritten = a->unwritten };
    memset(a->unwritten, 0, sizeof a->unwritten);
    a->good = 0;
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        if (access == ACCESS_READ && same_as_before(a, mask, i)) {
            repeat(a, i, size);
            continue;
        }
        touch.lane = touch.who = i;
        touch.address = a->address[i];
        if (!p->region && (!last || !region_holds(last, touch.address, size)))
            last = region_of(t, touch.address);
        if (!last || !region_holds(last, touch.address, size)) {
            outside(&touch, p, t);
            continue;
        }
        touch.region = last;
        touch.space = last->space;
        a->at[i] = look(&touch, p, t);
        a->good |= (uint32_t)(a->at[i] != NULL) << i;
    }
}
