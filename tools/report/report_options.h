/* report_options.h - the command line of clattn-report
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef REPORT_OPTIONS_H
#define REPORT_OPTIONS_H

#include "tools/system/fault.h"

/* Beside those of fault.h. */
enum { EXIT_CUT = 5 };

struct report_options {
    const char *device, *minutes_text, *output, *parts_text, *child, *seconds_text;
    int quick, quiet, list_devices, help, version;
    /* What these say: */
    double minutes;
    unsigned parts;  /* a bit for each row of parts_table */
    long first;      /* of --child: the first step to do; -1: list the devices */
    double seconds;  /* of --child: the time that there is */
};

/* Reads the arguments behind argv[0]. Returns 0, or -1 with `f` set. */
int report_options_read(struct report_options *o, int argc, char **argv, struct fault *f);
void report_options_help(void);

#endif
