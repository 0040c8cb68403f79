/* No sink: what a row starts with, in units of log2, and the logarithm of its sum l 2^m. */
CLA_FN cla_scalar cla_sink(const cla_env *e) { return -INFINITY; }
CLA_FN float cla_lse(const cla_env *e, cla_scalar m, cla_scalar l)
{
    return l == 0 ? -INFINITY : (float)(m * CLA_LN2 + log(l));
}
