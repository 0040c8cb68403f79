/* The pass of a backward call that owns keys: dK and dV of a tile of them, over all queries of the heads that share
 * them, and of all batch entries where these share them too. Where the engine does all in one pass, it adds up dQ as
 * well. A work-group has every parts-th tile of keys of a key/value head: its stripe. */
CLA_FN void cla_drop_unseen(const cla_tile *t, const cla_env *e, real *s, int k0, int n, int begin, int end)
{
    CLA_KEEP_WHERE((k >= (integer)(begin)) & (k < (integer)(end)))
}

/* Weights from scores, with L of the row. What is dropped is 0 even where L is NaN, and so is what is next to nothing:
 * products with that would be denormal. None is much above 1, unless L is wrong. k0 is the first query here, as in all
 * that goes over the elements of a tile. */
#define CLA_LIGHTEST (sizeof(cla_scalar) == 8 ? -900 : -100)
CLA_FN void cla_become_weights(const cla_tile *t, real *s, int k0, int n)
{
    CLA_EACH_ELEMENT(t, k0, n)
        const real row = CLA_L_OF(t, r, j), x = (CLA_ELEMENT - row) * CLA_UNIT_LOG2;
        const integer dropped = (CLA_ELEMENT == (real)(-INFINITY)) | (row == (real)(INFINITY));
        const integer gone = dropped | (x < (real)(CLA_LIGHTEST));
        CLA_ELEMENT = gone ? (real)(0) : cla_exp2(x > (real)(1) ? (real)(1) : x);
    CLA_END_ELEMENT
}

/* dS from dP: p (dp - D). What weighs nothing has no gradient, whatever is stored there. */
CLA_FN void cla_become_gradients(const cla_tile *t, real *s, const real *p, int k0, int n)
{
    CLA_EACH_ELEMENT(t, k0, n)
        const real weight = p[j * CLA_R_N + r];
        CLA_ELEMENT = weight == (real)(0) ? (real)(0) : weight * (CLA_ELEMENT - CLA_D_OF(t, r, j));
    CLA_END_ELEMENT
}

/* Then back through what was done to scores. `raw`: products of Q and K, where that matters. */
CLA_FN void cla_go_back(const cla_tile *t, const cla_env *e, real *s, const real *raw, int k0, int n)
{
    const real late = CLA_SCALES_LATE ? (real)(CLA_SCALE(e->a)) : (real)(1);
    CLA_EACH_ELEMENT(t, k0, n)
        real ds = CLA_ELEMENT;
        if (CLA_CURVED) {
            ds = cla_score_grad(e, raw[j * CLA_R_N + r] * late, ds, CLA_ELEMENT_Q, CLA_ELEMENT_K);
            ds = CLA_ELEMENT == (real)(0) ? (real)(0) : ds;
        }
        CLA_ELEMENT = ds * CLA_SCALE(e->a);
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
    cla_become_gradients(t, ds, p, q0, n);
    cla_take_gradients(t, e, ds, q0, n);
    cla_go_back(t, e, ds, raw, q0, n);
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

/* The heads of an entry that share the keys of a tile. */
CLA_FN void cla_take_heads(cla_tile *t, cla_env *e, const cla_args *a, int b, int hk, int stripe)
{
    CLA_NO_UNROLL for (int h = hk * a->heads_per_kv; h < (hk + 1) * a->heads_per_kv; h++) {
        cla_enter(e, a, b, h, stripe);
        cla_open_gradients(t, e);
        if (t->k0 < e->nk) cla_take_head(t, e);
        cla_close_gradients(t, e);
    }
}

__kernel CLA_CAT(CLA_SUB_GROUP_, CLA_SUB_GROUP) __attribute__((reqd_work_group_size(CLA_LANES, 1, 1)))
void cla_backward_keys(const cla_args a, CLA_PARAMS)
{
    cla_tile t;
    cla_env e;
    CLA_LOCAL(t)
    CLA_TAKE_PARAMS(e.at)
    /* A unit is the key/value heads and entries whose keys one work-group has: mostly one of each. */
    const int spare = CLA_GROUP >= (uint)a.groups, across = a.h / a.heads_per_kv / a.unit_hk;
    const uint units = max(a.groups / a.parts, 1), unit = CLA_GROUP % units;
    const int stripe = CLA_GROUP / units, tiles = spare ? 0 : a.tiles;
    const int hk0 = unit % across * a.unit_hk, hk1 = hk0 + a.unit_hk, b0 = unit / across * a.unit_b;
    const int b1 = spare ? b0 : b0 + a.unit_b;

    CLA_NO_UNROLL for (int b = b0; b < b1; b++)
        CLA_NO_UNROLL for (int h = hk0 * a.heads_per_kv; h < hk1 * a.heads_per_kv; h++) {
            cla_enter(&e, &a, b, h, stripe);
            if (a.wanted & CLA_DQ_WANTED) cla_clear_queries(&e);
            cla_begin_gradients(&e);
        }
    CLA_NO_UNROLL for (int i = 0; i * a.parts < tiles; i++) {
        const int tile = cla_tile_of_stripe(i, stripe, a.parts);
        if (tile >= tiles) continue;
        t.k0 = tile * CLA_OWN;
        if (CLA_TAKES)
            CLA_NO_UNROLL for (int b = b0; b < b1; b++)
                CLA_NO_UNROLL for (int h = hk0 * a.heads_per_kv; h < hk1 * a.heads_per_kv; h++) {
                    cla_enter(&e, &a, b, h, stripe);
                    cla_clear_gradients(&t, &e);
                }
        CLA_NO_UNROLL for (int hk = hk0; hk < hk1; hk++)
            CLA_NO_UNROLL for (int b = b0; b < b1; b++) {
                cla_enter(&e, &a, b, hk * a.heads_per_kv, stripe);
                if (t.k0 < e.nk && (b == b0 || !a.shares_keys)) {
                    cla_begin_keys(&t, &e, t.k0, CLA_Q_SCALE(&a));
                    cla_clear_keys(&t);
                }
                cla_take_heads(&t, &e, &a, b, hk, stripe);
                if (t.k0 < e.nk && (b == b1 - 1 || !a.shares_keys)) cla_write_keys(&t, &e);
            }
    }
}
