/* No bias. */
CLA_FN void cla_bias(const cla_tile *t, const cla_env *e, real *s, int k0, int n) {}
