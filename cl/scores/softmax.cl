/* Online softmax, in the unit of scores. A work-item holds CLA_R_N row slots; slot r has a running maximum m[r] and its
 * own part l[r] of the running sum. NaN scores stay out of the maximum and reach the output through the sum. */

/* The sinks of the rows of slot r: one head's, unless heads are packed. */
CLA_FN real cla_slot_sink(const cla_tile *t, const cla_env *e, int r)
{
    real sink = (real)(cla_sink(e, 0));
    if (CLA_PACKS_HEADS)
        CLA_EACH_LANE CLA_LANE(sink, cla_scalar, i) = cla_sink(e, cla_slot_row(t, r) + i * CLA_ROW_STEP);
    return sink;
}

/* A row starts with nothing seen, or its head's sink, which one of its items counts. */
CLA_FN void cla_start(const cla_tile *t, const cla_env *e, real *m, real *l)
{
    const real own = CLA_OWNS_ROWS(t) ? (real)(1) : (real)(0);
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
        const real sink = CLA_SINK_LAST ? (real)(-INFINITY) : cla_slot_sink(t, e, r);
        m[r] = sink == (real)(-INFINITY) ? (real)(CLA_LOWEST) : sink;
        l[r] = sink == (real)(-INFINITY) ? (real)(0) : own;
    }
}
/* Or it ends with that. */
CLA_FN void cla_count_sinks(const cla_tile *t, const cla_env *e, real *o, real *m, real *l)
{
    real f[CLA_R_N];
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
        const real sink = cla_slot_sink(t, e, r), up = CLA_GREATER(m[r], sink);
        f[r] = CLA_FACTOR(t, m[r], up);
        l[r] = l[r] * f[r] + (CLA_OWNS_ROWS(t) ? CLA_WEIGHT(t, sink, cla_pivot(up)) : (real)(0));
        m[r] = up;
    }
    CLA_UNROLL_O for (int i = 0; i < CLA_O_N; i++) o[i] *= CLA_O_FACTOR(f, i);
}

/* Raises the maxima by those of a tile, top[]; leaves there what the row subtracts, and in f[r] what rescales all that
 * was before. CLA_RAISE of an engine whose items have rows to themselves. */
CLA_FN void cla_raise(real *top, real *m, real *f)
{
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
        const real up = CLA_GREATER(m[r], top[r]);
        top[r] = cla_pivot(up);
        f[r] = cla_weight(m[r], top[r]);
        m[r] = up;
    }
}

CLA_FN void cla_tops(real *top, const real *s, int n)
{
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) top[r] = (real)(-INFINITY);
    CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j++)
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) top[r] = CLA_GREATER(top[r], s[j * CLA_R_N + r]);
}
CLA_FN void cla_weights(const cla_tile *t, real *s, const real *top, real *l, const real *f, int n)
{
    real sum[CLA_R_N]; /* of this tile: short chains of additions keep their error small */
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) sum[r] = (real)(0);
    CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j++)
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
            const real p = CLA_WEIGHT(t, s[j * CLA_R_N + r], top[r]);
            s[j * CLA_R_N + r] = p;
            sum[r] += p;
        }
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) l[r] = l[r] * f[r] + sum[r];
}

/* Turns the scores of a tile into weights, and leaves in f[r] what rescales everything before it. */
CLA_FN void cla_softmax(cla_tile *t, real *s, real *m, real *l, real *f, int n)
{
    real top[CLA_R_N];
    cla_tops(top, s, n);
    CLA_RAISE(t, top, m, f);
    cla_weights(t, s, top, l, f, n);
}
