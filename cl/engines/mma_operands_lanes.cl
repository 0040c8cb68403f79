/* How right operands lie in local memory where each lane has its own column of B, or its own part of it: NVIDIA's and
 * AMD's units. What a lane takes is one 16-byte read, or two where it has whole columns (CLA_MMA_WHOLE).
 *     Rows to multiply with, as K: as they are, but chunk c of a row lies at c ^ CLA_DOTTED_SWAP(row), where rows are
 *         whole multiples of 8 chunks: lanes that read at once read chunks of different rows
 *     Rows to add up, as V: DEPTH keys of a column side by side, by bytes of as many rows once per work-group. Chunk p
 *         of them has columns d = 8 (p % VC) + (p / VC) times 8 / DEPTH, and, of 4 keys, d + 1; it lies at
 *         p ^ CLA_SUMMED_SWAP(r) behind the other ones of rows DEPTH r ..
 * All 16-byte reads are free of bank conflicts then, 8 lanes at a time. */
#if CLA_MMA_DEPTH != 4 && CLA_MMA_DEPTH != 8
#error "Lanes have 4 or 8 elements of their columns."
#endif
/* Lanes that read at once: of NVIDIA's 4 parts of 2 columns, of AMD's 8 columns. */
#define CLA_PARTS_FIRST (CLA_MMA_APART == 1)
#define CLA_DOTTED_SWAP(row) (CLA_PARTS_FIRST ? 4 * ((row) & 1) : CLA_MMA_ROW((row) % CLA_MMA_N) & 7)
#define CLA_SWAPPED_ALIKE (CLA_PARTS_FIRST ? 2 : CLA_MMA_N) /* rows this far apart */
#define CLA_SUMMED_SWAP(r) (CLA_PARTS_FIRST ? 2 * ((r) & 3) : 0)

CLA_FN int cla_k_place(int row, int c, const int chunks)
{
    return row * chunks + (chunks % 8 ? c : c ^ CLA_DOTTED_SWAP(row));
}

/* Rows whose chunks an item turns into columns at once. */
#define CLA_TURNED CLA_MMA_DEPTH
/* (i * chunks + c) ^ swap, as an address that differs by a constant from i to i where a row has whole swaps of 8
 * chunks. */
CLA_FN int cla_v_chunk(int i, int c, int swap, const int chunks)
{
    return chunks % 8 ? (i * chunks + c) ^ swap : i * chunks + (c ^ swap);
}
/* Chunk c of rows CLA_TURNED * row .. of the tile. */
CLA_FN void cla_put_columns(__local uint4 *to, const uint4 *x, int row, int c, const int chunks)
{
#define CLA_LOWS(s, i) cla_low_halves(x[i].s, x[(i) + 1].s)
#define CLA_HIGHS(s, i) cla_high_halves(x[i].s, x[(i) + 1].s)
#define CLA_PUT_CHUNK(i, value) \
    to[row * CLA_MMA_DEPTH * chunks + cla_v_chunk(i, c, CLA_SUMMED_SWAP(row), chunks)] = value;
#define CLA_PUT_WORD CLA_CAT(CLA_PUT_WORD_, CLA_MMA_DEPTH)
#define CLA_PUT_WORD_4(s, i) \
    CLA_PUT_CHUNK(i, (uint4)(CLA_LOWS(s, 0), CLA_LOWS(s, 2), CLA_HIGHS(s, 0), CLA_HIGHS(s, 2)))
#define CLA_PUT_WORD_8(s, i) \
    CLA_PUT_CHUNK(2 * (i), (uint4)(CLA_LOWS(s, 0), CLA_LOWS(s, 2), CLA_LOWS(s, 4), CLA_LOWS(s, 6))) \
    CLA_PUT_CHUNK(2 * (i) + 1, (uint4)(CLA_HIGHS(s, 0), CLA_HIGHS(s, 2), CLA_HIGHS(s, 4), CLA_HIGHS(s, 6)))
    CLA_PUT_WORD(x, 0)
    CLA_PUT_WORD(y, 1)
    CLA_PUT_WORD(z, 2)
    CLA_PUT_WORD(w, 3)
}

/* What a lane reads at once: chunks of its own part, or of both if lanes have whole columns. */
#define CLA_READ_N (1 + CLA_MMA_WHOLE)
typedef uint4 cla_read;
#define CLA_FIRST_PART(part) (CLA_MMA_WHOLE ? 0 : (part))
/* Step h of it as an operand. */
#define CLA_RIGHT CLA_CAT(CLA_RIGHT_, CLA_MMA_WHOLE)
#define CLA_RIGHT_0(chunks, h) CLA_PART_OF((chunks)[0], h)
#define CLA_RIGHT_1(chunks, h) ((cla_right)((chunks)[0], (chunks)[1]))

/* Of the K keys that a lane's columns of D and its part of A are, in tile 0 of CLA_MMA_TILES. */
#define CLA_KEY_OF_COLUMN(x) (CLA_MMA_DEPTH * ((x) / CLA_MMA_COLUMNS) + (x) % CLA_MMA_COLUMNS)
/* c chunks behind `place`, which cla_k_place() gave for one of the first. */
#define CLA_STEPPED(place, c, chunks) ((chunks) % 8 ? (c) + (place) : 8 * ((c) / 8) + ((place) ^ (c) % 8))
/* Tile j of rows to multiply with, step d of their dims: the key that is this lane's column, chunk PARTS d + part. Its
 * place, in parts that step by constants. */
CLA_FN void cla_read_dotted(const __local uint4 *b, cla_read *to, int column, int part, int j, int d, const int chunks)
{
    const int place = cla_k_place(CLA_KEY_OF_COLUMN(column), CLA_FIRST_PART(part), chunks);
    const int first = (CLA_MMA_K * (j / CLA_MMA_TILES) + CLA_MMA_COLUMNS * (j % CLA_MMA_TILES)) * chunks;
    CLA_UNROLL for (int n = 0; n < CLA_READ_N; n++)
        to[n] = b[first + CLA_STEPPED(place, CLA_MMA_PARTS * d + n, chunks)];
}
/* Keys K j .. of rows to add up, tile h of their columns. */
CLA_FN void cla_read_summed(const __local uint4 *b, cla_read *to, int column, int part, int j, int h, const int chunks)
{
    const int all = CLA_MMA_DEPTH * chunks; /* of DEPTH rows */
    const int from = (CLA_MMA_PARTS * j + CLA_FIRST_PART(part)) * all + CLA_MMA_N * h +
                     (CLA_MMA_ROW(column) ^ CLA_SUMMED_SWAP(part));
    CLA_UNROLL for (int n = 0; n < CLA_READ_N; n++) to[n] = b[from + n * all];
}
