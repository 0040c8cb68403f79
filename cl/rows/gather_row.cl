/* gather_square.cl of an engine whose lanes are keys: bias and mask are read as they lie, CLA_WIDTH keys of a query.
 * Queries past the last one of the sequence read as that one, keys past the last one that the call has as that one. A
 * row is a query here: heads are not packed. */

/* Lines at the end, and those that are broadcast or strided along the keys, are gathered cell by cell. */
#define CLA_GATHER(name, elem, T, loadn, load) \
    CLA_FN void cla_gather_##name(CLA_VECTOR(T) *x, const cla_env *e, const __global elem *at, long q_step, \
                                  long k_step, int q, int k) \
    { \
        const int nk = e->a->nk; \
        const __global elem *from = at + min(q, cla_last(e->nq)) * q_step; \
        if (k_step == 1 && k + CLA_WIDTH <= nk) \
            *x = CLA_WIDE(loadn, load, from + k); \
        else \
            CLA_UNROLL_BY(4) for (int i = 0; i < CLA_WIDTH; i++) /* in registers, where there are 4 */ \
                CLA_LANE(*x, T, i) = load(from + min(k + i, cla_last(nk)) * k_step); \
    }
