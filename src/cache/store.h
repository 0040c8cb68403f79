/* store.h - named blobs: in a directory, or wherever the application keeps them. Knows files, not OpenCL.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here is an error to the caller: what cannot be read is not there, what cannot be written is not kept. Every
 * call opens what it needs and closes it again, so that no descriptor outlives a call; any thread and process may
 * call at any time. store_init.c: store_init; store_trim.c: store_trim; crash_guard.c: marks; store.c: the rest. */
#ifndef STORE_H
#define STORE_H

#include "base/why.h"

/* Names of blobs, e.g. "bin/ab/cdef.." and "tune/0123../4567..": letters, digits, '-', '.' and at most two '/'; no part
 * is empty or begins with '.'. */
enum { STORE_NAME_MAX = 160, STORE_ROOT_MAX = 1024 };

struct store {
    char *root;            /* absolute, no '/' at its end, shorter than STORE_ROOT_MAX; NULL: no directory */
    clattn_store calls;    /* used instead where calls.get or calls.put is set; root is NULL then */
    bool read_only;        /* nothing is written */
    int given_up;          /* a write failed, and nothing more is written; atomic */
    int logged;            /* STORE_LOGGED_*: the kinds of trouble that were logged already; atomic */
    uint64_t max_bytes;    /* the limit for everything under bin/ */
    uint64_t faults;       /* reads and writes that failed for another reason than absence; atomic */
    void (*log)(void *user, const char *text); /* or NULL; called at most once for each kind of trouble */
    void *log_user;
};

/* Sets up a store as options and environment ask for. `store` must be zero except for log and log_user. o: NULL, or of
 * this version's size. In a program that has other rights than its user, neither the environment nor a directory is
 * used. Never fails; where a directory or a limit was asked for and cannot be used, `why` says so (else it is "").
 * Touches no file. */
void store_init(struct store *s, const clattn_options *o, struct why *why);
void store_clear(struct store *s);
bool store_is_none(const struct store *s);

/* Reads a whole blob of 1 to `most` bytes into *bytes, which the caller frees. */
bool store_read(struct store *s, const char *name, size_t most, unsigned char **bytes, size_t *n);

/* Keeps a blob of at least one byte, as a whole or not at all. durable: it reaches the disk before the call returns. */
bool store_write(struct store *s, const char *name, const void *bytes, size_t n, bool durable);
void store_remove(struct store *s, const char *name);

/* Calls visit() with the name of every blob below `folder` ("tune/0123.."), in no order; with none where the
 * application keeps them. visit() may remove blobs; returning false ends the walk. */
typedef bool store_visit(void *user, const char *name, uint64_t bytes);
void store_walk(struct store *s, const char *folder, store_visit *visit, void *user);

/* Removes the oldest blobs of bin/ beyond max_bytes and STORE_FILES_MAX, down to 80 % of these, and temporary files of
 * writers that are gone. Files whose names are not the library's stay. Works at most once an hour, unless `now`. */
enum { STORE_FILES_MAX = 4096 };
void store_trim(struct store *s, bool now);

/* Guards against crashes. Whatever may crash the process is marked before it is tried and unmarked when the try has
 * ended well. A mark whose process is gone means that it may have crashed (a process that reuses the number is told
 * apart by its start time). It is then tried once more; after a second death without a success in between, it is not
 * tried for a month. key: 64 hex digits; several threads and processes may mark the same key at a time. Where the
 * application keeps the blobs nothing is ever poisoned. Whether processes of other machines and containers are gone is
 * not known; their marks are valid for an hour. */
void crash_guard_mark(struct store *s, const char *key);
void crash_guard_unmark(struct store *s, const char *key);
bool crash_guard_is_poisoned(struct store *s, const char *key);

/* Logs a line, but only the first one of each `kind`. */
enum {
    STORE_LOGGED_FOREIGN = 1,    /* a directory or file is not private to this user */
    STORE_LOGGED_UNREADABLE = 2,
    STORE_LOGGED_UNWRITABLE = 4,
    STORE_LOGGED_DAMAGED = 8,
    STORE_LOGGED_POISONED = 16
};
void store_tell(struct store *s, int kind, const char *format, ...) PRINTF_LIKE(3, 4);

#endif
