/* Elements c0 to c1 - 1 of a row, which are a block, to GGUF's q5_1. */
CLA_FN void cla_encode_q5_1(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global uchar *block = row + c0 / 32 * 24;
    const float2 range = cla_block_range(x, c0, 31, block);
    uint fifths = 0;
    for (int j = 0; j < 16; j++)
        fifths |= cla_put_nibbles(cla_coded_above((float)cla_take(x, c0 + j), range, 31),
                                  cla_coded_above((float)cla_take(x, c0 + j + 16), range, 31), j, block + 8);
    cla_put_fifths(fifths, block + 4);
}
