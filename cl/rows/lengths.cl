/* The rows of a batch entry that count, where arrays say so. */
CLA_FN void cla_lengths(cla_env *e)
{
    const cla_args *a = e->a;
    cla_whole(e);
    if (a->flags & CLA_Q_LEN) e->q_len = clamp(e->at.q_len[a->q_len_offset + cla_entry(e, CLA_Q_LEN)], 0, e->nq);
    if (a->flags & CLA_KV_LEN) e->k_end = clamp(e->at.kv_len[a->kv_len_offset + cla_entry(e, CLA_KV_LEN)], 0, e->nk);
    if (a->flags & CLA_KV_START)
        e->k_begin = clamp(e->at.kv_start[a->kv_start_offset + cla_entry(e, CLA_KV_START)], 0, e->nk);
}
