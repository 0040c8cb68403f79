/* What the passes of engines with matrix units share: a tile's geometry, how operands lie, and its two products. A
 * matrix unit multiplies what lies in registers, in f16 or bf16 as it is stored; mma_unit.cl says what it provides, and
 * this file knows no more of it. A work-group of NW waves has BQ rows of its own and goes over the others in tiles of
 * BK, its columns; a wave owns RT tiles of M rows. Rows are queries and columns keys where a work-group owns queries,
 * and the names here are those of that case.
 *
 * Of each M x N tile of S or O a lane has R rows (CLA_MMA_ROWS) and C columns (CLA_MMA_COLUMNS) from C part on.
 * G is CLA_MMA_DEPTH, 4 or 8.
 *     row of slot r = first + M RT wave + its first + M / R r   s[j * R_N + r], j = C n + i: column i of tile n
 *     key of slot j = k0 + K (j / G) + G part + j % G           o[((row tile * width / N + n) * R + r % R) * C + i]
 *
 * Every operand is an aligned pair or quad of one 16-byte load (a chunk, 8 elements), so that nothing moves registers:
 * a lane owns dims 8 part .. of each 8 PARTS of Q and K, which renames the dims of both alike, and keys and columns
 * have the names above. P is in registers as it comes: the layout of S is that of a left operand. That takes units
 * whose lanes have 4 or 8 of a row's K elements (CLA_MMA_DEPTH); a chunk feeds two instructions, or one.
 *     Rows to multiply with, as K: as they are, but chunk c of a row lies at c ^ CLA_DOTTED_SWAP(row), where rows are
 *         whole multiples of 8 chunks: lanes that read at once read chunks of different rows
 *     Rows to add up, as V: DEPTH keys of a column side by side, by bytes of as many rows once per work-group. Chunk p
 *         of them has columns d = 8 (p % VC) + (p / VC) times 8 / G, and, of 4 keys, d + 1; it lies at
 *         p ^ CLA_SUMMED_SWAP(r) behind the other ones of rows DEPTH r ..
 *     Rows that are owned, as Q: registers (QREG 1), or local memory where each item reads what it wrote, or what items
 *         of its wave did (CLA_MMA_WHOLE), behind a barrier
 * By NVIDIA's and AMD's lanes all 16-byte reads are free of bank conflicts then, 8 lanes at a time. */
#if CLA_MMA_PARTS * CLA_MMA_DEPTH != CLA_MMA_K || (CLA_MMA_DEPTH != 4 && CLA_MMA_DEPTH != 8) || CLA_MMA_ROWS > 2 || \
    CLA_MMA_COLUMNS % 2 || CLA_MMA_TILES < 1 || (CLA_MMA_APART != 1 && CLA_MMA_TILES > 1) || \
    (CLA_MMA_WHOLE && CLA_MMA_PARTS != 2)
#error "Operands lie otherwise than this matrix unit takes them: it needs products of its own."
#endif
#define CLA_LANES (CLA_WAVE * CLA_NW)
#define CLA_BQ (CLA_MMA_M * CLA_RT * CLA_NW)
#define CLA_R_N (CLA_MMA_ROWS * CLA_RT)
#define CLA_COLUMNS_N (CLA_BK / CLA_MMA_PARTS) /* of a tile, that a lane has */
#define CLA_COLS(n) CLA_COLUMNS_N
#define CLA_COVERED(n) CLA_BK
#define CLA_S_N (CLA_COLUMNS_N * CLA_R_N)
#define CLA_ROUNDS(chunks) (((chunks) + CLA_LANES - 1) / CLA_LANES)
#define CLA_UNROLL_COLS CLA_UNROLL
#define CLA_UNROLL_ROWS CLA_UNROLL
/* Dims that are multiplied come a chunk for each lane of a row, columns that are summed a chunk for each of B. */
#define CLA_CHUNK_STEPS (8 / CLA_MMA_DEPTH) /* instructions that a chunk feeds; columns of one to add up */
#define CLA_DOTTED_STEP (8 * CLA_MMA_PARTS)
#define CLA_SUMMED_STEP (CLA_CHUNK_STEPS * CLA_MMA_N)
/* Lanes that read at once: of NVIDIA's 4 parts of 2 columns, of AMD's 8 columns. */
#define CLA_PARTS_FIRST (CLA_MMA_APART == 1)
#define CLA_DOTTED_SWAP(row) (CLA_PARTS_FIRST ? 4 * ((row) & 1) : CLA_MMA_ROW((row) % CLA_MMA_N) & 7)
#define CLA_SWAPPED_ALIKE (CLA_PARTS_FIRST ? 2 : CLA_MMA_N) /* rows this far apart */
#define CLA_SUMMED_SWAP(r) (CLA_PARTS_FIRST ? 2 * ((r) & 3) : 0)
#define CLA_DOTTED(width) CLA_ROUND_UP(width, CLA_DOTTED_STEP)
#define CLA_SUMMED(width) CLA_ROUND_UP(width, CLA_SUMMED_STEP)
#define CLA_OF_TILE(width) (CLA_SUMMED(width) / CLA_MMA_N * CLA_MMA_OF_D) /* sums of an item, of a tile of rows */
#define CLA_SUMS_N(width) (CLA_RT * CLA_OF_TILE(width))
/* Where sums lie: column i of tile n, from the first of the row on; the first of row slot r. */
#define CLA_SUM_OF(n, i) (CLA_MMA_OF_D * (n) + (i))
#define CLA_SUMS_OF_ROW(r, of_tile) ((r) / CLA_MMA_ROWS * (of_tile) + CLA_MMA_COLUMNS * ((r) % CLA_MMA_ROWS))
/* The columns of O or of a gradient that column x of the tiles of chunk h is: the first of CLA_CHUNK_STEPS. */
#define CLA_COLUMN_OF(t, h, x, chunks) \
    CLA_COLUMN_OF_CHUNK(CLA_MMA_N * (h) + CLA_MMA_ROW(CLA_MMA_COLUMNS * (t)->part + (x)), chunks)
#define CLA_COLUMN_OF_CHUNK(p, chunks) (8 * ((p) % (chunks)) + CLA_CHUNK_STEPS * ((p) / (chunks)))

#define CLA_MMA_STEPS(width) (CLA_DOTTED(width) / CLA_MMA_K)
#define CLA_ROWS_N(width) (CLA_QREG ? CLA_RT * CLA_MMA_STEPS(width) : 1) /* owned rows in registers, if there */

/* What else the pass has. */
#define CLA_TILE_OF_PASS_0 \
    int same;    /* whether no maximum rose in this tile: every f is 1 */ \
    int k_place; /* of this item's first chunk of K, where CLA_LIKE_ROWS */ \
    __local uint4 *q, *k, *v; \
    cla_left qr[CLA_ROWS_N(CLA_D)]; \
    uint4 moved[CLA_STAGED]; /* on their way */
#define CLA_TILE_OF_PASS_1 \
    int own_end, turn; /* behind the last row; which buffer was stored to last */ \
    cla_scalar slope;  /* the gradient of a head's, as far as this item has added it up */ \
    __local uint4 *owned_1, *owned_2, *others, *other_1, *other_2; \
    __local cla_scalar *m, *p; /* L and D; dS of a tile, where a bias has a gradient */ \
    cla_left owned_1r[CLA_ROWS_N(CLA_D)], owned_2r[CLA_ROWS_N(CLA_DV)]; \
    uint4 moved[CLA_MAX(CLA_MOVED(CLA_D), CLA_MOVED(CLA_DV))]; \
    real sum_1[CLA_SUMS_N(CLA_D)], sum_2[CLA_SUMS_N(CLA_DV)], room_1[CLA_R_N], room_2[CLA_R_N];
#define CLA_TO_DOT(width) CLA_ROUNDS(CLA_BK * CLA_DOTTED(width) / 8)
#define CLA_TO_SUM(width) (CLA_MMA_DEPTH * CLA_ROUNDS(CLA_BK / CLA_MMA_DEPTH * CLA_SUMMED(width) / 8))
#define CLA_MOVED(width) CLA_MAX(CLA_TO_DOT(width), CLA_TO_SUM(width))
#define CLA_STAGED CLA_MAX(CLA_TO_DOT(CLA_D), CLA_TO_SUM(CLA_DV))

typedef struct {
    int item, column, part; /* its column of B, and which part of rows it has (mma_unit.cl) */
    int first, end;         /* first row; behind the last key */
    int wide;                   /* whether 8 elements can be loaded at once */
    float scale;                /* of scores */
    cla_warp warp;
    __local int *seen; /* whether some query sees a key of the tile */
    CLA_CAT(CLA_TILE_OF_PASS_, CLA_BACKWARD)
} cla_tile;

CLA_FN int cla_slot_row(const cla_tile *t, int r)
{
    return t->first + t->item / CLA_WAVE * (CLA_MMA_M * CLA_RT) + CLA_MMA_ROW(t->column) + CLA_MMA_M / CLA_MMA_ROWS * r;
}
CLA_FN int cla_slot_k(const cla_tile *t, int k0, int j)
{
    return k0 + CLA_MMA_K * (j / CLA_MMA_DEPTH) + CLA_MMA_DEPTH * t->part + j % CLA_MMA_DEPTH;
}

/* ---- From global memory ---- */

/* Elements c .. c + 7 of a row; those past the width are zero. */
CLA_FN uint4 cla_load8(const __global ushort *row, int c, int width, int wide)
{
    if (wide && c + 8 <= width) return *(const __global uint4 *)(row + c);
    uint x[8];
    CLA_UNROLL for (int i = 0; i < 8; i++) x[i] = c + i < width ? row[c + i] : 0;
    return (uint4)(x[0] | x[1] << 16, x[2] | x[3] << 16, x[4] | x[5] << 16, x[6] | x[7] << 16);
}

/* `rows` x `chunks` of 16 bytes: this item's row and chunk in round n. Where the items of a work-group make whole rows,
 * its chunk is always the same. */
#define CLA_WHOLE_ROWS(chunks) (CLA_LANES % (chunks) == 0)
#define CLA_EACH_CHUNK(rows, chunks) \
    CLA_UNROLL for (int n = 0; n < CLA_ROUNDS((rows) * (chunks)); n++) { \
        const int at = t->item + n * CLA_LANES; \
        const int row = CLA_WHOLE_ROWS(chunks) ? t->item / (chunks) + n * (CLA_LANES / (chunks)) : at / (chunks); \
        const int c = CLA_WHOLE_ROWS(chunks) ? t->item % (chunks) : at % (chunks); \
        if ((rows) * (chunks) % CLA_LANES == 0 || at < (rows) * (chunks)) {
#define CLA_END_CHUNK }}

/* ---- In local memory ---- */

CLA_FN int cla_k_place(int row, int c, const int chunks)
{
    return row * chunks + (chunks % 8 ? c : c ^ CLA_DOTTED_SWAP(row));
}
/* (i * chunks + c) ^ swap, as an address that differs by a constant from i to i where a row has whole swaps of 8
 * chunks. */
CLA_FN int cla_v_chunk(int i, int c, int swap, const int chunks)
{
    return chunks % 8 ? (i * chunks + c) ^ swap : i * chunks + (c ^ swap);
}
/* Chunk c of CLA_MMA_DEPTH rows, which are row `row` of the tile. */
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

/* Engines count it among their barriers: the others stand there. */
#define CLA_BARRIER_CLEARED barrier(CLK_LOCAL_MEM_FENCE);
/* Marks the keys that some row of the work-group sees: those whose element is not `nothing`. */
CLA_FN void cla_mark(cla_tile *t, const real *s, cla_scalar nothing)
{
    for (int i = t->item; i < CLA_BK; i += CLA_LANES) t->seen[i] = 0;
    CLA_BARRIER_CLEARED
    CLA_UNROLL for (int j = 0; j < CLA_COLUMNS_N; j++) {
        int seen = 0;
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) seen |= s[j * CLA_R_N + r] != nothing;
        if (seen) atomic_or(t->seen + cla_slot_k(t, 0, j), 1);
    }
}

/* ---- Products ---- */

/* Step h of a chunk: the part of K elements that a lane has. */
#define CLA_PART_OF CLA_CAT(CLA_PART_OF_, CLA_MMA_DEPTH)
#define CLA_PART_OF_4(chunk, h) ((h) ? (chunk).zw : (chunk).xy)
#define CLA_PART_OF_8(chunk, h) (chunk)
/* B of it, from the chunks of the parts that a lane has: its own, or both if lanes have whole columns. */
#define CLA_FIRST_PART(t) (CLA_MMA_WHOLE ? 0 : (t)->part)
#define CLA_RIGHT CLA_CAT(CLA_RIGHT_, CLA_MMA_WHOLE)
#define CLA_RIGHT_0(chunks, h) CLA_PART_OF((chunks)[0], h)
#define CLA_RIGHT_1(chunks, h) ((cla_right)((chunks)[0], (chunks)[1]))

/* Owned rows, by name: fragment `step` (of K dims) of row tile i. row_of(t, e, r) is where row r begins. The one or two
 * rows of a lane are loaded without a loop, whose unrolling costs registers that gradients of d128 do not have. */
#define CLA_OWNED_OF(name, width, row_of) \
    CLA_FN __local cla_held *cla_place_##name(const cla_tile *t, int i, int step) \
    { \
        return (__local cla_held *)t->name + \
               ((t->item / CLA_WAVE * CLA_RT + i) * CLA_MMA_STEPS(width) + step) * CLA_WAVE; \
    } \
    CLA_FN cla_left cla_##name##_fragment(const cla_tile *t, int i, int step) \
    { \
        return CLA_QREG ? t->name##r[i * CLA_MMA_STEPS(width) + step] : \
                          cla_left_held(cla_place_##name(t, i, step), t->item % CLA_WAVE); \
    } \
    CLA_FN void cla_put_##name(cla_tile *t, int i, int step, const cla_part *x) \
    { \
        if (CLA_QREG) t->name##r[i * CLA_MMA_STEPS(width) + step] = cla_left_of_part(t->warp, x); \
        else cla_place_##name(t, i, step)[t->item % CLA_WAVE] = CLA_HELD_OF(x); \
    } \
    CLA_FN void cla_begin_##name(cla_tile *t, const cla_env *e) \
    { \
        CLA_UNROLL for (int i = 0; i < CLA_RT; i++) \
            CLA_UNROLL for (int d = 0; d < CLA_DOTTED(width) / CLA_DOTTED_STEP; d++) { \
                const int r = CLA_MMA_ROWS * i, at = CLA_DOTTED_STEP * d + 8 * t->part; \
                const __global ushort *first = (const __global ushort *)row_of(t, e, cla_slot_row(t, r)); \
                const __global ushort *last = \
                    (const __global ushort *)row_of(t, e, cla_slot_row(t, r + CLA_MMA_ROWS - 1)); \
                const uint4 x = cla_load8(first, at, width, t->wide), y = cla_load8(last, at, width, t->wide); \
                const cla_part low[2] = { CLA_PART_OF(x, 0), CLA_PART_OF(y, 0) }; \
                const cla_part high[2] = { CLA_PART_OF(x, 1), CLA_PART_OF(y, 1) }; \
                cla_put_##name(t, i, CLA_CHUNK_STEPS * d, low); \
                if (CLA_CHUNK_STEPS == 2) cla_put_##name(t, i, CLA_CHUNK_STEPS * d + 1, high); \
            } \
    }

/* Of the K keys that a lane's columns of D and its part of A are, in tile 0 of CLA_MMA_TILES. */
#define CLA_KEY_OF_COLUMN(x) (CLA_MMA_DEPTH * ((x) / CLA_MMA_COLUMNS) + (x) % CLA_MMA_COLUMNS)
/* c chunks behind `place`, which cla_k_place() gave for one of the first. */
#define CLA_STEPPED(place, c, chunks) ((chunks) % 8 ? (c) + (place) : 8 * ((c) / 8) + ((place) ^ (c) % 8))
/* First dst = A B^T, operands by name: NAME of the left one has cla_NAME_fragment(), that of the
 * right one lies in t->NAME as K does. `width` is a whole multiple of CLA_DOTTED_STEP. */
#define CLA_DOTS(a, b, width) \
    CLA_FN void cla_dots_##a##b(const cla_tile *t, real *dst) \
    { \
        CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) dst[i] = 0; \
        CLA_UNROLL_MMA for (int d = 0; d < (width) / CLA_DOTTED_STEP; d++) { \
            cla_left left[CLA_RT][CLA_CHUNK_STEPS]; \
            CLA_UNROLL for (int i = 0; i < CLA_RT; i++) \
                CLA_UNROLL for (int h = 0; h < CLA_CHUNK_STEPS; h++) \
                    left[i][h] = cla_##a##_fragment(t, i, CLA_CHUNK_STEPS * d + h); \
            CLA_UNROLL_MMA for (int j = 0; j < CLA_BK / CLA_MMA_N; j++) { \
                /* The key that is this lane's column of tile j, chunk PARTS d + part: its place, in parts that step by
                 * constants. */ \
                const int chunks = (width) / 8, c = CLA_MMA_PARTS * d; \
                const int place = cla_k_place(CLA_KEY_OF_COLUMN(t->column), CLA_FIRST_PART(t), chunks); \
                const int first = \
                    (CLA_MMA_K * (j / CLA_MMA_TILES) + CLA_MMA_COLUMNS * (j % CLA_MMA_TILES)) * chunks; \
                uint4 right[1 + CLA_MMA_WHOLE]; \
                CLA_UNROLL for (int n = 0; n <= CLA_MMA_WHOLE; n++) \
                    right[n] = t->b[first + CLA_STEPPED(place, c + n, chunks)]; \
                CLA_UNROLL_MMA for (int n = 0; n < CLA_CHUNK_STEPS * CLA_RT; n++) { \
                    const int h = n / CLA_RT, i = n % CLA_RT; \
                    cla_mma(t->warp, dst + CLA_MMA_COLUMNS * j * CLA_R_N + CLA_MMA_ROWS * i, 1, CLA_R_N, left[i][h], \
                            CLA_RIGHT(right, h)); \
                } \
            } \
        } \
    }
/* Then dst += weights B, which lies in t->NAME as V does. `width` is a whole multiple of CLA_SUMMED_STEP. */
#define CLA_SUMS(b, width) \
    CLA_FN void cla_sums_##b(const cla_tile *t, real *dst, cla_left (*weights)[CLA_RT]) \
    { \
        CLA_UNROLL_MMA for (int j = 0; j < CLA_BK / CLA_MMA_K; j++) { \
            CLA_UNROLL_MMA for (int h = 0; h < (width) / CLA_SUMMED_STEP; h++) { \
                const int chunks = CLA_MMA_DEPTH * ((width) / 8); /* of DEPTH rows */ \
                const int from = (CLA_MMA_PARTS * j + CLA_FIRST_PART(t)) * chunks + CLA_MMA_N * h + \
                                 (CLA_MMA_ROW(t->column) ^ CLA_SUMMED_SWAP(t->part)); \
                uint4 right[1 + CLA_MMA_WHOLE]; \
                CLA_UNROLL for (int n = 0; n <= CLA_MMA_WHOLE; n++) right[n] = t->b[from + n * chunks]; \
                CLA_UNROLL_MMA for (int n = 0; n < CLA_CHUNK_STEPS * CLA_RT; n++) { \
                    const int i = n % CLA_RT; \
                    cla_mma(t->warp, dst + i * CLA_OF_TILE(width) + CLA_SUM_OF(CLA_CHUNK_STEPS * h + n / CLA_RT, 0), \
                            CLA_MMA_COLUMNS, 1, weights[j][i], CLA_RIGHT(right, n / CLA_RT)); \
                } \
            } \
        } \
    }

/* Weights of keys K j .. and row tile i as a left operand of the second product; f: factors of its rows. No
 * pointer that may be NULL: AMD's compilers would keep all of a tile in memory to compare it. */
CLA_FN cla_left cla_left_weights(const cla_tile *t, const real *s, int j, int i, const real *f)
{
    const real *const x = s + CLA_MMA_DEPTH * j * CLA_R_N + CLA_MMA_ROWS * i;
    cla_part of_row[CLA_MMA_ROWS];
    CLA_UNROLL for (int r = 0; r < CLA_MMA_ROWS; r++) {
#define CLA_PACK(low, high) (CLA_BACKWARD ? cla_pack2(low, high) : cla_pack_weights(low, high))
#define CLA_TWO(k) CLA_PACK(x[(k) * CLA_R_N + r] * f[r], x[((k) + 1) * CLA_R_N + r] * f[r])
#define CLA_WEIGHTS_4 (cla_part)(CLA_TWO(0), CLA_TWO(2))
#define CLA_WEIGHTS_8 (cla_part)(CLA_TWO(0), CLA_TWO(2), CLA_TWO(4), CLA_TWO(6))
        of_row[r] = CLA_CAT(CLA_WEIGHTS_, CLA_MMA_DEPTH);
    }
    return cla_left_of_part(t->warp, of_row);
}
