/* text.c - words of the listing, numbers and modifiers
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "reader.h"

void fail(struct reader *r, const char *format, ...)
{
    char text[256];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    for (char *p = text; *p; p++) /* the text may be anything */
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
            *p = '?';
    if (r->line)
        say_why(r->why, r->why_size, "line %u: %s", r->line, text);
    else
        say_why(r->why, r->why_size, "%s", text);
    longjmp(r->bail, 1);
}

void *reader_alloc(struct reader *r, size_t n, size_t size)
{
    if (size && n > ((size_t)-1 >> 1) / size)
        fail(r, "too large");
    void *p = arena_alloc(&r->module->arena, n * size);
    if (!p)
        fail(r, "out of memory");
    return p;
}

void *reader_grow(struct reader *r, void *array, size_t n, size_t size, size_t most, const char *what)
{
    if (n >= most)
        fail(r, "more than %zu %s", most, what);
    if (n & (n - 1) || n == 1)
        return array;
    void *grown = reader_alloc(r, n ? 2 * n : 2, size);
    if (n)
        memcpy(grown, array, n * size);
    return grown;
}

char *word_copy(struct reader *r, struct word w)
{
    char *to = reader_alloc(r, w.length + 1, 1);
    memcpy(to, w.at, w.length);
    return to;
}

/* The next modifier, up to a blank outside of brackets. */
static struct word next_modifier(struct word *rest)
{
    struct word m = { NULL, 0 };
    int depth = 0;
    *rest = word_trim(*rest);
    m.at = rest->at;
    while (m.length < rest->length && (depth > 0 || (unsigned char)m.at[m.length] > ' ')) {
        depth += m.at[m.length] == '[' || m.at[m.length] == '(';
        depth -= m.at[m.length] == ']' || m.at[m.length] == ')';
        m.length++;
    }
    rest->at += m.length;
    rest->length -= m.length;
    return m;
}

int find_modifier(struct word modifiers, const char *key, struct word *value)
{
    const size_t n = strlen(key);
    while (modifiers.length) {
        const struct word m = next_modifier(&modifiers);
        if (m.length > n && m.at[n] == ':' && word_begins(m, key)) {
            value->at = m.at + n + 1;
            value->length = m.length - n - 1;
            return 1;
        }
    }
    return 0;
}

int has_modifier(struct word modifiers, const char *key)
{
    while (modifiers.length)
        if (word_is(next_modifier(&modifiers), key))
            return 1;
    return 0;
}
