/* encoded.c - caches of every storage type, encoded on the host
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/encoded.h"

#include "tools/oracle/quantise.h"

#include <float.h>

/* ---- Encoders ---- */

static float rounded_product(float a, float b)
{
    const volatile float product = a * b;
    return product;
}

/* Scale and zero point that a group gets. */
static void measure(const float *x, int n, int most, int has_zero, float *scale, float *zero)
{
    float low = 0, high = 0, largest = 0;
    for (int i = 0; i < n; i++) {
        low = fminf(low, x[i]);
        high = fmaxf(high, x[i]);
        largest = fmaxf(largest, fabsf(x[i]));
    }
    *scale = has_zero ? (high - low) / (float)(2 * most + 1) : largest / (float)most;
    *scale = *scale < FLT_MIN ? 0 : *scale;
    *zero = 0;
    if (has_zero) {
        const float id = *scale != 0 ? 1 / *scale : 0;
        *zero = fmaxf((float)(-most - 1), fminf((float)most, rintf((float)(-most - 1) - rounded_product(low, id))));
    }
}

static int code(float x, int most, float scale, float zero)
{
    const float id = isfinite(scale) && fabsf(scale) >= FLT_MIN ? 1 / scale : 0;
    const float q = rintf(rounded_product(x, id) + zero);
    return q > (float)most ? most : q < (float)(-most - 1) ? -most - 1 : (int)q;
}

/* ---- Caches ---- */

static struct factors make_factors(const struct encoded *c, const char *name, const int64_t n[3],
                                   const int64_t shape[4], uint64_t *state)
{
    const int by_axes[4] = { c->order[0], c->order[1], c->order[2], 3 };
    struct factors s = { .by_default = (int)bytes_pick(state, 0, 1),
                         .said = (int)bytes_pick(state, 0, 1),
                         .offset = bytes_pick(state, 0, 3) };
    int64_t step = 1;
    for (int i = 0; i < 4; i++) {
        s.n[i] = i < 3 ? n[i] : (c->width + c->group - 1) / c->group;
        s.shape[i] = shape[i];
    }
    for (int i = 3; i >= 0; i--) {
        const int axis = by_axes[s.by_default ? i : (i + 1) % 4];
        s.stride[axis] = step + (s.by_default ? 0 : bytes_pick(state, 0, 2));
        step = s.stride[axis] * (s.shape[axis] == 1 || s.n[axis] < 1 ? 1 : s.n[axis]);
    }
    s.bytes = bytes_make(name, 4 * (size_t)(s.offset + step), state);
    return s;
}

static unsigned char *scale_at(const struct factors *s, int64_t first, int64_t h, int64_t row, int64_t group)
{
    const int64_t index[4] = { first, h, row, group };
    int64_t at = s->offset;
    for (int i = 0; i < 4; i++)
        at += s->shape[i] == 1 ? 0 : index[i] * s->stride[i];
    return s->bytes.byte + 4 * at;
}

clattn_tensor4 encoded_factors(const struct factors *s)
{
    clattn_tensor4 t = { s->bytes.mem, (size_t)s->offset, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } };
    for (int i = 0; i < 4 && s->bytes.size; i++) {
        t.shape[i] = s->said && !s->shape[i] && s->n[i] > 1 ? s->n[i] : s->shape[i]; /* 1 says that all share it */
        t.stride[i] = s->by_default ? 0 : s->stride[i];
    }
    return t;
}

/* Given scales are sometimes too small, so that values go beyond what the type holds; sometimes negative, 0, subnormal
 * or no number. */
static void fill_factors(struct factors *s, int is_zero, uint64_t *state)
{
    for (size_t i = 0; i < s->bytes.size / 4; i++) {
        static const float odd[] = { 0, -0.01f, 1e-39f, -1e-40f, INFINITY, NAN };
        const float factor = bytes_pick(state, 0, 7) ? 0.03f : odd[bytes_pick(state, 0, 5)];
        const float size = 1 + fabsf((float)bytes_normal(state));
        const float x = is_zero ? (float)bytes_pick(state, -20, 20) / 2 : factor * size;
        memcpy(s->bytes.byte + 4 * i, &x, 4);
    }
}

struct encoded encoded_make(const char *name, int type, int64_t width, int group, int has_zero, const int64_t n[3],
                               int paged, uint64_t *state)
{
    static const int plain[] = { 0, 1, 2 }, pages[] = { 0, 2, 1 };
    static const char *const scale_names[] = { "k_scale", "v_scale" }, *const zero_names[] = { "k_zero", "v_zero" };
    struct encoded c = { .name = name, .type = type, .group = group, .has_zero = has_zero, .width = width };
    c.order = paged ? pages : plain;
    c.place = bytes_place(n, width, quantise_block(type), c.order, state);
    c.bytes = bytes_make(name, quantise_bytes(type, (size_t)c.place.end), state);
    c.computed = (int)bytes_pick(state, 0, 2) > 0;
    if (!quantise_is_scaled(type))
        return c;
    int64_t shape[4];
    for (int i = 0; i < 4; i++)
        shape[i] = c.computed ? 0 : bytes_pick(state, 0, 1);
    shape[2] = !c.computed;
    c.scale = make_factors(&c, scale_names[*name == 'v'], n, shape, state);
    if (!c.computed)
        fill_factors(&c.scale, 0, state);
    if (!has_zero)
        return c;
    c.zero = make_factors(&c, zero_names[*name == 'v'], n, shape, state);
    if (!c.computed)
        fill_factors(&c.zero, 1, state);
    return c;
}

void encoded_upload(struct encoded *c, cl_context context)
{
    const cl_mem_flags scales = c->computed ? CL_MEM_WRITE_ONLY : CL_MEM_READ_ONLY;
    bytes_upload(&c->bytes, context, CL_MEM_READ_WRITE);
    bytes_upload(&c->scale.bytes, context, scales);
    bytes_upload(&c->zero.bytes, context, scales);
}

int encoded_agrees(const struct encoded *c, cl_command_queue queue, char *why, size_t len)
{
    return image_agrees(&c->bytes, queue, why, len) &&
           (!c->scale.bytes.size || image_agrees(&c->scale.bytes, queue, why, len)) &&
           (!c->zero.bytes.size || image_agrees(&c->zero.bytes, queue, why, len));
}

void encoded_free(struct encoded *c)
{
    image_free(&c->bytes);
    image_free(&c->scale.bytes);
    image_free(&c->zero.bytes);
}

static void encode_scaled(const struct encoded *c, const float *x, const int64_t at[3], unsigned char *to)
{
    const int most = c->type == CLATTN_INT8 ? 127 : 7, width = (int)c->width;
    for (int i = 0; i < width; i++) {
        const int g = i / c->group, first = g * c->group, n = width - first < c->group ? width - first : c->group;
        float scale, zero = 0;
        unsigned char *const scale_to = scale_at(&c->scale, at[0], at[1], at[2], g);
        unsigned char *const zero_to = c->has_zero ? scale_at(&c->zero, at[0], at[1], at[2], g) : NULL;
        if (c->computed) {
            measure(x + first, n, most, c->has_zero, &scale, &zero);
            memcpy(scale_to, &scale, 4);
            if (zero_to)
                memcpy(zero_to, &zero, 4);
        } else {
            memcpy(&scale, scale_to, 4);
            if (zero_to)
                memcpy(&zero, zero_to, 4);
        }
        const int q = code(x[i], most, scale, zero);
        if (c->type == CLATTN_INT8)
            to[i] = (unsigned char)q;
        else
            to[i / 2] = (unsigned char)(i % 2 ? (to[i / 2] & 15) | (q & 15) << 4 : (to[i / 2] & 240) | (q & 15));
    }
}

void encoded_row(struct encoded *c, const double *x, const int64_t at[3])
{
    const int64_t row = bytes_row(&c->place, c->order, at[0], at[1], at[2]);
    unsigned char *const to = c->bytes.byte + quantise_bytes(c->type, (size_t)row);
    float single[ENCODED_WIDEST];
    for (int64_t i = 0; i < c->width; i++)
        single[i] = (float)x[i];
    if (quantise_is_scaled(c->type))
        encode_scaled(c, single, at, to);
    else if (quantise_is(c->type))
        quantise_store(c->type, NULL, x, to, (size_t)c->width);
    else
        convert_store(c->type, x, to, (size_t)c->width);
}
