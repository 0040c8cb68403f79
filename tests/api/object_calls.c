/* object_calls.c - a call of every function that takes a handle, a plan or a trial
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/api/object_calls.h"

static cl_int write_nothing(void *user, const char *record, size_t len)
{
    (void)user, (void)record, (void)len;
    return CL_SUCCESS;
}

/* Name, what it makes, arguments. */
#define CALLS(X)                                                                                                       \
    X(clattn_retain, nothing, (w->handle))                                                                             \
    X(clattn_error_detail, nothing, (w->handle, w->words, sizeof w->words, &w->size))                                  \
    X(clattn_supports, nothing, (w->handle, w->problem, w->words, sizeof w->words))                                    \
    X(clattn_config_at, nothing, (w->handle, w->problem, 0, w->words, sizeof w->words))                                \
    X(clattn_emit_source, nothing, (w->handle, w->problem, NULL, w->words, sizeof w->words, &w->size))                 \
    X(clattn_emit_kernel, nothing, (w->handle, w->problem, NULL, NULL, w->words, sizeof w->words, &w->size))           \
    X(clattn_plan_create, made, (&w->made, w->handle, w->problem, NULL))                                               \
    X(clattn_plan_retain, nothing, (w->plan))                                                                          \
    X(clattn_plan_config, nothing, (w->plan, w->words, sizeof w->words, &w->size))                                     \
    X(clattn_plan_get_info, nothing, (w->plan, &w->info))                                                              \
    X(clattn_class_of, nothing, (w->handle, w->problem, w->words, sizeof w->words, &w->size))                          \
    X(clattn_class_at, nothing, (w->handle, 0, w->words, sizeof w->words))                                             \
    X(clattn_class_recorded, nothing, (w->handle, 0, w->words, sizeof w->words))                                       \
    X(clattn_trial_create, tried, (&w->tried, w->handle, w->problem, "naive"))                                         \
    X(clattn_trial_run, nothing, (w->trial, &w->seconds))                                                              \
    X(clattn_tune, nothing, (w->handle, w->problem, NULL, w->words, sizeof w->words))                                  \
    X(clattn_set_config, nothing, (w->handle, w->problem, "naive"))                                                    \
    X(clattn_wisdom_export, nothing, (w->handle, write_nothing, NULL))                                                 \
    X(clattn_wisdom_import, nothing, (w->handle, "", 0, &w->count))                                                    \
    X(clattn_wisdom_forget, nothing, (w->handle, NULL))                                                                \
    X(clattn_stats, nothing, (w->handle, &w->counters))                                                                \
    X(clattn_workspace_size, nothing, (w->plan, w->forward, &w->size))                                                 \
    X(clattn_backward_workspace_size, nothing, (w->gradients, w->backward, &w->size))                                  \
    X(clattn_enqueue_forward, event, (w->plan, w->queue, w->forward, 0, NULL, &w->event))                              \
    X(clattn_enqueue_block_map, event, (w->plan, w->queue, w->forward, 0, NULL, &w->event))                            \
    X(clattn_enqueue_backward, event, (w->gradients, w->queue, w->backward, 0, NULL, &w->event))                       \
    X(clattn_enqueue_append, event, (w->cache, w->queue, w->append, 0, NULL, &w->event))                               \
    X(clattn_enqueue_scores, event, (w->looking, w->queue, w->scores, 0, NULL, &w->event))                             \
    X(clattn_enqueue_rotary, event, (w->cache, w->queue, w->rotary, 0, NULL, &w->event))                               \
    X(clattn_enqueue_merge, event, (w->plan, w->queue, w->merge, 0, NULL, &w->event))                                  \
    X(clattn_forward, event, (w->handle, w->queue, w->problem, w->forward, 0, NULL, &w->event))                        \
    X(clattn_backward, event, (w->handle, w->queue, w->problem, w->backward, 0, NULL, &w->event))

#define DEFINE(name, makes, arguments)                                                                                 \
    static cl_int call_##name(struct world *w, int *left)                                                              \
    {                                                                                                                  \
        w->made = (clattn_plan)(uintptr_t)w;                                                                           \
        w->tried = (clattn_trial)(uintptr_t)w;                                                                         \
        w->event = (cl_event)(uintptr_t)w;                                                                             \
        const cl_int e = name arguments;                                                                               \
        *left = w->makes != NULL;                                                                                      \
        return e;                                                                                                      \
    }
CALLS(DEFINE)

#define ROW(name, makes, arguments) { #name, call_##name },
const struct object_call object_calls[] = { CALLS(ROW) };
const int object_calls_count = sizeof object_calls / sizeof *object_calls;
