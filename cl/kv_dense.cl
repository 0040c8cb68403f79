/* Dense K and V, every sequence whole. */
CLA_FN void cla_sequence(cla_env *e)
{
    cla_whole(e);
    cla_diagonal(e);
}

CLA_FN const __global cla_k_elem *cla_k_row(const cla_env *e, int k) { return CLA_ROW(e->k, k, e->k_stride); }
CLA_FN const __global cla_v_elem *cla_v_row(const cla_env *e, int k) { return CLA_ROW(e->v, k, e->v_stride); }
