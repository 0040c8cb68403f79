/* A map with a byte for each block of queries and keys: 0 drops the block, 2 keeps all of it, else see the mask. A
 * row is a query: heads are not packed. */
CLA_FN const __global uchar *cla_blocks(const cla_env *e)
{
    const cla_args *a = e->a;
    return e->at.block_map + (a->map.offset + e->b * a->map.b + e->h * a->map.h);
}
CLA_FN uchar cla_block(const cla_env *e, int q, int k)
{
    const cla_args *a = e->a;
    return cla_blocks(e)[q / a->block_q * a->map.q + k / a->block_k * a->map.k];
}

/* The smallest and the largest byte of the blocks that hold queries [q0, q1) and keys [k0, k1). */
CLA_FN void cla_block_range(const cla_env *e, int q0, int q1, int k0, int k1, int *least, int *most)
{
    const int bq = e->a->block_q, bk = e->a->block_k;
    *least = 255;
    *most = 0;
    CLA_NO_UNROLL for (int q = q0; q < q1; q = (q / bq + 1) * bq)
        CLA_NO_UNROLL for (int k = k0; k < k1; k = (k / bk + 1) * bk) {
            const int x = cla_block(e, q, k);
            *least = min(*least, x);
            *most = max(*most, x);
        }
}

CLA_FN int cla_blocks_begin(const cla_env *e, int q0, int q1) { return 0; }
CLA_FN int cla_blocks_end(const cla_env *e, int q0, int q1) { return e->k_end; }
CLA_FN int cla_blocks_next(const cla_env *e, int q0, int q1, int k, int end)
{
    int least, most;
    CLA_NO_UNROLL for (; k < end; k = (k / e->a->block_k + 1) * e->a->block_k) {
        cla_block_range(e, q0, q1, k, k + 1, &least, &most);
        if (most) break;
    }
    return min(k, end);
}
/* Keys of the tile past the last one are dropped elsewhere. */
CLA_FN int cla_blocks_full(const cla_env *e, int q0, int q1, int k0, int k1)
{
    int least, most;
    cla_block_range(e, q0, q1, k0, min(k1, e->k_end), &least, &most);
    return least > 0;
}
/* A tile that is no larger than a block never comes here, unless it lies across. */
CLA_FN void cla_blocks_drop(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    CLA_EACH_ELEMENT(t, k0, n)
        integer keep;
        /* Unrolled: Intel's compiler drops lanes that a loop writes by number (doc/intel). */
        CLA_UNROLL for (int i = 0; i < CLA_WIDTH; i++)
            CLA_LANE(keep, CLA_INTEGER, i) =
                cla_block(e, min(CLA_SQUARE_Q + i * CLA_ROW_STEP, cla_last(e->nq)),
                          min(CLA_SQUARE_K + i * CLA_KEY_STEP, cla_last(e->a->nk)));
        CLA_ELEMENT = keep != (integer)(0) ? CLA_ELEMENT : (real)(-INFINITY);
    CLA_END_ELEMENT
}

/* What the map says of the mask. */
CLA_FN int cla_mask_is_full(const cla_env *e, int q0, int q1, int k0, int k1)
{
    int least, most;
    cla_block_range(e, q0, q1, k0, min(k1, e->k_end), &least, &most);
    return least == 2 && most == 2;
}
