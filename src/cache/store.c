/* store.c - named blobs: in a directory, or wherever the application keeps them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/file.h"
#include "cache/private_dir.h"
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LINE_MAX_BYTES = 2048, WRITE_ATTEMPTS = 8, ASKED_MOST = 4, FIRST_ROOM = 1 << 16, DAY = 24 * 60 * 60 };

static bool has_calls(const struct store *s)
{
    return s->calls.get || s->calls.put;
}

bool store_is_none(const struct store *s)
{
    return !s->root && !has_calls(s);
}

void store_tell(struct store *s, int kind, const char *format, ...)
{
    char line[LINE_MAX_BYTES];
    va_list ap;
    if ((__atomic_fetch_or(&s->told, kind, __ATOMIC_RELAXED) & kind) || !s->log)
        return;
    va_start(ap, format);
    const int n = vsnprintf(line, sizeof line, format, ap);
    va_end(ap);
    if (n > 0)
        s->log(s->log_user, line);
}

static void count_fault(struct store *s)
{
    __atomic_fetch_add(&s->faults, 1, __ATOMIC_RELAXED);
}

static bool has_given_up(const struct store *s)
{
    return __atomic_load_n(&s->given_up, __ATOMIC_RELAXED);
}

static const char *words_for(int status)
{
    return status == EFBIG    ? "its size is out of range"
           : status == EAGAIN ? "it changed while it was read"
                              : strerror(status);
}

static void tell_foreign(struct store *s, const char *name)
{
    store_tell(s, STORE_TOLD_FOREIGN,
               "cache: %s%s%s is neither read nor written: something from %s on is a symbolic link, is of the "
               "wrong kind, belongs to another user, or is writable by others",
               s->root, *name ? "/" : "", name, s->root);
}

/* ---- Names ---- */

struct place {
    char folder[STORE_NAME_MAX]; /* "" for root */
    const char *leaf;
};

static bool is_sound_part(const char *part, size_t n)
{
    return n && *part != '.' && strspn(part, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-.") >= n;
}

static bool place_of(struct place *p, const char *name)
{
    const char *part = name;
    if (strlen(name) >= STORE_NAME_MAX)
        return false;
    for (int slashes = 0;; slashes++) {
        const size_t n = strcspn(part, "/");
        if (!is_sound_part(part, n) || slashes > 2)
            return false;
        if (!part[n])
            break;
        part += n + 1;
    }
    const size_t folder = part > name ? (size_t)(part - name) - 1 : 0;
    memcpy(p->folder, name, folder);
    p->folder[folder] = '\0';
    p->leaf = part;
    return true;
}

/* ---- Reading ---- */

/* The sizes that the application returns are not trusted, and may differ from call to call. */
static bool get(struct store *s, const char *name, size_t most, unsigned char **bytes, size_t *n)
{
    size_t room = most < FIRST_ROOM ? most : FIRST_ROOM;
    for (int i = 0; s->calls.get && i < ASKED_MOST; i++) {
        size_t size = 0;
        unsigned char *const got = calloc(1, room);
        if (!got || s->calls.get(s->calls.user, name, got, room, &size) || !size) {
            free(got);
            return false;
        }
        if (size <= room) {
            *bytes = got;
            *n = size;
            return true;
        }
        free(got);
        if (size > most)
            break;
        room = size;
    }
    if (s->calls.get)
        count_fault(s);
    return false;
}

/* Keeps a blob that is used from being the oldest. Once a day is enough, because it costs a write. */
static void refresh(int folder, const char *name, const char *leaf, const struct timespec *changed)
{
    const int64_t age = file_now() - changed->tv_sec;
    if (!strncmp(name, "bin/", 4) && (age > DAY || age < -DAY))
        (void)file_touch(folder, leaf);
}

static int read_blob(struct store *s, const char *name, size_t most, struct file *f)
{
    struct place p;
    int fd, status;
    if (!place_of(&p, name))
        return ENOENT;
    if ((status = private_dir_open(&fd, s->root, p.folder, false))) {
        if (status == PRIVATE_DIR_FOREIGN)
            tell_foreign(s, p.folder);
        return status;
    }
    status = file_read(f, fd, p.leaf, most);
    if (status == PRIVATE_DIR_FOREIGN)
        tell_foreign(s, name);
    if (!status && !s->read_only)
        refresh(fd, name, p.leaf, &f->changed);
    close(fd);
    return status;
}

bool store_read(struct store *s, const char *name, size_t most, unsigned char **bytes, size_t *n)
{
    struct file f;
    if (has_calls(s))
        return get(s, name, most, bytes, n);
    const int status = s->root ? read_blob(s, name, most, &f) : ENOENT;
    if (!status) {
        *bytes = f.bytes;
        *n = f.n;
        return true;
    }
    if (status != ENOENT) {
        count_fault(s);
        if (status != PRIVATE_DIR_FOREIGN)
            store_tell(s, STORE_TOLD_UNREADABLE, "cache: cannot read %s/%s: %s", s->root, name, words_for(status));
    }
    return false;
}

/* ---- Writing ---- */

static void give_up(struct store *s)
{
    count_fault(s);
    __atomic_store_n(&s->given_up, 1, __ATOMIC_RELAXED);
}

static bool put(struct store *s, const char *name, const void *bytes, size_t n)
{
    if (!s->calls.put)
        return false;
    if (!s->calls.put(s->calls.user, name, bytes, n))
        return true;
    give_up(s);
    store_tell(s, STORE_TOLD_UNWRITABLE, "cache: the application did not keep %s; nothing more is written", name);
    return false;
}

/* Tells backup and indexing programs to leave this directory out. */
static int tag(const char *root)
{
    static const char name[] = "CACHEDIR.TAG",
                      text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# Compiled kernels and measurements of clattn, see clattn-cache(5)."
                               " Made again when missing.\n";
    struct stat st;
    int fd, status = private_dir_open(&fd, root, "", true);
    if (status)
        return status;
    if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW))
        status = file_write(fd, name, text, sizeof text - 1, false);
    close(fd);
    return status;
}

static int write_once(const struct store *s, const struct place *p, const void *bytes, size_t n, bool durable)
{
    int fd, status = tag(s->root);
    if (!status)
        status = private_dir_open(&fd, s->root, p->folder, true);
    if (status)
        return status;
    status = file_write(fd, p->leaf, bytes, n, durable);
    close(fd);
    return status;
}

/* A folder that another process removes at the same time is created again. */
static int write_blob(const struct store *s, const struct place *p, const void *bytes, size_t n, bool durable)
{
    int status = ENOENT;
    for (int i = 0; i < WRITE_ATTEMPTS && (status == ENOENT || status == ESTALE); i++)
        status = write_once(s, p, bytes, n, durable);
    return status;
}

bool store_write(struct store *s, const char *name, const void *bytes, size_t n, bool durable)
{
    struct place p;
    if (s->read_only || has_given_up(s) || !n || !place_of(&p, name))
        return false;
    if (has_calls(s))
        return put(s, name, bytes, n);
    if (!s->root)
        return false;
    const int status = write_blob(s, &p, bytes, n, durable);
    if (!status)
        return true;
    give_up(s);
    if (status == PRIVATE_DIR_FOREIGN)
        tell_foreign(s, p.folder);
    else
        store_tell(s, STORE_TOLD_UNWRITABLE, "cache: cannot write %s/%s: %s: nothing more is written", s->root, name,
                   words_for(status));
    return false;
}

void store_remove(struct store *s, const char *name)
{
    struct place p;
    int fd;
    if (s->read_only || !place_of(&p, name))
        return;
    if (s->calls.put && s->calls.put(s->calls.user, name, "", 0))
        count_fault(s);
    if (!s->root)
        return;
    int status = private_dir_open(&fd, s->root, p.folder, false);
    if (!status) {
        status = unlinkat(fd, p.leaf, 0) ? errno : 0;
        close(fd);
    }
    if (status && status != ENOENT)
        count_fault(s);
}

/* ---- Walking ---- */

struct walk {
    struct store *s;
    bool (*visit)(void *user, const char *name, uint64_t bytes);
    void *user;
    char name[STORE_NAME_MAX]; /* of the folder being read, then of an entry of it */
    bool stopped;
};

static void walk_folder(struct walk *w);

static bool walk_entry(void *user, int fd, const char *leaf, const struct stat *st)
{
    struct walk *const w = user;
    const size_t above = strlen(w->name);
    const int n = snprintf(w->name + above, sizeof w->name - above, "/%s", leaf);
    struct place p;
    (void)fd;
    if (n > 0 && (size_t)n < sizeof w->name - above && place_of(&p, w->name)) {
        if (S_ISDIR(st->st_mode))
            walk_folder(w);
        else if (S_ISREG(st->st_mode) && private_dir_is_own(st))
            w->stopped = !w->visit(w->user, w->name, st->st_size > 0 ? (uint64_t)st->st_size : 0);
    }
    w->name[above] = '\0';
    return !w->stopped;
}

static void walk_folder(struct walk *w)
{
    int fd, status = private_dir_open(&fd, w->s->root, w->name, false);
    if (!status) {
        status = private_dir_each(fd, walk_entry, w);
        close(fd);
    }
    if (status && status != ENOENT)
        count_fault(w->s);
}

void store_walk(struct store *s, const char *folder, bool (*visit)(void *user, const char *name, uint64_t bytes),
                void *user)
{
    struct walk w = { s, visit, user, "", false };
    struct place p;
    if (!s->root || !place_of(&p, folder))
        return;
    memcpy(w.name, folder, strlen(folder) + 1);
    walk_folder(&w);
}

void store_clear(struct store *s)
{
    free(s->root);
    s->root = NULL;
}
