/* clattn.c - the public calls: count references, delegate, keep the words of failures
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "case.h"
#include "device.h"
#include "plan.h"
#include "words.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct clattn_handle_s {
    int references;
    pid_t pid;
    struct maker maker;
    struct words words;
};

struct clattn_plan_s {
    int references;
    clattn_handle handle;
    struct plan plan;
};

static void count_up(int *references)
{
    __atomic_add_fetch(references, 1, __ATOMIC_RELAXED);
}
static bool count_down(int *references)
{
    return !__atomic_sub_fetch(references, 1, __ATOMIC_ACQ_REL);
}
static bool forked(clattn_handle h)
{
    return h->pid != getpid();
}

/* ---- Words ---- */

/* Keeps the words of a failure for clattn_error_detail(); passes the status on. */
static cl_int done(clattn_handle h, cl_int status, const struct why *why)
{
    if (status)
        words_keep(&h->words, why);
    return status;
}

static void copy_text(const char *from, char *to, size_t len, size_t *needed)
{
    struct text t = { to, to ? len : 0, 0 };
    text_add_n(&t, from, strlen(from));
    if (needed)
        *needed = t.length + 1;
}

cl_int clattn_error_detail(clattn_handle h, char *text, size_t len, size_t *needed)
{
    if (!h || (!text && len))
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(h))
        return CLATTN_ERROR_FORKED;
    struct text to = { text, text ? len : 0, 0 };
    text_add_n(&to, "", 0);
    words_recall(&h->words, &to);
    if (needed)
        *needed = to.length + 1;
    return CL_SUCCESS;
}

const char *clattn_version(void)
{
#define STRING_(x) #x
#define STRING(x) STRING_(x)
    return STRING(CLATTN_VERSION_MAJOR) "." STRING(CLATTN_VERSION_MINOR) "." STRING(CLATTN_VERSION_PATCH);
}

/* ---- Problem strings ---- */

static cl_int read_case(clattn_case *out, const clattn_case *in, struct why *why)
{
    const cl_int status = struct_read(out, sizeof *out, in, "clattn_case", why);
    /* The problem inside may be of a newer kind too: what was cut off it has been seen to be zero. */
    if (!status && out->problem.struct_size > sizeof out->problem)
        out->problem.struct_size = sizeof out->problem;
    return status;
}

cl_int clattn_case_parse(const char *text, clattn_case *out, char *why_text, size_t len)
{
    struct why why = { "" };
    cl_int status = CLATTN_ERROR_INVALID_ARGUMENT;
    if (!text || !out)
        why_set(&why, status, "%s is NULL", text ? "out" : "text");
    else
        status = case_parse(out, text, &why);
    copy_text(why.text, why_text, len, NULL);
    return status;
}

cl_int clattn_case_print(const clattn_case *c, char *text, size_t len, size_t *needed)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why;
    clattn_case own;
    if (text && len)
        *text = '\0';
    cl_int status = read_case(&own, c, &why);
    if (!status)
        status = case_print(&own, &to, &why);
    if (!status && needed)
        *needed = to.length + 1;
    return status;
}

cl_int clattn_case_cost(const clattn_case *c, double *flops, double *bytes)
{
    struct why why;
    clattn_case own;
    double f, b;
    cl_int status = read_case(&own, c, &why);
    if (status || (status = case_cost(&own, &f, &b, &why)))
        return status;
    if (flops)
        *flops = f;
    if (bytes)
        *bytes = b;
    return CL_SUCCESS;
}

/* ---- Handles ---- */

static cl_int check_member(cl_context context, cl_device_id device, struct why *why)
{
    cl_device_id devices[64];
    size_t size = 0;
    cl_int status = clGetContextInfo(context, CL_CONTEXT_DEVICES, 0, NULL, &size);
    if (!status && size > sizeof devices)
        return CL_SUCCESS; /* too many to look: the build will tell */
    if (!status)
        status = clGetContextInfo(context, CL_CONTEXT_DEVICES, size, devices, NULL);
    if (status)
        return why_cl(why, status, "clGetContextInfo");
    for (size_t i = 0; i < size / sizeof *devices; i++)
        if (devices[i] == device)
            return CL_SUCCESS;
    return why_set(why, CL_INVALID_DEVICE, "the device is none of the context's");
}

static cl_int init_handle(clattn_handle h, cl_context context, cl_device_id device, struct why *why)
{
    cl_int status;
    if ((status = check_member(context, device, why)) || (status = device_caps(&h->maker.caps, device, why)))
        return status;
    if ((status = words_init(&h->words, why)))
        return status;
    if ((status = programs_init(&h->maker.programs, why)))
        goto no_programs;
    if ((status = clRetainContext(context))) {
        why_cl(why, status, "clRetainContext");
        goto no_context;
    }
    h->references = 1;
    h->pid = getpid();
    h->maker.context = context;
    h->maker.device = device;
    return CL_SUCCESS;
no_context:
    programs_clear(&h->maker.programs);
no_programs:
    words_clear(&h->words);
    return status;
}

cl_int clattn_create(clattn_handle *out, cl_context context, cl_device_id device, const clattn_options *options)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    struct why why = { "" };
    cl_int status = CL_SUCCESS;
    if (!out)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    *out = NULL;
    if (options)
        status = struct_read(&o, sizeof o, options, "clattn_options", &why);
    if (status)
        return status;
    clattn_handle h = calloc(1, sizeof *h);
    if (!h)
        return CL_OUT_OF_HOST_MEMORY;
    if (!context)
        status = why_set(&why, CL_INVALID_CONTEXT, "context is NULL");
    else if (!device)
        status = why_set(&why, CL_INVALID_DEVICE, "device is NULL");
    else
        status = init_handle(h, context, device, &why);
    if (status) {
        if (o.log && *why.text)
            o.log(o.log_user, why.text);
        free(h);
        return status;
    }
    h->maker.log = o.log;
    h->maker.log_user = o.log_user;
    *out = h;
    return CL_SUCCESS;
}

cl_int clattn_retain(clattn_handle h)
{
    if (!h)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(h))
        return CLATTN_ERROR_FORKED;
    count_up(&h->references);
    return CL_SUCCESS;
}

cl_int clattn_release(clattn_handle h)
{
    if (!h || !count_down(&h->references))
        return CL_SUCCESS;
    if (!forked(h)) { /* in a child the driver's threads are gone and its locks may be held: leave it alone */
        programs_clear(&h->maker.programs);
        clReleaseContext(h->maker.context);
        words_clear(&h->words);
    }
    free(h);
    return CL_SUCCESS;
}

cl_int clattn_supports(clattn_handle h, const clattn_problem *problem, char *text, size_t len)
{
    struct why why = { "" };
    struct config config;
    clattn_problem checked;
    if (text && len)
        *text = '\0';
    if (!h)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(h))
        return CLATTN_ERROR_FORKED;
    cl_int status = plan_choose(&config, &checked, &h->maker.caps, problem, NULL, &why);
    if (status)
        copy_text(why.text, text, len, NULL);
    return done(h, status, &why);
}

cl_int clattn_config_at(clattn_handle h, const clattn_problem *problem, size_t index, char *text, size_t len)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why = { "" };
    struct config config;
    clattn_problem checked;
    if (!h)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(h))
        return CLATTN_ERROR_FORKED;
    cl_int status = plan_choose(&config, &checked, &h->maker.caps, problem, NULL, &why);
    if (status)
        return done(h, status, &why);
    if (!tile_config_at(&config, &h->maker.caps, &checked, NULL, index))
        return done(h, why_set(&why, CL_INVALID_VALUE, "there are not %zu configurations", index), &why);
    tile_config_print(&config, &to);
    return CL_SUCCESS;
}

cl_int clattn_emit_source(clattn_handle h, const clattn_problem *problem, const char *config_text, char *text,
                          size_t len, size_t *needed)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why = { "" };
    struct source source = { NULL, NULL };
    struct config config;
    struct caps caps;
    clattn_problem p;
    cl_int status;
    if (h && forked(h))
        return CLATTN_ERROR_FORKED;
    if (h)
        caps = h->maker.caps;
    else
        caps_generic(&caps);
    if (!(status = plan_choose(&config, &p, &caps, problem, config_text, &why)) &&
        !(status = source_compose(&source, &p, &caps, &config, &why))) {
        text_add(&to, "// ");
        tile_config_print(&config, &to);
        text_add(&to, " %s\n", source.options);
        text_add_n(&to, source.text, strlen(source.text));
    } else {
        text_add_n(&to, why.text, strlen(why.text));
    }
    if (needed)
        *needed = to.length + 1;
    source_free(&source);
    return h ? done(h, status, &why) : status;
}

/* ---- Plans ---- */

cl_int clattn_plan_create(clattn_plan *out, clattn_handle h, const clattn_problem *problem,
                          const clattn_plan_options *options)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    struct why why = { "" };
    cl_int status = CL_SUCCESS;
    if (out)
        *out = NULL;
    if (!h)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(h))
        return CLATTN_ERROR_FORKED;
    if (!out)
        return done(h, why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "out is NULL"), &why);
    if (options)
        status = struct_read(&o, sizeof o, options, "clattn_plan_options", &why);
    if (status)
        return done(h, status, &why);
    clattn_plan plan = calloc(1, sizeof *plan);
    if (!plan)
        return done(h, why_set(&why, CL_OUT_OF_HOST_MEMORY, "no memory for a plan"), &why);
    if ((status = plan_init(&plan->plan, &h->maker, problem, o.config, &why))) {
        free(plan);
        return done(h, status, &why);
    }
    if (h->maker.log && *why.text)
        h->maker.log(h->maker.log_user, why.text);
    plan->references = 1;
    plan->handle = h;
    count_up(&h->references);
    *out = plan;
    return CL_SUCCESS;
}

cl_int clattn_plan_retain(clattn_plan plan)
{
    if (!plan)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(plan->handle))
        return CLATTN_ERROR_FORKED;
    count_up(&plan->references);
    return CL_SUCCESS;
}

cl_int clattn_plan_release(clattn_plan plan)
{
    if (!plan || !count_down(&plan->references))
        return CL_SUCCESS;
    if (!forked(plan->handle))
        plan_clear(&plan->plan);
    clattn_release(plan->handle);
    free(plan);
    return CL_SUCCESS;
}

cl_int clattn_plan_config(clattn_plan plan, char *text, size_t len, size_t *needed)
{
    struct text to = { text, text ? len : 0, 0 };
    if (!plan || (!text && len))
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(plan->handle))
        return CLATTN_ERROR_FORKED;
    tile_config_print(&plan->plan.config, &to);
    if (needed)
        *needed = to.length + 1;
    return CL_SUCCESS;
}

/* ---- Running ---- */

cl_int clattn_workspace_size(clattn_plan plan, const clattn_forward_args *args, size_t *size)
{
    struct why why;
    if (!plan)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(plan->handle))
        return CLATTN_ERROR_FORKED;
    return done(plan->handle, launch_workspace(&plan->plan.launch, args, size, &why), &why);
}

cl_int clattn_enqueue_forward(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args, cl_uint n_wait,
                              const cl_event *wait_list, cl_event *event)
{
    const struct waits waits = { n_wait, wait_list, event };
    struct why why;
    if (!plan)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(plan->handle))
        return CLATTN_ERROR_FORKED;
    return done(plan->handle, launch_forward(&plan->plan.launch, queue, args, &waits, &why), &why);
}

cl_int clattn_enqueue_block_map(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    const struct waits waits = { n_wait, wait_list, event };
    struct why why;
    if (!plan)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (forked(plan->handle))
        return CLATTN_ERROR_FORKED;
    return done(plan->handle, launch_block_map(&plan->plan.launch, queue, args, &waits, &why), &why);
}
