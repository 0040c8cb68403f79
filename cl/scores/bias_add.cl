/* s += bias[b,h,q,k], of storage type CLA_TB. -inf drops the key, whatever its score is; what a score_mod has dropped
 * stays so, whatever the bias is. */
#define cla_load_bias(p) ((cla_scalar)CLA_CAT(cla_load_, CLA_TB)(p))
#define cla_loadn_bias(n, p) CLA_CAT(CLA_CAT(convert_, CLA_SCALAR), n)(CLA_CAT(cla_loadn_, CLA_TB)(n, p))
CLA_GATHER(bias, cla_bias_elem, CLA_SCALAR, cla_loadn_bias, cla_load_bias)

CLA_FN void cla_bias(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    const cla_args *a = e->a;
    const __global cla_bias_elem *at = e->at.bias + cla_scores_from(e, &a->bias);
    const real slope = CLA_BIAS_SLOPE(e);
    CLA_EACH_SQUARE(t, k0, n)
        real x[CLA_SQUARE_N];
        cla_gather_bias(x, e, at, a->bias.q, a->bias.k, q, k);
        CLA_EACH_OF_SQUARE {
            real *to = &s[(j + i) * CLA_R_N + r];
            const integer gone = (*to == (real)(-INFINITY)) & (integer)(CLA_SCORE_DROPS);
            *to = (x[i] == (real)(-INFINITY)) | gone ? (real)(-INFINITY) : x[i] * slope + *to;
        }
    CLA_END_SQUARE
}
