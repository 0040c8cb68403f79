/* The two products of engine `cpu`, between tiles in private memory whose lanes are rows that a work-item owns and the
 * rows of another operand. An engine's fragment declares cla_tile and says
 *     CLA_ROOM(t, NAME)    where cla_rows_NAME() of the load slot has fetched rows of NAME to
 *     CLA_ALL_SEEN(t, n)   whether all n rows of a tile count; else only those n_seen of t->seen do
 *     cla_low_keys()       see engine_cpu.cl
 * Operands go by name. Widths are constants of the text: those of functions, which are constants only after inlining,
 * cost PoCL some per cent.
 *
 * Where rows are read as they lie, memory is asked for lines ahead of their use: rows of a tile are further apart than
 * what CPUs guess. With AVX2 f32 that is 1 % of a forward call at d64, 3 % at d128, 9 % from d256 on. */
#define CLA_LINE_N (CLA_LINE / (int)sizeof(cla_scalar)) /* elements of a line */
#define CLA_LONG_ROWS(width) (CLA_IN_PLACE && (width) >= 8 * CLA_LINE_N)

/* Scores dst of rows of B and of A^T. First those of rows j0 .. j0 + count - 1 of the tile of n, for the vectors from
 * v0 on; the others get 0, which the mask drops. count and v0 are constants where this is expanded. */
#define CLA_DOTS(b, width) \
    CLA_FN void cla_dots_keys_##b(const cla_tile *t, const cla_env *e, real *dst, const real *a, int k0, int n, \
                                  int j0, const int count, const int v0) \
    { \
        cla_row_ptr rows[CLA_RK], next[CLA_RK]; \
        CLA_UNROLL for (int j = 0; j < CLA_RK; j++) { \
            rows[j] = cla_row_##b(CLA_ROOM(t, b), e, k0, min(j0 + j, cla_last(n))); \
            next[j] = cla_row_##b(CLA_ROOM(t, b), e, k0, min(j0 + CLA_RK + j, cla_last(n))); \
        } \
        for (int d0 = 0; d0 < (width); d0 += CLA_CHAIN) { \
            real acc[CLA_RK][CLA_NV]; \
            CLA_UNROLL for (int j = 0; j < CLA_RK; j++) \
                CLA_UNROLL for (int v = 0; v < CLA_NV; v++) acc[j][v] = (real)(0); \
            const int end = min(d0 + CLA_CHAIN, width), piece = CLA_LONG_ROWS(width) ? CLA_LINE_N : CLA_CHAIN; \
            for (int d1 = d0; d1 < end; d1 += piece) { \
                if (CLA_LONG_ROWS(width)) CLA_UNROLL for (int j = 0; j < CLA_RK; j++) CLA_ASK_FOR(next[j] + d1); \
                CLA_NO_UNROLL for (int d = d1; d < min(d1 + piece, end); d++) \
                    CLA_UNROLL for (int j = 0; j < CLA_RK; j++) \
                        if (j < count) { \
                            const real x = (real)(rows[j][d]); \
                            CLA_UNROLL for (int v = 0; v < CLA_NV; v++) \
                                if (v >= v0) acc[j][v] = x * a[d * CLA_NV + v] + acc[j][v]; \
                        } \
            } \
            CLA_UNROLL for (int j = 0; j < CLA_RK; j++) \
                CLA_UNROLL for (int v = 0; v < CLA_NV; v++) \
                    if (j < count) { \
                        const int i = (j0 + j) * CLA_NV + v; \
                        dst[i] = d0 ? dst[i] + acc[j][v] : acc[j][v]; \
                    } \
        } \
    } \
    CLA_FN void cla_dots_##b(cla_tile *t, const cla_env *e, real *dst, const real *a, int k0, int n) \
    { \
        const int rest = CLA_BK % CLA_RK, low = cla_low_keys(t, k0, n); \
        int j0 = 0; \
        for (; j0 + rest < n && j0 < low; j0 += CLA_RK) cla_dots_keys_##b(t, e, dst, a, k0, n, j0, CLA_RK, 0); \
        if (CLA_LOW) for (; j0 + rest < n; j0 += CLA_RK) cla_dots_keys_##b(t, e, dst, a, k0, n, j0, CLA_RK, CLA_LOW); \
        /* the last keys of a whole tile: dst ends at CLA_BK */ \
        if (rest && j0 < n) cla_dots_keys_##b(t, e, dst, a, k0, n, j0, rest, 0); \
    }
/* What a row with weights w adds to acc, of the vectors from v0 on; within cla_sums_columns_b(). */
#define CLA_ADD_ROW(row, w, v0) { \
    const cla_row_ptr at = row; \
    if (CLA_IN_PLACE) CLA_ASK_FOR(at + CLA_LINE_N); \
    CLA_UNROLL for (int c = 0; c < CLA_RD; c++) \
        if (c < count) { \
            const real x = (real)(at[c]); \
            CLA_UNROLL for (int v = (v0); v < CLA_NV; v++) acc[c][v] = x * (w)[v] + acc[c][v]; \
        } \
}
/* Rows from .. to - 1 of a tile. Where rows are equally far apart two pointers are all that the loop counts: with 16
 * registers 4 to 6 % of a forward call, and 17 to 23 % of a backward one. Four rows at a time pay where vectors have 64
 * bytes; with 16 registers they spill. */
#define CLA_ROWS_AT_A_TIME CLA_UNROLL_BY(sizeof(real) == 64 ? 4 : 1)
#define CLA_ADD_ROWS(b, from, to, v0) \
    if (CLA_EVEN_ROWS) { \
        cla_row_ptr row = cla_row_##b(CLA_ROOM(t, b), e, k0, from) + d0; \
        const long step = cla_row_##b(CLA_ROOM(t, b), e, k0, 1) - cla_row_##b(CLA_ROOM(t, b), e, k0, 0); \
        const real *w = weights + (from) * CLA_NV, *const end = weights + (to) * CLA_NV; \
        CLA_ROWS_AT_A_TIME for (; w < end; w += CLA_NV, row += step) CLA_ADD_ROW(row, w, v0) \
    } else { \
        CLA_ROWS_AT_A_TIME for (int j = from; j < (to); j++) \
            CLA_ADD_ROW(cla_row_##b(CLA_ROOM(t, b), e, k0, j) + d0, weights + j * CLA_NV, v0) \
    }

/* dst = f dst + B^T weights. First its columns d0 .. d0 + count - 1, over all keys of the tile or those that are seen;
 * count and all are constants where this is expanded. Loops go to CLA_RD all the same: those with a bound that is a
 * constant only after inlining stay loops on PoCL, and the sums in memory (3 to 4 %). */
#define CLA_SUMS(b, width) \
    CLA_FN void cla_sums_columns_##b(const cla_tile *t, const cla_env *e, real *dst, const real *weights, \
                                     const real *f, int k0, int n, int d0, const int count, const int all) \
    { \
        real acc[CLA_RD][CLA_NV]; \
        CLA_UNROLL for (int c = 0; c < CLA_RD; c++) \
            CLA_UNROLL for (int v = 0; v < CLA_NV; v++) acc[c][v] = (real)(0); \
        if (all) { \
            const int low = cla_low_keys(t, k0, n); \
            CLA_ADD_ROWS(b, 0, low, 0) \
            if (CLA_LOW) { CLA_ADD_ROWS(b, low, n, CLA_LOW) } \
        } else { \
            CLA_ROWS_AT_A_TIME for (int i = 0; i < t->n_seen; i++) { \
                const int j = t->seen[i]; \
                CLA_ADD_ROW(cla_row_##b(CLA_ROOM(t, b), e, k0, j) + d0, weights + j * CLA_NV, 0) \
            } \
        } \
        CLA_UNROLL for (int c = 0; c < CLA_RD; c++) \
            CLA_UNROLL for (int v = 0; v < CLA_NV; v++) \
                if (c < count) dst[(d0 + c) * CLA_NV + v] = dst[(d0 + c) * CLA_NV + v] * f[v] + acc[c][v]; \
    } \
    CLA_FN void cla_sums_keys_##b(const cla_tile *t, const cla_env *e, real *dst, const real *weights, \
                                  const real *f, int k0, int n, const int all) \
    { \
        int d = 0; \
        for (; d + CLA_RD <= (width); d += CLA_RD) \
            cla_sums_columns_##b(t, e, dst, weights, f, k0, n, d, CLA_RD, all); \
        if (d < (width)) cla_sums_columns_##b(t, e, dst, weights, f, k0, n, d, (width) % CLA_RD, all); \
    } \
    CLA_FN void cla_sums_##b(cla_tile *t, const cla_env *e, real *dst, const real *weights, const real *f, int k0, \
                             int n) \
    { \
        if (CLA_ALL_SEEN(t, n)) cla_sums_keys_##b(t, e, dst, weights, f, k0, n, 1); \
        else cla_sums_keys_##b(t, e, dst, weights, f, k0, n, 0); \
    }
