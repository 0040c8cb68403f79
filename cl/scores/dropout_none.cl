/* No dropout. */
#define CLA_DROPOUT_FACTOR(a) 1
CLA_FN void cla_dropout_zero(const cla_tile *t, const cla_env *e, real *s, int k0, int n) {}
CLA_FN void cla_dropout_mark(const cla_tile *t, const cla_env *e, real *s, int k0, int n) {}
