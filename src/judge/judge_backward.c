/* judge_backward.c - whether the gradients of a sample are right
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/judge_backward.h"

#include "base/digest.h"
#include "problem/mods.h"
#include "judge/device_gradients.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *name_of(int which)
{
    static const char *const names[] = { "dQ", "dK", "dV", "dBias", "dSlopes", "dSinks", "dAux" };
    return names[which < SAMPLE_DAUX ? which : SAMPLE_DAUX];
}

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

static bool is_close(const struct sample *s, int which, const unsigned char *got, const float *lse,
                     const int64_t at[3], double *room)
{
    const struct sample_gradient_shape x = sample_gradient_shape(s, which);
    const size_t size = problem_type_size(x.type);
    sample_gradient(s, which, lse, at[0], at[1], at[2], room, room + x.width);
    for (int64_t c = 0; c < x.width; c++) {
        const double is = sample_load(x.type, got + (size_t)c * size);
        if (is != room[c] && !(fabs(is - room[c]) <= room[x.width + c]))
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

/* All rows of what is a sum over many elements. */
static cl_int check_rows(struct device_sample *b, int which, const unsigned char *seen, int64_t step, struct why *why)
{
    const struct sample *const s = &b->sample;
    const struct sample_gradient_shape x = sample_gradient_shape(s, which);
    const size_t size = problem_type_size(x.type);
    const bool is_known = !s->p.n_mods || mods_may_be_off(&s->p);
    double *const room = malloc(2 * (size_t)x.width * sizeof *room);
    cl_int status = room ? CL_SUCCESS : why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    for (int64_t i = 0; i < x.entries * x.heads * x.rows && !status; i += which <= SAMPLE_DV ? step : 1) {
        const int64_t at[3] = { i / x.rows / x.heads, i / x.rows % x.heads, i % x.rows };
        const int64_t row = device_gradients_row(s, which, at[0], at[1], at[2]);
        if (row < 0)
            continue;
        const unsigned char *const got = seen + (size_t)(row * x.width) * size;
        if (!(is_known ? is_close(s, which, got, b->gradients.lse, at, room) : is_written(got, size, x.width)))
            status = why_set(why, CLATTN_ERROR_WRONG_RESULT,
                             "it computes something else: %s, row %lld of head %lld, entry %lld", name_of(which),
                             (long long)at[2], (long long)at[1], (long long)at[0]);
    }
    free(room);
    return status;
}

cl_int judge_backward_check(struct device_sample *b, int64_t step, struct why *why)
{
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < SAMPLE_GRADIENTS && !status; i++) {
        unsigned char *seen = NULL;
        if (!b->gradients.mem[i])
            continue;
        if (!(status = see(b, i, &seen, why)) && !guards_are_whole(seen, b->gradients.bytes[i]))
            status = why_set(why, CLATTN_ERROR_WRONG_RESULT, "it writes beside %s", name_of(i));
        if (!status)
            status = check_rows(b, i, seen + DEVICE_SAMPLE_GUARD, step, why);
        free(seen);
    }
    return status;
}

cl_int judge_backward_digest(struct device_sample *b, unsigned char to[32], struct why *why)
{
    unsigned char digests[SAMPLE_GRADIENTS][DIGEST_BYTES] = { { 0 } };
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < SAMPLE_GRADIENTS && !status; i++) {
        unsigned char *seen = NULL;
        if (b->gradients.mem[i] && !(status = see(b, i, &seen, why)))
            digest_of(digests[i], seen, b->gradients.bytes[i] + 2 * DEVICE_SAMPLE_GUARD);
        free(seen);
    }
    if (!status)
        digest_of(to, digests, sizeof digests);
    return status;
}
