/* report_options.c - the command line of clattn-report
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/report_options.h"

#include "tools/report/parts.h"
#include "tools/system/args.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MINUTES = 5, QUICK_MINUTES = 1, MINUTES_MOST = 1440 };

#define INTO struct report_options
static const struct args_row table[] = {
    ROW_TEXT("--device", device, "TEXT", "only this one: part of \"platform / device\", or P:D (default: all)"),
    ROW_TEXT("--output", output, "FILE", "where the report goes; - is standard output (default: see above)"),
    ROW_TEXT("--minutes", minutes_text, "N", "most time for all devices together (default 5, with --quick 1)"),
    ROW_FLAG("--quick", quick, "small problems, and neither the second table of results nor searches"),
    ROW_TEXT("--parts", parts_text, "LIST", "only these parts, with commas between: see below"),
    ROW_FLAG("--quiet", quiet, "do not tell on standard error how far it is"),
    ROW_LAST("--list-devices", list_devices, "list the devices, and the engine that each has by default"),
    ROW_LAST("--help", help, "print this (-h)"),
    ROW_LAST("--version", version, "print the version (-V)"),
    ROW_TEXT("--child", child, "STEP", NULL),
    ROW_TEXT("--seconds", seconds_text, "N", NULL),
    { .name = NULL },
};

void report_options_help(void)
{
    puts("usage: clattn-report [options]\n"
         "Tells how clattn runs on this machine: devices, drivers, results against float64, compilers, speed. Writes\n"
         "clattn-report-DATE.txt into the current folder. It holds no names of machines, users or files. Ctrl-C ends\n"
         "it early, and what is known by then is kept.\n");
    args_help(stdout, table);
    puts("\nParts, in their order:");
    for (const struct part *p = parts_table; p->name; p++)
        printf("  %-22s %s\n", p->name, p->what);
    puts("\nExit status: 0 the report is whole, whatever it found; 1 wrong usage, or it cannot be written; 2 no\n"
         "device; 5 a signal ended it early.");
}

static int read_minutes(struct report_options *o, struct fault *f)
{
    char *end;
    o->minutes = o->quick ? QUICK_MINUTES : MINUTES;
    if (!o->minutes_text)
        return 0;
    o->minutes = strtod(o->minutes_text, &end);
    if (*end || end == o->minutes_text || strspn(o->minutes_text, "0123456789.") != strlen(o->minutes_text) ||
        !(o->minutes > 0 && o->minutes <= MINUTES_MOST))
        return fault_set(f, EXIT_USAGE, "--minutes: %s is not a number of minutes, up to %d", o->minutes_text,
                         MINUTES_MOST);
    return 0;
}

static int read_parts(struct report_options *o, struct fault *f)
{
    const char *at = o->parts_text;
    if (!at) {
        o->parts = ~0u;
        return 0;
    }
    do {
        const size_t n = strcspn(at, ",");
        int i = 0;
        while (parts_table[i].name && (strlen(parts_table[i].name) != n || strncmp(parts_table[i].name, at, n)))
            i++;
        if (!parts_table[i].name)
            return fault_set(f, EXIT_USAGE, "--parts: \"%.*s\" is none; see --help", (int)n, at);
        o->parts |= 1u << i;
        at += n + (at[n] == ',');
    } while (*at);
    return 0;
}

static int read_child(struct report_options *o, struct fault *f)
{
    char *end = NULL, *end_of_seconds = NULL;
    if (!o->child && !o->seconds_text)
        return 0;
    o->first = o->child ? strtol(o->child, &end, 10) : 0;
    o->seconds = o->seconds_text ? strtod(o->seconds_text, &end_of_seconds) : 0;
    if (!end || !end_of_seconds || *end || *end_of_seconds || o->first < -1)
        return fault_set(f, EXIT_USAGE, "--child and --seconds are internal: clattn-report starts itself with them");
    return 0;
}

int report_options_read(struct report_options *o, int argc, char **argv, struct fault *f)
{
    memset(o, 0, sizeof *o);
    const int n = args_read(argc, argv, table, o, f);
    if (n < 0)
        return -1;
    if (o->help || o->version || o->list_devices)
        return 0;
    if (n > 0)
        return fault_set(f, EXIT_USAGE, "%s: no arguments but options; see --help", argv[1]);
    if (o->device && !*o->device)
        return fault_set(f, EXIT_USAGE, "--device: the name of the device is empty");
    if (o->output && !*o->output)
        return fault_set(f, EXIT_USAGE, "--output: the name of the file is empty");
    return read_minutes(o, f) || read_parts(o, f) || read_child(o, f) ? -1 : 0;
}
