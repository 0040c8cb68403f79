/* clattn.c - public calls about plans: check the handle, delegate, keep the words of failures
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/handle.h"
#include "base/caller_struct.h"
#include "base/text.h"
#include "base/version.h"

#include <stdlib.h>
#include <string.h>

const char *clattn_version(void)
{
    return version_text;
}

cl_int clattn_supports(clattn_handle h, const clattn_problem *problem, char *text, size_t len)
{
    struct why why = { "" };
    struct config config;
    clattn_problem checked;
    cl_int status = handle_check(h);
    if (status) {
        handle_copy_text(handle_unusable(status), text, len, NULL);
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
        return handle_done(h, why_set(&why, CL_INVALID_VALUE, "index %zu is out of range", index), &why);
    tile_config_print(&config, &to);
    return CL_SUCCESS;
}

/* The pass whose kernel has that name. */
static cl_int find_pass(int *id, const char *kernel, const clattn_problem *p, const struct engine *e, struct why *why)
{
    char names[256] = "";
    struct text list = { names, sizeof names, 0 };
    *id = pass_main(p);
    for (int i = 0; kernel && i < PASSES; i++) {
        if (!pass_applies(i, p, e))
            continue;
        *id = i;
        if (!strcmp(pass_at(i)->kernel, kernel))
            return CL_SUCCESS;
        text_add(&list, "%s%s", list.length ? ", " : "", pass_at(i)->kernel);
    }
    return kernel ? why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "there is no kernel \"%.64s\", but %s", kernel, names)
                  : CL_SUCCESS;
}

cl_int clattn_emit_source(clattn_handle h, const clattn_problem *problem, const char *config_text, char *text,
                          size_t len, size_t *needed)
{
    return clattn_emit_kernel(h, problem, config_text, NULL, text, len, needed);
}

cl_int clattn_emit_kernel(clattn_handle h, const clattn_problem *problem, const char *config_text,
                          const char *kernel, char *text, size_t len, size_t *needed)
{
    struct text to = { text, text ? len : 0, 0 };
    struct why why = { "" };
    struct source source = { NULL, NULL };
    struct config config;
    struct caps generic;
    int pass;
    const struct caps *const caps = h ? &h->maker.caps : &generic;
    clattn_problem p;
    cl_int status = h ? handle_check(h) : CL_SUCCESS;
    if (status) {
        handle_copy_text(handle_unusable(status), text, len, needed);
        return status;
    }
    if (!h)
        caps_generic(&generic);
    status = plan_choose(&config, &p, caps, problem, config_text, &why);
    if (!status && h)
        build_probe(&h->maker, &p, &config);
    if (!status)
        status = find_pass(&pass, kernel, &p, config.engine, &why);
    if (!status) {
        const struct target target = target_make(pass, &p, caps, &config);
        status = source_compose(&source, &target, &why);
    }
    if (!status) {
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
    if (handle_is_forked(h))
        return CLATTN_ERROR_FORKED;
    if (!out)
        return handle_done(h, why_set(&why, CLATTN_ERROR_INVALID_ARGUMENT, "out is NULL"), &why);
    if (options)
        status = caller_struct_read(&o, sizeof o, options, "clattn_plan_options", &why);
    if (status)
        return handle_done(h, status, &why);
    clattn_plan plan = calloc(1, sizeof *plan);
    if (!plan)
        return handle_done(h, why_set(&why, CL_OUT_OF_HOST_MEMORY, "no memory for a plan"), &why);
    if ((status = plan_init(&plan->plan, &h->maker, problem, o.config, &why))) {
        free(plan);
        return handle_done(h, status, &why);
    }
    plan->plan.launch.max_workspace = o.max_workspace;
    plan->references = 1;
    plan->handle = h;
    handle_count_up(&h->references);
    *out = plan;
    return CL_SUCCESS;
}

cl_int clattn_plan_retain(clattn_plan plan)
{
    const cl_int status = handle_check_plan(plan);
    if (status)
        return status;
    handle_count_up(&plan->references);
    return CL_SUCCESS;
}

cl_int clattn_plan_release(clattn_plan plan)
{
    if (!plan || !handle_count_down(&plan->references))
        return CL_SUCCESS;
    if (!handle_is_forked(plan->handle))
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

cl_int clattn_plan_get_info(clattn_plan plan, clattn_plan_info *info)
{
    const cl_int status = handle_check_plan(plan);
    struct why why;
    if (status)
        return status;
    const clattn_plan_info own = { sizeof own, plan->plan.origin, plan->plan.binary };
    return handle_done(plan->handle, handle_give(info, &own, sizeof own, "clattn_plan_info", &why), &why);
}

/* ---- Running ---- */

static cl_int count_workspace(clattn_plan plan, const struct operation *what, const void *args, size_t *size)
{
    struct why why;
    const cl_int status = handle_check_plan(plan);
    if (status)
        return status;
    return handle_done(plan->handle, launch_workspace(&plan->plan.launch, what, args, size, &why), &why);
}

cl_int clattn_workspace_size(clattn_plan plan, const clattn_forward_args *args, size_t *size)
{
    return count_workspace(plan, &launch_forward, args, size);
}

cl_int clattn_backward_workspace_size(clattn_plan plan, const clattn_backward_args *args, size_t *size)
{
    return count_workspace(plan, &launch_backward, args, size);
}

static cl_int run(clattn_plan plan, const struct operation *what, cl_command_queue queue, const void *args,
                  const struct waits *waits)
{
    struct why why;
    const cl_int status = handle_check_plan(plan);
    if (waits->event)
        *waits->event = NULL;
    if (status)
        return status;
    return handle_done(plan->handle, launch_run(&plan->plan.launch, what, queue, args, waits, &why), &why);
}

cl_int clattn_enqueue_forward(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args, cl_uint n_wait,
                              const cl_event *wait_list, cl_event *event)
{
    return run(plan, &launch_forward, queue, args, &(struct waits){ n_wait, wait_list, event, NULL });
}

cl_int clattn_enqueue_backward(clattn_plan plan, cl_command_queue queue, const clattn_backward_args *args,
                               cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    return run(plan, &launch_backward, queue, args, &(struct waits){ n_wait, wait_list, event, NULL });
}

cl_int clattn_enqueue_block_map(clattn_plan plan, cl_command_queue queue, const clattn_forward_args *args,
                                cl_uint n_wait, const cl_event *wait_list, cl_event *event)
{
    return run(plan, &launch_block_map, queue, args, &(struct waits){ n_wait, wait_list, event, NULL });
}

cl_int clattn_enqueue_scores(clattn_plan plan, cl_command_queue queue, const clattn_scores_args *args, cl_uint n_wait,
                             const cl_event *wait_list, cl_event *event)
{
    return run(plan, &launch_scores, queue, args, &(struct waits){ n_wait, wait_list, event, NULL });
}

cl_int clattn_enqueue_append(clattn_plan plan, cl_command_queue queue, const clattn_append_args *args, cl_uint n_wait,
                             const cl_event *wait_list, cl_event *event)
{
    return run(plan, &launch_append, queue, args, &(struct waits){ n_wait, wait_list, event, NULL });
}

cl_int clattn_enqueue_rotary(clattn_plan plan, cl_command_queue queue, const clattn_rotary_args *args, cl_uint n_wait,
                             const cl_event *wait_list, cl_event *event)
{
    return run(plan, &launch_rotary, queue, args, &(struct waits){ n_wait, wait_list, event, NULL });
}

cl_int clattn_enqueue_merge(clattn_plan plan, cl_command_queue queue, const clattn_merge_args *args, cl_uint n_wait,
                            const cl_event *wait_list, cl_event *event)
{
    return run(plan, &launch_merge, queue, args, &(struct waits){ n_wait, wait_list, event, NULL });
}
