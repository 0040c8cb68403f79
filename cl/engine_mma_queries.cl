/* Engine `mma_nv` where queries are owned: sum_1 is dQ. */
#define CLA_SUM_1(t) (t)->sum_1
#define CLA_SUM_2(t) (t)->sum_2
#define CLA_SUM_1_N 0 /* no totals: rounding P and dS to 16 bits is large beside what a long chain loses */
#define CLA_SUM_2_N 0
#define CLA_UNROLL_SUMS CLA_UNROLL
CLA_FN void cla_begin_rows(cla_tile *t, const cla_env *e, int q0, int end, cla_scalar scale)
{
    cla_begin_group(t, scale);
    cla_begin_own(t, q0, e->nq);
    cla_begin_others(t, e, end);
    cla_fetch_numbers(t, e, q0);
    if (end > 0) cla_begin_owned(t, e);
}
CLA_FN void cla_add_keys(cla_tile *t, const cla_env *e, const real *ds, int k0, int n) { cla_add_1(t, e, ds, k0); }

#define CLA_ROW_OF_dq(e, r) cla_written_row(e, &(e)->a->dq, r)
CLA_FN void cla_write_rows(const cla_tile *t, const cla_env *e)
{
    CLA_WRITTEN_ROWS(dq, 1, CLA_D)
}
