/* Load slot of engine `cpu`, storage = arithmetic type, on pages: rows of K and V are read where they lie, which is
 * found out once for each tile. */
typedef const __global cla_scalar *cla_row_ptr;
typedef struct {
    cla_row_ptr at[CLA_BK];
} cla_rows;
#define CLA_IN_PLACE 1
#define CLA_EVEN_ROWS 0
#define CLA_LOADS(x, width) \
    CLA_FN void cla_rows_##x(cla_rows *rows, const cla_env *e, int k0, int n) \
    { \
        CLA_NO_UNROLL for (int j = 0; j < n; j++) rows->at[j] = cla_##x##_row(e, k0 + j); \
    } \
    CLA_FN cla_row_ptr cla_row_##x(const cla_rows *rows, const cla_env *e, int k0, int j) { return rows->at[j]; }
