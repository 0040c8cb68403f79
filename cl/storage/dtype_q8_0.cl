/* Blocks of 32 elements in 34 bytes, as GGUF's q8_0: a scale in f16, and signed bytes. The row begins at byte p:
 * value(p, c) is element c, scale(p, c) what its code is to be multiplied by, and values(n, p, c) are n elements from a
 * multiple of n on. Where CLA_HAS_LEAST is 1, least(p, c) is added.
 * Four halves are loaded for one, and a block has as many: CPUs' compilers convert a single half by a call. */
typedef uchar cla_elem_q8_0;
#define CLA_STORAGE_q8_0 blocks
#define CLA_HAS_LEAST_q8_0 0
#define CLA_BYTES_q8_0(n) ((n) / 32 * 34)
#define CLA_BLOCK_Q8_0(p, c) ((p) + (uint)(c) / 32 * 34)
#define cla_scale_q8_0(p, c) vload_half4(0, (const __global half *)CLA_BLOCK_Q8_0(p, c)).s0
#define cla_value_q8_0(p, c) ((float)(char)CLA_BLOCK_Q8_0(p, c)[2 + (c) % 32] * cla_scale_q8_0(p, c))
#define cla_values_q8_0(n, p, c) \
    (convert_float##n(as_char##n(vload##n(0, CLA_BLOCK_Q8_0(p, c) + 2 + (c) % 32))) * cla_scale_q8_0(p, c))
static inline uint cla_quad_q8_0(const __global uchar *p, int c)
{
    const __global ushort *at = (const __global ushort *)(CLA_BLOCK_Q8_0(p, c) + 2 + c % 32);
    return at[0] | (uint)at[1] << 16;
}
static inline float4 cla_of_quad_q8_0(uint x) { return convert_float4(as_char4(x)); }
