/* access.c - loads and stores of global memory, scratch and constants
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "access.h"

/* ---- reading ---- */

static int is_off(struct word w)
{
    return word_is(w, "off") || word_is(w, "null");
}

void access_offset(struct reader *r, const struct statement *s, const char *key, int32_t *to)
{
    struct word v;
    int64_t n;
    if (!find_modifier(s->modifiers, key, &v))
        return;
    if (!word_number(v, &n) || n < -(1 << 24) || n > 1 << 24)
        fail(r, "%s:%.*s is not known here", key, WORD(v));
    *to = (int32_t)n;
}

static void need(struct reader *r, const struct statement *s, size_t n)
{
    if (s->n_operands != n)
        fail(r, "%s takes %zu operands, not %zu", s->name, n, s->n_operands);
}

static char type_of_words(unsigned words)
{
    return (char)('0' + words);
}

static void read_address(struct reader *r, struct op *o, struct word vector, struct word base)
{
    const int has_base = base.length && !is_off(base);
    o->n_src = N_MEMORY_SOURCES;
    if (!is_off(vector))
        read_kind(r, vector, o->space == SPACE_LOCAL || has_base ? 'w' : 'l', OPERAND_VECTOR, &o->src[SOURCE_ADDRESS]);
    else if (o->space != SPACE_LOCAL)
        fail(r, "an access without an address");
    if (has_base)
        read_operand(r, base, o->space == SPACE_LOCAL ? 'c' : 'L', &o->src[SOURCE_BASE]);
}

static void set_counter(struct reader *r, struct op *o, int is_store)
{
    o->counter = is_store && r->module->generation > 9 ? COUNT_STORE : COUNT_LOAD;
}

static void check_cache(struct reader *r, const struct statement *s)
{
    if (has_modifier(s->modifiers, "lds"))
        fail(r, "%s into LDS is not executed here", s->name);
}

/* global_, flat_, scratch_: loads `to, address, base`, stores `address, data, base`; flat ones without a base. */
void access_read_vector(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const int is_store = f->sub;
    const struct word none = { "", 0 };
    need(r, s, o->space == SPACE_NONE ? 2 : 3);
    const char type = type_of_words(o->count);
    if (is_store) {
        read_address(r, o, s->operands[0], o->space == SPACE_NONE ? none : s->operands[2]);
        read_operand(r, s->operands[1], type, &o->src[SOURCE_DATA]);
    } else {
        read_kind(r, s->operands[0], type, OPERAND_VECTOR, &o->dst[o->n_dst++]);
        read_address(r, o, s->operands[1], o->space == SPACE_NONE ? none : s->operands[2]);
    }
    check_cache(r, s);
    access_offset(r, s, "offset", &o->offset);
    set_counter(r, o, is_store);
}

/* buffer_ with the descriptor of scratch: `data, address or off, descriptor, offset`. */
static void read_buffer(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct operand descriptor;
    need(r, s, 4);
    check_cache(r, s);
    if (has_modifier(s->modifiers, "idxen"))
        fail(r, "%s with an index is not executed here", s->name);
    o->n_src = N_MEMORY_SOURCES;
    read_kind(r, s->operands[0], type_of_words(o->count), OPERAND_VECTOR,
              f->sub ? &o->src[SOURCE_DATA] : &o->dst[o->n_dst++]);
    if (!is_off(s->operands[1]))
        read_kind(r, s->operands[1], 'w', OPERAND_VECTOR, &o->src[SOURCE_ADDRESS]);
    read_kind(r, s->operands[2], '4', OPERAND_SCALAR, &descriptor);
    read_operand(r, s->operands[3], 'c', &o->src[SOURCE_BASE]);
    access_offset(r, s, "offset", &o->offset);
    o->target = descriptor.reg;
    set_counter(r, o, f->sub);
}

/* s_load_: `to, base, offset`. */
static void read_scalar(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    int64_t n;
    (void)f;
    need(r, s, 3);
    read_kind(r, s->operands[0], '.', OPERAND_SCALAR, &o->dst[o->n_dst++]);
    read_kind(r, s->operands[1], 'L', OPERAND_SCALAR, &o->src[o->n_src++]);
    if (o->dst[0].words != o->count)
        fail(r, "%s loads another number of registers", s->name);
    if (word_number(s->operands[2], &n))
        o->offset = (int32_t)n;
    else if (!is_off(s->operands[2]))
        read_operand(r, s->operands[2], 'c', &o->src[o->n_src++]);
    int32_t more = 0;
    access_offset(r, s, "offset", &more);
    o->offset += more;
    o->counter = COUNT_SCALAR;
}

/* ---- addresses ---- */

static uint64_t base_of(const struct wave *w, const struct op *o)
{
    return o->src[SOURCE_BASE].kind ? fetch_scalar(w, &o->src[SOURCE_BASE]) : 0;
}

void access_addresses(struct wave *w, const struct op *o, uint64_t mask, struct access *a)
{
    const struct operand *v = &o->src[SOURCE_ADDRESS];
    const uint64_t base = base_of(w, o) + (uint64_t)(int64_t)o->offset;
    const lane_u32 *low = v->kind ? vector_of(w, v->reg) : NULL;
    const lane_u32 *high = v->kind && v->words == 2 ? vector_of(w, v->reg + 1u) : NULL;
    const uint64_t field = o->space == SPACE_SHARED || o->space == SPACE_LOCAL ? 0xffffffffu : ~(uint64_t)0;
    if (w->worker->launch->checked) {
        check_address(w, o, v, v->words, mask);
        check_address(w, o, &o->src[SOURCE_BASE], o->src[SOURCE_BASE].words, mask);
    }
    for (uint32_t i = 0; i < w->n; i++) {
        uint64_t x = low ? low[i] : 0;
        if (high)
            x |= (uint64_t)high[i] << 32;
        a->address[i] = (x + base) & field;
    }
}

void access_check_data(struct wave *w, const struct op *o, int source, uint64_t mask)
{
    if (w->worker->launch->checked)
        check_address(w, o, &o->src[source], o->src[source].words, mask);
}

/* ---- loads ---- */

static uint32_t narrow(const struct op *o, const unsigned char *p)
{
    uint16_t h;
    if (o->width == 1)
        return o->signs ? (uint32_t)(int32_t)(int8_t)*p : *p;
    memcpy(&h, p, 2);
    return o->signs ? (uint32_t)(int32_t)(int16_t)h : h;
}

/* Words of the lanes' memory to registers from the `first` of the destination on. */
void access_fill(struct wave *w, const struct op *o, const struct operand *to, unsigned first, uint64_t mask,
                 const struct access *a)
{
    lane_u32 out[MAX_LANES];
    if (o->width != 4) {
        const lane_u32 *old = vector_of(w, to->reg + first);
        for (uint32_t i = 0; i < w->n; i++) {
            const uint32_t x = narrow(o, a->at[i]);
            out[i] = o->d16 == 2 ? (old[i] & 0xffff) | x << 16 : o->d16 ? (old[i] & 0xffff0000u) | (x & 0xffff) : x;
        }
        issue_put(w, to->reg + first, mask, out, ~a->unwritten[0]);
        return;
    }
    for (unsigned k = 0; k < o->count; k++) {
        for (uint32_t i = 0; i < w->n; i++)
            memcpy((void *)&out[i], a->at[i] + 4 * k, 4);
        issue_put(w, to->reg + first + k, mask, out, ~a->unwritten[k]);
    }
}

/* Where it is kept whether a lane's scratch is defined; NULL: the lane accesses something else. */
static unsigned char *scratch_map(const struct wave *w, const struct access *a, unsigned lane)
{
    const size_t size = w->n * w->scratch_region.stride;
    const size_t offset = (size_t)((uintptr_t)a->at[lane] - (uintptr_t)w->scratch);
    return offset < size ? w->scratch_written + offset : NULL;
}

/* What a lane kept in scratch is as defined as it was then, word for word: registers are spilled together of which some
 * were never written. */
static void find_unwritten(const struct wave *w, const struct op *o, struct access *a)
{
    for (uint64_t rest = a->good; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        const unsigned char *const map = scratch_map(w, a, i);
        for (unsigned k = 0; k < o->count && map; k++)
            if (memchr(map + 4 * k, 0, o->width))
                a->unwritten[k] |= (uint64_t)1 << i;
    }
}

static void load(struct wave *w, const struct op *o)
{
    const uint64_t mask = exec_of(w);
    struct access a;
    access_addresses(w, o, mask, &a);
    memory_resolve(w, o, (enum space)o->space, mask, access_size(o), ACCESS_READ, &a);
    if (o->space != SPACE_GLOBAL && w->worker->launch->checked)
        find_unwritten(w, o, &a);
    access_fill(w, o, &o->dst[0], 0, mask, &a);
    wait_issued(w, o, &o->dst[0]);
}

/* ---- stores ---- */

void access_spill(struct wave *w, const struct op *o, int source, const struct access *a)
{
    const struct operand *d = &o->src[source];
    lane_u32 space[MAX_LANES];
    for (unsigned k = 0; k < o->count; k++) {
        const lane_u32 *from = fetch_plain(w, d, k, space);
        for (uint64_t rest = a->good; rest; rest &= rest - 1) {
            const unsigned i = lowest_lane(rest);
            const uint32_t x = o->d16 == 2 ? from[i] >> 16 : from[i];
            const uint16_t h = (uint16_t)x;
            if (o->width == 4)
                memcpy(a->at[i] + 4 * k, &x, 4);
            else if (o->width == 2)
                memcpy(a->at[i], &h, 2);
            else
                *a->at[i] = (unsigned char)x;
        }
    }
}

static void keep_defined(struct wave *w, const struct op *o, const struct access *a)
{
    for (unsigned k = 0; k < o->count; k++) {
        const uint64_t defined = fetch_defined(w, &o->src[SOURCE_DATA], k);
        for (uint64_t rest = a->good; rest; rest &= rest - 1) {
            const unsigned i = lowest_lane(rest);
            unsigned char *map = scratch_map(w, a, i);
            if (map)
                memset(map + 4 * k, (int)(defined >> i & 1), o->width);
        }
    }
}

static void store(struct wave *w, const struct op *o)
{
    const uint64_t mask = exec_of(w);
    struct access a;
    access_addresses(w, o, mask, &a);
    if (o->space != SPACE_LOCAL)
        access_check_data(w, o, SOURCE_DATA, mask);
    memory_resolve(w, o, (enum space)o->space, mask, access_size(o), ACCESS_WRITE, &a);
    access_spill(w, o, SOURCE_DATA, &a);
    if (o->space != SPACE_GLOBAL && w->worker->launch->checked)
        keep_defined(w, o, &a);
    wait_issued(w, o, NULL);
}

/* Of scratch alone: what was put into the descriptor before the kernel began says so. */
static void buffer_access(struct wave *w, const struct op *o)
{
    if (w->s[o->target + 1] != (uint32_t)(APERTURE_SCRATCH >> 32)) {
        check_end(w, o, FOUND_OUTSIDE, exec_of(w));
        return;
    }
    if (o->n_dst)
        load(w, o);
    else
        store(w, o);
}

/* ---- scalars ---- */

static void load_scalar(struct wave *w, const struct op *o)
{
    struct access a;
    uint64_t address = fetch_scalar(w, &o->src[0]) + (uint64_t)(int64_t)o->offset;
    if (o->n_src > 1)
        address += (uint32_t)fetch_scalar(w, &o->src[1]);
    if (w->worker->launch->checked)
        for (int k = 0; k < o->n_src; k++)
            check_address(w, o, &o->src[k], o->src[k].words, 1);
    a.address[0] = o->width == 4 ? address & ~(uint64_t)3 : address;
    memory_resolve(w, o, SPACE_GLOBAL, 1, access_size(o), ACCESS_READ, &a);
    for (unsigned k = 0; k < o->count; k++) {
        struct operand to = o->dst[0];
        uint32_t x = 0;
        to.reg = (uint16_t)(to.reg == REG_NULL ? to.reg : to.reg + k);
        to.words = 1;
        if (o->width == 4)
            memcpy(&x, a.at[0] + 4 * k, 4);
        else
            x = narrow(o, a.at[0]);
        issue_put_scalar(w, &to, x, a.unwritten[k] & 1 ? 0 : ~(uint64_t)0);
    }
    wait_issued(w, o, &o->dst[0]);
}

/* ---- the table ---- */

#define FORM(name, run, read, sub, space, width, count, d16, signs) \
    { name, "", NULL, NULL, run, 0, sub, DEFINE_ALL, read, space, width, count, d16, signs }
#define LOADS(prefix, run, read, space)                             \
    FORM(prefix "load_u8", run, read, 0, space, 1, 1, 0, 0),        \
    FORM(prefix "load_i8", run, read, 0, space, 1, 1, 0, 1),        \
    FORM(prefix "load_u16", run, read, 0, space, 2, 1, 0, 0),       \
    FORM(prefix "load_i16", run, read, 0, space, 2, 1, 0, 1),       \
    FORM(prefix "load_d16_b16", run, read, 0, space, 2, 1, 1, 0),   \
    FORM(prefix "load_d16_hi_b16", run, read, 0, space, 2, 1, 2, 0), \
    FORM(prefix "load_d16_u8", run, read, 0, space, 1, 1, 1, 0),    \
    FORM(prefix "load_d16_hi_u8", run, read, 0, space, 1, 1, 2, 0), \
    FORM(prefix "load_d16_i8", run, read, 0, space, 1, 1, 1, 1),    \
    FORM(prefix "load_d16_hi_i8", run, read, 0, space, 1, 1, 2, 1), \
    FORM(prefix "load_b32", run, read, 0, space, 4, 1, 0, 0),       \
    FORM(prefix "load_b64", run, read, 0, space, 4, 2, 0, 0),       \
    FORM(prefix "load_b96", run, read, 0, space, 4, 3, 0, 0),       \
    FORM(prefix "load_b128", run, read, 0, space, 4, 4, 0, 0)
#define STORES(prefix, run, read, space)                            \
    FORM(prefix "store_b8", run, read, 1, space, 1, 1, 0, 0),       \
    FORM(prefix "store_b16", run, read, 1, space, 2, 1, 0, 0),      \
    FORM(prefix "store_d16_hi_b8", run, read, 1, space, 1, 1, 2, 0), \
    FORM(prefix "store_d16_hi_b16", run, read, 1, space, 2, 1, 2, 0), \
    FORM(prefix "store_b32", run, read, 1, space, 4, 1, 0, 0),      \
    FORM(prefix "store_b64", run, read, 1, space, 4, 2, 0, 0),      \
    FORM(prefix "store_b96", run, read, 1, space, 4, 3, 0, 0),      \
    FORM(prefix "store_b128", run, read, 1, space, 4, 4, 0, 0)
#define SCALAR(name, width, count, signs) FORM(name, load_scalar, read_scalar, 0, SPACE_GLOBAL, width, count, 0, signs)

static const struct form forms[] = {
    LOADS("global_", load, access_read_vector, SPACE_GLOBAL),
    STORES("global_", store, access_read_vector, SPACE_GLOBAL),
    LOADS("flat_", load, access_read_vector, SPACE_NONE),
    STORES("flat_", store, access_read_vector, SPACE_NONE),
    LOADS("scratch_", load, access_read_vector, SPACE_LOCAL),
    STORES("scratch_", store, access_read_vector, SPACE_LOCAL),
    LOADS("buffer_", buffer_access, read_buffer, SPACE_LOCAL),
    STORES("buffer_", buffer_access, read_buffer, SPACE_LOCAL),
    SCALAR("s_load_u8", 1, 1, 0),
    SCALAR("s_load_i8", 1, 1, 1),
    SCALAR("s_load_u16", 2, 1, 0),
    SCALAR("s_load_i16", 2, 1, 1),
    SCALAR("s_load_b32", 4, 1, 0),
    SCALAR("s_load_b64", 4, 2, 0),
    SCALAR("s_load_b96", 4, 3, 0),
    SCALAR("s_load_b128", 4, 4, 0),
    SCALAR("s_load_b256", 4, 8, 0),
    SCALAR("s_load_b512", 4, 16, 0),
};

struct forms amdgpu_memory_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
