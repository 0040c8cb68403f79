/* What the passes of engines with matrix units share: a tile's geometry, how operands lie, and its two products. A
 * matrix unit multiplies what lies in registers, in f16 or bf16 as it is stored; mma_unit.cl says what it provides, and
 * this file knows no more of it. A work-group of NW waves has BQ rows of its own and goes over the others in tiles of
 * BK, its columns; a wave owns RT tiles of M rows. Rows are queries and columns keys where a work-group owns queries,
 * and the names here are those of that case.
 *
 * Of each M x N tile of S or O a lane has R rows (CLA_MMA_ROWS) and C columns (CLA_MMA_COLUMNS) from C part on.
 * G is CLA_MMA_DEPTH.
 *     row of slot r = first + M RT wave + its first + M / R r   s[j * R_N + r], j = C n + i: column i of tile n
 *     key of slot j = k0 + K (j / G) + G part + j % G           o[((row tile * width / N + n) * R + r % R) * C + i]
 *
 * Every operand is an aligned pair or quad of one 16-byte load (a chunk, 8 elements), so that nothing moves registers:
 * a lane owns dims 8 part .. of each 8 PARTS of Q and K, which renames the dims of both alike, and keys and columns
 * have the names above; where it owns whole rows, these are 16 dims, two chunks. P is in registers as it comes: the
 * layout of S is that of a left operand. That takes units whose lanes have 4, 8 or 16 of a row's K elements
 * (CLA_MMA_DEPTH): a chunk feeds two instructions or one, or an instruction takes two chunks.
 *     Rows to multiply with, as K, and rows to add up, as V: mma_operands_lanes.cl or mma_operands_blocks.cl, which
 *         stands before this file
 *     Rows that are owned, as Q: registers (QREG 1), or local memory where each item reads what it wrote, or what items
 *         of its wave did (CLA_MMA_WHOLE), behind a barrier */
#if CLA_MMA_PARTS * CLA_MMA_DEPTH != CLA_MMA_K || CLA_MMA_ROWS > 2 || CLA_MMA_COLUMNS % 2 || CLA_MMA_TILES < 1 || \
    (CLA_MMA_APART != 1 && CLA_MMA_TILES > 1) || (CLA_MMA_WHOLE && CLA_MMA_PARTS != 2)
#error "Operands lie otherwise than this matrix unit takes them: it needs products of its own."
#endif
#define CLA_LANES (CLA_WAVE * CLA_NW)
/* Where rows of O are too wide for a wave CLA_ROW_WAVES of them, neighbours, have the same rows: all have S and its
 * maxima and sums, each a share of V's columns. */
#define CLA_SHARE(t) ((t)->item / CLA_WAVE % CLA_ROW_WAVES)
#define CLA_WAVE_ROWS(t) ((t)->item / CLA_WAVE / CLA_ROW_WAVES) /* which rows a wave has */
#define CLA_BQ (CLA_MMA_M * CLA_RT * CLA_NW / CLA_ROW_WAVES)
#define CLA_R_N (CLA_MMA_ROWS * CLA_RT)
#define CLA_COLUMNS_N (CLA_BK / CLA_MMA_PARTS) /* of a tile, that a lane has */
#define CLA_COLS(n) CLA_COLUMNS_N
#define CLA_COVERED(n) CLA_BK
#define CLA_S_N (CLA_COLUMNS_N * CLA_R_N)
#define CLA_ROUNDS(chunks) (((chunks) + CLA_LANES - 1) / CLA_LANES)
#define CLA_UNROLL_COLS CLA_UNROLL
#define CLA_UNROLL_ROWS CLA_UNROLL
/* Dims that are multiplied come a chunk for each lane of a row, columns that are summed a chunk for each of B. */
#define CLA_CHUNK_STEPS (CLA_MMA_DEPTH == 4 ? 2 : 1) /* instructions that a chunk feeds; columns of one to add up */
#define CLA_DOTTED_STEP CLA_MAX(8 * CLA_MMA_PARTS, CLA_MMA_K)
#define CLA_SUMMED_STEP (CLA_CHUNK_STEPS * CLA_MMA_N)
#define CLA_DOTTED(width) CLA_ROUND_UP(width, CLA_DOTTED_STEP)
#define CLA_SUMMED(width) CLA_ROUND_UP(width, CLA_ROW_WAVES * CLA_SUMMED_STEP)
/* Sums of an item, of a tile of rows. */
#define CLA_OF_TILE(width) (CLA_SUMMED(width) / CLA_ROW_WAVES / CLA_MMA_N * CLA_MMA_OF_D)
#define CLA_SUMS_N(width) (CLA_RT * CLA_OF_TILE(width))
/* Where sums lie: column i of tile n, from the first of the row on; the first of row slot r. */
#define CLA_SUM_OF(n, i) (CLA_MMA_OF_D * (n) + (i))
#define CLA_SUMS_OF_ROW(r, of_tile) ((r) / CLA_MMA_ROWS * (of_tile) + CLA_MMA_COLUMNS * ((r) % CLA_MMA_ROWS))
/* The columns of O or of a gradient that column x of the tiles of chunk h is: the first of CLA_CHUNK_STEPS. */
#define CLA_COLUMN_OF(t, h, x, chunks) \
    (CLA_SHARE(t) * (chunks) / CLA_ROW_WAVES * 8 + \
     CLA_COLUMN_OF_CHUNK(CLA_MMA_N * (h) + CLA_MMA_ROW(CLA_MMA_COLUMNS * (t)->part + (x)), (chunks) / CLA_ROW_WAVES))
#define CLA_COLUMN_OF_CHUNK(p, chunks) (8 * ((p) % (chunks)) + CLA_CHUNK_STEPS * ((p) / (chunks)))

#define CLA_MMA_STEPS(width) (CLA_DOTTED(width) / CLA_MMA_K)
#define CLA_ROWS_N(width) (CLA_QREG ? CLA_RT * CLA_MMA_STEPS(width) : 1) /* owned rows in registers, if there */

/* What else the pass has. */
#define CLA_TILE_OF_PASS_0 \
    int same;    /* whether no maximum rose in this tile: every f is 1 */ \
    int direct;  /* whether K and V are read as blocks of two dimensions (mma_surfaces_2d.cl) */ \
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
#define CLA_TO_SUM(width) (CLA_TURNED * CLA_ROUNDS(CLA_BK / CLA_TURNED * CLA_SUMMED(width) / 8))
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
    return t->first + CLA_WAVE_ROWS(t) * (CLA_MMA_M * CLA_RT) + CLA_MMA_ROW(t->column) + CLA_MMA_M / CLA_MMA_ROWS * r;
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

/* What a lane loads of a row of its own for a step: a chunk, or two where it has all of the K elements. Step h of it:
 * the part of K elements that the lane has. */
typedef uint4 cla_own_4;
typedef uint4 cla_own_8;
typedef uint8 cla_own_16;
typedef CLA_CAT(cla_own_, CLA_MMA_DEPTH) cla_own;
#define CLA_LOAD_OWN CLA_CAT(CLA_LOAD_OWN_, CLA_MMA_DEPTH)
#define CLA_LOAD_OWN_4(row, c, width, wide) cla_load8(row, c, width, wide)
#define CLA_LOAD_OWN_8(row, c, width, wide) cla_load8(row, c, width, wide)
#define CLA_LOAD_OWN_16(row, c, width, wide) \
    (cla_own)(cla_load8(row, c, width, wide), cla_load8(row, (c) + 8, width, wide))
#define CLA_PART_OF CLA_CAT(CLA_PART_OF_, CLA_MMA_DEPTH)
#define CLA_PART_OF_4(chunk, h) ((h) ? (chunk).zw : (chunk).xy)
#define CLA_PART_OF_8(chunk, h) (chunk)
#define CLA_PART_OF_16(chunks, h) (chunks)

/* Owned rows, by name: fragment `step` (of K dims) of row tile i. row_of(t, e, r) is where row r begins. The one or two
 * rows of a lane are loaded without a loop, whose unrolling costs registers that gradients of d128 do not have. */
#define CLA_OWNED_OF(name, width, row_of) \
    CLA_FN __local cla_held *cla_place_##name(const cla_tile *t, int i, int step) \
    { \
        return (__local cla_held *)t->name + \
               ((CLA_WAVE_ROWS(t) * CLA_RT + i) * CLA_MMA_STEPS(width) + step) * CLA_WAVE; \
    } \
    CLA_FN cla_left cla_##name##_fragment(const cla_tile *t, int i, int step) \
    { \
        return CLA_QREG ? t->name##r[i * CLA_MMA_STEPS(width) + step] : \
                          cla_left_held(cla_place_##name(t, i, step), t->item % CLA_WAVE); \
    } \
    CLA_FN void cla_put_##name(cla_tile *t, int i, int step, const cla_part *x) \
    { \
        if (CLA_QREG) t->name##r[i * CLA_MMA_STEPS(width) + step] = cla_left_of_part(t->warp, x); \
        else if (!CLA_SHARE(t)) cla_place_##name(t, i, step)[t->item % CLA_WAVE] = CLA_HELD_OF(x); \
    } \
    CLA_FN void cla_begin_##name(cla_tile *t, const cla_env *e) \
    { \
        CLA_UNROLL for (int i = 0; i < CLA_RT; i++) \
            CLA_UNROLL for (int d = 0; d < CLA_DOTTED(width) / CLA_DOTTED_STEP; d++) { \
                const int r = CLA_MMA_ROWS * i, at = CLA_DOTTED_STEP * d + 8 * t->part; \
                const __global ushort *first = (const __global ushort *)row_of(t, e, cla_slot_row(t, r)); \
                const __global ushort *last = \
                    (const __global ushort *)row_of(t, e, cla_slot_row(t, r + CLA_MMA_ROWS - 1)); \
                const cla_own x = CLA_LOAD_OWN(first, at, width, t->wide), y = CLA_LOAD_OWN(last, at, width, t->wide); \
                const cla_part low[2] = { CLA_PART_OF(x, 0), CLA_PART_OF(y, 0) }; \
                const cla_part high[2] = { CLA_PART_OF(x, 1), CLA_PART_OF(y, 1) }; \
                cla_put_##name(t, i, CLA_CHUNK_STEPS * d, low); \
                if (CLA_CHUNK_STEPS == 2) cla_put_##name(t, i, CLA_CHUNK_STEPS * d + 1, high); \
            } \
    }

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
                cla_read right[CLA_READ_N]; \
                cla_read_dotted(t->b, right, t->column, t->part, j, d, (width) / 8); \
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
            CLA_UNROLL_MMA for (int h = 0; h < (width) / CLA_SUMMED_STEP / CLA_ROW_WAVES; h++) { \
                cla_read right[CLA_READ_N]; \
                cla_read_summed(t->b, right, t->column, t->part, j, \
                                CLA_SHARE(t) * ((width) / CLA_SUMMED_STEP / CLA_ROW_WAVES) + h, (width) / 8); \
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
#define CLA_WEIGHTS_16 \
    (cla_part)(CLA_TWO(0), CLA_TWO(2), CLA_TWO(4), CLA_TWO(6), CLA_TWO(8), CLA_TWO(10), CLA_TWO(12), CLA_TWO(14))
        of_row[r] = CLA_CAT(CLA_WEIGHTS_, CLA_MMA_DEPTH);
    }
    return cla_left_of_part(t->warp, of_row);
}
