/* Elements c0 to c1 - 1 of a row, which are whole groups, to int8 storage. */
CLA_FN void cla_encode_int8(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    for (int g0 = c0; g0 < c1; g0 += s->group) {
        const int g1 = min(g0 + s->group, c1);
        cla_coding by;
        cla_code(&by, x, s, g0, g1, 127);
        for (int c = g0; c < g1; c++) row[c] = (uchar)cla_coded(&by, (float)cla_take(x, c));
    }
}
