/* clattn-run.c - one attention on .npy files, from the command line
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/arrays.h"
#include "tools/system/clock.h"
#include "tools/system/devices.h"
#include "tools/run/gradient_files.h"
#include "tools/run/gradients.h"
#include "tools/oracle/inputs.h"
#include "tools/run/merging.h"
#include "tools/system/opencl.h"
#include "tools/run/options.h"
#include "tools/npy/output.h"
#include "tools/run/report.h"
#include "tools/run/score_files.h"
#include "tools/oracle/rowmods.h"
#include "tools/run/setup.h"
#include "tools/run/tensor_file.h"
#include "tools/oracle/verify.h"

#include <clattn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 1 << 16 };

/* Everything that is open during a run. */
struct run {
    struct options options;
    struct arrays arrays;
    struct opencl where;
    clattn_handle handle;
    clattn_plan plan;
    struct setup setup;
    struct gradient_files gradient_files; /* with --dout */
    struct gradients gradients;
    struct score_files scores; /* with --scores */
    struct merging merge; /* with --merge, in place of arrays and setup */
    struct outputs outputs;
    struct report report;
    struct rowmods rowmods;
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

/* Sets the fault that `what` failed with `e`, with the library's words where there are some. */
static int library_fault(struct run *r, const char *what, cl_int e, struct fault *f)
{
    char detail[4096] = "";
    if (r->handle)
        (void)clattn_error_detail(r->handle, detail, sizeof detail, NULL);
    return fault_set(f, exit_status(e), "%s: %s%s%s", what, clattn_status_string(e), detail[0] ? ": " : "", detail);
}

/* Prints the compiler's messages about a caller's text, line by line. */
static void print_log(const char *log)
{
    for (; *log; log++)
        putc(*log == '\n' || *log == '\t' || ((unsigned char)*log >= 0x20 && *log != 0x7f) ? *log : '?', stderr);
    putc('\n', stderr);
}

/* Sets the fault of a plan that cannot be made: `what`, or where it is a build failure with texts of the caller's,
 * which is taken to be theirs, the last one of the option. */
static int plan_fault(struct run *r, const char *what, const char *option, const struct list *texts, cl_int e,
                      struct fault *f)
{
    char *log = e == CLATTN_ERROR_BUILD && texts->n ? calloc(1, LOG_MAX) : NULL;
    if (!log)
        return library_fault(r, what, e, f);
    (void)clattn_error_detail(r->handle, log, LOG_MAX, NULL);
    print_log(log);
    free(log);
    return fault_set(f, EXIT_USAGE, "%s: %s: the compiler rejects the program with it", option,
                     texts->at[texts->n - 1]);
}

static int open_device(struct run *r, struct fault *f)
{
    const char *text = r->options.device;
    clattn_options options = CLATTN_OPTIONS_INIT;
    cl_int e = opencl_open(text, &r->where);
    if (e == CL_DEVICE_NOT_FOUND)
        return opencl_missing(text, f);
    options.tune = r->options.tune;
    if (e == CL_SUCCESS)
        e = clattn_create(&r->handle, r->where.context, r->where.device, &options);
    return e == CL_SUCCESS ? 0 : library_fault(r, "the device cannot be used", e, f);
}

static int emit_source(struct run *r, struct fault *f)
{
    const struct options *o = &r->options;
    const char *config = o->config[0] ? o->config : NULL;
    const char *words = NULL;
    char why[1024] = "", *text = NULL;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    size_t need = 0;
    cl_int e = clattn_workload_parse(o->emit_source, &c, why, sizeof why);
    if (e != CL_SUCCESS)
        return fault_set(f, exit_status(e), "--emit-source: '%s': %s", o->emit_source, why);
    if (extras_mods(&c, &r->arrays.x, &words) != 0)
        return fault_set(f, EXIT_USAGE, "--emit-source: '%s': %s", o->emit_source, words);
    if (o->device && open_device(r, f) != 0)
        return -1;
    e = clattn_emit_kernel(r->handle, &c.problem, config, o->kernel, NULL, 0, &need);
    if (need > 0) {
        text = calloc(1, need);
        e = text ? clattn_emit_kernel(r->handle, &c.problem, config, o->kernel, text, need, &need)
                 : CL_OUT_OF_HOST_MEMORY;
    }
    if (e != CL_SUCCESS || !text)
        fault_set(f, exit_status(e), "--emit-source: %s%s%s", clattn_status_string(e), text && *text ? ": " : "",
                  text ? text : "");
    else if (fputs(text, stdout) == EOF || fflush(stdout) != 0)
        fault_set(f, EXIT_USAGE, "standard output cannot be written");
    free(text);
    return f->status ? -1 : 0;
}

static int make_plan(struct run *r, const clattn_problem *p, struct fault *f)
{
    clattn_plan_options plan_options = CLATTN_PLAN_OPTIONS_INIT;
    char why[1024] = "", config[512] = "";
    cl_int e = clattn_supports(r->handle, p, why, sizeof why);
    if (e != CL_SUCCESS)
        return fault_set(f, exit_status(e), "this problem: %s", why[0] ? why : clattn_status_string(e));
    plan_options.config = r->options.config[0] ? r->options.config : NULL;
    const double start = clock_ms();
    e = clattn_plan_create(&r->plan, r->handle, p, &plan_options);
    if (e != CL_SUCCESS)
        return plan_fault(r, r->options.config[0] ? r->options.config : "this problem", "--score-mod",
                          &r->options.mods, e, f);
    r->report.plan_ms = clock_ms() - start;
    e = clattn_plan_config(r->plan, config, sizeof config, NULL);
    if (e == CL_SUCCESS)
        e = clattn_plan_get_info(r->plan, &r->report.made); /* report_start() has set its size */
    if (e != CL_SUCCESS)
        return library_fault(r, "the plan", e, f);
    const size_t n = strcspn(config, " ");
    snprintf(r->report.engine, sizeof r->report.engine, "%.*s", (int)n, config);
    snprintf(r->report.tile, sizeof r->report.tile, "%s", config[n] ? config + n + 1 : "");
    return 0;
}

static cl_int run_once(struct run *r)
{
    return r->options.merge ? merging_run(&r->merge, r->plan) : setup_run(&r->setup, r->plan);
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
        e = run_once(r);
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
    e = setup_prepare(&r->setup, r->plan);
    if (e == CL_SUCCESS)
        e = run_once(r);
    if (e == CL_SUCCESS && r->options.rounds)
        e = measure(r, r->options.rounds);
    if (e == CL_SUCCESS)
        e = setup_read(&r->setup, r->o, r->lse);
    return e == CL_SUCCESS ? 0 : library_fault(r, "the run", e, f);
}

/* Scores of that call. */
static int compute_scores(struct run *r, struct fault *f)
{
    const cl_int e = score_files_run(&r->scores, &r->setup, r->plan);
    return e == CL_SUCCESS ? 0 : library_fault(r, "--scores", e, f);
}

/* The backward call behind that, with a plan of its own for the same problem. */
static int compute_gradients(struct run *r, struct fault *f)
{
    const struct gradient_arrays *const from = &r->gradient_files.at;
    struct gradients *const g = &r->gradients;
    const struct extras *const x = &r->arrays.x;
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    clattn_problem p = r->arrays.c.problem;
    if (!r->options.dout)
        return 0;
    p.flags = (p.flags | CLATTN_BACKWARD) & ~(uint32_t)CLATTN_BATCH_INVARIANT;
    for (size_t i = 0; i < x->n_aux; i++)
        p.aux_grads |= from->daux[i] ? 1u << i : 0;
    options.config = r->options.config[0] ? r->options.config : NULL;
    cl_int e = clattn_plan_create(&g->plan, r->handle, &p, &options);
    if (e != CL_SUCCESS)
        return plan_fault(r, "gradients", "--score-mod-grad", &r->options.mod_grads, e, f);
    g->at = *from;
    for (size_t i = 0; i < x->n_aux; i++)
        g->captured[i].n = (int64_t)x->aux[i].count;
    e = gradients_open(g, &r->setup);
    if (e == CL_SUCCESS)
        e = gradients_run(g, &r->setup);
    if (e == CL_SUCCESS)
        e = gradients_read(g, &r->setup);
    return e == CL_SUCCESS ? 0 : library_fault(r, "gradients", e, f);
}

static int check(struct run *r, struct fault *f)
{
    const struct extras *x = &r->arrays.x;
    const struct gradient_arrays *const g = &r->gradient_files.at;
    const struct verify_gradients gradients = { g->dout, g->dlse,
                                                { g->dq, g->dk, g->dv, g->dbias, g->dslopes, g->dsinks } };
    char why[4096] = "";
    if (!r->options.verify)
        return 0;
    if (x->n_mods && rowmods_open(&r->rowmods, &r->where, x, r->arrays.c.problem.type == CLATTN_F64, why, sizeof why))
        return fault_set(f, EXIT_UNSUPPORTED, "--verify: the score_mods on their own: %s", why);
    if (verify(&r->arrays.c, &r->arrays.in, verify_narrow_p(r->report.engine), rowmods_change, &r->rowmods, r->o,
               r->lse, g->dout ? &gradients : NULL, &r->report.verdict) != 0)
        return fault_set(f, EXIT_UNSUPPORTED, "--verify: there is no memory for the reference%s",
                         x->n_mods ? ", or the score_mods failed on their own" : "");
    r->report.verified = 1;
    for (int i = 0; i < VERIFY_GRADIENTS; i++)
        r->report.verified_gradients[i] = g->dout && gradients.got[i];
    return 0;
}

static int check_scores(struct run *r, struct fault *f)
{
    const double *got[VERIFY_SCORES];
    if (!r->options.verify || !r->options.scores.n)
        return 0;
    for (int i = 0; i < VERIFY_SCORES; i++) {
        got[i] = r->scores.at[i];
        r->report.verified_scores[i] = got[i] != NULL;
    }
    if (verify_scores(&r->arrays.c, &r->arrays.in, verify_narrow_p(r->report.engine), rowmods_change, &r->rowmods, got,
                      &r->report.verdict) != 0)
        return fault_set(f, EXIT_UNSUPPORTED, "--verify: there is no memory for the reference of --scores");
    return 0;
}

/* Adds the output x, in float32 unless `wide`. Overwrites x. */
static int add_array(struct run *r, const char *argument, const char *path, double *x, int ndim, const int64_t *shape,
                     int wide, struct fault *f)
{
    size_t count = 1;
    for (int i = 0; i < ndim; i++)
        count *= (size_t)shape[i];
    for (size_t i = 0; i < count && !wide; i++) { /* in place: a float never lies beyond its double */
        const float single = (float)x[i];
        memcpy((char *)x + i * sizeof single, &single, sizeof single);
    }
    return outputs_add(&r->outputs, argument, path, wide ? NPY_F8 : NPY_F4, ndim, shape, x, f);
}

/* The same of x [b,h,n,w], in a file of the form given. */
static int add_output(struct run *r, const char *argument, const char *path, const char *form, double *x,
                      const int64_t shape[4], int wide, struct fault *f)
{
    const int64_t b = shape[0], h = shape[1], n = shape[2], w = shape[3];
    const size_t count = (size_t)b * (size_t)h * (size_t)n * (size_t)w;
    int64_t in_file[4];
    double *order = NULL;
    if (tensor_file_rows_first(form) && count) {
        order = malloc(count * sizeof *order);
        if (!order)
            return fault_set(f, EXIT_USAGE, "%s: %s: there is no memory for it", argument, path);
        tensor_file_swap(x, order, b, h, n, (size_t)w * sizeof *x);
        x = order;
    }
    const int ndim = tensor_file_shape(form, shape, in_file);
    const int status = add_array(r, argument, path, x, ndim, in_file, wide, f);
    free(order);
    return status;
}

/* Gradients of bias, slopes, sinks and captured buffers, in the shapes of what they belong to. */
static int write_others(struct run *r, struct fault *f)
{
    const struct options *o = &r->options;
    const struct gradient_arrays *const g = &r->gradient_files.at;
    const struct extras *x = &r->arrays.x;
    const int64_t slopes[2] = { x->slopes_b, r->arrays.c.problem.sizes.h };
    if (g->dbias && add_array(r, "--dbias", o->dbias, g->dbias, x->bias_axes, x->bias_shape + 4 - x->bias_axes,
                              r->arrays.c.problem.type == CLATTN_F64, f) != 0)
        return -1;
    if (g->dslopes && add_array(r, "--dslopes", o->dslopes, g->dslopes, x->slopes_axes, slopes + 2 - x->slopes_axes, 0,
                                f) != 0)
        return -1;
    if (g->dsinks && add_array(r, "--dsinks", o->dsinks, g->dsinks, 1, slopes + 1, 0, f) != 0)
        return -1;
    for (size_t i = 0; i < x->n_aux; i++)
        if (g->daux[i] && add_array(r, "--daux", r->gradient_files.daux_path[i], g->daux[i], x->aux[i].ndim,
                                    x->aux[i].shape, r->arrays.c.problem.type == CLATTN_F64, f) != 0)
            return -1;
    return 0;
}

static int write_gradients(struct run *r, struct fault *f)
{
    const struct options *o = &r->options;
    const struct gradient_arrays *const g = &r->gradient_files.at;
    const clattn_problem *p = &r->arrays.c.problem;
    const clattn_sizes *z = &p->sizes;
    const int64_t b = o->cu_q ? 1 : z->b, kv_b = r->arrays.in.shared ? 1 : b;
    const int64_t n = o->cu_q ? z->total_q : z->nq, m = o->cu_k ? z->total_k : z->nk;
    const struct {
        const char *argument, *path, *form;
        double *values;
        int64_t shape[4];
    } all[] = {
        { "--dq", o->dq, r->arrays.q_form, g->dq, { b, z->h, n, p->d } },
        { "--dk", o->dk, r->arrays.k_form, g->dk, { kv_b, z->hk, m, p->d } },
        { "--dv", o->dv, r->arrays.v_form, g->dv, { kv_b, z->hk, m, p->dv } },
    };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i].values && add_output(r, all[i].argument, all[i].path, all[i].form, all[i].values, all[i].shape,
                                        p->type == CLATTN_F64, f) != 0)
            return -1;
    return write_others(r, f);
}

/* [b,h,nq,nk], without axes that the file of Q lacks. */
static int write_scores(struct run *r, struct fault *f)
{
    const clattn_problem *p = &r->arrays.c.problem;
    const clattn_sizes *z = &p->sizes;
    const int varlen = r->options.cu_q != NULL;
    const int64_t shape[4] = { varlen ? 1 : z->b, z->h, varlen ? z->total_q : z->nq, z->nk };
    const char *const form = tensor_file_form_of_scores(r->arrays.q_form);
    for (int i = 0; i < VERIFY_SCORES; i++)
        if (r->scores.at[i] && add_output(r, "--scores", r->scores.path[i], form, r->scores.at[i], shape,
                                          p->type == CLATTN_F64, f) != 0)
            return -1;
    return 0;
}

static int write_outputs(struct run *r, struct fault *f)
{
    const struct options *o = &r->options;
    const clattn_problem *p = &r->arrays.c.problem;
    const clattn_sizes *z = &p->sizes;
    const int64_t b = o->cu_q ? 1 : z->b, n = o->cu_q ? z->total_q : z->nq;
    const int64_t of_o[4] = { b, z->h, n, p->dv }, of_lse[4] = { b, z->h, n, 1 };
    const char *const form = r->arrays.q_form, *const lse_form = tensor_file_form_of_lse(form);
    if (o->out && add_output(r, "-o", o->out, form, r->o, of_o, p->type == CLATTN_F64, f) != 0)
        return -1;
    if (o->lse && add_output(r, "--lse", o->lse, lse_form, r->lse, of_lse, 0, f) != 0)
        return -1;
    return write_gradients(r, f) != 0 || write_scores(r, f) != 0 ? -1 : outputs_commit(&r->outputs, f);
}

/* Reads, computes and verifies. */
static int run_attention(struct run *r, struct fault *f)
{
    if (arrays_read(&r->options, &r->arrays, f) != 0 ||
        gradient_files_read(&r->options, &r->arrays, &r->gradient_files, f) != 0 ||
        score_files_read(&r->options, &r->arrays, &r->scores, f) != 0 || open_device(r, f) != 0)
        return -1;
    clattn_problem p = r->arrays.c.problem;
    p.flags |= r->options.scores.n ? CLATTN_SCORES : 0;
    if (make_plan(r, &p, f) != 0)
        return -1;
    const cl_int e = report_problem(&r->report, &r->arrays);
    if (e != CL_SUCCESS)
        return fault_set(f, exit_status(e), "this problem: %s", clattn_status_string(e));
    return compute(r, f) != 0 || compute_scores(r, f) != 0 || compute_gradients(r, f) != 0 || check(r, f) != 0 ||
                   check_scores(r, f) != 0 || write_outputs(r, f) != 0
               ? -1
               : 0;
}

static int compute_merge(struct run *r, struct fault *f)
{
    cl_int e = merging_open(&r->merge, &r->where);
    if (e == CL_SUCCESS)
        e = run_once(r);
    if (e == CL_SUCCESS && r->options.rounds)
        e = measure(r, r->options.rounds);
    if (e == CL_SUCCESS)
        e = merging_fetch(&r->merge);
    return e == CL_SUCCESS ? 0 : library_fault(r, "the merge", e, f);
}

static int run_merge(struct run *r, struct fault *f)
{
    const struct options *o = &r->options;
    struct merging *m = &r->merge;
    if (merging_read(o, m, f) != 0 || open_device(r, f) != 0)
        return -1;
    const clattn_problem p = merging_problem(m);
    report_merge(&r->report, m->parts, m->rows, m->width, m->type);
    if (make_plan(r, &p, f) != 0 || compute_merge(r, f) != 0)
        return -1;
    r->report.verified = o->verify;
    if (o->verify && merging_verify(m, &r->report.verdict) != 0)
        return fault_set(f, EXIT_UNSUPPORTED, "--verify: there is no memory for the reference");
    if (o->out && add_array(r, "-o", o->out, m->o, m->ndim, m->shape, m->type == CLATTN_F64, f) != 0)
        return -1;
    if (o->lse && add_array(r, "--lse", o->lse, m->lse, m->ndim - 1, m->shape, 0, f) != 0)
        return -1;
    return outputs_commit(&r->outputs, f);
}

static int run(struct run *r, struct fault *f)
{
    double error, bound;
    report_start(&r->report);
    if ((r->options.merge ? run_merge : run_attention)(r, f) != 0)
        return -1;
    r->report.platform = r->where.platform_name;
    r->report.device = r->where.device_name;
    if (report_print(&r->report, r->options.json, f) != 0)
        return -1;
    if (!r->report.verified || r->report.verdict.good)
        return 0;
    report_error(&r->report, &error, &bound);
    return fault_set(f, EXIT_VERIFY, "--verify: max-error %.3g is over the bound %.3g", error, bound);
}

static void finish(struct run *r)
{
    outputs_discard(&r->outputs);
    gradients_close(&r->gradients);
    gradient_files_free(&r->gradient_files);
    score_files_free(&r->scores);
    setup_close(&r->setup);
    merging_free(&r->merge);
    rowmods_close(&r->rowmods);
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
        else if (r.options.list_devices)
            (void)devices_list(stdout, &f);
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
