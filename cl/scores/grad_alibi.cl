/* The gradient of ALiBi's slopes: dS times what the slope was multiplied with. */
CLA_FN void cla_alibi_begin(const cla_env *e) {}
CLA_FN void cla_alibi_clear(const cla_tile *t, const cla_env *e) {}
CLA_FN void cla_alibi_open(cla_tile *t, const cla_env *e, int q0) { cla_slope_open(t, q0); }
CLA_FN void cla_alibi_take(cla_tile *t, const cla_env *e, const real *s, const real *raw, int k0, int n)
{
    real sums[CLA_R_N], sum = (real)(0);
    if (!(e->a->wanted & CLA_DSLOPES_WANTED)) return;
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) sums[r] = (real)(0);
    CLA_EACH_ELEMENT(t, k0, n)
        sums[r] -= CLA_ELEMENT * fabs(real_(CLA_ELEMENT_Q + (integer)(e->offset) - CLA_ELEMENT_K));
    CLA_END_ELEMENT
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) sum += sums[r];
    t->slope += cla_lane_sum(sum);
}
CLA_FN void cla_alibi_close(cla_tile *t, const cla_env *e, int q0) { cla_slope_close(t, e, q0); }
