/* s = c tanh(s / c), in natural units. */
CLA_FN real cla_softcap(const cla_env *e, real s, integer q, integer k)
{
    const cla_scalar c = CLA_SOFTCAP(e->a);
    return (real)(c) * cla_tanh(s * (real)(1 / c));
}
