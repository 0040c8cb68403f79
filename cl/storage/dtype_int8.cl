/* Signed bytes, whose scales and zero points are tensors of their own. The row begins at byte p: code(p, c) is element
 * c, codes(n, p, c) are n consecutive ones, before scale and zero point. quad: the bytes of four, from a multiple of 4
 * on, where p is `wide` in one load; of_quad: their codes. */
typedef uchar cla_elem_int8;
#define CLA_STORAGE_int8 scaled
#define CLA_BYTES_int8(n) (n)
#define cla_code_int8(p, c) ((float)((const __global char *)(p))[c])
#define cla_codes_int8(n, p, c) convert_float##n(vload##n(0, (const __global char *)(p) + (c)))
#define CLA_QUAD_BYTES_int8 4
static inline uint cla_quad_int8(const __global uchar *p, int c, int wide)
{
    return wide ? *(const __global uint *)(p + c) : as_uint((uchar4)(p[c], p[c + 1], p[c + 2], p[c + 3]));
}
static inline float4 cla_of_quad_int8(uint x) { return convert_float4(as_char4(x)); }
