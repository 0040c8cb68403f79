/* tune_options.c - the command line of clattn-tune: one table for parsing, refusing and --help
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/tune/tune_options.h"

#include "tools/tune/records.h"

#include <clattn.h>

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define INTO struct tune_options
static const struct args_row table[] = {
    ROW_TEXT("--device", device, "TEXT", "part of \"platform / device\", or P:D (default: the first GPU, else CPU)"),
    ROW_TEXT("--effort", effort_text, "HOW", "quick, full (default) or exhaustive"),
    ROW_TEXT("--time", time_text, "SECONDS", "time limit for a class (default by effort: 2, 60, none)"),
    ROW_TEXT("--total", total_text, "SECONDS", "time limit for all classes together"),
    ROW_TEXT("--kill", kill_text, "SECONDS", "time limit for one build or run (default 10, or 20 times the default's)"),
    ROW_TEXT("--file", file, "F", "problem strings, one on each line; # begins a comment; - is standard input"),
    ROW_FLAG("--recorded", recorded, "the classes that CLATTN_TUNE=record has noted"),
    ROW_FLAG("--from-recorded", recorded, NULL),
    ROW_FLAG("--force", force, "tune also classes that are tuned with this effort already"),
    ROW_FLAG("--in-process", in_process, "measure in this process, not in children that may hang or crash"),
    ROW_FLAG("--classes", classes, "list the classes that would be tuned"),
    ROW_FLAG("--list", list, "list the records of this device"),
    ROW_FLAG("--verify", verify, "check the configuration of each record; forget those that fail"),
    ROW_TEXT("--forget", forget, "PROBLEM|all", "remove the record of its class, or all of this device"),
    ROW_TEXT("--export", export_to, "FILE", "write the records of this device; - is standard output"),
    ROW_TEXT("--import", import_from, "FILE", "read records and keep them; - is standard input"),
    ROW_FLAG("--cache-stat", cache_stat, "show where binaries and records are kept, and how many; needs no device"),
    ROW_FLAG("--cache-clear", cache_clear, "remove all of them; needs no device"),
    ROW_FLAG("--json", json, "print JSON, one object on each line, and nothing else"),
    ROW_FLAG("--quiet", quiet, "print only errors and what was asked for"),
    ROW_LAST("--list-devices", list_devices, "list the devices, and the engine that each has by default"),
    ROW_LAST("--help", help, "print this (-h)"),
    ROW_LAST("--version", version, "print the version (-V)"),
    ROW_TEXT("--child", child, "CONFIG", NULL),
    { .name = NULL },
};

void tune_options_help(FILE *to)
{
    fputs("usage: clattn-tune [options] ['PROBLEM' ...]\n"
          "Finds the fastest configurations on an OpenCL device and keeps them: for the classes of the problems\n"
          "given, otherwise for all usual classes.\n\n", to);
    args_help(to, table);
    fputs("\nExit status: 0 success; 1 wrong usage or input; 2 no device; 3 nothing could be verified; 4 not all\n"
          "classes were tuned; 5 the cache cannot be used; 128 + N stopped by signal N.\n", to);
}

static int read_seconds(const char *name, const char *text, double *out, struct fault *f)
{
    char *end;
    if (!text)
        return 0;
    *out = strtod(text, &end);
    if (end == text || *end || isspace((unsigned char)*text) || !(*out > 0) || isinf(*out))
        return fault_set(f, EXIT_USAGE, "%s: %s is not a positive number of seconds", name, text);
    return 0;
}

static int read_effort(struct tune_options *o, struct fault *f)
{
    o->effort = o->effort_text ? record_effort_of(o->effort_text) : CLATTN_TUNE_FULL;
    if (o->effort)
        return 0;
    return fault_set(f, EXIT_USAGE, "--effort: %s is not quick, full or exhaustive", o->effort_text);
}

/* What is to be done: one thing. */
static int read_task(struct tune_options *o, struct fault *f)
{
    const struct {
        const char *name;
        int given;
        enum task task;
    } tasks[] = {
        { "--classes", o->classes, TASK_CLASSES },
        { "--list", o->list, TASK_LIST },
        { "--verify", o->verify, TASK_VERIFY },
        { "--forget", o->forget != NULL, TASK_FORGET },
        { "--export", o->export_to != NULL, TASK_EXPORT },
        { "--import", o->import_from != NULL, TASK_IMPORT },
        { "--cache-stat", o->cache_stat, TASK_CACHE_STAT },
        { "--cache-clear", o->cache_clear, TASK_CACHE_CLEAR },
        { "--child", o->child != NULL, TASK_CHILD },
    };
    const char *name = NULL;
    o->task = TASK_TUNE;
    for (size_t i = 0; i < sizeof tasks / sizeof *tasks; i++) {
        if (!tasks[i].given)
            continue;
        if (name)
            return fault_set(f, EXIT_USAGE, "%s and %s: one at a time", name, tasks[i].name);
        name = tasks[i].name;
        o->task = tasks[i].task;
    }
    if (o->task == TASK_CHILD && o->n != 1)
        return fault_set(f, EXIT_USAGE, "--child is internal: clattn-tune starts it to measure a candidate");
    if (o->task == TASK_TUNE || o->task == TASK_CLASSES || o->task == TASK_CHILD)
        return 0;
    if (o->n > 0)
        return fault_set(f, EXIT_USAGE, "%s: %s takes no problems", o->problems[0], name);
    if (o->file || o->recorded || o->force || o->effort_text || o->time_text || o->total_text)
        return fault_set(f, EXIT_USAGE, "%s tunes nothing: no --file, --recorded, --force, --effort, --time or --total",
                         name);
    return 0;
}

int tune_options_parse(int argc, char **argv, struct tune_options *o, struct fault *f)
{
    memset(o, 0, sizeof *o);
    o->problems = argv + 1;
    if ((o->n = args_read(argc, argv, table, o, f)) < 0)
        return -1;
    if (o->help || o->version || o->list_devices)
        return 0;
    if (read_effort(o, f) != 0 || read_seconds("--time", o->time_text, &o->time, f) != 0
        || read_seconds("--total", o->total_text, &o->total, f) != 0
        || read_seconds("--kill", o->kill_text, &o->kill, f) != 0)
        return -1;
    return read_task(o, f);
}
