/* Blocks of 32 elements in 22 bytes, as GGUF's q5_0: a scale in f16, four bytes of fifth bits, and nibbles.cl, each
 * code + 16. As dtype_q8_0.cl. */
typedef uchar cla_elem_q5_0;
#define CLA_STORAGE_q5_0 blocks
#define CLA_HAS_LEAST_q5_0 0
#define CLA_BYTES_q5_0(n) ((n) / 32 * 22)
#define CLA_BLOCK_Q5_0(p, c) ((p) + (uint)(c) / 32 * 22)
#define cla_scale_q5_0(p, c) vload_half4(0, (const __global half *)CLA_BLOCK_Q5_0(p, c)).s0
#define cla_code_q5_0(block, c) ((int)(CLA_NIBBLE((block) + 6, c) | CLA_FIFTH((block) + 2, c)) - 16)
#define cla_codes_q5_0(n, block, c) ((CLA_NIBBLES(n, (block) + 6, c) | CLA_FIFTHS(n, (block) + 2, c)) - 16)
#define cla_value_q5_0(p, c) ((float)cla_code_q5_0(CLA_BLOCK_Q5_0(p, c), c) * cla_scale_q5_0(p, c))
#define cla_values_q5_0(n, p, c) \
    (convert_float##n(cla_codes_q5_0(n, CLA_BLOCK_Q5_0(p, c), c)) * cla_scale_q5_0(p, c))
static inline uint cla_quad_q5_0(const __global uchar *p, int c)
{
    return cla_five_bit_quad(CLA_BLOCK_Q5_0(p, c) + 2, CLA_BLOCK_Q5_0(p, c) + 6, c);
}
static inline float4 cla_of_quad_q5_0(uint x) { return convert_float4(as_char4(x) - (char4)(16)); }
