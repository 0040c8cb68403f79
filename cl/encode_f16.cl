/* Elements c0 to c1 - 1 of a row, to half storage. */
CLA_FN void cla_encode_f16(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global cla_elem_f16 *to = (__global cla_elem_f16 *)row;
    for (int c = c0; c < c1; c++) cla_store_f16(cla_take(x, c), to + c);
}
