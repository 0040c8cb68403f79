/* 2^x for x up to 127 on float vectors of any width, exactly 0 below -126 (so also for -inf: dropped keys weigh
 * nothing, and no product becomes denormal, which is slow) and NaN for NaN. The built-in is a loop over lanes on CPU
 * drivers.
 *
 * x = n + f, |f| <= 1/2: adding 1.5 * 2^23 + 127 leaves n + 127 in the low bits of the sum, which are the exponent
 * field of 2^n. 2^f: minimax for the relative error under p(0) = 1, degree 6: 2e-9, and 7.9e-8 as computed in float. */
CLA_FN real cla_exp2(real x)
{
    const real shifted = x + (real)(12583039.0f);
    const real f = x - (shifted - (real)(12583039.0f));
    real p = f * (real)(1.535335510e-04f) + (real)(1.339887536e-03f);
    p = f * p + (real)(9.618437385e-03f);
    p = f * p + (real)(5.550332469e-02f);
    p = f * p + (real)(2.402264791e-01f);
    p = f * p + (real)(6.931472029e-01f);
    p = f * p + (real)(1.0f);
    p *= CLA_CAT(as_float, CLA_SUFFIX)(CLA_CAT(as_int, CLA_SUFFIX)(shifted) << 23);
    return x < (real)(-126.0f) ? (real)(0.0f) : p;
}
