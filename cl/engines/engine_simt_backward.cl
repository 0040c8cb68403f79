/* Engine `simt`, backward: rows are what a work-group owns, keys or queries, and columns are the others. Four products,
 * five where queries are owned for dQ by itself: products_simt.cl has them, and who holds what.
 *
 *     scores = owned_1 other_1^T, dP = owned_2 other_2^T       rows x columns, over dims
 *     sum_1 += dS other_1, sum_2 += P other_2                  rows x dims, over columns; the latter for dV only
 *
 * So owned and other are K and Q, V and dO where keys are owned, and the other way round where queries are.
 *
 * Barriers, each of which separates what all items did before it | from what any of them does behind it:
 *     1 STAGED     chunk i of both operands is stored, chunk i - 1 is read, L and D are there, all marks are set
 *                  | chunk i is read, chunk i + 1 is stored over chunk i - 1, L and D are read behind scores
 *     2 CLEARED    no column is marked as seen | items mark those in which a row of theirs weighs
 *     3 WEIGHTS    weights and chunk 0 of rows are stored | both are read
 *     4 CHUNK      chunk v of rows is read, chunk v + 1 is stored | chunk v + 1 is read, chunk v + 2 is stored over
 *                  chunk v. Behind the last one P, the marks, L and D, and both buffers are free for what comes next
 *     5 SPENT      the same, where nothing is summed
 *     6 OFFERED    dS lies in P | others read it
 *     7 TAKEN      it is read | P is stored over it
 * Chunks are counted on from product to product, so that none is stored over one that is read. */
#define CLA_BARRIER_STAGED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_WEIGHTS barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_CHUNK barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_SPENT barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_OFFERED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_TAKEN barrier(CLK_LOCAL_MEM_FENCE);

#define CLA_ROW_STEP CLA_OWNS_QUERIES
#define CLA_KEY_STEP (!CLA_OWNS_QUERIES)
#define CLA_OTHER_STEP CLA_MAX(CLA_CH * CLA_KP, CLA_CV * CLA_MAX(CLA_PADDED(CLA_D), CLA_PADDED(CLA_DV)))

#define CLA_LOCAL(t) \
    __local cla_scalar cla_local_q[2 * CLA_CH * CLA_QP] __attribute__((aligned(32))); \
    __local cla_scalar cla_local_kv[2 * CLA_OTHER_STEP] __attribute__((aligned(32))); \
    __local cla_scalar cla_local_p[CLA_BK * CLA_QP] __attribute__((aligned(32))); \
    __local cla_scalar cla_local_m[2 * CLA_NUMBERS] __attribute__((aligned(32))); \
    __local int cla_local_seen[CLA_MARKS ? CLA_BK : 1]; \
    cla_real4 cla_private_sum_1[CLA_TM * CLA_VECTORS(CLA_D)], cla_private_sum_2[CLA_TM * CLA_VECTORS(CLA_DV)]; \
    cla_real4 cla_private_part[CLA_TM * CLA_MAX(CLA_VECTORS(CLA_D), CLA_VECTORS(CLA_DV))]; \
    t.sum_1 = cla_private_sum_1; \
    t.sum_2 = cla_private_sum_2; \
    t.part = cla_private_part; \
    t.seen = cla_local_seen; \
    t.m = cla_local_m; \
    t.p = cla_local_p; \
    t.q = cla_local_q; \
    t.kv = cla_local_kv;

/* L and D of the queries of an element: of the four rows, or of the column. */
#define CLA_NUMBER_OF CLA_CAT(CLA_NUMBER_OF_, CLA_OWNS_QUERIES)
#define CLA_NUMBER_OF_0(t, from, r, j) (real)((from)[cla_key_in_tile(j, (t)->tx)])
#define CLA_NUMBER_OF_1(t, from, r, j) CLA_AT4((from) + cla_row_in_tile(t, r))
#define CLA_L_OF(t, r, j) CLA_NUMBER_OF(t, (t)->m, r, j)
#define CLA_D_OF(t, r, j) CLA_NUMBER_OF(t, (t)->m + CLA_NUMBERS, r, j)

/* ---- Products ---- */

CLA_LOADS_plain(dout, CLA_DV)

/* Chunks before those of a product, in the order of a tile. */
#define CLA_BEFORE_2 CLA_CHUNKS_IN(CLA_D)
#define CLA_BEHIND_2 (CLA_BEFORE_2 + CLA_CHUNKS_IN(CLA_DV))
#define CLA_PLACE_OWNED_1(t, chunk) ((t)->q + ((chunk) & 1) * (CLA_CH * CLA_QP))
#define CLA_PLACE_OTHER_1(t, chunk) ((t)->kv + ((chunk) & 1) * CLA_OTHER_STEP)
#define CLA_PLACE_OWNED_2(t, chunk) CLA_PLACE_OWNED_1(t, (chunk) + CLA_BEFORE_2)
#define CLA_PLACE_OTHER_2(t, chunk) CLA_PLACE_OTHER_1(t, (chunk) + CLA_BEFORE_2)
#define CLA_PLACE_SUMMED(t, chunk) CLA_PLACE_OTHER_1(t, (chunk) + CLA_BEHIND_2)
#define CLA_WITHIN(t, row) min(row, cla_last((t)->own_end))

/* Names of operands are macros themselves. */
#define CLA_CHUNKS_OF_OPERAND(name, x, rows, width, row_of, scaled, place) \
    CLA_CHUNKS_OF(name, x, rows, width, row_of, scaled, place)
#define CLA_KEYS_OF_OPERAND(name, x, width) CLA_KEYS_OF(name, x, width, CLA_PADDED(width), CLA_PLACE_SUMMED)
CLA_CHUNKS_OF_OPERAND(owned_1, CLA_OWNED_1, CLA_BQ, CLA_D, CLA_WITHIN, 1, CLA_PLACE_OWNED_1)
CLA_CHUNKS_OF_OPERAND(other_1, CLA_OTHER_1, CLA_BK, CLA_D, CLA_LIMITED, 0, CLA_PLACE_OTHER_1)
CLA_CHUNKS_OF_OPERAND(owned_2, CLA_OWNED_2, CLA_BQ, CLA_DV, CLA_WITHIN, 0, CLA_PLACE_OWNED_2)
CLA_CHUNKS_OF_OPERAND(other_2, CLA_OTHER_2, CLA_BK, CLA_DV, CLA_LIMITED, 0, CLA_PLACE_OTHER_2)
CLA_KEYS_OF_OPERAND(summed_1, CLA_OTHER_1, CLA_D)
CLA_KEYS_OF_OPERAND(summed_2, CLA_OTHER_2, CLA_DV)
CLA_SUMS_OF(1, CLA_D)
CLA_SUMS_OF(2, CLA_DV)

/* s = owned other^T, of a tile whose columns begin at `at`: cla_qk() of the forward pass, and what it says of P. */
#define CLA_PRODUCT_OF(n, width, OWNED, OTHER) \
    CLA_FN void cla_product_##n(cla_tile *t, const cla_env *e, real *s, int at) \
    { \
        CLA_RECOMPUTE_PLACES(t, at) \
        cla_fetch_owned_##n(t, e, t->first, 0); \
        cla_fetch_other_##n(t, e, at, 0); \
        for (int part = 0; part < CLA_PARTS_IN(width); part++) { \
            const int end = min((part + 1) * CLA_PART_CHUNKS, CLA_CHUNKS_IN(width)); \
            CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) s[i] = (real)(0); \
            CLA_NO_UNROLL for (int i = part * CLA_PART_CHUNKS; i < end; i++) { \
                cla_store_owned_##n(t, i); \
                cla_store_other_##n(t, i); \
                CLA_BARRIER_STAGED \
                if (i + 1 < CLA_CHUNKS_IN(width)) { \
                    cla_fetch_owned_##n(t, e, t->first, i + 1); \
                    cla_fetch_other_##n(t, e, at, i + 1); \
                } \
                cla_dots(s, OWNED(t, i) + cla_row_in_tile(t, 0), OTHER(t, i) + 4 * t->tx); \
            } \
            if (CLA_PARTS_IN(width) > 1) \
                CLA_UNROLL for (int j = 0; j < CLA_TN; j++) \
                    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) { \
                        if (part) s[j * CLA_R_N + g] += *cla_own_p(t, j, g); \
                        if (part + 1 < CLA_PARTS_IN(width)) *cla_own_p(t, j, g) = s[j * CLA_R_N + g]; \
                    } \
        } \
    }
CLA_PRODUCT_OF(1, CLA_D, CLA_PLACE_OWNED_1, CLA_PLACE_OTHER_1)
CLA_PRODUCT_OF(2, CLA_DV, CLA_PLACE_OWNED_2, CLA_PLACE_OTHER_2)

/* sum += s other: the tile's own part first, which is short. */
#define CLA_ADD_OF(n, width) \
    CLA_FN void cla_add_##n(cla_tile *t, const cla_env *e, const real *s, int at) \
    { \
        const int chunks = CLA_BK / CLA_CV; \
        CLA_RECOMPUTE_PLACES(t, at) \
        cla_fetch_summed_##n(t, e, at, 0); \
        cla_store_summed_##n(t, at, 0); \
        cla_share(t, s); \
        CLA_BARRIER_WEIGHTS \
        CLA_NO_UNROLL for (int turn = 0; turn < CLA_TURNS; turn++) { \
            CLA_UNROLL for (int i = 0; i < CLA_TM * CLA_VECTORS(width); i++) t->part[i] = (cla_real4)(0); \
            CLA_NO_UNROLL for (int v = turn * (chunks / CLA_TURNS); v < (turn + 1) * (chunks / CLA_TURNS); v++) { \
                cla_fetch_summed_##n(t, e, at, v + 1); /* of the last column, behind all of them */ \
                cla_sums_##n(t->part, cla_p_place(t, v), CLA_PLACE_SUMMED(t, v) + 4 * t->tx); \
                if (v + 1 < chunks) cla_store_summed_##n(t, at, v + 1); \
                CLA_BARRIER_CHUNK \
            } \
            CLA_UNROLL for (int i = 0; i < CLA_TM * CLA_VECTORS(width); i++) t->sum_##n[i] += t->part[i]; \
        } \
    }
CLA_ADD_OF(1, CLA_D)
CLA_ADD_OF(2, CLA_DV)

/* ---- What the passes ask for ---- */

/* What it does not own ends at `end`. */
CLA_FN void cla_begin_others(cla_tile *t, const cla_env *e, int end)
{
    t->end = max(end, 1);
    t->wide = CLA_ALL_WIDE(e) && CLA_IS_WIDE_plain(dout, cla_dout_row(e, 0), e->a->dout.row);
}
CLA_FN void cla_clear_sum_1(cla_tile *t)
{
    CLA_UNROLL for (int i = 0; i < CLA_TM * CLA_VECTORS(CLA_D); i++) t->sum_1[i] = (cla_real4)(0);
}
CLA_FN void cla_clear_sum_2(cla_tile *t)
{
    CLA_UNROLL for (int i = 0; i < CLA_TM * CLA_VECTORS(CLA_DV); i++) t->sum_2[i] = (cla_real4)(0);
}
/* All is there from the start: what a branch may leave alone a compiler reads all the same, to choose. */
CLA_FN void cla_begin_group(cla_tile *t, cla_scalar scale)
{
    cla_take_place(t);
    cla_begin_own(t, 0, 1);
    t->slope = 0;
    t->scale = scale;
    cla_clear_sum_1(t);
    cla_clear_sum_2(t);
}
CLA_FN void cla_begin_owned(cla_tile *t, const cla_env *e) {} /* chunks of it come with those of the others */
CLA_FN void cla_scores_of(cla_tile *t, const cla_env *e, real *s, int at, int n) { cla_product_1(t, e, s, at); }
CLA_FN void cla_gradients_of(cla_tile *t, const cla_env *e, real *dp, const real *p, int at, int n)
{
    if (CLA_MARKS) cla_mark(t, p, 0);
    cla_product_2(t, e, dp, at);
}

/* Columns of P are in the order of slots. */
CLA_FN int cla_shared_column(int x) { return cla_key_in_tile(x / CLA_TX, x % CLA_TX); }

/* What segments.cl sums. */
#define CLA_SUM_1(t) (t)->sum_1
#define CLA_SUM_2(t) (t)->sum_2
#define CLA_SUM_1_N (CLA_TM * CLA_VECTORS(CLA_D))
#define CLA_SUM_2_N (CLA_OWNS_QUERIES ? 0 : CLA_TM * CLA_VECTORS(CLA_DV))
#define CLA_UNROLL_SUMS CLA_UNROLL

/* Rows of a gradient that are there: `row` is where its row r begins. */
#define CLA_WRITTEN_ROWS(x, n, width) \
    CLA_UNROLL for (int i = 0; i < CLA_TM; i++) { \
        const int r = t->first + t->ty * CLA_TM + i; \
        if (r < t->own_end) { \
            const long row = CLA_ROW_OF_##x(e, r); \
            CLA_UNROLL for (int c = 0; c < CLA_VECTORS(width); c++) \
                CLA_UNROLL for (int l = 0; l < 4; l++) { \
                    const int col = (c * CLA_TX + t->tx) * 4 + l; \
                    if (col < (width)) \
                        cla_store_##x(CLA_COMPONENT(t->sum_##n[i * CLA_VECTORS(width) + c], l), e->at.x + row + col); \
                } \
        } \
    }
