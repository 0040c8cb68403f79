/* How right operands lie in local memory where a wave reads its columns of B as one block, of N columns by K elements:
 * Intel's units. A block is 256 bytes, a column of it 32 bytes, which is 2 chunks.
 *     Rows to multiply with, as K: block (key / 8, dim / 16); its columns are keys
 *     Rows to add up, as V: block (key / 16, p / 8); its columns are columns of V, by bytes of two rows at a time.
 *         Column p has column 8 (p % VC) + p / VC, so that neighbours of a work-group store to neighbouring columns;
 *         where waves share rows (CLA_ROW_WAVES), of the columns of a share, one share behind the other */
#if CLA_MMA_N != 8 || CLA_MMA_K != 16 || CLA_MMA_DEPTH != 16
#error "Blocks are 8 columns of 16 elements."
#endif
#define CLA_SWAPPED_ALIKE 8 /* rows this far apart lie alike */
#define CLA_BLOCK_CHUNKS 16

CLA_FN int cla_k_place(int row, int c, const int chunks)
{
    return (row / 8 * (chunks / 2) + c / 2) * CLA_BLOCK_CHUNKS + row % 8 * 2 + c % 2;
}

/* p of column i of chunk c. */
CLA_FN int cla_column_number(int c, int i, const int chunks)
{
    const int own = chunks / CLA_ROW_WAVES;
    return c / own * (8 * own) + i * own + c % own;
}
/* 16 rows from `row` on of a column of rows to add up. */
CLA_FN __local uint *cla_column_place(__local uint4 *to, int row, int column, const int chunks)
{
    const int p = cla_column_number(column / 8, column % 8, chunks);
    return (__local uint *)to + (row / 16 * chunks + p / 8) * (4 * CLA_BLOCK_CHUNKS) + p % 8 * 8;
}

/* Rows whose chunks an item turns into columns at once. */
#define CLA_TURNED 2
/* Chunk c of rows CLA_TURNED * row .. of the tile. */
CLA_FN void cla_put_columns(__local uint4 *to, const uint4 *x, int row, int c, const int chunks)
{
    __local uint *const blocks = (__local uint *)to;
#define CLA_PUT_COLUMN(i, value) \
    { \
        const int p = cla_column_number(c, i, chunks); \
        blocks[(row / 8 * chunks + p / 8) * (4 * CLA_BLOCK_CHUNKS) + p % 8 * 8 + row % 8] = value; \
    }
#define CLA_PUT_COLUMNS(s, i) \
    CLA_PUT_COLUMN(2 * (i), cla_low_halves(x[0].s, x[1].s)) \
    CLA_PUT_COLUMN(2 * (i) + 1, cla_high_halves(x[0].s, x[1].s))
    CLA_PUT_COLUMNS(x, 0)
    CLA_PUT_COLUMNS(y, 1)
    CLA_PUT_COLUMNS(z, 2)
    CLA_PUT_COLUMNS(w, 3)
}

#define CLA_READ_N 1
typedef cla_right cla_read;
#define CLA_RIGHT(blocks, h) (blocks)[0]

/* Tile j of rows to multiply with, step d of their dims. */
CLA_FN void cla_read_dotted(const __local uint4 *b, cla_read *to, int column, int part, int j, int d, const int chunks)
{
    to[0] = cla_read_block(b + (j * (chunks / 2) + d) * CLA_BLOCK_CHUNKS);
}
/* Keys K j .. of rows to add up, tile h of their columns. */
CLA_FN void cla_read_summed(const __local uint4 *b, cla_read *to, int column, int part, int j, int h, const int chunks)
{
    to[0] = cla_read_block(b + (j * chunks + h) * CLA_BLOCK_CHUNKS);
}
