/* Load slot of engine `cpu`, storage = arithmetic type: rows of K and V are read where they lie. */
typedef int cla_rows;
typedef const __global cla_scalar *cla_row_ptr;
CLA_FN void cla_rows_k(cla_rows *rows, const cla_env *e, int k0, int n) {}
CLA_FN void cla_rows_v(cla_rows *rows, const cla_env *e, int k0, int n) {}
CLA_FN cla_row_ptr cla_row_k(const cla_rows *rows, const cla_env *e, int k0, int j) { return cla_k_row(e, k0 + j); }
CLA_FN cla_row_ptr cla_row_v(const cla_rows *rows, const cla_env *e, int k0, int j) { return cla_v_row(e, k0 + j); }
