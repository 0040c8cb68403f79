/* read.c - modules, kernels and declarations of PTX text
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "reader.h"

/* ---- symbols ---- */

struct symbol *add_symbol(struct reader *r, struct word name, enum symbol_kind kind)
{
    r->symbols = reader_grow(r, r->symbols, r->n_symbols, sizeof *r->symbols, MAX_SYMBOLS, "names");
    struct symbol *s = &r->symbols[r->n_symbols++];
    memset(s, 0, sizeof *s);
    s->name = name;
    s->kind = kind;
    return s;
}

/* The innermost of that name; a function does not see its caller's. */
const struct symbol *find_symbol(struct reader *r, struct word name)
{
    const size_t first = r->body ? r->body->first_symbol : r->n_module_symbols;
    for (size_t i = r->n_symbols; i > first; i--)
        if (r->symbols[i - 1].kind != SYMBOL_RANGE && words_equal(r->symbols[i - 1].name, name))
            return &r->symbols[i - 1];
    for (size_t i = r->n_module_symbols; i > 0; i--)
        if (words_equal(r->symbols[i - 1].name, name))
            return &r->symbols[i - 1];
    return NULL;
}

uint32_t add_slots(struct reader *r, int n)
{
    const uint32_t slot = r->kernel->n_slots;
    if (slot + (uint32_t)n > MAX_SLOTS)
        fail(r, "the kernel has too many registers");
    r->kernel->n_slots += (uint32_t)n;
    return slot;
}

/* ---- declarations ---- */

/* .type, .align, .ptr and what belongs to it, then NAME or NAME[n][m]. */
void read_declaration(struct reader *r, struct declaration *d)
{
    memset(d, 0, sizeof *d);
    d->align = d->points_at = 1;
    int pointer = 0;
    for (;;) {
        struct word w = take_word(r);
        if (!w.length)
            fail(r, "a name expected before \"%.20s\"", r->at.p);
        if (*w.at != '.') {
            d->name = w;
            break;
        }
        const struct word bare = { w.at + 1, w.length - 1 };
        if (type_named(bare) && type_named(bare) != T_PRED)
            d->type = type_named(bare);
        else if (word_is(w, ".align"))
            *(pointer ? &d->points_at : &d->align) = take_count(r, 4096);
        else if (word_is(w, ".ptr"))
            pointer = 1;
        else if (word_is(w, ".shared") && pointer)
            d->kind = PARAM_SHARED;
        else if ((word_is(w, ".global") || word_is(w, ".const")) && pointer)
            d->kind = PARAM_GLOBAL, d->is_const = word_is(w, ".const");
        else if (!word_is(w, ".visible") && !word_is(w, ".weak"))
            fail(r, "a declaration with %.*s is not executed here", WORD(w));
    }
    if (!d->type)
        fail(r, "%.*s has no type", WORD(d->name));
    d->size = (size_t)ptx_type_bytes(d->type);
    if (!d->align || (d->align & (d->align - 1)) || !d->points_at || (d->points_at & (d->points_at - 1)))
        fail(r, "an alignment of %.*s is no power of two", WORD(d->name));
    if (d->align < d->size)
        d->align = d->size;
    while (take(r, '[')) {
        d->is_array = 1;
        d->size *= take_count(r, (1 << VAR_SHIFT) / d->size);
        expect(r, ']');
    }
    if (!d->size || d->size > 1 << VAR_SHIFT)
        fail(r, "%.*s has no size that is executed here", WORD(d->name));
}

static struct variable *grow_variables(struct reader *r, struct variable **list, size_t *n, const struct declaration *d)
{
    *list = reader_grow(r, *list, *n, sizeof **list, MAX_VARS, "variables");
    struct variable *v = &(*list)[(*n)++];
    memset(v, 0, sizeof *v);
    v->name = word_copy(r, d->name);
    v->size = d->size;
    v->align = d->align;
    return v;
}

static void place_variable(struct variable *v, size_t *bytes)
{
    *bytes = (*bytes + v->align - 1) / v->align * v->align;
    v->at = *bytes;
    *bytes += v->size;
}

static void name_variable(struct reader *r, enum space space, const struct declaration *d, uint64_t address)
{
    struct symbol *s = add_symbol(r, d->name, SYMBOL_VARIABLE);
    s->space = space;
    s->address = address;
    s->size = d->size;
}

/* Of the kernel: .shared or .local; a .param within a body lies in local memory as well. */
void add_variable(struct reader *r, enum space space, const struct declaration *d)
{
    struct ptx_kernel *k = r->kernel;
    const int shared = space == SPACE_SHARED;
    size_t *n = shared ? &k->n_shared : &k->n_local;
    struct variable *v = grow_variables(r, shared ? &k->shared : &k->local, n, d);
    place_variable(v, shared ? &k->shared_bytes : &k->local_bytes);
    if (k->shared_bytes > 1 << VAR_SHIFT || k->local_bytes > 1 << VAR_SHIFT)
        fail(r, "the arrays of the kernel are too large");
    name_variable(r, space, d, (uint64_t)*n << VAR_SHIFT);
}

/* .reg .type name, name<count>, ..; */
static void read_registers(struct reader *r)
{
    const struct word w = take_word(r);
    const struct word bare = { w.at + 1, w.length ? w.length - 1 : 0 };
    const enum ptx_type type = w.length && *w.at == '.' ? type_named(bare) : T_NONE;
    if (!type_class(type))
        fail(r, "registers of type %.*s are not executed here", WORD(w));
    do {
        const struct word name = take_word(r);
        if (!name.length)
            fail(r, "the name of a register expected");
        struct symbol *s = add_symbol(r, name, SYMBOL_REGISTER);
        s->type = type;
        if (take(r, '<')) {
            s->kind = SYMBOL_RANGE;
            s->count = (uint32_t)take_count(r, 1 << 20);
            uint32_t *slots = reader_alloc(r, s->count, sizeof *slots);
            s->slots = slots;
            expect(r, '>');
        } else {
            s->slot = add_slots(r, type_class(type) == 'l' ? 2 : 1);
        }
    } while (take(r, ','));
    expect(r, ';');
}

/* ---- bodies ---- */

static int compare_labels(const void *a, const void *b)
{
    const struct word *x = &((const struct label *)a)->name, *y = &((const struct label *)b)->name;
    if (x->length != y->length)
        return x->length < y->length ? -1 : 1;
    return memcmp(x->at, y->at, x->length);
}

static void resolve_labels(struct reader *r, struct body *body)
{
    struct ptx_kernel *k = r->kernel;
    if (body->n_labels)
        qsort(body->labels, body->n_labels, sizeof *body->labels, compare_labels);
    for (size_t i = 1; i < body->n_labels; i++)
        if (!compare_labels(&body->labels[i - 1], &body->labels[i]))
            fail(r, "there are two labels %.*s", WORD(body->labels[i].name));
    for (size_t i = 0; i < body->n_fixups; i++) {
        const struct fixup *f = &body->fixups[i];
        const struct label key = { f->name, 0 }, *found = NULL;
        if (f->name.at && body->n_labels)
            found = bsearch(&key, body->labels, body->n_labels, sizeof key, compare_labels);
        if (f->name.at && !found) {
            r->at.line = f->line;
            fail(r, "there is no label %.*s", WORD(f->name));
        }
        k->ops[f->op].target = found ? found->op : (uint32_t)k->n_ops;
    }
}

static void read_loc(struct reader *r)
{
    r->file = (uint32_t)take_count(r, UINT32_MAX);
    r->file_line = (uint32_t)take_count(r, INT32_MAX);
    skip_line(r);
}

static void read_directive(struct reader *r, struct word w)
{
    struct declaration d;
    if (word_is(w, ".reg")) {
        read_registers(r);
    } else if (word_is(w, ".shared") || word_is(w, ".local") || word_is(w, ".param")) {
        read_declaration(r, &d);
        add_variable(r, word_is(w, ".shared") ? SPACE_SHARED : SPACE_LOCAL, &d);
        expect(r, ';');
    } else if (word_is(w, ".loc")) {
        read_loc(r);
    } else if (word_is(w, ".pragma")) {
        do
            take_string(r);
        while (take(r, ','));
        expect(r, ';');
    } else {
        fail(r, "%.*s is not executed here", WORD(w));
    }
}

static void read_guard(struct reader *r)
{
    enum ptx_type type;
    r->guarded = take(r, '@');
    r->guard_not = r->guarded && take(r, '!');
    if (!r->guarded)
        return;
    const struct word w = take_word(r);
    if (!is_register(r, w, &r->guard, &type) || type != T_PRED)
        fail(r, "%.*s is no predicate", WORD(w));
}

static void read_statement(struct reader *r)
{
    skip_space(r);
    r->line = r->at.line;
    r->statement = r->at.p;
    read_guard(r);
    const struct word w = take_word(r);
    if (!w.length)
        fail(r, r->at.p >= r->end ? "the text ends within a body" : "a statement expected before \"%.20s\"", r->at.p);
    if (*w.at == '.') {
        read_directive(r, w);
    } else if (!r->guarded && take(r, ':')) {
        struct body *b = r->body;
        b->labels = reader_grow(r, b->labels, b->n_labels, sizeof *b->labels, MAX_OPS, "labels");
        const struct label label = { w, (uint32_t)r->kernel->n_ops };
        b->labels[b->n_labels++] = label;
    } else {
        read_instruction(r, w);
    }
}

/* { statements }, with blocks that have names of their own. */
void read_body(struct reader *r, struct body *body)
{
    enum { DEEPEST = 64 };
    size_t marks[DEEPEST];
    int depth = 0;
    expect(r, '{');
    marks[depth++] = r->n_symbols;
    while (depth) {
        if (take(r, '}')) {
            r->n_symbols = marks[--depth];
        } else if (take(r, '{')) {
            if (depth == DEEPEST)
                fail(r, "blocks are nested too deep");
            marks[depth++] = r->n_symbols;
        } else {
            read_statement(r);
        }
    }
    resolve_labels(r, body);
}

/* ---- kernels ---- */

static void add_param(struct reader *r, struct ptx_kernel *k, const struct declaration *d)
{
    const size_t n = k->info.n_params;
    k->params = reader_grow(r, k->params, n, sizeof *k->params, MAX_VARS, "parameters");
    k->param_at = reader_grow(r, k->param_at, n, sizeof *k->param_at, MAX_VARS, "parameters");
    const struct ptx_param p = { word_copy(r, d->name), d->kind, d->is_const, d->size, d->align, d->points_at };
    if (d->kind != PARAM_VALUE && d->size != 8)
        fail(r, "pointer %.*s has %zu bytes", WORD(d->name), d->size);
    k->params[n] = p;
    k->param_bytes = (k->param_bytes + 15) / 16 * 16;
    k->param_at[n] = k->param_bytes;
    k->param_bytes += d->size;
    k->info.n_params++;
    name_variable(r, SPACE_PARAM, d, (uint64_t)(n + 1) << VAR_SHIFT);
}

static void read_params(struct reader *r, struct ptx_kernel *k)
{
    if (!take(r, '(') || take(r, ')'))
        return;
    do {
        struct declaration d;
        const struct word w = take_word(r);
        if (!word_is(w, ".param"))
            fail(r, ".param expected, not %.*s", WORD(w));
        read_declaration(r, &d);
        add_param(r, k, &d);
    } while (take(r, ','));
    expect(r, ')');
}

static void read_three(struct reader *r, uint32_t *to)
{
    to[0] = (uint32_t)take_count(r, UINT32_MAX);
    to[1] = to[2] = 1;
    for (int i = 1; i < 3 && take(r, ','); i++)
        to[i] = (uint32_t)take_count(r, UINT32_MAX);
}

/* .reqntid and its kin, up to { or ; */
static void read_attributes(struct reader *r, struct ptx_info *info)
{
    uint32_t ignored[3];
    while (!next_is(r, '{') && !next_is(r, ';')) {
        const struct word w = take_word(r);
        if (word_is(w, ".reqntid") && info)
            read_three(r, info->reqntid);
        else if (word_is(w, ".maxntid") && info)
            read_three(r, info->maxntid);
        else if (word_is(w, ".minnctapersm") || word_is(w, ".maxnctapersm") || word_is(w, ".maxnreg"))
            read_three(r, ignored);
        else if (word_is(w, ".pragma"))
            take_string(r), expect(r, ';');
        else if (!word_is(w, ".noreturn"))
            fail(r, "\"%.20s\" expected to be { or something that is executed here", w.at);
    }
}

static void new_kernel(struct reader *r, struct word name)
{
    struct ptx_module *m = r->module;
    m->kernels = reader_grow(r, m->kernels, m->n_kernels, sizeof *m->kernels, 4096, "kernels");
    struct ptx_kernel *k = &m->kernels[m->n_kernels++];
    memset(k, 0, sizeof *k);
    k->name = word_copy(r, name);
    k->shared_grain = k->global_grain = 16;
    r->kernel = k;
    r->n_symbols = r->n_module_symbols;
    r->carry = r->sink = 0;
    r->file = r->file_line = 0;
    r->calls = 0;
    r->hash_size = 1024;
    r->constant_hash = reader_alloc(r, r->hash_size, sizeof *r->constant_hash);
    k->n_shared = r->n_module_shared; /* addresses of the module's own are the same in every kernel */
    k->shared = reader_alloc(r, 2 * k->n_shared + 1, sizeof *k->shared); /* room as reader_grow() has */
    for (size_t i = 0; i < k->n_shared; i++) {
        k->shared[i] = r->module_shared[i];
        place_variable(&k->shared[i], &k->shared_bytes);
    }
}

static void finish_kernel(struct reader *r)
{
    struct ptx_kernel *k = r->kernel;
    while (1 << k->shared_shift < k->shared_grain)
        k->shared_shift++;
    while (1 << k->global_shift < k->global_grain)
        k->global_shift++;
    k->info.params = k->params;
    k->info.shared = k->shared_bytes;
    k->info.local = k->local_bytes;
    k->info.n_registers = k->n_slots;
    k->info.n_ops = k->n_ops;
    r->kernel = NULL;
}

static void read_kernel(struct reader *r)
{
    struct body body;
    memset(&body, 0, sizeof body);
    const struct word name = take_word(r);
    if (!name.length)
        fail(r, "the name of a kernel expected");
    for (size_t i = 0; i < r->module->n_kernels; i++)
        if (word_is(name, r->module->kernels[i].name))
            fail(r, "there are two kernels %.*s", WORD(name));
    new_kernel(r, name);
    body.first_symbol = r->n_symbols;
    r->body = &body;
    read_params(r, r->kernel);
    read_attributes(r, &r->kernel->info);
    if (take(r, ';')) { /* declared only */
        r->module->n_kernels--;
    } else {
        read_body(r, &body);
        struct op end;
        memset(&end, 0, sizeof end);
        r->guarded = 0;
        r->line = r->at.line;
        r->statement = r->at.p - 1;
        end.kind = OP_EXIT;
        emit(r, &end);
        finish_kernel(r);
    }
    r->body = NULL;
    r->n_symbols = r->n_module_symbols;
}

/* ---- functions: where they are; their bodies are read at calls ---- */

static struct place skip_parentheses(struct reader *r)
{
    const struct place at = r->at;
    while (!take(r, ')')) {
        if (r->at.p >= r->end)
            fail(r, "the text ends within parameters");
        r->at.p++;
    }
    return at;
}

static void read_function(struct reader *r)
{
    struct function f;
    memset(&f, 0, sizeof f);
    if (next_is(r, '('))
        f.results = skip_parentheses(r);
    f.name = take_word(r);
    if (!f.name.length)
        fail(r, "the name of a function expected");
    if (next_is(r, '('))
        f.params = skip_parentheses(r);
    read_attributes(r, NULL);
    if (!take(r, ';')) {
        f.body = r->at;
        skip_braces(r);
    }
    r->functions = reader_grow(r, r->functions, r->n_functions, sizeof f, MAX_SYMBOLS, "functions");
    r->functions[r->n_functions++] = f;
}

/* ---- the module's own ---- */

static void read_values(struct reader *r, const struct declaration *d, unsigned char *to)
{
    const size_t bytes = (size_t)ptx_type_bytes(d->type);
    size_t n = 0;
    const int many = take(r, '{');
    do {
        if (many && next_is(r, '}'))
            break;
        if (n + bytes > d->size)
            fail(r, "%.*s has more values than room", WORD(d->name));
        if (!at_number(r))
            fail(r, "a number expected before \"%.20s\"", r->at.p);
        const uint64_t value = take_literal(r, d->type);
        for (size_t i = 0; i < bytes; i++)
            to[n + i] = (unsigned char)(value >> 8 * i);
        n += bytes;
    } while (many && take(r, ','));
    if (many)
        expect(r, '}');
}

/* .global and .const: tables. Kernels cannot write them here. */
static void read_table(struct reader *r, enum space space)
{
    struct declaration d;
    struct ptx_module *m = r->module;
    read_declaration(r, &d);
    struct variable *v = grow_variables(r, &m->tables, &m->n_tables, &d);
    unsigned char *init = reader_alloc(r, d.size, 1);
    v->init = init;
    if (take(r, '='))
        read_values(r, &d, init);
    expect(r, ';');
    name_variable(r, space, &d, (uint64_t)(MAX_BUFFERS + m->n_tables) << BUFFER_SHIFT);
    r->n_module_symbols = r->n_symbols;
}

static void read_module_shared(struct reader *r)
{
    struct declaration d;
    if (r->module->n_kernels)
        fail(r, "a .shared array of the module after a kernel is not executed here");
    read_declaration(r, &d);
    expect(r, ';');
    grow_variables(r, &r->module_shared, &r->n_module_shared, &d);
    name_variable(r, SPACE_SHARED, &d, (uint64_t)r->n_module_shared << VAR_SHIFT);
    r->n_module_symbols = r->n_symbols;
}

static void read_file(struct reader *r)
{
    struct ptx_module *m = r->module;
    m->files = reader_grow(r, m->files, m->n_files, sizeof *m->files, 1 << 16, "files");
    const uint32_t number = (uint32_t)take_count(r, UINT32_MAX);
    const struct source_file file = { number, word_copy(r, take_string(r)) };
    m->files[m->n_files++] = file;
    skip_line(r);
}

static void read_target(struct reader *r)
{
    const struct word w = take_word(r);
    if (w.length < 4 || memcmp(w.at, "sm_", 3))
        fail(r, "the target %.*s is no sm_..", WORD(w));
    for (size_t i = 3; i < w.length && w.at[i] >= '0' && w.at[i] <= '9' && i < 7; i++)
        r->module->target = 10 * r->module->target + w.at[i] - '0';
    skip_line(r);
}

static void read_version(struct reader *r)
{
    const char major = (skip_space(r), *r->at.p);
    if (major < '1' || major > '9')
        fail(r, "the version of PTX expected before \"%.20s\"", r->at.p);
    skip_line(r);
}

static void read_address_size(struct reader *r)
{
    if (take_count(r, 64) != 64)
        fail(r, "addresses of 32 bits are not executed here");
}

static void read_const(struct reader *r)
{
    read_table(r, SPACE_CONST);
}

static void read_global(struct reader *r)
{
    read_table(r, SPACE_GLOBAL);
}

static void read_nothing(struct reader *r)
{
    (void)r;
}

static void skip_section(struct reader *r)
{
    while (!next_is(r, '{')) {
        if (!take_word(r).length)
            fail(r, "{ expected before \"%.20s\"", r->at.p);
    }
    skip_braces(r);
}

static void skip_pragma(struct reader *r)
{
    take_string(r);
    expect(r, ';');
}

static const struct {
    const char *name;
    void (*read)(struct reader *r);
} directives[] = {
    { ".version", read_version },  { ".target", read_target },   { ".address_size", read_address_size },
    { ".visible", read_nothing },  { ".weak", read_nothing },    { ".extern", read_nothing },
    { ".entry", read_kernel },     { ".func", read_function },   { ".const", read_const },
    { ".global", read_global },    { ".shared", read_module_shared }, { ".file", read_file },
    { ".pragma", skip_pragma },    { ".section", skip_section }, { ".metadata_section", skip_section },
};

static void read_module(struct reader *r)
{
    for (skip_space(r); r->at.p < r->end; skip_space(r)) {
        const struct word w = take_word(r);
        size_t i = 0;
        while (i < sizeof directives / sizeof *directives && !word_is(w, directives[i].name))
            i++;
        if (i == sizeof directives / sizeof *directives)
            fail(r, "\"%.20s\" is nothing that a module has here", w.at);
        directives[i].read(r);
    }
    if (!r->module->target)
        fail(r, "there is no .target");
    for (size_t i = 0; i < r->module->n_kernels; i++)
        r->module->kernels[i].module = r->module;
}

static int compare_forms(const void *a, const void *b)
{
    return strcmp((*(const struct form *const *)a)->name, (*(const struct form *const *)b)->name);
}

static void sort_forms(struct reader *r)
{
    r->code = ptx_lane_code();
    r->forms = reader_alloc(r, r->code->n_forms, sizeof *r->forms);
    for (size_t i = 0; i < r->code->n_forms; i++)
        r->forms[i] = &r->code->forms[i];
    qsort(r->forms, r->code->n_forms, sizeof *r->forms, compare_forms);
}

static struct ptx_module *read_all(struct reader *r, const char *text)
{
    if (setjmp(r->bail))
        return NULL;
    struct ptx_module *m = r->module;
    m->text = reader_alloc(r, m->length + 4, 1); /* zeros behind it: looking a few characters ahead is safe */
    memcpy(m->text, text, m->length);
    r->at.p = m->text;
    r->at.line = 1;
    r->end = m->text + m->length;
    if (memchr(m->text, 0, m->length))
        fail(r, "there is a zero byte in the text");
    sort_forms(r);
    read_module(r);
    return m;
}

struct ptx_module *ptx_module_read(const char *text, size_t length, char *why, size_t why_size)
{
    struct ptx_module *m = calloc(1, sizeof *m);
    struct reader *r = calloc(1, sizeof *r);
    struct ptx_module *done = NULL;
    say_why(why, why_size, "out of memory");
    while (length && !text[length - 1]) /* drivers count the end of a string */
        length--;
    if (m && r) {
        m->length = length;
        r->module = m;
        r->why = why;
        r->why_size = why_size;
        done = read_all(r, text);
    }
    if (!done)
        ptx_module_free(m);
    else
        say_why(why, why_size, "%s", "");
    free(r);
    return done;
}

void ptx_module_free(struct ptx_module *module)
{
    if (!module)
        return;
    arena_free(&module->arena);
    free(module);
}

/* ---- what a caller asks of it ---- */

int ptx_module_target(const struct ptx_module *module)
{
    return module->target;
}

size_t ptx_module_kernels(const struct ptx_module *module)
{
    return module->n_kernels;
}

const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t i)
{
    return i < module->n_kernels ? &module->kernels[i] : NULL;
}

const struct ptx_kernel *ptx_kernel_named(const struct ptx_module *module, const char *name)
{
    for (size_t i = 0; i < module->n_kernels; i++)
        if (!strcmp(module->kernels[i].name, name))
            return &module->kernels[i];
    return NULL;
}

const char *ptx_kernel_name(const struct ptx_kernel *kernel)
{
    return kernel->name;
}

const struct ptx_info *ptx_kernel_info(const struct ptx_kernel *kernel)
{
    return &kernel->info;
}
