/* binary_cache.c - binaries of programs, one self-contained blob each
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/binary_cache.h"
#include "base/digest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* A blob; numbers are little-endian: magic, version, length of the header, digest of the key, lengths of key, binary
 * and file; the beginning of the key; the binary; a digest of everything before it. */
enum {
    AT_VERSION = 8,
    AT_HEADER_LEN = 12,
    AT_KEY_DIGEST = 16,
    AT_KEY_LEN = 48,
    AT_BINARY_LEN = 56,
    AT_FILE_LEN = 64,
    HEADER = 72,
    BLOB_MAX = HEADER + BINARY_CACHE_HEAD_MAX + BINARY_CACHE_MAX + DIGEST_BYTES
};
static const unsigned char magic[AT_VERSION] = { 'C', 'L', 'A', 'T', 'B', 'I', 'N', BINARY_CACHE_FORMAT };

/* What follows from the text of a key. */
struct entry {
    const char *key;
    size_t n, head; /* its length, and how much of it a blob holds */
    unsigned char digest[DIGEST_BYTES];
    char hex[DIGEST_HEX], name[sizeof "bin/ab/" + DIGEST_HEX];
};

static bool find_entry(struct entry *e, const char *key)
{
    e->key = key;
    e->n = strlen(key);
    e->head = e->n < BINARY_CACHE_HEAD_MAX ? e->n : BINARY_CACHE_HEAD_MAX;
    if (!e->n)
        return false;
    digest_of(e->digest, key, e->n);
    digest_hex(e->hex, e->digest);
    snprintf(e->name, sizeof e->name, "bin/%.2s/%s", e->hex, e->hex + 2);
    return true;
}

/* ---- Numbers ---- */

static uint64_t number(const unsigned char *from, int bytes)
{
    uint64_t n = 0;
    for (int i = bytes; i--;)
        n = n << 8 | from[i];
    return n;
}

static void put_number(unsigned char *to, int bytes, uint64_t n)
{
    for (int i = 0; i < bytes; i++, n >>= 8)
        to[i] = (unsigned char)n;
}

/* ---- Reading ---- */

/* Whether the lengths in the header add up to the size of the blob. */
static bool lengths_agree(const unsigned char *blob, size_t n)
{
    const uint64_t key = number(blob + AT_KEY_LEN, 8), binary = number(blob + AT_BINARY_LEN, 8);
    uint64_t sum = HEADER + DIGEST_BYTES + (key < BINARY_CACHE_HEAD_MAX ? key : BINARY_CACHE_HEAD_MAX);
    return number(blob + AT_FILE_LEN, 8) == n && binary && !__builtin_add_overflow(sum, binary, &sum) && sum == n;
}

static bool is_unharmed(const unsigned char *blob, size_t n)
{
    unsigned char digest[DIGEST_BYTES];
    digest_of(digest, blob, n - DIGEST_BYTES);
    return !memcmp(digest, blob + n - DIGEST_BYTES, DIGEST_BYTES);
}

static bool is_of(const unsigned char *blob, const struct entry *e)
{
    return number(blob + AT_KEY_LEN, 8) == e->n && !memcmp(blob + AT_KEY_DIGEST, e->digest, DIGEST_BYTES) &&
           !memcmp(blob + HEADER, e->key, e->head);
}

/* Returns NULL when the blob is good, else what is wrong with it. */
static const char *find_fault(const unsigned char *blob, size_t n, const struct entry *e)
{
    if (n < HEADER + DIGEST_BYTES || memcmp(blob, magic, sizeof magic))
        return "it is not one of clattn's";
    if (number(blob + AT_VERSION, 4) != BINARY_CACHE_FORMAT || number(blob + AT_HEADER_LEN, 4) != HEADER)
        return "its format is of another version";
    if (!lengths_agree(blob, n))
        return "its lengths do not agree";
    if (!is_unharmed(blob, n))
        return "it is damaged";
    return is_of(blob, e) ? NULL : "it belongs to something else";
}

bool binary_cache_load(struct store *s, const char *key, unsigned char **binary, size_t *n, bool *rejected)
{
    struct entry e;
    unsigned char *blob;
    size_t size;
    *rejected = false;
    if (!find_entry(&e, key) || crash_guard_is_poisoned(s, e.hex) || !store_read(s, e.name, BLOB_MAX, &blob, &size))
        return false;
    const char *const fault = find_fault(blob, size, &e);
    if (fault) {
        free(blob);
        store_remove(s, e.name);
        store_tell(s, STORE_LOGGED_DAMAGED, "cache: the binary %s is not used: %s; the program is compiled again",
                   e.name, fault);
        *rejected = true;
        return false;
    }
    *n = (size_t)number(blob + AT_BINARY_LEN, 8);
    memmove(blob, blob + HEADER + e.head, *n);
    *binary = blob;
    return true;
}

/* ---- Writing ---- */

static size_t blob_size(const struct entry *e, size_t n)
{
    return HEADER + e->head + n + DIGEST_BYTES;
}

static unsigned char *compose(const struct entry *e, const void *binary, size_t n)
{
    const size_t size = blob_size(e, n);
    unsigned char *const blob = malloc(size);
    if (!blob)
        return NULL;
    memcpy(blob, magic, sizeof magic);
    put_number(blob + AT_VERSION, 4, BINARY_CACHE_FORMAT);
    put_number(blob + AT_HEADER_LEN, 4, HEADER);
    memcpy(blob + AT_KEY_DIGEST, e->digest, DIGEST_BYTES);
    put_number(blob + AT_KEY_LEN, 8, e->n);
    put_number(blob + AT_BINARY_LEN, 8, n);
    put_number(blob + AT_FILE_LEN, 8, size);
    memcpy(blob + HEADER, e->key, e->head);
    memcpy(blob + HEADER + e->head, binary, n);
    digest_of(blob + size - DIGEST_BYTES, blob, size - DIGEST_BYTES);
    return blob;
}

bool binary_cache_save(struct store *s, const char *key, const void *binary, size_t n)
{
    struct entry e;
    unsigned char *blob = NULL;
    bool saved = false;
    if (n && n <= BINARY_CACHE_MAX && find_entry(&e, key) && !crash_guard_is_poisoned(s, e.hex) &&
        (blob = compose(&e, binary, n))) {
        saved = store_write(s, e.name, blob, blob_size(&e, n), false);
        store_trim(s, false);
    }
    free(blob);
    return saved;
}

void binary_cache_remove(struct store *s, const char *key)
{
    struct entry e;
    if (find_entry(&e, key))
        store_remove(s, e.name);
}

/* ---- Crashes ---- */

void binary_cache_enter(struct store *s, const char *key)
{
    struct entry e;
    if (find_entry(&e, key))
        crash_guard_mark(s, e.hex);
}

void binary_cache_leave(struct store *s, const char *key)
{
    struct entry e;
    if (find_entry(&e, key))
        crash_guard_unmark(s, e.hex);
}
