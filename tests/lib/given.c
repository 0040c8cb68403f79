/* given.c - what a trial's calls give besides Q, K, V, O and LSE: placed with gaps, poison and odd offsets
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/trial.h"

#include "tools/oracle/convert.h"

#include <stdlib.h>
#include <string.h>

/* ---- Numbers in a row ---- */

cl_int trial_make_list(struct image *im, cl_context context, int type, const void *from, size_t count, size_t head,
                       clattn_array *out)
{
    const size_t size = image_size_of(type);
    cl_int e = image_alloc(im, head + count, type);
    if (e)
        return e;
    image_poison(im, type);
    memcpy(im->byte + head * size, from, count * size);
    e = image_buffer(im, context, CL_MEM_READ_ONLY);
    out->mem = im->mem;
    out->offset = head;
    return e;
}

static cl_int make_ints(struct trial *t, cl_context context)
{
    enum { HEAD = 3 };
    const uint32_t flags = t->c.problem.flags;
    const size_t b = (size_t)t->sizes.b;
    const struct {
        int given;
        const int32_t *from;
        size_t count;
        clattn_array *to;
    } rows[] = {
        [Q_LEN] = { (flags & CLATTN_Q_LEN) != 0, t->c.q_len, b, &t->args.q_len },
        [KV_LEN] = { (flags & CLATTN_KV_LEN) != 0, t->c.kv_len, b, &t->args.kv_len },
        [KV_START] = { (flags & CLATTN_KV_START) != 0, t->c.kv_start, b, &t->args.kv_start },
        [DIAGONALS] = { t->layout == OFFSETS, t->offsets, b, &t->args.offsets },
        [CU_Q] = { t->x.cu_q != NULL, t->x.cu_q, b + 1, &t->args.cu_q },
        [CU_K] = { t->x.cu_k != NULL, t->x.cu_k, b + 1, &t->args.cu_k },
    };
    cl_int e = CL_SUCCESS;
    size_t i;
    for (i = 0; i < sizeof rows / sizeof *rows && !e; i++)
        if (rows[i].given)
            e = trial_make_list(&t->list[i], context, CLATTN_I32, rows[i].from, rows[i].count, HEAD, rows[i].to);
    return e;
}

/* f32 from doubles: rows of `n`, `stride` apart, with poison between. */
static cl_int make_floats(struct image *im, cl_context context, const double *from, int64_t rows, int64_t n,
                          int64_t stride, clattn_array *out)
{
    enum { HEAD = 1 };
    const size_t count = rows ? (size_t)((rows - 1) * stride + n) : 0;
    int64_t i;
    cl_int e = image_alloc(im, HEAD + count, CLATTN_F32);
    if (e)
        return e;
    image_poison(im, CLATTN_F32);
    for (i = 0; i < rows; i++)
        convert_store(CLATTN_F32, from + i * n, im->byte + (size_t)(HEAD + i * stride) * sizeof(float), (size_t)n);
    e = image_buffer(im, context, CL_MEM_READ_ONLY);
    out->mem = im->mem;
    out->offset = HEAD;
    return e;
}

static cl_int make_per_head(struct trial *t, cl_context context)
{
    const int64_t h = t->sizes.h;
    cl_int e = CL_SUCCESS;
    t->args.dropout_seed = t->x.dropout_seed;
    t->args.dropout_offset = t->x.dropout_offset;
    if (t->x.slopes) {
        t->args.slopes_stride = t->x.slopes_b == 1 ? 0 : t->layout == PLAIN ? h : h + 5;
        e = make_floats(&t->list[SLOPES], context, t->x.slopes, t->x.slopes_b, h, t->args.slopes_stride,
                        &t->args.slopes);
    }
    if (!e && t->x.sinks)
        e = make_floats(&t->list[SINKS], context, t->x.sinks, 1, h, h, &t->args.sinks);
    return e;
}

static cl_int make_captured(struct trial *t, cl_context context)
{
    cl_int e = CL_SUCCESS;
    size_t i;
    for (i = 0; i < t->x.n_aux && !e; i++) {
        const struct aux *a = &t->x.aux[i];
        e = trial_make_list(&t->captured[i], context, a->type, a->data, a->count, t->layout == PLAIN ? 0 : 1,
                            &t->aux[i]);
    }
    t->args.aux = t->x.n_aux ? t->aux : NULL;
    return e;
}

/* ---- Tensors of axes b, h, q and k ---- */

/* Orders of the axes, the nearest first, and gaps behind each: as the layout says. */
cl_int trial_array4(struct array4 *x, const int64_t shape[4], int type, enum layout l)
{
    static const int usual[4] = { 3, 2, 1, 0 }, rows_outside[4] = { 3, 1, 2, 0 }, columns_first[4] = { 2, 3, 1, 0 };
    static const int64_t gap[4] = { 5, 3, 11, 2 };
    const int *const order = l == OFFSETS ? rows_outside : l == PACKED ? columns_first : usual;
    int64_t step = l == REPEAT ? 3 : 1;
    int i;
    memcpy(x->shape, shape, sizeof x->shape);
    x->offset = l == PLAIN ? 0 : 7;
    for (i = 0; i < 4; i++) {
        x->stride[order[i]] = step;
        step = step * shape[order[i]] + (l == PLAIN ? 0 : gap[i]);
    }
    return image_alloc(&x->image, x->offset + (size_t)step, type);
}

int64_t array4_count(const struct array4 *x)
{
    return x->shape[0] * x->shape[1] * x->shape[2] * x->shape[3];
}

size_t array4_at(const struct array4 *x, int64_t i, int64_t index[4])
{
    size_t at = x->offset;
    int axis;
    for (axis = 3; axis >= 0; axis--) {
        index[axis] = i % x->shape[axis];
        i /= x->shape[axis];
        at += (size_t)(index[axis] * x->stride[axis]);
    }
    return at;
}

/* `full` is what the call's sizes make of each axis. Broadcast axes: by default strides of a shape of 1, in other
 * layouts with a stride that must not be taken, in SHARED all of them with a stride of 0. */
void array4_argument(const struct trial *t, const struct array4 *x, const int64_t full[4], clattn_tensor4 *out)
{
    static const int64_t nowhere = (int64_t)1 << 40;
    const int flat = array4_count(x) == 1; /* strides of 0 everywhere would say contiguous */
    int i;
    out->mem = x->image.mem;
    out->offset = x->offset;
    for (i = 0; i < 4; i++) {
        const int once = x->shape[i] == 1;
        out->shape[i] = once ? 1 : x->shape[i] == full[i] ? 0 : x->shape[i];
        if (t->layout == PLAIN)
            continue;
        out->shape[i] = once && t->layout == SHARED && !flat ? full[i] : x->shape[i];
        out->stride[i] = !once ? x->stride[i] : t->layout == SHARED && !flat ? 0 : nowhere;
    }
}

static void full_sizes(const struct trial *t, int64_t to[4])
{
    to[0] = t->sizes.b;
    to[1] = t->sizes.h;
    to[2] = t->sizes.nq;
    to[3] = t->sizes.nk;
}

static cl_int make_bias(struct trial *t, cl_context context)
{
    const int type = t->c.problem.bias_type;
    const size_t size = convert_size(type);
    unsigned char *used;
    int64_t full[4], index[4], i;
    cl_int e = trial_array4(&t->bias, t->x.bias_shape, type, t->layout);
    if (e)
        return e;
    used = trial_bias_used(t);
    if (!used)
        return CL_OUT_OF_HOST_MEMORY;
    image_poison(&t->bias.image, type);
    for (i = 0; i < array4_count(&t->bias); i++)
        if (used[i])
            convert_store(type, &t->x.bias[i], t->bias.image.byte + array4_at(&t->bias, i, index) * size, 1);
    free(used);
    e = image_buffer(&t->bias.image, context, CL_MEM_READ_ONLY);
    full_sizes(t, full);
    array4_argument(t, &t->bias, full, &t->args.bias);
    return e;
}

/* Every value but 0 keeps. */
static unsigned char some(uint64_t seed, uint64_t i)
{
    static const unsigned char kind[4] = { 1, 2, 128, 255 };
    return kind[trial_hash(seed, 96, i) % 4];
}

static cl_int make_bytes(struct trial *t, cl_context context, struct array4 *x, const unsigned char *from)
{
    int64_t index[4], i;
    image_canaries(&x->image);
    for (i = 0; i < array4_count(x); i++)
        x->image.byte[array4_at(x, i, index)] = from[i] ? some(t->c.seed, (uint64_t)i) : 0;
    return image_buffer(&x->image, context, CL_MEM_READ_ONLY);
}

static cl_int make_mask(struct trial *t, cl_context context)
{
    int64_t full[4];
    cl_int e = trial_array4(&t->mask, t->x.mask_shape, CLATTN_U8, t->layout);
    if (e)
        return e;
    e = make_bytes(t, context, &t->mask, t->x.mask);
    full_sizes(t, full);
    array4_argument(t, &t->mask, full, &t->args.mask);
    return e;
}

/* A map for the device to make. In SHARED it has every axis, whatever the mask has. */
static cl_int make_blank(struct trial *t, cl_context context)
{
    int64_t index[4], i;
    image_canaries(&t->map.image);
    for (i = 0; i < array4_count(&t->map); i++)
        t->map.image.byte[array4_at(&t->map, i, index)] = NOT_MADE;
    return image_buffer(&t->map.image, context, CL_MEM_READ_WRITE);
}

static cl_int make_map(struct trial *t, cl_context context)
{
    const struct extras *x = &t->x;
    int64_t full[4];
    cl_int e;
    full_sizes(t, full);
    full[2] = (full[2] + x->block_q - 1) / x->block_q;
    full[3] = (full[3] + x->block_k - 1) / x->block_k;
    e = trial_array4(&t->map, !x->block_map && t->layout == SHARED ? full : x->block_shape, CLATTN_U8, t->layout);
    if (!e)
        e = x->block_map ? make_bytes(t, context, &t->map, x->block_map) : make_blank(t, context);
    array4_argument(t, &t->map, full, &t->args.block_map);
    t->args.block_q = x->block_q;
    t->args.block_k = x->block_k;
    return e;
}

cl_int trial_give(struct trial *t, cl_context context)
{
    const uint32_t flags = t->c.problem.flags;
    cl_int e;
    if ((e = make_ints(t, context)) || (e = make_per_head(t, context)) || (e = make_captured(t, context)))
        return e;
    if ((e = keys_give(t, context)))
        return e;
    if (t->c.problem.bias_type && (e = make_bias(t, context)))
        return e;
    if (flags & CLATTN_MASK && (e = make_mask(t, context)))
        return e;
    return flags & CLATTN_BLOCK_MAP ? make_map(t, context) : CL_SUCCESS;
}

void trial_take_back(struct trial *t)
{
    int i;
    for (i = 0; i < LISTS; i++)
        image_free(&t->list[i]);
    for (i = 0; i < CLATTN_AUX_MAX; i++)
        image_free(&t->captured[i]);
    image_free(&t->bias.image);
    image_free(&t->mask.image);
    image_free(&t->map.image);
    keys_free_all(t);
}
