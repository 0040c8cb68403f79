/* atomic.c - atomics of global memory and LDS
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "access.h"

enum what { ATOM_ADD, ATOM_SUB, ATOM_AND, ATOM_OR, ATOM_XOR, ATOM_MIN_I, ATOM_MAX_I, ATOM_MIN_U, ATOM_MAX_U, ATOM_INC,
            ATOM_DEC, ATOM_SWAP, ATOM_CAS, ATOM_ADD_F };

/* ---- reading ---- */

/* global_: `[to,] address, data, base`; flat_ without a base. Of cmpswap the data are the new value and the old. */
static void read_global(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const size_t own = o->space == SPACE_NONE ? 2 : 3;
    const char words = (char)('0' + o->count);
    struct op like_store = *o;
    struct form store = *f;
    struct statement rest = *s;
    if (s->n_operands != own && s->n_operands != own + 1)
        fail(r, "%s takes other operands", f->name);
    if (s->n_operands == own + 1) {
        read_kind(r, s->operands[0], words, OPERAND_VECTOR, &o->dst[o->n_dst++]);
        memmove(rest.operands, rest.operands + 1, own * sizeof *rest.operands);
        rest.n_operands--;
    }
    store.sub = 1;
    like_store.count = (uint8_t)(o->count * (f->sub == ATOM_CAS ? 2 : 1));
    access_read_vector(r, &store, &rest, &like_store);
    o->n_src = like_store.n_src;
    memcpy(o->src, like_store.src, sizeof o->src);
    o->offset = like_store.offset;
    o->counter = o->n_dst || r->module->generation == 9 ? COUNT_LOAD : COUNT_STORE;
}

/* ds_: `[to,] address, data[, data]`; of cmpstore the new value, then the old one. */
static void read_shared(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const int returns = f->signs;
    const size_t n_data = f->sub == ATOM_CAS ? 2 : 1;
    const char words = (char)('0' + o->count);
    size_t k = 0;
    if (s->n_operands != 1 + n_data + (size_t)returns)
        fail(r, "%s takes other operands", f->name);
    if (returns)
        read_kind(r, s->operands[k++], words, OPERAND_VECTOR, &o->dst[o->n_dst++]);
    o->n_src = N_MEMORY_SOURCES;
    o->counter = COUNT_LDS;
    read_kind(r, s->operands[k++], 'w', OPERAND_VECTOR, &o->src[SOURCE_ADDRESS]);
    for (size_t i = 0; i < n_data; i++)
        read_operand(r, s->operands[k++], words, &o->src[SOURCE_DATA + i]);
    access_offset(r, s, "offset", &o->offset);
}

/* ---- executing ---- */

static int64_t with_sign(const struct op *o, uint64_t x)
{
    return o->count == 2 ? (int64_t)x : (int32_t)x;
}

static uint64_t sum_real(const struct op *o, uint64_t a, uint64_t b)
{
    if (o->count == 2)
        return bits64_of(double_of(a) + double_of(b));
    return bits_of(float_of((uint32_t)a) + float_of((uint32_t)b));
}

static uint64_t result(const struct op *o, uint64_t old, uint64_t x, uint64_t wanted)
{
    switch (o->sub) {
    case ATOM_ADD: return old + x;
    case ATOM_SUB: return old - x;
    case ATOM_AND: return old & x;
    case ATOM_OR: return old | x;
    case ATOM_XOR: return old ^ x;
    case ATOM_MIN_I: return with_sign(o, x) < with_sign(o, old) ? x : old;
    case ATOM_MAX_I: return with_sign(o, x) > with_sign(o, old) ? x : old;
    case ATOM_MIN_U: return x < old ? x : old;
    case ATOM_MAX_U: return x > old ? x : old;
    case ATOM_INC: return old >= x ? 0 : old + 1;
    case ATOM_DEC: return !old || old > x ? x : old - 1;
    case ATOM_SWAP: return x;
    case ATOM_ADD_F: return sum_real(o, old, x);
    default: return old == wanted ? x : old;
    }
}

static uint64_t value_of(struct wave *w, const struct op *o, const struct operand *a, unsigned first, unsigned lane)
{
    lane_u32 space[MAX_LANES];
    const uint64_t low = fetch_plain(w, a, first, space)[lane];
    return o->count == 2 ? low | (uint64_t)fetch_plain(w, a, first + 1, space)[lane] << 32 : low;
}

static void execute(struct wave *w, const struct op *o, const struct access *a, uint64_t mask, lane_u32 *out)
{
    const struct operand *data = &o->src[SOURCE_DATA], *second = &o->src[SOURCE_DATA2];
    const size_t size = 4u * o->count;
    for (uint64_t rest = mask; rest; rest &= rest - 1) {
        const unsigned i = lowest_lane(rest);
        const int apart = second->kind != OPERAND_NONE;
        uint32_t words[2] = { 0, 0 };
        memcpy(words, a->at[i], size);
        const uint64_t old = words[0] | (uint64_t)words[1] << 32, x = value_of(w, o, data, 0, i);
        const uint64_t wanted = o->sub != ATOM_CAS ? 0 : apart ? value_of(w, o, second, 0, i) :
                                value_of(w, o, data, o->count, i);
        const uint64_t y = result(o, old, x, wanted);
        out[i] = words[0];
        out[w->n + i] = words[1];
        words[0] = (uint32_t)y;
        words[1] = (uint32_t)(y >> 32);
        if (a->good >> i & 1)
            memcpy(a->at[i], words, size);
    }
}

static void atomic_run(struct wave *w, const struct op *o)
{
    const uint64_t mask = exec_of(w);
    struct access a;
    lane_u32 out[2 * MAX_LANES];
    memset((void *)out, 0, sizeof out);
    access_addresses(w, o, mask, &a);
    access_check_data(w, o, SOURCE_DATA, mask);
    if (o->src[SOURCE_DATA2].kind)
        access_check_data(w, o, SOURCE_DATA2, mask);
    memory_resolve(w, o, (enum space)o->space, mask, access_size(o), ACCESS_ATOMIC, &a);
    launch_lock(w->worker->launch);
    execute(w, o, &a, mask, out);
    launch_unlock(w->worker->launch);
    for (unsigned k = 0; o->n_dst && k < o->count; k++)
        issue_put(w, o->dst[0].reg + k, mask, out + k * w->n, ~(uint64_t)0);
    wait_issued(w, o, o->n_dst ? &o->dst[0] : NULL);
    if (o->space == SPACE_SHARED)
        w->stores = w->issued[COUNT_LDS];
}

/* ---- the table ---- */

#define FORM(name, read, what, space, count, returns) \
    { name, "", NULL, NULL, atomic_run, 0, what, DEFINE_ALL, read, space, 4, count, 0, returns }
#define BOTH(op, type, what, count)                                            \
    FORM("global_atomic_" op "_" type, read_global, what, SPACE_GLOBAL, count, 0), \
    FORM("flat_atomic_" op "_" type, read_global, what, SPACE_NONE, count, 0)
#define ALL(op, type, what, count)                                             \
    BOTH(op, type, what, count),                                               \
    FORM("ds_" op "_" type, read_shared, what, SPACE_SHARED, count, 0),        \
    FORM("ds_" op "_rtn_" type, read_shared, what, SPACE_SHARED, count, 1)
#define SIZES(op, letter, what) ALL(op, letter "32", what, 1), ALL(op, letter "64", what, 2)

static const struct form forms[] = {
    SIZES("add", "u", ATOM_ADD), SIZES("sub", "u", ATOM_SUB), SIZES("and", "b", ATOM_AND), SIZES("or", "b", ATOM_OR),
    SIZES("xor", "b", ATOM_XOR), SIZES("min", "i", ATOM_MIN_I), SIZES("max", "i", ATOM_MAX_I),
    SIZES("min", "u", ATOM_MIN_U), SIZES("max", "u", ATOM_MAX_U), SIZES("inc", "u", ATOM_INC),
    SIZES("dec", "u", ATOM_DEC),
    ALL("add", "f32", ATOM_ADD_F, 1), BOTH("add", "f64", ATOM_ADD_F, 2),
    BOTH("swap", "b32", ATOM_SWAP, 1), BOTH("swap", "b64", ATOM_SWAP, 2),
    BOTH("cmpswap", "b32", ATOM_CAS, 1), BOTH("cmpswap", "b64", ATOM_CAS, 2),
    FORM("ds_storexchg_rtn_b32", read_shared, ATOM_SWAP, SPACE_SHARED, 1, 1),
    FORM("ds_storexchg_rtn_b64", read_shared, ATOM_SWAP, SPACE_SHARED, 2, 1),
    FORM("ds_wrxchg_rtn_b32", read_shared, ATOM_SWAP, SPACE_SHARED, 1, 1),
    FORM("ds_wrxchg_rtn_b64", read_shared, ATOM_SWAP, SPACE_SHARED, 2, 1),
    FORM("ds_cmpstore_b32", read_shared, ATOM_CAS, SPACE_SHARED, 1, 0),
    FORM("ds_cmpstore_rtn_b32", read_shared, ATOM_CAS, SPACE_SHARED, 1, 1),
    FORM("ds_cmpstore_rtn_b64", read_shared, ATOM_CAS, SPACE_SHARED, 2, 1),
};

struct forms amdgpu_atomic_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
