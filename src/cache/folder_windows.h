/* folder_windows.h - what folder_windows.c and file_windows.c share
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FOLDER_WINDOWS_H
#define FOLDER_WINDOWS_H

#include "cache/folder.h"

#include <windows.h>

/* Others may read, write, rename and remove at the same time, as on POSIX. */
enum { FOLDER_SHARE_ALL = FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE };

/* Writes the path of an entry. Returns 0 or ENAMETOOLONG. */
int folder_path(char to[FOLDER_PATH], const struct folder *f, const char *leaf);

/* Opens what is there under a name, folders too, itself and not where a link leads; the caller closes it. */
int folder_open_entry(HANDLE *h, const char *path, DWORD access, DWORD share);

/* What an open handle stands for. */
int folder_examine(HANDLE h, struct folder_entry *e);

#endif
