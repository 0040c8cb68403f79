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

/* Where a cell of this stripe's own is, and any cell. */
CLA_FN __global cla_scalar *cla_bias_part(const cla_env *e, int q)
{
    return cla_bias_parts(e) + e->part * e->a->bias_cells + cla_bias_cell(e, &e->a->bias_part, q);
}
CLA_FN __global cla_scalar *cla_bias_place(const cla_env *e, int q, int k)
{
    const cla_args *a = e->a;
    return a->bias_cells ? cla_bias_part(e, q) : e->at.dbias + cla_bias_cell(e, &a->dbias, q) + k * a->dbias.k;
}
/* Where its total is: behind the cells of all stripes. Of cells of dbias, where they have more terms than a chain:
 * those of the keys that the work-group owns at a time, behind its totals of tiles (segments.cl). A cell has what was
 * added since the last addition to its total, and what that lost. */
CLA_FN __global cla_scalar *cla_bias_total(const cla_tile *t, const cla_env *e, int q, int k)
{
    const cla_args *a = e->a;
    const int heads = a->unit_hk * a->heads_per_kv;
    const int b = a->bias_shape[0] == 1 ? 0 : e->b % a->unit_b, h = a->bias_shape[1] == 1 ? 0 : e->h % heads;
    const ulong head = b * (a->bias_shape[1] == 1 ? 1 : heads) + h;
    const ulong row = CLA_GROUP * (ulong)a->bias_totals + head * cla_bias_rows(e) + q;
    return a->bias_cells ? cla_bias_part(e, q) + a->parts * a->bias_cells
                         : cla_behind_totals(e) + (row * CLA_OWN + (k - t->first));
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
            *cla_bias_place(e, q, k) = 0;
            if (a->bias_totals) *cla_bias_total(t, e, q, k) = 0;
        }
}
CLA_FN void cla_bias_open(cla_tile *t, const cla_env *e, int q0) {}
CLA_FN void cla_bias_add(const cla_env *e, int q, int k, real x)
{
    const cla_args *a = e->a;
    __global cla_scalar *to = e->at.dbias + cla_bias_cell(e, &a->dbias, q);
    if (a->bias_cells)
        *cla_bias_part(e, q) += cla_lane_sum(x);
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
/* Behind a segment of queries of a head, from q0 on: adds its cells to their totals, if they have a term of each tile
 * of queries or of keys; else when they have terms of so many heads. Behind the last one the total is the cell. */
CLA_FN void cla_bias_close(const cla_tile *t, const cla_env *e, int q0)
{
    const cla_args *a = e->a;
    const int of_tiles = a->bias_shape[2] == 1, entries = a->bias_shape[0] == 1 ? a->heads / a->h : 1;
    const int before = a->bias_shape[0] == 1 ? e->b : 0, share = a->heads_per_kv;
    const int all = a->bias_shape[1] == 1 ? a->h * entries : entries;
    const int heads = a->bias_shape[1] == 1 ? (e->hk * entries + before) * share + e->h % share + 1 : before + 1;
    const int last = !a->bias_cells && heads == all && (!of_tiles || q0 + CLA_SEGMENT >= a->nq);
    const int keys = a->bias_cells ? 1 : min(CLA_OWN, a->nk - t->first);
    const int first = of_tiles ? 0 : q0, rows = of_tiles ? 1 : min(CLA_SEGMENT, a->nq - q0);
    if (!a->bias_totals || !(of_tiles || a->bias_cells || heads % CLA_CHAIN == 0 || last)) return;
    CLA_SYNC_GLOBAL
    CLA_NO_UNROLL for (int i = CLA_ITEM; i < rows * keys; i += CLA_LANES) {
        const int q = first + i / keys, k = t->first + i % keys;
        __global cla_scalar *cell = cla_bias_place(e, q, k), *total = cla_bias_total(t, e, q, k);
        cla_scalar lost = 0;
        *total = cla_add_kept_scalar(*total, *cell, &lost);
        *cell = last ? *total : lost;
    }
    CLA_SYNC_GLOBAL
}
