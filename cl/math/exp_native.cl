/* 2^x for x up to 16 by the device's own instruction: exactly 0 for -inf, NaN for NaN, within 2 ulp on AMD (v_exp_f32),
 * Intel (math.exp) and NVIDIA (ex2.approx). The built-in costs 10 to 30 instructions more there, to get denormal
 * results right, which weigh nothing here. native_exp2 of AMD's compilers up to LLVM 19 costs 5 more for the same;
 * clang's library for NVIDIA knows none, NVIDIA's own does. */
#define CLA_NATIVE_EXP2 native_exp2
#ifdef __AMDGCN__
#if __has_builtin(__builtin_amdgcn_exp2f) /* a line of its own: only clang knows the question */
#undef CLA_NATIVE_EXP2
#define CLA_NATIVE_EXP2 __builtin_amdgcn_exp2f
#endif
#endif
#ifdef __NVPTX__
CLA_FN float cla_exp2_lane(float x)
{
    float y;
    __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#else
CLA_FN float cla_exp2_lane(float x) { return CLA_NATIVE_EXP2(x); }
#endif
#define CLA_EXP2_1(x) cla_exp2_lane(x)
#define CLA_EXP2_4(x) (real)(cla_exp2_lane(x.s0), cla_exp2_lane(x.s1), cla_exp2_lane(x.s2), cla_exp2_lane(x.s3))
CLA_FN real cla_exp2(real x) { return CLA_CAT(CLA_EXP2_, CLA_WIDTH)(x); }
