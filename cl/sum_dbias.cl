/* The gradient of a bias without an axis of keys, from what the stripes of keys came to, in their order. Of any bias,
 * which is 0, where there are no batch entries. */
__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_dbias(const cla_args a, CLA_PARAMS)
{
    cla_env e;
    CLA_TAKE_PARAMS(e.at)
    e.a = &a;
    const long first = (long)CLA_GROUP * CLA_BLOCK, end = min(first + CLA_BLOCK, a.bias_cells);
    CLA_NO_UNROLL for (long i = first + (long)get_local_id(0); i < end; i += CLA_ITEMS) {
        const long k = i % a.bias_shape[3], row = i / a.bias_shape[3];
        const long q = row % a.bias_shape[2], h = row / a.bias_shape[2] % a.bias_shape[1];
        const long b = row / a.bias_shape[2] / a.bias_shape[1];
        cla_scalar sum = 0, lost = 0;
        CLA_NO_UNROLL for (int part = 0; part < a.parts; part++)
            sum = cla_add_kept_scalar(sum, cla_bias_parts(&e)[(a.parts + part) * a.bias_cells + i], &lost);
        e.at.dbias[a.dbias.offset + b * a.dbias.b + h * a.dbias.h + q * a.dbias.q + k * a.dbias.k] = sum;
    }
}
