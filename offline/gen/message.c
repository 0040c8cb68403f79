/* message.c - messages to memory by name
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most are written so: `load.ugm.d32x4.a64 (16|M0) r10:4 [r8:2+0x10]`; some, and all on Xe3, as descriptors: send.c. A
 * name is made a descriptor, which has to be the one that the comment behind it has. */
#include "reader.h"

/* What a descriptor of the load and store unit has. */
enum {
    LSC_LOAD = 0, LSC_LOAD_2D = 3, LSC_STORE = 4, LSC_STORE_2D = 7, LSC_FIRST_ATOMIC = 8, LSC_LAST_ATOMIC = 26,
    LSC_VNNI = 1 << 7, LSC_TRANSPOSED = 1 << 15,
    LSC_MEANING = 0x6000ffff, /* all but lengths and caching */
    LSC_MEANING_2D = 0x00008ebf
};
static const uint32_t counts[8] = { 1, 2, 3, 4, 8, 16, 32, 64 };

/* ---- a descriptor to a message ---- */

static void decode_width(struct reader *r, uint32_t desc, struct message *m)
{
    static const struct {
        uint8_t width, stored;
    } widths[] = { { 1, 1 }, { 2, 2 }, { 4, 4 }, { 8, 8 }, { 1, 4 }, { 2, 4 } };
    const uint32_t k = desc >> 9 & 7;
    if (k >= sizeof widths / sizeof *widths)
        fail(r, "a message whose elements are not known here: descriptor 0x%08X", desc);
    m->width = widths[k].width;
    m->stored = widths[k].stored;
}

void message_decode(struct reader *r, uint32_t desc, struct message *m)
{
    const uint32_t op = desc & 63, address = desc >> 7 & 3;
    decode_width(r, desc, m);
    m->transposed = desc >> 15 & 1;
    if (op == LSC_LOAD_2D) {
        m->block2d = 1;
        m->vnni = desc >> 7 & 1;
        m->address_bytes = 8;
        if (m->stored != m->width || (m->vnni && m->width > 2))
            fail(r, "a block of elements that are not known here: descriptor 0x%08X", desc);
        return;
    }
    m->op = op == LSC_LOAD ? MESSAGE_LOAD : op == LSC_STORE ? MESSAGE_STORE : MESSAGE_ATOMIC;
    m->atomic = (uint8_t)op;
    if ((op != LSC_LOAD && op != LSC_STORE && (op < LSC_FIRST_ATOMIC || op > LSC_LAST_ATOMIC)) || address < 2)
        fail(r, "a message that is not known here: descriptor 0x%08X", desc);
    m->address_bytes = address == 3 ? 8 : 4;
    m->count = (uint8_t)counts[desc >> 12 & 7];
    m->surface = desc >> 29 & 3;
    if (m->op == MESSAGE_ATOMIC && (m->transposed || m->count != 1))
        fail(r, "an atomic message of vectors: descriptor 0x%08X", desc);
}

/* ---- a name to a descriptor ---- */

static uint32_t op_named(struct reader *r, struct word name)
{
    static const struct {
        const char *name;
        uint32_t op;
    } ops[] = { { "load", LSC_LOAD }, { "store", LSC_STORE }, { "load_block2d", LSC_LOAD_2D },
                { "atomic_iinc", 8 }, { "atomic_idec", 9 }, { "atomic_load", 10 }, { "atomic_store", 11 },
                { "atomic_iadd", 12 }, { "atomic_isub", 13 }, { "atomic_smin", 14 }, { "atomic_smax", 15 },
                { "atomic_umin", 16 }, { "atomic_umax", 17 }, { "atomic_icas", 18 }, { "atomic_fadd", 19 },
                { "atomic_fsub", 20 }, { "atomic_fmin", 21 }, { "atomic_fmax", 22 }, { "atomic_fcas", 23 },
                { "atomic_and", 24 }, { "atomic_or", 25 }, { "atomic_xor", 26 } };
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++)
        if (word_is(name, ops[i].name))
            return ops[i].op;
    fail(r, "%.*s is not executed here", WORD(name));
}

static uint8_t space_of(struct reader *r, struct word name)
{
    if (word_is(name, "slm"))
        return SPACE_SHARED;
    if (!word_is(name, "ugm"))
        fail(r, "a message to %.*s is not executed here", WORD(name));
    return SPACE_GLOBAL;
}

/* d32, d16u32, d32x4, d32x16t; of 2D blocks d16v, d32t */
static uint32_t width_bits(struct reader *r, struct word text, int block2d)
{
    struct word rest = text;
    uint32_t bits = 0, n = 1, k = 0, desc;
    if (word_begins(rest, "d"))
        word_until(&rest, 'd');
    if (!word_digits(&rest, &bits) || (bits != 8 && bits != 16 && bits != 32 && bits != 64))
        fail(r, "elements %.*s are not known here", WORD(text));
    desc = bits == 8 ? 0 : bits == 16 ? 1 : bits == 32 ? 2 : 3;
    if (word_begins(rest, "u32")) {
        word_until(&rest, '2');
        if (desc > 1)
            fail(r, "elements %.*s are not known here", WORD(text));
        desc += 4;
    }
    desc <<= 9;
    if (word_begins(rest, "x")) {
        word_until(&rest, 'x');
        if (!word_digits(&rest, &n))
            fail(r, "elements %.*s are not known here", WORD(text));
    }
    while (k < 8 && counts[k] != n)
        k++;
    if (word_is(rest, "t") || word_is(rest, "vt"))
        desc |= LSC_TRANSPOSED;
    if (block2d && (word_is(rest, "v") || word_is(rest, "vt")))
        desc |= LSC_VNNI;
    else if (k == 8 || (rest.length && !word_is(rest, "t")))
        fail(r, "elements %.*s are not known here", WORD(text));
    return desc | (k & 7) << 12;
}

/* What stands in the address of a named message: `ss[a0.2][r126:1-0x10000]`, `bti[255][r127:1]`, `[r8:4+0x10]`. */
static void take_offset(struct reader *r, struct word text, struct message *m)
{
    int64_t x;
    if (!text.length)
        return;
    if (*text.at == '+') {
        text.at++;
        text.length--;
    }
    if (text.length > 2 && *text.at == '(') { /* of 2D blocks: x and y */
        struct word rest = text;
        word_until(&rest, '(');
        struct word inside = word_until(&rest, ')');
        const struct word first = word_until(&inside, ',');
        int64_t y;
        if (!m->block2d || !word_number(first, &x) || !word_number(inside, &y))
            fail(r, "an offset %.*s", WORD(text));
        m->offset_y = (int32_t)y;
    } else if (!word_number(text, &x)) {
        fail(r, "an offset %.*s", WORD(text));
    }
    m->offset = (int32_t)x;
}

static void take_address(struct reader *r, struct word text, struct message *m)
{
    static const char *const surfaces[] = { "", "bss", "ss", "bti" };
    struct word rest = text;
    const struct word kind = word_until(&rest, '[');
    struct word inside = word_until(&rest, ']');
    uint8_t k = 0;
    while (k < 4 && !word_is(kind, surfaces[k]))
        k++;
    if (k == 4)
        fail(r, "an address %.*s", WORD(text));
    m->surface = k;
    if (k) {
        if (k != SURFACE_BTI && word_begins(inside, "a0."))
            word_until(&inside, '.');
        if (!word_digits(&inside, &m->index) || inside.length)
            fail(r, "a surface %.*s", WORD(text));
        word_until(&rest, '[');
        inside = word_until(&rest, ']');
    }
    struct word reg = inside;
    size_t n = 0;
    while (n < inside.length && inside.at[n] != '+' && (inside.at[n] != '-' || !n))
        n++;
    reg.length = n;
    inside.at += n;
    inside.length -= n;
    m->from = read_register(r, reg, NULL);
    if (rest.length || m->from == NO_REGISTER)
        fail(r, "an address %.*s", WORD(text));
    take_offset(r, inside, m);
}

/* Registers of the payload, the data and the result have to be there. */
void message_check_room(struct reader *r, const struct op *o, const struct message *m)
{
    const uint32_t grf = r->kernel->grf, last = r->kernel->info.registers;
    const uint32_t lanes = (o->width * m->stored + grf - 1u) / grf * m->count;
    const uint32_t result = m->transposed || m->scratch || m->oword ? (m->count * m->stored + grf - 1u) / grf : lanes;
    const uint32_t operands = m->op == MESSAGE_ATOMIC ? atomic_operands(m->atomic) : 1, data = operands * result;
    const int is_block = m->block2d || m->scratch || m->oword;
    const uint32_t addresses = is_block ? 1 : (o->width * m->address_bytes + grf - 1u) / grf;
    const int is_real = m->op == MESSAGE_ATOMIC && m->atomic >= 19 && m->atomic <= 23;
    if ((m->to != NO_REGISTER && !m->block2d && m->to + result > last) ||
        (m->data != NO_REGISTER && m->data + data > last) || m->from + addresses > last)
        fail(r, "a message of registers behind the last one");
    if ((m->transposed && !m->block2d && o->width != 1) || (!m->transposed && !is_block && m->count > 8) ||
        (is_real && m->width != 4))
        fail(r, "a message of so many lanes, or so wide, is not known here");
    if (m->op == MESSAGE_STORE && m->data == NO_REGISTER)
        fail(r, "a store of nothing");
    if (m->op == MESSAGE_ATOMIC && operands && m->data == NO_REGISTER)
        fail(r, "an atomic message without its operands");
}

/* The number behind `desc:` in the comment. */
static void check_comment(struct reader *r, const struct statement *s, uint32_t mine, uint32_t meaning)
{
    struct word rest = { "", 0 }, behind = s->comment;
    int64_t desc;
    while (word_find(behind, "desc:", &behind)) /* the last one: ex_desc stands before */
        rest = behind;
    if (!rest.length)
        return;
    const struct word number = word_next(&rest);
    if (!word_number(number, &desc) || (((uint32_t)desc ^ mine) & meaning))
        fail(r, "%s is not what its descriptor %.*s says", s->name, WORD(number));
}

static void read_named(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct word rest = { s->name, strlen(s->name) };
    const uint32_t op = op_named(r, word_until(&rest, '.'));
    struct message *m = reader_alloc(r, 1, sizeof *m);
    (void)f;
    m->space = space_of(r, word_until(&rest, '.'));
    const uint32_t width = width_bits(r, word_until(&rest, '.'), op == LSC_LOAD_2D);
    const struct word address = word_until(&rest, '.'); /* what is left is caching */
    uint32_t desc = op | width;
    if (!word_is(address, "a32") && !word_is(address, "a64"))
        fail(r, "addresses %.*s are not known here", WORD(address));
    if (op != LSC_LOAD_2D)
        desc |= word_is(address, "a64") ? 3 << 7 : 2 << 7;
    const int store = op == LSC_STORE, atomic = op >= LSC_FIRST_ATOMIC;
    if (s->n_words != (atomic ? 3 : 2))
        fail(r, "%s takes %d operands", s->name, atomic ? 3 : 2);
    m->block2d = op == LSC_LOAD_2D;
    take_address(r, s->words[store ? 0 : 1], m);
    const uint8_t surface = m->surface;
    message_decode(r, desc | (uint32_t)surface << 29, m);
    check_comment(r, s, desc | (uint32_t)surface << 29, m->block2d ? LSC_MEANING_2D : LSC_MEANING);
    m->to = store ? NO_REGISTER : read_register(r, s->words[0], NULL);
    m->data = store ? read_register(r, s->words[1], NULL) :
              atomic ? read_register(r, s->words[2], NULL) : NO_REGISTER;
    m->gather = NO_REGISTER;
    o->message = m;
    message_check_room(r, o, m);
}

/* ---- the table ---- */

#define MESSAGE(name) { name, 0, NULL, NULL, message_access, read_named, 0, 0 }
static const struct form forms[] = {
    MESSAGE("load"), MESSAGE("store"), MESSAGE("load_block2d"), MESSAGE("atomic_iinc"), MESSAGE("atomic_idec"),
    MESSAGE("atomic_load"), MESSAGE("atomic_store"), MESSAGE("atomic_iadd"), MESSAGE("atomic_isub"),
    MESSAGE("atomic_smin"), MESSAGE("atomic_smax"), MESSAGE("atomic_umin"), MESSAGE("atomic_umax"),
    MESSAGE("atomic_icas"), MESSAGE("atomic_fadd"), MESSAGE("atomic_fsub"), MESSAGE("atomic_fmin"),
    MESSAGE("atomic_fmax"), MESSAGE("atomic_fcas"), MESSAGE("atomic_and"), MESSAGE("atomic_or"),
    MESSAGE("atomic_xor"),
};

struct forms gen_message_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
