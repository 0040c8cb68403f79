/* root.c - where a store is and how large it may grow
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "root.h"

#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

enum { DEFAULT_BYTES = 64 << 20 };

bool root_is_borrowed(const struct identity *who)
{
    return who->at_secure || who->uid != who->euid || who->gid != who->egid;
}

static bool is_borrowed(void)
{
    const struct identity who = { getauxval(AT_SECURE) != 0, getuid(), geteuid(), getgid(), getegid() };
    return root_is_borrowed(&who);
}

/* What a log or a terminal would stumble over. */
static bool is_printable(const char *path)
{
    for (; *path; path++)
        if ((unsigned char)*path < ' ' || *path == 127)
            return false;
    return true;
}

/* Length of the path without what would make open() follow a symbolic link at its end. */
static size_t length_of(const char *path)
{
    size_t n = strlen(path);
    while (n && (path[n - 1] == '/' || (path[n - 1] == '.' && n > 1 && path[n - 2] == '/')))
        n--;
    return n;
}

/* base below, malloced, where that is a place to keep things. */
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

char *root_find(const char *given, const struct surroundings *e, struct why *why)
{
    if (given)
        return *given ? path_of(given, "", "cache_dir", why) : NULL;
    if (e->cache_dir)
        return *e->cache_dir && strcmp(e->cache_dir, "off") ? path_of(e->cache_dir, "", "CLATTN_CACHE_DIR", why) : NULL;
    if (is_set(e->xdg_cache_home)) {
        char *const path = path_of(e->xdg_cache_home, "/clattn", "XDG_CACHE_HOME", why);
        if (path || *e->xdg_cache_home == '/') /* what is relative is to be ignored, says its specification */
            return path;
    }
    return is_set(e->home) ? path_of(e->home, "/.cache/clattn", "HOME", why) : NULL;
}

bool root_size(uint64_t *bytes, const char *text)
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

static uint64_t choose_size(size_t given, const struct surroundings *e, struct why *why)
{
    uint64_t bytes;
    if (given)
        return given;
    if (!is_set(e->max_size))
        return DEFAULT_BYTES;
    if (root_size(&bytes, e->max_size))
        return bytes;
    if (!*why->text)
        why_set(why, 0, "cache: CLATTN_CACHE_MAX_SIZE is no number of bytes, with K, M or G behind it or not");
    return DEFAULT_BYTES;
}

/* Whether the application keeps the blobs, or wanted to. */
static bool take_calls(struct store *s, const clattn_options *o, struct why *why)
{
    if (!o || !o->store)
        return false;
    return struct_read(&s->calls, sizeof s->calls, o->store, "clattn_store", why) || s->calls.get || s->calls.put;
}

void store_init(struct store *s, const clattn_options *o, struct why *why)
{
    const char *const given = o ? o->cache_dir : NULL;
    why->text[0] = '\0';
    s->max_bytes = DEFAULT_BYTES;
    if (take_calls(s, o, why))
        return;
    if (is_borrowed()) {
        if (is_set(given))
            why_set(why, 0, "cache: not used in a program that runs with other rights than its user's");
        return;
    }
    const struct surroundings e = { secure_getenv("CLATTN_CACHE_DIR"), secure_getenv("CLATTN_CACHE_MAX_SIZE"),
                                    secure_getenv("XDG_CACHE_HOME"), secure_getenv("HOME") };
    s->root = root_find(given, &e, why);
    s->max_bytes = choose_size(o ? o->cache_max_size : 0, &e, why);
}

void store_clear(struct store *s)
{
    free(s->root);
    s->root = NULL;
}
