/* promises.c - whether a block map is true of the mask beside it
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/promises.h"

enum { PROMISED = 2 };

/* The byte at [b,h,q,k] of an array whose axes of 1 are broadcast. */
static unsigned char byte_at(const unsigned char *bytes, const int64_t shape[4], const int64_t at[4])
{
    int64_t index = 0;
    for (int axis = 0; axis < 4; axis++)
        index = index * shape[axis] + (shape[axis] == 1 ? 0 : at[axis]);
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

int promises_check(const struct options *o, const clattn_sizes *z, const struct extras *x, struct fault *f)
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
