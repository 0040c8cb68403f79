/* Elements c0 to c1 - 1 of a row, which are a block, to GGUF's q4_1. */
CLA_FN void cla_encode_q4_1(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global uchar *block = row + c0 / 32 * 20;
    const float2 range = cla_block_range(x, c0, 15, block);
    for (int j = 0; j < 16; j++)
        block[4 + j] = (uchar)(cla_coded_above((float)cla_take(x, c0 + j), range, 15) |
                               cla_coded_above((float)cla_take(x, c0 + j + 16), range, 15) << 4);
}
