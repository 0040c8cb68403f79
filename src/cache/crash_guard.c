/* crash_guard.c - marks of what a process is about to try, and what is known to have crashed one
 * SPDX-License-Identifier: Apache-2.0
 *
 * The name of a mark is inflight/KEY.PID.BEGAN-PLACERANDOM. BEGAN is the start time of the process, 0 where the system
 * does not tell it. PLACE identifies where the process number is valid: this boot of this machine, this container.
 *
 * A process that ends while it tries something may have crashed because of it, or may have been ended by a signal that
 * had nothing to do with it. So the first death makes the thing suspected (suspected/KEY), and it is tried again. A
 * mark that was made after that, by a process that is gone as well, makes it poisoned (poisoned/KEY). Older marks count
 * as the same event, because one signal may end many processes. A try that ends well clears both, and poison expires
 * after a month. */
#include "config.h"

#include "base/digest.h"
#include "cache/file.h"
#include "cache/private_dir.h"
#include "cache/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { KEY = 64, PLACE = 16, RANDOM = 16, MARK_ROOM = STORE_NAME_MAX, STAT_ROOM = 2048 };
enum { HOUR = 60 * 60, MONTH = 30 * 24 * HOUR };

struct mark {
    char key[KEY + 1], place[PLACE + 1];
    uint64_t pid, began;
};

/* ---- Who is alive ---- */

/* Reads a small system file as text. Returns 0 or an errno. */
static int read_text(const char *path, char *text, size_t room)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n;
    if (fd < 0)
        return errno;
    while ((n = read(fd, text, room - 1)) < 0 && errno == EINTR)
        ;
    const int status = n < 0 ? errno : n ? 0 : ENOENT;
    close(fd);
    text[n > 0 ? n : 0] = '\0';
    return status;
}

/* The file does not exist for this process, now and later. Any other failure may be temporary. */
static bool is_absent(int status)
{
    return status == ENOENT || status == ENOTDIR || status == EACCES || status == EPERM;
}

struct process {
    char state;
    uint64_t pid, threads, began;
};

/* Fields 1, 3, 20 and 22 of proc(5)'s stat; the second is in brackets and may hold anything. */
static bool find_process(struct process *p, const char *pid)
{
    char path[64], text[STAT_ROOM];
    const char *at;
    snprintf(path, sizeof path, "/proc/%s/stat", pid);
    if (read_text(path, text, sizeof text) || !(at = strrchr(text, ')')))
        return false;
    p->pid = strtoull(text, NULL, 10);
    p->state = at[1] ? at[2] : '\0';
    for (int field = 2; field < 22; field++) {
        if (!(at = strchr(at + 1, ' ')))
            return false;
        if (field == 19)
            p->threads = strtoull(at, NULL, 10);
    }
    p->began = strtoull(at, NULL, 10);
    return true;
}

/* Identifies the machine, its boot and the container, as far as the system tells them; "" when they cannot be read
 * now. */
static void find_place(char place[PLACE + 1])
{
    char boot[STAT_ROOM] = "", text[2 * STAT_ROOM], hex[DIGEST_HEX];
    unsigned char digest[DIGEST_BYTES];
    struct stat st = { .st_ino = 0 };
    const int booted = read_text("/proc/sys/kernel/random/boot_id", boot, sizeof boot),
              contained = stat("/proc/self/ns/pid", &st) ? errno : 0;
    place[0] = '\0';
    if ((booted && !is_absent(booted)) || (contained && !is_absent(contained)))
        return;
    const int n = snprintf(text, sizeof text, "%s %ju", booted ? "" : boot, contained ? 0 : (uintmax_t)st.st_ino);
    digest_of(digest, text, n > 0 ? (size_t)n : 0);
    digest_hex(hex, digest);
    memcpy(place, hex, PLACE);
    place[PLACE] = '\0';
}

static void find_self(struct mark *self, const char *key)
{
    struct process p;
    memset(self, 0, sizeof *self);
    snprintf(self->key, sizeof self->key, "%s", key);
    self->pid = (uint64_t)getpid();
    /* /proc may be another container's, with other process numbers */
    self->began = find_process(&p, "self") && p.pid == self->pid ? p.began : 0;
    find_place(self->place);
}

/* An unknown time, 0, equals any other. */
static bool is_same_time(uint64_t a, uint64_t b)
{
    return !a || !b || a == b;
}

static bool is_alive(const struct mark *m, const struct mark *self, const struct stat *st)
{
    struct process p;
    char pid[24];
    if (!*self->place)
        return true;
    if (strcmp(m->place, self->place))
        return file_now() - st->st_mtim.tv_sec < HOUR;
    if (m->pid == self->pid)
        return is_same_time(m->began, self->began);
    snprintf(pid, sizeof pid, "%ju", (uintmax_t)m->pid);
    if (!self->began || !find_process(&p, pid)) /* unknown, gone, or hidden */
        return !(getpgid((pid_t)m->pid) < 0 && errno == ESRCH);
    if ((p.state == 'Z' || p.state == 'X') && p.threads <= 1)
        return false;
    return is_same_time(m->began, p.began);
}

/* ---- Names ---- */

static bool read_number(uint64_t *n, const char **at, uint64_t most)
{
    const char *const from = *at;
    for (*n = 0; **at >= '0' && **at <= '9'; ++*at)
        if (__builtin_mul_overflow(*n, 10, n) || __builtin_add_overflow(*n, **at - '0', n) || *n > most)
            return false;
    return *at > from;
}

static bool read_mark(struct mark *m, const char *leaf)
{
    const char *at = leaf + KEY + 1;
    if (strspn(leaf, "0123456789abcdef") != KEY || leaf[KEY] != '.' || !read_number(&m->pid, &at, INT32_MAX) ||
        *at++ != '.' || !read_number(&m->began, &at, UINT64_MAX) || *at++ != '-' || !file_is_hex(at, PLACE + RANDOM))
        return false;
    memcpy(m->key, leaf, KEY);
    memcpy(m->place, at, PLACE);
    m->key[KEY] = m->place[PLACE] = '\0';
    return true;
}

static bool is_mine(const struct mark *m, const struct mark *self)
{
    return !strcmp(m->key, self->key) && (!*self->place || !strcmp(m->place, self->place)) && m->pid == self->pid &&
           is_same_time(m->began, self->began);
}

static bool has_marks(const struct store *s, const char *key)
{
    return s->root && file_is_hex(key, KEY);
}

/* Calls visit() for each entry of a folder of the store. */
static void each(const struct store *s, const char *folder,
                 bool (*visit)(void *user, int fd, const char *leaf, const struct stat *st), void *user)
{
    int fd;
    if (private_dir_open(&fd, s->root, folder, false))
        return;
    (void)private_dir_each(fd, visit, user); /* a mark that cannot be read is no mark */
    close(fd);
}

/* ---- Marking ---- */

void crash_guard_mark(struct store *s, const char *key)
{
    char name[MARK_ROOM], random[RANDOM + 1];
    struct mark self;
    if (!has_marks(s, key) || file_random(random, RANDOM))
        return;
    find_self(&self, key);
    if (!*self.place)
        return; /* nobody could tell which process the mark belongs to */
    snprintf(name, sizeof name, "inflight/%s.%ju.%ju-%s%s", key, (uintmax_t)self.pid, (uintmax_t)self.began, self.place,
             random);
    (void)store_write(s, name, "\n", 1, false); /* without a mark there is one more try later, which does no harm */
}

struct unmark {
    struct mark self;
    bool seen, done;
};

static bool unmark_one(void *user, int fd, const char *leaf, const struct stat *st)
{
    struct unmark *const u = user;
    struct mark m;
    (void)st;
    if (!read_mark(&m, leaf) || !is_mine(&m, &u->self))
        return true;
    u->seen = true;
    u->done = !unlinkat(fd, leaf, 0);
    return !u->done;
}

static void forget(const struct store *s, const char *folder, const char *key)
{
    int fd;
    if (private_dir_open(&fd, s->root, folder, false))
        return;
    (void)unlinkat(fd, key, 0);
    close(fd);
}

/* Removes one of the process's own marks of the key. Other threads of it may remove theirs at the same time, so the
 * search ends only when a whole pass has seen none. */
void crash_guard_unmark(struct store *s, const char *key)
{
    struct unmark u = { .seen = true };
    if (!has_marks(s, key) || s->read_only)
        return;
    forget(s, "suspected", key);
    forget(s, "poisoned", key);
    find_self(&u.self, key);
    for (int i = 0; i < 64 && u.seen && !u.done; i++) {
        u.seen = false;
        each(s, "inflight", unmark_one, &u);
    }
}

/* ---- Poison ---- */

struct search {
    struct store *s;
    struct mark self;
    const char *key;
    bool found;
};

static bool find_listed(struct stat *st, const struct store *s, const char *folder, const char *key)
{
    int fd;
    if (private_dir_open(&fd, s->root, folder, false))
        return false;
    const bool listed = !fstatat(fd, key, st, AT_SYMLINK_NOFOLLOW);
    close(fd);
    return listed;
}

/* The lower limit is for clocks that were set back: nothing stays poisoned for ever. */
static bool is_poison(const struct store *s, const char *key)
{
    struct stat st;
    if (!find_listed(&st, s, "poisoned", key))
        return false;
    const int64_t age = file_now() - st.st_mtim.tv_sec;
    return age < MONTH && age > -MONTH;
}

/* A process that cannot write a mark does not try what is suspected. */
static bool is_suspect(const struct store *s, const char *key)
{
    struct stat st;
    return s->read_only && find_listed(&st, s, "suspected", key);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Whether a mark is the first sign against its key, or as old as the first one. Then it becomes a suspicion and is
 * removed. */
static bool suspect(struct store *s, int marks, const char *leaf, const char *key, const struct stat *mark)
{
    char name[MARK_ROOM];
    struct stat first;
    if (s->read_only)
        return false;
    snprintf(name, sizeof name, "suspected/%s", key);
    const bool known = find_listed(&first, s, "suspected", key);
    if ((known && is_later(&mark->st_mtim, &first.st_mtim)) || (!known && !store_write(s, name, "\n", 1, false)))
        return false;
    (void)unlinkat(marks, leaf, 0);
    return true;
}

/* Moves a mark to poisoned/. Returns the status of the mark: ENOENT when it is gone. */
static int list(const struct store *s, int marks, const char *leaf, const char *key)
{
    struct stat st;
    int poisoned;
    if (!s->read_only && !private_dir_open(&poisoned, s->root, "poisoned", true)) {
        const int status = renameat(marks, leaf, poisoned, key) ? errno : 0;
        close(poisoned);
        if (!status)
            return 0;
    }
    return fstatat(marks, leaf, &st, AT_SYMLINK_NOFOLLOW) ? errno : 0;
}

/* A process that removed its mark and ended between our reading the two did not crash: so the mark must still exist
 * after the process is found to be gone. */
static bool search_one(void *user, int fd, const char *leaf, const struct stat *st)
{
    struct search *const x = user;
    struct mark m;
    if (!read_mark(&m, leaf) || strcmp(m.key, x->key) || is_alive(&m, &x->self, st))
        return true;
    struct stat now;
    if (!fstatat(fd, leaf, &now, AT_SYMLINK_NOFOLLOW) && !suspect(x->s, fd, leaf, x->key, st))
        x->found = !list(x->s, fd, leaf, x->key);
    return !x->found;
}

bool crash_guard_is_poisoned(struct store *s, const char *key)
{
    struct search x = { .s = s, .key = key };
    if (!has_marks(s, key))
        return false;
    find_self(&x.self, key);
    each(s, "inflight", search_one, &x);
    if (x.found)
        store_tell(s, STORE_TOLD_POISONED, "cache: processes crashed while they tried %s; it is not used for a month",
                   key);
    return x.found || is_suspect(s, key) || is_poison(s, key); /* last, because a mark that another process finds
                                                                * moves there */
}
