/* access.c - loads and stores of lanes, each at its own address
 * SPDX-License-Identifier: Apache-2.0 */
#include "inside.h"

/* ---- the payload ---- */

static size_t registers_at(const struct thread *t, const struct message *m, uint16_t first, unsigned skip,
                           size_t offset)
{
    const size_t grf = t->worker->launch->kernel->grf, k = offset / grf;
    const size_t reg = m->gather == NO_REGISTER ? first + k :
                       t->file[FILE_SCALAR + (m->gather + skip + k) % 64];
    return reg * grf + offset % grf;
}

static size_t address_at(const struct thread *t, const struct message *m, size_t offset)
{
    return registers_at(t, m, m->from, 0, offset);
}

size_t access_data(const struct thread *t, const struct message *m, size_t offset)
{
    return registers_at(t, m, m->data, m->gather_skips, offset);
}

void access_need(struct thread *t, const struct op *o, size_t at, size_t size, unsigned lane)
{
    if (!t->worker->launch->checked || !memchr(t->known + at, 0, size))
        return;
    check_lanes(t, o, FOUND_READ_REGISTER, (uint32_t)1 << (lane + o->first));
    memset(t->known + at, 1, size);
}

static void need_surface(struct thread *t, const struct op *o)
{
    const struct message *m = o->message;
    if (m->surface == SURFACE_BSS || m->surface == SURFACE_SS)
        access_need(t, o, FILE_ADDRESS + 4 * (m->index % 8), 4, 0);
}

void access_addresses(struct thread *t, const struct op *o, uint32_t mask, struct access *a)
{
    const struct message *m = o->message;
    const int is_surface = m->space == SPACE_GLOBAL && (m->surface == SURFACE_BSS || (m->surface == SURFACE_BTI &&
                           m->index != 255));
    const uint64_t base = is_surface ? memory_surface(t, o) : 0;
    need_surface(t, o);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        const size_t at = address_at(t, m, (size_t)i * m->address_bytes);
        uint64_t wide;
        uint32_t narrow;
        access_need(t, o, at, m->address_bytes, i);
        memcpy(&wide, t->file + at, sizeof wide);
        memcpy(&narrow, t->file + at, sizeof narrow);
        a->address[i] = m->address_bytes == 8 ? wide + (uint64_t)(int64_t)m->offset
                                              : base + (uint32_t)(narrow + (uint32_t)m->offset);
        if (m->space == SPACE_SHARED)
            a->address[i] &= ~(uint64_t)SHARED_TAG;
    }
}

/* Elements of all lanes lie behind one another, each of a vector's in registers of its own. */
static size_t component_bytes(const struct thread *t, const struct op *o)
{
    const size_t grf = t->worker->launch->kernel->grf, bytes = (size_t)o->width * o->message->stored;
    return (bytes + grf - 1) / grf * grf;
}

/* ---- loads ---- */

static const unsigned char nowhere[512];

static void take_element(struct thread *t, const struct message *m, const unsigned char *from, size_t to, int known)
{
    uint64_t x = 0;
    if (m->width == m->stored) {
        memcpy(t->file + to, from, m->width);
    } else {
        memcpy(&x, from, m->width);
        memcpy(t->file + to, &x, m->stored);
    }
    memset(t->known + to, known, m->stored);
}

static void load(struct thread *t, const struct op *o, uint32_t mask)
{
    const struct message *m = o->message;
    const struct place p = memory_place(t, m);
    const size_t size = (size_t)m->width * m->count, step = component_bytes(t, o);
    const size_t grf = t->worker->launch->kernel->grf;
    struct access a;
    access_addresses(t, o, mask, &a);
    if (m->to == NO_REGISTER) /* a prefetch, which may lie anywhere */
        return;
    memory_resolve(t, o, &p, mask, size, ACCESS_READ, &a);
    for (uint32_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        const unsigned char *const from = a.good >> i & 1 ? a.at[i] : nowhere;
        const unsigned char *const map = memory_known(t, from);
        for (unsigned c = 0; c < m->count; c++) {
            const size_t at = (size_t)c * m->width;
            const uint64_t unwritten = a.unwritten[at / 4] | a.unwritten[(at + m->width - 1) / 4];
            const int known = map ? !memchr(map + at, 0, m->width) : !(unwritten >> i & 1);
            take_element(t, m, from + at, m->to * grf + c * step + (size_t)i * m->stored, known);
        }
    }
}

/* ---- stores ---- */

static void store(struct thread *t, const struct op *o, uint32_t mask)
{
    const struct message *m = o->message;
    const struct place p = memory_place(t, m);
    const size_t size = (size_t)m->width * m->count, step = component_bytes(t, o);
    struct access a;
    access_addresses(t, o, mask, &a);
    memory_resolve(t, o, &p, mask, size, ACCESS_WRITE, &a);
    for (uint32_t rest = a.good; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        unsigned char *const map = memory_known(t, a.at[i]);
        for (unsigned c = 0; c < m->count; c++) {
            const size_t from = access_data(t, m, c * step + (size_t)i * m->stored), at = (size_t)c * m->width;
            if (map)
                memcpy(map + at, t->known + from, m->width);
            else
                access_need(t, o, from, m->width, i);
            memcpy(a.at[i] + at, t->file + from, m->width);
        }
    }
}

void message_access(struct thread *t, const struct op *o)
{
    const struct message *m = o->message;
    const uint32_t mask = issue_mask(t, o);
    if (m->scratch)
        block_scratch(t, o);
    else if (!mask)
        return;
    else if (m->block2d)
        block_2d(t, o);
    else if (m->oword)
        block_oword(t, o);
    else if (m->transposed)
        block_transposed(t, o);
    else if (m->op == MESSAGE_ATOMIC)
        atomic_access(t, o);
    else if (m->op == MESSAGE_LOAD)
        load(t, o, mask);
    else
        store(t, o, mask);
}

/* Memory is in order here; what it returns is there to be waited for. */
void message_fence(struct thread *t, const struct op *o)
{
    const size_t grf = t->worker->launch->kernel->grf;
    if (o->message->to != NO_REGISTER)
        memset(t->known + o->message->to * grf, 1, grf);
}
