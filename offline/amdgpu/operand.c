/* operand.c - registers, constants and modifiers of an instruction
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* ---- registers ---- */

static const struct {
    const char *name;
    uint16_t reg;
    uint8_t words;
} named[] = {
    { "vcc", REG_VCC, 2 }, { "vcc_lo", REG_VCC, 1 }, { "vcc_hi", REG_VCC + 1, 1 }, { "exec", REG_EXEC, 2 },
    { "exec_lo", REG_EXEC, 1 }, { "exec_hi", REG_EXEC + 1, 1 }, { "m0", REG_M0, 1 }, { "null", REG_NULL, 0 },
    { "flat_scratch", REG_FLAT_SCRATCH, 2 }, { "flat_scratch_lo", REG_FLAT_SCRATCH, 1 },
    { "flat_scratch_hi", REG_FLAT_SCRATCH + 1, 1 }, { "xnack_mask", REG_XNACK, 2 }, { "xnack_mask_lo", REG_XNACK, 1 },
    { "xnack_mask_hi", REG_XNACK + 1, 1 },
};

uint16_t read_scalar_name(struct word text, uint8_t *words)
{
    for (size_t i = 0; i < sizeof named / sizeof *named; i++)
        if (word_is(text, named[i].name)) {
            *words = named[i].words;
            return named[i].reg;
        }
    return N_SCALARS;
}

/* `12` or `[4:7]` behind v, s, a or ttmp; the first and how many. */
static int read_range(struct word w, int64_t *first, int64_t *n)
{
    if (w.length > 2 && *w.at == '[' && w.at[w.length - 1] == ']') {
        const char *colon = memchr(w.at, ':', w.length);
        const size_t length = colon ? (size_t)(colon - w.at - 1) : w.length - 2;
        const struct word from = { w.at + 1, length };
        const struct word to = { colon ? colon + 1 : w.at + 1, colon ? w.length - length - 3 : length };
        int64_t last;
        if (!word_number(from, first) || !word_number(to, &last) || *first < 0 || last < *first || last > 1000)
            return 0;
        *n = last - *first + 1;
        return 1;
    }
    *n = 1;
    return w.length && w.at[0] != '-' && word_number(w, first) && *first <= 1000;
}

static int read_register(struct reader *r, struct word text, struct operand *o)
{
    static const struct {
        const char *prefix;
        uint16_t first, most;
        uint8_t kind;
    } files[] = {
        { "ttmp", REG_TTMP, 16, OPERAND_SCALAR }, { "v", 0, 256, OPERAND_VECTOR },
        { "a", FIRST_AGPR, 256, OPERAND_VECTOR }, { "s", 0, 106, OPERAND_SCALAR },
    };
    uint8_t words = 0;
    o->reg = read_scalar_name(text, &words);
    if (o->reg < N_SCALARS) {
        o->kind = OPERAND_SCALAR;
        o->words = words;
        return 1;
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        const size_t n = strlen(files[i].prefix);
        const struct word rest = { text.at + n, text.length - n };
        int64_t first, count;
        if (!word_begins(text, files[i].prefix) || !read_range(rest, &first, &count))
            continue;
        if (first + count > files[i].most)
            fail(r, "there is no register %.*s", WORD(text));
        o->kind = files[i].kind;
        o->reg = (uint16_t)(files[i].first + first);
        o->words = (uint8_t)count;
        if (o->kind == OPERAND_VECTOR && o->reg + count > (int64_t)r->module->n_vectors)
            r->module->n_vectors = (uint32_t)(o->reg + count);
        return 1;
    }
    return 0;
}

/* ---- constants ---- */

static int is_wide(char type)
{
    return type == 'l' || type == 'd' || type == 'q' || type == 'L';
}

static int is_small(char type)
{
    return type == 'h' || type == 'i' || type == 'p';
}

static uint64_t real_bits(double x, char type)
{
    if (fabs(x - 0.15915494309189535) < 1e-6) /* 1 / 2 pi, which is printed with fewer digits */
        return type == 'd' || type == 'l' ? 0x3fc45f306dc9c882u : is_small(type) ? 0x3118 : 0x3e22f983u;
    if (type == 'd' || type == 'l' || type == 'L')
        return bits64_of(x);
    if (is_small(type))
        return round_small(x, 10, ROUND_RN);
    return bits_of((float)x);
}

static int read_real(struct word text, double *x)
{
    char copy[64];
    char *end;
    if (!text.length || text.length >= sizeof copy || !memchr(text.at, '.', text.length) ||
        strspn(text.at, "-0123456789.") < text.length)
        return 0;
    memcpy(copy, text.at, text.length);
    copy[text.length] = 0;
    for (char *p = copy; *p; p++) /* digits and one point: read alike in every locale */
        if (*p == '.') {
            const char *fraction = p + 1;
            *p = 0;
            const double whole = strtod(copy, &end), part = strtod(*fraction ? fraction : "0", &end);
            const double sum = fabs(whole) + part * pow(10, -(double)strlen(fraction));
            *x = *copy == '-' ? -sum : sum;
            return !*end;
        }
    return 0;
}

static int read_constant(struct word text, char type, struct operand *o)
{
    static const struct {
        const char *name;
        uint64_t value;
    } bases[] = { { "src_shared_base", APERTURE_SHARED }, { "src_private_base", APERTURE_SCRATCH } };
    int64_t n;
    double x;
    o->kind = OPERAND_CONST;
    for (size_t i = 0; i < sizeof bases / sizeof *bases; i++)
        if (word_is(text, bases[i].name)) {
            o->value = bases[i].value;
            return 1;
        }
    if (read_real(text, &x)) {
        o->value = real_bits(x, type);
    } else if (word_number(text, &n)) {
        o->value = (uint64_t)n;
        const int literal = n < -16 || n > 64;
        if (type == 'd' && literal)
            o->value <<= 32;
        else if (!is_wide(type))
            o->value &= is_small(type) && type != 'p' ? 0xffffu : 0xffffffffu;
    } else {
        return 0;
    }
    if (type == 'q')
        o->value = (o->value & 0xffffffffu) | o->value << 32;
    return 1;
}

static uint64_t sign_bit(char type)
{
    return type == 'd' ? (uint64_t)1 << 63 : is_small(type) ? 0x8000u : 0x80000000u;
}

/* ---- an operand ---- */

static int wrapped(struct word *w, const char *open, char close)
{
    const size_t n = strlen(open);
    if (w->length <= n || !word_begins(*w, open) || w->at[w->length - 1] != close)
        return 0;
    w->at += n;
    w->length -= n + 1;
    return 1;
}

static void read_signs(struct word *w, struct operand *o)
{
    if (wrapped(w, "sext(", ')'))
        o->fetch |= FETCH_SEXT;
    if (wrapped(w, "neg(", ')'))
        o->fetch |= FETCH_NEG;
    if (w->length > 1 && *w->at == '-' && strchr("vsa|t", w->at[1])) {
        o->fetch |= FETCH_NEG;
        w->at++;
        w->length--;
    }
    if (wrapped(w, "|", '|') || wrapped(w, "abs(", ')'))
        o->fetch |= FETCH_ABS;
    wrapped(w, "lit(", ')');
}

/* How many words an operand of this type has; 0: any number. */
static unsigned words_of(const struct reader *r, char type)
{
    if (type == 'm')
        return r->wave == 64 ? 2 : 1;
    return is_wide(type) ? 2 : type == '.' ? 0 : type >= '1' && type <= '9' ? (unsigned)(type - '0') :
           type >= 'A' && type <= 'H' ? 4u << (type - 'A') : 1;
}

void read_operand(struct reader *r, struct word text, char type, struct operand *o)
{
    struct word w = word_trim(text);
    memset(o, 0, sizeof *o);
    o->type = type;
    o->part = PART_ALL;
    o->select_high = o->select_low = 0;
    read_signs(&w, o);
    if (w.length > 2 && w.at[w.length - 2] == '.' && (w.at[w.length - 1] == 'h' || w.at[w.length - 1] == 'l')) {
        o->part = w.at[w.length - 1] == 'h' ? PART_HIGH : PART_LOW;
        w.length -= 2;
    }
    if (word_is(w, "src_scc") || word_is(w, "scc")) {
        o->kind = OPERAND_SCC;
    } else if (read_register(r, w, o)) {
        const unsigned words = words_of(r, type);
        const int is_null = o->kind == OPERAND_SCALAR && o->reg == REG_NULL;
        if (words && o->words != words && !is_null)
            fail(r, "%.*s is not of %u registers", WORD(text), words);
    } else if (read_constant(w, type, o)) {
        if (o->fetch & FETCH_ABS)
            o->value &= ~sign_bit(type);
        if (o->fetch & FETCH_NEG)
            o->value ^= sign_bit(type);
        o->fetch = 0;
    } else {
        fail(r, "%.*s is no operand that is known here", WORD(text));
    }
    o->words = (uint8_t)(words_of(r, type) ? words_of(r, type) : o->words);
    if (o->part == PART_HIGH)
        o->fetch |= FETCH_PART;
    if (o->kind == OPERAND_VECTOR && strchr("msLcku", type))
        fail(r, "%.*s is no scalar", WORD(text));
}

void read_kind(struct reader *r, struct word text, char type, enum operand_kind kind, struct operand *o)
{
    read_operand(r, text, type, o);
    if (o->kind != kind)
        fail(r, "%.*s is no %s register", WORD(text), kind == OPERAND_VECTOR ? "vector" : "scalar");
}

/* ---- modifiers ---- */

/* [a,b,..] as bits. */
static int read_bits(struct word modifiers, const char *key, unsigned *bits)
{
    struct word v;
    unsigned n = 0;
    if (!find_modifier(modifiers, key, &v))
        return 0;
    *bits = 0;
    for (size_t i = 0; i < v.length; i++)
        if (v.at[i] == '0' || v.at[i] == '1')
            *bits |= (unsigned)(v.at[i] - '0') << n++;
    return 1;
}

static void select_halves(struct reader *r, const struct form *f, const struct statement *s, struct op *o)
{
    unsigned select = 0, high = 7, neg_low = 0, neg_high = 0;
    const int any = read_bits(s->modifiers, "op_sel", &select);
    const int any_high = read_bits(s->modifiers, "op_sel_hi", &high);
    read_bits(s->modifiers, "neg_lo", &neg_low);
    read_bits(s->modifiers, "neg_hi", &neg_high);
    for (unsigned k = 0; k < o->n_src; k++) {
        struct operand *a = &o->src[k];
        const unsigned bit = 1u << k;
        if (a->type == 'p' || a->type == 'q') {
            a->select_low = (select & bit) != 0;
            a->select_high = (high & bit) != 0;
            a->neg_low = (neg_low & bit) != 0;
            a->neg_high = (neg_high & bit) != 0;
            if (a->select_low || !a->select_high || a->neg_low || a->neg_high)
                a->fetch |= FETCH_PAIR;
        } else if (a->type == 'x') {
            a->fetch |= FETCH_MIX;
            a->select_high = any_high && (high & bit);
            a->part = select & bit ? PART_HIGH : PART_LOW;
            if (neg_low & bit)
                a->fetch ^= FETCH_NEG;
            if (neg_high & bit)
                a->fetch |= FETCH_ABS;
        } else if (any && (select & bit) && (a->type == 'h' || a->type == 'i')) {
            a->part = PART_HIGH;
            a->fetch |= FETCH_PART;
        } else if (any && (select & bit) && a->type != 'm' && !f->read) {
            fail(r, "op_sel of %.*s is not executed here", WORD(s->modifiers));
        }
    }
    if (any && o->n_dst && (o->dst[0].type == 'h' || o->dst[0].type == 'i') && select >> o->n_src & 1)
        o->dst[0].part = PART_HIGH;
}

static uint8_t read_part(struct reader *r, const struct statement *s, const char *key)
{
    static const char *const parts[] = { "BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD" };
    struct word v;
    if (!find_modifier(s->modifiers, key, &v))
        return PART_ALL;
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (word_is(v, parts[i]))
            return (uint8_t)i;
    fail(r, "%s:%.*s is not known here", key, WORD(v));
}

static void read_sdwa(struct reader *r, const struct statement *s, struct op *o)
{
    static const char *const keys[] = { "src0_sel", "src1_sel" };
    struct word v;
    for (unsigned k = 0; k < 2 && k < o->n_src; k++) {
        o->src[k].part = read_part(r, s, keys[k]);
        if (o->src[k].part != PART_ALL)
            o->src[k].fetch |= FETCH_PART;
    }
    o->dst_part = read_part(r, s, "dst_sel");
    if (!find_modifier(s->modifiers, "dst_unused", &v))
        return;
    o->dst_unused = word_is(v, "UNUSED_PAD") ? UNUSED_PAD : word_is(v, "UNUSED_SEXT") ? UNUSED_SEXT : UNUSED_PRESERVE;
}

static uint8_t small_number(struct reader *r, struct word v, int64_t most)
{
    int64_t n;
    if (!word_number(v, &n) || n < 0 || n > most)
        fail(r, "%.*s is out of range", WORD(v));
    return (uint8_t)n;
}

static void read_dpp(struct reader *r, const struct statement *s, struct op *o)
{
    static const struct {
        const char *key;
        uint8_t kind;
    } kinds[] = {
        { "row_shl", DPP_SHL }, { "row_shr", DPP_SHR }, { "row_ror", DPP_ROR }, { "row_share", DPP_SHARE },
        { "row_newbcast", DPP_SHARE }, { "row_xmask", DPP_XMASK }, { "row_bcast", DPP_BCAST },
        { "wave_shl", DPP_WAVE_SHL }, { "wave_shr", DPP_WAVE_SHR }, { "wave_rol", DPP_WAVE_ROL },
        { "wave_ror", DPP_WAVE_ROR },
    };
    struct dpp *d = &o->dpp;
    struct word v;
    unsigned n = 0;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (find_modifier(s->modifiers, kinds[i].key, &v)) {
            d->kind = kinds[i].kind;
            d->by = small_number(r, v, 31);
        }
    if (has_modifier(s->modifiers, "row_mirror"))
        d->kind = DPP_MIRROR;
    if (has_modifier(s->modifiers, "row_half_mirror"))
        d->kind = DPP_HALF_MIRROR;
    const int quad = find_modifier(s->modifiers, "quad_perm", &v);
    if (quad || find_modifier(s->modifiers, "dpp8", &v)) {
        d->kind = quad ? DPP_QUAD : DPP_EIGHT;
        for (size_t i = 0; i < v.length && n < 8; i++)
            if (v.at[i] >= '0' && v.at[i] <= '7')
                d->select[n++] = (uint8_t)(v.at[i] - '0') & (quad ? 3 : 7);
    }
    if (!d->kind)
        fail(r, "a DPP that is not known here: %.*s", WORD(s->modifiers));
    d->row_mask = find_modifier(s->modifiers, "row_mask", &v) ? small_number(r, v, 15) : 15;
    d->bank_mask = find_modifier(s->modifiers, "bank_mask", &v) ? small_number(r, v, 15) : 15;
    d->bound = find_modifier(s->modifiers, "bound_ctrl", &v) != 0;
    d->inactive = find_modifier(s->modifiers, "fi", &v) && word_is(v, "1");
    if (o->n_src)
        o->src[0].fetch |= FETCH_DPP;
}

void read_modifiers(struct reader *r, const struct form *f, const struct statement *s, struct op *o)
{
    struct word v;
    o->dst_part = PART_ALL;
    select_halves(r, f, s, o);
    if (s->is_sdwa)
        read_sdwa(r, s, o);
    if (s->is_dpp)
        read_dpp(r, s, o);
    o->clamp = (uint8_t)has_modifier(s->modifiers, "clamp");
    if (find_modifier(s->modifiers, "mul", &v))
        o->omod = word_is(v, "2") ? 1 : 2;
    if (find_modifier(s->modifiers, "div", &v))
        o->omod = 3;
    if (o->n_dst && (o->dst[0].type == 'h' || o->dst[0].type == 'i')) {
        if (o->dst[0].part == PART_ALL || f->d16)
            o->dst[0].part = f->d16 == 2 ? PART_HIGH : PART_LOW;
        /* generation 9 makes the upper half zero, unless the result goes there or the other half is named */
        o->keep_half = (uint8_t)(r->module->generation >= 10 || f->d16 || o->dst[0].part == PART_HIGH);
    }
    if (o->clamp && !(f->flags & FORM_SATURATES) && (!o->n_dst || !strchr("fhpqdx", o->dst[0].type)))
        fail(r, "clamp of %s is not executed here", s->name);
}
