/* mod_macros.c - macros that a caller's text defines, which must not reach the next one. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/mod_macros.h"

#include <string.h>

/* Whatever a compiler may take for a part of a name. */
static bool is_of_name(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' || (c >= '0' && c <= '9') || c == '$' ||
           (unsigned char)c >= 0x80;
}

/* A character and how many there are of it: "??=" and "??/" are others to compilers that know trigraphs. */
static char spelt(const char *at, int *length)
{
    const bool three = at[0] == '?' && at[1] == '?' && (at[2] == '=' || at[2] == '/');
    *length = three ? 3 : *at ? 1 : 0;
    return !three ? *at : at[2] == '=' ? '#' : '\\';
}

/* The next character of a C text as the preprocessor sees it, where lines that end in a backslash go on; '\0' at the
 * end. */
static char next(const char **at)
{
    for (;;) {
        int length;
        const char c = spelt(*at, &length);
        const char *end = *at + length;
        if (c == '\\')
            end += strspn(end, " \t\f\v");
        if (c != '\\' || (*end != '\n' && *end != '\r')) {
            *at += length;
            return c;
        }
        *at = end + (end[0] == '\r' && end[1] == '\n' ? 2 : 1);
    }
}

static char peek(const char *at)
{
    return next(&at);
}

static bool ends_line(char c)
{
    return !c || c == '\n' || c == '\r';
}

/* Past a comment whose slash was read, if it is one. A comment of one line leaves the end of that. */
static bool skip_comment(const char **at)
{
    const char kind = peek(*at);
    if (kind == '/')
        while (!ends_line(peek(*at)))
            next(at);
    if (kind != '*')
        return kind == '/';
    next(at);
    for (char c = next(at); c && !(c == '*' && peek(*at) == '/'); c = next(at))
        ;
    next(at);
    return true;
}

static void skip_literal(const char **at, char quote)
{
    for (char c = peek(*at); !ends_line(c) && next(at) != quote; c = peek(*at))
        if (c == '\\')
            next(at);
}

/* Blanks and comments inside a line. */
static void skip_blanks(const char **at)
{
    for (;;) {
        const char *past = *at;
        const char c = next(&past);
        if (!(c == ' ' || c == '\t' || c == '\f' || c == '\v' || (c == '/' && skip_comment(&past))))
            return;
        *at = past;
    }
}

static bool read_word(const char **at, const char *word)
{
    const char *past = *at;
    while (*word && next(&past) == *word)
        word++;
    if (*word || is_of_name(peek(past)))
        return false;
    *at = past;
    return true;
}

static bool is_hash(char c, const char **at)
{
    return c == '#' || (c == '%' && peek(*at) == ':' && next(at));
}

/* The name in the next #define or #undef, wherever it stands; NULL: there is none. */
static const char *find_macro(const char **at)
{
    bool begins = true; /* nothing but blanks so far in this line */
    for (;;) {
        skip_blanks(at);
        const char c = next(at);
        if (!c)
            return NULL;
        if (begins && is_hash(c, at)) {
            skip_blanks(at);
            if (read_word(at, "define") || read_word(at, "undef")) {
                skip_blanks(at);
                if (is_of_name(peek(*at)))
                    return *at;
            }
        } else if (c == '"' || c == '\'') {
            skip_literal(at, c);
        }
        begins = ends_line(c);
    }
}

static void write_macro(struct text *to, const char *before, const char *name, const char *after)
{
    text_add(to, "%s", before);
    while (is_of_name(peek(name)))
        text_add(to, "%c", next(&name));
    text_add(to, "%s\n", after);
}

/* Names that the text defines or undefines are kept as they are before it, and given back after it. Compilers that do
 * not know the pragmas forget them, which is as good unless the driver's own built-ins are macros of that name. */
void mod_macros_write(struct text *to, const char *text, bool after)
{
    for (const char *at = text, *name; (name = find_macro(&at));) {
        if (after)
            write_macro(to, "#undef ", name, "");
        write_macro(to, after ? "#pragma pop_macro(\"" : "#pragma push_macro(\"", name, "\")");
    }
}
