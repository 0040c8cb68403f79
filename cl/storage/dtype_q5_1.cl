/* Blocks of 32 elements in 24 bytes, as GGUF's q5_1: a scale and the least element in f16, four bytes of fifth bits,
 * and nibbles.cl. As dtype_q8_0.cl; an element is rounded once, as those of dtype_q4_1.cl. */
typedef uchar cla_elem_q5_1;
#define CLA_STORAGE_q5_1 blocks
#define CLA_HAS_LEAST_q5_1 1
#define CLA_BYTES_q5_1(n) ((n) / 32 * 24)
#define CLA_BLOCK_Q5_1(p, c) ((p) + (uint)(c) / 32 * 24)
#define cla_scale_q5_1(p, c) vload_half4(0, (const __global half *)CLA_BLOCK_Q5_1(p, c)).s0
#define cla_least_q5_1(p, c) vload_half4(0, (const __global half *)CLA_BLOCK_Q5_1(p, c)).s1
#define cla_code_q5_1(block, c) (CLA_NIBBLE((block) + 8, c) | CLA_FIFTH((block) + 4, c))
#define cla_codes_q5_1(n, block, c) (CLA_NIBBLES(n, (block) + 8, c) | CLA_FIFTHS(n, (block) + 4, c))
#define cla_value_q5_1(p, c) \
    ((float)cla_code_q5_1(CLA_BLOCK_Q5_1(p, c), c) * cla_scale_q5_1(p, c) + cla_least_q5_1(p, c))
#define cla_values_q5_1(n, p, c) \
    (convert_float##n(cla_codes_q5_1(n, CLA_BLOCK_Q5_1(p, c), c)) * cla_scale_q5_1(p, c) + cla_least_q5_1(p, c))
static inline uint cla_quad_q5_1(const __global uchar *p, int c)
{
    return cla_five_bit_quad(CLA_BLOCK_Q5_1(p, c) + 4, CLA_BLOCK_Q5_1(p, c) + 8, c);
}
static inline float4 cla_of_quad_q5_1(uint x) { return convert_float4(as_uchar4(x)); }
