/* Load slot of engine `simt`: four consecutive elements of a row, converted; elements past the width read as zero.
 * Element-aligned addresses suffice. Where every row begins at a multiple of four elements (`wide`, of the whole group
 * alike) four are loaded at once: a compiler that must believe in less makes four loads. AMD's devices load from any
 * address; a test would only cost there. */
typedef CLA_CAT(CLA_SCALAR, 4) cla_real4;
#define cla_real4_(x) CLA_CAT(CLA_CAT(convert_, CLA_SCALAR), 4)(x)

#ifdef __AMDGCN__
#define CLA_WIDE_ROWS(p, stride) 1
#define CLA_LOAD_WIDE(loada4, loadn, p) loadn(4, p)
#else
#define CLA_WIDE_ROWS(p, stride) (((uintptr_t)(p) | (uintptr_t)(stride) * sizeof *(p)) % (4 * sizeof *(p)) == 0)
#define CLA_LOAD_WIDE(loada4, loadn, p) loada4(p)
#endif

/* width is a constant: where it is a multiple of 4 only the first branch remains. One by one, not by loadn: two loads that
 * differ in nothing but alignment become one again. */
#define CLA_LOAD4(loada4, loadn, load, row, c, width, wide) \
    if ((c) + 4 <= (width)) { \
        if (wide) return cla_real4_(CLA_LOAD_WIDE(loada4, loadn, (row) + (c))); \
        return (cla_real4)(load((row) + (c)), load((row) + (c) + 1), load((row) + (c) + 2), load((row) + (c) + 3)); \
    } \
    if ((width) % 4 == 0 || (c) >= (width)) return (cla_real4)(0); \
    return (cla_real4)(load((row) + (c)), (c) + 1 < (width) ? load((row) + (c) + 1) : 0, \
                       (c) + 2 < (width) ? load((row) + (c) + 2) : 0, 0);

CLA_FN cla_real4 cla_load4_q(const __global cla_q_elem *row, int c, int wide)
{
    CLA_LOAD4(cla_loada4_q, cla_loadn_q, cla_load_q, row, c, CLA_D, wide)
}
CLA_FN cla_real4 cla_load4_k(const __global cla_k_elem *row, int c, int wide)
{
    CLA_LOAD4(cla_loada4_k, cla_loadn_k, cla_load_k, row, c, CLA_D, wide)
}
CLA_FN cla_real4 cla_load4_v(const __global cla_v_elem *row, int c, int wide)
{
    CLA_LOAD4(cla_loada4_v, cla_loadn_v, cla_load_v, row, c, CLA_DV, wide)
}
