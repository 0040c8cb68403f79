/* Engine `simt`: any GPU, plain OpenCL C 1.2. A work-group makes a BQ x DV block of O (products_simt.cl says who holds
 * what). All of Q lies in local memory (QRES 1) or is streamed beside K (0).
 *
 * Barriers, each of which separates what all items did before it | from what any of them does behind it:
 *     1 CLEARED    no key is marked as seen | items mark those that a row of theirs sees (only where keys are dropped)
 *     2 STAGED     chunk i of Q and K is stored, chunk i - 1 is read | chunk i is read, chunk i + 1 is stored over
 *                  chunk i - 1
 *     3 COLLECTED  each item's maximum or sum of its rows lies in P, the last chunk of Q and K is read | owners of rows
 *                  read the former, V and P are stored over the latter, or where no values are multiplied the next
 *                  tile's first chunk
 *     4 RAISED     owners have written maxima, pivots and factors and are done with P, all marks are set | all read the
 *                  former, marks are read where V is stored, P is stored
 *     5 WEIGHTS    P and chunk 0 of V are stored | both are read
 *     6 CHUNK      chunk v of V is read, chunk v + 1 is stored | chunk v + 1 is read, chunk v + 2 is stored over chunk
 *                  v. Behind the last one P, the marks and both buffers are free for the next tile
 *     7 SUMMED     owners have written sums, at the end | all read them */
#define CLA_BARRIER_STAGED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_COLLECTED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_RAISED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_WEIGHTS barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_CHUNK barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_SUMMED barrier(CLK_LOCAL_MEM_FENCE);

#define CLA_MARKS CLA_DROPS
#define CLA_GD CLA_VECTORS(CLA_DV)
#define CLA_DVP CLA_PADDED(CLA_DV)
#define CLA_O_N (CLA_TM * CLA_GD)
#define CLA_UNROLL_O CLA_UNROLL

#define CLA_CHUNKS CLA_CHUNKS_IN(CLA_D)
#define CLA_PARTS CLA_PARTS_IN(CLA_D)
#define CLA_QSTEP (CLA_QRES ? 0 : CLA_CH * CLA_QP)
#define CLA_QBUF ((CLA_QRES ? CLA_CHUNKS : 2) * CLA_CH * CLA_QP)
/* Q on its way lies where P will be, if no sums of parts do. What CLA_COLLECT writes there is behind it. */
#define CLA_Q_IN_P (!CLA_QRES && CLA_PARTS == 1 && 2 * CLA_CH <= CLA_BK - CLA_TX)
#define CLA_P_AT (CLA_Q_IN_P ? 0 : CLA_QBUF)
#define CLA_KVSTEP CLA_MAX(CLA_CH * CLA_KP, CLA_CV * CLA_DVP)
#define CLA_OWN_WORDS 0
#define CLA_WORK_GROUP_AGAIN CLA_GROUP
/* The item's number. It seems to depend on the key, so that compilers cannot compute addresses of sums before the loop;
 * no key is negative. */
#define CLA_ITEM_AGAIN(key) (get_local_id(0) ^ (uint)((key) >> 31))
#define CLA_K_SCALED (!CLA_QRES && CLA_BK < CLA_BQ) /* what is stored less often is scaled */

#define CLA_LOCAL(t) \
    __local cla_scalar cla_local_q[CLA_P_AT + CLA_BK * CLA_QP] __attribute__((aligned(32))); \
    __local cla_scalar cla_local_kv[2 * CLA_KVSTEP] __attribute__((aligned(32))); \
    __local cla_scalar cla_local_m[3 * CLA_BQ] __attribute__((aligned(32))); \
    __local int cla_local_seen[CLA_DROPS ? CLA_BK : 1]; \
    cla_real4 cla_private_part[CLA_O_N]; \
    t.part = cla_private_part; \
    t.seen = cla_local_seen; \
    t.m = cla_local_m; \
    t.q = cla_local_q; \
    t.kv = cla_local_kv; \
    t.p = cla_local_q + CLA_P_AT;

#define CLA_ROW_STEP 1
#define CLA_KEY_STEP 0
#define CLA_OWNS_ROWS(t) CLA_ALL_IF((t)->tx == 0)
#define CLA_RAISE(t, top, m, f) cla_raise_shared(t, top, f)
#define CLA_ROW_MAX(t, m, r) CLA_AT4((t)->m + cla_row_in_tile(t, r))
#define CLA_O_FACTOR(f, i) (real)(CLA_COMPONENT(f[(i) / CLA_GD / 4], (i) / CLA_GD % 4))
#define CLA_QK_ALONE(t, e, s, k0, n, next) cla_qk_alone(t, e, s, k0, n, next)
#define CLA_GREATER(x, y) fmax(x, y) /* one instruction on GPUs, a comparison and a choice are two */

/* Where a chunk of Q lies, and one of K or V. By macros: from what functions return NVIDIA's compilers compute in 64
 * bits. */
#define CLA_Q_PLACE(t, chunk) ((t)->q + (CLA_QRES ? (chunk) * CLA_CH * CLA_QP : ((chunk) & 1) * CLA_QSTEP))
#define CLA_KV_PLACE(t, chunk) ((t)->kv + ((chunk) & 1) * CLA_KVSTEP)

CLA_CHUNKS_OF(q, q, CLA_BQ, CLA_D, CLA_UNLIMITED, !CLA_K_SCALED, CLA_Q_PLACE)
CLA_CHUNKS_OF(k, k, CLA_BK, CLA_D, CLA_LIMITED, CLA_K_SCALED, CLA_KV_PLACE)
CLA_KEYS_OF(v, v, CLA_DV, CLA_DVP, CLA_KV_PLACE)
CLA_SUMS_OF(v, CLA_DV)

/* Keys that some row of the tile sees. */
CLA_FN void cla_mark_seen(cla_tile *t, const real *s, int n) { cla_mark(t, s, -INFINITY); }

CLA_FN void cla_begin(cla_tile *t, const cla_env *e, int r0, int begin, int end, cla_scalar scale)
{
    cla_take_place(t);
    t->first = r0;
    t->end = end;
    t->wide = CLA_ALL_WIDE(e);
    t->scale = scale;
    CLA_EACH_OWNED_ROW
        t->m[row] = cla_sink(e, r0 + row);
    CLA_END_ROUND
    if (begin >= end) return;
    if (CLA_QRES)
        CLA_NO_UNROLL for (int i = 0; i < CLA_CHUNKS; i++) {
            cla_fetch_q(t, e, r0, i);
            cla_store_q(t, i);
        }
    else
        cla_fetch_q(t, e, r0, 0);
    cla_fetch_k(t, e, begin, 0);
}

CLA_FN void cla_scores_of_chunks(cla_tile *t, const cla_env *e, real *s, int k0)
{
    CLA_RECOMPUTE_PLACES(t, k0)
    for (int part = 0; part < CLA_PARTS; part++) {
        const int end = CLA_PARTS == 1 ? CLA_CHUNKS : min((part + 1) * CLA_PART_CHUNKS, CLA_CHUNKS);
        CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) s[i] = (real)(0);
        CLA_NO_UNROLL for (int i = part * CLA_PART_CHUNKS; i < end; i++) {
            const __local cla_scalar *q = CLA_Q_PLACE(t, i) + cla_row_in_tile(t, 0);
            const __local cla_scalar *k = CLA_KV_PLACE(t, i) + 4 * t->tx;
            cla_store_k(t, i);
            if (!CLA_QRES) cla_store_q(t, i);
            CLA_BARRIER_STAGED
            if (i + 1 < CLA_CHUNKS) {
                cla_fetch_k(t, e, k0, i + 1);
                if (!CLA_QRES) cla_fetch_q(t, e, t->first, i + 1);
            }
            cla_dots(s, q, k);
        }
        /* Of P an item touches its own places only: others read those behind COLLECTED, and last did before CHUNK. */
        if (CLA_PARTS > 1)
            CLA_UNROLL for (int j = 0; j < CLA_TN; j++)
                CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) {
                    if (part) s[j * CLA_R_N + g] += *cla_own_p(t, j, g);
                    if (part + 1 < CLA_PARTS) *cla_own_p(t, j, g) = s[j * CLA_R_N + g];
                }
    }
}
CLA_FN void cla_qk(cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    cla_scores_of_chunks(t, e, s, k0);
    cla_fetch_v(t, e, k0, 0);
}
/* Where no values are multiplied: what cla_pv() does for the next tile as well. */
CLA_FN void cla_qk_alone(cla_tile *t, const cla_env *e, real *s, int k0, int n, int next)
{
    cla_scores_of_chunks(t, e, s, k0);
    CLA_BARRIER_COLLECTED
    cla_fetch_k(t, e, next, 0);
    if (!CLA_QRES) cla_fetch_q(t, e, t->first, 0);
}

/* Collects a row's value of all TX items where each has its last slot of P, and lets the row's owner combine them. */
#define CLA_COLLECT(x) \
    const __local cla_scalar *lot = t->p + (CLA_BK - CLA_TX) * CLA_QP; \
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) *cla_own_p(t, CLA_TN - 1, g) = x[g]; \
    CLA_BARRIER_COLLECTED
#define CLA_COMBINE(y, combine) \
    cla_scalar y = lot[row]; \
    CLA_UNROLL for (int i = 1; i < CLA_TX; i++) y = combine(y, lot[i * CLA_QP + row]);
#define CLA_HAND_OUT(x, from) \
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) x[g] = CLA_AT4((from) + cla_row_in_tile(t, g));
#define CLA_SUM(x, y) ((x) + (y))

/* CLA_RAISE. The running maximum of a row is its owner's business, in local memory, not m[] of forward.cl: 8 to 16
 * registers less for every item, and one 2^x a row. */
CLA_FN void cla_raise_shared(cla_tile *t, real *top, real *f)
{
    CLA_COLLECT(top)
    CLA_EACH_OWNED_ROW
        const cla_scalar m = t->m[row];
        CLA_COMBINE(y, CLA_GREATER)
        t->m[row] = y = CLA_GREATER(m, y);
        t->m[CLA_BQ + row] = y = cla_pivot((real)(y)).s0;
        t->m[2 * CLA_BQ + row] = cla_weight((real)(m), (real)(y)).s0;
    CLA_END_ROUND
    CLA_BARRIER_RAISED
    CLA_HAND_OUT(top, t->m + CLA_BQ)
    CLA_HAND_OUT(f, t->m + 2 * CLA_BQ)
}
CLA_FN void cla_row_sum(cla_tile *t, real *x)
{
    CLA_COLLECT(x)
    CLA_EACH_OWNED_ROW
        CLA_COMBINE(y, CLA_SUM)
        t->m[CLA_BQ + row] = y;
    CLA_END_ROUND
    CLA_BARRIER_SUMMED
    CLA_HAND_OUT(x, t->m + CLA_BQ)
}

/* Adds the tile's part to O, which its row's factor rescales on the way: that is read again here, to be out of the
 * registers. */
CLA_FN void cla_join(const cla_tile *t, cla_real4 *o, cla_real4 *part, int turn)
{
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) {
        const real f = CLA_ALL_IF(turn) ? (real)(1) : CLA_AT4(t->m + 2 * CLA_BQ + cla_row_in_tile(t, g));
#define CLA_JOIN(r, i) \
    CLA_UNROLL for (int c = 0; c < CLA_GD; c++) { \
        CLA_ADD_PRODUCT(part[(r) * CLA_GD + c], o[(r) * CLA_GD + c], (real)(f.i)) \
        o[(r) * CLA_GD + c] = part[(r) * CLA_GD + c]; \
    }
        CLA_ROWS_OF(g, CLA_JOIN)
    }
}

/* WEIGHTS stands before the loop, so that no compiler lets the tile's part of O begin while S is there. */
CLA_FN void cla_pv(cla_tile *t, const cla_env *e, cla_real4 *o, real *s, const real *f, int k0, int n, int next)
{
    const int chunks = CLA_BK / CLA_CV;
    CLA_RECOMPUTE_PLACES(t, next)
    cla_store_v(t, k0, 0);
    cla_share(t, s);
    CLA_BARRIER_WEIGHTS
    CLA_NO_UNROLL for (int turn = 0; turn < CLA_TURNS; turn++) {
        CLA_UNROLL for (int i = 0; i < CLA_O_N; i++) t->part[i] = (cla_real4)(0);
        CLA_NO_UNROLL for (int v = turn * (chunks / CLA_TURNS); v < (turn + 1) * (chunks / CLA_TURNS); v++) {
            cla_fetch_v(t, e, k0, v + 1); /* of the last key, behind all of them */
            cla_sums_v(t->part, cla_p_place(t, v), CLA_KV_PLACE(t, v) + 4 * t->tx);
            if (v + 1 < chunks) cla_store_v(t, k0, v + 1);
            CLA_BARRIER_CHUNK
        }
        cla_join(t, o, t->part, turn);
    }
    /* Unconditional: a branch here is the test of the tile loop again and makes compilers clone it. */
    cla_fetch_k(t, e, next, 0);
    if (!CLA_QRES) cla_fetch_q(t, e, t->first, 0);
}

CLA_FN void cla_write_row(const cla_tile *t, const cla_env *e, const cla_real4 *o, int row_in_tile, cla_scalar l)
{
    const int r = t->first + row_in_tile;
    if (r >= cla_row_count(e, e->nq)) return;
    cla_put_lse(e, r, t->m[row_in_tile], l, t->tx == 0);
    if (!CLA_IS_WRITTEN(e, l)) return;
    const long row = cla_o_row(e, r);
    const cla_scalar inverse = CLA_INVERSE(l);
    CLA_UNROLL for (int c = 0; c < CLA_GD; c++) {
        const cla_real4 x = cla_finished_row(o[c], l, inverse);
        const int col = (c * CLA_TX + t->tx) * 4;
        if (col < CLA_DV) cla_put(e, row, col, x.s0);
        if (col + 1 < CLA_DV) cla_put(e, row, col + 1, x.s1);
        if (col + 2 < CLA_DV) cla_put(e, row, col + 2, x.s2);
        if (col + 3 < CLA_DV) cla_put(e, row, col + 3, x.s3);
    }
}

CLA_FN void cla_write(cla_tile *t, const cla_env *e, cla_real4 *o, const real *m, real *l)
{
#define CLA_WRITE(r, i) cla_write_row(t, e, o + (r) * CLA_GD, cla_row_in_tile(t, g) + (r), l[0].i);
    CLA_UNROLL for (int g = 0; g < CLA_R_N; g++) {
        CLA_ROWS_OF(0, CLA_WRITE)
        cla_shift(o, 4 * CLA_GD, CLA_O_N);
        cla_shift(l, 1, CLA_R_N);
    }
}
