/* records.h - the records of a device, as clattn_wisdom_export() writes them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RECORDS_H
#define RECORDS_H

#include <clattn.h>

/* What a record says, clattn-cache(5). What it does not say is "" or 0. */
struct record {
    char class_text[256], config[256], driver[256], date[32], lib[32];
    int effort;                  /* CLATTN_TUNE_QUICK, _FULL or _EXHAUSTIVE */
    int tries;                   /* 0: settled, else it was too noisy to tell, so many times */
    double time_ns, control_ns;  /* of `config`, and of the table's choice */
    size_t at, n;                /* where its text is in records.text */
};

/* By class. */
struct records {
    char *text;
    size_t length, room;
    struct record *list;
    size_t n;
};

/* Reads those of the handle's device. records_free() is due whatever comes of it. */
cl_int records_read(struct records *r, clattn_handle handle);
void records_free(struct records *r);

const struct record *records_find(const struct records *r, const char *class_text);

/* Time of `config` / that of the table's choice; 0 when that is not known. */
double record_ratio(const struct record *r);

/* "quick", "full", "exhaustive"; "?" for anything else, and 0 for another name. */
const char *record_effort(int effort);
int record_effort_of(const char *name);

#endif
