/* Dense K and V, with the true lengths of each batch entry in arrays; bits of lengths: 2 q_len, 4 kv_len, 8 kv_start. */
CLA_FN void cla_sequence(cla_env *e, const cla_args *a, const __global int *q_len, const __global int *kv_len,
                         const __global int *kv_start, const __global int *offsets)
{
    e->q_len = a->lengths & 2 ? clamp(q_len[a->q_len_offset + e->b], 0, a->nq) : a->nq;
    e->k_end = a->lengths & 4 ? clamp(kv_len[a->kv_len_offset + e->b], 0, a->nk) : a->nk;
    e->k_begin = a->lengths & 8 ? clamp(kv_start[a->kv_start_offset + e->b], 0, a->nk) : 0;
    e->offset = cla_diagonal(a, e->b, e->q_len, e->k_end, offsets);
}

CLA_FN const __global cla_k_elem *cla_k_row(const cla_env *e, int k) { return e->k + k * e->k_stride; }
CLA_FN const __global cla_v_elem *cla_v_row(const cla_env *e, int k) { return e->v + k * e->v_stride; }
