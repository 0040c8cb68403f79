/* s -= slope |q + offset - k|. The difference is taken in integers: far out, floats are coarser than 1. */
CLA_FN real cla_alibi(const cla_env *e, real s, integer q, integer k)
{
    const cla_args *a = e->a;
    const cla_scalar slope = -e->at.slopes[a->slopes_offset + e->b * a->slopes_stride + e->h];
    return (real)(slope) * fabs(real_(q + (integer)(e->offset) - k)) + s;
}
