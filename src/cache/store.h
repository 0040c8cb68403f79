/* store.h - named blobs: in a directory, or wherever the application keeps them. Knows files, not OpenCL.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Nothing here is an error to the caller: what cannot be read is not there, what cannot be written is not kept. Every
 * call opens what it needs and closes it again, so that no descriptor outlives a call; any thread and process may
 * call at any time. store_init.c: store_init; store_trim.c: store_trim; crash_guard.c: marks; store.c: the rest. */
#ifndef STORE_H
#define STORE_H

#include "base/why.h"

/* "bin/ab/cdef..", "tune/0123../4567..": letters, digits, '-', '.' and '/', at most two '/', no part that is empty or
 * begins with '.'. */
enum { STORE_NAME_MAX = 160, STORE_ROOT_MAX = 1024 };

struct store {
    char *root;            /* absolute, no '/' at its end, shorter than STORE_ROOT_MAX; NULL: no directory */
    clattn_store calls;    /* in its place where calls.get or calls.put is set: root is NULL then */
    bool read_only;        /* nothing is written */
    int given_up;          /* a write failed: no more of them; atomic */
    int told;              /* STORE_TOLD_*, the kinds of trouble that the log has a line of; atomic */
    uint64_t max_bytes;    /* of everything under bin/ */
    uint64_t faults;       /* reads and writes that failed, other than by absence; atomic */
    void (*log)(void *user, const char *text); /* or NULL; a line for each kind of trouble, at most a few */
    void *log_user;
};

/* Where options and environment lead to; `store` is zero but for log and log_user before. o: NULL, or of our own size.
 * In a program that runs with other rights than its user's neither the environment nor a directory is used. Never fails:
 * words in why (else "") where a directory or a limit was asked for and cannot be. Touches no file. */
void store_init(struct store *s, const clattn_options *o, struct why *why);
void store_clear(struct store *s);
bool store_is_none(const struct store *s);

/* A whole blob of 1 to `most` bytes into *bytes (the caller's to free). */
bool store_read(struct store *s, const char *name, size_t most, unsigned char **bytes, size_t *n);

/* Keeps a blob of at least a byte: whole or not at all. durable: it reaches the disk before this returns. */
bool store_write(struct store *s, const char *name, const void *bytes, size_t n, bool durable);
void store_remove(struct store *s, const char *name);

/* Calls visit with the name of every blob below `folder` ("tune/0123.."), in no order; none where the application keeps
 * them. visit may remove. false from it ends the walk. */
void store_walk(struct store *s, const char *folder, bool (*visit)(void *user, const char *name, uint64_t bytes),
                void *user);

/* Removes the oldest blobs of bin/ beyond max_bytes and STORE_FILES_MAX, down to 80 %, leftovers of writers that are
 * gone, and nothing that does not look like ours. Does its work at most hourly, unless `now`. */
enum { STORE_FILES_MAX = 4096 };
void store_trim(struct store *s, bool now);

/* What may crash the process is marked before and unmarked after. A mark whose process is gone (another one that got its
 * number is told apart by when it began) says that it may have: the thing is tried once more, and after a second death
 * without a success between, it is left alone for a month. unmark: the try ended well. key: 64 hex
 * digits. A key may be marked by several threads and processes at a time. Nothing is ever poisoned where the application
 * keeps the blobs. Of processes of other machines and containers it is not known whether they are gone: an hour is what
 * their marks live. */
void crash_guard_mark(struct store *s, const char *key);
void crash_guard_unmark(struct store *s, const char *key);
bool crash_guard_is_poisoned(struct store *s, const char *key);

/* A line for the log, the first time that `kind` is told. */
enum {
    STORE_TOLD_FOREIGN = 1,    /* a directory or file that is not this user's alone */
    STORE_TOLD_UNREADABLE = 2,
    STORE_TOLD_UNWRITABLE = 4,
    STORE_TOLD_DAMAGED = 8,
    STORE_TOLD_POISONED = 16
};
void store_tell(struct store *s, int kind, const char *format, ...) __attribute__((format(printf, 3, 4)));

#endif
