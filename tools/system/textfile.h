/* textfile.h - a whole text from or to a file; "-" is standard input or output
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXTFILE_H
#define TEXTFILE_H

#include "tools/system/fault.h"

#include <stddef.h>

/* Reads the whole file, at most `most` bytes, into *text, which the caller frees. argument: the option's name, for
 * errors. Returns 0, or -1 with `f` set. */
int textfile_read(const char *path, size_t most, char **text, size_t *n, const char *argument, struct fault *f);

/* Whether the path is "-", or leads to the file or pipe that standard output goes to. */
int textfile_is_stdout(const char *path);

/* Writes the whole text; a regular file is replaced as a whole or stays as it was. Returns as textfile_read() does. */
int textfile_write(const char *path, const char *text, size_t n, const char *argument, struct fault *f);

#endif
