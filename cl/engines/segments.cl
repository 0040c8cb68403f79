/* Sums over more than CLA_CHAIN tiles. A segment has at most so many tiles, of one head; behind it each item adds
 * what it has to a total in the workspace, and begins the next segment with what that addition loses. So there may
 * be any number of segments. Where tiles are fewer in all there is no total. An engine says by CLA_SUM_1(t),
 * CLA_SUM_1_N and the same of a second sum what its items add up. */
#define CLA_SEGMENT (CLA_CHAIN * CLA_BK) /* columns */
#define CLA_TOTAL_STEP (CLA_LANES * CLA_WIDTH)

/* Goes on to the next segment of a head; 1: there is none. */
CLA_FN int cla_next_segment(const cla_args *a, int *q0)
{
    *q0 += CLA_SEGMENT;
    if (*q0 < a->nq) return 0;
    *q0 = 0;
    return 1;
}

/* Whether a work-group has more tiles than a segment: where keys are owned, in all heads and entries. */
CLA_FN int cla_has_segments(const cla_args *a)
{
    const long tiles = CLA_OWNS_QUERIES ? (a->nk + CLA_BK - 1) / CLA_BK
                                        : CLA_HEADS_OF_KEYS(a) * ((a->nq + CLA_BK - 1) / CLA_BK);
    return tiles > CLA_CHAIN;
}
CLA_FN __global cla_scalar *cla_total(const cla_env *e)
{
    return (__global cla_scalar *)(e->at.workspace + e->a->workspace_offset) +
           (CLA_GROUP * ((ulong)CLA_LANES * (CLA_SUM_1_N + CLA_SUM_2_N)) + CLA_ITEM) * CLA_WIDTH;
}
CLA_FN void cla_add_to_total(real *x, __global cla_scalar *total, int n)
{
    CLA_UNROLL_SUMS for (int i = 0; i < n; i++) {
        const real sum = cla_add_losing(CLA_LOAD_PLAIN(total + i * CLA_TOTAL_STEP), x[i], x + i);
        CLA_STORE_PLAIN(sum, total + i * CLA_TOTAL_STEP);
        mem_fence(CLK_GLOBAL_MEM_FENCE); /* one after the other: all at once they take registers for as many totals */
    }
}
CLA_FN void cla_take_total(real *x, const __global cla_scalar *total, int n)
{
    CLA_UNROLL_SUMS for (int i = 0; i < n; i++) x[i] += CLA_LOAD_PLAIN(total + i * CLA_TOTAL_STEP);
}

/* Before the first segment, behind each, and behind the last one. sums: CLA_DK_WANTED for the first, CLA_DV_WANTED for
 * the second. */
CLA_FN void cla_open_total(const cla_env *e, int sums)
{
    __global cla_scalar *total = cla_total(e);
    const int from = sums & CLA_DK_WANTED ? 0 : CLA_SUM_1_N;
    const int to = sums & CLA_DV_WANTED ? CLA_SUM_1_N + CLA_SUM_2_N : CLA_SUM_1_N;
    CLA_NO_UNROLL for (int i = from; i < to; i++) CLA_STORE_PLAIN((real)(0), total + i * CLA_TOTAL_STEP);
}
CLA_FN void cla_close_segment(cla_tile *t, const cla_env *e)
{
    __global cla_scalar *total = cla_total(e);
    cla_add_to_total(CLA_SUM_1(t), total, CLA_SUM_1_N);
    cla_add_to_total(CLA_SUM_2(t), total + CLA_SUM_1_N * CLA_TOTAL_STEP, CLA_SUM_2_N);
}
CLA_FN void cla_close_total(cla_tile *t, const cla_env *e, int sums)
{
    const __global cla_scalar *total = cla_total(e);
    if (sums & CLA_DK_WANTED) cla_take_total(CLA_SUM_1(t), total, CLA_SUM_1_N);
    if (sums & CLA_DV_WANTED) cla_take_total(CLA_SUM_2(t), total + CLA_SUM_1_N * CLA_TOTAL_STEP, CLA_SUM_2_N);
}
