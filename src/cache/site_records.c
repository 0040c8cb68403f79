/* site_records.c - records that others wrote: the *.tune files of a directory
 * SPDX-License-Identifier: Apache-2.0
 *
 * Whoever may write such a file chooses configurations, no more: they are checked as any other text is. */
#include "config.h"

#include "cache/file.h"
#include "cache/wisdom.h"

#include <stdlib.h>
#include <string.h>

enum { FILE_BYTES = 8 << 20, FOLDER_BYTES = 64 << 20, FILES = 4096, LEAF_MAX = 256 };

struct names {
    char (*list)[LEAF_MAX]; /* FILES of them */
    size_t count;
};

static bool is_tune_file(const char *name)
{
    static const char end[] = ".tune";
    const size_t n = strlen(name), length = sizeof end - 1;
    return *name != '.' && n > length && !strcmp(name + n - length, end);
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

static bool list_one(void *user, const struct folder *f, const char *leaf, const struct folder_entry *e)
{
    struct names *const names = user;
    (void)f, (void)e;
    if (is_tune_file(leaf) && strlen(leaf) < LEAF_MAX)
        strcpy(names->list[names->count++], leaf);
    return names->count < FILES;
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
    struct names names = { NULL, 0 };
    size_t left = FOLDER_BYTES;
    struct folder f;
    const bool open = path && *path && !folder_open_shared(&f, path);
    if (open && (names.list = malloc(FILES * sizeof *names.list))) {
        (void)folder_each(&f, list_one, &names); /* what cannot be listed is not read */
        qsort(names.list, names.count, sizeof *names.list, compare);
    }
    for (size_t i = 0; i < names.count && !c.full; i++) {
        struct file file;
        if (file_read_shared(&file, &f, names.list[i], left < FILE_BYTES ? left : FILE_BYTES))
            continue;
        left -= file.n;
        record_scan((const char *)file.bytes, file.n, pick, &c);
        free(file.bytes);
    }
    free(names.list);
    if (open)
        folder_close(&f);
    *list = c.records.list;
    return c.records.count;
}
