/* Gradients of captured buffers, from what work-groups that own keys came to, in their order. */
__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_daux(const cla_args a, CLA_PARAMS)
{
    cla_env e;
    CLA_TAKE_PARAMS(e.at)
    e.a = &a;
    const long first = (long)CLA_GROUP * CLA_BLOCK, end = min(first + CLA_BLOCK, a.aux_cells);
    CLA_NO_UNROLL for (long i = first + (long)get_local_id(0); i < end; i += CLA_ITEMS) {
        cla_scalar sum = 0, lost = 0;
        CLA_NO_UNROLL for (int group = 0; group < a.groups; group++)
            sum = cla_add_kept_scalar(sum, cla_aux_parts(&e)[group * a.aux_cells + i], &lost);
        cla_put_daux(&e, i, sum);
    }
}
