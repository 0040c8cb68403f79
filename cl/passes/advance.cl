/* Counts the rows that an append has written, when all are: a work-group for each sequence. */
__kernel void cla_advance(const cla_args a, CLA_PARAMS)
{
    CLA_ROOM_MEMORY(no_page)
    cla_pointers at;
    CLA_TAKE_PARAMS(at)
    const uint group = CLA_GROUP;
    const int spare = group >= (uint)a.sequences, b = spare ? 0 : group;
    const int length = cla_length(&a, &at, b), n = spare ? 0 : cla_new_rows(&a, &at, b);
    const int fit = CLA_FITTING(&a, &at, b, length, n, no_page);
    if (spare || get_local_id(0) != 0) return;
    at.kv_len[a.kv_len_offset + b] = length + fit;
    if (a.given & CLA_DROPPED_WANTED) at.dropped[a.dropped_offset + b] = n - fit;
}
