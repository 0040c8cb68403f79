/* Engine `cpu`: one work-item per work-group, no barrier, no local memory, explicit vectors whose lanes run over rows
 * of Q.
 *
 *     S^T[key][q] += K[key][d] (broadcast) * Q^T[d][q]       O^T[d][q] += V[key][d] (broadcast) * P[key][q]
 *
 * So K and V are read as they lie, and maximum, sum and rescaling are lane-wise. Q^T and O^T stay in private memory.
 * Numbers: CLA_W lanes, CLA_NV vectors of rows, CLA_RK keys and CLA_RD columns per register tile, CLA_BK keys per
 * tile. The load slot says where a row of K or V is read from; products_cpu.cl has the products. */
#define CLA_LANES 1
#define CLA_BQ (CLA_W * CLA_NV)
#define CLA_R_N CLA_NV
#define CLA_S_N (CLA_ROUND_UP(CLA_BK, CLA_W) * CLA_NV) /* (key j, vector v) at j * CLA_NV + v; squares are whole */
#define CLA_O_N (CLA_DV * CLA_NV) /* element (column d, vector v) at d * CLA_NV + v */
#define CLA_COLS(n) (n)
#define CLA_COVERED(n) (n)
#define CLA_UNROLL_COLS CLA_NO_UNROLL
#define CLA_UNROLL_ROWS CLA_NO_UNROLL
#define CLA_UNROLL_O CLA_NO_UNROLL
#define CLA_LOCAL(t)
#define CLA_ROW_STEP 1
#define CLA_KEY_STEP 0
#define CLA_OWNS_ROWS(t) 1
#define CLA_RAISE(t, top, m, f) cla_raise(top, m, f)
#define CLA_ROW_MAX(t, m, r) m[r]
#define CLA_O_FACTOR(f, i) f[(i) % CLA_NV]
#define CLA_QK_ALONE(t, e, s, k0, n, next) cla_qk(t, e, s, k0, n)
#define CLA_GREATER(x, y) ((x) < (y) ? (y) : (x)) /* one instruction on CPUs, fmax() is three */

/* Where a tile lies across a diagonal, the keys behind low_end are left to the later vectors of rows: the first CLA_LOW
 * see none of them. */
#define CLA_LOW (CLA_DIAGONAL ? CLA_NV / 2 : 0)
CLA_FN int cla_mask_end(const cla_env *e, int q0, int q1); /* of the masks, which follow */

typedef struct {
    int r0, low_end;
    real q[CLA_D * CLA_NV];
    cla_rows rows;
    int seen[CLA_DROPS ? CLA_BK : 1], n_seen; /* keys of the tile that some query sees */
} cla_tile;

CLA_FN int cla_slot_row(const cla_tile *t, int r) { return t->r0 + r * CLA_W; }
CLA_FN int cla_slot_k(const cla_tile *t, int k0, int j) { return k0 + j; }
CLA_FN int cla_low_keys(const cla_tile *t, int k0, int n) { return CLA_LOW ? clamp(t->low_end - k0, 0, n) : n; }
CLA_FN void cla_row_sum(cla_tile *t, real *x) {}

/* Q^T, scaled, turned square by square. Rows past the end repeat the last one and are never written. */
CLA_FN void cla_begin(cla_tile *t, const cla_env *e, int r0, int begin, int end, cla_scalar scale)
{
    t->r0 = r0;
    t->low_end = CLA_LOW ? cla_mask_end(e, cla_query(e, r0), cla_query(e, r0 + CLA_LOW * CLA_W - 1) + 1) : end;
    if (begin >= end) return;
    CLA_NO_UNROLL for (int v = 0; v < CLA_NV; v++) {
        const int row = r0 + v * CLA_W;
        int d = 0;
        CLA_NO_UNROLL for (; d + CLA_W <= CLA_D; d += CLA_W) {
            real x[CLA_W];
            CLA_EACH_LANE x[i] = CLA_WIDE(cla_loadn_q, cla_load_q, cla_q_row(e, row + i) + d);
            CLA_TRANSPOSE(real, x)
            CLA_EACH_LANE t->q[(d + i) * CLA_NV + v] = x[i] * scale;
        }
        CLA_NO_UNROLL for (; d < CLA_D; d++)
            for (int i = 0; i < CLA_W; i++)
                CLA_LANE(t->q[d * CLA_NV + v], cla_scalar, i) = cla_load_q(cla_q_row(e, row + i) + d) * scale;
    }
}

#define CLA_ROOM(t, b) (&(t)->rows)
#define CLA_ALL_SEEN(t, n) (!CLA_DROPS || (t)->n_seen == (n))
CLA_LOADS(k, CLA_D)
CLA_LOADS(v, CLA_DV)
CLA_DOTS(k, CLA_D)
CLA_SUMS(v, CLA_DV)

CLA_FN void cla_qk(cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    cla_rows_k(&t->rows, e, k0, n);
    cla_dots_k(t, e, s, t->q, k0, n);
}

/* Values of keys that no query sees may be NaN and are passed over. */
CLA_FN void cla_mark_seen(cla_tile *t, const real *s, int n)
{
    int seen = 0; /* t->n_seen would be counted in memory */
    CLA_NO_UNROLL for (int j = 0; j < n; j++) {
        int v = 0; /* the first vector is nearly always enough */
        while (v < CLA_NV && !any(s[j * CLA_NV + v] != (real)(-INFINITY))) v++;
        t->seen[seen] = j;
        seen += v < CLA_NV;
    }
    t->n_seen = seen;
}

CLA_FN void cla_pv(cla_tile *t, const cla_env *e, real *o, real *s, const real *f, int k0, int n, int next)
{
    cla_rows_v(&t->rows, e, k0, n);
    cla_sums_v(t, e, o, s, f, k0, n);
}

CLA_FN void cla_write(cla_tile *t, const cla_env *e, real *o, const real *m, const real *l)
{
    const int rows = cla_row_count(e, e->nq);
    CLA_NO_UNROLL for (int v = 0; v < CLA_NV; v++) {
        const int row = t->r0 + v * CLA_W;
        const real inverse = CLA_INVERSE(l[v]);
        CLA_NO_UNROLL for (int d = 0; d < CLA_DV; d++)
            o[d * CLA_NV + v] = CLA_FINISHED(o[d * CLA_NV + v], l[v], inverse);
        int d = 0;
        CLA_NO_UNROLL for (; d + CLA_W <= CLA_DV; d += CLA_W) {
            real x[CLA_W];
            CLA_EACH_LANE x[i] = o[(d + i) * CLA_NV + v];
            CLA_TRANSPOSE(real, x)
            CLA_EACH_LANE if (row + i < rows && CLA_IS_WRITTEN(e, CLA_LANE(l[v], const cla_scalar, i)))
                cla_put_vector(e, cla_o_row(e, row + i), d, x[i]);
        }
        CLA_NO_UNROLL for (; d < CLA_DV; d++)
            for (int i = 0; i < min(CLA_W, rows - row); i++)
                cla_put(e, cla_o_row(e, row + i), d, CLA_LANE(o[d * CLA_NV + v], cla_scalar, i));
    }
    for (int i = 0; i < min(CLA_BQ, rows - t->r0); i++)
        cla_put_lse(e, t->r0 + i, ((const cla_scalar *)m)[i], ((const cla_scalar *)l)[i], 1);
}
