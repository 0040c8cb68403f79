/* Rows of K and V in integers whose scales and zero points are tensors of their own: the value of a code is
 * (code - zero) scale, each step rounded. Groups of CLA_K_GROUP (CLA_V_GROUP) elements share a scale and a zero point.
 * A row's handle is how far it, its scales and its zero points are from e->k, and from the beginning of their buffers,
 * and whether there is such a row: where a page is missing all three are read from zeros. */
#define CLA_GROUP_k CLA_K_GROUP
#define CLA_GROUP_v CLA_V_GROUP
#define CLA_COLUMNS_k CLA_D
#define CLA_COLUMNS_v CLA_DV
#define CLA_HAS_ZERO_k CLA_K_HAS_ZERO
#define CLA_HAS_ZERO_v CLA_V_HAS_ZERO
#define CLA_GROUP_OF(x, c) (CLA_GROUP_##x >= CLA_COLUMNS_##x ? 0 : (c) / CLA_GROUP_##x)
#define CLA_ROW_IS_THERE(row) ((row).s3 != 0)

/* Where zero points of operand x are, and a code without its own; likewise where there are none. */
#define CLA_ZERO_AT_0(x, e, at) 0
#define CLA_ZERO_AT_1(x, e, at) CLA_SCALE_AT(x##_zero, e, at)
#define CLA_LESS_ZERO_0(x, code, e, row, g, T, load) (code)
#define CLA_LESS_ZERO_1(x, code, e, row, g, T, load) ((code) - load(x##_zero, e, row, (row).s2, g, T))
#define CLA_ZERO_AT(x) CLA_CAT(CLA_ZERO_AT_, CLA_HAS_ZERO_##x)
#define CLA_LESS_ZERO(x) CLA_CAT(CLA_LESS_ZERO_, CLA_HAS_ZERO_##x)

#define CLA_SCALE_AT(name, e, at) \
    ((e)->a->name##_offset + (long)(e)->hk * (e)->a->name[1] + CLA_AT_IN_ALL(e, at, (e)->a->name[0], (e)->a->name[2]))
#define CLA_STEP_OF(name, e, row) (CLA_ROW_IS_THERE(row) ? (e)->a->name[3] : 0)
#define CLA_SCALES_OF(name, e, row, offset) \
    ((CLA_ROW_IS_THERE(row) ? (e)->at.name : (const __global float *)CLA_ZEROS(e)) + (offset))
/* The scale of group g; the scales of as many neighbouring groups as type T has elements. */
#define CLA_ONE_SCALE(name, e, row, offset, g, T) \
    CLA_SCALES_OF(name, e, row, offset)[(long)(g) * CLA_STEP_OF(name, e, row)]
#define CLA_SOME_SCALES(name, e, row, offset, g, T) \
    cla_scales_##T(CLA_SCALES_OF(name, e, row, offset), CLA_STEP_OF(name, e, row), g)
#define CLA_SCALES(n) \
    CLA_FN float##n cla_scales_float##n(const __global float *from, int step, int g) \
    { \
        if (step == 1) return vload##n(0, from + g); \
        float##n x = (float##n)(from[(long)g * step]); \
        if (step) \
            CLA_NO_UNROLL for (int i = 1; i < n; i++) ((float *)&x)[i] = from[(long)(g + i) * step]; \
        return x; \
    }
CLA_SCALES(2)
CLA_SCALES(4)
CLA_SCALES(8)
CLA_SCALES(16)

#define CLA_ROWS_scaled(x) \
    CLA_FN long4 cla_##x##_row(const cla_env *e, int k) \
    { \
        const cla_key at = cla_find(e, k); \
        if (!CLA_IS_THERE(at)) return (long4)(0); \
        return (long4)((long)CLA_AT(at, e->a->x.b, e->x##_stride), CLA_SCALE_AT(x##_scale, e, at), \
                       CLA_ZERO_AT(x)(x, e, at), 1); \
    } \
    CLA_FN const __global uchar *cla_##x##_codes_of(const cla_env *e, long4 row) \
    { \
        return (CLA_ROW_IS_THERE(row) ? e->x : (const __global uchar *)CLA_ZEROS(e)) + row.s0; \
    } \
    CLA_FN float cla_##x##_element(const cla_env *e, long4 row, int c) \
    { \
        const int g = CLA_GROUP_OF(x, c); \
        const float code = cla_code_##x(cla_##x##_codes_of(e, row), c); \
        return CLA_LESS_ZERO(x)(x, code, e, row, g, float, CLA_ONE_SCALE) * \
               CLA_ONE_SCALE(x##_scale, e, row, row.s1, g, float); \
    } \
    CLA_SCALED(x, 2) CLA_SCALED(x, 4) CLA_SCALED(x, 8) CLA_SCALED(x, 16)

/* n consecutive elements: with a scale each, with one for all, or some of each. */
#define CLA_SCALED(x, n) \
    CLA_FN float##n cla_##x##_elements_##n(const cla_env *e, long4 row, int c) \
    { \
        float##n y; \
        if (CLA_GROUP_##x == 1 || CLA_GROUP_##x >= CLA_COLUMNS_##x || c % n == 0) { \
            const int g = CLA_GROUP_OF(x, c); \
            const float##n codes = cla_codes_##x(n, cla_##x##_codes_of(e, row), c); \
            if (CLA_GROUP_##x == 1) \
                y = CLA_LESS_ZERO(x)(x, codes, e, row, g, float##n, CLA_SOME_SCALES) * \
                    CLA_SOME_SCALES(x##_scale, e, row, row.s1, g, float##n); \
            else \
                y = CLA_LESS_ZERO(x)(x, codes, e, row, g, float, CLA_ONE_SCALE) * \
                    CLA_ONE_SCALE(x##_scale, e, row, row.s1, g, float); \
        } else { \
            CLA_NO_UNROLL for (int i = 0; i < n; i++) ((float *)&y)[i] = cla_##x##_element(e, row, c + i); \
        } \
        return y; \
    }
#define cla_get_scaled(x, e, row, column) cla_##x##_element(e, row, column)
#define cla_getn_scaled(n, x, e, row, column) cla_##x##_elements_##n(e, row, column)
