/* tune_options.h - the command line of clattn-tune
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TUNE_OPTIONS_H
#define TUNE_OPTIONS_H

#include "tools/system/args.h"

/* Further exit statuses. 128 + N: a signal N asked to stop. */
enum { EXIT_NOTHING = 3, EXIT_PARTIAL = 4, EXIT_NO_CACHE = 5 };

enum task {
    TASK_TUNE, TASK_CLASSES, TASK_LIST, TASK_VERIFY, TASK_FORGET, TASK_EXPORT, TASK_IMPORT, TASK_CACHE_STAT,
    TASK_CACHE_CLEAR, TASK_CHILD
};

struct tune_options {
    /* As given; NULL when not. */
    const char *device, *effort_text, *time_text, *total_text, *kill_text, *file, *forget, *export_to, *import_from;
    const char *child;          /* a configuration */
    int force, in_process, list, verify, recorded, cache_stat, cache_clear, classes, json, quiet, help, version;
    int list_devices;
    /* What some of it means. */
    enum task task;
    int effort;                 /* CLATTN_TUNE_QUICK, _FULL, _EXHAUSTIVE */
    double time, total, kill;   /* seconds; 0: not given */
    int n;
    char **problems;            /* [n] */
};

/* Reads the arguments behind argv[0], which change places. Returns 0, or -1 with `f` set. */
int tune_options_parse(int argc, char **argv, struct tune_options *o, struct fault *f);

/* The text of --help. */
void tune_options_help(FILE *to);

#endif
