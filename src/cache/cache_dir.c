/* cache_dir.c - where a store is and how large it may grow
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/cache_dir.h"
#include "cache/folder.h"

#include <stdlib.h>
#include <string.h>

/* Whether a log or a terminal can show the text. */
static bool is_printable(const char *path)
{
    for (; *path; path++)
        if ((unsigned char)*path < ' ' || *path == 127)
            return false;
    return true;
}

/* Returns base followed by below, allocated, if files may be kept there. */
static char *path_of(const char *base, const char *below, const char *name, struct why *why)
{
    const size_t n = folder_length(base), m = strlen(below);
    const char *const wrong = !folder_is_absolute(base) ? "is not absolute"
                              : folder_is_root(base, n) && !m ? "is the root of all files"
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

char *cache_dir_find(const char *given, const struct surroundings *e, struct why *why)
{
    if (given)
        return *given ? path_of(given, "", "cache_dir", why) : NULL;
    if (e->cache_dir)
        return *e->cache_dir && strcmp(e->cache_dir, "off") ? path_of(e->cache_dir, "", "CLATTN_CACHE_DIR", why) : NULL;
    for (int i = 0; i < ENVIRONMENT_HOMES && environment_homes[i].variable; i++) {
        if (!environment_is_set(e->homes[i]))
            continue;
        char *const path = path_of(e->homes[i], environment_homes[i].below, environment_homes[i].variable, why);
        if (path || folder_is_absolute(e->homes[i])) /* the XDG specification says that relative paths are ignored */
            return path;
    }
    return NULL;
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
