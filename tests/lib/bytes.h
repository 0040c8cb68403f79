/* bytes.h - buffers of which a test knows every byte, before and after
 * SPDX-License-Identifier: Apache-2.0
 *
 * A buffer begins as noise. What a call reads is put into it, what it is expected to write as well, on the host; then
 * the device's bytes are compared with all of those that are expected. */
#ifndef BYTES_H
#define BYTES_H

#include "tests/lib/harness.h"
#include "tests/lib/tap.h"
#include "tools/oracle/convert.h"

#include <math.h>
#include <stdint.h>

/* ---- Numbers ---- */

TAP_UNUSED static uint64_t bytes_random(uint64_t *state)
{
    *state += 1;
    return trial_hash(*state, 0, 0);
}

/* From low to high. */
TAP_UNUSED static int64_t bytes_pick(uint64_t *state, int64_t low, int64_t high)
{
    return low + (int64_t)(bytes_random(state) % (uint64_t)(high - low + 1));
}

TAP_UNUSED static double bytes_normal(uint64_t *state)
{
    *state += 1;
    return trial_normal(*state, 1, 0);
}

/* ---- Buffers ---- */

TAP_UNUSED static struct image bytes_make(const char *name, size_t size, uint64_t *state)
{
    struct image im = { malloc(size + 1), size, NULL, name };
    if (!im.byte)
        bail("no memory");
    for (size_t i = 0; i < size; i++)
        im.byte[i] = (unsigned char)bytes_random(state);
    return im;
}

/* Makes the device's buffer, of what is expected now; of nothing none. */
TAP_UNUSED static void bytes_upload(struct image *im, cl_context context, cl_mem_flags flags)
{
    const cl_int e = image_buffer(im, context, flags);
    if (e)
        bail("no buffer: %s", clattn_status_string(e));
}

/* ---- Tensors inside them ---- */

/* Where [n0,n1,n2] rows lie: strides in elements. Axes in a random order, with gaps, all of them multiples of `unit`
 * elements; or contiguous, in the order given by `order`, the outermost axis first. */
struct place {
    int64_t n[3], stride[3], width, offset, end;
};

TAP_UNUSED static struct place bytes_place(const int64_t n[3], int64_t width, int64_t unit, const int *order,
                                           uint64_t *state)
{
    struct place p = { { n[0], n[1], n[2] }, { 0, 0, 0 }, width, unit * bytes_pick(state, 0, 3), 0 };
    int axes[3] = { order[0], order[1], order[2] };
    const int gaps = bytes_pick(state, 0, 2) > 0;
    int64_t step = width;
    for (int i = 2; gaps && i > 0; i--) {
        const int j = (int)bytes_pick(state, 0, i), swapped = axes[i];
        axes[i] = axes[j];
        axes[j] = swapped;
    }
    for (int i = 2; i >= 0; i--) {
        p.stride[axes[i]] = step + (gaps ? unit * bytes_pick(state, 0, 2) : 0);
        step = p.stride[axes[i]] * (n[axes[i]] > 1 ? n[axes[i]] : 1);
    }
    p.end = p.offset + step + unit * bytes_pick(state, 0, 3);
    if (!gaps && bytes_pick(state, 0, 1))
        p.stride[0] = p.stride[1] = p.stride[2] = 0; /* the same by default */
    return p;
}

/* Element of a row. */
TAP_UNUSED static int64_t bytes_row(const struct place *p, const int *order, int64_t a, int64_t b, int64_t c)
{
    int64_t stride[3] = { p->stride[0], p->stride[1], p->stride[2] }, step = p->width;
    for (int i = 2; i >= 0 && !(p->stride[0] | p->stride[1] | p->stride[2]); i--) {
        stride[order[i]] = step;
        step *= p->n[order[i]];
    }
    return p->offset + a * stride[0] + b * stride[1] + c * stride[2];
}

TAP_UNUSED static clattn_tensor bytes_tensor(const struct image *b, const struct place *p)
{
    return (clattn_tensor){ b->mem, (size_t)p->offset, { p->stride[0], p->stride[1], p->stride[2] } };
}

/* ---- Rotary embedding, as clattn.h has it ---- */

struct turning {
    int64_t positions;
    int width, interleaved;
    size_t cos_at, sin_at, given_at; /* elements */
    int given;
    struct image cos, sin, list;
};

TAP_UNUSED static struct turning bytes_turning(int64_t d, int64_t rows, uint64_t *state)
{
    struct turning t = { .positions = bytes_pick(state, 1, 40), .width = 2 * (int)bytes_pick(state, 1, d / 2) };
    t.interleaved = (int)bytes_pick(state, 0, 1);
    t.given = (int)bytes_pick(state, 0, 2) == 0;
    t.cos_at = (size_t)bytes_pick(state, 0, 3);
    t.sin_at = (size_t)bytes_pick(state, 0, 3);
    t.given_at = (size_t)bytes_pick(state, 0, 3);
    const size_t n = (size_t)t.positions * (size_t)t.width / 2;
    t.cos = bytes_make("rotary.cos", 4 * (t.cos_at + n), state);
    t.sin = bytes_make("rotary.sin", 4 * (t.sin_at + n), state);
    t.list = bytes_make("rotary.given", t.given ? 4 * (t.given_at + (size_t)rows) : 0, state);
    for (size_t i = 0; i < n; i++) {
        const double angle = 7 * bytes_normal(state), c = cos(angle), s = sin(angle);
        convert_store(CLATTN_F32, &c, t.cos.byte + 4 * (t.cos_at + i), 1);
        convert_store(CLATTN_F32, &s, t.sin.byte + 4 * (t.sin_at + i), 1);
    }
    for (int64_t i = 0; t.given && i < rows; i++) {
        const int32_t at = (int32_t)(bytes_pick(state, 0, 4) ? bytes_pick(state, -2, t.positions + 2) :
                                     bytes_pick(state, 0, 1) ? INT32_MAX : INT32_MIN);
        memcpy(t.list.byte + 4 * (t.given_at + (size_t)i), &at, 4);
    }
    return t;
}

TAP_UNUSED static void bytes_turning_upload(struct turning *t, cl_context context)
{
    bytes_upload(&t->cos, context, CL_MEM_READ_ONLY);
    bytes_upload(&t->sin, context, CL_MEM_READ_ONLY);
    bytes_upload(&t->list, context, CL_MEM_READ_ONLY);
}

TAP_UNUSED static clattn_rotary bytes_rotary(const struct turning *t)
{
    return (clattn_rotary){ .cos = { t->cos.mem, t->cos_at },
                            .sin = { t->sin.mem, t->sin_at },
                            .positions = t->positions,
                            .width = t->width,
                            .interleaved = t->interleaved,
                            .given = { t->list.mem, t->given ? t->given_at : 0 } };
}

TAP_UNUSED static void bytes_turning_free(struct turning *t)
{
    image_free(&t->cos);
    image_free(&t->sin);
    image_free(&t->list);
}

/* Row `row` of all that positions are given for, else position `at`: turns x, in float where `single`. Every product
 * and sum is rounded. */
TAP_UNUSED static void bytes_turn(const struct turning *t, int64_t row, int64_t at, double *x, int single)
{
    int32_t given;
    if (t->given) {
        memcpy(&given, t->list.byte + 4 * (t->given_at + (size_t)row), 4);
        at = given;
    }
    at = at < 0 ? 0 : at < t->positions ? at : t->positions - 1;
    for (int j = 0; j < t->width / 2; j++) {
        const int first = t->interleaved ? 2 * j : j, second = t->interleaved ? 2 * j + 1 : j + t->width / 2;
        const size_t entry = (size_t)at * (size_t)t->width / 2 + (size_t)j;
        double c, s;
        convert_load(CLATTN_F32, t->cos.byte + 4 * (t->cos_at + entry), &c, 1);
        convert_load(CLATTN_F32, t->sin.byte + 4 * (t->sin_at + entry), &s, 1);
        const double u = x[first], v = x[second];
        if (single) {
            const volatile float uc = (float)u * (float)c, vs = (float)v * (float)s;
            const volatile float us = (float)u * (float)s, vc = (float)v * (float)c;
            x[first] = uc - vs;
            x[second] = us + vc;
        } else {
            const volatile double uc = u * c, vs = v * s, us = u * s, vc = v * c;
            x[first] = uc - vs;
            x[second] = us + vc;
        }
    }
}

#endif
