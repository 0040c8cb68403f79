/* 2^x for x up to 16 by the device's own instruction: exactly 0 for -inf, NaN for NaN, within 2 ulp on AMD (v_exp_f32),
 * Intel (math.exp) and NVIDIA (ex2.approx). The built-in costs 10 to 30 instructions more there, to get denormal
 * results right, which weigh nothing here. */
CLA_FN float cla_exp2_lane(float x) { return CLA_NATIVE_EXP2(x); }
#define CLA_EXP2_1(x) cla_exp2_lane(x)
#define CLA_EXP2_4(x) (real)(cla_exp2_lane(x.s0), cla_exp2_lane(x.s1), cla_exp2_lane(x.s2), cla_exp2_lane(x.s3))
CLA_FN real cla_exp2(real x) { return CLA_CAT(CLA_EXP2_, CLA_WIDTH)(x); }
