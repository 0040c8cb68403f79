/* visits.h - what a report has of each device, by children that may hang or crash
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VISITS_H
#define VISITS_H

#include "tools/report/report_file.h"
#include "tools/report/report_options.h"

enum { VISITS_DEVICES = REPORT_DEVICES - 1 }; /* and the list of them, where that crashes */

struct visits {
    const char *program; /* argv[0] */
    const struct report_options *o;
    struct report_file *file; /* NULL while devices are listed */
    int n;                    /* devices, in the order in which they are visited: GPUs first */
    struct place {
        char at[16], kind[16], name[256];
    } places[VISITS_DEVICES];
    double end;               /* clock_ms() when all time is up */
    char loader[300];         /* of OpenCL: its name and version, or "" */
    char trouble[600];        /* why devices could not be listed to the end, or "" */
};

/* Lists the devices, or finds the one that --device names. Returns 0, or -1 with `f` set. A driver that crashes there
 * is no fault, but what the report is about. */
int visits_find(struct visits *v, struct fault *f);

/* Goes through all of them. A signal ends it. */
void visits_run(struct visits *v);

#endif
