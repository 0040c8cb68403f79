/* Load slot of engine `cpu`, any storage: each tile of K, then of V, is converted once into private memory. Converting
 * at every broadcast instead costs 1.2 times (bf16) to 2.6 times (f16) as much as the whole kernel. */
typedef struct {
    cla_scalar x[CLA_BK * CLA_MAX(CLA_D, CLA_DV)];
} cla_rows;
typedef const cla_scalar *cla_k_ptr;
typedef const cla_scalar *cla_v_ptr;

#define CLA_CONVERT(loadn, load, width, to, from) \
    int d = 0; \
    for (; d + 8 <= (width); d += 8) vstore8(CLA_CAT(convert_, CLA_CAT(CLA_SCALAR, 8))(loadn(8, (from) + d)), 0, (to) + d); \
    for (; d < (width); d++) (to)[d] = load((from) + d);

CLA_FN void cla_rows_k(cla_rows *rows, const cla_env *e, int k0, int n)
{
    for (int j = 0; j < n; j++) {
        const __global cla_k_elem *from = cla_k_row(e, k0 + j);
        cla_scalar *to = rows->x + j * CLA_D;
        CLA_CONVERT(cla_loadn_k, cla_load_k, CLA_D, to, from)
    }
}
CLA_FN void cla_rows_v(cla_rows *rows, const cla_env *e, int k0, int n)
{
    for (int j = 0; j < n; j++) {
        const __global cla_v_elem *from = cla_v_row(e, k0 + j);
        cla_scalar *to = rows->x + j * CLA_DV;
        CLA_CONVERT(cla_loadn_v, cla_load_v, CLA_DV, to, from)
    }
}
CLA_FN cla_k_ptr cla_row_k(const cla_rows *rows, const cla_env *e, int k0, int j) { return rows->x + j * CLA_D; }
CLA_FN cla_v_ptr cla_row_v(const cla_rows *rows, const cla_env *e, int k0, int j) { return rows->x + j * CLA_DV; }
