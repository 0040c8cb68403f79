/* shared.c - loads and stores of LDS
 * SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "access.h"

/* ---- reading: `to, address`, `address, data`, `address, data, data` ---- */

static void read_shared(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const int is_store = f->sub;
    const size_t n_data = f->signs == 2 ? 2 : 1;
    const char words = (char)('0' + o->count);
    const size_t wanted = is_store ? 1 + n_data : 2;
    if (s->n_operands != wanted)
        fail(r, "%s takes %zu operands", f->name, wanted);
    if (has_modifier(s->modifiers, "gds"))
        fail(r, "%s of GDS is not executed here", f->name);
    o->n_src = N_MEMORY_SOURCES;
    o->counter = COUNT_LDS;
    read_kind(r, s->operands[is_store ? 0 : 1], 'w', OPERAND_VECTOR, &o->src[SOURCE_ADDRESS]);
    if (!is_store)
        read_kind(r, s->operands[0], (char)('0' + o->count * n_data), OPERAND_VECTOR, &o->dst[o->n_dst++]);
    for (size_t k = 0; is_store && k < n_data; k++)
        read_operand(r, s->operands[1 + k], words, &o->src[SOURCE_DATA + k]);
    access_offset(r, s, "offset", &o->offset);
    access_offset(r, s, "offset0", &o->offset);
    access_offset(r, s, "offset1", &o->offset1);
    if (n_data == 2) {
        const int32_t unit = 4 * o->count * (f->d16 ? 64 : 1);
        o->offset *= unit;
        o->offset1 *= unit;
        o->d16 = 0;
        o->two = 1;
    }
}

/* ---- executing ---- */

static void load(struct wave *w, const struct op *o)
{
    const uint64_t mask = exec_of(w);
    struct access a;
    access_addresses(w, o, mask, &a);
    if (o->two) { /* the second one's destination may be the addresses */
        struct access second = a;
        for (uint32_t i = 0; i < w->n; i++)
            second.address[i] = (uint32_t)(a.address[i] + (uint32_t)(o->offset1 - o->offset));
        memory_resolve(w, o, SPACE_SHARED, mask, access_size(o), ACCESS_READ, &second);
        memory_resolve(w, o, SPACE_SHARED, mask, access_size(o), ACCESS_READ, &a);
        access_fill(w, o, &o->dst[0], o->count, mask, &second);
    } else {
        memory_resolve(w, o, SPACE_SHARED, mask, access_size(o), ACCESS_READ, &a);
    }
    access_fill(w, o, &o->dst[0], 0, mask, &a);
    struct op whole = *o;
    whole.count = (uint8_t)(o->count * (o->two ? 2 : 1));
    wait_issued(w, &whole, &o->dst[0]);
}

static void store(struct wave *w, const struct op *o)
{
    const uint64_t mask = exec_of(w);
    struct access a;
    access_addresses(w, o, mask, &a);
    access_check_data(w, o, SOURCE_DATA, mask);
    memory_resolve(w, o, SPACE_SHARED, mask, access_size(o), ACCESS_WRITE, &a);
    access_spill(w, o, SOURCE_DATA, &a);
    if (o->two) {
        for (uint32_t i = 0; i < w->n; i++)
            a.address[i] = (uint32_t)(a.address[i] + (uint32_t)(o->offset1 - o->offset));
        access_check_data(w, o, SOURCE_DATA2, mask);
        memory_resolve(w, o, SPACE_SHARED, mask, access_size(o), ACCESS_WRITE, &a);
        access_spill(w, o, SOURCE_DATA2, &a);
    }
    wait_issued(w, o, NULL);
    w->stores = w->issued[COUNT_LDS];
}

/* ---- the table; `signs` 2: two addresses, `d16` then: 64 times as far apart ---- */

#define FORM(name, run, sub, width, count, d16, signs) \
    { name, "", NULL, NULL, run, 0, sub, DEFINE_ALL, read_shared, SPACE_SHARED, width, count, d16, signs }

static const struct form forms[] = {
    FORM("ds_load_u8", load, 0, 1, 1, 0, 0),
    FORM("ds_load_i8", load, 0, 1, 1, 0, 1),
    FORM("ds_load_u16", load, 0, 2, 1, 0, 0),
    FORM("ds_load_i16", load, 0, 2, 1, 0, 1),
    FORM("ds_load_u8_d16", load, 0, 1, 1, 1, 0),
    FORM("ds_load_u8_d16_hi", load, 0, 1, 1, 2, 0),
    FORM("ds_load_i8_d16", load, 0, 1, 1, 1, 1),
    FORM("ds_load_i8_d16_hi", load, 0, 1, 1, 2, 1),
    FORM("ds_load_u16_d16", load, 0, 2, 1, 1, 0),
    FORM("ds_load_u16_d16_hi", load, 0, 2, 1, 2, 0),
    FORM("ds_load_b32", load, 0, 4, 1, 0, 0),
    FORM("ds_load_b64", load, 0, 4, 2, 0, 0),
    FORM("ds_load_b96", load, 0, 4, 3, 0, 0),
    FORM("ds_load_b128", load, 0, 4, 4, 0, 0),
    FORM("ds_load_2addr_b32", load, 0, 4, 1, 0, 2),
    FORM("ds_load_2addr_b64", load, 0, 4, 2, 0, 2),
    FORM("ds_load_2addr_stride64_b32", load, 0, 4, 1, 1, 2),
    FORM("ds_load_2addr_stride64_b64", load, 0, 4, 2, 1, 2),
    FORM("ds_store_b8", store, 1, 1, 1, 0, 0),
    FORM("ds_store_b16", store, 1, 2, 1, 0, 0),
    FORM("ds_store_b8_d16_hi", store, 1, 1, 1, 2, 0),
    FORM("ds_store_b16_d16_hi", store, 1, 2, 1, 2, 0),
    FORM("ds_store_b32", store, 1, 4, 1, 0, 0),
    FORM("ds_store_b64", store, 1, 4, 2, 0, 0),
    FORM("ds_store_b96", store, 1, 4, 3, 0, 0),
    FORM("ds_store_b128", store, 1, 4, 4, 0, 0),
    FORM("ds_store_2addr_b32", store, 1, 4, 1, 0, 2),
    FORM("ds_store_2addr_b64", store, 1, 4, 2, 0, 2),
    FORM("ds_store_2addr_stride64_b32", store, 1, 4, 1, 1, 2),
    FORM("ds_store_2addr_stride64_b64", store, 1, 4, 2, 1, 2),
};

struct forms amdgpu_shared_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
