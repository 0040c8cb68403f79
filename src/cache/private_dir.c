/* private_dir.c - directories private to this user, opened so that nobody else can redirect them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/private_dir.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum { PATH_ROOM = 4096, LEAF_ROOM = 256 };

bool private_dir_is_own(const struct stat *st)
{
    return st->st_uid == geteuid() && !(st->st_mode & (S_IWGRP | S_IWOTH));
}

static int open_own(int *fd, int at, const char *name)
{
    struct stat st;
    do
        *fd = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    while (*fd < 0 && errno == EINTR);
    if (*fd < 0)
        return errno == ELOOP || errno == ENOTDIR ? PRIVATE_DIR_FOREIGN : errno;
    const int status = fstat(*fd, &st) ? errno : private_dir_is_own(&st) ? 0 : PRIVATE_DIR_FOREIGN;
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

int private_dir_open(int *fd, const char *root, const char *path, bool making)
{
    int status = open_root(fd, root, making);
    while (!status && *path) {
        char name[LEAF_ROOM];
        const size_t n = strcspn(path, "/");
        if (n >= sizeof name) {
            close(*fd);
            return ENAMETOOLONG;
        }
        memcpy(name, path, n);
        name[n] = '\0';
        status = step(fd, name, making);
        path += n + (path[n] == '/');
    }
    return status;
}

static bool is_dots(const char *leaf)
{
    return leaf[0] == '.' && (!leaf[1] || (leaf[1] == '.' && !leaf[2]));
}

int private_dir_each(int fd, bool (*visit)(void *user, int fd, const char *leaf, const struct stat *st), void *user)
{
    const int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC); /* a descriptor with a read position of its
                                                                          * own */
    DIR *const list = own < 0 ? NULL : fdopendir(own);
    const struct dirent *entry;
    int status = list ? 0 : errno;
    bool more = list;
    while (more && (errno = 0, entry = readdir(list))) {
        struct stat st;
        if (is_dots(entry->d_name))
            continue;
        if (fstatat(fd, entry->d_name, &st, AT_SYMLINK_NOFOLLOW))
            memset(&st, 0, sizeof st);
        more = visit(user, fd, entry->d_name, &st);
    }
    if (more)
        status = errno;
    if (list)
        closedir(list);
    else if (own >= 0)
        close(own);
    return status;
}
