/* file_windows.c - whole files in an open folder, on Windows
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/windows_call.h"
#include "cache/file.h"
#include "cache/folder_windows.h"

#include <errno.h>
#include <stdlib.h>

enum { PIECE = 1 << 30 };

/* ---- Reading ---- */

static int open_existing(HANDLE *h, const struct folder *f, const char *leaf, bool shared)
{
    static const DWORD access = GENERIC_READ | READ_CONTROL;
    char path[FOLDER_PATH];
    const int status = folder_path(path, f, leaf);
    if (status)
        return status;
    if (!shared)
        return folder_open_entry(h, path, access, FOLDER_SHARE_ALL);
    *h = CreateFileA(path, access, FOLDER_SHARE_ALL, NULL, OPEN_EXISTING, FILE_ATTRIBUTE_NORMAL, NULL);
    return *h == INVALID_HANDLE_VALUE ? windows_call_error() : 0;
}

/* Reads exactly n bytes and then the end of the file. */
static int read_exactly(HANDLE h, unsigned char *to, size_t n)
{
    for (size_t got = 0;;) {
        unsigned char beyond;
        const size_t left = n - got;
        DWORD k = 0;
        if (!ReadFile(h, left ? to + got : &beyond, (DWORD)(!left ? 1 : left < PIECE ? left : PIECE), &k, NULL))
            return windows_call_error();
        if (!left || !k)
            return left || k ? EAGAIN : 0;
        got += k;
    }
}

static int read_open(struct file *out, HANDLE h, size_t most)
{
    struct folder_entry e;
    int status = folder_examine(h, &e);
    if (status)
        return status;
    if (e.kind != FOLDER_FILE || !e.own)
        return FOLDER_FOREIGN;
    if (e.bytes < 1 || e.bytes > most)
        return EFBIG;
    unsigned char *const bytes = malloc((size_t)e.bytes);
    if (!bytes)
        return ENOMEM;
    status = read_exactly(h, bytes, (size_t)e.bytes);
    if (status)
        free(bytes);
    else
        *out = (struct file){ bytes, (size_t)e.bytes, e.changed };
    return status;
}

int file_read_as(struct file *out, const struct folder *f, const char *leaf, size_t most, bool shared)
{
    HANDLE h;
    int status = open_existing(&h, f, leaf, shared);
    if (status)
        return status;
    status = read_open(out, h, most);
    CloseHandle(h);
    return status;
}

/* ---- Writing ---- */

static int write_all(HANDLE h, const unsigned char *from, size_t n)
{
    for (size_t put = 0; put < n;) {
        DWORD k = 0;
        if (!WriteFile(h, from + put, (DWORD)(n - put < PIECE ? n - put : PIECE), &k, NULL))
            return windows_call_error();
        if (!k)
            return EIO;
        put += k;
    }
    return 0;
}

int file_create(const struct folder *f, const char *leaf, const void *bytes, size_t n, bool durable)
{
    char path[FOLDER_PATH];
    int status = folder_path(path, f, leaf);
    if (status)
        return status;
    const HANDLE h =
        CreateFileA(path, GENERIC_WRITE, FOLDER_SHARE_ALL, NULL, CREATE_NEW, FILE_ATTRIBUTE_NORMAL, NULL);
    if (h == INVALID_HANDLE_VALUE)
        return windows_call_error();
    status = write_all(h, bytes, n);
    if (!status && durable && !FlushFileBuffers(h))
        status = windows_call_error();
    if (!CloseHandle(h) && !status)
        status = windows_call_error();
    if (status)
        (void)folder_remove(f, leaf);
    return status;
}

/* The name is written through in any case. */
int file_replace(const struct folder *f, const char *temp, const char *leaf, bool durable)
{
    const int status = folder_move(f, temp, f, leaf);
    (void)durable;
    if (status)
        (void)folder_remove(f, temp);
    return status;
}

int file_set_time(const struct folder *f, const char *leaf, int64_t seconds)
{
    const FILETIME time = windows_call_filetime(seconds);
    char path[FOLDER_PATH];
    HANDLE h;
    int status = folder_path(path, f, leaf);
    if (!status)
        status = folder_open_entry(&h, path, FILE_WRITE_ATTRIBUTES, FOLDER_SHARE_ALL);
    if (status)
        return status;
    status = SetFileTime(h, NULL, NULL, &time) ? 0 : windows_call_error();
    CloseHandle(h);
    return status;
}
