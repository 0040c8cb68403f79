/* Signed halves of bytes, the low half first, whose scales and zero points are tensors of their own: as dtype_int8.cl.
 * Many of them begin at an even element. */
typedef uchar cla_elem_int4;
#define CLA_STORAGE_int4 scaled
#define CLA_BYTES_int4(n) (((n) + 1) / 2)
#define cla_code_int4(p, c) ((float)((((p)[(c) / 2] >> 4 * ((c) & 1) & 15) ^ 8) - 8))
#define cla_codes_int4(n, p, c) cla_halves_int4_##n((p) + (c) / 2)

/* A byte becomes two, its low half and its high one. */
#define CLA_SPREAD(T, x) (((x) & (T)(15)) | ((x) & (T)(240)) << (T)(4))
static inline float2 cla_halves_int4_2(const __global uchar *p)
{
    return convert_float2((as_char2((ushort)CLA_SPREAD(ushort, p[0])) ^ (char2)(8)) - (char2)(8));
}
#define CLA_HALVES(n, half) \
    static inline float##n cla_halves_int4_##n(const __global uchar *p) \
    { \
        const ushort##half x = convert_ushort##half(vload##half(0, p)); \
        return convert_float##n((as_char##n(CLA_SPREAD(ushort##half, x)) ^ (char##n)(8)) - (char##n)(8)); \
    }
CLA_HALVES(4, 2)
CLA_HALVES(8, 4)
CLA_HALVES(16, 8)

#define CLA_QUAD_BYTES_int4 2
static inline uint cla_quad_int4(const __global uchar *p, int c, int wide)
{
    return wide ? *(const __global ushort *)(p + c / 2) : p[c / 2] | (uint)p[c / 2 + 1] << 8;
}
static inline float4 cla_of_quad_int4(uint x)
{
    const ushort2 bytes = (ushort2)(x & 255, x >> 8);
    return convert_float4((as_char4(CLA_SPREAD(ushort2, bytes)) ^ (char4)(8)) - (char4)(8));
}
