/* Gradients of captured buffers: what derivatives say of the elements that they look up, added to cells of the
 * work-group's own, which sum_daux.cl sums. How its items do that the engine says: its look_ups. */

/* The first head and entry of the work-group. */
CLA_FN void cla_mods_begin(const cla_env *e)
{
    const cla_args *a = e->a;
    if (e->b % a->unit_b || e->h % (a->unit_hk * a->heads_per_kv)) return;
    CLA_NO_UNROLL for (long i = CLA_ITEM; i < CLA_TABLES * a->aux_cells; i += CLA_LANES)
        cla_aux_table(e, 0)[i] = cla_aux_table(e, 0)[i + cla_aux_losses(a)] = 0;
}
CLA_FN void cla_mods_clear(const cla_tile *t, const cla_env *e) {}
CLA_FN void cla_mods_open(cla_tile *t, const cla_env *e, int q0) {}
CLA_FN void cla_mods_take(cla_tile *t, cla_env *e, const real *s, const real *raw, int k0, int n)
{
    CLA_TAKE_LOOK_UPS(t, e, s, raw, k0)
}
CLA_FN void cla_mods_close(const cla_tile *t, const cla_env *e, int q0) {}
