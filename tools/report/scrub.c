/* scrub.c - words of drivers without what tells whose machine it is
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/scrub.h"

#include "tools/system/machine.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

enum { NAME_LEAST = 3 };

void scrub_name(struct scrub *s, const char *name)
{
    if (strlen(name) < NAME_LEAST || s->n == SCRUB_NAMES)
        return;
    snprintf(s->names[s->n++], SCRUB_NAME, "%s", name);
}

void scrub_begin(struct scrub *s)
{
    char name[SCRUB_NAME];
    memset(s, 0, sizeof *s);
    for (int i = 0; machine_own_name(i, name, sizeof name) == 0; i++) {
        scrub_name(s, name);
        name[strcspn(name, ".")] = '\0'; /* of a host: without its domain */
        scrub_name(s, name);
    }
}

static int is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

/* Whether a word ends there: nothing of its kind goes on. */
static int ends(const char *at)
{
    return !is_word(*at);
}

/* ---- What is found at a place. Each returns its length, or 0. ---- */

/* A pattern: x is a hexadecimal digit, anything else itself. */
static size_t match(const char *at, const char *pattern)
{
    size_t n = 0;
    for (; pattern[n]; n++)
        if (pattern[n] == 'x' ? !isxdigit((unsigned char)at[n]) : at[n] != pattern[n])
            return 0;
    return ends(at + n) ? n : 0;
}

static size_t id_at(const char *at)
{
    static const char *const patterns[] = {
        "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx", "xxxx:xx:xx.x", "xxxxxxxx:xx:xx.x", "xx:xx.x", "xx:xx:xx:xx:xx:xx",
    };
    size_t n = 0;
    for (size_t i = 0; i < sizeof patterns / sizeof *patterns && !n; i++)
        n = match(at, patterns[i]);
    return n;
}

static size_t name_at(const struct scrub *s, const char *at)
{
    for (int i = 0; i < s->n; i++) {
        const size_t n = strlen(s->names[i]);
        if (strncmp(at, s->names[i], n) == 0 && ends(at + n))
            return n;
    }
    return 0;
}

/* Up to the end of a path: folders' names may have blanks, which nobody can tell from the words behind. */
static size_t token(const char *at)
{
    return strcspn(at, " \t\r\n\"'`()[]<>|,;=");
}

static size_t count(const char *at, size_t n, char c)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i++)
        found += at[i] == c;
    return found;
}

static int is_path(const char *at, size_t n)
{
    const int drive = n > 2 && isalpha((unsigned char)at[0]) && at[1] == ':' && (at[2] == '\\' || at[2] == '/');
    if (drive || count(at, n, '\\') || count(at, n, '/') > 1)
        return n > 1;
    return n > 1 && (at[0] == '/' || !strncmp(at, "~/", 2) || !strncmp(at, "./", 2));
}

static size_t path_at(const char *at)
{
    const size_t n = token(at);
    if (!is_path(at, n))
        return 0;
    const size_t drive = n > 2 && at[1] == ':' ? 2 : 0;
    const size_t name = drive + strcspn(at + drive, ":"); /* FILE:LINE:COLUMN */
    return name < n ? name : n;
}

void scrub_text(const struct scrub *s, const char *from, char *to, size_t len)
{
    size_t n = 0;
    for (const char *at = from; *at && n + 1 < len;) {
        const int fresh = at == from || !is_word(at[-1]);
        const int begins = at == from || strchr(" \t\r\n\"'`()[]<>|,;=:", at[-1]) != NULL;
        size_t taken = begins ? path_at(at) : 0;
        const char *instead = "(path)";
        if (!taken && fresh && (taken = id_at(at)))
            instead = "(id)";
        if (!taken && fresh && (taken = name_at(s, at)))
            instead = "(name)";
        if (taken) {
            n += (size_t)snprintf(to + n, len - n, "%s", instead);
            n = n < len ? n : len - 1;
            at += taken;
        } else {
            to[n++] = (unsigned char)*at < 0x20 || *at == 0x7f ? ' ' : *at;
            at++;
        }
    }
    to[n] = '\0';
}
