/* read.c - a listing to decoded instructions
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "reader.h"

/* ---- the table of all instructions ---- */

static int by_name(const void *a, const void *b)
{
    const struct form *const *const x = a, *const *const y = b;
    return strcmp((*x)->name, (*y)->name);
}

void read_tables(struct reader *r)
{
    const struct forms all[] = { gen_whole_forms(), gen_real_forms(), gen_control_forms(), gen_message_forms(),
                                 gen_send_forms(), gen_matrix_forms() };
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        n += all[i].n;
    r->forms = reader_alloc(r, n, sizeof *r->forms);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i].n; k++)
            r->forms[r->n_forms++] = &all[i].forms[k];
    qsort(r->forms, r->n_forms, sizeof *r->forms, by_name);
}

/* ---- lines ---- */

/* The first line of a listing says which kernel it is of. */
struct word read_kernel_name(const char *text, size_t length)
{
    struct word rest = { text, length }, name = { "", 0 };
    while (rest.length) {
        struct word line = word_line(&rest);
        if (word_begins(line, "//.kernel ") && word_find(line, "//.kernel ", &name))
            return word_trim(name);
    }
    return name;
}

static void take_platform(struct reader *r, struct word name)
{
    static const struct {
        const char *name;
        uint32_t grf;
    } known[] = { { "XE_HPG", 32 }, { "DG2", 32 },   { "MTL", 32 },      { "ARL", 32 }, { "XE_HPC", 64 },
                  { "PVC", 64 },    { "PVCXT", 64 }, { "PVCXT_A0", 64 }, { "XE2", 64 }, { "XE3", 64 } };
    name = word_trim(name);
    if (r->has_platform)
        fail(r, "a second platform %.*s", WORD(name));
    r->has_platform = 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (word_is(name, known[i].name)) {
            r->kernel->grf = known[i].grf;
            return;
        }
    fail(r, "platform %.*s is not known here", WORD(name));
}

/* `name:`, at the beginning of a line */
static int is_label(struct word line)
{
    line = word_trim(line);
    if (line.length < 2 || line.at[line.length - 1] != ':')
        return 0;
    for (size_t i = 0; i + 1 < line.length; i++) {
        const char c = line.at[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '.' ||
              c == '$'))
            return 0;
    }
    return 1;
}

static void add_label(struct reader *r, struct word line)
{
    const struct word name = { word_trim(line).at, word_trim(line).length - 1 };
    r->labels = reader_grow(r, r->labels, r->n_labels, sizeof *r->labels, MAX_OPS, "labels");
    r->labels[r->n_labels].name = name;
    r->labels[r->n_labels++].op = (uint32_t)r->n_ops;
}

static struct op *add_op(struct reader *r)
{
    struct gen_kernel *k = r->kernel;
    k->ops = reader_grow(r, k->ops, r->n_ops, sizeof *k->ops, MAX_OPS, "instructions");
    struct op *o = &k->ops[r->n_ops];
    memset(o, 0, sizeof *o);
    o->index = (uint32_t)r->n_ops++;
    o->line = r->line;
    return o;
}

/* Takes a line apart: `(predicate) name words {notes} // comment`. False: it has no instruction. */
static int take_apart(struct reader *r, struct word line, struct statement *s)
{
    const struct word none = { "", 0 };
    memset(s, 0, sizeof *s);
    s->predicate = s->notes = s->comment = none;
    for (size_t i = 0; i + 1 < line.length; i++)
        if (line.at[i] == '/' && line.at[i + 1] == '/') {
            s->comment.at = line.at + i + 2;
            s->comment.length = line.length - i - 2;
            line.length = i;
        }
    line = word_trim(line);
    if (!line.length)
        return 0;
    if (*line.at == '(') {
        word_until(&line, '(');
        s->predicate = word_trim(word_until(&line, ')'));
    }
    struct word body = word_until(&line, '{'), name;
    s->notes = word_until(&line, '}');
    name = word_next(&body);
    if (!name.length || name.length >= OP_NAME)
        fail(r, "no instruction: %.*s", WORD(name));
    memcpy(s->name, name.at, name.length);
    while (word_trim(body).length) {
        if (s->n_words == MAX_WORDS)
            fail(r, "%s has too many operands", s->name);
        s->words[s->n_words++] = word_next(&body);
    }
    return 1;
}

static void take_line(struct reader *r, struct word line)
{
    struct statement s;
    struct word rest;
    if (word_begins(line, "//")) {
        if (word_begins(line, "//.platform ") && word_find(line, "//.platform ", &rest))
            take_platform(r, rest);
        return;
    }
    if (is_label(line)) {
        add_label(r, line);
        return;
    }
    if (!take_apart(r, line, &s))
        return;
    if (!r->kernel->grf)
        fail(r, "an instruction before the platform is named");
    struct op *o = add_op(r);
    o->at = (uint32_t)(line.at - r->kernel->text);
    read_statement(r, &s, o);
}

/* ---- branches ---- */

static int by_label(const void *a, const void *b)
{
    const struct label *const x = a, *const y = b;
    const size_t n = x->name.length < y->name.length ? x->name.length : y->name.length;
    const int order = memcmp(x->name.at, y->name.at, n);
    return order ? order : (x->name.length > y->name.length) - (x->name.length < y->name.length);
}

static uint32_t find_label(struct reader *r, struct word name)
{
    const struct label key = { name, 0 };
    const struct label *const l =
        r->n_labels ? bsearch(&key, r->labels, r->n_labels, sizeof *r->labels, by_label) : NULL;
    if (!l)
        fail(r, "there is no label %.*s", WORD(name));
    return l->op;
}

void add_branch(struct reader *r, const struct op *o, struct word jip, struct word uip)
{
    r->branches = reader_grow(r, r->branches, r->n_branches, sizeof *r->branches, MAX_OPS, "branches");
    const struct branch b = { jip, uip, o->index, o->line };
    r->branches[r->n_branches++] = b;
}

static void link_branches(struct reader *r)
{
    if (r->n_labels)
        qsort(r->labels, r->n_labels, sizeof *r->labels, by_label);
    for (size_t i = 1; i < r->n_labels; i++)
        if (words_equal(r->labels[i - 1].name, r->labels[i].name))
            fail(r, "two labels %.*s", WORD(r->labels[i].name));
    for (size_t i = 0; i < r->n_branches; i++) {
        struct op *o = &r->kernel->ops[r->branches[i].op];
        r->line = r->branches[i].line;
        o->jip = find_label(r, r->branches[i].jip);
        o->uip = r->branches[i].uip.length ? find_label(r, r->branches[i].uip) : o->jip;
        if (o->sub && o->jip != o->index + 1)
            fail(r, "a goto backwards whose other lanes do not come back right behind it");
    }
    r->line = 0;
}

/* ---- the listing ---- */

/* For DG2 IGC puts a product into its own operands before some others, in the same registers: the device has read the
 * next one's sources by then (createADummyDpasRSWAInst() in IGC's SWSB_G4IR.cpp). In order it would destroy them. */
static void skip_dummies(struct gen_kernel *k, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++) {
        struct op *a = &k->ops[i];
        const struct op *b = a + 1;
        if (a->is_matrix && b->is_matrix && a->src[0].file == IN_NULL && a->src[1].reg == a->src[2].reg &&
            a->dst.reg == b->dst.reg && a->repeat == b->repeat)
            a->run = NULL;
    }
}

static void note_widths(struct gen_kernel *k, size_t n)
{
    k->shared_shift = k->global_shift = 2;
    for (size_t i = 0; i < n; i++) {
        const struct message *m = k->ops[i].message;
        const int shift = m ? m->width == 1 ? 0 : m->width == 2 ? 1 : 2 : 2;
        if (m && m->space == SPACE_SHARED && shift < k->shared_shift)
            k->shared_shift = shift;
        if (m && m->space == SPACE_GLOBAL && shift < k->global_shift)
            k->global_shift = shift;
    }
}

void read_listing(struct reader *r, struct gen_kernel *k, const char *text, size_t length)
{
    const struct word source = { text, length };
    r->kernel = k;
    r->n_ops = r->n_labels = r->n_branches = 0;
    r->has_platform = 0;
    k->text = word_copy(r, source);
    struct word rest = { k->text, length };
    for (r->line = 1; rest.length; r->line++)
        take_line(r, word_line(&rest));
    k->info.n_lines = r->line - 1;
    k->info.n_ops = r->n_ops;
    r->line = 0;
    if (!k->info.n_ops)
        fail(r, "the listing has no instructions");
    struct statement end;
    memset(&end, 0, sizeof end);
    strcpy(end.name, "illegal"); /* so that no thread runs out of the program */
    read_statement(r, &end, add_op(r));
    link_branches(r);
    skip_dummies(k, k->info.n_ops);
    note_widths(k, k->info.n_ops);
}
