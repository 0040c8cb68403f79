/* record.c - clattn-record: how long every configuration of a problem takes on a device, as text for clattn-replay
 * SPDX-License-Identifier: Apache-2.0
 *
 * An exhaustive clattn_tune() whose clattn_measure notes what it sees. Each call is compared with the control's of the
 * same round, so that a machine that is busy now and then does no harm. --only leaves out what a whole space need not
 * have measured: vector widths that are not the device's. */
#include "config.h"

#include "tools/system/args.h"
#include "tools/system/devices.h"
#include "tools/system/opencl.h"

#include <clattn_tune.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { CONFIGS = 4096, OPEN = 16, CALLS = 32 };

struct seen {
    char config[96];
    int refused, calls;
    double ratio[CALLS], seconds[CALLS];
};

/* What is open. */
struct recorder {
    clattn_handle handle;
    const clattn_problem *problem;
    const char *only; /* of configurations, or NULL */
    struct seen *seen;
    int n;
    struct {
        struct seen *of;
        clattn_trial trial;
    } open[OPEN];
    double control; /* last time of seen[0] */
};

static struct seen *find(struct recorder *r, const char *config)
{
    for (int i = 0; i < r->n; i++)
        if (!strcmp(r->seen[i].config, config))
            return &r->seen[i];
    if (r->n == CONFIGS)
        return NULL;
    snprintf(r->seen[r->n].config, sizeof r->seen->config, "%s", config);
    return &r->seen[r->n++];
}

static cl_int on_open(void *user, const char *config)
{
    struct recorder *r = user;
    int i = 0;
    if (r->only && !strstr(config, r->only))
        return CLATTN_ERROR_NOT_SUPPORTED;
    struct seen *s = find(r, config);
    while (i < OPEN && r->open[i].of)
        i++;
    if (!s || i == OPEN)
        return CL_OUT_OF_RESOURCES;
    r->open[i].of = s;
    const cl_int e = clattn_trial_create(&r->open[i].trial, r->handle, r->problem, config);
    s->refused = e != CL_SUCCESS;
    if (r->n % 20 == 0)
        fprintf(stderr, "%d %s\n", r->n, config);
    return e;
}

static cl_int on_run(void *user, const char *config, double *seconds)
{
    struct recorder *r = user;
    struct seen *s = find(r, config);
    int i = 0;
    while (i < OPEN && r->open[i].of != s)
        i++;
    if (!s || i == OPEN)
        return CL_INVALID_VALUE;
    const cl_int e = clattn_trial_run(r->open[i].trial, seconds);
    if (e || s->calls == CALLS)
        return e;
    if (s == r->seen)
        r->control = *seconds;
    s->seconds[s->calls] = *seconds;
    s->ratio[s->calls++] = *seconds / r->control;
    return e;
}

static void on_close(void *user, const char *config)
{
    struct recorder *r = user;
    for (int i = 0; i < OPEN; i++)
        if (r->open[i].of && !strcmp(r->open[i].of->config, config)) {
            (void)clattn_trial_release(r->open[i].trial);
            r->open[i].of = NULL;
            r->open[i].trial = NULL;
        }
}

static int compare(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static double median(double *x, int n)
{
    qsort(x, (size_t)n, sizeof *x, compare);
    return x[(n - 1) / 2];
}

static void print(struct recorder *r, const struct opencl *cl, const char *problem)
{
    char date[32] = "";
    const time_t now = time(NULL);
    strftime(date, sizeof date, "%Y-%m-%d", gmtime(&now));
    printf("# platform %s\n# device %s\n# date %s\n# problem %s\n", cl->platform_name, cl->device_name, date, problem);
    const double control = median(r->seen[0].seconds, r->seen[0].calls);
    for (int i = 0; i < r->n; i++) {
        struct seen *s = &r->seen[i];
        if (s->refused || !s->calls)
            printf("%s refused\n", s->config);
        else
            printf("%s %.1f\n", s->config, 1e6 * control * (i ? median(s->ratio, s->calls) : 1));
    }
}

struct record_options {
    const char *device, *only;
    int list_devices, help, version;
};
#define INTO struct record_options
static const struct args_row table[] = {
    ROW_TEXT("--device", device, "TEXT", "part of \"platform / device\", or P:D (default: the first GPU, else CPU)"),
    ROW_TEXT("--only", only, "TEXT", "only configurations that contain it"),
    ROW_LAST("--list-devices", list_devices, "list the devices, and the engine that each has by default"),
    ROW_LAST("--help", help, "print this (-h)"),
    ROW_LAST("--version", version, "print the version (-V)"),
    { .name = NULL },
};

static int failed(cl_int e, struct fault *f)
{
    return fault_set(f, EXIT_USAGE, "%s", clattn_status_string(e));
}

static int record(const struct record_options *o, const char *problem, struct fault *f)
{
    struct recorder r = { .only = o->only };
    struct opencl cl;
    char why[512] = "";
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    clattn_options options = CLATTN_OPTIONS_INIT;
    clattn_tune_options tune = CLATTN_TUNE_OPTIONS_INIT;
    const clattn_measure measure = { sizeof measure, on_open, on_run, on_close, &r };
    if (clattn_workload_parse(problem, &c, why, sizeof why))
        return fault_set(f, EXIT_USAGE, "'%s': %s", problem, why);
    cl_int e = opencl_open(o->device, &cl);
    if (e)
        return e == CL_DEVICE_NOT_FOUND ? opencl_missing(o->device, f) : failed(e, f);
    r.problem = &c.problem;
    r.seen = calloc(CONFIGS, sizeof *r.seen);
    options.tune = CLATTN_TUNE_OFF;
    options.cache_dir = "";
    tune.effort = CLATTN_TUNE_EXHAUSTIVE;
    tune.measure = &measure;
    e = r.seen ? clattn_create(&r.handle, cl.context, cl.device, &options) : CL_OUT_OF_HOST_MEMORY;
    if (!e)
        e = clattn_tune(r.handle, &c.problem, &tune, NULL, 0);
    if (!e)
        print(&r, &cl, problem);
    free(r.seen);
    (void)clattn_release(r.handle);
    opencl_close(&cl);
    return e ? failed(e, f) : 0;
}

int main(int argc, char **argv)
{
    static struct fault f;
    struct record_options o = { NULL, NULL, 0, 0, 0 };
    const int n = args_read(argc, argv, table, &o, &f);
    if (o.help) {
        fputs("usage: clattn-record [options] 'PROBLEM' >FILE\n"
              "Times every configuration of a problem, for clattn-replay.\n\n", stdout);
        args_help(stdout, table);
    } else if (o.version) {
        printf("clattn-record %s\n", clattn_version());
    } else if (o.list_devices) {
        (void)devices_list(stdout, &f);
    } else if (n >= 0 && n != 1) {
        fault_set(&f, EXIT_USAGE, "one problem is wanted, not %d; see --help", n);
    } else if (n == 1) {
        (void)record(&o, argv[1], &f);
    }
    if (f.status)
        fault_print(&f, "clattn-record");
    return f.status;
}
