/* Engine `cpu`, backward, in one pass: a work-item owns CLA_W * CLA_NV keys, which are the lanes of its vectors, and
 * goes over the queries in tiles of CLA_BK.
 *
 *     S[q][key] = Q[q][d] (broadcast) * K^T[d][key]        dP[q][key] = dO[q][d] (broadcast) * V^T[d][key]
 *     dV^T[d][key] += dO[q][d] (broadcast) * P[q][key]     dK^T[d][key] += Q[q][d] (broadcast) * dS[q][key]
 *     dQ[q][d] += dS[q][key] (broadcast) * K[key][d]
 *
 * So nothing is transposed but the keys that it owns, once. Five products where a pass for dK and dV and one for dQ
 * have seven: 1.3 to 1.5 times as fast. K^T, V^T, dK^T and dV^T stay in private memory; dQ is added to in the
 * workspace, where each stripe of keys has one of its own. */
#define CLA_LANES 1
#define CLA_OWN (CLA_W * CLA_NV)
#define CLA_R_N CLA_NV
/* dQ is summed for CLA_QR queries and CLA_QV vectors of columns at a time: two where three would leave columns over,
 * unless that leaves queries over. */
#define CLA_DQ_VECTORS (CLA_DQ_PITCH / CLA_W)
#define CLA_QV (CLA_NV == 3 && CLA_DQ_VECTORS % 3 && CLA_BK % (CLA_RK * 3 / 2) == 0 ? 2 : CLA_NV)
#define CLA_QR (CLA_RK * CLA_NV / CLA_QV)
#define CLA_S_N (CLA_ROUND_UP(CLA_BK, CLA_QR) * CLA_NV) /* (query j, vector v) at j * CLA_NV + v */
#define CLA_COLS(n) (n)
#define CLA_UNROLL_COLS CLA_NO_UNROLL
#define CLA_UNROLL_ROWS CLA_NO_UNROLL
#define CLA_LOCAL(t)
#define CLA_ROW_STEP 0
#define CLA_KEY_STEP 1
#define CLA_ITEM 0
#define CLA_SYNC_GLOBAL
#define CLA_LOW 0

typedef struct {
    int first, n_seen, n_keys;
    real k[CLA_D * CLA_NV], v[CLA_DV * CLA_NV], dk[CLA_D * CLA_NV], dv[CLA_DV * CLA_NV];
    real ones[CLA_NV];
    cla_scalar slope;                      /* the gradient of a head's, as far as it is added up */
    cla_rows q_rows, dout_rows, k_rows;
    cla_scalar lse[CLA_BK], delta[CLA_BK]; /* L and D of the queries */
    cla_scalar least[CLA_BK];              /* scores below are dropped or next to nothing: above -inf, whatever L is */
    int seen[CLA_BK];                      /* queries in which keys of the tile weigh something */
    int keys[CLA_DROPS ? CLA_OWN : 1];     /* keys that some query of the tile sees, where there are holes */
} cla_tile;

CLA_FN int cla_slot_row(const cla_tile *t, int r) { return t->first + r * CLA_W; }
CLA_FN int cla_slot_k(const cla_tile *t, int q0, int j) { return q0 + j; }
CLA_FN int cla_low_keys(const cla_tile *t, int k0, int n) { return n; }
#define CLA_L_OF(t, r, j) (real)((t)->lse[j])
#define CLA_D_OF(t, r, j) (real)((t)->delta[j])
/* Two comparisons instead of three: 2 %. */
#define CLA_IS_NOTHING(t, r, j, s, row, x) (((s) < (real)((t)->least[j])) | ((row) == (real)(INFINITY)))
#define CLA_ROOM(t, b) (&(t)->b##_rows)
#define CLA_ALL_SEEN(t, n) ((t)->n_seen == (n))
CLA_LOADS(q, CLA_D)
CLA_LOADS(dout, CLA_DV)
CLA_LOADS(k, CLA_D)
CLA_DOTS(q, CLA_D)
CLA_DOTS(dout, CLA_DV)
CLA_SUMS(q, CLA_D)
CLA_SUMS(dout, CLA_DV)

/* to = rows k0 .. of X, turned square by square, times a scale. Keys past the end repeat the last one. */
#define CLA_TURNED(x, width) \
    CLA_FN void cla_turn_##x(real *to, const cla_env *e, int k0, cla_scalar scale) \
    { \
        const int last = cla_last(e->nk); \
        CLA_NO_UNROLL for (int v = 0; v < CLA_NV; v++) { \
            const int key = k0 + v * CLA_W; \
            int d = 0; \
            CLA_NO_UNROLL for (; d + CLA_W <= (width); d += CLA_W) { \
                real y[CLA_W]; \
                CLA_EACH_LANE y[i] = CLA_GET(x, e, cla_##x##_row(e, min(key + i, last)), d); \
                CLA_TRANSPOSE(real, y) \
                CLA_EACH_LANE to[(d + i) * CLA_NV + v] = y[i] * scale; \
            } \
            CLA_NO_UNROLL for (; d < (width); d++) \
                for (int i = 0; i < CLA_W; i++) \
                    CLA_LANE(to[d * CLA_NV + v], cla_scalar, i) = \
                        cla_get_##x(e, cla_##x##_row(e, min(key + i, last)), d) * scale; \
        } \
    }
CLA_TURNED(k, CLA_D)
CLA_TURNED(v, CLA_DV)

CLA_FN void cla_begin_group(cla_tile *t, cla_scalar scale) { t->slope = 0; }
CLA_FN void cla_begin_head(cla_tile *t, const cla_env *e) {}
/* The keys that this work-group owns next. */
CLA_FN void cla_begin_keys(cla_tile *t, const cla_env *e, int k0, cla_scalar scale)
{
    t->first = k0;
    cla_turn_k(t->k, e, k0, scale);
    cla_turn_v(t->v, e, k0, 1);
    if (e->a->wanted & CLA_DQ_WANTED) cla_rows_k(&t->k_rows, e, k0, min(CLA_OWN, e->nk - k0));
}
CLA_FN void cla_clear_keys(cla_tile *t, int sums)
{
    if (sums & CLA_DK_WANTED)
        CLA_NO_UNROLL for (int i = 0; i < CLA_D * CLA_NV; i++) t->dk[i] = (real)(0);
    if (sums & CLA_DV_WANTED)
        CLA_NO_UNROLL for (int i = 0; i < CLA_DV * CLA_NV; i++) t->dv[i] = (real)(0);
    CLA_UNROLL for (int i = 0; i < CLA_NV; i++) t->ones[i] = (real)(1);
}

#define CLA_SUM_1(t) (t)->dk
#define CLA_SUM_2(t) (t)->dv
#define CLA_SUM_1_N (CLA_D * CLA_NV)
#define CLA_SUM_2_N (CLA_DV * CLA_NV)
#define CLA_UNROLL_SUMS CLA_NO_UNROLL

/* A tile of queries: L and D, their rows of Q and dO. */
CLA_FN void cla_begin_queries(cla_tile *t, const cla_env *e, int q0, int n)
{
    const __global cla_scalar *stats = cla_stats(e, q0);
    CLA_NO_UNROLL for (int j = 0; j < n; j++) {
        t->lse[j] = stats[2 * j];
        t->delta[j] = stats[2 * j + 1];
        const cla_scalar least = t->lse[j] + (cla_scalar)(CLA_LIGHTEST / CLA_UNIT_LOG2);
        t->least[j] = least > CLA_LEAST ? least : CLA_LEAST;
    }
    cla_rows_q(&t->q_rows, e, q0, n);
    cla_rows_dout(&t->dout_rows, e, q0, n);
}
CLA_FN void cla_scores_of(cla_tile *t, const cla_env *e, real *s, int q0, int n)
{
    cla_dots_q(t, e, s, t->k, q0, n);
}
CLA_FN void cla_gradients_of(cla_tile *t, const cla_env *e, real *dp, const real *p, int q0, int n)
{
    cla_dots_dout(t, e, dp, t->v, q0, n);
}

/* dQ of queries r0 .. r0 + CLA_QR - 1 and of `count` vectors of columns from c0 on, over keys of the tile: those from
 * low on, or where there are holes those of t->keys. count is a constant where this is expanded. */
typedef real cla_unaligned __attribute__((aligned(sizeof(cla_scalar)))); /* vstore is two stores on PoCL */
#define CLA_ADD_BLOCK(rows) /* within cla_add_dq_block() */ \
    CLA_UNROLL for (int r = 0; r < CLA_QR; r++) \
        if (r < (rows)) \
            CLA_UNROLL for (int c = 0; c < CLA_QV; c++) \
                if (c < count) *(__global cla_unaligned *)(to + r * CLA_DQ_PITCH + c * CLA_W) += acc[r][c];
CLA_FN void cla_add_dq_block(const cla_tile *t, const cla_env *e, const real *ds, int q0, int n, int r0, int c0,
                             const int count, int low, int high)
{
    const cla_scalar *weights = (const cla_scalar *)(ds + r0 * CLA_NV);
    real acc[CLA_QR][CLA_QV];
    CLA_UNROLL for (int r = 0; r < CLA_QR; r++)
        CLA_UNROLL for (int c = 0; c < CLA_QV; c++) acc[r][c] = (real)(0);
    /* Rows are equally far apart in every load slot that gradients have. */
    const cla_row_ptr first = cla_row_k(CLA_ROOM(t, k), e, t->first, 0) + c0 * CLA_W;
    const long step = cla_row_k(CLA_ROOM(t, k), e, t->first, 1) - cla_row_k(CLA_ROOM(t, k), e, t->first, 0);
    cla_row_ptr row = first + low * step;
    CLA_NO_UNROLL for (int i = low; i < high; i++, row += step) {
        const int j = CLA_DROPS ? t->keys[i] : i;
        if (CLA_DROPS) row = first + j * step;
        real x[CLA_QV];
        CLA_UNROLL for (int c = 0; c < CLA_QV; c++)
            if (c < count) x[c] = CLA_LOAD_PLAIN(row + c * CLA_W);
        CLA_UNROLL for (int r = 0; r < CLA_QR; r++) {
            const real w = (real)(weights[r * CLA_OWN + j]);
            CLA_UNROLL for (int c = 0; c < CLA_QV; c++)
                if (c < count) acc[r][c] = w * x[c] + acc[r][c];
        }
    }
    __global cla_scalar *to = cla_part_of_dq(e, e->part, q0 + r0) + c0 * CLA_W;
    if (r0 + CLA_QR <= n) { CLA_ADD_BLOCK(CLA_QR) }
    else { CLA_ADD_BLOCK(n - r0) }
}
CLA_FN void cla_add_dq(cla_tile *t, const cla_env *e, const real *ds, int q0, int n, int low, int high)
{
    CLA_NO_UNROLL for (int r0 = 0; r0 < n; r0 += CLA_QR) {
        int c0 = 0;
        CLA_NO_UNROLL for (; c0 + CLA_QV <= CLA_DQ_VECTORS; c0 += CLA_QV)
            cla_add_dq_block(t, e, ds, q0, n, r0, c0, CLA_QV, low, high);
        if (CLA_DQ_VECTORS % CLA_QV)
            cla_add_dq_block(t, e, ds, q0, n, r0, c0, CLA_DQ_VECTORS % CLA_QV, low, high);
    }
}

/* Whether an element adds to gradients: what dropout leaves out has a dS, though its weight is 0 by now. */
#define CLA_WEIGHS(p, ds, i) \
    (CLA_HAS_DROPOUT ? ((p)[i] != (real)(0)) | ((ds)[i] != (real)(0)) : (p)[i] != (real)(0))

/* Queries in which something weighs: Q and dO of the others may be NaN. */
CLA_FN void cla_mark_queries(cla_tile *t, const real *p, const real *ds, int n)
{
    integer always = (integer)(-1);
    CLA_NO_UNROLL for (int j = 0; j < n; j++) always &= CLA_WEIGHS(p, ds, j * CLA_NV);
    t->n_seen = n;
    if (any(always)) return; /* a key that weighs something in all: the usual case */
    int seen = 0;            /* t->n_seen would be counted in memory */
    CLA_NO_UNROLL for (int j = 0; j < n; j++) {
        int v = 0; /* the first vector is nearly always enough */
        while (v < CLA_NV && !any(CLA_WEIGHS(p, ds, j * CLA_NV + v))) v++;
        t->seen[seen] = j;
        seen += v < CLA_NV;
    }
    t->n_seen = seen;
}

/* Keys of the tile that weigh something: K of the others may be NaN. */
CLA_FN void cla_mark_keys(cla_tile *t, const real *p, const real *ds, int n)
{
    int some = 0;
    CLA_NO_UNROLL for (int v = 0; v < CLA_NV; v++) {
        integer weighs = (integer)(0);
        CLA_NO_UNROLL for (int j = 0; j < n; j++) weighs |= CLA_WEIGHS(p, ds, j * CLA_NV + v);
        CLA_NO_UNROLL for (int i = 0; i < CLA_W; i++) {
            t->keys[some] = v * CLA_W + i;
            some += CLA_LANE(weighs, CLA_INTEGER, i) != 0;
        }
    }
    t->n_keys = some;
}

/* What a tile of weights P and of dS adds to gradients; [k0, k1): keys that are seen, at most. */
CLA_FN void cla_add_gradients(cla_tile *t, const cla_env *e, const real *p, const real *ds, int q0, int n, int k0,
                              int k1)
{
    const int wanted = e->a->wanted;
    cla_mark_queries(t, p, ds, n);
    if (CLA_DROPS) cla_mark_keys(t, p, ds, n);
    if (wanted & CLA_DV_WANTED) cla_sums_dout(t, e, t->dv, p, t->ones, q0, n);
    if (wanted & CLA_DK_WANTED) cla_sums_q(t, e, t->dk, ds, t->ones, q0, n);
    if (wanted & CLA_DQ_WANTED)
        cla_add_dq(t, e, ds, q0, n, CLA_DROPS ? 0 : k0 - t->first, CLA_DROPS ? t->n_keys : k1 - t->first);
}

/* What ADD makes of the dS of a tile of queries from q0 on, by vectors of keys: by those of each query, or of the sum
 * of all queries; by all vectors of keys, or their sum. */
#define CLA_TAKE_TILE(t, e, s, q0, n, by_query, by_key, ADD) { \
    const int queries = (by_query) ? (n) : 1, vectors = (by_key) ? CLA_NV : 1; \
    CLA_NO_UNROLL for (int j = 0; j < queries; j++) \
        CLA_NO_UNROLL for (int v = 0; v < vectors; v++) { \
            real sum = (real)(0); \
            CLA_NO_UNROLL for (int x = j; x < ((by_query) ? j + 1 : (n)); x++) { \
                real of_query = (real)(0); \
                CLA_NO_UNROLL for (int y = v; y < ((by_key) ? v + 1 : CLA_NV); y++) \
                    of_query += (s)[x * CLA_NV + y]; \
                sum += of_query; \
            } \
            ADD(e, (by_query) ? (q0) + j : 0, (t)->first + v * CLA_W, sum); \
        } \
}

/* What this stripe adds up of dQ, vector by vector with its total, if there is one: both begin at 0. A segment is added
 * to the total, and the next one begins with what that addition loses. At the end the stripe has their sum. */
#define CLA_EACH_DQ_VECTOR(to, total) \
    CLA_NO_UNROLL for (int q = 0; q < e->nq; q++) \
        CLA_NO_UNROLL for (int c = 0; c < CLA_DQ_PITCH; c += CLA_W) { \
            __global cla_scalar *to = cla_part_of_dq(e, e->part, q) + c, *total = to + cla_dq_elements(e->a);
CLA_FN void cla_clear_queries(const cla_env *e)
{
    CLA_EACH_DQ_VECTOR(to, total)
        CLA_STORE_PLAIN((real)(0), to);
        if (CLA_DQ_HAS_TOTALS(e->a)) CLA_STORE_PLAIN((real)(0), total);
    }
}
CLA_FN void cla_close_queries(const cla_env *e)
{
    CLA_EACH_DQ_VECTOR(to, total)
        real lost;
        CLA_STORE_PLAIN(cla_add_losing(CLA_LOAD_PLAIN(total), CLA_LOAD_PLAIN(to), &lost), total);
        CLA_STORE_PLAIN(lost, to);
    }
}
CLA_FN void cla_finish_queries(const cla_env *e)
{
    CLA_EACH_DQ_VECTOR(to, total)
        CLA_STORE_PLAIN(CLA_LOAD_PLAIN(total) + CLA_LOAD_PLAIN(to), to);
    }
}

/* Rows of dK or dV, turned back. */
#define CLA_WRITTEN_BACK(x, width) \
    CLA_FN void cla_write_##x(const cla_tile *t, const cla_env *e) \
    { \
        CLA_NO_UNROLL for (int v = 0; v < CLA_NV; v++) { \
            const int key = t->first + v * CLA_W, n = min(CLA_W, e->nk - key); \
            int d = 0; \
            CLA_NO_UNROLL for (; d + CLA_W <= (width); d += CLA_W) { \
                real y[CLA_W]; \
                CLA_EACH_LANE y[i] = t->x[(d + i) * CLA_NV + v]; \
                CLA_TRANSPOSE(real, y) \
                CLA_EACH_LANE if (i < n) \
                    CLA_STORE_WIDE(cla_storen_##x, cla_store_##x, y[i], \
                                   e->at.x + cla_key_row(e, &e->a->x, key + i) + d); \
            } \
            CLA_NO_UNROLL for (; d < (width); d++) \
                for (int i = 0; i < n; i++) \
                    cla_store_##x(((const cla_scalar *)&t->x[d * CLA_NV + v])[i], \
                                  e->at.x + cla_key_row(e, &e->a->x, key + i) + d); \
        } \
    }
CLA_WRITTEN_BACK(dk, CLA_D)
CLA_WRITTEN_BACK(dv, CLA_DV)
CLA_FN void cla_write_keys(const cla_tile *t, const cla_env *e, int sums)
{
    if (sums & CLA_DK_WANTED) cla_write_dk(t, e);
    if (sums & CLA_DV_WANTED) cla_write_dv(t, e);
}
