/* record.h - one record of what was measured: a text that says what it is and adds up. Knows no files.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORD_H
#define RECORD_H

#include "base/digest.h"
#include "base/text.h"

enum { RECORD_TEXT_MAX = 4096, CLASS_MAX = 192, CONFIG_MAX = 96, RECORDS_MAX = 4096 };

/* The device and driver that were measured. */
struct record_device {
    char device[DIGEST_HEX]; /* digest of what the device is, without its driver */
    char name[256];          /* "platform / device", for people and for shipped records */
    char driver[256];        /* its version; with another one a record is stale, not wrong */
    int family;              /* of kernels; a record of another one is useless */
};

struct record {
    struct record_device by;
    char class_text[CLASS_MAX];
    char config[CONFIG_MAX]; /* "ENGINE TILE" */
    double time_ns, mad_ns, control_ns; /* medians of the winner, and of the default configuration in the same rounds */
    int rounds, trials;
    int effort;              /* CLATTN_TUNE_QUICK, _FULL or _EXHAUSTIVE */
    int tries;               /* 0: settled; else how many searches were too noisy or stopped */
    int64_t date;            /* seconds since 1970, UTC */
    char lib[16];            /* version of the library */
};

/* Prints a record. Times become whole nanoseconds and dates lie in 1970 to 9999; values outside become the nearest
 * valid one, and bytes that are not printable become '?'. */
void record_print(const struct record *r, struct text *to);

/* Reads one record, which must be exactly as record_print() writes it; *used: bytes read. CLATTN_ERROR_NOT_SUPPORTED:
 * it says that it is of another version of the format, and so may be sound. */
cl_int record_read(struct record *r, const char *text, size_t n, size_t *used, struct why *why);

/* Reads all records of a text, at most RECORDS_MAX; or none, with words that begin with the number of the faulty line.
 * The caller frees *list. */
bool record_parse_all(const char *text, size_t n, struct record **list, size_t *count, struct why *why);

/* Calls visit() with each sound record of a text, whatever else is in it. Returning false ends the loop. */
typedef bool record_visit(void *user, const struct record *r);
void record_scan(const char *text, size_t n, record_visit *visit, void *user);

/* Whether a text can be the class of a record. */
bool record_is_class(const char *text);

/* A list that grows. */
struct records {
    struct record *list;
    size_t count, room;
};
bool records_add(struct records *to, const struct record *r); /* false: no memory, or the list is full */

#endif
