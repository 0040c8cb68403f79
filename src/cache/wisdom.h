/* wisdom.h - where records are kept: one for each device and class. Knows blobs, not OpenCL.
 * SPDX-License-Identifier: Apache-2.0
 *
 * tune/DEVICE/CLASS: a record. note/DEVICE/CLASS: a class that was met and not tuned. DEVICE is the first half of
 * record_device.device, CLASS that of the class text's digest. At most RECORDS_MAX of each for a device. */
#ifndef WISDOM_H
#define WISDOM_H

#include "cache/record.h"
#include "cache/store.h"

/* Reads the store's own record of a class for `by`. Returns false unless it is sound and of the same family; *rejected:
 * it was unsound and was removed. */
bool wisdom_get(struct store *s, const struct record_device *by, const char *class_text, struct record *r,
                bool *rejected);

/* Keeps a record; true when it reached the disk. A better record stays, unless it is unsettled or was made with another
 * driver than r's. */
bool wisdom_put(struct store *s, const struct record *r);
void wisdom_drop(struct store *s, const struct record_device *by, const char *class_text); /* class_text NULL: all */

/* Calls visit() with all records of by's device and family; with none where the application keeps them. visit() may
 * drop them. */
void wisdom_each(struct store *s, const struct record_device *by, record_visit *visit, void *user);

/* Whether a should replace b: it is of more effort, or of the same effort and newer. */
bool wisdom_is_better(const struct record *a, const struct record *b);

/* In site_records.c: reads the records in a directory's *.tune files that are of by's family and device, or, with
 * `seeds` (shipped records), of a device of the same name. They come in the order of the files' names, several of a
 * class as they stand there, at most RECORDS_MAX. Unsound records are left out, and so are files that other users may
 * have written. The caller frees *list. */
size_t site_records_read(const char *path, const struct record_device *by, bool seeds, struct record **list);

/* Notes of classes that were met while nothing was tuned: keeps one, forgets one, reads the index-th. The order is
 * stable as long as the notes are. */
void wisdom_note(struct store *s, const struct record_device *by, const char *class_text);
void wisdom_unnote(struct store *s, const struct record_device *by, const char *class_text);
bool wisdom_noted(struct store *s, const struct record_device *by, size_t index, char class_text[CLASS_MAX]);

#endif
