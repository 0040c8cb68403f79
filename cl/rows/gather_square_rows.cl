/* gather_square.cl for engine simt: a square is read row by row. Where two branches fill a whole square LLVM 21 keeps
 * it as one value of 16 registers, and spilled 4.6 KB on AMD's gfx11 and gfx12. On CPUs this takes 1.2 times as long,
 * so engine cpu does without.
 *
 * Rows that end too early, and those that are broadcast or strided along the keys, are gathered cell by cell. */
#define CLA_GATHER(name, elem, T, loadn, load) \
    CLA_FN void cla_gather_##name(CLA_VECTOR(T) *x, const cla_env *e, const __global elem *at, long q_step, \
                                  long k_step, int q, int k) \
    { \
        const int nk = e->a->nk, last_q = cla_last(e->nq), last_k = cla_last(nk); \
        if (q_step == 0) { \
            CLA_EACH_LANE x[i] = (CLA_VECTOR(T))(load(at + min(k + i, last_k) * k_step)); \
            return; \
        } \
        CLA_EACH_LANE { \
            const __global elem *from = at + min(q + i, last_q) * q_step; \
            CLA_VECTOR(T) row; \
            if (k_step == 1 && k + CLA_WIDTH <= nk) \
                row = CLA_WIDE(loadn, load, from + k); \
            else \
                CLA_UNROLL_BY(4) for (int j = 0; j < CLA_WIDTH; j++) \
                    CLA_LANE(row, T, j) = load(from + min(k + j, last_k) * k_step); \
            x[i] = row; \
        } \
        CLA_TRANSPOSE(CLA_VECTOR(T), x) \
    }
