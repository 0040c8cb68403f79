/* Makes a block map from a mask: one work-item for each block, and some to round up the grid. Where the mask is
 * broadcast along queries or keys, one cell serves the axis. */
__kernel void cla_block_map(const cla_args a, CLA_PARAMS)
{
    cla_pointers at;
    CLA_TAKE_PARAMS(at)
    size_t id = get_global_id(1) * get_global_size(0) + get_global_id(0);
    if (id >= (size_t)a.blocks) return;
    const int kb = id % a.map_shape[3], qb = (id /= a.map_shape[3]) % a.map_shape[2];
    const int h = (id /= a.map_shape[2]) % a.map_shape[1], b = id / a.map_shape[1];
    const int q0 = a.mask_q == 1 ? 0 : qb * a.block_q, k0 = a.mask_k == 1 ? 0 : kb * a.block_k;
    const int q1 = min(a.mask_q - q0, a.block_q) + q0, k1 = min(a.mask_k - k0, a.block_k) + k0;
    const __global uchar *mask =
        at.mask + (a.mask.offset + b % a.mask.entries * a.mask.b + h % a.mask.heads * a.mask.h);
    int some = 0, all = 1;
    for (int q = q0; q < q1 && !(some && !all); q++)
        for (int k = k0; k < k1; k++) {
            const int keep = mask[q * a.mask.q + k * a.mask.k] != 0;
            some |= keep;
            all &= keep;
        }
    at.block_map[a.map.offset + b * a.map.b + h * a.map.h + qb * a.map.q + kb * a.map.k] = some ? 1 + all : 0;
}
