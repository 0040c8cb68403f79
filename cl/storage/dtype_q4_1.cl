/* Blocks of 32 elements in 20 bytes, as GGUF's q4_1: a scale and the least element in f16, and nibbles.cl. As
 * dtype_q8_0.cl. A code times a scale is exact, so that an element is rounded once, and a fused sum is the same. */
typedef uchar cla_elem_q4_1;
#define CLA_STORAGE_q4_1 blocks
#define CLA_HAS_LEAST_q4_1 1
#define CLA_BYTES_q4_1(n) ((n) / 32 * 20)
#define CLA_BLOCK_Q4_1(p, c) ((p) + (uint)(c) / 32 * 20)
#define cla_scale_q4_1(p, c) vload_half4(0, (const __global half *)CLA_BLOCK_Q4_1(p, c)).s0
#define cla_least_q4_1(p, c) vload_half4(0, (const __global half *)CLA_BLOCK_Q4_1(p, c)).s1
#define cla_value_q4_1(p, c) \
    ((float)CLA_NIBBLE(CLA_BLOCK_Q4_1(p, c) + 4, c) * cla_scale_q4_1(p, c) + cla_least_q4_1(p, c))
#define cla_values_q4_1(n, p, c) \
    (convert_float##n(CLA_NIBBLES(n, CLA_BLOCK_Q4_1(p, c) + 4, c)) * cla_scale_q4_1(p, c) + cla_least_q4_1(p, c))
static inline uint cla_quad_q4_1(const __global uchar *p, int c)
{
    return cla_nibble_quad(CLA_BLOCK_Q4_1(p, c) + 4, c);
}
static inline float4 cla_of_quad_q4_1(uint x) { return convert_float4(as_uchar4(x & 0x0f0f0f0f)); }
