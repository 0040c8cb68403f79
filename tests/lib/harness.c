/* harness.c - devices under test, one problem checked
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/harness.h"

#include "tests/lib/setenv.h"
#include "tools/oracle/verify.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { DEVICES_MAX = 16 };
static struct device devices[DEVICES_MAX];
static unsigned n_devices;

void harness_never_optimised(void)
{
    const char *const flags = getenv("CLATTN_POCL_FLAGS"); /* the Makefile knows where that computes wrong */
    setenv("POCL_EXTRA_BUILD_FLAGS", flags ? flags : "-cl-opt-disable", 0);
}

void harness_unoptimised(void)
{
    if (!harness_flag("CLATTN_FULL"))
        harness_never_optimised();
}

/* ---- Devices ---- */

/* What handles say of kernels that compute wrong: a plan takes another configuration in their place, and a test would
 * not see that they were there. */
static char passed_over[512];

static void on_log(void *user, const char *text)
{
    (void)user;
    if (strstr(text, ". In its place: "))
        snprintf(passed_over, sizeof passed_over, "%s", text);
}

const char *harness_passed_over(void)
{
    static char said[sizeof passed_over];
    memcpy(said, passed_over, sizeof said);
    *passed_over = '\0';
    return said;
}

static cl_int open_parts(struct device *d)
{
    clattn_options options = CLATTN_OPTIONS_INIT;
    cl_int e;
    options.log = on_log;
    d->queue = clCreateCommandQueue(d->cl.context, d->cl.device, 0, &e);
    if (e)
        return e;
    e = clattn_create(&d->handle, d->cl.context, d->cl.device, &options);
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

/* A device that has no compiler, or that its driver does not open, is passed over. NULL, or what is wrong. */
static const char *open_found(const char *text)
{
    static char why[640];
    struct opencl cl;
    cl_int e = open_device(text);
    if (!e || e == CLATTN_ERROR_NOT_SUPPORTED || e == CL_COMPILER_NOT_AVAILABLE || opencl_open(text, &cl))
        return NULL;
    opencl_close(&cl);
    snprintf(why, sizeof why, "no handle for '%s': %s", text, clattn_status_string(e));
    return why;
}

/* Where devices must be, as in .ci/run, a test without one has failed. */
static void need_device(const char *why)
{
    if (harness_flag("CLATTN_NEED_DEVICE")) {
        printf("Bail out! CLATTN_NEED_DEVICE is set: %s\n", why);
        exit(99);
    }
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
        for (i = 0; opencl_name(i, text, sizeof text) == CL_SUCCESS && !problem; i++)
            problem = open_found(text);
    if (problem) {
        /* A device asked for by name must not be passed over in silence, nor one refused for no reason. */
        printf("Bail out! %s\n", problem);
        exit(99);
    }
    *out = devices;
    *why = "no OpenCL device";
    if (!n_devices)
        need_device(*why);
    return n_devices;
}

void harness_close(void)
{
    harness_forget();
    while (n_devices) {
        struct device *d = &devices[--n_devices];
        clattn_release(d->handle);
        clReleaseCommandQueue(d->queue);
        opencl_close(&d->cl);
    }
}

/* ---- What has to be supported ---- */

/* Named here, and not asked of the library: an engine that it has lost would not be missed. */
static const char *const everywhere[] = { "simt", "cpu", "row", "naive" };
enum { N_EVERYWHERE = sizeof everywhere / sizeof *everywhere };

const char *harness_engine(size_t index)
{
    return index < N_EVERYWHERE ? everywhere[index] : NULL;
}

static int is_engine(const char *config, const char *name)
{
    const size_t n = strcspn(config, " ");
    return strlen(name) == n && !strncmp(config, name, n);
}

static int lacks_f64(const struct device *d)
{
    char extensions[8192] = "";
    clGetDeviceInfo(d->cl.device, CL_DEVICE_EXTENSIONS, sizeof extensions - 1, extensions, NULL);
    return !strstr(extensions, "cl_khr_fp64");
}

/* The types of 16 bits, all alike, and widths up to 256. */
static int suits_matrix_units(const clattn_problem *p)
{
    return (p->type == CLATTN_F16 || p->type == CLATTN_BF16) && (!p->k_type || p->k_type == p->type) &&
           (!p->v_type || p->v_type == p->type) && p->d <= 256 && p->dv <= 256;
}

int harness_may_refuse(const struct device *d, const clattn_problem *problem, const char *config)
{
    if (problem->type == CLATTN_F64 && lacks_f64(d))
        return 1;
    if (!config || !*config)
        return 0;
    for (size_t i = 0; i < N_EVERYWHERE; i++)
        if (is_engine(config, everywhere[i])) /* a tile of simt can be too large for the local memory */
            return !strcmp(everywhere[i], "simt") && strchr(config, ' ');
    return !verify_narrow_p(config) || !strstr(config, "_emu") || !suits_matrix_units(problem);
}

int harness_may_refuse_text(const struct device *d, const char *problem, const char *config)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    return !clattn_workload_parse(problem, &c, NULL, 0) && harness_may_refuse(d, &c.problem, config);
}

/* ---- Checking ---- */

void harness_words(clattn_handle handle, cl_int e, char *why, size_t len)
{
    char text[1024] = "";
    clattn_error_detail(handle, text, sizeof text, NULL);
    snprintf(why, len, "%s: %s", clattn_status_string(e), text);
}

static void unmade(const struct trial *t, cl_int e, char *why, size_t len)
{
    snprintf(why, len, "cannot set the inputs up: %s", t->why ? t->why : clattn_status_string(e));
}

cl_int fixture_open_by(struct fixture *f, const struct device *d, const char *problem, const char *config,
                       enum layout layout, char *why, size_t len)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    cl_int e;
    memset(f, 0, sizeof *f);
    f->d = d;
    f->text = problem;
    e = clattn_workload_parse(problem, &c, why, len);
    if (e)
        return e;
    e = trial_make(&f->t, d->cl.context, &c, layout);
    if (e)
        unmade(&f->t, e, why, len);
    else
        e = harness_plan(d, &f->t.c.problem, config, &f->plan, why, len);
    if (e)
        trial_free(&f->t);
    return e;
}

cl_int fixture_open(struct fixture *f, const struct device *d, const char *problem, enum layout layout, char *why,
                    size_t len)
{
    return fixture_open_by(f, d, problem, NULL, layout, why, len);
}

void fixture_close(struct fixture *f)
{
    trial_free(&f->t);
}

int harness_run(const struct device *d, struct trial *t, clattn_plan plan, char *why, size_t len)
{
    const cl_int e = trial_run(t, plan, d->queue);
    if (e)
        harness_words(d->handle, e, why, len);
    return !e && trial_verify(t, d->queue, why, len);
}

int harness_fetch(const struct device *d, struct trial *t, clattn_plan plan, char *why, size_t len)
{
    cl_int e = trial_reset(t, d->queue);
    e = e ? e : trial_run(t, plan, d->queue);
    if (e)
        harness_words(d->handle, e, why, len);
    return !e && trial_fetch(t, d->queue, why, len);
}

static int run_and_judge(struct trial *t, const struct device *d, const char *config, char *why, size_t len)
{
    clattn_plan plan;
    cl_int e = harness_plan(d, &t->c.problem, config, &plan, why, len);
    if (e)
        return e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, &t->c.problem, config) ? -1 : 0;
    return harness_run(d, t, plan, why, len);
}

int harness_check(const struct device *d, const clattn_workload *c, const char *config, enum layout layout, char *why,
                  size_t len)
{
    struct trial t;
    cl_int e = trial_make(&t, d->cl.context, c, layout);
    int verdict = 0;
    *why = 0;
    if (e)
        unmade(&t, e, why, len);
    else
        verdict = run_and_judge(&t, d, config, why, len);
    trial_free(&t);
    return verdict;
}

int harness_check_text(const struct device *d, const char *problem, const char *config, enum layout layout, char *why,
                       size_t len)
{
    clattn_workload c;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    if (clattn_workload_parse(problem, &c, why, len))
        return 0;
    return harness_check(d, &c, config, layout, why, len);
}
