/* report_file.h - a report as it grows: text that is written at once, and the JSON part at its end
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_FILE_H
#define REPORT_FILE_H

#include "tools/report/fact.h"
#include "tools/report/scrub.h"

enum { REPORT_SCHEMA = 1, REPORT_DEVICES = 64 };

struct report_file {
    FILE *to;
    struct scrub scrub;
    struct fact *all;
    size_t n;
    int devices;
    const char *names[REPORT_DEVICES]; /* of these; the caller's */
    const struct fact_kind *heading; /* of the table under way in this part */
    int in_line;                       /* extensions, which share a line, are not ended yet */
    int failed;                        /* it could not be written, or there was no memory */
};

/* The head: what the report is, and of the machine as far as nobody is named. loader: that of OpenCL, "": not known. */
void report_file_begin(struct report_file *f, FILE *to, const char *loader);

/* The next device, whose name is not copied, or a part of one. */
void report_file_device(struct report_file *f, const char *place, const char *name);
void report_file_part(struct report_file *f, const char *name, const char *what);

/* Keeps a record of the device under way and prints it; takes it over. */
void report_file_add(struct report_file *f, struct fact *r);

/* The same of a line that this process makes. */
void report_file_add_line(struct report_file *f, const struct fact_line *l);

/* What to look at first, where to send it, and the JSON part. whole: nobody ended it early. Frees everything but `to`.
 * Returns 0, or -1 where it could not be written. */
int report_file_end(struct report_file *f, int whole);

#endif
