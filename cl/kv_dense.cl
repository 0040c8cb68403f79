/* Dense K and V, every sequence whole. */
CLA_FN void cla_sequence(cla_env *e, const cla_args *a, const __global int *q_len, const __global int *kv_len,
                         const __global int *kv_start, const __global int *offsets)
{
    e->q_len = a->nq;
    e->k_begin = 0;
    e->k_end = a->nk;
    e->offset = cla_diagonal(a, e->b, a->nq, a->nk, offsets);
}

CLA_FN const __global cla_k_elem *cla_k_row(const cla_env *e, int k) { return e->k + k * e->k_stride; }
CLA_FN const __global cla_v_elem *cla_v_row(const cla_env *e, int k) { return e->v + k * e->v_stride; }
