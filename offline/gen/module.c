/* module.c - modules: made, asked, freed
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "reader.h"

static struct gen_module *begin(struct reader *r, char *why, size_t why_size)
{
    memset(r, 0, sizeof *r);
    r->module = calloc(1, sizeof *r->module);
    r->why = why;
    r->why_size = why_size;
    say_why(why, why_size, "%s", r->module ? "" : "out of memory");
    return r->module;
}

enum { END = 512 }; /* more than what lies behind a program's last label */

/* Labels of the form L480 say at which byte they stand: the last one. */
static size_t last_label(const struct gen_listing *l)
{
    struct word rest = { l->text, l->length };
    size_t last = 0;
    while (rest.length) {
        struct word line = word_line(&rest);
        uint32_t at;
        if (!line.length || *line.at != 'L')
            continue;
        word_until(&line, 'L');
        if (word_digits(&line, &at) && word_begins(line, ":") && at > last)
            last = at;
    }
    return last;
}

/* Behind which byte of the kernel's code its last label stands; 0: a listing of something else. */
static size_t ends_of(struct reader *r, const struct gen_kernel *k, const struct gen_listing *l)
{
    char name[OP_NAME];
    if (!word_is(read_kernel_name(l->text, l->length), k->name) || strlen(k->name) > sizeof name - 8)
        return 0;
    strcpy(name, ".text.");
    strcat(name, k->name);
    const size_t size = object_section(r, name).length, last = last_label(l);
    return last < size && size - last < END ? last + 1 : 0;
}

static int is_same(const struct gen_listing *a, const struct gen_listing *b)
{
    return a->length == b->length && !memcmp(a->text, b->text, a->length);
}

/* A compiler that tries a kernel several times writes a listing each time: the one that ends where the binary does. */
static const struct gen_listing *listing_of(struct reader *r, const struct gen_kernel *k,
                                            const struct gen_listing *listings, size_t n)
{
    const struct gen_listing *found = NULL;
    size_t most = 0;
    int tied = 0;
    for (size_t i = 0; i < n; i++) {
        const size_t end = ends_of(r, k, &listings[i]);
        if (end > most) {
            found = &listings[i];
            most = end;
            tied = 0;
        } else if (end && end == most) {
            tied |= !is_same(found, &listings[i]);
        }
    }
    if (tied)
        fail(r, "two listings end alike, and differ");
    return found;
}

static void read_all(struct reader *r, const struct gen_listing *listings, size_t n)
{
    metadata_read(r);
    read_tables(r);
    for (size_t i = 0; i < r->module->n_kernels; i++) {
        struct gen_kernel *k = &r->module->kernels[i];
        r->kernel = k;
        const struct gen_listing *const l = listing_of(r, k, listings, n);
        if (!l)
            fail(r, "there is no listing of it, or another program's");
        if (k->info.registers < 1 || k->info.registers > 256)
            fail(r, "%u registers", k->info.registers);
        read_listing(r, k, l->text, l->length);
    }
}

struct gen_module *gen_module_read(const void *binary, size_t size, const struct gen_listing *listings, size_t n,
                                   char *why, size_t why_size)
{
    struct reader r;
    struct gen_module *m = begin(&r, why, why_size);
    if (!m)
        return NULL;
    r.object = binary;
    r.object_size = size;
    if (setjmp(r.bail)) {
        gen_module_free(m);
        return NULL;
    }
    read_all(&r, listings, n);
    return m;
}

/* ---- of text alone ---- */

static void add_param(struct reader *r, struct gen_kernel *k, const struct gen_param *p)
{
    const enum payload_kind kind = p->kind == PARAM_VALUE ? PAYLOAD_VALUE :
                                   p->kind == PARAM_SHARED ? PAYLOAD_SHARED : PAYLOAD_POINTER;
    const size_t size = p->kind == PARAM_VALUE ? p->size : 8, at = (k->payload_bytes + 7) / 8 * 8;
    const struct payload entry = { kind, at, size, 0, (uint32_t)k->info.n_params };
    if (size > 1 << 12)
        fail(r, "a parameter of %zu bytes", size);
    k->params = reader_grow(r, k->params, k->info.n_params, sizeof *k->params, 64, "parameters");
    k->params[k->info.n_params] = *p;
    k->params[k->info.n_params++].name = "";
    k->payload = reader_grow(r, k->payload, k->n_payload, sizeof *k->payload, 64, "parameters");
    k->payload[k->n_payload++] = entry;
    k->payload_bytes = at + size;
    k->info.params = k->params;
}

static void read_facts(struct reader *r, const struct gen_facts *f, const char *name, const char *text, size_t length)
{
    struct gen_module *m = r->module;
    struct gen_kernel *k = reader_alloc(r, 1, sizeof *k);
    const struct word word = { name, strlen(name) };
    m->kernels = k;
    m->n_kernels = 1;
    k->module = m;
    k->name = word_copy(r, word);
    k->info.simd = f->info.simd ? f->info.simd : 16;
    k->info.registers = f->info.registers ? f->info.registers : 128;
    k->info.shared = f->info.shared;
    k->info.scratch = f->info.scratch;
    k->grf = strcmp(f->platform, "XE_HPG") ? 64 : 32;
    k->plain = 1;
    r->kernel = k;
    for (size_t i = 0; i < f->info.n_params; i++)
        add_param(r, k, &f->info.params[i]);
    if (k->info.simd > k->grf / 2 || k->info.registers > 256 || k->info.shared > MAX_SHARED ||
        k->payload_bytes > (size_t)k->grf * 8)
        fail(r, "a kernel of text cannot have this");
    read_tables(r);
    read_listing(r, k, text, length);
}

struct gen_module *gen_module_text(const struct gen_facts *facts, const char *name, const char *text, size_t length,
                                   char *why, size_t why_size)
{
    struct reader r;
    struct gen_module *m = begin(&r, why, why_size);
    if (!m)
        return NULL;
    if (setjmp(r.bail)) {
        gen_module_free(m);
        return NULL;
    }
    read_facts(&r, facts, name, text, length);
    return m;
}

void gen_module_free(struct gen_module *m)
{
    if (!m)
        return;
    arena_free(&m->arena);
    free(m);
}

/* ---- what is asked ---- */

size_t gen_module_kernels(const struct gen_module *m)
{
    return m->n_kernels;
}

const struct gen_kernel *gen_kernel_at(const struct gen_module *m, size_t i)
{
    return i < m->n_kernels ? &m->kernels[i] : NULL;
}

const struct gen_kernel *gen_kernel_named(const struct gen_module *m, const char *name)
{
    for (size_t i = 0; i < m->n_kernels; i++)
        if (!strcmp(m->kernels[i].name, name))
            return &m->kernels[i];
    return NULL;
}

const char *gen_kernel_name(const struct gen_kernel *k)
{
    return k->name;
}

const struct gen_info *gen_kernel_info(const struct gen_kernel *k)
{
    return &k->info;
}

const char *gen_kernel_listing(const struct gen_kernel *k)
{
    return k->text;
}
