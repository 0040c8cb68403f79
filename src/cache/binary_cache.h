/* binary_cache.h - binaries of programs, one self-contained blob each. Knows bytes, not OpenCL.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A damaged binary crashes drivers, so nothing reaches one that does not hash to what was written. That is integrity,
 * not authenticity: who can write the directory owns the account. */
#ifndef BINARY_CACHE_H
#define BINARY_CACHE_H

#include "cache/store.h"

enum { BINARY_CACHE_MAX = 64 << 20, BINARY_CACHE_HEAD_MAX = 1 << 12, BINARY_CACHE_FORMAT = 2 };

/* Loads the binary kept under `key`, a text of any length of everything that the binary depends on, into *binary, which
 * the caller frees. A blob holds the key's digest and length, and the first BINARY_CACHE_HEAD_MAX bytes of its text for
 * people who look. Returns false when there is none, when it was damaged or belongs to another key and was removed
 * (*rejected), or when it is known to crash here. A binary that is known to crash is not saved again either. */
bool binary_cache_load(struct store *s, const char *key, unsigned char **binary, size_t *n, bool *rejected);
bool binary_cache_save(struct store *s, const char *key, const void *binary, size_t n);
void binary_cache_remove(struct store *s, const char *key);

/* Called before and after the binary is handed to the driver. When processes die between the two calls twice, no later
 * process tries again (store.h). */
void binary_cache_enter(struct store *s, const char *key);
void binary_cache_leave(struct store *s, const char *key);

#endif
