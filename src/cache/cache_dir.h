/* cache_dir.h - how it is decided where a store is and how large it may grow
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_DIR_H
#define CACHE_DIR_H

#include "base/environment.h"
#include "cache/store.h"

/* Values of environment variables; "" and NULL mean that one is not set. */
struct surroundings {
    const char *cache_dir, *max_size, *homes[ENVIRONMENT_HOMES]; /* the last are those of environment_homes */
};

/* Returns the directory, allocated; NULL for none, with words in `why` where one was asked for and cannot be used. */
char *cache_dir_find(const char *given, const struct surroundings *e, struct why *why);

/* Reads a size such as "1000", "64K", "100M" or "2G", of at least one byte. */
bool cache_dir_size(uint64_t *bytes, const char *text);

#endif
