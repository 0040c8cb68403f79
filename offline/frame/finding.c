/* finding.c - a finding as a line of text
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/finding.h"

#include <stdio.h>

static const char *const kind_names[FOUND_KINDS] = {
    [FOUND_OUTSIDE] = "access outside",
    [FOUND_MISALIGNED] = "misaligned access",
    [FOUND_READ_ONLY] = "write to a constant",
    [FOUND_READ_REGISTER] = "read of a register that was never written",
    [FOUND_READ_UNWRITTEN] = "read of memory that was never written",
    [FOUND_RACE_GROUP] = "race between warps, no barrier between",
    [FOUND_RACE_WARP] = "race within a warp, no barrier of its lanes between",
    [FOUND_RACE_GRID] = "race between groups",
    [FOUND_DIVERGED] = "part of the threads can never get here",
    [FOUND_NO_PROGRESS] = "no end after so many instructions",
    [FOUND_NOT_WAITED] = "not waited for",
    [FOUND_LANES_OFF] = "lanes switched off where all must take part",
    [FOUND_HALVES_DIFFER] = "the halves of an operand's lanes differ",
    [FOUND_SURFACE] = "a surface that the hardware does not take",
};

const char *finding_kind_name(enum finding_kind kind)
{
    return (unsigned)kind < FOUND_KINDS ? kind_names[kind] : "?";
}

const char *space_name(enum space space)
{
    static const char *const names[] = { "none", "global", "shared", "local", "param", "const" };
    return (unsigned)space < sizeof names / sizeof *names ? names[space] : "?";
}

/* The access, and where its address lies; empty if there is none. */
static void print_place(const struct finding *f, char *to, size_t size)
{
    char where[160] = "";
    if (f->buffer >= 0)
        snprintf(where, sizeof where, " = buffer %d%+lld of %zu", f->buffer, (long long)f->offset, f->extent);
    else if (f->variable)
        snprintf(where, sizeof where, " = %.90s%+lld of %zu", f->variable, (long long)f->offset, f->extent);
    snprintf(to, size, "; %s of %zu bytes at %s 0x%llx%s", f->is_atomic ? "atomic" : f->is_write ? "write" : "read",
             f->size, space_name(f->space), (unsigned long long)f->address, where);
}

int finding_print(const struct finding *f, char *to, size_t size)
{
    char place[256] = "", loc[160] = "", other[64] = "";
    if (f->space != SPACE_NONE)
        print_place(f, place, sizeof place);
    if (f->file || f->file_line)
        snprintf(loc, sizeof loc, " (%.120s:%d)", f->file ? f->file : "?", f->file_line);
    if (f->has_other)
        snprintf(other, sizeof other, "; the other is %s %u", f->kind == FOUND_RACE_GRID ? "group" : "thread",
                 (unsigned)f->other);
    return snprintf(to, size, "%s: %s, line %d%s `%s`, group %u,%u,%u thread %u,%u,%u lanes %08llx%s%s",
                    finding_kind_name(f->kind), f->kernel, f->line, loc, f->text, (unsigned)f->group[0],
                    (unsigned)f->group[1], (unsigned)f->group[2], (unsigned)f->thread[0], (unsigned)f->thread[1],
                    (unsigned)f->thread[2], (unsigned long long)f->lanes, place, other);
}

void finding_copy_line(const char *text, char *to, size_t size)
{
    size_t n = 0;
    for (const char *p = text; *p && *p != '\n' && !(p[0] == '/' && p[1] == '/') && n + 1 < size; p++) {
        const char c = *p == '\t' || *p == '\r' ? ' ' : *p;
        if (c != ' ' || (n && to[n - 1] != ' '))
            to[n++] = c;
    }
    while (n && to[n - 1] == ' ')
        n--;
    to[n] = 0;
}
