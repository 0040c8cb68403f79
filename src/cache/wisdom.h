/* wisdom.h - where records are kept: one for each device and class. Knows blobs, not OpenCL.
 * SPDX-License-Identifier: Apache-2.0
 *
 * tune/DEVICE/CLASS: a record. note/DEVICE/CLASS: a class that was met and not tuned. DEVICE is the first half of
 * bench.device, CLASS that of the class text's digest. At most RECORDS_MAX of each for a device. */
#ifndef WISDOM_H
#define WISDOM_H

#include "cache/record.h"
#include "cache/store.h"

/* The store's own record of a class for `by`, sound and of its family; else false, *rejected when one was unsound (and
 * was taken away). */
bool wisdom_get(struct store *s, const struct bench *by, const char *class_text, struct record *r, bool *rejected);

/* Keeps a record; true when it reached the disk. One that is better stays, unless it was unsettled or made under
 * another driver than r's. */
bool wisdom_put(struct store *s, const struct record *r);
void wisdom_drop(struct store *s, const struct bench *by, const char *class_text); /* class_text NULL: all of by */

/* Calls visit, which may drop, with all of by's device and family; none where the application keeps them. */
void wisdom_each(struct store *s, const struct bench *by, bool (*visit)(void *user, const struct record *r),
                 void *user);

/* Whether a should take b's place: of more effort, or of as much and newer. */
bool wisdom_is_better(const struct record *a, const struct record *b);

/* In site_records.c: records of a directory's *.tune files (of the site, seeds) that are of by's family and device, or, with
 * `seeds`, of a device of the same name; in the order of the files' names, several of a class as they come, at most
 * RECORDS_MAX. Unsound ones are left out, and files that others may have written. *list is the caller's to free. */
size_t site_records_read(const char *path, const struct bench *by, bool seeds, struct record **list);

/* Classes met while nothing was tuned: kept, forgotten, and the index-th in an order that stays while they do. */
void wisdom_note(struct store *s, const struct bench *by, const char *class_text);
void wisdom_unnote(struct store *s, const struct bench *by, const char *class_text);
bool wisdom_noted(struct store *s, const struct bench *by, size_t index, char class_text[CLASS_MAX]);

#endif
