/* What derivatives look up, where work-groups have one item each: added as they say it. What has no gradient looks
 * nothing up. */
CLA_FN void cla_look_up(const cla_env *e, int n, int j, int lane, cla_scalar ds, int index, cla_scalar grad)
{
    const cla_args *a = e->a;
    if (ds == 0 || index < 0 || index >= a->aux_n[j]) return;
    __global cla_scalar *cell = cla_aux_table(e, 0) + a->aux_at[j] + index;
    cla_add_kept_there(cell, cell + cla_aux_losses(a), grad);
}
CLA_FN void cla_look_ups(const cla_env *e, int n, int j, real ds, integer index, real grad)
{
    if (!e->a->aux_n[j]) return;
    CLA_NO_UNROLL for (int i = 0; i < CLA_WIDTH; i++) {
        const CLA_INTEGER at = CLA_LANE(index, CLA_INTEGER, i);
        cla_look_up(e, n, j, i, CLA_LANE(ds, cla_scalar, i), at < 0 || at >= CLA_LIMIT ? -1 : (int)at,
                    CLA_LANE(grad, cla_scalar, i));
    }
}
#define CLA_TAKE_LOOK_UPS(t, e, s, raw, k0)
