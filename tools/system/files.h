/* files.h - what programs ask of the operating system about files; one file for each system has the answers
 * SPDX-License-Identifier: Apache-2.0
 *
 * Descriptors are for read(), write() and close(), and files are read and written as they are. */
#ifndef FILES_H
#define FILES_H

#include <stddef.h>
#include <stdint.h>

/* Opens a regular file for reading; *bytes receives its size. A FIFO does not hold it up. Returns NULL, or in words
 * what is wrong. */
const char *files_open(int *fd, const char *path, uint64_t *bytes);

/* Where the path really leads, because renaming onto a link, a device or a folder would replace it: *out, allocated,
 * and *mode, the permissions of what is there, or -1 for nothing. Returns NULL, or in words what is wrong. */
const char *files_resolve(char **out, int *mode, const char *path);

/* Whether a file can appear at the path, in place of a regular one or as a new one: what can be known before its data
 * is there. Returns NULL, or in words what is in the way. */
const char *files_may_appear(const char *path);

/* Whether files can be made in the folder, which may have to be made first. Returns NULL, or in words what is in the
 * way. */
const char *files_may_keep(const char *folder);

/* Whether the path leads to the file or pipe that standard output goes to. */
int files_is_stdout(const char *path);

/* Creates a new file for writing, never opening what somebody placed there; mode -1: as any new file. Returns a
 * descriptor, or -1 with errno. */
int files_create(const char *path, int mode);

/* Creates a file whose name is the text, with the X at its end replaced, for writing. Likewise. */
int files_create_temporary(char *path);

/* Gives an open file these permissions; -1: as any new file. Returns 0, or -1 with errno. */
int files_permit(int fd, int mode);

/* Renames, onto a file that is there too. Returns 0, or -1 with errno. */
int files_rename(const char *from, const char *to);

/* Whether something is there and no regular file: a pipe, a device, a link to something unknown. */
int files_is_special(const char *path);

/* Makes a folder, if it is not there. Returns 0, or -1 with errno. */
int files_make_folder(const char *path);

/* The length of the folder in front of a file's name, separator included. */
size_t files_folder(const char *path);

#ifndef HAVE_STRNDUP
char *strndup(const char *text, size_t n); /* C23's */
#endif

#endif
