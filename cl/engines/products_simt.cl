/* What the passes of engine `simt` share: a tile's geometry, and its two products. A work-group of TX * TY items has BQ
 * rows of its own and goes over the others in tiles of BK, its columns. Item (tx, ty) holds TM rows x TN columns of
 * scores in registers, and TM rows x 1 / TX of the columns of what it sums. Both products are the same register GEMM:
 * per step, one vector of 4 from local memory per 4 rows and per 4 columns. Rows are queries and columns keys where a
 * work-group owns queries, and the names here are those of that case.
 *
 *     row of slot r       = first + ty * TM + r                     s[j * R_N + g] holds rows 4g .. 4g + 3 of key j
 *     key of slot j       = k0 + (j / 4) * 4 * TX + 4 * tx + j % 4
 *     column of slot c, i = (c * TX + tx) * 4 + i                   o[r * n + c] holds columns i = 0 .. 3 of row r
 *
 * Chunks of CH dims of operands of the first product are transposed in local memory; of the second there are chunks of
 * CV keys. Every chunk is double-buffered: the next one is on its way in registers while this one is used, and one
 * barrier per chunk suffices. Pitches of + 4 keep transposing stores off each other's banks.
 * P of a tile lies in local memory as a whole, so that S is out of the registers when the second product begins, and
 * the tile's own part of it takes its place: sums stay short. Rows of P are in the order of slots, key j of item tx at
 * row j * TX + tx, and an item keeps there what the first dims of the first product came to, where they are more than
 * one chain. */
#define CLA_LANES (CLA_TX * CLA_TY)
#define CLA_BQ (CLA_TM * CLA_TY)
#define CLA_BK (CLA_TN * CLA_TX)
#define CLA_R_N (CLA_TM / 4)
#define CLA_S_N (CLA_TN * CLA_R_N)
#define CLA_COLS(n) CLA_TN
#define CLA_COVERED(n) CLA_BK
#define CLA_UNROLL_COLS CLA_UNROLL
#define CLA_UNROLL_ROWS CLA_UNROLL
#define CLA_VECTORS(width) (((width) + 4 * CLA_TX - 1) / (4 * CLA_TX)) /* of an item, in a row that is summed */
#define CLA_PADDED(width) (CLA_VECTORS(width) * 4 * CLA_TX)

#define CLA_CHUNKS_IN(width) (((width) + CLA_CH - 1) / CLA_CH)
#define CLA_KP (CLA_BK + 4)
#define CLA_QP (CLA_BQ + 4)
#define CLA_PARTS_IN(width) (((width) + CLA_CHAIN - 1) / CLA_CHAIN) /* of the first product: a chain each */
#define CLA_PART_CHUNKS (CLA_CHAIN / CLA_CH)
#define CLA_TURNS ((CLA_BK + CLA_CHAIN - 1) / CLA_CHAIN) /* of the second one: likewise */
#define CLA_ROUNDS(rows, width) (((rows) * (width) / 4 + CLA_LANES - 1) / CLA_LANES)

/* What is on its way of each operand, and what else the pass has in registers. */
#define CLA_ON_ITS_WAY CLA_CAT(CLA_ON_ITS_WAY_, CLA_BACKWARD)
/* Sums of an item, and a tile's part of them, are arrays of the kernel: those of a struct, or of a function that hands
 * them to another one, are memory to Mesa. */
#define CLA_ON_ITS_WAY_0 \
    cla_real4 *part; \
    cla_raw4_q qr[CLA_ROUNDS(CLA_BQ, CLA_CH)]; \
    cla_raw4_k kr[CLA_ROUNDS(CLA_BK, CLA_CH)]; \
    cla_raw4_v vr[CLA_ROUNDS(CLA_CV, CLA_PADDED(CLA_DV))];
#define CLA_RAW4(x) CLA_RAW4_(x) /* not CLA_CAT, within which it stands */
#define CLA_RAW4_(x) cla_raw4_##x
#define CLA_ON_ITS_WAY_1 \
    CLA_RAW4(CLA_OWNED_1) owned_1r[CLA_ROUNDS(CLA_BQ, CLA_CH)]; \
    CLA_RAW4(CLA_OWNED_2) owned_2r[CLA_ROUNDS(CLA_BQ, CLA_CH)]; \
    CLA_RAW4(CLA_OTHER_1) other_1r[CLA_ROUNDS(CLA_BK, CLA_CH)]; \
    CLA_RAW4(CLA_OTHER_2) other_2r[CLA_ROUNDS(CLA_BK, CLA_CH)]; \
    CLA_RAW4(CLA_OTHER_1) summed_1r[CLA_ROUNDS(CLA_CV, CLA_PADDED(CLA_D))]; \
    CLA_RAW4(CLA_OTHER_2) summed_2r[CLA_ROUNDS(CLA_CV, CLA_PADDED(CLA_DV))]; \
    cla_real4 *sum_1, *sum_2, *part; \
    int own_end;      /* behind the last row */ \
    cla_scalar slope; /* the gradient of a head's, as far as this item has added it up */

typedef struct {
    int unused; /* see args.h */
    int tx, ty, lane, first, end; /* first row; behind the last key */
    int wide;                     /* whether four elements can be loaded at once */
    cla_scalar scale;
    __local cla_scalar *q, *kv, *p;
    __local cla_scalar *m; /* numbers of rows or of keys */
    __local int *seen; /* whether some query sees a key of the tile */
    CLA_ON_ITS_WAY
} cla_tile;

/* Items before those of this one's sub-group, and its place there. Where a whole sub-group of Intel's shares its rows
 * ty comes from the former: what is read of Q and P is then known to be the same for all, and read once. */
#define CLA_AHEAD_0 get_local_id(0)
#define CLA_AHEAD_8 (get_sub_group_id() * 8)
#define CLA_AHEAD_16 (get_sub_group_id() * 16)
#define CLA_INSIDE_0 0
#define CLA_INSIDE_8 get_sub_group_local_id()
#define CLA_INSIDE_16 get_sub_group_local_id()
/* Who an item is, once more in every tile and for each product, where compilers keep all that they compute from it:
 * they have too few registers then. max() and min() change nothing, but compilers do not see through them. */
#define CLA_RECOMPUTE_PLACES(t, key) \
    if (CLA_KEEPS_PLACES) { \
        (t)->lane = max((t)->lane, min(key, 0)); \
        (t)->tx = (t)->lane % CLA_TX; \
        (t)->ty = (t)->lane / CLA_TX; \
    }
#define CLA_PV_STEPS CLA_CAT(CLA_PV_STEPS_, CLA_SUB_GROUP)
#define CLA_SHARES_ROWS (CLA_TX % CLA_MAX(CLA_SUB_GROUP, 1) == 0)

#define CLA_COMPONENT(x, i) ((i) == 0 ? (x).s0 : (i) == 1 ? (x).s1 : (i) == 2 ? (x).s2 : (x).s3)
/* Steps without a loop: a chunk on Intel's GPUs, where a loop costs 64 moves of sums. */
#define CLA_PV_STEPS_0 CLA_STEPS_UNLESS(CLA_PARTS_IN(CLA_D) > 1, 4)
#define CLA_PV_STEPS_8 CLA_CV
#define CLA_PV_STEPS_16 CLA_CV
#define CLA_STEPS_0 4
#define CLA_STEPS_8 CLA_CH
#define CLA_STEPS_16 CLA_CH
#define CLA_AT4(p) (*(__local cla_real4 *)(p))
/* A vector of conditions: SPIR-V before 1.4 selects vectors by no other. */
#define CLA_ALL_IF(condition) ((integer)(-((condition) != 0)))

CLA_FN int cla_row_in_tile(const cla_tile *t, int g) { return t->ty * CLA_TM + g * 4; }
CLA_FN int cla_key_in_tile(int j, int tx) { return j / 4 * 4 * CLA_TX + 4 * tx + j % 4; }
CLA_FN int cla_slot_row(const cla_tile *t, int g) { return t->first + cla_row_in_tile(t, g); }
/* max() changes nothing, but compilers do not see through it: else they keep the places of all slots in registers. */
CLA_FN int cla_slot_k(const cla_tile *t, int k0, int j) { return max(k0 + 4 * t->tx, 0) + cla_key_in_tile(j, 0); }

/* Transfers of `rows` x `width` elements, 4 per item and round: this item's row and first element in round n. */
#define CLA_EACH_ROUND(rows, width) CLA_ROUND_OF_ROWS(rows, width) const int c = at % ((width) / 4) * 4;
#define CLA_ROUND_OF_ROWS(rows, width) \
    CLA_UNROLL for (int n = 0; n < CLA_ROUNDS(rows, width); n++) { \
        const int at = t->lane + n * CLA_LANES, row = at / ((width) / 4); \
        if ((rows) * (width) / 4 % CLA_LANES == 0 || at < (rows) * (width) / 4) {
#define CLA_END_ROUND }}
#define CLA_ROW_OF_ROUND(width) (((t)->lane + n * CLA_LANES) / ((width) / 4))

/* Each row of the tile has one item that owns it: rows that are one transfer wide. */
#define CLA_EACH_OWNED_ROW CLA_ROUND_OF_ROWS(CLA_BQ, 4)

CLA_FN void cla_put_transposed(__local cla_scalar *to, int pitch, cla_real4 x)
{
    to[0] = x.s0;
    to[pitch] = x.s1;
    to[2 * pitch] = x.s2;
    to[3 * pitch] = x.s3;
}

/* On pages rows are found before any of them is loaded: the number of a page is waited for, and with it what was loaded
 * earlier. Others are found as they are loaded, which takes fewer registers. Items without one in the last round find
 * some row, of those that are there. */
#define CLA_FINDS_FIRST CLA_PAGED
#define CLA_FOUND(from, row) (CLA_FINDS_FIRST ? (from) : (row))
/* They have nothing on its way then: NVIDIA's compilers look at that before they look at whether it is there. */
#define CLA_BLANK(name, x, rows, width) \
    if (CLA_FINDS_FIRST && (rows) * (width) / 4 % CLA_LANES != 0) \
        t->name##r[CLA_ROUNDS(rows, width) - 1] = (cla_raw4_##x)(0);

/* Operands of the first product, by name: a chunk of dims of NAME's rows is on its way in NAMEr[], then stored
 * transposed at its place. NAME has cla_load4_NAME(), cla_unpack4_NAME() and cla_NAME_row(). */
#define CLA_CHUNKS_OF(name, x, rows, width, row_of, scaled, place) \
    CLA_FN void cla_fetch_##name(cla_tile *t, const cla_env *e, int first, int chunk) \
    { \
        cla_##x##_handle from[CLA_ROUNDS(rows, CLA_CH)]; \
        CLA_BLANK(name, x, rows, CLA_CH) \
        if (CLA_FINDS_FIRST) \
            CLA_UNROLL for (int n = 0; n < CLA_ROUNDS(rows, CLA_CH); n++) \
                from[n] = cla_##x##_row(e, row_of(t, first + CLA_ROW_OF_ROUND(CLA_CH))); \
        CLA_EACH_ROUND(rows, CLA_CH) \
            t->name##r[n] = cla_load4_##x(e, CLA_FOUND(from[n], cla_##x##_row(e, row_of(t, first + row))), \
                                             chunk * CLA_CH + c, (width) % CLA_CH == 0, t->wide); \
        CLA_END_ROUND \
    } \
    CLA_FN void cla_store_##name(cla_tile *t, int chunk) \
    { \
        CLA_EACH_ROUND(rows, CLA_CH) \
            const cla_real4 y = cla_unpack4_##x(t->name##r[n]); \
            cla_put_transposed(place(t, chunk) + c * ((rows) + 4) + row, (rows) + 4, (scaled) ? y * t->scale : y); \
        CLA_END_ROUND \
    }
/* Keys past the last one of the loop repeat it: their scores are dropped by the element test. Rows of Q see to
 * themselves. */
#define CLA_LIMITED(t, k) min(k, (t)->end - 1)
#define CLA_UNLIMITED(t, row) (row)

/* Chunk v of the tile: its keys are those of rows v * CV .. of P. A chunk is a part of a slot's keys, or those of some
 * slots. */
#define CLA_SLOT_CHUNKS CLA_MAX(CLA_TX / CLA_CV, 1)
#define CLA_CHUNK_SLOTS CLA_MAX(CLA_CV / CLA_TX, 1)
CLA_FN int cla_key_of_chunk(int v, int row)
{
    const int slot = CLA_CHUNK_SLOTS > 1 ? row / CLA_TX : 0, tx = row - slot * CLA_TX;
    return cla_key_in_tile(v / CLA_SLOT_CHUNKS * CLA_CHUNK_SLOTS + slot, v % CLA_SLOT_CHUNKS * CLA_CV + tx);
}
/* An operand of the second product, likewise: keys that no query sees weigh nothing, but 0 * NaN would be NaN. Past the
 * last key of the loop a row is zero as well: the last one, which it repeats, may be inf. */
#define CLA_KEYS_OF(name, x, width, padded, place) \
    CLA_FN void cla_fetch_##name(cla_tile *t, const cla_env *e, int k0, int chunk) \
    { \
        cla_##x##_handle from[CLA_ROUNDS(CLA_CV, padded)]; \
        CLA_BLANK(name, x, CLA_CV, padded) \
        if (CLA_FINDS_FIRST) \
            CLA_UNROLL for (int n = 0; n < CLA_ROUNDS(CLA_CV, padded); n++) \
                from[n] = cla_##x##_row(e, CLA_LIMITED(t, k0 + cla_key_of_chunk(chunk, CLA_ROW_OF_ROUND(padded)))); \
        CLA_EACH_ROUND(CLA_CV, padded) \
            const int k = CLA_LIMITED(t, k0 + cla_key_of_chunk(chunk, row)); \
            t->name##r[n] = cla_load4_##x(e, CLA_FOUND(from[n], cla_##x##_row(e, k)), c, (width) == (padded), \
                                             t->wide); \
        CLA_END_ROUND \
    } \
    CLA_FN void cla_store_##name(cla_tile *t, int k0, int chunk) \
    { \
        CLA_EACH_ROUND(CLA_CV, padded) \
            const int key = cla_key_of_chunk(chunk, row); \
            const int there = k0 + key < t->end, seen = CLA_MARKS ? there && t->seen[key] : there; \
            const cla_real4 y = cla_unpack4_##x(t->name##r[n]); \
            CLA_AT4(place(t, chunk) + row * (padded) + c) = CLA_ALL_IF(seen) ? y : (cla_real4)(0); \
        CLA_END_ROUND \
    }

/* Engines count it among their barriers: the others stand there. */
#define CLA_BARRIER_CLEARED barrier(CLK_LOCAL_MEM_FENCE);
/* Marks the keys that some row of the tile sees: those whose element is not `nothing`. */
CLA_FN void cla_mark(cla_tile *t, const real *s, cla_scalar nothing)
{
    for (int i = t->lane; i < CLA_BK; i += CLA_LANES) t->seen[i] = 0;
    CLA_BARRIER_CLEARED
    CLA_UNROLL for (int j = 0; j < CLA_TN; j++) {
        integer seen = (integer)(0);
        CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) seen |= s[j * CLA_R_N + g] != (real)(nothing);
        if (any(seen)) atomic_or(t->seen + cla_key_in_tile(j, t->tx), 1);
    }
}

/* Who this item is. */
CLA_FN void cla_take_place(cla_tile *t)
{
    const int ahead = CLA_CAT(CLA_AHEAD_, CLA_SUB_GROUP);
    t->lane = ahead + CLA_CAT(CLA_INSIDE_, CLA_SUB_GROUP);
    t->tx = t->lane % CLA_TX;
    t->ty = (CLA_SHARES_ROWS ? ahead : t->lane) / CLA_TX;
}

/* Where this item keeps slot j of its rows g. */
CLA_FN __local cla_real4 *cla_own_p(const cla_tile *t, int j, int g)
{
    return (__local cla_real4 *)(t->p + (j * CLA_TX + t->tx) * CLA_QP + cla_row_in_tile(t, g));
}

/* The tile's P, where all items read it. */
CLA_FN void cla_share(const cla_tile *t, const real *s)
{
    CLA_UNROLL for (int j = 0; j < CLA_TN; j++)
        CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) *cla_own_p(t, j, g) = s[j * CLA_R_N + g];
}

/* The first product, of one chunk: dst += A B^T, both transposed, from this item's rows a and keys b on. */
CLA_FN void cla_dots(real *dst, const __local cla_scalar *a, const __local cla_scalar *b)
{
    CLA_UNROLL_BY(CLA_CAT(CLA_STEPS_, CLA_SUB_GROUP)) for (int d = 0; d < CLA_CH; d++) {
#define CLA_ADD_KEYS(n, i) \
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) \
        CLA_UNROLL for (int h = 0; h < CLA_TN / 4; h++) \
            CLA_ADD_PRODUCT(dst[(4 * h + (n)) * CLA_R_N + g], CLA_AT4(a + d * CLA_QP + g * 4), \
                            (real)(CLA_AT4(b + d * CLA_KP + h * 4 * CLA_TX).i))
        CLA_ADD_KEYS(0, s0)
        CLA_ADD_KEYS(1, s1)
        CLA_ADD_KEYS(2, s2)
        CLA_ADD_KEYS(3, s3)
    }
}

/* Names the four rows of quad g by their vector component. */
#define CLA_ROWS_OF(g, F) F(4 * (g), s0) F(4 * (g) + 1, s1) F(4 * (g) + 2, s2) F(4 * (g) + 3, s3)

/* Where the weights of chunk v begin. */
CLA_FN const __local cla_scalar *cla_p_place(const cla_tile *t, int v)
{
    return t->p + v * CLA_CV * CLA_QP + cla_row_in_tile(t, 0);
}

/* Moves what follows the first n to the front. Mesa does not unroll long loops, and keeps an array in memory where its
 * index varies. Others only rename registers. */
CLA_FN void cla_shift(real *x, int n, int size)
{
    CLA_UNROLL for (int i = n; i < size; i++) x[i - n] = x[i];
}

/* The second product, of one chunk: dst += weights B, from this item's rows and columns on. Both are walked along, not
 * computed from the step: Intel's compiler multiplies then. */
#define CLA_SUMS_OF(name, width) \
    CLA_FN void cla_sums_##name(cla_real4 *dst, const __local cla_scalar *weights, const __local cla_scalar *b) \
    { \
        CLA_UNROLL_BY(CLA_PV_STEPS) for (int i = 0; i < CLA_CV; i++) { \
            real y[CLA_VECTORS(width)]; \
            CLA_UNROLL for (int c = 0; c < CLA_VECTORS(width); c++) y[c] = CLA_AT4(b + c * 4 * CLA_TX); \
            CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) { \
                const real w = CLA_AT4(weights + g * 4); \
                CLA_ADD_ROW(width, 4 * g, w.s0) \
                CLA_ADD_ROW(width, 4 * g + 1, w.s1) \
                CLA_ADD_ROW(width, 4 * g + 2, w.s2) \
                CLA_ADD_ROW(width, 4 * g + 3, w.s3) \
            } \
            weights += CLA_QP; \
            b += CLA_PADDED(width); \
        } \
    }
#define CLA_ADD_ROW(width, r, w) \
    CLA_UNROLL for (int c = 0; c < CLA_VECTORS(width); c++) \
        CLA_ADD_PRODUCT(dst[(r) * CLA_VECTORS(width) + c], (real)(w), y[c])
