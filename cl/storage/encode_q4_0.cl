/* Elements c0 to c1 - 1 of a row, which are a block, to GGUF's q4_0: the scale as an f16, then element j and element
 * j + 16 in byte j. The element of largest magnitude, the first of several, becomes -8, so that its sign is that of
 * -scale. */
CLA_FN int cla_coded_q4_0(float x, float factor) { return (int)fmax(fmin(x * factor + 8.5f, 15.0f), 0.0f); }

CLA_FN void cla_encode_q4_0(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global uchar *block = row + c0 / 32 * 18;
    float most = 0;
    int odd = 0;
    for (int c = c0; c < c1; c++) {
        const float v = (float)cla_take(x, c);
        most = fabs(v) > fabs(most) ? v : most;
        odd |= !isfinite(v);
    }
    const float scale = odd ? NAN : most * -0.125f, factor = cla_factor(scale);
    vstore_half_rte(scale, 0, (__global half *)block);
    for (int j = 0; j < 16; j++)
        block[2 + j] = (uchar)(cla_coded_q4_0((float)cla_take(x, c0 + j), factor) |
                               cla_coded_q4_0((float)cla_take(x, c0 + j + 16), factor) << 4);
}
