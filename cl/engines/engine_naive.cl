/* Engine `naive`: one work-item per query row, nothing shared, no barrier, scalars only. The last resort on a device
 * where nothing else builds. Numbers: CLA_WG items, CLA_BK keys per step. */
#define CLA_LANES CLA_WG
#define CLA_BQ CLA_WG
#define CLA_R_N 1
#define CLA_S_N CLA_BK
#define CLA_O_N CLA_DV
#define CLA_COLS(n) (n)
#define CLA_COVERED(n) (n)
#define CLA_UNROLL_COLS CLA_NO_UNROLL
#define CLA_UNROLL_ROWS CLA_UNROLL
#define CLA_UNROLL_O CLA_NO_UNROLL
#define CLA_LOCAL(t)
#define CLA_ROW_STEP 1
#define CLA_KEY_STEP 0
#define CLA_OWNS_ROWS(t) 1
#define CLA_RAISE(t, top, m, f) cla_raise(top, m, f)
#define CLA_ROW_MAX(t, m, r) m[r]
#define CLA_O_FACTOR(f, i) f[0]
#define CLA_QK_ALONE(t, e, s, k0, n, next) cla_qk(t, e, s, k0, n)
#define CLA_GREATER(x, y) ((x) < (y) ? (y) : (x))

typedef struct {
    int row;
    real scale;
    uchar seen[CLA_DROPS ? CLA_BK : 1]; /* whether the row sees a key of the tile */
} cla_tile;

CLA_FN int cla_slot_row(const cla_tile *t, int r) { return t->row; }
CLA_FN int cla_slot_k(const cla_tile *t, int k0, int j) { return k0 + j; }
CLA_FN void cla_row_sum(cla_tile *t, real *x) {}

CLA_FN void cla_begin(cla_tile *t, const cla_env *e, int r0, int begin, int end, real scale)
{
    t->row = r0 + (int)get_local_id(0);
    t->scale = scale;
}

/* The two products, with their operands by name: NAME has cla_NAME_handle, cla_get_NAME() and cla_NAME_row().
 *
 * dst[j] = scale x . row k0 + j of B, where x is a row of A. */
#define CLA_DOTS(a, b, width) \
    CLA_FN void cla_dots_##a##b(real *dst, cla_##a##_handle x, real scale, const cla_env *e, int k0, int n) \
    { \
        for (int j = 0; j < n; j++) { \
            const cla_##b##_handle y = cla_##b##_row(e, k0 + j); \
            real sum = 0; \
            for (int at = 0; at < (width); at += CLA_CHAIN) { \
                real part = 0; \
                for (int i = at; i < min(at + CLA_CHAIN, width); i++) \
                    part += (cla_get_##a(e, x, i) * scale) * cla_get_##b(e, y, i); \
                sum += part; \
            } \
            dst[j] = sum; \
        } \
    }
/* dst = f dst + sum of weights[j] times row k0 + j of B. Rows of keys that this row does not see may be NaN and are
 * passed over. */
#define CLA_SUMS(b, width) \
    CLA_FN void cla_sums_##b(const cla_tile *t, real *dst, const real *weights, real f, const cla_env *e, int k0, \
                             int n) \
    { \
        for (int i = 0; i < (width); i++) { \
            real part = 0; \
            for (int j = 0; j < n; j++) \
                if (!CLA_DROPS || t->seen[j]) part += weights[j] * cla_get_##b(e, cla_##b##_row(e, k0 + j), i); \
            dst[i] = dst[i] * f + part; \
        } \
    }
CLA_DOTS(q, k, CLA_D)
CLA_SUMS(v, CLA_DV)

CLA_FN void cla_qk(cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    cla_dots_qk(s, cla_q_row(e, t->row), t->scale, e, k0, n);
}
CLA_FN void cla_mark_seen(cla_tile *t, const real *s, int n)
{
    for (int j = 0; j < n; j++) t->seen[j] = s[j] != -INFINITY;
}
CLA_FN void cla_pv(cla_tile *t, const cla_env *e, real *o, real *s, const real *f, int k0, int n, int next)
{
    cla_sums_v(t, o, s, f[0], e, k0, n);
}

CLA_FN void cla_write(cla_tile *t, const cla_env *e, const real *o, const real *m, const real *l)
{
    if (t->row >= cla_row_count(e, e->nq)) return;
    cla_put_lse(e, t->row, m[0], l[0], 1);
    if (!CLA_IS_WRITTEN(e, l[0])) return;
    const long row = cla_o_row(e, t->row);
    const cla_scalar inverse = CLA_INVERSE(l[0]);
    for (int i = 0; i < CLA_DV; i++) cla_put(e, row, i, CLA_FINISHED(o[i], l[0], inverse));
}
