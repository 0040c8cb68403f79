/* score_arrays.c - the files of clattn-run that have a cell for each score, or for each block of them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/score_arrays.h"

#include "tools/run/floats.h"
#include "tools/npy/npy.h"
#include "tools/run/promises.h"

/* Compares the axes of a file, aligned right, with `sizes`, those of `what`: each must be 1 or equal. */
static int broadcast(const struct npy *a, const int64_t sizes[4], const char *what, int64_t shape[4], int32_t axes[4],
                     struct fault *f)
{
    char of_scores[NPY_SHAPE_TEXT];
    int fits = a->ndim <= 4;
    for (int i = 0; i < 4 && fits; i++) {
        const int axis = i - (4 - a->ndim);
        shape[i] = axis < 0 ? 1 : a->shape[axis];
        axes[i] = shape[i] != 1;
        fits = shape[i] == 1 || shape[i] == sizes[i];
    }
    if (fits)
        return 0;
    npy_shape(4, sizes, of_scores);
    return npy_fault(a, f, "its shape %s does not fit %s of %s: want axes of 1 or of that size", a->axes, of_scores,
                     what);
}

/* The same of an array with a cell for each score. */
static int broadcast_scores(const struct npy *a, const clattn_sizes *z, int64_t shape[4], int32_t axes[4],
                            struct fault *f)
{
    const int64_t sizes[4] = { z->b, z->h, z->nq, z->nk };
    return broadcast(a, sizes, "the scores, [b,h,nq,nk]", shape, axes, f);
}

static int read_bias(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    struct npy a;
    if (!o->bias)
        return 0;
    if (floats_read("--bias", o->bias, &a, f) != 0)
        return -1;
    int status = broadcast_scores(&a, &c->problem.sizes, x->bias_shape, c->bias_axes, f);
    if (status == 0) {
        c->problem.bias_type = a.type == NPY_F2                                          ? CLATTN_F16
                               : a.type == NPY_F8 && c->problem.type == CLATTN_F64 ? CLATTN_F64
                                                                                         : CLATTN_F32;
        x->bias = floats_values(&a, c->problem.bias_type, f);
        x->bias_axes = a.ndim;
        status = x->bias ? 0 : -1;
    }
    npy_free(&a);
    return status;
}

/* Bytes, or bools. Returns 0, or -1 with `f` set. */
static int read_bytes_file(const char *argument, const char *path, struct npy *a, struct fault *f)
{
    if (npy_read(argument, path, a, f) != 0)
        return -1;
    if (a->type == NPY_B1 || a->type == NPY_U1)
        return 0;
    npy_free(a);
    return npy_fault(a, f, "its type is %s, want b1 or u1", a->name);
}

static int read_mask(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    struct npy a;
    if (!o->mask)
        return 0;
    if (read_bytes_file("--mask", o->mask, &a, f) != 0)
        return -1;
    const int status = broadcast_scores(&a, &c->problem.sizes, x->mask_shape, c->mask_axes, f);
    if (status == 0) {
        c->problem.flags |= CLATTN_MASK;
        x->mask = a.data;
        a.data = NULL;
    }
    npy_free(&a);
    return status;
}

/* The map of a file; without one the device makes it from the mask, with the axes that the mask has. */
static int read_block_map(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    const clattn_sizes *const z = &c->problem.sizes;
    if (!o->block_q)
        return 0;
    const int64_t sizes[4] = { z->b, z->h, (z->nq + o->block_q - 1) / o->block_q,
                               (z->nk + o->block_k - 1) / o->block_k };
    int32_t axes[4];
    struct npy a;
    c->problem.flags |= CLATTN_BLOCK_MAP;
    c->block_q = x->block_q = o->block_q;
    c->block_k = x->block_k = o->block_k;
    for (int i = 0; i < 4 && !o->block_map; i++)
        x->block_shape[i] = c->mask_axes[i] ? sizes[i] : 1;
    if (!o->block_map)
        return 0;
    if (read_bytes_file("--block-map", o->block_map, &a, f) != 0)
        return -1;
    int status = broadcast(&a, sizes, "the blocks, [b,h,nq/BQ,nk/BK]", x->block_shape, axes, f);
    if (status == 0) {
        x->block_map = a.data;
        a.data = NULL;
        status = promises_check(o, z, x, f);
    }
    npy_free(&a);
    return status;
}

int score_arrays_read(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    return read_bias(o, c, x, f) != 0 || read_mask(o, c, x, f) != 0 || read_block_map(o, c, x, f) != 0 ? -1 : 0;
}
