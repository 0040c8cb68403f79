/* Engines with matrix units, K and V in f16 or bf16 as they are stored. A work-group makes a BQ x DV block of O, and
 * products_mma.cl says who holds what. One buffer each for K and V, and two barriers a tile:
 *     fetch V | Q K^T, softmax | store V | barrier 4 begins | fetch next K | it ends | P V | store K | barrier 5
 * Where tiles are read as blocks of two dimensions (mma_surfaces_2d.cl) K does not pass through its buffer, fetching it
 * is a prefetch, and V is fetched behind Q K^T.
 *
 * Barriers, each of which separates what all items did before it | from what any of them does behind it:
 *     1 CLEARED  no key is marked as seen | items mark those that a row of theirs sees (only where keys are dropped)
 *     2 MARKED   all marks are set | they are read where V is stored (likewise)
 *     3 FIRST_K  K of the first tile is stored | it is read
 *     4 V        V is stored, K is read | V is read, the next K stored
 *     5 K        K is stored, V and the marks are read | K is read, the next V stored, marks are cleared
 * An item keeps Q to itself, unless lanes have the other part of rows as well (CLA_MMA_WHOLE) or waves share rows
 * (CLA_ROW_WAVES): then 3 also stands between Q that is stored and Q that other items read. */
#define CLA_BARRIER_MARKED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_FIRST_K barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_V_BEGINS CLA_ARRIVE();
#define CLA_BARRIER_V_ENDS CLA_WAIT();
#define CLA_BARRIER_K barrier(CLK_LOCAL_MEM_FENCE);

#define CLA_DP CLA_DOTTED(CLA_D)
#define CLA_DVP CLA_SUMMED(CLA_DV)
#define CLA_O_N CLA_SUMS_N(CLA_DV)
#define CLA_KC (CLA_DP / 8) /* chunks of a row */
#define CLA_VC (CLA_DVP / 8)
#define CLA_UNROLL_O CLA_UNROLL

#define CLA_LOCAL(t) \
    __local uint4 cla_local_k[CLA_BK * CLA_KC] __attribute__((aligned(16))); \
    __local uint4 cla_local_v[CLA_BK * CLA_VC] __attribute__((aligned(16))); \
    t.k = cla_local_k; \
    t.v = cla_local_v; \
    CLA_CAT(CLA_LOCAL_Q_, CLA_QREG)(t) CLA_CAT(CLA_LOCAL_SEEN_, CLA_DROPS)(t)
/* Arrays of nothing would be bytes too many for a tile that fills 48 KiB. */
#define CLA_LOCAL_Q_1(t) t.q = 0;
#define CLA_LOCAL_Q_0(t) \
    __local uint4 cla_local_q[CLA_BQ * CLA_KC] __attribute__((aligned(32))); \
    t.q = cla_local_q;
#define CLA_LOCAL_SEEN_0(t) t.seen = 0;
#define CLA_LOCAL_SEEN_1(t) \
    __local int cla_local_seen[CLA_BK]; \
    t.seen = cla_local_seen;

#define CLA_QK_ALONE(t, e, s, k0, n, next) cla_qk_alone(t, e, s, k0, n, next)
#define CLA_GREATER(x, y) fmax(x, y)
#define CLA_ROW_STEP 1
#define CLA_KEY_STEP 0
#define CLA_OWNS_ROWS(t) ((t)->part == 0)
#define CLA_RAISE(t, top, m, f) cla_raise_warp(t, s, top, m, f)
#define CLA_ROW_MAX(t, m, r) m[r]
#define CLA_WORK_GROUP_AGAIN cla_work_group_again()
#define CLA_ITEM_AGAIN(key) cla_item_again(key)
#define CLA_O_FACTOR(f, i) f[(i) / CLA_OF_TILE(CLA_DV) * CLA_MMA_ROWS + (i) / CLA_MMA_COLUMNS % CLA_MMA_ROWS]
/* Weights of a new maximum are 2^NEW, and up to 2^8 times as much before it is raised. f16 has its largest numbers
 * there, so that the small ones count as well; bf16 goes down far enough, and its sums are those of weights up to 1. */
#define CLA_NEW_f16 7
#define CLA_NEW_bf16 -8
#define CLA_NEW CLA_CAT(CLA_NEW_, CLA_TQ)
#define CLA_GROWTH 8
/* Where nothing but scaling is done to scores they come unscaled, as do maxima: a weight is one multiply-add and one
 * 2^x. Natural ones may be as low as float goes, and so is their maximum where a row has seen none. */
#define CLA_LOG2_UNIT(t) (CLA_NATURAL ? CLA_LOG2E : (t)->scale)
#undef CLA_WEIGHT
#define CLA_WEIGHT(t, x, pivot) \
    cla_exp2(CLA_NATURAL ? fma((x) - (pivot), CLA_LOG2E, CLA_NEW) : fma(x, (t)->scale, -(pivot)))
#undef CLA_FACTOR
#define CLA_FACTOR(t, before, now) cla_exp2(((before) - (CLA_NATURAL ? cla_pivot(now) : (now))) * CLA_LOG2_UNIT(t))
#undef CLA_LOWEST
#define CLA_LOWEST (CLA_NATURAL ? -INFINITY : -MAXFLOAT)
#undef CLA_IS_FIRST
#define CLA_IS_FIRST(t) (CLA_SHARE(t) == 0)
#undef CLA_SINK_LAST
#define CLA_SINK_LAST 1 /* a large one would leave no room in f16 for weights beside it */
#undef CLA_KEPT
#define CLA_KEPT(x) cla_kept(x)

#define CLA_IS_DIRECT(t) (CLA_SURFACES && (t)->direct)
/* Whether tiles of even rows have a quick way of their own. Not beside surfaces: both together spill. */
#define CLA_HAS_EVEN_WAY(width) (((width) % 8 == 0) & CLA_MAY_BE_EVEN & !CLA_SURFACES)

/* Chunk c of a row, from the tensor's first one, where rows are even: a product of 32 bits. From the tile's first row
 * on, compilers would keep the distances to the others in registers, and there are none to spare. */
#define CLA_CHUNK(first, c, row, step) \
    (*(const __global uint4 *)((const __global uchar *)(first) + 16 * (c) + cla_product(row, step)))

/* Keys past the last one of the loop repeat it, or are zero as blocks: their scores are dropped by the element test. */
CLA_FN void cla_fetch_k(cla_tile *t, const cla_env *e, int k0)
{
    if (CLA_IS_DIRECT(t)) {
        cla_fetch_k_of_surface(t, e, k0);
        return;
    }
    if (CLA_HAS_EVEN_WAY(CLA_D) && t->wide && k0 + CLA_BK <= t->end) {
        CLA_EACH_CHUNK(CLA_BK, CLA_KC)
            t->moved[n] = (uint4)(0);
            if (CLA_D == CLA_DP || 8 * c < CLA_D) t->moved[n] = CLA_CHUNK(cla_k_row(e, 0), c, k0 + row, cla_k_bytes(e));
        CLA_END_CHUNK
    } else {
        CLA_EACH_CHUNK(CLA_BK, CLA_KC)
            const __global ushort *from = (const __global ushort *)cla_k_row(e, min(k0 + row, t->end - 1));
            t->moved[n] = cla_load8(from, 8 * c, CLA_D, t->wide);
        CLA_END_CHUNK
        cla_converge(t->warp);
    }
}
/* Whether all chunks of an item lie alike in rows that swap halves alike: their places are CLA_LANES chunks apart. */
#define CLA_LIKE_ROWS (CLA_WHOLE_ROWS(CLA_KC) && CLA_LANES / CLA_KC % CLA_SWAPPED_ALIKE == 0)
CLA_FN void cla_store_k(cla_tile *t)
{
    if (CLA_IS_DIRECT(t)) return;
    CLA_EACH_CHUNK(CLA_BK, CLA_KC)
        t->k[CLA_LIKE_ROWS ? t->k_place + n * CLA_LANES : cla_k_place(row, c, CLA_KC)] = t->moved[n];
    CLA_END_CHUNK
}

/* Of a tile that is not whole a row past the last key is zero: the last one may be inf, and 0 * inf is NaN. */
CLA_FN void cla_fetch_v(cla_tile *t, const cla_env *e, int k0)
{
    if (CLA_IS_DIRECT(t)) {
        cla_fetch_v_of_surface(t, e, k0);
        return;
    }
    if (CLA_HAS_EVEN_WAY(CLA_DV) && t->wide && k0 + CLA_BK <= t->end) {
        CLA_EACH_CHUNK(CLA_BK / CLA_TURNED, CLA_VC)
            CLA_UNROLL for (int i = 0; i < CLA_TURNED; i++) {
                t->moved[CLA_TURNED * n + i] = (uint4)(0);
                if (CLA_DV == CLA_DVP || 8 * c < CLA_DV)
                    t->moved[CLA_TURNED * n + i] =
                        CLA_CHUNK(cla_v_row(e, 0), c, k0 + CLA_TURNED * row + i, cla_v_bytes(e));
            }
        CLA_END_CHUNK
    } else {
        CLA_EACH_CHUNK(CLA_BK / CLA_TURNED, CLA_VC)
            CLA_UNROLL for (int i = 0; i < CLA_TURNED; i++) {
                const int k = k0 + CLA_TURNED * row + i;
                const __global ushort *from = (const __global ushort *)cla_v_row(e, min(k, t->end - 1));
                t->moved[CLA_TURNED * n + i] = k < t->end ? cla_load8(from, 8 * c, CLA_DV, t->wide) : (uint4)(0);
            }
        CLA_END_CHUNK
        cla_converge(t->warp);
    }
}
/* Keys that no query sees weigh nothing, but 0 * NaN would be NaN. */
CLA_FN void cla_store_v(cla_tile *t)
{
    if (CLA_IS_DIRECT(t)) {
        cla_store_v_of_surface(t);
        return;
    }
    CLA_EACH_CHUNK(CLA_BK / CLA_TURNED, CLA_VC)
        uint4 x[CLA_TURNED];
        CLA_UNROLL for (int i = 0; i < CLA_TURNED; i++) {
            x[i] = t->moved[CLA_TURNED * n + i];
            if (CLA_DROPS) x[i] = t->seen[CLA_TURNED * row + i] ? x[i] : (uint4)(0);
        }
        cla_put_columns(t->v, x, row, c, CLA_VC);
    CLA_END_CHUNK
}

/* Marks the keys that some row of the work-group sees. */
CLA_FN void cla_mark_seen(cla_tile *t, const real *s, int n)
{
    cla_mark(t, s, -INFINITY);
    CLA_BARRIER_MARKED
}

/* ---- The loop ---- */

#define CLA_Q_ROW(t, e, r) cla_q_row(e, r)
CLA_OWNED_OF(q, CLA_D, CLA_Q_ROW)

CLA_FN void cla_begin(cla_tile *t, const cla_env *e, int r0, int begin, int end, cla_scalar scale)
{
    /* Signed: of unsigned numbers NVIDIA's compilers compute addresses anew in the loop, with 48 instructions more. */
    t->item = get_local_id(0);
    t->column = CLA_MMA_COLUMN(t->item);
    t->part = CLA_MMA_PART(t->item);
    t->first = r0;
    t->end = end;
    t->scale = scale;
    t->k_place = cla_k_place(t->item / CLA_KC, t->item % CLA_KC, CLA_KC);
    t->wide = (((uint)(uintptr_t)e->q | (uint)(uintptr_t)cla_k_base(e) | (uint)(uintptr_t)cla_v_base(e) |
                (uint)(cla_q_steps(e) | cla_k_steps(e) | cla_v_steps(e)) * 2) % 16 == 0) &
              (!CLA_MAY_BE_EVEN | cla_rows_are_even(e));
    t->direct = t->wide && cla_are_surfaces(e, end);
    cla_warp_init(&t->warp, e, t->item);
    if (begin >= end) return;
    cla_begin_q(t, e);
    cla_fetch_k(t, e, begin);
    cla_store_k(t);
    CLA_BARRIER_FIRST_K
}

CLA_DOTS(q, k, CLA_DP)
CLA_SUMS(v, CLA_DVP)

CLA_FN void cla_products_of(cla_tile *t, const cla_env *e, real *s, int k0)
{
    if (CLA_IS_DIRECT(t)) cla_dots_of_surface(t, e, s, k0);
    else cla_dots_qk(t, s);
    if (CLA_NATURAL) CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) s[i] *= t->scale;
}
CLA_FN void cla_qk(cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    if (!CLA_IS_DIRECT(t)) cla_fetch_v(t, e, k0);
    cla_products_of(t, e, s, k0);
    if (CLA_IS_DIRECT(t)) cla_fetch_v(t, e, k0); /* blocks of K fill the registers */
}
/* Where no values are multiplied: what cla_pv() does for the next tile as well. */
CLA_FN void cla_qk_alone(cla_tile *t, const cla_env *e, real *s, int k0, int n, int next)
{
    cla_products_of(t, e, s, k0);
    CLA_BARRIER_V_BEGINS
    cla_fetch_k(t, e, next);
    CLA_BARRIER_V_ENDS
    cla_store_k(t);
    CLA_BARRIER_K
}

/* CLA_RAISE. A maximum that grows by less than 2^8 stays, since weights have room for that: nearly no tile rescales O
 * then. NaN, of -inf beside -inf, takes the new one. The multiply-add of a weight does not round its product as that of
 * the maximum was rounded. That is the same factor for all weights of a row, and a small one, unless logits are far
 * out: then the maximum is taken from scores first. */
CLA_FN void cla_raise_warp(cla_tile *t, real *s, real *top, real *m, real *f)
{
    int far = CLA_INVARIANT; /* of some row, else */
    t->same = 1;
    CLA_UNROLL_MMA for (int r = 0; r < CLA_R_N; r++) {
        real x = CLA_GREATER(m[r], top[r]);
        CLA_UNROLL_MMA CLA_EACH_PART(by) x = CLA_GREATER(x, cla_exchange(t->warp, x, by));
        const real growth = (x - m[r]) * CLA_LOG2_UNIT(t);
        const int stays = growth <= CLA_GROWTH;
        x = stays ? m[r] : x;
        t->same &= stays;
        f[r] = CLA_NATURAL ? CLA_FACTOR(t, m[r], x) : stays ? (real)(1) : cla_exp2(-growth);
        top[r] = CLA_NATURAL ? cla_pivot(x) : x * t->scale - CLA_NEW;
        far |= fabs(top[r]) > 0x1p22f;
        m[r] = x;
    }
    if (!CLA_NATURAL && far) {
        CLA_UNROLL_MMA for (int j = 0; j < CLA_COLUMNS_N; j++)
            CLA_UNROLL_MMA for (int r = 0; r < CLA_R_N; r++) s[j * CLA_R_N + r] -= m[r];
        CLA_UNROLL_MMA for (int r = 0; r < CLA_R_N; r++) top[r] = -CLA_NEW;
    }
}
CLA_FN void cla_row_sum(cla_tile *t, real *x)
{
    CLA_UNROLL_MMA for (int r = 0; r < CLA_R_N; r++)
        CLA_UNROLL_MMA CLA_EACH_PART(by) x[r] += cla_exchange(t->warp, x[r], by);
}

CLA_FN void cla_pv(cla_tile *t, const cla_env *e, real *o, real *s, const real *f, int k0, int n, int next)
{
    if (!t->same)
        CLA_UNROLL for (int i = 0; i < CLA_O_N; i++) o[i] *= CLA_O_FACTOR(f, i);
    const real as_they_are[2] = { 1, 1 };
    cla_left p[CLA_BK / CLA_MMA_K][CLA_RT]; /* as soon as can be: half of the registers of s */
    CLA_UNROLL for (int j = 0; j < CLA_BK / CLA_MMA_K; j++)
        CLA_UNROLL for (int i = 0; i < CLA_RT; i++) p[j][i] = cla_left_weights(t, s, j, i, as_they_are);
    cla_store_v(t);
    CLA_BARRIER_V_BEGINS
    cla_fetch_k(t, e, next);
    CLA_BARRIER_V_ENDS
    cla_sums_v(t, o, p);
    cla_store_k(t);
    CLA_BARRIER_K
}

/* ---- The end ---- */

/* Row r, whose sums begin at o. Columns of a chunk are neighbours: where rows of O are whole multiples of CLA_WIDE_STEP
 * a lane has 8 neighbours or more, and stores them 8 at a time. */
#define CLA_OF_NEW_f16 0x1p-7f
#define CLA_OF_NEW_bf16 0x1p8f
#define CLA_WIDE_STEP (8 * CLA_MMA_N)
#define CLA_WIDE_STEPS (CLA_DV / CLA_ROW_WAVES / CLA_WIDE_STEP)
CLA_FN void cla_write_row(const cla_tile *t, const cla_env *e, const real *o, int r, cla_scalar m, cla_scalar l)
{
    if (r >= cla_row_count(e, e->nq)) return;
    cla_put_lse(e, r, CLA_NATURAL ? m : m * t->scale, l * CLA_CAT(CLA_OF_NEW_, CLA_TQ),
                CLA_OWNS_ROWS(t) && CLA_IS_FIRST(t));
    if (!CLA_IS_WRITTEN(e, l)) return;
    const long row = cla_o_row(e, r);
    const cla_scalar inverse = CLA_INVERSE(l);
#define CLA_OUT(h, k, x) CLA_FINISHED(o[CLA_SUM_OF(CLA_CHUNK_STEPS * (h) + (k), x)], l, inverse)
    if (CLA_DV % (CLA_ROW_WAVES * CLA_WIDE_STEP) == 0 && CLA_ROW_IS_WIDE(e, row))
        CLA_UNROLL for (int h = 0; h < CLA_WIDE_STEPS; h++)
            CLA_UNROLL for (int x = 0; x < CLA_MMA_COLUMNS; x++) {
                real y[8];
                CLA_UNROLL for (int i = 0; i < 8; i++)
                    y[i] = CLA_OUT(i / CLA_CHUNK_STEPS * CLA_WIDE_STEPS + h, i % CLA_CHUNK_STEPS, x);
                const int first = CLA_WIDE_STEP * (CLA_SHARE(t) * CLA_WIDE_STEPS + h);
                CLA_PUT_8(e, row, first + 8 * CLA_MMA_ROW(CLA_MMA_COLUMNS * t->part + x), y)
            }
    else
        CLA_UNROLL for (int h = 0; h < CLA_DVP / CLA_ROW_WAVES / CLA_SUMMED_STEP; h++)
            CLA_UNROLL for (int x = 0; x < CLA_MMA_COLUMNS; x++) {
                const int d = CLA_COLUMN_OF(t, h, x, CLA_VC);
                CLA_UNROLL for (int k = 0; k < CLA_CHUNK_STEPS; k++)
                    if (d + k < CLA_DV) cla_put(e, row, d + k, CLA_OUT(h, k, x));
            }
}

/* Registers are full in the loop: where to write is found out anew. */
CLA_FN void cla_write(cla_tile *t, cla_env *e, const real *o, const real *m, const real *l)
{
    t->item = cla_item_again(t->end);
    t->part = CLA_MMA_PART(t->item);
    t->first = cla_place(e->a, cla_work_group_again(), CLA_BQ, &e->b, &e->h, &e->part);
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++)
        cla_write_row(t, e, o + CLA_SUMS_OF_ROW(r, CLA_OF_TILE(CLA_DV)), cla_slot_row(t, r), m[r], l[r]);
}
