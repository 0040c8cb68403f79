/* private_dir.h - directories private to this user, opened so that nobody else can redirect them
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions here and in file.h return 0, an errno, or PRIVATE_DIR_FOREIGN: it exists, but is a symbolic link, of
 * another type than wanted, another user's, or writable by others. */
#ifndef PRIVATE_DIR_H
#define PRIVATE_DIR_H

#include "base/why.h"

#include <sys/stat.h>

enum { PRIVATE_DIR_FOREIGN = -1 };

bool private_dir_is_own(const struct stat *st);

/* Opens the folder `path` ("bin/ab"; "": root itself) below `root` as *fd, which the caller closes. make: creates what
 * is missing of both. The path to root may contain symbolic links; root and what is below it may not be one. */
int private_dir_open(int *fd, const char *root, const char *path, bool make);

/* Calls visit() for each entry, with its name and its lstat(). visit() may remove and rename; returning false ends the
 * loop. For an entry that is gone, or that cannot be examined, all of *st is 0. */
int private_dir_each(int fd, bool (*visit)(void *user, int fd, const char *leaf, const struct stat *st), void *user);

#endif
