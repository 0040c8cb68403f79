/* Load slot of engine `simt`: four consecutive elements of a row as they are stored; elements past the width are zero.
 * What is on its way is converted when it is used: converting takes registers, and would wait for it.
 * Element-aligned addresses suffice. Where every row begins at a multiple of four elements (`wide`, of the whole
 * work-group alike) four are loaded at once: a compiler that must believe in less makes four loads. There is no such
 * test where hardware loads 16 bytes from any address (AMD) or any multiple of 4 (Intel's GPUs): it would only cost. */
typedef CLA_CAT(CLA_SCALAR, 4) cla_real4;
typedef CLA_CAT(cla_raw_, CLA_TQ) cla_raw_q;
typedef CLA_CAT(cla_raw_, CLA_TK) cla_raw_k;
typedef CLA_CAT(cla_raw_, CLA_TV) cla_raw_v;
typedef CLA_CAT(CLA_CAT(cla_raw_, CLA_TQ), 4) cla_raw4_q;
typedef CLA_CAT(CLA_CAT(cla_raw_, CLA_TK), 4) cla_raw4_k;
typedef CLA_CAT(CLA_CAT(cla_raw_, CLA_TV), 4) cla_raw4_v;

#if defined(__AMDGCN__)
#define CLA_LOADS_ANYWHERE(bytes) 1
#elif defined(cl_intel_required_subgroup_size)
#define CLA_LOADS_ANYWHERE(bytes) ((bytes) >= 4)
#else
#define CLA_LOADS_ANYWHERE(bytes) 0
#endif
#define CLA_WIDE_ROWS(raw, p, stride) \
    (CLA_LOADS_ANYWHERE(sizeof(raw)) || \
     ((uintptr_t)(p) | (uintptr_t)(stride) * sizeof(raw)) % (4 * sizeof(raw)) == 0)

/* within: whether the four elements surely lie within the width; a constant. One by one where rows are not wide, not by
 * vload4: two loads that differ in nothing but alignment become one again. */
#define CLA_LOAD4(raw, raw4, row, c, width, within, wide) \
    const __global raw *p = (const __global raw *)(row) + (c); \
    if ((within) || (c) + 4 <= (width)) { \
        if (CLA_LOADS_ANYWHERE(sizeof(raw))) return vload4(0, p); \
        if (wide) return *(const __global raw4 *)p; \
        return (raw4)(p[0], p[1], p[2], p[3]); \
    } \
    if ((width) % 4 == 0 || (c) >= (width)) return (raw4)(0); \
    return (raw4)(p[0], (c) + 1 < (width) ? p[1] : 0, (c) + 2 < (width) ? p[2] : 0, 0);

CLA_FN cla_raw4_q cla_load4_q(const cla_env *e, cla_q_handle row, int c, int within, int wide)
{
    CLA_LOAD4(cla_raw_q, cla_raw4_q, row, c, CLA_D, within, wide)
}
CLA_FN cla_raw4_k cla_load4_k(const cla_env *e, cla_k_handle row, int c, int within, int wide)
{
    CLA_LOAD4(cla_raw_k, cla_raw4_k, row, c, CLA_D, within, wide)
}
CLA_FN cla_raw4_v cla_load4_v(const cla_env *e, cla_v_handle row, int c, int within, int wide)
{
    CLA_LOAD4(cla_raw_v, cla_raw4_v, row, c, CLA_DV, within, wide)
}
