/* records.h - the records of a device, as clattn_wisdom_export() writes them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDS_H
#define RECORDS_H

#include <clattn.h>

/* The contents of a record, see clattn-cache(5). Absent values are "" or 0. */
struct record {
    char class_text[256], config[256], driver[256], date[32], lib[32];
    int effort;                  /* CLATTN_TUNE_QUICK, _FULL or _EXHAUSTIVE */
    int tries;                   /* 0: settled, else it was too noisy to tell, so many times */
    double time_ns, control_ns;  /* of `config`, and of the default configuration */
    size_t at, n;                /* where its text is in records.text */
};

/* By class. */
struct records {
    char *text;
    size_t length, room;
    struct record *list;
    size_t n;
};

/* Reads the records of the handle's device. records_free() must be called also after a failure. */
cl_int records_read(struct records *r, clattn_handle handle);
void records_free(struct records *r);

const struct record *records_find(const struct records *r, const char *class_text);

/* The time of `config` divided by that of the default configuration; 0 when it is not known. */
double record_ratio(const struct record *r);

/* The time of `config` in words, three digits and the unit that suits them: "23.4 us"; "-" when it is not known. */
enum { RECORD_TIME = 16 };
const char *record_time(char text[RECORD_TIME], const struct record *r);

/* "quick", "full", "exhaustive"; "?" for anything else, and 0 for another name. */
const char *record_effort(int effort);
int record_effort_of(const char *name);

#endif
