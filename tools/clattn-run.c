/* clattn-run.c - one attention on .npy files, from the command line
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "arrays.h"
#include "clock.h"
#include "inputs.h"
#include "opencl.h"
#include "options.h"
#include "output.h"
#include "report.h"
#include "setup.h"
#include "verify.h"

#include <clattn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Everything that is open during a run. */
struct run {
    struct options options;
    struct arrays arrays;
    struct opencl where;
    clattn_handle handle;
    clattn_plan plan;
    struct setup setup;
    struct outputs outputs;
    struct report report;
    double *o, *lse;
};

static int exit_status(cl_int e)
{
    switch (e) {
    case CL_SUCCESS: return EXIT_OK;
    case CL_DEVICE_NOT_FOUND: return EXIT_NO_DEVICE;
    case CLATTN_ERROR_INVALID_ARGUMENT:
    case CLATTN_ERROR_SYNTAX: return EXIT_USAGE;
    default: return EXIT_UNSUPPORTED; /* a driver that fails to build or to allocate does not support this run */
    }
}

/* Says that `what` failed with `e`, in the library's words where it has some. */
static int library_fault(struct run *r, const char *what, cl_int e, struct fault *f)
{
    char detail[4096] = "";
    if (r->handle)
        (void)clattn_error_detail(r->handle, detail, sizeof detail, NULL);
    return fault_set(f, exit_status(e), "%s: %s%s%s", what, clattn_status_string(e), detail[0] ? ": " : "", detail);
}

static int no_device(const char *text, struct fault *f)
{
    char list[4096] = "", name[520];
    size_t at = 0;
    for (unsigned n = 0; opencl_name(n, name, sizeof name) == CL_SUCCESS && at + sizeof name + 4 < sizeof list; n++)
        at += (size_t)snprintf(list + at, sizeof list - at, "%s\"%s\"", n ? ", " : "", name);
    if (!at)
        return fault_set(f, EXIT_NO_DEVICE, "there is no OpenCL device");
    return fault_set(f, EXIT_NO_DEVICE, "--device: no device is called \"%s\"; there is %s", text, list);
}

static int open_device(struct run *r, struct fault *f)
{
    const char *text = r->options.device;
    cl_int e = opencl_open(text, &r->where);
    if (e == CL_DEVICE_NOT_FOUND)
        return no_device(text ? text : "", f);
    if (e == CL_SUCCESS)
        e = clattn_create(&r->handle, r->where.context, r->where.device, NULL);
    return e == CL_SUCCESS ? 0 : library_fault(r, "the device cannot be used", e, f);
}

static int emit_source(struct run *r, struct fault *f)
{
    const struct options *o = &r->options;
    const char *config = o->config[0] ? o->config : NULL;
    char why[1024] = "", *text = NULL;
    clattn_case c;
    size_t need = 0;
    memset(&c, 0, sizeof c);
    c.struct_size = sizeof c;
    cl_int e = clattn_case_parse(o->emit_source, &c, why, sizeof why);
    if (e != CL_SUCCESS)
        return fault_set(f, exit_status(e), "--emit-source: '%s': %s", o->emit_source, why);
    if (o->device && open_device(r, f) != 0)
        return -1;
    e = clattn_emit_source(r->handle, &c.problem, config, NULL, 0, &need);
    if (need > 0) {
        text = calloc(1, need);
        e = text ? clattn_emit_source(r->handle, &c.problem, config, text, need, &need) : CL_OUT_OF_HOST_MEMORY;
    }
    if (e != CL_SUCCESS || !text)
        fault_set(f, exit_status(e), "--emit-source: %s%s%s", clattn_status_string(e), text && *text ? ": " : "",
                  text ? text : "");
    else if (fputs(text, stdout) == EOF || fflush(stdout) != 0)
        fault_set(f, EXIT_USAGE, "standard output cannot be written");
    free(text);
    return f->status ? -1 : 0;
}

static int make_plan(struct run *r, struct fault *f)
{
    clattn_plan_options plan_options = CLATTN_PLAN_OPTIONS_INIT;
    const clattn_problem *p = &r->arrays.c.problem;
    char why[1024] = "", config[512] = "";
    cl_int e = clattn_supports(r->handle, p, why, sizeof why);
    if (e != CL_SUCCESS)
        return fault_set(f, exit_status(e), "this problem: %s", why[0] ? why : clattn_status_string(e));
    plan_options.config = r->options.config[0] ? r->options.config : NULL;
    const double start = clock_ms();
    e = clattn_plan_create(&r->plan, r->handle, p, &plan_options);
    if (e != CL_SUCCESS)
        return library_fault(r, plan_options.config ? plan_options.config : "this problem", e, f);
    r->report.plan_ms = clock_ms() - start;
    e = clattn_plan_config(r->plan, config, sizeof config, NULL);
    if (e != CL_SUCCESS)
        return library_fault(r, "the plan", e, f);
    const size_t n = strcspn(config, " ");
    snprintf(r->report.engine, sizeof r->report.engine, "%.*s", (int)n, config);
    snprintf(r->report.tile, sizeof r->report.tile, "%s", config[n] ? config + n + 1 : "");
    return 0;
}

/* Times `rounds` calls; the call before was the warm-up. */
static cl_int measure(struct run *r, int rounds)
{
    cl_int e = CL_SUCCESS;
    double *ms = malloc((size_t)rounds * sizeof *ms);
    if (!ms)
        return CL_OUT_OF_HOST_MEMORY;
    for (int i = 0; i < rounds && e == CL_SUCCESS; i++) {
        const double start = clock_ms();
        e = setup_run(&r->setup, r->plan);
        ms[i] = clock_ms() - start;
    }
    if (e == CL_SUCCESS)
        r->report.time_ms = clock_median(ms, rounds);
    free(ms);
    return e;
}

static int compute(struct run *r, struct fault *f)
{
    struct counts n;
    const int lse = r->arrays.in.lse;
    if (inputs_count(&r->arrays.c, &n) != 0)
        return fault_set(f, EXIT_USAGE, "the outputs would be too large");
    r->o = malloc((n.o ? n.o : 1) * sizeof *r->o);
    r->lse = lse ? malloc((n.lse ? n.lse : 1) * sizeof *r->lse) : NULL;
    if (!r->o || (lse && !r->lse))
        return fault_set(f, EXIT_UNSUPPORTED, "there is no memory for the outputs");
    cl_int e = setup_open(&r->setup, &r->where, &r->arrays.c, &r->arrays.in);
    if (e != CL_SUCCESS)
        return fault_set(f, exit_status(e), "the buffers cannot be made on %s: %s", r->where.device_name,
                         clattn_status_string(e));
    e = setup_run(&r->setup, r->plan);
    if (e == CL_SUCCESS && r->options.rounds)
        e = measure(r, r->options.rounds);
    if (e == CL_SUCCESS)
        e = setup_read(&r->setup, r->o, r->lse);
    return e == CL_SUCCESS ? 0 : library_fault(r, "the run", e, f);
}

static int check(struct run *r, struct fault *f)
{
    if (!r->options.verify)
        return 0;
    if (verify(&r->arrays.c, &r->arrays.in, r->o, r->lse, &r->report.verdict) != 0)
        return fault_set(f, EXIT_UNSUPPORTED, "--verify: there is no memory for the reference");
    r->report.verified = 1;
    return 0;
}

/* Adds x [b,h,n,w], in float32 unless `wide`, in the axis order `bthd` asks for. Writes over x. */
static int add_output(struct run *r, const char *argument, const char *path, double *x, int ndim, int64_t w, int wide,
                      int bthd, struct fault *f)
{
    const clattn_sizes *z = &r->arrays.c.problem.sizes;
    const int64_t shape[4] = { z->b, bthd ? z->nq : z->h, bthd ? z->h : z->nq, w };
    const size_t n = (size_t)z->b * (size_t)z->h * (size_t)z->nq * (size_t)w;
    double *order = NULL;
    if (bthd && n) {
        order = malloc(n * sizeof *order);
        if (!order)
            return fault_set(f, EXIT_USAGE, "%s: %s: there is no memory for it", argument, path);
        arrays_swap(x, order, z->b, z->h, z->nq, w);
        x = order;
    }
    if (!wide)
        for (size_t i = 0; i < n; i++) { /* in place: a float never lies behind its double */
            const float single = (float)x[i];
            memcpy((char *)x + i * sizeof single, &single, sizeof single);
        }
    const int status = outputs_add(&r->outputs, argument, path, wide ? NPY_F8 : NPY_F4, ndim, shape, x, f);
    free(order);
    return status;
}

static int write_outputs(struct run *r, struct fault *f)
{
    const struct options *o = &r->options;
    const clattn_problem *p = &r->arrays.c.problem;
    if (o->out && add_output(r, "-o", o->out, r->o, 4, p->dv, p->type == CLATTN_F64, o->bthd, f) != 0)
        return -1;
    if (o->lse && add_output(r, "--lse", o->lse, r->lse, 3, 1, 0, 0, f) != 0)
        return -1;
    return outputs_commit(&r->outputs, f);
}

static int run(struct run *r, struct fault *f)
{
    double error, bound;
    report_start(&r->report);
    if (arrays_read(&r->options, &r->arrays, f) != 0 || open_device(r, f) != 0 || make_plan(r, f) != 0)
        return -1;
    r->report.platform = r->where.platform_name;
    r->report.device = r->where.device_name;
    const cl_int e = report_problem(&r->report, &r->arrays);
    if (e != CL_SUCCESS)
        return fault_set(f, exit_status(e), "this problem: %s", clattn_status_string(e));
    if (compute(r, f) != 0 || check(r, f) != 0 || write_outputs(r, f) != 0 ||
        report_print(&r->report, r->options.json, f) != 0)
        return -1;
    if (!r->report.verified || r->report.verdict.good)
        return 0;
    report_error(&r->report, &error, &bound);
    return fault_set(f, EXIT_VERIFY, "--verify: max-error %.3g is over the bound %.3g", error, bound);
}

static void finish(struct run *r)
{
    outputs_discard(&r->outputs);
    setup_close(&r->setup);
    (void)clattn_plan_release(r->plan);
    (void)clattn_release(r->handle);
    opencl_close(&r->where);
    arrays_free(&r->arrays);
    free(r->o);
    free(r->lse);
}

int main(int argc, char **argv)
{
    static struct run r;
    static struct fault f;
    if (options_parse(argc, argv, &r.options, &f) == 0) {
        if (r.options.help)
            options_help(stdout);
        else if (r.options.version)
            printf("clattn-run %s\n", clattn_version());
        else if (r.options.emit_source)
            (void)emit_source(&r, &f);
        else
            (void)run(&r, &f);
        if (fflush(stdout) != 0 || ferror(stdout))
            fault_set(&f, EXIT_USAGE, "standard output cannot be written");
    }
    finish(&r);
    if (f.status != EXIT_OK)
        fault_print(&f, "clattn-run");
    return f.status;
}
