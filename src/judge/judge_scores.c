/* judge_scores.c - whether a plan writes the right scores and weights
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/judge_scores.h"

#include "base/checked.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Scores of a stage: contiguous, [b,h,nq,nk] or [h,total_q,nk], so that their rows lie as LSE does. */
struct scores {
    struct device_sample *b;
    struct launch *launch;
    cl_mem mem;
    size_t bytes;
    unsigned char *seen, *again; /* with guards */
    int stage;
};

static cl_int open_scores(struct scores *x, struct device_sample *b, struct launch *l, struct why *why)
{
    const struct sample *const s = &b->sample;
    const clattn_sizes *const z = &s->p.sizes;
    const int64_t rows = s->p.flags & CLATTN_CU_Q ? z->total_q : z->b * z->nq;
    int64_t n;
    *x = (struct scores){ .b = b, .launch = l };
    if (!checked_mul(rows * z->h, z->nk, &n) || !checked_mul(n, (int64_t)problem_type_size(s->p.o_type), &n) ||
        (uint64_t)n > SIZE_MAX / 2)
        return why_set(why, CL_OUT_OF_RESOURCES, "the sample has too many scores");
    x->bytes = (size_t)n;
    x->seen = malloc(x->bytes + 2 * DEVICE_SAMPLE_GUARD);
    x->again = malloc(x->bytes + 2 * DEVICE_SAMPLE_GUARD);
    if (!x->seen || !x->again)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    return device_sample_output(b, l->plan.context, &x->mem, x->bytes, why);
}

static void close_scores(struct scores *x)
{
    if (x->mem)
        clReleaseMemObject(x->mem);
    free(x->seen);
    free(x->again);
}

/* One call, from poison; what its buffer has then. */
static cl_int run(struct scores *x, unsigned char *to, struct why *why)
{
    const struct waits none = { 0, NULL, NULL, NULL };
    struct device_sample *const b = x->b;
    clattn_scores_args a = CLATTN_SCORES_ARGS_INIT;
    cl_int status = device_sample_fill(b, x->mem, DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_GUARD, x->bytes, why);
    b->args.sizes = &b->sample.p.sizes;
    a.forward = &b->args;
    a.stage = x->stage;
    a.scores.mem = x->mem;
    a.scores.offset = DEVICE_SAMPLE_GUARD / problem_type_size(b->sample.p.o_type);
    if (status || (status = launch_run(x->launch, &launch_scores, b->queue, &a, &none, why)))
        return status;
    return device_sample_read(b, x->mem, 0, x->bytes + 2 * DEVICE_SAMPLE_GUARD, to, why);
}

static cl_int check_guards(const struct scores *x, struct why *why)
{
    for (size_t i = 0; i < DEVICE_SAMPLE_GUARD; i++)
        if (x->seen[i] != DEVICE_SAMPLE_GUARD_BYTE ||
            x->seen[DEVICE_SAMPLE_GUARD + x->bytes + i] != DEVICE_SAMPLE_GUARD_BYTE)
            return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it writes beside its scores");
    return CL_SUCCESS;
}

/* What an element is, and how far off it may be: a score, or a weight beside the LSE that was read. */
static double expected(const struct scores *x, const struct sample_score *score, const int64_t at[4], double lse,
                       double *bound)
{
    const struct sample *const s = &x->b->sample;
    const double unit = s->p.type == CLATTN_F64 ? 0x1p-53 : 0x1p-24, sizes = score->products + score->later;
    const bool weights = x->stage == CLATTN_SCORES_WEIGHTS;
    *bound = 0;
    if (!score->kept || score->logit == -(double)INFINITY)
        return weights ? 0 : -(double)INFINITY;
    if (!weights) {
        *bound = 32 * unit * sizes + sample_answer_rounding(s->p.o_type, score->logit);
        return score->logit;
    }
    const double z = sample_answer_factor(s, at[0], at[1], at[2], at[3]), away = score->logit - lse;
    const double p = z * exp(away), off = expm1(32 * unit * (1 + sizes + fabs(away)));
    *bound = z > 0 ? p * (off + 2 * unit) + sample_answer_rounding(s->p.o_type, p) + z * 0x1p-99 : 0;
    return p;
}

static bool is_written(const unsigned char *element, size_t size)
{
    size_t i = 0;
    while (i < size && element[i] == DEVICE_SAMPLE_POISON)
        i++;
    return i < size;
}

static cl_int wrong(const struct scores *x, const int64_t at[4], struct why *why)
{
    return why_set(why, CLATTN_ERROR_WRONG_RESULT,
                   "it writes other scores, stage %d: key %lld of row %lld of head %lld, entry %lld", x->stage,
                   (long long)at[3], (long long)at[2], (long long)at[1], (long long)at[0]);
}

/* Row (b, h, q). What a caller's text makes of scores nobody here knows. */
static cl_int check_row(const struct scores *x, int64_t at[4], struct why *why)
{
    const struct sample *const s = &x->b->sample;
    const size_t size = problem_type_size(s->p.o_type), lse_size = problem_type_size(problem_lse_type(&s->p));
    const int64_t row = sample_lse(s, at[0], at[1], at[2]);
    const bool known = !s->p.n_mods || x->stage < CLATTN_SCORES_CHANGED;
    if (sample_row(s, at[0], at[1], at[2]) < 0)
        return CL_SUCCESS;
    const struct sample_entry e = sample_entry_of(s, at[0]);
    const double lse =
        sample_load(problem_lse_type(&s->p), x->b->seen_lse + DEVICE_SAMPLE_GUARD + (size_t)row * lse_size);
    for (at[3] = 0; at[3] < s->p.sizes.nk; at[3]++) {
        const unsigned char *const got =
            x->seen + DEVICE_SAMPLE_GUARD + (size_t)(row * s->p.sizes.nk + at[3]) * size;
        double bound, value;
        if (!is_written(got, size))
            return wrong(x, at, why);
        if (!known)
            continue;
        const struct sample_score score = sample_answer_stage(s, &e, at[0], at[1], at[2], at[3], x->stage);
        const double want = expected(x, &score, at, lse, &bound);
        value = sample_load(s->p.o_type, got);
        if (value != want && !(fabs(value - want) <= bound))
            return wrong(x, at, why);
    }
    return CL_SUCCESS;
}

static cl_int check_stage(struct scores *x, int64_t step, bool twice, struct why *why)
{
    const clattn_sizes *const z = &x->b->sample.p.sizes;
    cl_int status;
    if ((status = run(x, x->seen, why)) || (status = check_guards(x, why)))
        return status;
    for (int64_t i = 0; i < z->b * z->h * z->nq && !status; i += step) {
        int64_t at[4] = { i / z->nq / z->h, i / z->nq % z->h, i % z->nq, 0 };
        status = check_row(x, at, why);
    }
    if (status || !twice || (status = run(x, x->again, why)))
        return status;
    return memcmp(x->seen, x->again, x->bytes + 2 * DEVICE_SAMPLE_GUARD)
               ? why_set(why, CLATTN_ERROR_WRONG_RESULT, "a second run gives other bits")
               : CL_SUCCESS;
}

cl_int judge_scores_check(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    struct scores x;
    cl_int status = open_scores(&x, b, l, why);
    for (x.stage = CLATTN_SCORES_PRODUCTS; x.stage <= CLATTN_SCORES_WEIGHTS && !status; x.stage++)
        status = check_stage(&x, step, twice, why);
    close_scores(&x);
    return status;
}
