/* store.c - named blobs: in a directory, or wherever the application keeps them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/file.h"
#include "cache/store.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    if ((__atomic_fetch_or(&s->logged, kind, __ATOMIC_RELAXED) & kind) || !s->log)
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
    store_tell(s, STORE_LOGGED_FOREIGN,
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
static void refresh(const struct folder *folder, const char *name, const char *leaf, const struct timespec *changed)
{
    const int64_t age = file_now() - changed->tv_sec;
    if (!strncmp(name, "bin/", 4) && (age > DAY || age < -DAY))
        (void)file_touch(folder, leaf);
}

static int read_blob(struct store *s, const char *name, size_t most, struct file *f)
{
    struct folder folder;
    struct place p;
    int status;
    if (!place_of(&p, name))
        return ENOENT;
    if ((status = folder_open(&folder, s->root, p.folder, false))) {
        if (status == FOLDER_FOREIGN)
            tell_foreign(s, p.folder);
        return status;
    }
    status = file_read(f, &folder, p.leaf, most);
    if (status == FOLDER_FOREIGN)
        tell_foreign(s, name);
    if (!status && !s->read_only)
        refresh(&folder, name, p.leaf, &f->changed);
    folder_close(&folder);
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
        if (status != FOLDER_FOREIGN)
            store_tell(s, STORE_LOGGED_UNREADABLE, "cache: cannot read %s/%s: %s", s->root, name, words_for(status));
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
    store_tell(s, STORE_LOGGED_UNWRITABLE, "cache: the application did not keep %s; nothing more is written", name);
    return false;
}

/* Tells backup and indexing programs to leave this directory out. */
static int tag(const char *root)
{
    static const char name[] = "CACHEDIR.TAG",
                      text[] = "Signature: 8a477f597d28d172789f06886806bc55\n"
                               "# Compiled kernels and measurements of clattn, see clattn-cache(5)."
                               " Made again when missing.\n";
    struct folder_entry e;
    struct folder f;
    int status = folder_open(&f, root, "", true);
    if (status)
        return status;
    if (folder_look(&f, name, &e))
        status = file_write(&f, name, text, sizeof text - 1, false);
    folder_close(&f);
    return status;
}

static int write_once(const struct store *s, const struct place *p, const void *bytes, size_t n, bool durable)
{
    struct folder f;
    int status = tag(s->root);
    if (!status)
        status = folder_open(&f, s->root, p->folder, true);
    if (status)
        return status;
    status = file_write(&f, p->leaf, bytes, n, durable);
    folder_close(&f);
    return status;
}

/* A folder that another process removes at the same time is created again. */
static int write_blob(const struct store *s, const struct place *p, const void *bytes, size_t n, bool durable)
{
    int status = ENOENT;
    for (int i = 0; i < WRITE_ATTEMPTS && folder_is_missing(status); i++)
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
    if (status == FOLDER_FOREIGN)
        tell_foreign(s, p.folder);
    else
        store_tell(s, STORE_LOGGED_UNWRITABLE, "cache: cannot write %s/%s: %s: nothing more is written", s->root, name,
                   words_for(status));
    return false;
}

void store_remove(struct store *s, const char *name)
{
    struct folder f;
    struct place p;
    if (s->read_only || !place_of(&p, name))
        return;
    if (s->calls.put && s->calls.put(s->calls.user, name, "", 0))
        count_fault(s);
    if (!s->root)
        return;
    int status = folder_open(&f, s->root, p.folder, false);
    if (!status) {
        status = folder_remove(&f, p.leaf);
        folder_close(&f);
    }
    if (status && status != ENOENT)
        count_fault(s);
}

/* ---- Walking ---- */

struct walk {
    struct store *s;
    store_visit *visit;
    void *user;
    char name[STORE_NAME_MAX]; /* of the folder being read, then of an entry of it */
    bool stopped;
};

static void walk_folder(struct walk *w);

static bool walk_entry(void *user, const struct folder *f, const char *leaf, const struct folder_entry *e)
{
    struct walk *const w = user;
    const size_t above = strlen(w->name);
    const int n = snprintf(w->name + above, sizeof w->name - above, "/%s", leaf);
    struct place p;
    (void)f;
    if (n > 0 && (size_t)n < sizeof w->name - above && place_of(&p, w->name)) {
        if (e->kind == FOLDER_FOLDER)
            walk_folder(w);
        else if (e->kind == FOLDER_FILE && e->own)
            w->stopped = !w->visit(w->user, w->name, e->bytes);
    }
    w->name[above] = '\0';
    return !w->stopped;
}

static void walk_folder(struct walk *w)
{
    struct folder f;
    int status = folder_open(&f, w->s->root, w->name, false);
    if (!status) {
        status = folder_each(&f, walk_entry, w);
        folder_close(&f);
    }
    if (status && status != ENOENT)
        count_fault(w->s);
}

void store_walk(struct store *s, const char *folder, store_visit *visit, void *user)
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
