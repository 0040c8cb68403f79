/* Elements c0 to c1 - 1 of a row, which are a block, to GGUF's q4_0: the scale as an f16, then element j and element
 * j + 16 in byte j. The element of largest magnitude, the first of several, becomes -8, so that its sign is that of
 * -scale. */
CLA_FN void cla_encode_q4_0(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global uchar *block = row + c0 / 32 * 18;
    const float scale = cla_block_scale(x, c0, 0.125f), factor = cla_factor(scale);
    vstore_half_rte(scale, 0, (__global half *)block);
    for (int j = 0; j < 16; j++)
        block[2 + j] = (uchar)(cla_coded_signed((float)cla_take(x, c0 + j), factor, 8) |
                               cla_coded_signed((float)cla_take(x, c0 + j + 16), factor, 8) << 4);
}
