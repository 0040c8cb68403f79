/* The new rows of a sequence, and those that it has. Whoever is at work on no sequence asks for number 0. */
CLA_FN int cla_length(const cla_args *a, const cla_pointers *at, int b)
{
    return max(at->kv_len[a->kv_len_offset + b], 0);
}
CLA_FN int cla_new_rows(const cla_args *a, const cla_pointers *at, int b)
{
    const int given = a->given & CLA_NEW_LEN_GIVEN, n = at->new_len[a->new_len_offset + (given ? b : 0)];
    return given ? clamp(n, 0, a->nq) : a->nq;
}

/* The number of this work-group. */
#define CLA_GROUP ((uint)get_group_id(1) * (uint)get_num_groups(0) + (uint)get_group_id(0))
