/* site_records.c - records that others wrote: the *.tune files of a directory
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whoever may write such a file chooses configurations, no more: they are checked as any other text is. */
#include "config.h"

#include "cache/wisdom.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { FILE_BYTES = 8 << 20, FOLDER_BYTES = 64 << 20, FILES = 4096 };

struct names {
    char **list;
    size_t count, room;
};

static bool names_add(struct names *to, const char *name)
{
    enum { FIRST_ROOM = 16 };
    const size_t size = strlen(name) + 1;
    char *copy;
    if (to->count == to->room) {
        const size_t room = to->room ? 2 * to->room : FIRST_ROOM;
        char **const list = to->room < FILES ? realloc(to->list, room * sizeof *list) : NULL;
        if (!list)
            return false;
        to->list = list;
        to->room = room;
    }
    if (!(copy = malloc(size)))
        return false;
    to->list[to->count++] = memcpy(copy, name, size);
    return true;
}

static void names_clear(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        free(names->list[i]);
    free(names->list);
}

static bool is_tune_file(const char *name)
{
    static const char end[] = ".tune";
    const size_t n = strlen(name), length = sizeof end - 1;
    return *name != '.' && n > length && !strcmp(name + n - length, end);
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static void list_files(struct names *to, DIR *dir)
{
    for (const struct dirent *e; (e = readdir(dir));)
        if (is_tune_file(e->d_name) && !names_add(to, e->d_name))
            break;
    if (to->count)
        qsort(to->list, to->count, sizeof *to->list, compare);
}

/* Only root and this user can have written the file. */
static bool is_trusted(const struct stat *st)
{
    return S_ISREG(st->st_mode) && (st->st_uid == 0 || st->st_uid == geteuid()) &&
           !(st->st_mode & (S_IWGRP | S_IWOTH)) && st->st_size <= FILE_BYTES;
}

static int open_file(int dir, const char *name)
{
    int fd;
    do /* without blocking, because it may be a FIFO */
        fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    while (fd < 0 && errno == EINTR);
    return fd;
}

static size_t read_most(int fd, char *to, size_t n)
{
    size_t done = 0;
    while (done < n) {
        const ssize_t got = read(fd, to + done, n - done);
        if (got > 0)
            done += (size_t)got;
        else if (!got || errno != EINTR)
            break;
    }
    return done;
}

/* Returns the file's text, of at most *left bytes, and reduces *left; the caller frees it. NULL: it must not or cannot
 * be read. */
static char *read_file(int dir, const char *name, size_t *left, size_t *n)
{
    struct stat st;
    char *text = NULL;
    const int fd = open_file(dir, name);
    if (fd < 0)
        return NULL;
    if (!fstat(fd, &st) && is_trusted(&st) && (size_t)st.st_size <= *left && (text = malloc((size_t)st.st_size))) {
        *n = read_most(fd, text, (size_t)st.st_size);
        *left -= *n;
    }
    close(fd);
    return text;
}

struct picked {
    const struct record_device *by;
    bool seeds, full;
    struct records records;
};

static bool pick(void *user, const struct record *r)
{
    struct picked *const c = user;
    const bool same = !strcmp(r->by.device, c->by->device) || (c->seeds && !strcmp(r->by.name, c->by->name));
    if (same && r->by.family == c->by->family)
        c->full = !records_add(&c->records, r);
    return !c->full;
}

size_t site_records_read(const char *path, const struct record_device *by, bool seeds, struct record **list)
{
    struct picked c = { by, seeds, false, { NULL, 0, 0 } };
    struct names names = { NULL, 0, 0 };
    size_t left = FOLDER_BYTES, n = 0;
    DIR *const dir = path && *path ? opendir(path) : NULL;
    if (dir)
        list_files(&names, dir);
    for (size_t i = 0; i < names.count && !c.full; i++) {
        char *const text = read_file(dirfd(dir), names.list[i], &left, &n);
        if (text)
            record_scan(text, n, pick, &c);
        free(text);
    }
    names_clear(&names);
    if (dir)
        closedir(dir);
    *list = c.records.list;
    return c.records.count;
}
