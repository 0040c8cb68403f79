/* memory.c - loads, stores and atomics: addresses to host memory
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "inside.h"

enum { POISON = 0xa5 };

void memory_poison(unsigned char *to, size_t size)
{
    memset(to, POISON, size);
}

void memory_clear(unsigned char *to, size_t size)
{
    memset(to, 0, size);
}

/* ---- addresses ---- */

/* An address in one space, and which. */
struct target {
    enum space space;
    uint64_t address;
};

static struct target in_space(const struct op *o, uint64_t address)
{
    struct target t = { (enum space)o->space, address };
    if (o->space == SPACE_NONE) {
        const uint64_t window = address & WINDOWS;
        t.space = window == WINDOW_SHARED ? SPACE_SHARED : window == WINDOW_LOCAL ? SPACE_LOCAL :
                  window == WINDOW_PARAM ? SPACE_PARAM : SPACE_GLOBAL;
        t.address = window ? address & ~WINDOWS : address;
    }
    return t;
}

static const struct region *nth(const struct region *list, size_t n, uint64_t number)
{
    return number >= 1 && number <= n ? &list[number - 1] : NULL;
}

/* The region that an address would belong to, in bounds or not; NULL: none. */
static const struct region *region_of(const struct warp *w, struct target t)
{
    const struct launch *launch = w->worker->launch;
    const uint64_t variable = t.address >> VAR_SHIFT, buffer = t.address >> BUFFER_SHIFT;
    switch (t.space) {
    case SPACE_SHARED: return nth(w->worker->shared, launch->n_shared, variable);
    case SPACE_LOCAL: return nth(w->local, launch->kernel->n_local, variable);
    case SPACE_PARAM: return nth(launch->param_regions, launch->kernel->info.n_params, variable);
    default:
        if (buffer > MAX_BUFFERS)
            return nth(launch->tables, launch->kernel->module->n_tables, buffer - MAX_BUFFERS);
        return nth(launch->buffers, launch->asked->n_buffers, buffer);
    }
}

/* A little before a region's beginning is called so, not "far behind the end of the one before". */
static const struct region *nearest(const struct warp *w, struct target t)
{
    const int shift = t.space == SPACE_GLOBAL || t.space == SPACE_CONST ? BUFFER_SHIFT : VAR_SHIFT;
    const struct region *r = region_of(w, t);
    const struct target next = { t.space, t.address + ((uint64_t)1 << (shift - 1)) };
    return t.address >> (shift - 1) & 1 ? region_of(w, next) : r;
}

static void outside(struct touch *t, struct target at)
{
    t->region = nearest(t->warp, at);
    t->offset = t->region ? (int64_t)(at.address - t->region->base) : 0;
    t->space = at.space;
    check_touch(t, FOUND_OUTSIDE, NO_RACE);
}

/* ---- the lanes of an access ---- */

struct lanes {
    unsigned char *at[LANES]; /* of lanes that do nothing: at nowhere */
    unsigned char nowhere[16];
    uint32_t good;            /* lanes whose address is in bounds */
};

static inline uint64_t address_of(const struct warp *w, const struct op *o, int operand, unsigned lane)
{
    const lane_u32 *slot = reg_u32(w, o->reg[operand]);
    if (o->wide_address)
        return ((const lane_u64 *)slot)[lane] + (uint64_t)o->offset;
    return (uint32_t)(slot[lane] + (uint32_t)o->offset);
}

/* What several lanes may read the others may: such an address is looked at no more until the warp's next fence. */
static inline void check_shared_load(const struct touch *t)
{
    const uint64_t key = (t->region->base + (uint64_t)t->offset) << 5 | t->size; /* no region begins at 0 */
    uint64_t *recent = &t->warp->recent[(key >> 5 ^ key >> 9) % RECENT];
    if (*recent != key && check_shared(t))
        *recent = key;
}

static inline void check_all(const struct touch *t)
{
    const struct region *r = t->region;
    if (r->stamps.write && t->access == ACCESS_READ)
        check_shared_load(t);
    else if (r->stamps.write)
        check_shared(t);
    else if (r->written)
        check_written(t);
    if (r->grid)
        check_grid(t, t->warp->worker->group_linear, t->warp->worker->launch->kernel->global_shift);
}

/* Looks at one address that is in bounds; NULL: it must not be accessed. */
static inline unsigned char *look(struct touch *t, uint64_t address)
{
    const struct region *r = t->region;
    t->offset = (int64_t)(address - r->base);
    if (address & (t->size - 1))
        check_touch(t, FOUND_MISALIGNED, NO_RACE);
    if (t->access != ACCESS_READ && r->space == SPACE_CONST) {
        check_touch(t, FOUND_READ_ONLY, NO_RACE);
        return NULL;
    }
    check_all(t);
    return r->data + t->offset + t->lane * r->stride;
}

/* One lane's address to host memory; `last` is the region of the lane before. */
static inline void resolve_lane(struct touch *t, const struct region **last, struct lanes *to)
{
    const unsigned i = t->lane;
    const struct target at = in_space(t->op, t->address);
    if (!*last || (*last)->space != at.space || !region_holds(*last, at.address, t->size))
        *last = region_of(t->warp, at);
    if (!*last || !region_holds(*last, at.address, t->size)) {
        outside(t, at);
        *last = NULL;
        return;
    }
    t->region = *last;
    t->space = t->region->space;
    unsigned char *p = look(t, at.address);
    if (p) {
        to->at[i] = p;
        to->good |= 1u << i;
    }
}

static inline struct touch touch_of(struct warp *w, const struct op *o, size_t size, int access)
{
    const int shift = w->worker->launch->kernel->shared_shift;
    const struct touch t = { .warp = w, .op = o, .order = &w->order, .tell = check_touch, .size = size,
                             .access = access, .shift = shift, .stamp = stamp_of(&w->order, access) };
    return t;
}

static void resolve(struct warp *w, const struct op *o, int operand, uint32_t mask, size_t size, int access,
                    struct lanes *to)
{
    const struct region *last = NULL;
    struct touch t = touch_of(w, o, size, access);
    memset(to->nowhere, 0, sizeof to->nowhere);
    to->good = 0;
    for (unsigned i = 0; i < LANES; i++) {
        to->at[i] = to->nowhere;
        if (!(mask >> i & 1))
            continue;
        t.lane = t.who = i;
        t.address = address_of(w, o, operand, i);
        resolve_lane(&t, &last, to);
    }
}

/* Lanes whose address is that of the lane `distance` before. */
static inline uint32_t same_as_before(const uint64_t address[LANES], unsigned distance)
{
    uint32_t same = 0;
    for (unsigned i = distance; i < LANES; i++)
        same |= (uint32_t)(address[i] == address[i - distance]) << i;
    return same;
}

/* The same for loads of all lanes from shared memory, which are the most: lanes of a row or a column of a tile read one
 * address, which is looked at once, as read by several. */
static void resolve_shared_load(struct warp *w, const struct op *o, size_t size, struct lanes *to)
{
    enum { NEAR = 1, HALF = 8, FAR = 16 }; /* how tiles are laid out on warps */
    uint64_t address[LANES];
    const struct region *last = NULL;
    struct touch t = touch_of(w, o, size, ACCESS_READ);
    for (unsigned i = 0; i < LANES; i++)
        address[i] = address_of(w, o, o->n_dst, i);
    const uint32_t near = same_as_before(address, NEAR), half = same_as_before(address, HALF),
                   far = same_as_before(address, FAR), several = near >> NEAR | half >> HALF | far >> FAR;
    memset(to->nowhere, 0, sizeof to->nowhere);
    to->good = 0;
    for (unsigned i = 0; i < LANES; i++) {
        const unsigned twin = near >> i & 1 ? NEAR : half >> i & 1 ? HALF : far >> i & 1 ? FAR : 0;
        if (twin) {
            to->at[i] = to->at[i - twin];
            continue;
        }
        to->at[i] = to->nowhere;
        t.lane = i;
        t.who = several >> i & 1 ? SEVERAL : i;
        t.other = i + (near >> NEAR >> i & 1 ? NEAR : half >> HALF >> i & 1 ? HALF : FAR);
        t.address = address[i];
        resolve_lane(&t, &last, to);
    }
}

/* ---- loads and stores ---- */

static inline uint64_t read_bytes(const unsigned char *p, int width)
{
    uint16_t h;
    uint32_t w;
    uint64_t l;
    switch (width) {
    case 1: return *p;
    case 2: memcpy(&h, p, 2); return h;
    case 4: memcpy(&w, p, 4); return w;
    default: memcpy(&l, p, 8); return l;
    }
}

static inline void write_bytes(unsigned char *p, int width, uint64_t x)
{
    const uint16_t h = (uint16_t)x;
    const uint32_t w = (uint32_t)x;
    switch (width) {
    case 1: *p = (unsigned char)x; break;
    case 2: memcpy(p, &h, 2); break;
    case 4: memcpy(p, &w, 4); break;
    default: memcpy(p, &x, 8); break;
    }
}

static inline uint64_t sign_extend(uint64_t x, int width)
{
    const int shift = 64 - 8 * width;
    return (uint64_t)((int64_t)(x << shift) >> shift);
}

static inline void put_lane(struct warp *w, uint32_t slot, int wide, unsigned i, uint64_t x)
{
    if (wide)
        ((lane_u64 *)reg_u32(w, slot))[i] = x;
    else
        reg_u32(w, slot)[i] = (uint32_t)x;
}

/* 32 bits without a sign, of all lanes: most loads. */
static void load_words(struct warp *w, const struct op *o, const struct lanes *from)
{
    for (int k = 0; k < o->count; k++) {
        lane_u32 *to = reg_u32(w, o->reg[k]);
        for (unsigned i = 0; i < LANES; i++)
            memcpy(&to[i], from->at[i] + 4 * k, 4);
    }
}

static void load_others(struct warp *w, const struct op *o, uint32_t mask, const struct lanes *from)
{
    const int width = o->width, is_signed = o->sub & 1, wide = o->sub >> 1 & 1;
    const uint64_t keep = o->sub & 4 ? 0xffff : ~(uint64_t)0;
    for (int k = 0; k < o->count; k++)
        for (unsigned i = 0; i < LANES; i++) {
            if (!(mask >> i & 1))
                continue;
            const uint64_t x = read_bytes(from->at[i] + k * width, width);
            put_lane(w, o->reg[k], wide, i, (is_signed ? sign_extend(x, width) : x) & keep);
        }
}

void memory_load(struct warp *w, const struct op *o, uint32_t mask)
{
    struct lanes lanes;
    if (o->space == SPACE_SHARED && mask == ~0u)
        resolve_shared_load(w, o, (size_t)o->width * o->count, &lanes);
    else
        resolve(w, o, o->n_dst, mask, (size_t)o->width * o->count, ACCESS_READ, &lanes);
    if (o->width == 4 && !(o->sub & 2) && mask == ~0u)
        load_words(w, o, &lanes);
    else
        load_others(w, o, mask, &lanes);
}

void memory_store(struct warp *w, const struct op *o, uint32_t mask)
{
    const int width = o->width, wide = o->sub >> 1 & 1;
    struct lanes lanes;
    resolve(w, o, 0, mask, (size_t)width * o->count, ACCESS_WRITE, &lanes);
    for (unsigned i = 0; i < LANES; i++) {
        if (!(lanes.good >> i & 1))
            continue;
        for (int k = 0; k < o->count; k++) {
            const lane_u32 *from = reg_u32(w, o->reg[1 + k]);
            write_bytes(lanes.at[i] + k * width, width, wide ? ((const lane_u64 *)from)[i] : from[i]);
        }
    }
}

/* ---- atomics ---- */

static uint64_t atom_real(const struct op *o, uint64_t old, uint64_t x)
{
    if (o->type == T_F64)
        return bits64_of(double_of(old) + double_of(x));
    return bits_of(float_of((uint32_t)old) + float_of((uint32_t)x));
}

static int atom_less(const struct op *o, uint64_t a, uint64_t b)
{
    if (o->type == T_S32 || o->type == T_S64)
        return (int64_t)sign_extend(a, o->width) < (int64_t)sign_extend(b, o->width);
    return a < b;
}

/* The new value; y is the second operand of cas. */
static uint64_t atom_result(const struct op *o, uint64_t old, uint64_t x, uint64_t y)
{
    switch (o->sub) {
    case ATOM_ADD: return o->type == T_F32 || o->type == T_F64 ? atom_real(o, old, x) : old + x;
    case ATOM_AND: return old & x;
    case ATOM_OR: return old | x;
    case ATOM_XOR: return old ^ x;
    case ATOM_MIN: return atom_less(o, x, old) ? x : old;
    case ATOM_MAX: return atom_less(o, old, x) ? x : old;
    case ATOM_INC: return old >= x ? 0 : old + 1;
    case ATOM_DEC: return !old || old > x ? x : old - 1;
    case ATOM_EXCH: return x;
    default: return old == x ? y : old;
    }
}

static uint64_t operand(const struct warp *w, const struct op *o, int k, unsigned lane)
{
    const lane_u32 *from = reg_u32(w, o->reg[k]);
    return o->width == 8 ? ((const lane_u64 *)from)[lane] : from[lane];
}

void memory_atom(struct warp *w, const struct op *o, uint32_t mask)
{
    struct lanes lanes;
    const int k = o->n_dst;
    resolve(w, o, k, mask, o->width, ACCESS_ATOMIC, &lanes);
    launch_lock(w->worker->launch);
    for (unsigned i = 0; i < LANES; i++) {
        if (!(mask >> i & 1))
            continue;
        const uint64_t old = read_bytes(lanes.at[i], o->width), x = operand(w, o, k + 1, i);
        const uint64_t y = o->n_src == 3 ? operand(w, o, k + 2, i) : 0;
        if (lanes.good >> i & 1)
            write_bytes(lanes.at[i], o->width, atom_result(o, old, x, y));
        if (k)
            put_lane(w, o->reg[0], o->width == 8, i, old);
    }
    launch_unlock(w->worker->launch);
}

/* ---- ldmatrix ---- */

/* Lanes 8 m to 8 m + 7 have the addresses of the rows of matrix m, 8 numbers of 16 bits each. Lane i receives of every
 * matrix row i / 4, columns 2 (i % 4) and the next; transposed, the same of its columns. */
void memory_ldmatrix(struct warp *w, const struct op *o, uint32_t mask)
{
    struct lanes lanes;
    const uint32_t rows = o->count == 4 ? ~0u : (1u << 8 * o->count) - 1;
    resolve(w, o, o->n_dst, mask & rows, 16, ACCESS_READ, &lanes);
    for (int m = 0; m < o->count; m++) {
        lane_u32 *to = reg_u32(w, o->reg[m]);
        for (int i = 0; i < LANES; i++) {
            uint32_t pair = 0;
            for (int h = 0; h < 2; h++) {
                const int row = o->sub ? 2 * (i % 4) + h : i / 4, column = o->sub ? i / 4 : 2 * (i % 4) + h;
                pair |= (uint32_t)read_bytes(lanes.at[8 * m + row] + 2 * column, 2) << 16 * h;
            }
            to[i] = pair;
        }
    }
}
