/* files_windows.c - files.h for Windows
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/files.h"

#include <direct.h>
#include <errno.h>
#include <fcntl.h>
#include <io.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <windows.h>

static const char irregular[] = "it is not a regular file";

const char *files_open(int *fd, const char *path, uint64_t *bytes)
{
    struct __stat64 s;
    const char *why = NULL;
    const DWORD kind = GetFileAttributesA(path);
    if (kind == INVALID_FILE_ATTRIBUTES ? files_is_special(path) : (kind & FILE_ATTRIBUTE_DIRECTORY) != 0)
        return irregular; /* folders cannot be opened, and devices should not be */
    *fd = _open(path, _O_RDONLY | _O_BINARY | _O_NOINHERIT);
    if (*fd < 0)
        return strerror(errno);
    if (_fstat64(*fd, &s) != 0)
        why = strerror(errno);
    else if (!S_ISREG(s.st_mode))
        why = irregular;
    else
        *bytes = (uint64_t)s.st_size;
    if (why)
        (void)_close(*fd);
    return why;
}

/* The path that an open handle has, allocated. */
static char *path_of(HANDLE h)
{
    char *path = NULL;
    const DWORD n = GetFinalPathNameByHandleA(h, NULL, 0, FILE_NAME_NORMALIZED);
    if (n && (path = malloc((size_t)n + 1)) && GetFinalPathNameByHandleA(h, path, n + 1, FILE_NAME_NORMALIZED) > n) {
        free(path);
        path = NULL;
    }
    return path;
}

static char *real_path(const char *path)
{
    const HANDLE h = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, NULL, OPEN_EXISTING,
                                 FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (h == INVALID_HANDLE_VALUE)
        return NULL;
    char *const real = path_of(h);
    CloseHandle(h);
    return real;
}

const char *files_resolve(char **out, int *mode, const char *path)
{
    const DWORD kind = GetFileAttributesA(path);
    const int there = kind != INVALID_FILE_ATTRIBUTES, link = there && kind & FILE_ATTRIBUTE_REPARSE_POINT;
    *out = link ? real_path(path) : _strdup(path);
    *mode = there ? 0666 : -1;
    if (!*out)
        return link ? "where it leads cannot be found" : strerror(ENOMEM);
    return files_is_special(*out) ? irregular : NULL;
}

int files_is_stdout(const char *path)
{
    (void)path; /* what it is connected to has no path here */
    return 0;
}

/* Its folder has a list of access of its own: what that allows shows when a file is made. */
const char *files_may_appear(const char *path)
{
    char *real = NULL, *folder = NULL;
    int mode;
    const char *why = files_resolve(&real, &mode, path);
    if (!why) {
        const size_t n = files_folder(real);
        folder = n ? strndup(real, n) : _strdup(".");
        const DWORD kind = folder ? GetFileAttributesA(folder) : INVALID_FILE_ATTRIBUTES;
        if (kind == INVALID_FILE_ATTRIBUTES || !(kind & FILE_ATTRIBUTE_DIRECTORY))
            why = strerror(ENOENT);
    }
    free(folder);
    free(real);
    return why;
}

const char *files_may_keep(const char *folder)
{
    const DWORD kind = GetFileAttributesA(folder);
    return kind != INVALID_FILE_ATTRIBUTES && !(kind & FILE_ATTRIBUTE_DIRECTORY) ? strerror(ENOTDIR) : NULL;
}

int files_create(const char *path, int mode)
{
    (void)mode; /* a file has the list of access of its folder */
    return _open(path, _O_WRONLY | _O_CREAT | _O_EXCL | _O_BINARY | _O_NOINHERIT, _S_IREAD | _S_IWRITE);
}

int files_create_temporary(char *path)
{
    return _mktemp_s(path, strlen(path) + 1) != 0 ? -1 : files_create(path, -1);
}

int files_permit(int fd, int mode)
{
    (void)fd, (void)mode;
    return 0;
}

int files_rename(const char *from, const char *to)
{
    if (MoveFileExA(from, to, MOVEFILE_REPLACE_EXISTING))
        return 0;
    const DWORD error = GetLastError();
    errno = error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND ? ENOENT
            : error == ERROR_DISK_FULL                                     ? ENOSPC
                                                                           : EACCES;
    return -1;
}

/* NUL, CON and the like are there, without attributes, and what can be opened by such a name is no file of a disk. */
int files_is_special(const char *path)
{
    const DWORD kind = GetFileAttributesA(path);
    if (kind != INVALID_FILE_ATTRIBUTES)
        return (kind & (FILE_ATTRIBUTE_DIRECTORY | FILE_ATTRIBUTE_DEVICE | FILE_ATTRIBUTE_REPARSE_POINT)) != 0;
    const HANDLE h = CreateFileA(path, 0, FILE_SHARE_READ | FILE_SHARE_WRITE, NULL, OPEN_EXISTING, 0, NULL);
    if (h == INVALID_HANDLE_VALUE)
        return 0;
    const int special = GetFileType(h) != FILE_TYPE_DISK;
    CloseHandle(h);
    return special;
}

int files_make_folder(const char *path)
{
    return _mkdir(path) != 0 && errno != EEXIST ? -1 : 0;
}

/* "C:name" is in the current folder of a drive. */
size_t files_folder(const char *path)
{
    size_t n = strlen(path);
    while (n && path[n - 1] != '\\' && path[n - 1] != '/' && path[n - 1] != ':')
        n--;
    return n;
}

#ifndef HAVE_STRNDUP
char *strndup(const char *text, size_t n)
{
    const size_t length = strnlen(text, n);
    char *const copy = malloc(length + 1);
    if (copy) {
        memcpy(copy, text, length);
        copy[length] = '\0';
    }
    return copy;
}
#endif
