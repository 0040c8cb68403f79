/* cache_dir.c - where a store is and how large it may grow
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/cache_dir.h"

#include <stdlib.h>
#include <string.h>

bool cache_dir_is_borrowed(const struct identity *who)
{
    return who->at_secure || who->uid != who->euid || who->gid != who->egid;
}

/* Whether a log or a terminal can show the text. */
static bool is_printable(const char *path)
{
    for (; *path; path++)
        if ((unsigned char)*path < ' ' || *path == 127)
            return false;
    return true;
}

/* The length of the path without trailing characters that would make open() follow a symbolic link at its end. */
static size_t length_of(const char *path)
{
    size_t n = strlen(path);
    while (n && (path[n - 1] == '/' || (path[n - 1] == '.' && n > 1 && path[n - 2] == '/')))
        n--;
    return n;
}

/* Returns base followed by below, allocated, if files may be kept there. */
static char *path_of(const char *base, const char *below, const char *name, struct why *why)
{
    const size_t n = length_of(base), m = strlen(below);
    const char *const wrong = *base != '/'              ? "is not absolute"
                              : !n && !m                ? "is the root of all files"
                              : n + m >= STORE_ROOT_MAX ? "is too long"
                              : !is_printable(base)     ? "holds a control character"
                                                        : NULL;
    if (wrong) {
        why_set(why, 0, "cache: %s %s: \"%.200s\"", name, wrong, is_printable(base) ? base : "?");
        return NULL;
    }
    char *const path = malloc(n + m + 1);
    if (!path) {
        why_set(why, 0, "cache: no memory for the name of its directory");
        return NULL;
    }
    memcpy(path, base, n);
    memcpy(path + n, below, m + 1);
    return path;
}

static bool is_set(const char *value)
{
    return value && *value;
}

char *cache_dir_find(const char *given, const struct surroundings *e, struct why *why)
{
    if (given)
        return *given ? path_of(given, "", "cache_dir", why) : NULL;
    if (e->cache_dir)
        return *e->cache_dir && strcmp(e->cache_dir, "off") ? path_of(e->cache_dir, "", "CLATTN_CACHE_DIR", why) : NULL;
    if (is_set(e->xdg_cache_home)) {
        char *const path = path_of(e->xdg_cache_home, "/clattn", "XDG_CACHE_HOME", why);
        if (path || *e->xdg_cache_home == '/') /* the XDG specification says that relative paths are ignored */
            return path;
    }
    return is_set(e->home) ? path_of(e->home, "/.cache/clattn", "HOME", why) : NULL;
}

bool cache_dir_size(uint64_t *bytes, const char *text)
{
    static const char suffixes[] = "KMG";
    const char *suffix;
    uint64_t n = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        if (__builtin_mul_overflow(n, 10, &n) || __builtin_add_overflow(n, *text - '0', &n))
            return false;
    if (*text && (suffix = strchr(suffixes, *text))) {
        if (__builtin_mul_overflow(n, UINT64_C(1) << 10 * (suffix - suffixes + 1), &n))
            return false;
        text++;
    }
    *bytes = n;
    return n && !*text;
}
