/* file.h - whole files in an open folder: read, replaced, named at random. Status as in private_dir.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILE_H
#define FILE_H

#include "base/why.h"

#include <time.h>

/* Reads a file of 1 to `most` bytes. EFBIG: it is empty or larger; EAGAIN: it changed while it was read. */
struct file {
    unsigned char *bytes; /* the caller frees them */
    size_t n;
    struct timespec changed;
};
int file_read(struct file *out, int folder, const char *leaf, size_t most);

/* Creates or replaces the file, as a whole or not at all. durable: returns when its contents and its name have reached
 * the disk. */
int file_write(int folder, const char *leaf, const void *bytes, size_t n, bool durable);

/* Sets the file's time to now. */
int file_touch(int folder, const char *leaf);

/* Whether the name is that of a temporary file of file_write(). */
bool file_is_temp(const char *leaf);

/* Writes `digits` hex digits that nobody can guess, and NUL. digits is even and at most 64. */
int file_random(char *hex, size_t digits);
bool file_is_hex(const char *text, size_t digits); /* exactly `digits` of them, in lower case */

/* The current time in seconds since 1970, to be compared with st_mtim. */
int64_t file_now(void);

#endif
