/* The gradient of a bias: dS, times the bias's slope, summed over what the bias is broadcast over. A work-group owns
 * its keys for all heads and entries that share a cell, and adds to the cells of its keys in turn; where the bias has
 * no axis of keys, to cells of its own, which sum_dbias.cl sums. */
CLA_FN long cla_bias_cell(const cla_env *e, const cla_scores_at *at, int q)
{
    return cla_scores_from(e, at) + q * at->q;
}
CLA_FN int cla_bias_rows(const cla_env *e) { return e->a->bias_shape[2] == 1 ? 1 : e->a->nq; }
/* Whether this head and entry are the first that reach their cells. */
CLA_FN int cla_owns_bias(const cla_env *e)
{
    return e->b < e->a->bias_shape[0] && e->h < e->a->bias_shape[1];
}

/* Where a cell of this stripe's own is; what additions to it lose lies behind the cells of all stripes. */
CLA_FN __global cla_scalar *cla_bias_part(const cla_env *e, int q)
{
    return cla_bias_parts(e) + e->part * e->a->bias_cells + cla_bias_cell(e, &e->a->bias_part, q);
}
/* What additions to cells of dbias lose, where a cell has more terms than a chain may have. */
CLA_FN __global cla_scalar *cla_bias_losses(const cla_env *e, int q)
{
    return cla_bias_parts(e) + cla_bias_cell(e, &e->a->bias_part, q);
}

CLA_FN void cla_bias_begin(const cla_env *e)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED) || !a->bias_cells || !cla_owns_bias(e)) return;
    CLA_NO_UNROLL for (int q = CLA_ITEM; q < cla_bias_rows(e); q += CLA_LANES)
        cla_bias_part(e, q)[0] = cla_bias_part(e, q)[a->parts * a->bias_cells] = 0;
}
CLA_FN void cla_bias_clear(const cla_tile *t, const cla_env *e)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DBIAS_WANTED) || a->bias_cells || !cla_owns_bias(e)) return;
    CLA_NO_UNROLL for (int q = 0; q < cla_bias_rows(e); q++)
        CLA_NO_UNROLL for (int k = t->first + CLA_ITEM; k < min(t->first + CLA_OWN, a->nk); k += CLA_LANES) {
            e->at.dbias[cla_bias_cell(e, &a->dbias, q) + k * a->dbias.k] = 0;
            if (a->bias_losses) cla_bias_losses(e, q)[k] = 0;
        }
}
CLA_FN void cla_bias_open(cla_tile *t, const cla_env *e, int q0) { cla_bias_slope_open(t, q0); }
CLA_FN void cla_bias_add(const cla_env *e, int q, int k, real x)
{
    const cla_args *a = e->a;
    __global cla_scalar *to = e->at.dbias + cla_bias_cell(e, &a->dbias, q), *loss = cla_bias_losses(e, q);
    x *= CLA_BIAS_SLOPE(e);
    if (a->bias_cells) {
        cla_add_kept_there(cla_bias_part(e, q), cla_bias_part(e, q) + a->parts * a->bias_cells, cla_lane_sum(x));
    } else if (a->dbias.k == 1 && k + CLA_WIDTH <= a->nk) {
        cla_add_vector_there(to + k, loss + k, a->bias_losses != 0, x);
    } else {
        CLA_NO_UNROLL for (int i = 0; i < CLA_WIDTH && k + i < a->nk; i++) { /* unrolled, it spills on gfx1100 */
            __global cla_scalar *cell = to + (k + i) * a->dbias.k;
            const cla_scalar before = *cell, lane = CLA_LANE(x, const cla_scalar, i);
            const cla_scalar more = a->bias_losses ? lane + loss[k + i] : lane, sum = before + more;
            *cell = sum;
            if (a->bias_losses) loss[k + i] = cla_lost_scalar(before, more, sum);
        }
    }
}
CLA_FN void cla_bias_take(cla_tile *t, const cla_env *e, const real *s, const real *raw, int k0, int n)
{
    const cla_args *a = e->a;
    cla_bias_slope_take(t, e, s, k0, n);
    if (!(a->wanted & CLA_DBIAS_WANTED)) return;
    CLA_TAKE_TILE(t, e, s, k0, n, a->bias_shape[2] != 1, !a->bias_cells, cla_bias_add)
}
CLA_FN void cla_bias_close(cla_tile *t, const cla_env *e, int q0) { cla_bias_slope_close(t, e, q0); }
