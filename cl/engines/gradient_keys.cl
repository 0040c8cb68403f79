/* Where the items of a work-group share a tile of keys that it owns: sum_1 is dK, sum_2 is dV. dQ has a pass of its
 * own. */
CLA_FN void cla_begin_head(cla_tile *t, const cla_env *e) { cla_begin_others(t, e, e->q_len); }
CLA_FN void cla_begin_keys(cla_tile *t, const cla_env *e, int k0, cla_scalar scale)
{
    cla_begin_own(t, k0, e->nk);
    cla_begin_owned(t, e);
}
CLA_FN void cla_clear_keys(cla_tile *t, int sums)
{
    if (sums & CLA_DK_WANTED) cla_clear_sum_1(t);
    if (sums & CLA_DV_WANTED) cla_clear_sum_2(t);
}
CLA_FN void cla_clear_queries(const cla_env *e) {}
CLA_FN void cla_close_queries(const cla_env *e) {}
CLA_FN void cla_finish_queries(const cla_env *e) {}
CLA_FN void cla_begin_queries(cla_tile *t, const cla_env *e, int q0, int n) { cla_fetch_numbers(t, e, q0); }

CLA_FN void cla_add_gradients(cla_tile *t, const cla_env *e, const real *p, const real *ds, int q0, int n, int k0,
                              int k1)
{
    const int wanted = e->a->wanted;
    if (wanted & CLA_DV_WANTED) cla_add_2(t, e, p, q0);
    if (wanted & CLA_DK_WANTED) cla_add_1(t, e, ds, q0);
    if (!(wanted & (CLA_DV_WANTED | CLA_DK_WANTED))) { CLA_BARRIER_SPENT }
}

#define CLA_TAKE_TILE(t, e, s, q0, n, by_query, by_key, ADD) CLA_TAKE_SHARED_TILE(t, e, s, q0, by_query, by_key, ADD)

#define CLA_ROW_OF_dk(e, r) cla_key_row(e, &(e)->a->dk, r)
#define CLA_ROW_OF_dv(e, r) cla_key_row(e, &(e)->a->dv, r)
CLA_FN void cla_write_keys(const cla_tile *t, const cla_env *e, int sums)
{
    if (sums & CLA_DK_WANTED) CLA_WRITTEN_ROWS(dk, 1, CLA_D)
    if (sums & CLA_DV_WANTED) CLA_WRITTEN_ROWS(dv, 2, CLA_DV)
}
