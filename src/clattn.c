/* clattn.c - the public calls: count references, delegate, keep the words of failures
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "case.h"
#include "device.h"
#include "handle.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

/* Why handle_check() refuses a handle: there is none that could keep the words. */
static const char *unusable(cl_int status)
{
    return status == CLATTN_ERROR_FORKED ? "the handle was made before fork(): a child may only release it"
                                         : "handle is NULL";
}

/* ---- Words ---- */

cl_int handle_check(clattn_handle h)
{
    return !h ? CLATTN_ERROR_INVALID_ARGUMENT : forked(h) ? CLATTN_ERROR_FORKED : CL_SUCCESS;
}

cl_int handle_check_plan(clattn_plan plan)
{
    return plan ? handle_check(plan->handle) : CLATTN_ERROR_INVALID_ARGUMENT;
}

cl_int handle_done(clattn_handle h, cl_int status, const struct why *why)
{
    if (status)
        words_keep(&h->words, why);
    return status;
}

void handle_copy_text(const char *from, char *to, size_t len, size_t *needed)
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
    handle_copy_text(why.text, why_text, len, NULL);
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
    if (device_find(devices, size / sizeof *devices, device) >= 0)
        return CL_SUCCESS;
    return why_set(why, CL_INVALID_DEVICE, "the device is none of the context's");
}

/* What else programs and choices need to know. */
static void connect(struct maker *m, cl_context context, cl_device_id device, struct choices *choices)
{
    m->context = m->programs.context = context;
    m->device = m->programs.device = device;
    m->programs.caps = &m->caps;
    m->programs.store = &m->store;
    m->programs.counters = &m->counters;
    m->choices = choices;
}

static cl_int init_handle(clattn_handle h, cl_context context, cl_device_id device, struct why *why)
{
    struct maker *m = &h->maker;
    cl_int status;
    if ((status = check_member(context, device, why)) || (status = device_caps(&m->caps, device, why)))
        return status;
    if ((status = words_init(&h->words, why)))
        return status;
    if ((status = programs_init(&m->programs, why)))
        goto no_programs;
    if ((status = choices_init(&h->choices, &m->caps, why)))
        goto no_choices;
    if ((status = clRetainContext(context))) {
        why_cl(why, status, "clRetainContext");
        goto no_context;
    }
    h->references = 1;
    h->pid = getpid();
    connect(m, context, device, &h->choices);
    return CL_SUCCESS;
no_context:
    choices_clear(&h->choices);
no_choices:
    programs_clear(&m->programs);
no_programs:
    words_clear(&h->words);
    return status;
}

/* What options and environment say. Only what options say can be wrong; the rest is worth a line. */
static cl_int configure(struct maker *m, const clattn_options *o, struct why *why)
{
    struct why said;
    m->log = m->store.log = o->log;
    m->log_user = m->store.log_user = o->log_user;
    const cl_int status = settings_read(&m->settings, o, why);
    if (status)
        return status;
    if (*why->text)
        maker_log(m, "%s", why->text);
    why->text[0] = '\0';
    store_init(&m->store, o, &said);
    if (*said.text)
        maker_log(m, "%s", said.text);
    m->store.read_only = m->settings.tune == CLATTN_TUNE_READONLY;
    return CL_SUCCESS;
}

/* A store of the caller's may be of another version, like every struct. */
static cl_int read_options(clattn_options *o, clattn_store *store, const clattn_options *in, struct why *why)
{
    cl_int status = in ? struct_read(o, sizeof *o, in, "clattn_options", why) : CL_SUCCESS;
    if (!status && o->store && !(status = struct_read(store, sizeof *store, o->store, "clattn_store", why)))
        o->store = store;
    return status;
}

static cl_int make_handle(clattn_handle *out, cl_context context, cl_device_id device, const clattn_options *o,
                          struct why *why)
{
    cl_int status;
    if (!out)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "out is NULL");
    if (!context)
        return why_set(why, CL_INVALID_CONTEXT, "context is NULL");
    if (!device)
        return why_set(why, CL_INVALID_DEVICE, "device is NULL");
    clattn_handle h = calloc(1, sizeof *h);
    if (!h)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a handle");
    if (!(status = configure(&h->maker, o, why)) && !(status = init_handle(h, context, device, why))) {
        *out = h;
        return CL_SUCCESS;
    }
    store_clear(&h->maker.store);
    free(h);
    return status;
}

cl_int handle_failed(const clattn_options *o, cl_int status, const struct why *why)
{
    if (status && o->log)
        o->log(o->log_user, why->text);
    handle_copy_text(status ? why->text : "", o->why, o->why_len, NULL);
    return status;
}

cl_int clattn_create(clattn_handle *out, cl_context context, cl_device_id device, const clattn_options *options)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_store store;
    struct why why = { "" };
    if (out)
        *out = NULL;
    cl_int status = read_options(&o, &store, options, &why);
    if (!status)
        status = make_handle(out, context, device, &o, &why);
    return handle_failed(&o, status, &why);
}

cl_int clattn_retain(clattn_handle h)
{
    const cl_int status = handle_check(h);
    if (!status)
        count_up(&h->references);
    return status;
}

cl_int clattn_release(clattn_handle h)
{
    if (!h || !count_down(&h->references))
        return CL_SUCCESS;
    if (!forked(h)) { /* in a child the driver's threads are gone and its locks may be held: leave it alone */
        programs_clear(&h->maker.programs);
        choices_clear(&h->choices);
        clReleaseContext(h->maker.context);
        words_clear(&h->words);
    }
    store_clear(&h->maker.store);
    free(h);
    return CL_SUCCESS;
}

cl_int clattn_supports(clattn_handle h, const clattn_problem *problem, char *text, size_t len)
{
    struct why why = { "" };
    struct config config;
    clattn_problem checked;
    cl_int status = handle_check(h);
    if (status) {
        handle_copy_text(unusable(status), text, len, NULL);
        return status;
    }
    status = plan_choose(&config, &checked, &h->maker.caps, problem, NULL, &why);
    handle_copy_text(status ? why.text : "", text, len, NULL);
    return handle_done(h, status, &why);
}

cl_int clattn_config_at(clattn_handle h, const clattn_problem *problem, size_t index, char *text, size_t len)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why = { "" };
    struct config config;
    clattn_problem checked;
    cl_int status = handle_check(h);
    if (status)
        return status;
    status = plan_choose(&config, &checked, &h->maker.caps, problem, NULL, &why);
    if (status)
        return handle_done(h, status, &why);
    if (!tile_config_at(&config, &h->maker.caps, &checked, NULL, index))
        return handle_done(h, why_set(&why, CL_INVALID_VALUE, "there are not %zu configurations", index), &why);
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
    struct caps generic;
    const struct caps *const caps = h ? &h->maker.caps : &generic;
    clattn_problem p;
    cl_int status = h ? handle_check(h) : CL_SUCCESS;
    if (status) {
        handle_copy_text(unusable(status), text, len, needed);
        return status;
    }
    if (!h)
        caps_generic(&generic);
    status = plan_choose(&config, &p, caps, problem, config_text, &why);
    if (!status && h)
        build_settle(&h->maker, &p, &config);
    if (!status && !(status = source_compose(&source, &p, caps, &config, &why))) {
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
    return h ? handle_done(h, status, &why) : status;
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
        return handle_done(h, why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "out is NULL"), &why);
    if (options)
        status = struct_read(&o, sizeof o, options, "clattn_plan_options", &why);
    if (status)
        return handle_done(h, status, &why);
    clattn_plan plan = calloc(1, sizeof *plan);
    if (!plan)
        return handle_done(h, why_set(&why, CL_OUT_OF_HOST_MEMORY, "no memory for a plan"), &why);
    if ((status = plan_init(&plan->plan, &h->maker, problem, o.config, &why))) {
        free(plan);
        return handle_done(h, status, &why);
    }
    if (h->maker.log && *why.text)
        h->maker.log(h->maker.log_user, why.text);
    plan->plan.launch.max_workspace = o.max_workspace;
    plan->references = 1;
    plan->handle = h;
    count_up(&h->references);
    *out = plan;
    return CL_SUCCESS;
}

cl_int clattn_plan_retain(clattn_plan plan)
{
    const cl_int status = handle_check_plan(plan);
    if (status)
        return status;
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
    const cl_int status = handle_check_plan(plan);
    if (status)
        return status;
    if (!text && len)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    tile_config_print(&plan->plan.config, &to);
    if (needed)
        *needed = to.length + 1;
    return CL_SUCCESS;
}

cl_int handle_give(void *to, const void *from, size_t size, const char *name, struct why *why)
{
    size_t given;
    if (!to)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
    memcpy(&given, to, sizeof given);
    const size_t members = struct_members(name, given, size);
    if (!members)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, STRUCT_SIZE_WORDS, name, given, name);
    memcpy((char *)to + sizeof given, (const char *)from + sizeof given, members - sizeof given);
    return CL_SUCCESS;
}

cl_int clattn_plan_get_info(clattn_plan plan, clattn_plan_info *info)
{
    const cl_int status = handle_check_plan(plan);
    struct why why;
    if (status)
        return status;
    const clattn_plan_info own = { sizeof own, plan->plan.source, plan->plan.binary };
    return handle_done(plan->handle, handle_give(info, &own, sizeof own, "clattn_plan_info", &why), &why);
}

/* ---- Running ---- */

cl_int clattn_workspace_size(clattn_plan plan, const clattn_forward_args *args, size_t *size)
{
    struct why why;
    const cl_int status = handle_check_plan(plan);
    if (status)
        return status;
    return handle_done(plan->handle, launch_workspace(&plan->plan.launch, args, size, &why), &why);
}

cl_int clattn_enqueue_forward(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args, cl_uint n_wait,
                              const cl_event *wait_list, cl_event *event)
{
    const struct waits waits = { n_wait, wait_list, event };
    struct why why;
    const cl_int status = handle_check_plan(plan);
    if (status)
        return status;
    return handle_done(plan->handle, launch_forward(&plan->plan.launch, queue, args, &waits, &why), &why);
}

cl_int clattn_enqueue_block_map(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    const struct waits waits = { n_wait, wait_list, event };
    struct why why;
    const cl_int status = handle_check_plan(plan);
    if (status)
        return status;
    return handle_done(plan->handle, launch_block_map(&plan->plan.launch, queue, args, &waits, &why), &why);
}
