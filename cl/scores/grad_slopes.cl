/* The gradient of the slopes of a bias: dS times the bias, summed as slope_sums.cl says. Where dS is 0, as of keys
 * that a bias of -inf drops, it does not matter what the bias is. */
CLA_FN void cla_bias_slope_take(cla_tile *t, const cla_env *e, const real *s, int k0, int n)
{
    const cla_args *a = e->a;
    if (!(a->wanted & CLA_DSLOPES_WANTED)) return;
    const __global cla_bias_elem *at = e->at.bias + cla_scores_from(e, &a->bias);
    real sums[CLA_R_N], sum = (real)(0);
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) sums[r] = (real)(0);
    CLA_EACH_SQUARE(t, k0, n)
        real x[CLA_SQUARE_N];
        cla_gather_bias(x, e, at, a->bias.q, a->bias.k, q, k);
        CLA_EACH_OF_SQUARE {
            const real ds = s[(j + i) * CLA_R_N + r];
            sums[r] += ds == (real)(0) ? (real)(0) : x[i] * ds;
        }
    CLA_END_SQUARE
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) sum += sums[r];
    t->slope += cla_lane_sum(sum);
}
