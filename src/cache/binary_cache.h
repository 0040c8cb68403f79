/* binary_cache.h - binaries of programs, one self-contained blob each. Knows bytes, not OpenCL.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A damaged binary crashes drivers, so nothing reaches one that does not hash to what was written. That is integrity,
 * not authenticity: who can write the directory owns the account. */
#ifndef BINARY_CACHE_H
#define BINARY_CACHE_H

#include "cache/store.h"

enum { BINARY_CACHE_MAX = 64 << 20, BINARY_CACHE_HEAD_MAX = 1 << 12, BINARY_CACHE_FORMAT = 2 };

/* The binary kept under `key`, a text of everything that it depends on, as long as it may be, into *binary (the caller's to
 * free). Kept are the key's digest and length, and of its text the first BINARY_CACHE_HEAD_MAX bytes, for whoever looks. false:
 * there is none, or it is damaged or another's and was taken away (*rejected), or it is known to crash here. What is
 * known to crash is not saved again either. */
bool binary_cache_load(struct store *s, const char *key, unsigned char **binary, size_t *n, bool *rejected);
bool binary_cache_save(struct store *s, const char *key, const void *binary, size_t n);
void binary_cache_remove(struct store *s, const char *key);

/* Around handing the binary to the driver: should processes die between the two twice, no later one tries again (store.h). */
void binary_cache_enter(struct store *s, const char *key);
void binary_cache_leave(struct store *s, const char *key);

#endif
