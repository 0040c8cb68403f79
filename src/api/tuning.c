/* tuning.c - the public calls about classes, trials and searches: check, delegate
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/handle.h"
#include "base/caller_struct.h"
#include "base/text.h"
#include "tune/selftest.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Classes ---- */

cl_int clattn_class_of(clattn_handle h, const clattn_problem *problem, char *text, size_t len, size_t *needed)
{
    struct why why;
    struct class class;
    clattn_problem p;
    cl_int status = handle_check(h);
    if (status)
        return status;
    if (!(status = plan_class(&p, &class, &h->maker.caps, problem, &why)))
        handle_copy_text(class.text, text, len, needed);
    return handle_done(h, status, &why);
}

cl_int clattn_class_at(clattn_handle h, size_t index, char *text, size_t len)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why;
    clattn_workload like;
    const cl_int status = handle_check(h);
    if (status)
        return status;
    if (!class_common(&like, index))
        return handle_done(h, why_set(&why, CL_INVALID_VALUE, "index %zu is out of range", index), &why);
    class_print(&like, NULL, &to);
    return CL_SUCCESS;
}

cl_int clattn_class_recorded(clattn_handle h, size_t index, char *text, size_t len)
{
    struct why why;
    char class_text[CLASS_MAX];
    const cl_int status = handle_check(h);
    if (status)
        return status;
    if (!wisdom_noted(&h->maker.store, &h->lookup.by, index, class_text))
        return handle_done(h, why_set(&why, CL_INVALID_VALUE, "index %zu is out of range", index), &why);
    handle_copy_text(class_text, text, len, NULL);
    return CL_SUCCESS;
}

/* ---- Trials ---- */

struct clattn_trial_s {
    clattn_handle handle;
    clattn_problem problem;
    struct candidate_inputs inputs;
    struct candidate trial;
};

static cl_int read_config(struct config *out, clattn_handle h, const clattn_problem *p, const char *text,
                          struct why *why)
{
    if (!text)
        INVALID("config is NULL");
    return tile_config_read(out, text, &h->maker.caps, p, why);
}

static void clear_trial(clattn_trial t)
{
    candidate_close(&t->trial);
    candidate_inputs_close(&t->inputs);
    programs_drop_brief(&t->handle->maker.programs);
}

cl_int clattn_trial_create(clattn_trial *out, clattn_handle h, const clattn_problem *problem, const char *config_text)
{
    struct why why;
    struct class class;
    struct config config;
    if (out)
        *out = NULL;
    cl_int status = handle_check(h);
    if (status)
        return status;
    if (!out)
        return handle_done(h, why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "out is NULL"), &why);
    clattn_trial t = calloc(1, sizeof *t);
    if (!t)
        return handle_done(h, why_set(&why, CL_OUT_OF_HOST_MEMORY, "no memory for a trial"), &why);
    t->handle = h;
    if (!(status = plan_class(&t->problem, &class, &h->maker.caps, problem, &why)) &&
        !(status = read_config(&config, h, &t->problem, config_text, &why)) &&
        !(status = candidate_inputs_open(&t->inputs, &h->maker, &t->problem, &class.like.problem, &why)))
        status = candidate_open(&t->trial, &t->inputs, &config, &why);
    if (status) {
        clear_trial(t);
        free(t);
        return handle_done(h, status, &why);
    }
    (void)clattn_retain(h);
    *out = t;
    return CL_SUCCESS;
}

cl_int clattn_trial_run(clattn_trial t, double *seconds)
{
    struct why why;
    const cl_int status = t ? handle_check(t->handle) : CLATTN_ERROR_INVALID_ARGUMENT;
    if (status)
        return status;
    if (!seconds)
        return handle_done(t->handle, why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "seconds is NULL"), &why);
    return handle_done(t->handle, candidate_run(&t->trial, &t->inputs, seconds, &why), &why);
}

cl_int clattn_trial_release(clattn_trial t)
{
    if (!t)
        return CL_SUCCESS;
    if (!handle_check(t->handle))
        clear_trial(t);
    clattn_release(t->handle);
    free(t);
    return CL_SUCCESS;
}

/* ---- Searching ---- */

static cl_int read_measure(clattn_measure *own, struct tune_request *r, struct why *why)
{
    cl_int status;
    if (!r->measure)
        return CL_SUCCESS;
    if ((status = caller_struct_read(own, sizeof *own, r->measure, "clattn_measure", why)))
        return status;
    if (!own->open || !own->run)
        INVALID("clattn_measure lacks open or run");
    r->measure = own;
    return CL_SUCCESS;
}

static cl_int read_request(struct tune_request *r, const clattn_tune_options *options, struct why *why)
{
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    const cl_int status = options ? caller_struct_read(&o, sizeof o, options, "clattn_tune_options", why) : CL_SUCCESS;
    if (status)
        return status;
    if (o.effort && o.effort != CLATTN_TUNE_QUICK && o.effort != CLATTN_TUNE_FULL && o.effort != CLATTN_TUNE_EXHAUSTIVE)
        INVALID("effort %d is none of quick, full, exhaustive", (int)o.effort);
    if (!(o.seconds >= 0) || !isfinite(o.seconds) || o.reserved)
        INVALID(o.reserved ? "reserved is not 0" : "seconds is no limit");
    *r = (struct tune_request){
        o.effort ? o.effort : CLATTN_TUNE_FULL, o.seconds, o.progress, o.progress_user, o.measure, false, o.keep != 0
    };
    return CL_SUCCESS;
}

cl_int clattn_tune(clattn_handle h, const clattn_problem *problem, const clattn_tune_options *options, char *text,
                   size_t len)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why;
    struct class class;
    struct tune_request request;
    struct config config;
    struct known known;
    clattn_measure measure;
    clattn_problem p;
    bool measured;
    cl_int status = handle_check(h);
    if (status)
        return status;
    if (!(status = read_request(&request, options, &why)) && !(status = read_measure(&measure, &request, &why)) &&
        !(status = plan_class(&p, &class, &h->maker.caps, problem, &why))) {
        selftest_engines(&h->maker, &p);
        pthread_mutex_lock(&h->lookup.searching);
        config_lookup_find(&known, &h->maker, &p, &class);
        status = tune_search(&config, &measured, &h->maker, &p, &class, &known, &request, &why);
        pthread_mutex_unlock(&h->lookup.searching);
        programs_drop_brief(&h->maker.programs);
    }
    if (!status) {
        tile_config_print(&config, &to);
        plan_table_forget(&h->plans);
    }
    return handle_done(h, status, &why);
}

cl_int clattn_set_config(clattn_handle h, const clattn_problem *problem, const char *text)
{
    struct why why;
    struct class class;
    struct config config;
    clattn_problem p;
    cl_int status = handle_check(h);
    if (status)
        return status;
    if ((status = plan_class(&p, &class, &h->maker.caps, problem, &why)))
        return handle_done(h, status, &why);
    selftest_engines(&h->maker, &p);
    if (text && !(status = read_config(&config, h, &p, text, &why))) {
        status = tune_verify(&h->maker, &p, &class, &config, &why);
        programs_drop_brief(&h->maker.programs);
    }
    if (!status && text && !config_lookup_set(&h->maker, &class, &config, CLATTN_ORIGIN_SET))
        status = why_set(&why, CL_OUT_OF_HOST_MEMORY, "no memory to keep a configuration");
    else if (!status && !text)
        config_lookup_forget(&h->maker, class.text, CLATTN_ORIGIN_SET);
    if (!status)
        plan_table_forget(&h->plans);
    return handle_done(h, status, &why);
}
