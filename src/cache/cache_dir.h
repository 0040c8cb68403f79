/* cache_dir.h - how it is decided where a store is and how large it may grow
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_DIR_H
#define CACHE_DIR_H

#include "cache/store.h"

#include <sys/types.h>

/* Whose rights the process has. */
struct identity {
    bool at_secure; /* the kernel's AT_SECURE: set-user-ID or capabilities */
    uid_t uid, euid;
    gid_t gid, egid;
};
bool cache_dir_is_borrowed(const struct identity *who); /* the process has other rights than its user */

/* Values of environment variables; "" and NULL mean that one is not set. */
struct surroundings {
    const char *cache_dir, *max_size, *xdg_cache_home, *home;
};

/* Returns the directory, allocated; NULL for none, with words in `why` where one was asked for and cannot be used. */
char *cache_dir_find(const char *given, const struct surroundings *e, struct why *why);

/* Reads a size such as "1000", "64K", "100M" or "2G", of at least one byte. */
bool cache_dir_size(uint64_t *bytes, const char *text);

#endif
