/* Rows of K and V that are blocks with their scales inside: a row's handle is where its first byte lies. A block of
 * zeros has zeros. */
#define CLA_ROWS_blocks(x) CLA_ROWS_plain(x) CLA_BLOCKS(x, 2) CLA_BLOCKS(x, 4) CLA_BLOCKS(x, 8) CLA_BLOCKS(x, 16)
#define cla_get_blocks(x, e, row, column) cla_value_##x(row, column)
#define cla_getn_blocks(n, x, e, row, column) cla_##x##_elements_##n(row, column)
#define CLA_BLOCKS(x, n) \
    CLA_FN float##n cla_##x##_elements_##n(const __global uchar *row, int c) \
    { \
        return cla_values_##x(n, row, c); \
    }
