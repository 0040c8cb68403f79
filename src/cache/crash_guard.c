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

#include "cache/file.h"
#include "cache/process.h"
#include "cache/store.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum { KEY = 64, PLACE = PROCESS_PLACE, RANDOM = 16, MARK_ROOM = STORE_NAME_MAX };
enum { HOUR = 60 * 60, MONTH = 30 * 24 * HOUR };

struct mark {
    char key[KEY + 1];
    struct process process;
};

/* ---- Who is alive ---- */

static void find_self(struct mark *self, const char *key)
{
    snprintf(self->key, sizeof self->key, "%s", key);
    process_self(&self->process);
}

static bool is_alive(const struct mark *m, const struct mark *self, const struct folder_entry *e)
{
    if (!*self->process.place)
        return true;
    if (strcmp(m->process.place, self->process.place))
        return file_now() - e->changed.tv_sec < HOUR;
    return process_is_there(&m->process, &self->process);
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
    if (strspn(leaf, "0123456789abcdef") != KEY || leaf[KEY] != '.' || !read_number(&m->process.id, &at, INT32_MAX) ||
        *at++ != '.' || !read_number(&m->process.began, &at, UINT64_MAX) || *at++ != '-' ||
        !file_is_hex(at, PLACE + RANDOM))
        return false;
    memcpy(m->key, leaf, KEY);
    memcpy(m->process.place, at, PLACE);
    m->key[KEY] = m->process.place[PLACE] = '\0';
    return true;
}

static bool is_mine(const struct mark *m, const struct mark *self)
{
    const struct process *const p = &m->process, *const own = &self->process;
    return !strcmp(m->key, self->key) && (!*own->place || !strcmp(p->place, own->place)) && p->id == own->id &&
           process_is_same_time(p->began, own->began);
}

static bool has_marks(const struct store *s, const char *key)
{
    return s->root && file_is_hex(key, KEY);
}

/* Calls visit() for each entry of a folder of the store. */
static void each(const struct store *s, const char *folder, folder_visit *visit, void *user)
{
    struct folder f;
    if (folder_open(&f, s->root, folder, false))
        return;
    (void)folder_each(&f, visit, user); /* a mark that cannot be read is no mark */
    folder_close(&f);
}

/* ---- Marking ---- */

void crash_guard_mark(struct store *s, const char *key)
{
    char name[MARK_ROOM], random[RANDOM + 1];
    struct mark self;
    if (!has_marks(s, key) || file_random(random, RANDOM))
        return;
    find_self(&self, key);
    if (!*self.process.place)
        return; /* nobody could tell which process the mark belongs to */
    snprintf(name, sizeof name, "inflight/%s.%ju.%ju-%s%s", key, (uintmax_t)self.process.id,
             (uintmax_t)self.process.began, self.process.place, random);
    (void)store_write(s, name, "\n", 1, false); /* without a mark there is one more try later, which does no harm */
}

struct unmark {
    struct mark self;
    bool seen, done;
};

static bool unmark_one(void *user, const struct folder *f, const char *leaf, const struct folder_entry *e)
{
    struct unmark *const u = user;
    struct mark m;
    (void)e;
    if (!read_mark(&m, leaf) || !is_mine(&m, &u->self))
        return true;
    u->seen = true;
    u->done = !folder_remove(f, leaf);
    return !u->done;
}

static void forget(const struct store *s, const char *folder, const char *key)
{
    struct folder f;
    if (folder_open(&f, s->root, folder, false))
        return;
    (void)folder_remove(&f, key);
    folder_close(&f);
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

static bool find_listed(struct folder_entry *e, const struct store *s, const char *folder, const char *key)
{
    struct folder f;
    if (folder_open(&f, s->root, folder, false))
        return false;
    const bool listed = !folder_look(&f, key, e);
    folder_close(&f);
    return listed;
}

/* The lower limit is for clocks that were set back: nothing stays poisoned for ever. */
static bool is_poison(const struct store *s, const char *key)
{
    struct folder_entry e;
    if (!find_listed(&e, s, "poisoned", key))
        return false;
    const int64_t age = file_now() - e.changed.tv_sec;
    return age < MONTH && age > -MONTH;
}

/* A process that cannot write a mark does not try what is suspected. */
static bool is_suspect(const struct store *s, const char *key)
{
    struct folder_entry e;
    return s->read_only && find_listed(&e, s, "suspected", key);
}

static bool is_later(const struct timespec *a, const struct timespec *b)
{
    return a->tv_sec != b->tv_sec ? a->tv_sec > b->tv_sec : a->tv_nsec > b->tv_nsec;
}

/* Whether a mark is the first sign against its key, or as old as the first one. Then it becomes a suspicion and is
 * removed. */
static bool suspect(struct store *s, const struct folder *marks, const char *leaf, const char *key,
                    const struct folder_entry *mark)
{
    char name[MARK_ROOM];
    struct folder_entry first;
    if (s->read_only)
        return false;
    snprintf(name, sizeof name, "suspected/%s", key);
    const bool known = find_listed(&first, s, "suspected", key);
    if ((known && is_later(&mark->changed, &first.changed)) || (!known && !store_write(s, name, "\n", 1, false)))
        return false;
    (void)folder_remove(marks, leaf);
    return true;
}

/* Moves a mark to poisoned/. Returns the status of the mark: ENOENT when it is gone. */
static int list(const struct store *s, const struct folder *marks, const char *leaf, const char *key)
{
    struct folder_entry e;
    struct folder poisoned;
    if (!s->read_only && !folder_open(&poisoned, s->root, "poisoned", true)) {
        const int status = folder_move(marks, leaf, &poisoned, key);
        folder_close(&poisoned);
        if (!status)
            return 0;
    }
    return folder_look(marks, leaf, &e);
}

/* A process that removed its mark and ended between our reading the two did not crash: so the mark must still exist
 * after the process is found to be gone. */
static bool search_one(void *user, const struct folder *f, const char *leaf, const struct folder_entry *e)
{
    struct search *const x = user;
    struct mark m;
    if (!read_mark(&m, leaf) || strcmp(m.key, x->key) || is_alive(&m, &x->self, e))
        return true;
    struct folder_entry now;
    if (!folder_look(f, leaf, &now) && !suspect(x->s, f, leaf, x->key, e))
        x->found = !list(x->s, f, leaf, x->key);
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
        store_tell(s, STORE_LOGGED_POISONED, "cache: processes crashed while they tried %s; it is not used for a month",
                   key);
    return x.found || is_suspect(s, key) || is_poison(s, key); /* last, because a mark that another process finds
                                                                * moves there */
}
