/* bfloat16 storage, arithmetic in float, by integers: the upper half of a float. */
typedef ushort cla_elem_bf16;
#define cla_load_bf16(p) as_float((uint)*(p) << 16)
#define cla_loadn_bf16(n, p) as_float##n(convert_uint##n(vload##n(0, p)) << 16)
#define cla_store_bf16(x, p) (*(p) = cla_round_bf16(x))

/* To nearest, ties to even; a NaN stays one whatever its payload. */
static inline ushort cla_round_bf16(float x)
{
    const uint u = as_uint(x);
    return isnan(x) ? (ushort)(u >> 16 | 0x40) : (ushort)((u + 0x7fff + (u >> 16 & 1)) >> 16);
}
