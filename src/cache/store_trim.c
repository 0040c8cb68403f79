/* store_trim.c - what a store loses when it grows too large, and what writers that are gone left behind
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/file.h"
#include "cache/store.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define STAMP "trimmed" /* a file in root, whose time says when this was done last */
enum { HOUR = 60 * 60, DAY = 24 * HOUR, SORTED_MAX = 1 << 16, NAME_ROOM = sizeof "bin/ab/" + 62, DEPTH_MAX = 2 };

struct blob {
    int64_t changed;
    uint64_t bytes;
    char name[NAME_ROOM];
};

struct trim {
    struct store *s;
    int64_t now;
    char path[STORE_NAME_MAX]; /* of the folder that is being read */
    int depth;
    struct blob *blobs; /* candidates for removal; not all of them where there are too many */
    size_t n, room;
    uint64_t bytes, count; /* of all */
};

/* ---- Looking ---- */

/* A clock that was set back must not keep anything for ever, so a time in the future counts as old. */
static int64_t when(const struct trim *t, const struct folder_entry *e)
{
    return e->changed.tv_sec > t->now + DAY ? 0 : e->changed.tv_sec;
}

static bool is_stale(const struct trim *t, const struct folder_entry *e)
{
    const int64_t age = t->now - e->changed.tv_sec;
    return age > HOUR || age < -HOUR;
}

static bool has_room(struct trim *t)
{
    if (t->n < t->room)
        return true;
    if (t->n == SORTED_MAX)
        return false;
    const size_t room = t->room ? 2 * t->room : 256;
    struct blob *const more = realloc(t->blobs, room * sizeof *more);
    if (!more)
        return false;
    t->blobs = more;
    t->room = room;
    return true;
}

static void count_blob(struct trim *t, const char *leaf, const struct folder_entry *e)
{
    t->count++;
    if (__builtin_add_overflow(t->bytes, e->on_disk, &t->bytes))
        t->bytes = UINT64_MAX;
    if (!has_room(t))
        return;
    struct blob *const b = &t->blobs[t->n++];
    b->changed = when(t, e);
    b->bytes = e->on_disk;
    snprintf(b->name, sizeof b->name, "%.6s/%.62s", t->path, leaf);
}

static bool is_of_binaries(const char *path)
{
    return !strncmp(path, "bin/", 4) && file_is_hex(path + 4, 2);
}

static void look_into(struct trim *t);

static bool look(void *user, const struct folder *f, const char *leaf, const struct folder_entry *e)
{
    struct trim *const t = user;
    const size_t above = strlen(t->path);
    if (e->kind == FOLDER_FILE && file_is_temp(leaf) && is_stale(t, e))
        (void)folder_remove(f, leaf); /* the next trimming tries again */
    else if (e->kind == FOLDER_FILE && is_of_binaries(t->path) && file_is_hex(leaf, 62))
        count_blob(t, leaf, e);
    else if (e->kind == FOLDER_FOLDER && *leaf != '.' && t->depth < DEPTH_MAX &&
             above + strlen(leaf) + 2 <= sizeof t->path) {
        snprintf(t->path + above, sizeof t->path - above, "%s%s", above ? "/" : "", leaf);
        look_into(t);
        t->path[above] = '\0';
    }
    return true;
}

static void look_into(struct trim *t)
{
    struct folder f;
    if (folder_open(&f, t->s->root, t->path, false))
        return;
    t->depth++;
    (void)folder_each(&f, look, t); /* what cannot be read stays */
    t->depth--;
    folder_close(&f);
}

/* ---- Taking ---- */

static int older_first(const void *a, const void *b)
{
    const struct blob *const x = a, *const y = b;
    return x->changed != y->changed ? (x->changed > y->changed) - (x->changed < y->changed) : strcmp(x->name, y->name);
}

/* Where a limit is exceeded, more than necessary is removed, so that the next blobs do not exceed it again. */
static uint64_t goal(uint64_t is, uint64_t most)
{
    return is > most ? most / 5 * 4 : most;
}

static void evict(struct trim *t)
{
    const uint64_t bytes = goal(t->bytes, t->s->max_bytes), count = goal(t->count, STORE_FILES_MAX);
    if (t->n)
        qsort(t->blobs, t->n, sizeof *t->blobs, older_first);
    for (size_t i = 0; i < t->n && (t->bytes > bytes || t->count > count); i++) {
        store_remove(t->s, t->blobs[i].name);
        t->bytes -= t->blobs[i].bytes;
        t->count--;
    }
}

/* ---- When ---- */

static bool is_due(const struct folder *root, int64_t now)
{
    struct folder_entry e;
    const int status = folder_look(root, STAMP, &e);
    if (status)
        return status == ENOENT;
    const int64_t age = now - e.changed.tv_sec;
    return age < 0 || age >= HOUR;
}

static bool stamp(const struct folder *root)
{
    const int status = file_touch(root, STAMP);
    return !(status == ENOENT ? file_write(root, STAMP, "\n", 1, false) : status);
}

void store_trim(struct store *s, bool now)
{
    struct trim t = { .s = s, .now = file_now(), .depth = -1 };
    struct folder root;
    if (s->read_only || !s->root || folder_open(&root, s->root, "", false))
        return;
    const bool due = is_due(&root, t.now), stamped = (due || now) && stamp(&root);
    folder_close(&root);
    if (!now && !stamped)
        return;
    look_into(&t);
    evict(&t);
    free(t.blobs);
}
