/* store_init.c - a store as options and environment ask for it
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/caller_struct.h"
#include "base/environment.h"
#include "cache/cache_dir.h"
#include "cache/store.h"

enum { DEFAULT_BYTES = 64 << 20 };

static uint64_t choose_size(size_t given, const struct surroundings *e, struct why *why)
{
    uint64_t bytes;
    if (given)
        return given;
    if (!environment_is_set(e->max_size))
        return DEFAULT_BYTES;
    if (cache_dir_size(&bytes, e->max_size))
        return bytes;
    if (!*why->text)
        why_set(why, 0, "cache: CLATTN_CACHE_MAX_SIZE must be a number of bytes, optionally followed by K, M or G");
    return DEFAULT_BYTES;
}

/* Whether the application keeps the blobs, or asked to and failed. */
static bool take_calls(struct store *s, const clattn_options *o, struct why *why)
{
    if (!o || !o->store)
        return false;
    return caller_struct_read(&s->calls, sizeof s->calls, o->store, "clattn_store", why) || s->calls.get ||
           s->calls.put;
}

void store_init(struct store *s, const clattn_options *o, struct why *why)
{
    const char *const given = o ? o->cache_dir : NULL;
    why->text[0] = '\0';
    s->max_bytes = DEFAULT_BYTES;
    if (take_calls(s, o, why))
        return;
    if (environment_is_borrowed()) {
        if (environment_is_set(given))
            why_set(why, 0, "cache: it is not used in a program that has other rights than its user");
        return;
    }
    struct surroundings e = { environment_get("CLATTN_CACHE_DIR"), environment_get("CLATTN_CACHE_MAX_SIZE"), { NULL } };
    for (int i = 0; i < ENVIRONMENT_HOMES && environment_homes[i].variable; i++)
        e.homes[i] = environment_get(environment_homes[i].variable);
    s->root = cache_dir_find(given, &e, why);
    s->max_bytes = choose_size(o ? o->cache_max_size : 0, &e, why);
}
