/* Where the items of a work-group share a tile of queries that it owns: sum_1 is dQ. */
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
