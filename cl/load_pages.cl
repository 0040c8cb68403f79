/* Load slot of engine `cpu`, storage = arithmetic type, on pages: rows of K and V are read where they lie, which is
 * found out once for each tile. */
typedef const __global cla_scalar *cla_row_ptr;
typedef struct {
    cla_row_ptr at[CLA_BK];
} cla_rows;
CLA_FN void cla_rows_k(cla_rows *rows, const cla_env *e, int k0, int n)
{
    CLA_NO_UNROLL for (int j = 0; j < n; j++) rows->at[j] = cla_k_row(e, k0 + j);
}
CLA_FN void cla_rows_v(cla_rows *rows, const cla_env *e, int k0, int n)
{
    CLA_NO_UNROLL for (int j = 0; j < n; j++) rows->at[j] = cla_v_row(e, k0 + j);
}
CLA_FN cla_row_ptr cla_row_k(const cla_rows *rows, const cla_env *e, int k0, int j) { return rows->at[j]; }
CLA_FN cla_row_ptr cla_row_v(const cla_rows *rows, const cla_env *e, int k0, int j) { return rows->at[j]; }
