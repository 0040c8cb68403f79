/* What is written into GGUF's blocks of 32 elements with codes of four or five bits. A block begins with element c0.
 * NaN and infinity make its scale NaN, since no code stands for them. */

/* q4_0 and q5_0: the element of largest magnitude, the first of several, times -by. */
CLA_FN float cla_block_scale(const cla_source *x, int c0, float by)
{
    float most = 0;
    int odd = 0;
    for (int c = c0; c < c0 + 32; c++) {
        const float v = (float)cla_take(x, c);
        most = fabs(v) > fabs(most) ? v : most;
        odd |= !isfinite(v);
    }
    return odd ? NAN : most * -by;
}
/* A code from 0 to 2 half_range - 1; half_range stands for 0. */
CLA_FN int cla_coded_signed(float x, float factor, int half_range)
{
    return (int)fmax(fmin(x * factor + ((float)half_range + 0.5f), (float)(2 * half_range - 1)), 0.0f);
}

/* Grows as x does; both zeros are alike. To some devices a subnormal number is one of them, but not in integers. */
CLA_FN int cla_rank(float x) { return as_int(x) < 0 ? -(as_int(x) & 0x7fffffff) : as_int(x); }

/* q4_1 and q5_1: writes the scale, by which codes from 0 to `most` cover all elements, and the least of these, the
 * first of several. Returns that and the reciprocal of the scale. */
CLA_FN float2 cla_block_range(const cla_source *x, int c0, float most, __global uchar *block)
{
    float least = INFINITY, largest = -INFINITY;
    int odd = 0;
    for (int c = c0; c < c0 + 32; c++) {
        const float v = (float)cla_take(x, c);
        least = cla_rank(v) < cla_rank(least) ? v : least;
        largest = cla_rank(v) > cla_rank(largest) ? v : largest;
        odd |= !isfinite(v);
    }
    const float scale = odd ? NAN : cla_divide(largest - least, most);
    vstore_half_rte(scale, 0, (__global half *)block);
    vstore_half_rte(least, 1, (__global half *)block);
    return (float2)(least, cla_factor(scale));
}
CLA_FN int cla_coded_above(float x, float2 range, float most)
{
    return (int)fmax(fmin((x - range.s0) * range.s1 + 0.5f, most), 0.0f);
}

/* Codes of five bits of elements j and j + 16: their lower bits go to byte j, their fifth ones come back in place. */
CLA_FN uint cla_put_nibbles(uint low, uint high, int j, __global uchar *codes)
{
    codes[j] = (uchar)((low & 15) | (high & 15) << 4);
    return (low >> 4) << j | (high >> 4) << (j + 16);
}
CLA_FN void cla_put_fifths(uint bits, __global uchar *to)
{
    for (int i = 0; i < 4; i++) to[i] = (uchar)(bits >> 8 * i);
}
