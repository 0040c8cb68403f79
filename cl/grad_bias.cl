/* The gradient of a bias: dS, summed over what the bias is broadcast over. A work-group owns its keys for all heads and
 * entries that share a cell, and adds to the cells of its keys in turn; where the bias has no axis of keys, to cells of
 * its own, which sum_dbias.cl sums. */
CLA_FN long cla_bias_cell(const cla_env *e, const cla_scores_at *at, int q)
{
    return at->offset + e->b * at->b + e->h * at->h + q * at->q;
}
/* Terms of a cell: for each head and entry, maybe each tile of queries, and maybe each tile of keys of the stripe. */
#define CLA_BIAS_LOSES(a) \
    ((a)->bias_terms * ((a)->bias_cells ? ((a)->tiles + (a)->parts - 1) / (a)->parts : 1) > CLA_CHAIN)
CLA_FN int cla_bias_rows(const cla_env *e) { return e->a->bias_shape[2] == 1 ? 1 : e->a->nq; }
/* Whether this head and entry are the first that reach their cells. */
CLA_FN int cla_owns_bias(const cla_env *e)
{
    return (e->b == 0 || e->a->bias_shape[0] != 1) && (e->h == 0 || e->a->bias_shape[1] != 1);
}

/* Where a cell without an axis of keys is; and what a cell loses, where cells have more terms than a chain. */
CLA_FN __global cla_scalar *cla_bias_part(const cla_env *e, int q)
{
    return cla_bias_parts(e) + e->part * e->a->bias_cells + cla_bias_cell(e, &e->a->bias_part, q);
}
CLA_FN __global cla_scalar *cla_bias_loss(const cla_env *e, int q, int k)
{
    const cla_args *a = e->a;
    return cla_bias_parts(e) + (a->parts + e->part) * a->bias_cells + cla_bias_cell(e, &a->bias_part, q) +
           k * a->bias_part.k;
}
CLA_FN void cla_clear_cell(const cla_env *e, __global cla_scalar *to, int q, int k)
{
    *to = 0;
    if (CLA_BIAS_LOSES(e->a)) *cla_bias_loss(e, q, k) = 0;
}

CLA_FN void cla_bias_begin(const cla_env *e)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED) || !a->bias_cells || !cla_owns_bias(e)) return;
    CLA_NO_UNROLL for (int q = CLA_ITEM; q < cla_bias_rows(e); q += CLA_LANES)
        cla_clear_cell(e, cla_bias_part(e, q), q, 0);
}
CLA_FN void cla_bias_clear(const cla_tile *t, const cla_env *e)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED) || a->bias_cells || !cla_owns_bias(e)) return;
    CLA_NO_UNROLL for (int q = 0; q < cla_bias_rows(e); q++)
        CLA_NO_UNROLL for (int k = t->first + CLA_ITEM; k < min(t->first + CLA_OWN, a->nk); k += CLA_LANES)
            cla_clear_cell(e, e->at.dbias + cla_bias_cell(e, &a->dbias, q) + k * a->dbias.k, q, k);
}
CLA_FN void cla_bias_open(cla_tile *t, const cla_env *e) {}
CLA_FN void cla_add_to_cell(const cla_env *e, __global cla_scalar *to, int q, int k, cla_scalar x)
{
    if (CLA_BIAS_LOSES(e->a)) *to = cla_add_kept_there(*to, x, cla_bias_loss(e, q, k));
    else *to += x;
}
CLA_FN void cla_add_to_cells(const cla_env *e, __global cla_scalar *to, int q, int k, real x)
{
    const real before = CLA_LOAD_PLAIN(to);
    if (CLA_BIAS_LOSES(e->a)) {
        real lost = CLA_LOAD_PLAIN(cla_bias_loss(e, q, k));
        const real sum = cla_add_kept(before, x, &lost);
        CLA_STORE_PLAIN(sum, to);
        CLA_STORE_PLAIN(lost, cla_bias_loss(e, q, k));
    } else {
        CLA_STORE_PLAIN(before + x, to);
    }
}
CLA_FN void cla_bias_add(const cla_env *e, int q, int k, real x)
{
    const cla_args *a = e->a;
    __global cla_scalar *to = e->at.dbias + cla_bias_cell(e, &a->dbias, q);
    if (a->bias_cells)
        cla_add_to_cell(e, cla_bias_part(e, q), q, 0, cla_lane_sum(x));
    else if (a->dbias.k == 1 && k + CLA_WIDTH <= a->nk)
        cla_add_to_cells(e, to + k, q, k, x);
    else
        CLA_UNROLL_BY(4) for (int i = 0; i < CLA_WIDTH; i++)
            if (k + i < a->nk)
                cla_add_to_cell(e, to + (k + i) * a->dbias.k, q, k + i, CLA_LANE(x, const cla_scalar, i));
}
CLA_FN void cla_bias_take(cla_tile *t, const cla_env *e, const real *s, int k0, int n)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED)) return;
    CLA_TAKE_TILE(t, e, s, k0, n, a->bias_shape[2] != 1, !a->bias_cells, cla_bias_add)
}
CLA_FN void cla_bias_close(const cla_tile *t, const cla_env *e) {}
