/* Rows of dO, and where row k of dK or dV goes. Fixed, not a slot. */
CLA_FN const __global cla_q_elem *cla_dout_row(const cla_env *e, int q)
{
    return e->at.dout + cla_written_row(e, &e->a->dout, q);
}
CLA_FN long cla_key_row(const cla_env *e, const cla_rows_at *at, int k)
{
    return at->offset + e->b * at->b + e->hk * at->h + (e->first_k + k) * at->row;
}
