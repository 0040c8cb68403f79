/* Work-groups own queries: row slots are queries, and columns are keys. Absolute queries and keys of an element: from
 * lane to lane it is CLA_ROW_STEP rows or CLA_KEY_STEP keys on. */
#define CLA_ELEMENT_Q cla_queries(e, CLA_COUNT * CLA_ROW_STEP + (integer)(cla_slot_row(t, r)))
#define CLA_ELEMENT_K (CLA_COUNT * CLA_KEY_STEP + (integer)(cla_slot_k(t, k0, j)))
/* Of a vector, or a square of them, the first ones. */
#define CLA_SQUARE_Q cla_slot_row(t, r)
#define CLA_SQUARE_K cla_slot_k(t, k0, j)

/* Those of rows. */
CLA_FN integer cla_queries(const cla_env *e, integer row)
{
    if (CLA_PACKS_HEADS && e->a->packed_heads > 1)
        return CLA_VECTOR(CLA_CAT(convert_, CLA_INTEGER))((real_(row) + (real)(0.5f)) * (real)(e->a->per_packed_head));
    return row;
}

/* Operands by name, of the products that make scores and their gradients. */
#define CLA_OWNED_1 q
#define CLA_OTHER_1 k
#define CLA_OWNED_2 dout
#define CLA_OTHER_2 v
#define CLA_OWNS_QUERIES 1
#define CLA_TAKES 0 /* the pass that owns keys has that */
#define CLA_HEADS_OF_KEYS(a) 1
