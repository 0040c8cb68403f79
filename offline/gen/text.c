/* text.c - words of listings and metadata, numbers
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>

#include "reader.h"

/* Names and texts may be anything. */
static void make_plain(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ' || (unsigned char)*p > '~')
            *p = '?';
}

void fail(struct reader *r, const char *format, ...)
{
    char text[256], name[100] = "";
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    if (r->kernel)
        snprintf(name, sizeof name, "%s", r->kernel->name);
    make_plain(text);
    make_plain(name);
    if (r->line && r->kernel)
        say_why(r->why, r->why_size, "%s, line %u: %s", name, r->line, text);
    else if (r->kernel)
        say_why(r->why, r->why_size, "%s: %s", name, text);
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
    if (w.length)
        memcpy(to, w.at, w.length);
    return to;
}

static void drop(struct word *w, size_t n)
{
    w->at += n;
    w->length -= n;
}

struct word word_until(struct word *rest, char end)
{
    struct word w = { rest->at, 0 };
    while (w.length < rest->length && w.at[w.length] != end)
        w.length++;
    drop(rest, w.length < rest->length ? w.length + 1 : w.length);
    return w;
}

struct word word_line(struct word *rest)
{
    return word_until(rest, '\n');
}

struct word word_next(struct word *rest)
{
    struct word w = { NULL, 0 };
    *rest = word_trim(*rest);
    w.at = rest->at;
    while (w.length < rest->length && (unsigned char)w.at[w.length] > ' ')
        w.length++;
    drop(rest, w.length);
    return w;
}

int word_find(struct word w, const char *text, struct word *behind)
{
    const size_t n = strlen(text);
    for (; w.length >= n; drop(&w, 1))
        if (!memcmp(w.at, text, n)) {
            behind->at = w.at + n;
            behind->length = w.length - n;
            return 1;
        }
    return 0;
}

int word_digits(struct word *rest, uint32_t *value)
{
    size_t n = 0;
    uint32_t x = 0;
    for (; n < rest->length && n < 9 && rest->at[n] >= '0' && rest->at[n] <= '9'; n++)
        x = 10 * x + (uint32_t)(rest->at[n] - '0');
    if (!n)
        return 0;
    drop(rest, n);
    *value = x;
    return 1;
}
