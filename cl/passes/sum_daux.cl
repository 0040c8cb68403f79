/* Gradients of captured buffers, from what work-groups that own keys came to. */
CLA_FN cla_scalar cla_sum_of_cell(const cla_env *e, long i, int share)
{
    return cla_share_of(cla_aux_parts(e) + i, (long)e->a->groups * CLA_TABLES, e->a->aux_cells, share);
}

__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_daux(const cla_args a, CLA_PARAMS)
{
    cla_env e;
    CLA_LOCAL_SHARES
    CLA_TAKE_PARAMS(e.at)
    e.a = &a;
    CLA_SUM_RESULTS(&e, a.aux_cells, cla_sum_of_cell, cla_put_daux)
}
