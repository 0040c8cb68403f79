/* wisdom.c - where records are kept: one for each device and class. Knows blobs, not OpenCL.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/wisdom.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

enum { HALF = DIGEST_BYTES }; /* hex digits of half a digest */

static const char tune[] = "tune", note[] = "note";

/* ---- Names ---- */

static bool is_device(const char *device)
{
    return strnlen(device, DIGEST_HEX) == DIGEST_HEX - 1 && strspn(device, "0123456789abcdef") == DIGEST_HEX - 1;
}

/* Builds FOLDER/DEVICE; false when the device is not a digest, because names consist of hex digits. */
static bool folder_of(char name[STORE_NAME_MAX], const char *folder, const struct record_device *by)
{
    struct text t = { name, STORE_NAME_MAX, 0 };
    if (!is_device(by->device))
        return false;
    text_add(&t, "%s/%.*s", folder, HALF, by->device);
    return true;
}

/* FOLDER/DEVICE/CLASS */
static bool name_of(char name[STORE_NAME_MAX], const char *folder, const struct record_device *by,
                    const char *class_text)
{
    unsigned char digest[DIGEST_BYTES];
    char digits[DIGEST_HEX];
    if (!record_is_class(class_text) || !folder_of(name, folder, by))
        return false;
    struct text t = { name, STORE_NAME_MAX, strlen(name) };
    digest_of(digest, class_text, strlen(class_text));
    digest_hex(digits, digest);
    text_add(&t, "/%.*s", HALF, digits);
    return true;
}

/* ---- Records ---- */

/* Returns CL_SUCCESS; CLATTN_ERROR_SYNTAX when the record is unsound; CLATTN_ERROR_NOT_SUPPORTED when it is of another
 * version; CL_INVALID_VALUE when there is none, or it cannot be read now. */
static cl_int read_record(struct store *s, const char *name, struct record *r, struct why *why)
{
    unsigned char *bytes = NULL;
    size_t n = 0, used = 0;
    if (!store_read(s, name, RECORD_TEXT_MAX, &bytes, &n))
        return CL_INVALID_VALUE;
    cl_int status = record_read(r, (const char *)bytes, n, &used, why);
    if (!status && used != n)
        status = why_set(why, CLATTN_ERROR_SYNTAX, "there is more than one record");
    free(bytes);
    return status;
}

static bool is_of(const struct record *r, const struct record_device *by)
{
    return !strcmp(r->by.device, by->device) && r->by.family == by->family;
}

bool wisdom_get(struct store *s, const struct record_device *by, const char *class_text, struct record *r,
                bool *rejected)
{
    char name[STORE_NAME_MAX];
    struct record x;
    struct why why;
    *rejected = false;
    if (!name_of(name, tune, by, class_text))
        return false;
    const cl_int status = read_record(s, name, &x, &why);
    if (status == CLATTN_ERROR_SYNTAX) {
        *rejected = true;
        store_tell(s, STORE_LOGGED_DAMAGED, "cache: the record %s is damaged and was removed: %s", name, why.text);
        store_remove(s, name);
    }
    if (status || !is_of(&x, by) || strcmp(x.class_text, class_text))
        return false;
    *r = x;
    return true;
}

bool wisdom_is_better(const struct record *a, const struct record *b)
{
    return a->effort > b->effort || (a->effort == b->effort && a->date > b->date);
}

/* The records of a device while room is made: how many there are, and the one to be removed. */
struct crowd {
    struct store *store;
    size_t count;
    struct record worst;
    char name[STORE_NAME_MAX];
};

static bool count_one(void *user, const char *name, uint64_t bytes)
{
    struct crowd *const c = user;
    (void)name, (void)bytes;
    return ++c->count < RECORDS_MAX;
}

/* Keeps the name of the worst record. What is no record is worst, and what cannot be read now is skipped. */
static bool weigh_one(void *user, const char *name, uint64_t bytes)
{
    struct crowd *const c = user;
    struct text t = { c->name, sizeof c->name, 0 };
    struct record r = { .date = 0 };
    struct why why;
    const cl_int status = read_record(c->store, name, &r, &why);
    (void)bytes;
    if (status == CL_INVALID_VALUE || (!status && *c->name && !wisdom_is_better(&c->worst, &r)))
        return true;
    text_add(&t, "%s", name);
    c->worst = r;
    return true;
}

/* Makes room for one more record of a device, where the limit is reached. */
static void make_room(struct store *s, const struct record_device *by)
{
    char folder[STORE_NAME_MAX];
    struct crowd c = { .store = s };
    if (!folder_of(folder, tune, by))
        return;
    store_walk(s, folder, count_one, &c);
    if (c.count < RECORDS_MAX)
        return;
    store_walk(s, folder, weigh_one, &c);
    if (*c.name)
        store_remove(s, c.name);
}

/* Whether a printed record can be read back; one that cannot is useless. */
static bool is_sound(const struct text *printed)
{
    struct record r;
    struct why why;
    size_t used;
    return !record_read(&r, printed->to, printed->length, &used, &why);
}

/* Whether what is kept of the class of r is better and stays. Where nothing is kept, there is room afterwards. */
static bool better_is_kept(struct store *s, const struct record *r)
{
    struct record old;
    bool rejected;
    if (wisdom_get(s, &r->by, r->class_text, &old, &rejected))
        return wisdom_is_better(&old, r) && !old.tries && !strcmp(old.by.driver, r->by.driver);
    make_room(s, &r->by);
    return false;
}

bool wisdom_put(struct store *s, const struct record *r)
{
    char name[STORE_NAME_MAX], text[RECORD_TEXT_MAX];
    struct text t = { text, sizeof text, 0 };
    record_print(r, &t);
    return is_sound(&t) && name_of(name, tune, &r->by, r->class_text) && !better_is_kept(s, r) &&
        store_write(s, name, text, t.length, true);
}

static bool drop_one(void *user, const char *name, uint64_t bytes)
{
    (void)bytes;
    store_remove(user, name);
    return true;
}

void wisdom_drop(struct store *s, const struct record_device *by, const char *class_text)
{
    char name[STORE_NAME_MAX];
    if (!class_text && folder_of(name, tune, by))
        store_walk(s, name, drop_one, s);
    if (class_text && name_of(name, tune, by, class_text))
        store_remove(s, name);
}

struct visitor {
    struct store *store;
    const struct record_device *by;
    record_visit *visit;
    void *user;
};

/* A record under the name of another one is ignored. */
static bool visit_one(void *user, const char *name, uint64_t bytes)
{
    const struct visitor *const v = user;
    char own[STORE_NAME_MAX];
    struct record r;
    struct why why;
    (void)bytes;
    if (read_record(v->store, name, &r, &why) || !is_of(&r, v->by) || !name_of(own, tune, v->by, r.class_text) ||
        strcmp(own, name))
        return true;
    return v->visit(v->user, &r);
}

void wisdom_each(struct store *s, const struct record_device *by, record_visit *visit, void *user)
{
    struct visitor v = { s, by, visit, user };
    char folder[STORE_NAME_MAX];
    if (folder_of(folder, tune, by))
        store_walk(s, folder, visit_one, &v);
}

/* ---- Notes: the class and a newline ---- */

/* Whether the note of that name holds the class of that name. *unsound: it holds something else. */
static bool read_note(struct store *s, const char *name, const struct record_device *by, char class_text[CLASS_MAX],
                      bool *unsound)
{
    unsigned char *bytes = NULL;
    size_t n = 0;
    char own[STORE_NAME_MAX];
    *unsound = false;
    if (!store_read(s, name, CLASS_MAX, &bytes, &n))
        return false;
    const bool whole = n && bytes[n - 1] == '\n' && !memchr(bytes, '\0', n);
    if (whole) {
        memcpy(class_text, bytes, n - 1);
        class_text[n - 1] = '\0';
    }
    free(bytes);
    *unsound = !whole || !name_of(own, note, by, class_text) || strcmp(own, name);
    return !*unsound;
}

void wisdom_note(struct store *s, const struct record_device *by, const char *class_text)
{
    char name[STORE_NAME_MAX], folder[STORE_NAME_MAX], old[CLASS_MAX], line[CLASS_MAX + 1];
    struct text t = { line, sizeof line, 0 };
    struct crowd c = { .store = s };
    bool unsound;
    if (!name_of(name, note, by, class_text) || !folder_of(folder, note, by) || read_note(s, name, by, old, &unsound))
        return;
    store_walk(s, folder, count_one, &c);
    text_add(&t, "%s\n", class_text);
    if (c.count < RECORDS_MAX)
        store_write(s, name, line, t.length, false);
}

void wisdom_unnote(struct store *s, const struct record_device *by, const char *class_text)
{
    char name[STORE_NAME_MAX];
    if (name_of(name, note, by, class_text))
        store_remove(s, name);
}

struct names {
    char (*list)[STORE_NAME_MAX]; /* RECORDS_MAX of them */
    size_t count;
};

static bool list_one(void *user, const char *name, uint64_t bytes)
{
    struct names *const names = user;
    struct text t = { names->list[names->count], STORE_NAME_MAX, 0 };
    (void)bytes;
    text_add(&t, "%s", name);
    return ++names->count < RECORDS_MAX;
}

static int compare(const void *a, const void *b)
{
    return strcmp(a, b);
}

bool wisdom_noted(struct store *s, const struct record_device *by, size_t index, char class_text[CLASS_MAX])
{
    struct names names = { malloc(RECORDS_MAX * sizeof *names.list), 0 };
    char folder[STORE_NAME_MAX];
    bool found = false, unsound;
    if (!names.list || !folder_of(folder, note, by))
        goto out;
    store_walk(s, folder, list_one, &names);
    qsort(names.list, names.count, sizeof *names.list, compare);
    for (size_t i = index; i < names.count && !found; i++) {
        found = read_note(s, names.list[i], by, class_text, &unsound);
        if (unsound)
            store_remove(s, names.list[i]); /* otherwise the next index would return the same class again */
    }
out:
    free(names.list);
    return found;
}
