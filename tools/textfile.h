/* textfile.h - a whole text from or to a file; "-" is standard input or output
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXTFILE_H
#define TEXTFILE_H

#include "fault.h"

#include <stddef.h>

/* Reads all of it, at most `most` bytes, into *text (the caller's to free). argument: for words. Returns 0, or -1 with
 * `f` set. */
int textfile_read(const char *path, size_t most, char **text, size_t *n, const char *argument, struct fault *f);

/* Writes all of it; a regular file is replaced as a whole, or stays as it was. Likewise. */
int textfile_write(const char *path, const char *text, size_t n, const char *argument, struct fault *f);

#endif
