/* Load slot of engine `simt`: four consecutive elements of a row as they are stored; elements past the width are zero.
 * What is on its way is converted when it is used: converting takes registers, and would wait for it.
 * Element-aligned addresses suffice. Where every row begins at a multiple of four elements (`wide`, of the whole
 * work-group alike) four are loaded at once: a compiler that must believe in less makes four loads. There is no such
 * test where CLA_LOADS_ANYWHERE() is 1: it would only cost. */
typedef CLA_CAT(CLA_SCALAR, 4) cla_real4;
#define CLA_RAW_q CLA_CAT(cla_raw_, CLA_TQ)
#define CLA_RAW_k CLA_CAT(cla_raw_, CLA_TK)
#define CLA_RAW_v CLA_CAT(cla_raw_, CLA_TV)
#define CLA_RAW_dout CLA_CAT(cla_raw_, CLA_TQ)
#define CLA_RAW4_plain(x) CLA_CAT(CLA_RAW_##x, 4)
#define CLA_RAW4_scaled(x) uint4
#define CLA_RAW4_blocks(x) CLA_CAT(CLA_RAW4_BLOCKS_, CLA_HAS_LEAST_##x)
#define CLA_RAW4_BLOCKS_0 uint2
#define CLA_RAW4_BLOCKS_1 uint4
#define CLA_HAS_LEAST_k CLA_CAT(CLA_HAS_LEAST_, CLA_TK)
#define CLA_HAS_LEAST_v CLA_CAT(CLA_HAS_LEAST_, CLA_TV)
typedef CLA_RAW4_plain(q) cla_raw4_q;
typedef CLA_RAW4_plain(dout) cla_raw4_dout;
typedef CLA_CAT(CLA_RAW4_, CLA_STORAGE_k)(k) cla_raw4_k;
typedef CLA_CAT(CLA_RAW4_, CLA_STORAGE_v)(v) cla_raw4_v;

#define CLA_QUAD_BYTES_k CLA_CAT(CLA_QUAD_BYTES_, CLA_TK)
#define CLA_QUAD_BYTES_v CLA_CAT(CLA_QUAD_BYTES_, CLA_TV)
#define CLA_WIDE_ROWS(p, steps, bytes) (((uintptr_t)(p) | (uintptr_t)(steps)) % (bytes) == 0)
#define CLA_IS_WIDE_plain(x, p, steps) \
    (CLA_LOADS_ANYWHERE(sizeof(CLA_RAW_##x)) || \
     CLA_WIDE_ROWS(p, (uintptr_t)(steps) * sizeof(CLA_RAW_##x), 4 * sizeof(CLA_RAW_##x)))
#define CLA_IS_WIDE_scaled(x, p, steps) CLA_WIDE_ROWS(p, steps, CLA_QUAD_BYTES_##x)
#define CLA_IS_WIDE_blocks(x, p, steps) 1
/* Whether all rows are. */
#define CLA_ALL_WIDE(e) \
    (CLA_IS_WIDE_plain(q, (e)->q, cla_q_steps(e)) && \
     CLA_CAT(CLA_IS_WIDE_, CLA_STORAGE_k)(k, cla_k_base(e), cla_k_steps(e)) && \
     CLA_CAT(CLA_IS_WIDE_, CLA_STORAGE_v)(v, cla_v_base(e), cla_v_steps(e)))

/* within: whether the four elements surely lie within the width; a constant. One by one where rows are not wide, not by
 * vload4: two loads that differ in nothing but alignment become one again. */
#define CLA_LOADS_plain(x, width) \
    CLA_FN cla_raw4_##x cla_load4_##x(const cla_env *e, cla_##x##_handle row, int c, int within, int wide) \
    { \
        const __global CLA_RAW_##x *p = (const __global CLA_RAW_##x *)row + c; \
        if (within || c + 4 <= (width)) { \
            if (CLA_LOADS_ANYWHERE(sizeof(CLA_RAW_##x))) return vload4(0, p); \
            if (wide) return *(const __global cla_raw4_##x *)p; \
            return (cla_raw4_##x)(p[0], p[1], p[2], p[3]); \
        } \
        if ((width) % 4 == 0 || c >= (width)) return (cla_raw4_##x)(0); \
        return (cla_raw4_##x)(p[0], c + 1 < (width) ? p[1] : 0, c + 2 < (width) ? p[2] : 0, 0); \
    } \
    CLA_FN cla_real4 cla_unpack4_##x(cla_raw4_##x raw) { return CLA_UNPACK4_##x(raw); }
#define CLA_UNPACK4_q CLA_CAT(cla_unpack4_, CLA_TQ)
#define CLA_UNPACK4_dout CLA_CAT(cla_unpack4_, CLA_TQ)
#define CLA_UNPACK4_k CLA_CAT(cla_unpack4_, CLA_TK)
#define CLA_UNPACK4_v CLA_CAT(cla_unpack4_, CLA_TV)

/* Of quantised rows the codes of four elements, their scale and their zero point; values where each element has its
 * own, or where a row does not end with a whole four. */
#define CLA_MOVES_VALUES(x) (CLA_GROUP_##x == 1 || CLA_COLUMNS_##x % 4 != 0)
#define CLA_LOADS_scaled(x, width) \
    CLA_FN uint4 cla_load4_##x(const cla_env *e, long4 row, int c, int within, int wide) \
    { \
        if (!within && c + 4 > (width) && ((width) % 4 == 0 || c >= (width))) return (uint4)(0); \
        if (CLA_MOVES_VALUES(x)) { \
            float4 y = (float4)(0); \
            CLA_UNROLL for (int i = 0; i < 4; i++) \
                if (within || c + i < (width)) ((float *)&y)[i] = cla_##x##_element(e, row, c + i); \
            return as_uint4(y); \
        } \
        const int g = CLA_GROUP_OF(x, c); \
        return (uint4)(cla_quad_##x(cla_##x##_codes_of(e, row), c, wide), \
                       as_uint(CLA_ONE_SCALE(x##_scale, e, row, row.s1, g, float)), \
                       as_uint(CLA_RAW_ZERO(x)(x, e, row, g)), 0); \
    } \
    CLA_FN float4 cla_unpack4_##x(uint4 raw) \
    { \
        if (CLA_MOVES_VALUES(x)) return as_float4(raw); \
        return (cla_of_quad_##x(raw.s0) - as_float(raw.s2)) * as_float(raw.s1); \
    }
#define CLA_RAW_ZERO(x) CLA_CAT(CLA_RAW_ZERO_, CLA_HAS_ZERO_##x)
#define CLA_RAW_ZERO_0(x, e, row, g) 0.0f
#define CLA_RAW_ZERO_1(x, e, row, g) CLA_ONE_SCALE(x##_zero, e, row, (row).s2, g, float)

/* Blocks are whole fours. Some have a least element beside their scale. */
#define CLA_LOADS_blocks(x, width) CLA_CAT(CLA_LOADS_BLOCKS_, CLA_HAS_LEAST_##x)(x, width)
#define CLA_LOADS_BLOCKS_0(x, width) \
    CLA_FN uint2 cla_load4_##x(const cla_env *e, cla_##x##_handle row, int c, int within, int wide) \
    { \
        if (!within && c >= (width)) return (uint2)(0); \
        return (uint2)(cla_quad_##x(row, c), as_uint(cla_scale_##x(row, c))); \
    } \
    CLA_FN float4 cla_unpack4_##x(uint2 raw) { return cla_of_quad_##x(raw.s0) * as_float(raw.s1); }
#define CLA_LOADS_BLOCKS_1(x, width) \
    CLA_FN uint4 cla_load4_##x(const cla_env *e, cla_##x##_handle row, int c, int within, int wide) \
    { \
        if (!within && c >= (width)) return (uint4)(0); \
        return (uint4)(cla_quad_##x(row, c), as_uint(cla_scale_##x(row, c)), as_uint(cla_least_##x(row, c)), 0); \
    } \
    CLA_FN float4 cla_unpack4_##x(uint4 raw) \
    { \
        return cla_of_quad_##x(raw.s0) * as_float(raw.s1) + as_float(raw.s2); \
    }

CLA_LOADS_plain(q, CLA_D)
CLA_CAT(CLA_LOADS_, CLA_STORAGE_k)(k, CLA_D)
CLA_CAT(CLA_LOADS_, CLA_STORAGE_v)(v, CLA_DV)
