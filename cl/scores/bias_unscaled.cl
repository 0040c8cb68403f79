/* A bias is taken as it is, and has no slopes whose gradient there could be. */
#define CLA_BIAS_SLOPE(e) (real)(1)
#define cla_bias_slope_open(t, q0)
#define cla_bias_slope_take(t, e, s, k0, n)
#define cla_bias_slope_close(t, e, q0)
