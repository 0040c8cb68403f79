/* The gradient of slopes, from what the items of a work-group came to for each tile of keys: of one head, over the
 * entries that share it. */
CLA_FN int cla_shares_slopes(const cla_env *e) { return e->a->slopes_stride == 0; }
CLA_FN cla_scalar cla_sum_of_head(const cla_env *e, long i, int share)
{
    const cla_args *a = e->a;
    const long parts = (long)a->tiles * CLA_PARTNERS;
    cla_scalar sum = 0, lost = 0;
    CLA_NO_UNROLL for (int b = 0; b < (cla_shares_slopes(e) ? a->heads / a->h : 1); b++)
        sum = cla_add_kept_scalar(sum, cla_share_of(cla_slope_parts(e) + ((long)b * a->h + i) * parts, parts, 1, share),
                                  &lost);
    return sum;
}
CLA_FN void cla_put_dslope(const cla_env *e, long i, cla_scalar sum)
{
    const cla_args *a = e->a;
    e->at.dslopes[a->dslopes_offset + (cla_shares_slopes(e) ? 0 : i / a->h * a->slopes_stride) + i % a->h] = (float)sum;
}

__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_dslopes(const cla_args a, CLA_PARAMS)
{
    cla_env e;
    CLA_LOCAL_SHARES
    CLA_TAKE_PARAMS(e.at)
    e.a = &a;
    CLA_SUM_RESULTS(&e, cla_shares_slopes(&e) ? a.h : a.heads, cla_sum_of_head, cla_put_dslope)
}
