/* Work-groups own keys: row slots are keys, and columns are queries, those of a tile from k0 on. */
#define CLA_SQUARE_Q cla_slot_k(t, k0, j)
#define CLA_SQUARE_K cla_slot_row(t, r)
#define CLA_ELEMENT_Q (CLA_COUNT * CLA_ROW_STEP + (integer)(CLA_SQUARE_Q))
#define CLA_ELEMENT_K (CLA_COUNT * CLA_KEY_STEP + (integer)(CLA_SQUARE_K))

/* Operands by name, of the products that make scores and their gradients. */
#define CLA_OWNED_1 k
#define CLA_OTHER_1 q
#define CLA_OWNED_2 v
#define CLA_OTHER_2 dout
#define CLA_OWNS_QUERIES 0
#define CLA_HEADS_OF_KEYS(a) ((long)(a)->heads_per_kv * ((a)->shared ? (a)->unit_b : 1)) /* with the same keys */
