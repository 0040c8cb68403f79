/* Engines with matrix units, backward: rows are what a work-group owns, keys or queries, and columns are the others.
 * Four products where keys are owned, three where queries are: products_mma.cl has them, and says who holds what.
 *
 *     scores = owned_1 other_1^T, dP = owned_2 other_2^T       rows x columns, over dims
 *     sum_1 += dS other_1, sum_2 += P other_2                  rows x dims, over columns; the latter for dV only
 *
 * So owned and other are K and Q, V and dO where keys are owned, and the other way round where queries are. The others
 * are staged for one product after the other, as rows to multiply with or to add up, in two buffers by turns:
 *     fetch | store | barrier 2 | product
 *
 * Barriers, each of which separates what all items did before it | from what any of them does behind it:
 *     1 CLEARED  no column is marked as seen | items mark those in which a row of theirs weighs
 *     2 STAGED   rows are stored in one buffer, those in the other one are read; L and D are there, all marks are set
 *                | these rows are read, the next are stored in the other buffer; L, D and marks are read. Behind the
 *                barrier of a sum L and D are free
 *     3 SPENT    L and D are read, and nothing is summed | the next ones are stored
 *     4 OFFERED  dS is stored for others | they read it
 *     5 TAKEN    it is read | the next one is stored
 * An item keeps what it owns to itself, unless lanes have whole rows (CLA_MMA_WHOLE): then STAGED also stands between
 * that being stored and other lanes of the wave reading it. */
#define CLA_BARRIER_STAGED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_SPENT barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_OFFERED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_TAKEN barrier(CLK_LOCAL_MEM_FENCE);

#define CLA_ROW_STEP 1
#define CLA_KEY_STEP 0
#define CLA_QP (CLA_BQ + 4)
#define CLA_OTHER_N (CLA_BK * CLA_MAX(CLA_DOTTED(CLA_D), CLA_DOTTED(CLA_DV)) / 8) /* of a buffer */

#define CLA_LOCAL(t) \
    __local uint4 cla_local_others[2 * CLA_OTHER_N] __attribute__((aligned(16))); \
    __local cla_scalar cla_local_m[2 * CLA_NUMBERS] __attribute__((aligned(16))); \
    t.others = cla_local_others; \
    t.m = cla_local_m; \
    CLA_CAT(CLA_LOCAL_OWNED_, CLA_QREG)(t) CLA_CAT(CLA_LOCAL_SEEN_, CLA_OWNS_QUERIES)(t) \
    CLA_CAT(CLA_LOCAL_P_, CLA_HAS_BIAS)(t)
#define CLA_LOCAL_P_0(t) t.p = 0;
#define CLA_LOCAL_P_1(t) \
    __local cla_scalar cla_local_p[CLA_OWNS_QUERIES ? 1 : CLA_BK * CLA_QP]; \
    t.p = cla_local_p;
#define CLA_LOCAL_OWNED_1(t) t.owned_1 = t.owned_2 = 0;
#define CLA_LOCAL_OWNED_0(t) \
    __local uint4 cla_local_owned_1[CLA_BQ * CLA_DOTTED(CLA_D) / 8] __attribute__((aligned(32))); \
    __local uint4 cla_local_owned_2[CLA_BQ * CLA_DOTTED(CLA_DV) / 8] __attribute__((aligned(32))); \
    t.owned_1 = cla_local_owned_1; \
    t.owned_2 = cla_local_owned_2;
#define CLA_LOCAL_SEEN_0(t) \
    __local int cla_local_seen[CLA_BK] __attribute__((aligned(16))); \
    t.seen = cla_local_seen;
#define CLA_LOCAL_SEEN_1(t) CLA_CAT(CLA_LOCAL_DROPS_, CLA_DROPS)(t)
#define CLA_LOCAL_DROPS_0(t) t.seen = 0;
#define CLA_LOCAL_DROPS_1(t) CLA_LOCAL_SEEN_0(t)

/* L and D of an element's query. */
#define CLA_L_OF(t, r, j) (t)->m[CLA_NUMBER_OF(t, r, j)]
#define CLA_D_OF(t, r, j) (t)->m[CLA_NUMBERS + CLA_NUMBER_OF(t, r, j)]
#define CLA_NUMBER_OF(t, r, j) (CLA_OWNS_QUERIES ? cla_slot_row(t, r) - (t)->first : cla_slot_k(t, 0, j))

/* ---- Staging ---- */

CLA_FN __local uint4 *cla_other_buffer(cla_tile *t)
{
    t->turn ^= 1;
    return t->others + t->turn * CLA_OTHER_N;
}

/* Rows of an operand by its name, which is a macro itself; of those that a work-group owns, and of the others. */
#define CLA_OPERAND_ROW(x, e, r) ((const __global ushort *)CLA_CAT(CLA_CAT(cla_, x), _row)(e, r))
#define CLA_OWNED_1_ROW(t, e, r) CLA_OPERAND_ROW(CLA_OWNED_1, e, min(r, cla_last((t)->own_end)))
#define CLA_OWNED_2_ROW(t, e, r) CLA_OPERAND_ROW(CLA_OWNED_2, e, min(r, cla_last((t)->own_end)))
#define CLA_OTHER_1_ROW(t, e, r) CLA_OPERAND_ROW(CLA_OTHER_1, e, min(r, (t)->end - 1))
#define CLA_OTHER_2_ROW(t, e, r) CLA_OPERAND_ROW(CLA_OTHER_2, e, min(r, (t)->end - 1))
CLA_OWNED_OF(owned_1, CLA_D, CLA_OWNED_1_ROW)
CLA_OWNED_OF(owned_2, CLA_DV, CLA_OWNED_2_ROW)

/* The other rows, from `at` on, to multiply with: past the last one of the loop they repeat it, and their scores are
 * dropped. To add up: those are zero, as are rows in which nothing weighs, since 0 * NaN would be NaN. */
#define CLA_STAGED_OF(which, width, row_of) \
    CLA_FN void cla_fetch_dotted_##which(cla_tile *t, const cla_env *e, int at0) \
    { \
        CLA_EACH_CHUNK(CLA_BK, CLA_DOTTED(width) / 8) \
            t->moved[n] = cla_load8(row_of(t, e, at0 + row), 8 * c, width, t->wide); \
        CLA_END_CHUNK \
        cla_converge(t->warp); \
    } \
    CLA_FN void cla_store_dotted_##which(cla_tile *t) \
    { \
        t->other_##which = cla_other_buffer(t); \
        CLA_EACH_CHUNK(CLA_BK, CLA_DOTTED(width) / 8) \
            t->other_##which[cla_k_place(row, c, CLA_DOTTED(width) / 8)] = t->moved[n]; \
        CLA_END_CHUNK \
    } \
    CLA_FN void cla_fetch_summed_##which(cla_tile *t, const cla_env *e, int at0) \
    { \
        CLA_EACH_CHUNK(CLA_BK / CLA_TURNED, CLA_SUMMED(width) / 8) \
            CLA_UNROLL for (int i = 0; i < CLA_TURNED; i++) { \
                const int r = at0 + CLA_TURNED * row + i; \
                t->moved[CLA_TURNED * n + i] = \
                    r < t->end ? cla_load8(row_of(t, e, r), 8 * c, width, t->wide) : (uint4)(0); \
            } \
        CLA_END_CHUNK \
        cla_converge(t->warp); \
    } \
    CLA_FN void cla_store_summed_##which(cla_tile *t) \
    { \
        t->other_##which = cla_other_buffer(t); \
        CLA_EACH_CHUNK(CLA_BK / CLA_TURNED, CLA_SUMMED(width) / 8) \
            uint4 x[CLA_TURNED]; \
            CLA_UNROLL for (int i = 0; i < CLA_TURNED; i++) { \
                x[i] = t->moved[CLA_TURNED * n + i]; \
                if (CLA_MARKS) x[i] = t->seen[CLA_TURNED * row + i] ? x[i] : (uint4)(0); \
            } \
            cla_put_columns(t->other_##which, x, row, c, CLA_SUMMED(width) / 8); \
        CLA_END_CHUNK \
    }
CLA_STAGED_OF(1, CLA_D, CLA_OTHER_1_ROW)
CLA_STAGED_OF(2, CLA_DV, CLA_OTHER_2_ROW)

/* ---- Products ---- */

CLA_DOTS(owned_1, other_1, CLA_DOTTED(CLA_D))
CLA_DOTS(owned_2, other_2, CLA_DOTTED(CLA_DV))
CLA_SUMS(other_1, CLA_SUMMED(CLA_D))
CLA_SUMS(other_2, CLA_SUMMED(CLA_DV))

CLA_FN void cla_scores_of(cla_tile *t, const cla_env *e, real *s, int at, int n)
{
    cla_fetch_dotted_1(t, e, at);
    cla_store_dotted_1(t);
    CLA_BARRIER_STAGED
    cla_dots_owned_1other_1(t, s);
    CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) s[i] *= t->scale;
}
CLA_FN void cla_gradients_of(cla_tile *t, const cla_env *e, real *dp, const real *p, int at, int n)
{
    cla_fetch_dotted_2(t, e, at);
    if (CLA_MARKS) cla_mark(t, p, 0);
    cla_store_dotted_2(t);
    CLA_BARRIER_STAGED
    cla_dots_owned_2other_2(t, dp);
}

/* P and dS are multiplied in 16 bits. f16 holds but a part of the numbers that they may be, so what a row has of them
 * is multiplied by a power of two, its room, and so is its sum. Up to 2^8 times as much as the largest one so far has
 * room; when there is none the sum is scaled down. bf16 goes as far as float does. */
#define CLA_NEEDS_ROOM CLA_CAT(CLA_NEEDS_ROOM_, CLA_TQ)
#define CLA_NEEDS_ROOM_f16 1
#define CLA_NEEDS_ROOM_bf16 0
#define CLA_ALL_ROOM (CLA_NEEDS_ROOM ? 0x1p120f : 1.0f) /* of rows whose sum is 0 */
#define CLA_EXPONENT(x) (as_int(x) >> 23 & 255)
CLA_FN void cla_make_room(cla_tile *t, const real *s, real *room, real *sum, const int of_tile)
{
    CLA_UNROLL_MMA for (int r = 0; r < CLA_R_N; r++) {
        real top = 0;
        CLA_UNROLL for (int j = 0; j < CLA_COLUMNS_N; j++) top = fmax(top, fabs(s[j * CLA_R_N + r]));
        CLA_UNROLL_MMA CLA_EACH_PART(by) top = fmax(top, cla_exchange(t->warp, top, by));
        if (top * room[r] > 0x1p15f) {
            const int now = 2 * 127 + 7 - CLA_EXPONENT(top), less = CLA_EXPONENT(room[r]) - now;
            const real factor = as_float((127 - min(less, 126)) << 23);
            CLA_UNROLL for (int i = 0; i < of_tile / CLA_MMA_ROWS; i++)
                sum[CLA_SUMS_OF_ROW(r, of_tile) + CLA_SUM_OF(i / CLA_MMA_COLUMNS, i % CLA_MMA_COLUMNS)] *= factor;
            room[r] = as_float(now << 23);
        }
    }
}

/* sum += s other. */
#define CLA_ADD_OF(n, width) \
    CLA_FN void cla_add_##n(cla_tile *t, const cla_env *e, const real *s, int at) \
    { \
        cla_left weights[CLA_BK / CLA_MMA_K][CLA_RT]; \
        if (CLA_NEEDS_ROOM) cla_make_room(t, s, t->room_##n, t->sum_##n, CLA_OF_TILE(width)); \
        CLA_UNROLL for (int j = 0; j < CLA_BK / CLA_MMA_K; j++) \
            CLA_UNROLL for (int i = 0; i < CLA_RT; i++) \
                weights[j][i] = cla_left_weights(t, s, j, i, t->room_##n + CLA_MMA_ROWS * i); \
        cla_fetch_summed_##n(t, e, at); \
        cla_store_summed_##n(t); \
        CLA_BARRIER_STAGED \
        cla_sums_other_##n(t, t->sum_##n, weights); \
    }
CLA_ADD_OF(1, CLA_D)
CLA_ADD_OF(2, CLA_DV)

/* ---- What the passes ask for ---- */

/* How operands of a head are read. */
CLA_FN void cla_begin_operands(cla_tile *t, const cla_env *e)
{
    const uint starts = (uint)(uintptr_t)e->q | (uint)(uintptr_t)cla_k_base(e) | (uint)(uintptr_t)cla_v_base(e) |
                        (uint)(uintptr_t)cla_dout_row(e, 0);
    const uint steps = (uint)(cla_q_steps(e) | cla_k_steps(e) | cla_v_steps(e) | e->a->dout.row);
    t->wide = (starts | steps * 2) % 16 == 0;
    cla_warp_init(&t->warp, e, t->item);
}
/* Turns to a head: what it does not own ends at `end`. */
CLA_FN void cla_begin_others(cla_tile *t, const cla_env *e, int end)
{
    t->end = max(end, 1);
    cla_begin_operands(t, e);
}
CLA_FN void cla_clear_sum_1(cla_tile *t)
{
    CLA_UNROLL for (int i = 0; i < CLA_SUMS_N(CLA_D); i++) t->sum_1[i] = 0;
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) t->room_1[r] = CLA_ALL_ROOM;
}
CLA_FN void cla_clear_sum_2(cla_tile *t)
{
    CLA_UNROLL for (int i = 0; i < CLA_SUMS_N(CLA_DV); i++) t->sum_2[i] = 0;
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) t->room_2[r] = CLA_ALL_ROOM;
}
/* All is there from the start: what a branch may leave alone a compiler reads all the same, to choose. */
CLA_FN void cla_begin_group(cla_tile *t, cla_scalar scale)
{
    t->item = get_local_id(0);
    t->column = CLA_MMA_COLUMN(t->item);
    t->part = CLA_MMA_PART(t->item);
    t->scale = scale;
    t->turn = 0;
    cla_begin_own(t, 0, 1);
    t->slope = 0;
    cla_clear_sum_1(t);
    cla_clear_sum_2(t);
}
CLA_FN void cla_begin_owned(cla_tile *t, const cla_env *e)
{
    cla_begin_operands(t, e);
    cla_begin_owned_1(t, e);
    cla_begin_owned_2(t, e);
}

/* dS as others add it up: columns lie as they come. */
CLA_FN void cla_share(const cla_tile *t, const real *s)
{
    CLA_UNROLL for (int j = 0; j < CLA_COLUMNS_N; j++)
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++)
            t->p[cla_slot_k(t, 0, j) * CLA_QP + cla_slot_row(t, r) - t->first] = s[j * CLA_R_N + r];
}
CLA_FN int cla_shared_column(int x) { return x; }

/* Rows of a gradient that are there: `row` is where its row r begins. */
#define CLA_WRITTEN_ROWS(x, n, width) \
    CLA_UNROLL for (int slot = 0; slot < CLA_R_N; slot++) { \
        const int r = cla_slot_row(t, slot); \
        const real *const sum = t->sum_##n + CLA_SUMS_OF_ROW(slot, CLA_OF_TILE(width)); \
        const real factor = as_float((254 << 23) - as_int(t->room_##n[slot])); /* the inverse of a power of two */ \
        if (r < t->own_end) { \
            const long row = CLA_ROW_OF_##x(e, r); \
            CLA_UNROLL for (int h = 0; h < CLA_SUMMED(width) / CLA_SUMMED_STEP; h++) \
                CLA_UNROLL for (int i = 0; i < CLA_MMA_COLUMNS; i++) { \
                    const int d = CLA_COLUMN_OF(t, h, i, CLA_SUMMED(width) / 8); \
                    CLA_UNROLL for (int k = 0; k < CLA_CHUNK_STEPS; k++) \
                        if (d + k < (width)) \
                            cla_store_##x(sum[CLA_SUM_OF(CLA_CHUNK_STEPS * h + k, i)] * factor, \
                                          e->at.x + row + d + k); \
                } \
        } \
    }
