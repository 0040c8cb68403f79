/* block_map.c - block maps: which a call may use, and the arguments of making one
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/caller_struct.h"
#include "run/readers.h"

#include <string.h>

cl_int block_map_check(const clattn_problem *p, const clattn_forward_args *a, struct why *why)
{
    const bool given = p->flags & CLATTN_BLOCK_MAP;
    if (given && (a->block_q < 1 || a->block_k < 1 || a->block_q > ROWS_MAX || a->block_k > ROWS_MAX))
        INVALID("block_q %d, block_k %d: outside 1 to %d", (int)a->block_q, (int)a->block_k, ROWS_MAX);
    if (!given && (a->block_q || a->block_k))
        INVALID("block_q or block_k is given, but the problem has no block map");
    return CL_SUCCESS;
}

/* How many blocks of a map an axis has. */
static int64_t count_blocks(int64_t n, int32_t block)
{
    return (n + block - 1) / block;
}

struct tensor4_use block_map_use(const clattn_problem *p, const clattn_forward_args *a, const clattn_sizes *s,
                                 bool written)
{
    const bool given = p->flags & CLATTN_BLOCK_MAP;
    const int64_t q = given ? count_blocks(s->nq, a->block_q) : 0, k = given ? count_blocks(s->nk, a->block_k) : 0;
    const struct tensor4_use use = { "block_map", given, { s->b, s->h, q, k }, 1, written, NULL, false, false, false };
    return use;
}

/* A block that stands for several parts of the mask could not tell about all of them. */
static cl_int check_broadcast(const struct tensor4 *mask, const struct tensor4 *map, const struct tensor4_use *use,
                              struct why *why)
{
    static const char axis[] = "bhqk";
    for (int i = 0; i < 4; i++)
        if (map->shape[i] == 1 && use->extent[i] != 1 && mask->shape[i] != 1)
            INVALID("block_map.shape[%c] is 1, but the mask has %lld there", axis[i], (long long)mask->shape[i]);
    return CL_SUCCESS;
}

static void fill_map(struct arguments *to, const struct tensor4 *mask, const struct tensor4 *map,
                     const clattn_forward_args *a)
{
    to->mask = tensor4_place(mask);
    to->map = tensor4_place(map);
    for (int i = 0; i < 4; i++)
        to->map_shape[i] = (cla_i32)map->shape[i];
    to->mask_q = (cla_i32)mask->shape[2];
    to->mask_k = (cla_i32)mask->shape[3];
    to->block_q = a->block_q;
    to->block_k = a->block_k;
}

cl_int block_map_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    enum { BOTH = CLATTN_MASK | CLATTN_BLOCK_MAP };
    const clattn_problem *const p = plan->p;
    clattn_forward_args given;
    const clattn_forward_args *const a = &given;
    clattn_sizes s;
    struct tensor4 mask, map;
    cl_int status;
    if ((p->flags & BOTH) != BOTH)
        INVALID("the problem lacks CLATTN_MASK or CLATTN_BLOCK_MAP");
    if ((status = caller_struct_read(&given, sizeof given, in, "clattn_forward_args", why)) ||
        (status = call_sizes(&s, c, a->sizes, why)) || (status = block_map_check(p, a, why)))
        return status;
    const struct tensor4_use mask_use = call_use_of_mask(p, &s), map_use = block_map_use(p, a, &s, true);
    if ((status = tensor4_check(&a->mask, &mask_use, plan->context, &mask, why)) ||
        (status = tensor4_check(&a->block_map, &map_use, plan->context, &map, why)) ||
        (status = check_broadcast(&mask, &map, &map_use, why)))
        return status;
    c->mem[PARAM_MASK] = mask.mem;
    c->mem[PARAM_BLOCK_MAP] = map.mem;
    fill_map(&c->args, &mask, &map, a);
    /* Blocks lie apart in the map's buffer, so they are no more than it has bytes. Where there are blocks there are
     * cells: an axis without cells has no block, or check_broadcast() refused it. */
    uint64_t blocks = 1; /* wraps only where another axis has none */
    for (int i = 0; i < 4; i++)
        blocks *= (uint64_t)map.shape[i];
    c->args.blocks = (cla_i64)blocks;
    return CL_SUCCESS;
}
