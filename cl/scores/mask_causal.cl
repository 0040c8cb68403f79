/* Row q sees the keys up to q + offset. */
CLA_FN int cla_causal_begin(const cla_env *e, int q0, int q1) { return 0; }
CLA_FN int cla_causal_end(const cla_env *e, int q0, int q1) { return add_sat(q1, e->offset); }
CLA_FN int cla_causal_next(const cla_env *e, int q0, int q1, int k, int end) { return k; }
CLA_FN int cla_causal_full(const cla_env *e, int q0, int q1, int k0, int k1) { return k1 - 1 <= q0 + e->offset; }
CLA_FN void cla_causal_drop(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    CLA_KEEP_WHERE(k <= q + (integer)(e->offset))
}
