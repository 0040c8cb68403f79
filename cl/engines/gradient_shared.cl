/* What passes of gradients have where the items of a work-group share a tile: rows of their own, and in local memory L
 * and D of its queries, and its dS where other items add that up. */
#define CLA_OWN CLA_BQ
#define CLA_ITEM get_local_id(0)
#define CLA_SYNC_GLOBAL barrier(CLK_GLOBAL_MEM_FENCE);
#define CLA_MARKS (!CLA_OWNS_QUERIES || CLA_DROPS)       /* rows of Q that see nothing may be NaN */
#define CLA_NUMBERS (CLA_OWNS_QUERIES ? CLA_BQ : CLA_BK) /* of queries in a tile */

/* A number of each row to compare with would take a register for each: NVIDIA's compilers would spill. */
#define CLA_IS_NOTHING(t, r, j, s, row, x) \
    (((s) == (real)(-INFINITY)) | ((row) == (real)(INFINITY)) | ((x) < (real)(CLA_LIGHTEST)))

CLA_FN void cla_begin_own(cla_tile *t, int first, int end)
{
    t->first = first;
    t->own_end = end;
}

/* L and D of the queries from q0 on; past the last one nothing weighs. */
CLA_FN void cla_fetch_numbers(cla_tile *t, const cla_env *e, int q0)
{
    for (int i = CLA_ITEM; i < CLA_NUMBERS; i += CLA_LANES) {
        const int there = q0 + i < e->nq;
        const __global cla_scalar *from = cla_stats(e, min(q0 + i, cla_last(e->nq)));
        t->m[i] = there ? from[0] : INFINITY;
        t->m[CLA_NUMBERS + i] = there ? from[1] : 0;
    }
}

/* What ADD makes of the dS of a tile of queries from q0 on, by vectors of keys: by those of each query, or of the
 * sum of all queries; by all sums of a vector, or their sum. No sum has more than CLA_CHAIN terms in a row. An item
 * has the same queries and keys in every tile, so that what it adds to is its own. cla_share(t, s) stores dS with a
 * row of CLA_QP for each column x, which is query cla_shared_column(x). */
#define CLA_TAKE_SHARED_TILE(t, e, s, q0, by_query, by_key, ADD) { \
    const int queries = (by_query) ? CLA_BK : 1, vectors = (by_key) ? CLA_BQ / CLA_WIDTH : 1; \
    cla_share(t, s); \
    CLA_BARRIER_OFFERED \
    CLA_NO_UNROLL for (int i = CLA_ITEM; i < queries * vectors; i += CLA_LANES) { \
        const int column = i / vectors, vector = i % vectors; \
        const int q = (by_query) ? (q0) + cla_shared_column(column) : 0; \
        real sum = (real)(0), of_turn = (real)(0); \
        CLA_NO_UNROLL for (int x = column; x < ((by_query) ? column + 1 : CLA_BK); x++) { \
            real of_query = (real)(0); \
            CLA_NO_UNROLL for (int y = vector; y < ((by_key) ? vector + 1 : CLA_BQ / CLA_WIDTH); y++) \
                of_query += *(__local real *)((t)->p + x * CLA_QP + CLA_WIDTH * y); \
            of_turn += of_query; \
            if (CLA_BK > CLA_CHAIN && (x + 1) % CLA_CHAIN == 0) { \
                sum += of_turn; \
                of_turn = (real)(0); \
            } \
        } \
        if (q < (e)->nq) ADD(e, q, (t)->first + CLA_WIDTH * vector, sum + of_turn); \
    } \
    CLA_BARRIER_TAKEN \
}
