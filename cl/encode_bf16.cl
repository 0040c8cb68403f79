/* Elements c0 to c1 - 1 of a row, to bfloat16 storage. */
CLA_FN void cla_encode_bf16(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row)
{
    __global cla_elem_bf16 *to = (__global cla_elem_bf16 *)row;
    for (int c = c0; c < c1; c++) cla_store_bf16(cla_take(x, c), to + c);
}
