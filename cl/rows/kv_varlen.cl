/* Packed Q or K and V or both: the rows of sequence b are cu[b] .. cu[b + 1] - 1. What leads outside is clamped, and a
 * sequence is never longer than the call says the longest is. One without rows begins at a row all the same. */
CLA_FN int cla_span(const __global int *cu, int b, int total, int longest, int *n)
{
    const int first = clamp(cu[b], 0, total);
    *n = clamp(clamp(cu[b + 1], 0, total) - first, 0, longest);
    return min(first, cla_last(total));
}

CLA_FN void cla_sequence(cla_env *e)
{
    const cla_args *a = e->a;
    if (a->flags & CLA_CU_Q) {
        const int first = cla_span(e->at.cu_q + a->cu_q_offset, cla_entry(e, CLA_CU_Q), a->total_q, a->nq, &e->nq);
        e->q += first * e->q_stride;
        e->first_q = first;
    }
    if (a->flags & CLA_CU_K) {
        const int first = cla_span(e->at.cu_k + a->cu_k_offset, cla_entry(e, CLA_CU_K), a->total_k, a->nk, &e->nk);
        e->k += first * e->k_stride;
        e->v += first * e->v_stride;
        e->first_k = first;
    }
    cla_lengths(e);
    cla_diagonal(e);
}
