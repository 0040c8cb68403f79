/* Sums over tiles that are more than CLA_CHAIN. Fixed, not a slot. After so many tiles, a segment, each item adds what
 * it has to a total in the workspace, and begins the next segment with what that addition loses: so there may be any
 * number of segments. Of fewer tiles there is no total. An engine says by CLA_SUM_1(t), CLA_SUM_1_N and the same of a
 * second sum what its items add up. */
CLA_FN __global cla_scalar *cla_total(const cla_env *e, int i)
{
    const ulong items = (ulong)CLA_GROUP * CLA_LANES * (CLA_SUM_1_N + CLA_SUM_2_N);
    return (__global cla_scalar *)(e->at.workspace + e->a->workspace_offset) +
           (items + i * CLA_LANES + CLA_ITEM) * CLA_WIDTH;
}
CLA_FN void cla_add_to_total(const cla_env *e, real *x, int first, int n, int is_first)
{
    CLA_UNROLL_SUMS for (int i = 0; i < n; i++) {
        __global cla_scalar *total = cla_total(e, first + i);
        real lost = (real)(0);
        const real before = is_first ? (real)(0) : CLA_LOAD_PLAIN(total);
        const real sum = cla_add_kept(before, x[i], &lost);
        CLA_STORE_PLAIN(sum, total);
        x[i] = lost;
    }
}
CLA_FN void cla_take_total_of(const cla_env *e, real *x, int first, int n)
{
    CLA_UNROLL_SUMS for (int i = 0; i < n; i++) x[i] += CLA_LOAD_PLAIN(cla_total(e, first + i));
}

/* Before each tile; and behind the last one. */
CLA_FN void cla_begin_tile(cla_tile *t, const cla_env *e)
{
    if (t->terms && t->terms % CLA_CHAIN == 0) {
        cla_add_to_total(e, CLA_SUM_1(t), 0, CLA_SUM_1_N, t->terms == CLA_CHAIN);
        cla_add_to_total(e, CLA_SUM_2(t), CLA_SUM_1_N, CLA_SUM_2_N, t->terms == CLA_CHAIN);
    }
    t->terms++;
}
CLA_FN void cla_end_tiles(cla_tile *t, const cla_env *e)
{
    if (t->terms > CLA_CHAIN) {
        cla_take_total_of(e, CLA_SUM_1(t), 0, CLA_SUM_1_N);
        cla_take_total_of(e, CLA_SUM_2(t), CLA_SUM_1_N, CLA_SUM_2_N);
    }
    t->terms = 0;
}
