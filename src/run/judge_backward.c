/* judge_backward.c - whether the gradients of a sample are right
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/judge_backward.h"

#include "base/digest.h"
#include "run/device_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[SAMPLE_GRADIENTS] = { "dQ", "dK", "dV" };

/* A gradient with its guards. */
static cl_int see(struct device_sample *b, int which, unsigned char **seen, struct why *why)
{
    const size_t bytes = b->gradients.bytes[which] + 2 * DEVICE_SAMPLE_GUARD;
    if (!(*seen = malloc(bytes)))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    return device_sample_read(b, b->gradients.mem[which], 0, bytes, *seen, why);
}

static bool guards_are_whole(const unsigned char *seen, size_t bytes)
{
    bool whole = true;
    for (size_t i = 0; i < DEVICE_SAMPLE_GUARD; i++)
        whole = whole && seen[i] == DEVICE_SAMPLE_GUARD_BYTE &&
                seen[DEVICE_SAMPLE_GUARD + bytes + i] == DEVICE_SAMPLE_GUARD_BYTE;
    return whole;
}

static bool is_close(const struct sample *s, int which, int type, const unsigned char *got, const float *lse,
                     const int64_t at[3], double *room)
{
    const size_t size = problem_type_size(type);
    const int64_t width = which == SAMPLE_DV ? s->p.dv : s->p.d;
    sample_gradient(s, which, lse, at[0], at[1], at[2], room, room + width);
    for (int64_t c = 0; c < width; c++) {
        const double x = sample_load(type, got + (size_t)c * size);
        if (x != room[c] && !(fabs(x - room[c]) <= room[width + c]))
            return false;
    }
    return true;
}

/* What goes through a caller's text nobody knows here: no element has every bit of the poison. A NaN that is computed
 * has not. */
static bool is_written(const unsigned char *got, size_t size, int64_t width)
{
    unsigned char poisoned[sizeof(double)];
    bool written = true;
    memset(poisoned, DEVICE_SAMPLE_POISON, sizeof poisoned);
    for (int64_t c = 0; c < width; c++)
        written = written && memcmp(got + (size_t)c * size, poisoned, size) != 0;
    return written;
}

static cl_int check_rows(struct device_sample *b, int which, const unsigned char *seen, int64_t step, double *room,
                         struct why *why)
{
    const struct sample *const s = &b->sample;
    const clattn_sizes *const z = &s->p.sizes;
    const int type = which == SAMPLE_DQ ? s->p.type : which == SAMPLE_DK ? s->p.k_type : s->p.v_type;
    const int64_t width = which == SAMPLE_DV ? s->p.dv : s->p.d;
    const int64_t heads = which == SAMPLE_DQ ? z->h : z->hk, rows = which == SAMPLE_DQ ? z->nq : z->nk;
    const size_t size = problem_type_size(type);
    for (int64_t i = 0; i < z->b * heads * rows; i += step) {
        const int64_t at[3] = { i / rows / heads, i / rows % heads, i % rows };
        const int64_t row = device_gradients_row(s, which, at[0], at[1], at[2]);
        if (row < 0)
            continue;
        const unsigned char *const got = seen + (size_t)(row * width) * size;
        if (!(s->p.n_mods ? is_written(got, size, width)
                          : is_close(s, which, type, got, b->gradients.lse, at, room)))
            return why_set(why, CLATTN_ERROR_WRONG_RESULT,
                           "it computes something else: %s, row %lld of head %lld, entry %lld", names[which],
                           (long long)at[2], (long long)at[1], (long long)at[0]);
    }
    return CL_SUCCESS;
}

cl_int judge_backward_check(struct device_sample *b, int64_t step, struct why *why)
{
    const clattn_problem *const p = &b->sample.p;
    double *const room = malloc(2 * (size_t)(p->d > p->dv ? p->d : p->dv) * sizeof *room);
    cl_int status = room ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (int i = 0; i < SAMPLE_GRADIENTS && !status; i++) {
        unsigned char *seen = NULL;
        if (!(status = see(b, i, &seen, why)) && !guards_are_whole(seen, b->gradients.bytes[i]))
            status = why_set(why, CLATTN_ERROR_WRONG_RESULT, "it writes beside %s", names[i]);
        if (!status)
            status = check_rows(b, i, seen + DEVICE_SAMPLE_GUARD, step, room, why);
        free(seen);
    }
    free(room);
    return status;
}

cl_int judge_backward_digest(struct device_sample *b, unsigned char to[32], struct why *why)
{
    unsigned char digests[SAMPLE_GRADIENTS][DIGEST_BYTES];
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < SAMPLE_GRADIENTS && !status; i++) {
        unsigned char *seen = NULL;
        if (!(status = see(b, i, &seen, why)))
            digest_of(digests[i], seen, b->gradients.bytes[i] + 2 * DEVICE_SAMPLE_GUARD);
        free(seen);
    }
    if (!status)
        digest_of(to, digests, sizeof digests);
    return status;
}
