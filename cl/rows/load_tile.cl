/* Load slot of engine `cpu`, any storage: each tile of an operand is converted once into private memory. Converting
 * at every broadcast instead costs 1.2 times (bf16) to 2.6 times (f16) as much as the whole kernel. */
/* Whole vectors, which are stored as such: by vstore it is in pieces. */
#define CLA_TILE_ROWS (CLA_BACKWARD ? CLA_MAX(CLA_BK, CLA_W * CLA_NV) : CLA_BK) /* those of the largest tile */
#define CLA_PITCH(width) CLA_ROUND_UP(width, CLA_W)
typedef struct {
    real at[CLA_TILE_ROWS * CLA_PITCH(CLA_MAX(CLA_D, CLA_DV)) / CLA_W];
} cla_rows;
typedef const cla_scalar *cla_row_ptr;

/* The last columns of a ragged row come with some that are there already: one by one they would cost as much as all. */
#define CLA_CONVERT(x, width, to, e, from) \
    int d = 0; \
    CLA_UNROLL_BY(4) for (; d + CLA_W <= (width); d += CLA_W) (to)[d / CLA_W] = CLA_GET(x, e, from, d); \
    if ((width) % CLA_W != 0 && (width) > CLA_W) { \
        const real last = CLA_GET(x, e, from, (width) - CLA_W); \
        CLA_VECTOR(vstore)(last, 0, (cla_scalar *)(to) + (width) - CLA_W); \
    } else { \
        cla_scalar *at = (cla_scalar *)(to); \
        for (; d + 8 <= (width); d += 8) vstore8(cla_getn_##x(8, e, from, d), 0, at + d); \
        for (; d < (width); d++) at[d] = cla_get_##x(e, from, d); \
    }

#define CLA_IN_PLACE 0
#define CLA_EVEN_ROWS 1
#define CLA_LOADS(x, width) \
    CLA_FN void cla_rows_##x(cla_rows *rows, const cla_env *e, int k0, int n) \
    { \
        for (int j = 0; j < n; j++) { \
            const cla_##x##_handle from = cla_##x##_row(e, k0 + j); \
            real *to = rows->at + j * (CLA_PITCH(width) / CLA_W); \
            if (CLA_BACKWARD && (width) % CLA_W != 0) to[(width) / CLA_W] = (real)(0); /* is read whole there */ \
            CLA_CONVERT(x, width, to, e, from) \
        } \
    } \
    CLA_FN cla_row_ptr cla_row_##x(const cla_rows *rows, const cla_env *e, int k0, int j) \
    { \
        return (const cla_scalar *)rows->at + j * CLA_PITCH(width); \
    }
