/* Gradients of slopes: each item sums them in its tile's `slope`, and for each head and tile of keys in the workspace,
 * segment by segment, which sum_dslopes.cl sums. What an addition loses goes into the next segment. */
CLA_FN void cla_slope_open(cla_tile *t, int q0)
{
    if (!q0) t->slope = 0;
}
CLA_FN void cla_slope_close(cla_tile *t, const cla_env *e, int q0)
{
    if (!(e->a->wanted & CLA_DSLOPES_WANTED)) return;
    const long tile = (long)(e->b * e->a->h + e->h) * e->a->tiles + t->first / CLA_OWN;
    __global cla_scalar *cell = cla_slope_parts(e) + tile * CLA_LANES + CLA_ITEM;
    *cell = cla_add_losing_scalar(q0 ? *cell : 0, t->slope, &t->slope);
}
