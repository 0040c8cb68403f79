/* Elements c0 to c1 - 1 of a row, which are whole groups and whole bytes, to int4 storage. Groups of one element share
 * bytes. */
CLA_FN void cla_encode_int4(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    const int alone = s->group == 1, step = alone ? 2 : s->group;
    for (int g0 = c0; g0 < c1; g0 += step) {
        const int g1 = min(g0 + step, c1);
        cla_coding low, high;
        cla_code(&low, x, s, g0, alone ? g0 + 1 : g1, 7);
        high = low;
        if (alone) cla_code(&high, x, s, g0 + 1, g1, 7);
        for (int c = g0; c < g1; c += 2)
            row[c / 2] = (uchar)((cla_coded(&low, (float)cla_take(x, c)) & 15) |
                                 cla_coded(&high, (float)cla_take(x, c + 1)) << 4);
    }
}
