/* parts.h - how keys are cut into parts, and how many items merge them; compiled by host and kernels, behind args.h
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CLA_PARTS_H
#define CLA_PARTS_H
#ifndef CLA_FN /* on the host: kernels have it from compilers.cl */
#define CLA_FN static inline
#endif

/* Keys of a part, at most, where rows see `keys` of them: whole tiles, and no fewer than `least`. */
CLA_FN cla_i32 cla_part_keys(cla_i32 keys, cla_i32 parts, cla_i32 least, cla_i32 tile)
{
    const cla_i32 even = (keys + parts - 1) / parts, n = even < least ? least : even;
    return (n + tile - 1) / tile * tile;
}

/* Items that share the parts of a row: as many, a power of two, as leave each at least two parts. `most` is 1 where a
 * row's bits must not depend on how many parts other rows have. */
CLA_FN cla_i32 cla_lanes(cla_i32 parts, cla_i32 most)
{
    cla_i32 lanes = 1;
    for (cla_i32 n = 2; n <= most; n *= 2)
        lanes = parts >= 2 * n ? n : lanes;
    return lanes;
}

#endif
