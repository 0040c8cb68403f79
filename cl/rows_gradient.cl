/* Rows of dO, and where row k of dK or dV goes. Fixed, not a slot. */
CLA_FN const __global cla_o_elem *cla_dout_row(const cla_env *e, int q)
{
    return e->at.dout + cla_written_row(e, &e->a->dout, q);
}
CLA_FN long cla_key_row(const cla_env *e, const cla_rows_at *at, int k)
{
    return at->offset + e->b * at->b + e->hk * at->h + (e->first_k + k) * at->row;
}
/* L and D of n queries from q0 on, for all items of a work-group; past the last one nothing weighs. */
CLA_FN void cla_fetch_stats(__local cla_scalar *to, const cla_env *e, int q0, int n, int item, int items)
{
    for (int i = item; i < n; i += items) {
        const int there = q0 + i < e->nq;
        const __global cla_scalar *from = cla_stats(e, min(q0 + i, cla_last(e->nq)));
        to[i] = there ? from[0] : INFINITY;
        to[n + i] = there ? from[1] : 0;
    }
}
