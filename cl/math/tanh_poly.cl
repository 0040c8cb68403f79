/* tanh(x) on float vectors of any width: odd, x P(x^2) / Q(x^2), minimax for the relative error on |x| <= 8.4: 1e-8,
 * and 3e-7 as computed in float; beyond that tanh is 1 within 1e-7. One division, no exp; exact to the last bits near
 * 0, where forms with exp cancel. NaN stays NaN. */
CLA_FN real cla_tanh(real x)
{
    const real far = (real)(8.4f);
    x = x > far ? far : x;
    x = x < -far ? -far : x;
    const real y = x * x;
    real p = y * (real)(1.445777083e-08f) + (real)(2.137971347e-05f);
    real q = y * (real)(8.219927197e-07f) + (real)(3.361421187e-04f);
    p = y * p + (real)(3.541613690e-03f);
    q = y * q + (real)(2.605142535e-02f);
    p = y * p + (real)(1.341957657e-01f);
    q = y * q + (real)(4.675290040e-01f);
    p = y * p + (real)(9.999999895e-01f);
    q = y * q + (real)(1.0f);
    return x * p / q;
}
