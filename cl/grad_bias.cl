/* The gradient of a bias: dS, summed over what the bias is broadcast over. A work-group owns its keys for all heads and
 * entries that share a cell, and adds to the cells of its keys in turn; where the bias has no axis of keys, to cells of
 * its own, which sum_dbias.cl sums. */
CLA_FN long cla_bias_cell(const cla_env *e, const cla_scores_at *at, int q)
{
    return at->offset + e->b * at->b + e->h * at->h + q * at->q;
}
CLA_FN int cla_bias_rows(const cla_env *e) { return e->a->bias_shape[2] == 1 ? 1 : e->a->nq; }
/* Whether this head and entry are the first that reach their cells. */
CLA_FN int cla_owns_bias(const cla_env *e)
{
    return (e->b == 0 || e->a->bias_shape[0] != 1) && (e->h == 0 || e->a->bias_shape[1] != 1);
}

CLA_FN void cla_bias_begin(const cla_env *e)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED) || !a->bias_cells || !cla_owns_bias(e)) return;
    CLA_NO_UNROLL for (int q = CLA_ITEM; q < cla_bias_rows(e); q += CLA_LANES)
        cla_bias_parts(e)[e->part * a->bias_cells + cla_bias_cell(e, &a->bias_part, q)] = 0;
}
CLA_FN void cla_bias_clear(const cla_tile *t, const cla_env *e)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED) || a->bias_cells || !cla_owns_bias(e)) return;
    CLA_NO_UNROLL for (int q = 0; q < cla_bias_rows(e); q++)
        CLA_NO_UNROLL for (int k = t->first + CLA_ITEM; k < min(t->first + CLA_OWN, a->nk); k += CLA_LANES)
            e->at.dbias[cla_bias_cell(e, &a->dbias, q) + k * a->dbias.k] = 0;
}
CLA_FN void cla_bias_open(cla_tile *t, const cla_env *e) {}
CLA_FN void cla_bias_add(const cla_env *e, int q, int k, real x)
{
    const cla_args *a = e->a;
    __global cla_scalar *to = e->at.dbias + cla_bias_cell(e, &a->dbias, q);
    if (a->bias_cells)
        cla_bias_parts(e)[e->part * a->bias_cells + cla_bias_cell(e, &a->bias_part, q)] += cla_lane_sum(x);
    else if (a->dbias.k == 1 && k + CLA_WIDTH <= a->nk)
        CLA_STORE_PLAIN(CLA_LOAD_PLAIN(to + k) + x, to + k);
    else
        CLA_UNROLL_BY(4) for (int i = 0; i < CLA_WIDTH; i++)
            if (k + i < a->nk) to[(k + i) * a->dbias.k] += CLA_LANE(x, const cla_scalar, i);
}
CLA_FN void cla_bias_take(cla_tile *t, const cla_env *e, const real *s, const real *raw, int k0, int n)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED)) return;
    CLA_TAKE_TILE(t, e, s, k0, n, a->bias_shape[2] != 1, !a->bias_cells, cla_bias_add)
}
CLA_FN void cla_bias_close(const cla_tile *t, const cla_env *e) {}
