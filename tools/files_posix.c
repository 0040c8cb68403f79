/* files_posix.c - files.h for POSIX
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "files.h"

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

const char *files_resolve(char **out, int *mode, const char *path)
{
    struct stat s;
    const int there = lstat(path, &s) == 0;
    *out = there && S_ISLNK(s.st_mode) ? realpath(path, NULL) : strdup(path);
    if (!*out || (there && stat(*out, &s) != 0))
        return strerror(errno);
    *mode = there ? (int)(s.st_mode & 0777) : -1;
    return there && !S_ISREG(s.st_mode) ? irregular : NULL;
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
