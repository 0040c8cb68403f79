/* A bias is multiplied by the slope of its head. */
CLA_FN real cla_bias_slope(const cla_env *e)
{
    const cla_args *a = e->a;
    return (real)(e->at.slopes[a->slopes_offset + e->b * a->slopes_stride + e->h]);
}
#define CLA_BIAS_SLOPE(e) cla_bias_slope(e)
#define cla_bias_slope_open cla_slope_open
#define cla_bias_slope_close cla_slope_close
