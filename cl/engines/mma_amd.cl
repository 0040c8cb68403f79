/* What matrix units of AMD's GPUs have in common, by clang's builtins: all but their layout and their instructions. */
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define CLA_UNROLL_MMA CLA_UNROLL
#define CLA_IS_BF16 CLA_CAT(CLA_IS_BF16_, CLA_TQ)
#define CLA_IS_BF16_f16 0
#define CLA_IS_BF16_bf16 1

typedef int cla_warp; /* the lane's number, in bytes: where others send to */
CLA_FN void cla_warp_init(cla_warp *w, const cla_env *e, int item) { *w = item % CLA_WAVE * 4; }

/* What the item has whose number differs by the bits of `by`. Halves of a wave of 32 are rows that one instruction
 * swaps. */
CLA_FN float cla_exchange(cla_warp w, float x, int by)
{
#if CLA_WAVE == 32
    return as_float(__builtin_amdgcn_permlanex16(as_int(x), as_int(x), 0x76543210, 0xfedcba98, 0, 0));
#else
    return as_float(__builtin_amdgcn_ds_bpermute(w ^ by * 4, as_int(x)));
#endif
}
CLA_FN void cla_converge(cla_warp w) {}

/* Bytes of two words; those of the second one are numbered from 0, of the first one from 4. */
CLA_FN uint cla_low_halves(uint x, uint y) { return __builtin_amdgcn_perm(y, x, 0x05040100); }
CLA_FN uint cla_high_halves(uint x, uint y) { return __builtin_amdgcn_perm(y, x, 0x07060302); }
/* Two elements as they are stored, rounded to nearest. */
CLA_FN uint cla_pack2(float low, float high)
{
#if CLA_IS_BF16
    ushort2 y;
    cla_storen_bf16(2, (float2)(low, high), (ushort *)&y);
    return as_uint(y);
#else
    return as_uint((half2)((half)low, (half)high));
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
/* As if not known yet: what compilers know before the loop they compute there, 68 registers of addresses of sums. */
CLA_FN int cla_item_again(int key)
{
    int x = get_local_id(0);
    __asm__ volatile("" : "+v"(x));
    return x;
}
CLA_FN uint cla_work_group_again(void) { return CLA_GROUP; }
