/* cache_dir.h - how it is decided where a store is and how large it may grow
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_DIR_H
#define CACHE_DIR_H

#include "cache/store.h"

#include <sys/types.h>

/* On whose behalf the process runs. */
struct identity {
    bool at_secure; /* what the kernel says: set-user-ID, capabilities */
    uid_t uid, euid;
    gid_t gid, egid;
};
bool cache_dir_is_borrowed(const struct identity *who); /* with other rights than its user's */

/* What the environment says, "" and NULL where it says nothing. */
struct surroundings {
    const char *cache_dir, *max_size, *xdg_cache_home, *home;
};

/* The directory, malloced; NULL for none, with words where one was asked for. */
char *cache_dir_find(const char *given, const struct surroundings *e, struct why *why);

/* "1000", "64K", "100M", "2G"; at least a byte. */
bool cache_dir_size(uint64_t *bytes, const char *text);

#endif
