/* Matrix unit of engine `wmma`, with mma_wmma_lanes.cl and mma_amd.cl: the instructions of AMD's gfx11 and gfx12. */
#if CLA_IS_BF16
#define CLA_WMMA_TYPE bf16
#define CLA_WMMA_OF(x) CLA_CAT(as_short, CLA_WMMA_ELEMENTS)(x)
#else
#define CLA_WMMA_TYPE f16
#define CLA_WMMA_OF(x) CLA_CAT(as_half, CLA_WMMA_ELEMENTS)(x)
#endif
#define CLA_WMMA_ELEMENTS CLA_CAT(CLA_WMMA_ELEMENTS_, CLA_MMA_WHOLE)
#define CLA_WMMA_ELEMENTS_0 8
#define CLA_WMMA_ELEMENTS_1 16
#define CLA_WMMA_FORM CLA_CAT(CLA_WMMA_FORM_, CLA_MMA_WHOLE)
#define CLA_WMMA_FORM_0 _w32_gfx12
#define CLA_WMMA_FORM_1 _w32
#define CLA_WMMA CLA_CAT(CLA_CAT(__builtin_amdgcn_wmma_f32_16x16x16_, CLA_WMMA_TYPE), CLA_WMMA_FORM)

CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, cla_left b)
{
    float8 sum;
    CLA_UNROLL for (int i = 0; i < 8; i++) ((float *)&sum)[i] = d[i * column];
    sum = CLA_WMMA(CLA_WMMA_OF(b), CLA_WMMA_OF(a), sum);
    CLA_UNROLL for (int i = 0; i < 8; i++) d[i * column] = ((float *)&sum)[i];
}
