/* Engine `row`: one work-item per work-group, no barrier, no local memory, for few rows: explicit vectors lie along Q,
 * K and V, so that a single row fills them, and along the keys of a row's scores.
 *
 *     S[row][key] = sum of K[key][d] * Q[row][d]       O[row][d] += V[key][d] * P[row][key] (broadcast)
 *
 * K and V are read once for all rows, converted where they are used. Q, S and O stay in private memory. Numbers: CLA_W
 * lanes, CLA_NR rows, CLA_RK keys and CLA_RD vectors of V at a time, CLA_BK keys per tile. CLA_W divides CLA_BK: lanes
 * past the last key of a tile are dropped as past the last of all. */
#define CLA_LANES 1
#define CLA_BQ CLA_NR
#define CLA_R_N CLA_NR
#define CLA_VECTORS(n) (((n) + CLA_W - 1) / CLA_W)
#define CLA_S_N (CLA_VECTORS(CLA_BK) * CLA_NR) /* (vector j of keys, row r) at j * CLA_NR + r */
#define CLA_O_N (CLA_VECTORS(CLA_DV) * CLA_NR) /* (vector c of columns, row r) at c * CLA_NR + r */
#define CLA_COLS(n) CLA_VECTORS(n)
#define CLA_COVERED(n) (CLA_VECTORS(n) * CLA_W)
#define CLA_ROW_STEP 0
#define CLA_KEY_STEP 1
#define CLA_UNROLL_COLS CLA_NO_UNROLL
#define CLA_UNROLL_ROWS CLA_NO_UNROLL
#define CLA_UNROLL_O CLA_NO_UNROLL
#define CLA_LOCAL(t)
#define CLA_OWNS_ROWS(t) (CLA_COUNT == (integer)(0))
#define CLA_RAISE(t, top, m, f) { cla_most(top); cla_raise(top, m, f); }
#define CLA_ROW_MAX(t, m, r) m[r]
#define CLA_O_FACTOR(f, i) f[(i) % CLA_NR]
#define CLA_QK_ALONE(t, e, s, k0, n, next) cla_qk(t, e, s, k0, n)
#define CLA_GREATER(x, y) ((x) < (y) ? (y) : (x)) /* one instruction on CPUs, fmax() is three */

/* Keys whose sums are under way; those of a vector are added up across their lanes together. */
#define CLA_KEYS (CLA_RK < CLA_W ? CLA_RK : CLA_W)
#define CLA_KEY_GROUPS (CLA_W / CLA_KEYS)
/* First column of vector i of a row: the last vector of a ragged row overlaps the one before. */
#define CLA_WHOLE(width) ((width) / CLA_W)
#define CLA_IS_RAGGED(width) ((width) % CLA_W != 0)
#define CLA_COLUMN(i, width) (CLA_IS_RAGGED(width) && (i) == CLA_WHOLE(width) ? (width) - CLA_W : (i) * CLA_W)

/* Vector i of a row. Rows narrower than a vector are read column by column. */
#define CLA_READ(name, width) \
    CLA_FN real cla_read_##name(const cla_env *e, cla_##name##_handle row, int i) \
    { \
        real x = (real)(0); \
        if ((width) >= CLA_W) x = CLA_GET(name, e, row, CLA_COLUMN(i, width)); \
        else for (int c = 0; c < (width); c++) CLA_LANE(x, cla_scalar, c) = cla_get_##name(e, row, c); \
        return x; \
    }
CLA_READ(q, CLA_D)
CLA_READ(k, CLA_D)
CLA_READ(v, CLA_DV)
/* In the last vector of a ragged row what the one before has is made 0. */
CLA_FN real cla_new(real x, const int width)
{
    const integer is_new = CLA_COUNT >= (integer)(width < CLA_W ? 0 : CLA_W - width % CLA_W);
    return is_new ? x : (real)(0);
}

typedef struct {
    int r0;
    real q[CLA_VECTORS(CLA_D) * CLA_NR];
    int seen[CLA_DROPS ? CLA_BK : 1], n_seen; /* keys of the tile that some row sees */
} cla_tile;

CLA_FN int cla_slot_row(const cla_tile *t, int r) { return t->r0 + r; }
CLA_FN int cla_slot_k(const cla_tile *t, int k0, int j) { return k0 + j * CLA_W; }

/* x becomes what its lanes come to, in each of them. */
#define CLA_ADDED(x, y) ((x) + (y))
#define CLA_ACROSS_BY(x, op, g) { \
    const real a = x, b = x; \
    x = op(((real)(CLA_LOWER(g))), ((real)(CLA_UPPER(g)))); \
}
#define CLA_ACROSS_2(x, op) CLA_ACROSS_BY(x, op, 1)
#define CLA_ACROSS_4(x, op) CLA_ACROSS_BY(x, op, 2) CLA_ACROSS_2(x, op)
#define CLA_ACROSS_8(x, op) CLA_ACROSS_BY(x, op, 4) CLA_ACROSS_4(x, op)
#define CLA_ACROSS_16(x, op) CLA_ACROSS_BY(x, op, 8) CLA_ACROSS_8(x, op)
#define CLA_ACROSS(x, op) CLA_CAT(CLA_ACROSS_, CLA_WIDTH)(x, op)

/* x[0] becomes the sums of n vectors x[0], x[1], .. across their lanes: as turning, but what would be turned is added
 * up. Sum i ends in lane i. A part of that, for n less than a vector has lanes: then lane i, i + n, .. have shares of
 * sum i. And the rest, for n such vectors, each with shares of `had` sums: lane i of vector v has one of v had + i. */
#define CLA_FOLD_BY(x, n, had, g) \
    if ((g) >= (had) && (g) < (n) * (had)) \
        CLA_UNROLL for (int i = 0; i < (n) * (had) / (g) / 2; i++) { \
            const real a = x[2 * i], b = x[2 * i + 1]; \
            x[i] = (real)(CLA_LOWER(g)) + (real)(CLA_UPPER(g)); \
        }
#define CLA_FOLD_2(x, n, had) CLA_FOLD_BY(x, n, had, 1)
#define CLA_FOLD_4(x, n, had) CLA_FOLD_2(x, n, had) CLA_FOLD_BY(x, n, had, 2)
#define CLA_FOLD_8(x, n, had) CLA_FOLD_4(x, n, had) CLA_FOLD_BY(x, n, had, 4)
#define CLA_FOLD_16(x, n, had) CLA_FOLD_8(x, n, had) CLA_FOLD_BY(x, n, had, 8)
#define CLA_FOLD(x, n, had) CLA_CAT(CLA_FOLD_, CLA_WIDTH)(x, n, had)

CLA_FN void cla_most(real *x)
{
    CLA_UNROLL for (int r = 0; r < CLA_NR; r++) { CLA_ACROSS(x[r], CLA_GREATER) }
}
CLA_FN void cla_row_sum(cla_tile *t, real *x)
{
    CLA_UNROLL for (int r = 0; r < CLA_NR; r++) { CLA_ACROSS(x[r], CLA_ADDED) }
}

/* Rows past the end repeat the last one and are never written. */
CLA_FN void cla_begin(cla_tile *t, const cla_env *e, int r0, int begin, int end, cla_scalar scale)
{
    t->r0 = r0;
    if (begin >= end) return;
    CLA_NO_UNROLL for (int r = 0; r < CLA_NR; r++) {
        const cla_q_handle row = cla_q_row(e, r0 + r);
        CLA_NO_UNROLL for (int i = 0; i < CLA_WHOLE(CLA_D); i++)
            t->q[i * CLA_NR + r] = cla_read_q(e, row, i) * scale;
        if (CLA_IS_RAGGED(CLA_D))
            t->q[CLA_WHOLE(CLA_D) * CLA_NR + r] = cla_new(cla_read_q(e, row, CLA_WHOLE(CLA_D)) * scale, CLA_D);
    }
}

/* While an operand is computed with, the memory that holds the other's next rows would be idle. So with vector i of
 * `vectors` of a row of the one a share of a row of the other is asked for; all at once would be too many requests.
 * Scores ask once for vectors that are read together. */
#define CLA_NEXT(b) \
    CLA_FN const __global uchar *cla_next_##b(const cla_env *e, int key) \
    { \
        return cla_start_##b(e, cla_##b##_row(e, min(key, cla_last(e->nk)))); \
    } \
    CLA_FN void cla_ask_##b(const __global uchar *row, int i, const int vectors) \
    { \
        const int share = CLA_ROW_BYTES_##b / (vectors ? vectors : 1); \
        CLA_UNROLL for (int at = 0; at < share; at += CLA_LINE) cla_prefetch(row, i * share + at); \
    }
CLA_NEXT(k)
CLA_NEXT(v)
/* Nothing is asked for where no values are multiplied: CLA_ASKED is v or none. */
#define cla_next_none(e, key) 0
#define cla_ask_none(row, i, vectors)

/* The two products, with their operands by name: NAME has cla_NAME_handle, cla_NAME_row() and
 * cla_read_NAME(). Rows of `then` are asked for meanwhile.
 *
 * Scores dst of A, which is staged, and of rows of B. First those of keys j0 .. j0 + CLA_KEYS - 1 of the tile of n: the
 * sum of key j and row r at sums[r * CLA_W + j], its lanes apart. */
#define CLA_DOTS(b, width, then) CLA_DOTS_OF(b, width, then)
#define CLA_DOTS_OF(b, width, then) \
    CLA_FN void cla_dots_keys_##b(const cla_env *e, real *sums, const real *a, int k0, int n, int j0) \
    { \
        cla_##b##_handle rows[CLA_KEYS]; \
        CLA_UNROLL for (int j = 0; j < CLA_KEYS; j++) rows[j] = cla_##b##_row(e, k0 + min(j0 + j, cla_last(n))); \
        const __global uchar *ahead[CLA_KEYS]; \
        CLA_UNROLL for (int j = 0; j < CLA_KEYS; j++) ahead[j] = cla_next_##then(e, k0 + j0 + j); \
        real sum[CLA_NR][CLA_KEYS]; \
        for (int i0 = 0; i0 < CLA_WHOLE(width); i0 += CLA_CHAIN) { \
            real acc[CLA_KEYS][CLA_NR]; \
            CLA_UNROLL for (int j = 0; j < CLA_KEYS; j++) \
                CLA_UNROLL for (int r = 0; r < CLA_NR; r++) acc[j][r] = (real)(0); \
            CLA_NO_UNROLL for (int i = i0; i < min(i0 + CLA_CHAIN, CLA_WHOLE(width)); i += CLA_TOGETHER_##b) \
                CLA_UNROLL for (int j = 0; j < CLA_KEYS; j++) { \
                    cla_ask_##then(ahead[j], i / CLA_TOGETHER_##b, CLA_WHOLE(width) / CLA_TOGETHER_##b); \
                    CLA_UNROLL for (int u = 0; u < CLA_TOGETHER_##b; u++) { \
                        const real x = cla_read_##b(e, rows[j], i + u); \
                        CLA_UNROLL for (int r = 0; r < CLA_NR; r++) \
                            acc[j][r] = x * a[(i + u) * CLA_NR + r] + acc[j][r]; \
                    } \
                } \
            CLA_UNROLL for (int j = 0; j < CLA_KEYS; j++) \
                CLA_UNROLL for (int r = 0; r < CLA_NR; r++) sum[r][j] = i0 ? sum[r][j] + acc[j][r] : acc[j][r]; \
        } \
        if (CLA_IS_RAGGED(width)) \
            CLA_UNROLL for (int j = 0; j < CLA_KEYS; j++) { \
                const real x = cla_new(cla_read_##b(e, rows[j], CLA_WHOLE(width)), width); \
                CLA_UNROLL for (int r = 0; r < CLA_NR; r++) \
                    sum[r][j] = x * a[CLA_WHOLE(width) * CLA_NR + r] + (CLA_WHOLE(width) ? sum[r][j] : (real)(0)); \
            } \
        CLA_UNROLL for (int r = 0; r < CLA_NR; r++) { \
            CLA_FOLD(sum[r], CLA_KEYS, 1) \
            sums[r * CLA_KEY_GROUPS + j0 % CLA_W / CLA_KEYS] = sum[r][0]; \
        } \
    } \
    CLA_FN void cla_dots_##b(const cla_env *e, real *dst, const real *a, int k0, int n) \
    { \
        CLA_NO_UNROLL for (int j = 0; j < CLA_COLS(n); j++) { \
            real sums[CLA_NR * CLA_KEY_GROUPS]; \
            CLA_UNROLL for (int i = 0; i < CLA_W; i += CLA_KEYS) \
                cla_dots_keys_##b(e, sums, a, k0, n, j * CLA_W + i); \
            CLA_UNROLL for (int r = 0; r < CLA_NR; r++) { \
                real *x = sums + r * CLA_KEY_GROUPS; \
                CLA_FOLD(x, CLA_KEY_GROUPS, CLA_KEYS) \
                dst[j * CLA_NR + r] = x[0]; \
            } \
        } \
    }
CLA_DOTS(k, CLA_D, CLA_ASKED)

CLA_FN void cla_qk(cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    cla_dots_k(e, s, t->q, k0, n);
}

CLA_FN cla_scalar cla_at(const real *s, int j, int r)
{
    return ((const cla_scalar *)s)[(j / CLA_W * CLA_NR + r) * CLA_W + j % CLA_W];
}

/* Values of keys that no row sees may be NaN and are passed over. */
CLA_FN void cla_mark_seen(cla_tile *t, const real *s, int n)
{
    t->n_seen = 0;
    CLA_NO_UNROLL for (int j = 0; j < n; j++) {
        int sees = 0;
        for (int r = 0; r < CLA_NR; r++) sees |= cla_at(s, j, r) != -INFINITY;
        t->seen[t->n_seen] = j;
        t->n_seen += sees;
    }
}

/* dst = f dst + weights B. First its vectors c0 .. c0 + count - 1, over all keys of the tile or those that are seen;
 * count and all are constants where this is expanded. */
#define CLA_SUMS(b, width, then) \
    CLA_FN void cla_sums_columns_##b(const cla_tile *t, const cla_env *e, real *dst, const real *weights, \
                                     const real *f, int k0, int n, int next, int c0, const int count, \
                                     const int all) \
    { \
        real acc[CLA_RD][CLA_NR]; \
        CLA_UNROLL for (int c = 0; c < CLA_RD; c++) \
            CLA_UNROLL for (int r = 0; r < CLA_NR; r++) acc[c][r] = (real)(0); \
        const int keys = all ? n : t->n_seen; \
        for (int i = 0; i < keys; i++) { \
            const int j = all ? i : t->seen[i]; \
            const cla_##b##_handle row = cla_##b##_row(e, k0 + j); \
            const __global uchar *ahead = cla_next_##then(e, next + i); \
            CLA_UNROLL for (int c = 0; c < CLA_RD; c++) \
                if (c < count) { \
                    const real x = cla_read_##b(e, row, c0 + c); \
                    cla_ask_##then(ahead, c0 + c, CLA_VECTORS(width)); \
                    CLA_UNROLL for (int r = 0; r < CLA_NR; r++) \
                        acc[c][r] = x * (real)(cla_at(weights, j, r)) + acc[c][r]; \
                } \
        } \
        CLA_UNROLL for (int c = 0; c < CLA_RD; c++) \
            CLA_UNROLL for (int r = 0; r < CLA_NR; r++) \
                if (c < count) dst[(c0 + c) * CLA_NR + r] = dst[(c0 + c) * CLA_NR + r] * f[r] + acc[c][r]; \
    } \
    CLA_FN void cla_sums_keys_##b(const cla_tile *t, const cla_env *e, real *dst, const real *weights, \
                                  const real *f, int k0, int n, int next, const int all) \
    { \
        const int vectors = CLA_VECTORS(width), rest = vectors % CLA_RD; \
        int c = 0; \
        CLA_UNROLL_BY(4) for (; c + CLA_RD <= vectors; c += CLA_RD) \
            cla_sums_columns_##b(t, e, dst, weights, f, k0, n, next, c, CLA_RD, all); \
        if (rest) cla_sums_columns_##b(t, e, dst, weights, f, k0, n, next, c, rest, all); \
    } \
    CLA_FN void cla_sums_##b(const cla_tile *t, const cla_env *e, real *dst, const real *weights, const real *f, \
                             int k0, int n, int next) \
    { \
        if (!CLA_DROPS || t->n_seen == n) cla_sums_keys_##b(t, e, dst, weights, f, k0, n, next, 1); \
        else cla_sums_keys_##b(t, e, dst, weights, f, k0, n, next, 0); \
    }
CLA_SUMS(v, CLA_DV, k)

CLA_FN void cla_pv(cla_tile *t, const cla_env *e, real *o, real *s, const real *f, int k0, int n, int next)
{
    cla_sums_v(t, e, o, s, f, k0, n, next);
}

CLA_FN void cla_write(cla_tile *t, const cla_env *e, real *o, const real *m, const real *l)
{
    const int rows = min(CLA_NR, cla_row_count(e, e->nq) - t->r0);
    CLA_NO_UNROLL for (int r = 0; r < rows; r++) {
        const cla_scalar sum = ((const cla_scalar *)l)[r * CLA_W];
        cla_put_lse(e, t->r0 + r, ((const cla_scalar *)m)[r * CLA_W], sum, 1);
        if (!CLA_IS_WRITTEN(e, sum)) continue;
        const long row = cla_o_row(e, t->r0 + r);
        const real inverse = CLA_INVERSE(l[r]);
        CLA_NO_UNROLL for (int c = 0; c < CLA_VECTORS(CLA_DV); c++) {
            const real x = CLA_FINISHED(o[c * CLA_NR + r], l[r], inverse);
            if (CLA_DV >= CLA_W) cla_put_vector(e, row, CLA_COLUMN(c, CLA_DV), x);
            else for (int i = 0; i < CLA_DV; i++) cla_put(e, row, i, CLA_LANE(x, cla_scalar, i));
        }
    }
}
