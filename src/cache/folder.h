/* folder.h - open folders, private to this user, opened so that nobody else can redirect them
 * SPDX-License-Identifier: Apache-2.0
 *
 * Functions here and in file.h return 0, an errno, or FOLDER_FOREIGN: it exists, but is a symbolic link, of another
 * type than wanted, another user's, or writable by others. folder_NAME.c, one for each system, has what it differs in.
 * POSIX holds a descriptor, through which it finds what is inside. Windows holds the folder and those above it open,
 * so that nobody renames them, and finds what is inside by its path. */
#ifndef FOLDER_H
#define FOLDER_H

#include "base/why.h"

#include <time.h>

enum { FOLDER_FOREIGN = -1, FOLDER_DEPTH = 3, FOLDER_PATH = 2048 };

/* Written and read by folder_NAME.c and file_NAME.c only. */
struct folder {
    intptr_t at[FOLDER_DEPTH + 1]; /* POSIX: its descriptor; Windows: handles of root, of what is below, and its own */
    int n;                         /* how many of these are open */
    char *path;                    /* Windows: its name, allocated */
};

/* What a name in a folder stands for. */
enum folder_kind { FOLDER_UNKNOWN, FOLDER_FILE, FOLDER_FOLDER, FOLDER_OTHER };
struct folder_entry {
    enum folder_kind kind;   /* FOLDER_UNKNOWN: it is gone, or cannot be examined; the rest is 0 */
    bool own;                /* it is this user's, and only this user may write to it */
    uint64_t bytes, on_disk; /* its size, and what that takes of the disk */
    struct timespec changed; /* when its contents did, since 1970 */
};

/* Opens the folder `path` ("bin/ab"; "": root itself) below `root`; the caller closes it. make: creates what is missing
 * of both. The path to root may contain symbolic links; root and what is below it may not be one. */
int folder_open(struct folder *f, const char *root, const char *path, bool make);

/* Opens any folder, by whatever links it is reached and whosever it is. */
int folder_open_shared(struct folder *f, const char *path);
void folder_close(struct folder *f);

/* Calls visit() for each entry. visit() may remove and rename; returning false ends the loop. */
typedef bool folder_visit(void *user, const struct folder *f, const char *leaf, const struct folder_entry *e);
int folder_each(const struct folder *f, folder_visit *visit, void *user);

/* What the name stands for, links not followed. */
int folder_look(const struct folder *f, const char *leaf, struct folder_entry *e);
int folder_remove(const struct folder *f, const char *leaf);                                /* a file */
int folder_move(const struct folder *f, const char *leaf, const struct folder *to, const char *name); /* likewise */

/* Whether the status says that something is missing, or the folder it was in. */
bool folder_is_missing(int status);

/* ---- Names ---- */

/* Whether the path leads to one place, whatever the working directory is. */
bool folder_is_absolute(const char *path);

/* The length of an absolute path without trailing characters that would lead through a link at its end, and whether
 * what is left of it is the root of all files. */
size_t folder_length(const char *path);
bool folder_is_root(const char *path, size_t length);

#endif
