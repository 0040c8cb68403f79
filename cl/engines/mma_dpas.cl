/* Matrix unit of engines `dpas` and `dpas8`, with mma_dpas_lanes.cl: the instructions of Intel's GPUs. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
/* By the unit, where the host does not know the device: in wider sub-groups IGC builds no product, and says nothing. */
#undef CLA_KERNEL_OF_ENGINE
#define CLA_KERNEL_OF_ENGINE CLA_CAT(CLA_SUB_GROUP_, CLA_WAVE)
#define CLA_UNROLL_MMA CLA_UNROLL
#define CLA_IS_BF16 CLA_CAT(CLA_IS_BF16_, CLA_TQ)
#define CLA_IS_BF16_f16 0
#define CLA_IS_BF16_bf16 1

typedef int cla_warp; /* what a sub-group needs to talk to itself: nothing */
CLA_FN void cla_warp_init(cla_warp *w, const cla_env *e, int item) { *w = 0; }
CLA_FN float cla_exchange(cla_warp w, float x, int by) { return intel_sub_group_shuffle_xor(x, (uint)by); }
CLA_FN void cla_converge(cla_warp w) {}

#define CLA_BLOCK_OF_16(p) as_uint4(intel_sub_group_block_read_us8((const __local ushort *)(p)))
#define CLA_BLOCK_OF_8(p) intel_sub_group_block_read8((const __local uint *)(p))
CLA_FN cla_right cla_read_block(const __local uint4 *p) { return CLA_CAT(CLA_BLOCK_OF_, CLA_WAVE)(p); }

/* cl_intel_subgroup_2d_block_io, for mma_surfaces_2d.cl. */
#define CLA_OF_SURFACE(s, x, y) (__global void *)(s).at, (s).width, (s).height, (s).pitch, (int2)(x, y)
#define CLA_READ_ROWS(n, s, x, y, to) \
    { \
        if ((n) == 16) intel_sub_group_2d_block_read_16b_16r16x2c(CLA_OF_SURFACE(s, x, y), to); \
        else intel_sub_group_2d_block_read_16b_32r16x2c(CLA_OF_SURFACE(s, x, y), to); \
    }
#define CLA_PREFETCH_ROWS(n, s, x, y) \
    { \
        if ((n) == 16) intel_sub_group_2d_block_prefetch_16b_16r16x2c(CLA_OF_SURFACE(s, x, y)); \
        else intel_sub_group_2d_block_prefetch_16b_32r16x2c(CLA_OF_SURFACE(s, x, y)); \
    }
#define CLA_READ_COLUMNS(n, s, x, y, to) \
    { \
        if ((n) == 16) intel_sub_group_2d_block_read_transform_16b_16r16x1c(CLA_OF_SURFACE(s, x, y), to); \
        else intel_sub_group_2d_block_read_transform_16b_32r16x1c(CLA_OF_SURFACE(s, x, y), to); \
    }

/* Its A by the type that it wants. */
#define CLA_A_OF_16(x) as_short8(x)
#define CLA_A_OF_8(x) as_int8(x)
#define CLA_A_OF CLA_CAT(CLA_A_OF_, CLA_WAVE)
#define CLA_MAD CLA_CAT(CLA_MAD_, CLA_TQ)
#define CLA_MAD_f16 intel_sub_group_f16_f16_matrix_mad_k16
#define CLA_MAD_bf16 intel_sub_group_bf16_bf16_matrix_mad_k16
/* As one vector where D's elements are neighbours: taken one by one, each is moved where two branches meet. Sub-groups
 * of 8 have no registers for that. */
CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, cla_right b)
{
    if (CLA_WAVE == 16 && column == 1) {
        vstore8(CLA_MAD(CLA_A_OF(b), as_int8(a), vload8(0, d)), 0, d);
        return;
    }
    float8 sum;
    CLA_UNROLL for (int i = 0; i < 8; i++) ((float *)&sum)[i] = d[i * column];
    sum = CLA_MAD(CLA_A_OF(b), as_int8(a), sum);
    CLA_UNROLL for (int i = 0; i < 8; i++) d[i * column] = ((float *)&sum)[i];
}

CLA_FN uint cla_low_halves(uint x, uint y) { return (x & 0xffff) | y << 16; }
CLA_FN uint cla_high_halves(uint x, uint y) { return x >> 16 | (y & 0xffff0000u); }
/* Two elements as they are stored, rounded to nearest. */
CLA_FN uint cla_pack2(float low, float high)
{
#if CLA_IS_BF16
    ushort2 y;
    cla_storen_bf16(2, (float2)(low, high), (ushort *)&y);
    return as_uint(y);
#else
    return as_uint(convert_half2_rte((float2)(low, high)));
#endif
}
/* bf16 without a look at NaN, which mma_unit.cl allows. */
CLA_FN uint cla_pack_weights(float low, float high)
{
#if CLA_IS_BF16
    const uint2 x = as_uint2((float2)(low, high)), rounded = x + 0x7fff + (x >> 16 & 1);
    return cla_high_halves(rounded.x, rounded.y);
#else
    return cla_pack2(low, high);
#endif
}

CLA_FN ulong cla_product(uint x, uint y) { return (ulong)x * y; }
CLA_FN int cla_kept(int x) { return x; }
/* As if not known yet: addresses of sums that are computed before the loop fill the registers. */
CLA_FN int cla_item_again(int key) { return get_local_id(0) ^ (uint)(key >> 31); }
CLA_FN uint cla_work_group_again(void) { return CLA_GROUP; }
