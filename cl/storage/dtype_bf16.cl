/* bfloat16 storage, arithmetic in float, by integers: the upper half of a float. */
typedef ushort cla_elem_bf16;
#define CLA_STORAGE_bf16 plain
#define CLA_BYTES_bf16(n) (2 * (n))
#define cla_load_bf16(p) as_float((uint)*(p) << 16)
#define cla_raw_bf16 ushort
#define cla_unpack4_bf16(x) as_float4(convert_uint4(x) << 16)
#define cla_loadn_bf16(n, p) as_float##n(convert_uint##n(vload##n(0, p)) << 16)
#define cla_store_bf16(x, p) (*(p) = cla_round_bf16_(x))
#define cla_storen_bf16(n, x, p) vstore##n(cla_round_bf16_##n(x), 0, p)

/* To nearest, ties to even; a NaN stays one whatever its payload. */
#define CLA_ROUND_BF16(n) \
    static inline ushort##n cla_round_bf16_##n(float##n x) \
    { \
        const uint##n u = as_uint##n(x); \
        return convert_ushort##n(x != x ? u >> 16 | 0x40 : (u + 0x7fff + (u >> 16 & 1)) >> 16); \
    }
CLA_ROUND_BF16()
CLA_ROUND_BF16(2)
CLA_ROUND_BF16(4)
CLA_ROUND_BF16(8)
CLA_ROUND_BF16(16)
