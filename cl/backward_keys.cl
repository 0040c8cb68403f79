/* The pass of a backward call that owns keys: dK and dV of a tile of them, over all queries of the heads that share
 * them, and of all batch entries where these share them too. Where the engine does all in one pass, it adds up dQ as
 * well. A work-group has every parts-th tile of keys of a key/value head: its stripe. */
CLA_FN void cla_drop_unseen(const cla_tile *t, const cla_env *e, real *s, int k0, int n, int begin, int end)
{
    CLA_KEEP_WHERE((k >= (integer)(begin)) & (k < (integer)(end)))
}

/* Weights from scores, with L of the row. Those that are next to nothing are 0: products with them would be denormal.
 * */
#define CLA_LIGHTEST (sizeof(cla_scalar) == 8 ? -900 : -100)
CLA_FN void cla_become_weights(const cla_tile *t, real *s, int k0, int n)
{
    CLA_EACH_ELEMENT(t, k0, n)
        const real row = CLA_L_OF(t, r, j), x = (CLA_ELEMENT - row) * CLA_UNIT_LOG2;
        const integer gone = (x < (real)(CLA_LIGHTEST)) | (row == (real)(INFINITY));
        CLA_ELEMENT = gone ? (real)(0) : cla_exp2(x);
    CLA_END_ELEMENT
}

/* dS from dP: p (dp - D), then back through what was done to scores. `raw`: products of Q and K, where that matters.
 * What weighs nothing has no gradient, whatever is stored there. */
CLA_FN void cla_become_gradients(const cla_tile *t, const cla_env *e, real *s, const real *p, const real *raw, int k0,
                                 int n)
{
    const real late = CLA_SCALES_LATE ? (real)(CLA_SCALE(e->a)) : (real)(1);
    CLA_EACH_ELEMENT(t, k0, n)
        const int at = j * CLA_R_N + r;
        real ds = p[at] * (CLA_ELEMENT - CLA_D_OF(t, r, j));
        if (CLA_CURVED) ds = cla_score_grad(e, raw[at] * late, ds, CLA_ELEMENT_Q, CLA_ELEMENT_K);
        CLA_ELEMENT = p[at] == (real)(0) ? (real)(0) : ds * CLA_SCALE(e->a);
    CLA_END_ELEMENT
}

/* A tile of queries, of which some may see keys of [k0, k1). */
CLA_FN void cla_take_queries(cla_tile *t, const cla_env *e, int q0, int n, int k0, int k1)
{
    real p[CLA_S_N], ds[CLA_S_N], raw[CLA_CURVED ? CLA_S_N : 1];
    const int last = min(t->k0 + CLA_OWN, e->k_end);
    cla_begin_queries(t, e, q0, n);
    cla_scores_of(t, e, p, q0, n);
    if (CLA_CURVED)
        CLA_UNROLL_COLS for (int i = 0; i < CLA_COLS(n) * CLA_R_N; i++) raw[i] = p[i];
    cla_scores(t, e, p, q0, n);
    if (e->k_begin > t->k0 || e->k_end < t->k0 + CLA_OWN) cla_drop_unseen(t, e, p, q0, n, e->k_begin, e->k_end);
    cla_mask_drop(t, e, p, q0, q0 + n, t->k0, last, q0, n);
    cla_become_weights(t, p, q0, n);
    cla_gradients_of(t, e, ds, q0, n);
    cla_become_gradients(t, e, ds, p, raw, q0, n);
    cla_add_gradients(t, e, p, ds, q0, n, k0, k1);
}

/* All queries of a head. */
CLA_FN void cla_take_head(cla_tile *t, const cla_env *e)
{
    const int low = max(t->k0, e->k_begin), high = min(t->k0 + CLA_OWN, e->k_end);
    CLA_NO_UNROLL for (int q0 = 0; low < high && q0 < e->q_len; q0 += CLA_BK) {
        const int n = min(CLA_BK, e->q_len - q0), q1 = q0 + n;
        const int k0 = max(low, cla_mask_begin(e, q0, q1)), k1 = min(high, cla_mask_end(e, q0, q1));
        if (k0 < k1 && cla_mask_next(e, q0, q1, k0, k1) < k1) cla_take_queries(t, e, q0, n, k0, k1);
    }
}

/* Tile i of a stripe: dealt to and fro, so that stripes of a causal problem have equal work. */
CLA_FN int cla_tile_of_stripe(int i, int stripe, int stripes)
{
    return i * stripes + (i & 1 ? stripes - 1 - stripe : stripe);
}

__kernel CLA_CAT(CLA_SUB_GROUP_, CLA_SUB_GROUP) __attribute__((reqd_work_group_size(CLA_LANES, 1, 1)))
void cla_backward_keys(const cla_args a, CLA_PARAMS)
{
    cla_tile t;
    cla_env e;
    CLA_LOCAL(t)
    CLA_TAKE_PARAMS(e.at)
    const uint kv_heads = a.h / a.heads_per_kv, units = a.groups / a.parts, unit = CLA_GROUP % units;
    const int spare = CLA_GROUP >= (uint)a.groups, stripe = CLA_GROUP / units;
    const int hk = unit % kv_heads, b0 = unit / kv_heads, b1 = a.shared_batch ? a.shared_batch : b0 + 1;
    const int h0 = hk * a.heads_per_kv, h1 = h0 + a.heads_per_kv;
    const int tiles = spare ? 0 : (a.nk + CLA_OWN - 1) / CLA_OWN;

    if (a.wanted & CLA_DQ_WANTED && !spare)
        CLA_NO_UNROLL for (int b = b0; b < b1; b++)
            CLA_NO_UNROLL for (int h = h0; h < h1; h++) {
                cla_env_init(&e, &a, b, h, stripe);
                cla_sequence(&e);
                cla_clear_queries(&t, &e);
            }
    CLA_NO_UNROLL for (int i = 0; i * a.parts < tiles; i++) {
        const int tile = cla_tile_of_stripe(i, stripe, a.parts), k0 = tile * CLA_OWN;
        cla_env_init(&e, &a, b0, h0, stripe);
        cla_sequence(&e);
        if (tile >= tiles || k0 >= e.nk) continue;
        cla_begin_keys(&t, &e, k0, CLA_Q_SCALE(&a));
        cla_clear_keys(&t);
        CLA_NO_UNROLL for (int b = b0; b < b1; b++)
            CLA_NO_UNROLL for (int h = h0; h < h1; h++) {
                cla_env_init(&e, &a, b, h, stripe);
                cla_sequence(&e);
                cla_take_head(&t, &e);
            }
        cla_env_init(&e, &a, b0, h0, stripe);
        cla_sequence(&e);
        cla_write_keys(&t, &e);
    }
}
