/* Blocks of 32 elements in 18 bytes, as GGUF's q4_0: a scale in f16, and nibbles.cl, each + 8. As dtype_q8_0.cl. */
typedef uchar cla_elem_q4_0;
#define CLA_STORAGE_q4_0 blocks
#define CLA_HAS_LEAST_q4_0 0
#define CLA_BYTES_q4_0(n) ((n) / 32 * 18)
#define CLA_BLOCK_Q4_0(p, c) ((p) + (uint)(c) / 32 * 18)
#define cla_scale_q4_0(p, c) vload_half4(0, (const __global half *)CLA_BLOCK_Q4_0(p, c)).s0
#define cla_value_q4_0(p, c) ((float)(CLA_NIBBLE(CLA_BLOCK_Q4_0(p, c) + 2, c) - 8) * cla_scale_q4_0(p, c))
/* n codes, + 8, are the last bits of a float where they lie in their bytes: its last bit is worth 1, that of the high
 * halves 1 / 16. */
#define CLA_ABOVE_Q4_0(c) (CLA_NIBBLE_SHIFT(c) ? 524288 : 8388608) /* 2^19, 2^23 */
#define cla_codes_q4_0(n, p, c) \
    (as_float##n((convert_int##n(vload##n(0, CLA_BLOCK_Q4_0(p, c) + 2 + (c) % 16)) & 15 << CLA_NIBBLE_SHIFT(c)) | \
                 as_int((float)CLA_ABOVE_Q4_0(c))) - (float)(CLA_ABOVE_Q4_0(c) + 8))
#define cla_computed_q4_0(n, p, c) (cla_codes_q4_0(n, p, c) * cla_scale_q4_0(p, c))
/* Those of 16 are in slot values. */
#define cla_values_q4_0(n, p, c) cla_values_q4_0_##n(p, c)
#define cla_values_q4_0_2(p, c) cla_computed_q4_0(2, p, c)
#define cla_values_q4_0_4(p, c) cla_computed_q4_0(4, p, c)
#define cla_values_q4_0_8(p, c) cla_computed_q4_0(8, p, c)
static inline uint cla_quad_q4_0(const __global uchar *p, int c)
{
    return cla_nibble_quad(CLA_BLOCK_Q4_0(p, c) + 2, c);
}
static inline float4 cla_of_quad_q4_0(uint x) { return convert_float4(as_char4(x & 0x0f0f0f0f) - (char4)(8)); }
