/* Elements c0 to c1 - 1 of a row, which are a block, to GGUF's q8_0: the scale as an f16, and a byte for each. */
CLA_FN void cla_encode_q8_0(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global uchar *block = row + c0 / 32 * 34;
    float most = 0;
    int odd = 0;
    for (int c = c0; c < c1; c++) {
        const float v = (float)cla_take(x, c);
        most = fmax(most, fabs(v));
        odd |= !isfinite(v);
    }
    const float scale = odd ? NAN : cla_divide(most, 127), factor = cla_factor(scale);
    vstore_half_rte(scale, 0, (__global half *)block);
    for (int c = c0; c < c1; c++)
        block[2 + c - c0] = (uchar)(int)round(fmax(fmin((float)cla_take(x, c) * factor, 127.0f), -127.0f));
}
