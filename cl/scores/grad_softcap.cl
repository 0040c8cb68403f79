/* What softcap does to a gradient: times 1 - tanh(s / c)^2, s being the score before it. */
CLA_FN real cla_softcap_grad(const cla_env *e, real s, real ds, integer q, integer k)
{
    const real t = cla_tanh(s * (real)(1 / CLA_SOFTCAP(e->a)));
    return ds * (1 - t * t);
}
