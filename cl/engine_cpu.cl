/* Engine `cpu`: one work-item per group, no barrier, no local memory, explicit vectors whose lanes run over queries.
 *
 *     S^T[key][q] += K[key][d] (broadcast) * Q^T[d][q]       O^T[d][q] += V[key][d] (broadcast) * P[key][q]
 *
 * So K and V are read as they lie, and maximum, sum and rescaling are lane-wise. Q^T and O^T stay in private memory.
 * Numbers: CLA_W lanes, CLA_NV vectors of queries, CLA_RK keys and CLA_RD columns per register tile, CLA_BK keys per
 * tile. The load slot says where a row of K or V is read from. */
#define CLA_LANES 1
#define CLA_BQ (CLA_W * CLA_NV)
#define CLA_R_N CLA_NV
#define CLA_S_N (CLA_ROUND_UP(CLA_BK, CLA_RK) * CLA_NV) /* element (key j, vector v) at j * CLA_NV + v */
#define CLA_O_N (CLA_DV * CLA_NV)                       /* element (column d, vector v) at d * CLA_NV + v */
#define CLA_COLS(n) (n)
#define CLA_COVERED(n) (n)
#define CLA_UNROLL_COLS CLA_NO_UNROLL
#define CLA_UNROLL_O CLA_NO_UNROLL
#define CLA_LOCAL(t)

#define CLA_COUNT_2 0, 1
#define CLA_COUNT_4 CLA_COUNT_2, 2, 3
#define CLA_COUNT_8 CLA_COUNT_4, 4, 5, 6, 7
#define CLA_COUNT_16 CLA_COUNT_8, 8, 9, 10, 11, 12, 13, 14, 15

typedef struct {
    int q0;
    real q[CLA_D * CLA_NV];
    cla_rows rows;
} cla_tile;

CLA_FN integer cla_s_q(const cla_tile *t, int r)
{
    return (integer)(CLA_CAT(CLA_COUNT_, CLA_W)) + (integer)(t->q0 + r * CLA_W);
}
CLA_FN integer cla_s_k(const cla_tile *t, int k0, int j) { return (integer)(k0 + j); }
CLA_FN void cla_row_max(cla_tile *t, real *x) {}
CLA_FN void cla_row_sum(cla_tile *t, real *x) {}

/* Q^T, scaled. Rows past the end repeat the last one and are never written. */
CLA_FN void cla_begin(cla_tile *t, const cla_env *e, int q0, int begin, int end, cla_scalar scale)
{
    cla_scalar *to = (cla_scalar *)t->q;
    t->q0 = q0;
    if (begin >= end) return;
    for (int i = 0; i < CLA_BQ; i++) {
        const __global cla_q_elem *q = cla_q_row(e, q0 + i);
        for (int d = 0; d < CLA_D; d++) to[d * CLA_BQ + i] = cla_load_q(q + d) * scale;
    }
}

CLA_FN void cla_qk(cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    cla_rows_k(&t->rows, e, k0, n);
    for (int j0 = 0; j0 < n; j0 += CLA_RK) {
        cla_k_ptr k[CLA_RK];
        CLA_UNROLL for (int j = 0; j < CLA_RK; j++) k[j] = cla_row_k(&t->rows, e, k0, min(j0 + j, n - 1));
        for (int d0 = 0; d0 < CLA_D; d0 += CLA_CHAIN) {
            real acc[CLA_RK][CLA_NV];
            CLA_UNROLL for (int j = 0; j < CLA_RK; j++)
                CLA_UNROLL for (int v = 0; v < CLA_NV; v++) acc[j][v] = (real)(0);
            CLA_NO_UNROLL for (int d = d0; d < min(d0 + CLA_CHAIN, CLA_D); d++)
                CLA_UNROLL for (int j = 0; j < CLA_RK; j++) {
                    const real x = (real)(k[j][d]);
                    CLA_UNROLL for (int v = 0; v < CLA_NV; v++) acc[j][v] = x * t->q[d * CLA_NV + v] + acc[j][v];
                }
            CLA_UNROLL for (int j = 0; j < CLA_RK; j++)
                CLA_UNROLL for (int v = 0; v < CLA_NV; v++) {
                    const int i = (j0 + j) * CLA_NV + v;
                    s[i] = d0 ? s[i] + acc[j][v] : acc[j][v];
                }
        }
    }
}

/* Columns d0 .. d0 + count - 1 of O^T; count is a constant where this is expanded. */
CLA_FN void cla_pv_columns(cla_tile *t, const cla_env *e, real *o, const real *s, const real *f, int k0, int n, int d0,
                           const int count)
{
    real acc[CLA_RD][CLA_NV];
    CLA_UNROLL for (int i = 0; i < count; i++)
        CLA_UNROLL for (int v = 0; v < CLA_NV; v++) acc[i][v] = (real)(0);
    CLA_NO_UNROLL for (int j = 0; j < n; j++) {
        cla_v_ptr row = cla_row_v(&t->rows, e, k0, j) + d0;
        CLA_UNROLL for (int i = 0; i < count; i++) {
            const real x = (real)(row[i]);
            CLA_UNROLL for (int v = 0; v < CLA_NV; v++) acc[i][v] = x * s[j * CLA_NV + v] + acc[i][v];
        }
    }
    CLA_UNROLL for (int i = 0; i < count; i++)
        CLA_UNROLL for (int v = 0; v < CLA_NV; v++)
            o[(d0 + i) * CLA_NV + v] = o[(d0 + i) * CLA_NV + v] * f[v] + acc[i][v];
}

CLA_FN void cla_pv(cla_tile *t, const cla_env *e, real *o, real *s, const real *f, int k0, int n)
{
    int d = 0;
    cla_rows_v(&t->rows, e, k0, n);
    for (; d + CLA_RD <= CLA_DV; d += CLA_RD) cla_pv_columns(t, e, o, s, f, k0, n, d, CLA_RD);
    if (d < CLA_DV) cla_pv_columns(t, e, o, s, f, k0, n, d, CLA_DV % CLA_RD);
}

CLA_FN void cla_write(cla_tile *t, const cla_env *e, real *o, const real *m, const real *l, int write_lse)
{
    const int rows = min(CLA_BQ, e->nq - t->q0);
    for (int v = 0; v < CLA_NV; v++) {
        const real inv = (real)(1) / l[v];
        for (int d = 0; d < CLA_DV; d++) o[d * CLA_NV + v] = l[v] == (real)(0) ? (real)(0) : o[d * CLA_NV + v] * inv;
    }
    for (int i = 0; i < rows; i++) {
        __global cla_q_elem *row = cla_o_row(e, t->q0 + i);
        for (int d = 0; d < CLA_DV; d++) cla_store_o(((const cla_scalar *)o)[d * CLA_BQ + i], row + d);
    }
    if (write_lse)
        for (int i = 0; i < rows; i++)
            *cla_lse_row(e, t->q0 + i) = cla_lse(((const cla_scalar *)m)[i], ((const cla_scalar *)l)[i]);
}
