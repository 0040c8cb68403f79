/* file.h - whole files in an open folder: read, replaced, named at random. Status as in private_dir.h.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FILE_H
#define FILE_H

#include "base/why.h"

#include <time.h>

/* A file of 1 to `most` bytes. EFBIG: it has none, or more; EAGAIN: it was changed while being read. */
struct file {
    unsigned char *bytes; /* the caller's to free */
    size_t n;
    struct timespec changed;
};
int file_read(struct file *out, int folder, const char *leaf, size_t most);

/* Makes the file or replaces it, whole or not at all. durable: both it and its name have reached the disk. */
int file_write(int folder, const char *leaf, const void *bytes, size_t n, bool durable);

/* The file was used, or begins to count, now. */
int file_touch(int folder, const char *leaf);

/* Whether it has the name of a file that file_write() has not finished. */
bool file_is_temp(const char *leaf);

/* `digits` hex digits that nobody can guess, and NUL; digits is even and at most 64. */
int file_random(char *hex, size_t digits);
bool file_is_hex(const char *text, size_t digits); /* exactly that many, lower case */

/* Seconds since 1970 of what st_mtim is compared with. */
int64_t file_now(void);

#endif
