/* arena.c - memory of a module, names, and words for failures
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "inside.h"

struct block {
    struct block *next;
    union {
        long double a;
        uint64_t b;
        void *c;
    } align[]; /* what follows is aligned for anything */
};

enum { BLOCK = 1 << 16, ALIGN = 16 };

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size > a->left) {
        const size_t room = size > BLOCK ? size : BLOCK;
        struct block *b = calloc(1, sizeof *b + room + ALIGN);
        if (!b)
            return NULL;
        b->next = a->blocks;
        a->blocks = b;
        a->next = (char *)b + (sizeof *b + ALIGN - 1) / ALIGN * ALIGN;
        a->left = room;
    }
    void *p = a->next;
    a->next += size;
    a->left -= size;
    return p;
}

void arena_free(struct arena *a)
{
    while (a->blocks) {
        struct block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    a->left = 0;
}

void ptx_why(char *why, size_t size, const char *format, ...)
{
    va_list ap;
    if (!why || !size)
        return;
    va_start(ap, format);
    vsnprintf(why, size, format, ap);
    va_end(ap);
}

static const char *const kind_names[PTX_KINDS] = {
    [PTX_OUTSIDE] = "access outside",
    [PTX_MISALIGNED] = "misaligned access",
    [PTX_READ_ONLY] = "write to a constant",
    [PTX_READ_REGISTER] = "read of a register that was never written",
    [PTX_READ_UNWRITTEN] = "read of memory that was never written",
    [PTX_RACE_GROUP] = "race between warps, no barrier between",
    [PTX_RACE_WARP] = "race within a warp, no bar.warp.sync between",
    [PTX_RACE_GRID] = "race between groups",
    [PTX_DIVERGED] = "part of the threads can never get here",
    [PTX_NO_PROGRESS] = "no end after so many instructions",
};

const char *ptx_kind_name(enum ptx_kind kind)
{
    return (unsigned)kind < PTX_KINDS ? kind_names[kind] : "?";
}

const char *ptx_space_name(enum ptx_space space)
{
    static const char *const names[] = { "none", "global", "shared", "local", "param", "const" };
    return (unsigned)space < sizeof names / sizeof *names ? names[space] : "?";
}

/* The access, and where its address lies; empty if there is none. */
static void print_place(const struct ptx_finding *f, char *to, size_t size)
{
    char where[160] = "";
    if (f->buffer >= 0)
        snprintf(where, sizeof where, " = buffer %d%+lld of %zu", f->buffer, (long long)f->offset, f->extent);
    else if (f->variable)
        snprintf(where, sizeof where, " = %.90s%+lld of %zu", f->variable, (long long)f->offset, f->extent);
    snprintf(to, size, "; %s of %zu bytes at %s 0x%llx%s", f->is_atomic ? "atomic" : f->is_write ? "write" : "read",
             f->size, ptx_space_name(f->space), (unsigned long long)f->address, where);
}

int ptx_finding_print(const struct ptx_finding *f, char *to, size_t size)
{
    char place[256] = "", loc[160] = "", other[64] = "";
    if (f->space != PTX_SPACE_NONE)
        print_place(f, place, sizeof place);
    if (f->file || f->file_line)
        snprintf(loc, sizeof loc, " (%.120s:%d)", f->file ? f->file : "?", f->file_line);
    if (f->has_other)
        snprintf(other, sizeof other, "; the other is %s %u", f->kind == PTX_RACE_GRID ? "group" : "thread",
                 (unsigned)f->other);
    return snprintf(to, size, "%s: %s, line %d%s `%s`, group %u,%u,%u thread %u,%u,%u lanes %08x%s%s",
                    ptx_kind_name(f->kind), f->kernel, f->line, loc, f->text, (unsigned)f->group[0],
                    (unsigned)f->group[1], (unsigned)f->group[2], (unsigned)f->thread[0], (unsigned)f->thread[1],
                    (unsigned)f->thread[2], (unsigned)f->lanes, place, other);
}
