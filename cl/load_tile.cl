/* Load slot of engine `cpu`, any storage: each tile of K, then of V, is converted once into private memory. Converting
 * at every broadcast instead costs 1.2 times (bf16) to 2.6 times (f16) as much as the whole kernel. */
/* Whole vectors, which are stored as such: by vstore it is in pieces. */
#define CLA_PITCH(width) CLA_ROUND_UP(width, CLA_W)
typedef struct {
    real x[CLA_BK * CLA_PITCH(CLA_MAX(CLA_D, CLA_DV)) / CLA_W];
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

CLA_FN void cla_rows_k(cla_rows *rows, const cla_env *e, int k0, int n)
{
    for (int j = 0; j < n; j++) {
        const cla_k_handle from = cla_k_row(e, k0 + j);
        real *to = rows->x + j * (CLA_PITCH(CLA_D) / CLA_W);
        CLA_CONVERT(k, CLA_D, to, e, from)
    }
}
CLA_FN void cla_rows_v(cla_rows *rows, const cla_env *e, int k0, int n)
{
    for (int j = 0; j < n; j++) {
        const cla_v_handle from = cla_v_row(e, k0 + j);
        real *to = rows->x + j * (CLA_PITCH(CLA_DV) / CLA_W);
        CLA_CONVERT(v, CLA_DV, to, e, from)
    }
}
CLA_FN cla_row_ptr cla_row_k(const cla_rows *rows, const cla_env *e, int k0, int j)
{
    return (const cla_scalar *)rows->x + j * CLA_PITCH(CLA_D);
}
CLA_FN cla_row_ptr cla_row_v(const cla_rows *rows, const cla_env *e, int k0, int j)
{
    return (const cla_scalar *)rows->x + j * CLA_PITCH(CLA_DV);
}
