/* handle.c - handles: made, counted, released, and the words of failures that they keep
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/handle.h"

#include "api/one_process.h"
#include "base/caller_struct.h"
#include "base/text.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void handle_count_up(int *references)
{
    __atomic_add_fetch(references, 1, __ATOMIC_RELAXED);
}
bool handle_count_down(int *references)
{
    return !__atomic_sub_fetch(references, 1, __ATOMIC_ACQ_REL);
}
bool handle_is_forked(clattn_handle h)
{
    return h->pid != getpid();
}

const char *handle_unusable(cl_int status)
{
    return status == CLATTN_ERROR_FORKED ? "the handle was made before fork(): a child may only release it"
                                         : "handle is NULL";
}

cl_int handle_check(clattn_handle h)
{
    return !h ? CLATTN_ERROR_INVALID_ARGUMENT : handle_is_forked(h) ? CLATTN_ERROR_FORKED : CL_SUCCESS;
}

cl_int handle_check_plan(clattn_plan plan)
{
    return plan ? handle_check(plan->handle) : CLATTN_ERROR_INVALID_ARGUMENT;
}

cl_int handle_done(clattn_handle h, cl_int status, const struct why *why)
{
    if (status)
        last_error_keep(&h->last_error, why);
    return status;
}

void handle_copy_text(const char *from, char *to, size_t len, size_t *needed)
{
    struct text t = { to, to ? len : 0, 0 };
    text_add_n(&t, from, strlen(from));
    if (needed)
        *needed = t.length + 1;
}

cl_int handle_give(void *to, const void *from, size_t size, const char *name, struct why *why)
{
    size_t given;
    if (!to)
        INVALID("%s is NULL", name);
    memcpy(&given, to, sizeof given);
    const size_t members = caller_struct_members(name, given, size);
    if (!members)
        INVALID(STRUCT_SIZE_WORDS, name, given, name);
    memcpy((char *)to + sizeof given, (const char *)from + sizeof given, members - sizeof given);
    return CL_SUCCESS;
}

cl_int clattn_error_detail(clattn_handle h, char *text, size_t len, size_t *needed)
{
    if (!h || (!text && len))
        return CLATTN_ERROR_INVALID_ARGUMENT;
    if (handle_is_forked(h))
        return CLATTN_ERROR_FORKED;
    struct text to = { text, text ? len : 0, 0 };
    text_add_n(&to, "", 0);
    last_error_recall(&h->last_error, &to);
    if (needed)
        *needed = to.length + 1;
    return CL_SUCCESS;
}

/* ---- Making ---- */

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

static cl_int init_handle(clattn_handle h, cl_context context, cl_device_id device, struct why *why)
{
    struct maker *m = &h->maker;
    cl_int status;
    if ((status = check_member(context, device, why)) || (status = device_caps(&m->caps, device, why)))
        return status;
    if ((status = last_error_init(&h->last_error, why)))
        return status;
    if ((status = programs_init(&m->programs, why)))
        goto no_programs;
    if ((status = config_lookup_init(&h->lookup, &m->caps, why)))
        goto no_lookup;
    if ((status = plan_table_init(&h->plans, why)))
        goto no_plans;
    if ((status = clRetainContext(context))) {
        why_cl(why, status, "clRetainContext");
        goto no_context;
    }
    h->references = 1;
    h->pid = getpid();
    maker_connect(m, context, device, &h->lookup, m);
    return CL_SUCCESS;
no_context:
    plan_table_clear(&h->plans, false);
no_plans:
    config_lookup_clear(&h->lookup);
no_lookup:
    programs_clear(&m->programs);
no_programs:
    last_error_clear(&h->last_error);
    return status;
}

/* What options and environment say. Only what options say can be wrong; the rest is worth a line. */
static cl_int configure(struct maker *m, const clattn_options *o, struct why *why)
{
    struct why said;
    m->log = m->store.log = o->log;
    m->log_user = m->store.log_user = o->log_user;
    m->progress = o->progress;
    m->progress_user = o->progress_user;
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
    cl_int status = in ? caller_struct_read(o, sizeof *o, in, "clattn_options", why) : CL_SUCCESS;
    if (!status && o->store && !(status = caller_struct_read(store, sizeof *store, o->store, "clattn_store", why)))
        o->store = store;
    return status;
}

static cl_int make_handle(clattn_handle *out, cl_context context, cl_device_id device, const clattn_options *o,
                          struct why *why)
{
    cl_int status;
    if (!out)
        INVALID("out is NULL");
    if (!context)
        return why_set(why, CL_INVALID_CONTEXT, "context is NULL");
    if (!device)
        return why_set(why, CL_INVALID_DEVICE, "device is NULL");
    if ((status = one_process_enter(why)))
        return status;
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
        handle_count_up(&h->references);
    return status;
}

cl_int clattn_release(clattn_handle h)
{
    if (!h || !handle_count_down(&h->references))
        return CL_SUCCESS;
    plan_table_clear(&h->plans, handle_is_forked(h));
    if (!handle_is_forked(h)) { /* in a child the driver's threads are gone and its locks may be held: leave it alone */
        programs_clear(&h->maker.programs);
        config_lookup_clear(&h->lookup);
        clReleaseContext(h->maker.context);
        last_error_clear(&h->last_error);
    }
    store_clear(&h->maker.store);
    free(h);
    return CL_SUCCESS;
}
