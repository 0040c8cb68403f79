/* Going over the elements of a tile of scores, as the engine holds them. Fixed, not a slot. */
#define CLA_ELEMENT s[j * CLA_R_N + r]
#define CLA_EACH_ELEMENT(t, k0, n) \
    CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j++) \
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
#define CLA_END_ELEMENT }

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

/* Drops what does not fulfil a condition on q and k. */
#define CLA_KEEP_WHERE(condition) \
    CLA_EACH_ELEMENT(t, k0, n) \
        const integer q = cla_s_q(t, e, r), k = cla_s_k(t, k0, j); \
        CLA_ELEMENT = (condition) ? CLA_ELEMENT : (real)(-INFINITY); \
    CLA_END_ELEMENT

/* Every square of a tile of scores, with its first query and key in view, and the vectors that it is read as: a square
 * has CLA_WIDTH keys of as many queries where lanes are rows, of one query where they are keys. */
#define CLA_EACH_SQUARE(t, k0, n) \
    CLA_UNROLL_ROWS for (int r = 0; r < CLA_R_N; r++) \
        CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j += CLA_SQUARE_N) { \
            const int q = cla_slot_row(t, r), k = cla_slot_k(t, k0, j);
#define CLA_END_SQUARE }
#define CLA_SQUARE_N (CLA_ROW_STEP ? CLA_WIDTH : 1)
#define CLA_EACH_OF_SQUARE CLA_UNROLL for (int i = 0; i < CLA_SQUARE_N; i++)
