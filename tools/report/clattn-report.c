/* clattn-report.c - how clattn runs on this machine, as a file to send
 * SPDX-License-Identifier: Apache-2.0
 *
 * No driver is called in this process, so that none can end it. What children find out is written as it comes
 * (visits.c), and a signal leads to the end of the file, which is as whole then as it is otherwise. */
#include "config.h"

#include "tools/report/parts.h"
#include "tools/report/report_file.h"
#include "tools/report/report_options.h"
#include "tools/report/visits.h"
#include "tools/system/child.h"
#include "tools/system/clock.h"
#include "tools/system/devices.h"
#include "tools/system/files.h"
#include "tools/system/system.h"

#include <errno.h>
#include <string.h>
#include <time.h>

enum { PATH_ROOM = 4096, SAME_DAY = 1000 };

/* clattn-report-DATE.txt, or with -2, -3 .. behind the date where there are such: none is written over. */
static FILE *open_new(char path[PATH_ROOM], struct fault *f)
{
    const time_t now = time(NULL);
    const struct tm *const utc = gmtime(&now);
    char date[32] = "unknown";
    int fd = -1;
    if (utc)
        (void)strftime(date, sizeof date, "%Y-%m-%d", utc);
    for (int i = 1; i < SAME_DAY && fd < 0; i++) {
        char again[16] = "";
        if (i > 1)
            snprintf(again, sizeof again, "-%d", i);
        snprintf(path, PATH_ROOM, "clattn-report-%s%s.txt", date, again);
        fd = files_create(path, -1);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    FILE *const to = fd < 0 ? NULL : fdopen(fd, "wb");
    if (!to)
        fault_set(f, EXIT_USAGE, "%s: %s (--output FILE names another place)", path, strerror(errno));
    return to;
}

static FILE *open_output(const char *output, char path[PATH_ROOM], struct fault *f)
{
    if (!output)
        return open_new(path, f);
    snprintf(path, PATH_ROOM, "%s", output);
    FILE *const to = strcmp(output, "-") ? fopen(output, "wb") : stdout;
    if (!to)
        fault_set(f, EXIT_USAGE, "--output: %s: %s", output, strerror(errno));
    return to;
}

static int write_report(struct visits *v, struct fault *f)
{
    static struct report_file file;
    char path[PATH_ROOM];
    if (visits_find(v, f) != 0)
        return -1;
    FILE *const to = open_output(v->o->output, path, f);
    if (!to)
        return -1;
    report_file_begin(&file, to, v->loader);
    v->file = &file;
    if (*v->trouble) {
        struct fact_line l;
        report_file_device(&file, "?", "not listed");
        fact_begin(&l, "trouble");
        fact_add(&l, "list");
        fact_add(&l, "all drivers are asked for their devices");
        fact_add(&l, v->trouble);
        report_file_add_line(&file, &l);
    }
    visits_run(v);
    const int cut = system_interrupted();
    if (report_file_end(&file, !cut) != 0 || (to != stdout && fclose(to) != 0))
        fault_set(f, EXIT_USAGE, "%s cannot be written", path);
    if (!f->status && to != stdout)
        fprintf(stderr, "clattn-report: %s is written; its end says what to look at first, and where to send it\n",
                path);
    return cut ? fault_set(f, EXIT_CUT, "interrupted: the report has what was known by then") : f->status ? -1 : 0;
}

int main(int argc, char **argv)
{
    static struct report_options o;
    static struct visits v;
    static struct fault f;
    if (report_options_read(&o, argc, argv, &f) == 0) {
        if (o.child)
            return parts_main(&o);
        system_catch_interrupts(); /* the first asks, the second kills */
        child_expect();
        v.program = argc > 0 ? argv[0] : "clattn-report";
        v.o = &o;
        v.end = clock_ms() + o.minutes * 6e4;
        if (o.help)
            report_options_help();
        else if (o.version)
            printf("clattn-report %s\n", clattn_version());
        else if (o.list_devices)
            (void)devices_list(stdout, &f);
        else
            (void)write_report(&v, &f);
        if (fflush(stdout) != 0 || ferror(stdout))
            fault_set(&f, EXIT_USAGE, "standard output cannot be written");
    }
    if (f.status != EXIT_OK)
        fault_print(&f, "clattn-report");
    return f.status;
}
