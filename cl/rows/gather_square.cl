/* Bias and mask lie query by query, elements hold queries in their lanes. So they are read in squares of CLA_WIDTH by
 * CLA_WIDTH, a row of keys for each query, and turned: x[i] is key k + i of all queries. Turning in registers is twice
 * as fast as reading element by element. Queries past the last one of the sequence read as that one: they must not see
 * what no query sees. Keys past the last one that the call has read as that one. A row is a query here: heads are not
 * packed. */

/* Squares at the edges, and those that are broadcast or strided along the keys, are gathered cell by cell. */
#define CLA_GATHER(name, elem, T, loadn, load) \
    CLA_FN void cla_gather_##name(CLA_VECTOR(T) *x, const cla_env *e, const __global elem *at, long q_step, \
                                  long k_step, int q, int k) \
    { \
        const int nq = e->nq, nk = e->a->nk, last_q = cla_last(nq), last_k = cla_last(nk); \
        if (q_step == 0) { \
            CLA_EACH_LANE x[i] = (CLA_VECTOR(T))(load(at + min(k + i, last_k) * k_step)); \
            return; \
        } \
        if (k_step == 1 && q + CLA_WIDTH <= nq && k + CLA_WIDTH <= nk) { \
            const __global elem *from = at + (q * q_step + k); \
            CLA_EACH_LANE x[i] = CLA_WIDE(loadn, load, from + i * q_step); \
        } else { \
            T cell[CLA_WIDTH * CLA_WIDTH]; \
            CLA_NO_UNROLL for (int i = 0; i < CLA_WIDTH * CLA_WIDTH; i++) \
                cell[i] = load(at + min(q + i / CLA_WIDTH, last_q) * q_step + \
                               min(k + i % CLA_WIDTH, last_k) * k_step); \
            CLA_EACH_LANE x[i] = CLA_LOAD_PLAIN(cell + i * CLA_WIDTH); \
        } \
        CLA_TRANSPOSE(CLA_VECTOR(T), x) \
    }
