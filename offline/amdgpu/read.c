/* read.c - an object and its listing to a module
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* ---- tables ---- */

static int by_name(const void *a, const void *b)
{
    return strcmp((*(const struct form *const *)a)->name, (*(const struct form *const *)b)->name);
}

static void collect_forms(struct reader *r)
{
    const struct forms all[] = { amdgpu_lane_forms(), amdgpu_scalar_forms(), amdgpu_cross_forms(),
                                 amdgpu_matrix_forms(), amdgpu_memory_forms(), amdgpu_shared_forms(),
                                 amdgpu_control_forms(), amdgpu_wait_forms(), amdgpu_barrier_forms(),
                                 amdgpu_atomic_forms() };
    size_t n = 0;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        n += all[i].n;
    r->forms = reader_alloc(r, n + 1, sizeof *r->forms);
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        for (size_t k = 0; k < all[i].n; k++)
            r->forms[r->n_forms++] = &all[i].forms[k];
    qsort(r->forms, r->n_forms, sizeof *r->forms, by_name);
}

/* ---- lines of the listing ---- */

struct listed { /* a line: an instruction, and what its comment says */
    struct word text, address, words, target;
};

static struct listed split_line(struct word line)
{
    struct listed l = { line, { "", 0 }, { "", 0 }, { "", 0 } };
    for (size_t i = 0; i + 1 < line.length; i++)
        if (line.at[i] == '/' && line.at[i + 1] == '/') {
            struct word comment = { line.at + i + 2, line.length - i - 2 };
            l.text.length = i;
            comment = word_trim(comment);
            const char *colon = memchr(comment.at, ':', comment.length);
            if (!colon)
                break;
            l.address.at = comment.at;
            l.address.length = (size_t)(colon - comment.at);
            l.words.at = colon + 1;
            l.words.length = comment.length - l.address.length - 1;
            break;
        }
    l.text = word_trim(l.text);
    return l;
}

static int hex(struct word w, uint64_t *value)
{
    uint64_t x = 0;
    for (size_t i = 0; i < w.length; i++) {
        const char c = w.at[i];
        const int d = c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 :
                      c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0)
            return 0;
        x = x << 4 | (unsigned)d;
    }
    *value = x;
    return w.length > 0 && w.length <= 16;
}

static void add_label(struct reader *r, struct word name, uint64_t address)
{
    r->labels = reader_grow(r, r->labels, r->n_labels, sizeof *r->labels, MAX_OPS, "labels");
    struct label *l = &r->labels[r->n_labels++];
    l->name = name;
    l->address = address;
    l->op = (uint32_t)r->module->n_ops;
}

/* `0000000000001900 <name>:`, or `name:` in text without an object. */
static int read_label(struct reader *r, struct word line, uint64_t next)
{
    uint64_t address = next;
    struct word name = { line.at, line.length - 1 };
    if (!line.length || line.at[line.length - 1] != ':' || word_begins(line, "Disassembly of"))
        return 0;
    const char *open = memchr(line.at, '<', line.length);
    if (open) {
        const struct word number = { line.at, (size_t)(open - line.at) };
        if (line.at[line.length - 2] != '>' || !hex(word_trim(number), &address))
            return 0;
        name.at = open + 1;
        name.length = (size_t)(line.at + line.length - 2 - name.at);
    }
    if (!name.length || memchr(name.at, ' ', name.length))
        return 0;
    add_label(r, name, address);
    return 1;
}

/* The words in the comment, against the object: does the listing belong to it? */
static uint64_t check_words(struct reader *r, const struct listed *l, uint64_t address)
{
    const struct amdgpu_module *m = r->module;
    struct word rest = word_trim(l->words);
    uint64_t bytes = 0, value;
    while (rest.length >= 8) {
        const struct word one = { rest.at, 8 };
        if (!hex(one, &value))
            break;
        if (r->object) {
            if (address + bytes > m->image_size || m->image_size - address - bytes < 4)
                fail(r, "the object has no such address");
            const unsigned char *p = m->image + address + bytes;
            const uint32_t there = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
            if (there != value)
                fail(r, "the listing is not of this object, which has %08x here", (unsigned)there);
        }
        bytes += 4;
        rest.at += 8;
        rest.length -= 8;
        rest = word_trim(rest);
    }
    if (!bytes)
        fail(r, "a comment without the instruction's words");
    return bytes;
}

static struct op *add_op(struct reader *r, uint64_t address)
{
    struct amdgpu_module *m = r->module;
    m->ops = reader_grow(r, m->ops, m->n_ops, sizeof *m->ops, MAX_OPS, "instructions");
    struct op *o = &m->ops[m->n_ops];
    if (m->n_ops && address < o[-1].next)
        fail(r, "an address that is lower than the one before");
    o->line = r->line;
    o->index = (uint32_t)m->n_ops++;
    o->address = address;
    return o;
}

static void read_line(struct reader *r, struct word line, uint64_t *next)
{
    const struct listed l = split_line(line);
    uint64_t address = *next, bytes = 4;
    if (!l.text.length || word_begins(l.text, "Disassembly of") || word_is(l.text, "..."))
        return;
    if (read_label(r, l.text, *next))
        return;
    for (size_t i = 0; i + 11 < l.text.length; i++)
        if (!memcmp(l.text.at + i, "file format", 11))
            return;
    if (*l.text.at == ';')
        return;
    if (l.address.length && !hex(l.address, &address))
        fail(r, "a comment without an address");
    if (!l.address.length && r->object)
        fail(r, "the instruction has no comment with its address");
    if (l.address.length)
        bytes = check_words(r, &l, address);
    struct op *o = add_op(r, address);
    o->at = (uint32_t)(l.text.at - r->module->text);
    o->next = *next = address + bytes;
    read_statement(r, l.text, o);
}

static void read_lines(struct reader *r)
{
    struct amdgpu_module *m = r->module;
    uint64_t next = 0;
    for (const char *p = m->text, *end = m->text + m->length; p < end;) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const struct word line = { p, (size_t)((newline ? newline : end) - p) };
        r->line++;
        read_line(r, word_trim(line), &next);
        p = newline ? newline + 1 : end;
    }
    m->n_lines = r->line;
    struct op *end = add_op(r, next); /* behind the last one */
    static const char beyond[] = "s_code_end";
    const struct word text = { beyond, sizeof beyond - 1 };
    end->next = next + 4;
    end->at = (uint32_t)m->length;
    read_statement(r, text, end);
    for (size_t i = 0; i < m->n_ops; i++)
        if (m->ops[i].pair) {
            struct op *pair = (struct op *)(uintptr_t)m->ops[i].pair;
            pair->line = m->ops[i].line;
            pair->at = m->ops[i].at;
            pair->index = m->ops[i].index;
        }
}

/* ---- branches ---- */

static int find_address(const struct amdgpu_module *m, uint64_t address, uint32_t *index)
{
    size_t low = 0, high = m->n_ops;
    while (low < high) {
        const size_t middle = (low + high) / 2;
        if (m->ops[middle].address < address)
            low = middle + 1;
        else
            high = middle;
    }
    *index = (uint32_t)low;
    return low < m->n_ops && m->ops[low].address == address;
}

void add_branch(struct reader *r, const struct op *o, struct word to)
{
    r->branches = reader_grow(r, r->branches, r->n_branches, sizeof *r->branches, MAX_OPS, "branches");
    r->branches[r->n_branches].to = to;
    r->branches[r->n_branches++].op = o->index;
}

/* Where to: so many words behind the next instruction, or a label. */
static uint32_t target_of(struct reader *r, const struct op *o, struct word to)
{
    int64_t words;
    uint32_t index;
    if (word_number(to, &words)) {
        if (!find_address(r->module, o->next + (uint64_t)((int64_t)(int16_t)words * 4), &index))
            fail(r, "a branch to where no instruction begins");
        return index;
    }
    for (size_t i = 0; i < r->n_labels; i++)
        if (words_equal(r->labels[i].name, to))
            return r->labels[i].op;
    fail(r, "there is no label %.*s", WORD(to));
}

static void resolve_branches(struct reader *r)
{
    for (size_t i = 0; i < r->n_branches; i++) {
        struct op *o = &r->module->ops[r->branches[i].op];
        r->line = o->line;
        o->target = target_of(r, o, r->branches[i].to);
    }
    r->line = 0;
}

/* ---- kernels ---- */

static void place_kernel(struct reader *r, struct amdgpu_kernel *k)
{
    const struct amdgpu_module *m = r->module;
    uint64_t end = ~(uint64_t)0;
    if (!find_address(m, k->entry, &k->first))
        fail(r, "the listing has no kernel %s", k->name);
    for (size_t i = 0; i < r->n_labels; i++)
        if (r->object && r->labels[i].address > k->entry && r->labels[i].address < end)
            end = r->labels[i].address;
    k->info.first_line = k->info.last_line = m->ops[k->first].line;
    for (size_t i = k->first; i + 1 < m->n_ops && m->ops[i].address < end; i++) {
        k->info.n_ops++;
        k->info.last_line = m->ops[i].line;
    }
}

/* The narrowest accesses of the module: of LDS and of global memory. Words of the latter may lie at any address, and
 * what compilers load or store four of at once are halves. */
static void find_grains(struct amdgpu_module *m)
{
    int shared = 2, global = 1;
    for (size_t i = 0; i < m->n_ops; i++) {
        const struct op *o = &m->ops[i];
        int shift = o->width == 1 ? 0 : o->width == 2 ? 1 : 2;
        if (o->width && (o->space == SPACE_SHARED || o->space == SPACE_NONE) && shift < shared)
            shared = shift;
        if (o->width && (o->space == SPACE_GLOBAL || o->space == SPACE_NONE) && shift < global)
            global = shift;
    }
    for (size_t i = 0; i < m->n_kernels; i++) {
        m->kernels[i].shared_shift = shared;
        m->kernels[i].global_shift = global;
    }
}

static void set_generation(struct reader *r)
{
    struct amdgpu_module *m = r->module;
    const char *digits = m->target + 3;
    const size_t n = strlen(m->target);
    if (strncmp(m->target, "gfx", 3) || n < 6 || n > 7)
        fail(r, "%s is no processor that is known here", m->target);
    m->generation = n == 6 ? *digits - '0' : 10 * (*digits - '0') + digits[1] - '0';
    if (m->generation < 9 || m->generation > 12)
        fail(r, "%s is not executed here", m->target);
    m->mi200 = m->generation == 9 && (!strcmp(m->target, "gfx90a") || digits[1] > '0');
}

/* ---- a whole ---- */

static void keep_text(struct reader *r, const char *listing, size_t length)
{
    struct amdgpu_module *m = r->module;
    const struct word text = { listing, length };
    if (length > (size_t)1 << 30)
        fail(r, "the listing is too long");
    m->text = word_copy(r, text);
    m->length = length;
}

void read_whole(struct reader *r, const char *listing, size_t length)
{
    struct amdgpu_module *m = r->module;
    object_read(r);
    set_generation(r);
    metadata_read(r);
    r->wave = m->n_kernels ? m->kernels[0].info.wave : 64;
    m->n_vectors = 3;
    collect_forms(r);
    keep_text(r, listing, length);
    read_lines(r);
    resolve_branches(r);
    for (size_t i = 0; i < m->n_kernels; i++)
        place_kernel(r, &m->kernels[i]);
    find_grains(m);
}

static void kernel_of_facts(struct reader *r, const struct amdgpu_facts *facts, struct amdgpu_kernel *k,
                            const struct label *label)
{
    const struct amdgpu_info *info = &facts->info;
    k->module = r->module;
    k->name = word_copy(r, label->name);
    k->info = *info;
    k->info.wave = r->wave;
    k->info.n_ops = 0;
    k->params = reader_alloc(r, info->n_params + 1, sizeof *k->params);
    for (size_t i = 0; i < info->n_params; i++) {
        const struct amdgpu_param *p = &info->params[i];
        const struct word name = { p->name ? p->name : "", p->name ? strlen(p->name) : 0 };
        k->params[i] = *p;
        k->params[i].name = word_copy(r, name);
        if (p->offset > info->kernarg || p->size > info->kernarg - p->offset)
            fail(r, "an argument lies outside of the arguments");
    }
    k->info.params = k->params;
    k->setup.kernarg = 1;
    k->setup.user_sgprs = 2;
    k->setup.group_id[0] = k->setup.group_id[1] = k->setup.group_id[2] = 1;
    k->setup.work_item = 2;
    k->setup.packed_item = 1;
    k->setup.flush = (uint8_t)facts->flush;
    k->entry = label->address;
}

void read_text(struct reader *r, const struct amdgpu_facts *facts, const char *listing, size_t length)
{
    struct amdgpu_module *m = r->module;
    if (!facts->target || strlen(facts->target) >= sizeof m->target)
        fail(r, "there is no target");
    strcpy(m->target, facts->target);
    set_generation(r);
    if (facts->info.wave && facts->info.wave != 32 && facts->info.wave != 64)
        fail(r, "waves have 32 or 64 lanes");
    r->wave = facts->info.wave ? facts->info.wave : m->generation == 9 ? 64 : 32;
    m->n_vectors = 3;
    collect_forms(r);
    keep_text(r, listing, length);
    read_lines(r);
    resolve_branches(r);
    m->kernels = reader_alloc(r, r->n_labels + 1, sizeof *m->kernels);
    for (size_t i = 0; i < r->n_labels; i++)
        kernel_of_facts(r, facts, &m->kernels[m->n_kernels++], &r->labels[i]);
    for (size_t i = 0; i < m->n_kernels; i++)
        place_kernel(r, &m->kernels[i]);
    find_grains(m);
}
