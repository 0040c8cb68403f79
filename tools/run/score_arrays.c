/* score_arrays.c - the files of clattn-run that have a cell for each score, or for each block of them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/score_arrays.h"

#include "tools/run/floats.h"
#include "tools/npy/npy.h"

/* Whether an axis of n of them may repeat: entries and heads, as often as problem strings can say. */
static int repeats(int axis, int64_t n, int64_t size)
{
    enum { MOST = 9 };
    return axis < 2 && n > 1 && n <= MOST && n < size && size % n == 0;
}

/* Compares the axes of a file, aligned right, with `sizes`, those of `what`: each must be 1 or equal, or where `some`
 * may be fewer those of entries and heads divide theirs. */
static int broadcast(const struct npy *a, const int64_t sizes[4], const char *what, int some, int64_t shape[4],
                     int32_t axes[4], struct fault *f)
{
    char of_scores[NPY_SHAPE_TEXT];
    int fits = a->ndim <= 4;
    for (int i = 0; i < 4 && fits; i++) {
        const int axis = i - (4 - a->ndim);
        shape[i] = axis < 0 ? 1 : a->shape[axis];
        fits = shape[i] == 1 || shape[i] == sizes[i] || (some && repeats(i, shape[i], sizes[i]));
        axes[i] = !fits || shape[i] == 1 ? 0 : shape[i] == sizes[i] ? 1 : (int32_t)shape[i];
    }
    if (fits)
        return 0;
    npy_shape(4, sizes, of_scores);
    return npy_fault(a, f, "its shape %s does not fit %s of %s: want axes of 1 or of that size%s", a->axes, of_scores,
                     what, some ? "; of b and h also 2 to 9 that divide it" : "");
}

/* The same of an array with a cell for each score. */
static int broadcast_scores(const struct options *o, const struct npy *a, clattn_problem *p, int64_t shape[4],
                            int32_t axes[4], struct fault *f)
{
    const clattn_sizes *const z = &p->sizes;
    const int64_t sizes[4] = { z->b, z->h, z->nq, z->nk };
    const int status = broadcast(a, sizes, "the scores, [b,h,nq,nk]", o->repeat, shape, axes, f);
    p->flags |= status == 0 && (axes[0] > 1 || axes[1] > 1) ? CLATTN_REPEAT : 0;
    return status;
}

static int read_bias(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    struct npy a;
    if (!o->bias)
        return 0;
    if (floats_read("--bias", o->bias, &a, f) != 0)
        return -1;
    int status = broadcast_scores(o, &a, &c->problem, x->bias_shape, c->bias_axes, f);
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
    const int status = broadcast_scores(o, &a, &c->problem, x->mask_shape, c->mask_axes, f);
    if (status == 0) {
        c->problem.flags |= CLATTN_MASK;
        x->mask = a.data;
        a.data = NULL;
    }
    npy_free(&a);
    return status;
}

/* ---- Whether a block map is true of the mask beside it ---- */

enum { PROMISED = 2 };

/* The byte at [b,h,q,k] of an array whose axes of 1 are broadcast, and whose entries and heads may repeat. */
static unsigned char byte_at(const unsigned char *bytes, const int64_t shape[4], const int64_t at[4])
{
    int64_t index = 0;
    for (int axis = 0; axis < 4; axis++)
        index = index * shape[axis] + at[axis] % shape[axis];
    return bytes[index];
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Whether the mask keeps the whole block; *cell receives the first element that it drops. */
static int is_kept(const struct extras *x, const clattn_sizes *z, const int64_t block[4], int64_t cell[4])
{
    const int64_t q0 = block[2] * x->block_q, q1 = least(q0 + x->block_q, z->nq);
    const int64_t k0 = block[3] * x->block_k, k1 = least(k0 + x->block_k, z->nk);
    cell[0] = block[0];
    cell[1] = block[1];
    for (cell[2] = q0; cell[2] < q1; cell[2]++)
        for (cell[3] = k0; cell[3] < k1; cell[3]++)
            if (!byte_at(x->mask, x->mask_shape, cell))
                return 0;
    return 1;
}

/* A block of 2 says that the mask keeps all of it, and the library does not look: where that is wrong, what is dropped
 * depends on the tile. Returns 0, or -1 with `f` set to the first such block and the first element in it that the mask
 * drops. */
static int check_promises(const struct options *o, const clattn_sizes *z, const struct extras *x, struct fault *f)
{
    int64_t block[4], cell[4];
    /* Batch entries and heads that both arrays have in common are looked at once. */
    const int64_t b = x->block_shape[0] == 1 && x->mask_shape[0] == 1 ? least(z->b, 1) : z->b;
    const int64_t h = x->block_shape[1] == 1 && x->mask_shape[1] == 1 ? least(z->h, 1) : z->h;
    const int64_t rows = (z->nq + x->block_q - 1) / x->block_q, columns = (z->nk + x->block_k - 1) / x->block_k;
    if (!x->mask || !x->block_map)
        return 0;
    for (block[0] = 0; block[0] < b; block[0]++)
        for (block[1] = 0; block[1] < h; block[1]++)
            for (block[2] = 0; block[2] < rows; block[2]++)
                for (block[3] = 0; block[3] < columns; block[3]++)
                    if (byte_at(x->block_map, x->block_shape, block) == PROMISED && !is_kept(x, z, block, cell))
                        return fault_set(f, EXIT_USAGE,
                                         "--block-map: %s: block [%lld,%lld,%lld,%lld] is 2, which says that the mask "
                                         "keeps all of it, but --mask, %s, drops [%lld,%lld,%lld,%lld]",
                                         o->block_map, (long long)block[0], (long long)block[1], (long long)block[2],
                                         (long long)block[3], o->mask, (long long)cell[0], (long long)cell[1],
                                         (long long)cell[2], (long long)cell[3]);
    return 0;
}

/* ---- Block maps ---- */

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
    int status = broadcast(&a, sizes, "the blocks, [b,h,nq/BQ,nk/BK]", 0, x->block_shape, axes, f);
    if (status == 0) {
        x->block_map = a.data;
        a.data = NULL;
        status = check_promises(o, z, x, f);
    }
    npy_free(&a);
    return status;
}

int score_arrays_read(const struct options *o, clattn_workload *c, struct extras *x, struct fault *f)
{
    return read_bias(o, c, x, f) != 0 || read_mask(o, c, x, f) != 0 || read_block_map(o, c, x, f) != 0 ? -1 : 0;
}
