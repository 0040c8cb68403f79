/* folder_windows.c - open folders, private to this user, on Windows: held open, and found by their paths
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/windows_call.h"
#include "cache/folder.h"
#include "cache/folder_windows.h"
#include "cache/owner_windows.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* While somebody reads a file it can neither be removed nor replaced: that is tried again for a second or so. */
enum { ATTEMPTS = 100, PAUSE_MS = 10 };

int folder_path(char to[FOLDER_PATH], const struct folder *f, const char *leaf)
{
    const int n = snprintf(to, FOLDER_PATH, "%s\\%s", f->path, leaf);
    return n > 0 && n < FOLDER_PATH ? 0 : ENAMETOOLONG;
}

/* ---- Entries ---- */

int folder_open_entry(HANDLE *h, const char *path, DWORD access, DWORD share)
{
    *h = CreateFileA(path, access, share, NULL, OPEN_EXISTING,
                     FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, NULL);
    return *h == INVALID_HANDLE_VALUE ? windows_call_error() : 0;
}

static uint64_t wide(DWORD high, DWORD low)
{
    return (uint64_t)high << 32 | low;
}

int folder_examine(HANDLE h, struct folder_entry *e)
{
    BY_HANDLE_FILE_INFORMATION info;
    FILE_STANDARD_INFO more;
    memset(e, 0, sizeof *e);
    if (!GetFileInformationByHandle(h, &info) ||
        !GetFileInformationByHandleEx(h, FileStandardInfo, &more, sizeof more))
        return windows_call_error();
    e->kind = info.dwFileAttributes & (FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DEVICE) ? FOLDER_OTHER
              : info.dwFileAttributes & FILE_ATTRIBUTE_DIRECTORY                           ? FOLDER_FOLDER
                                                                                           : FOLDER_FILE;
    e->own = owner_is_trusted(h);
    e->bytes = wide(info.nFileSizeHigh, info.nFileSizeLow);
    e->on_disk = more.AllocationSize.QuadPart > 0 ? (uint64_t)more.AllocationSize.QuadPart : 0;
    e->changed = windows_call_time(info.ftLastWriteTime);
    return 0;
}

int folder_look(const struct folder *f, const char *leaf, struct folder_entry *e)
{
    char path[FOLDER_PATH];
    HANDLE h;
    int status = folder_path(path, f, leaf);
    memset(e, 0, sizeof *e);
    if (!status)
        status = folder_open_entry(&h, path, FILE_READ_ATTRIBUTES | READ_CONTROL, FOLDER_SHARE_ALL);
    if (status)
        return status;
    status = folder_examine(h, e);
    CloseHandle(h);
    return status;
}

/* ---- Opening ---- */

/* Goes on to the folder of that path, which is now the path of f. Without FILE_SHARE_DELETE nobody renames it. */
static int enter(struct folder *f, const char *path)
{
    struct folder_entry e;
    HANDLE h;
    char *const copy = f->n <= FOLDER_DEPTH ? _strdup(path) : NULL;
    int status = copy ? folder_open_entry(&h, path, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES | READ_CONTROL,
                                          FILE_SHARE_READ | FILE_SHARE_WRITE)
                      : ENOMEM;
    if (!status && (status = folder_examine(h, &e)))
        CloseHandle(h);
    else if (!status && (e.kind != FOLDER_FOLDER || !e.own)) {
        CloseHandle(h);
        status = FOLDER_FOREIGN;
    }
    if (status) {
        free(copy);
        return status;
    }
    f->at[f->n++] = (intptr_t)h;
    free(f->path);
    f->path = copy;
    return 0;
}

/* Returns 0 also when something of that name exists. */
static int make(const char *path)
{
    const int status = CreateDirectoryA(path, NULL) ? 0 : windows_call_error();
    return status == EEXIST ? 0 : status;
}

/* From the bottom up: we need not be able to write to folders that exist already. */
static int make_path(char *path)
{
    int status = make(path);
    size_t n = strlen(path);
    while (n && path[n - 1] != '\\' && path[n - 1] != '/')
        n--;
    if (status != ENOENT || !n || folder_is_root(path, n - 1))
        return status;
    const char separator = path[n - 1];
    path[n - 1] = '\0';
    status = make_path(path);
    path[n - 1] = separator;
    return status ? status : make(path);
}

static int enter_root(struct folder *f, const char *root, bool making)
{
    char path[FOLDER_PATH];
    int status = enter(f, root);
    if (status != ENOENT || !making)
        return status;
    if (strlen(root) >= sizeof path)
        return ENAMETOOLONG;
    snprintf(path, sizeof path, "%s", root);
    status = make_path(path);
    return status ? status : enter(f, root);
}

static int enter_below(struct folder *f, const char *leaf, bool making)
{
    char path[FOLDER_PATH];
    int status = folder_path(path, f, leaf);
    if (status)
        return status;
    status = enter(f, path);
    if (status == ENOENT && making && !(status = make(path)))
        status = enter(f, path);
    return status;
}

int folder_open(struct folder *f, const char *root, const char *path, bool making)
{
    memset(f, 0, sizeof *f);
    int status = enter_root(f, root, making);
    while (!status && *path) {
        char leaf[MAX_PATH];
        const size_t n = strcspn(path, "/");
        snprintf(leaf, sizeof leaf, "%.*s", (int)n, path);
        status = n < sizeof leaf ? enter_below(f, leaf, making) : ENAMETOOLONG;
        path += n + (path[n] == '/');
    }
    if (status)
        folder_close(f);
    return status;
}

int folder_open_shared(struct folder *f, const char *path)
{
    memset(f, 0, sizeof *f);
    const HANDLE h = CreateFileA(path, FILE_LIST_DIRECTORY | FILE_READ_ATTRIBUTES, FOLDER_SHARE_ALL, NULL,
                                 OPEN_EXISTING, FILE_FLAG_BACKUP_SEMANTICS, NULL);
    if (h == INVALID_HANDLE_VALUE)
        return windows_call_error();
    f->at[f->n++] = (intptr_t)h;
    f->path = _strdup(path);
    if (f->path)
        return 0;
    folder_close(f);
    return ENOMEM;
}

void folder_close(struct folder *f)
{
    while (f->n)
        CloseHandle((HANDLE)f->at[--f->n]);
    free(f->path);
    f->path = NULL;
}

/* ---- Changing ---- */

/* Whether it failed for a reason that passes, after a pause. */
static bool is_busy(int status, int attempt)
{
    if ((status != EACCES && status != EBUSY) || attempt == ATTEMPTS)
        return false;
    Sleep(PAUSE_MS);
    return true;
}

int folder_remove(const struct folder *f, const char *leaf)
{
    char path[FOLDER_PATH];
    int status = folder_path(path, f, leaf), attempt = 1;
    if (status)
        return status;
    do
        status = DeleteFileA(path) ? 0 : windows_call_error();
    while (is_busy(status, attempt++));
    return status;
}

int folder_move(const struct folder *f, const char *leaf, const struct folder *to, const char *name)
{
    char from[FOLDER_PATH], path[FOLDER_PATH];
    int status = folder_path(from, f, leaf), attempt = 1;
    if (!status)
        status = folder_path(path, to, name);
    if (status)
        return status;
    do
        status = MoveFileExA(from, path, MOVEFILE_REPLACE_EXISTING | MOVEFILE_WRITE_THROUGH) ? 0 : windows_call_error();
    while (is_busy(status, attempt++));
    return status;
}

/* ---- Listing ---- */

static bool is_dots(const char *leaf)
{
    return !strcmp(leaf, ".") || !strcmp(leaf, "..");
}

int folder_each(const struct folder *f, folder_visit *visit, void *user)
{
    char path[FOLDER_PATH];
    WIN32_FIND_DATAA found;
    int status = folder_path(path, f, "*");
    if (status)
        return status;
    const HANDLE list = FindFirstFileA(path, &found);
    if (list == INVALID_HANDLE_VALUE)
        return windows_call_error();
    bool more = true, stopped = false;
    while (more && !stopped) {
        struct folder_entry e;
        if (!is_dots(found.cFileName)) {
            (void)folder_look(f, found.cFileName, &e);
            stopped = !visit(user, f, found.cFileName, &e);
        }
        more = !stopped && FindNextFileA(list, &found);
    }
    if (!stopped && GetLastError() != ERROR_NO_MORE_FILES)
        status = windows_call_error();
    FindClose(list);
    return status;
}

/* ---- Names ---- */

static bool is_separator(char c)
{
    return c == '\\' || c == '/';
}

static bool has_drive(const char *path)
{
    return ((*path >= 'A' && *path <= 'Z') || (*path >= 'a' && *path <= 'z')) && path[1] == ':';
}

bool folder_is_absolute(const char *path)
{
    return (has_drive(path) && is_separator(path[2])) || (is_separator(path[0]) && is_separator(path[1]));
}

size_t folder_length(const char *path)
{
    size_t n = strlen(path);
    while (n && (is_separator(path[n - 1]) || (path[n - 1] == '.' && n > 1 && is_separator(path[n - 2]))))
        n--;
    return n;
}

/* "C:" or "\\server\share", or less. */
bool folder_is_root(const char *path, size_t length)
{
    size_t names = 0;
    if (has_drive(path))
        return length <= 2;
    for (size_t i = 0; i < length; i++)
        names += !is_separator(path[i]) && (!i || is_separator(path[i - 1]));
    return names < 3;
}
