/* What the passes of engine `mma_nv` share: a tile's geometry, how operands lie, and its two products. Matrix units
 * by mma.sync m16n8k16, operands in registers only, in f16 or bf16 as they are stored. A work-group of NW warps of 32
 * items has BQ rows of its own and goes over the others in tiles of BK, its columns; a warp owns RT tiles of 16 rows.
 * The load slot holds the handful of instructions: mma_asm.cl, or mma_emu.cl for any device. Rows are queries and
 * columns keys where a work-group owns queries, and the names here are those of that case.
 *
 * Item 4 g + c of a warp (g < 8, c < 4) holds of each 16 x 8 tile of S or O rows g and g + 8, columns 2 c and 2 c + 1.
 *     row of slot r = first + 16 RT warp + g + 8 r           s[j * R_N + r], j = 2 n + i: column 2 c + i of tile n
 *     key of slot j = k0 + 16 (n / 2) + 4 c + 2 (n % 2) + i  o[(row tile * width / 8 + n) * 4 + 2 (row half) + i]
 *
 * Every operand is an aligned pair or quad of one 16-byte load (a chunk, 8 elements), so that nothing moves registers:
 * an item owns dims 8 c .. of each 32 of Q and K, which renames the dims of both alike, and keys and columns have the
 * names above. P is in registers as it comes: the layout of S is that of a left operand.
 *     Rows to multiply with, as K: as they are; every other row swaps the halves of 8 chunks, where rows are whole
 *         multiples of 8
 *     Rows to add up, as V: quads of keys, 8 bytes for a column: V[4 r .. 4 r + 3][d], by bytes of 4 rows once per
 *         work-group. Chunk p of quad row r holds d = 8 (p % VC) + 2 (p / VC) and d + 1; it lies at p ^ 2 (r % 4)
 *     Rows that are owned, as Q: registers (QREG 1), or local memory where each item reads what it wrote
 * All 16-byte accesses are free of bank conflicts then. */
#define CLA_LANES (32 * CLA_NW)
#define CLA_BQ (16 * CLA_RT * CLA_NW)
#define CLA_R_N (2 * CLA_RT)
#define CLA_COLS(n) (CLA_BK / 4)
#define CLA_COVERED(n) CLA_BK
#define CLA_S_N (CLA_BK / 4 * CLA_R_N)
#define CLA_ROUNDS(chunks) (((chunks) + CLA_LANES - 1) / CLA_LANES)
#define CLA_UNROLL_COLS CLA_UNROLL
#define CLA_UNROLL_ROWS CLA_UNROLL
/* Dims that are multiplied come in steps of 32, columns that are summed in steps of 16. */
#define CLA_DOTTED(width) CLA_ROUND_UP(width, 32)
#define CLA_SUMMED(width) CLA_ROUND_UP(width, 16)
#define CLA_SUMS_N(width) (CLA_RT * CLA_SUMMED(width) / 2) /* of an item */

#define CLA_ROWS_N(width) (CLA_QREG ? CLA_RT * CLA_DOTTED(width) / 16 : 1) /* owned rows in registers, if there */

/* What else the pass has. */
#define CLA_TILE_OF_PASS_0 \
    int same;    /* whether no maximum rose in this tile: every f is 1 */ \
    int k_place; /* of this item's first chunk of K, where CLA_LIKE_ROWS */ \
    __local uint4 *q, *k, *v; \
    uint4 qr[CLA_ROWS_N(CLA_D)]; \
    uint4 moved[CLA_STAGED]; /* on their way */
#define CLA_TILE_OF_PASS_1 \
    int own_end, turn; /* behind the last row; which buffer was stored to last */ \
    cla_scalar slope;  /* the gradient of a head's, as far as this item has added it up */ \
    __local uint4 *owned_1, *owned_2, *others, *other_1, *other_2; \
    __local cla_scalar *m, *p; /* L and D; dS of a tile, where a bias has a gradient */ \
    uint4 owned_1r[CLA_ROWS_N(CLA_D)], owned_2r[CLA_ROWS_N(CLA_DV)]; \
    uint4 moved[CLA_MAX(CLA_MOVED(CLA_D), CLA_MOVED(CLA_DV))]; \
    real sum_1[CLA_SUMS_N(CLA_D)], sum_2[CLA_SUMS_N(CLA_DV)], room_1[CLA_R_N], room_2[CLA_R_N];
#define CLA_MOVED(width) \
    CLA_MAX(CLA_ROUNDS(CLA_BK * CLA_DOTTED(width) / 8), 4 * CLA_ROUNDS(CLA_BK / 4 * CLA_SUMMED(width) / 8))
#define CLA_STAGED \
    CLA_MAX(CLA_ROUNDS(CLA_BK * CLA_DOTTED(CLA_D) / 8), 4 * CLA_ROUNDS(CLA_BK / 4 * CLA_SUMMED(CLA_DV) / 8))

typedef struct {
    int item, g, c, first, end; /* first row; behind the last key */
    int wide;                   /* whether 8 elements can be loaded at once */
    float scale;                /* of scores */
    cla_warp warp;
    __local int *seen; /* whether some query sees a key of the tile */
    CLA_CAT(CLA_TILE_OF_PASS_, CLA_BACKWARD)
} cla_tile;

CLA_FN int cla_slot_row(const cla_tile *t, int r)
{
    return t->first + t->item / 32 * (16 * CLA_RT) + t->g + 8 * r;
}
CLA_FN int cla_slot_k(const cla_tile *t, int k0, int j)
{
    return k0 + 16 * (j / 4) + 4 * t->c + j % 4; /* 2 (n % 2) + i */
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

CLA_FN int cla_k_place(int row, int c, const int chunks) { return row * chunks + (chunks % 8 ? c : c ^ 4 * (row & 1)); }
/* (i * chunks + c) ^ swap, as an address that differs by a constant from i to i where a row has whole swaps of 8
 * chunks. */
CLA_FN int cla_v_chunk(int i, int c, int swap, const int chunks)
{
    return chunks % 8 ? (i * chunks + c) ^ swap : i * chunks + (c ^ swap);
}
/* Chunk c of four rows, quad `row` of the tile. */
CLA_FN void cla_put_quads(__local uint4 *to, const uint4 *x, int row, int c, const int chunks)
{
#define CLA_QUAD(s) \
    (uint4)(cla_low_halves(x[0].s, x[1].s), cla_low_halves(x[2].s, x[3].s), cla_high_halves(x[0].s, x[1].s), \
            cla_high_halves(x[2].s, x[3].s))
#define CLA_PUT_QUAD(s, i) to[row * 4 * chunks + cla_v_chunk(i, c, 2 * (row & 3), chunks)] = CLA_QUAD(s);
    CLA_PUT_QUAD(x, 0)
    CLA_PUT_QUAD(y, 1)
    CLA_PUT_QUAD(z, 2)
    CLA_PUT_QUAD(w, 3)
}

/* Engines count it among their barriers: the others stand there. */
#define CLA_BARRIER_CLEARED barrier(CLK_LOCAL_MEM_FENCE);
/* Marks the keys that some row of the work-group sees: those whose element is not `nothing`. */
CLA_FN void cla_mark(cla_tile *t, const real *s, cla_scalar nothing)
{
    for (int i = t->item; i < CLA_BK; i += CLA_LANES) t->seen[i] = 0;
    CLA_BARRIER_CLEARED
    CLA_UNROLL for (int j = 0; j < CLA_BK / 4; j++) {
        int seen = 0;
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) seen |= s[j * CLA_R_N + r] != nothing;
        if (seen) atomic_or(t->seen + cla_slot_k(t, 0, j), 1);
    }
}

/* ---- Products ---- */

/* Owned rows, by name: fragment `step` (of 16 dims) of row tile i, four registers. row_of(t, e, r) is where row r
 * begins. */
#define CLA_OWNED_OF(name, width, row_of) \
    CLA_FN __local uint4 *cla_place_##name(const cla_tile *t, int i, int step) \
    { \
        return t->name + ((t->item / 32 * CLA_RT + i) * (CLA_DOTTED(width) / 16) + step) * 32 + t->item % 32; \
    } \
    CLA_FN uint4 cla_##name##_fragment(const cla_tile *t, int i, int step) \
    { \
        return CLA_QREG ? t->name##r[i * (CLA_DOTTED(width) / 16) + step] : *cla_place_##name(t, i, step); \
    } \
    CLA_FN void cla_put_##name(cla_tile *t, int i, int step, uint4 x) \
    { \
        if (CLA_QREG) t->name##r[i * (CLA_DOTTED(width) / 16) + step] = x; \
        else *cla_place_##name(t, i, step) = x; \
    } \
    CLA_FN void cla_begin_##name(cla_tile *t, const cla_env *e) \
    { \
        CLA_UNROLL for (int i = 0; i < CLA_RT; i++) \
            CLA_UNROLL for (int d = 0; d < CLA_DOTTED(width) / 32; d++) { \
                const __global ushort *low = (const __global ushort *)row_of(t, e, cla_slot_row(t, 2 * i)); \
                const __global ushort *high = (const __global ushort *)row_of(t, e, cla_slot_row(t, 2 * i + 1)); \
                const uint4 x = cla_load8(low, 32 * d + 8 * t->c, width, t->wide); \
                const uint4 y = cla_load8(high, 32 * d + 8 * t->c, width, t->wide); \
                cla_put_##name(t, i, 2 * d, (uint4)(x.x, y.x, x.y, y.y)); \
                cla_put_##name(t, i, 2 * d + 1, (uint4)(x.z, y.z, x.w, y.w)); \
            } \
    }

/* First dst = A B^T, operands by name: NAME of the left one has cla_NAME_fragment(), that of the
 * right one lies in t->NAME as K does. `width` is a whole multiple of 32. */
#define CLA_DOTS(a, b, width) \
    CLA_FN void cla_dots_##a##b(const cla_tile *t, real *dst) \
    { \
        CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) dst[i] = 0; \
        CLA_UNROLL_MMA for (int d = 0; d < (width) / 32; d++) { \
            uint4 left[CLA_RT][2]; \
            CLA_UNROLL for (int i = 0; i < CLA_RT; i++) \
                CLA_UNROLL for (int h = 0; h < 2; h++) left[i][h] = cla_##a##_fragment(t, i, 2 * d + h); \
            CLA_UNROLL_MMA for (int j = 0; j < CLA_BK / 8; j++) { \
                /* Key 16 (j / 2) + 4 (g / 2) + 2 (j % 2) + g % 2, chunk 4 d + c: its place, in parts that step by
                 * constants. */ \
                const int first = (16 * (j / 2) + 2 * (j % 2)) * ((width) / 8), key = 4 * (t->g / 2) + t->g % 2; \
                const uint4 right = \
                    t->b[(width) / 8 % 8 ? first + key * ((width) / 8) + 4 * d + t->c \
                                         : first + 8 * (d / 2) + (cla_k_place(key, t->c, (width) / 8) ^ 4 * (d % 2))]; \
                CLA_UNROLL_MMA for (int x = 0; x < 2 * CLA_RT; x++) { \
                    const int h = x / CLA_RT, i = x % CLA_RT; \
                    real *const at = dst + 2 * j * CLA_R_N + 2 * i; \
                    cla_mma(t->warp, at, at + CLA_R_N, at + 1, at + CLA_R_N + 1, left[i][h], h ? right.z : right.x, \
                            h ? right.w : right.y); \
                } \
            } \
        } \
    }
/* Then dst += weights B, which lies in t->NAME as V does. `width` is a whole multiple of 16. */
#define CLA_SUMS(b, width) \
    CLA_FN void cla_sums_##b(const cla_tile *t, real *dst, uint4 (*weights)[CLA_RT]) \
    { \
        CLA_UNROLL_MMA for (int j = 0; j < CLA_BK / 16; j++) { \
            CLA_UNROLL_MMA for (int h = 0; h < (width) / 16; h++) { \
                const uint4 right = t->b[(4 * j + t->c) * 4 * ((width) / 8) + 8 * h + (t->g ^ 2 * t->c)]; \
                CLA_UNROLL_MMA for (int x = 0; x < 2 * CLA_RT; x++) { \
                    const int n = x / CLA_RT, i = x % CLA_RT; \
                    real *const at = dst + i * ((width) / 2) + 8 * h + 4 * n; \
                    cla_mma(t->warp, at, at + 1, at + 2, at + 3, weights[j][i], n ? right.z : right.x, \
                            n ? right.w : right.y); \
                } \
            } \
        } \
    }

/* Weights as a left operand of the second product. */
CLA_FN uint4 cla_left_weights(const real *s, int j, int i, real low, real high)
{
    const real *const x = s + 4 * j * CLA_R_N + 2 * i; /* keys 16 j + 4 c .. + 3 of two rows */
    return (uint4)(cla_pack2(x[0] * low, x[CLA_R_N] * low), cla_pack2(x[1] * high, x[CLA_R_N + 1] * high),
                   cla_pack2(x[2 * CLA_R_N] * low, x[3 * CLA_R_N] * low),
                   cla_pack2(x[2 * CLA_R_N + 1] * high, x[3 * CLA_R_N + 1] * high));
}
