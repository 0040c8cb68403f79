/* file.h - whole files in an open folder: read, replaced, named at random. Status as in folder.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILE_H
#define FILE_H

#include "cache/folder.h"

/* Reads a file of 1 to `most` bytes, this user's, by no link. EFBIG: it is empty or larger; EAGAIN: it changed while it
 * was read. */
struct file {
    unsigned char *bytes; /* the caller frees them */
    size_t n;
    struct timespec changed;
};
int file_read(struct file *out, const struct folder *f, const char *leaf, size_t most);

/* Likewise, by whatever links; the administrator may have written it, too. */
int file_read_shared(struct file *out, const struct folder *f, const char *leaf, size_t most);

/* Creates or replaces the file, as a whole or not at all. durable: returns when its contents and its name have reached
 * the disk. */
int file_write(const struct folder *f, const char *leaf, const void *bytes, size_t n, bool durable);

/* Sets the file's time to now. */
int file_touch(const struct folder *f, const char *leaf);

/* Whether the name is that of a temporary file of file_write(). */
bool file_is_temp(const char *leaf);

/* Writes `digits` hex digits that nobody can guess, and NUL. digits is even and at most 64. */
int file_random(char *hex, size_t digits);
bool file_is_hex(const char *text, size_t digits); /* exactly `digits` of them, in lower case */

/* The current time in seconds since 1970, to be compared with folder_entry.changed. */
int64_t file_now(void);

/* ---- The steps of the above, in file_NAME.c for each system ---- */

int file_read_as(struct file *out, const struct folder *f, const char *leaf, size_t most, bool shared);

/* Creates a new file, never opening an existing one; nothing of it stays after a failure. */
int file_create(const struct folder *f, const char *leaf, const void *bytes, size_t n, bool durable);

/* Gives a file another's name and place. durable: returns when the name has reached the disk. */
int file_replace(const struct folder *f, const char *temp, const char *leaf, bool durable);

/* Sets the file's time, in seconds since 1970. */
int file_set_time(const struct folder *f, const char *leaf, int64_t seconds);

#endif
