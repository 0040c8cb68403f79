/* Load slot of engine `simt`: four consecutive elements of a row, converted; elements past the width read as zero.
 * Element-aligned addresses suffice. */
typedef CLA_CAT(CLA_SCALAR, 4) cla_real4;
#define cla_real4_(x) CLA_CAT(CLA_CAT(convert_, CLA_SCALAR), 4)(x)

/* width is a constant: where it is a multiple of 4 only the first branch remains. */
#define CLA_LOAD4(loadn, load, row, c, width) \
    if ((c) + 4 <= (width)) return cla_real4_(loadn(4, (row) + (c))); \
    if ((width) % 4 == 0 || (c) >= (width)) return (cla_real4)(0); \
    return (cla_real4)(load((row) + (c)), (c) + 1 < (width) ? load((row) + (c) + 1) : 0, \
                       (c) + 2 < (width) ? load((row) + (c) + 2) : 0, 0);

CLA_FN cla_real4 cla_load4_q(const __global cla_q_elem *row, int c) { CLA_LOAD4(cla_loadn_q, cla_load_q, row, c, CLA_D) }
CLA_FN cla_real4 cla_load4_k(const __global cla_k_elem *row, int c) { CLA_LOAD4(cla_loadn_k, cla_load_k, row, c, CLA_D) }
CLA_FN cla_real4 cla_load4_v(const __global cla_v_elem *row, int c) { CLA_LOAD4(cla_loadn_v, cla_load_v, row, c, CLA_DV) }
