/* checked.c - one problem by one configuration, computed on a device and held to the bound
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/checked.h"

#include "bench/run/backward.h"
#include "tools/oracle/inputs.h"
#include "tools/run/setup.h"
#include "tools/system/clock.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CALLS = 2 };

/* Everything that is open. */
struct run {
    clattn_workload c;
    struct extras x;
    struct stored_kv caches;
    struct setup_inputs in;
    struct setup setup;
    struct backward backward;
    clattn_plan plan;
    struct counts n;
    double *q, *k, *v, *o, *lse;
};

static cl_int fail(struct checked *c, cl_int status, const char *words)
{
    snprintf(c->words, sizeof c->words, "%s", words);
    return status;
}

static int is_backward(const struct run *r)
{
    return (r->c.problem.flags & CLATTN_BACKWARD) != 0;
}

static cl_int read_problem(struct run *r, const char *problem, struct checked *c)
{
    const char *why = "";
    r->c.struct_size = sizeof r->c;
    cl_int e = clattn_workload_parse(problem, &r->c, c->words, sizeof c->words);
    if (e == CL_SUCCESS && extras_fill(&r->c, &r->x, &why) != 0)
        e = fail(c, CLATTN_ERROR_INVALID_ARGUMENT, why);
    if (e == CL_SUCCESS && inputs_count(&r->c, &r->n) != 0)
        e = fail(c, CLATTN_ERROR_INVALID_ARGUMENT, "its sizes overflow");
    return e;
}

static cl_int make_plan(struct run *r, clattn_handle handle, const char *config, struct checked *c)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    o.config = config;
    const double start = clock_ms();
    const cl_int e = clattn_plan_create(&r->plan, handle, &r->c.problem, &o);
    if (e == CL_SUCCESS) {
        c->compile_s = (clock_ms() - start) * 1e-3;
        return clattn_plan_config(r->plan, c->config, sizeof c->config, NULL);
    }
    (void)clattn_error_detail(handle, c->words, sizeof c->words, NULL);
    return e;
}

static cl_int make_inputs(struct run *r, const struct opencl *where, struct checked *c)
{
    r->q = calloc(r->n.q + 1, sizeof *r->q);
    r->k = calloc(r->n.k + 1, sizeof *r->k);
    r->v = calloc(r->n.v + 1, sizeof *r->v);
    r->o = calloc(r->n.o + 1, sizeof *r->o);
    r->lse = calloc(r->n.lse + 1, sizeof *r->lse);
    if (!r->q || !r->k || !r->v || !r->o || !r->lse)
        return fail(c, CL_OUT_OF_HOST_MEMORY, "no memory for the inputs");
    inputs_fill(&r->c, r->q, r->k, r->v);
    if (stored_kv_make(&r->caches, &r->c, r->k, r->v) != 0)
        return fail(c, CL_OUT_OF_HOST_MEMORY, "no memory for the inputs");
    r->in.q = r->q;
    r->in.k = r->k;
    r->in.v = r->v;
    r->in.caches = &r->caches;
    r->in.lse = 1;
    r->in.x = &r->x;
    return setup_open(&r->setup, where, &r->c, &r->in);
}

static cl_int compute(struct run *r, clattn_handle handle)
{
    cl_int e = is_backward(r) ? backward_open(&r->backward, handle, r->plan, &r->setup)
                              : setup_prepare(&r->setup, r->plan);
    for (int i = is_backward(r) ? 1 : 0; i < CALLS && e == CL_SUCCESS; i++) /* backward_open() has made one */
        e = is_backward(r) ? gradients_run(&r->backward.g, &r->setup) : setup_run(&r->setup, r->plan);
    if (e == CL_SUCCESS)
        e = setup_read(&r->setup, r->o, r->lse);
    return e == CL_SUCCESS && is_backward(r) ? gradients_read(&r->backward.g, &r->setup) : e;
}

static void keep_worse(struct checked *c, const char *what, const struct farthest *f)
{
    const double part = farthest_part(f);
    if (c->what && !(part > c->bounds))
        return;
    c->what = what;
    c->bounds = part;
}

static cl_int judge(struct run *r, struct checked *c)
{
    const struct gradient_arrays *const g = &r->backward.g.at;
    const struct verify_gradients gradients = { g->dout, g->dlse,
                                                { g->dq, g->dk, g->dv, g->dbias, g->dslopes, g->dsinks } };
    struct verdict v;
    if (verify(&r->c, &r->in, verify_narrow_p(c->config), NULL, NULL, r->o, r->lse, is_backward(r) ? &gradients : NULL,
               &v) != 0)
        return fail(c, CL_OUT_OF_HOST_MEMORY, "no memory for the reference");
    keep_worse(c, "O", &v.o);
    keep_worse(c, "LSE", &v.lse);
    for (int i = 0; i < VERIFY_GRADIENTS && is_backward(r); i++)
        if (gradients.got[i])
            keep_worse(c, verify_gradient_names[i], &v.gradients[i]);
    if (isinf(c->bounds) || isnan(c->bounds))
        snprintf(c->words, sizeof c->words, "NaN or inf stand elsewhere than they should");
    return CL_SUCCESS;
}

void checked_run(const struct opencl *where, clattn_handle handle, const char *problem, const char *config,
                 struct checked *c)
{
    struct run r;
    memset(&r, 0, sizeof r);
    memset(c, 0, sizeof *c);
    c->compile_s = c->bounds = NAN;
    c->what = NULL;
    cl_int e = read_problem(&r, problem, c);
    if (e == CL_SUCCESS)
        e = make_plan(&r, handle, config, c);
    if (e == CL_SUCCESS)
        e = make_inputs(&r, where, c);
    if (e == CL_SUCCESS && (e = compute(&r, handle)) != CL_SUCCESS)
        (void)clattn_error_detail(handle, c->words, sizeof c->words, NULL);
    if (e == CL_SUCCESS)
        e = judge(&r, c);
    c->status = e;
    backward_close(&r.backward);
    setup_close(&r.setup);
    (void)clattn_plan_release(r.plan);
    stored_kv_free(&r.caches);
    extras_free(&r.x);
    free(r.q);
    free(r.k);
    free(r.v);
    free(r.o);
    free(r.lse);
}

const char *checked_verdict(const struct checked *c)
{
    static const struct { cl_int status; const char *word; } words[] = {
        { CLATTN_ERROR_WRONG_RESULT, "WRONG" },   { CLATTN_ERROR_BUILD, "not built" },
        { CLATTN_ERROR_NOT_SUPPORTED, "refused" }, { CL_OUT_OF_HOST_MEMORY, "no memory" },
    };
    if (c->status == CL_SUCCESS)
        return c->bounds <= 1 ? "within" : "BEYOND";
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (words[i].status == c->status)
            return words[i].word;
    return clattn_status_string(c->status);
}
