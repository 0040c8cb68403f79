/* judge.c - whether what a plan did to a sample's buffers is right
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/judge.h"

#include "base/digest.h"
#include "judge/judge_backward.h"
#include "judge/judge_merge.h"
#include "judge/judge_scores.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Looking ---- */

static cl_int wrong(struct why *why, const int64_t at[3])
{
    return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it computes something else: row %lld of head %lld, entry %lld",
                   (long long)at[2], (long long)at[1], (long long)at[0]);
}

/* Reads are few and whole: each waits for the device, and that takes long where the machine is busy. */
static cl_int see(struct device_sample *b, struct why *why)
{
    const cl_int status = device_sample_read(b, b->o, 0, b->o_bytes + 2 * DEVICE_SAMPLE_GUARD, b->seen, why);
    return status ? status : device_sample_read(b, b->lse, 0, b->lse_bytes + 2 * DEVICE_SAMPLE_GUARD, b->seen_lse, why);
}

static cl_int check_guards(const unsigned char *seen, size_t bytes, struct why *why)
{
    for (int behind = 0; behind < 2; behind++)
        for (size_t i = 0; i < DEVICE_SAMPLE_GUARD; i++)
            if (seen[(behind ? DEVICE_SAMPLE_GUARD + bytes : 0) + i] != DEVICE_SAMPLE_GUARD_BYTE)
                return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it writes %s its output", behind ? "behind" : "before");
    return CL_SUCCESS;
}

static bool is_close(double got, double want, double bound)
{
    return got == want || fabs(got - want) <= bound;
}

/* One row of O and LSE. */
static cl_int check_row(struct device_sample *b, const int64_t at[3], double *room, struct why *why)
{
    const struct sample *s = &b->sample;
    const int64_t row = sample_row(s, at[0], at[1], at[2]), lse_row = sample_lse(s, at[0], at[1], at[2]);
    const size_t size = problem_type_size(s->p.o_type), width = (size_t)s->p.dv;
    double *const want = room, *const bound = room + width, *const scratch = bound + width;
    const int lse_type = problem_lse_type(&s->p);
    if (row < 0)
        return CL_SUCCESS;
    const unsigned char *const got = b->seen + DEVICE_SAMPLE_GUARD + (size_t)row * width * size;
    const unsigned char *const lse =
        b->seen_lse + DEVICE_SAMPLE_GUARD + (size_t)lse_row * problem_type_size(lse_type);
    const struct answer a = sample_answer(s, at[0], at[1], at[2], want, bound, scratch);
    bool good = is_close(sample_load(lse_type, lse), a.lse, a.lse_bound);
    for (size_t c = 0; c < width && good; c++)
        good = is_close(sample_load(s->p.o_type, got + c * size), want[c], bound[c]);
    return good ? CL_SUCCESS : wrong(why, at);
}

/* One row of what a caller's text made: no element, nor LSE, has every bit of the poison. A NaN that is computed has
 * not. */
static cl_int check_written(struct device_sample *b, const int64_t at[3], double *room, struct why *why)
{
    const struct sample *s = &b->sample;
    const int64_t row = sample_row(s, at[0], at[1], at[2]), lse_row = sample_lse(s, at[0], at[1], at[2]);
    const size_t size = problem_type_size(s->p.o_type), width = (size_t)s->p.dv;
    const size_t lse_size = problem_type_size(problem_lse_type(&s->p));
    static const unsigned char poisoned[] = { DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_POISON,
                                              DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_POISON,
                                              DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_POISON };
    (void)room;
    if (row < 0)
        return CL_SUCCESS;
    const unsigned char *const got = b->seen + DEVICE_SAMPLE_GUARD + (size_t)row * width * size;
    bool good =
        memcmp(b->seen_lse + DEVICE_SAMPLE_GUARD + (size_t)lse_row * lse_size, poisoned, lse_size) != 0;
    for (size_t c = 0; c < width && good; c++)
        good = memcmp(got + c * size, poisoned, size) != 0;
    return good ? CL_SUCCESS : wrong(why, at);
}

static cl_int check_rows(struct device_sample *b, int64_t step, struct why *why)
{
    const clattn_sizes *z = &b->sample.p.sizes;
    double *room = malloc((2 * (size_t)b->sample.p.dv + SAMPLE_SCRATCH * (size_t)z->nk) * sizeof *room);
    cl_int status = room ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (int64_t i = 0; i < z->b * z->h * z->nq && !status; i += step) {
        const int64_t at[3] = { i / z->nq / z->h, i / z->nq % z->h, i % z->nq };
        status = b->sample.p.n_mods ? check_written(b, at, room, why) : check_row(b, at, room, why);
    }
    free(room);
    return status;
}

static cl_int check_inputs(struct device_sample *b, struct why *why)
{
    for (int what = 0; what < SAMPLES; what++) {
        unsigned char now[32];
        if (!b->mem[what])
            continue;
        const cl_int status = device_sample_digest(b, what, now, why);
        if (status)
            return status;
        if (memcmp(now, b->digest[what], sizeof now))
            return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it changes its inputs");
    }
    return CL_SUCCESS;
}

static cl_int check(struct device_sample *b, int64_t step, struct why *why)
{
    cl_int status;
    if ((status = see(b, why)) || (status = check_guards(b->seen, b->o_bytes, why)) ||
        (status = check_guards(b->seen_lse, b->lse_bytes, why)) || (status = check_rows(b, step, why)))
        return status;
    return b->guarded ? check_inputs(b, why) : CL_SUCCESS;
}

/* ---- Both ---- */

static cl_int run_poisoned(struct device_sample *b, struct launch *l, struct why *why)
{
    double seconds, device;
    const cl_int status = device_sample_poison(b, why);
    return status ? status : device_sample_run(b, l, 0, &seconds, &device, why);
}

static cl_int compare(struct device_sample *b, cl_mem mem, const unsigned char *seen, size_t bytes, struct why *why)
{
    unsigned char *again = malloc(bytes + 1);
    cl_int status = again ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    if (!status && !(status = device_sample_read(b, mem, DEVICE_SAMPLE_GUARD, bytes, again, why)) &&
        memcmp(again, seen + DEVICE_SAMPLE_GUARD, bytes))
        status = why_set(why, CLATTN_ERROR_WRONG_RESULT, "a second run gives other bits");
    free(again);
    return status;
}

/* Once more: the same bits as check() saw. */
static cl_int repeat(struct device_sample *b, struct launch *l, struct why *why)
{
    cl_int status;
    if ((status = run_poisoned(b, l, why)) || (status = compare(b, b->o, b->seen, b->o_bytes, why)))
        return status;
    return compare(b, b->lse, b->seen_lse, b->lse_bytes, why);
}

/* The same of gradients. */
static cl_int judge_backward(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    unsigned char first[DIGEST_BYTES], again[DIGEST_BYTES];
    cl_int status;
    if ((status = run_poisoned(b, l, why)) || (status = judge_backward_check(b, step, why)) ||
        (b->guarded && (status = check_inputs(b, why))) || !twice)
        return status;
    if ((status = judge_backward_digest(b, first, why)) || (status = run_poisoned(b, l, why)) ||
        (status = judge_backward_digest(b, again, why)))
        return status;
    return memcmp(first, again, sizeof first) ? why_set(why, CLATTN_ERROR_WRONG_RESULT, "a second run gives other bits")
                                              : CL_SUCCESS;
}

cl_int judge_sample(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    cl_int status;
    if (b->sample.p.flags & CLATTN_BACKWARD)
        return judge_backward(b, l, step, twice, why);
    if ((status = run_poisoned(b, l, why)) || (status = check(b, step, why)))
        return status;
    return twice ? repeat(b, l, why) : CL_SUCCESS;
}

/* ---- Block maps ---- */

static cl_int check_map(struct device_sample *b, struct why *why)
{
    const size_t n = (size_t)sample_count(&b->sample, SAMPLE_MAP);
    unsigned char *map = malloc(n + 1);
    cl_int status = map ? device_sample_read(b, b->mem[SAMPLE_MAP], 0, n, map, why)
                        : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (size_t i = 0; i < n && !status; i++)
        if (map[i] != sample_map_of_mask(&b->sample, (int64_t)i))
            status = why_set(why, CLATTN_ERROR_WRONG_RESULT, "block maps are made wrong: block %zu", i);
    free(map);
    return status;
}

/* The block map that is made of the sample's mask. */
static cl_int judge_map(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    const struct waits none = { 0, NULL, NULL, NULL };
    (void)step, (void)twice;
    cl_int status = device_sample_fill(b, b->mem[SAMPLE_MAP], DEVICE_SAMPLE_POISON, 0,
                                       (size_t)sample_count(&b->sample, SAMPLE_MAP), why);
    b->args.sizes = &b->sample.p.sizes;
    if (!status && !(status = launch_run(l, &launch_block_map, b->queue, &b->args, &none, why)))
        status = check_map(b, why);
    return status;
}

/* ---- Merging ---- */

/* The same sample in two parts, and states that no forward pass made. */
static cl_int judge_merge(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    b->args.splits = 2;
    const cl_int status = judge_sample(b, l, step, twice, why);
    b->args.splits = 0;
    return status ? status : judge_merge_states(l, b->queue, why);
}

/* ---- Scores ---- */

/* Of the sample's forward call, with the LSE that it wrote. */
static cl_int judge_scores(struct device_sample *b, struct launch *l, int64_t step, bool twice, struct why *why)
{
    cl_int status;
    if ((status = run_poisoned(b, l, why)) || (status = see(b, why)) ||
        (status = judge_scores_check(b, l, step, twice, why)))
        return status;
    return b->guarded ? check_inputs(b, why) : CL_SUCCESS;
}

/* ---- Any pass ---- */

static cl_int (*const judges[PASS_JUDGES])(struct device_sample *, struct launch *, int64_t step, bool twice,
                                           struct why *) = {
    [PASS_JUDGED_BY_ROWS] = judge_sample,
    [PASS_JUDGED_IN_PARTS] = judge_merge,
    [PASS_JUDGED_BY_MAP] = judge_map,
    [PASS_JUDGED_BY_SCORES] = judge_scores,
    [PASS_JUDGED_BY_GRADIENTS] = judge_backward,
};

cl_int judge_pass(int pass, const struct sample *sample, struct launch *l, int64_t step, bool twice, struct why *why)
{
    const int judged = pass_at(pass)->judged;
    struct sample own = *sample;
    cl_int status = CL_SUCCESS;
    for (int shape = 0; shape < sample_shapes_of(&own.p) && judges[judged] && !status; shape++) {
        struct device_sample b;
        own.shape = shape;
        if (!(status = device_sample_open(&b, l->plan.context, l->device, &own, twice, 1, why)))
            status = judges[judged](&b, l, shape ? 4 * step + 1 : step, twice, why); /* others are about sums */
        device_sample_close(&b);
    }
    return status;
}
