/* files_posix.c - files.h for POSIX
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const char irregular[] = "it is not a regular file";

const char *files_open(int *fd, const char *path, uint64_t *bytes)
{
    struct stat s;
    const char *why = NULL;
    *fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    if (*fd < 0)
        return strerror(errno);
    if (fstat(*fd, &s) != 0)
        why = strerror(errno);
    else if (!S_ISREG(s.st_mode))
        why = irregular;
    else
        *bytes = (uint64_t)s.st_size;
    if (why)
        (void)close(*fd);
    return why;
}

/* What an output cannot take the place of, in words. */
static const char *what_it_is(mode_t mode)
{
    return S_ISREG(mode)    ? NULL
           : S_ISDIR(mode)  ? "it is a folder"
           : S_ISFIFO(mode) ? "it is a pipe, and an output takes the place of a regular file: name one"
           : S_ISCHR(mode)  ? "it is a device, and an output takes the place of a regular file: name one"
                            : irregular;
}

const char *files_resolve(char **out, int *mode, const char *path)
{
    struct stat s;
    *out = NULL;
    *mode = -1;
    if (stat(path, &s) == 0 && !S_ISREG(s.st_mode)) /* links of /proc to pipes lead to no path */
        return what_it_is(s.st_mode);
    const int there = lstat(path, &s) == 0;
    *out = there && S_ISLNK(s.st_mode) ? realpath(path, NULL) : strdup(path);
    if (!*out || (there && stat(*out, &s) != 0))
        return strerror(errno);
    *mode = there ? (int)(s.st_mode & 0777) : -1;
    return there ? what_it_is(s.st_mode) : NULL;
}

int files_is_stdout(const char *path)
{
    struct stat s, out;
    return stat(path, &s) == 0 && fstat(STDOUT_FILENO, &out) == 0 && s.st_dev == out.st_dev &&
           s.st_ino == out.st_ino && !S_ISCHR(s.st_mode);
}

const char *files_may_appear(const char *path)
{
    char *real = NULL, *folder = NULL;
    int mode;
    const char *why = files_resolve(&real, &mode, path);
    if (!why && files_is_stdout(real))
        why = "it is standard output, where the report goes";
    if (!why) {
        const size_t n = files_folder(real);
        folder = n ? strndup(real, n) : strdup(".");
        if (!folder || access(folder, W_OK | X_OK) != 0)
            why = strerror(errno);
    }
    free(folder);
    free(real);
    return why;
}

const char *files_may_keep(const char *folder)
{
    struct stat s;
    if (!*folder) /* no folder has that name, and there is no room for another one below */
        return strerror(ENOENT);
    char *const at = strdup(folder);
    const char *why = at ? NULL : strerror(errno);
    while (at && stat(at, &s) != 0 && errno == ENOENT) { /* the next one above */
        char *const slash = strrchr(at, '/');
        if (!slash || slash == at)
            strcpy(at, slash ? "/" : ".");
        else
            *slash = '\0';
    }
    if (at && stat(at, &s) != 0)
        why = strerror(errno);
    else if (at && !S_ISDIR(s.st_mode))
        why = strerror(ENOTDIR);
    else if (at && access(at, W_OK | X_OK) != 0)
        why = strerror(errno);
    free(at);
    return why;
}

int files_create(const char *path, int mode)
{
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, mode < 0 ? 0666 : mode);
}

int files_create_temporary(char *path)
{
    return mkstemp(path);
}

int files_permit(int fd, int mode)
{
    if (mode >= 0)
        return fchmod(fd, (mode_t)mode);
    const mode_t mask = umask(0);
    (void)umask(mask);
    return fchmod(fd, 0666 & ~mask);
}

int files_rename(const char *from, const char *to)
{
    return rename(from, to);
}

int files_is_special(const char *path)
{
    struct stat s;
    return lstat(path, &s) == 0 && !S_ISREG(s.st_mode);
}

int files_make_folder(const char *path)
{
    return mkdir(path, 0777) != 0 && errno != EEXIST ? -1 : 0;
}

size_t files_folder(const char *path)
{
    const char *const slash = strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}
