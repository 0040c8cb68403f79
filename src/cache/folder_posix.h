/* folder_posix.h - what folder_posix.c and file_posix.c share
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLDER_POSIX_H
#define FOLDER_POSIX_H

#include "cache/folder.h"

#include <sys/stat.h>

/* shared: root may have written it, too. */
bool folder_is_own(const struct stat *st, bool shared);
int folder_descriptor(const struct folder *f);

/* When the contents changed last. */
#ifdef __APPLE__
#define FOLDER_MTIM st_mtimespec
#else
#define FOLDER_MTIM st_mtim
#endif

#endif
