/* Elements c0 to c1 - 1 of a row, which are a block, to GGUF's q5_0: as encode_q4_0.cl, but that the element of largest
 * magnitude becomes -16, and that the codes' fifth bits have four bytes of their own. */
CLA_FN void cla_encode_q5_0(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global uchar *block = row + c0 / 32 * 22;
    const float scale = cla_block_scale(x, c0, 0.0625f), factor = cla_factor(scale);
    vstore_half_rte(scale, 0, (__global half *)block);
    uint fifths = 0;
    for (int j = 0; j < 16; j++)
        fifths |= cla_put_nibbles(cla_coded_signed((float)cla_take(x, c0 + j), factor, 16),
                                  cla_coded_signed((float)cla_take(x, c0 + j + 16), factor, 16), j, block + 6);
    cla_put_fifths(fifths, block + 2);
}
