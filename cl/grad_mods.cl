/* Gradients of captured buffers: what derivatives say of the elements that they looked up, added to cells of the
 * work-group's own, which sum_daux.cl sums. Work-groups have one item each. What has no gradient looks nothing up. */
CLA_FN void cla_look_up(const cla_env *e, int j, cla_scalar ds, int index, cla_scalar grad)
{
    const cla_args *a = e->a;
    if (ds == 0 || index < 0 || index >= a->aux_n[j]) return;
    cla_aux_parts(e)[CLA_GROUP * a->aux_cells + a->aux_at[j] + index] += grad;
}
CLA_FN void cla_look_ups(const cla_env *e, int j, real ds, integer index, real grad)
{
    if (!e->a->aux_n[j]) return;
    CLA_NO_UNROLL for (int i = 0; i < CLA_WIDTH; i++) {
        const CLA_INTEGER at = CLA_LANE(index, CLA_INTEGER, i);
        cla_look_up(e, j, CLA_LANE(ds, cla_scalar, i), at < 0 || at >= CLA_LIMIT ? -1 : (int)at,
                    CLA_LANE(grad, cla_scalar, i));
    }
}

/* The first head and entry of the work-group. */
CLA_FN void cla_mods_begin(const cla_env *e)
{
    const cla_args *a = e->a;
    if (e->b % a->unit_b || e->h % (a->unit_hk * a->heads_per_kv)) return;
    CLA_NO_UNROLL for (long i = 0; i < a->aux_cells; i++) cla_aux_parts(e)[CLA_GROUP * a->aux_cells + i] = 0;
}
CLA_FN void cla_mods_clear(const cla_tile *t, const cla_env *e) {}
CLA_FN void cla_mods_open(cla_tile *t, const cla_env *e, int q0) {}
CLA_FN void cla_mods_take(cla_tile *t, const cla_env *e, const real *s, int k0, int n) {}
CLA_FN void cla_mods_close(const cla_tile *t, const cla_env *e, int q0) {}
