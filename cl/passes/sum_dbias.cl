/* The gradient of a bias without an axis of keys, from what the stripes of keys came to. Of any bias, which is 0, where
 * there are no batch entries. */
CLA_FN cla_scalar cla_sum_of_cell(const cla_env *e, long i, int share)
{
    const cla_args *a = e->a;
    return cla_share_of(cla_bias_parts(e) + i, a->parts, a->bias_cells, share);
}
CLA_FN void cla_put_dbias(const cla_env *e, long i, cla_scalar sum)
{
    const cla_args *a = e->a;
    const long k = i % a->bias_shape[3], row = i / a->bias_shape[3];
    const long q = row % a->bias_shape[2], h = row / a->bias_shape[2] % a->bias_shape[1];
    const long b = row / a->bias_shape[2] / a->bias_shape[1];
    e->at.dbias[a->dbias.offset + b * a->dbias.b + h * a->dbias.h + q * a->dbias.q + k * a->dbias.k] = sum;
}

__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_dbias(const cla_args a, CLA_PARAMS)
{
    cla_env e;
    CLA_LOCAL_SHARES
    CLA_TAKE_PARAMS(e.at)
    e.a = &a;
    CLA_SUM_RESULTS(&e, a.bias_cells, cla_sum_of_cell, cla_put_dbias)
}
