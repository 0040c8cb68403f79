/* operand.c - registers, their regions and constants
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>

#include "reader.h"

/* ---- types ---- */

static const struct {
    const char *name;
    uint8_t size;
} types[N_TYPES] = {
    [TYPE_UB] = { "ub", 1 }, [TYPE_B] = { "b", 1 },   [TYPE_UW] = { "uw", 2 }, [TYPE_W] = { "w", 2 },
    [TYPE_UD] = { "ud", 4 }, [TYPE_D] = { "d", 4 },   [TYPE_UQ] = { "uq", 8 }, [TYPE_Q] = { "q", 8 },
    [TYPE_HF] = { "hf", 2 }, [TYPE_BF] = { "bf", 2 }, [TYPE_F] = { "f", 4 },   [TYPE_DF] = { "df", 8 },
};

uint8_t type_named(struct word w)
{
    uint8_t i = 0;
    while (i < N_TYPES && !word_is(w, types[i].name))
        i++;
    return i;
}

uint8_t type_size(uint8_t type)
{
    return types[type].size;
}

/* ---- register files ---- */

static const struct {
    const char *name;
    uint8_t file;
    uint16_t at, registers; /* in the array of all */
    uint16_t pitch, unit;   /* bytes of a register, of a sub-register; 0: those of a GRF, of the type */
} files[] = {
    { "acc", IN_ACC, FILE_ACC, 16, 0, 0 },
    { "cr", IN_CONTROL, FILE_CONTROL, 1, 16, 0 },
    { "sr", IN_STATE, FILE_STATE, 1, 16, 0 },
    { "msg", IN_STATE, FILE_STATE + 16, 1, 16, 0 }, /* of the sub-slice: there is one, 0 */
    { "null", IN_NULL, FILE_NULL, 1, 0, 0 },
    { "r", IN_GRF, 0, 256, 0, 0 },
    { "a", IN_ADDRESS, FILE_ADDRESS, 1, 32, 0 },
    { "f", IN_FLAG, FILE_FLAG, N_FLAGS, 4, 2 },
    { "s", IN_SCALAR, FILE_SCALAR, 1, 64, 0 },
};

/* The file's index, `rest` then begins behind its name; -1: none. */
static int take_file(struct word *rest)
{
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const size_t n = strlen(files[i].name);
        struct word behind = { rest->at + n, rest->length - n };
        const int numbered = rest->length > n && rest->at[n] >= '0' && rest->at[n] <= '9';
        if (word_begins(*rest, files[i].name) && (numbered || files[i].file == IN_NULL)) {
            *rest = behind;
            return (int)i;
        }
    }
    return -1;
}

/* ---- regions ---- */

struct region_text {
    uint32_t n, number[3]; /* <H>, <V;H> or <V;W,H> */
};

static void take_region(struct reader *r, struct word *rest, struct region_text *g)
{
    g->n = 0;
    if (!rest->length || *rest->at != '<')
        return;
    word_until(rest, '<');
    struct word inside = word_until(rest, '>');
    const struct word whole = inside;
    while (g->n < 3 && word_digits(&inside, &g->number[g->n])) {
        g->n++;
        if (inside.length && (*inside.at == ';' || *inside.at == ',')) {
            inside.at++;
            inside.length--;
        }
    }
    if (!g->n || inside.length)
        fail(r, "region <%.*s>", WORD(whole));
}

/* Which element lane i has. */
static uint32_t element(struct reader *r, const struct region_text *g, uint32_t i)
{
    if (g->n == 0)
        return i;
    if (g->n == 1)
        return i * g->number[0];
    const uint32_t v = g->number[0], h = g->number[g->n - 1];
    const uint32_t width = g->n == 3 ? g->number[1] : v && h ? v / h : 1;
    if (!width || (g->n == 2 && !v && h))
        fail(r, "a region without a width");
    return i / width * v + i % width * h;
}

/* Where the elements of all lanes lie. */
static void lay_out(struct reader *r, struct operand *to, const struct region_text *g, size_t first, size_t end,
                    unsigned n)
{
    uint16_t *at = reader_alloc(r, MAX_LANES, sizeof *at);
    for (unsigned i = 0; i < n; i++) {
        const size_t offset = first + (size_t)element(r, g, i) * to->size;
        if (offset + to->size > end)
            fail(r, "an operand that ends behind the last register");
        at[i] = (uint16_t)offset;
    }
    to->at = at;
}

/* r[a0.0] or r[a0.0,64], where a word of a0 has a byte of the registers: `offset` then says how many behind it. */
static int take_indirect(struct reader *r, struct word *rest, struct operand *to, uint32_t *offset)
{
    struct word inside;
    uint32_t word;
    *offset = 0;
    if (!word_begins(*rest, "r[a0."))
        return 0;
    word_until(rest, '.');
    inside = word_until(rest, ']');
    if (!word_digits(&inside, &word) || word > 15)
        fail(r, "an indirect operand");
    if (word_begins(inside, ",")) {
        word_until(&inside, ',');
        if (!word_digits(&inside, offset) || *offset > 1 << 12)
            fail(r, "an indirect operand");
    }
    if (inside.length)
        fail(r, "an indirect operand");
    to->indirect = (uint8_t)(word + 1);
    return 1;
}

/* :type, at the end */
static void take_type(struct reader *r, struct word rest, struct word text, struct operand *to)
{
    to->type = TYPE_UD;
    if (rest.length && *rest.at == ':') {
        word_until(&rest, ':');
        to->type = type_named(rest);
        if (to->type == N_TYPES)
            fail(r, "type %.*s is not known here", WORD(rest));
    } else if (rest.length) {
        fail(r, "operand %.*s is not known here", WORD(text));
    }
    to->size = type_size(to->type);
}

/* reg.sub<region>:type */
static void take_register(struct reader *r, struct word text, unsigned n, struct operand *to)
{
    struct word rest = text;
    struct region_text g;
    uint32_t reg = 0, sub = 0, offset;
    if (take_indirect(r, &rest, to, &offset)) {
        take_region(r, &rest, &g);
        take_type(r, rest, text, to);
        to->file = IN_GRF;
        lay_out(r, to, &g, offset, FILE_ACC, n);
        return;
    }
    const int f = take_file(&rest);
    if (f < 0)
        fail(r, "operand %.*s is not known here", WORD(text));
    const int numbered = word_digits(&rest, &reg);
    if ((numbered || files[f].file == IN_NULL) && rest.length && *rest.at == '.') {
        word_until(&rest, '.');
        if (!word_digits(&rest, &sub))
            fail(r, "operand %.*s", WORD(text));
    }
    take_region(r, &rest, &g);
    take_type(r, rest, text, to);
    to->file = files[f].file;
    to->reg = (uint16_t)reg;
    to->sub = (uint16_t)sub;
    const uint32_t pitch = files[f].pitch ? files[f].pitch : r->kernel->grf;
    const uint32_t unit = files[f].unit ? files[f].unit : to->size;
    const uint32_t registers = to->file == IN_GRF ? r->kernel->info.registers : files[f].registers;
    if (reg >= registers)
        fail(r, "there is no register %.*s", WORD(text));
    if (to->file == IN_FLAG && (sub > 1 || 2 * sub + to->size > 4u || n > 1))
        fail(r, "flags %.*s are no operand of this width", WORD(text));
    const size_t end = to->file == IN_NULL ? FILE_BYTES : files[f].at + (size_t)registers * pitch;
    lay_out(r, to, &g, files[f].at + (size_t)reg * pitch + (size_t)sub * unit, end, n);
}

/* ---- constants ---- */

/* Eight numbers of 4 bits: :v signed, :uv not. */
static void take_vector(struct reader *r, uint64_t bits, int is_signed, unsigned n, struct operand *to)
{
    int16_t *values = reader_alloc(r, MAX_LANES, sizeof *values);
    const struct region_text g = { 0, { 0 } };
    for (unsigned i = 0; i < MAX_LANES; i++) {
        const int x = (int)(bits >> 4 * (i % 8) & 15);
        values[i] = (int16_t)(is_signed && x > 7 ? x - 16 : x);
    }
    to->type = is_signed ? TYPE_W : TYPE_UW;
    to->size = 2;
    to->constant = (const unsigned char *)values;
    lay_out(r, to, &g, 0, MAX_LANES * sizeof *values, n);
}

/* Four real numbers of 8 bits, :vf: a sign, 3 bits of exponent, of which 3 is 1, and 4 of fraction. 0 is 0. */
static void take_vector_real(struct reader *r, uint64_t bits, unsigned n, struct operand *to)
{
    float *values = reader_alloc(r, MAX_LANES, sizeof *values);
    const struct region_text g = { 0, { 0 } };
    for (unsigned i = 0; i < MAX_LANES; i++) {
        const unsigned x = bits >> 8 * (i % 4) & 255;
        const float size = x & 127 ? ldexpf(16 + (x & 15), (int)(x >> 4 & 7) - 3 - 4) : 0;
        values[i] = x & 128 ? -size : size;
    }
    to->type = TYPE_F;
    to->size = 4;
    to->constant = (const unsigned char *)values;
    lay_out(r, to, &g, 0, MAX_LANES * sizeof *values, n);
}

static int take_constant(struct reader *r, struct word text, unsigned n, struct operand *to)
{
    const struct region_text one = { 1, { 0 } };
    struct word rest = text;
    const struct word number = word_until(&rest, ':');
    int64_t value;
    if (!word_number(number, &value))
        return 0;
    to->file = IN_CONST;
    if (word_is(rest, "v") || word_is(rest, "uv")) {
        take_vector(r, (uint64_t)value, word_is(rest, "v"), n, to);
        return 1;
    }
    if (word_is(rest, "vf")) {
        take_vector_real(r, (uint64_t)value, n, to);
        return 1;
    }
    to->type = type_named(rest);
    if (to->type == N_TYPES || (type_real(to->type) && !word_begins(number, "0x")))
        fail(r, "constant %.*s is not known here", WORD(text));
    to->size = type_size(to->type);
    unsigned char *bytes = reader_alloc(r, 8, 1);
    for (unsigned i = 0; i < 8; i++)
        bytes[i] = (unsigned char)((uint64_t)value >> 8 * i);
    to->constant = bytes;
    lay_out(r, to, &one, 0, 8, n);
    return 1;
}

/* ---- operands ---- */

static void drop(struct word *w, size_t n)
{
    w->at += n;
    w->length -= n;
}

void read_source(struct reader *r, struct word text, const struct op *o, struct operand *to)
{
    struct word rest = text;
    if (take_constant(r, rest, o->width, to))
        return;
    for (;;) {
        if (word_begins(rest, "(abs)")) {
            to->absolute = 1;
            drop(&rest, 5);
        } else if (word_begins(rest, "-") && !to->absolute) {
            to->negate ^= 1;
            drop(&rest, 1);
        } else if (word_begins(rest, "~")) {
            to->invert = 1;
            drop(&rest, 1);
        } else {
            break;
        }
    }
    take_register(r, rest, o->width, to);
    if (to->file == IN_STATE && to->sub)
        fail(r, "%.*s is not known here", WORD(text));
}

void read_destination(struct reader *r, struct word text, const struct op *o, struct operand *to)
{
    take_register(r, text, o->width, to);
    if (to->file == IN_STATE)
        fail(r, "%.*s is written", WORD(text));
}

uint16_t read_register(struct reader *r, struct word text, uint32_t *count)
{
    struct word rest = text;
    uint32_t reg, n = 1;
    if (word_begins(text, "null"))
        return NO_REGISTER;
    if (!word_begins(rest, "r"))
        fail(r, "%.*s is no register", WORD(text));
    drop(&rest, 1);
    if (!word_digits(&rest, &reg))
        fail(r, "%.*s is no register", WORD(text));
    if (rest.length && *rest.at == ':') {
        word_until(&rest, ':');
        if (!word_digits(&rest, &n))
            fail(r, "%.*s is no register", WORD(text));
    }
    if (rest.length || reg + n > r->kernel->info.registers)
        fail(r, "there are no registers %.*s", WORD(text));
    if (count)
        *count = n;
    return (uint16_t)reg;
}
