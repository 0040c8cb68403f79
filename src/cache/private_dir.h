/* private_dir.h - directories of this user alone, opened so that nobody else can lead elsewhere. Knows paths, not stores.
 * SPDX-License-Identifier: Apache-2.0
 *
 * Status here and in file.h: 0, an errno, or PRIVATE_DIR_FOREIGN: it is there, but a symbolic link, not of the type wanted,
 * another user's, or open to others for writing. */
#ifndef PRIVATE_DIR_H
#define PRIVATE_DIR_H

#include "base/why.h"

#include <sys/stat.h>

enum { PRIVATE_DIR_FOREIGN = -1 };

bool private_dir_is_own(const struct stat *st);

/* The folder `path` ("bin/ab"; "": root itself) below `root` into *fd, the caller's to close. make: what is missing of
 * both is made. The way to root may lead over symbolic links, root and what is below it may not be one. */
int private_dir_open(int *fd, const char *root, const char *path, bool make);

/* Calls visit for each entry: its name and what it is, links not followed. visit may remove and rename. false from it
 * ends the reading. What is gone meanwhile, or cannot be looked at, is nothing: all of *st is 0. */
int private_dir_each(int fd, bool (*visit)(void *user, int fd, const char *leaf, const struct stat *st), void *user);

#endif
