/* encoded.c - caches of every storage type, encoded on the host
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/encoded.h"

#include <float.h>

/* ---- Encoders ---- */

static float rounded_product(float a, float b)
{
    const volatile float product = a * b;
    return product;
}

static void store_f16(float x, unsigned char *to)
{
    const double exact = x;
    convert_store(CLATTN_F16, &exact, to, 1);
}

static void encode_q8_0(const float *x, int n, unsigned char *to)
{
    for (int block = 0; block < n / 32; block++, x += 32, to += 34) {
        float most = 0;
        for (int i = 0; i < 32; i++)
            most = fmaxf(most, fabsf(x[i]));
        const float d = most / 127, id = d != 0 ? 1 / d : 0;
        store_f16(d, to);
        for (int i = 0; i < 32; i++)
            to[2 + i] = (unsigned char)(signed char)roundf(rounded_product(x[i], id));
    }
}

static void encode_q4_0(const float *x, int n, unsigned char *to)
{
    for (int block = 0; block < n / 32; block++, x += 32, to += 18) {
        float most = 0, value = 0;
        for (int i = 0; i < 32; i++)
            if (fabsf(x[i]) > most) {
                most = fabsf(x[i]);
                value = x[i];
            }
        const float d = value / -8, id = d != 0 ? 1 / d : 0;
        store_f16(d, to);
        for (int i = 0; i < 16; i++) {
            const int low = (int)(rounded_product(x[i], id) + 8.5f);
            const int high = (int)(rounded_product(x[i + 16], id) + 8.5f);
            to[2 + i] = (unsigned char)((low > 15 ? 15 : low) | (high > 15 ? 15 : high) << 4);
        }
    }
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

const struct encoded_type encoded_types[] = {
    [CLATTN_F32] = { "f32", 1, 4 },   [CLATTN_F16] = { "f16", 1, 2 },   [CLATTN_BF16] = { "bf16", 1, 2 },
    [CLATTN_F64] = { "f64", 1, 8 },   [CLATTN_INT8] = { "int8", 1, 1 }, [CLATTN_INT4] = { "int4", 2, 1 },
    [CLATTN_Q8_0] = { "q8_0", 32, 34 }, [CLATTN_Q4_0] = { "q4_0", 32, 18 },
};

int encoded_is_scaled(int type)
{
    return type == CLATTN_INT8 || type == CLATTN_INT4;
}

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
    return s->bytes.want + 4 * at;
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
        memcpy(s->bytes.want + 4 * i, &x, 4);
    }
}

struct encoded encoded_make(const char *name, int type, int64_t width, int group, int has_zero, const int64_t n[3],
                               int paged, uint64_t *state)
{
    static const int plain[] = { 0, 1, 2 }, pages[] = { 0, 2, 1 };
    static const char *const scale_names[] = { "k_scale", "v_scale" }, *const zero_names[] = { "k_zero", "v_zero" };
    struct encoded c = { .name = name, .type = type, .group = group, .has_zero = has_zero, .width = width };
    c.order = paged ? pages : plain;
    c.place = bytes_place(n, width, encoded_types[type].elements, c.order, state);
    c.bytes = bytes_make(name, (size_t)(c.place.end / encoded_types[type].elements * encoded_types[type].bytes), state);
    c.computed = (int)bytes_pick(state, 0, 2) > 0;
    if (!encoded_is_scaled(type))
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
    return bytes_agree(&c->bytes, queue, why, len) &&
           (!c->scale.bytes.size || bytes_agree(&c->scale.bytes, queue, why, len)) &&
           (!c->zero.bytes.size || bytes_agree(&c->zero.bytes, queue, why, len));
}

void encoded_free(struct encoded *c)
{
    bytes_free(&c->bytes);
    bytes_free(&c->scale.bytes);
    bytes_free(&c->zero.bytes);
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
    unsigned char *const to = c->bytes.want + row / encoded_types[c->type].elements * encoded_types[c->type].bytes;
    float single[ENCODED_WIDEST];
    for (int64_t i = 0; i < c->width; i++)
        single[i] = (float)x[i];
    if (encoded_is_scaled(c->type))
        encode_scaled(c, single, at, to);
    else if (c->type == CLATTN_Q8_0)
        encode_q8_0(single, (int)c->width, to);
    else if (c->type == CLATTN_Q4_0)
        encode_q4_0(single, (int)c->width, to);
    else
        convert_store(c->type, x, to, (size_t)c->width);
}
