/* What the passes of a backward call that go over tiles do with one: from products to weights P and to dS. Fixed, not a
 * slot. */
CLA_FN void cla_drop_unseen(const cla_tile *t, const cla_env *e, real *s, int k0, int n, int begin, int end)
{
    CLA_EACH_ELEMENT(t, k0, n)
        const integer k = CLA_ELEMENT_K, seen = (k >= (integer)(begin)) & (k < (integer)(end));
        CLA_ELEMENT = seen ? CLA_ELEMENT : (real)(-INFINITY);
    CLA_END_ELEMENT
}

/* Weights from scores, with L of the row. What is dropped, -inf, is 0 even where L is NaN, and so is what is next to
 * nothing. None is much above 1, unless L is wrong. k0 is the first query here, as in all that goes over the elements
 * of a tile. */
CLA_FN void cla_become_weights(const cla_tile *t, real *s, int k0, int n)
{
    CLA_EACH_ELEMENT(t, k0, n)
        const real row = CLA_L_OF(t, r, j), x = (CLA_ELEMENT - row) * CLA_UNIT_LOG2;
        const integer gone = CLA_IS_NOTHING(t, r, j, CLA_ELEMENT, row, x);
        CLA_ELEMENT = gone ? (real)(0) : cla_exp2(x > (real)(1) ? (real)(1) : x);
    CLA_END_ELEMENT
}

/* dS from dP: p (dp - D). What weighs nothing has no gradient, whatever is stored there. It is scaled at once where one
 * item has the whole tile in memory, unless something needs it before. Weights that dropout leaves out are negative
 * here: their dp is 0, and p becomes what dO is multiplied with. */
#define CLA_GOES_BACK (CLA_CURVED || CLA_TAKES || CLA_LANES > 1)
CLA_FN void cla_become_gradients(const cla_tile *t, const cla_env *e, real *s, real *p, int k0, int n)
{
    const real scale = CLA_GOES_BACK ? (real)(1) : (real)(CLA_SCALE(e->a));
    CLA_EACH_ELEMENT(t, k0, n)
        real weight = p[j * CLA_R_N + r], dp = CLA_ELEMENT;
        if (CLA_HAS_DROPOUT) {
            const integer left_out = weight < (real)(0);
            dp = left_out ? (real)(0) : dp * (real)(CLA_DROPOUT_FACTOR(e->a));
            p[j * CLA_R_N + r] = left_out ? (real)(0) : weight * (real)(CLA_DROPOUT_FACTOR(e->a));
            weight = fabs(weight);
        }
        CLA_ELEMENT = weight == (real)(0) ? (real)(0) : weight * (dp - CLA_D_OF(t, r, j)) * scale;
    CLA_END_ELEMENT
}

/* Then back through what was done to scores. `raw`: products of Q and K, where that matters. */
CLA_FN void cla_go_back(const cla_tile *t, const cla_env *e, real *s, const real *raw, int k0, int n)
{
    const real late = CLA_SCALES_LATE ? (real)(CLA_SCALE(e->a)) : (real)(1);
    if (!CLA_GOES_BACK) return;
    CLA_EACH_ELEMENT(t, k0, n)
        real ds = CLA_ELEMENT;
        if (CLA_CURVED) {
            ds = cla_score_grad(e, raw[j * CLA_R_N + r] * late, ds, CLA_ELEMENT_Q, CLA_ELEMENT_K);
            ds = CLA_ELEMENT == (real)(0) ? (real)(0) : ds;
        }
        CLA_ELEMENT = ds * CLA_SCALE(e->a);
    CLA_END_ELEMENT
}

/* P and dS of a tile whose columns begin at `at`; its queries are q0 .. q1 - 1, its keys k0 .. k1 - 1. whole: it holds
 * no other keys. */
CLA_FN void cla_weigh(cla_tile *t, const cla_env *e, real *p, real *ds, real *raw, int at, int n, int q0, int q1,
                      int k0, int k1, int whole)
{
    cla_scores_of(t, e, p, at, n);
    if (CLA_CURVED)
        CLA_UNROLL_COLS for (int i = 0; i < CLA_COLS(n) * CLA_R_N; i++) raw[i] = p[i];
    cla_scores(t, e, p, at, n);
    if (!whole) cla_drop_unseen(t, e, p, at, n, k0, k1);
    cla_mask_drop(t, e, p, q0, q1, k0, k1, at, n);
    cla_become_weights(t, p, at, n);
    cla_gradients_of(t, e, ds, p, at, n);
    cla_dropout_mark(t, e, p, at, n);
    cla_become_gradients(t, e, ds, p, at, n);
}
