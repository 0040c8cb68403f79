/* Load slot of engine `cpu`, storage = arithmetic type: rows of an operand are read where they lie. */
typedef int cla_rows;
typedef const __global cla_scalar *cla_row_ptr;
#define CLA_IN_PLACE 1
#define CLA_EVEN_ROWS 1
#define CLA_LOADS(x, width) \
    CLA_FN void cla_rows_##x(cla_rows *rows, const cla_env *e, int k0, int n) {} \
    CLA_FN cla_row_ptr cla_row_##x(const cla_rows *rows, const cla_env *e, int k0, int j) \
    { \
        return cla_##x##_row(e, k0 + j); \
    }
