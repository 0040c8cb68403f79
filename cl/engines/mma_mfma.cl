/* Matrix unit of engine `mfma`, with mma_mfma_lanes.cl and mma_amd.cl: the instructions of AMD's gfx908, gfx90a, gfx942
 * and gfx950. Two waves on a SIMD, or compilers spend the other half of its registers on sums that they move to and
 * fro. On gfx908 that half is for sums alone. */
#if CLA_GFX != 0x908
#undef CLA_KERNEL_OF_ENGINE
#define CLA_KERNEL_OF_ENGINE __attribute__((amdgpu_waves_per_eu(2)))
#endif

#if CLA_IS_BF16
#if CLA_GFX != 0x908
#define CLA_MFMA(p, q, d) __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(as_short4(p), as_short4(q), d, 0, 0, 0)
#else /* two elements of K at a time, of each lane. Compilers claim to know the other one, too, and fail */
#define CLA_MFMA_HALF(p, q, d) __builtin_amdgcn_mfma_f32_16x16x8bf16(as_short2(p), as_short2(q), d, 0, 0, 0)
#define CLA_MFMA(p, q, d) CLA_MFMA_HALF((p).y, (q).y, CLA_MFMA_HALF((p).x, (q).x, d))
#endif
#else
#define CLA_MFMA(p, q, d) __builtin_amdgcn_mfma_f32_16x16x16f16(as_half4(p), as_half4(q), d, 0, 0, 0)
#endif
CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, uint2 b)
{
    const float4 sum = CLA_MFMA(b, a, ((float4)(d[0], d[column], d[2 * column], d[3 * column])));
    d[0] = sum.x;
    d[column] = sum.y;
    d[2 * column] = sum.z;
    d[3 * column] = sum.w;
}
