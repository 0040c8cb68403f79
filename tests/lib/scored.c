/* scored.c - scores of a trial: a poisoned tensor, one stage after another, the verdict
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/scored.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/reference_scores.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *const scored_stages[SCORED_STAGES] = { "products", "changed", "masked", "weights" };

static int is_varlen(const struct scored *s)
{
    return (s->t.c.problem.flags & CLATTN_CU_Q) != 0;
}

static int64_t count(const struct scored *s)
{
    const clattn_sizes *const z = &s->t.sizes;
    return z->b * z->h * z->nq * z->nk;
}

/* The element of the image where row (b, h, q) has key k. */
static size_t place(const struct scored *s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const int64_t *const step = s->at.stride;
    const int64_t row = is_varlen(s) ? s->t.q.cu[b] + q : q, entry = is_varlen(s) ? 0 : b;
    return s->at.offset + (size_t)(entry * step[0] + h * step[1] + row * step[2] + k * step[3]);
}

/* Goes over all elements that a call writes: i counts [b,h,nq,nk], `at` is a place in the image. */
#define EACH_WRITTEN(s) \
    for (int64_t i = 0; i < count(s); i++) { \
        const clattn_sizes *const z = &(s)->t.sizes; \
        const int64_t k = i % z->nk, q = i / z->nk % z->nq, row = i / z->nk / z->nq, h = row % z->h, b = row / z->h; \
        if (q >= (s)->t.q_rows[b]) \
            continue; \
        const size_t at = place(s, b, h, q, k) * convert_size((s)->t.o.type);
#define END_WRITTEN }

static void poison(struct scored *s)
{
    const double nan = NAN;
    image_canaries(&s->at.image);
    EACH_WRITTEN(s)
        convert_store(s->t.o.type, &nan, s->at.image.byte + at, 1);
    END_WRITTEN
}

/* ---- Making ---- */

static cl_int make_tensor(struct scored *s, cl_context context)
{
    const clattn_sizes *const z = &s->t.sizes;
    const int64_t shape[4] = { is_varlen(s) && z->b ? 1 : z->b, z->h, is_varlen(s) ? z->total_q : z->nq, z->nk };
    const cl_int e = trial_array4(&s->at, shape, s->t.o.type, s->t.layout);
    if (e)
        return e;
    poison(s);
    return image_buffer(&s->at.image, context, CL_MEM_READ_WRITE);
}

static cl_int make_room(struct scored *s)
{
    const size_t n = (size_t)count(s) + 1;
    s->value = calloc(n, sizeof *s->value);
    s->want = calloc(n, sizeof *s->want);
    s->bound = calloc(n, sizeof *s->bound);
    return s->value && s->want && s->bound ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static void make_args(struct scored *s)
{
    const clattn_scores_args none = CLATTN_SCORES_ARGS_INIT;
    static const clattn_tensor absent = CLATTN_TENSOR_INIT;
    static const clattn_tensor4 absent4 = CLATTN_TENSOR4_INIT;
    s->forward = s->t.args;
    s->forward.v = s->forward.o = absent;
    s->forward.v_scale = s->forward.v_zero = absent4;
    s->args = none;
    s->args.forward = &s->forward;
    s->args.scores.mem = s->at.image.mem;
    s->args.scores.offset = s->at.offset;
    if (s->t.layout != PLAIN)
        memcpy(s->args.scores.stride, s->at.stride, sizeof s->at.stride);
}

cl_int scored_make(struct scored *s, cl_context context, const clattn_workload *c, enum layout layout)
{
    clattn_workload with = *c;
    memset(s, 0, sizeof *s);
    with.problem.flags |= CLATTN_SCORES;
    with.lse = 1;
    cl_int e = trial_make(&s->t, context, &with, layout);
    e = e ? e : make_tensor(s, context);
    return e ? e : make_room(s);
}

void scored_free(struct scored *s)
{
    image_free(&s->at.image);
    free(s->value);
    free(s->want);
    free(s->bound);
    truth_free(&s->truth);
    trial_free(&s->t);
    memset(s, 0, sizeof *s);
}

cl_int scored_show(struct scored *s, cl_command_queue queue)
{
    struct trial *const t = &s->t;
    const clattn_sizes *const z = &t->sizes;
    for (int64_t i = 0; i < z->b * z->hk * z->nk; i++) {
        const int64_t b = i / z->nk / z->hk, k = i % z->nk;
        t->seen[i] = k >= t->kv_start[b] && k < t->kv_len[b];
    }
    for (int64_t i = 0; i < z->b * z->h * z->nq; i++)
        t->sees[i] = i % z->nq < t->q_len[i / z->nq / z->h];
    return trial_upload_inputs(t, queue);
}

/* ---- Running ---- */

static int failed(cl_int e, const char *what, char *why, size_t len)
{
    if (e)
        snprintf(why, len, "%s: %s", what, clattn_status_string(e));
    return e != CL_SUCCESS;
}

int scored_forward(struct scored *s, clattn_plan plan, cl_command_queue queue, char *why, size_t len)
{
    truth_free(&s->truth);
    if (failed(trial_run(&s->t, plan, queue), "the forward call", why, len) ||
        !trial_fetch(&s->t, queue, why, len))
        return 0;
    if (trial_truth(&s->t, NULL, &s->truth, NULL)) {
        snprintf(why, len, "the reference failed");
        return 0;
    }
    return 1;
}

int scored_fetch(struct scored *s, cl_command_queue queue, char *why, size_t len)
{
    const size_t size = convert_size(s->t.o.type);
    unsigned char *const now = s->at.image.mem ? image_read(&s->at.image, queue) : NULL;
    int same = now != NULL || !s->at.image.mem;
    if (now) {
        EACH_WRITTEN(s)
            convert_load(s->t.o.type, now + at, &s->value[i], 1);
            memcpy(s->at.image.byte + at, now + at, size);
        END_WRITTEN
        same = !memcmp(now, s->at.image.byte, s->at.image.size);
    }
    if (!same)
        snprintf(why, len, "bytes outside the scores changed in their buffer");
    free(now);
    return same && trial_fetch(&s->t, queue, why, len);
}

int scored_is_blank(const struct scored *s)
{
    int blank = 1;
    EACH_WRITTEN(s)
        (void)at;
        blank = blank && isnan(s->value[i]);
    END_WRITTEN
    return blank;
}

cl_int scored_reset(struct scored *s, int stage, cl_command_queue queue)
{
    make_args(s);
    poison(s);
    s->args.stage = stage;
    if (stage != CLATTN_SCORES_WEIGHTS)
        s->forward.lse.mem = NULL;
    return s->at.image.mem ? image_write(&s->at.image, queue) : CL_SUCCESS;
}

int scored_run(struct scored *s, int stage, clattn_plan plan, cl_command_queue queue, char *why, size_t len)
{
    if (failed(scored_reset(s, stage, queue), "poison", why, len) ||
        failed(clattn_enqueue_scores(plan, queue, &s->args, 0, NULL, NULL), "the call", why, len) ||
        failed(clFinish(queue), "the queue", why, len))
        return 0;
    return scored_fetch(s, queue, why, len);
}

/* ---- The verdict ---- */

int scored_verify(struct scored *s, char *why, size_t len)
{
    struct reference r = trial_problem(&s->t);
    const int stage = s->args.stage;
    int good = 1;
    r.share = trial_share(s->t.demand);
    s->most = 0;
    if (reference_scores(&r, stage, s->t.sizes.nk, s->t.q.value, s->t.k.value, s->truth.lse, s->truth.lse_bound,
                         s->want, s->bound)) {
        snprintf(why, len, "the reference failed");
        return 0;
    }
    EACH_WRITTEN(s)
        (void)at;
        const double error = fabs(s->value[i] - s->want[i]);
        if (isfinite(error) && error > 0)
            s->most = fmax(s->most, error / s->bound[i]);
        if (!good || reference_scores_agree(r.type, s->value[i], s->want[i], s->bound[i]))
            continue;
        snprintf(why, len, "%s[b %lld, h %lld, q %lld, k %lld] is %.9g, want %.9g: bound %.3g", scored_stages[stage],
                 (long long)b, (long long)h, (long long)q, (long long)k, s->value[i], s->want[i], s->bound[i]);
        good = 0;
    END_WRITTEN
    return good;
}

int scored_check(struct scored *s, clattn_plan plan, cl_command_queue queue, char *why, size_t len)
{
    int good = scored_forward(s, plan, queue, why, len);
    for (int stage = SCORED_STAGES; good && stage--;) {
        if (stage == CLATTN_SCORES_CHANGED && failed(scored_show(s, queue), "uploading", why, len))
            return 0;
        good = scored_run(s, stage, plan, queue, why, len) && scored_verify(s, why, len);
    }
    return good;
}
