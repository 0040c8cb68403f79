/* statement.c - instructions of PTX text, decoded
 * SPDX-License-Identifier: Apache-2.0
 *
 * Most are rows of the table in lanes.c and read by read_form(); what has an address, a label, lanes of other threads
 * or operands of its own kind has a reader here, see the table at the end. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* A mnemonic taken apart: ld, global, v4, f32. */
struct parts {
    struct word whole, part[MAX_PARTS];
    int n;
};

static void take_apart(struct reader *r, struct word name, struct parts *p)
{
    p->whole = name;
    p->n = 0;
    const char *from = name.at, *end = name.at + name.length;
    for (const char *c = from;; c++)
        if (c == end || *c == '.') {
            if (p->n == MAX_PARTS)
                fail(r, "%.*s has too many parts", WORD(name));
            const struct word part = { from, (size_t)(c - from) };
            p->part[p->n++] = part;
            from = c + 1;
            if (c == end)
                return;
        }
}

static void unknown(struct reader *r, const struct parts *p)
{
    r->at.line = r->line;
    fail(r, "%.*s is not executed here", WORD(p->whole));
}

static int has(const struct parts *p, const char *text)
{
    for (int i = 1; i < p->n; i++)
        if (word_is(p->part[i], text))
            return 1;
    return 0;
}

static enum ptx_type last_type(struct reader *r, const struct parts *p)
{
    const enum ptx_type type = type_named(p->part[p->n - 1]);
    if (!type)
        unknown(r, p);
    return type;
}

/* The position of a part in a list that ends with NULL, -1: it is none of them. */
static int position(struct word w, const char *const *list)
{
    for (int i = 0; list[i]; i++)
        if (word_is(w, list[i]))
            return i;
    return -1;
}

/* ---- rows of the table ---- */

static const struct form *form_named(struct reader *r, const char *name)
{
    size_t low = 0, high = r->code->n_forms;
    while (low < high) {
        const size_t mid = (low + high) / 2;
        const int c = strcmp(r->forms[mid]->name, name);
        if (!c)
            return r->forms[mid];
        if (c < 0)
            low = mid + 1;
        else
            high = mid;
    }
    return NULL;
}

/* ---- registers and constants ---- */

const char *const ptx_special_names[N_SPECIAL] = {
    "%tid.x", "%tid.y", "%tid.z", "%ntid.x", "%ntid.y", "%ntid.z", "%ctaid.x", "%ctaid.y", "%ctaid.z", "%nctaid.x",
    "%nctaid.y", "%nctaid.z", "%envreg0", "%envreg1", "%envreg2", "%envreg3", "%envreg4", "%envreg5", "%envreg6",
    "%envreg7", "%envreg8", "%envreg9", "%laneid", "%warpid", "%nwarpid", "%lanemask_eq", "%lanemask_lt",
    "%lanemask_le", "%lanemask_gt", "%lanemask_ge"
};

static int is_range_register(struct reader *r, struct word name, uint32_t *slot, enum ptx_type *type)
{
    size_t base = name.length;
    while (base && name.at[base - 1] >= '0' && name.at[base - 1] <= '9')
        base--;
    if (name.length - base > 7)
        return 0;
    uint32_t number = 0;
    for (size_t i = base; i < name.length; i++)
        number = 10 * number + (uint32_t)(name.at[i] - '0');
    const struct word prefix = { name.at, base };
    if (base == name.length)
        return 0;
    for (size_t i = r->n_symbols; i > r->body->first_symbol; i--) {
        const struct symbol *s = &r->symbols[i - 1];
        if (s->kind != SYMBOL_RANGE || !words_equal(s->name, prefix) || number >= s->count)
            continue;
        if (!s->slots[number])
            s->slots[number] = add_slots(r, type_class(s->type) == 'l' ? 2 : 1) + 1;
        *slot = s->slots[number] - 1;
        *type = s->type;
        return 1;
    }
    return 0;
}

static int is_special(struct reader *r, struct word name, uint32_t *slot, enum ptx_type *type)
{
    for (int i = 0; i < N_SPECIAL; i++) {
        if (!word_is(name, ptx_special_names[i]))
            continue;
        if (!r->kernel->special[i])
            r->kernel->special[i] = add_slots(r, 1) + 1;
        *slot = r->kernel->special[i] - 1;
        *type = T_U32;
        return 1;
    }
    return 0;
}

int is_register(struct reader *r, struct word name, uint32_t *slot, enum ptx_type *type)
{
    const struct symbol *s = find_symbol(r, name);
    if (s && s->kind == SYMBOL_REGISTER) {
        *slot = s->slot;
        *type = s->type;
        return 1;
    }
    return !s && (is_range_register(r, name, slot, type) || is_special(r, name, slot, type));
}

static void rehash(struct reader *r)
{
    struct ptx_kernel *k = r->kernel;
    r->hash_size *= 2;
    r->constant_hash = reader_alloc(r, r->hash_size, sizeof *r->constant_hash);
    for (size_t i = 0; i < k->n_constants; i++) {
        size_t h = (k->constants[i].value * 0x9e3779b97f4a7c15u >> 40) + (size_t)k->constants[i].width;
        while (r->constant_hash[h &= r->hash_size - 1])
            h++;
        r->constant_hash[h] = (uint32_t)i + 1;
    }
}

/* A slot that holds the value in every lane; width 4 or 8. */
uint32_t constant_slot(struct reader *r, uint64_t value, int width)
{
    struct ptx_kernel *k = r->kernel;
    size_t h = (value * 0x9e3779b97f4a7c15u >> 40) + (size_t)width;
    for (; r->constant_hash[h &= r->hash_size - 1]; h++) {
        const struct constant *c = &k->constants[r->constant_hash[h] - 1];
        if (c->value == value && c->width == width)
            return c->slot;
    }
    k->constants = reader_grow(r, k->constants, k->n_constants, sizeof *k->constants, MAX_SLOTS, "constants");
    const struct constant c = { value, add_slots(r, width / 4), width };
    k->constants[k->n_constants++] = c;
    r->constant_hash[h] = (uint32_t)k->n_constants;
    if (2 * k->n_constants > r->hash_size)
        rehash(r);
    return c.slot;
}

/* ---- operands ---- */

static void no_operand(struct reader *r, struct word w)
{
    if (w.length)
        fail(r, "there is no register %.*s", WORD(w));
    fail(r, "an operand expected before \"%.20s\"", r->at.p);
}

static void check_class(struct reader *r, struct word w, enum ptx_type type, char class)
{
    if (type_class(type) != class)
        fail(r, "%.*s has another size than the instruction", WORD(w));
}

/* Where results nobody wants go: a slot pair that is never read. */
static uint32_t sink_slot(struct reader *r)
{
    if (!r->sink)
        r->sink = add_slots(r, 2) + 1;
    return r->sink - 1;
}

static uint32_t take_destination(struct reader *r, char class, enum ptx_type *type)
{
    const struct word w = take_word(r);
    uint32_t slot;
    enum ptx_type found;
    if (word_is(w, "_"))
        return sink_slot(r);
    if (!is_register(r, w, &slot, &found))
        no_operand(r, w);
    for (int i = 0; i < N_SPECIAL; i++)
        if (r->kernel->special[i] == slot + 1)
            fail(r, "%.*s cannot be written", WORD(w));
    if (class)
        check_class(r, w, found, class);
    if (type)
        *type = found;
    return slot;
}

/* !p: its negation, by an instruction of its own. */
static uint32_t take_negated(struct reader *r)
{
    uint32_t slot;
    enum ptx_type type;
    const struct word w = take_word(r);
    if (!is_register(r, w, &slot, &type))
        no_operand(r, w);
    check_class(r, w, type, 'p');
    struct op o;
    memset(&o, 0, sizeof o);
    o.kind = OP_LANES;
    o.run = form_named(r, "not.pred")->run;
    o.n_dst = o.n_src = 1;
    o.reg[0] = add_slots(r, 1);
    o.reg[1] = slot;
    emit(r, &o);
    return o.reg[0];
}

static uint32_t literal_slot(struct reader *r, char class, enum ptx_type type)
{
    const uint64_t value = take_literal(r, type);
    if (class == 'p')
        return constant_slot(r, value ? 0xffffffff : 0, 4);
    return class == 'l' ? constant_slot(r, value, 8)
                        : constant_slot(r, class == 'h' ? value & 0xffff : (uint32_t)value, 4);
}

/* A register, a number or the address of a variable. class 0: a register of any. */
static uint32_t take_source(struct reader *r, char class, enum ptx_type type, enum ptx_type *found)
{
    enum ptx_type is = type;
    uint32_t slot;
    if (class == 'p' && take(r, '!'))
        return take_negated(r);
    if (at_number(r) && class)
        return literal_slot(r, class, type);
    const struct word w = take_word(r);
    const struct symbol *s = find_symbol(r, w);
    if (s && s->kind == SYMBOL_VARIABLE) {
        if (class != 'l' && !(class == 'w' && s->space == SPACE_SHARED))
            fail(r, "%.*s is the name of a variable", WORD(w));
        return constant_slot(r, s->address, class == 'l' ? 8 : 4);
    }
    if (word_is(w, "WARP_SZ"))
        return constant_slot(r, LANES, class == 'l' ? 8 : 4);
    if (!is_register(r, w, &slot, &is))
        no_operand(r, w);
    if (class && !(class == 'h' && is == T_U32 && *w.at == '%' && memchr(w.at, '.', w.length))) /* mov.u16 of %tid.x */
        check_class(r, w, is, class);
    if (found)
        *found = is;
    return slot;
}

/* One element of a vector; *is becomes its type, T_NONE of `_`. */
static uint32_t take_element(struct reader *r, int is_destination, char class, enum ptx_type type, enum ptx_type *is)
{
    *is = T_NONE;
    if (is_destination)
        return take_destination(r, class, is);
    if (!at_number(r))
        return take_source(r, class, type, is);
    if (!type_class(type))
        fail(r, "a register expected before \"%.20s\"", r->at.p);
    *is = type;
    return literal_slot(r, type_class(type), type);
}

/* {a, b, ..} of registers, or one of them, all of one size; slots in reg[], how many is returned. */
static int take_vector(struct reader *r, uint32_t *reg, int most, int is_destination, char class, enum ptx_type type,
                       enum ptx_type *found)
{
    enum ptx_type all = T_NONE, is;
    int n = 0;
    const int many = take(r, '{');
    do {
        if (n == most)
            fail(r, "a vector has more than %d elements", most);
        reg[n++] = take_element(r, is_destination, class, type, &is);
        if (all && is && type_class(all) != type_class(is))
            fail(r, "the elements of a vector have different sizes");
        all = is ? is : all;
    } while (many && take(r, ','));
    if (many)
        expect(r, '}');
    if (found)
        *found = all;
    return n;
}

static void end_statement(struct reader *r)
{
    expect(r, ';');
}

struct op *emit(struct reader *r, const struct op *o)
{
    struct ptx_kernel *k = r->kernel;
    k->ops = reader_grow(r, k->ops, k->n_ops, sizeof *k->ops, MAX_OPS, "instructions");
    struct op *to = &k->ops[k->n_ops];
    *to = *o;
    to->guarded = (uint8_t)r->guarded;
    to->guard_not = (uint8_t)r->guard_not;
    to->guard = r->guard;
    to->line = r->line;
    to->at = (uint32_t)(r->statement - r->module->text);
    to->file = r->file;
    to->file_line = r->file_line;
    to->index = (uint32_t)k->n_ops++;
    return to;
}

/* ---- what the table has ---- */

static const char *const roundings[] = { "rn", "rz", "rm", "rp", "rni", "rzi", "rmi", "rpi", NULL };

/* The name without rounding, .ftz and .sat, which become the operation's. */
static int strip(const struct parts *p, char *name, size_t size, struct op *o)
{
    size_t n = 0;
    int mods = 0;
    for (int i = 0; i < p->n; i++) {
        const int round = i ? position(p->part[i], roundings) : -1;
        if (round >= 0) {
            o->round = (uint8_t)(round & 3);
            o->integral = round >= 4;
            mods |= round ? MOD_ROUND : MOD_RN;
        } else if (i && word_is(p->part[i], "ftz")) {
            o->ftz = 1, mods |= MOD_FTZ;
        } else if (i && word_is(p->part[i], "sat")) {
            o->sat = 1, mods |= MOD_SAT;
        } else {
            if (n + p->part[i].length + 2 > size)
                return -1;
            if (n)
                name[n++] = '.';
            memcpy(name + n, p->part[i].at, p->part[i].length);
            n += p->part[i].length;
        }
    }
    name[n] = 0;
    return mods;
}

/* The row of a mnemonic, with o's modifiers set; NULL: there is none. */
static const struct form *find_form(struct reader *r, const struct parts *p, struct op *o)
{
    char name[NAME];
    if (p->whole.length >= sizeof name)
        return NULL;
    memcpy(name, p->whole.at, p->whole.length);
    name[p->whole.length] = 0;
    const struct form *f = form_named(r, name);
    if (f)
        return f;
    const int mods = strip(p, name, sizeof name, o);
    f = mods < 0 ? NULL : form_named(r, name);
    return f && !(mods & ~f->mods) && !o->integral ? f : NULL;
}

static uint32_t carry_slot(struct reader *r)
{
    if (!r->carry)
        r->carry = add_slots(r, 1) + 1;
    return r->carry - 1;
}

static void read_form(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    const struct form *f = find_form(r, p, &o);
    if (!f || *f->name == '(')
        unknown(r, p);
    const enum ptx_type type = type_named(p->part[p->n - 1]);
    int first = 1, n = 0;
    for (const char *c = f->operands; *c; c++) {
        const int is_destination = c == f->operands || *c == 'C';
        if (*c == 'C' || *c == 'c') {
            o.reg[n] = carry_slot(r);
        } else {
            if (!first)
                expect(r, ',');
            first = 0;
            o.reg[n] = is_destination ? take_destination(r, *c, NULL) : take_source(r, *c, type, NULL);
        }
        n++;
        o.n_dst = (uint8_t)(o.n_dst + is_destination);
    }
    o.n_src = (uint8_t)(n - o.n_dst);
    o.kind = OP_LANES;
    o.run = f->run;
    o.sub = f->sub;
    end_statement(r);
    emit(r, &o);
}

/* ---- accesses ---- */

static const char *const space_words[] = { "global", "shared", "shared::cta", "local", "param", "param::entry",
                                           "param::func", "const", NULL };
static const uint8_t spaces[] = { SPACE_GLOBAL, SPACE_SHARED, SPACE_SHARED, SPACE_LOCAL,
                                  SPACE_PARAM,  SPACE_PARAM,  SPACE_PARAM,  SPACE_CONST };
/* They say nothing to a machine that executes memory accesses in order and has no caches. */
static const char *const ignored[] = { "volatile",
                                       "relaxed",
                                       "weak",
                                       "acquire",
                                       "release",
                                       "acq_rel",
                                       "cta",
                                       "gpu",
                                       "sys",
                                       "nc",
                                       "ca",
                                       "cg",
                                       "cs",
                                       "lu",
                                       "cv",
                                       "wb",
                                       "wt",
                                       "L1::evict_normal",
                                       "L1::evict_unchanged",
                                       "L1::evict_first",
                                       "L1::evict_last",
                                       "L1::no_allocate",
                                       "L2::64B",
                                       "L2::128B",
                                       "L2::256B",
                                       NULL };
static const char *const vectors[] = { "v2", "v4", NULL };

static void note_grain(struct reader *r, const struct op *o)
{
    struct ptx_kernel *k = r->kernel;
    if ((o->space == SPACE_NONE || o->space == SPACE_SHARED) && o->width < k->shared_grain)
        k->shared_grain = o->width;
    if ((o->space == SPACE_NONE || o->space == SPACE_GLOBAL || o->space == SPACE_CONST) &&
        o->width < k->global_grain)
        k->global_grain = o->width;
}

/* Space, vector and type of ld and st. */
static void access_parts(struct reader *r, const struct parts *p, struct op *o)
{
    const enum ptx_type type = last_type(r, p);
    o->count = 1;
    for (int i = 1; i < p->n - 1; i++) {
        const int space = position(p->part[i], space_words), vector = position(p->part[i], vectors);
        if (space >= 0)
            o->space = spaces[space];
        else if (vector >= 0)
            o->count = (uint8_t)(2 << vector);
        else if (position(p->part[i], ignored) < 0)
            unknown(r, p);
    }
    o->type = (uint8_t)type;
    o->width = (uint8_t)ptx_type_bytes(type);
    if (!o->width || o->width * o->count > 16)
        unknown(r, p);
}

/* [name], [name + number], [number]; the slot of the address without the number, which becomes o->offset. */
static uint32_t take_address(struct reader *r, struct op *o)
{
    enum ptx_type type = T_U64;
    uint32_t slot;
    expect(r, '[');
    if (at_number(r)) {
        slot = constant_slot(r, take_literal(r, T_B64), 8);
    } else {
        const struct word w = take_word(r);
        const struct symbol *s = find_symbol(r, w);
        if (s && s->kind == SYMBOL_VARIABLE) {
            slot = constant_slot(r, s->address, 8);
            if (o->space == SPACE_NONE || o->space == SPACE_PARAM)
                o->space = (uint8_t)s->space; /* a function's parameters lie in its caller's local memory */
        } else if (!is_register(r, w, &slot, &type)) {
            no_operand(r, w);
        }
        if (type_class(type) != 'l' && type_class(type) != 'w')
            fail(r, "%.*s is no address", WORD(w));
    }
    o->wide_address = type_class(type) == 'l';
    if (take(r, '+') || (skip_space(r), *r->at.p == '-'))
        o->offset = (int64_t)take_literal(r, T_B64);
    expect(r, ']');
    return slot;
}

/* A register may be wider than what is accessed, not narrower. */
static void check_width(struct reader *r, const struct op *o, enum ptx_type type)
{
    const char class = type_class(type);
    if (class == 'p' || (class == 'h' && o->width > 2) || (class == 'w' && o->width > 4))
        fail(r, "a register is narrower than the access");
}

static int is_signed(enum ptx_type type)
{
    return type == T_S8 || type == T_S16 || type == T_S32 || type == T_S64;
}

/* sub of loads: bit 0 sign-extended, bit 1 to 64 bits, bit 2 to 16 bits. */
static void read_load(struct reader *r, const struct parts *p)
{
    struct op o;
    enum ptx_type type = T_NONE;
    memset(&o, 0, sizeof o);
    access_parts(r, p, &o);
    o.n_dst = (uint8_t)take_vector(r, o.reg, 4, 1, 0, T_NONE, &type);
    if (o.n_dst != o.count)
        fail(r, "a load of %d has %d destinations", o.count, o.n_dst);
    if (type)
        check_width(r, &o, type);
    else
        type = (enum ptx_type)o.type; /* all of them are _ */
    o.sub = (uint8_t)((is_signed((enum ptx_type)o.type) ? 1 : 0) | (type_class(type) == 'l' ? 2 : 0) |
                      (type_class(type) == 'h' ? 4 : 0));
    expect(r, ',');
    o.reg[o.n_dst] = take_address(r, &o);
    o.n_src = 1;
    o.kind = OP_LOAD;
    note_grain(r, &o);
    end_statement(r);
    emit(r, &o);
}

/* sub of stores: bit 1 from 64 bits. */
static void read_store(struct reader *r, const struct parts *p)
{
    struct op o;
    enum ptx_type type = T_NONE;
    memset(&o, 0, sizeof o);
    access_parts(r, p, &o);
    o.reg[0] = take_address(r, &o);
    expect(r, ',');
    const int n = take_vector(r, o.reg + 1, 4, 0, 0, (enum ptx_type)o.type, &type);
    if (n != o.count)
        fail(r, "a store of %d has %d sources", o.count, n);
    if (type)
        check_width(r, &o, type);
    else
        type = (enum ptx_type)o.type;
    o.sub = type_class(type) == 'l' ? 2 : 0;
    o.n_src = (uint8_t)(1 + n);
    o.kind = OP_STORE;
    note_grain(r, &o);
    end_statement(r);
    emit(r, &o);
}

static const char *const atom_words[] = { "add", "and", "or", "xor", "min", "max", "inc", "dec", "exch", "cas", NULL };

/* What atomics there are: types by operation. */
static int atom_known(enum atom_op op, enum ptx_type type)
{
    const int bits = type == T_B32 || type == T_B64,
              whole = type == T_U32 || type == T_S32 || type == T_U64 || type == T_S64;
    switch (op) {
    case ATOM_ADD: return whole || type == T_F32 || type == T_F64;
    case ATOM_MIN: case ATOM_MAX: return whole;
    case ATOM_INC: case ATOM_DEC: return type == T_U32;
    default: return bits;
    }
}

/* atom has a destination, red has none. Sources: address, operand, and of cas another. */
static void read_atom(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    const enum ptx_type type = last_type(r, p);
    const char class = type_class(type);
    int op = -1;
    for (int i = 1; i < p->n - 1; i++) {
        const int space = position(p->part[i], space_words), this_op = position(p->part[i], atom_words);
        if (space >= 0)
            o.space = spaces[space];
        else if (this_op >= 0 && op < 0)
            op = this_op;
        else if (position(p->part[i], ignored) < 0)
            unknown(r, p);
    }
    if (op < 0 || !atom_known((enum atom_op)op, type))
        unknown(r, p);
    o.type = (uint8_t)type;
    o.sub = (uint8_t)op;
    o.width = (uint8_t)ptx_type_bytes(type);
    o.count = 1;
    o.n_dst = word_is(p->part[0], "atom");
    if (o.n_dst) {
        o.reg[0] = take_destination(r, class, NULL);
        expect(r, ',');
    }
    o.reg[o.n_dst] = take_address(r, &o);
    o.n_src = op == ATOM_CAS ? 3 : 2;
    for (int k = 1; k < o.n_src; k++) {
        expect(r, ',');
        o.reg[o.n_dst + k] = take_source(r, class, type, NULL);
    }
    o.kind = OP_ATOM;
    note_grain(r, &o);
    end_statement(r);
    emit(r, &o);
}

/* ldmatrix.sync.aligned.m8n8.x4{.trans}{.shared}.b16; sub: transposed. */
static void read_ldmatrix(struct reader *r, const struct parts *p)
{
    static const char *const counts[] = { "x1", "x2", "x4", NULL };
    struct op o;
    memset(&o, 0, sizeof o);
    int count = -1;
    for (int i = 1; i < p->n; i++) {
        const int n = position(p->part[i], counts), space = position(p->part[i], space_words);
        if (n >= 0)
            count = n;
        else if (space >= 0)
            o.space = spaces[space];
        else if (word_is(p->part[i], "trans"))
            o.sub = 1;
        else if (!word_is(p->part[i], "sync") && !word_is(p->part[i], "aligned") && !word_is(p->part[i], "m8n8") &&
                 !word_is(p->part[i], "b16"))
            unknown(r, p);
    }
    if (count < 0 || (o.space != SPACE_SHARED && o.space != SPACE_NONE))
        unknown(r, p);
    o.count = (uint8_t)(1 << count);
    o.n_dst = (uint8_t)take_vector(r, o.reg, 4, 1, 'w', T_B32, NULL);
    if (o.n_dst != o.count)
        fail(r, "ldmatrix of %d has %d destinations", o.count, o.n_dst);
    expect(r, ',');
    o.reg[o.n_dst] = take_address(r, &o);
    o.n_src = 1;
    o.width = 16;
    o.kind = OP_LDMATRIX;
    o.whole = 1;
    end_statement(r);
    emit(r, &o);
}

/* ---- moves, conversions, comparisons ---- */

static void read_pack(struct reader *r, const struct parts *p, enum ptx_type type)
{
    struct op o;
    memset(&o, 0, sizeof o);
    const int bytes = ptx_type_bytes(type), unpack = next_is(r, '{');
    const char class = type_class(type);
    enum ptx_type part = T_NONE;
    if (bytes < 4)
        unknown(r, p);
    o.n_dst = (uint8_t)(unpack ? take_vector(r, o.reg, 4, 1, 0, T_NONE, &part) :
                                 (o.reg[0] = take_destination(r, class, NULL), 1));
    expect(r, ',');
    o.n_src = (uint8_t)(unpack ? (o.reg[o.n_dst] = take_source(r, class, type, NULL), 1) :
                                 take_vector(r, o.reg + 1, 4, 0, 0, T_NONE, &part));
    const int n = unpack ? o.n_dst : o.n_src;
    o.width = (uint8_t)(n == 2 || n == 4 ? bytes / n : 0);
    const char wanted = o.width == 2 ? 'h' : o.width == 4 ? 'w' : 0;
    if (!wanted || (part && type_class(part) != wanted))
        fail(r, "the parts of a move have another size than the whole");
    o.kind = OP_LANES;
    o.run = unpack ? r->code->unpack : r->code->pack;
    end_statement(r);
    emit(r, &o);
}

/* Looks whether there is a { before the statement ends. */
static int has_braces(const struct reader *r)
{
    const char *p = r->at.p;
    while (*p && *p != ';' && *p != '{')
        p++;
    return *p == '{';
}

static void read_move(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    const enum ptx_type type = last_type(r, p);
    const char class = type_class(type);
    if (p->n != 2 || ptx_type_bytes(type) == 1)
        unknown(r, p);
    if (has_braces(r)) {
        read_pack(r, p, type);
        return;
    }
    o.reg[0] = take_destination(r, class, NULL);
    expect(r, ',');
    o.reg[1] = take_source(r, class, type, NULL);
    o.n_dst = o.n_src = 1;
    o.kind = OP_LANES;
    o.run = class == 'p' ? r->code->move_p : class == 'l' ? r->code->move_l : r->code->move_w;
    end_statement(r);
    emit(r, &o);
}

static op_run *quick_convert(const struct reader *r, const struct op *o, char from, char to)
{
    const struct lane_code *c = r->code;
    if (o->sat || o->ftz || o->integral || o->round)
        return c->convert;
    const struct {
        enum ptx_type to, from;
        char to_class, from_class;
        op_run *run;
    } quick[] = {
        { T_F32, T_S32, 'w', 'w', c->convert_s32_f32 },   { T_F32, T_F16, 'w', 'h', c->convert_f16_f32 },
        { T_F16, T_F32, 'h', 'w', c->convert_f32_f16 },   { T_S64, T_S32, 'l', 'w', c->convert_s32_s64 },
        { T_U64, T_S32, 'l', 'w', c->convert_s32_s64 },   { T_U64, T_U32, 'l', 'w', c->convert_u32_u64 },
        { T_S64, T_U32, 'l', 'w', c->convert_u32_u64 },   { T_U32, T_U64, 'w', 'l', c->convert_low },
        { T_S32, T_S64, 'w', 'l', c->convert_low },       { T_U32, T_S64, 'w', 'l', c->convert_low },
        { T_S32, T_U64, 'w', 'l', c->convert_low },
    };
    for (size_t i = 0; i < sizeof quick / sizeof *quick; i++)
        if (o->type == quick[i].to && o->type2 == quick[i].from && from == quick[i].from_class &&
            to == quick[i].to_class)
            return quick[i].run;
    return c->convert;
}

static int is_real(enum ptx_type type)
{
    return type == T_F16 || type == T_BF16 || type == T_F32 || type == T_F64;
}

static int convert_known(const struct op *o)
{
    const enum ptx_type to = (enum ptx_type)o->type, from = (enum ptx_type)o->type2;
    const int bits = to == T_B8 || to == T_B16 || to == T_B32 || to == T_B64 || from == T_B8 || from == T_B16 ||
                     from == T_B32 || from == T_B64 || to == T_F16X2 || to == T_BF16X2;
    if (!to || !from || bits || to == T_PRED || from == T_PRED)
        return 0;
    if (to == T_F64 && o->round != ROUND_RN && !o->integral && !is_real(from))
        return 0; /* of 64 bits to f64 other than to nearest */
    return !(o->integral && !is_real(from));
}

/* A new register that gets the low half of one of 64 bits. */
static uint32_t low_part(struct reader *r, uint32_t wide)
{
    struct op o;
    memset(&o, 0, sizeof o);
    o.type = T_U32;
    o.type2 = T_U64;
    o.width = 4;
    o.kind = OP_LANES;
    o.run = r->code->convert_low;
    o.n_dst = o.n_src = 1;
    o.reg[0] = add_slots(r, 1);
    o.reg[1] = wide;
    emit(r, &o);
    return o.reg[0];
}

static void read_convert(struct reader *r, const struct parts *p)
{
    struct op o, ignore;
    char name[NAME];
    memset(&o, 0, sizeof o);
    memset(&ignore, 0, sizeof ignore);
    if (find_form(r, p, &ignore)) {
        read_form(r, p);
        return;
    }
    if (p->n < 3 || strip(p, name, sizeof name, &o) < 0)
        unknown(r, p);
    o.type = (uint8_t)type_named(p->part[p->n - 2]);
    o.type2 = (uint8_t)type_named(p->part[p->n - 1]);
    char plain[NAME];
    snprintf(plain, sizeof plain, "cvt.%.*s.%.*s", WORD(p->part[p->n - 2]), WORD(p->part[p->n - 1]));
    if (strcmp(plain, name) || !convert_known(&o))
        unknown(r, p);
    enum ptx_type to = T_NONE, from = (enum ptx_type)o.type2;
    o.reg[0] = take_destination(r, 0, &to);
    if (!to)
        to = (enum ptx_type)o.type;
    expect(r, ',');
    const char class = type_class(from);
    o.reg[1] = at_number(r) ? literal_slot(r, class, from) : take_source(r, 0, from, &from);
    o.n_dst = o.n_src = 1;
    if (ptx_type_bytes(to) < ptx_type_bytes((enum ptx_type)o.type) || to == T_PRED || from == T_PRED ||
        ptx_type_bytes(from) < ptx_type_bytes((enum ptx_type)o.type2))
        fail(r, "a register is narrower than the conversion");
    if (type_class(from) == 'l' && class != 'l') {
        o.reg[1] = low_part(r, o.reg[1]);
        from = T_B32;
    }
    o.width = type_class(to) == 'l' ? 8 : type_class(to) == 'w' ? 4 : 2;
    o.kind = OP_LANES;
    o.run = quick_convert(r, &o, type_class(from), type_class(to));
    end_statement(r);
    emit(r, &o);
}

static int compare_named(struct word w, enum ptx_type type)
{
    static const char *const names[] = { "eq", "ne", "lt", "le", "gt", "ge", "equ", "neu", "ltu", "leu", "gtu", "geu",
                                         "num", "nan", NULL };
    static const char *const unsigned_names[] = { "lo", "ls", "hi", "hs", NULL };
    const int u = is_real(type) ? -1 : position(w, unsigned_names);
    return u >= 0 ? C_LT + u : position(w, names);
}

/* setp.cmp{.bool}{.ftz}.type p{|q}, a, b{, {!}c} */
static void read_setp(struct reader *r, const struct parts *p)
{
    static const char *const combines[] = { "and", "or", "xor", NULL };
    struct op o;
    memset(&o, 0, sizeof o);
    const enum ptx_type type = last_type(r, p);
    const int compare = p->n > 2 ? compare_named(p->part[1], type) : -1;
    for (int i = 2; i < p->n - 1; i++) {
        const int combine = position(p->part[i], combines);
        if (combine >= 0)
            o.combine = (uint8_t)(combine + 1);
        else if (word_is(p->part[i], "ftz"))
            o.ftz = 1;
        else
            unknown(r, p);
    }
    o.run = compare < 0 ? NULL : r->code->compare[type][compare];
    if (!o.run)
        unknown(r, p);
    o.reg[o.n_dst++] = take_destination(r, 'p', NULL);
    if (take(r, '|'))
        o.reg[o.n_dst++] = take_destination(r, 'p', NULL);
    for (o.n_src = 0; o.n_src < (o.combine ? 3 : 2); o.n_src++) {
        expect(r, ',');
        o.reg[o.n_dst + o.n_src] = take_source(r, o.n_src == 2 ? 'p' : type_class(type), type, NULL);
    }
    o.kind = OP_LANES;
    end_statement(r);
    emit(r, &o);
}

/* cvta{.to}.space.u64: windows, see inside.h. */
static uint64_t window_of(const struct parts *p)
{
    return has(p, "shared") || has(p, "shared::cta") ? WINDOW_SHARED : has(p, "local") ? WINDOW_LOCAL :
           has(p, "param") ? WINDOW_PARAM : 0;
}

static void read_cvta(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    const int to = p->n == 4 && has(p, "to");
    if (!(p->n == 3 || to) || last_type(r, p) != T_U64 || position(p->part[p->n - 2], space_words) < 0)
        unknown(r, p);
    o.reg[0] = take_destination(r, 'l', NULL);
    expect(r, ',');
    o.reg[1] = take_source(r, 'l', T_U64, NULL);
    o.reg[2] = constant_slot(r, window_of(p), 8);
    o.n_dst = 1, o.n_src = 2;
    o.kind = OP_LANES;
    o.run = form_named(r, to ? "(from generic)" : "(to generic)")->run;
    end_statement(r);
    emit(r, &o);
}

static void read_isspacep(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    if (p->n != 2 || position(p->part[1], space_words) < 0)
        unknown(r, p);
    o.reg[0] = take_destination(r, 'p', NULL);
    expect(r, ',');
    o.reg[1] = take_source(r, 'l', T_U64, NULL);
    o.reg[2] = constant_slot(r, window_of(p), 8);
    o.n_dst = 1, o.n_src = 2;
    o.kind = OP_LANES;
    o.run = form_named(r, "(in window)")->run;
    end_statement(r);
    emit(r, &o);
}

/* ---- control ---- */

static void add_fixup(struct reader *r, struct word name, uint32_t op)
{
    struct body *b = r->body;
    b->fixups = reader_grow(r, b->fixups, b->n_fixups, sizeof *b->fixups, MAX_OPS, "branches");
    const struct fixup f = { name, op, r->line };
    b->fixups[b->n_fixups++] = f;
}

static void read_branch(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    if (p->n > 2 || (p->n == 2 && !has(p, "uni")))
        unknown(r, p);
    const struct word w = take_word(r);
    if (!w.length)
        fail(r, "a label expected before \"%.20s\"", r->at.p);
    end_statement(r);
    o.kind = OP_BRANCH;
    add_fixup(r, w, emit(r, &o)->index);
}

/* In a function: a branch to the end of its body. */
static void read_return(struct reader *r, const struct parts *p)
{
    struct op o;
    const struct word end = { NULL, 0 };
    memset(&o, 0, sizeof o);
    if (p->n > 2 || (p->n == 2 && !has(p, "uni")))
        unknown(r, p);
    end_statement(r);
    o.kind = r->calls && word_is(p->part[0], "ret") ? OP_BRANCH : OP_EXIT;
    const uint32_t index = emit(r, &o)->index;
    if (o.kind == OP_BRANCH)
        add_fixup(r, end, index);
}

static void read_call_statement(struct reader *r, const struct parts *p)
{
    if (p->n > 2 || (p->n == 2 && !has(p, "uni")))
        unknown(r, p);
    read_call(r);
}

/* bar{.cta}.sync a{, b}; barrier the same; bar.warp.sync mask. sub: arrives and goes on. Sources: number, threads. */
static void read_barrier(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    o.kind = OP_BARRIER;
    o.aligned = word_is(p->part[0], "bar") || has(p, "aligned");
    for (int i = 1; i < p->n; i++)
        if (word_is(p->part[i], "warp"))
            o.kind = OP_FENCE;
        else if (word_is(p->part[i], "arrive"))
            o.sub = 1;
        else if (!word_is(p->part[i], "sync") && !word_is(p->part[i], "cta") && !word_is(p->part[i], "aligned"))
            unknown(r, p);
    if (p->n < 2 || (o.kind == OP_FENCE && o.sub))
        unknown(r, p);
    o.reg[o.n_src++] = take_source(r, 'w', T_U32, NULL);
    if (o.kind == OP_BARRIER && take(r, ','))
        o.reg[o.n_src++] = take_source(r, 'w', T_U32, NULL);
    if (o.sub && o.n_src < 2)
        fail(r, "a barrier that is arrived at needs a number of threads");
    end_statement(r);
    emit(r, &o);
}

static void read_shfl(struct reader *r, const struct parts *p)
{
    static const char *const modes[] = { "up", "down", "bfly", "idx", NULL };
    struct op o;
    memset(&o, 0, sizeof o);
    const int mode = p->n == 4 && has(p, "sync") ? position(p->part[2], modes) : -1;
    if (mode < 0 || last_type(r, p) != T_B32)
        unknown(r, p);
    o.sub = (uint8_t)mode;
    o.reg[o.n_dst++] = take_destination(r, 'w', NULL);
    if (take(r, '|'))
        o.reg[o.n_dst++] = take_destination(r, 'p', NULL);
    for (o.n_src = 0; o.n_src < 4; o.n_src++) {
        expect(r, ',');
        o.reg[o.n_dst + o.n_src] = take_source(r, 'w', T_B32, NULL);
    }
    o.kind = OP_WARP;
    o.run = r->code->shfl;
    end_statement(r);
    emit(r, &o);
}

/* The last source of an instruction that lanes execute together: which of them. */
static void end_with_lanes(struct reader *r, struct op *o, op_run *run)
{
    expect(r, ',');
    o->reg[2] = take_source(r, 'w', T_B32, NULL);
    o->n_dst = 1, o->n_src = 2;
    o->kind = OP_WARP;
    o->run = run;
    end_statement(r);
    emit(r, o);
}

static void read_vote(struct reader *r, const struct parts *p)
{
    static const char *const modes[] = { "all", "any", "uni", "ballot", NULL };
    struct op o;
    memset(&o, 0, sizeof o);
    const int mode = p->n == 4 && has(p, "sync") ? position(p->part[2], modes) : -1;
    if (mode < 0 || last_type(r, p) != (mode == VOTE_BALLOT ? T_B32 : T_PRED))
        unknown(r, p);
    o.sub = (uint8_t)mode;
    o.reg[0] = take_destination(r, mode == VOTE_BALLOT ? 'w' : 'p', NULL);
    expect(r, ',');
    o.reg[1] = take_source(r, 'p', T_PRED, NULL);
    end_with_lanes(r, &o, r->code->vote);
}

static void read_redux(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    const enum ptx_type type = last_type(r, p);
    const int op = p->n == 4 && has(p, "sync") ? position(p->part[2], atom_words) : -1;
    const int bits = op == ATOM_AND || op == ATOM_OR || op == ATOM_XOR;
    if (op < 0 || op > ATOM_MAX || !(bits ? type == T_B32 : type == T_U32 || type == T_S32))
        unknown(r, p);
    o.type = (uint8_t)type;
    o.sub = (uint8_t)op;
    o.reg[0] = take_destination(r, 'w', NULL);
    expect(r, ',');
    o.reg[1] = take_source(r, 'w', type, NULL);
    end_with_lanes(r, &o, r->code->redux);
}

/* mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32; sub: k; type: of A and B. All lanes take part. */
static void read_mma(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    if (p->n != 10 || !word_is(p->part[1], "sync") || !word_is(p->part[2], "aligned") || !word_is(p->part[4], "row") ||
        !word_is(p->part[5], "col") || type_named(p->part[6]) != T_F32 || type_named(p->part[9]) != T_F32)
        unknown(r, p);
    const enum ptx_type type = type_named(p->part[7]);
    o.sub = word_is(p->part[3], "m16n8k16") ? 16 : word_is(p->part[3], "m16n8k8") ? 8 : 0;
    if (!o.sub || type != type_named(p->part[8]) || (type != T_F16 && type != T_BF16))
        unknown(r, p);
    o.type = (uint8_t)type;
    const int wanted[] = { 4, o.sub / 4, o.sub / 8, 4 };
    int n = 0;
    for (int k = 0; k < 4; k++) {
        if (k)
            expect(r, ',');
        if (take_vector(r, o.reg + n, wanted[k], k == 0, 'w', k == 3 ? T_F32 : T_B32, NULL) != wanted[k])
            fail(r, "operand %d of mma has fewer than %d registers", k, wanted[k]);
        n += wanted[k];
    }
    o.n_dst = 4;
    o.n_src = (uint8_t)(n - 4);
    o.kind = OP_WARP;
    o.run = r->code->mma;
    o.whole = 1;
    end_statement(r);
    emit(r, &o);
}

static void read_movmatrix(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    if (!word_is(p->whole, "movmatrix.sync.aligned.m8n8.trans.b16"))
        unknown(r, p);
    o.reg[0] = take_destination(r, 'w', NULL);
    expect(r, ',');
    o.reg[1] = take_source(r, 'w', T_B32, NULL);
    o.n_dst = o.n_src = 1;
    o.kind = OP_WARP;
    o.run = r->code->movmatrix;
    o.whole = 1;
    end_statement(r);
    emit(r, &o);
}

/* Memory is in order here, and there are no caches. */
static void read_fence(struct reader *r, const struct parts *p)
{
    static const char *const known[] = { "cta", "gl", "sys", "gpu", "sc", "acq_rel", NULL };
    struct op o;
    memset(&o, 0, sizeof o);
    for (int i = 1; i < p->n; i++)
        if (position(p->part[i], known) < 0)
            unknown(r, p);
    o.kind = OP_NOTHING;
    end_statement(r);
    emit(r, &o);
}

static void read_prefetch(struct reader *r, const struct parts *p)
{
    struct op o;
    memset(&o, 0, sizeof o);
    (void)p;
    take_address(r, &o);
    o.kind = OP_NOTHING;
    end_statement(r);
    memset(&o, 0, sizeof o);
    o.kind = OP_NOTHING;
    emit(r, &o);
}

static const struct {
    const char *name;
    void (*read)(struct reader *r, const struct parts *p);
} readers[] = {
    { "ld", read_load },           { "ldu", read_load },         { "st", read_store },
    { "atom", read_atom },         { "red", read_atom },         { "ldmatrix", read_ldmatrix },
    { "mov", read_move },          { "cvt", read_convert },      { "setp", read_setp },
    { "cvta", read_cvta },         { "isspacep", read_isspacep }, { "bra", read_branch },
    { "ret", read_return },        { "exit", read_return },      { "call", read_call_statement },
    { "bar", read_barrier },       { "barrier", read_barrier },  { "shfl", read_shfl },
    { "vote", read_vote },         { "redux", read_redux },      { "mma", read_mma },
    { "movmatrix", read_movmatrix }, { "membar", read_fence },   { "fence", read_fence },
    { "prefetch", read_prefetch }, { "prefetchu", read_prefetch },
};

void read_instruction(struct reader *r, struct word name)
{
    struct parts p;
    take_apart(r, name, &p);
    for (size_t i = 0; i < sizeof readers / sizeof *readers; i++)
        if (word_is(p.part[0], readers[i].name)) {
            readers[i].read(r, &p);
            return;
        }
    read_form(r, &p);
}
