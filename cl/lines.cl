/* squares.cl of an engine whose lanes are keys: bias and mask are read as they lie, CLA_WIDTH keys of a query. Queries past the
 * last one of the sequence read as that one, keys past the last one that the call has as that one. A row is a query here: heads
 * are not packed. */

/* Lines at the end, and those that are broadcast or strided along the keys, are gathered cell by cell. */
#define CLA_SQUARE(name, elem, T, loadn, load) \
    CLA_FN void cla_square_##name(CLA_VECTOR(T) *x, const cla_env *e, const __global elem *at, long q_step, \
                                  long k_step, int q, int k) \
    { \
        const int nk = e->a->nk; \
        const __global elem *from = at + min(q, e->nq - 1) * q_step; \
        if (k_step == 1 && k + CLA_WIDTH <= nk) \
            *x = CLA_WIDE(loadn, load, from + k); \
        else \
            CLA_NO_UNROLL for (int i = 0; i < CLA_WIDTH; i++) \
                CLA_LANE(*x, T, i) = load(from + min(k + i, nk - 1) * k_step); \
    }

/* Every line of a tile of scores, with its query and its first key in view. */
#define CLA_EACH_SQUARE(t, k0, n) \
    CLA_UNROLL_ROWS for (int r = 0; r < CLA_R_N; r++) \
        CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j++) { \
            const int q = cla_slot_row(t, r), k = cla_slot_k(t, k0, j);
#define CLA_END_SQUARE }
#define CLA_SQUARE_KEYS 1
#define CLA_EACH_KEY CLA_UNROLL for (int i = 0; i < 1; i++)
