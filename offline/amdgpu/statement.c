/* statement.c - the text of an instruction to a decoded one, by the table of its name
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* ---- its pieces ---- */

static int cut_suffix(char *name, const char *suffix)
{
    const size_t n = strlen(name), m = strlen(suffix);
    if (n <= m || strcmp(name + n - m, suffix))
        return 0;
    name[n - m] = 0;
    return 1;
}

/* The first operand may be a modifier itself: `global_inv scope:SCOPE_SE`. */
static int is_modifier(struct word w)
{
    static const char *const words[] = { "gds", "glc", "slc", "dlc", "sc0", "sc1", "nt", "lds" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (word_is(w, words[i]))
            return 1;
    return memchr(w.at, ':', w.length) && !memchr(w.at, '[', w.length);
}

static void split_operands(struct reader *r, struct word rest, struct statement *s)
{
    int depth = 0;
    struct word piece = { rest.at, 0 };
    for (size_t i = 0; i <= rest.length; i++) {
        const char c = i < rest.length ? rest.at[i] : ',';
        depth += c == '[' || c == '(';
        depth -= c == ']' || c == ')';
        if (c != ',' || depth > 0 || (i == rest.length && !word_trim(piece).length)) {
            piece.length++;
            continue;
        }
        if (s->n_operands == MAX_PIECES)
            fail(r, "%s has too many operands", s->name);
        s->operands[s->n_operands++] = word_trim(piece);
        piece.at = rest.at + i + 1;
        piece.length = 0;
    }
    if (!s->n_operands)
        return;
    struct word *last = &s->operands[s->n_operands - 1];
    size_t end = 0;
    depth = 0;
    while (end < last->length && (depth > 0 || (unsigned char)last->at[end] > ' ')) {
        depth += last->at[end] == '[' || last->at[end] == '(';
        depth -= last->at[end] == ']' || last->at[end] == ')';
        end++;
    }
    const struct word head = { last->at, end };
    if (is_modifier(head)) {
        s->modifiers = *last;
        s->n_operands--;
    } else {
        s->modifiers.at = last->at + end;
        s->modifiers.length = last->length - end;
        last->length = end;
    }
}

static void split(struct reader *r, struct word text, struct statement *s)
{
    size_t n = 0;
    memset(s, 0, sizeof *s);
    while (n < text.length && (unsigned char)text.at[n] > ' ')
        n++;
    if (n >= NAME)
        fail(r, "a name of %zu characters", n);
    memcpy(s->name, text.at, n);
    const struct word rest = { text.at + n, text.length - n };
    if (!strncmp(s->name, "v_dual_", 7))
        memmove(s->name + 2, s->name + 7, strlen(s->name + 7) + 1);
    s->is_dpp = cut_suffix(s->name, "_dpp") || cut_suffix(s->name, "_dpp8") || cut_suffix(s->name, "_dpp16");
    s->is_sdwa = cut_suffix(s->name, "_sdwa");
    s->is_wide = cut_suffix(s->name, "_e64");
    cut_suffix(s->name, "_e32");
    split_operands(r, rest, s);
}

/* ---- by the table ---- */

const struct form *find_form(struct reader *r, const char *name)
{
    size_t low = 0, high = r->n_forms;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        const int order = strcmp(name, r->forms[middle]->name);
        if (!order)
            return r->forms[middle];
        if (order < 0)
            high = middle;
        else
            low = middle + 1;
    }
    return NULL;
}

/* What an access is called in the tables. */
static const struct form *find_access(struct reader *r, const char *name)
{
    static const struct {
        const char *other, *name;
    } prefixes[] = {
        { "ds_read2st64_", "ds_load_2addr_stride64_" }, { "ds_read2_", "ds_load_2addr_" }, { "ds_read_", "ds_load_" },
        { "ds_write2st64_", "ds_store_2addr_stride64_" }, { "ds_write2_", "ds_store_2addr_" },
        { "ds_write_", "ds_store_" }, { "global_load_", "global_load_" }, { "global_store_", "global_store_" },
        { "global_atomic_", "global_atomic_" }, { "flat_load_", "flat_load_" }, { "flat_store_", "flat_store_" },
        { "flat_atomic_", "flat_atomic_" }, { "scratch_load_", "scratch_load_" },
        { "scratch_store_", "scratch_store_" }, { "buffer_load_", "buffer_load_" },
        { "buffer_store_", "buffer_store_" },
    };
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes; i++) {
        const size_t n = strlen(prefixes[i].other);
        char whole[2 * NAME];
        if (strncmp(name, prefixes[i].other, n))
            continue;
        strcpy(whole, prefixes[i].name);
        strcat(whole, *name == 'd' ? name + n : amdgpu_width_of(name + n));
        return find_form(r, whole);
    }
    return NULL;
}

static void implicit_vcc(const struct reader *r, struct operand *o)
{
    memset(o, 0, sizeof *o);
    o->kind = OPERAND_SCALAR;
    o->type = 'm';
    o->part = PART_ALL;
    o->reg = REG_VCC;
    o->words = r->wave == 64 ? 2 : 1;
}

static void add_source(struct reader *r, struct op *o, struct word text, char type)
{
    struct operand *a = &o->src[o->n_src++];
    read_operand(r, text, type, a);
    if (type == 'm')
        o->mask_source = o->n_src;
    if (a->kind == OPERAND_VECTOR && !o->is_vector)
        fail(r, "%.*s is no scalar", WORD(text));
}

void read_operands(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    size_t k = 0;
    const char *p = f->operands;
    if (strchr(p, '-')) {
        for (; *p != '-'; p++) {
            if (k == s->n_operands)
                fail(r, "%s has too few operands", s->name);
            const enum operand_kind kind = strchr("msL", *p) ? OPERAND_SCALAR : OPERAND_VECTOR;
            read_kind(r, s->operands[k++], *p, kind, &o->dst[o->n_dst++]);
        }
        p++;
    }
    for (; *p; p++) {
        if (*p == 'M' || (*p == 'm' && k == s->n_operands)) { /* not written, or not in v_dual_cndmask_b32 */
            o->mask_source = (uint8_t)(o->n_src + 1);
            implicit_vcc(r, &o->src[o->n_src++]);
            continue;
        }
        if (k == s->n_operands || o->n_src == MAX_SOURCES)
            fail(r, "%s has too few operands", s->name);
        add_source(r, o, s->operands[k++], *p);
    }
    if (f->flags & FORM_TIED) {
        o->src[o->n_src] = o->dst[0];
        o->src[o->n_src].part = PART_ALL;
        o->src[o->n_src++].fetch = 0;
    }
    if (k != s->n_operands)
        fail(r, "%s has too many operands", s->name);
}

/* v_cmpx of generation 9, and in its long form, names a register for the result beside EXEC. */
static void read_compare(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const size_t wanted = strlen(f->operands);
    if (f->flags & FORM_EXEC && s->n_operands == wanted + 1) {
        read_kind(r, s->operands[0], 'm', OPERAND_SCALAR, &o->dst[o->n_dst++]);
        memmove(s->operands, s->operands + 1, wanted * sizeof *s->operands);
        s->n_operands--;
    }
    read_operands(r, f, s, o);
}

void amdgpu_read_table(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct word v;
    int64_t n = 0;
    read_operands(r, f, s, o);
    if (find_modifier(s->modifiers, "bitop3", &v) && (!word_number(v, &n) || n < 0 || n > 255))
        fail(r, "bitop3:%.*s is not known here", WORD(v));
    o->sub = (uint8_t)n;
}

static void read_one(struct reader *r, struct word text, struct op *o)
{
    struct statement s;
    split(r, text, &s);
    const struct form *f = find_form(r, amdgpu_name_of(s.name));
    if (!f)
        f = find_access(r, s.name);
    if (!f)
        fail(r, "%s is not executed here", s.name);
    o->run = f->run ? f->run : f->scalar ? issue_scalar : issue_lanes;
    o->is_vector = strncmp(f->name, "s_", 2) != 0;
    o->lanes = f->lanes;
    o->scalar = f->scalar;
    o->flags = f->flags;
    o->sub = f->sub;
    o->define = f->define;
    o->space = f->space;
    o->width = f->width;
    o->count = f->count;
    o->d16 = f->d16;
    o->signs = f->signs;
    memset(o->wait, -1, sizeof o->wait);
    if (f->read)
        f->read(r, f, &s, o);
    else if (f->flags & FORM_EXEC && f->lanes)
        read_compare(r, f, &s, o);
    else
        read_operands(r, f, &s, o);
    if (*f->name == 'v')
        read_modifiers(r, f, &s, o);
}

/* ` :: ` between the halves of a pair. */
static size_t find_pair(struct word text)
{
    for (size_t i = 0; i + 1 < text.length; i++)
        if (text.at[i] == ':' && text.at[i + 1] == ':')
            return i;
    return text.length;
}

void read_statement(struct reader *r, struct word text, struct op *o)
{
    const size_t at = find_pair(text);
    struct word first = { text.at, at };
    read_one(r, word_trim(first), o);
    if (at == text.length)
        return;
    const struct word second = { text.at + at + 2, text.length - at - 2 };
    struct op *pair = reader_alloc(r, 1, sizeof *pair);
    read_one(r, word_trim(second), pair);
    if (o->run != issue_lanes || pair->run != issue_lanes)
        fail(r, "a pair of something else than vector instructions");
    o->pair = pair;
    o->run = issue_pair;
}
