/* Work-groups own queries: row slots are queries, and columns are keys. */
/* Absolute queries and keys of an element: from lane to lane it is CLA_ROW_STEP rows or CLA_KEY_STEP keys on. */
CLA_FN integer cla_s_q(const cla_tile *t, const cla_env *e, int r)
{
    const integer row = CLA_COUNT * CLA_ROW_STEP + (integer)(cla_slot_row(t, r));
    if (CLA_PACKS_HEADS && e->a->packed_heads > 1)
        return CLA_VECTOR(CLA_CAT(convert_, CLA_INTEGER))((real_(row) + (real)(0.5f)) * (real)(e->a->per_packed_head));
    return row;
}
CLA_FN integer cla_s_k(const cla_tile *t, int k0, int j)
{
    return CLA_COUNT * CLA_KEY_STEP + (integer)(cla_slot_k(t, k0, j));
}
#define CLA_ELEMENT_Q cla_s_q(t, e, r)
#define CLA_ELEMENT_K cla_s_k(t, k0, j)
/* Of a vector, or a square of them, the first ones. */
#define CLA_SQUARE_Q cla_slot_row(t, r)
#define CLA_SQUARE_K cla_slot_k(t, k0, j)
