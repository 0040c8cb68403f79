/* Going over the elements of a tile of scores, as the engine holds them. Fixed, not a slot. */
#define CLA_ELEMENT s[j * CLA_R_N + r]
#define CLA_EACH_ELEMENT(t, k0, n) \
    CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j++) \
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
#define CLA_END_ELEMENT }

/* Drops what does not fulfil a condition on q and k. */
#define CLA_KEEP_WHERE(condition) \
    CLA_EACH_ELEMENT(t, k0, n) \
        const integer q = CLA_ELEMENT_Q, k = CLA_ELEMENT_K; \
        CLA_ELEMENT = (condition) ? CLA_ELEMENT : (real)(-INFINITY); \
    CLA_END_ELEMENT

/* Every square of a tile of scores, with its first query and key in view, and the vectors that it is read as: a square
 * has CLA_WIDTH keys of as many queries where lanes are rows, of one query where they are keys. */
#define CLA_EACH_SQUARE(t, k0, n) \
    CLA_UNROLL_ROWS for (int r = 0; r < CLA_R_N; r++) \
        CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j += CLA_SQUARE_N) { \
            const int q = CLA_SQUARE_Q, k = CLA_SQUARE_K;
#define CLA_END_SQUARE }
#define CLA_SQUARE_N (CLA_ROW_STEP ? CLA_WIDTH : 1)
#define CLA_EACH_OF_SQUARE CLA_UNROLL for (int i = 0; i < CLA_SQUARE_N; i++)

/* Where rows are to have the same bits in every batch (CLA_INVARIANT), parts, tiles and segments are those of an
 * entry's keys, counted from its first one. Those that the rows of a tile see would depend on which rows these are. */
CLA_FN int cla_on_tile(const cla_env *e, int k, int end)
{
    return CLA_INVARIANT && k < end ? k - (k - e->k_begin) % CLA_BK : k;
}
