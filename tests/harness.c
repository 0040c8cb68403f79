/* harness.c - devices under test, plans kept by class, one problem checked
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "harness.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16 };
static struct device devices[DEVICES_MAX];
static unsigned n_devices;

struct kept {
    struct kept *next;
    clattn_handle handle;
    clattn_problem problem; /* without sizes: they are no part of the class */
    char config[128];
    clattn_plan plan;
};
static struct kept *plans;

int harness_flag(const char *name)
{
    const char *value = getenv(name);
    return value && *value && strcmp(value, "0");
}

/* ---- Devices ---- */

static cl_int open_parts(struct device *d)
{
    cl_int e;
    d->queue = clCreateCommandQueue(d->cl.context, d->cl.device, 0, &e);
    if (e)
        return e;
    e = clattn_create(&d->handle, d->cl.context, d->cl.device, NULL);
    if (e)
        clReleaseCommandQueue(d->queue);
    return e;
}

static cl_int open_device(const char *text)
{
    struct device *d = &devices[n_devices];
    struct opencl cl;
    cl_int e;
    if (n_devices == DEVICES_MAX)
        return CL_SUCCESS;
    e = opencl_open(text, &cl);
    if (e)
        return e;
    d->cl = cl;
    snprintf(d->name, sizeof d->name, "%s / %s", cl.platform_name, cl.device_name);
    e = open_parts(d);
    if (e)
        opencl_close(&d->cl);
    else
        n_devices++;
    return e;
}

static const char *open_listed(const char *list)
{
    static char why[640];
    while (*list) {
        char text[512];
        size_t n = strcspn(list, ";");
        cl_int e;
        snprintf(text, sizeof text, "%.*s", (int)n, list);
        if (n && (e = open_device(text)) != CL_SUCCESS) {
            snprintf(why, sizeof why, "cannot use '%s' of CLATTN_TEST_DEVICES: %s", text, clattn_status_string(e));
            return why;
        }
        list += n + (list[n] == ';');
    }
    return NULL;
}

unsigned harness_open(const struct device **out, const char **why)
{
    const char *list = getenv("CLATTN_TEST_DEVICES"), *problem = NULL;
    char text[520];
    unsigned i;
    setenv("CLATTN_TUNE", "off", 1); /* what runs here must not depend on what was measured before */
    if (list && *list)
        problem = open_listed(list);
    else
        for (i = 0; opencl_name(i, text, sizeof text) == CL_SUCCESS; i++)
            open_device(text);
    if (problem) {
        printf("Bail out! %s\n", problem); /* a device asked for by name must not be passed over in silence */
        exit(99);
    }
    *out = devices;
    *why = "no OpenCL device";
    return n_devices;
}

void harness_close(void)
{
    while (plans) {
        struct kept *next = plans->next;
        clattn_plan_release(plans->plan);
        free(plans);
        plans = next;
    }
    while (n_devices) {
        struct device *d = &devices[--n_devices];
        clattn_release(d->handle);
        clReleaseCommandQueue(d->queue);
        opencl_close(&d->cl);
    }
}

/* ---- Plans ---- */

static void detail(clattn_handle handle, cl_int e, char *why, size_t len)
{
    char text[1024] = "";
    clattn_error_detail(handle, text, sizeof text, NULL);
    snprintf(why, len, "%s: %s", clattn_status_string(e), text);
}

static struct kept *find(const struct device *d, const clattn_problem *problem, const char *config)
{
    struct kept *p = plans;
    while (p && (p->handle != d->handle || memcmp(&p->problem, problem, sizeof *problem) || strcmp(p->config, config)))
        p = p->next;
    return p;
}

/* The problem without what every call may bring its own of. A copy of all bytes: it is compared with memcmp. */
static void class_of(const clattn_problem *from, clattn_problem *to)
{
    memcpy(to, from, sizeof *to);
    memset(&to->sizes, 0, sizeof to->sizes);
}

static cl_int build(const struct device *d, const clattn_problem *problem, const char *config, struct kept *p)
{
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    options.config = *config ? config : NULL;
    p->handle = d->handle;
    class_of(problem, &p->problem);
    snprintf(p->config, sizeof p->config, "%s", config);
    return clattn_plan_create(&p->plan, d->handle, problem, &options);
}

cl_int harness_plan(const struct device *d, const clattn_problem *problem, const char *config, clattn_plan *plan,
                    char *why, size_t len)
{
    clattn_problem class;
    struct kept *p;
    cl_int e;
    class_of(problem, &class);
    p = find(d, &class, config ? config : "");
    if (!p) {
        p = calloc(1, sizeof *p);
        if (!p)
            return CL_OUT_OF_HOST_MEMORY;
        e = build(d, problem, config ? config : "", p);
        if (e) {
            detail(d->handle, e, why, len);
            free(p);
            return e;
        }
        p->next = plans;
        plans = p;
    }
    *plan = p->plan;
    return CL_SUCCESS;
}

/* ---- Checking ---- */

cl_int fixture_open(struct fixture *f, const struct device *d, const char *problem, enum layout layout, char *why,
                    size_t len)
{
    clattn_case c;
    cl_int e;
    memset(f, 0, sizeof *f);
    f->d = d;
    f->text = problem;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    e = clattn_case_parse(problem, &c, why, len);
    if (e)
        return e;
    e = trial_make(&f->t, d->cl.context, &c, layout);
    if (e)
        snprintf(why, len, "cannot set the inputs up: %s", clattn_status_string(e));
    else
        e = harness_plan(d, &f->t.c.problem, NULL, &f->plan, why, len);
    if (e)
        trial_free(&f->t);
    return e;
}

void fixture_close(struct fixture *f)
{
    trial_free(&f->t);
}

static int run_and_judge(struct trial *t, const struct device *d, const char *config, char *why, size_t len)
{
    clattn_plan plan;
    cl_int e = harness_plan(d, &t->c.problem, config, &plan, why, len);
    if (e)
        return e == CLATTN_ERROR_NOT_SUPPORTED ? -1 : 0;
    e = trial_run(t, plan, d->queue);
    if (e) {
        detail(d->handle, e, why, len);
        return 0;
    }
    return trial_verify(t, d->queue, why, len);
}

int harness_check(const struct device *d, const clattn_case *c, const char *config, enum layout layout, char *why,
                  size_t len)
{
    struct trial t;
    cl_int e = trial_make(&t, d->cl.context, c, layout);
    int verdict = 0;
    *why = 0;
    if (e)
        snprintf(why, len, "cannot set the inputs up: %s", clattn_status_string(e));
    else
        verdict = run_and_judge(&t, d, config, why, len);
    trial_free(&t);
    return verdict;
}

int harness_check_text(const struct device *d, const char *problem, const char *config, enum layout layout, char *why,
                       size_t len)
{
    clattn_case c;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    if (clattn_case_parse(problem, &c, why, len))
        return 0;
    return harness_check(d, &c, config, layout, why, len);
}
