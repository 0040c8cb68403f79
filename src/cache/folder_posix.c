/* folder_posix.c - open folders, private to this user, on POSIX: by descriptors
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/folder.h"
#include "cache/folder_posix.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, LEAF_ROOM = 256 };

bool folder_is_own(const struct stat *st, bool shared)
{
    return (st->st_uid == geteuid() || (shared && st->st_uid == 0)) && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

int folder_descriptor(const struct folder *f)
{
    return (int)f->at[0];
}

static void set(struct folder *f, int fd)
{
    *f = (struct folder){ { fd }, 1, NULL };
}

static int open_own(int *fd, int at, const char *name)
{
    struct stat st;
    do
        *fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0)
        return errno == ELOOP || errno == ENOTDIR ? FOLDER_FOREIGN : errno;
    const int status = fstat(*fd, &st) ? errno : folder_is_own(&st, false) ? 0 : FOLDER_FOREIGN;
    if (status)
        close(*fd);
    return status;
}

/* Returns 0 also when something of that name exists. A umask may have removed permissions that we need. */
static int make(int at, const char *name)
{
    struct stat st;
    if (mkdirat(at, name, 0700))
        return errno == EEXIST ? 0 : errno;
    if (!fstatat(at, name, &st, AT_SYMLINK_NOFOLLOW) &&
        ((st.st_mode & 0700) == 0700 || !fchmodat(at, name, 0700, AT_SYMLINK_NOFOLLOW)))
        return 0;
    const int status = errno;
    unlinkat(at, name, AT_REMOVEDIR);
    return status;
}

/* From the bottom up: we need not be able to write to directories that exist already. */
static int make_path(char *path)
{
    int status = make(AT_FDCWD, path);
    char *const slash = strrchr(path, '/');
    if (status != ENOENT || !slash || slash == path)
        return status;
    *slash = '\0';
    status = make_path(path);
    *slash = '/';
    return status ? status : make(AT_FDCWD, path);
}

static int open_root(int *fd, const char *root, bool making)
{
    char path[PATH_ROOM];
    const size_t n = strlen(root);
    int status = open_own(fd, AT_FDCWD, root);
    if (status != ENOENT || !making)
        return status;
    if (n >= sizeof path)
        return ENAMETOOLONG;
    memcpy(path, root, n + 1);
    status = make_path(path);
    return status ? status : open_own(fd, AT_FDCWD, root);
}

/* Descends from the folder *fd to the one of that name in it. On failure *fd is closed. */
static int step(int *fd, const char *name, bool making)
{
    int below, status = open_own(&below, *fd, name);
    if (status == ENOENT && making && !(status = make(*fd, name)))
        status = open_own(&below, *fd, name);
    close(*fd);
    if (!status)
        *fd = below;
    return status;
}

int folder_open(struct folder *f, const char *root, const char *path, bool making)
{
    int fd, status = open_root(&fd, root, making);
    while (!status && *path) {
        char name[LEAF_ROOM];
        const size_t n = strcspn(path, "/");
        if (n >= sizeof name) {
            close(fd);
            return ENAMETOOLONG;
        }
        memcpy(name, path, n);
        name[n] = '\0';
        status = step(&fd, name, making);
        path += n + (path[n] == '/');
    }
    if (!status)
        set(f, fd);
    return status;
}

int folder_open_shared(struct folder *f, const char *path)
{
    int fd;
    do
        fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (fd < 0 && errno == EINTR);
    if (fd < 0)
        return errno;
    set(f, fd);
    return 0;
}

void folder_close(struct folder *f)
{
    if (f->n)
        close(folder_descriptor(f));
    f->n = 0;
}

/* ---- Entries ---- */

static struct folder_entry entry_of(const struct stat *st)
{
    const bool file = S_ISREG(st->st_mode);
    return (struct folder_entry){ file ? FOLDER_FILE : S_ISDIR(st->st_mode) ? FOLDER_FOLDER : FOLDER_OTHER,
                                  folder_is_own(st, false), st->st_size > 0 ? (uint64_t)st->st_size : 0,
                                  (uint64_t)st->st_blocks * 512, st->FOLDER_MTIM };
}

int folder_look(const struct folder *f, const char *leaf, struct folder_entry *e)
{
    struct stat st;
    if (fstatat(folder_descriptor(f), leaf, &st, AT_SYMLINK_NOFOLLOW)) {
        memset(e, 0, sizeof *e);
        return errno;
    }
    *e = entry_of(&st);
    return 0;
}

int folder_remove(const struct folder *f, const char *leaf)
{
    return unlinkat(folder_descriptor(f), leaf, 0) ? errno : 0;
}

int folder_move(const struct folder *f, const char *leaf, const struct folder *to, const char *name)
{
    return renameat(folder_descriptor(f), leaf, folder_descriptor(to), name) ? errno : 0;
}

static bool is_dots(const char *leaf)
{
    return leaf[0] == '.' && (!leaf[1] || (leaf[1] == '.' && !leaf[2]));
}

int folder_each(const struct folder *f, folder_visit *visit, void *user)
{
    /* a descriptor with a read position of its own */
    const int own = openat(folder_descriptor(f), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *const list = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    int status = list ? 0 : errno;
    bool more = list;
    while (more && (errno = 0, entry = readdir(list))) {
        struct folder_entry e;
        if (is_dots(entry->d_name))
            continue;
        (void)folder_look(f, entry->d_name, &e);
        more = visit(user, f, entry->d_name, &e);
    }
    if (more)
        status = errno;
    if (list)
        closedir(list);
    else if (own >= 0)
        close(own);
    return status;
}

/* ---- Names ---- */

bool folder_is_absolute(const char *path)
{
    return *path == '/';
}

size_t folder_length(const char *path)
{
    size_t n = strlen(path);
    while (n && (path[n - 1] == '/' || (path[n - 1] == '.' && n > 1 && path[n - 2] == '/')))
        n--;
    return n;
}

bool folder_is_root(const char *path, size_t length)
{
    (void)path;
    return !length;
}
