/* call_kinds.c - kinds of calls that are made to fail: forward, gradients, appends, merges and scores
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/fault/call_kinds.h"

static cl_int forward_make(struct call_subject *x)
{
    const cl_int e = trial_make(&x->t, x->d->cl.context, &x->c, PADDED);
    x->problem = &x->t.c.problem;
    return e;
}
static cl_int forward_size(struct call_subject *x, clattn_plan plan)
{
    return trial_run(&x->t, plan, x->d->queue);
}
static cl_int forward_reset(struct call_subject *x)
{
    return trial_reset(&x->t, x->d->queue);
}
static cl_int forward_plan(struct call_subject *x, clattn_plan plan, cl_event *event)
{
    cl_int e = CL_SUCCESS;
    if (x->t.map.image.size && x->t.mask.image.size)
        e = clattn_enqueue_block_map(plan, x->d->queue, &x->t.args, 0, NULL, NULL);
    return e ? e : clattn_enqueue_forward(plan, x->d->queue, &x->t.args, 0, NULL, event);
}
static cl_int forward_once(struct call_subject *x, clattn_handle h, cl_event *event)
{
    clattn_forward_args a = x->t.args;
    a.workspace = NULL;
    a.workspace_offset = a.workspace_size = 0;
    return clattn_forward(h, x->d->queue, x->problem, &a, 0, NULL, event);
}
static int forward_is_kept(struct call_subject *x, char *why, size_t len)
{
    return trial_fetch(&x->t, x->d->queue, why, len);
}
static int forward_is_blank(struct call_subject *x, char *why, size_t len)
{
    return trial_fetch(&x->t, x->d->queue, why, len) && trial_is_blank(&x->t);
}
static int forward_is_right(struct call_subject *x, char *why, size_t len)
{
    return trial_verify(&x->t, x->d->queue, why, len);
}
static void forward_free(struct call_subject *x)
{
    trial_free(&x->t);
}

static cl_int backward_make(struct call_subject *x)
{
    const unsigned all = GRADED_ALL | 1 << GRADED_DLSE | GRADED_CAPTURED;
    const cl_int e = graded_make(&x->g, x->d->cl.context, x->d->queue, &x->c, PADDED, all);
    x->problem = &x->g.t.c.problem;
    return e;
}
static cl_int backward_size(struct call_subject *x, clattn_plan plan)
{
    return graded_run(&x->g, plan, x->d->queue);
}
static cl_int backward_reset(struct call_subject *x)
{
    return graded_reset(&x->g, x->d->queue);
}
static cl_int backward_plan(struct call_subject *x, clattn_plan plan, cl_event *event)
{
    return clattn_enqueue_backward(plan, x->d->queue, &x->g.args, 0, NULL, event);
}
static cl_int backward_once(struct call_subject *x, clattn_handle h, cl_event *event)
{
    clattn_backward_args a = x->g.args;
    a.workspace = NULL;
    a.workspace_offset = a.workspace_size = 0;
    return clattn_backward(h, x->d->queue, x->problem, &a, 0, NULL, event);
}
static int backward_is_blank(struct call_subject *x, char *why, size_t len)
{
    return graded_is_blank(&x->g, x->d->queue) && graded_fetch(&x->g, x->d->queue, why, len);
}
static int backward_is_kept(struct call_subject *x, char *why, size_t len)
{
    return graded_fetch(&x->g, x->d->queue, why, len);
}
static int backward_is_right(struct call_subject *x, char *why, size_t len)
{
    return graded_verify(&x->g, x->d->queue, why, len);
}
static void backward_free(struct call_subject *x)
{
    graded_free(&x->g);
}

/* The first random call that writes rows; its caches are made anew each time, since what they hold is the host's to
 * say. */
static cl_int append_make(struct call_subject *x)
{
    int64_t written = 0;
    x->problem = &x->c.problem;
    x->problem->flags |= CLATTN_APPEND | CLATTN_ROTARY | CLATTN_KV_LEN;
    for (uint64_t seed = 1; !written; seed++) {
        uint64_t state = 1000 * seed;
        appended_free(&x->a);
        appended_make(&x->a, x->problem, &state, x->d->cl.context);
        written = x->a.rotates ? appended_expect(&x->a) : 0;
        x->c.seed = seed;
    }
    return CL_SUCCESS;
}
static cl_int append_reset(struct call_subject *x)
{
    uint64_t state = 1000 * x->c.seed;
    appended_free(&x->a);
    appended_make(&x->a, x->problem, &state, x->d->cl.context);
    return CL_SUCCESS;
}
static cl_int append_plan(struct call_subject *x, clattn_plan plan, cl_event *event)
{
    return clattn_enqueue_append(plan, x->d->queue, &x->a.args, 0, NULL, event);
}
static int append_is_blank(struct call_subject *x, char *why, size_t len)
{
    return appended_agrees(&x->a, x->d->queue, why, len);
}
/* Rows behind those that a sequence has are nobody's. */
static int append_is_kept(struct call_subject *x, char *why, size_t len)
{
    return image_agrees(&x->a.kv_len, x->d->queue, why, len);
}
static int append_is_right(struct call_subject *x, char *why, size_t len)
{
    appended_expect(&x->a);
    return appended_agrees(&x->a, x->d->queue, why, len);
}
static void append_free(struct call_subject *x)
{
    appended_free(&x->a);
}

static cl_int merge_make(struct call_subject *x)
{
    const int64_t n[3] = { 2, 2, 3 };
    x->problem = &x->c.problem;
    return states_make(&x->s, x->d->cl.context, x->problem, n, 6, STATES_INSIDE, 0, 1);
}
static cl_int merge_reset(struct call_subject *x)
{
    return states_store(&x->s, x->d->queue);
}
static cl_int merge_plan(struct call_subject *x, clattn_plan plan, cl_event *event)
{
    return clattn_enqueue_merge(plan, x->d->queue, &x->s.args, 0, NULL, event);
}
static int merge_is_blank(struct call_subject *x, char *why, size_t len)
{
    (void)why, (void)len;
    return states_are_blank(&x->s, x->d->queue);
}
static int merge_is_right(struct call_subject *x, char *why, size_t len)
{
    return states_verify(&x->s, x->d->queue, 0.25, why, len);
}
static void merge_free(struct call_subject *x)
{
    states_free(&x->s);
}

/* Masked scores, which need no forward call. */
static cl_int scores_make(struct call_subject *x)
{
    const cl_int e = scored_make(&x->l, x->d->cl.context, &x->c, PADDED);
    x->problem = &x->l.t.c.problem;
    return e ? e : scored_reset(&x->l, CLATTN_SCORES_MASKED, x->d->queue);
}
static cl_int scores_reset(struct call_subject *x)
{
    return scored_reset(&x->l, CLATTN_SCORES_MASKED, x->d->queue);
}
static cl_int scores_plan(struct call_subject *x, clattn_plan plan, cl_event *event)
{
    return clattn_enqueue_scores(plan, x->d->queue, &x->l.args, 0, NULL, event);
}
static int scores_are_kept(struct call_subject *x, char *why, size_t len)
{
    return scored_fetch(&x->l, x->d->queue, why, len);
}
static int scores_are_blank(struct call_subject *x, char *why, size_t len)
{
    return scored_fetch(&x->l, x->d->queue, why, len) && scored_is_blank(&x->l);
}
static int scores_are_right(struct call_subject *x, char *why, size_t len)
{
    return scored_fetch(&x->l, x->d->queue, why, len) && scored_verify(&x->l, why, len);
}
static void scores_free(struct call_subject *x)
{
    scored_free(&x->l);
}

const struct call_kind call_forward = { forward_make,     forward_size,    forward_reset,    forward_plan, forward_once,
                                        forward_is_blank, forward_is_kept, forward_is_right, forward_free };
const struct call_kind call_backward = { backward_make,    backward_size,     backward_reset,
                                         backward_plan,    backward_once,     backward_is_blank,
                                         backward_is_kept, backward_is_right, backward_free };
const struct call_kind call_append = { append_make,     NULL,           append_reset,    append_plan, NULL,
                                       append_is_blank, append_is_kept, append_is_right, append_free };
const struct call_kind call_merge = { merge_make,     NULL,           merge_reset,    merge_plan, NULL,
                                      merge_is_blank, merge_is_blank, merge_is_right, merge_free };
const struct call_kind call_scores = { scores_make,      NULL,            scores_reset,     scores_plan, NULL,
                                       scores_are_blank, scores_are_kept, scores_are_right, scores_free };
